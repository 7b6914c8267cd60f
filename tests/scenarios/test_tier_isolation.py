"""Whatever ids people choose, nobody sees or changes the memory of another tenant or group."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryware import MemoryScope, Origin, TieredMemory
from memoryware.errors import EntryMissing, TierError
from memoryware.testing._store import NASTY
from memoryware.tiers import Verdict
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.sqlite import sqlite_stores
from tiers.kit import Clock, ids

_numbers = itertools.count()
NAMES = st.one_of(
    st.sampled_from(NASTY),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
    ),
    st.sampled_from(["x" * 500, "g1", "G1", "g1 ", "ｇ1", "gΙ", "t:g", "t/g"]),
)
TENANTS = st.one_of(st.none(), NAMES)
FACT = "The plan of {} is to open a new shop in the old harbour before the end of June."


@pytest.fixture(scope="module", params=["embedded", "sqlite"])
def memory(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("isolation")
    stores = embedded() if request.param == "embedded" else sqlite_stores(folder / "m.db")
    made = TieredMemory(stores, clock=Clock(), new_id=ids())
    yield made
    made.close()


def contents(memory, scope):
    """Everything that a scope is shown, in any way there is."""
    seen = [one.content for one in memory.list(scope, limit=1000).items]
    seen += [
        one.content
        for one in memory.retrieve("plan open new shop harbour June", scope, explain=True)
    ]
    seen += [one.item.content for one in memory.retrieve("plan", scope, explain=True).candidates]
    seen += [one.summary for one in memory.digest(scope).insights]
    return "\n".join([*seen, *memory.export(scope)[1:]])


def attempts(memory, scope, entry, cold):
    """Everything that one could try with the ids of another group; each has to be refused."""
    moved = replace(entry, scope=scope)
    yield lambda: memory.get(entry.id, scope)
    yield lambda: memory.get(cold.id, scope)
    yield lambda: memory.promote(entry.id, scope, by="eve")
    yield lambda: memory.promote(moved, by="eve")
    yield lambda: memory.propose(entry.id, scope, by="eve")
    yield lambda: memory.reject(moved, by="eve")
    yield lambda: memory.revoke(entry, scope, by="eve")
    yield lambda: memory.revoke(cold.id, scope, by="eve")
    yield lambda: memory.mark_invalid(cold, scope, by="eve")
    yield lambda: memory.supersede(cold.id, "Nothing is planned.", scope, by="eve")
    yield lambda: memory.supersede(cold.document_id, "Nothing is planned.", scope, by="eve")
    yield lambda: memory.supersede(replace(cold, scope=scope), "Nothing.", scope, by="eve")
    yield lambda: memory.attach_verdict(entry.id, Verdict(verified=False), scope)
    yield lambda: memory.attach_verdict(replace(cold, scope=scope), Verdict(verified=False))


@pytest.mark.slow
@pytest.mark.timeout(240)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tenant=TENANTS, group=NAMES, other_tenant=TENANTS, other_group=NAMES, agent=NAMES)
def test_no_operation_reaches_another_tenant_or_group(
    memory, tenant, group, other_tenant, other_group, agent
):
    mark = f"mark{next(_numbers)}x"
    ours = MemoryScope(
        tenant=tenant, group_id=f"{group}{mark}", user_id="ann", session_id="s", agent_id=agent
    )
    theirs = MemoryScope(
        tenant=other_tenant,
        group_id=f"{other_group}{mark}",
        user_id="ann",
        session_id="s",
        agent_id=agent,
    )
    if (ours.tenant, ours.group_id) == (theirs.tenant, theirs.group_id):
        theirs = replace(theirs, tenant=f"{other_tenant} 2")
    said = memory.record(FACT.format(f"us {mark}"), ours)
    assert said.working
    cold = memory.promote(said.entry, by="ann").memories[0]
    mine = memory.promote(
        f"The agent of {mark} opens at nine.", ours, by="ann", agent_id=agent
    ).memories[0]
    before = contents(memory, ours)
    assert mark in before

    for scope in (
        theirs,
        replace(ours, group_id=None),
        replace(ours, group_id=""),
        replace(ours, group_id=mark),
    ):
        assert mark not in contents(memory, scope)
        for attempt in attempts(memory, scope, said.entry, cold):
            with pytest.raises((TierError, LookupError)) as refused:
                attempt()
            assert "old harbour" not in str(refused.value)
        if scope.group_id:  # without one, all groups of the tenant are meant
            assert memory.forget(scope, ids=[said.entry.id, cold.id, mine.id]).total == 0
        assert (
            memory.revoke(Origin("agent", agent), scope, by="eve").counts.total == 0
            if scope.group_id
            else True
        )
    told = memory.record(FACT.format("them"), theirs)
    assert told.working, "the same words in another group are no duplicate and no echo"
    memory.promote(told.entry, by="eve")
    memory.import_bundle(memory.export(theirs), theirs, name="x")
    memory.forget(theirs)
    assert contents(memory, ours) == before
    assert memory.forget(ours).total == 4


def test_the_experience_of_an_agent_is_its_own(memory):
    shop = MemoryScope(group_id="experience")
    memory.promote("Agent A has learned to call at noon.", shop, by="ann", agent_id="a")
    for agent, count in (("a", 1), ("b", 0), ("A", 0), (None, 0)):
        assert len(memory.retrieve("learned to call", replace(shop, agent_id=agent))) == count


def test_an_unknown_id_and_one_of_another_group_look_alike(memory):
    entry = memory.record(FACT.format("us"), MemoryScope(group_id="alike")).entry
    said = []
    for id_ in (entry.id, "f" * 32):
        with pytest.raises(EntryMissing) as refused:
            memory.get(id_, "elsewhere")
        said.append(str(refused.value).replace(id_, "ID"))
    assert said[0] == said[1]

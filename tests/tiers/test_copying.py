"""Moving house: what one place has is in the other one as it was, also after an interruption."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys

import pytest
from langgraph.store.memory import InMemoryStore

from memoryware import TieredMemory
from memoryware.errors import EmbeddingMismatch, SettingError, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.stores import acopy_stores, copy_stores, langgraph_stores, open_stores
from memoryware.testing._store import FLAT, document, entry, within
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.protocol import Space, Stores
from memoryware.tiers.stores.redis import RedisSettings, RedisWorking
from memoryware.tiers.values import LAYERS
from servers import postgres
from tiers.kit import Clock, HashEmbeddings

GROUPS = [
    MemoryScope(tenant=tenant, group_id=group, user_id="ann", session_id="s1")
    for tenant in (None, "acme", "a/b")
    for group in ("desk", "g 2")
]


@pytest.fixture
def place(tmp_path, redis_url, redis_prefix):
    """Returns a new empty place of a kind."""
    opened, schemas = [], []

    def made(kind):
        number = len(opened)
        if kind == "embedded":
            stores = embedded()
        elif kind == "langgraph":
            stores = langgraph_stores(InMemoryStore())
        elif kind == "postgres":
            schemas.append(postgres.schema_at(postgres.url()))
            stores = open_stores(schemas[-1].__enter__())
        else:
            stores = open_stores(f"sqlite:///{tmp_path / f'{number}.db'}")
        if kind == "sqlite + redis":
            settings = RedisSettings(prefix=f"{redis_prefix}{number}:")
            working = RedisWorking(redis_url, settings)
            stores = Stores(stores.quarantine, working, stores.long_term)
        opened.append(stores)
        return stores

    yield made
    for stores in opened:
        for tier in LAYERS:
            getattr(stores, tier).close()
    for schema in schemas:
        schema.__exit__(None, None, None)


KINDS = ["embedded", "sqlite", "postgres", "sqlite + redis", "langgraph"]


def lived_in(stores):
    """A memory in which something has happened."""
    clock = Clock()
    memory = TieredMemory(stores, embeddings=HashEmbeddings(16), clock=clock)
    for place_, scope in enumerate(GROUPS):
        for n in range(4):
            clock.forward(minutes=1)
            memory.record(f"Text {n} of {place_}: the kettle is green.", scope, key=f"k{n}")
        kept = [
            memory.promote(f"Promise {n} of place {place_}: tea at {n}.", scope, by="ann")
            for n in range(3)
        ]
        memory.revoke(kept[0], scope, by="bo")
        memory.supersede(kept[1], "Coffee at noon.", scope, by="bo")
    return memory


def everything(stores):
    """All records, by tier; what order there is within groups stays."""
    found = {}
    for tier in LAYERS:
        store, mark, records = getattr(stores, tier), None, []
        while True:
            part = store.walk(mark, limit=7)
            records += part.items
            mark = part.mark
            if mark is None:
                break
        found[tier] = {
            (tenant, group): [
                one for one in records if (one.scope.tenant, one.scope.group_id) == (tenant, group)
            ]
            for tenant, group in {(one.scope.tenant, one.scope.group_id) for one in records}
        }
    return found


def recalled(stores):
    clock = Clock()
    clock.forward(hours=1)
    memory = TieredMemory(stores, embeddings=HashEmbeddings(16), clock=clock)
    return [
        [(one.source, one.content, round(one.score, 2)) for one in memory.retrieve("tea", scope)]
        for scope in GROUPS
    ]


@pytest.mark.slow
@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_everything_moves_from_any_place_to_any_other(place, source, target):
    one, other = place(source), place(target)
    lived_in(one)
    report = copy_stores(one, other, batch=10)
    assert report.same
    assert (report.surplus, report.removed, report.round) == (0, 0, 2)
    assert everything(other) == everything(one)
    assert other.long_term.spaces() == one.long_term.spaces()
    assert report.vectors == sum(one.long_term.spaces().values()) > 0
    assert recalled(other) == recalled(one)
    assert any(recalled(other))
    again = copy_stores(one, other)
    assert (again.same, again.kept, again.vectors, again.round) == (True, 0, 0, 1)


async def test_the_async_twin_moves_as_well(place):
    one, other = place("sqlite"), place("sqlite + redis")
    await asyncio.to_thread(lived_in, one)
    report = await acopy_stores(one, other, batch=10)
    assert report.same
    assert everything(other) == everything(one)
    await other.working.aclose()


@pytest.mark.parametrize("kind", KINDS)
def test_changes_of_the_source_come_with_the_next_copy(place, kind):
    one, other = place("sqlite"), place(kind)
    memory = lived_in(one)
    copy_stores(one, other)
    memory.record("Something new that was said.", GROUPS[0])
    memory.promote("Something new that is kept.", GROUPS[1], by="ann")
    memory.revoke(memory.promote("Not this.", GROUPS[2], by="ann"), GROUPS[2], by="bo")
    report = copy_stores(one, other)
    assert report.same
    assert report.kept > 0
    assert everything(other) == everything(one)


def test_what_is_written_meanwhile_comes_with_the_next_round(place):
    one, other = place("sqlite"), place("postgres")
    memory = lived_in(one)
    said = iter(["First meanwhile.", "Second meanwhile."])

    def meanwhile(report):
        if report.tiers[-1].tier == "long_term":
            text = next(said, None)
            if text:
                memory.record(text, GROUPS[0])

    report = copy_stores(one, other, on_progress=meanwhile)
    assert (report.same, report.surplus) == (True, 0)
    assert report.round == 4
    assert everything(other) == everything(one)


def test_a_source_that_never_rests_is_reported(place):
    one, other = place("embedded"), place("embedded")
    memory = lived_in(one)
    report = copy_stores(
        one, other, rounds=3, on_progress=lambda _: memory.record("One more.", GROUPS[0])
    )
    assert (report.same, report.round) == (False, 3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_forgotten_in_the_source_is_named_and_removed_if_that_is_wanted(place, kind):
    one, other = place("sqlite"), place(kind)
    memory = lived_in(one)
    copy_stores(one, other)
    memory.forget(GROUPS[2])
    report = copy_stores(one, other)
    assert (report.same, report.removed) == (True, 0)
    assert report.surplus > 0
    assert f"{report.surplus} only in the target" in str(report)
    exact = copy_stores(one, other, exact=True)
    assert (exact.surplus, exact.removed) == (0, report.surplus)
    assert everything(other) == everything(one)
    assert copy_stores(one, other).surplus == 0


def test_what_the_target_had_before_stays(place):
    one, other = place("sqlite"), place("postgres")
    lived_in(one)
    own = TieredMemory(other)
    mine = own.record("It was here before.", GROUPS[0])
    report = copy_stores(one, other)
    assert (report.same, report.surplus) == (True, 1)
    assert mine.entry in other.quarantine.find(within(GROUPS[0])).items


class Interrupted(Exception):
    """Somebody pulled the plug."""


@pytest.mark.slow
@pytest.mark.parametrize("source", KINDS)
def test_an_interrupted_copy_goes_on_where_it_was(place, source):
    one, other = place(source), place("sqlite")
    lived_in(one)
    reports = []

    def stop(report):
        reports.append(report)
        if len(reports) == 4:
            raise Interrupted

    with pytest.raises(Interrupted):
        copy_stores(one, other, batch=5, on_progress=stop)
    kept = reports[-1].kept
    assert kept > 0
    went_on = []
    report = copy_stores(one, other, marks=reports[-1].marks, batch=5, on_progress=went_on.append)
    assert report.same
    assert everything(other) == everything(one)
    assert kept + report.kept == sum(
        len(records) for tier in everything(one).values() for records in tier.values()
    )
    assert any(reports[-1].marks.values()) is (source not in {"embedded", "langgraph"})


COPY = """
import sys
from memoryware.stores import copy_stores
def told(report):
    print(report, flush=True)
copy_stores(sys.argv[1], sys.argv[2], batch=2, on_progress=told)
"""


@pytest.mark.slow
def test_a_copy_whose_process_is_killed_is_made_whole_by_the_next(tmp_path, place):
    source, target = (f"sqlite:///{tmp_path / name}.db" for name in ("one", "other"))
    one = open_stores(source)
    lived_in(one)
    for killed_after in (1, 3, 9):
        command = [sys.executable, "-c", COPY, source, target]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            lines = [run.stdout.readline() for _ in range(killed_after)]
            run.send_signal(signal.SIGKILL)
        assert lines[-1].startswith("round 1, ")
    report = copy_stores(source, target)
    assert report.same
    other = open_stores(target)
    assert everything(other) == everything(one)
    assert recalled(other) == recalled(one)
    for stores in (one, other):
        stores.working.close()


def test_progress_is_one_line_for_people(place):
    one, other = place("sqlite"), place("embedded")
    lived_in(one)
    lines = []
    copy_stores(one, other, batch=10, on_progress=lambda report: lines.append(str(report)))
    assert lines[0] == "round 1, quarantine: 10 of 24 read, 10 copied"
    assert lines[-1].startswith("the same: 24 in quarantine, ")
    assert lines[-1].endswith(" vectors)")


def test_every_space_moves_and_the_current_one_stays_current(place):
    one, other = place("sqlite"), place("postgres")
    old, new = Space("old model", 3), Space("new model", 2)
    chunks = document("one", "two", "three")
    one.long_term.add(chunks, [[1, 0, 0], [0, 1, 0], None], old)
    one.long_term.put_vectors([(chunks[0], [1, 1])], new)
    one.long_term.adopt(new)
    assert copy_stores(one, other, batch=1).vectors == 3
    assert list(other.long_term.spaces().items()) == [(new, 1), (old, 2)]


def test_a_target_with_a_model_of_its_own_keeps_it(place):
    one, other = place("sqlite"), place("embedded")
    one.long_term.add(document("one"), [[1, 0, 0]], FLAT)
    mine = Space("mine", 2)
    other.long_term.add(document("other"), [[1, 0]], mine)
    assert copy_stores(one, other).vectors == 1
    assert list(other.long_term.spaces()) == [mine, FLAT]
    with pytest.raises(EmbeddingMismatch):
        other.long_term.by_vector([1, 0, 0], within(), space=FLAT, limit=3)


def test_a_space_of_another_length_is_refused(place):
    one, other = place("sqlite"), place("sqlite")
    one.long_term.add(document("one"), [[1, 0, 0]], FLAT)
    other.long_term.add(document("other"), [[1, 0]], Space(FLAT.name, 2))
    with pytest.raises(EmbeddingMismatch):
        copy_stores(one, other)


def test_entries_whose_key_is_taken_there_are_passed_over(place):
    one, other = place("sqlite"), place("sqlite")
    one.quarantine.add(entry("said twice", key="k"))
    theirs = other.quarantine.add(entry("said twice", key="k"))
    report = copy_stores(one, other)
    assert (report.same, report.kept, report.passed_over) == (True, 0, 1)
    assert "1 have a key that is taken" in str(report)
    assert other.quarantine.find(within()).items == [theirs]
    report = copy_stores(one, other, exact=True)
    assert (report.kept, report.removed, report.passed_over) == (1, 1, 0)
    assert other.quarantine.find(within()).items == one.quarantine.find(within()).items


@pytest.mark.parametrize("dimension", [1, 3, 8, 100])
def test_vectors_that_were_rounded_are_copied_once(place, dimension):
    dice, space = random.Random(dimension), Space("m", dimension)
    one, other = place("sqlite"), place("postgres")
    chunks = document(*map(str, range(30)))
    vectors = [[dice.gauss(0, 1) for _ in range(dimension)] for _ in chunks]
    vectors[0] = [0.0] * dimension
    one.long_term.add(chunks, vectors, space)
    report = copy_stores(one, other)
    assert (report.same, report.round, report.vectors) == (True, 2, 30)


def test_a_source_that_is_not_there_is_not_made_and_empties_no_target(tmp_path, place):
    target, missing = place("sqlite"), tmp_path / "mistyped.db"
    lived_in(target)
    before = everything(target)
    with pytest.raises(StoreUnavailable, match="no file"):
        copy_stores(f"sqlite:///{missing}", target, exact=True)
    assert not missing.exists()
    with pytest.raises(SettingError, match="the source has none"):
        copy_stores(place("postgres"), target, exact=True)
    assert everything(target) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"target": "memory://x"}, "memory://x"),
        ({"target": "mongodb://host"}, "not an address"),
        ({"batch": 0}, "batch"),
        ({"rounds": 0}, "rounds"),
        ({"marks": {"warm": "1"}}, "'warm' is not a tier"),
        ({"marks": {"quarantine": "x"}}, "mark='x'"),
        ({"marks": {"quarantine": "9" * 30}}, "mark='999"),
        ({"marks": {"quarantine": 7}}, "mark=7"),
        ({"marks": ["quarantine"]}, "marks: must be a mapping"),
        ({"batch": 2**70}, "batch"),
    ],
)
def test_wrong_arguments_are_said(tmp_path, arguments, said):
    given = {"source": f"sqlite:///{tmp_path / 'a.db'}", "target": "memory://", **arguments}
    open_stores(given["source"]).working.close()
    with pytest.raises((SettingError, StoreUnavailable), match=said):
        copy_stores(given.pop("source"), given.pop("target"), **given)


def test_a_place_is_not_copied_into_itself(tmp_path):
    stores, url = embedded(), f"sqlite:///{tmp_path / 'a.db'}"
    for one in (stores, url):
        with pytest.raises(SettingError, match="are the same"):
            copy_stores(one, one)
    assert not (tmp_path / "a.db").exists()

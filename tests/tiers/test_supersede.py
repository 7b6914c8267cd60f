"""Superseding: both texts stay, each with its time, and one of a subject holds."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta

import pytest

from memoryware import TieredMemory
from memoryware._clock import random_id
from memoryware.errors import EntryMissing, EntryRefused, PromotionRefused, SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers.promote import promote, supersede
from memoryware.tiers.provenance import Trust
from memoryware.tiers.recall.query import RetrieveOptions
from memoryware.tiers.recall.search import retrieve
from memoryware.tiers.revoke import revoke
from memoryware.tiers.supersede import PromotionOptions
from memoryware.tiers.values import Promotion
from tiers.kit import DOORS, HashEmbeddings, parts, run
from tiers.long_term import (
    ACME,
    KINDS,
    MYSQL,
    POSTGRES,
    both_stores,
    current,
    entry_of,
    memories,
    waiting,
)

ORACLE = "The orders of the shop are stored in Oracle."
LONG = "\n\n".join(f"Part {n} of the shop. " + "It has walls. " * 30 for n in range(4))
DATABASE = PromotionOptions(subject="database")


@pytest.fixture(params=KINDS)
def p(request, tmp_path):
    made = both_stores(request.param, tmp_path)
    yield parts(made, new_id=random_id)
    made.long_term.close()


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


def times(p, scope=ACME):
    return {one.content: (one.valid_from, one.valid_to) for one in memories(p, scope)}


async def shown(door, p, at=None):
    wanted = RetrieveOptions(at=at, tiers=("long_term",))
    return {
        one.content for one in await run(door, retrieve, p, "orders stored", ACME, options=wanted)
    }


async def test_both_are_kept_with_their_times(p, door):
    start = p.clock()
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    p.clock.forward(days=1)
    new = await run(door, supersede, p, old, POSTGRES, ACME, by="bo")
    change = p.clock()
    assert times(p) == {MYSQL: (start, change), POSTGRES: (change, None)}
    assert new.superseded == (old.document_id,)
    assert memories(p, documents=(old.document_id,))[0].superseded_by == new.document_id
    p.clock.forward(days=1)
    assert await shown(door, p) == {POSTGRES}
    assert await shown(door, p, start) == {MYSQL}
    assert await shown(door, p, change - timedelta(microseconds=1)) == {MYSQL}
    assert await shown(door, p, change) == {POSTGRES}
    assert await shown(door, p, start - timedelta(days=1)) == set()


async def test_a_whole_document_ends(p, door):
    old = await run(door, promote, p, LONG, ACME, by="ann")
    assert len(old.ids) > 2
    p.clock.forward(days=1)
    await run(door, supersede, p, old.memories[2], "The shop is closed.", ACME, by="ann")
    assert current(p) == ["The shop is closed."]
    assert {one.valid_to for one in memories(p, documents=(old.document_id,))} == {p.clock()}


@pytest.mark.parametrize("name", ["id", "document", "memory", "promotion", "item"])
async def test_the_old_one_can_be_named_in_every_way(p, door, name):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    p.clock.forward(days=1)
    (item,) = await run(door, retrieve, p, "orders MySQL", ACME)
    given = {
        "id": old.ids[0],
        "document": old.document_id,
        "memory": old.memories[0],
        "promotion": old,
        "item": item,
    }
    await run(door, supersede, p, given[name], POSTGRES, ACME, by="ann")
    assert current(p) == [POSTGRES]


async def test_without_a_scope_what_is_passed_brings_its_own(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    p.clock.forward(days=1)
    new = await run(door, supersede, p, old, POSTGRES, None, by="ann")
    p.clock.forward(days=1)
    entry = waiting(p, ORACLE)
    await run(door, supersede, p, new.document_id, entry, None, by="ann")
    assert current(p) == [ORACLE]
    assert entry_of(p, entry).status == "promoted"


async def test_a_chain_of_texts_shows_each_at_its_time(p, door):
    made = await run(door, promote, p, MYSQL, ACME, by="ann")
    moments = [p.clock()]
    for text in (POSTGRES, ORACLE, MYSQL):
        p.clock.forward(days=1)
        moments.append(p.clock())
        made = await run(door, supersede, p, made, text, ACME, by="ann")
    assert [await shown(door, p, one) for one in moments] == [
        {MYSQL},
        {POSTGRES},
        {ORACLE},
        {MYSQL},
    ]
    assert len(memories(p)) == 4


async def test_the_new_one_keeps_subject_and_agent(p, door):
    options = PromotionOptions(subject="database", agent_id="planner")
    old = await run(door, promote, p, MYSQL, ACME, by="ann", options=options)
    p.clock.forward(days=1)
    new = await run(door, supersede, p, old, POSTGRES, ACME, by="ann")
    assert (new.memories[0].subject, new.memories[0].scope.agent_id) == ("database", "planner")


async def test_what_is_superseded_or_revoked_cannot_be_superseded(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    p.clock.forward(days=1)
    new = await run(door, supersede, p, old, POSTGRES, ACME, by="ann")
    p.clock.forward(days=1)
    with pytest.raises(PromotionRefused, match=f"superseded by {new.document_id}") as caught:
        await run(door, supersede, p, old, ORACLE, ACME, by="ann")
    assert caught.value.reasons == ("not_current",)
    await run(door, revoke, p, new, ACME, by="ann")
    with pytest.raises(PromotionRefused, match="was revoked") as caught:
        await run(door, supersede, p, new, ORACLE, ACME, by="ann")
    assert caught.value.reasons == ("not_current",)
    assert ORACLE not in times(p)


async def test_an_entry_whose_memory_was_superseded_is_not_promoted_again(p, door):
    entry = waiting(p, MYSQL)
    old = await run(door, promote, p, entry, None, by="ann")
    p.clock.forward(days=1)
    await run(door, supersede, p, old, POSTGRES, ACME, by="ann")
    p.clock.forward(days=1)
    with pytest.raises(PromotionRefused, match="promote its text if it holds again") as caught:
        await run(door, promote, p, entry, None, by="ann")
    assert caught.value.reasons == ("superseded",)
    assert (await run(door, promote, p, MYSQL, ACME, by="ann")).existing is False


async def test_memory_of_others_cannot_be_superseded(p, door):
    other = MemoryScope(group_id="acme2")
    old = await run(door, promote, p, MYSQL, other, by="ann")
    p.clock.forward(days=1)
    for name in (old, old.ids[0], old.document_id, old.memories[0], "f" * 32, Promotion()):
        with pytest.raises(EntryMissing, match="'acme'"):
            await run(door, supersede, p, name, POSTGRES, ACME, by="ann")
    with pytest.raises(EntryMissing):
        await run(door, supersede, p, old, waiting(p, POSTGRES), other, by="ann")
    assert current(p, other) == [MYSQL]


async def test_a_text_takes_no_place_before_the_old_one_began(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    p.clock.forward(days=1)
    options = PromotionOptions(valid_from=p.clock() - timedelta(days=2))
    with pytest.raises(PromotionRefused, match="pass a later valid_from") as caught:
        await run(door, supersede, p, old, POSTGRES, ACME, by="ann", options=options)
    assert caught.value.reasons == ("valid_from",)
    assert current(p) == [MYSQL]


async def test_it_can_take_the_place_later_or_earlier_than_now(p, door):
    start = p.clock()
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    p.clock.forward(days=10)
    new = await run(
        door, supersede, p, old, POSTGRES, ACME, by="ann",
        options=PromotionOptions(valid_from=start + timedelta(days=5)),
    )  # fmt: skip
    later = p.clock() + timedelta(days=5)
    await run(
        door, supersede, p, new, ORACLE, ACME, by="ann", options=PromotionOptions(valid_from=later)
    )
    assert times(p) == {
        MYSQL: (start, start + timedelta(days=5)),
        POSTGRES: (start + timedelta(days=5), later),
        ORACLE: (later, None),
    }
    assert current(p) == [POSTGRES]


async def test_at_the_same_moment_the_new_one_holds(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    await run(door, supersede, p, old, POSTGRES, ACME, by="ann")
    assert current(p) == [POSTGRES]


async def test_a_clock_that_went_back_a_little_is_no_error(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    p.clock.forward(seconds=-2)
    await run(door, supersede, p, old, POSTGRES, ACME, by="ann")
    p.clock.forward(seconds=3)
    assert current(p) == [POSTGRES]


async def test_the_same_text_supersedes_nothing(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    p.clock.forward(days=1)
    made = await run(door, supersede, p, old, MYSQL, ACME, by="ann")
    assert (made.existing, made.ids, made.superseded) == (True, old.ids, ())
    assert current(p) == [MYSQL]


async def test_a_text_that_is_there_already_can_take_the_place(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    there = await run(door, promote, p, POSTGRES, ACME, by="ann")
    p.clock.forward(days=1)
    made = await run(door, supersede, p, old, POSTGRES, ACME, by="ann")
    assert (made.existing, made.ids, made.superseded) == (True, there.ids, (old.document_id,))
    assert times(p)[MYSQL][1] == p.clock()
    assert current(p) == [POSTGRES]


async def test_nothing_takes_no_place(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    with pytest.raises(EntryRefused, match=r"revoke\(\)"):
        await run(door, supersede, p, old, " ", ACME, by="ann")
    assert current(p) == [MYSQL]


async def test_an_agent_cannot_replace_what_a_person_wrote(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    entry = waiting(p, POSTGRES, "tool:web")
    p.clock.forward(days=1)
    with pytest.raises(PromotionRefused, match="trusted more") as caught:
        await run(door, supersede, p, old, entry, ACME, by="agent:helper")
    assert caught.value.reasons == ("trust",)
    made = await run(door, supersede, p, old, entry, ACME, by="ann")
    assert made.memories[0].provenance.trust == Trust.UNTRUSTED


async def test_words_and_vectors_of_the_old_one_do_not_outrank_the_new_one(p, door):
    given = parts(p.stores, embeddings=HashEmbeddings(), new_id=random_id)
    old = await run(door, promote, given, MYSQL, ACME, by="ann")
    given.clock.forward(days=1)
    await run(door, supersede, given, old, "Since May it is PostgreSQL.", ACME, by="ann")
    found = await run(door, retrieve, given, MYSQL, ACME)
    assert [one.content for one in found] == ["Since May it is PostgreSQL."]


# Subjects.


async def test_a_subject_has_one_current_text(p, door):
    first = await run(door, promote, p, MYSQL, ACME, by="ann", options=DATABASE)
    p.clock.forward(days=1)
    second = await run(door, promote, p, POSTGRES, ACME, by="ann", options=DATABASE)
    assert (second.superseded, second.contradictions) == ((first.document_id,), ())
    assert current(p) == [POSTGRES]
    assert times(p)[MYSQL][1] == p.clock()


async def test_subjects_of_others_stay(p, door):
    other = MemoryScope(group_id="b")
    await run(door, promote, p, MYSQL, ACME, by="ann", options=DATABASE)
    await run(
        door, promote, p, MYSQL, ACME, by="ann", options=PromotionOptions(subject="old database")
    )
    await run(door, promote, p, MYSQL, other, by="ann", options=DATABASE)
    await run(
        door,
        promote,
        p,
        ORACLE,
        ACME,
        by="ann",
        options=PromotionOptions(subject="database", agent_id="a"),
    )
    p.clock.forward(days=1)
    await run(door, promote, p, POSTGRES, ACME, by="ann", options=DATABASE)
    assert current(p) == [ORACLE, POSTGRES]
    assert current(p, other) == [MYSQL]


@pytest.mark.parametrize(
    ("before", "after", "settled"),
    [
        ("agent:a", "user:u", True),
        ("user:u", "user:v", True),
        ("user:u", "agent:a", False),
        ("person:p", "tool:w", False),
    ],
)
async def test_what_is_trusted_less_does_not_take_the_place(p, door, before, after, settled):
    by = "agent:curator"
    old = await run(door, promote, p, waiting(p, MYSQL, before), None, by=by, options=DATABASE)
    p.clock.forward(days=1)
    entry = waiting(p, POSTGRES, after)
    new = await run(door, promote, p, entry, None, by=by, options=DATABASE)
    if settled:
        assert (new.superseded, new.contradictions) == ((old.document_id,), ())
        assert current(p) == [POSTGRES]
    else:
        (against,) = new.contradictions
        assert (against.first, against.second) == (old.ids[0], entry.id)
        assert "trusted more" in against.reason
        assert (new.ids, new.superseded, new.proposal) == ((), (), entry_of(p, entry))
        assert new.proposal.status == "proposed"
        assert current(p) == [MYSQL]
    made = await run(door, promote, p, entry, None, by="ann")  # a person may replace anything
    assert made.existing == settled
    assert current(p) == [POSTGRES]


async def test_a_subject_has_no_second_future(p, door):
    later = p.clock() + timedelta(days=5)
    await run(door, promote, p, MYSQL, ACME, by="ann", options=DATABASE)
    p.clock.forward(days=1)
    await run(
        door,
        promote,
        p,
        POSTGRES,
        ACME,
        by="ann",
        options=PromotionOptions("database", valid_from=later),
    )
    assert current(p) == [MYSQL]
    with pytest.raises(PromotionRefused, match="later valid_from"):
        await run(door, promote, p, ORACLE, ACME, by="ann", options=DATABASE)
    p.clock.forward(days=5)
    assert current(p) == [POSTGRES]


async def test_a_moment_without_a_zone_is_refused(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    options = PromotionOptions(valid_from=p.clock().replace(tzinfo=None))
    with pytest.raises(SettingError, match="time zone"):
        await run(door, supersede, p, old, POSTGRES, ACME, by="ann", options=options)


# Several at once.


@pytest.mark.parametrize("kind", KINDS)
async def test_of_many_who_supersede_the_same_one_wins(kind, tmp_path):
    memory = TieredMemory(both_stores(kind, tmp_path))
    old = memory.promote(MYSQL, ACME, by="ann")
    made = await asyncio.gather(
        *(memory.asupersede(old, f"Text {n} of the shop.", ACME, by="ann") for n in range(8)),
        return_exceptions=True,
    )
    won = [one for one in made if isinstance(one, Promotion)]
    lost = [one for one in made if isinstance(one, PromotionRefused)]
    assert (len(won), len(lost)) == (1, 7)
    assert current(memory.parts) == [won[0].memories[0].content]
    assert len(memories(memory.parts)) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_of_many_who_promote_a_subject_one_text_holds(kind, tmp_path):
    memory = TieredMemory(both_stores(kind, tmp_path))
    memory.promote(MYSQL, ACME, by="ann", subject="database")
    ready = threading.Barrier(6)

    def promote_one(number):
        ready.wait()
        memory.promote(f"Text {number} of the shop.", ACME, by="ann", subject="database")

    threads = [threading.Thread(target=promote_one, args=(n,)) for n in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(50)
    assert len(current(memory.parts)) == 1
    assert len(memories(memory.parts)) == 7

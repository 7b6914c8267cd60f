"""A memory is filled as an agent fills it, and what it returns is counted in turns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memoryware import TieredMemory
from memoryware.bench.datasets import Conversation, DatasetQuestion, DatasetTurn
from memoryware.bench.filling import PERSON, TENANT, Stored, TurnClock, clear, fill, scope_of
from memoryware.bench.recall import RETRIEVE, WORDS, measure, plan
from memoryware.tiers.provenance import Origin

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
LONG = " ".join(f"The parcel number {number} went to Riga." for number in range(60))


def turn(number: int, text: str, **fields) -> DatasetTurn:
    usual = {
        "id": f"t{number}",
        "session": f"s{number // 3}",
        "text": text,
        "time": START + timedelta(days=number),
        "role": "user",
        "speaker": "Ann",
    }
    return DatasetTurn(**(usual | fields))


TALK = Conversation(
    id="g",
    turns=(
        turn(0, "I planted an oak behind the mill."),
        turn(1, "Thanks!", role="agent", speaker="assistant"),
        turn(2, LONG),
        turn(3, "Thanks!", role="agent", speaker="assistant"),
        turn(4, "My sister Bea keeps bees in Porto.", speaker="Bo"),
    ),
    questions=(
        DatasetQuestion(id="q1", text="What went to Riga?", gold=("t2",)),
        DatasetQuestion(id="q2", text="Where are the bees?", gold=("t4",)),
    ),
)


@pytest.fixture
def clock():
    return TurnClock()


@pytest.fixture
def memory(clock):
    with TieredMemory.open("memory://", clock=clock) as opened:
        yield opened


def promoted(memory):
    return {one.content: one for one in memory.parts.stores.long_term.walk(limit=100).items}


def test_a_turn_is_recorded_at_its_time_by_who_said_it_and_promoted_by_a_person(memory, clock):
    fill(memory, clock, TALK, "turns")
    entries = {one.content: one for one in memory.parts.stores.quarantine.walk(limit=100).items}
    bees, thanks = entries["My sister Bea keeps bees in Porto."], entries["Thanks!"]
    assert bees.created_at == TALK.turns[4].time
    assert (bees.provenance.origin, bees.metadata["speaker"]) == (Origin("user", "Bo"), "Bo")
    assert thanks.provenance.origin == Origin("agent", "")
    assert "speaker" not in thanks.metadata
    assert (bees.scope.tenant, bees.scope.group_id, bees.scope.session_id) == (TENANT, "g", "s1")
    kept = promoted(memory)[bees.content]
    assert (kept.promoted_by, kept.created_at) == (PERSON, TALK.turns[4].time)
    assert kept.source_entry_ids == (bees.id,)


def test_what_is_stored_is_what_was_said(memory, clock):
    fill(memory, clock, TALK, "turns")
    assert "I planted an oak behind the mill." in promoted(memory)
    named = replace(TALK, turns=tuple(replace(each, named=True) for each in TALK.turns[:1]))
    assert [each.content for each in named.turns] == ["Ann: I planted an oak behind the mill."]


def test_a_long_turn_is_several_memories_and_counts_once(memory, clock):
    stored = fill(memory, clock, TALK, "turns")
    parts = [id_ for id_, turns in stored.turns.items() if list(turns) == ["t2"]]
    assert len(parts) > 3
    found = memory.retrieve("What went to Riga?", scope_of(TALK), at=clock.now, max_results=5)
    assert stored.turns_of(one.id for one in found) == ("t2",)
    measured = measure([TALK], lists=True)
    assert measured.scored[0].ranks == {RETRIEVE: (1,), WORDS: (1,)}


def test_turns_with_the_same_text_are_one_memory_that_stands_for_both(memory, clock):
    stored = fill(memory, clock, TALK, "turns")
    thanks = promoted(memory)["Thanks!"]
    assert stored.turns_of([thanks.id, thanks.id, "of nobody"]) == ("t1", "t3")
    assert Stored({"a": ("t1",), "b": ("t2", "t1")}).turns_of("ba") == ("t2", "t1")


def test_in_bulk_each_turn_is_a_memory_with_its_id(memory, clock):
    stored = fill(memory, clock, TALK, "bulk")
    records = {one.id: one for one in memory.parts.stores.long_term.walk(limit=100).items}
    assert {*records} == {each.id for each in TALK.turns}
    assert [records[each.id].created_at for each in TALK.turns] == [
        each.time for each in TALK.turns
    ]
    assert (records["t1"].document_id, records["t1"].chunk_index) == ("s0", 1)
    assert stored.turns_of(["t3", "t1"]) == ("t3", "t1")
    assert measure([TALK], filling="bulk").scored[1].ranks[RETRIEVE] == (1,)


def test_clearing_leaves_other_conversations(memory, clock):
    other = replace(TALK, id="other")
    for talk in (TALK, other):
        fill(memory, clock, talk, "turns")
    clear(memory, TALK)
    stores = memory.parts.stores
    for tier in (stores.quarantine, stores.working, stores.long_term):
        assert {one.scope.group_id for one in tier.walk(limit=100).items} == {"other"}


def test_names_are_stored_with_the_text_if_asked_for(tmp_path):
    from bench.made import EXAMPLE, locomo_list

    planned = plan("locomo", locomo_list(tmp_path / "locomo10.json"), names=True)
    first = next(iter(planned.conversations)).turns[0]
    assert first.content == f"{first.speaker}: {first.text}"
    without = plan("jsonl", EXAMPLE, names=True)
    (talk,) = without.conversations
    assert {each.content == each.text for each in talk.turns if not each.name} <= {True}

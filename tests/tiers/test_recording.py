"""Recording: quarantine keeps everything, working memory what passes, each once."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from hooked import failing
from memoryware._runner import run_blocking
from memoryware.errors import EntryMissing, EntryRefused, SettingError, StoreUnavailable
from memoryware.events import listen
from memoryware.guard import Guard
from memoryware.scope import MemoryScope
from memoryware.settings import TierLimits
from memoryware.tiers._parts import Parts, Passed, Refusal
from memoryware.tiers.entry import EntryOrigin
from memoryware.tiers.filters import default_filters
from memoryware.tiers.model import Entry
from memoryware.tiers.promote import promote
from memoryware.tiers.provenance import Origin, Provenance, Trust
from memoryware.tiers.recall.search import retrieve
from memoryware.tiers.record import (
    cleanup_working_memory,
    log_quarantine,
    record,
    update_working_memory,
)
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.protocol import Select, Stores
from memoryware.tiers.stores.sqlite import sqlite_stores
from memoryware.tiers.values import ContextItem
from tiers.kit import DOORS, Clock, Door, parts, run

SCOPE = MemoryScope(group_id="acme", agent_id="planner", session_id="s1", node_id="plan")
TEXT = "The orders service stores its data in PostgreSQL 16, which is backed up daily."
OTHER = "The search cluster of the shop has three nodes and is restarted every Sunday night."
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

Making = Callable[..., Parts]


@pytest.fixture(params=["embedded", "sqlite"])
def stores(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Stores]:
    made = embedded() if request.param == "embedded" else sqlite_stores(tmp_path / "memory.db")
    yield made
    for one in (made.quarantine, made.working, made.long_term):
        one.close()


@pytest.fixture
def making(stores: Stores) -> Making:
    """Makes parts with the default filters over real stores."""

    def make(**changes: Any) -> Parts:
        limits = changes.setdefault("limits", TierLimits())
        changes.setdefault("filters", default_filters(limits, Guard()))
        return parts(changes.pop("stores", stores), **changes)

    return make


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> Door:
    found: Door = request.param
    return found


@pytest.fixture
def heard() -> Iterator[list[dict[str, Any]]]:
    told: list[dict[str, Any]] = []
    with listen(lambda event: told.append(dict(event))):
        yield told


def hot(p: Parts, scope: MemoryScope = SCOPE) -> list[Entry]:
    return p.stores.working.find(Select.within(scope, live_at=p.clock())).items


def logged(p: Parts, scope: MemoryScope = SCOPE) -> list[Entry]:
    return p.stores.quarantine.find(Select.within(scope)).items


def numbered(count: int) -> list[str]:
    """Texts that say different things."""
    return [
        f"Machine number {n} of hall {n * 7} was serviced by worker {n * 13}." for n in range(count)
    ]


def item_of(entry: Entry) -> ContextItem:
    return ContextItem(
        id=entry.id,
        content=entry.content,
        source="working",
        score=1.0,
        created_at=entry.created_at,
        scope=entry.scope,
        provenance=entry.provenance,
    )


# What is kept.


async def test_an_output_is_kept_in_quarantine_and_in_working_memory(door, making):
    p = making()
    done = await run(door, record, p, TEXT, SCOPE, {"confidence": 0.9})
    assert done.working
    assert done.refused is None
    assert [one.id for one in logged(p)] == [one.id for one in hot(p)] == [done.entry.id]
    kept = logged(p)[0]
    assert kept.content == TEXT
    assert kept.scope == SCOPE
    assert kept.status == "pending"
    assert kept.expires_at is None
    assert hot(p)[0].expires_at == p.clock() + timedelta(hours=24)


async def test_an_entry_says_who_made_it_where_and_when(door, making):
    p = making()
    given = {"confidence": 0.9, "verify_pending": False, "topic": "orders"}
    before = dict(given)
    done = await run(door, record, p, TEXT, SCOPE, given, origin=EntryOrigin(role="other"))
    assert given == before
    assert dict(done.entry.metadata) == {
        **before,
        "node_id": "plan",
        "agent_id": "planner",
        "role": "other",
        "created_at": p.clock().isoformat(),
    }
    assert dict(logged(p)[0].metadata) == dict(done.entry.metadata)
    assert done.entry.provenance == Provenance(Origin("agent", "planner"))
    assert done.entry.provenance.trust is Trust.UNVERIFIED


async def test_the_caller_may_say_who_made_it(door, making):
    p = making()
    made = EntryOrigin(provenance=Provenance(Origin("user", "ann")))
    assert (
        await run(door, record, p, TEXT, SCOPE, origin=made)
    ).entry.provenance == made.provenance
    tool = await run(door, record, p, OTHER, SCOPE, origin=EntryOrigin(role="tool"))
    assert tool.entry.provenance.trust is Trust.UNTRUSTED


async def test_metadata_is_kept_as_json_and_what_cannot_be_is_left_out(door, making, caplog):
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError

    loop: dict[str, Any] = {}
    loop["self"] = loop
    given = {
        "at": datetime(2026, 1, 1, tzinfo=UTC),
        "nan": float("nan"),
        "tags": {"a", "b"} - {"b"},
        "half": "x\ud83d",
        "odd": Odd(),
        "loop": loop,
        "confidence": Decimal("0.95"),
    }
    p = making()
    kept = (await run(door, record, p, TEXT, SCOPE, given)).entry.metadata
    assert kept["at"] == "2026-01-01 00:00:00+00:00"
    assert kept["nan"] == "NaN"
    assert kept["tags"] == "{'a'}"
    assert kept["half"] == "x\ufffd"
    assert kept["confidence"] == 0.95
    assert {"odd", "loop"}.isdisjoint(kept)
    assert dict(logged(p)[0].metadata) == dict(kept)
    assert "'odd' was not kept" in caplog.text


async def test_secrets_are_cut_out_before_anything_is_kept(door, making, heard, caplog):
    p = making()
    given = {"note": f"use {SECRET}", "password": "hunter2-Zx9!", "deep": [{"token": SECRET}]}
    done = await run(door, record, p, f"{TEXT} The token is {SECRET}.", SCOPE, given)
    kept = repr((done, done.entry, logged(p), hot(p), heard)) + caplog.text
    assert SECRET not in kept
    assert "hunter2" not in kept
    assert "[redacted:" in logged(p)[0].content
    assert done.working
    assert "secrets were cut out" in caplog.text


async def test_without_a_guard_texts_are_kept_as_they_are(door, making):
    p = making(guard=None)
    done = await run(door, record, p, f"{TEXT} {SECRET}", SCOPE)
    assert SECRET in done.entry.content


@pytest.mark.parametrize("content", [None, b"bytes", 7, ["text"], {"type": "text"}])
async def test_what_is_no_text_is_refused(door, making, content):
    p = making()
    with pytest.raises(EntryRefused, match="only text"):
        await run(door, record, p, content, SCOPE)
    assert logged(p) == []


async def test_a_text_that_is_too_long_is_refused_with_the_limit(door, making):
    p = making(limits=TierLimits(entry_chars=100))
    assert (await run(door, record, p, "x" * 100, SCOPE)).entry.content == "x" * 100
    with pytest.raises(EntryRefused, match="entry_chars=100"):
        await run(door, record, p, "x" * 101, SCOPE)
    assert len(logged(p)) == 1


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("half \ud83d of a character", "half \ufffd of a character"),
        ("two halves \ud83d\ude00", "two halves \U0001f600"),
        ("nul \x00 and \u202e turned \u200b hidden", "nul \x00 and \u202e turned \u200b hidden"),
        ("", ""),
        ("مرحبا 世界 🏳️‍🌈 é", "مرحبا 世界 🏳️‍🌈 é"),
    ],
)
async def test_any_text_comes_back_from_quarantine_as_it_was(door, making, content, kept):
    p = making()
    done = await run(door, record, p, content, SCOPE)
    assert done.entry.content == kept
    assert [one.content for one in logged(p)] == [kept]


async def test_a_long_text_with_a_running_loop_is_the_same_entry(door, making):
    p = making()
    long = " ".join(numbered(2000))
    done = await run(door, record, p, long, SCOPE)
    assert done.working
    assert done.entry.content == long


# Which tiers.


async def test_without_a_group_only_quarantine_keeps_it(door, making):
    p = making()
    for group in (None, ""):
        scope = MemoryScope(group_id=group)
        before = len(logged(p, scope))
        done = await run(door, record, p, TEXT, scope)
        assert not done.working
        assert done.refused is None
        assert len(logged(p, scope)) == before + 1
        assert hot(p, scope) == []


async def test_only_quarantine_if_so_wanted(door, making):
    p = making()
    done = await run(door, record, p, TEXT, SCOPE, tiers=("quarantine",))
    assert not done.working
    assert (len(logged(p)), hot(p)) == (1, [])
    entry = await run(door, log_quarantine, p, OTHER, SCOPE)
    assert (entry.content, len(logged(p)), hot(p)) == (OTHER, 2, [])


async def test_nothing_is_recorded_into_long_term_memory(door, making):
    p = making()
    with pytest.raises(SettingError, match="long_term"):
        await run(door, record, p, TEXT, SCOPE, tiers=("quarantine", "long_term"))
    for text in numbered(20):
        await run(door, record, p, text, SCOPE)
    assert p.stores.long_term.find(Select.within(SCOPE)).total == 0


async def test_groups_and_tenants_do_not_see_each_other(door, making):
    p = making()
    scopes = [
        MemoryScope(tenant=tenant, group_id=group)
        for tenant in (None, "", "t", "g1", "t:g")
        for group in ("g1", "g10", "g1:", "a.b", "a", " g1")
    ]
    for scope in scopes:
        done = await run(door, record, p, TEXT, scope, origin=EntryOrigin(key="k"))
        assert done.working, scope
    for scope in scopes:
        assert [one.scope for one in hot(p, scope)] == [scope]
        assert [one.scope for one in logged(p, scope)] == [scope]


# Working memory over time.


async def test_each_entry_leaves_working_memory_after_its_own_day(door, making):
    p = making()
    first, second, *_ = numbered(2)
    await run(door, record, p, first, SCOPE)
    p.clock.forward(hours=23)
    await run(door, record, p, second, SCOPE)
    p.clock.forward(hours=2)
    assert [one.content for one in hot(p)] == [second]
    p.clock.forward(days=3650)
    assert hot(p) == []
    assert len(logged(p)) == 2


async def test_the_whole_list_is_kept_by_each_write_if_so_wanted(door, making):
    p = making(ttl_scope="list")
    first, second, third, *_ = numbered(3)
    await run(door, record, p, first, SCOPE)
    p.clock.forward(hours=23)
    await run(door, record, p, second, SCOPE)
    p.clock.forward(hours=2)
    assert [one.content for one in hot(p)] == [second, first]
    p.clock.forward(hours=25)
    await run(door, record, p, third, SCOPE)
    assert [one.content for one in hot(p)] == [third]


async def test_a_write_that_renews_its_list_revives_nothing_and_leaves_other_groups(door, making):
    p = making(ttl_scope="list")
    first, second, third, *_ = numbered(3)
    other = replace(SCOPE, group_id="another group")
    await run(door, record, p, first, SCOPE)
    await run(door, record, p, second, other)
    p.clock.forward(hours=25)
    await run(door, record, p, third, SCOPE)
    kept = [p.stores.working.find(Select.within(scope)).items for scope in (SCOPE, other)]
    assert [[entry.content for entry in entries] for entries in kept] == [[third], [second]]
    assert hot(p, other) == []
    assert await run(door, cleanup_working_memory, p) == 1
    assert p.stores.working.find(Select.within(other)).items == []


async def test_the_newest_fifty_stay(door, making):
    p = making()
    texts = numbered(60)
    for text in texts:
        assert (await run(door, record, p, text, SCOPE)).working
    assert [one.content for one in hot(p)] == texts[:9:-1]
    assert len(logged(p)) == 60


async def test_cleaning_up_says_how_many_had_expired(door, making):
    p = making()
    for number, text in enumerate(numbered(3)):
        await run(door, record, p, text, MemoryScope(group_id=f"g{number}"))
    assert await run(door, cleanup_working_memory, p) == 0
    p.clock.forward(hours=24)
    assert await run(door, cleanup_working_memory, p) == 3
    assert await run(door, cleanup_working_memory, p) == 0


async def test_a_time_beyond_all_dates_is_for_ever(door, making):
    p = making(limits=TierLimits(working_hours=1e12))
    assert (await run(door, record, p, TEXT, SCOPE)).working
    p.clock.forward(days=365_000)
    assert len(hot(p)) == 1


# Refusals.


async def test_a_refusal_is_noted_in_quarantine_and_told(door, making, heard):
    p = making()
    done = await run(door, record, p, "too short", SCOPE)
    assert (done.working, done.refused) == (False, "no_content")
    assert [one.refused for one in logged(p)] == ["no_content"]
    assert done.entry == logged(p)[0]
    assert hot(p) == []
    told = [(one["event"], one["tier"]) for one in heard]
    assert told == [("recorded", "quarantine"), ("rejected", "working")]
    assert heard[1]["reason"] == "no_content"
    assert "too short" not in repr(heard)


async def test_the_same_text_is_there_once_and_comes_to_the_front(door, making):
    p = making()
    first, second, *_ = numbered(2)
    await run(door, record, p, first, SCOPE)
    p.clock.forward(hours=1)
    await run(door, record, p, second, SCOPE)
    p.clock.forward(hours=22)
    again = await run(door, record, p, f"  {first}\n", SCOPE)
    assert again.refused == "duplicate"
    assert [one.content for one in hot(p)] == [first, second]
    assert hot(p)[0].expires_at == p.clock() + timedelta(hours=24)
    assert len(logged(p)) == 3
    p.clock.forward(hours=3)
    assert [one.content for one in hot(p)] == [first]


async def test_the_same_text_from_many_at_once_is_there_once(making):
    p = making()
    await asyncio.gather(*(record(p.native, TEXT, SCOPE) for _ in range(10)))
    assert [one.content for one in hot(p)] == [TEXT]
    assert sorted(str(one.refused) for one in logged(p)) == ["None", *["duplicate"] * 9]
    assert [one.id for one in logged(p) if one.refused is None] == [hot(p)[0].id]


class Word:
    def __init__(self, word: str, answer: Any) -> None:
        self.word, self.answer, self.asked = word, answer, 0

    def check(self, entry: Entry, recent: Any) -> Any:
        self.asked += 1
        return self.answer if self.word in entry.content else None


class AsyncWord(Word):
    async def acheck(self, entry: Entry, recent: Any) -> Any:
        return self.check(entry, recent)


class OnlyAsync:
    async def acheck(self, entry: Entry, recent: Any) -> Any:
        return Refusal("foo") if "foo" in entry.content else None


class CheckIsAsync:
    async def check(self, entry: Entry, recent: Any) -> Any:
        return Refusal("foo") if "foo" in entry.content else None


@pytest.mark.parametrize(
    "one",
    [Word("foo", Refusal("foo")), AsyncWord("foo", Refusal("foo")), OnlyAsync(), CheckIsAsync()],
)
async def test_a_filter_of_ones_own_decides_in_both_doors(door, making, one):
    p = making(filters=[one])
    assert (await run(door, record, p, f"{TEXT} foo", SCOPE)).refused == "foo"
    assert (await run(door, record, p, OTHER, SCOPE)).working
    assert sorted(str(one.refused) for one in logged(p)) == ["None", "foo"]


async def test_the_first_filter_that_refuses_decides(door, making):
    first, second, third = Word("x", None), Word("x", Refusal("two")), Word("x", Refusal("three"))
    p = making(filters=[first, second, third])
    assert (await run(door, record, p, f"x {TEXT}", SCOPE)).refused == "two"
    assert (first.asked, second.asked, third.asked) == (1, 1, 0)


async def test_labels_of_a_filter_come_into_working_memory(door, making):
    p = making(filters=[Word("", Passed({"unverified": "yes"})), Word("", Passed({"b": 1}))])
    await run(door, record, p, TEXT, SCOPE, {"a": 0})
    assert {"a": 0, "unverified": "yes", "b": 1}.items() <= dict(hot(p)[0].metadata).items()


class Broken:
    def check(self, entry: Entry, recent: Any) -> Any:
        raise RuntimeError(f"cannot read {SECRET}")


@pytest.mark.parametrize("one", [Broken(), Word("", "no"), Word("", True), object()])
async def test_a_filter_that_fails_keeps_it_out_of_working_memory_only(door, making, one, caplog):
    p = making(filters=[one])
    done = await run(door, record, p, TEXT, SCOPE)
    assert (done.working, done.refused) == (False, "filter_failed")
    assert [one.refused for one in logged(p)] == ["filter_failed"]
    assert "failed" in caplog.text
    assert SECRET not in caplog.text


class Slow:
    async def acheck(self, entry: Entry, recent: Any) -> Any:
        await asyncio.Event().wait()


async def test_a_filter_that_never_answers_is_given_up(door, making):
    p = making(filters=[Slow()], limits=TierLimits(filter_timeout=0.05))
    assert (await run(door, record, p, TEXT, SCOPE)).refused == "filter_failed"


# Failing stores.


async def test_a_failing_working_memory_is_told_and_ends_nothing(door, making, heard, caplog):
    for name in ("find", "push"):
        p = making(stores=failing(embedded(), "working", name))
        heard.clear()
        done = await run(door, record, p, f"{name} {TEXT}", SCOPE)
        assert (done.working, done.refused) == (False, "store_failed")
        assert "working memory failed" in caplog.text
        rejected = [one for one in heard if one["event"] == "rejected"]
        assert [(one["tier"], one["reason"]) for one in rejected] == [("working", "store_failed")]
        assert len([one for one in caplog.records if one.levelno == logging.WARNING]) == 1
        caplog.clear()
        assert len(logged(p)) == 1


async def test_a_failing_quarantine_raises_and_nothing_is_kept_elsewhere(door, making):
    p = making(stores=failing(embedded(), "quarantine", "add"))
    for operation in (record, log_quarantine, update_working_memory):
        with pytest.raises(StoreUnavailable):
            await run(door, operation, p, TEXT, SCOPE)
    assert hot(p) == []


async def test_a_refusal_is_stored_with_the_entry(door, making):
    p = making(stores=failing(embedded(), "quarantine", "edit"))
    assert (await run(door, record, p, "short", SCOPE)).refused == "no_content"
    assert [one.refused for one in logged(p)] == ["no_content"]


async def test_a_failing_long_term_memory_does_not_keep_anything_out(door, making, caplog):
    p = making(stores=failing(embedded(), "long_term", "search"))
    assert (await run(door, record, p, TEXT, SCOPE)).working
    assert "long-term memory was not asked" in caplog.text


# Once.


async def test_the_same_key_is_recorded_once_in_every_tier(door, making, heard):
    p = making()
    made = EntryOrigin(key="thread:node:task")
    first = await run(door, record, p, TEXT, SCOPE, origin=made)
    told = len(heard)
    again = await run(door, record, p, TEXT, SCOPE, origin=made)
    assert again == first
    assert (len(logged(p)), len(hot(p)), len(heard)) == (1, 1, told)
    assert (await run(door, log_quarantine, p, TEXT, SCOPE, origin=made)) == first.entry


async def test_a_replay_of_a_refused_entry_asks_nobody_again(door, making):
    judge = Word("", Refusal("no"))
    p = making(filters=[judge])
    made = EntryOrigin(key="k")
    first = await run(door, record, p, TEXT, SCOPE, origin=made)
    again = await run(door, record, p, TEXT, SCOPE, origin=made)
    assert (again.refused, again.entry, judge.asked) == ("no", first.entry, 1)


@pytest.mark.parametrize("name", ["find", "push"])
async def test_a_replay_makes_up_for_a_working_memory_that_had_failed(door, making, name):
    p = making(stores=failing(embedded(), "working", name, times=1))
    made = EntryOrigin(key="k")
    first = await run(door, record, p, TEXT, SCOPE, origin=made)
    assert first.refused == "store_failed"
    p.clock.forward(hours=2)
    again = await run(door, record, p, TEXT, SCOPE, origin=made)
    assert again.working
    assert again.entry.id == first.entry.id
    assert [one.id for one in hot(p)] == [first.entry.id]
    assert hot(p)[0].expires_at == first.entry.created_at + timedelta(hours=24)
    assert len(logged(p)) == 1


async def test_a_late_replay_brings_nothing_back_that_has_left_working_memory(door, making):
    p = making(limits=TierLimits(working_entries=3))
    made = EntryOrigin(key="k")
    await run(door, record, p, TEXT, SCOPE, origin=made)
    for text in numbered(3):
        p.clock.forward(seconds=1)
        await run(door, record, p, text, SCOPE)
    assert not (await run(door, record, p, TEXT, SCOPE, origin=made)).working
    assert TEXT not in [one.content for one in hot(p)]
    p.clock.forward(hours=25)
    assert not (await run(door, record, p, TEXT, SCOPE, origin=made)).working
    assert hot(p) == []


async def test_what_a_person_has_revoked_does_not_come_back_by_a_replay(door, making):
    p = making()
    made = EntryOrigin(key="k")
    await run(door, record, p, TEXT, SCOPE, origin=made)
    which = Select.within(SCOPE)
    p.stores.quarantine.edit(which, lambda one: replace(one, status="revoked"))
    p.stores.working.delete(which)
    again = await run(door, record, p, TEXT, SCOPE, origin=made)
    assert (again.working, again.refused) == (False, "revoked")
    assert hot(p) == []


async def test_what_is_revoked_while_it_is_recorded_does_not_stay(door, making):
    class Revoking:
        def check(self, entry: Entry, recent: Any) -> Any:
            which = Select.within(SCOPE)
            p.stores.quarantine.edit(which, lambda one: replace(one, status="revoked"))

    p = making(filters=[Revoking()])
    done = await run(door, record, p, TEXT, SCOPE)
    assert (done.working, done.refused) == (False, "revoked")
    assert hot(p) == []


# Into working memory by hand.


async def test_a_text_put_into_working_memory_is_in_quarantine_as_well(door, making):
    p = making()
    done = await run(door, update_working_memory, p, TEXT, SCOPE, {"confidence": 1})
    assert done.working
    assert [one.id for one in hot(p)] == [one.id for one in logged(p)] == [done.entry.id]


async def test_logging_and_then_updating_is_one_entry(door, making):
    p = making()
    entry = await run(door, log_quarantine, p, TEXT, SCOPE, {"a": 1})
    done = await run(door, update_working_memory, p, TEXT, SCOPE, {"b": 2})
    assert done.entry.id == entry.id
    assert len(logged(p)) == 1
    assert {"a": 1, "b": 2}.items() <= dict(hot(p)[0].metadata).items()


async def test_an_entry_can_be_put_into_working_memory_later(door, making):
    p = making()
    entry = await run(door, log_quarantine, p, TEXT, SCOPE)
    p.clock.forward(days=3)
    for scope in (MemoryScope(), SCOPE):
        done = await run(door, update_working_memory, p, entry, scope)
        assert done.working
        assert [one.id for one in hot(p)] == [entry.id]
    assert hot(p)[0].expires_at == p.clock() + timedelta(hours=24)


async def test_an_entry_of_another_group_is_not_there(door, making):
    p = making()
    entry = await run(door, log_quarantine, p, TEXT, SCOPE)
    for scope in (MemoryScope(group_id="other"), replace(SCOPE, tenant="t")):
        with pytest.raises(EntryMissing):
            await run(door, update_working_memory, p, entry, scope)
    forged = replace(entry, scope=MemoryScope(group_id="other"))
    with pytest.raises(EntryMissing):
        await run(door, update_working_memory, p, forged, MemoryScope())


async def test_what_is_put_in_by_hand_is_what_quarantine_has(door, making):
    p = making()
    entry = await run(door, log_quarantine, p, TEXT, SCOPE)
    await run(door, update_working_memory, p, replace(entry, content="forged" * 20), SCOPE)
    assert [one.content for one in hot(p)] == [TEXT]


async def test_a_refusal_goes_when_the_entry_is_taken_after_all(door, making):
    p = making()
    entry = (await run(door, record, p, TEXT, SCOPE, {"confidence": 0.1})).entry
    assert entry.refused == "low_confidence"
    done = await run(door, update_working_memory, p, entry, SCOPE, {"confidence": 0.95})
    assert done.working
    assert [one.refused for one in logged(p)] == [None]


async def test_without_a_group_nothing_is_put_anywhere(door, making):
    p, scope = making(), MemoryScope(session_id="s")
    done = await run(door, update_working_memory, p, TEXT, scope)
    assert (done.working, logged(p, scope)) == (False, [])


# Echoes.


async def test_an_echo_is_kept_in_quarantine_and_nowhere_else(door, making, heard):
    p = making()
    first = await run(door, record, p, TEXT, SCOPE)
    p.clock.forward(hours=5)
    before = hot(p)
    heard.clear()
    made = EntryOrigin(shown=(item_of(first.entry),))
    for text in (TEXT, f"As I recall, {TEXT} Let me know if you need anything else!"):
        done = await run(door, record, p, text, SCOPE, origin=made)
        assert (done.working, done.refused) == (False, "echo")
        assert done.entry.echo_of == (first.entry.id,)
    assert hot(p) == before
    assert [(one.refused, one.echo_of) for one in logged(p)][:2] == [
        ("echo", (first.entry.id,))
    ] * 2
    assert [one["reason"] for one in heard if one["event"] == "rejected"] == ["echo"] * 2
    assert p.stores.long_term.find(Select.within(SCOPE)).total == 0


async def test_what_another_says_again_without_having_been_shown_it_is_a_duplicate(door, making):
    p = making()
    first = await run(door, record, p, TEXT, SCOPE)
    other = replace(SCOPE, agent_id="editor", session_id="s9")
    done = await run(door, record, p, f"I remember this: {TEXT.lower()}", other)
    assert (done.working, done.refused, done.entry.echo_of) == (False, "duplicate", ())
    assert logged(p)[0].duplicate_of == (first.entry.id,)


async def test_an_echo_of_what_was_recalled_is_seen_without_being_told_what_was_shown(door, making):
    p = making()
    first = await run(door, record, p, TEXT, SCOPE)
    assert await run(door, retrieve, p, TEXT, SCOPE)
    done = await run(door, record, p, f"I remember this: {TEXT.lower()}", SCOPE)
    assert (done.refused, done.entry.echo_of) == ("echo", (first.entry.id,))
    assert logged(p)[0].echo_of == (first.entry.id,)
    for other in (replace(SCOPE, agent_id="editor"), replace(SCOPE, session_id="s9")):
        done = await run(door, record, p, f"I remember this: {TEXT.lower()}", other)
        assert (done.refused, done.entry.duplicate_of) == ("duplicate", (first.entry.id,))


async def test_a_duplicate_of_long_term_memory_is_seen_by_its_words(door, making):
    p = making()
    for text in numbered(30):
        await run(door, promote, p, text, SCOPE, by="ann")
    promoted = await run(door, promote, p, TEXT, SCOPE, by="ann")
    done = await run(door, record, p, f"As far as I know, {TEXT}", SCOPE)
    assert (done.refused, done.entry.duplicate_of) == ("duplicate", promoted.ids)
    await run(door, retrieve, p, TEXT, SCOPE)
    done = await run(door, record, p, f"As far as I know, {TEXT}", SCOPE)
    assert (done.refused, done.entry.echo_of) == ("echo", promoted.ids)
    other = await run(door, record, p, f"As far as I know, {TEXT}", MemoryScope(group_id="other"))
    assert other.working


async def test_a_correction_of_what_was_shown_is_recorded(door, making):
    p = making()
    first = await run(door, record, p, TEXT, SCOPE)
    made = EntryOrigin(shown=(item_of(first.entry),))
    text = "The orders service no longer stores its data in PostgreSQL 16, it uses MySQL now."
    assert (await run(door, record, p, text, SCOPE, origin=made)).working


async def test_a_user_who_says_what_an_agent_said_is_no_echo(door, making):
    p = making()
    first = await run(door, record, p, TEXT, SCOPE)
    made = EntryOrigin(provenance=Provenance(Origin("user", "ann")), shown=(item_of(first.entry),))
    done = await run(door, record, p, f"Yes. {TEXT}", SCOPE, origin=made)
    assert done.working
    assert (done.entry.echo_of, done.entry.duplicate_of) == ((), (first.entry.id,))


async def test_an_echo_stays_one_however_it_is_offered(door, making):
    p = making()
    first = await run(door, record, p, TEXT, SCOPE)
    made = EntryOrigin(shown=(item_of(first.entry),))
    p.stores.working.delete(Select.within(SCOPE))
    echo = await run(door, log_quarantine, p, f"I recall: {TEXT}", SCOPE, origin=made)
    assert (echo.refused, echo.echo_of) == ("echo", (first.entry.id,))
    for what in (echo, echo.content):
        assert (await run(door, update_working_memory, p, what, SCOPE)).refused == "echo"
    assert (hot(p), len(logged(p))) == ([], 2)


async def test_a_block_of_recalled_texts_does_not_come_into_working_memory(door, making):
    p = making()
    block = f"<recalled_memory>\n1. [unverified] {TEXT}\n</recalled_memory>"
    assert (await run(door, record, p, block, SCOPE)).refused == "echo"
    done = await run(door, record, p, f"{block}\n{OTHER}", SCOPE)
    assert done.working
    assert [one.content for one in hot(p)] == [OTHER]
    assert logged(p)[0].content == f"{block}\n{OTHER}"


async def test_what_repeats_a_tool_is_trusted_no_more_than_the_tool(door, making):
    p = making()
    web = EntryOrigin(role="tool", provenance=Provenance(Origin("tool", "web")))
    found = (await run(door, record, p, TEXT, SCOPE, origin=web)).entry
    text = f"{TEXT} The team of the warehouse has asked for a second replica since June."
    done = await run(door, record, p, text, SCOPE, origin=EntryOrigin(shown=(item_of(found),)))
    assert done.working
    assert done.entry.provenance.origin == Origin("agent", "planner")
    assert done.entry.provenance.sources == (found.id,)
    assert done.entry.provenance.trust is Trust.UNTRUSTED


OPENINGS = [
    "{}",
    "As I recall, {}",
    "Based on what I remember: {}",
    "Sure! {} Let me know if you need anything else.",
    "According to my notes, {}",
    "Here is what I know so far:\n\n- {}",
    "You told me earlier that {}",
    "**{}**\n\nIs there anything else I can help you with?",
]


@pytest.mark.slow
@pytest.mark.parametrize("shows", [True, False], ids=["shown", "not told what was shown"])
async def test_five_hundred_turns_that_repeat_memory_leave_it_as_it_was(door, making, shows):
    p = making(limits=TierLimits(working_hours=1e6))
    texts = numbered(10)
    for text in texts[:5]:
        await run(door, record, p, text, SCOPE)
    for text in texts[5:]:
        await run(door, promote, p, text, SCOPE, by="ann")
    cold = p.stores.long_term.find(Select.within(SCOPE)).items
    before = hot(p)
    memories = [item_of(one) for one in before] + [
        ContextItem(
            id=one.id,
            content=one.content,
            source="long_term",
            score=1.0,
            created_at=one.created_at,
            scope=one.scope,
            provenance=one.provenance,
        )
        for one in cold
    ]
    for turn, opening in zip(range(500), itertools.cycle(OPENINGS), strict=False):
        p.clock.forward(minutes=1)
        recalled = [memories[(turn + n) % len(memories)] for n in range(1 + turn % 3)]
        said = opening.format(" ".join(one.content for one in recalled))
        shown = tuple(memories) if shows else ()
        await run(door, record, p, said, SCOPE, origin=EntryOrigin(key=f"turn{turn}", shown=shown))
    assert {one.id for one in hot(p)} == {one.id for one in before}
    assert p.stores.long_term.find(Select.within(SCOPE)).total == len(cold)
    echoes = [one for one in logged(p) if one.refused in ("echo", "duplicate")]
    assert len(echoes) == 500


def test_blocking_recording_needs_no_loop():
    p = parts(filters=default_filters())
    assert run_blocking(record(p, TEXT, SCOPE)).working


def test_the_clock_of_the_parts_is_the_only_one():
    p = parts(clock=Clock(datetime(1999, 1, 1, tzinfo=UTC)), filters=default_filters())
    assert run_blocking(record(p, TEXT, SCOPE)).entry.created_at.year == 1999

"""Acts of several at once, and in odd orders, that once took each other's texts away."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from datetime import timedelta

import pytest

from hooked import hooked
from memoryware import MemoryScope, Origin, Promotion, Provenance, TieredMemory
from memoryware.errors import PromotionRefused
from memoryware.tiers import Verdict
from tiers.kit import Clock

pytestmark = pytest.mark.slow

SHOP = MemoryScope(group_id="shop")
ANN = MemoryScope(group_id="shop", user_id="ann")
BOB = MemoryScope(group_id="shop", user_id="bob")
FACT = "The orders of the shop are in PostgreSQL 17, on the server called db2."
OTHER = "The orders of the shop are in MySQL 8, on the server that is called db7."
MORE = "So every backup of the shop must have the server db2 in it, each night."


def said_by(memory, scope, text=FACT):
    voice = Provenance.derived(Origin("agent", "h"), roots=[Origin("user", scope.user_id)])
    return memory.record(text, scope, provenance=voice).entry


def cold(memory, scope=SHOP, **how):
    return sorted(
        one.content for one in memory.retrieve("orders", scope, tiers=("long_term",), **how)
    )


async def test_two_who_put_each_others_text_in_the_place_of_their_own_leave_one(opened):
    memory = opened()
    for number in range(10):
        group = MemoryScope(group_id=f"g{number}")
        one = await memory.apromote(FACT, group, by="ann")
        two = await memory.apromote(OTHER, group, by="ann")
        answers = await asyncio.gather(
            memory.asupersede(one, OTHER, group, by="ann"),
            memory.asupersede(two, FACT, group, by="bob"),
            return_exceptions=True,
        )
        assert len(cold(memory, group)) == 1
        assert any(not isinstance(one, BaseException) for one in answers)


def test_forgetting_one_user_beside_another_who_promotes_the_same_loses_nothing(opened):
    memory = opened()
    for number in range(20):
        ann = MemoryScope(group_id=f"g{number}", user_id=f"ann{number}")
        bob = MemoryScope(group_id=f"g{number}", user_id=f"bob{number}")
        memory.promote(said_by(memory, ann), by="carl")
        entry = said_by(memory, bob)
        both = threading.Barrier(2)

        def promote(entry=entry, both=both):
            both.wait(20)
            memory.promote(entry, by="carl")

        promoter = threading.Thread(target=promote)
        promoter.start()
        both.wait(20)
        memory.forget(MemoryScope(user_id=ann.user_id))
        promoter.join(20)
        assert cold(memory, MemoryScope(group_id=f"g{number}")) == [FACT]
        (left,) = memory.list(MemoryScope(group_id=f"g{number}"), tier="long_term").items
        assert ann.user_id not in repr(left.record)


def test_a_rejected_promotion_does_not_take_that_of_another_with_it(opened):
    memory = opened()
    for number in range(20):
        group = MemoryScope(group_id=f"g{number}", user_id="ann")
        one = said_by(memory, group)
        two = said_by(memory, MemoryScope(group_id=group.group_id, user_id="bob"))
        ready, promoted = threading.Barrier(3), []

        def act(work, ready=ready, promoted=promoted):
            ready.wait(20)
            with suppress(PromotionRefused):
                promoted.append(isinstance(work(), Promotion))

        acts = (
            lambda one=one: memory.promote(one, by="carl"),
            lambda two=two: memory.promote(two, by="carl"),
            lambda one=one: memory.reject(one, by="dora"),
        )
        threads = [threading.Thread(target=act, args=(work,)) for work in acts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        # A rejection that comes first closes the same text of bob as well.
        assert cold(memory, group) == ([FACT] if any(promoted) else [])


@pytest.mark.parametrize("act", ["revoke", "mark_invalid", "forget"])
def test_who_names_what_is_shown_takes_it_away_wherever_its_text_is(opened, act):
    memory = opened()
    said_by(memory, BOB)
    memory.promote(FACT, SHOP, by="ann")
    (item,) = memory.retrieve("orders", SHOP)
    if act == "forget":
        memory.forget(SHOP, ids=[item.id])
    else:
        getattr(memory, act)(item.id, SHOP, by="ann")
    assert list(memory.retrieve("orders", SHOP)) == []


def test_a_text_is_there_once_after_it_is_restored_beside_a_new_promotion(opened):
    memory = opened()
    receipt = memory.revoke(memory.promote(FACT, SHOP, by="ann"), SHOP, by="ann")
    memory.promote(FACT, SHOP, by="bob")
    memory.restore(receipt, by="ann")
    (item,) = memory.retrieve("orders", SHOP)
    memory.revoke(item.id, SHOP, by="ann")
    assert list(memory.retrieve("orders", SHOP)) == []


def test_an_unrelated_revocation_leaves_the_past_alone(opened):
    clock = Clock()
    memory = opened(clock=clock)
    memory.promote(FACT, SHOP, by="ann")
    clock.forward(days=10)
    old = memory.promote(OTHER, SHOP, by="ann")
    clock.forward(days=5)
    moment = clock()
    clock.forward(days=5)
    memory.supersede(old, FACT, SHOP, by="ann")
    before = cold(memory, at=moment)
    assert before == sorted([FACT, OTHER])
    receipt = memory.revoke(memory.promote(MORE, SHOP, by="ann"), SHOP, by="ann")
    memory.restore(receipt, by="ann")
    assert cold(memory, at=moment) == before
    assert cold(memory) == [FACT]


def test_what_waits_for_its_time_holds_at_once_where_it_is_promoted_without_one(opened):
    clock = Clock()
    memory = opened(clock=clock)
    memory.promote(FACT, SHOP, by="ann", valid_from=clock() + timedelta(days=30))
    assert cold(memory) == []
    memory.promote(FACT, SHOP, by="ann")
    assert cold(memory) == [FACT]


def test_a_user_for_whom_a_text_was_promoted_is_forgotten_with_that(opened):
    memory = opened()
    memory.promote(said_by(memory, BOB), by="carl")
    memory.promote(FACT, ANN, by="carl")
    memory.forget(MemoryScope(user_id="bob"))
    assert cold(memory) == [FACT]
    memory.forget(MemoryScope(user_id="ann"))
    assert memory.list(SHOP).total == 0


def test_every_condition_of_forget_must_fit(opened):
    memory = opened()
    source = said_by(memory, ANN)
    voice = Provenance(Origin("agent", "h"), (source.id,), (Origin("user", "bob"),))
    derived = memory.record(f"A zebra. {MORE}", BOB, provenance=voice).entry
    assert memory.forget(ANN, query="zebra").total == 0
    assert memory.get(derived.id, SHOP) == derived
    memory.promote(source, by="carl")
    memory.promote(said_by(memory, BOB), by="carl")
    memory.forget(ANN, query="orders")
    (left,) = memory.list(SHOP, tier="long_term").items
    assert left.record.scope.user_id == "bob"


def test_what_was_superseded_and_is_said_again_word_for_word_is_shown(opened):
    clock = Clock()
    memory = opened(clock=clock)
    old = memory.promote(memory.record(FACT, SHOP).entry, by="ann")
    clock.forward(hours=1)
    memory.supersede(old, OTHER, SHOP, by="ann")
    assert FACT not in [one.content for one in memory.retrieve("orders", SHOP)]
    clock.forward(hours=1)
    assert memory.record(FACT, SHOP).refused == "duplicate"
    assert FACT in [one.content for one in memory.retrieve("orders", SHOP)]


def test_what_was_made_meanwhile_comes_back_when_all_is_restored(opened):
    memory = opened()
    source = said_by(memory, ANN)
    first = memory.revoke(source, SHOP, by="x")
    second = memory.revoke(source, SHOP, by="x")
    made = memory.record(MORE, SHOP, provenance=Provenance(Origin("agent", "h"), (source.id,)))
    third = memory.record(
        f"Also: {MORE}", SHOP, provenance=Provenance(Origin("agent", "h"), (made.entry.id,))
    )
    memory.restore(second, by="x")
    memory.restore(first, by="x")
    for one in (source, made.entry, third.entry):
        assert memory.get(one.id, SHOP).status == "pending"


def test_a_verdict_reaches_a_text_that_was_promoted_as_a_text(opened):
    memory = opened()
    entry = memory.record(FACT, SHOP).entry
    memory.promote(FACT, SHOP, by="ann")
    memory.attach_verdict(entry, Verdict(verified=False), SHOP)
    (item,) = memory.retrieve("orders", SHOP)
    assert not item.verdict.verified


def test_a_text_of_another_memory_is_no_forgotten_one(opened):
    here, there = opened(), opened()
    (foreign,) = there.promote(FACT, SHOP, by="ann").memories
    made = here.record(MORE, SHOP, provenance=Provenance(Origin("agent", "h"), (foreign.id,)))
    assert made.working


def test_a_long_text_is_shown_as_promoted_whatever_is_asked(opened):
    memory = opened()
    long = "\n\n".join(f"Part {n} of the shop. " + "It has walls. " * 30 for n in range(4))
    memory.promote(memory.record(long, SHOP).entry, by="ann")
    (item,) = memory.retrieve("zzz", SHOP)
    assert (item.source, item.verified) == ("long_term", True)


def test_a_restored_text_does_not_stand_beside_a_newer_one_of_its_subject(opened):
    clock = Clock()
    memory = opened(clock=clock)
    receipt = memory.revoke(memory.promote(FACT, SHOP, by="ann", subject="db"), SHOP, by="ann")
    clock.forward(hours=1)
    memory.promote(OTHER, SHOP, by="ann", subject="db")
    memory.restore(receipt, by="ann")
    assert cold(memory) == [OTHER]


def beside(stores, before=None, after=None):
    """Return stores in which something happens before and after the first change."""
    acts = {"before": before, "after": after}

    def act(when):
        def hook(_, name):
            if name == "write" and (do := acts.pop(when, None)):
                do()

        return hook

    return hooked(stores, act("before"), act("after"))


@pytest.mark.parametrize("derived", [True, False])
def test_what_is_promoted_while_it_is_being_forgotten_keeps_nothing_of_who_was_forgotten(
    opened, derived
):
    memory = opened()
    memory.promote(said_by(memory, ANN), by="carl")
    entry, stores = said_by(memory, BOB), memory.parts.stores
    waits, marked, joined = threading.Event(), threading.Event(), threading.Event()

    def wait_for_the_mark():
        waits.set()
        assert marked.wait(20)

    def wait_for_the_promotion():
        marked.set()
        assert joined.wait(20)

    def through(**acts):
        return TieredMemory(beside(stores, **acts))

    promoting = through(before=wait_for_the_mark, after=joined.set)
    promoter = threading.Thread(target=promoting.promote, args=(entry,), kwargs={"by": "carl"})
    promoter.start()
    assert waits.wait(20)
    forgetting = through(after=wait_for_the_promotion)
    forgetting.forget(MemoryScope(user_id="ann"), derived=derived)
    promoter.join(20)
    assert cold(memory) == [FACT]
    (left,) = memory.list(SHOP, tier="long_term").items
    assert "ann" not in repr(left.record)
    assert [at.provenance.sources for at in left.record.grounds] == [(entry.id,)]

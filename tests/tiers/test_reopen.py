"""Reopening undoes a decision: the entry is as it was, and only its own promotion falls."""

from __future__ import annotations

import pytest

from memoryware import MemoryScope, Origin, Provenance
from memoryware._runner import run_blocking
from memoryware.tiers.reopen import EntryChange, reopen

SHOP = MemoryScope(group_id="shop", user_id="ann")
DAY, PRICE = "The deploy day of the shop is Monday.", "The price of a parcel is four euros."


def entry_of(memory, text=DAY, **options):
    return memory.log_quarantine(text, SHOP, **options)


def undo(memory, before, *, by="ann", memories=(), since=None):
    changes = [
        change
        for entry in before
        if (change := EntryChange.between(entry, memory.get(entry.id, SHOP))) is not None
    ]
    return run_blocking(reopen(memory.parts, SHOP, changes, by=by, memories=memories, since=since))


def current(memory):
    records = [item.record for item in memory.list(SHOP, tier="longterm").items]
    return [record.content for record in records if record.revocation is None]


@pytest.mark.parametrize("act", ["promote", "reject", "propose", "ungroup"])
def test_the_entry_is_as_it_was(memory, act):
    entry = entry_of(memory)
    memory.parts.clock.forward(minutes=1)
    since = memory.parts.clock()
    options = {} if act == "ungroup" else {"by": "ann"}
    made = getattr(memory, act)(entry.id, SHOP, **options)
    assert memory.get(entry.id, SHOP) != entry
    ids = made.ids if act == "promote" else ()
    result = undo(memory, [entry], memories=ids, since=since)
    assert result.ids == (entry.id,)
    assert memory.get(entry.id, SHOP) == entry
    assert current(memory) == []
    assert memory.count_waiting(SHOP) == 1
    assert (result.receipt is not None) is (act == "promote")


def test_one_statement_of_several_waits_again_and_the_other_stays_decided(memory):
    entry = entry_of(memory, f"{DAY} {PRICE}")
    first, second = memory.digest(SHOP).insights
    kept = memory.promote(first, by="ann")
    between = memory.get(entry.id, SHOP)
    memory.reject(second, SHOP, by="ann")
    assert memory.get(entry.id, SHOP).status == "promoted"
    undo(memory, [between])
    now = memory.get(entry.id, SHOP)
    assert (now.status, now.decided, now.memory_ids) == ("pending", between.decided, kept.ids)
    assert current(memory) == [first.summary]


def test_the_promotion_of_somebody_else_stays(memory):
    memory.promote(DAY, SHOP, by="bob")
    entry = entry_of(memory)
    memory.parts.clock.forward(minutes=1)
    since = memory.parts.clock()
    made = memory.promote(entry.id, SHOP, by="ann")
    assert made.existing
    undo(memory, [entry], memories=made.ids, since=since)
    assert current(memory) == [DAY]
    assert next(ground.revocations for ground in memory.get(made.ids[0], SHOP).grounds) == ()
    assert memory.get(entry.id, SHOP) == entry


def test_what_was_made_of_it_since_is_hidden_and_can_be_restored(memory):
    entry = entry_of(memory)
    since = memory.parts.clock()
    made = memory.promote(entry.id, SHOP, by="ann")
    child = Provenance.derived(Origin("agent", "helper"), made.memories)
    answer = memory.log_quarantine(PRICE, SHOP, provenance=child)
    result = undo(memory, [entry], memories=made.ids, since=since)
    assert memory.get(answer.id, SHOP).revocation == result.receipt.id
    memory.restore(memory.find_receipt(result.receipt.id, SHOP), by="ann")
    assert memory.get(answer.id, SHOP).revocation is None
    assert current(memory) == [DAY]


def test_what_was_changed_again_since_stays(memory):
    entry = entry_of(memory)
    memory.reject(entry.id, SHOP, by="ann")
    change = EntryChange.between(entry, memory.get(entry.id, SHOP))
    memory.parts.clock.forward(minutes=1)
    memory.propose(entry.id, SHOP, by="bob")
    result = run_blocking(reopen(memory.parts, SHOP, [change], by="ann"))
    assert (result.ids, result.missed) == ((), 1)
    assert memory.get(entry.id, SHOP).status == "proposed"


def test_the_replaced_text_holds_again(memory):
    old = memory.promote(DAY, SHOP, by="bob")
    entry = entry_of(memory, DAY.replace("Monday", "Friday"))
    memory.parts.clock.forward(minutes=1)
    since = memory.parts.clock()
    made = memory.supersede(old, entry, by="ann")
    assert memory.get(old.ids[0], SHOP).valid_to is not None
    result = undo(memory, [entry], memories=made.ids, since=since)
    assert result.receipt.reinstated == old.ids
    assert memory.get(old.ids[0], SHOP).valid_to is None
    assert memory.get(entry.id, SHOP) == entry


def test_a_lone_rejection_leaves_copies_and_paraphrases_waiting(memory):
    entries = [
        entry_of(memory, provenance=Provenance(Origin("tool", name))) for name in ("one", "two")
    ]
    memory.ungroup(entries[0].id, SHOP)
    memory.reject(entries[0].id, SHOP, by="ann")
    assert memory.get(entries[1].id, SHOP).status == "pending"
    assert memory.count_waiting(SHOP) == 1
    assert [insight.entry_ids for insight in memory.digest(SHOP).insights] == [(entries[1].id,)]

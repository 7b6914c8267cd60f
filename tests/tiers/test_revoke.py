"""Taking back a text or an origin with all that came from it, and putting it back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from limits import limited
from memoryware import MemoryScope, Origin, Provenance, TieredMemory, TierLimits
from memoryware.errors import EntryMissing, SettingError, TierError
from memoryware.tiers import Verdict
from memoryware.tiers.stores.embedded import embedded
from tiers.kit import Clock, ids

SHOP = MemoryScope(group_id="shop", agent_id="helper")
FIRST = "The orders of the shop are in PostgreSQL 17, on the server called db2."
SECOND = "Invoices go out on the last day of each month, and by letter only."
WEB = Origin("tool", "web")


def made_of(*sources, roots=()):
    return Provenance.derived(Origin("agent", "helper"), sources, roots)


def shown(memory, query="orders invoices"):
    return sorted(one.content for one in memory.retrieve(query, SHOP))


def counts(receipt):
    return receipt.counts.quarantine, receipt.counts.working, receipt.counts.long_term


def test_an_entry_goes_from_every_tier_with_what_was_made_of_it(memory):
    first = memory.record(FIRST, SHOP).entry
    promoted = memory.promote(first, by="ann")
    derived = memory.record(SECOND, SHOP, provenance=made_of(promoted.memories[0])).entry
    memory.promote(derived, by="ann")
    other = memory.record("Tea is served at four in the afternoon, in the large kitchen.", SHOP)
    receipt = memory.revoke(first, SHOP, by="bob", reason="wrong")
    assert counts(receipt) == (2, 2, 2)
    assert receipt.ids[0] == first.id
    assert (receipt.by, receipt.reason, receipt.what) == ("bob", "wrong", first.id)
    assert shown(memory) == [other.entry.content]
    assert memory.get(first.id, SHOP).status == "revoked"
    assert memory.get(first.id, SHOP).content == FIRST


def test_an_origin_goes_with_everything_in_whose_lineage_it_is(memory):
    memory.record(FIRST, SHOP, provenance=made_of(roots=[WEB]))
    memory.record(SECOND, SHOP, provenance=made_of(roots=[Origin("tool", "web2")]))
    receipt = memory.revoke(WEB, SHOP, by="ann")
    assert (counts(receipt), receipt.what) == ((1, 1, 0), "tool:web")
    assert shown(memory) == [SECOND]


def test_an_origin_that_brought_nothing_takes_nothing_back(memory):
    memory.record(FIRST, SHOP)
    assert counts(memory.revoke(WEB, SHOP, by="ann")) == (0, 0, 0)


@pytest.mark.parametrize(
    "name", ["id of entry", "id of memory", "memory", "promotion", "item", "insight"]
)
def test_it_can_be_named_in_many_ways(memory, name):
    entry = memory.record(FIRST, SHOP).entry
    insight = memory.digest(SHOP).insights[0]
    promotion = memory.promote(entry, by="ann")
    what = {
        "id of entry": entry.id,
        "id of memory": promotion.ids[0],
        "memory": promotion.memories[0],
        "promotion": promotion,
        "item": memory.retrieve("orders", SHOP)[0],
        "insight": insight,
    }[name]
    memory.revoke(what, SHOP, by="ann")
    assert [one for one in memory.retrieve("orders", SHOP) if one.source == "long_term"] == []


def test_all_chunks_of_a_document_go_together(memory):
    promotion = memory.promote(
        "\n\n".join(f"Part {n} of the orders. " + "word " * 90 for n in range(3)), SHOP, by="ann"
    )
    assert len(promotion.ids) == 3
    assert counts(memory.revoke(promotion.ids[1], SHOP, by="ann")) == (0, 0, 3)


def test_restore_puts_back_exactly_that(memory):
    entries = [memory.record(text, SHOP).entry for text in (FIRST, SECOND)]
    memory.promote(entries[0], by="ann")
    memory.propose(entries[1], by="ann")
    before = {one.id: one.record for one in memory.list(SHOP).items}
    first = memory.revoke(entries[0], SHOP, by="bob")
    second = memory.revoke(entries[1], SHOP, by="bob")
    back = memory.restore(first, by="ann")
    assert (back.quarantine, back.working, back.long_term) == (1, 1, 1)
    assert memory.get(entries[1].id, SHOP).status == "revoked"
    memory.restore(second, by="ann")
    assert {one.id: one.record for one in memory.list(SHOP).items} == before
    assert memory.restore(first, by="ann").total == 0


def test_what_was_revoked_twice_is_hidden_until_both_are_restored(memory):
    entry = memory.record(FIRST, SHOP).entry
    first = memory.revoke(entry, SHOP, by="ann")
    second = memory.revoke(entry, SHOP, by="bob")
    assert (first.counts.total, second.counts.total) == (2, 0)
    assert memory.restore(first, by="ann").total == 0
    assert shown(memory, "orders") == []
    assert memory.restore(second, by="bob").total == 2
    assert memory.get(entry.id, SHOP) == entry


def test_what_a_revoked_text_had_replaced_holds_again_and_ends_again(memory):
    clock = memory.parts.clock
    old = memory.promote("The orders are in MySQL.", SHOP, by="ann")
    clock.forward(days=1)
    new = memory.supersede(old, "The orders are in PostgreSQL.", SHOP, by="ann")
    clock.forward(days=1)
    receipt = memory.revoke(new, SHOP, by="ann")
    assert shown(memory, "orders") == ["The orders are in MySQL."]
    memory.restore(receipt, by="ann")
    assert shown(memory, "orders") == ["The orders are in PostgreSQL."]


def test_a_superseded_text_that_is_revoked_and_restored_stays_superseded(memory):
    old = memory.promote("The orders are in MySQL.", SHOP, by="ann")
    memory.parts.clock.forward(days=1)
    memory.supersede(old, "The orders are in PostgreSQL.", SHOP, by="ann")
    memory.restore(memory.revoke(old, SHOP, by="ann"), by="ann")
    assert "MySQL" not in " ".join(shown(memory, "orders"))


def test_mark_invalid_hides_one_text_alone(memory):
    first = memory.promote(FIRST, SHOP, by="ann")
    memory.record(SECOND, SHOP, provenance=made_of(first.memories[0]))
    receipt = memory.mark_invalid(first.ids[0], SHOP, by="ann")
    assert counts(receipt) == (0, 0, 1)
    assert shown(memory) == [SECOND]


def test_a_revoked_entry_cannot_be_promoted_by_accident(memory):
    entry = memory.record(FIRST, SHOP).entry
    memory.revoke(entry, SHOP, by="ann")
    with pytest.raises(TierError):
        memory.promote(entry, by="bob")


def test_a_strange_or_foreign_id_is_not_there(memory):
    entry = memory.record(FIRST, SHOP).entry
    for what, scope in ((entry, MemoryScope(group_id="other")), ("f" * 32, SHOP), ("", SHOP)):
        with pytest.raises(EntryMissing):
            memory.revoke(what, scope, by="ann")
    assert shown(memory) == [FIRST]
    with pytest.raises(SettingError, match="by"):
        memory.revoke(entry, SHOP, by=" ")


def test_too_much_is_refused_and_nothing_changed(memory):
    memory.parts = replace(memory.parts, limits=limited(TierLimits, lineage=3))
    for text in (FIRST, SECOND):
        memory.record(text, SHOP, provenance=made_of(roots=[WEB]))
    with pytest.raises(TierError, match="lineage=3"):
        memory.revoke(WEB, SHOP, by="ann")
    assert len(shown(memory)) == 2


def test_a_circle_of_texts_ends(memory):
    first = memory.log_quarantine(FIRST, SHOP, provenance=Provenance(Origin("agent"), ("b" * 32,)))
    store = memory.parts.stores.quarantine
    store.add(
        replace(first, id="b" * 32, provenance=Provenance(Origin("agent"), (first.id,)), key=None)
    )
    assert memory.revoke(first, SHOP, by="ann").counts.quarantine == 2


def test_a_verdict_is_noted_wherever_the_text_is(memory):
    entry = memory.record(FIRST, SHOP).entry
    (kept,) = memory.promote(entry, by="ann").memories
    checked = memory.attach_verdict(entry.id, Verdict(verified=False, issues=("no",)), SHOP)
    assert checked.verdict.issues == ("no",)
    memory.attach_verdict(kept, Verdict(verified=False))
    (item,) = [one for one in memory.retrieve("orders", SHOP) if one.source == "long_term"]
    assert item.verified is False
    with pytest.raises(EntryMissing):
        memory.attach_verdict("f" * 32, Verdict(verified=True), SHOP)
    with pytest.raises(EntryMissing):
        memory.attach_verdict(entry.id, Verdict(verified=True), MemoryScope(group_id="other"))


async def test_the_async_doors_do_the_same():
    memory = TieredMemory(embedded(), clock=Clock(), new_id=ids())
    entry = (await memory.arecord(FIRST, SHOP)).entry
    receipt = await memory.arevoke(entry, SHOP, by="ann")
    assert await memory.aretrieve("orders", SHOP) == []
    await memory.arestore(receipt, by="ann")
    assert len(await memory.aretrieve("orders", SHOP)) == 1
    await memory.amark_invalid(entry, SHOP, by="ann")
    assert await memory.aretrieve("orders", SHOP) == []
    assert (await memory.aattach_verdict(entry, Verdict(verified=True))).verdict.verified


def test_a_dry_run_says_what_would_go_and_changes_nothing(memory):
    first = memory.record(FIRST, SHOP).entry
    promoted = memory.promote(first, by="ann")
    memory.record(SECOND, SHOP, provenance=made_of(promoted.memories[0]))
    before = memory.revoke(first, SHOP, by="bob", dry_run=True)
    assert (before.id, counts(before)) == ("", (2, 2, 1))
    assert memory.get(first.id, SHOP).status == "promoted"
    receipt = memory.revoke(first, SHOP, by="bob")
    assert (receipt.ids, receipt.counts) == (before.ids, before.counts)
    again = memory.revoke(first, SHOP, by="bob", dry_run=True)
    assert again.counts.total == 0  # what is hidden is not hidden once more


def test_a_receipt_that_was_lost_is_found_by_its_id(memory):
    entry = memory.record(FIRST, SHOP, provenance=made_of(roots=[WEB])).entry
    memory.promote(entry, by="ann")
    first = memory.revoke(entry, SHOP, by="bob")
    second = memory.revoke(WEB, SHOP, by="bob")
    found = memory.find_receipt(second.id, SHOP)
    assert set(found.ids) == set(second.ids)
    memory.restore(memory.find_receipt(first.id, SHOP), by="bob")
    assert shown(memory) == []
    memory.restore(found, by="bob")
    assert shown(memory) != []
    with pytest.raises(EntryMissing, match="no record that was revoked"):
        memory.find_receipt(first.id, SHOP)
    with pytest.raises(EntryMissing):
        memory.find_receipt(second.id, "another group")


async def test_a_receipt_is_found_and_counted_first_by_the_async_twins_as_well():
    async with await TieredMemory.aopen("memory://") as memory:
        made = await memory.apromote(FIRST, SHOP, by="ann")
        assert (await memory.arevoke(made, SHOP, by="bob", dry_run=True)).counts.total == 1
        receipt = await memory.arevoke(made, SHOP, by="bob")
        found = await memory.afind_receipt(receipt.id, SHOP)
        assert (found.ids, found.counts) == (receipt.ids, receipt.counts)
        assert (await memory.arestore(found, by="bob")).total == 1

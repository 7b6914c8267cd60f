"""A text that several have promoted stays until all of them are taken back or forgotten."""

from __future__ import annotations

import pytest

from limits import limited
from memoryware import MemoryScope, Origin, Provenance, TieredMemory, TierLimits

SHOP = MemoryScope(group_id="shop")
ANN = MemoryScope(group_id="shop", user_id="ann")
BOB = MemoryScope(group_id="shop", user_id="bob")
FACT = "The orders of the shop are in PostgreSQL 17, on the server called db2."


def said_by(memory, scope):
    voice = Provenance.derived(Origin("agent", "h"), roots=[Origin("user", scope.user_id)])
    return memory.record(FACT, scope, provenance=voice).entry


@pytest.fixture
def both(memory):
    entries = [said_by(memory, ANN), said_by(memory, BOB)]
    for entry in entries:
        memory.promote(entry, by="carl")
    return entries


def cold(memory):
    return [one.content for one in memory.retrieve("orders", SHOP, tiers=("long_term",))]


def test_the_second_promotion_of_a_text_is_one_more_ground(memory, both):
    (one,) = memory.list(SHOP, tier="long_term").items
    assert [at.scope.user_id for at in one.record.grounds] == ["ann", "bob"]
    assert [at.provenance.sources for at in one.record.grounds] == [(one.id,) for one in both]
    memory.promote(both[1], by="carl")
    assert memory.get(one.id, SHOP) == one.record


@pytest.mark.parametrize(("gone", "left"), [("ann", "bob"), ("bob", "ann")])
def test_forgetting_one_user_leaves_what_another_has_promoted(memory, both, gone, left):
    counts = memory.forget(MemoryScope(user_id=gone))
    assert counts.long_term == 0
    (one,) = memory.list(SHOP, tier="long_term").items
    assert one.record.scope.user_id == left
    assert len(one.record.grounds) == 1
    assert gone not in repr(one.record)
    assert cold(memory) == [FACT]
    memory.forget(MemoryScope(user_id=left))
    assert memory.list(SHOP).total == 0


@pytest.mark.parametrize(("first", "second"), [("ann", "bob"), ("bob", "ann")])
def test_revoking_both_in_any_order_hides_and_restoring_one_shows(memory, both, first, second):
    one = memory.revoke(Origin("user", first), SHOP, by="x")
    assert one.counts.long_term == 0
    assert cold(memory) == [FACT]
    shown = memory.retrieve("orders", SHOP, tiers=("long_term",))[0]
    assert Origin("user", first) not in shown.provenance.roots
    two = memory.revoke(Origin("user", second), SHOP, by="x")
    assert two.counts.long_term == 1
    assert cold(memory) == []
    memory.restore(one, by="x")
    assert cold(memory) == [FACT]
    memory.restore(two, by="x")
    (kept,) = memory.list(SHOP, tier="long_term").items
    assert all(not at.revocations for at in kept.record.grounds)
    assert [memory.get(entry.id, SHOP).status for entry in both] == ["promoted", "promoted"]


def test_who_names_the_memory_means_all_of_it(memory, both):
    (one,) = memory.list(SHOP, tier="long_term").items
    receipt = memory.revoke(one.id, SHOP, by="x")
    assert receipt.counts.long_term == 1
    assert list(memory.retrieve("orders", SHOP)) == []
    memory.restore(receipt, by="x")
    assert cold(memory) == [FACT]
    assert memory.forget(SHOP, ids=[one.id]).long_term == 1
    assert memory.list(SHOP).total == 0


def test_what_was_made_of_it_stays_with_it(memory, both):
    (one,) = memory.list(SHOP, tier="long_term").items
    derived = memory.record(
        "So db2 must be in every backup of the shop, each night at two.",
        SHOP,
        provenance=Provenance(Origin("agent", "h"), (one.id,)),
    ).entry
    memory.revoke(both[1], SHOP, by="x")
    assert memory.get(derived.id, SHOP).revocation is None
    memory.revoke(both[0], SHOP, by="x")
    assert memory.get(derived.id, SHOP).status == "revoked"


def test_two_people_who_promote_the_same_words_are_two_grounds(memory):
    memory.promote(FACT, SHOP, by="eve")
    memory.promote(FACT, SHOP, by="bob")
    memory.revoke(Origin("person", "eve"), SHOP, by="ann")
    assert cold(memory) == [FACT]
    memory.revoke(Origin("person", "bob"), SHOP, by="ann")
    assert cold(memory) == []


def test_a_text_that_is_promoted_again_while_it_is_hidden_is_shown_again(memory, both):
    receipt = memory.revoke(both[0], SHOP, by="x")
    memory.revoke(both[1], SHOP, by="x")
    memory.promote(FACT, SHOP, by="dora")
    assert cold(memory) == [FACT]
    memory.restore(receipt, by="x")
    assert cold(memory) == [FACT]


def test_how_many_promotions_are_remembered_is_a_limit(memory):
    small = TieredMemory(memory.parts.stores, limits=limited(TierLimits, grounds=2))
    for name in ("a", "b", "c"):
        small.promote(FACT, SHOP, by=name)
    (one,) = small.list(SHOP, tier="long_term").items
    assert [at.promoted_by for at in one.record.grounds] == ["a", "b"]


def test_several_promotions_outlive_the_process(tmp_path):
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with TieredMemory.open(url) as memory:
        for scope in (ANN, BOB):
            memory.promote(said_by(memory, scope), by="carl")
        before = [one.record for one in memory.list(SHOP, tier="long_term").items]
        receipt = memory.revoke(Origin("user", "ann"), SHOP, by="x")
    with TieredMemory.open(url) as memory:
        assert memory.restore(receipt, by="x").quarantine == 1
        (after,) = [one.record for one in memory.list(SHOP, tier="long_term").items]
        assert set(after.grounds) == set(before[0].grounds)

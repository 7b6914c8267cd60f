"""Chains of texts that took each other's place, when a link is taken back or forgotten."""

from __future__ import annotations

import pytest

from memoryware import MemoryScope

SHOP = MemoryScope(group_id="shop")
ORACLE, MYSQL, POSTGRES = (
    f"The orders of the shop are kept in {name} on the server db2."
    for name in ("Oracle", "MySQL", "PostgreSQL")
)


@pytest.fixture(params=["supersede", "subject"])
def chain(request, memory):
    """Three texts, each in the place of the one before; by name, or by their subject."""
    made = []
    for text in (ORACLE, MYSQL, POSTGRES):
        if request.param == "subject":
            made.append(memory.promote(text, SHOP, by="ann", subject="database"))
        elif made:
            made.append(memory.supersede(made[-1], text, SHOP, by="ann"))
        else:
            made.append(memory.promote(text, SHOP, by="ann"))
        memory.parts.clock.forward(hours=1)
    return made


def shown(memory, **how):
    return [one.content for one in memory.retrieve("orders shop", SHOP, **how)]


def test_revoking_the_middle_does_not_bring_the_first_back(memory, chain):
    receipt = memory.revoke(chain[1], SHOP, by="bob")
    assert shown(memory) == [POSTGRES]
    memory.revoke(chain[2], SHOP, by="bob")
    assert shown(memory) == [ORACLE]
    memory.restore(receipt, by="bob")
    assert shown(memory) == [MYSQL]


def test_forgetting_the_middle_joins_the_two_beside_it(memory, chain):
    until = memory.get(chain[2].ids[0], SHOP).valid_from
    memory.forget(SHOP, ids=chain[1].ids)
    assert shown(memory) == [POSTGRES]
    first = memory.get(chain[0].ids[0], SHOP)
    assert (first.superseded_by, first.valid_to) == (chain[2].document_id, until)


def test_forgetting_the_last_lets_the_one_before_hold_and_be_superseded_again(memory, chain):
    memory.forget(SHOP, ids=chain[2].ids)
    assert shown(memory) == [MYSQL]
    memory.supersede(chain[1], POSTGRES, SHOP, by="ann")
    assert shown(memory) == [POSTGRES]


def test_forgetting_the_last_two_lets_the_first_hold(memory, chain):
    memory.forget(SHOP, ids=[*chain[1].ids, *chain[2].ids])
    assert shown(memory) == [ORACLE]


def test_forgetting_the_last_after_the_middle_was_revoked_lets_the_first_hold(memory, chain):
    memory.revoke(chain[1], SHOP, by="bob")
    memory.forget(SHOP, ids=chain[2].ids)
    assert shown(memory) == [ORACLE]


def test_a_superseded_text_is_not_shown_from_working_memory_either(memory):
    entry = memory.record(ORACLE, SHOP).entry
    old = memory.promote(entry, by="ann")
    assert [one.source for one in memory.retrieve("zzz", SHOP)] == ["long_term"]
    memory.parts.clock.forward(hours=1)
    memory.supersede(old, MYSQL, SHOP, by="ann")
    found = memory.retrieve("orders", SHOP, explain=True)
    assert [one.content for one in found] == [MYSQL]
    left = {one.item.content: one.left_out for one in found.candidates if one.left_out}
    assert left == {ORACLE: "superseded"}
    assert shown(memory, tiers=("working",)) == []


def test_what_was_superseded_and_is_said_again_later_is_shown(memory):
    old = memory.promote(ORACLE, SHOP, by="ann")
    memory.parts.clock.forward(hours=1)
    memory.supersede(old, MYSQL, SHOP, by="ann")
    memory.parts.clock.forward(hours=1)
    assert memory.record(ORACLE, SHOP).working
    assert shown(memory, tiers=("working",)) == [ORACLE]


@pytest.mark.parametrize("act", ["revoke", "mark_invalid", "forget"])
def test_what_is_shown_as_promoted_can_be_taken_back_by_the_id_that_is_shown(memory, act):
    memory.promote(memory.record(ORACLE, SHOP).entry, by="ann")
    (item,) = memory.retrieve("orders", SHOP)
    assert item.source == "long_term"
    if act == "forget":
        counts = memory.forget(SHOP, ids=[item.id])
        assert (counts.quarantine, counts.working, counts.long_term) == (1, 1, 1)
    else:
        getattr(memory, act)(item.id, SHOP, by="ann")
    assert shown(memory) == []

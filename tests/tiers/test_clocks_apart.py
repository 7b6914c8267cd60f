"""Machines whose clocks are apart share a memory: what is current is current for all of them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryware import MemoryScope, TieredMemory
from tiers.kit import Clock
from tiers.long_term import KINDS, both_stores

SHOP = MemoryScope(group_id="shop")
MYSQL = "The orders of the shop are stored in MySQL on the server db1."
POSTGRES = "The orders of the shop are stored in PostgreSQL on the server db2."
APART = [timedelta(seconds=3), timedelta(minutes=10), timedelta(hours=9)]


@pytest.fixture(params=KINDS)
def stores(request, tmp_path):
    made = both_stores(request.param, tmp_path)
    yield made
    made.long_term.close()


def machines(stores, apart):
    """Two machines with one memory: the clock of the first is ahead."""
    behind, ahead = Clock(), Clock()
    ahead.now += apart
    return TieredMemory(stores, clock=ahead), TieredMemory(stores, clock=behind)


def shown(memory, query="orders", **options):
    return [one.content for one in memory.retrieve(query, SHOP, **options)]


@pytest.mark.parametrize("apart", APART)
def test_what_a_machine_ahead_promotes_is_shown_at_once(stores, apart):
    ahead, behind = machines(stores, apart)
    ahead.promote(MYSQL, SHOP, by="ann")
    assert shown(behind) == [MYSQL]
    assert shown(behind, tiers=("long_term",)) == [MYSQL]
    # The past is asked by its dates.
    assert shown(behind, at=behind.parts.clock()) == []
    assert shown(behind, at=ahead.parts.clock()) == [MYSQL]


@pytest.mark.parametrize("apart", APART)
def test_what_a_machine_ahead_replaces_is_gone_at_once(stores, apart):
    ahead, behind = machines(stores, apart)
    old = behind.promote(behind.record(MYSQL, SHOP).entry, by="ann")
    ahead.supersede(old, POSTGRES, SHOP, by="ann")
    assert shown(behind) == shown(ahead) == [POSTGRES]


@pytest.mark.parametrize("apart", APART)
def test_a_machine_behind_replaces_what_one_ahead_promoted(stores, apart):
    ahead, behind = machines(stores, apart)
    old = ahead.promote(MYSQL, SHOP, by="ann")
    behind.supersede(old, POSTGRES, SHOP, by="ann")
    assert shown(behind) == shown(ahead) == [POSTGRES]


def test_a_text_of_one_subject_is_replaced_from_either_side(stores):
    ahead, behind = machines(stores, timedelta(minutes=10))
    ahead.promote("Deploy day is Monday.", SHOP, by="ann", subject="deploy day")
    behind.promote("Deploy day is Tuesday.", SHOP, by="ann", subject="deploy day")
    assert shown(ahead, "deploy day") == shown(behind, "deploy day") == ["Deploy day is Tuesday."]
    ahead.promote("Deploy day is Friday.", SHOP, by="ann", subject="deploy day")
    assert shown(ahead, "deploy day") == shown(behind, "deploy day") == ["Deploy day is Friday."]


def test_what_is_to_begin_later_on_purpose_still_waits(stores):
    ahead, behind = machines(stores, timedelta(minutes=10))
    soon = behind.parts.clock() + timedelta(hours=2)
    old = behind.promote(MYSQL, SHOP, by="ann")
    behind.supersede(old, POSTGRES, SHOP, by="ann", valid_from=soon)
    for memory in (ahead, behind):
        assert shown(memory) == [MYSQL]
        assert shown(memory, explain=True) == [MYSQL]
        memory.parts.clock.forward(hours=2)
        assert shown(memory) == [POSTGRES]


def test_a_promoted_text_is_known_by_a_machine_behind(stores):
    ahead, behind = machines(stores, timedelta(minutes=10))
    entry = behind.record(MYSQL, SHOP).entry
    ahead.promote(entry, by="ann")
    (item,) = behind.retrieve("orders", SHOP)
    assert (item.source, item.verified) == ("long_term", True)
    assert behind.digest(SHOP).insights == ()
    assert behind.promote(MYSQL, SHOP, by="ann").existing

"""Putting entries before the reviewers: what nobody has proposed yet, and what was rejected."""

from __future__ import annotations

import json

import pytest

from memoryware import MemoryScope

SHOP = MemoryScope(group_id="shop")


@pytest.fixture
def entry(shop, memory):
    """An entry of a memory whose policy asks for two people."""
    (shop / "memoryware.json").write_text(
        '{"scope": {"group_id": "shop"}, "policy": {"four_eyes": true}}'
    )
    return memory.log_quarantine("We deploy on Fridays.", SHOP)


def test_a_raw_entry_waits_for_somebody_else_when_it_is_proposed(cli, memory, entry):
    refused = cli("promote", entry.id, "--by", "bo")
    assert (refused.code, "propose" in refused.err) == (4, True)
    assert cli("propose", entry.id).out == f"Proposed: {entry.id[:8]}\n"
    assert memory.get(entry.id, SHOP).proposed_by == "ann"
    own = cli("promote", entry.id)
    assert (own.code, "somebody else" in own.err) == (4, True)
    assert cli("promote", entry.id, "--by", "bo").code == 0
    assert [one.content for one in memory.retrieve("deploy", SHOP)] == [entry.content]


def test_what_was_rejected_is_decided_about_once_more(cli, memory, entry):
    cli("reject", entry.id, "--by", "bo", "--reason", "not true")
    assert "deploy" not in cli("digest").out
    proposed = json.loads(cli("propose", entry.id, "--json").out)["proposed"]
    assert [(one["id"], one["status"]) for one in proposed] == [(entry.id, "proposed")]
    assert "deploy" in cli("digest").out
    assert cli("promote", entry.id).code == 4
    assert cli("promote", entry.id, "--by", "bo").code == 0


def test_what_cannot_wait_is_told_before_anything_is_proposed(cli, memory, entry):
    gone, kept = (memory.log_quarantine(f"Text {one}.", SHOP) for one in "ab")
    memory.revoke(gone, SHOP, by="ann")
    (memory_id,) = memory.promote(kept, SHOP, by="ann").ids
    assert cli("propose", gone.id).code == 4
    for wrong in (kept.id, memory_id, "0" * 32):
        ran = cli("propose", entry.id, wrong)
        assert (ran.code, ran.out) == (4, ""), wrong
    assert memory.get(entry.id, SHOP).status == "pending"

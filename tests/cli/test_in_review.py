"""`list --state pending` says which pending entries `digest` shows, and why it does not show others."""

from __future__ import annotations

import json

import pytest

from memoryware import MemoryScope
from memoryware.tiers.model import EXTRACTED
from memoryware.tiers.provenance import Origin, Provenance

SHOP = MemoryScope(group_id="shop")
DEPLOY, TEA = "We deploy on Fridays.", "Tea is at four."
HELPER = Provenance(Origin("agent", "helper"))


@pytest.fixture
def mixed(memory):
    """One entry in review, and one of each kind that is not; the reasons by id."""
    waits = memory.log_quarantine(DEPLOY, SHOP, provenance=HELPER)
    question = memory.record("Which server has the orders?", SHOP, role="user").entry
    thanks = memory.record("Thanks a lot!", SHOP, role="user").entry
    verdict = memory.log_quarantine("The claim holds.", SHOP, role="fact_check")
    covered = memory.log_quarantine(
        "The till opens at nine, as always.", SHOP, {EXTRACTED: ["a fact"]}, provenance=HELPER
    )
    memory.reject(memory.log_quarantine(TEA, SHOP, provenance=HELPER), SHOP, by="ann")
    repeated = memory.log_quarantine(TEA, SHOP, provenance=HELPER)
    return {
        waits.id: None,
        question.id: "only asks or orders something",
        thanks.id: "says nothing",
        verdict.id: "judges what others said",
        covered.id: "its facts are reviewed instead",
        repeated.id: "says what is decided already",
    }


def test_each_pending_entry_says_whether_it_is_in_review(cli, memory, mixed):
    document = json.loads(cli("list", "--state", "pending", "--json").out)
    assert {one["id"]: one["not_in_review"] for one in document["items"]} == mixed
    assert {one["id"] for one in document["items"] if one["in_review"]} == {
        id_ for insight in memory.digest(SHOP).insights for id_ in insight.entry_ids
    }
    assert "in_review" not in json.loads(cli("list", "--json").out)["items"][0]


def test_the_numbers_of_list_and_digest_are_explained(cli, mixed):
    printed = cli("list", "--state", "pending").out
    assert printed.count("  pending, not in review  ") == 5
    last = printed.splitlines()[-1]
    assert last.startswith("6 pending, 1 of them in review: memoryware digest. Not in review are ")
    for reason in filter(None, mixed.values()):
        assert f"1: {reason}" in last
    assert "1 entry waits" in cli("digest").out
    assert last == cli("list", "--state", "pending", "-n", "1").out.splitlines()[-1]  # of all pages
    filtered = cli("list", "--state", "pending", "-o", "agent:helper").out
    assert "3 pending, 1 of them in review" in filtered
    assert cli("list", "-q", "--state", "pending").out.split() == [*mixed][::-1]
    assert "in review" not in cli("list").out


def test_if_all_are_in_review_it_says_so(cli, memory):
    memory.log_quarantine(DEPLOY, SHOP, provenance=HELPER)
    last = cli("list", "--state", "pending").out.splitlines()[-1]
    assert last == "1 pending, all of them in review: memoryware digest."


def test_show_says_why_an_entry_is_not_in_review(cli, mixed):
    for id_, reason in mixed.items():
        line = next((line for line in cli("show", id_).out.splitlines() if "in review" in line), "")
        if reason != "says what is decided already":  # which only a digest knows
            assert line.endswith(reason or ""), reason
            assert bool(line) is (reason is not None)

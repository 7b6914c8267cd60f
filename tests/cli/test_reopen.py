"""`reopen` undoes approvals and rejections: their entries wait for review again."""

from __future__ import annotations

import json

import pytest

from memoryware import MemoryScope
from memoryware.tiers.provenance import Origin, Provenance

SHOP = MemoryScope(group_id="shop")
DUE, ALARM, TEA = "The invoices are due in 30 days.", "The alarm rings at 22:00.", "Tea is at four."


def wait(memory, text, by="helper"):
    return memory.log_quarantine(text, SHOP, provenance=Provenance(Origin("agent", by))).id


def current(memory):
    return {one.content for one in memory.list(SHOP, state="current").items}


@pytest.fixture
def two(cli, memory):
    """An entry that was approved and one that was rejected, and the memory of the first."""
    approved, rejected = wait(memory, DUE), wait(memory, ALARM)
    made = cli("promote", "-q", approved).out.strip()
    assert cli("reject", rejected, "-r", "wrong").code == 0
    return approved, rejected, made


def test_an_approval_and_a_rejection_are_undone(cli, memory, two):
    approved, rejected, made = two
    ran = cli("reopen", approved[:8], rejected[:8])
    receipt = memory.get(made, SHOP).revocation
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"Reopened: {approved[:8]}",
        f"Reopened: {rejected[:8]}",
        "Hid 1 record: 0 in quarantine, 0 in working memory, 1 in long-term memory",
        f"To show it again: memoryware restore {receipt[:8]}",
    ]
    assert "2 entries wait" in cli("digest").out
    assert cli("restore", receipt[:8]).code == 0
    assert current(memory) == {DUE}


def test_the_id_that_promote_printed_is_one_as_well(cli, memory, two):
    approved, _, made = two
    assert cli("reopen", "-q", made[:8]).out.split() == [approved]
    assert current(memory) == set()


def test_a_dry_run_and_json_say_what_happens(cli, memory, two):
    approved, _, made = two
    planned = cli("reopen", approved, "--dry-run")
    assert f"Would reopen: {approved[:8]}\nWould hide 1 record" in planned.out
    assert "restore" not in planned.out
    document = json.loads(cli("reopen", approved, "--dry-run", "--json").out)
    assert (document["done"], document["receipt"]["ids"]) == (False, [made])
    assert current(memory) == {DUE}
    document = json.loads(cli("reopen", approved, "--json").out)
    assert [entry["id"] for entry in document["reopened"]] == [approved]
    assert document["reopened"][0]["status"] == "pending"
    assert document["receipt"]["id"] == memory.get(made, SHOP).revocation
    assert (document["kept"], document["done"], document["schema"]) == ([], True, 1)


def test_what_cannot_be_reopened_is_refused_and_nothing_is_changed(cli, memory, two):
    approved, rejected, made = two
    waits = wait(memory, TEA)
    plain = memory.promote("Plain text.", SHOP, by="ann").ids[0]
    for wrong, message in (
        (waits, "nothing was decided about entry"),
        (plain, "memoryware revoke hides it"),
        ("0" * 32, "has no entry or memory"),
    ):
        ran = cli("reopen", approved, rejected, wrong)
        assert (ran.code, ran.out) == (4, "")
        assert message in ran.err
    assert memory.get(rejected, SHOP).status == "rejected"
    receipt = cli("revoke", "-q", "-y", made).out.strip()
    ran = cli("reopen", approved)
    assert (ran.code, f"memoryware restore {receipt}" in ran.err) == (4, True)


def test_one_statement_is_reopened_by_its_number(cli, memory):
    entry = wait(memory, f"{DUE} {ALARM}")
    for number in (1, 2):
        assert cli("promote", f"{entry[:8]}#{number}").code == 0
    assert cli("reopen", f"{entry[:8]}#2").code == 0
    assert current(memory) == {DUE}
    assert f"{entry[:8]}#2" in cli("digest").out
    assert cli("reopen", f"{entry[:8]}#3").code == 4


def test_a_group_that_was_rejected_is_named_by_its_entries(cli, memory):
    entries = [wait(memory, DUE, by) for by in ("one", "two")]
    listed = cli("digest", "-q").out.split()
    assert listed not in ([entries[0]], [entries[1]])
    rejected = cli("reject", "-q", *listed).out.split()
    assert sorted(rejected) == sorted(entries)
    assert cli("digest", "-q").out == ""
    assert sorted(cli("reopen", "-q", rejected[0]).out.split()) == sorted(entries)
    assert cli("digest", "-q").out.split() == listed

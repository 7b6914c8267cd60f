"""Ids may be given by their beginning, as long as it is the only one to begin so."""

from __future__ import annotations

import json

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware.cli import _ids
from memoryware.tiers.stores.views import RecordView

SHOP, OTHER = MemoryScope(group_id="shop"), MemoryScope(group_id="other")
IDS = [f"{beginning:0<32}" for beginning in ("abcdef1", "abcdef2", "abcdef2e", "fedcba", "123456")]


@pytest.fixture
def memory(shop):
    """The memory of the command, whose next ids are known."""
    ids = iter(IDS)
    with TieredMemory.open(f"sqlite:///{shop}/memory.db", new_id=lambda: next(ids)) as opened:
        yield opened


def said(cli, *args):
    """Run a command that prints JSON; return what it printed."""
    ran = cli(*args, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_the_beginning_of_an_id_is_enough(cli, memory):
    one = memory.log_quarantine("We deploy on Fridays.", SHOP)
    two = memory.log_quarantine("We use npm.", SHOP)
    assert said(cli, "show", "abcdef1")["items"][0]["id"] == one.id
    assert f"Rejected: {two.id[:8]}" in cli("reject", "abcdef2").out
    made = said(cli, "promote", "abcdef1")["promotions"][0]["ids"][0]
    new = said(cli, "supersede", made[:9], "We deploy on Mondays.", "--yes")
    new = new["promotions"][0]["ids"][0]
    assert said(cli, "revoke", new[:6], "--dry-run")["records"][0]["id"] == new
    receipt = said(cli, "revoke", "abcdef2", "--yes")["id"]
    assert said(cli, "restore", receipt[:8])["total"] == 1
    assert said(cli, "forget", "abcdef2", "--yes")["quarantine"] == 1
    assert cli("show", "abcdef2").code == 4


def test_a_beginning_that_several_have_is_refused_and_they_are_told(cli, memory):
    memory.log_quarantine("We deploy on Fridays.", SHOP)
    memory.log_quarantine("We use npm.", SHOP)
    memory.log_quarantine("We use pip.", SHOP)
    for command in (["reject"], ["promote"], ["forget", "--yes"], ["revoke", "--yes"], ["show"]):
        ran = cli(*command, "abcdef")
        assert ran.code == 2, command
        assert all(f"  {id_[:8]}  " in ran.err for id_ in IDS[:3])
        assert "We use npm." in ran.err
    assert {one.status for one in memory.list(SHOP).items} == {"pending"}
    assert cli("show", "abcdef2").code == 2
    assert said(cli, "show", "abcdef2e")["items"][0]["id"] == IDS[2]


def test_a_whole_id_is_meant_though_another_one_begins_so(cli, shop):
    ids = iter(["abcdef", "abcdef1"])
    with TieredMemory.open(f"sqlite:///{shop}/memory.db", new_id=lambda: next(ids)) as memory:
        memory.log_quarantine("The first.", SHOP)
        memory.log_quarantine("The second.", SHOP)
    assert said(cli, "show", "abcdef")["items"][0]["content"] == "The first."


def test_fewer_characters_than_that_are_no_beginning(cli, memory):
    memory.log_quarantine("We deploy on Fridays.", SHOP)
    ran = cli("show", IDS[0][: _ids.MIN_PREFIX - 1])
    assert ran.code == 4
    assert str(_ids.MIN_PREFIX) in ran.err


def test_the_beginning_of_an_id_of_another_group_is_none_here(cli, memory):
    memory.log_quarantine("Of the shop.", SHOP)
    memory.log_quarantine("Of others.", OTHER)
    assert said(cli, "show", "abcdef")["items"][0]["content"] == "Of the shop."
    assert cli("show", "abcdef2").code == 4
    found = said(cli, "forget", "abcdef2", "--all-groups", "--dry-run")
    assert [one["content"] for one in found["records"]] == ["Of others."]


def test_the_beginning_of_a_generated_id_is_found_however_old_the_record_is(
    cli, memory, monkeypatch
):
    for number in range(4):
        memory.log_quarantine(f"Text {number}.", SHOP)
    monkeypatch.setattr(_ids, "SEARCHED", 2)
    for number in (0, 3):
        found = said(cli, "show", IDS[number][:7] if number else "abcdef1")["items"][0]
        assert found["content"] == f"Text {number}."


def test_the_beginning_of_another_id_is_looked_for_among_the_newest(cli, shop, monkeypatch):
    ids = iter(["note-one", "note-two", "note-three"])
    with TieredMemory.open(f"sqlite:///{shop}/memory.db", new_id=lambda: next(ids)) as memory:
        for number in range(3):
            memory.log_quarantine(f"Text {number}.", SHOP)
    monkeypatch.setattr(_ids, "SEARCHED", 2)
    assert said(cli, "show", "note-th")["items"][0]["id"] == "note-three"
    assert "note-three" in cli("list").out  # such ids are not cut
    assert cli("show", "note-o").code == 4
    assert said(cli, "show", "note-one")["items"][0]["content"] == "Text 0."


def test_an_old_revocation_is_found_by_its_beginning(cli, memory, monkeypatch):
    memory.log_quarantine("Text 0.", SHOP)
    receipt = said(cli, "revoke", IDS[0], "--yes")["id"]
    for number in range(1, 4):
        memory.log_quarantine(f"Text {number}.", SHOP)
    monkeypatch.setattr(_ids, "SEARCHED", 1)
    assert said(cli, "restore", receipt[:8])["total"] == 1


def test_an_ambiguous_beginning_is_an_error_with_its_candidates(cli, memory):
    for number in range(3):
        memory.log_quarantine(f"Text {number}.", SHOP)
    error = json.loads(cli("show", "abcdef", "--json").err)["error"]
    assert error["code"] == "ambiguous_id"
    assert {*error["candidates"]} == {*IDS[:3]}
    assert error["hint"] == "type more characters"


def test_for_a_whole_id_no_others_are_read(cli, memory, monkeypatch):
    asked = []
    find = RecordView.find

    async def watched(self, which, **how):
        asked.append(which)
        return await find(self, which, **how)

    monkeypatch.setattr(RecordView, "find", watched)
    memory.log_quarantine("We deploy on Fridays.", SHOP)
    for command in (["reject", IDS[0]], ["promote", IDS[0]], ["forget", IDS[1], "--dry-run"]):
        cli(*command)
    assert asked
    narrow = [one for one in asked if one.ids or one.made_of or one.hashes or one.documents]
    assert narrow == asked

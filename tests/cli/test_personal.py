"""`--user` without a group is the memory of one person, and only where it was typed."""

from __future__ import annotations

import json

import pytest

from memoryware import MemoryScope, TieredMemory

ANN, SHOP = MemoryScope.personal("ann"), MemoryScope(group_id="shop")
UNITS, DEPLOY = "I prefer metric units.", "We deploy on Fridays."


@pytest.fixture
def alone(shop):
    """A folder whose configuration names no group; the memory of ann and that of the group shop."""
    (shop / "memoryware.json").write_text('{"store": "sqlite:///memory.db"}\n')
    with TieredMemory.open(f"sqlite:///{shop}/memory.db") as memory:
        memory.promote(UNITS, MemoryScope(group_id="user:ann"), by="ann")
        memory.promote(DEPLOY, MemoryScope(group_id="shop", user_id="ann"), by="ann")
        yield memory


def texts(ran):
    return [one["content"] for one in json.loads(ran.out)["items"]]


def test_a_user_alone_is_the_memory_of_that_person(cli, alone):
    assert texts(cli("list", "--user", "ann", "--json")) == [UNITS]
    assert texts(cli("list", "--group", "user:ann", "--json")) == [UNITS]
    assert texts(cli("search", "units", "-u", "ann", "--json")) == [UNITS]
    assert cli("list", "--user", "bob").out == "No records.\n"
    added = cli("add", "-q", "-u", "ann", "Tea is at four.").out.strip()
    assert alone.get(added, ANN).scope == ANN
    assert "Tea is at four." in cli("digest", "-u", "ann").out
    assert cli("promote", "-u", "ann", added).code == 0
    assert {one.content for one in alone.list(ANN, state="current").items} == {
        UNITS,
        "Tea is at four.",
    }
    assert alone.list(SHOP).total == 1


def test_a_user_with_a_group_is_what_it_was(cli, alone, shop):
    assert texts(cli("list", "-u", "ann", "-g", "shop", "--json")) == [DEPLOY]
    assert texts(cli("list", "-u", "bob", "-g", "shop", "--json")) == []
    (shop / "memoryware.json").write_text(
        '{"store": "sqlite:///memory.db", "scope": {"group_id": "shop"}}\n'
    )
    assert texts(cli("list", "-u", "ann", "--json")) == [DEPLOY]


def test_a_group_in_the_environment_is_one(cli, alone, monkeypatch):
    monkeypatch.setenv("MEMORYWARE_GROUP", "shop")
    assert texts(cli("list", "-u", "ann", "--json")) == [DEPLOY]


@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        ("search", "units"),
        ("add", "A text."),
        ("digest",),
        ("review",),
        ("revoke", "--origin", "person:ann", "--yes"),
        ("forget", "--everything", "--yes"),
        ("export", "-"),
        ("mcp",),
    ],
)
@pytest.mark.parametrize("source", ["environment", "configuration"])
def test_a_user_that_was_not_typed_names_no_memory(cli, alone, shop, monkeypatch, command, source):
    if source == "environment":
        monkeypatch.setenv("MEMORYWARE_USER", "ann")
    else:
        (shop / "memoryware.json").write_text(
            '{"store": "sqlite:///memory.db", "scope": {"user_id": "ann"}}\n'
        )
    ran = cli(*command)
    assert (ran.code, ran.out) == (2, "")
    assert "no group is given" in ran.err
    assert "--user NAME alone is the memory of one person" in ran.err
    assert alone.list(ANN).total == alone.list(SHOP).total == 1


def test_an_empty_name_is_nobody(cli, alone):
    assert "no group is given" in cli("list", "--user", "").err


def test_a_deletion_is_only_narrowed_by_a_user(cli, alone):
    """Otherwise the memory of a person would go where all records of a user were meant."""
    ran = cli("forget", "--user", "ann", "--everything", "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert "--all-groups" in ran.err
    assert "--group user:ann" in ran.err
    assert alone.list(ANN).total == alone.list(SHOP).total == 1
    assert cli("forget", "-u", "ann", "--everything", "--all-groups", "--yes").code == 0
    assert alone.list(SHOP).total == 0


def test_what_is_printed_to_undo_names_the_same_memory(cli, alone):
    (line,) = cli("list", "-q", "-u", "ann").out.split()
    hint = cli("revoke", "-u", "ann", line, "--yes").out.splitlines()[-1]
    assert hint.startswith("To undo this: memoryware restore ")
    assert hint.endswith(" --user ann")
    assert cli(*hint.removeprefix("To undo this: memoryware ").split()).code == 0
    assert alone.get(line, ANN).revocation is None


def test_init_writes_the_memory_of_a_person(cli, alone, shop):
    assert cli("init", "--force", "--user", "ann").code == 0
    config = json.loads((shop / "memoryware.json").read_text())
    assert config["scope"] == {"group_id": "user:ann", "user_id": "ann"}
    assert texts(cli("list", "--json")) == [UNITS]
    assert cli("init", "--force", "-u", "ann", "-g", "shop").code == 0
    config = json.loads((shop / "memoryware.json").read_text())
    assert config["scope"] == {"group_id": "shop", "user_id": "ann"}


def test_a_server_for_one_person_keeps_to_it_in_any_environment(cli, alone):
    ran = cli("mcp", "--user", "ann", "--no-files", "--print-config", "cursor")
    assert ran.code == 0, ran.err
    args = json.loads(ran.out)["mcpServers"]["memory"]["args"]
    assert args[args.index("--group") + 1] == "user:ann"
    assert args[args.index("--user") + 1] == "ann"
    ran = cli("mcp", "-u", "ann", "-g", "shop", "--no-files", "--print-config", "cursor")
    args = json.loads(ran.out)["mcpServers"]["memory"]["args"]
    assert args[args.index("--group") + 1] == "shop"

"""What goes wrong with a memory or a call: nothing else is harmed, and it is said what to do."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
import time

import pytest

from cli.running import COMMAND
from memoryware import FilesystemBackend, HistoryBackend, MemoryScope
from memoryware.cli import doctor
from memoryware.errors import StoreUnavailable

SHOP, OTHER = MemoryScope(group_id="shop"), MemoryScope(group_id="other")


@pytest.fixture
def groups(memory):
    """The same text in two groups, and one that has no group."""
    for scope in (SHOP, OTHER, MemoryScope()):
        memory.log_quarantine("Deliveries come on Monday.", scope)
    return memory


def left(memory):
    return [memory.list(scope).total for scope in (SHOP, OTHER, MemoryScope())]


@pytest.mark.parametrize("meant", [("--words", "deliveries"), ("--everything",)])
def test_to_forget_what_has_no_group_never_reaches_the_groups(cli, groups, meant):
    ran = cli("forget", "--group", "", *meant, "--yes")
    assert ran.code == 2
    assert "--all-groups" in ran.err
    assert left(groups) == [1, 1, 1]


def test_forgetting_stays_in_its_group_unless_all_of_them_are_meant(cli, groups):
    groups.log_quarantine("Mondays are busy.", MemoryScope(group_id="shop", user_id="bob"))
    groups.log_quarantine("Deliveries.", MemoryScope(tenant="acme", group_id="shop"))
    assert cli("forget", "--words", "deliveries", "--yes").code == 0
    assert left(groups) == [1, 1, 1]
    groups.log_quarantine("Bob was here.", MemoryScope(group_id="other", user_id="bob"))
    args = ("forget", "--user", "bob", "--everything", "--all-groups")
    assert json.loads(cli(*args, "--dry-run", "--json").out)["quarantine"] == 2
    assert "delete permanently, of user bob, every group: 2 records" in cli(*args, "--yes").out
    assert left(groups) == [0, 1, 1]
    assert groups.list(MemoryScope(tenant="acme", group_id="shop")).total == 1


def test_all_groups_alone_do_not_say_what_is_to_be_forgotten(cli, groups):
    assert cli("forget", "--all-groups", "--yes").code == 2
    assert cli("forget", "--all-groups", "--everything", "--yes").code == 2
    assert left(groups) == [1, 1, 1]


def test_doctor_tells_the_rest_of_a_store_that_opens_and_cannot_be_read(cli, shop, groups):
    groups.close()
    with sqlite3.connect(shop / "memory.db") as db:
        pages = db.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name='record'").fetchall()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    db.close()
    with (shop / "memory.db").open("r+b") as file:
        for page in [one for (one,) in pages if one]:
            file.seek((page - 1) * size)
            file.write(b"\xff" * size)
    ran = cli("doctor", "--json")
    found = {one["name"]: one for one in json.loads(ran.out)["checks"]}
    assert (ran.code, found["store"]["state"], found["versions"]["state"]) == (5, "ok", "ok")
    assert found["integrity"]["state"] == "bad"
    broken = [one for one in found.values() if one["said"] == "cannot be read"]
    assert broken
    assert "restore a copy" in broken[0]["todo"]


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts need the rights of root"
)
def test_doctor_checks_a_file_in_a_place_that_cannot_be_written(shop, groups):
    groups.close()
    script = (
        f"mount --bind {shop} {shop} && mount -o remount,ro,bind {shop} && cd {shop}"
        f" && exec {shlex.join(COMMAND)} doctor --json"
    )
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    found = {check["name"]: check for check in json.loads(ran.stdout)["checks"]}
    assert (ran.returncode, found["integrity"]["state"]) == (0, "ok")
    assert (found["read-only"]["state"], found["store"]["state"]) == ("note", "ok")


def test_doctor_advises_no_backup_for_a_file_that_it_could_not_open(cli, groups, monkeypatch):
    groups.close()

    def fail(*_, **__):
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(doctor, "_connect", fail)
    (check,) = [
        check
        for check in json.loads(cli("doctor", "--json").out)["checks"]
        if check["name"] == "integrity"
    ]
    assert check["state"] == "bad"
    assert "restore" not in check["todo"]
    assert "can read" in check["todo"]


def test_doctor_leaves_changes_of_a_log_unchecked_where_they_cannot_be_read(
    cli, groups, monkeypatch
):
    groups.close()

    def refuse(*_):
        raise StoreUnavailable("copy both files to a place that can be written")

    monkeypatch.setattr(doctor, "is_writable", lambda _: False)
    monkeypatch.setattr(doctor, "connect_read_only", refuse)
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    (check,) = [check for check in checks if check["name"] == "integrity"]
    assert (check["state"], check["todo"][:15]) == ("note", "copy both files")


def test_errors_name_commands_and_options_and_no_methods(cli, memory):
    promoted, rejected = (memory.log_quarantine(f"Use {name}.", SHOP).id for name in ("npm", "pip"))
    memory.promote(promoted, SHOP, by="ann")
    memory.reject(rejected, SHOP, by="bo")
    messages = {
        ("revoke", "person:root"): "name it with --origin person:root",
        ("promote", rejected): f"to propose it again: memoryware propose {rejected}",
        ("reject", promoted): "memoryware revoke hides what was promoted",
        ("restore", "zzz"): "no revocation has an id that is or begins with 'zzz'",
        ("restore", "0" * 32): f"no revocation with the id '{'0' * 32}'",
    }
    for command, message in messages.items():
        ran = cli(*command)
        assert (ran.code, ran.out) == (4, ""), command
        assert message in ran.err
        assert "()" not in ran.err


def test_errors_about_options_name_them_as_they_are_typed(cli, shop, memory):
    for command in ("list", "digest"):
        ran = cli(command, "--after", "zzz")
        assert ran.err.startswith("memoryware: --after 'zzz': "), ran.err
    (shop / "memoryware.json").write_text(
        '{"scope": {"group_id": "shop"}, "policy": {"approval": true}}'
    )
    ran = cli("promote", memory.log_quarantine("Use npm.", SHOP).id, "--by", "agent:helper")
    assert ran.code == 4
    assert "--by 'agent:helper' is a machine" in ran.err
    assert "--by 'person:...'" in ran.err


def test_an_error_begins_with_no_name_of_a_class(cli):
    ran = cli("list")
    assert ran.code == 1
    assert ran.err.startswith("memoryware: There is no memory at ")


def test_a_store_in_a_folder_that_is_missing_is_not_to_be_made_by_add(cli):
    ran = cli("search", "y", "--store", "sqlite:///nodir/x.db")
    assert ran.code == 1
    assert "There is no folder nodir" in ran.err
    assert "memoryware add" not in ran.err
    ran = cli("doctor", "--store", "sqlite:///nodir/x.db")
    assert (ran.code, "its folder does not exist" in ran.out) == (5, True)


def test_text_output_uses_the_words_of_the_glossary_for_tiers(cli, memory):
    memory.record("The till opens at nine.", SHOP, role="agent")
    memory.promote("The till opens at nine.", SHOP, by="ann")
    lines = [line.split("  ")[1:3] for line in cli("list").out.splitlines() if line[0] != " "]
    assert ["long-term memory", "current"] in lines
    assert ["working memory", "trust unverified"] in lines
    found = cli("search", "till", "--explain").out
    assert "  long-term memory  " in found
    assert "  cold  " not in found
    assert json.loads(cli("search", "till", "--json").out)["items"][0]["source"] == "long_term"


def test_doctor_says_of_a_folder_that_it_is_no_file(cli, shop):
    (shop / "memory.db").mkdir()
    ran = cli("doctor")
    assert ran.code == 5
    assert "is a folder" in ran.out
    assert "chmod" not in ran.out


def test_a_model_that_is_none_is_found_before_there_is_a_store(cli, shop):
    ran = cli("doctor", "--embeddings", "foo")
    assert ran.code == 5
    assert "'foo' cannot be used" in ran.out
    (shop / "memoryware.json").unlink()
    ran = cli("init", "--embeddings", "foo")
    assert (ran.code, (shop / "memoryware.json").exists()) == (2, False)


class _Interrupted:
    """Somebody presses Ctrl-C while the command is being loaded."""

    def find_spec(self, name, path=None, target=None):
        if name == "memoryware.cli.app":
            raise KeyboardInterrupt


def test_to_press_ctrl_c_early_shows_no_traceback(cli, monkeypatch):
    monkeypatch.delitem(sys.modules, "memoryware.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [_Interrupted(), *sys.meta_path])
    ran = cli("list")
    assert (ran.code, ran.out, ran.err) == (130, "", "memoryware: interrupted\n")


def test_a_text_is_shown_with_its_family(cli, memory):
    first = memory.log_quarantine("We use npm.", SHOP)
    (made,) = memory.promote(first, by="ann").ids
    shown = cli("show", first.id).out
    assert shown.index("Derived from it:") < shown.rindex(made[:8])
    shown = cli("show", made).out
    assert shown.index("Derived from:") < shown.rindex(first.id[:8])
    assert "Derived from it:" not in shown
    memory.forget(SHOP, ids=[first.id], derived=False)
    (found,) = json.loads(cli("show", made, "--json").out)["items"]
    assert (found["made_of"], found["made_of_it"]) == ([], [])
    assert memory.get(made, SHOP).revocation is None


def test_files_and_who_acts_are_those_of_the_configuration_that_is_named(cli, shop, tmp_path):
    (tmp_path / "notes").mkdir()
    backend = HistoryBackend(FilesystemBackend(tmp_path / "notes"))
    backend.write("/team.md", "Use npm.\n")
    backend.edit("/team.md", "npm", "pnpm")
    file = tmp_path / "notes" / "memoryware.json"
    file.write_text('{"by": "cleo", "sources": ["team.md"]}\n', encoding="utf-8")
    assert "Use pnpm." in cli("files", "preview", "--config", file).out
    assert "Use pnpm." not in cli("files", "preview").out
    team = tmp_path / "notes" / "team.md"
    undone = json.loads(cli("files", "restore", team, "--config", file, "--yes", "--json").out)
    assert (undone["version"]["who"], team.read_text()) == ("cleo", "Use npm.\n")
    file.write_text('{\n  "stroe": 1\n}\n', encoding="utf-8")
    for command in (
        *(["files", name] for name in ("list", "preview", "history", "check")),
        ["files", "diff", team],
        ["mcp"],
        ["list"],
    ):
        ran = cli(*command, "--config", file)
        assert (ran.code, ran.out) == (3, ""), command
        assert "line 2" in ran.err


def test_what_says_what_to_do_next_names_the_memory_that_was_meant(cli, shop, groups):
    assert cli("export", "all.jsonl", "--group", "other").code == 0
    ran = cli("import", "all.jsonl", "--group", "the other shop")
    (hint,) = [line for line in ran.out.splitlines() if "memoryware revoke" in line]
    assert hint.endswith("--group 'the other shop'")
    *_, origin, group, name = shlex.split(hint)
    assert cli("revoke", "--origin", origin, group, name, "--yes").code == 0
    assert cli("revoke", "--origin", origin, "--yes").code == 4


def test_a_search_that_finds_nothing_says_what_waits(cli, groups):
    ran = cli("search", "deliveries")
    assert ran.code == 0
    assert "1 entry waits in quarantine" in ran.out


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("list", "--limit", str(2**63)), 0),
        (("list", "--offset", str(2**63 - 1)), 0),
        (("list", "--words", "tea", "--limit", str(2**70)), 0),
        (("digest", "--since", "999999999w"), 0),
        (("digest", "--before", "999999999w"), 0),
        (("search", "tea", "--since", "999999999w"), 0),
        (("search", "tea", "--at", "0001-01-01T00:00"), 2),
        (("search", "tea", "--at", "9999-12-31T23:59Z"), 0),
    ],
)
def test_no_number_ends_in_a_traceback(cli, memory, monkeypatch, args, code):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    memory.log_quarantine("tea", SHOP)
    ran = cli(*args)
    monkeypatch.undo()
    time.tzset()
    assert ran.code == code, ran.err
    assert "Traceback" not in ran.err

"""What is shown before something is taken back or deleted."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from cli.running import COMMAND
from memoryware import MemoryScope
from memoryware.cli._output import PREVIEWED

SHOP = MemoryScope(group_id="shop")


def said(cli, *args):
    """Run a command that prints JSON; return what it printed."""
    ran = cli(*args, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_what_will_be_forgotten_is_shown_with_its_tier(cli, memory):
    entry = memory.log_quarantine("Use pnpm.\nAnd nothing else. " + "really " * 40, SHOP)
    (id_,) = memory.promote("Use pnpm for all.", SHOP, by="ann").ids
    memory.log_quarantine("Use pip.", SHOP)
    out = cli("forget", "--words", "pnpm", "--dry-run").out
    lines = [line for line in out.splitlines() if line.startswith((entry.id[:8], id_[:8]))]
    assert [line.split("  ")[:2] for line in lines] == [
        [entry.id[:8], "quarantine"],
        [id_[:8], "long-term memory"],
    ]
    assert "    Use pnpm. And nothing else." in out
    assert max(map(len, out.splitlines())) < 140
    assert "pip" not in out
    found = said(cli, "forget", "--words", "pnpm", "--dry-run")
    assert [(one["tier"], one["id"]) for one in found["records"]] == [
        ("quarantine", entry.id),
        ("long_term", id_),
    ]
    assert found["records"][0]["content"] == entry.content


def test_what_nobody_decides_about_is_counted_and_stays_out_of_the_log(cli, memory):
    memory.log_quarantine("Ann lives in Main Street.", SHOP)
    done = cli("forget", "--words", "street", "--yes")
    assert "Deleted 1 record" in done.out
    assert "Main Street" not in done.out + done.err


def test_a_reason_is_kept_by_the_journal_or_the_command_says_that_it_is_not(cli, memory, shop):
    one, two = (memory.log_quarantine(text, SHOP) for text in ("Use pip.", "Use npm."))
    ran = cli("revoke", one.id, "--yes", "--reason", "poisoned by a page")
    assert "not recorded" in ran.err
    assert "memory.journal.jsonl" in ran.err
    (shop / "memory.journal.jsonl").touch()
    ran = cli("revoke", two.id, "--yes", "--reason", "outdated by now")
    assert ran.err == ""
    assert "outdated by now" in (shop / "memory.journal.jsonl").read_text()


def test_one_id_that_is_not_there_leaves_all_others(cli, memory):
    kept = memory.log_quarantine("Use pnpm.", SHOP)
    other = memory.log_quarantine("Of others.", MemoryScope(group_id="other"))
    for wrong in (f"{kept.id[:-1]}x", other.id):
        ran = cli("forget", kept.id, wrong, "--yes")
        assert (ran.code, ran.out) == (4, "")
        assert wrong in ran.err
    assert memory.list(SHOP).total == 1
    assert cli("forget", kept.id, "--yes").code == 0


def asked(running):
    """Return what a command says until it waits for an answer."""
    said = b""
    while not said.endswith(b"[y/N]:"):
        one = running.stderr.read(1)
        assert one, said.decode()
        said += one
    return said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_what_was_not_shown_is_not_forgotten(shop, memory):
    memory.log_quarantine("Alpha one.", SHOP)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "forget", "--words", "alpha"],
        cwd=shop,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        asked(running)
        memory.log_quarantine("Alpha two.", SHOP)
        os.write(ours, b"y\n")
        said = asked(running)
        os.write(ours, b"n\n")
        out, _ = running.communicate(timeout=50)
    os.close(ours)
    os.close(theirs)
    assert running.returncode == 4
    assert b"More records match now" in said
    assert out.count(b"Alpha two.") == 1
    assert memory.list(SHOP).total == 2


def test_of_very_much_that_will_be_forgotten_the_first_is_shown(cli, memory):
    for number in range(PREVIEWED + 2):
        memory.log_quarantine(f"Text {number}.", SHOP)
    out = cli("forget", "--everything", "--dry-run").out
    assert out.count("    Text ") == PREVIEWED
    assert out.endswith("... and 2 more.\n")
    assert len(said(cli, "forget", "--everything", "--dry-run")["records"]) == PREVIEWED


def test_a_dry_run_of_a_restoration_shows_what_would_come_back(cli, memory):
    entry = memory.log_quarantine("The sky is green.", SHOP)
    receipt = said(cli, "revoke", entry.id, "--yes")["id"]
    out = cli("restore", receipt, "--dry-run").out
    assert f"{entry.id[:8]}  quarantine" in out
    assert "    The sky is green." in out
    shown = said(cli, "restore", receipt, "--dry-run")
    assert (shown["done"], [one["tier"] for one in shown["records"]]) == (False, ["quarantine"])
    assert memory.get(entry.id, SHOP).status == "revoked"

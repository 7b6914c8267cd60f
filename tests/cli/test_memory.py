"""Commands on tiered memory: adding, finding, deciding, taking back."""

from __future__ import annotations

import json
import re

import pytest

from cli.running import here, process
from doors import everyday_and_slow
from memoryware import MemoryScope
from memoryware.tiers import Verdict
from memoryware.tiers.provenance import Origin, Provenance

SHOP = MemoryScope(group_id="shop")
HOSTILE = "[red]x[/red] \x1b[2J \u202eevil\u202c \rover \u200b<script>"


def said(cli, *args):
    """Run a command that prints JSON; return what it printed."""
    ran = cli(*args, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def added(cli, text, *more):
    return said(cli, "add", text, *more)["id"]


# The real command. Each of its processes takes a while, so that there are few in one test.


STEPS = ["init", "add", "list", "promote", "search", "show"]


@pytest.mark.parametrize("real", everyday_and_slow(["add", "search"], STEPS))
def test_a_text_is_added_promoted_and_found_by_the_real_command(
    tmp_path, monkeypatch, capsys, real
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("USER", "ann")

    def run(name, *args):
        if name in real:
            return process(name, *args, cwd=tmp_path)
        return here(monkeypatch, capsys, name, *args)

    assert "'shop'" in run("init", "--group", "shop").out
    one = run("add", "We deploy on Fridays.").out.split()[-1]
    assert re.search(f"{one}  quarantine  pending  trust person  person:ann", run("list").out)
    memory = run("promote", one).out.split()[-1]
    found = run("search", "deploy", "--explain").out
    assert f"1. {memory}  long-term memory" in found
    assert "why: has words of the query" in found
    assert "promoted by:  ann" in run("show", memory).out


@pytest.mark.slow
def test_what_waits_is_decided_and_carried_over_by_the_real_command(shop, memory):
    run = lambda *args: process(*args, cwd=shop)
    made = memory.promote("We deploy on Fridays.", SHOP, by="ann").ids[0]
    waits = memory.log_quarantine("Use npm.", SHOP).id
    assert "Use npm." in run("digest").out
    assert run("reject", waits, "--reason", "we use pnpm").out == f"Rejected: {waits[:8]}\n"
    newer = run("supersede", made, "We deploy on Mondays.", "--yes").out
    assert "- We deploy on Fridays." in newer
    assert "+ We deploy on Mondays." in newer
    assert run("export", "week.jsonl").out == "Wrote 3 records to week.jsonl.\n"
    assert "Added 3 records to quarantine." in run("import", "week.jsonl", "--group", "other").out


@pytest.mark.slow
def test_memory_is_taken_back_and_copied_by_the_real_command(shop, memory):
    run = lambda *args: process(*args, cwd=shop)
    entry = memory.log_quarantine("Use npm.", SHOP)
    memory.promote(entry, by="ann")
    hidden = run("revoke", entry.id, "--yes").out
    assert "To undo this: memoryware restore " in hidden
    assert run("restore", hidden.split()[-1]).out.startswith("Restored 2 records")
    copied = run("copy", "sqlite:///memory.db", "sqlite:///copy.db").out
    assert copied.startswith("The same: 1 in quarantine")
    gone = run("forget", "--words", "npm", "--yes").out
    assert "Deleted 2 records: 1 in quarantine" in gone
    well = run("doctor")
    assert (well.code, "BAD" in well.out) == (0, False), well.out


# What the command works on.


def test_options_win_over_the_environment_and_that_over_the_file(cli, shop, monkeypatch):
    (shop / "memoryware.json").write_text(
        '{"scope": {"group_id": "of the file", "tenant": "t"}, "by": "file"}'
    )
    whose = lambda *args: said(cli, "add", f"text {args}", *args)
    assert whose()["scope"] == {"tenant": "t", "group_id": "of the file"}
    assert whose()["provenance"]["origin"] == "person:file"
    monkeypatch.setenv("MEMORYWARE_GROUP", "env")
    monkeypatch.setenv("MEMORYWARE_BY", "agent:env")
    assert whose("--user", "bo")["scope"] == {"tenant": "t", "group_id": "env", "user_id": "bo"}
    assert whose()["provenance"]["origin"] == "agent:env"
    last = whose("--group", "option", "--by", "cy")
    assert last["scope"]["group_id"] == "option"
    assert last["provenance"]["origin"] == "person:cy"
    assert "group_id" not in whose("--group", "")["scope"]


def test_the_configuration_of_a_folder_above_is_found_and_its_store_stands_beside_it(
    cli, shop, monkeypatch
):
    below = shop / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    added(cli, "from below")
    assert (shop / "memory.db").exists()
    assert not (below / "memory.db").exists()


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('{\n  "shop": 1\n}', 2, "unknown key 'shop'"),
        ('{\n  "scope": {\n    "group": "x"\n  }\n}', 3, "unknown key 'group'"),
        ('{\n  "store": 5\n}', 2, "store must be text"),
        ('{"scope": []}', 1, "scope must be an object"),
        ('{"policy": {"min_trust": "high"}}', 1, "must be one of untrusted, unverified, user"),
        ('{"policy":\n {"similarity": 7}}', 2, "similarity=7"),
        ('{\n "policy": {"approval": "yes"}}', 2, "approval='yes'"),
        ('{\n "store": \n}', 3, "not valid JSON"),
    ],
)
def test_a_wrong_configuration_is_refused_with_its_line(cli, shop, text, line, what):
    (shop / "memoryware.json").write_text(text)
    ran = cli("list")
    assert ran.code == 3
    assert f"memoryware.json, line {line}" in ran.err
    assert what in ran.err


def test_without_a_group_the_command_says_how_to_name_one(cli, shop):
    (shop / "memoryware.json").write_text("{}")
    ran = cli("list")
    assert ran.code == 2
    assert "--group NAME" in ran.err


def test_a_store_that_is_not_there_is_not_made_by_looking(cli, shop):
    ran = cli("list")
    assert ran.code == 1
    assert "There is no memory at" in ran.err
    assert not (shop / "memory.db").exists()


def test_init_does_not_replace_what_is_there(cli, shop):
    ran = cli("init")
    assert (ran.code, "--force" in ran.err) == (2, True)
    assert cli("init", "--force", "--group", "g", "--four-eyes").code == 0
    assert json.loads((shop / "memoryware.json").read_text()) == {
        "store": "sqlite:///memory.db",
        "scope": {"group_id": "g"},
        "policy": {"approval": True, "four_eyes": True},
    }


# What is shown.


def test_hostile_text_is_spelled_out_and_never_acted_on(cli, memory):
    id_ = memory.log_quarantine(HOSTILE, SHOP).id
    memory.promote(id_, SHOP, by="ann")
    for command in (["list"], ["show", id_], ["search", "evil", "--explain"], ["digest"]):
        out = cli(*command).out
        assert not set(out) & set("\x1b\u202e\u202c\r\u200b"), command
        if command != ["digest"]:
            assert "[red]x[/red]" in out
            assert "<U+202E>" in out
            assert "<script>" in out


def test_a_list_is_a_page_and_says_how_to_go_on(cli, memory):
    for number in range(5):
        memory.log_quarantine(f"text {number}", SHOP)
    out = cli("list", "--limit", "2").out
    [mark] = re.findall(r"2 of 5 records; next page: --after (\S+)", out)
    assert "text 4" in out
    memory.log_quarantine("text 5", SHOP)
    out = cli("list", "--limit", "3", "--after", mark).out
    assert [f"text {number}" in out for number in range(6)] == [*[True] * 3, *[False] * 3]
    assert "what follows" not in out
    assert "text 0" in cli("list", "--limit", "2", "--offset", "4").out
    page = said(cli, "list", "--words", "text 3", "--limit", "1")
    assert [one["content"] for one in page["items"]] == ["text 3"]


def test_search_tells_why_something_was_left_out(cli, memory):
    for text in ("Deploy on Friday with care.", "Deploy on Monday after lunch."):
        memory.promote(text, SHOP, by="ann")
    out = cli("search", "deploy", "--limit", "1", "--explain").out
    assert "Left out:" in out
    assert "limit" in out
    found = said(cli, "search", "deploy", "--limit", "1", "--explain")
    assert {one["left_out"] for one in found["candidates"]} == {None, "limit"}
    assert "candidates" not in said(cli, "search", "deploy")


def test_a_search_leaves_out_what_is_trusted_less(cli, memory):
    page = Provenance(Origin("tool", "page"))
    memory.promote(memory.log_quarantine("We deploy on Sundays.", SHOP, provenance=page), by="ann")
    memory.promote("We deploy on Fridays.", SHOP, by="ann")
    assert "Sundays" in cli("search", "deploy").out
    trusted = cli("search", "deploy", "--min-trust", "unverified", "--explain").out
    assert "Fridays" in trusted
    assert "min_trust" in trusted.partition("Left out:")[2]
    assert cli("search", "deploy", "--min-trust", "everybody").code == 2


def test_what_held_at_a_moment_is_found(cli, memory):
    made = memory.promote("Deploy on Friday.", SHOP, by="ann")
    memory.supersede(made, "Deploy on Monday.", SHOP, by="ann")
    then = made.memories[0].created_at.isoformat()
    assert "Friday" in cli("search", "deploy", "--at", then).out
    assert "Monday" in cli("search", "deploy").out
    assert cli("search", "deploy", "--at", "noon").code == 2


def test_another_group_and_another_tenant_are_not_shown(cli, memory):
    id_ = memory.promote("a secret plan", MemoryScope(tenant="acme", group_id="shop"), by="bo").ids[
        0
    ]
    assert "plan" not in cli("list").out
    assert "plan" not in cli("search", "plan").out
    assert cli("show", id_).code == 4
    assert cli("show", id_, "--tenant", "acme").code == 0


# Deciding.


def test_who_proposed_cannot_promote_where_four_eyes_are_asked_for(cli, shop):
    (shop / "memoryware.json").write_text(
        '{"scope": {"group_id": "shop"}, "policy": {"four_eyes": true}}'
    )
    id_ = added(cli, "Use pnpm.", "--propose")
    ran = cli("promote", id_)
    assert ran.code == 4
    assert "'ann' proposed it" in ran.err
    assert cli("promote", id_, "--by", "bo").code == 0


def test_what_is_refused_or_missing_ends_with_4(cli, memory):
    id_ = memory.log_quarantine("Use pnpm.", SHOP).id
    assert cli("show", "0" * 32).code == 4
    assert cli("promote", "no such id").code == 4
    assert cli("reject", id_, "0" * 32).code == 4
    assert memory.get(id_, SHOP).status == "pending"  # the first one was not rejected either
    assert cli("supersede", id_, "Use npm.", "--yes").code == 4
    assert cli("restore", "0" * 32).code == 4


@pytest.mark.slow
def test_a_text_from_standard_input_is_added(tmp_path):
    import subprocess

    from cli.running import COMMAND

    args = [*COMMAND, "add", "--group", "g", "--json"]
    ran = subprocess.run(
        args, input="two\nlines ü\n".encode(), capture_output=True, cwd=tmp_path, timeout=50
    )
    assert json.loads(ran.stdout)["content"] == "two\nlines ü"
    assert ran.returncode == 0


def test_a_secret_in_a_text_is_cut_out_and_never_printed(cli):
    ran = cli("add", "the token is ghp_16C7e42F292c6912E7710c838347Ae178B4a", "--json")
    assert ran.code == 0
    assert "ghp_16C7" not in ran.out + ran.err + cli("list").out


# Taking back.


def test_a_revocation_shows_all_that_goes_and_a_dry_run_changes_nothing(cli, memory):
    web = Provenance(Origin("tool", "web"))
    for text in ("The sky is green.", "The sea is red."):
        memory.promote(memory.log_quarantine(text, SHOP, provenance=web), SHOP, by="ann")
    memory.promote("The grass is green.", SHOP, by="ann")
    out = cli("revoke", "--origin", "tool:web", "--dry-run").out
    assert "4 records: 2 in quarantine, 0 in working memory, 2 in long-term memory" in out
    assert "The sky is green." in out
    assert "grass" not in out
    assert len(memory.retrieve("green red", SHOP)) == 3
    receipt = said(cli, "revoke", "--origin", "tool:web", "--yes", "--reason", "it lies")
    assert receipt["counts"]["total"] == 4
    assert [one.content for one in memory.retrieve("green red", SHOP)] == ["The grass is green."]
    assert said(cli, "restore", receipt["id"])["total"] == 4
    assert len(memory.retrieve("green red", SHOP)) == 3


def test_what_two_revocations_hide_is_shown_when_both_are_taken_back(cli, memory):
    entry = memory.log_quarantine("The sky.", SHOP, provenance=Provenance(Origin("tool", "web")))
    memory.promote(entry, SHOP, by="ann")
    first = said(cli, "revoke", entry.id, "--yes")["id"]
    second = said(cli, "revoke", "--origin", "tool:web", "--yes")["id"]
    assert "stays hidden" in cli("restore", first).out
    assert memory.retrieve("sky", SHOP) == []
    assert cli("restore", second).code == 0
    assert len(memory.retrieve("sky", SHOP)) == 1


def test_without_a_terminal_what_destroys_needs_a_yes(cli, memory):
    id_ = memory.promote("Use pnpm.", SHOP, by="ann").ids[0]
    for command in (
        ["revoke", id_],
        ["forget", id_],
        ["supersede", id_, "Use npm."],
        ["copy", "sqlite:///memory.db", "sqlite:///two.db", "--exact"],
    ):
        ran = cli(*command)
        assert (ran.code, "--yes" in ran.err) == (2, True), command
    assert len(memory.retrieve("pnpm", SHOP)) == 1


def test_what_was_forgotten_is_counted_first(cli, memory):
    memory.promote("Use pnpm.", SHOP, by="ann")
    assert "1 record:" in cli("forget", "--words", "pnpm", "--dry-run").out
    assert len(memory.retrieve("pnpm", SHOP)) == 1
    assert said(cli, "forget", "--words", "pnpm", "--yes")["total"] == 1
    assert memory.retrieve("pnpm", SHOP) == []
    assert cli("forget", "--words", "pnpm", "--yes").code == 4
    assert cli("forget", "--yes").code == 2  # nothing says what


def test_the_person_of_the_configuration_does_not_narrow_what_is_forgotten(cli, shop, memory):
    (shop / "memoryware.json").write_text('{"scope": {"group_id": "shop", "user_id": "ann"}}')
    memory.log_quarantine("of bo", MemoryScope(group_id="shop", user_id="bo"))
    memory.log_quarantine("of cy", MemoryScope(group_id="shop", user_id="cy"))
    assert said(cli, "forget", "--everything", "--user", "bo", "--dry-run")["total"] == 1
    assert said(cli, "forget", "--everything", "--dry-run")["total"] == 2


# One current value, and what a receipt says.


def test_a_value_that_is_trusted_less_waits_and_is_decided_by_a_person(cli, memory):
    day = ("--subject", "deploy day")
    cli("promote", added(cli, "The deploy day is Monday."), *day)
    newer = added(cli, "The deploy day is Sunday.", "--by", "agent:helper")
    waits = cli("promote", newer, *day, "--by", "agent:helper")
    assert waits.code == 4
    assert f"It became proposal {newer[:8]}, which a person can promote." in waits.out
    assert "Contradiction: " in waits.out
    assert "trusted more" in waits.out
    assert [one.content for one in memory.retrieve("deploy", SHOP, tiers=("long_term",))] == [
        "The deploy day is Monday."
    ]
    shown = cli("show", newer).out
    assert "proposed by: agent:helper" in shown
    assert "a decision about deploy day" in shown
    decided = said(cli, "promote", newer, "--by", "bo")["promotions"][0]
    assert (len(decided["superseded"]), decided["proposal"]) == (1, None)
    found = cli("search", "deploy day", "--explain").out
    assert "superseded" in found


def test_taking_back_says_what_is_current_again(cli, memory):
    old = memory.promote("The deploy day is Monday.", SHOP, by="ann", subject="deploy day")
    new = memory.promote("The deploy day is Sunday.", SHOP, by="ann", subject="deploy day")
    dry = cli("revoke", new.ids[0], "--dry-run").out
    assert f"Would be current again: {old.ids[0][:8]}" in dry
    assert f"Current again: {old.ids[0][:8]}" in cli("revoke", new.ids[0], "--yes").out
    gone = said(cli, "forget", old.ids[0], "--yes", "--by", "bo")
    assert (gone["total"], gone["condition"], gone["by"]) == (1, "1 id", "bo")
    assert len(gone["receipt"]) == 32


def test_a_deletion_ends_with_its_receipt(cli, memory):
    memory.promote("The deploy day is Monday.", SHOP, by="ann")
    out = cli("forget", "--words", "deploy", "--yes", "--reason", "old").out
    assert re.search(r"Receipt [0-9a-f]{32}: words, by ann", out)


def test_a_verdict_and_a_refusal_are_said_in_words(cli, memory):
    refused = memory.record("Which server has the orders?", SHOP, role="user").entry.id
    assert re.search(
        "not in working memory: +only asks or orders something", cli("show", refused).out
    )
    kept = memory.promote("The orders are on db2.", SHOP, by="ann").ids[0]
    memory.attach_verdict(kept, Verdict(verified=False, confidence=0.9, by="checker"), SHOP)
    assert re.search("fact check: +refuted by checker, 90%", cli("show", kept).out)
    assert "fact check: refuted" in cli("search", "orders").out

"""`digest` and `review`: deciding about what waits, by keys and by lines of a script."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cli.running import COMMAND, here
from memoryware import MemoryScope, TieredMemory
from memoryware.tiers import MemoryManager
from memoryware.tiers.provenance import Origin, Provenance

SHOP = MemoryScope(group_id="shop")
HELPER = Provenance(Origin("agent", "helper"))


@pytest.fixture
def pressed(shop, monkeypatch, capsys):
    """Review with these lines on standard input."""

    def run(*lines, args=()):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{one}\n" for one in lines)))
        return here(monkeypatch, capsys, "review", *args)

    return run


def wait(memory, *texts, **more):
    return [memory.log_quarantine(one, SHOP, provenance=HELPER, **more).id for one in texts]


def status(memory, *ids):
    return [memory.get(one, SHOP).status for one in ids]


def test_each_is_shown_with_its_evidence_and_decided_by_a_line(memory, pressed):
    first, second = wait(memory, "Use pnpm for packages.", "Deploy on Fridays only.")
    ran = pressed("a", "r not true anymore")
    assert ran.code == 0
    assert "1 of 2 ──  trust unverified" in ran.out
    assert "agent:helper" in ran.out
    assert "Done: 1 approved, 1 rejected." in ran.out
    assert sorted(status(memory, first, second)) == ["promoted", "rejected"]
    kept = [memory.get(one, SHOP).metadata.get("rejected_because") for one in (first, second)]
    assert "not true anymore" in kept
    assert "Nothing to review." in pressed().out


def test_the_end_of_the_input_and_q_decide_nothing(memory, pressed):
    ids = wait(memory, "Use pnpm for packages.")
    for lines in ([], ["q"], ["s"], ["?", "x", "q"]):
        assert "Nothing decided." in pressed(*lines).out
    assert status(memory, *ids) == ["pending"]


def test_back_shows_the_one_before_again(memory, pressed):
    wait(memory, "Use pnpm for packages.", "Deploy on Fridays only.")
    ran = pressed("s", "b", "a", "s")
    assert re.findall(r"── (\d) of 2", ran.out) == ["1", "2", "1", "2"]
    assert "1 approved" in ran.out


def test_back_asks_about_no_statement_a_second_time(memory, pressed):
    ids = wait(memory, "Use pnpm for packages.", "Deploy on Fridays only.", "Ann leads the shop.")
    ran = pressed("a", "b", "s", "b", "r", "b", "q")
    assert re.findall(r"── (\d) of 3", ran.out) == ["1", "2", "2", "3", "2", "3", "3"]
    assert ran.out.count("1 of 3: approved already: ") == 2
    assert "No statement before this one is left to decide." in ran.out
    assert "Done: 1 approved, 1 rejected. 1 in quarantine." in ran.out
    assert sorted(status(memory, *ids)) == ["pending", "promoted", "rejected"]


def test_going_on_passes_what_was_decided_before_going_back(memory, pressed):
    wait(memory, "Use pnpm for packages.", "Deploy on Fridays only.", "Ann leads the shop.")
    ran = pressed("s", "a", "b", "r", "a")
    assert re.findall(r"── (\d) of 3", ran.out) == ["1", "2", "3", "1", "3"]
    assert "2 of 3: approved already: " in ran.out
    assert "Done: 2 approved, 1 rejected." in ran.out


def test_what_it_would_stand_beside_is_shown_and_can_be_replaced(memory, pressed):
    old = memory.promote("We deploy on Fridays.", SHOP, by="ann").ids[0]
    wait(memory, "We deploy on Mondays.")
    ran = pressed("i")
    assert f"Similar in long-term memory: {old[:8]}" in ran.out
    assert "- We deploy on Fridays." in ran.out
    assert "+ We deploy on Mondays." in ran.out
    assert [one.content for one in memory.retrieve("deploy", SHOP)] == ["We deploy on Mondays."]
    assert memory.get(old, SHOP).superseded_by


def test_an_edited_text_is_a_proposal_that_waits_in_the_place_of_the_old_one(memory, pressed):
    (old,) = wait(memory, "We use npm here.")
    ran = pressed("e We use pnpm here.", "q")
    new = re.search("Edited: (.*)", ran.out)[1]
    new = next(line.id for line in memory.list(SHOP) if line.id.startswith(new))
    assert status(memory, old, new) == ["rejected", "proposed"]
    entry = memory.get(new, SHOP)
    assert (entry.content, entry.proposed_by) == ("We use pnpm here.", "ann")
    assert entry.provenance.sources == (old,)
    assert entry.provenance.trust.name == "UNVERIFIED"  # as far as what it was made of
    assert [one.summary for one in memory.digest(SHOP).insights] == ["We use pnpm here."]


def test_who_proposes_cannot_approve_where_the_policy_says_so(shop, memory, pressed):
    (shop / "memoryware.json").write_text(
        '{"scope": {"group_id": "shop"}, "policy": {"four_eyes": true}}'
    )
    ids = wait(memory, "Use pnpm for packages.")
    assert "somebody must have proposed it" in pressed("a", "p").out
    assert "'ann' proposed it" in pressed("a", "q").out
    assert status(memory, *ids) == ["proposed"]
    assert "1 approved" in pressed("a", args=["--by", "bo"]).out
    assert status(memory, *ids) == ["promoted"]


def test_a_group_is_decided_as_one(memory, pressed):
    ids = wait(
        memory, "The shop deploys on Fridays at noon.", "On Fridays at noon the shop deploys."
    )
    found = memory.digest(SHOP).insights
    assert len(found) == 1
    ran = pressed("a")
    assert "2 entries say the same, in the words of one of them:" in ran.out
    assert status(memory, *ids) == ["promoted", "promoted"]


def test_an_entry_is_taken_out_of_its_group_and_decided_alone(memory, pressed):
    ids = wait(memory, *["The shop deploys on Fridays."] * 3)
    ran = pressed("x 2", "a", "r it said something else")
    assert ran.out.count("2 entries say the same") == 1
    assert "Done: 1 approved, 1 rejected." in ran.out
    assert sorted(status(memory, *ids)) == ["promoted", "promoted", "rejected"]
    assert memory.count_waiting(SHOP) == 0


def test_all_entries_of_a_group_are_taken_apart(memory, pressed):
    ids = wait(memory, "The shop deploys on Fridays.", "On Fridays the shop deploys.")
    ran = pressed("x 7", "x", "r", "a")
    assert "from 1 to 2" in ran.out
    assert sorted(status(memory, *ids)) == ["promoted", "rejected"]


def test_what_disagrees_is_shown_beside_it_and_never_in_one(memory, pressed):
    wait(memory, "Never delete the backup bucket.", "Delete the backup bucket every month.")
    ran = pressed("a", "r")
    assert ran.out.count("In conflict with:") == 2
    assert len(memory.list(SHOP, tier="longterm").items) == 1
    one = memory.list(SHOP, tier="longterm").items[0]
    wait(memory, "Never delete the backup bucket, not even once a month.")
    assert one.content.startswith(("Never", "Delete"))


def test_the_statements_of_an_entry_are_decided_one_by_one(memory, pressed):
    (entry,) = wait(memory, "The shop deploys on Fridays. Invoices go to accounts@shop.example.")
    ran = pressed("a", "q")
    assert "1 of 2 ──" in ran.out
    assert "1 in quarantine." in ran.out
    assert status(memory, entry) == ["pending"]
    assert "Done: 1 rejected." in pressed("r").out
    assert status(memory, entry) == ["promoted"]
    assert memory.count_waiting(SHOP) == 0


def test_an_edited_statement_leaves_the_others_of_its_entry(memory, pressed):
    wait(memory, "The shop deploys on Fridays. Invoices go to accounts@shop.example.")
    pressed("e The shop deploys on Mondays.", "a", "q")
    texts = [one.summary for one in memory.digest(SHOP).insights]
    assert len(texts) == 1
    assert texts[0] in ("The shop deploys on Fridays.", "Invoices go to accounts@shop.example.")


def test_a_digest_is_filtered_and_turned_page_by_page(memory, monkeypatch, capsys):
    wait(memory, *(f"Shop{n} sells tea{n} only." for n in range(5)))
    web = Provenance(Origin("tool", "web"))
    memory.log_quarantine("The office is in Rome.", SHOP, provenance=web)

    def told(*args):
        return json.loads(here(monkeypatch, capsys, "digest", "--json", *args).out)

    every = told()
    assert (every["waiting"], every["total"], every["next"]) == (6, 6, None)
    first = told("--limit", "4")
    second = told("--limit", "4", "--after", first["next"])
    assert first["insights"] + second["insights"] == every["insights"]
    for args in (["--origin", "tool"], ["--origin", "tool:web"], ["--trust", "untrusted"]):
        (one,) = told(*args)["insights"]
        assert one["summary"] == "The office is in Rome."
    assert told("--before", "1d")["insights"] == []
    assert told("--user", "bo")["total"] == 0
    assert here(monkeypatch, capsys, "digest", "--trust", "much").code == 2
    assert "No entry matches." in here(monkeypatch, capsys, "digest", "--user", "bo").out


def test_what_somebody_else_decided_meanwhile_is_told(memory, pressed, monkeypatch):
    (one,) = wait(memory, "Use pnpm for packages.")
    digest = memory.digest(SHOP)
    memory.reject(one, SHOP, by="bo")
    monkeypatch.setattr(type(memory), "digest", lambda *_, **__: digest)  # read before bo was there
    ran = pressed("a", "q")
    assert "rejected by bo" in ran.out
    assert status(memory, one) == ["rejected"]


def test_json_has_the_decisions_and_nothing_else_on_standard_output(memory, pressed):
    ids = wait(memory, "Use pnpm for packages.")
    ran = pressed("r outdated", args=["--json"])
    assert json.loads(ran.out) == {
        "schema": 1,
        "decided": [{"did": "rejected", "entries": ids, "ids": ids, "reason": "outdated"}],
        "more": 0,
        "older": 0,
        "waiting": 0,
    }


@pytest.mark.slow
def test_on_a_terminal_single_keys_decide_and_the_editor_of_the_person_edits(shop, memory):
    (one,) = wait(memory, "We use npm here.")
    editor = shop / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/npm/pnpm/ "$1"\n')
    editor.chmod(0o700)
    ran, out = on_terminal(["review"], "e", "a", EDITOR=str(editor))
    assert ran == 0, out
    assert "Edited: " in out
    assert [one.content for one in memory.retrieve("pnpm", SHOP)] == ["We use pnpm here."]
    assert status(memory, one) == ["rejected"]


@pytest.mark.slow
def test_on_a_terminal_a_destructive_command_asks_and_no_ends_with_4(memory):
    (id_,) = memory.promote("Use pnpm.", SHOP, by="ann").ids
    code, out = on_terminal(["forget", id_], "n\n", prompt="[y/N]", raw=False)
    assert code == 4, out
    assert len(memory.retrieve("pnpm", SHOP)) == 1


@pytest.mark.slow
def test_on_a_terminal_an_exact_copy_shows_what_it_removes_and_no_removes_nothing(shop, memory):
    memory.log_quarantine("Use pnpm.", SHOP)
    with TieredMemory.open("sqlite:///two.db") as two:
        two.log_quarantine("Only there.", SHOP)
        args = ["copy", "sqlite:///memory.db", "sqlite:///two.db", "--exact"]
        code, out = on_terminal(args, "n\n", prompt="[y/N]", raw=False)
        assert code == 4, out
        assert "    Only there." in out
        assert two.list(SHOP).total == 1


def on_terminal(args, *keys, prompt="[?]", raw=True, **environ):
    """Run the command on a terminal, pressing the next key after each prompt.

    A key counts from when the terminal gives single ones: what was pressed before is dropped, so
    that a key that is held down decides about nothing that was not seen.
    """
    mine, theirs = pty.openpty()
    ran = subprocess.Popen(
        [*COMMAND, *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "dumb", **environ},
        start_new_session=True,
    )
    os.close(theirs)
    out, waiting, until = "", list(keys), time.monotonic() + 50
    while time.monotonic() < until:
        asked = out.count(prompt) > len(keys) - len(waiting)
        if waiting and asked and (not raw or gives_single_keys(mine)):
            os.write(mine, waiting.pop(0).encode())
        if not select.select([mine], [], [], 0.05)[0]:
            if ran.poll() is not None:
                break
            continue
        try:
            some = os.read(mine, 4096)
        except OSError:  # the other end is closed
            break
        out += some.decode("utf-8", "replace")
    os.close(mine)
    return ran.wait(timeout=20), out


def gives_single_keys(terminal):
    return not termios.tcgetattr(terminal)[3] & termios.ICANON


def test_the_command_shows_how_many_older_entries_the_days_hide(cli, memory, pressed):
    long_ago = datetime.now(UTC) - timedelta(days=4000)
    past = TieredMemory(memory.parts.stores, clock=lambda: long_ago)
    past.log_quarantine("We deploy on Fridays.", SHOP)
    wait(memory, "Use pnpm for packages.")
    assert "2 entries wait in quarantine, with 2 statements" in cli("digest").out
    week = cli("digest", "--since", "7d").out
    assert "Fridays" not in week
    assert "1 older entry waits; to see them, leave out --since." in week
    assert "2 entries wait in quarantine, with 1 statement to review." in week
    assert json.loads(cli("digest", "--since", "7d", "--json").out)["older"] == 1
    ran = pressed("a", args=["--since", "7d"])
    assert "1 in quarantine. 1 of them is older; to see it, leave out --since." in ran.out
    assert "Nothing newer to review." in pressed(args=["--since", "7d"]).out


def test_a_text_that_was_replaced_is_shown_with_what_replaced_it(cli, memory, pressed):
    old = memory.promote("We deploy on Fridays.", SHOP, by="ann").ids[0]
    memory.supersede(old, "We deploy on Mondays.", SHOP, by="ann")
    wait(memory, "We deploy on Fridays.")
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    assert f"was replaced on {day}" in cli("digest").out
    (insight,) = json.loads(cli("digest", "--json").out)["insights"]
    assert [one["memory"] for one in insight["replaced"]] == [old]
    shown = pressed("q").out
    assert f"Was in long-term memory until {day}, replaced by: We deploy on Mondays." in shown


def test_a_fact_of_one_user_is_approved_for_that_user_or_for_the_group(shop, memory, pressed):
    del shop
    with MemoryManager(memory, background=False) as manager:
        talk = [("user", "I'm allergic to nuts. I prefer short answers.")]
        manager.learn(talk, MemoryScope(group_id="shop", user_id="mia", session_id="monday"))
    ran = pressed("a", "g")
    assert ran.out.count("Approved, it is for mia alone; g approves it for the whole group.") == 2
    assert "Done: 2 approved." in ran.out
    recalled = {
        user: len(memory.retrieve("allergic short", MemoryScope(group_id="shop", user_id=user)))
        for user in ("mia", "bo")
    }
    assert recalled == {"mia": 2, "bo": 1}


@pytest.mark.parametrize("way", ["review", "promote"])
def test_a_correction_stays_current_when_the_older_text_is_approved_after_it(
    memory, pressed, cli, way
):
    scope = replace(SHOP, user_id="ann")
    older, newer = "My birthday is March 3rd.", "My birthday is March 13th, not 3rd."
    with MemoryManager(memory, background=False) as manager:
        for number, text in enumerate((older, newer)):
            manager.learn([("user", text)], replace(scope, session_id=str(number)))
    insights = memory.digest(SHOP).insights
    assert [one.summary for one in insights] == [newer, older]
    if way == "review":
        out = pressed("a", "a").out
        assert "Done: 2 approved." in out
        assert out.index("Approved:") < out.index(f"Said later, stays current: {newer}  (")
    else:
        ran = cli("promote", *(one.source_entry_ids[0] for one in insights))
        assert ran.code == 0, ran
        out = ran.out
    assert "It is in the history: the same speaker said document" in out
    assert [one.content for one in memory.list(scope, state="current").items] == [newer]
    assert [one.content for one in memory.list(scope, state="superseded").items] == [older]

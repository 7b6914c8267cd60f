"""What an approval replaces or hides is shown before it, and what was left out of an answer."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import replace

import pytest

from cli.running import here
from memoryware import MemoryScope
from memoryware.tiers import MemoryManager

ANN = MemoryScope(group_id="shop", user_id="ann")
HOME, MOVED = "I live in Dublin.", "I moved to Cork."


@pytest.fixture
def learn(memory):
    def run(*texts):
        with MemoryManager(memory, background=False) as manager:
            for text in texts:
                session = str(memory.list("shop", limit=0).total)
                manager.learn([("user", text)], replace(ANN, session_id=session))

    return run


@pytest.fixture
def pressed(shop, monkeypatch, capsys):
    def run(*lines):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{one}\n" for one in lines)))
        return here(monkeypatch, capsys, "review").out

    return run


def test_what_will_be_replaced_is_shown_before_the_decision(learn, pressed):
    learn(HOME)
    assert "Will replace" not in pressed("a")
    learn(MOVED)
    out = pressed("a")
    assert f"Will replace: {HOME}  (" in out
    assert out.index("Will replace") < out.index("Approved:") < out.index("It replaced document")


def test_a_proposal_of_the_same_subject_is_compared_as_well(learn, pressed):
    learn("I live in Dublin.", MOVED)  # neither is in long-term memory when the other is found
    out = pressed("a", "a")
    assert out.index("Approved:") < out.index("Will replace: I live in Dublin.  (")


def test_a_contradiction_is_shown_before_the_decision(memory, pressed):
    memory.promote("The office is open on Sundays.", "shop", by="carl")
    memory.log_quarantine("The office is not open on Sundays.", "shop")
    out = pressed("a")
    assert "Contradicts long-term memory: The office is open on Sundays.  (" in out
    assert out.index("Contradicts long-term") < out.index("Approved:")


@pytest.mark.parametrize("way", ["review", "promote"])
def test_a_request_to_forget_names_what_it_hides_and_how_to_undo_it(
    memory, learn, pressed, cli, way
):
    learn("I like cats.")
    pressed("a")
    learn("Please forget that I like cats.")
    (insight,) = memory.digest("shop").insights
    if way == "review":
        out = pressed("a")
        assert "Approved, it hides: I like cats.  (" in out
        assert "It replaced" not in out
    else:
        out = cli("promote", insight.source_entry_ids[0]).out
    assert f"Approved: {insight.source_entry_ids[0][:8]}\n" in out
    assert "Hidden: I like cats.  (" in out
    receipt = re.search(r"To undo this: memoryware restore (\w+)", out)[1]
    assert cli("search", "cats", "--user", "ann").out.startswith("No results.")
    assert cli("restore", receipt).code == 0
    assert "I like cats." in cli("search", "cats", "--user", "ann").out
    again = cli("restore", receipt)
    assert again.code == 4
    assert "or it was restored already" in again.err


def test_a_search_says_that_memories_of_single_users_were_left_out(learn, pressed, cli):
    learn("I like cats.")
    pressed("a")
    note = "Not searched: 1 memory for one user alone; name the user: --user."
    assert note in cli("search", "cats").out
    assert "Not searched" not in cli("search", "cats", "--user", "ann").out
    assert json.loads(cli("search", "cats", "--json").out)["items"] == []


def test_a_filtered_digest_counts_what_fits(memory, learn, cli):
    learn("I like cats.")
    memory.log_quarantine("We deploy on Fridays.", "shop")
    assert cli("digest").out.endswith(
        "2 entries wait in quarantine, with 2 statements to review.\n"
    )
    out = cli("digest", "--user", "ann").out
    assert out.endswith(
        "1 of 2 entries in quarantine fits the filter, with 1 statement to review.\n"
    )


def test_a_user_who_has_no_records_is_named(learn, cli):
    learn("I like cats.")
    ran = cli("list", "--user", "anm")
    assert (ran.code, ran.out) == (0, "No records.\n")
    assert "user 'anm' has no records in group 'shop'; did you mean 'ann'?" in ran.err
    assert "check the spelling" in cli("list", "--user", "zoe").err
    assert cli("list", "--user", "ann", "--words", "dogs").err == ""


def test_a_request_to_forget_what_memory_does_not_have_hides_nothing(memory, learn, pressed, cli):
    learn("Please forget that I like cats.")
    (insight,) = memory.digest("shop").insights
    out = pressed("a")
    assert "Approved, it hides nothing" in out
    assert f"Approved: {insight.source_entry_ids[0][:8]}\nMemory has nothing" in out
    learn("Please forget that I like dogs.")
    (insight,) = memory.digest("shop").insights
    assert "Memory has nothing" in cli("promote", insight.source_entry_ids[0]).out

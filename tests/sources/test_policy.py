"""What a change of a memory file is allowed to do, asked of the policy alone."""

from __future__ import annotations

import pytest

from memoryware.guard import Guard
from memoryware.sources.policy import WritePolicy, lost_words
from memoryware.sources.source import Source

TOKEN = "ghp_" + "a8F3kQ9zL2mN7pR4tV6wX1yB5cD0eG3hJ8kM"
POLICY = WritePolicy(Guard(), "marked", 0.5, 20)
NOTES = "\n".join(f"- Fact number {n} about the house is that it has {n} doors." for n in range(20))


def test_a_read_only_file_is_refused_and_the_right_one_is_named():
    team = Source("/team.md", owner="team", writable=False)
    own = Source("/me.md", owner="user")
    verdict = POLICY.judge(team, "append", "a", "a\nb", others=[team, own])
    assert verdict.refused == "read_only"
    assert "/me.md (what holds for this user everywhere)" in verdict.message
    assert "/team.md (" not in verdict.message


def test_a_new_secret_is_refused_by_kind_and_line_only():
    verdict = POLICY.judge(Source("/a.md"), "append", "- tea", f"- tea\n- token {TOKEN}")
    assert verdict.refused == "secret"
    assert "line 2" in verdict.message
    assert TOKEN not in verdict.message
    assert TOKEN[4:] not in repr(verdict)


def test_a_secret_that_was_there_before_does_not_block_other_changes():
    before = f"- token {TOKEN}\n"
    verdict = POLICY.judge(Source("/a.md"), "append", before, before + "- tea\n")
    assert verdict.refused is None
    assert verdict.after == before + "- tea\n"


def test_a_guard_that_redacts_stores_the_rest():
    policy = WritePolicy(Guard(on_secret="redact"), None, 0.5, 20)
    verdict = policy.judge(Source("/a.md"), "write", None, f"- key {TOKEN} of Bo\n")
    assert verdict.refused is None
    assert verdict.after is not None
    assert TOKEN not in verdict.after
    assert verdict.after.startswith("- key [redacted:")
    assert verdict.after.endswith("] of Bo\n")


@pytest.mark.parametrize(
    ("kind", "after", "asks"),
    [
        ("write", "- One line.", True),
        ("write", NOTES + "\n- One more.", False),
        ("write", NOTES.replace("doors", "gates"), False),
        ("edit", NOTES[: len(NOTES) // 4], True),
        ("edit", NOTES[: len(NOTES) * 3 // 4], False),
        ("append", NOTES + "\n- One more.", False),
        ("delete", None, True),
    ],
)
def test_a_change_that_loses_most_of_the_text_needs_a_person(kind, after, asks):
    assert bool(POLICY.judge(Source("/a.md"), kind, NOTES, after).asks) is asks


def test_a_small_edit_of_a_small_file_needs_nobody_but_an_overwrite_does():
    source = Source("/a.md")
    assert not POLICY.judge(source, "edit", "- likes tea", "- hates milk").asks
    assert POLICY.judge(source, "write", "- likes tea", "- hates milk").asks


def test_ask_needs_a_person_for_every_change_and_for_none_that_changes_nothing():
    source = Source("/a.md", writable="ask")
    assert POLICY.judge(source, "append", NOTES, NOTES + "\n- x").asks
    assert not POLICY.judge(source, "write", NOTES, NOTES).asks


def test_a_share_of_one_asks_for_nothing():
    policy = WritePolicy(None, None, 1, 0)
    assert not policy.judge(Source("/a.md"), "delete", NOTES, None).asks


def test_words_are_counted_as_often_as_they_stand_there():
    assert lost_words("a a b", "a") == (2, 3)
    assert lost_words("", "a") == (0, 0)


def test_a_text_without_blanks_between_words_is_counted_by_its_characters():
    before = "用户喜欢喝茶，住在奥斯陆，每个星期一都在办公室工作。\n" * 5
    assert POLICY.judge(Source("/a.md"), "edit", before, "- 没有").asks == "lost_text"

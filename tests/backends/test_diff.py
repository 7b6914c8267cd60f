"""Files for people: which changed last, and two texts side by side."""

from __future__ import annotations

import pytest

from memoryware import FilesystemBackend, HistoryBackend, acting
from memoryware.backends import arecent_versions, recent_versions, side_by_side


@pytest.fixture
def history(tmp_path):
    return HistoryBackend(FilesystemBackend(tmp_path, virtual_mode=True))


async def test_the_newest_change_of_all_files_comes_first(history):
    with acting(user="ann"):
        history.write("/a.md", "one\n")
        history.write("/b.md", "two\n")
    with acting(user="bob", reason="typo"):
        history.edit("/a.md", "one", "won")
    found = recent_versions(history, limit=10)
    assert [(one.path, one.kind, one.actor.user) for one in found] == [
        ("/a.md", "edit", "bob"),
        ("/b.md", "write", "ann"),
        ("/a.md", "write", "ann"),
    ]
    assert await arecent_versions(history, limit=2) == found[:2]


def test_a_changed_line_stands_beside_what_it_was():
    (first, changed) = side_by_side("title\nuse npm here\n", "title\nuse pnpm here\n")
    assert (first.kind, first.old_number, first.new_number) == ("same", 1, 1)
    assert changed.kind == "changed"
    assert "".join(text for text, _ in changed.old) == "use npm here"
    assert [text for text, new in changed.new if new] == ["p"]


def test_new_lines_have_nothing_at_their_left():
    rows = side_by_side("a\n", "a\nb\nc\n")
    assert [(one.kind, one.old_number, one.new_number) for one in rows] == [
        ("same", 1, 1),
        ("added", None, 2),
        ("added", None, 3),
    ]


def test_lines_far_from_a_change_are_one_gap():
    old = "".join(f"{number}\n" for number in range(1, 21))
    rows = side_by_side(old, old.replace("10\n", "ten\n"), around=2)
    assert [(one.kind, one.hidden) for one in rows] == [
        ("gap", 7), ("same", 0), ("same", 0), ("changed", 0), ("same", 0), ("same", 0), ("gap", 8)
    ]  # fmt: skip
    assert (rows[-1].old_number, rows[-1].new_number) == (13, 13)
    assert len(side_by_side(old, old, around=None)) == 20


@pytest.mark.parametrize("text", ["", "one line", "a\n\nb\n"])
def test_equal_texts_differ_in_nothing(text):
    assert {one.kind for one in side_by_side(text, text)} <= {"gap"}


def test_a_very_long_line_is_compared_as_a_whole():
    (row,) = side_by_side("x" * 1_000_000, "x" * 999_999 + "y")
    assert [len(text) for text, _ in row.old] == [1_000_000]

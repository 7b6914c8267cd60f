"""Where an edit takes place, and how long it takes to find that out."""

from __future__ import annotations

import time

import pytest

from memoryware.backends._text import append_bytes, edit, edit_bytes, surroundings
from memoryware.errors import EditRefused

MOST = 5.0
"""Seconds, far more than needed; what grows faster than the text takes minutes."""


@pytest.mark.parametrize(
    ("text", "old"),
    [
        (" " * 100_000 + "x", "\nzz"),
        ("y" + "\t" * 100_000 + "x", "\n\nzz"),
        ("x\n" * 100_000, "x \n" * 1999 + "y"),
        ("  x\n" * 100_000, "x\n" * 1000 + "\tx\n"),
        ("x\r\n" * 100_000, "x\n" * 50_000 + "y"),
        ("ab" * 50_000, "ba" * 10_000 + "c"),
        ("hello\n", "x" * 1_000_000),
    ],
)
def test_no_old_text_takes_long_to_look_for(text, old):
    start = time.monotonic()
    with pytest.raises(EditRefused, match="not found"):
        edit("/a.md", text, old, "z", False)
    assert time.monotonic() - start < MOST


@pytest.mark.slow
@pytest.mark.parametrize("old", ["x", "x\n", "\nx"])
@pytest.mark.parametrize("text", ["x" * 100_000, "x\n" * 100_000, "x\r\n" * 100_000])
def test_many_places_are_named_in_time(text, old):
    start = time.monotonic()
    assert surroundings(text, old) == surroundings(text, old)
    assert time.monotonic() - start < MOST


def test_the_surroundings_are_whole_lines_and_no_more():
    assert surroundings("one\ntwo\nthree\n", "wo\n") == surroundings("1\ntwo\n3\n", "wo\n")
    assert surroundings("one\r\ntwo\r\n", "w") == surroundings("two\r\n", "w")
    assert surroundings("limit: 10\n", "limit: 10") != surroundings("limit: 100\n", "limit: 10")
    assert surroundings("a b\n", "b") != surroundings("aa b\n", "b")


def test_a_pair_of_signs_is_one_line_end():
    with pytest.raises(EditRefused, match="not found"):
        edit("/a.md", "a\r\nb\r\n", "\n\n", "\n", True)
    assert edit("/a.md", "a\r\nb\r\na\r\n\r\nb\r\n", "a\n\nb", "X", False) == ("a\r\nb\r\nX\r\n", 1)
    assert edit("/a.md", "a\r\n\r\n\rb", "\n\n", "\n", True) == ("a\r\n\rb", 1)


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        (
            "\t- a\n\t\t- b\n",
            "- a\n  - b\n",
            "- A\n  - B\n    - C\n",
            "\t- A\n\t\t- B\n\t\t\t- C\n",
        ),
        ("- a\n  - b\n", "    - a\n      - b\n", "    - A\n", "- A\n"),
        ("x:\n    y\n", "x:\n\ty\n", "x:\n\tz\n\t\tw\n", "x:\n    z\n        w\n"),
    ],
)
def test_new_lines_take_the_indentation_of_the_file(text, old, new, after):
    assert edit("/a.md", text, old, new, False) == (after, 1)


def test_a_shift_that_the_new_text_cannot_follow_is_refused():
    with pytest.raises(EditRefused, match="not found"):
        edit("/a.md", "cat\n", " cat ", "dog", False)


@pytest.mark.parametrize("data", [b"\xff\xfea\0b", b"\xff\xfe\0\0a\0\0\0\xff\xff\xff\xff"])
def test_a_broken_tail_is_refused_with_a_sentence(data):
    for change in (
        lambda: edit_bytes("/a.md", data, "a", "b", False),
        lambda: append_bytes("/a.md", data, "b"),
    ):
        with pytest.raises(EditRefused, match="not text that can be changed"):
            change()

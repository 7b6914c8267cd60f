"""Author comments, on their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryware.sources.markdown import strip_comments

CASES = [
    ("a <!-- x --> b", "a  b"),
    ("- Be kind. <!-- x -->\n- Be brief.", "- Be kind.\n- Be brief."),
    ("Rule A\n<!-- two\nlines -->\nRule B", "Rule A\nRule B"),
    ("<!-- a --><!-- b -->\nc", "\nc"),
    ("```\n<!-- kept -->\n```\n<!-- gone -->\nx", "```\n<!-- kept -->\n```\nx"),
    ("~~~~\n```\n<!-- kept -->\n~~~~\n", "~~~~\n```\n<!-- kept -->\n~~~~\n"),
    (
        "```\n<!-- kept: the fence is never closed -->",
        "```\n<!-- kept: the fence is never closed -->",
    ),
    ("- item\n  ```\n  <!-- kept -->\n  ```\n", "- item\n  ```\n  <!-- kept -->\n  ```\n"),
    ("`<!-- kept -->` <!-- gone -->.", "`<!-- kept -->` ."),
    ("``a ` <!-- kept -->`` <!-- gone -->.", "``a ` <!-- kept -->`` ."),
    ("`a\n\n<!-- gone --> b`", "`a\n\n b`"),
    ("\\`<!-- gone -->\\`", "\\`\\`"),
    ("<!-- a ```\n --> b\n```\n<!-- kept -->\n```", " b\n```\n<!-- kept -->\n```"),
    ("<!--> a --> b", " a --> b"),
    ("<!---> b", " b"),
    ("<!-- -- - -> --> b", " b"),
]


@pytest.mark.parametrize(("text", "left"), CASES)
def test_comments_go_outside_code_only(text, left):
    stripped = strip_comments(text)

    assert stripped.text == left
    assert stripped.unclosed == 0


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n<!-- never closed\nb", "a\n<!-- never closed\nb"),
        ("<!-- open\nRule\n<!-- closed -->\nRule 2", "<!-- open\nRule\nRule 2"),
    ],
)
def test_an_unclosed_comment_keeps_its_text_and_is_counted(text, left):
    stripped = strip_comments(text)

    assert stripped.text == left
    assert stripped.unclosed == 1


@given(st.text(alphabet="<!->`~\\ \na", max_size=80))
def test_what_is_left_is_in_the_text_in_order(text):
    left = iter(text)

    assert all(character in left for character in strip_comments(text).text)


@given(st.text(alphabet="ab\n", max_size=60))
def test_a_text_without_comments_is_untouched(text):
    assert strip_comments(text).text == text


def test_lines_of_the_original_are_found_again():
    stripped = strip_comments("one\n<!--\n\n-->\ntwo\n<!-- x -->\nthree")

    assert stripped.text == "one\ntwo\nthree"
    assert [stripped.original_line(n) for n in range(3)] == [0, 4, 6]


def test_text_before_a_comment_keeps_its_line():
    stripped = strip_comments("zero\none <!-- a\nb --> tail\nthree <!-- x --><!-- y\n --> z\nfive")

    assert stripped.text == "zero\none  tail\nthree  z\nfive"
    assert [stripped.original_line(n) for n in range(4)] == [0, 1, 3, 5]

"""Views: places in them lead back to the text."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryware.guard._secrets.scanner import joined_view, plain_view


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab\u200b\u00ad「“ａ：\u00a0İ密é\n'\""), max_size=60))
def test_every_place_of_a_view_is_a_place_of_the_text(text):
    view = plain_view(text)

    places = [view.span(at, at + 1) for at in range(len(view.text))]
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)
    kept = [text[start] for start, _ in places]
    assert [one for one in kept if one in "ab密é\n"] == [one for one in text if one in "ab密é\n"]


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab\"'\\\n +\u200b"), max_size=60))
def test_strings_in_pieces_are_put_together_without_losing_their_places(text):
    view = plain_view(text)
    pieces, seams = joined_view(view)

    assert all(0 <= seam <= len(pieces.text) for seam in seams)
    for at, character in enumerate(pieces.text):
        start, _ = pieces.span(at, at + 1)
        assert text[start] == character


@pytest.mark.slow
def test_lower_case_keeps_the_places_of_every_character():
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            text = plain_view(f"a{chr(code)}b").text
            assert len(text.lower()) == len(text), hex(code)


def test_a_note_of_a_redaction_announces_nothing():
    assert plain_view("a [redacted: password] b").text == "a [..................] b"

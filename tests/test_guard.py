"""Fences and hidden characters, on their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryware.guard import drop_hidden, fence_pattern, neutralise

FENCE = fence_pattern(["agent_memory"])


@given(st.text(alphabet="</>agent_memory \n-", max_size=60))
def test_no_closing_tag_survives_and_other_text_does(text):
    cleaned = neutralise(text, FENCE)

    assert "</agent_memory" not in cleaned
    assert "<agent_memory" not in cleaned
    assert cleaned.replace("&lt;", "<") == text


@given(st.text(max_size=200))
def test_dropping_hidden_characters_twice_changes_nothing_more(text):
    once, _ = drop_hidden(text)

    assert drop_hidden(once)[0] == once


@pytest.mark.parametrize(
    "ordinary",
    [
        "plain text, tabs\tand\nlines",
        "a < b and <div>, </p>, <agent> and memory",
        "中文 العربية עברית हिन्दी ไทย 한국어",
        "❤️ 👨‍👩‍👧 🏳️‍🌈 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽",
        "می‌خواهم",
        "क्‍ष",
        "葛󠄀",
    ],
)
def test_ordinary_text_passes_unchanged(ordinary):
    assert drop_hidden(neutralise(ordinary, FENCE)) == (ordinary, {})


@pytest.mark.parametrize(
    ("text", "left", "kind"),
    [
        ("a\x1b[31mb", "a[31mb", "control characters"),
        ("a\u202eb", "ab", "bidirectional overrides"),
        ("a\u2066b\u2069", "ab", "bidirectional overrides"),
        ("pass\u200bword", "password", "zero-width characters"),
        ("a\u200db", "ab", "zero-width characters"),
        ("soft\u00adhyphen", "softhyphen", "zero-width characters"),
        ("a\u3164b", "ab", "blank letters"),
        ("\U000e0041\U000e0042", "", "tag characters"),
        ("x\ufe0f\ufe0f", "x", "variation selectors"),
        ("a\U000e0101\U000e0102", "a", "variation selectors"),
    ],
)
def test_each_kind_of_hidden_character_goes_and_is_counted(text, left, kind):
    cleaned, found = drop_hidden(text)

    assert cleaned == left
    assert kind in found

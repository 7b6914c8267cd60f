"""Chunks: no longer than allowed, and nothing of the text is lost."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_text_splitters import CharacterTextSplitter, RecursiveCharacterTextSplitter

from limits import limited
from memoryware.errors import SettingError
from memoryware.settings import TierLimits
from memoryware.tiers.chunking import chunks_of

ENGLISH = "\n\n".join(
    " ".join(f"Sentence {n} of paragraph {p} says something of its own." for n in range(8))
    for p in range(3)
)
CHINESE = "".join(f"第{n}条：数据库每天晚上备份一次，备份保存三十天。" for n in range(60))[:1200]
EMOJI = "👨‍👩‍👧‍👦🇮🇹👍🏽é" * 150
PIECES = st.sampled_from(
    ["word", " ", "\n", "\n\n", "数据库", "👨‍👩‍👧", "e\u0301", "\u00a0", "\t", "a" * 700]
)


def chunks(text, **limits):
    return chunks_of(text, None, limited(TierLimits, **limits))


def said(text):
    return "".join(text.split())


def lost(text, made, overlap=50):
    """Whether something of a text is in none of its chunks, in order."""
    whole, reached = said(text), {0}
    for one in map(said, made):
        starts = {at for end in reached for at in range(max(0, end - overlap), end + 1)}
        reached = {at + len(one) for at in starts if whole.startswith(one, at)}
    return len(whole) not in reached


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, EMOJI, "x" * 1200])
def test_no_chunk_is_longer_than_allowed_and_nothing_is_lost(text):
    made = chunks(text)
    assert len(made) > 1
    assert max(map(len, made)) <= 500
    assert not lost(text, made)


@pytest.mark.parametrize("text", ["x" * 1200, CHINESE, ENGLISH.replace("\n\n", " ")])
def test_neighbours_share_text_inside_a_paragraph(text):
    made = chunks(text)
    for one, following in pairwise(made):
        assert any(one.endswith(following[:size]) for size in range(10, 51))


def test_paragraphs_are_kept_together_where_they_fit():
    one, two = "a" * 300, "b" * 300
    assert chunks(f"{one}\n\n{two}") == [one, two]


def test_a_short_text_is_one_chunk():
    assert chunks("The shop sells tea.") == ["The shop sells tea."]


@pytest.mark.parametrize("text", ["", " ", "  \n", "\u3000\t\r\n"])
def test_a_blank_text_has_no_chunk(text):
    assert chunks(text) == []


@given(st.lists(PIECES, max_size=400).map("".join))
@settings(max_examples=60, deadline=None)
def test_of_any_text_nothing_is_lost(text):
    made = chunks(text, chunk_chars=60, chunk_overlap=7)
    assert all(len(one) <= 60 for one in made)
    assert not lost(text, made, overlap=7)


def test_a_splitter_of_ones_own_decides():
    by_words = RecursiveCharacterTextSplitter(
        chunk_size=3, chunk_overlap=0, length_function=lambda text: len(text.split())
    )
    assert chunks_of("one two three four five", by_words, TierLimits()) == [
        "one two three",
        "four five",
    ]
    by_bars = CharacterTextSplitter("|", chunk_size=1, chunk_overlap=0)
    assert chunks_of("a|b", by_bars, TierLimits()) == ["a", "b"]


def test_a_splitter_that_finds_nothing_loses_nothing():
    class Empty:
        def split_text(self, text):
            return []

    assert chunks_of("text", Empty(), TierLimits()) == ["text"]


def test_chunks_cannot_share_as_much_as_they_hold():
    with pytest.raises(SettingError, match="chunk_overlap=50: must be less than chunk_chars=50"):
        chunks("text", chunk_chars=50)


@pytest.mark.slow
def test_the_splitter_is_imported_on_first_use():
    code = "import sys, memoryware.tiers.promote; print('langchain_text_splitters' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

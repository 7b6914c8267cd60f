"""No text that somebody may send takes longer than its length explains, and none ends a run."""

from __future__ import annotations

import time
import unicodedata

import pytest

from limits import limited
from memoryware import MemoryScope, TieredMemory
from memoryware._caching import clear_caches
from memoryware._unicode import normalised
from memoryware.settings import TierLimits
from memoryware.tiers import statements
from memoryware.tiers.echo import clauses_of, recalled_block_sources
from memoryware.tiers.echo_matching import Excerpt, repeated_ids
from memoryware.tiers.statements import boilerplate_of, groups_of, specificity_of
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.text.comparison import says_the_same
from memoryware.tiers.text.contradictions import contradiction_between
from memoryware.tiers.text.terms import stem, words_of

SHOP = MemoryScope(tenant="acme", group_id="shop", agent_id="helper")
KNOWN = "The orders of the shop are in PostgreSQL 17, on the server db2."
LIMITS = limited(TierLimits, entry_chars=2_000_000, query_chars=2_000_000, echo_chars=2_000_000)


def numbered(piece: str, size: int) -> str:
    """Return a text in which no piece stands twice."""
    made = "".join(piece.format(number) for number in range(size // len(piece.format(size))))
    return made.ljust(size)


SHAPES = {
    "one word": lambda size: "a" * size,
    "a word of consonants": lambda size: "b" * size,
    "capital letters": lambda size: "ABCD" * (size // 4),
    "digits": lambda size: "1" * size,
    "sentences": lambda size: "a. " * (size // 3),
    "different sentences": lambda size: numbered("so{}. ", size),
    "different clauses": lambda size: numbered("so{}, ", size),
    "brackets": lambda size: "([{<" * (size // 4),
    "phrases in one character": lambda size: "\ufdfa" * size,
    "closing brackets": lambda size: ")]}>" * (size // 4),
    "lines": lambda size: "a" + "\n" * size,
    "blanks": lambda size: "a" + " " * size + "b",
    "blanks behind a bracket": lambda size: "a <" + " " * size + "b",
    "a bracket that is spelled": lambda size: "a &lt;" + " " * size + "b",
    "markup": lambda size: "I do not have" + "*" * size + "a",
    "lines of markup": lambda size: "I do not have" + "\n***" * (size // 4) + "a",
    "Chinese": lambda size: "記憶" * (size // 2),
    "Japanese": lambda size: "が" * size,
    "marks of a letter": lambda size: "a" + "\u0301\u0323" * (size // 2),
    "letters that become marks": lambda size: "a" + "\uff9e\u0301" * (size // 2),
    "settings": lambda size: "key=value: " * (size // 11),
    "one setting": lambda size: "a=b:" * (size // 4),
    "addresses": lambda size: "https://shop.example/a/b?c=d&e=f " * (size // 33),
    "one address": lambda size: "https://shop.example/" + "blue/" * (size // 5),
    "base64": lambda size: "QUJDREVGR0hJSktM" * (size // 16),
    "a number of a character": lambda size: "a &#" + "1" * size,
    "names": lambda size: numbered("Ann{} is not in Rome. ", size),
    "quotes": lambda size: "\"'" * (size // 2),
    "bars": lambda size: "| a " * (size // 4),
}
USES = {
    "words": words_of,
    "statements": clauses_of,
    "an echo": lambda text: repeated_ids(text, [Excerpt(text[: len(text) // 2], "x")]),
    "marks": lambda text: recalled_block_sources(text, [Excerpt(KNOWN, "x")]),
    "the same": lambda text: says_the_same(text, f"{text} Ann"),
    "a contradiction": lambda text: contradiction_between(text, f"{text} not"),
    "segmentation": statements._split,
    "worth": specificity_of.__wrapped__,
    "a series": lambda text: boilerplate_of([text, f"{text} b", KNOWN]),
    "a group": lambda text: groups_of([text, f"{text} b", KNOWN]),
}


def seconds(work, text: str) -> float:
    """Return the time of the processor that work on a text takes, the least of two."""
    taken = []
    for _ in range(2):
        clear_caches()
        start = time.process_time()
        work(text)
        taken.append(time.process_time() - start)
    return min(taken)


def grows_too_fast(work, shape, size: int) -> bool:
    """Say whether four times the text takes far more than four times the time, twice over."""
    for _ in range(2):
        short, long = seconds(work, shape(size)), seconds(work, shape(4 * size))
        if long < 8 * short + 0.1:  # square growth would make it sixteen times as long
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_the_text_takes_about_four_times_the_time(shape, use):
    assert not grows_too_fast(USES[use], SHAPES[shape], 6_000)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_a_memory_takes_any_text_through_all_that_is_done_with_it(shape):
    def work(text):
        with TieredMemory(embedded(), limits=LIMITS) as memory:
            memory.record(KNOWN, SHOP)
            kept = memory.record(text, SHOP)
            memory.record(f"{text} And then", SHOP)
            memory.digest(SHOP)
            memory.promote(kept.entry.id, SHOP, by="user:ann")
            memory.retrieve(text, SHOP)

    assert not grows_too_fast(work, SHAPES[shape], 3_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape", ["one word", "capital letters", "base64", "phrases in one character"]
)
def test_a_megabyte_is_recorded(shape):
    text = SHAPES[shape](1_000_000)
    with TieredMemory(embedded()) as memory:
        kept = memory.record(text, SHOP)

    assert kept.entry.content == text


def test_a_number_of_a_character_that_is_too_long_for_a_number_is_kept():
    text = f"A long one: &#{'1' * 5_000}; and {KNOWN}"
    with TieredMemory(embedded()) as memory:
        kept = memory.record(text, SHOP)

    assert kept.entry.content == text
    assert kept.working


def test_a_short_number_of_a_character_is_still_that_character():
    assert says_the_same("The server is d&#98;2.", "The server is db2.")


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_of_a_letter_with_few_marks_all_are_kept(form):
    text = "e\u0301\u0323 Ḁ\u0328 ｶ\uff9e " + "z" + "\u0301\u0323" * 20 + " —————— " * 20

    assert normalised(form, text) == unicodedata.normalize(form, text)


def test_of_a_letter_with_many_marks_the_first_are_kept_and_what_follows_is_untouched():
    assert normalised("NFD", "b" + "\u0323" * 1_000 + "c\u0323") == "b" + "\u0323" * 64 + "c\u0323"


def test_a_row_of_signs_is_no_row_of_marks():
    assert normalised("NFC", "—" * 500) == "—" * 500


def test_a_long_word_has_the_stem_that_a_short_one_has():
    assert stem("b" + "an" * 100 + "ing") == "b" + "an" * 100

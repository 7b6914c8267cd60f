"""The comparator of statements: what says the same, what disagrees, what is another matter."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryware._caching import clear_caches
from memoryware.tiers.text.comparison import Relation, compare

PAIRS = Path(__file__).parent / "pairs" / "statements.tsv"
MOST_MISSED = {"tuned": 1, "reported": 2}
"""Pairs that say the same and are seen as different; the page about tiers says so."""


class Pair(NamedTuple):
    expected: str
    language: str
    first: str
    second: str


def pairs(half: str) -> list[Pair]:
    """Return the pairs of a half: rules were tuned on one, the other is only reported."""
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    rows = [Pair(*line.split("\t")) for line in lines if not line.startswith("#")]
    return rows[0 if half == "tuned" else 1 :: 2]


ALL = pairs("tuned") + pairs("reported")


def test_the_pairs_are_enough_of_both_kinds_in_three_languages():
    assert len(ALL) >= 200
    for language in ("en", "de", "zh"):
        for says_same in (True, False):
            kind = [
                p for p in ALL if p.language == language and (p.expected == "same") == says_same
            ]
            assert len(kind) >= 15


@pytest.mark.parametrize("half", ["tuned", "reported"])
def test_what_differs_is_never_the_same(half):
    others = [pair for pair in pairs(half) if pair.expected != "same"]
    merged = [p for p in others if compare(p.first, p.second) is Relation.SAME]
    assert merged == []


@pytest.mark.parametrize("half", ["tuned", "reported"])
def test_what_says_the_same_is_mostly_seen_as_the_same(half):
    same = [pair for pair in pairs(half) if pair.expected == "same"]
    missed = [p for p in same if compare(p.first, p.second) is not Relation.SAME]
    assert len(missed) <= MOST_MISSED[half], missed


def test_pairs_of_an_attack():
    lines = PAIRS.with_name("attacks.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    merged = [row for row in rows if row[0] == "not" and compare(*row[1:]) is Relation.SAME]
    missed = [row for row in rows if row[0] == "same" and compare(*row[1:]) is not Relation.SAME]
    assert merged == []
    assert len(missed) <= 5, missed


def test_a_clear_conflict_is_told_from_another_matter():
    clear = [pair for pair in ALL if pair.expected in ("conflict", "different")]
    wrong = [pair for pair in clear if compare(pair.first, pair.second) != pair.expected]
    assert len(wrong) <= 0.05 * len(clear), wrong


def test_the_order_of_the_two_texts_does_not_count():
    for pair in ALL:
        assert compare(pair.first, pair.second) == compare(pair.second, pair.first)


# One change of meaning, made by machine in sentences of many kinds, is always seen.

SENTENCES = [
    "The invoices of the shop must be paid within 30 days by the branch in Graz.",
    "On Mondays the courier brings the parcels to the depot behind the station.",
    "Maria asks Tom before she signs a contract with a supplier from Norway.",
    "If the sensor fails, the pump stops and the guard calls the plant in Linz.",
    "All members of the crew should wear a helmet in hall 4 of the yard.",
    "Der Kurier bringt am Montag alle Pakete zum Lager hinter dem Bahnhof.",
    "Die Rechnung muss innerhalb von 30 Tagen an die Filiale in Graz gehen.",
    "Wenn der Sensor ausfällt, stoppt die Pumpe und der Wächter ruft Frau Berger an.",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_any_other_word_or_missing_word_is_not_the_same(sentence):
    words = sentence.split()
    free = re.compile(r"(?i)(the|a|an|der|die|das|dem|den|alle)")
    for place, word in enumerate(words):
        if free.fullmatch(word):
            continue
        for instead in ("zebra", "Zebra", "99", "not", "nicht", ""):
            changed = " ".join([*words[:place], instead, *words[place + 1 :]])
            assert compare(sentence, changed) is not Relation.SAME, changed


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("added", ["not", "never", "only", "nicht", "nur", "some", "kein", "maybe"])
def test_an_added_word_that_counts_is_not_the_same(sentence, added):
    words = sentence.split()
    for place in range(len(words) + 1):
        changed = " ".join([*words[:place], added, *words[place:]])
        assert compare(sentence, changed) is not Relation.SAME, changed


@pytest.mark.parametrize("sentence", SENTENCES)
def test_two_words_exchanged_are_not_the_same(sentence):
    words = re.sub(r"[.,]", "", sentence).split()
    small = {"the", "a", "der", "die", "das", "dem"}
    for left in range(len(words)):
        for right in range(left + 1, len(words)):
            one, other = words[left], words[right]
            if one.lower() in small or other.lower() in small or one == other:
                continue
            changed = [*words]
            changed[left], changed[right] = other, one
            said = " ".join(changed)
            assert compare(" ".join(words), said) is not Relation.SAME, said


@settings(max_examples=300, deadline=None)
@given(first=st.text(max_size=200), second=st.text(max_size=200))
def test_any_two_texts_can_be_compared(first, second):
    assert compare(first, second) == compare(second, first)
    if first.strip():
        assert compare(first, first) is Relation.SAME


def test_any_text_is_the_same_as_itself_in_capitals_and_markup():
    for pair in ALL:
        if not pair.first.startswith(("-", ">")):
            assert compare(pair.first, f"> **{pair.first}**") is Relation.SAME
        if "US" not in pair.first:  # no longer told from "us"
            assert compare(pair.first, pair.first.upper()) is Relation.SAME


HOSTILE = [
    "a ",
    ".",
    "*a ",
    "_a",
    "please ",
    "as far as i ",
    "if ",
    "1,",
    "1. x\n",
    "don't",
    "a's b",
    "\u200b",
    "不",
    "如果",
    "十",
    "周一",
    "note that ",
    "> ",
    "  ",
    "a-",
    "1 pm ",
    "on fridays ",
    "let me know if you need ",
    "A. ",
    "if a, b. ",
    "die der ",
    "from memory ",
    "The a is b. ",
]


@pytest.mark.slow
@pytest.mark.parametrize("shape", HOSTILE)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(shape):
    def seconds(times: int) -> float:
        text = shape * times
        clear_caches()
        start = time.process_time()
        compare(text, f"{text} x")
        compare(text, "We deploy on Fridays.")
        return time.process_time() - start

    short, long = (min(seconds(size) for _ in range(2)) for size in (500, 4_000))
    assert long < 24 * max(short, 0.002)  # eight times as long; a square would be 64 times


@pytest.mark.slow
def test_long_lists_of_facts_in_another_order_are_compared_in_time():
    facts = [f"The server db{n} is in hall {n % 7} of house {n % 11}." for n in range(1_000)]
    mixed = random.Random(5).sample(facts, len(facts))
    start = time.process_time()
    assert compare(" ".join(facts), " ".join(mixed)) is Relation.SAME
    assert compare(" ".join(facts), " ".join(mixed[:-1])) is not Relation.SAME
    assert time.process_time() - start < 5

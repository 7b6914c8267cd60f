"""English words without their endings, and words that say nothing in a question."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

STOP: Final = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "again",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "done",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "let",
        "me",
        "more",
        "most",
        "my",
        "myself",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "out",
        "over",
        "own",
        "please",
        "same",
        "shall",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "us",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
        "tell",
        "know",
        "anything",
        "something",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "ein",
        "eine",
        "einer",
        "eines",
        "und",
        "oder",
        "ist",
        "sind",
        "war",
        "wie",
        "was",
        "wer",
        "wo",
        "wann",
        "warum",
        "le",
        "la",
        "les",
        "un",
        "une",
        "des",
        "du",
        "de",
        "et",
        "ou",
        "est",
        "sont",
        "qui",
        "que",
        "quoi",
        "el",
        "los",
        "las",
        "una",
        "y",
        "es",
        "son",
        "por",
        "para",
    ]
)
"""Words of a question that are left out where it has others."""
_VOWEL: Final = re.compile(r"[aeiouy]")
_PLAIN: Final = re.compile(r"[a-z]{4,}")
_DOUBLE: Final = re.compile(r"([bdfgmnprt])\1$")
_MEASURE: Final = re.compile(r"[aeiouy]+[^aeiouy]+")


@lru_cache(maxsize=65_536)
def stemmed(word: str) -> str:
    """Return a word without the endings of English plurals and verb forms.

    Only lower-case ASCII words of four letters or more change, so names with digits, codes and
    other scripts stay as they are. These are the first step of M. F. Porter, "An algorithm for
    suffix stripping", Program 14 (3), 1980.
    """
    if not _PLAIN.fullmatch(word):
        return word
    word = _without_plural(word)
    word = _without_verb_ending(word)
    if word.endswith("y") and len(word) > 3 and _VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    return word


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_verb_ending(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _MEASURE.search(word[:-3]) else word
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 1 and _VOWEL.search(stem):
            return _mended(stem)
    return word


def _mended(stem: str) -> str:
    """Return what is left of a verb as the verb is written without its ending."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _DOUBLE.search(stem):
        return stem[:-1]
    short = len(_MEASURE.findall(stem)) == 1 and re.search(r"[^aeiou][aeiouy][^aeiouwxy]$", stem)
    return stem + "e" if short else stem

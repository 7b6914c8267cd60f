"""How texts are cut into words, and how lists of what was found become one; pure functions."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from memoryware.tiers._stemming import STOP, stemmed

T = TypeVar("T")

_WORD: Final = re.compile(r"[\w]+")
_STOP: Final = frozenset(map(stemmed, STOP)) | STOP
_UNSPACED: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\U00020000-\U000323af]+"
)
"""Scripts that are written without blanks."""


def words_of(text: str) -> list[str]:
    """Return the words of a text as all engines index and search them, in order, with repeats.

    Case, width, accents and the endings of English words do not count. Scripts without blanks
    give pairs of characters.
    """
    return [stemmed(one) for one in plain_words(text)]


def plain_words(text: str) -> list[str]:
    """Return the words of a text with their endings; case, width and accents do not count."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFC", plain)):
        position = 0
        for run in _UNSPACED.finditer(word):
            found += [word[position : run.start()]] if run.start() > position else []
            characters = run.group()
            found += [characters[n : n + 2] for n in range(max(1, len(characters) - 1))]
            position = run.end()
        found += [word[position:]] if position < len(word) else []
    return found


def query_words(text: str) -> list[str]:
    """Return the words of a question that are worth looking for, each once.

    Words such as "what" and "the" are left out where there are others.
    """
    every = dict.fromkeys(words_of(text))
    telling = [one for one in every if one not in _STOP]
    return telling or list(every)


@dataclass(frozen=True, slots=True)
class Found:
    """What the lists of one search say of a text.

    Attributes:
        words: Its BM25 score; None if no word of the query is in it.
        similarity: Its cosine; None if it was not measured.
        near: The best score of a neighbour, before it was lent; 0 for none.
    """

    words: float | None = None
    similarity: float | None = None
    near: float = 0.0


WORDS_WEIGHT: Final = 0.5
"""What full coverage of the query's words counts beside a cosine of 1."""
SMOOTHING: Final = 0.3
"""Share of a neighbour's score that a chunk is lent."""
FULL: Final = 6.0
"""BM25 score of one rare word: where half of what words can count is reached."""


def coverage(words: float | None) -> float:
    """Return a BM25 score as a share from 0 to 1 that does not depend on the other hits."""
    return words / (words + FULL) if words else 0.0


def fused(found: Found) -> float:
    """Return one score of what words and vectors say, from -1 to 1 and a half.

    It is absolute: what other texts score does not change it, so a text that only one list
    has found keeps what it is worth. Cosine and coverage are added; without a cosine coverage
    stands alone.
    """
    own = coverage(found.words)
    if found.similarity is None:
        return own
    return found.similarity + WORDS_WEIGHT * own


def interleaved(ranked: Sequence[T], dense: Sequence[T], every: int = 3) -> list[T]:
    """Return a ranked list in which each third place goes to the best of a second list.

    What is in both is there once; nothing is lost.
    """
    left, others, made = list(ranked), list(dense), list[T]()
    while left or others:
        source = others if others and (not left or len(made) % every == every - 1) else left
        one = source.pop(0)
        made.append(one)
        for rest in (left, others):
            if one in rest:
                rest.remove(one)
    return made


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors, from -1 to 1; 0 if one has no length."""
    lengths = math.hypot(*one) * math.hypot(*other)
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return max(-1.0, min(1.0, product / lengths)) if lengths else 0.0


SATURATION: Final = 1.2
LENGTHS: Final = 0.75
"""The parameters k1 and b of BM25, with the values that SQLite's FTS5 has."""


def bm25(words: Mapping[str, int], having: Mapping[str, int], count: int, mean: float) -> float:
    """Return the BM25 score of a text for the words of a query; above 0 if it has one.

    The rarity of a word is log(1 + (n - k + 0.5) / (k + 0.5)), which is never negative.

    Args:
        words: How often each word stands in the text.
        having: For each word of the query, in how many texts it stands.
        count: How many texts there are.
        mean: How many words a text has on average.
    """
    length, score = sum(words.values()), 0.0
    norm = SATURATION * (1 - LENGTHS + LENGTHS * length / mean) if mean else SATURATION
    for word, texts in having.items():
        often = words.get(word, 0)
        if often:
            rarity = math.log(1 + (max(count, texts) - texts + 0.5) / (texts + 0.5))
            score += rarity * often * (SATURATION + 1) / (often + norm)
    return score

"""Scores of texts: BM25 for words, cosine for vectors; pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import mul
from typing import Final, TypeVar

T = TypeVar("T")

SATURATION: Final = 1.2
LENGTHS: Final = 0.4
"""The parameters k1 and b of BM25; b is low, because what is said at length says more."""


def rarity(texts: int, count: int) -> float:
    """Return what a word counts that so many of all texts have; never negative."""
    return math.log(1 + (max(count, texts) - texts + 0.5) / (texts + 0.5))


def bm25(
    words: Mapping[str, int],
    having: Mapping[str, int],
    count: int,
    mean: float,
    length: int | None = None,
) -> float:
    """Return the BM25 score of a text for the words of a query; above 0 if it has one.

    Args:
        words: How often each word stands in the text.
        having: For each word of the query, in how many texts it stands.
        count: How many texts there are.
        mean: How many words a text has on average.
        length: How many words the text has; by default those in `words`.
    """
    length, score = sum(words.values()) if length is None else length, 0.0
    norm = SATURATION * (1 - LENGTHS + LENGTHS * length / mean) if mean else SATURATION
    for word, texts in having.items():
        often = words.get(word, 0)
        if often:
            score += rarity(texts, count) * often * (SATURATION + 1) / (often + norm)
    return score


def whole_score(having: Mapping[str, int], count: int) -> float:
    """Return about what a text scores by `bm25` that has every word of a query once."""
    return math.fsum(rarity(texts, count) for texts in having.values())


def best_first(items: Sequence[T], value: Callable[[T], float | None]) -> list[T]:
    """Return the items that have a value, the highest first; equal ones keep their order."""
    having = [(measured, one) for one in items if (measured := value(one)) is not None]
    return [one for _, one in sorted(having, key=lambda pair: -pair[0])]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors, from -1 to 1; 0 if one has no length.

    Raises:
        ValueError: If one is longer than the other.
    """
    if len(one) != len(other):
        raise ValueError(f"vectors of {len(one)} and {len(other)} dimensions have no cosine")
    left, right = math.hypot(*one), math.hypot(*other)
    if not _SMALL < left * right < _LARGE:  # their squares are no numbers that can be had
        one, other = _scaled(one), _scaled(other)
        left, right = math.hypot(*one), math.hypot(*other)
    lengths = left * right
    product = math.fsum(map(mul, one, other))
    return max(-1.0, min(1.0, product / lengths)) if lengths else 0.0


_SMALL: Final = 1e-200
_LARGE: Final = 1e200


def _scaled(vector: Sequence[float]) -> list[float]:
    most = max(map(abs, vector), default=0.0) or 1.0
    return [one / most for one in vector]

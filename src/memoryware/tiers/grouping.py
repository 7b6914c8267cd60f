"""Texts that are about the same, found by their words or by their vectors; pure functions."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import mul
from typing import Final, Generic, TypeVar

from memoryware.tiers.ranking import query_words

V = TypeVar("V")

UNRELATED: Final = (
    "A violin has four strings.",
    "Penguins cannot fly, but they swim well.",
    "Der Vulkan brach im Jahr 1902 aus.",
    "煮米饭需要二十分钟。",
)
"""Texts that no entry is about; how near a model puts them is where "unrelated" begins."""
_ABOVE: Final = 0.4
"""How far from unrelated towards equal two texts about the same are at least."""
_SHARED: Final = 0.085
"""Cosine of weighed words from which two texts are about the same."""
_BEGINNING: Final = 5
"""Characters of a word that count, so that its endings do not."""
_MANY: Final = 200
"""Vectors from which shorter ones are compared: each is held against every group."""
_BITS: Final = 9
_FOLDED: Final = 1 << (_BITS - 1)
_COPIES: Final = 4
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]")


@dataclass
class _Group(Generic[V]):
    """Places of texts that are about the same, and the sum of what they are about."""

    total: V
    length: float
    places: list[int] = field(default_factory=list)


def by_words(texts: Sequence[str]) -> list[list[int]]:
    """Return the places of texts that share their rare words, one list for each group."""
    words = [set(map(_beginning, query_words(text))) for text in texts]
    often = Counter(word for one in words for word in one)

    def weight(word: str) -> float:
        rare = math.log(1 + len(texts) / often[word])
        # Short words say little, unless they are written without blanks.
        return rare * (1 if _UNSPACED.search(word) else min(1, len(word) / _BEGINNING))

    vectors = [_unit({word: weight(word) for word in sorted(one)}) for one in words]
    return _grouped(vectors, _sparse, _merged, _SHARED)


def by_vectors(
    vectors: Sequence[Sequence[float]], unrelated: Sequence[Sequence[float]]
) -> list[list[int]]:
    """Return the places of texts whose vectors are near each other, one list for each group.

    Args:
        vectors: Of the texts.
        unrelated: Of `UNRELATED`, by the same model.
    """
    fold = _folded if len(vectors) > _MANY else list[float]
    units = [_normal(fold(one)) for one in vectors]
    others = [_normal(fold(one)) for one in unrelated]
    apart = [_dense(one, other) for one in units for other in others]
    start = min(0.95, max(0.0, sum(apart) / len(apart))) if apart else 0.0
    return _grouped(units, _dense, _added, start + _ABOVE * (1 - start))


def _grouped(
    vectors: Sequence[V],
    product: Callable[[V, V], float],
    merged: Callable[[V, V], V],
    least: float,
) -> list[list[int]]:
    """Put each text into the group whose middle is nearest, or into one of its own."""
    groups: list[_Group[V]] = []
    for place, vector in enumerate(vectors):
        near = ((product(vector, one.total) / one.length, one) for one in groups)
        value, best = max(near, key=lambda pair: pair[0], default=(0.0, None))
        if best is None or value < least:
            groups.append(_Group(vector, _length(vector, product), [place]))
        else:
            best.total = merged(best.total, vector)
            best.length = _length(best.total, product)
            best.places.append(place)
    return [one.places for one in groups]


def _beginning(word: str) -> str:
    """Return what counts of a word: all of one with a number, which is a name."""
    return word if any(map(str.isdigit, word)) else word[:_BEGINNING]


def _length(vector: V, product: Callable[[V, V], float]) -> float:
    return math.sqrt(product(vector, vector)) or 1.0


def _unit(vector: Mapping[str, float]) -> Mapping[str, float]:
    length = math.sqrt(sum(one * one for one in vector.values())) or 1.0
    return {word: one / length for word, one in vector.items()}


def _sparse(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    fewer, more = (one, other) if len(one) <= len(other) else (other, one)
    return sum(value * more.get(word, 0.0) for word, value in fewer.items())


def _merged(one: Mapping[str, float], other: Mapping[str, float]) -> Mapping[str, float]:
    return {word: one.get(word, 0.0) + other.get(word, 0.0) for word in {**one, **other}}


def _normal(vector: Sequence[float]) -> Sequence[float]:
    length = math.hypot(*vector) or 1.0
    return [one / length for one in vector]


def _folded(vector: Sequence[float]) -> list[float]:
    """Return a shorter vector; cosines of such vectors are nearly those of the long ones."""
    if len(vector) <= _FOLDED:
        return list(vector)
    made = [0.0] * _FOLDED
    for one, places in zip(vector, _places(len(vector)), strict=True):
        for place in places:
            made[place >> 1] += one if place & 1 else -one
    return made


@cache
def _places(length: int) -> tuple[tuple[int, ...], ...]:
    """Return where each number of a long vector goes in the short one, and with which sign."""
    dice = random.Random(length)  # noqa: S311 - the same for every vector, and no secret
    return tuple(tuple(dice.getrandbits(_BITS) for _ in range(_COPIES)) for _ in range(length))


def _dense(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(map(mul, one, other), 0.0)


def _added(one: Sequence[float], other: Sequence[float]) -> Sequence[float]:
    return [a + b for a, b in zip(one, other, strict=True)]

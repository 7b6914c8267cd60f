"""Scores of texts: BM25 for words, cosine for vectors; pure functions."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import mul
from typing import Any, Final, TypeVar

T = TypeVar("T")

SATURATION: Final = 1.2
LENGTHS: Final = 0.4
"""The parameters k1 and b of BM25; b is low, because longer texts of a memory say more."""


def rarity(texts: int, count: int) -> float:
    """Return the inverse document frequency of a word; never negative.

    Args:
        texts: In how many texts the word is.
        count: How many texts there are.

    Returns:
        The weight of the word in BM25.
    """
    return math.log(1 + (max(count, texts) - texts + 0.5) / (texts + 0.5))


def length_norm(length: Any, mean: float) -> Any:
    """Return the length normalisation of BM25.

    Args:
        length: The words of a text, or an array of such counts.
        mean: The words of a text on average; 0 if there are no texts.

    Returns:
        The norm, a number or an array as `length` is.
    """
    return SATURATION * (1 - LENGTHS + LENGTHS * length / mean) if mean else SATURATION


def term_score(rare: float, often: Any, norm: Any) -> Any:
    """Return what one word adds to the BM25 score of a text.

    Args:
        rare: The `rarity` of the word.
        often: How often the text has it, or an array of such counts.
        norm: The `length_norm` of the text, or of each text.

    Returns:
        The score, a number or an array as `often` is.
    """
    return rare * often * (SATURATION + 1) / (often + norm)


def text_score(
    rarities: Sequence[float], counts: Sequence[float], size: float, mean: float
) -> float:
    """Return the BM25 score of one text; 0 if it has no word of the query.

    Args:
        rarities: The `rarity` of each word of the query.
        counts: How often the text has each of them.
        size: How many words the text has.
        mean: How many words a text has on average.

    Returns:
        The score.
    """
    norm, score = length_norm(size, mean), 0.0
    for rare, often in zip(rarities, counts, strict=True):
        if often:
            score += term_score(rare, often, norm)
    return score


def column_scores(rarities: Sequence[float], counts: Sequence[Any], sizes: Any, mean: float) -> Any:
    """Return the BM25 scores of many texts as an array, each as `text_score` returns it.

    Args:
        rarities: The `rarity` of each word of the query.
        counts: For each of them an array: how often each text has it.
        sizes: How many words each text has, as an array.
        mean: How many words a text has on average.

    Returns:
        The scores as an array.
    """
    norms, scores = length_norm(sizes, mean), sizes * 0.0
    for rare, column in zip(rarities, counts, strict=True):
        scores += term_score(rare, column, norms)
    return scores


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

    Returns:
        The score.
    """
    size = sum(words.values()) if length is None else length
    present = [
        (rarity(texts, count), words[word]) for word, texts in having.items() if word in words
    ]
    return text_score([rare for rare, _ in present], [often for _, often in present], size, mean)


def bm25_scores(
    counts: Sequence[Any], sizes: Any, having: Sequence[int], count: int, mean: float
) -> list[float]:
    """Return the BM25 score of each of many texts, the same as `bm25` returns for each.

    Args:
        counts: For each word of the query, how often each text has it: lists, or NumPy arrays.
        sizes: How many words each text has: a list, or an array if the counts are arrays.
        having: For each word of the query, in how many texts it stands.
        count: How many texts there are.
        mean: How many words a text has on average.

    Returns:
        The scores, in the order of the texts.
    """
    if not len(sizes):
        return []
    rarities = [rarity(texts, count) for texts in having]
    if hasattr(sizes, "dtype"):
        return list(column_scores(rarities, counts, sizes, mean).tolist())
    texts = zip(*counts, strict=True) if counts else [()] * len(sizes)
    return [text_score(rarities, own, size, mean) for own, size in zip(texts, sizes, strict=True)]


def whole_score(having: Mapping[str, int], count: int) -> float:
    """Return about what a text scores by `bm25` that has every word of a query once.

    Args:
        having: For each word of the query, in how many texts it stands.
        count: How many texts there are.

    Returns:
        The score.
    """
    return math.fsum(rarity(texts, count) for texts in having.values())


def best_first(items: Sequence[T], value: Callable[[T], float | None]) -> list[T]:
    """Return the items that have a value, highest first; equal ones keep their order.

    Args:
        items: The items.
        value: Returns the value of an item, None for none.

    Returns:
        The items.
    """
    having = [(score, item) for item in items if (score := value(item)) is not None]
    return [item for _, item in sorted(having, key=lambda pair: -pair[0])]


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the cosine of two vectors, from -1 to 1; 0 if one has no length.

    Args:
        first: A vector.
        second: Another vector.

    Returns:
        The cosine.

    Raises:
        ValueError: If the vectors have different dimensions.
    """
    if len(first) != len(second):
        raise ValueError(f"vectors of {len(first)} and {len(second)} dimensions have no cosine")
    # `hypot` scales its arguments: the squares of numbers above 1e154 would overflow.
    left, right = math.hypot(*first), math.hypot(*second)
    if not _SMALL < left * right < _LARGE:  # their squares would be 0 or infinite
        first, second = _scaled(first), _scaled(second)
        left, right = math.hypot(*first), math.hypot(*second)
    lengths = left * right
    product = math.fsum(map(mul, first, second))
    return max(-1.0, min(1.0, product / lengths)) if lengths else 0.0


_SMALL: Final = 1e-200
_LARGE: Final = 1e200


def _scaled(vector: Sequence[float]) -> list[float]:
    most = max(map(abs, vector), default=0.0) or 1.0
    return [number / most for number in vector]


def cosine_table(
    left: Sequence[Sequence[float] | None], right: Sequence[Sequence[float] | None]
) -> list[list[float | None]]:
    """Return the cosine of each vector with each of others.

    Args:
        left: Vectors, which get a row each; None is a text without one.
        right: Vectors, which get a column each.

    Returns:
        The cosines as by `cosine`, up to rounding; None where a vector is missing or two have
        different lengths.
    """
    lengths = {len(vector) for vector in (*left, *right) if vector is not None}
    if len(lengths) == 1 and (table := _dense_table(left, right, lengths.pop())) is not None:
        return table
    return [
        [
            None
            if first is None or other is None or len(first) != len(other)
            else cosine(first, other)
            for other in right
        ]
        for first in left
    ]


def _dense_table(
    left: Sequence[Sequence[float] | None],
    right: Sequence[Sequence[float] | None],
    length: int,
) -> list[list[float | None]] | None:
    """Return the cosines by NumPy; None without it, or where squares leave the range of floats."""
    try:
        import numpy as np
    except ImportError:
        return None
    ours = [vector for vector in left if vector is not None]
    theirs = [vector for vector in right if vector is not None]
    if not ours or not theirs or not length:
        return [[None] * len(right) for _ in left]
    first, second = _matrix(ours, length), _matrix(theirs, length)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.outer(
            np.einsum("ik,ik->i", first, first), np.einsum("ik,ik->i", second, second)
        )
        if not (squares.min() > _SMALL and squares.max() < _LARGE):
            return None
        # Not `one @ other.T`: BLAS rounds equal rows differently, by where they stand.
        near = np.einsum("ik,jk->ij", first, second) / np.sqrt(squares)
    near = np.minimum(np.maximum(near, -1.0), 1.0)
    rows: Iterator[list[float]] = iter(near.tolist())
    if len(theirs) == len(right):
        return [[None] * len(right) if vector is None else [*next(rows)] for vector in left]
    table: list[list[float | None]] = []
    for vector in left:
        row = iter(()) if vector is None else iter(next(rows))
        table.append([None if second is None else next(row, None) for second in right])
    return table


def _matrix(vectors: Sequence[Sequence[float]], length: int) -> Any:
    """Return vectors as the rows of a matrix."""
    import numpy as np

    if {*map(type, vectors)} == {array} and vectors[0].typecode == "d":  # type: ignore[attr-defined]
        # Ten times as fast as `np.array`, which asks each vector what it is.
        return np.frombuffer(b"".join(vectors), "f8").reshape(len(vectors), length)  # type: ignore[arg-type]
    return np.array([[*vector] for vector in vectors], "f8")

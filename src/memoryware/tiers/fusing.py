"""What words, meaning and neighbours say of texts, as one score; pure functions.

The score is absolute: what other lists hold does not rescale it, so a text that only one of
them has found keeps what it is worth. The weights are in `settings.Ranking`; how they were
found stands on the page "Measured".
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import add
from typing import Final, TypeVar

from memoryware.settings import Ranking
from memoryware.tiers.scoring import LENGTHS, SATURATION, rarity
from memoryware.tiers.stores.sight import Seen, Sight

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """Word statistics of a set of texts, from which the rarity of a query's words is computed.

    Attributes:
        having: For each word of the query, in how many texts it stands.
        count: How many texts there are.
        words: How many words they have together.
    """

    having: tuple[int, ...] = ()
    count: int = 0
    words: float = 0.0

    @classmethod
    def of(cls, sight: Sight) -> WordStatistics:
        """Return the statistics that a search reports."""
        return cls(sight.having, sight.count, sight.mean * sight.count)

    @property
    def mean(self) -> float:
        """Words of one text on average."""
        return self.words / self.count if self.count else 0.0

    def with_more(self, other: WordStatistics) -> WordStatistics:
        """Return the statistics of both sets of texts together, for the same query."""
        if not self.count or not other.count:
            return self if self.count else other
        having = tuple(map(add, self.having, other.having))
        return WordStatistics(having, self.count + other.count, self.words + other.words)


@dataclass(frozen=True, slots=True)
class Found:
    """What one search says of a text.

    Attributes:
        words: Its BM25 score; None if it has no word of the query.
        coverage: That as a share of what a text scores that has every word once; a text that
            repeats them can have more than 1.
        around: The same with the words of its neighbours, which count less.
        similarity: Its cosine; None if it was not measured.
        near: The mean cosine of it and its neighbours, which count less.
        outstanding: How far its cosine is above that of the next ones.
    """

    words: float | None = None
    coverage: float = 0.0
    around: float = 0.0
    similarity: float | None = None
    near: float | None = None
    outstanding: float = 0.0


def judged(sight: Sight, rules: Ranking, corpus: WordStatistics | None = None) -> list[Found]:
    """Return what is found out about everything that a search sees, in its order.

    Args:
        sight: What the search sees.
        rules: The weights.
        corpus: The statistics that say how rare a word is; by default those of the sight. Two
            searches whose scores are compared need the same.
    """
    corpus = corpus or WordStatistics.of(sight)
    mean = corpus.mean
    rarities = [rarity(texts, corpus.count) for texts in corpus.having]
    whole = math.fsum(rarities)
    level, steps = _level(sight, rules), rules.steps
    found = []
    for run in _runs(sight.seen):
        for place, one in enumerate(run):
            own = _bm25(one.counts, one.size, rarities, mean)
            similarity = one.similarity
            around, near = own, similarity
            if len(run) > 1:
                around = _around(run, place, rarities, mean, steps)
                near = _near(run, place, rules)
            found.append(
                Found(
                    words=own or None,
                    coverage=own / whole if whole else 0.0,
                    around=around / (whole or 1.0),
                    similarity=similarity,
                    near=near,
                    outstanding=max(0.0, similarity - level) if similarity is not None else 0.0,
                )
            )
    return found


def fused(found: Found, rules: Ranking, *, vectors: bool) -> float:
    """Return what words and meaning say together; about 1 is a text that has all of both.

    Args:
        found: What was found out.
        rules: The weights.
        vectors: Whether this search measures meaning at all; without, words stand alone.
    """
    if not vectors:
        return found.around
    near = rules.unmeasured * min(1.0, found.around) if found.near is None else found.near
    said = rules.meaning * near + rules.words * found.around
    return (said + rules.outstanding * found.outstanding) / _unit(rules, vectors=True)


def share_of(weight: float, rules: Ranking, *, vectors: bool) -> float:
    """Return what a weight beside those of words and meaning adds to a score."""
    return weight / _unit(rules, vectors=vectors)


def _unit(rules: Ranking, *, vectors: bool) -> float:
    return (rules.words + (rules.meaning if vectors else 0.0)) or 1.0


def _level(sight: Sight, rules: Ranking) -> float:
    """Return the cosine above which a text stands out: that of the one at a set rank."""
    measured = [one.similarity for one in sight.seen if one.similarity is not None]
    if len(measured) < rules.compared:
        return math.inf  # nothing stands out among so few
    return heapq.nlargest(rules.compared, measured)[-1]


def _runs(seen: Sequence[Seen]) -> Iterator[Sequence[Seen]]:
    """Yield what stands side by side."""
    start = 0
    for place in range(1, len(seen) + 1):
        if place == len(seen) or not seen[place].follows:
            yield seen[start:place]
            start = place


def _around(
    run: Sequence[Seen],
    place: int,
    rarities: Sequence[float],
    mean: float,
    steps: Sequence[tuple[int, float]],
) -> float:
    """Return the BM25 score of a text together with its neighbours.

    A word in a neighbour counts as a part of one in the text; the length is the weighted mean
    of theirs, so that a text without neighbours is worth what it is by itself.
    """
    counts: list[float] = [*run[place].counts]
    size, present = float(run[place].size), 1.0
    for step, weight in steps:
        if 0 <= place + step < len(run):
            other = run[place + step]
            size, present = size + weight * other.size, present + weight
            for at, often in enumerate(other.counts):
                if often:
                    counts[at] += weight * often
    return _bm25(counts, size / present, rarities, mean)


def _bm25(counts: Sequence[float], size: float, rarities: Sequence[float], mean: float) -> float:
    if not any(counts):
        return 0.0
    norm = SATURATION * (1 - LENGTHS + LENGTHS * size / mean) if mean else SATURATION
    return math.fsum(
        rare * often * (SATURATION + 1) / (often + norm)
        for rare, often in zip(rarities, counts, strict=True)
        if often
    )


def _near(run: Sequence[Seen], place: int, rules: Ranking) -> float | None:
    own = run[place].similarity
    if own is None:
        return None
    total, present = own, 1.0
    for at in (place - 1, place + 1):
        beside = run[at].similarity if 0 <= at < len(run) else None
        if beside is not None:
            total, present = total + rules.beside * beside, present + rules.beside
    return total / present


def with_places(ranked: Sequence[T], other: Sequence[T], is_kept: Callable[[int], bool]) -> list[T]:
    """Return all of a ranked list, with some of the places for the best of another list.

    Args:
        ranked: All items, best first.
        other: Some of them, best first in another way.
        is_kept: Says of a place, from 0, whether it is for the best of the other list that has
            no place yet.
    """
    waiting = [iter(ranked), iter(other)]
    placed: dict[int, T] = {}
    while len(placed) < len(ranked):
        lists = waiting[::-1] if is_kept(len(placed)) else waiting[:1]
        following = next(one for some in lists for one in some if id(one) not in placed)
        placed[id(following)] = following
    return list(placed.values())


def kept_places(rules: Ranking, *, scarce: bool) -> Callable[[int], bool]:
    """Return what says of a place, from 0, whether it is kept for the nearest in meaning.

    Args:
        rules: Which places are kept.
        scarce: Whether no text has much of what the query says.
    """

    def is_kept(place: int) -> bool:
        if place < _FIRST:
            return scarce and place + 1 in rules.kept_places
        every = min(rules.kept_later, 2) if scarce else rules.kept_later
        return every > 0 and place % every == every - 1

    return is_kept


_FIRST: Final = 10
"""Places that are kept for meaning only where words are scarce."""

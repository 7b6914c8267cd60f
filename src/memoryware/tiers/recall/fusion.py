"""Fuse words, meaning and neighbours into one score for each text of a search; pure functions.

The score is absolute: other lists do not rescale it, so a text that only one of them has keeps
what it is worth. The weights are in `settings.Ranking`; the page "Measured" says how they were
found.

A search that returns columns (`CandidateColumns`) is scored with NumPy, any other one text by text.
Both ways take the same steps in the same order, so their results are equal to the last bit.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import add
from typing import Any, Final, NamedTuple, TypeVar, overload

from memoryware.settings import Ranking
from memoryware.tiers.scoring import column_scores, rarity, text_score
from memoryware.tiers.stores.protocol import CandidateColumns, SearchCandidate, SearchView

T = TypeVar("T")


class WordStatistics(NamedTuple):
    """Word statistics of a set of texts, from which the rarity of a query's words is computed.

    Attributes:
        having: For each word of the query, how many texts have it.
        size: The number of texts.
        words: The number of words of all of them together.
    """

    having: tuple[int, ...] = ()
    size: int = 0
    words: float = 0.0

    @classmethod
    def of(cls, view: SearchView) -> WordStatistics:
        """Return the statistics that a search reports.

        Args:
            view: What the search sees.

        Returns:
            The statistics.
        """
        return cls(view.having, view.count, view.mean * view.count)

    @property
    def mean(self) -> float:
        """Words of one text on average."""
        return self.words / self.size if self.size else 0.0

    def with_more(self, other: WordStatistics) -> WordStatistics:
        """Return the statistics of both sets of texts together, for the same query.

        Args:
            other: The statistics of the other set.

        Returns:
            The statistics.
        """
        if not self.size or not other.size:
            return self if self.size else other
        having = tuple(map(add, self.having, other.having))
        return WordStatistics(having, self.size + other.size, self.words + other.words)


NO_WORDS: Final = WordStatistics()
"""Statistics of no texts."""


class Match(NamedTuple):
    """How well a text matches a query.

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


NO_MATCH: Final = Match()
"""A text of which nothing matches."""


class Matches(Sequence[Match]):
    """How well each text that a search sees matches its query, in the order of the view.

    They are columns, because a search sees hundreds of texts and reads some tens of them.
    """

    def __init__(self, rules: Ranking, columns: Sequence[Any]) -> None:
        """Keep the columns: lists, or arrays in which NaN stands for None.

        Args:
            rules: The weights.
            columns: One for each attribute of `Match`.
        """
        self._rules = rules
        self._columns = columns
        self._scores: Any = None

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, position: int) -> Match: ...
    @overload
    def __getitem__(self, position: slice) -> list[Match]: ...
    def __getitem__(self, position: int | slice) -> Match | list[Match]:
        if isinstance(position, slice):
            return [self[at] for at in range(len(self))[position]]
        return Match(*[column[position] for column in self._lists])

    def at(self, positions: Sequence[int]) -> list[Match]:
        """Return the matches at some positions.

        Args:
            positions: The positions in the order of the view.

        Returns:
            The matches, in the order of the positions.
        """
        if isinstance(self._columns[0], list):
            return [Match(*[column[at] for column in self._columns]) for at in positions]
        chosen = [column[positions].tolist() for column in self._columns]
        return list(map(Match._make, zip(*_with_none(chosen), strict=True)))

    @property
    def coverage(self) -> float:
        """The largest share of the query's words that any of the texts has."""
        coverage = self._columns[1]
        if isinstance(coverage, list):
            return max(coverage, default=0.0)
        return float(coverage.max()) if len(coverage) else 0.0

    @property
    def has_words(self) -> bool:
        """Whether any of the texts has a word of the query."""
        words = self._columns[0]
        if isinstance(words, list):
            return any(words)
        return bool((words > 0).any())

    def scores(self, *, vectors: bool) -> list[float]:
        """Return the score of each text; see `fused`.

        Args:
            vectors: Whether this recall compares anything by meaning.

        Returns:
            The scores, in the order of the view.
        """
        scores = self._fused(vectors=vectors)
        return scores if isinstance(scores, list) else scores.tolist()

    def best(self, *, vectors: bool) -> list[int]:
        """Return all positions, best score first; of equal scores the last one, the newest.

        Args:
            vectors: Whether this recall compares anything by meaning.

        Returns:
            The positions.
        """
        scores = self._fused(vectors=vectors)
        if isinstance(scores, list):
            return sorted(range(len(scores)), key=lambda position: (-scores[position], -position))
        # A stable sort of the reversed array, read backwards, keeps the last of equal ones first.
        best: list[int] = scores.argsort(kind="stable")[::-1].tolist()
        return best

    def nearest(self, most: int) -> list[int]:
        """Return the positions with the highest cosines; of equal cosines the last position first.

        Args:
            most: How many at most.

        Returns:
            The positions; texts without a cosine are left out.
        """
        similarity = self._columns[3]
        if isinstance(similarity, list):
            measured = [at for at, value in enumerate(similarity) if value is not None]
            return heapq.nlargest(most, measured, key=lambda at: (similarity[at], at))
        positions = similarity.argsort(kind="stable")  # NaN is sorted to the end
        count = int((similarity == similarity).sum())  # noqa: PLR0124 - NaN is not equal to itself
        best: list[int] = positions[max(0, count - most) : count][::-1].tolist()
        return best

    def are_as_near(self, position: int, other: int) -> bool:
        """Return whether two texts have the same cosine.

        Args:
            position: The position of a text.
            other: That of another.

        Returns:
            Whether the cosines are equal.
        """
        similarity = self._columns[3]
        return bool(similarity[position] == similarity[other])

    @property
    def are_all_related(self) -> bool:
        """Whether all of the texts have a word of the query, beside them too, or a cosine."""
        around, similarity = self._columns[2], self._columns[3]
        if isinstance(around, list):
            return all(
                words > 0 or near is not None
                for words, near in zip(around, similarity, strict=True)
            )
        return bool(((similarity == similarity) | (around > 0)).all())  # noqa: PLR0124

    def contenders(self, least: Any, most: Any, count: int, *, vectors: bool) -> list[int]:
        """Return the positions of all texts that can be among the best, where scores are arrays.

        Args:
            least: How far the score of each text moves at least, as an array.
            most: How far it moves at most.
            count: How many are the best.
            vectors: Whether this recall compares anything by meaning.

        Returns:
            The positions.
        """
        scores = self._fused(vectors=vectors)
        if len(scores) <= count:
            return list(range(len(scores)))
        lowest = scores + least
        lowest.partition(len(scores) - count)
        bound = lowest[len(scores) - count] - _ROUNDING
        positions: list[int] = (scores + most >= bound).nonzero()[0].tolist()
        return positions

    def _fused(self, *, vectors: bool) -> Any:
        """Return the scores, as a list or an array, as the columns are."""
        if not vectors:
            return self._columns[2]
        if self._scores is None:
            if isinstance(self._columns[0], list):
                matches = self.at(range(len(self)))
                self._scores = fused_all(matches, self._rules, vectors=True)
            else:
                self._scores = self._fused_columns()
        return self._scores

    def _fused_columns(self) -> Any:
        import numpy as np

        rules = self._rules
        _, _, around, _, near, outstanding = self._columns
        unmeasured = rules.unmeasured * np.minimum(1.0, around)
        near = np.where(np.isnan(near), unmeasured, near)
        both = rules.meaning * near + rules.words * around
        return (both + rules.outstanding * outstanding) / unit_of(rules, vectors=True)

    @cached_property
    def _lists(self) -> Sequence[list[Any]]:
        if isinstance(self._columns[0], list):
            return self._columns
        return _with_none([column.tolist() for column in self._columns])


_ROUNDING: Final = 1e-9
"""More than scores differ by that are added up in another order."""
_NULLABLE: Final = (0, 3, 4)
"""Columns of `Match` that may have None."""


def _with_none(lists: list[list[Any]]) -> list[list[Any]]:
    """Put None in place of NaN in the columns that may have it."""
    for at in _NULLABLE:
        lists[at] = [None if value != value else value for value in lists[at]]  # noqa: PLR0124
    return lists


def judge(view: SearchView, rules: Ranking, corpus: WordStatistics | None = None) -> Matches:
    """Return how well everything that a search sees matches its query.

    Args:
        view: What the search sees.
        rules: The weights.
        corpus: The statistics that say how rare a word is; by default those of the view. Two
            searches whose scores are compared need the same.

    Returns:
        A match for each text, in the order of the view.
    """
    corpus = corpus or WordStatistics.of(view)
    rarities = [rarity(texts, corpus.size) for texts in corpus.having]
    if isinstance(view.candidates, CandidateColumns):
        return Matches(rules, _judged_columns(view.candidates, rules, rarities, corpus.mean))
    return Matches(rules, _judged(view.candidates, rules, rarities, corpus.mean))


def fused(match: Match, rules: Ranking, *, vectors: bool) -> float:
    """Return the score of a match from words and meaning; about 1 is a text that has all of both.

    Args:
        match: How well the text matches.
        rules: The weights.
        vectors: Whether this search measures meaning at all; without, words stand alone.

    Returns:
        The score.
    """
    return fused_all([match], rules, vectors=vectors)[0]


def fused_all(matches: Iterable[Match], rules: Ranking, *, vectors: bool) -> list[float]:
    """Return the score of each text; see `fused`.

    Args:
        matches: The matches.
        rules: The weights of the ranking.
        vectors: Whether this recall compares anything by meaning.

    Returns:
        The scores, in the order of the matches.
    """
    if not vectors:
        return [match.around for match in matches]
    meaning, words, outstanding = rules.meaning, rules.words, rules.outstanding
    unmeasured, unit = rules.unmeasured, unit_of(rules, vectors=True)
    scores = []
    for _, _, around, _, near, above in matches:
        if near is None:
            near = unmeasured * min(1.0, around)  # noqa: PLW2901 - what it is taken to have
        both = meaning * near + words * around
        scores.append((both + outstanding * above) / unit)
    return scores


def share_of(weight: float, rules: Ranking, *, vectors: bool) -> float:
    """Return what a weight adds to a score, beside the weights of words and meaning.

    Args:
        weight: The weight.
        rules: The weights of the ranking.
        vectors: Whether this recall compares anything by meaning.

    Returns:
        The share.
    """
    return weight / unit_of(rules, vectors=vectors)


def unit_of(rules: Ranking, *, vectors: bool) -> float:
    """Return the sum of the weights of words and meaning, by which every score is divided.

    Args:
        rules: The weights of the ranking.
        vectors: Whether this recall compares anything by meaning.

    Returns:
        The sum, 1 if all of them are 0.
    """
    return (rules.words + (rules.meaning if vectors else 0.0)) or 1.0


# Text by text.


def _judged(
    candidates: Sequence[SearchCandidate], rules: Ranking, rarities: Sequence[float], mean: float
) -> list[list[Any]]:
    """Return the columns of the matches, as lists."""
    whole = _sum(rarities) or 1.0
    level, steps = _level(candidates, rules), rules.steps
    columns: list[list[Any]] = [[] for _ in Match._fields]
    add_words, add_coverage, add_around, add_similarity, add_near, add_outstanding = (
        column.append for column in columns
    )
    for run in _runs(candidates):
        for position, text in enumerate(run):
            own = text_score(rarities, text.counts, text.size, mean)
            similarity = text.similarity
            around, near = own, similarity
            if len(run) > 1:
                around = _around(run, position, rarities, mean, steps)
                near = _near(run, position, rules)
            add_words(own or None)
            add_coverage(own / whole)
            add_around(around / whole)
            add_similarity(similarity)
            add_near(near)
            add_outstanding(max(0.0, similarity - level) if similarity is not None else 0.0)
    return columns


def _sum(numbers: Sequence[float]) -> float:
    """Return the sum, added in order: `sum` of newer Pythons corrects rounding, NumPy does not."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _level(candidates: Sequence[SearchCandidate], rules: Ranking) -> float:
    """Return the baseline similarity: the cosine at the rank `compared`."""
    measured = [text.similarity for text in candidates if text.similarity is not None]
    if len(measured) < rules.compared:
        return math.inf  # nothing stands out among so few
    return heapq.nlargest(rules.compared, measured)[-1]


def _runs(candidates: Sequence[SearchCandidate]) -> Iterator[Sequence[SearchCandidate]]:
    """Yield sequences of texts that follow each other in one thread."""
    start = 0
    for position in range(1, len(candidates) + 1):
        if position == len(candidates) or not candidates[position].follows:
            yield candidates[start:position]
            start = position


def _around(
    run: Sequence[SearchCandidate],
    position: int,
    rarities: Sequence[float],
    mean: float,
    steps: Sequence[tuple[int, float]],
) -> float:
    """Return the BM25 score of a text together with its neighbours.

    A word in a neighbour counts as a part of one in the text; the length is the weighted mean
    of theirs, so that a text without neighbours is worth what it is by itself.
    """
    counts: list[float] = [*run[position].counts]
    size, present = float(run[position].size), 1.0
    for step, weight in steps:
        if 0 <= position + step < len(run):
            other = run[position + step]
            size, present = size + weight * other.size, present + weight
            for at, often in enumerate(other.counts):
                if often:
                    counts[at] += weight * often
    return text_score(rarities, counts, size / present, mean)


def _near(run: Sequence[SearchCandidate], position: int, rules: Ranking) -> float | None:
    own = run[position].similarity
    if own is None:
        return None
    total, present = own, 1.0
    for at in (position - 1, position + 1):
        beside = run[at].similarity if 0 <= at < len(run) else None
        if beside is not None:
            total, present = total + rules.beside * beside, present + rules.beside
    return total / present


# All texts at once.


def _judged_columns(
    columns: CandidateColumns, rules: Ranking, rarities: Sequence[float], mean: float
) -> list[Any]:
    """Return the columns of the matches, as arrays; NaN stands for None."""
    import numpy as np

    whole = _sum(rarities) or 1.0
    sizes = np.asarray(columns.sizes, "f8")
    counts = [np.asarray(column, "f8") for column in columns.counts]
    similarity = columns.similarities
    if similarity is None:
        similarity = np.full(len(sizes), np.nan)
    own = column_scores(rarities, counts, sizes, mean)
    around, near = own, similarity
    if columns.follows is not None and columns.follows.any():
        run = np.cumsum(~columns.follows)
        around = _around_columns(counts, sizes, run, (rules.steps, rarities, mean))
        near = _near_columns(similarity, run, rules)
    measured = similarity[~np.isnan(similarity)]
    level = math.inf
    if len(measured) >= rules.compared:
        at = len(measured) - rules.compared
        level = np.partition(measured, at)[at]
    outstanding = np.fmax(0.0, similarity - level)  # of NaN and a number the number
    words = np.where(own > 0, own, np.nan)
    return [words, own / whole, around / whole, similarity, near, outstanding]


def _around_columns(
    counts: Sequence[Any],
    sizes: Any,
    run: Any,
    weights: tuple[Sequence[tuple[int, float]], Sequence[float], float],
) -> Any:
    """Return what `_around` returns, of all texts.

    Args:
        counts: For each word of the query how often each text has it.
        sizes: The words of each text.
        run: A number for each text, which those of one run share.
        weights: The steps to neighbours, the rarities and the mean size.
    """
    import numpy as np

    steps, rarities, mean = weights
    size, present = sizes.copy(), np.ones(len(sizes))
    around = [column.copy() for column in counts]
    for step, weight in steps:
        if abs(step) >= len(run):
            continue
        here, there = _shifted(step)
        same = run[here] == run[there]
        size[here] += np.where(same, weight * sizes[there], 0.0)
        present[here] += np.where(same, weight, 0.0)
        for column, own in zip(around, counts, strict=True):
            column[here] += np.where(same, weight * own[there], 0.0)
    return column_scores(rarities, around, size / present, mean)


def _shifted(step: int) -> tuple[slice, slice]:
    """Return the places that have a neighbour so many steps away, and those neighbours."""
    if step > 0:
        return slice(None, -step), slice(step, None)
    return slice(-step, None), slice(None, step)


def _near_columns(similarity: Any, run: Any, rules: Ranking) -> Any:
    import numpy as np

    total, present = similarity.copy(), np.ones(len(similarity))
    for step in (-1, 1):
        here, there = _shifted(step)
        beside = similarity[there]
        counts = (run[here] == run[there]) & ~np.isnan(beside)
        total[here] += np.where(counts, rules.beside * beside, 0.0)
        present[here] += np.where(counts, rules.beside, 0.0)
    return total / present


# Places.


def with_places(ranked: Sequence[T], other: Sequence[T], reserved: Iterable[int]) -> list[T]:
    """Return all of a ranked list, with some of the places for the best of another list.

    Args:
        ranked: All items, best first.
        other: Some of them, best first in another way.
        reserved: The places, from 0 and in order, that are for the best of the other list that has
            no place yet.

    Returns:
        The items in their new order.
    """
    first, second = iter(ranked), iter(other)
    placed: list[T] = []
    ids: set[int] = set()
    for position in reserved:
        if position >= len(ranked):
            break
        missing = position - len(placed)
        for item in first if missing else ():
            if id(item) not in ids:
                placed.append(item)
                ids.add(id(item))
                missing -= 1
                if not missing:
                    break
        for item in second:
            if id(item) not in ids:
                placed.append(item)
                ids.add(id(item))
                break
        else:
            break
    placed += [item for item in first if id(item) not in ids]
    return placed


def kept_places(rules: Ranking, *, scarce: bool, count: int) -> list[int]:
    """Return the places, from 0 and in order, that are kept for the nearest in meaning.

    Args:
        rules: Which places are kept.
        scarce: Whether no text has much of what the query says.
        count: How many places there are.

    Returns:
        The positions.
    """
    if not rules.kept_places:
        return []
    reserved: list[int] = []
    if scarce:
        reserved = [
            position - 1 for position in sorted({*rules.kept_places}) if position <= _FIRST_LATER
        ]
    every = min(rules.kept_later, 2) if scarce else rules.kept_later
    if every > 0:
        start = _FIRST_LATER + (every - 1 - _FIRST_LATER) % every
        reserved += range(start, count, every)
    return [position for position in reserved if position < count]


_FIRST_LATER: Final = 10
"""Places before this one are kept for meaning only where words are scarce."""

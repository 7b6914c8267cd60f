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
from typing import Any, Final, NamedTuple, overload

from memoryware.settings import Ranking
from memoryware.tiers.scoring import column_scores, rarity, text_score
from memoryware.tiers.stores.protocol import CandidateColumns, SearchCandidate, SearchView


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
        around: Its score with the words of its neighbours, which count less, as a share of what a
            text scores that has every word once; a text that repeats them can have more than 1.
        similarity: Its cosine; None if it was not measured.
        near: The mean cosine of it and its neighbours, which count less.
        outstanding: How far its cosine is above that of the next ones.
        size: The number of its index terms.
        shared: How many different words of the query it has, those of its neighbours counting less.
    """

    words: float | None = None
    around: float = 0.0
    similarity: float | None = None
    near: float | None = None
    outstanding: float = 0.0
    size: float = 0.0
    shared: float = 0.0


NO_MATCH: Final = Match()
"""A text of which nothing matches."""


class Moves(NamedTuple):
    """How the scores of texts move beside their matches, as arrays.

    Attributes:
        factor: What each match is multiplied by.
        more: What is added to it then.
    """

    factor: Any
    more: Any


class Balance(NamedTuple):
    """How words and meaning are weighed against each other in one recall.

    Attributes:
        boost: How many times more meaning counts.
        lone: The share of its score for words that a text keeps which has one word of the query.
    """

    boost: float = 1.0
    lone: float = 1.0


BALANCED: Final = Balance()
"""Words and meaning count as the weights say."""


class Matches(Sequence[Match]):
    """How well each text that a search sees matches its query, in the order of the view.

    They are columns, because a search sees hundreds of texts and reads some tens of them.
    """

    def __init__(self, rules: Ranking, columns: Sequence[Any], balance: Balance = BALANCED) -> None:
        """Keep the columns: lists, or arrays in which NaN stands for None.

        Args:
            rules: The weights.
            columns: One for each attribute of `Match`.
            balance: How words and meaning are weighed; see `balance_of`.
        """
        self._rules = rules
        self._columns = columns
        self._balance = balance
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
    def sizes(self) -> Any:
        """The number of index terms of each text, as a list or an array."""
        return self._columns[5]

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

    @property
    def are_all_related(self) -> bool:
        """Whether all of the texts have a word of the query, beside them too, or a cosine."""
        around, similarity = self._columns[1], self._columns[2]
        if isinstance(around, list):
            return all(
                words > 0 or near is not None
                for words, near in zip(around, similarity, strict=True)
            )
        return bool(((similarity == similarity) | (around > 0)).all())  # noqa: PLR0124

    def contenders(self, least: Moves, most: Moves, count: int, *, vectors: bool) -> list[int]:
        """Return the positions of all texts that can be among the best, where scores are arrays.

        Args:
            least: How the score of each text moves at least.
            most: How it moves at most.
            count: How many are the best.
            vectors: Whether this recall compares anything by meaning.

        Returns:
            The positions.
        """
        import numpy as np

        scores = self._fused(vectors=vectors)
        if len(scores) <= count:
            return list(range(len(scores)))
        # A factor below 1 makes a negative score higher: the bounds are those of both factors.
        lowest = np.minimum(scores * least.factor, scores * most.factor) + least.more
        lowest.partition(len(scores) - count)
        bound = lowest[len(scores) - count] - _ROUNDING
        highest = np.maximum(scores * least.factor, scores * most.factor) + most.more
        positions: list[int] = (highest >= bound).nonzero()[0].tolist()
        return positions

    def _fused(self, *, vectors: bool) -> Any:
        """Return the scores, as a list or an array, as the columns are."""
        if not vectors:
            return self._columns[1]
        if self._scores is None:
            if isinstance(self._columns[0], list):
                matches = self.at(range(len(self)))
                self._scores = fused_all(matches, self._rules, vectors=True, balance=self._balance)
            else:
                self._scores = self._fused_columns()
        return self._scores

    def _fused_columns(self) -> Any:
        import numpy as np

        rules = self._rules
        _, around, _, near, outstanding, _, shared = self._columns
        unmeasured = rules.unmeasured * np.minimum(1.0, around)
        near = np.where(np.isnan(near), unmeasured, near)
        meaning = rules.meaning * near + rules.outstanding * outstanding
        words = rules.words * around
        boost, lone = self._balance
        if lone < 1.0:
            words = words * (lone + (1.0 - lone) * np.clip(shared - 1.0, 0.0, 1.0))
        unit = unit_of(rules, vectors=True, balance=self._balance)
        return (words + boost * meaning) / unit

    @cached_property
    def _lists(self) -> Sequence[list[Any]]:
        if isinstance(self._columns[0], list):
            return self._columns
        return _with_none([column.tolist() for column in self._columns])


_ROUNDING: Final = 1e-9
"""More than scores differ by that are added up in another order."""
_NULLABLE: Final = (0, 2, 3)
"""Columns of `Match` that may have None."""


def _with_none(lists: list[list[Any]]) -> list[list[Any]]:
    """Put None in place of NaN in the columns that may have it."""
    for at in _NULLABLE:
        lists[at] = [None if value != value else value for value in lists[at]]  # noqa: PLR0124
    return lists


def judge(
    view: SearchView,
    rules: Ranking,
    corpus: WordStatistics | None = None,
    *,
    balance: Balance = BALANCED,
) -> Matches:
    """Return how well everything that a search sees matches its query.

    Args:
        view: What the search sees.
        rules: The weights.
        corpus: The statistics that say how rare a word is; by default those of the view. Two
            searches whose scores are compared need the same.
        balance: How words and meaning are weighed; see `balance_of`.

    Returns:
        A match for each text, in the order of the view.
    """
    corpus = corpus or WordStatistics.of(view)
    rarities = [rarity(texts, corpus.size) for texts in corpus.having]
    if isinstance(view.candidates, CandidateColumns):
        columns = _judged_columns(view.candidates, rules, rarities, corpus.mean)
    else:
        columns = _judged(view.candidates, rules, rarities, corpus.mean)
    return Matches(rules, columns, balance)


def most_shared(candidates: Sequence[SearchCandidate]) -> int:
    """Return how many different words of the query one text has at most.

    Args:
        candidates: The texts.

    Returns:
        The number of words.
    """
    if not candidates:
        return 0
    if isinstance(candidates, CandidateColumns):
        if not candidates.counts:
            return 0
        return int(sum((column > 0).astype("i4") for column in candidates.counts).max())
    return max(len(text.counts) - text.counts.count(0) for text in candidates)


def balance_of(rules: Ranking, shared: int, words: int) -> Balance:
    """Return how words and meaning are weighed, by how many words of the query texts have.

    A question in other words than its answer still shares a word with texts that have nothing to
    do with it. One word in common, of several, is no sign. Where no text has any, only meaning
    counts anyway.

    Args:
        rules: The weights.
        shared: How many different words of the query one text has at most.
        words: How many words the query has.

    Returns:
        The balance.
    """
    if shared == 1 < words:
        return Balance(*rules.one_shared)
    return Balance(*rules.two_shared) if 0 < shared <= _FEW_WORDS else BALANCED


_FEW_WORDS: Final = 2
"""Words that a text shares with a query up to which their scores are no reliable sign."""


def fused_all(
    matches: Iterable[Match], rules: Ranking, *, vectors: bool, balance: Balance = BALANCED
) -> list[float]:
    """Return the score of each text from words and meaning; about 1 is one that has all of both.

    Args:
        matches: The matches.
        rules: The weights of the ranking.
        vectors: Whether this recall compares anything by meaning; without, words stand alone.
        balance: How words and meaning are weighed; see `balance_of`.

    Returns:
        The scores, in the order of the matches.
    """
    if not vectors:
        return [match.around for match in matches]
    meaning, words, outstanding = rules.meaning, rules.words, rules.outstanding
    boost, lone = balance
    unmeasured, unit = rules.unmeasured, unit_of(rules, vectors=True, balance=balance)
    scores = []
    for _, around, _, near, above, _, shared in matches:
        if near is None:
            near = unmeasured * min(1.0, around)  # noqa: PLW2901 - what it is taken to have
        by_words = words * around
        if lone < 1.0:
            by_words *= lone + (1.0 - lone) * min(1.0, max(0.0, shared - 1.0))
        scores.append((by_words + boost * (meaning * near + outstanding * above)) / unit)
    return scores


def unit_of(rules: Ranking, *, vectors: bool, balance: Balance = BALANCED) -> float:
    """Return the sum of the weights of words and meaning, by which every score is divided.

    Args:
        rules: The weights of the ranking.
        vectors: Whether this recall compares anything by meaning.
        balance: How words and meaning are weighed; see `balance_of`.

    Returns:
        The sum, 1 if all of them are 0.
    """
    return (rules.words + (balance.boost * rules.meaning if vectors else 0.0)) or 1.0


# Text by text.


def _judged(
    candidates: Sequence[SearchCandidate], rules: Ranking, rarities: Sequence[float], mean: float
) -> list[list[Any]]:
    """Return the columns of the matches, as lists."""
    whole = _sum(rarities) or 1.0
    level = _level(candidates, rules)
    columns: list[list[Any]] = [[] for _ in Match._fields]
    add_words, add_around, add_similarity, add_near, add_outstanding, add_size, add_shared = (
        column.append for column in columns
    )
    for run in _runs(candidates):
        for position, text in enumerate(run):
            own = text_score(rarities, text.counts, text.size, mean)
            similarity = text.similarity
            around, near = own, similarity
            shared = float(len(text.counts) - text.counts.count(0))
            if len(run) > 1:
                around, shared = _around(run, position, rarities, mean, rules)
                near = _near(run, position, rules)
            add_words(own or None)
            add_around(around / whole)
            add_similarity(similarity)
            add_near(near)
            add_outstanding(max(0.0, similarity - level) if similarity is not None else 0.0)
            add_size(float(text.size))
            add_shared(shared)
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
    rules: Ranking,
) -> tuple[float, float]:
    """Return the BM25 score of a text together with its neighbours, and the words that they share.

    A word in a neighbour counts as a part of one in the text; the length is the weighted mean
    of theirs, so that a text without neighbours is worth what it is by itself.
    """
    counts: list[float] = [*run[position].counts]
    size, present = float(run[position].size), 1.0
    for step, full in rules.steps:
        if 0 <= position + step < len(run):
            other = run[position + step]
            weight = full * _short(other.size, rules) * _said_by(run, position, step, rules)
            size, present = size + weight * other.size, present + weight
            for at, often in enumerate(other.counts):
                if often:
                    counts[at] += weight * often
    shared = 0.0
    for weighted in counts:
        shared += min(1.0, weighted)
    return text_score(rarities, counts, size / present, mean), shared


def _short(size: float, rules: Ranking) -> float:
    """Return the part of its weight that a neighbour of so many words has."""
    return min(1.0, rules.neighbour_words / max(1.0, float(size)))


def _said_by(run: Sequence[SearchCandidate], position: int, step: int, rules: Ranking) -> float:
    """Return the part of its weight that a neighbour has because of who said it.

    In a dialogue the words of a question belong to its answer; what one person says after another
    of their own texts is about something else more often.
    """
    first, last = sorted((position, position + step))
    is_monologue = all(run[at].same_speaker for at in range(first + 1, last + 1))
    return rules.monologue if is_monologue else 1.0


def _near(run: Sequence[SearchCandidate], position: int, rules: Ranking) -> float | None:
    own = run[position].similarity
    if own is None:
        return None
    total, present = own, 1.0
    for step in (-1, 1):
        at = position + step
        beside = run[at].similarity if 0 <= at < len(run) else None
        if beside is not None:
            weight = rules.beside * _short(run[at].size, rules)
            weight *= _said_by(run, position, step, rules)
            total, present = total + weight * beside, present + weight
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
    near_counts: Sequence[Any] = counts
    if columns.follows is not None and columns.follows.any():
        run = np.cumsum(~columns.follows)
        neighbours = _Neighbours(columns, run, sizes, rules)
        around, near_counts = _around_columns(counts, sizes, neighbours, rarities, mean)
        near = _near_columns(similarity, neighbours, rules.beside)
    measured = similarity[~np.isnan(similarity)]
    level = math.inf
    if len(measured) >= rules.compared:
        at = len(measured) - rules.compared
        level = np.partition(measured, at)[at]
    outstanding = np.fmax(0.0, similarity - level)  # of NaN and a number the number
    words = np.where(own > 0, own, np.nan)
    shared = np.zeros(len(sizes))
    for column in near_counts:
        shared += np.minimum(1.0, column)
    return [words, around / whole, similarity, near, outstanding, sizes, shared]


class _Neighbours:
    """What each text counts as a neighbour of the one so many steps away.

    Attributes:
        steps: How far away neighbours are, those before with a minus, and what they count.

    Args:
        columns: The texts.
        run: A number for each text, which those of one run share.
        sizes: The words of each text.
        rules: The weights.
    """

    def __init__(self, columns: CandidateColumns, run: Any, sizes: Any, rules: Ranking) -> None:
        import numpy as np

        self.steps = [step for step in rules.steps if abs(step[0]) < len(run)]
        self._run, self._rules = run, rules
        self._short = np.minimum(1.0, rules.neighbour_words / np.maximum(1.0, sizes))
        same: Any = columns.same_speaker
        self._same: Any = None if same is None or not same.any() else same

    def weights(self, step: int, weight: float) -> Any:
        """Return for each text that has a neighbour so many steps away what that one counts.

        Args:
            step: How many steps; before a text with a minus.
            weight: What a short text of another speaker counts.

        Returns:
            The weights, 0 where that text is of another run; see `_shifted` for which texts.
        """
        import numpy as np

        here, there = _shifted(step)
        part = weight * self._short[there]
        if self._same is not None:
            part = part * np.where(self._monologue(abs(step)), self._rules.monologue, 1.0)
        return np.where(self._run[here] == self._run[there], part, 0.0)

    def _monologue(self, steps: int) -> Any:
        """Return for which texts one speaker said all up to the one so many steps later."""
        same = self._same
        count = len(same) - steps
        is_monologue = same[1 : 1 + count].copy()
        for at in range(2, steps + 1):
            is_monologue &= same[at : at + count]
        return is_monologue


def _around_columns(
    counts: Sequence[Any],
    sizes: Any,
    neighbours: _Neighbours,
    rarities: Sequence[float],
    mean: float,
) -> tuple[Any, Sequence[Any]]:
    """Return the scores that `_around` returns, of all texts, and the counts with neighbours.

    Args:
        counts: For each word of the query how often each text has it.
        sizes: The words of each text.
        neighbours: What texts count as neighbours.
        rarities: How rare each word is.
        mean: The mean size.
    """
    import numpy as np

    size, present = sizes.copy(), np.ones(len(sizes))
    around = [column.copy() for column in counts]
    for step, weight in neighbours.steps:
        here, there = _shifted(step)
        part = neighbours.weights(step, weight)
        size[here] += part * sizes[there]
        present[here] += part
        for column, own in zip(around, counts, strict=True):
            column[here] += part * own[there]
    return column_scores(rarities, around, size / present, mean), around


def _shifted(step: int) -> tuple[slice, slice]:
    """Return the places that have a neighbour so many steps away, and those neighbours."""
    if step > 0:
        return slice(None, -step), slice(step, None)
    return slice(-step, None), slice(None, step)


def _near_columns(similarity: Any, neighbours: _Neighbours, weight: float) -> Any:
    """Return what `_near` returns, of all texts; `weight` is that of a short text."""
    import numpy as np

    total, present = similarity.copy(), np.ones(len(similarity))
    for step in (-1, 1):
        here, there = _shifted(step)
        part, beside = neighbours.weights(step, weight), similarity[there]
        counts = ~np.isnan(beside)
        total[here] += np.where(counts, part * beside, 0.0)
        present[here] += np.where(counts, part, 0.0)
    return total / present

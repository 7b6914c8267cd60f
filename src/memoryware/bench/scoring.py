"""Score a ranking of turns against the turns that answer a question."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from memoryware.bench.datasets import Conversation, DatasetQuestion
from memoryware.tiers.text.terms import query_words, words_of


def shared_words(question: str, answers: Iterable[str]) -> set[str]:
    """Return the words that a question shares with any answer, as word search compares them.

    Words such as "what" and "the" do not count, nor do the endings of English words.

    Args:
        question: The question.
        answers: The texts that answer it.

    Returns:
        Stems; empty if word search cannot connect the question with its answers.
    """
    words = set(query_words(question))
    return words & {word for text in answers for word in words_of(text)}


# Metrics: pure functions over ids.


def recall(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """Return the share of the gold that is among the first k; 0 without gold.

    Args:
        ranked: Ids, best first.
        gold: The ids that answer the question.
        k: How many of the ranking count.

    Returns:
        A share from 0 to 1.
    """
    return len(set(ranked[:k]) & set(gold)) / len(set(gold)) if gold else 0.0


def recall_any(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """Return 1 if any of the gold is among the first k, else 0; 0 without gold.

    Args:
        ranked: Ids, best first.
        gold: The ids that answer the question.
        k: How many of the ranking count.

    Returns:
        0.0 or 1.0.
    """
    return float(not set(gold).isdisjoint(ranked[:k]))


def recall_all(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """Return 1 if all of the gold is among the first k, else 0; 1 without gold.

    Args:
        ranked: Ids, best first.
        gold: The ids that answer the question.
        k: How many of the ranking count.

    Returns:
        0.0 or 1.0.
    """
    return float(set(gold) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[Hashable], gold: Collection[Hashable]) -> float:
    """Return one divided by the rank of the first of the gold; 0 if none is in the ranking.

    Args:
        ranked: Ids, best first.
        gold: The ids that answer the question.

    Returns:
        1.0, 0.5, 0.333, ...; 0.0 if none is there.
    """
    return next((1 / rank for rank, id_ in enumerate(ranked, 1) if id_ in gold), 0.0)


def ndcg_any(
    ranked: Sequence[Hashable], gold: Collection[Hashable], k: int, relevant: int | None = None
) -> float:
    """Return the normalised discounted cumulative gain of the first k.

    The first two ranks count fully, the third 1 / log2(3), and so on, as in LongMemEval.

    Args:
        ranked: Ids, best first; a duplicate counts twice.
        gold: The ids that answer the question.
        k: How many of the ranking count.
        relevant: How many items of the whole ranking are gold; by default each id once.

    Returns:
        A share from 0 to 1.
    """
    ideal = min(k, len(set(gold)) if relevant is None else relevant)
    best = math.fsum(_discount(rank) for rank in range(ideal))
    gain = math.fsum(_discount(rank) for rank, id_ in enumerate(ranked[:k]) if id_ in gold)
    return gain / best if best else 0.0


def _discount(rank: int) -> float:
    return 1.0 if rank == 0 else 1 / math.log2(rank + 1)


def unique(ranked: Sequence[Hashable]) -> list[Hashable]:
    """Drop duplicates from a ranking.

    Args:
        ranked: Ids, best first.

    Returns:
        Each id once, at its first rank.
    """
    return list(dict.fromkeys(ranked))


def depth_for(ranked: Sequence[Hashable], k: int) -> int:
    """Return how deep a ranking must be read to see k different ids.

    Args:
        ranked: Ids, best first.
        k: How many different ids.

    Returns:
        A depth, at least k.
    """
    distinct: set[Hashable] = set()
    for rank, id_ in enumerate(ranked, 1):
        distinct.add(id_)
        if rank >= k and len(distinct) >= k:
            return rank
    return max(k, len(ranked))


# Protocols: which questions count where, and by which metrics.

SHARED: Final = "shares a word with its answer"
UNSHARED: Final = "shares no word with its answer"
"""Rows of every table: whether word search alone can find the answer of a question."""
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class TurnRanking:
    """The results for a question, best first.

    Attributes:
        deepest: Ids of turns, to the full depth.
        alone: By k, the results of a search that asked for exactly k.
    """

    deepest: tuple[str, ...]
    alone: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def first(self, k: int) -> tuple[str, ...]:
        """Return the results of a search for k.

        Args:
            k: How many results.

        Returns:
            Ids of turns, best first: those of a search for exactly k if there was one, else the
            first k of the deepest search.
        """
        return self.alone.get(k, self.deepest[:k])


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """A question with what its protocol needs of its conversation."""

    question: DatasetQuestion
    sessions: Mapping[str, str]
    """The session of each turn, by the id of the turn."""
    shares: bool
    """Whether it shares a word with a turn that answers it."""

    @classmethod
    def of(cls, question: DatasetQuestion, conversation: Conversation) -> QuestionContext:
        """Look up a question in its conversation.

        Args:
            question: The question.
            conversation: The conversation that it belongs to.

        Returns:
            The question with its context.
        """
        gold = set(question.gold)
        answers = [turn.text for turn in conversation.turns if turn.id in gold]
        sessions = {turn.id: turn.session for turn in conversation.turns}
        return cls(question, sessions, bool(shared_words(question.text, answers)))

    @property
    def word_row(self) -> str:
        """The row of questions that share a word with their answer, or of those that do not."""
        return SHARED if self.shares else UNSHARED


class Scoring(Protocol):
    """Protocol: how a data set is scored."""

    @property
    def depth(self) -> int:
        """How many results are asked for."""
        ...

    @property
    def shown(self) -> tuple[str, ...]:
        """The metrics that a table shows, in order; all others are in the JSON."""
        ...

    @property
    def curve(self) -> str:
        """The metric that a plot shows, with `{k}` in it."""
        ...

    def rows(self, context: QuestionContext) -> tuple[str, ...]:
        """Return the rows in which a question counts.

        Args:
            context: The question, with its conversation.

        Returns:
            Names of rows; empty if the question is left out.
        """
        ...

    def scores(self, context: QuestionContext, ranking: TurnRanking) -> dict[str, float]:
        """Score a ranking by every metric.

        Args:
            context: The question, with its conversation.
            ranking: The results of one way of searching.

        Returns:
            Shares from 0 to 1, by the name of the metric.
        """
        ...


@dataclass(frozen=True, slots=True)
class EvidenceScoring:
    """Recall of the turns, and of the sessions, that answer a question (LoCoMo, your own data).

    Questions without gold in the conversation are left out. The rank of a session is that of
    its best turn.
    """

    ks: tuple[int, ...] = (5, 10, 50)
    extra_rows: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Further rows: the categories that count in each."""
    depth: int = 50
    shown: tuple[str, ...] = ("R@5", "R@10", "R@50", "MRR", "session R@5", "session R@10")
    curve: str = "R@{k}"

    def rows(self, context: QuestionContext) -> tuple[str, ...]:
        """Return its category, whether it shares a word with its answer, and "all".

        Args:
            context: The question, with its conversation.

        Returns:
            Names of rows; empty for a question without gold.
        """
        if not context.question.gold:
            return ()
        category = context.question.category
        extra = [name for name, categories in self.extra_rows.items() if category in categories]
        return (*([category] if category else []), *extra, context.word_row, ALL)

    def scores(self, context: QuestionContext, ranking: TurnRanking) -> dict[str, float]:
        """Return recall and hits of turns, recall of sessions, and the reciprocal rank.

        Args:
            context: The question, with its conversation.
            ranking: The results of one way of searching.

        Returns:
            Shares from 0 to 1, by the name of the metric.
        """
        gold = context.question.gold
        sessions = {context.sessions[turn_id] for turn_id in gold}
        ranked_sessions = unique([context.sessions[turn_id] for turn_id in ranking.deepest])
        scores = {"MRR": reciprocal_rank(ranking.deepest, gold)}
        for k in sorted({*self.ks, *CURVE}):
            scores[f"R@{k}"] = recall(ranking.first(k), gold, k)
        for k in self.ks:
            scores[f"hit@{k}"] = recall_any(ranking.first(k), gold, k)
            scores[f"session R@{k}"] = recall(ranked_sessions, sessions, k)
        return scores


CURVE: Final = (1, 2, 3, 5, 10, 20, 30, 50)
"""The k of a plot."""
EXACT: Final = (5, 10)
"""The k of a table, without the full depth."""
LOCOMO: Final = EvidenceScoring(
    extra_rows={"categories 1 to 4": frozenset({"multi-hop", "temporal", "open", "single-hop"})}
)
"""LoCoMo: five categories, and the first four together, as some papers report them."""


STRICT: Final = "all with a target"
LENIENT: Final = "all, without a target too"


@dataclass(frozen=True, slots=True)
class LongMemEvalScoring:
    """The metrics of LongMemEval's own evaluation, above all `recall_all` and `ndcg_any`.

    Attributes:
        granularity: Whether one memory is a "turn" or a "session".
        depth: How many results are asked for.
    """

    granularity: str = "turn"
    depth: int = 50

    @property
    def shown(self) -> tuple[str, ...]:
        """The metrics that a table shows."""
        levels = ("session", "turn") if self.granularity == "turn" else ("session",)
        kinds = ("recall_all", "ndcg_any")
        return tuple(f"{level} {kind}@{k}" for level in levels for k in (5, 10) for kind in kinds)

    @property
    def curve(self) -> str:
        """The metric that a plot shows."""
        return "session recall_all@{k}"

    def rows(self, context: QuestionContext) -> tuple[str, ...]:
        """Return its category and both averages over all questions.

        A question that no searched turn answers has no target. The authors' evaluation leaves
        it out now; before, it counted as recalled (nothing was missing) with a gain of 0. Both
        averages are in use, so both are reported.

        Args:
            context: The question, with its conversation.

        Returns:
            Names of rows.
        """
        if not context.question.gold:
            return (LENIENT,)
        return (context.question.category, context.word_row, STRICT, LENIENT)

    def scores(self, context: QuestionContext, ranking: TurnRanking) -> dict[str, float]:
        """Return the metrics of turns, and of the sessions that they belong to.

        Args:
            context: The question, with its conversation.
            ranking: The results of one way of searching.

        Returns:
            Shares from 0 to 1, by the name of the metric.
        """
        gold = context.question.gold
        scores: dict[str, float] = {}
        for k in CURVE:
            if self.granularity == "turn":
                scores |= _metrics("turn", ranking.first(k), gold, k)
                scores |= _session_metrics(context, ranking.deepest, k)
            else:
                scores |= _metrics("session", ranking.first(k), gold, k)
        return scores


def _metrics(
    level: str,
    ranked: Sequence[object],
    gold: Sequence[object],
    k: int,
    relevant: int | None = None,
    depth: int | None = None,
) -> dict[str, float]:
    depth = depth or k
    return {
        f"{level} recall_any@{k}": recall_any(ranked, gold, depth),
        f"{level} recall_all@{k}": recall_all(ranked, gold, depth),
        f"{level} ndcg_any@{k}": ndcg_any(ranked, gold, depth, relevant),
    }


def _session_metrics(context: QuestionContext, ranked: Sequence[str], k: int) -> dict[str, float]:
    """Score sessions from a ranking of turns, as the authors do.

    The ranking is read until k sessions are in it. A turn of the right session that does not
    answer counts as another session.
    """
    gold = set(context.question.gold)
    labels = [(context.sessions[turn_id], turn_id in gold) for turn_id in ranked]
    targets = list(
        dict.fromkeys((context.sessions[turn_id], True) for turn_id in context.question.gold)
    )
    return _metrics("session", labels, targets, k, len(gold), depth_for(labels, k))

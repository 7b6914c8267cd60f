"""The protocols: what one ranking of turns is worth for one question, and where it is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from memoryware.bench.datasets.values import Conversation, Question
from memoryware.bench.recall.content import shared_words
from memoryware.bench.recall.metrics import (
    first_of_each,
    ndcg_any,
    reach,
    recall,
    recall_all,
    recall_any,
    reciprocal_rank,
)

SHARED: Final = "shares a word with its answer"
UNSHARED: Final = "shares no word with its answer"
"""Rows of every table: whether the search of words can find a question's answer by itself."""
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found for a question, best first: to a depth, and where asked, for each k alone.

    Attributes:
        deepest: Ids of turns.
        alone: By k, what comes back if no more than k are wanted.
    """

    deepest: tuple[str, ...]
    alone: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def first(self, k: int) -> tuple[str, ...]:
        """Return what comes back if k are wanted."""
        return self.alone.get(k, self.deepest[:k])


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in its conversation, with what its protocol needs to know of both."""

    question: Question
    sessions: Mapping[str, str]
    """The sitting of each turn of the conversation."""
    shares: bool
    """Whether it has a word in common with a turn that answers it."""

    @classmethod
    def of(cls, question: Question, conversation: Conversation) -> Asked:
        """Return a question with what is to be known of its conversation."""
        gold = set(question.gold)
        answers = [turn.text for turn in conversation.turns if turn.id in gold]
        sessions = {turn.id: turn.session for turn in conversation.turns}
        return cls(question, sessions, bool(shared_words(question.text, answers)))

    @property
    def row_of_words(self) -> str:
        """The row of questions that share a word with their answer, or of those that do not."""
        return SHARED if self.shares else UNSHARED


class Scoring(Protocol):
    """How a data set is scored."""

    @property
    def depth(self) -> int:
        """How many are asked for at most."""
        ...

    @property
    def shown(self) -> tuple[str, ...]:
        """The measures that a table shows, in order; all others are in the JSON."""
        ...

    @property
    def curve(self) -> str:
        """The measure that a plot shows for each k, with `{k}` in it."""
        ...

    def rows(self, asked: Asked) -> tuple[str, ...]:
        """Return the rows in which a question counts; none if it is left out."""
        ...

    def scores(self, asked: Asked, ranking: Ranking) -> dict[str, float]:
        """Return what a ranking is worth, by the name of the measure."""
        ...


# Evidence: LoCoMo, and a user's own.


@dataclass(frozen=True, slots=True)
class EvidenceScoring:
    """Recall of the turns, and of the sittings, that answer a question.

    Questions without gold in the conversation are left out. The rank of a sitting is that of
    its best turn.
    """

    ks: tuple[int, ...] = (5, 10, 50)
    besides: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Further rows, by name: the categories that count in them."""
    depth: int = 50
    shown: tuple[str, ...] = ("R@5", "R@10", "R@50", "MRR", "session R@5", "session R@10")
    curve: str = "R@{k}"

    def rows(self, asked: Asked) -> tuple[str, ...]:
        """Return its category, what it shares with its answer, and all."""
        if not asked.question.gold:
            return ()
        kind = asked.question.category
        besides = [name for name, kinds in self.besides.items() if kind in kinds]
        return (*([kind] if kind else []), *besides, asked.row_of_words, ALL)

    def scores(self, asked: Asked, ranking: Ranking) -> dict[str, float]:
        """Return recall, whether any was found, and the same for sittings."""
        gold = asked.question.gold
        sessions = {asked.sessions[one] for one in gold}
        ranked = first_of_each([asked.sessions[one] for one in ranking.deepest])
        made = {"MRR": reciprocal_rank(ranking.deepest, gold)}
        for k in sorted({*self.ks, *CURVE}):
            made[f"R@{k}"] = recall(ranking.first(k), gold, k)
        for k in self.ks:
            made[f"hit@{k}"] = recall_any(ranking.first(k), gold, k)
            made[f"session R@{k}"] = recall(ranked, sessions, k)
        return made


CURVE: Final = (1, 2, 3, 5, 10, 20, 30, 50)
"""The k of a plot."""
EXACT: Final = (5, 10)
"""The k of a table, but the depth."""
LOCOMO: Final = EvidenceScoring(
    besides={"categories 1 to 4": frozenset({"multi-hop", "temporal", "open", "single-hop"})}
)
"""LoCoMo: five categories, and the first four together, as some publish them."""


# LongMemEval.

STRICT: Final = "all with a target"
LENIENT: Final = "all, without a target too"


@dataclass(frozen=True, slots=True)
class LongMemEvalScoring:
    """The measures of LongMemEval's own evaluation, `recall_all` and `ndcg_any` before all.

    Attributes:
        granularity: What is one memory: "turn", or "session".
        depth: How many are asked for at most.
    """

    granularity: str = "turn"
    depth: int = 50

    @property
    def shown(self) -> tuple[str, ...]:
        """The measures that a table shows."""
        levels = ("session", "turn") if self.granularity == "turn" else ("session",)
        kinds = ("recall_all", "ndcg_any")
        return tuple(f"{one} {kind}@{k}" for one in levels for k in (5, 10) for kind in kinds)

    @property
    def curve(self) -> str:
        """The measure that a plot shows."""
        return "session recall_all@{k}"

    def rows(self, asked: Asked) -> tuple[str, ...]:
        """Return its kind and all.

        A question that no searched turn answers has no target. The authors' evaluation leaves
        it out now; before, it counted as recalled (nothing was missing) with a gain of 0. Both
        averages are in use, so both are given.
        """
        if not asked.question.gold:
            return (LENIENT,)
        return (asked.question.category, asked.row_of_words, STRICT, LENIENT)

    def scores(self, asked: Asked, ranking: Ranking) -> dict[str, float]:
        """Return the measures of turns, and of the sittings that they stand for."""
        gold = asked.question.gold
        made: dict[str, float] = {}
        for k in CURVE:
            if self.granularity == "turn":
                made |= _three("turn", ranking.first(k), gold, k)
                made |= _of_sessions(asked, ranking.deepest, k)
            else:
                made |= _three("session", ranking.first(k), gold, k)
        return made


def _three(
    level: str,
    ranked: Sequence[object],
    gold: Sequence[object],
    k: int,
    relevant: int | None = None,
    looked_at: int | None = None,
) -> dict[str, float]:
    seen = looked_at or k
    return {
        f"{level} recall_any@{k}": recall_any(ranked, gold, seen),
        f"{level} recall_all@{k}": recall_all(ranked, gold, seen),
        f"{level} ndcg_any@{k}": ndcg_any(ranked, gold, seen, relevant),
    }


def _of_sessions(asked: Asked, ranked: Sequence[str], k: int) -> dict[str, float]:
    """Return the measures of sittings made of a ranking of turns, as the authors make them.

    So many turns are looked at that k sittings are among them. A turn of the right sitting that
    does not answer stands for another sitting.
    """
    gold = set(asked.question.gold)
    labels = [(asked.sessions[one], one in gold) for one in ranked]
    right = list(dict.fromkeys((asked.sessions[one], True) for one in asked.question.gold))
    return _three("session", labels, right, k, len(gold), reach(labels, k))

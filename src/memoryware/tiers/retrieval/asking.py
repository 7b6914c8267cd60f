"""What one recall is asked for, and what it has found so far."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final, Literal

from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, current_in
from memoryware.tiers.fusing import Found, WordStatistics, fused, share_of
from memoryware.tiers.records import Entry, Memory, Trust
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sight import Vector
from memoryware.tiers.text.dates import Period, periods_of
from memoryware.tiers.text.terms import query_words, words_of
from memoryware.tiers.values import Candidate, ContextItem, item_of

Source = Literal["hot", "cold"]
Part = Literal["hot", "group", "agent"]
"""Where a text is: working memory, memory of the group, experience of the agent."""
BOTH: Final[tuple[Source, ...]] = ("hot", "cold")
"""Both tiers that are recalled from."""
SPEAKER: Final = "speaker"
"""In the metadata of a text: who said it, where that is another than its origin."""
_SPEAKS: Final = frozenset({"person", "user", "agent"})
"""Kinds of origins that are somebody."""
_NAME: Final = 100
"""Characters of a name that are looked at."""
_CAPITALISED: Final = re.compile(r"(?:(?<=\w )|(?<=\w[,;:] ))[A-Z]\w+")
"""Words with a capital that do not begin a sentence."""
_ASKING: Final = ("?", "\uff1f", "\u061f", "\u037e")
"""What a question ends with."""
_REASONS: Final = {
    "recency": "among the newest of working memory",
    "words": "has words of the query",
    "vectors": "is near the query in meaning",
    "neighbours": "stands beside a text that was found",
    "in_time": "is of the time that the query names",
    "speaker": "was said by somebody whom the query names",
    "reranker": "was scored by the reranker",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a recall is asked for; see `TieredMemory.retrieve`.

    Attributes:
        session_id: Only memories that came from this session.
        agent_id: Whose experience is asked as well.
        max_results: How many at most, and never more than the limits of the tiers together.
        score_threshold: The least cosine, from -1 to 1.
        time_range_days: Leave out what is older.
        at: What held at that moment.
        min_trust: Leave out what is trusted less.
        layers: The tiers that are asked.
        explain: Whether candidates are told.
        hot_items: Entries of working memory at most; by default that of the limits.
        cold_items: Memories of the group at most; by default that of the limits.
        query_vector: The vector of the query, if it is known already.

    Raises:
        SettingError: For a value of another type or outside of its range.
    """

    session_id: str | None = None
    agent_id: str | None = None
    max_results: int | None = None
    score_threshold: float | None = None
    time_range_days: float | None = None
    at: datetime | None = None
    min_trust: Trust | None = None
    layers: Sequence[Source] = BOTH
    explain: bool = False
    hot_items: int | None = None
    cold_items: int | None = None
    query_vector: Vector | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", checking.choices("layers", self.layers, BOTH))
        for name in ("session_id", "agent_id"):
            checking.text(name, getattr(self, name), or_none=True)
        for name in ("max_results", "hot_items", "cold_items"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checking.whole(name, value))
        if self.score_threshold is not None:
            checking.number("score_threshold", self.score_threshold, -1, 1)
        if self.time_range_days is not None:
            checking.number("time_range_days", self.time_range_days, 0)
        if self.at is not None:
            checking.moment("at", self.at)
        checking.instance("min_trust", self.min_trust, (Trust, type(None)))


class Level(IntEnum):
    """What a text has its place by once a reranker was asked; lower comes first."""

    BY_TIME = 0
    SCORED = 1
    NOT_SCORED = 2


@dataclass(slots=True, eq=False)
class Considered:
    """A text that was found, and what speaks for and against it."""

    record: Entry | Memory
    part: Part
    score: float = 0.0
    """Its rank, higher is better."""
    is_by_time: bool = False
    """Whether its place is that of its age, as `hot_ranking="recency"` asks for."""
    is_related: bool = True
    """Whether anything of it answers to the query; working memory fills places without."""
    found: Found = field(default_factory=Found)
    ranks: dict[str, int] = field(default_factory=dict)
    level: Level = Level.BY_TIME
    """The same for all as long as no reranker was asked."""
    measured: dict[str, float] = field(default_factory=dict)
    """What the reranker said, and the score before."""
    left_out: str | None = None
    detail: str = ""
    promoted: Memory | None = None
    """Of a text in working memory: what it is in long-term memory now."""

    @property
    def is_wrong(self) -> bool:
        """Whether a check of facts spoke against it."""
        verdict = self.record.verdict
        return verdict is not None and not verdict.verified

    def item(self) -> ContextItem:
        """Return it as something that is recalled."""
        promoted = self.promoted if self.left_out is None else None
        item = item_of(promoted or self.record, self.score, self.found.similarity)
        return replace(item, content=self.record.content) if promoted else item

    def leave_out(self, code: str, detail: str) -> None:
        """Say why it is not shown; the first reason stays."""
        if self.left_out is None:
            self.left_out, self.detail = code, detail

    @property
    def is_verified(self) -> bool:
        """Whether somebody promoted it and no check of facts spoke against it."""
        return (self.part != "hot" or self.promoted is not None) and not self.is_wrong

    def weigh(self, search: Search, *, vectors: bool) -> None:
        """Give it its score by what was found, and by who said it, when and how.

        What nobody has promoted loses a part of its score, at most half, so that a verified
        text stands first where both fit about equally well.
        """
        rules, record = search.parts.ranking, self.record
        weights = {
            "in_time": rules.in_time * any(one.has(record.created_at) for one in search.periods),
            "speaker": rules.speaker * search.names(record),
        }
        self.ranks.update({name: 1 for name, weight in weights.items() if weight})
        beside = sum(weights.values())
        beside -= rules.question * record.content.rstrip().endswith(_ASKING)
        beside -= rules.agent * (record.provenance.origin.kind == "agent")
        self.is_related = self.found.around > 0 or self.found.similarity is not None
        self.score = fused(self.found, rules, vectors=vectors)
        self.score += share_of(beside, rules, vectors=vectors)
        if not self.is_verified:
            loss = share_of(rules.unverified, rules, vectors=vectors)
            self.score -= max(0.0, min(loss, self.score / 2))

    def candidate(self) -> Candidate:
        """Return what a person is told of it."""
        found = self.found
        around = found.around if "neighbours" in self.ranks else None
        values = {"words": found.words, "vectors": found.similarity, "neighbours": around}
        return Candidate(
            item=self.item(),
            ranks=dict(self.ranks),
            values={
                **{name: value for name, value in values.items() if value is not None},
                **self.measured,
            },
            reason="; ".join(said for way, said in _REASONS.items() if way in self.ranks),
            left_out=self.left_out,
            detail=self.detail,
        )


@dataclass(slots=True)
class Search:
    """One recall on its way."""

    parts: Parts
    query: str
    scope: MemoryScope
    wanted: Wanted
    now: datetime
    words: list[str] = field(init=False)
    called: set[str] = field(init=False)
    """Words that may name somebody: those, and capitalised ones that else say nothing, as Will."""
    periods: list[Period] = field(init=False)
    vector: Vector | None = None
    covered: float = 0.0
    """The largest share of the query's words that any text has."""
    named: dict[str, bool] = field(default_factory=dict)
    """Of each name whether the query has it."""
    measures_cold: bool = True
    """Whether long-term memory has vectors that this one can be held against."""
    hot_words: WordStatistics = field(default_factory=WordStatistics)
    """Statistics of working memory, where that is ranked by relevance."""
    cold_words: WordStatistics = field(default_factory=WordStatistics)
    """Statistics of long-term memory, once it was searched."""
    failed: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = query_words(self.query)
        self.called = {*self.words, *words_of(" ".join(_CAPITALISED.findall(self.query)))}
        self.periods = periods_of(self.query, self.now)

    @property
    def ranks_hot(self) -> bool:
        """Whether working memory is ranked by what fits the query, not by time."""
        return self.parts.hot_ranking != "recency"

    @property
    def since(self) -> datetime | None:
        """The moment before which nothing is shown."""
        days = self.wanted.time_range_days
        try:
            return None if days is None else self.now - timedelta(days=days)
        except OverflowError:
            return None

    @property
    def measures_meaning(self) -> bool:
        """Whether long-term memory is searched by vectors at all."""
        return self.vector is not None and self.measures_cold

    @property
    def corpus(self) -> WordStatistics:
        """Statistics of both layers, by which the scores of both can be compared."""
        return self.cold_words.with_more(self.hot_words)

    def moves(self, *, vectors: bool) -> float:
        """Return how much of a score two texts can differ by besides what was found of them."""
        rules = self.parts.ranking
        beside = rules.speaker + rules.question + rules.agent
        beside += rules.in_time if self.periods else 0.0
        return share_of(beside, rules, vectors=vectors)

    def names(self, record: Entry | Memory) -> bool:
        """Say whether the query names who said a text."""
        origin = record.provenance.origin
        said = record.metadata.get(SPEAKER) or (origin.name if origin.kind in _SPEAKS else "")
        name = str(said)[:_NAME]
        if name not in self.named:
            self.named[name] = not self.called.isdisjoint(words_of(name))
        return self.named[name]

    def live(self) -> Select:
        """Return the selection of what may be shown now, of this tenant and group."""
        if self.wanted.at is None:
            return current_in(self.parts, self.scope)
        return Select.within(self.scope, live_at=self.now)

    def note(self, sentence: str) -> None:
        """Note something that a person should know, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)


def order(one: Considered) -> tuple[bool, int, int, bool, float, int, int, float, str]:
    """Return the sort key of a text: what a check found wrong comes last, else the best first.

    What a reranker has scored comes in its order, before what it has not. What has nothing to
    do with the query comes behind all that has, whatever its score. Of texts that are equally
    good what is verified comes first, then what is newer.
    """
    record = one.record
    newest = one.ranks.get("recency", 0)
    made = -record.created_at.timestamp()
    again = one.ranks.get("reranker", 0)
    tie = 0 if one.is_by_time else 1 if one.is_verified else 2
    unrelated = not one.is_related
    return one.is_wrong, one.level, again, unrelated, -one.score, tie, newest, made, record.id

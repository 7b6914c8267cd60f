"""The options of a recall, and its state while it runs: records and statistics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import IntEnum
from operator import attrgetter
from typing import Final, Literal

from memoryware._caching import clearable_cache
from memoryware.errors import EmbeddingFailed
from memoryware.events import logger
from memoryware.scope import MemoryScope, is_personal_agent
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, current_in
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import Trust, speaker_names
from memoryware.tiers.recall.fusion import (
    BALANCED,
    NO_MATCH,
    NO_WORDS,
    Balance,
    Match,
    WordStatistics,
    balance_of,
)
from memoryware.tiers.stores.protocol import Select, Vector
from memoryware.tiers.stores.views import Tiers
from memoryware.tiers.text.dates import Period, mentioned_periods, periods_of, time_order_of
from memoryware.tiers.text.terms import core_words, query_words, words_of
from memoryware.tiers.values import Candidate, ContextItem, items_of

RecallTier = Literal["working", "long_term"]
RecallPart = Literal["working", "group", "agent"]
"""The part of memory that a text is in: working memory, of the group, of the agent."""
BOTH: Final[tuple[RecallTier, ...]] = ("working", "long_term")
"""Both tiers that are recalled from."""
_SINGLE: Final = (("working",), ("long_term",))
_CAPITALISED: Final = re.compile(r"(?:(?<=\w )|(?<=\w[,;:] ))[A-Z]\w+")
"""Words with a capital that do not begin a sentence."""
_ASKS_AGENT: Final = re.compile(
    r"\byou (?:recommend|suggest|said|told|mention|advise|propose|gave|list|explain|provid|wrote)"
    r"|\b(?:did|have) you\b"
    r"|\byour (?:advice|suggestion|recommendation|answer|list|plan|explanation)"
    r"|\bassistant\b|\bagent\b"
    r"|\b(?:hast|haben) (?:du|sie) .{0,80}"
    r"(?:empfohlen|vorgeschlagen|geraten|gesagt|genannt|erkl\u00e4rt)"
    r"|\b(?:recomendaste|sugeriste|dijiste|aconsejaste|propusiste|explicaste|mencionaste)\b"
    r"|\b(?:tu as|vous avez) (?:dit|recommand|sugg|propos|conseill)"
    r"|[\u4f60\u60a8](?:\u4e4b\u524d|\u4e0a\u6b21|\u5f53\u65f6)?"
    r"(?:\u63a8\u8350|\u5efa\u8bae|\u8bf4|\u63d0\u5230|\u7ed9)|\u52a9\u624b"
    r"|(?:\u52e7\u3081|\u304a\u3059\u3059\u3081|\u63d0\u6848)\u3057?\u3066\u304f\u308c|\u30a2\u30b7\u30b9\u30bf\u30f3\u30c8",
    re.IGNORECASE,
)
"""Questions for what an agent has said, in English, German, Spanish, French, Chinese, Japanese."""
_REASONS: Final = {
    "recency": "among the newest of working memory",
    "words": "has words of the query",
    "vectors": "is near the query in meaning",
    "neighbours": "stands beside a text that was found",
    "in_time": "is of the time that the query names",
    "speaker": "was said by somebody whom the query names",
    "order": "is at the end in time that the query asks for",
    "reranker": "was scored by the reranker",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveOptions:
    """The options of a recall; see `TieredMemory.retrieve`.

    Attributes:
        session_id: Only memories that came from this session.
        agent_id: The agent whose experience is searched as well.
        max_results: How many at most, and never more than the limits of the tiers together.
        score_threshold: The least cosine, from -1 to 1.
        time_range_days: Leave out records that are older.
        at: Search the memories that were valid at that moment.
        min_trust: Leave out records that are trusted less.
        tiers: The tiers that are searched.
        explain: Whether candidates are returned.
        working_items: Entries of working memory at most; by default that of the limits.
        long_term_items: Memories of the group at most; by default that of the limits.
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
    tiers: Sequence[RecallTier] = BOTH
    explain: bool = False
    working_items: int | None = None
    long_term_items: int | None = None
    query_vector: Vector | None = None

    def __post_init__(self) -> None:
        # Values that are left as they were need no check: most calls set one or two.
        if self.tiers is not BOTH and self.tiers not in _SINGLE:
            object.__setattr__(self, "tiers", checking.choices("tiers", self.tiers, BOTH))
        for name in ("session_id", "agent_id"):
            if getattr(self, name) is not None:
                checking.text(name, getattr(self, name))
        for name in ("max_results", "working_items", "long_term_items"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checking.whole(name, value))
        if self.score_threshold is not None:
            checking.number("score_threshold", self.score_threshold, -1, 1)
        if self.time_range_days is not None:
            checking.number("time_range_days", self.time_range_days, 0)
        if self.at is not None:
            checking.moment("at", self.at)
        if self.min_trust is not None:
            checking.instance("min_trust", self.min_trust, (Trust, type(None)))


class Level(IntEnum):
    """The rank class of a text after reranking; lower comes first."""

    BY_TIME = 0
    SCORED = 1
    NOT_SCORED = 2


class RankedRecord:
    """A record that a recall has read, with its match, its score and why it is left out.

    Attributes:
        record: The entry or memory.
        part: Where it is.
        match: How well it matches the query.
        score: Its rank, higher is better.
        is_by_time: Whether its place is that of its age, as `working_ranking="recency"` asks for.
        is_related: Whether anything of it answers to the query; working memory fills places
            without.
        is_wrong: Whether a check of facts spoke against it.
        is_verified: Whether somebody promoted it and no check of facts spoke against it.
        recency: Its place in working memory, from 1; 0 outside of it.
        rerank_place: Its place by the reranker, from 1; 0 without one.
        level: The same for all as long as no reranker was asked.
        ranks: Its place in each list, for an explanation.
        measured: The score of the reranker, and the one before.
        left_out: The code of why it is not shown.
        detail: That in words.
        promoted: Of a text in working memory: the memory that was promoted from it.
        content_hash: Of a text in working memory: its digest.
    """

    # Class attributes, because some tens of records are made for each query.
    score: float = 0.0
    is_by_time: bool = False
    is_related: bool = True
    is_verified: bool = False
    recency: int = 0
    rerank_place: int = 0
    level: Level = Level.BY_TIME
    left_out: str | None = None
    detail: str = ""
    promoted: Memory | None = None
    content_hash: str = ""
    measured: dict[str, float] | None = None

    def __init__(self, record: Entry | Memory, part: RecallPart, match: Match = NO_MATCH) -> None:
        self.record = record
        self.part = part
        self.match = match
        self.ranks: dict[str, int] = {}
        verdict = record.verdict
        self.is_wrong = verdict is not None and not verdict.verified

    def leave_out(self, code: str, detail: str) -> None:
        """Set why the record is not shown; the first reason stays.

        Args:
            code: A code, such as "limit"; see `Candidate.left_out`.
            detail: The reason in words.
        """
        if self.left_out is None:
            self.left_out, self.detail = code, detail

    def candidate(self) -> Candidate:
        """Return its explanation."""
        match = self.match
        around = match.around if "neighbours" in self.ranks else None
        values = {"words": match.words, "vectors": match.similarity, "neighbours": around}
        (item,) = recalled_items([self])
        return Candidate(
            item=item,
            ranks=dict(self.ranks),
            values={
                **{name: value for name, value in values.items() if value is not None},
                **(self.measured or {}),
            },
            reason="; ".join(text for name, text in _REASONS.items() if name in self.ranks),
            left_out=self.left_out,
            detail=self.detail,
        )


_by_score: Final = attrgetter("score")
_class_of: Final = attrgetter("is_wrong", "level", "rerank_place", "is_related")


def in_order(texts: Sequence[RankedRecord]) -> list[RankedRecord]:
    """Return texts best first; a text that a fact check refuted comes last.

    Reranked texts come first, in the order of the reranker. Texts that are unrelated to the query
    come after all related ones, whatever their scores. Of equally good texts, verified ones come
    first, then newer ones.

    Args:
        texts: The texts.

    Returns:
        The texts in that order.
    """
    ordered = sorted(texts, key=_by_score, reverse=True)
    is_by_score = len({text.score for text in ordered}) == len(ordered)
    if is_by_score and len({*map(_class_of, ordered)}) < 2:  # nothing else decides
        return ordered
    return sorted(ordered, key=_key_of)


def _key_of(text: RankedRecord) -> tuple[bool, int, int, bool, float, int, int, float, str]:
    tie = 0 if text.is_by_time else 1 if text.is_verified else 2
    record = text.record
    return (
        text.is_wrong,
        text.level,
        text.rerank_place,
        not text.is_related,
        -text.score,
        tie,
        text.recency,
        -record.created_at.timestamp(),
        record.id,
    )


_MENTION_DAYS: Final = 31.0
"""Days of a period that a text mentions, at most, for it to be about one of them."""


def is_in_time(record: Entry | Memory, periods: Sequence[Period]) -> bool:
    """Return whether a text was said in a period, or speaks of one.

    "Yesterday I went bowling" is about the day before it was said.

    Args:
        record: The entry or memory.
        periods: The periods that the query names.

    Returns:
        Whether it is of one of them.
    """
    said_at = record.said_at
    if any(period.has(said_at) for period in periods):
        return True
    return any(
        mentioned.overlaps(period)
        for mentioned in _mentions(record.content, said_at)
        if mentioned.days <= _MENTION_DAYS
        for period in periods
    )


@clearable_cache(1024)
def _mentions(text: str, said_at: datetime) -> Sequence[Period]:
    """Return the periods that a text speaks of, from a cache: each question asks for them."""
    return mentioned_periods(text, said_at)


def recalled_items(texts: Sequence[RankedRecord]) -> list[ContextItem]:
    """Return records as recalled items.

    A promoted entry is shown as its memory, with the text of the entry.

    Args:
        texts: The records that a recall shows.

    Returns:
        The items, in the same order.
    """
    items = items_of(
        [
            (text.record if text.promoted is None or text.left_out else text.promoted)
            for text in texts
        ],
        [text.score for text in texts],
        [text.match.similarity for text in texts],
    )
    return [
        replace(item, content=text.record.content) if item.id != text.record.id else item
        for item, text in zip(items, texts, strict=True)
    ]


@dataclass(slots=True)
class RecallState:
    """The state of one recall.

    Attributes:
        parts: The stores and the rules.
        query: The text of the query.
        scope: Whose memory is searched, and on whose behalf.
        options: The options.
        now: The moment of the recall, or `at`.
        tiers: The tiers; inside of a transaction, those that it sees.
        words: The words of the query.
        names: Words that may name somebody: those, and capitalised ones that else say nothing,
            as "Will".
        periods: The days that the query names.
        time_order: Whether the query asks for the oldest text or the newest, if for either.
        asks_agent: Whether the query asks what the agent itself has said.
        ranks_working: Whether working memory is ranked by relevance, not by time.
        agent_id: The agent whose experience is searched as well.
        limits: How many texts of each part are shown at most.
        current: The selection of records of this tenant and group that may be shown now.
        since: The moment before which nothing is shown.
        vector: The vector of the query.
        shared_words: How many different words of the query one text has at most.
        has_comparable_vectors: Whether long-term memory has vectors of the query's space.
        working_words: Statistics of working memory, where that is ranked by relevance.
        long_term_words: Statistics of long-term memory, once it was searched.
        failed: Tiers that could not be searched.
        errors: Why.
        notes: Notes for people, in sentences.
    """

    parts: Parts
    query: str
    scope: MemoryScope
    options: RetrieveOptions
    now: datetime
    tiers: Tiers = field(init=False)
    words: list[str] = field(init=False)
    names: set[str] = field(init=False)
    periods: list[Period] = field(init=False)
    time_order: Literal["oldest", "newest"] | None = field(init=False)
    asks_agent: bool = field(init=False)
    ranks_working: bool = field(init=False)
    agent_id: str | None = field(init=False)
    limits: dict[RecallPart, int] = field(init=False)
    current: Select = field(init=False)
    since: datetime | None = field(init=False, default=None)
    vector: Vector | None = None
    shared_words: int = 0
    has_comparable_vectors: bool = True
    working_words: WordStatistics = NO_WORDS
    long_term_words: WordStatistics = NO_WORDS
    failed: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _is_bare: bool = field(init=False)
    _named: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tiers = self.parts.tiers
        self.words = query_words(self.query)
        self._is_bare = len(self.words) == 1 == len(words_of(self.query))
        self.names = {*self.words}
        if capitalised := _CAPITALISED.findall(self.query):
            self.names.update(core_words(" ".join(capitalised)))
        self.periods = periods_of(self.query, self.now)
        self.time_order = time_order_of(self.query)
        self.asks_agent = _ASKS_AGENT.search(self.query) is not None
        limits, options = self.parts.limits, self.options
        self.ranks_working = self.parts.working_ranking != "recency"
        agent = options.agent_id or self.scope.agent_id
        # What one user alone is shown is no experience of an agent that anybody could name.
        self.agent_id = None if is_personal_agent(agent) else agent
        self.limits = {
            "working": limits.working_items
            if options.working_items is None
            else options.working_items,
            "group": limits.long_term_items
            if options.long_term_items is None
            else options.long_term_items,
            "agent": limits.agent_items,
        }
        self.current = (
            current_in(self.parts, self.scope)
            if options.at is None
            else Select.within(self.scope, live_at=self.now)
        )
        if options.time_range_days is not None:
            # An age before the first year of the calendar leaves nothing out.
            with suppress(OverflowError):
                self.since = self.now - timedelta(days=options.time_range_days)

    @property
    def measures_meaning(self) -> bool:
        """Whether long-term memory is searched by vectors at all."""
        return self.vector is not None and self.has_comparable_vectors

    @property
    def balance(self) -> Balance:
        """How words and meaning are weighed, by how many words texts share with the query."""
        if self._is_bare:
            return BALANCED  # the word is all that was asked
        return balance_of(self.parts.ranking, self.shared_words, len(self.words))

    @property
    def agent_share(self) -> float:
        """The share of its score that a long text of an agent loses in this recall."""
        return 0.0 if self.asks_agent else self.parts.ranking.agent

    @property
    def corpus(self) -> WordStatistics:
        """Statistics of both tiers, by which the scores of both can be compared."""
        return self.long_term_words.with_more(self.working_words)

    def are_named(self, records: Sequence[Entry | Memory]) -> list[bool]:
        """Return for each record whether the query names who said it.

        Args:
            records: The records.

        Returns:
            An answer for each record, in the same order.
        """
        names, cached = speaker_names(records), self._named
        for name in {*names} - cached.keys():
            cached[name] = not self.names.isdisjoint(core_words(name))
        return [cached[name] for name in names]

    async def vectors_of(self, texts: Sequence[RankedRecord]) -> Sequence[Vector | None]:
        """Return the vectors of texts that are compared with the query.

        Args:
            texts: The records.

        Returns:
            A vector for each; None for all if nothing is compared by meaning or the model fails.
        """
        embedder = self.parts.embedder
        if self.vector is None or embedder is None or not texts:
            return [None] * len(texts)
        most = self.parts.limits.working_chars
        records = [text.record for text in texts]
        compared = [embedder.text_of(record.content[:most], record.metadata) for record in records]
        try:
            return await embedder.packed(self.parts.runner, compared)
        except EmbeddingFailed as failed:
            logger.warning("%s; working memory is compared by words", failed)
            self.note(f"{failed}; working memory was compared by words")
            return [None] * len(texts)

    def note(self, sentence: str) -> None:
        """Add a note for people, unless it is there already.

        Args:
            sentence: The note.
        """
        if sentence not in self.notes:
            self.notes.append(sentence)

"""Results of the tiers: insights, recalled items, reports. Frozen values, except for lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, get_args

from memoryware.errors import EntryMissing
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory, Role, Verdict
from memoryware.tiers.provenance import Origin, Provenance, Trust

Layer = Literal["quarantine", "working", "long_term"]
"""A tier, by the name under which it is listed."""
LAYERS: Final = get_args(Layer)
"""All tiers, from quarantine to long-term memory."""
_REPR_CHARS: Final = 60
_REPR_TEXTS: Final = 3


@dataclass(frozen=True, slots=True)
class Output:
    """One of several outputs that are recorded together; see `TieredMemory.record_many`.

    Attributes:
        content: The text.
        metadata: Its metadata, such as `confidence`.
        role: The part that its maker plays in the graph.
        provenance: Who made it, and of what; by default the agent of the scope.
        key: Idempotency key: recording the same key again records nothing.
        shown: The items of memory that its author was shown.
        made_of: Keys of outputs that stand before it in the same call, from which it was made:
            their entries become sources of it.
    """

    content: str
    metadata: Mapping[str, Any] | None = None
    role: Role = "agent"
    provenance: Provenance | None = None
    key: str | None = None
    shown: Sequence[ContextItem] = ()
    made_of: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The result of recording an output.

    Attributes:
        entry: The entry in quarantine.
        working: Whether it is in working memory as well.
        refused: Why not: a code, such as "too_short"; None if no filter refused it.
    """

    entry: Entry
    working: bool = False
    refused: str | None = None

    def __repr__(self) -> str:
        return (
            f"Recorded(entry={self.entry.id!r}, content={_beginning(self.entry.content)!r},"
            f" working={self.working}, refused={self.refused!r})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A text that was in long-term memory until another one took its place.

    Attributes:
        memory_id: The memory that does not hold any more.
        at: Since when.
        by: `document_id` of the text that took its place.
    """

    memory_id: str
    at: datetime
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """One statement that waits in quarantine, with every entry that makes it.

    Entries are in one insight only if they say the same. Texts about the same matter that say
    something else are insights of their own, and name each other in `conflicts_with`.

    Attributes:
        id: The same for the same sources and statement.
        scope: Whose memory it is.
        summary: The statement; a promotion keeps exactly this text.
        source_entry_ids: The entries it is promoted from, newest first.
        provenance: Of the statement: its trust is the least of its sources.
        extractive: Whether it is in the words of a source, not of a model.
        conflicts_with: Ids of insights of this digest that say something else about the matter.
        contradicts: Ids of memories in long-term memory that do.
        repeats: Other entries that say the same and add nothing: copies, echoes, and what is
            trusted less. They are counted and decided with it, and are no part of its lineage.
        covers: For each entry that makes several statements, the digests of those that are
            decided with this insight. The entry waits until all of them are decided.
        replaced: Memories that said exactly this until they were superseded: who says it again
            may have missed that it has changed. Another wording is not noticed.
        personal: Whether a promotion shows it to the user of its scope alone, as a `MemoryManager`
            proposes what users say of themselves; `promote(insight, shared=True)` shares it.
    """

    id: str
    scope: MemoryScope
    summary: str
    source_entry_ids: tuple[str, ...]
    provenance: Provenance
    extractive: bool = True
    conflicts_with: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    covers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    replaced: tuple[Replacement, ...] = ()
    personal: bool = False

    @property
    def entry_ids(self) -> tuple[str, ...]:
        """Every entry that is decided with it, in part or as a whole."""
        return (*self.source_entry_ids, *self.repeats)

    def without(self, entry_id: str) -> Insight:
        """Return the insight without one of its entries, for a decision about the others.

        What is left out repeats what is decided, and does not come again for that reason; take it
        out with `TieredMemory.ungroup` as well if it says something else.

        Args:
            entry_id: The entry. Its lineage is no part of the promotion then.

        Returns:
            The insight.

        Raises:
            EntryMissing: If it is not one of `entry_ids`, or the only source.
        """
        sources = tuple(source for source in self.source_entry_ids if source != entry_id)
        if entry_id not in self.entry_ids:
            raise EntryMissing(f"Entry {entry_id} is not part of this insight; see its entry_ids")
        if not sources:
            raise EntryMissing(
                f"Entry {entry_id} is the only source of this insight; decide about the insight"
            )
        return replace(
            self,
            source_entry_ids=sources,
            repeats=tuple(repeat for repeat in self.repeats if repeat != entry_id),
            covers={id_: hashes for id_, hashes in self.covers.items() if id_ != entry_id},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The entries in quarantine that wait for a decision, as insights.

    Attributes:
        scope: Whose quarantine it is.
        insights: The insights of this page, those worth most to a reviewer first: proposed,
            specific and said by several sources; courtesy and reports of one form last.
            Insights in conflict are adjacent.
        since: Entries before this moment do not count in `insights`, `total` and `entries`; the
            earliest moment there is if all that waits was asked for.
        entries: How many waiting entries fit the filters, on all pages.
        more: How many older entries were not looked at, because there are too many.
        total: How many insights there are on all pages.
        next: The cursor after which there is more; None on the last page.
        waiting: How many entries of this tenant and group wait in all, whatever the filters.
            What repeats a decided text, or only echoes memory, does not wait.
        older: How many waiting entries are in no insight because they are from before `since`;
            a digest with an earlier `since` shows them.
    """

    scope: MemoryScope
    insights: tuple[Insight, ...]
    since: datetime
    entries: int = 0
    more: int = 0
    total: int = 0
    next: str | None = None
    waiting: int = 0
    older: int = 0

    def __repr__(self) -> str:
        summaries = [_beginning(insight.summary) for insight in self.insights[:_REPR_TEXTS]]
        more = len(self.insights) - len(summaries)
        texts = ", ".join([*map(repr, summaries), *([f"... {more} more"] if more else [])])
        return (
            f"Digest(insights=[{texts}], total={self.total}, entries={self.entries},"
            f" waiting={self.waiting}, older={self.older}, next={self.next!r})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two texts that cannot both hold, and that no rule could settle.

    Attributes:
        first: The id of the older memory.
        second: The id of the other.
        reason: Why they contradict each other, in words.
    """

    first: str
    second: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """A text that is in long-term memory.

    Attributes:
        document_id: Of the whole text; "" if the text waits as a proposal.
        memories: Its chunks.
        existing: Whether it was there already, so that nothing was added.
        unembedded: Chunks without a vector yet; words find them meanwhile.
        superseded: `document_id` of the documents that it superseded.
        contradictions: Contradictions with memories that no rule could settle.
        proposal: The entry that waits instead, because what is current of the subject is
            trusted more; nothing was promoted then. A person who promotes it decides.
    """

    document_id: str = ""
    memories: tuple[Memory, ...] = ()
    existing: bool = False
    unembedded: int = 0
    superseded: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    proposal: Entry | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its chunks."""
        return tuple(memory.id for memory in self.memories)

    def __repr__(self) -> str:
        content = self.memories[0].content if self.memories else ""
        facts = {
            "document_id": self.document_id,
            "content": _beginning(content),
            "memories": len(self.memories),
            "existing": self.existing,
            "unembedded": self.unembedded,
            "superseded": len(self.superseded),
            "contradictions": len(self.contradictions),
            "proposal": self.proposal and self.proposal.id,
        }
        shown = ", ".join(f"{name}={fact!r}" for name, fact in facts.items() if fact)
        return f"Promotion({shown})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """A recalled entry or memory.

    Attributes:
        id: Of the entry or memory.
        content: Its text.
        source: "working" from working memory, "long_term" from long-term memory.
        score: Its rank, higher is better; comparable within one recall only. Of what a reranker
            has scored that score, where needed raised above those that it has not.
        similarity: The cosine to the query; None where none was measured.
        created_at: When it was recorded or promoted.
        scope: On whose behalf.
        trust: How far it is trusted.
        provenance: Where it came from.
        verdict: The verdict of a fact check.
        metadata: Further metadata.
        document_id: Of the whole promoted text; None of working memory.
        subject: What it is about; None if no subject was set.
    """

    id: str
    content: str
    source: Literal["working", "long_term"]
    score: float
    similarity: float | None = None
    created_at: datetime
    scope: MemoryScope
    provenance: Provenance
    verdict: Verdict | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    document_id: str | None = None
    subject: str | None = None

    @property
    def trust(self) -> Trust:
        """How far it is trusted: as far as the least of its lineage."""
        return self.provenance.trust

    @property
    def verified(self) -> bool:
        """Whether somebody promoted it and no check of facts spoke against it."""
        return self.source == "long_term" and (self.verdict is None or self.verdict.verified)


def _beginning(text: str) -> str:
    """Return the beginning of a text as one line, for a repr."""
    # A repr ends up in logs: texts of memory can be as long as their authors like.
    line = " ".join(text[: _REPR_CHARS * 4].split())
    is_whole = len(line) <= _REPR_CHARS and len(text) <= _REPR_CHARS * 4
    return line if is_whole else f"{line[:_REPR_CHARS]}..."


def item_of(
    record: Entry | Memory, score: float = 0.0, similarity: float | None = None
) -> ContextItem:
    """Return a record as a recalled item.

    Args:
        record: The entry or memory.
        score: Its rank, higher is better.
        similarity: Its cosine to the query; None if it was not measured.

    Returns:
        The item.
    """
    return items_of([record], [score], [similarity])[0]


def items_of(
    records: Iterable[Entry | Memory],
    scores: Iterable[float],
    similarities: Iterable[float | None],
) -> list[ContextItem]:
    """Return records as recalled items, with their own copies of the metadata.

    Args:
        records: Entries and memories.
        scores: The score of each.
        similarities: The cosine of each; None where none was measured.

    Returns:
        The items, in the same order.
    """
    items = []
    for record, score, similarity in zip(records, scores, similarities, strict=True):
        memory = record if isinstance(record, Memory) else None
        metadata = {
            key: deepcopy(value) if isinstance(value, dict | list) else value
            for key, value in record.metadata.items()
        }
        if memory is not None:
            metadata["chunk_index"] = memory.chunk_index
            metadata["chunk_count"] = memory.chunk_count
        items.append(
            ContextItem(
                id=record.id,
                content=record.content,
                source="working" if memory is None else "long_term",
                score=score,
                similarity=similarity,
                created_at=record.created_at,
                scope=record.scope,
                provenance=record.provenance,
                verdict=record.verdict,
                metadata=metadata,
                document_id=None if memory is None else memory.document_id,
                subject=None if memory is None else memory.subject,
            )
        )
    return items


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text that a recall considered, and how it ranked.

    Attributes:
        item: The text; its score is the final one.
        ranks: Its place, from 1, in each list that it was in: "recency", "words", "vectors",
            "neighbours", "reranker".
        values: What each list measured; of what a reranker scored also "fused", the score that
            it had before.
        reason: Why it was found, in words.
        left_out: Why it is not in the answer: a code such as "threshold", "limit",
            "duplicate", "time_range", "superseded", "revoked", "not_yet"; None if it is.
        detail: That in words.
    """

    item: ContextItem
    ranks: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    left_out: str | None = None
    detail: str = ""


class Recall(list[ContextItem]):
    """Recalled items, best first: a list with candidates, contradictions and notes.

    Args:
        items: The items.
        candidates: As the attribute.
        contradictions: Pairs of items that say different things, or what computes them when they
            are read for the first time.
        failed: As the attribute.
        notes: As the attribute.

    Attributes:
        candidates: With `explain=True`, everything that was considered.
        failed: Tiers that could not be asked: "working", "long_term"; the rest is still here.
        notes: Notes for people, in sentences: no vectors, a failed embedding.
    """

    _contradictions: tuple[Contradiction, ...] | None
    _compare: Callable[[], Iterable[Contradiction]]

    def __init__(
        self,
        items: Iterable[ContextItem] = (),
        *,
        candidates: Iterable[Candidate] = (),
        contradictions: Iterable[Contradiction] | Callable[[], Iterable[Contradiction]] = (),
        failed: Iterable[str] = (),
        notes: Iterable[str] = (),
    ) -> None:
        super().__init__(items)
        self.candidates = tuple(candidates)
        if callable(contradictions):
            self._contradictions, self._compare = None, contradictions
        else:
            self.contradictions = tuple(contradictions)
        self.failed = tuple(failed)
        self.notes = tuple(notes)

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Pairs of the recalled items that say different things.

        They are searched for when this is read for the first time, because comparing ten texts
        in pairs takes longer than finding them. What was recalled is compared, whatever has
        been done to the list since.
        """
        # No lock: two threads that ask at once compute the same.
        if self._contradictions is None:
            self._contradictions = tuple(self._compare())
        return self._contradictions

    @contradictions.setter
    def contradictions(self, pairs: Iterable[Contradiction]) -> None:
        self._contradictions = tuple(pairs)

    # What is copied, pickled or sent elsewhere has the contradictions themselves: the function
    # and the texts that it holds would not survive the way, or go it twice.
    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in vars(self).items() if key not in _LAZY}
        return {**state, "contradictions": self.contradictions}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)


_LAZY: Final = frozenset({"_contradictions", "_compare"})
"""Attributes of `Recall` from which its contradictions are computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many, by tier."""

    quarantine: int = 0
    working: int = 0
    long_term: int = 0

    @property
    def total(self) -> int:
        """All together."""
        return self.quarantine + self.working + self.long_term

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            quarantine=self.quarantine + other.quarantine,
            working=self.working + other.working,
            long_term=self.long_term + other.long_term,
        )


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A group of a tenant that has records.

    Attributes:
        tenant: The tenant; None for the one without a name.
        group_id: The group; None for records without a group.
        counts: How many records it has, by tier, whatever their state.
    """

    tenant: str | None
    group_id: str | None
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt(Counts):
    """The receipt of a deletion: how many records by tier, when, by whom, on which condition.

    It has no text. Nothing can be put back with it.

    Attributes:
        id: Of the receipt; "" of a dry run.
        scope: Tenant and group that the call named.
        condition: The condition without personal data: parts of the scope, an origin, the number of
            ids, or that there was a query.
        by: Who did it; "" if unknown.
        at: When; None of a dry run.
        reason: Why, in words.
        reinstated: Ids of memories that are current again, because what had taken their place
            was deleted.
    """

    id: str = ""
    scope: MemoryScope = field(default_factory=MemoryScope)
    condition: str = ""
    by: str = ""
    at: datetime | None = None
    reason: str = ""
    reinstated: tuple[str, ...] = ()

    @property
    def counts(self) -> Counts:
        """How much was deleted, by tier, and nothing else."""
        return Counts(quarantine=self.quarantine, working=self.working, long_term=self.long_term)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The receipt of a revocation; `restore(receipt)` undoes it.

    Attributes:
        id: Of the revocation; the hidden records carry it.
        scope: Where.
        what: The ids or the origin that were revoked.
        by: Who did it.
        at: When.
        reason: Why, in words.
        counts: How much, by tier.
        ids: The hidden records, those that were revoked themselves first.
        reinstated: Ids of memories that are current again, because what had taken their place
            was taken back.
    """

    id: str
    scope: MemoryScope
    what: str
    by: str
    at: datetime
    reason: str = ""
    counts: Counts = field(default_factory=Counts)
    ids: tuple[str, ...] = ()
    reinstated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of a listing.

    Attributes:
        id: Of the record.
        tier: Its tier.
        content: Its text.
        created_at: When it was recorded or promoted.
        score: How well it fits the words of the query, from 0 to 1; None without a query.
        status: Of an entry its status; of a memory "current", "superseded" or "revoked".
        trust: How far it is trusted.
        origin: Who made it.
        record: All of it.
    """

    id: str
    tier: Layer
    content: str
    created_at: datetime
    score: float | None = None
    status: str
    trust: Trust
    origin: Origin
    record: Entry | Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A page of a listing.

    Attributes:
        items: Its lines, newest first; with a query the best first.
        total: How many there are in all.
        next: The mark after which there is more; None at the end.
    """

    items: tuple[Listed, ...] = ()
    total: int = 0
    next: str | None = None

    def __iter__(self) -> Iterator[Listed]:
        """Iterate over the lines of this page."""
        return iter(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """The result of `reindex`.

    Attributes:
        space: The space in which everything is now, such as "minilm (384 dimensions)".
        embedded: How many memories got a new vector.
        failed: How many still have none; words find them.
    """

    space: str
    embedded: int = 0
    failed: int = 0

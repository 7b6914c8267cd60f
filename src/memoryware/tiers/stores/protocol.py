"""What a store of each tier must do. No driver is imported here.

Every method has an `a` twin with the same signature. A store keeps records as they are
given; what may be recorded, promoted or shown is decided above it. Everything that a store
confirms is there after a crash, and a call that fails has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from os import PathLike
from typing import Any, Generic, Protocol, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware.errors import NotPicklable
from memoryware.scope import MemoryScope
from memoryware.tiers.records import Entry, Memory, Status
from memoryware.tiers.stores.sight import Choose, Query, Searched, Space, Vector

R = TypeVar("R", Entry, Memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """Which records are meant: those that fit every condition.

    A tuple holds the values that fit, None any value. A tuple may hold None: what has no value.

    Attributes:
        tenant: The tenant, exactly; None is the tenant without a name, never all tenants.
        groups: Groups.
        users: Users.
        agents: Agents.
        sessions: Sessions.
        ids: Ids of records.
        documents: `document_id` of memories; entries have none.
        statuses: Status of entries; memories have none.
        hashes: `content_hash`.
        subjects: `subject` of memories.
        revocations: The revocation.
        root: An origin, as text, in the whole lineage: `"tool:web_search"`.
        made_of: Ids; records that name one of them among `provenance.sources`.
        since: Created at this moment or later.
        before: Created before this moment.
        contains: A text that the content has, whatever its case.
        live_at: Only what may be shown at that moment: not revoked, not expired, and valid.
        ahead: How long after `live_at` a memory may begin and fit all the same: the machine that
            promoted it may have a clock that is ahead.
    """

    tenant: str | None = None
    groups: tuple[str | None, ...] | None = None
    users: tuple[str | None, ...] | None = None
    agents: tuple[str | None, ...] | None = None
    sessions: tuple[str | None, ...] | None = None
    ids: tuple[str, ...] | None = None
    documents: tuple[str, ...] | None = None
    statuses: tuple[Status, ...] | None = None
    hashes: tuple[str, ...] | None = None
    subjects: tuple[str | None, ...] | None = None
    revocations: tuple[str | None, ...] | None = None
    root: str | None = None
    made_of: tuple[str, ...] | None = None
    since: datetime | None = None
    before: datetime | None = None
    contains: str = ""
    live_at: datetime | None = None
    ahead: timedelta = timedelta(0)

    @classmethod
    def within(cls, scope: MemoryScope, **conditions: Any) -> Select:
        """Return a selection of exactly this tenant and group; other parts do not count."""
        return cls(tenant=scope.tenant, groups=(scope.group_id,), **conditions)

    def also(self, **conditions: Any) -> Select:
        """Return a selection with these conditions in place of its own."""
        return replace(self, **conditions)


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    """A part of what was found.

    Attributes:
        items: Records, the one that was stored last first.
        total: How many there are in all.
        newer: How many of them stand before these.
        marks: The mark of each item, which stays good when the item is gone.
    """

    items: list[R] = field(default_factory=list)
    total: int = 0
    newer: int = 0
    marks: list[str] = field(default_factory=list)

    @property
    def next(self) -> str | None:
        """After which mark there is more; None at the end."""
        return self.marks[-1] if self.marks and self.newer + len(self.items) < self.total else None


@dataclass(frozen=True, slots=True)
class Stretch(Generic[R]):
    """A part of everything that a store has.

    Attributes:
        items: Records of any tenants.
        mark: Where to go on; None at the end.
        total: How many there are in all; None but in the first part, and where it is not known.
    """

    items: list[R] = field(default_factory=list)
    mark: str | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a search found.

    Attributes:
        memory: The memory.
        value: How well it fits; higher is better. Of words: a BM25 score above 0. Of
            vectors: the cosine, from -1 to 1.
        whole: Of words: what a text scores that has each word of the query once; see
            `scoring.whole_score`. None where the store does not say.
    """

    memory: Memory
    value: float
    whole: float | None = None


class RecordStore(Protocol[R]):
    """What the stores of all tiers have in common.

    A record is known by tenant, group and id together: strangers may have the same ids, and
    nothing that is done to one reaches the other. After `close` every call raises
    `StoreUnavailable`. A call that is interrupted, by Ctrl-C as well, has changed nothing or
    everything, and keeps nobody out; the child of a fork can use the store whatever other
    threads were doing.
    """

    def find(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[R]:
        """Return what fits, the one that was stored last first, and how many there are.

        Args:
            which: What is looked for.
            limit: How many at most.
            offset: How many to pass over.
            after: A mark of a page before: only what was stored earlier than its record. What
                is stored or deleted meanwhile moves nothing, so that whoever goes from mark to
                mark sees once each record that is there all the time and stays in its place.

        Raises:
            SettingError: If no store of this kind can have returned the mark.
        """
        ...

    async def afind(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[R]: ...

    def edit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        """Replace each record that fits by what `change` returns; return those that differ.

        Nothing else can change them in between, and either all are changed or none. `change`
        may be called more than once and keeps id, tenant and group.
        """
        ...

    async def aedit(self, which: Select, change: Callable[[R], R]) -> list[R]: ...

    def delete(self, which: Select) -> int:
        """Remove what fits, and everything that was stored with it; return how many."""
        ...

    async def adelete(self, which: Select) -> int: ...

    def walk(self, mark: str | None = None, *, limit: int) -> Stretch[R]:
        """Return records of all tenants from a mark on, or from the beginning.

        What is there during the whole walk comes at least once, as it is when it comes; what
        is stored meanwhile may come. Of each group, what was stored first comes first. A store
        without an order to go on from returns all at once, whatever the `limit`, and one that
        keeps lists does not cut them.

        Raises:
            SettingError: If no store of this kind can have returned the mark.
        """
        ...

    async def awalk(self, mark: str | None = None, *, limit: int) -> Stretch[R]: ...

    def load(self, records: Sequence[R]) -> list[R]:
        """Keep records of any tenants exactly as they are, in this order behind what is there.

        One that is there with the same id is replaced in its place if it differs, and its
        vectors stay if the content does. Nothing is compared with other records: documents of
        the same text stay two. Only an entry with the `key` of another one is passed over.
        Each record is kept as a whole; the same call may be made again if it fails.

        Returns:
            Those that were not there as they are.
        """
        ...

    async def aload(self, records: Sequence[R]) -> list[R]: ...

    def close(self) -> None:
        """Give back what the store holds open; what was confirmed stays. May be called twice."""
        ...

    async def aclose(self) -> None: ...


class QuarantineStore(RecordStore[Entry], Protocol):
    """Tier 1: everything, for ever, and never shown to a model."""

    def add(self, entry: Entry) -> Entry:
        """Keep an entry and return it.

        If its tenant and group have an entry with the same `key` already (not None), nothing
        is stored and that one is returned.

        Raises:
            StoreUnavailable: If its tenant and group have another entry with the same id.
        """
        ...

    async def aadd(self, entry: Entry) -> Entry: ...


class WorkingStore(RecordStore[Entry], Protocol):
    """Tier 2: what was said last, for a while."""

    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        """Put an entry first in the list of its tenant and group, which keeps the newest `keep`.

        An entry of this tenant and group with the same id is moved and replaced. With `renew`
        all entries of the list expire when this one does. All of it happens at once.
        """
        ...

    async def apush(self, entry: Entry, *, keep: int, renew: bool = False) -> None: ...

    def purge(self, now: datetime) -> int:
        """Remove what has expired, in all groups; return how many. `expires_at <= now` has."""
        ...

    async def apurge(self, now: datetime) -> int: ...


class LongTermStore(RecordStore[Memory], Protocol):
    """Tier 3: what was promoted, with its words and vectors."""

    def add(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        """Keep the chunks of one document, all of them or none, and return them.

        If its tenant, group and agent have a document with the same `content_hash` that is
        valid without end and not revoked, nothing is stored and the chunks of that one are
        returned.

        Args:
            memories: All chunks of one document.
            vectors: One for each chunk, None where there is none yet; or nothing at all.
            space: The space of the vectors.
            replaces: `document_id` of documents of the same tenant and group that end where
                this one begins: their `valid_to` becomes its `valid_from`, and
                `superseded_by` its id, in the same step. What has ended already stays so.

        Raises:
            EmbeddingMismatch: A vector has not the dimension of its space, or the store knows
                the name of the space with another dimension.
            StoreUnavailable: If its tenant and group have another memory with the same id.
        """
        ...

    async def aadd(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]: ...

    def by_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        """Return what has at least one of the words, best first.

        Args:
            words: Words as `ranking.words_of` makes them; documents are indexed by the same.
            which: What may be returned.
            limit: How many at most.
        """
        ...

    async def aby_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]: ...

    def by_vector(self, vector: Vector, which: Select, *, space: Space, limit: int) -> list[Hit]:
        """Return what is nearest by cosine among what has a vector in the space, best first.

        Raises:
            EmbeddingMismatch: The query has not the dimension of its space, or the store has
                adopted another space. What is embedded in this one may be a part of the whole
                only, so that words have to find until it is adopted.
        """
        ...

    async def aby_vector(
        self, vector: Vector, which: Select, *, space: Space, limit: int
    ) -> list[Hit]: ...

    def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        """Look for memories by words and by meaning at once, and read those that are chosen.

        Seen is what is among the best by BM25, what is among the nearest by cosine, and what
        stands beside these. All of it fits the selection, and what does not fit stands between
        nothing: the ones around it follow each other. Of what is as good as the last one, the
        newest is seen. Numbers of words are those of the whole tenant and groups, whatever else
        the selection says. A thread whose name is too long to be looked for may be none: in
        PostgreSQL these are sessions and documents with names of more than 200 characters.

        An error in `choose` comes out as it is, and keeps nobody out.

        Raises:
            EmbeddingMismatch: As for `by_vector`.
        """
        ...

    async def asearch(self, query: Query, which: Select, choose: Choose) -> Searched: ...

    def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        """Return memories of all tenants without a vector in this space, oldest first."""
        ...

    async def aunembedded(self, space: Space, *, limit: int) -> list[Memory]: ...

    def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        """Keep vectors of memories, in place of older ones of the same space.

        A memory that is not there anymore, or has another content now, is passed over. Returns
        how many were kept.

        Raises:
            EmbeddingMismatch: As for `add`.
        """
        ...

    async def aput_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int: ...

    def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        """Return the vector of each memory in a space, None where it has none there.

        It has the direction that it was stored with; its length may have become 1. A memory
        that is not there anymore, or has another content now, has none.

        Raises:
            EmbeddingMismatch: As for `add`.
        """
        ...

    async def avectors_of(
        self, memories: Sequence[Memory], space: Space
    ) -> list[Vector | None]: ...

    def spaces(self) -> dict[Space, int]:
        """Return every space that is known and how many vectors it has, the current one first."""
        ...

    async def aspaces(self) -> dict[Space, int]: ...

    def known_spaces(self) -> list[Space]:
        """Return every space that is known, the current one first, and count no vectors."""
        ...

    async def aknown_spaces(self) -> list[Space]: ...

    def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        """Make a space the current one; with `drop_others` the vectors of all others go.

        The first space that vectors are stored in is adopted by itself.
        """
        ...

    async def aadopt(self, space: Space, *, drop_others: bool = False) -> None: ...


class Backup(Protocol):
    """Writes a copy of all tiers into a file."""

    def __call__(self, target: str | PathLike[str], *, overwrite: bool = False) -> None: ...


@dataclass(frozen=True, slots=True)
class Stores(SharedOnCopy):
    """The stores of the three tiers; one object may be several of them in one file.

    Attributes:
        quarantine: Tier 1.
        working: Tier 2.
        long_term: Tier 3.
        reopen: Opens the same stores again, for a pickle; None where nothing can.
        backup: Writes a copy of all tiers into a file, with `overwrite=` whether it may replace
            one; None where the database has tools of its own for that.
    """

    quarantine: QuarantineStore
    working: WorkingStore
    long_term: LongTermStore
    reopen: Callable[[], Stores] | None = field(default=None, repr=False, compare=False)
    backup: Backup | None = field(default=None, repr=False, compare=False)

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.reopen is None:
            raise NotPicklable(
                "these stores hold open connections, or live in this process only, and cannot be"
                " pickled: open them by the address of a file or a server, such as"
                " sqlite:////var/memory.db"
            )
        return self.reopen, ()

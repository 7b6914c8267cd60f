"""The store contract: a store, its transactions, selections and pages. No driver is imported.

A store keeps records as they are given; what may be recorded, promoted or shown is decided above
it.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from importlib import import_module
from os import PathLike
from typing import Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar, get_args, overload

from memoryware._copying import SharedOnCopy
from memoryware.errors import NotPicklable
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory, Status

R = TypeVar("R", Entry, Memory)
T = TypeVar("T")
Tier: TypeAlias = Literal["quarantine", "working", "long_term"]
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)


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
        superseded_by: `superseded_by` of memories.
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
    superseded_by: tuple[str, ...] | None = None
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
class Batch(Generic[R]):
    """Some of all records of a store, as `walk` returns them.

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


# Searches.


Vector: TypeAlias = Sequence[float]
"""An embedding; stores keep it with at least the precision of a 16-bit float."""


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding space: vectors of two spaces are never compared.

    Attributes:
        name: The name of the model.
        dimension: The length of its vectors.
    """

    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a search looks for.

    Attributes:
        words: Words as `text.terms.query_words` returns them, each once.
        vector: The vector of the question; None where words alone are searched.
        space: The space of that vector.
        limit: How many of the best by words, and how many of the nearest, are seen.
        reach: How many on each side of those, in the same thread, are seen beside them; with 0
            no thread is looked at, and nothing follows anything.
        sessions: Whether a thread is everything of one session, not only of one document.
        thread: How many memories of all the threads of those are looked through at most, the
            newest that fit.
    """

    words: Sequence[str]
    vector: Vector | None = None
    space: Space | None = None
    limit: int = 50
    reach: int = 3
    sessions: bool = False
    thread: int = 5000


@dataclass(frozen=True, slots=True)
class Seen:
    """What a search sees of a memory, whether it is shown or not.

    Attributes:
        counts: How often it has each word of the query.
        size: How many words it has.
        similarity: Its cosine to the query, from -1 to 1; None if it has no vector.
        follows: Whether it is the direct successor of the one before it, in a thread: the chunks of
            a document, or with `sessions` everything of a session, in the order of storing.
    """

    counts: tuple[int, ...]
    size: int
    similarity: float | None = None
    follows: bool = False


class Notes:
    """Numbers that a recall notes of memories it has read, to know more of them the next time.

    What they mean is up to the recall. A store that decodes memories keeps them as long as a
    memory does not change; 0 stands for none.
    """

    __slots__ = ("_column", "_rows")

    def __init__(self, column: Any, rows: Any) -> None:
        """Give access to the notes of some memories.

        Args:
            column: The notes of all memories of a group, as an array that a change replaces:
                whoever still has the one before writes to what nobody reads.
            rows: The rows of the memories in it.
        """
        self._column, self._rows = column, rows

    def read(self) -> Any:
        """Return the notes of the memories, as an array."""
        return self._column[self._rows]

    def write(self, positions: Sequence[int], notes: Sequence[int]) -> None:
        """Keep the notes of the memories at some places."""
        self._column[self._rows[positions]] = notes


class SeenColumns(Sequence[Seen]):
    """The same as a list of `Seen`, as NumPy arrays: what is seen is scored without a loop.

    Attributes:
        counts: For each word of the query an array: how often each memory has it.
        sizes: How many words each memory has.
        similarities: Their cosines, NaN where there is no vector; None if none is measured.
        follows: Whether each is the direct successor of the one before it; None if none is.
        notes: What recalls have noted of them; None where nothing is kept.
    """

    __slots__ = ("counts", "follows", "notes", "similarities", "sizes")

    def __init__(
        self,
        counts: Sequence[Any],
        sizes: Any,
        similarities: Any = None,
        follows: Any = None,
        notes: Notes | None = None,
    ) -> None:
        self.counts = counts
        self.sizes = sizes
        self.similarities = similarities
        self.follows = follows
        self.notes = notes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __len__(self) -> int:
        return len(self.sizes)

    @overload
    def __getitem__(self, position: int) -> Seen: ...
    @overload
    def __getitem__(self, position: slice) -> list[Seen]: ...
    def __getitem__(self, position: int | slice) -> Seen | list[Seen]:
        if isinstance(position, slice):
            return [self[at] for at in range(len(self))[position]]
        near = None if self.similarities is None else float(self.similarities[position])
        return Seen(
            tuple(int(column[position]) for column in self.counts),
            int(self.sizes[position]),
            None if near is None or near != near else near,  # noqa: PLR0124 - NaN is never equal
            self.follows is not None and bool(self.follows[position]),
        )


def seen_of(
    counts: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    similarities: Sequence[float | None],
    follows: Sequence[bool],
) -> Sequence[Seen]:
    """Return what is seen of memories: as columns where meaning was measured by NumPy.

    Args:
        counts: For each memory how often it has each word of the query.
        sizes: How many words each has.
        similarities: The cosine of each; None of one that has no vector.
        follows: Whether each is the direct successor of the one before it.
    """
    # Whoever measures meaning has loaded it; for words alone it would take a tenth of a second.
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not counts:
        return list(map(Seen, counts, sizes, similarities, follows))
    cosines = [math.nan if similarity is None else similarity for similarity in similarities]
    rows = numpy.array(counts, "i8").reshape(len(counts), -1)
    return SeenColumns(
        [*rows.T], numpy.array(sizes, "i8"), numpy.array(cosines), numpy.array(follows, bool)
    )


def word_columns(seen: Sequence[Seen]) -> tuple[Sequence[Any], Any]:
    """Return how often each memory has each word, a column for each word, and their sizes."""
    if isinstance(seen, SeenColumns):
        return seen.counts, seen.sizes
    return [*zip(*(memory.counts for memory in seen), strict=True)], [
        memory.size for memory in seen
    ]


def similarities(seen: Sequence[Seen]) -> dict[int, float]:
    """Return the cosines of the memories that have a vector, by their places."""
    if isinstance(seen, SeenColumns):
        near = [] if seen.similarities is None else seen.similarities.tolist()
        return {position: cosine for position, cosine in enumerate(near) if not math.isnan(cosine)}
    near = [memory.similarity for memory in seen]
    return {position: cosine for position, cosine in enumerate(near) if cosine is not None}


@dataclass(frozen=True, slots=True)
class Sight:
    """Everything that a search sees, thread by thread.

    Attributes:
        seen: The memories, in no order but that of their threads.
        having: How many memories of the tenant and groups have each word of the query.
        count: How many memories these have.
        mean: How many words each of them has on average.
    """

    seen: Sequence[Seen] = ()
    having: tuple[int, ...] = ()
    count: int = 0
    mean: float = 0.0


Choose: TypeAlias = Callable[[Sight], Sequence[int]]
"""Says which of what is seen to read, by places; it may be asked more than once."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search saw, and the memories that were chosen of it, by their places.

    The memories may be those of a cache: whoever hands them on copies their metadata.
    """

    sight: Sight = field(default_factory=Sight)
    memories: dict[int, Memory] = field(default_factory=dict)


# Stores.


class Transaction(ABC):
    """The records of a store inside one unit of work: all of it happens, or nothing.

    A record is identified by tenant, group and id together: strangers may have the same ids, and
    nothing that is done to one reaches the other. A transaction sees its own changes.

    Attributes:
        reads_ahead: Whether it makes use of `read_ahead`.
    """

    reads_ahead: bool = False

    @abstractmethod
    async def find(
        self,
        tier: Tier,
        which: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        """Return a page of the records that fit, the one that was stored last first.

        Args:
            tier: Where to look.
            which: What is looked for.
            limit: How many at most.
            offset: How many to skip.
            after: A mark of an earlier page: only what was stored before its record. Records that
                are stored or deleted meanwhile move nothing, so following the marks returns every
                record once that is there all the time and stays in its place.

        Raises:
            SettingError: If no store of this kind can have returned the mark.
        """

    async def find_many(self, requests: Sequence[tuple[Tier, Select]]) -> list[Page[Any]]:
        """Return everything that fits each of several selections.

        A store on a server overrides this to ask for all of them in one round trip.
        """
        return [await self.find(tier, which) for tier, which in requests]

    @abstractmethod
    async def add(
        self,
        tier: Tier,
        records: Sequence[Any],
        *,
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Any]:
        """Add an entry to quarantine, or all chunks of one document to long-term memory.

        If quarantine of the tenant and group has an entry with the same `key` (not None), nothing
        is stored and that entry is returned. If the tenant, group and agent have a document with
        the same `content_hash` that is valid without end and not revoked, nothing is stored and
        the chunks of that document are returned.

        Args:
            tier: "quarantine" or "long_term".
            records: One entry, or the chunks of one document.
            vectors: Of chunks: one for each, None where there is none yet; or empty.
            space: The space of the vectors.

        Returns:
            What is stored now.

        Raises:
            EmbeddingMismatch: If a vector has another dimension than its space, or the store
                knows the name of the space with another dimension.
            StoreUnavailable: If the tenant and group have another record with the same id.
        """

    @abstractmethod
    async def edit(self, tier: Tier, which: Select, change: Callable[[Any], Any]) -> list[Any]:
        """Replace each record that fits by what `change` returns; return those that differ.

        `change` may be called more than once and keeps id, tenant and group.
        """

    @abstractmethod
    async def delete(self, tier: Tier, which: Select) -> int:
        """Remove what fits, and everything that was stored with it; return how many."""

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        """Put an entry first in working memory of its group, which keeps the newest `keep`.

        An entry of this tenant and group with the same id is moved and replaced. With `renew`
        all entries of the list expire when this one does.
        """
        raise NotImplementedError(f"{type(self).__name__} has no working memory")

    async def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        """Search long-term memory by words and by meaning, and read what is chosen of it.

        The sight has what is among the best by BM25, what is among the nearest by cosine, and
        the neighbours of these in their threads. All of it fits the selection; of threads, records
        that do not fit are skipped. Of equal scores the newest is seen. Word statistics are
        those of the whole tenant and groups, whatever else the selection says. A thread whose name
        is too long to be looked up may be missing: in PostgreSQL sessions and documents with
        names of more than 200 characters.

        An error in `choose` comes out as it is, and keeps nobody out.

        Raises:
            EmbeddingMismatch: If the query has another dimension than its space, or the store has
                adopted another space: what is embedded in this one may be incomplete, so that
                words have to serve until it is adopted.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        """Store vectors of memories, in place of older ones of the same space.

        A memory that is gone, or has another content now, is skipped. Returns how many were
        stored.

        Raises:
            EmbeddingMismatch: As for `add`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        """Return the vector of each memory in a space, None where it has none there.

        It has the direction that it was stored with; its length may have become 1. A memory
        that is gone, or has another content now, has none.

        Raises:
            EmbeddingMismatch: As for `add`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        """Return every known space with the number of its vectors, the current one first.

        Args:
            counted: Whether the numbers are needed; they may be 0 otherwise.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def read_ahead(  # noqa: B027 - a store without a server has nothing to gain
        self, search: Select, document: Select, edits: Select | None, space: Space | None
    ) -> None:
        """Announce what the transaction will read; this changes no result.

        A store on a server overrides this, with `reads_ahead`, to read all of it in the round
        trip of the next read.

        Args:
            search: The group whose long-term memory is searched.
            document: `agents` and `hashes` of a document that is added.
            edits: The entries of quarantine that are edited.
            space: The space of the vectors of the document.
        """

    async def generation(self, scope: MemoryScope) -> int | None:  # noqa: ARG002 - for overrides
        """Return a number that every change of a tenant and group raises; None if unknown.

        What was read of a group is valid as long as its generation is the same. Do not keep what
        was read behind a change of the same transaction: if that is undone, another change may
        get its number.
        """
        return None


class Store(ABC):
    """Keeps records of one or more tiers.

    A store over a blocking driver never suspends in its coroutines: the blocking client drives
    them without an event loop, the asynchronous client runs a whole transaction in a thread. A
    store over an asynchronous driver sets `suspends`; the blocking client runs it on a loop in a
    thread. What a store confirms survives a crash, and a call that fails, or is interrupted by
    Ctrl-C as well, has changed nothing. After `close` every call raises `StoreUnavailable`. The
    child of a fork can use the store, whatever other threads were doing.
    """

    suspends: bool = False

    def halves(self) -> tuple[Store, Store]:
        """Return the store for blocking clients and that for asynchronous ones."""
        return self, self

    @abstractmethod
    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,
        writes: bool = True,
    ) -> T:
        """Run a unit of work and return its result; if it raises, nothing has changed.

        Args:
            work: What is done. It may run again after a conflict with others, so it has no
                effects beyond the transaction.
            about: The tenant and the groups whose records it reads or changes; other conditions do
                not count. Those who change the same group take turns. None for all tenants.
            writes: Whether it changes anything.
        """

    @abstractmethod
    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Batch[Any]:
        """Return records of all tenants from a mark on, or from the beginning.

        What is there during the whole walk comes at least once, as it is when it comes; what
        is stored meanwhile may come. Of each group, what was stored first comes first. A store
        without an order to go on from returns all at once, whatever the `limit`, and one that
        keeps lists does not cut them.

        Raises:
            SettingError: If no store of this kind can have returned the mark.
        """

    @abstractmethod
    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        """Store records of any tenants exactly as they are, in this order behind what is there.

        One that is there with the same id is replaced in its place if it differs, and its
        vectors stay if the content does. Nothing is compared with other records: documents of
        the same text stay two. Only an entry with the `key` of another one is skipped. Each
        record is stored as a whole; the same call may be made again if it fails.

        Returns:
            Those that were not there as they are.
        """

    async def purge(self, now: datetime) -> int:
        """Remove what has expired from working memory, in all groups; return how many.

        An entry has expired if `expires_at <= now`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no working memory")

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        """Make a space the current one; with `drop_others` the vectors of all others go.

        The first space that vectors are stored in is adopted by itself.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        """Return memories of all tenants without a vector in this space, oldest first."""
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def close(self) -> None:  # noqa: B027 - a store may have nothing to close
        """Give back what the store holds open; what was confirmed stays. May be called twice."""


class TierHandle(SharedOnCopy):
    """One tier of a store, through both doors: `handle.find(which)`, `await handle.afind(which)`.

    Operations of memory await `tiers.views` instead; this is for tools, tests and the curious.

    Attributes:
        store: The store.
        tier: The tier.
    """

    def __init__(self, store: Store, tier: Tier) -> None:
        self.store, self.tier = store, tier

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        # The views are written over this module, so it cannot import them while it is loaded.
        views = import_module("memoryware.tiers.stores.views")
        return views.both_doors(self, name)


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

    quarantine: TierHandle
    working: TierHandle
    long_term: TierHandle
    reopen: Callable[[], Stores] | None = field(default=None, repr=False, compare=False)
    backup: Backup | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for tier in TIERS:
            store = getattr(self, tier)
            if isinstance(store, Store):
                object.__setattr__(self, tier, TierHandle(store, tier))

    @classmethod
    def of(cls, store: Store, **more: Any) -> Stores:
        """Return the three tiers of a store that keeps all of them."""
        quarantine, working, long_term = (TierHandle(store, tier) for tier in TIERS)
        return cls(quarantine, working, long_term, **more)

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.reopen is None:
            raise NotPicklable(
                "these stores hold open connections, or live in this process only, and cannot be"
                " pickled: open them by the address of a file or a server, such as"
                " sqlite:////var/memory.db"
            )
        return self.reopen, ()

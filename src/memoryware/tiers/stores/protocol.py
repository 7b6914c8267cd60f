"""The store contract: a store, its transactions, selections and pages. No driver is imported.

A store keeps records exactly as it receives them. What may be recorded, promoted or shown is
decided by the layers above it.
"""

# long: the contract in one piece, for whoever writes a store

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
_WALKED: Final = 1000
"""Records that are read at once to count them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """A filter over records: a record is selected if it meets every condition.

    A tuple lists the accepted values; None instead of a tuple accepts every value. None inside a
    tuple accepts records without that value.

    Attributes:
        tenant: The tenant, exactly; None is the tenant without a name, never all tenants.
        groups: Groups.
        users: Users.
        agents: Agents.
        sessions: Sessions.
        ids: Ids of records.
        documents: `document_id` of memories; no entry has one.
        statuses: Status of entries; no memory has one.
        hashes: `content_hash`.
        subjects: `subject` of memories.
        superseded_by: `superseded_by` of memories.
        revocations: The revocation.
        root: An origin, as text, anywhere in the lineage: `"tool:web_search"`.
        made_of: Ids; selects the records that name one of them in `provenance.sources`.
        since: Created at this moment or later.
        before: Created before this moment.
        contains: A text in the content, compared without regard to case.
        prefix: The beginning of generated ids, which are 32 hexadecimal digits in lower case; no
            other id is selected.
        live_at: Select only what may be shown at that moment: valid, not revoked, not expired.
        ahead: How much later than `live_at` a memory may become valid and still be selected: the
            clock of the machine that promoted it may be ahead.
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
    prefix: str = ""
    live_at: datetime | None = None
    ahead: timedelta = timedelta(0)

    @classmethod
    def within(cls, scope: MemoryScope, **conditions: Any) -> Select:
        """Select exactly the tenant and the group of a scope.

        Args:
            scope: The tenant and the group; its other parts are ignored.
            conditions: Further conditions, by the names of the attributes.

        Returns:
            The selection.
        """
        return cls(tenant=scope.tenant, groups=(scope.group_id,), **conditions)

    def also(self, **conditions: Any) -> Select:
        """Return a copy of the selection with some conditions replaced.

        Args:
            conditions: The new conditions, by the names of the attributes.

        Returns:
            The new selection.
        """
        return replace(self, **conditions)


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    """A page of the selected records.

    Attributes:
        items: Records, the one that was stored last first.
        total: How many records are selected in all.
        newer: How many of them come before this page.
        marks: The pagination cursor of each item; it stays valid when the item is deleted.
    """

    items: list[R] = field(default_factory=list)
    total: int = 0
    newer: int = 0
    marks: list[str] = field(default_factory=list)

    @property
    def next(self) -> str | None:
        """The cursor of the next page; None at the end."""
        return self.marks[-1] if self.marks and self.newer + len(self.items) < self.total else None


@dataclass(frozen=True, slots=True)
class Batch(Generic[R]):
    """A batch of all records of a store, as `walk` returns them.

    Attributes:
        items: Records of any tenants.
        mark: The cursor of the next batch; None at the end.
        total: How many records there are in all. Only the first batch has it, and only where the
            store knows it.
    """

    items: list[R] = field(default_factory=list)
    mark: str | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A result of a search by words or by vector.

    Attributes:
        memory: The memory.
        value: Its score; higher is better. By words: a BM25 score above 0. By vector: the cosine,
            from -1 to 1.
        whole: By words: the score of a text that has each word of the query once; see
            `scoring.whole_score`. None where it is not known.
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
    """A query of long-term memory: words, a vector, and how many candidates to return.

    Attributes:
        words: Words as `text.terms.query_words` returns them, each once.
        vector: The embedding of the query; None to search by words alone.
        space: The space of that vector.
        limit: How many of the best by words, and how many of the nearest by vector, are
            candidates.
        reach: How many neighbours on each side of those, in the same thread, are candidates as
            well. With 0 no thread is read, and no candidate follows another.
        sessions: Whether a thread is a whole session, not only one document.
        thread: How many memories of all these threads together are read at most, the newest
            selected ones.
    """

    words: Sequence[str]
    vector: Vector | None = None
    space: Space | None = None
    limit: int = 50
    reach: int = 3
    sessions: bool = False
    thread: int = 5000


@dataclass(frozen=True, slots=True)
class SearchCandidate:
    """The figures by which a search ranks a memory, without its text.

    Attributes:
        counts: How often the memory has each word of the query.
        size: How many words it has.
        similarity: Its cosine to the query, from -1 to 1; None if it has no vector.
        follows: Whether it directly follows the candidate before it in their thread: the chunks
            of a document, or with `sessions` a whole session, in the order of storing.
        same_speaker: Whether it follows a text of the same speaker in another document; see
            `selecting.speaker_key`.
    """

    counts: tuple[int, ...]
    size: int
    similarity: float | None = None
    follows: bool = False
    same_speaker: bool = False


class RecallNotes:
    """Numbers that recall has computed for memories, kept beside a cached segment for later.

    Only recall knows what they mean. A note is dropped when its memory changes; 0 is no note.
    """

    __slots__ = ("_column", "_rows")

    def __init__(self, column: Any, rows: Any) -> None:
        """Give access to the notes of some memories.

        Args:
            column: The notes of all memories of a group, as an array. A change replaces it, so
                that a search still running writes into the old one, which nobody reads.
            rows: The rows of the memories in the array.
        """
        self._column, self._rows = column, rows

    def read(self) -> Any:
        """Return the notes of the memories, as an array of integers."""
        return self._column[self._rows]

    def write(self, positions: Sequence[int], notes: Sequence[int]) -> None:
        """Store notes.

        Args:
            positions: Positions of memories among those that this object is about.
            notes: A number for each of them.
        """
        self._column[self._rows[positions]] = notes


class CandidateColumns(Sequence[SearchCandidate]):
    """A list of `SearchCandidate` as NumPy arrays, which are scored without a loop.

    Attributes:
        counts: For each word of the query an array: how often each memory has it.
        sizes: How many words each memory has.
        similarities: Their cosines, NaN where there is no vector; None if none was computed.
        follows: Whether each directly follows the one before it; None if none does.
        notes: The notes of recall about them; None where nothing is kept.
        same_speaker: Whether each follows a text of the same speaker; None if none does.
    """

    __slots__ = ("counts", "follows", "notes", "same_speaker", "similarities", "sizes")

    def __init__(
        self,
        counts: Sequence[Any],
        sizes: Any,
        similarities: Any = None,
        follows: Any = None,
        notes: RecallNotes | None = None,
        same_speaker: Any = None,
    ) -> None:
        self.counts = counts
        self.sizes = sizes
        self.similarities = similarities
        self.follows = follows
        self.notes = notes
        self.same_speaker = same_speaker

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __len__(self) -> int:
        return len(self.sizes)

    @overload
    def __getitem__(self, position: int) -> SearchCandidate: ...
    @overload
    def __getitem__(self, position: slice) -> list[SearchCandidate]: ...
    def __getitem__(self, position: int | slice) -> SearchCandidate | list[SearchCandidate]:
        if isinstance(position, slice):
            return [self[at] for at in range(len(self))[position]]
        near = None if self.similarities is None else float(self.similarities[position])
        return SearchCandidate(
            tuple(int(column[position]) for column in self.counts),
            int(self.sizes[position]),
            None if near is None or near != near else near,  # noqa: PLR0124 - NaN is never equal
            self.follows is not None and bool(self.follows[position]),
            self.same_speaker is not None and bool(self.same_speaker[position]),
        )


def candidates_of(
    counts: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    similarities: Sequence[float | None],
    follows: Sequence[bool],
    same_speaker: Sequence[bool] | None = None,
) -> Sequence[SearchCandidate]:
    """Return candidates, as columns where NumPy is loaded.

    Args:
        counts: For each memory how often it has each word of the query.
        sizes: How many words each has.
        similarities: The cosine of each; None for one without a vector.
        follows: Whether each directly follows the one before it.
        same_speaker: Whether each follows a text of the same speaker; None if none does.

    Returns:
        `CandidateColumns`, or a list where NumPy is not loaded.
    """
    # A search by vectors has loaded it; for words alone that would take a tenth of a second.
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not counts:
        same = [False] * len(counts) if same_speaker is None else same_speaker
        return list(map(SearchCandidate, counts, sizes, similarities, follows, same))
    cosines = [math.nan if similarity is None else similarity for similarity in similarities]
    rows = numpy.array(counts, "i8").reshape(len(counts), -1)
    return CandidateColumns(
        [*rows.T],
        numpy.array(sizes, "i8"),
        numpy.array(cosines),
        numpy.array(follows, bool),
        same_speaker=None if same_speaker is None else numpy.array(same_speaker, bool),
    )


def word_columns(candidates: Sequence[SearchCandidate]) -> tuple[Sequence[Any], Any]:
    """Return how often candidates have each word of the query, word by word.

    Args:
        candidates: The candidates of a search.

    Returns:
        A column of counts for each word, and the sizes of the candidates.
    """
    if isinstance(candidates, CandidateColumns):
        return candidates.counts, candidates.sizes
    columns = [*zip(*(candidate.counts for candidate in candidates), strict=True)]
    return columns, [candidate.size for candidate in candidates]


def similarities(candidates: Sequence[SearchCandidate]) -> dict[int, float]:
    """Return the cosines of candidates.

    Args:
        candidates: The candidates of a search.

    Returns:
        The cosine of each candidate that has a vector, by its position.
    """
    if isinstance(candidates, CandidateColumns):
        near = [] if candidates.similarities is None else candidates.similarities.tolist()
        return {position: cosine for position, cosine in enumerate(near) if not math.isnan(cosine)}
    cosines = [candidate.similarity for candidate in candidates]
    return {position: cosine for position, cosine in enumerate(cosines) if cosine is not None}


@dataclass(frozen=True, slots=True)
class SearchView:
    """The candidates of a search, and the word statistics by which they are scored.

    Attributes:
        candidates: The candidates, in the order of their threads.
        having: The document frequencies: how many memories of the tenant and groups have each
            word of the query.
        count: How many memories the tenant and groups have.
        mean: How many words each of them has on average.
    """

    candidates: Sequence[SearchCandidate] = ()
    having: tuple[int, ...] = ()
    count: int = 0
    mean: float = 0.0


Chooser: TypeAlias = Callable[[SearchView], Sequence[int]]
"""Return the positions of the candidates to read; a store may call it more than once."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The view of a search, and the memories that were chosen from it.

    Attributes:
        view: The candidates and the word statistics.
        memories: The chosen memories by their positions among the candidates. They may belong to
            a cache, so a caller that passes them on copies their metadata.
    """

    view: SearchView = field(default_factory=SearchView)
    memories: dict[int, Memory] = field(default_factory=dict)


# Stores.


class Transaction(ABC):
    """A transaction on the records of a store: all of it happens, or nothing.

    A record is identified by tenant, group and id together: two tenants may use the same id, and
    a change of one record never reaches the other. A transaction sees its own changes.

    Attributes:
        reads_ahead: Whether `read_ahead` saves time here.
    """

    reads_ahead: bool = False

    @abstractmethod
    async def find(
        self,
        tier: Tier,
        selection: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        """Return a page of the selected records, the one that was stored last first.

        Args:
            tier: The tier to read.
            selection: The records to return.
            limit: The size of the page; None for no limit.
            offset: How many records to skip.
            after: A mark of an earlier page; only records stored before that one are returned.
                Unlike an offset, a mark does not shift when records are stored or deleted: paging
                by marks returns each record that stays there exactly once.

        Returns:
            The page, with the total number of selected records.

        Raises:
            SettingError: If the mark is not one that this kind of store returns.
        """

    async def find_many(self, requests: Sequence[tuple[Tier, Select]]) -> list[Page[Any]]:
        """Return all records of several selections.

        A store on a server overrides this to read all of them in one round trip.

        Args:
            requests: The tier and the selection of each read.

        Returns:
            A page for each request, in their order.
        """
        return [await self.find(tier, selection) for tier, selection in requests]

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

        Adding is idempotent. If quarantine of the tenant and group has an entry with the same
        `key` (not None), nothing is stored and that entry is returned. If the tenant, group and
        agent have a document with the same `content_hash` that is not revoked and has no end of
        validity, nothing is stored and the chunks of that document are returned.

        Args:
            tier: "quarantine" or "long_term".
            records: One entry, or the chunks of one document.
            vectors: A vector for each chunk, None for one that is not embedded yet; or empty.
            space: The embedding space of the vectors.

        Returns:
            The stored records: the new ones, or those that were there already.

        Raises:
            EmbeddingMismatch: If a vector has another dimension than its space, or the store
                knows the name of the space with another dimension.
            StoreUnavailable: If the tenant and group have another record with the same id.
        """

    @abstractmethod
    async def edit(self, tier: Tier, selection: Select, change: Callable[[Any], Any]) -> list[Any]:
        """Replace each selected record by what a function returns for it.

        Args:
            tier: The tier of the records.
            selection: The records to change.
            change: Returns the new record for an old one, with the same id, tenant and group. It
                may be called more than once for the same record.

        Returns:
            The records that changed, as they are now.
        """

    @abstractmethod
    async def delete(self, tier: Tier, selection: Select) -> int:
        """Delete the selected records with everything that was stored for them.

        Args:
            tier: The tier of the records.
            selection: The records to delete.

        Returns:
            How many records were deleted.
        """

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        """Put an entry first in working memory of its group and drop the oldest ones.

        An entry of the tenant and group with the same id is replaced and moves to the front.

        Args:
            entry: The entry.
            keep: How many entries of the group stay, this one included.
            renew: Let all entries of the group expire when this one does.
        """
        raise NotImplementedError(f"{type(self).__name__} has no working memory")

    async def search(self, query: Query, selection: Select, choose: Chooser) -> SearchResult:
        """Search long-term memory by words and by vector, and read the chosen candidates.

        The candidates are the best by BM25, the nearest by cosine, and the neighbours of both in
        their threads. All of them meet the selection; other records of a thread are skipped, so
        that their neighbours count as adjacent. Of equal scores the newest are candidates. Word
        statistics are those of the whole tenant and groups, whatever else the selection says.
        Threads whose names are too long for an index may be missing: in PostgreSQL sessions and
        documents with names of more than 200 characters.

        Args:
            query: The words, the vector and the number of candidates.
            selection: The memories that may be candidates.
            choose: Returns the positions of the candidates to read. It may be called more than
                once. An exception in it is raised unchanged and leaves no lock behind.

        Returns:
            The view, and the chosen memories by position.

        Raises:
            EmbeddingMismatch: If the query has another dimension than its space, or the store has
                adopted another space. Not every memory has a vector in a space that is not
                current, so search by words alone until it is adopted.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        """Store vectors of memories, replacing their older ones in the same space.

        A memory that was deleted, or has another content now, is skipped.

        Args:
            vectors: Memories with their vectors.
            space: The embedding space of the vectors.

        Returns:
            How many vectors were stored.

        Raises:
            EmbeddingMismatch: As for `add`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        """Return the vectors of memories.

        A vector keeps its direction; its length may have been normalised to 1.

        Args:
            memories: The memories.
            space: The embedding space.

        Returns:
            A vector for each memory; None for one without a vector in the space, one that was
            deleted, and one that has another content now.

        Raises:
            EmbeddingMismatch: As for `add`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        """Return the embedding spaces with the number of their vectors, the current one first.

        Args:
            counted: Whether the numbers are needed; otherwise they may be 0.

        Returns:
            The number of vectors by space.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def read_ahead(  # noqa: B027 - a store without a server has nothing to gain
        self, search: Select, document: Select, edits: Select | None, space: Space | None
    ) -> None:
        """Announce what the transaction will read, so that it can be read in fewer round trips.

        This changes no result. A store on a server overrides it and sets `reads_ahead`.

        Args:
            search: The group whose long-term memory will be searched.
            document: `agents` and `hashes` of a document that will be added.
            edits: The entries of quarantine that will be edited.
            space: The space of the vectors of the document.
        """

    async def generation(self, scope: MemoryScope) -> int | None:  # noqa: ARG002 - for overrides
        """Return the generation of a group: a number that every change of the group raises.

        A cached read of a group is valid as long as its generation stays the same. Do not cache a
        read that follows a change in the same transaction: after a rollback another change may
        get the same number.

        Args:
            scope: The tenant and the group.

        Returns:
            The generation; None where the store keeps none.
        """
        return None


class Store(ABC):
    """A store of one or more tiers.

    A store over a blocking driver never suspends in its coroutines: the blocking client drives
    them without an event loop, the asynchronous client runs a whole transaction in a thread. A
    store over an asynchronous driver sets `suspends`; the blocking client runs it on an event
    loop in a thread.

    A confirmed change survives a crash. A call that fails, or is interrupted by Ctrl-C, has
    changed nothing. After `close` every call raises `StoreUnavailable`. The child of a fork can
    use the store, whatever other threads were doing.

    Attributes:
        suspends: Whether the coroutines of the store wait in an event loop.
    """

    suspends: bool = False

    def halves(self) -> tuple[Store, Store]:
        """Return the store for blocking clients, and the one for asynchronous clients.

        Returns:
            Twice this store, unless a database has a driver for each.
        """
        return self, self

    @abstractmethod
    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,
        writes: bool = True,
    ) -> T:
        """Run a unit of work in a transaction, and roll it back if it raises.

        Args:
            work: The unit of work. It may run again after a conflict with another transaction, so
                it has no effects outside of this one.
            about: The tenant and the groups whose records it reads or changes; other conditions
                are ignored. Transactions that change the same group take turns. None for all
                tenants.
            writes: Whether it changes anything.

        Returns:
            The result of the unit of work.
        """

    @abstractmethod
    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Batch[Any]:
        """Return a batch of the records of all tenants, for backups and copies.

        A walk returns every record that exists from its begin to its end at least once; records
        that are stored meanwhile may be among them. Within a group the oldest record comes first.

        Args:
            tier: The tier to read.
            mark: The mark of the previous batch; None for the first one.
            limit: The size of the batch. A store without a resumable order returns everything at
                once; one that keeps lists does not split them.

        Returns:
            The batch, with the mark of the next one.

        Raises:
            SettingError: If the mark is not one that this kind of store returns.
        """

    @abstractmethod
    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        """Import records of any tenants exactly as they are, in this order, as the newest ones.

        A stored record with the same id is replaced if it differs, and keeps its position; its
        vectors stay if its content does. There is no deduplication: two documents of the same
        text stay two. Only an entry with the `key` of another entry is skipped. Each record is
        stored as a whole, and the call can be repeated if it fails.

        Args:
            tier: The tier to write.
            records: The records.

        Returns:
            The records that were new or differed.
        """

    async def count_groups(self, tier: Tier) -> dict[tuple[str | None, str | None], int]:
        """Count the records of a tier by tenant and group, whatever their status.

        This default walks all records; a store that can count without reading them overrides it.

        Args:
            tier: The tier to count.

        Returns:
            The number of records by tenant and group; groups without records are not in it.
        """
        counts: dict[tuple[str | None, str | None], int] = {}
        mark: str | None = None
        while True:
            batch = await self.walk(tier, mark, limit=_WALKED)
            for record in batch.items:
                group = record.scope.tenant, record.scope.group_id
                counts[group] = counts.get(group, 0) + 1
            mark = batch.mark
            if mark is None:
                return counts

    async def purge(self, now: datetime) -> int:
        """Delete the expired entries of working memory, in all groups.

        Args:
            now: An entry has expired if `expires_at <= now`.

        Returns:
            How many entries were deleted.
        """
        raise NotImplementedError(f"{type(self).__name__} has no working memory")

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        """Make an embedding space the current one: the space that searches use.

        The first space in which vectors are stored is adopted by itself.

        Args:
            space: The space.
            drop_others: Whether to delete all other spaces with their vectors.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        """Return memories of all tenants that have no vector in a space, oldest first.

        Args:
            space: The embedding space.
            limit: How many at most.

        Returns:
            The memories.
        """
        raise NotImplementedError(f"{type(self).__name__} has no long-term memory")

    async def close(self) -> None:  # noqa: B027 - a store may have nothing to close
        """Close files and connections; may be called twice."""


class TierHandle(SharedOnCopy):
    """One tier of a store, for tools and tests.

    Every method of its view can be called blocking, `handle.find(selection)`, and asynchronously,
    `await handle.afind(selection)`. Operations of memory await `tiers.views` instead.

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
    """Writes a backup of all tiers into a file."""

    def __call__(self, target: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write a backup.

        Args:
            target: The file.
            overwrite: Whether an existing file is replaced.
        """


@dataclass(frozen=True, slots=True)
class Stores(SharedOnCopy):
    """The stores of the three tiers; one database may serve several of them.

    Attributes:
        quarantine: Tier 1.
        working: Tier 2.
        long_term: Tier 3.
        reopen: Opens the same stores again, so that they can be pickled; None where that is
            impossible.
        backup: Writes a backup of all tiers into a file, `overwrite=` an existing one or not;
            None where the database has tools of its own for that.
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
        """Return the three tiers of a store that keeps all of them.

        Args:
            store: The store.
            more: `reopen` and `backup`; see the class.

        Returns:
            The stores.
        """
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

"""The three tiers in this process, in plain Python: the reference, and what tests use.

Nothing is written anywhere; everything is gone with the object.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware._runner import run_blocking
from memoryware.errors import EmbeddingMismatch, StoreClosed, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores._locking import ThreadQueue
from memoryware.tiers.stores.codec import copy_of
from memoryware.tiers.stores.protocol import (
    Batch,
    Chooser,
    Page,
    Query,
    SearchResult,
    Select,
    Space,
    Store,
    Stores,
    Tier,
    Transaction,
    Vector,
)
from memoryware.tiers.stores.selecting import (
    IndexedMemory,
    PageRequest,
    build_view,
    is_selected,
    page_of,
    same_document,
    single_batch,
    speaker_key,
    thread_key,
    without_duplicates,
)
from memoryware.tiers.text.terms import named_text_of, terms_of

R = TypeVar("R", Entry, Memory)
S = TypeVar("S", bound="EmbeddedTier[Any]")
P = ParamSpec("P")
T = TypeVar("T")

__all__ = [
    "EmbeddedLongTerm",
    "EmbeddedQuarantine",
    "EmbeddedStore",
    "EmbeddedWorking",
    "embedded",
]


def embedded(*, lock_timeout: float = 30.0) -> Stores:
    """Return empty stores that live in this process.

    Args:
        lock_timeout: Seconds to wait for other threads.

    Returns:
        The stores of the three tiers.
    """
    return Stores.of(EmbeddedStore(lock_timeout))


Key: TypeAlias = tuple[str | None, str | None, str]
"""Tenant, group and id: strangers may have the same ids."""


def key_of(record: Entry | Memory) -> Key:
    """Return the identity of a record.

    Args:
        record: An entry or a memory.

    Returns:
        Its tenant, group and id.
    """
    return record.scope.tenant, record.scope.group_id, record.id


@dataclass
class MemoryIndex:
    """What is kept beside memories."""

    words: dict[Key, Counter[str]] = field(default_factory=dict)
    vectors: dict[str, dict[Key, tuple[float, ...]]] = field(default_factory=dict)
    """By the name of a space."""
    dimensions: dict[str, int] = field(default_factory=dict)
    current: str | None = None

    def copy(self) -> MemoryIndex:
        """Return one that can be changed apart; the words of a text are never changed."""
        vectors = {name: dict(embeddings) for name, embeddings in self.vectors.items()}
        return MemoryIndex(dict(self.words), vectors, dict(self.dimensions), self.current)


class OrderedRecords(dict[Key, T]):
    """OrderedRecords in the order in which they were stored, and the number of each in it."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: dict[Key, int] = {}
        self._last = 0

    def __setitem__(self, key: Key, record: T) -> None:
        if key not in self:
            self._last += 1
            self.numbers[key] = self._last
        super().__setitem__(key, record)

    def __delitem__(self, key: Key) -> None:
        super().__delitem__(key)
        del self.numbers[key]

    def copy(self) -> OrderedRecords[T]:
        """Return one that can be changed apart."""
        copy: OrderedRecords[T] = OrderedRecords()
        copy.update(self)
        copy.numbers, copy._last = dict(self.numbers), self._last
        return copy


@dataclass
class TierState(Generic[R]):
    """OrderedRecords in the order in which they were stored, and their index."""

    records: OrderedRecords[R] = field(default_factory=OrderedRecords[Any])
    index: MemoryIndex = field(default_factory=MemoryIndex)

    def copy(self) -> TierState[R]:
        """Return one that can be changed apart."""
        return TierState(self.records.copy(), self.index.copy())


class CopyOnWrite(Generic[R]):
    """The state of a store, and a draft of the next one while a thread makes it.

    A draft becomes the state in one step. Whoever is interrupted leaves a draft that nobody
    sees, and so does a thread that a fork has left behind.
    """

    def __init__(self) -> None:
        self._state: TierState[R] = TierState()
        self._draft: tuple[object, TierState[R]] | None = None
        self.changes = 0
        """How many changes were begun; one that is undone counts as well, so that what was read
        of it is never mistaken for what another one made."""

    @property
    def now(self) -> TierState[R]:
        """What this thread sees."""
        draft = self._draft
        return draft[1] if draft is not None and draft[0] == _this_thread() else self._state

    def roll_back(self, state: TierState[R]) -> None:
        """Return to an earlier state; later changes are lost.

        Args:
            state: The state.
        """
        self.changes += 1
        self._state, self._draft = state, None

    def change(self, work: Callable[[], T]) -> T:
        """Run a change; if it fails, nothing has changed.

        A change may contain others: they are kept if the outermost one succeeds.

        Args:
            work: The change.

        Returns:
            What the change returns.
        """
        outer = (
            self._draft if self._draft is not None and self._draft[0] == _this_thread() else None
        )
        try:
            self.changes += 1
            self._draft = _this_thread(), self.now.copy()
            result = work()
            if outer is None:
                self._state, self._draft = self.now, None
        except BaseException:
            self._draft = outer
            raise
        return result


def _this_thread() -> object:
    """Return what tells this thread from all others, those of a parent process included."""
    return os.getpid(), threading.get_ident()


def changing(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Make a method of a tier atomic, for one thread at a time.

    Args:
        method: The method.

    Returns:
        The method, which changes everything or nothing.
    """

    @wraps(method)
    def whole(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._data.change(lambda: method(self, *args, **kwargs))

    return in_turn(whole)


def in_turn(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let one thread at a time into a method of an open tier.

    Args:
        method: The method.

    Returns:
        The method, which waits for its turn.
    """

    @wraps(method)
    def alone(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self._must_be_open()
        return self._turns.alone(lambda: method(self, *args, **kwargs))

    return alone


# Tiers.


class EmbeddedTier(SharedOnCopy, Generic[R]):
    """The records of one tier in the order in which they were stored, for one thread at a time."""

    def __init__(self, lock_timeout: float = 30.0) -> None:
        self._data: CopyOnWrite[R] = CopyOnWrite()
        self._turns = ThreadQueue(lock_timeout, self._late)
        self._lock_timeout = lock_timeout
        self._closed = False

    def close(self) -> None:
        """Let nobody use the store anymore; what it holds goes with it."""
        self._closed = True

    def alone(self, work: Callable[[], T]) -> T:
        """Run a unit of work while no other thread uses the tier.

        Args:
            work: The unit of work.

        Returns:
            What it returns.

        Raises:
            StoreUnavailable: If the tier is closed, or other threads take too long.
        """
        self._must_be_open()
        return self._turns.alone(work)

    @property
    def changes(self) -> int:
        """How many changes were begun so far."""
        return self._data.changes

    def snapshot(self) -> TierState[R]:
        """Return the state of now; changes make new ones."""
        return self._data.now

    def roll_back(self, state: TierState[R]) -> None:
        """Return to an earlier state.

        Args:
            state: What `snapshot` returned.
        """
        self._data.roll_back(state)

    def _late(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"Another writer has held the lock for {self._lock_timeout} seconds; try again"
        )

    def _must_be_open(self) -> None:
        if self._closed:
            raise StoreClosed("This memory was closed; open a new one")

    @property
    def _records(self) -> OrderedRecords[R]:
        return self._data.now.records

    @property
    def _index(self) -> MemoryIndex:
        return self._data.now.index

    @in_turn
    def find(
        self,
        selection: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[R]:
        numbers = self._records.numbers
        numbered = [(numbers[key_of(record)], record) for record in self._fitting(selection)]
        page: Page[R] = page_of(numbered, PageRequest(limit, offset, after))
        return Page([copy_of(record) for record in page.items], page.total, page.newer, page.marks)

    @changing
    def edit(self, selection: Select, change: Callable[[R], R]) -> list[R]:
        before = self._fitting(selection)
        after = [copy_of(change(copy_of(record))) for record in before]
        differing = [both for both in zip(before, after, strict=True) if both[0] != both[1]]
        for old, new in differing:
            self._records[key_of(new)] = new
            self._changed(old, new)
        return [copy_of(new) for _, new in differing]

    @changing
    def delete(self, selection: Select) -> int:
        removed = self._fitting(selection)
        for record in removed:
            del self._records[key_of(record)]
            self._deleted(record)
        return len(removed)

    @in_turn
    def walk(self, mark: str | None = None, *, limit: int) -> Batch[R]:
        """Return all records at once: they are in this process already.

        Args:
            mark: None; no batch has a mark.
            limit: Ignored.

        Returns:
            The only batch.

        Raises:
            SettingError: If there is a mark.
        """
        del limit
        return single_batch([copy_of(record) for record in self._records.values()], mark)

    @changing
    def load(self, records: Sequence[R]) -> list[R]:
        entries = [
            record
            for record in self._loadable(records)
            if self._records.get(key_of(record)) != record
        ]
        for record in entries:
            old = self._records.get(key_of(record))
            self._records[key_of(record)] = copy_of(record)
            self._changed(old, record)
        return entries

    def _fitting(self, selection: Select) -> list[R]:
        return [record for record in self._named(selection) if is_selected(record, selection)]

    def _named(self, selection: Select) -> Iterable[R]:
        """Return what may fit, newest first: what has one of the ids, if any are asked for."""
        records = self._records
        if selection.ids is None:
            return reversed(records.values())
        if selection.groups is None:
            ids = set(selection.ids)
            return [records[key] for key in reversed(records) if key[2] in ids]
        keys = {
            (selection.tenant, group, id_) for group in selection.groups for id_ in selection.ids
        }
        keys &= records.keys()
        ordered = keys if len(keys) < 2 else [key for key in reversed(records) if key in keys]
        return [records[key] for key in ordered]

    def _must_be_new(self, records: Sequence[R]) -> None:
        keys = {key_of(record) for record in records}
        if len(keys) < len(records) or keys & self._records.keys():
            raise StoreUnavailable("A record with this id exists already; nothing was stored")

    def _loadable(self, records: Sequence[R]) -> Sequence[R]:
        """Return those of records that may be kept."""
        return records

    def _changed(self, old: R | None, new: R) -> None:
        """Follow a change of a record, or a new one."""

    def _deleted(self, old: R) -> None:
        """Follow a deletion."""


def group_of(record: Entry | Memory) -> tuple[str | None, str | None]:
    """Return tenant and group of a record.

    Args:
        record: An entry or a memory.

    Returns:
        Its tenant and its group.
    """
    return record.scope.tenant, record.scope.group_id


class EmbeddedQuarantine(EmbeddedTier[Entry]):
    """Tier 1 in this process."""

    @changing
    def add(self, entry: Entry) -> Entry:
        for record in self._records.values() if entry.key is not None else ():
            if record.key == entry.key and group_of(record) == group_of(entry):
                return copy_of(record)
        self._must_be_new([entry])
        self._records[key_of(entry)] = copy_of(entry)
        return entry

    def _loadable(self, records: Sequence[Entry]) -> Sequence[Entry]:
        return without_duplicates(records, self._records.values())


class EmbeddedWorking(EmbeddedTier[Entry]):
    """Tier 2 in this process."""

    @changing
    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        if key_of(entry) in self._records:
            del self._records[key_of(entry)]
        self._records[key_of(entry)] = copy_of(entry)
        listed = [
            record
            for record in reversed(self._records.values())
            if group_of(record) == group_of(entry)
        ]
        for record in listed[keep:]:
            del self._records[key_of(record)]
        for record in listed[:keep] if renew else ():
            self._records[key_of(record)] = replace(record, expires_at=entry.expires_at)

    @changing
    def purge(self, now: datetime) -> int:
        times = ((key, record.expires_at) for key, record in self._records.items())
        expired = [key for key, expires in times if expires is not None and expires <= now]
        for key in expired:
            del self._records[key]
        return len(expired)


class EmbeddedLongTerm(EmbeddedTier[Memory]):
    """Tier 3 in this process."""

    @changing
    def add(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Memory]:
        first = memories[0]
        if known_chunks := same_document(self._records.values(), first):
            return [copy_of(record) for record in known_chunks]
        both = zip(memories, vectors or (None,) * len(memories), strict=True)
        checked = self._checked(
            [(record, vector) for record, vector in both if vector is not None], space
        )
        self._must_be_new(memories)
        for record in memories:
            self._records[key_of(record)] = copy_of(record)
            self._changed(None, record)
        self._keep(checked, space)
        return list(memories)

    @in_turn
    def search(self, query: Query, selection: Select, choose: Chooser) -> SearchResult:
        fitting = self._fitting(selection)[::-1]
        near = self._similarities(fitting, query)
        words = self._index.words
        items = [
            IndexedMemory(
                thread_key(record, query),
                (counted := words[key]),
                counted.total(),
                near.get(key),
                record.document_id,
                speaker_key(record),
            )
            for record in fitting
            for key in (key_of(record),)
        ]
        view, positions = build_view(items, query, self._corpus(selection).values())
        return SearchResult(view, {at: copy_of(fitting[positions[at]]) for at in choose(view)})

    @in_turn
    def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        embeddings = self._index.vectors.get(space.name, {})
        missing = [record for key, record in self._records.items() if key not in embeddings]
        return [copy_of(record) for record in missing[:limit]]

    @changing
    def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        checked, stored = self._checked(vectors, space), self._records
        texts = {key_of(record): record.content for record, _ in vectors}
        current = {
            key: vector
            for key, vector in checked.items()
            if key in stored and stored[key].content == texts[key]
        }
        self._keep(current, space)
        return len(current)

    @in_turn
    def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        self._check_space(space)
        embeddings, stored = self._index.vectors.get(space.name, {}), self._records
        return [
            embeddings.get(key) if key in stored and stored[key].content == record.content else None
            for record in memories
            for key in (key_of(record),)
        ]

    @in_turn
    def spaces(self) -> dict[Space, int]:
        index = self._index
        names = sorted(index.dimensions, key=lambda name: name != index.current)
        return {
            Space(name, index.dimensions[name]): len(index.vectors.get(name, ())) for name in names
        }

    @changing
    def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        self._check_space(space)
        index = self._index
        index.current = space.name
        index.dimensions[space.name] = space.dimension
        for name in list(index.dimensions) if drop_others else ():
            if name != space.name:
                del index.dimensions[name]
                index.vectors.pop(name, None)

    def _changed(self, old: Memory | None, new: Memory) -> None:
        if old is None or new.content != old.content:
            self._deleted(new)  # a vector of the old text must not find the new one
        if old is None or named_text_of(new) != named_text_of(old):
            self._index.words[key_of(new)] = Counter(terms_of(new))

    def _deleted(self, old: Memory) -> None:
        self._index.words.pop(key_of(old), None)
        for vectors in self._index.vectors.values():
            vectors.pop(key_of(old), None)

    def _corpus(self, selection: Select) -> dict[Key, Counter[str]]:
        """Return the words of everything that the tenant and groups of a selection have."""
        words = self._index.words
        return {
            key: words[key]
            for key in self._records
            if key[0] == selection.tenant
            and (selection.groups is None or key[1] in selection.groups)
        }

    def _similarities(self, among: Iterable[Memory], query: Query) -> dict[Key, float]:
        if query.vector is None or query.space is None:
            return {}
        self._check_space(query.space)
        self._check_current(query.space)
        _check_length(query.vector, query.space)
        embeddings = self._index.vectors.get(query.space.name, {})
        keys = [key for record in among if (key := key_of(record)) in embeddings]
        return {key: cosine(query.vector, embeddings[key]) for key in keys}

    def _checked(
        self, vectors: Sequence[tuple[Memory, Vector]], space: Space | None
    ) -> dict[Key, tuple[float, ...]]:
        if space is not None and vectors:
            self._check_space(space)
            for _, vector in vectors:
                _check_length(vector, space)
        return (
            {key_of(record): tuple(map(float, vector)) for record, vector in vectors}
            if space
            else {}
        )

    def _keep(self, vectors: dict[Key, tuple[float, ...]], space: Space | None) -> None:
        if space is not None and vectors:
            self._index.dimensions[space.name] = space.dimension
            self._index.current = self._index.current or space.name
            self._index.vectors.setdefault(space.name, {}).update(vectors)

    def _check_space(self, space: Space) -> None:
        dimension = self._index.dimensions.get(space.name)
        if dimension is not None and dimension != space.dimension:
            raise EmbeddingMismatch(str(Space(space.name, dimension)), str(space))

    def _check_current(self, space: Space) -> None:
        current = self._index.current
        if current is not None and current != space.name:
            adopted = Space(current, self._index.dimensions[current])
            raise EmbeddingMismatch(str(adopted), str(space))


def _check_length(vector: Vector, space: Space) -> None:
    if len(vector) != space.dimension:
        raise EmbeddingMismatch(str(space), f"a vector of {len(vector)} dimensions")


# The store.


class EmbeddedTransaction(Transaction):
    """Passes on to the tiers, which let only this thread in meanwhile."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store

    async def find(
        self,
        tier: Tier,
        selection: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        result: Page[Any] = self._tier(tier).find(
            selection, limit=limit, offset=offset, after=after
        )
        return result

    async def add(
        self,
        tier: Tier,
        records: Sequence[Any],
        *,
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Any]:
        if tier == "quarantine":
            return [self._tier(tier).add(entry) for entry in records]
        result: list[Any] = self._tier(tier).add(records, vectors, space)
        return result

    async def edit(self, tier: Tier, selection: Select, change: Callable[[Any], Any]) -> list[Any]:
        result: list[Any] = self._tier(tier).edit(selection, change)
        return result

    async def delete(self, tier: Tier, selection: Select) -> int:
        result: int = self._tier(tier).delete(selection)
        return result

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        self._store.working.push(entry, keep=keep, renew=renew)

    async def search(self, query: Query, selection: Select, choose: Chooser) -> SearchResult:
        return self._store.long_term.search(query, selection, choose)

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return self._store.long_term.put_vectors(vectors, space)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return self._store.long_term.vectors_of(memories, space)

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:  # noqa: ARG002
        return self._store.long_term.spaces()

    async def generation(self, scope: MemoryScope) -> int | None:  # noqa: ARG002 - of all groups
        tiers = (self._store.quarantine, self._store.working, self._store.long_term)
        return sum(tier.changes for tier in tiers)

    def _tier(self, tier: Tier) -> Any:
        return getattr(self._store, tier)


class EmbeddedStore(SharedOnCopy, Store):
    """Keeps all tiers in this process.

    Args:
        lock_timeout: Seconds to wait for other threads.
    """

    transaction_type: ClassVar[type[EmbeddedTransaction]] = EmbeddedTransaction

    def __init__(self, lock_timeout: float = 30.0) -> None:
        self.quarantine = EmbeddedQuarantine(lock_timeout)
        self.working = EmbeddedWorking(lock_timeout)
        self.long_term = EmbeddedLongTerm(lock_timeout)

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,  # noqa: ARG002 - writers of all groups take turns
        writes: bool = True,  # noqa: ARG002 - readers do as well
    ) -> T:
        async def run() -> T:
            return await work(self.transaction_type(self))

        def undone_on_error() -> T:
            tiers: Sequence[Any] = (self.quarantine, self.working, self.long_term)
            before = [tier.snapshot() for tier in tiers]
            try:
                return run_blocking(run())
            except BaseException:
                for tier, state in zip(tiers, before, strict=True):
                    tier.roll_back(state)
                raise

        inner = (self.working, self.quarantine)
        alone = undone_on_error
        for tier in inner:
            alone = _in_turn(tier, alone)
        return self.long_term.alone(alone)

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Batch[Any]:
        result: Batch[Any] = self._tier(tier).walk(mark, limit=limit)
        return result

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        result: list[Any] = self._tier(tier).load(records)
        return result

    async def purge(self, now: datetime) -> int:
        return self.working.purge(now)

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        self.long_term.adopt(space, drop_others=drop_others)

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return self.long_term.unembedded(space, limit=limit)

    async def close(self) -> None:
        for tier in (self.quarantine, self.working, self.long_term):
            tier.close()

    def _tier(self, tier: Tier) -> Any:
        return getattr(self, tier)


def _in_turn(tier: EmbeddedQuarantine | EmbeddedWorking, work: Callable[[], T]) -> Callable[[], T]:
    return lambda: tier.alone(work)

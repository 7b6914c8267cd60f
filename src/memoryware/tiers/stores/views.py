"""The tiers as operations see them: coroutines over stores, or over one open transaction.

`Tiers(stores, runner)` runs each call as a transaction of its own. `Tiers.transaction` hands out a
view of the same tiers inside one transaction, with the same methods. Where working memory is in a
store of its own, such as Redis, it has no part in the transaction of the others.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from memoryware._runner import ASYNC, BLOCKING, Runner, in_thread, run_blocking
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.scoring import bm25_scores, whole_score
from memoryware.tiers.stores.protocol import (
    Batch,
    Chooser,
    Hit,
    Page,
    Query,
    SearchResult,
    SearchView,
    Select,
    Space,
    Store,
    Stores,
    Tier,
    TierHandle,
    Transaction,
    Vector,
    similarities,
    word_columns,
)
from memoryware.tiers.stores.selecting import best_of

R = TypeVar("R", Entry, Memory)
T = TypeVar("T")


class Tiers:
    """The three tiers of one memory.

    Attributes:
        quarantine: Tier 1.
        working: Tier 2.
        long_term: Tier 3.
        runner: How they are called.
        is_joint: Whether all tiers are in one store, so that one transaction changes all.
        reads_ahead: Whether `read_ahead` is of use: inside a transaction of a database.
    """

    __slots__ = (
        "_half",
        "_stores",
        "_transaction",
        "is_joint",
        "long_term",
        "quarantine",
        "reads_ahead",
        "runner",
        "working",
    )

    def __init__(
        self, stores: Stores, runner: Runner, transaction: Transaction | None = None
    ) -> None:
        self._stores, self.runner, self._transaction = stores, runner, transaction
        main = stores.long_term.store
        self._half = None if transaction else main.halves()[runner.suspends]
        self.is_joint = stores.working.store is main
        self.reads_ahead = transaction is not None and transaction.reads_ahead
        inside = {
            tier: transaction if handle.store is main else None
            for tier, handle in (("quarantine", stores.quarantine), ("working", stores.working))
        }
        self.quarantine = QuarantineView(stores.quarantine, runner, inside["quarantine"])
        self.working = WorkingView(stores.working, runner, inside["working"])
        self.long_term = LongTermView(stores.long_term, runner, transaction)

    def tier(self, name: str) -> RecordView[Any]:
        """Return a tier by its name.

        Args:
            name: "quarantine", "working" or "long_term".

        Returns:
            The view of the tier.
        """
        view: RecordView[Any] = getattr(self, name)
        return view

    async def transaction(
        self,
        work: Callable[[Tiers], Awaitable[T]],
        scope: MemoryScope | Select | None = None,
        *,
        writes: bool = True,
    ) -> T:
        """Run a unit of work over quarantine and long-term memory, and working memory if joint.

        Inside of another transaction it is a part of that one.

        Args:
            work: What is done, with the tiers inside the transaction. Its own calls must be run by
                the runner of these tiers.
            scope: The tenant and group that it is about, or a selection of several groups; None
                for all tenants.
            writes: Whether it changes anything.

        Returns:
            What the work returns.
        """
        stores, half = self._stores, self._half
        if half is None:
            return await work(self)
        about = _group(scope) if isinstance(scope, MemoryScope) else scope
        runner = ASYNC if half.suspends else BLOCKING

        async def inside(transaction: Transaction) -> T:
            return await work(Tiers(stores, runner, transaction))

        return await _call_half(
            half, self.runner, lambda half: half.transaction(inside, about=about, writes=writes)
        )

    async def find_many(self, requests: Sequence[tuple[Tier, Select]]) -> list[list[Any]]:
        """Return all records of several selections, in as few reads as possible.

        Args:
            requests: The tier and the selection of each; all in the same tenant and groups.

        Returns:
            The records of each, in the order of the requests.
        """
        stores = self._stores
        main = stores.long_term.store
        joint = [at for at in requests if getattr(stores, at[0]).store is main]
        pages_: dict[tuple[Tier, Select], list[Any]] = {}

        async def work(transaction: Transaction) -> list[Page[Any]]:
            return await transaction.find_many(joint)

        if joint:
            pages = await self.long_term.run(work, joint[0][1])
            pages_ = {at: page.items for at, page in zip(joint, pages, strict=True)}
        for tier, selection in requests:
            if (tier, selection) not in pages_:
                pages_[tier, selection] = (await self.tier(tier).find(selection)).items
        return [pages_[at] for at in requests]

    async def read_ahead(
        self,
        search: Select,
        document: Select,
        edits: Select | None = None,
        space: Space | None = None,
    ) -> None:
        """Announce what the transaction will read; see `Transaction.read_ahead`.

        Args:
            search: The group whose long-term memory will be searched.
            document: `agents` and `hashes` of a document that will be added.
            edits: The entries of quarantine that will be edited.
            space: The space of the vectors of the document.
        """
        if self._transaction is not None:
            await self._transaction.read_ahead(search, document, edits, space)

    async def generation(self, scope: MemoryScope) -> int | None:
        """Return a number that every change of a group raises in any of its tiers.

        Args:
            scope: The tenant and the group.

        Returns:
            The generation. None outside of a transaction, where the tiers are in several stores,
            and where the store keeps none: then a cached read may be out of date.
        """
        if self._transaction is None or not self.is_joint:
            return None
        return await self._transaction.generation(scope)


class RecordView(Generic[R]):
    """The records of one tier, for operations of memory."""

    __slots__ = ("_runner", "_store", "_tier", "_transaction")

    def __init__(self, handle: TierHandle, runner: Runner, inside: Transaction | None) -> None:
        self._store, self._tier, self._runner = handle.store, handle.tier, runner
        self._transaction = inside

    async def find(
        self,
        selection: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[R]:
        """Return a page of the selected records; see `Transaction.find`.

        Args:
            selection: The records to return.
            limit: The size of the page; None for no limit.
            offset: How many records to skip.
            after: A mark of an earlier page, behind which this one starts.

        Returns:
            The page.
        """

        async def work(transaction: Transaction) -> Page[R]:
            return await transaction.find(
                self._tier, selection, limit=limit, offset=offset, after=after
            )

        return await self.run(work, selection)

    async def live(self, scope: MemoryScope, now: datetime) -> list[R]:
        """Return the records of a tenant and group that may be shown at a moment.

        Args:
            scope: The tenant and the group.
            now: The moment.

        Returns:
            The records, newest first.
        """
        selection = Select(tenant=scope.tenant, groups=(scope.group_id,), live_at=now)
        return (await self.find(selection)).items

    async def edit(self, selection: Select, change: Callable[[R], R]) -> list[R]:
        """Replace each selected record by what a function returns; see `Transaction.edit`.

        Args:
            selection: The records to change.
            change: Returns the new record for an old one.

        Returns:
            The records that changed.
        """

        async def work(transaction: Transaction) -> list[R]:
            return await transaction.edit(self._tier, selection, change)

        return await self.run(work, selection, writes=True)

    async def delete(self, selection: Select) -> int:
        """Delete the selected records; see `Transaction.delete`.

        Args:
            selection: The records to delete.

        Returns:
            How many records were deleted.
        """

        async def work(transaction: Transaction) -> int:
            return await transaction.delete(self._tier, selection)

        return await self.run(work, selection, writes=True)

    async def walk(self, mark: str | None = None, *, limit: int) -> Batch[R]:
        """Return a batch of the records of all tenants; see `Store.walk`.

        Args:
            mark: The mark of the previous batch; None for the first one.
            limit: The size of the batch.

        Returns:
            The batch.
        """
        return await call(
            self._store, self._runner, lambda half: half.walk(self._tier, mark, limit=limit)
        )

    async def count_groups(self) -> dict[tuple[str | None, str | None], int]:
        """Count the records by tenant and group; see `Store.count_groups`.

        Returns:
            The number of records by tenant and group.
        """
        return await call(self._store, self._runner, lambda half: half.count_groups(self._tier))

    async def load(self, records: Sequence[R]) -> list[R]:
        """Import records exactly as they are; see `Store.load`.

        Args:
            records: The records.

        Returns:
            The records that were new or differed.
        """
        return await call(self._store, self._runner, lambda half: half.load(self._tier, records))

    async def close(self) -> None:
        await call(self._store, self._runner, lambda half: half.close())

    async def run(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        selection: Select | MemoryScope | None,
        *,
        writes: bool = False,
    ) -> T:
        """Run a unit of work in the open transaction, or in one of its own.

        Args:
            work: The unit of work.
            selection: The tenant and groups that it is about; None for all tenants.
            writes: Whether it changes anything.

        Returns:
            What it returns.
        """
        if self._transaction is not None:
            return await work(self._transaction)
        about = _group(selection) if isinstance(selection, MemoryScope) else selection
        return await run_in(self._store, self._runner, work, about, writes=writes)


class QuarantineView(RecordView[Entry]):
    """Tier 1: every output, and never shown to a model."""

    __slots__ = ()

    async def add(self, entry: Entry) -> Entry:
        """Add an entry, or return the stored one with its `key`; see `Transaction.add`.

        Args:
            entry: The entry.

        Returns:
            The stored entry.
        """

        async def work(transaction: Transaction) -> Entry:
            stored: Entry = (await transaction.add("quarantine", [entry]))[0]
            return stored

        return await self.run(work, entry.scope, writes=True)


class WorkingView(RecordView[Entry]):
    """Tier 2: what was said last, for a while."""

    __slots__ = ()

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        """Put an entry first in its group and drop the oldest ones; see `Transaction.push`.

        Args:
            entry: The entry.
            keep: How many entries of the group stay.
            renew: Let all entries of the group expire when this one does.
        """

        async def work(transaction: Transaction) -> None:
            await transaction.push(entry, keep=keep, renew=renew)

        await self.run(work, entry.scope, writes=True)

    async def together(self, work: Callable[[WorkingView], Awaitable[T]], scope: MemoryScope) -> T:
        """Run a unit of work over this tier in one transaction of its store.

        Args:
            work: The unit of work; it is passed the view inside the transaction.
            scope: The tenant and the group that it is about.

        Returns:
            What it returns.
        """
        handle = TierHandle(self._store, self._tier)

        async def inside(transaction: Transaction) -> T:
            return await work(WorkingView(handle, self._runner, transaction))

        return await self.run(inside, scope, writes=True)

    async def purge(self, now: datetime) -> int:
        """Delete the expired entries of all groups; see `Store.purge`.

        Args:
            now: An entry has expired if `expires_at <= now`.

        Returns:
            How many entries were deleted.
        """
        return await call(self._store, self._runner, lambda half: half.purge(now))


class LongTermView(RecordView[Memory]):
    """Tier 3: what was promoted, with its words and vectors."""

    __slots__ = ()

    async def add(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        """Add the chunks of one document; see `Transaction.add`.

        Args:
            memories: The chunks.
            vectors: A vector for each chunk, or none at all.
            space: The space of the vectors.
            replaces: `document_id` of documents of the same tenant and group whose validity ends
                where that of this one begins, in the same transaction. A document that has ended
                already is left as it is.

        Returns:
            The stored chunks: the new ones, or those of an equal document.
        """
        if not memories:
            return []

        async def work(transaction: Transaction) -> list[Memory]:
            first = memories[0]
            stored = await transaction.add("long_term", memories, vectors=vectors, space=space)
            if replaces and stored and stored[0].document_id == first.document_id:
                selection = Select.within(first.scope, documents=tuple(replaces))
                await transaction.edit("long_term", selection, partial(_ended_by, first))
            return stored

        return await self.run(work, memories[0].scope, writes=True)

    async def by_words(self, words: Sequence[str], selection: Select, *, limit: int) -> list[Hit]:
        """Search by words: return memories with at least one of them, best BM25 score first.

        Args:
            words: Words as `terms.words_of` returns them.
            selection: The memories that may be returned.
            limit: How many at most.

        Returns:
            The hits, best first.
        """
        terms = (word for word in words if word and not word.isspace() and " " not in word)
        query = Query(words=tuple(dict.fromkeys(terms)), limit=limit, reach=0)
        if limit < 1 or not query.words:
            return []
        scores: dict[int, float] = {}
        whole = 0.0

        def choose(view: SearchView) -> Sequence[int]:
            nonlocal whole
            counts, sizes = word_columns(view.candidates)
            whole = whole_score(dict(zip(query.words, view.having, strict=True)), view.count)
            values = bm25_scores(counts, sizes, view.having, view.count, view.mean)
            scores.clear()
            scores.update((position, value) for position, value in enumerate(values) if value > 0)
            return _best_places(scores, limit)

        searched = await self.search(query, selection, choose)
        hits = [Hit(memory, scores[key], whole) for key, memory in searched.memories.items()]
        return best_of(hits, limit)

    async def by_vector(
        self, vector: Vector, selection: Select, *, space: Space, limit: int
    ) -> list[Hit]:
        """Search by vector: return the memories with the highest cosine.

        Args:
            vector: The embedding of the query.
            selection: The memories that may be returned.
            space: The embedding space.
            limit: How many at most.

        Returns:
            The hits, best first.

        Raises:
            EmbeddingMismatch: As for `Transaction.search`.
        """
        query = Query(words=(), vector=vector, space=space, limit=limit, reach=0)
        scores: dict[int, float] = {}

        def choose(view: SearchView) -> Sequence[int]:
            scores.clear()
            scores.update(similarities(view.candidates))
            return _best_places(scores, limit)

        searched = await self.search(query, selection, choose)
        return best_of([Hit(memory, scores[at]) for at, memory in searched.memories.items()], limit)

    async def search(self, query: Query, selection: Select, choose: Chooser) -> SearchResult:
        """Search and read the chosen candidates; see `Transaction.search`.

        Args:
            query: The words, the vector and the number of candidates.
            selection: The memories that may be candidates.
            choose: Returns the positions of the candidates to read.

        Returns:
            The view, and the chosen memories by position.
        """

        async def work(transaction: Transaction) -> SearchResult:
            return await transaction.search(query, selection, choose)

        return await self.run(work, selection)

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        """Store vectors of memories; see `Transaction.put_vectors`.

        Args:
            vectors: Memories with their vectors.
            space: The embedding space of the vectors.

        Returns:
            How many vectors were stored.
        """

        async def work(transaction: Transaction) -> int:
            return await transaction.put_vectors(vectors, space)

        return await self.run(work, _common_scope([memory for memory, _ in vectors]), writes=True)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        """Return the vectors of memories; see `Transaction.vectors_of`.

        Args:
            memories: The memories.
            space: The embedding space.

        Returns:
            A vector or None for each memory.
        """

        async def work(transaction: Transaction) -> list[Vector | None]:
            return await transaction.vectors_of(memories, space)

        return await self.run(work, None)

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        """Return memories of all tenants that have no vector in a space, oldest first.

        Args:
            space: The embedding space.
            limit: How many at most.

        Returns:
            The memories.
        """
        return await call(
            self._store, self._runner, lambda half: half.unembedded(space, limit=limit)
        )

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        """Return the embedding spaces, the current one first; see `Transaction.spaces`.

        Args:
            counted: Whether the numbers are needed; otherwise they may be 0.

        Returns:
            The number of vectors by space.
        """

        async def work(transaction: Transaction) -> dict[Space, int]:
            return await transaction.spaces(counted=counted)

        return await self.run(work, None)

    async def known_spaces(self) -> list[Space]:
        """Return every known space, the current one first, and count no vectors."""
        return [*await self.spaces(counted=False)]

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        """Make an embedding space the current one; see `Store.adopt`.

        Args:
            space: The space.
            drop_others: Whether to delete all other spaces with their vectors.
        """
        await call(
            self._store, self._runner, lambda half: half.adopt(space, drop_others=drop_others)
        )


_VIEWS: dict[Tier, type[RecordView[Any]]] = {
    "quarantine": QuarantineView,
    "working": WorkingView,
    "long_term": LongTermView,
}


def both_doors(handle: TierHandle, name: str) -> Any:
    """Return a method of a tier for blocking or asynchronous callers.

    Args:
        handle: The tier.
        name: A method of its view; with an "a" before it the coroutine function.

    Returns:
        The bound method.

    Raises:
        AttributeError: If the tier has no such method.
    """
    view = _VIEWS[handle.tier]
    if hasattr(view, name):
        method = getattr(view(handle, BLOCKING, None), name)
        return lambda *args, **kwargs: run_blocking(method(*args, **kwargs))
    if name.startswith("a") and hasattr(view, name[1:]):
        return getattr(view(handle, ASYNC, None), name[1:])
    raise AttributeError(f"{handle.tier} has no method {name!r}")


# Runners and stores.


async def run_in(
    store: Store,
    runner: Runner,
    work: Callable[[Transaction], Awaitable[T]],
    about: Select | None,
    *,
    writes: bool,
) -> T:
    """Run a unit of work in a transaction of a store; see `Store.transaction`.

    Args:
        store: The store.
        runner: How the caller waits.
        work: The unit of work.
        about: The tenant and groups that it is about; None for all tenants.
        writes: Whether it changes anything.

    Returns:
        What it returns.
    """
    return await call(
        store, runner, lambda half: half.transaction(work, about=about, writes=writes)
    )


async def call(
    store: Store, runner: Runner, operation: Callable[[Store], Coroutine[Any, Any, T]]
) -> T:
    """Run an operation of a store for a runner.

    A blocking operation runs in a thread for an event loop; one that needs an event loop runs on
    a loop of its own for a blocking client.

    Args:
        store: The store.
        runner: How the caller waits.
        operation: Calls a method of the store that it is passed.

    Returns:
        What the operation returns.
    """
    return await _call_half(store.halves()[runner.suspends], runner, operation)


async def _call_half(
    half: Store, runner: Runner, operation: Callable[[Store], Coroutine[Any, Any, T]]
) -> T:
    if half.suspends == runner.suspends:
        return await operation(half)
    if runner.suspends:
        return await in_thread(lambda: run_blocking(operation(half)))
    return asyncio.run_coroutine_threadsafe(operation(half), _loop()).result()


def _group(scope: MemoryScope) -> Select:
    return Select(tenant=scope.tenant, groups=(scope.group_id,))


def _common_scope(records: Sequence[Memory]) -> MemoryScope | None:
    groups = {(record.scope.tenant, record.scope.group_id) for record in records}
    if len(groups) != 1:
        return None
    ((tenant, group),) = groups
    return MemoryScope(tenant=tenant, group_id=group)


def _ended_by(new: Memory, old: Memory) -> Memory:
    """Return a memory that ended where another one begins."""
    if old.valid_to is not None or old.document_id == new.document_id:
        return old
    return replace(old, valid_to=new.valid_from, superseded_by=new.document_id)


def _best_places(scores: dict[int, float], limit: int) -> list[int]:
    """Return the places with the best scores, and those that score as much as the last of them."""
    if limit < 1:
        return []
    ordered = sorted(scores, key=lambda position: -scores[position])
    if len(ordered) <= limit:
        return ordered
    least = scores[ordered[limit - 1]]
    return [position for position in ordered if scores[position] >= least]


_LOOP_LOCK = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}
"""By process: the thread of a loop does not live on in the child of a fork."""


def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop on which blocking clients run stores that need one."""
    with _LOOP_LOCK:
        process = os.getpid()
        if process not in _loops:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, daemon=True, name="memoryware-loop").start()
            _loops.clear()
            _loops[process] = loop
        return _loops[process]

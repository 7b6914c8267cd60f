"""The three tiers in a LangGraph store (`BaseStore`), for who has one already.

What such a store cannot do, this cannot either:

- It cannot compare before it writes. Threads and tasks of one process that share the store
  object take turns, so they lose nothing; of two processes that change the same record in one
  moment the last one wins, a list in working memory may be cut too short or too long for a
  while, and a key may be recorded twice.
- Several records are changed in one batch. `SqliteStore` and `PostgresStore` make that one
  transaction; `InMemoryStore` does not need to; of others nobody knows. The order is the safe
  one: what is new comes first, then what it replaces ends, then what is old goes.
- It finds by namespace and by nothing else. A question looks at all records of its groups, and
  `purge`, `unembedded`, `spaces` and `walk` at those of all tenants. That is for thousands of
  records, not for millions.
- It embeds texts by itself and cannot search by a vector, so vectors are kept as a part of each
  memory and compared here. An index of the store is neither needed nor used.

Expired entries are told by your clock. A store with a sweeper sweeps them some time after.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware._runner import ASYNC, BLOCKING
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._pages import Part
from memoryware.tiers.stores.langgraph import entries
from memoryware.tiers.stores.langgraph import memories as documents
from memoryware.tiers.stores.langgraph.base import BaseItems, PendingItems
from memoryware.tiers.stores.protocol import (
    Choose,
    Page,
    Query,
    Searched,
    Select,
    Space,
    Store,
    Stores,
    Stretch,
    Tier,
    Transaction,
    Vector,
)

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

T = TypeVar("T")


def langgraph_stores(
    store: BaseStore,
    *,
    root: str = "memoryware",
    lock_timeout: float = 30.0,
    grace: float = 3600.0,
) -> Stores:
    """Return the three tiers in a LangGraph store. Who made the store closes it.

    Args:
        store: Such as `InMemoryStore()`, or the one that a graph is compiled with.
        root: What all namespaces begin with.
        lock_timeout: Seconds to wait for others of this process.
        grace: Seconds after which a store with a sweeper may drop what has expired.

    Raises:
        SettingError: If the root cannot be one.
    """
    blocking = BaseItems(store, root, lock_timeout, grace, BLOCKING)
    native = BaseItems(store, root, lock_timeout, grace, ASYNC)
    return Stores.of(LangGraphStore(blocking, native))


class LangGraphStore(SharedOnCopy, Store):
    """All tiers in a LangGraph store; see `langgraph_stores`."""

    def __init__(self, blocking: BaseItems, native: BaseItems | None = None) -> None:
        self._items, self.suspends = blocking, blocking.runner.suspends
        self._native = LangGraphStore(native) if native is not None else self

    def halves(self) -> tuple[Store, Store]:
        return self, self._native

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,  # noqa: ARG002 - writers of all groups take turns
        writes: bool = True,
    ) -> T:
        async with self._items.writing() if writes else self._items.reading():
            pending = PendingItems(self._items)
            result = await work(_LangGraphTransaction(pending))
            await pending.commit()
        return result

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Stretch[Any]:  # noqa: ARG002
        return await entries.walk(self._items, tier, mark)

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        return await entries.load(self._items, tier, records)

    async def purge(self, now: datetime) -> int:
        return await entries.purge(self._items, now)

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        if counted:
            return await documents.spaces(self._items)
        return dict.fromkeys(await documents.known_spaces(self._items), 0)

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        await documents.adopt(self._items, space, drop_others=drop_others)

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await documents.unembedded(self._items, space, limit)

    async def close(self) -> None:
        self._items.close()
        if self._native is not self:
            await self._native.close()


class _LangGraphTransaction(Transaction):
    """Collects changes, which are written as one batch at the end."""

    def __init__(self, items: PendingItems) -> None:
        self._items = items

    async def find(
        self,
        tier: Tier,
        which: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        return await entries.find(self._items, tier, which, Part(limit, offset, after))

    async def add(
        self,
        tier: Tier,
        records: Sequence[Any],
        *,
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Any]:
        if tier == "quarantine":
            return [await entries.add(self._items, entry) for entry in records]
        return await documents.add(self._items, records, vectors, space)

    async def edit(self, tier: Tier, which: Select, change: Callable[[Any], Any]) -> list[Any]:
        return await entries.edit(self._items, tier, which, change)

    async def delete(self, tier: Tier, which: Select) -> int:
        return await entries.delete(self._items, tier, which)

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await entries.push(self._items, entry, keep, renew=renew)

    async def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        return await documents.search(self._items, query, which, choose)

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return await documents.put_vectors(self._items, vectors, space)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return await documents.vectors_of(self._items, memories, space)

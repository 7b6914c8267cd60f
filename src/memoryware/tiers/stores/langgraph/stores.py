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

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware._twins import blocking, finish, native
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._pages import Part
from memoryware.tiers.stores.langgraph import entries
from memoryware.tiers.stores.langgraph import memories as documents
from memoryware.tiers.stores.langgraph.base import LONG_TERM, BaseItems
from memoryware.tiers.stores.protocol import Hit, Page, Select, Stores, Stretch
from memoryware.tiers.stores.sight import Choose, Query, Searched, Space, Vector

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

R = TypeVar("R", Entry, Memory)


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
    items = BaseItems(store, root, lock_timeout, grace)
    return Stores(LangGraphQuarantine(items), LangGraphWorking(items), LangGraphLongTerm(items))


class _LangGraphRecords(SharedOnCopy, Generic[R]):
    """The records of one tier."""

    tier: str

    def __init__(self, items: BaseItems) -> None:
        self._items = items

    def find(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[R]:
        part = Part(limit, offset, after)
        return finish(entries.find(self._items, blocking, self.tier, which, part))

    async def afind(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[R]:
        part = Part(limit, offset, after)
        return await entries.find(self._items, native, self.tier, which, part)

    def edit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return finish(entries.edit(self._items, blocking, self.tier, which, change))

    async def aedit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return await entries.edit(self._items, native, self.tier, which, change)

    def delete(self, which: Select) -> int:
        return finish(entries.delete(self._items, blocking, self.tier, which))

    async def adelete(self, which: Select) -> int:
        return await entries.delete(self._items, native, self.tier, which)

    def walk(self, mark: str | None = None, *, limit: int) -> Stretch[R]:
        del limit  # stores of LangGraph have no order to go on from
        return finish(entries.walk(self._items, blocking, self.tier, mark))

    async def awalk(self, mark: str | None = None, *, limit: int) -> Stretch[R]:
        del limit
        return await entries.walk(self._items, native, self.tier, mark)

    def load(self, records: Sequence[R]) -> list[R]:
        return finish(entries.load(self._items, blocking, self.tier, records))

    async def aload(self, records: Sequence[R]) -> list[R]:
        return await entries.load(self._items, native, self.tier, records)

    def close(self) -> None:
        """Take no more calls, in any of the three tiers; the store itself stays open."""
        self._items.close()

    async def aclose(self) -> None:
        """Async twin of `close`."""
        self._items.close()


class LangGraphQuarantine(_LangGraphRecords[Entry]):
    """Tier 1 in a LangGraph store."""

    tier = "quarantine"

    def add(self, entry: Entry) -> Entry:
        return finish(entries.add(self._items, blocking, entry))

    async def aadd(self, entry: Entry) -> Entry:
        return await entries.add(self._items, native, entry)


class LangGraphWorking(_LangGraphRecords[Entry]):
    """Tier 2 in a LangGraph store."""

    tier = "working"

    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        finish(entries.push(self._items, blocking, entry, keep, renew=renew))

    async def apush(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await entries.push(self._items, native, entry, keep, renew=renew)

    def purge(self, now: datetime) -> int:
        return finish(entries.purge(self._items, blocking, now))

    async def apurge(self, now: datetime) -> int:
        return await entries.purge(self._items, native, now)


class LangGraphLongTerm(_LangGraphRecords[Memory]):
    """Tier 3 in a LangGraph store."""

    tier = LONG_TERM

    def add(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        return finish(
            documents.add(self._items, blocking, memories, vectors, space, replaces=replaces)
        )

    async def aadd(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        return await documents.add(self._items, native, memories, vectors, space, replaces=replaces)

    def by_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return finish(documents.by_words(self._items, blocking, words, which, limit))

    async def aby_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return await documents.by_words(self._items, native, words, which, limit)

    def by_vector(self, vector: Vector, which: Select, *, space: Space, limit: int) -> list[Hit]:
        return finish(documents.by_vector(self._items, blocking, vector, which, space, limit))

    async def aby_vector(
        self, vector: Vector, which: Select, *, space: Space, limit: int
    ) -> list[Hit]:
        return await documents.by_vector(self._items, native, vector, which, space, limit)

    def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        return finish(documents.search(self._items, blocking, query, which, choose))

    async def asearch(self, query: Query, which: Select, choose: Choose) -> Searched:
        return await documents.search(self._items, native, query, which, choose)

    def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return finish(documents.unembedded(self._items, blocking, space, limit))

    async def aunembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await documents.unembedded(self._items, native, space, limit)

    def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return finish(documents.put_vectors(self._items, blocking, vectors, space))

    async def aput_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return await documents.put_vectors(self._items, native, vectors, space)

    def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return finish(documents.vectors_of(self._items, blocking, memories, space))

    async def avectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return await documents.vectors_of(self._items, native, memories, space)

    def spaces(self) -> dict[Space, int]:
        return finish(documents.spaces(self._items, blocking))

    async def aspaces(self) -> dict[Space, int]:
        return await documents.spaces(self._items, native)

    def known_spaces(self) -> list[Space]:
        return finish(documents.known_spaces(self._items, blocking))

    async def aknown_spaces(self) -> list[Space]:
        return await documents.known_spaces(self._items, native)

    def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        finish(documents.adopt(self._items, blocking, space, drop_others=drop_others))

    async def aadopt(self, space: Space, *, drop_others: bool = False) -> None:
        await documents.adopt(self._items, native, space, drop_others=drop_others)

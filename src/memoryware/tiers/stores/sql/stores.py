"""The store of a database in SQL, whichever it is: its transactions over a port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware.scope import MemoryScope
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._pages import Part
from memoryware.tiers.stores.protocol import (
    Choose,
    Page,
    Query,
    Searched,
    Select,
    Space,
    Store,
    Stretch,
    Tier,
    Transaction,
    Vector,
)
from memoryware.tiers.stores.sql import loading, operations, searching
from memoryware.tiers.stores.sql.port import Port
from memoryware.tiers.stores.sql.port import Transaction as PortTransaction
from memoryware.tiers.stores.sql.rows import Rows

T = TypeVar("T")

__all__ = ["Database", "SqlStore"]


class Database(Protocol):
    """Runs operations over its ports."""

    suspends: bool

    async def run(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        """Run a whole operation; it is begun anew where others were in between."""
        ...

    async def close(self) -> None: ...


class SqlStore(SharedOnCopy, Store):
    """All tiers in a database.

    Args:
        blocking: The database for blocking clients.
        native: The database for asynchronous clients; the same by default.
        beside: A database that is closed together with this one.
    """

    def __init__(
        self, blocking: Database, native: Database | None = None, *, beside: Database | None = None
    ) -> None:
        self._database, self.suspends = blocking, blocking.suspends
        self._native = self if native is None else SqlStore(native, beside=blocking)
        self._databases = [one for one in (blocking, native, beside) if one is not None]

    def halves(self) -> tuple[Store, Store]:
        return self, self._native

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,
        writes: bool = True,
    ) -> T:
        async def run(port: Port) -> T:
            snapshot = writes or not port.has_segments
            async with port.transaction(about, writes=writes, snapshot=snapshot) as transaction:
                inner = _Joined(port, transaction)
                result = await work(_SqlTransaction(inner))
            if inner.is_untidy:
                await port.wipe()
            return result

        return await self._database.run(run)

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Stretch[Any]:
        return await self._database.run(lambda port: loading.walk(port, tier, mark, limit))

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        return await self._database.run(lambda port: loading.load(port, tier, records))

    async def purge(self, now: datetime) -> int:
        return await self._database.run(lambda port: operations.purge(port, now))

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        if counted:
            return await self._database.run(operations.spaces)
        return dict.fromkeys(await self._database.run(operations.known_spaces), 0)

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        await self._database.run(lambda port: operations.adopt(port, space, drop_others))

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await self._database.run(lambda port: operations.unembedded(port, space, limit))

    async def close(self) -> None:
        for database in self._databases:
            await database.close()


class _Joined:
    """A port whose transactions are parts of one that is open.

    One that only reads, and that begins when it needs to, begins with its second call: from then
    on all calls see the same moment, and a single search costs no transaction.
    """

    def __init__(self, port: Port, transaction: PortTransaction) -> None:
        self._port, self._transaction = port, transaction
        self.is_untidy = self._is_used = False

    @property
    def has_segments(self) -> bool:
        return self._port.has_segments

    @property
    def rows(self) -> Rows:
        return self._port.rows

    @asynccontextmanager
    async def transaction(
        self,
        which: Select | None,  # noqa: ARG002 - the open one is about these records already
        *,
        writes: bool = False,  # noqa: ARG002
        snapshot: bool = True,
    ) -> AsyncIterator[PortTransaction]:
        if snapshot or self._is_used:
            await self._transaction.settle()
        self._is_used = True
        yield self._transaction

    async def gather(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """Run reads side by side, where that takes fewer round trips."""
        return await self._transaction.gather(works)

    async def wipe(self) -> None:
        """Note that deleted bytes have to be overwritten after the commit."""
        self.is_untidy = True


class _SqlTransaction(Transaction):
    """An open transaction of a database."""

    def __init__(self, port: _Joined) -> None:
        self._port = port

    async def find_many(self, requests: Sequence[tuple[Tier, Select]]) -> list[Page[Any]]:
        return await self._port.gather(
            [operations.find(self._port, tier, which, Part()) for tier, which in requests]
        )

    async def find(
        self,
        tier: Tier,
        which: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        return await operations.find(self._port, tier, which, Part(limit, offset, after))

    async def add(
        self,
        tier: Tier,
        records: Sequence[Any],
        *,
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Any]:
        if tier == "quarantine":
            return [await operations.add_entry(self._port, entry) for entry in records]
        return await operations.add_document(self._port, records, vectors, space)

    async def edit(self, tier: Tier, which: Select, change: Callable[[Any], Any]) -> list[Any]:
        return await operations.edit(self._port, tier, which, change)

    async def delete(self, tier: Tier, which: Select) -> int:
        return await operations.delete(self._port, tier, which)

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await operations.push(self._port, entry, keep, renew)

    async def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        return await searching.search(self._port, query, which, choose)

    async def generation(self, scope: MemoryScope) -> int | None:
        async with self._port.transaction(Select.within(scope), snapshot=False) as tx:
            return await tx.generation(scope.tenant, scope.group_id)

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return await operations.put_vectors(self._port, vectors, space)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return await loading.vectors_of(self._port, memories, space)

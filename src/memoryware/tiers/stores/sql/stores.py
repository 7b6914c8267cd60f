"""The stores of the three tiers in a database of SQL, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._pages import Part
from memoryware.tiers.stores.protocol import Hit, Page, Select, Stretch
from memoryware.tiers.stores.sight import Choose, Query, Searched, Space, Vector
from memoryware.tiers.stores.sql import loading, operations, searching
from memoryware.tiers.stores.sql.port import Port

R = TypeVar("R", Entry, Memory)
T = TypeVar("T")


class Database(Protocol):
    """Does operations over its ports, in both halves."""

    def do(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        """Do all of an operation."""
        ...

    async def ado(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T: ...

    def close(self) -> None: ...

    async def aclose(self) -> None: ...


class _InSql(SharedOnCopy, Generic[R]):
    """The records of one tier."""

    tier: str

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[R]:
        return self._do(operations.find, self.tier, which, Part(limit, offset, after))

    async def afind(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[R]:
        return await self._ado(operations.find, self.tier, which, Part(limit, offset, after))

    def edit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return self._do(operations.edit, self.tier, which, change)

    async def aedit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return await self._ado(operations.edit, self.tier, which, change)

    def delete(self, which: Select) -> int:
        return self._do(operations.delete, self.tier, which)

    async def adelete(self, which: Select) -> int:
        return await self._ado(operations.delete, self.tier, which)

    def walk(self, mark: str | None = None, *, limit: int) -> Stretch[R]:
        return self._do(loading.walk, self.tier, mark, limit)

    async def awalk(self, mark: str | None = None, *, limit: int) -> Stretch[R]:
        return await self._ado(loading.walk, self.tier, mark, limit)

    def load(self, records: Sequence[R]) -> list[R]:
        return self._do(loading.load, self.tier, records)

    async def aload(self, records: Sequence[R]) -> list[R]:
        return await self._ado(loading.load, self.tier, records)

    def close(self) -> None:
        self._database.close()

    async def aclose(self) -> None:
        await self._database.aclose()

    def _do(self, operation: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        return self._database.do(lambda port: operation(port, *args))

    async def _ado(self, operation: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        return await self._database.ado(lambda port: operation(port, *args))


class QuarantineInSql(_InSql[Entry]):
    """Tier 1."""

    tier = "quarantine"

    def add(self, entry: Entry) -> Entry:
        kept: Entry = self._do(operations.add_entry, entry)
        return kept

    async def aadd(self, entry: Entry) -> Entry:
        kept: Entry = await self._ado(operations.add_entry, entry)
        return kept


class WorkingInSql(_InSql[Entry]):
    """Tier 2."""

    tier = "working"

    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        self._do(operations.push, entry, keep, renew)

    async def apush(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await self._ado(operations.push, entry, keep, renew)

    def purge(self, now: datetime) -> int:
        return self._do(operations.purge, now)

    async def apurge(self, now: datetime) -> int:
        return await self._ado(operations.purge, now)


class LongTermInSql(_InSql[Memory]):
    """Tier 3."""

    tier = "long_term"

    def add(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        return self._do(operations.add_document, memories, vectors, space, replaces)

    async def aadd(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        return await self._ado(operations.add_document, memories, vectors, space, replaces)

    def by_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return self._do(searching.by_words, words, which, limit)

    async def aby_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return await self._ado(searching.by_words, words, which, limit)

    def by_vector(self, vector: Vector, which: Select, *, space: Space, limit: int) -> list[Hit]:
        return self._do(searching.by_vector, vector, which, space, limit)

    async def aby_vector(
        self, vector: Vector, which: Select, *, space: Space, limit: int
    ) -> list[Hit]:
        return await self._ado(searching.by_vector, vector, which, space, limit)

    def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        return self._do(searching.search, query, which, choose)

    async def asearch(self, query: Query, which: Select, choose: Choose) -> Searched:
        return await self._ado(searching.search, query, which, choose)

    def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return self._do(operations.unembedded, space, limit)

    async def aunembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await self._ado(operations.unembedded, space, limit)

    def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return self._do(operations.put_vectors, vectors, space)

    async def aput_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return await self._ado(operations.put_vectors, vectors, space)

    def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return self._do(loading.vectors_of, memories, space)

    async def avectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return await self._ado(loading.vectors_of, memories, space)

    def spaces(self) -> dict[Space, int]:
        return self._do(operations.spaces)

    async def aspaces(self) -> dict[Space, int]:
        return await self._ado(operations.spaces)

    def known_spaces(self) -> list[Space]:
        return self._do(operations.known_spaces)

    async def aknown_spaces(self) -> list[Space]:
        return await self._ado(operations.known_spaces)

    def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        self._do(operations.adopt, space, drop_others)

    async def aadopt(self, space: Space, *, drop_others: bool = False) -> None:
        await self._ado(operations.adopt, space, drop_others)

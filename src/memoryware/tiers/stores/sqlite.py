"""The three tiers in one SQLite file: nothing to install, nothing to run.

What is confirmed has been handed to the disk (WAL with `synchronous=FULL`), so it survives a
killed process, and a power cut as far as the disk keeps its word. Threads and tasks of one
process take turns; processes do as well, and wait for each other.

What `delete` removes is overwritten, in the tables, in the index of words and in the log beside
the file. Somebody who reads at that moment keeps the log as it is; it is overwritten with the
next change after that, when this process closes the file, or when somebody opens it. Copies
that a file system keeps are out of reach.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from memoryware._twins import in_thread
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores import _searching, _sql
from memoryware.tiers.stores._sqlite_file import SqliteFile
from memoryware.tiers.stores.protocol import Hit, Page, Select, Space, Stores, Vector

R = TypeVar("R", Entry, Memory)


def sqlite_stores(path: str | os.PathLike[str], *, lock_timeout: float = 30.0) -> Stores:
    """Return the stores in a file, which is made if it is not there.

    Raises:
        StoreUnavailable: If it cannot be opened, or is something else.
        StoreNewer: If a newer version has written it.
    """
    file = SqliteFile(path, lock_timeout)
    return Stores(SqliteQuarantine(file), SqliteWorking(file), SqliteLongTerm(file))


class _SqliteRecords(Generic[R]):
    """The records of one tier in a file."""

    tier: str

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def find(self, which: Select, *, limit: int | None = None, offset: int = 0) -> Page[R]:
        return self._file.do(_sql.find, self.tier, which, limit, offset)

    async def afind(self, which: Select, *, limit: int | None = None, offset: int = 0) -> Page[R]:
        return await in_thread(self._file.do, _sql.find, self.tier, which, limit, offset)

    def edit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return self._file.do(_sql.edit, self.tier, which, change)

    async def aedit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return await in_thread(self._file.do, _sql.edit, self.tier, which, change)

    def delete(self, which: Select) -> int:
        return self._file.do(_sql.delete, self.tier, which)

    async def adelete(self, which: Select) -> int:
        return await in_thread(self._file.do, _sql.delete, self.tier, which)

    def close(self) -> None:
        self._file.close()

    async def aclose(self) -> None:
        await in_thread(self._file.close)


class SqliteQuarantine(_SqliteRecords[Entry]):
    """Tier 1 in a file."""

    tier = "quarantine"

    def add(self, entry: Entry) -> Entry:
        kept: Entry = self._file.do(_sql.add_entry, entry)
        return kept

    async def aadd(self, entry: Entry) -> Entry:
        kept: Entry = await in_thread(self._file.do, _sql.add_entry, entry)
        return kept


class SqliteWorking(_SqliteRecords[Entry]):
    """Tier 2 in a file."""

    tier = "working"

    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        self._file.do(_sql.push, entry, keep, renew)

    async def apush(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await in_thread(self._file.do, _sql.push, entry, keep, renew)

    def purge(self, now: datetime) -> int:
        return self._file.do(_sql.purge, now)

    async def apurge(self, now: datetime) -> int:
        return await in_thread(self._file.do, _sql.purge, now)


class SqliteLongTerm(_SqliteRecords[Memory]):
    """Tier 3 in a file."""

    tier = "long_term"

    def add(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        return self._file.do(_sql.add_document, memories, vectors, space, replaces)

    async def aadd(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        return await in_thread(self._file.do, _sql.add_document, memories, vectors, space, replaces)

    def by_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return self._file.do(_searching.by_words, words, which, limit)

    async def aby_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return await in_thread(self._file.do, _searching.by_words, words, which, limit)

    def by_vector(self, vector: Vector, which: Select, *, space: Space, limit: int) -> list[Hit]:
        return self._file.do(_searching.by_vector, vector, which, space, limit)

    async def aby_vector(
        self, vector: Vector, which: Select, *, space: Space, limit: int
    ) -> list[Hit]:
        return await in_thread(self._file.do, _searching.by_vector, vector, which, space, limit)

    def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return self._file.do(_sql.unembedded, space, limit)

    async def aunembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await in_thread(self._file.do, _sql.unembedded, space, limit)

    def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return self._file.do(_sql.put_vectors, vectors, space)

    async def aput_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return await in_thread(self._file.do, _sql.put_vectors, vectors, space)

    def spaces(self) -> dict[Space, int]:
        return self._file.do(_sql.spaces)

    async def aspaces(self) -> dict[Space, int]:
        return await in_thread(self._file.do, _sql.spaces)

    def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        self._file.do(_sql.adopt, space, drop_others)

    async def aadopt(self, space: Space, *, drop_others: bool = False) -> None:
        await in_thread(self._file.do, _sql.adopt, space, drop_others)

"""The three tiers in one SQLite file: nothing to install, nothing to run.

What is confirmed has been handed to the disk (WAL with `synchronous=FULL`), so it survives a
killed process, and a power cut as far as the disk keeps its word. Threads and tasks of one
process take turns; processes do as well, and wait for each other.

What is deleted is overwritten, in the tables, in the index of words and in the log beside the
file. Somebody who reads at that moment keeps the log as it is until the next deletion, or
until the last process closes the file. Copies that a file system keeps are out of reach.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from memoryware._twins import finish, in_thread
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores import _searching, _sql
from memoryware.tiers.stores._sqlite_file import SqliteFile
from memoryware.tiers.stores.protocol import Hit, Page, Select, Space, Stores, Vector

R = TypeVar("R", Entry, Memory)
T = TypeVar("T")


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
        return finish(_sql.find(self._file, self.tier, which, limit, offset))

    async def afind(self, which: Select, *, limit: int | None = None, offset: int = 0) -> Page[R]:
        return await _apart(_sql.find, self._file, self.tier, which, limit, offset)

    def edit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return finish(_sql.edit(self._file, self.tier, which, change))

    async def aedit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return await _apart(_sql.edit, self._file, self.tier, which, change)

    def delete(self, which: Select) -> int:
        return finish(_sql.delete(self._file, self.tier, which))

    async def adelete(self, which: Select) -> int:
        return await _apart(_sql.delete, self._file, self.tier, which)

    def close(self) -> None:
        self._file.close()

    async def aclose(self) -> None:
        await in_thread(self._file.close)


class SqliteQuarantine(_SqliteRecords[Entry]):
    """Tier 1 in a file."""

    tier = "quarantine"

    def add(self, entry: Entry) -> Entry:
        kept: Entry = finish(_sql.add_entry(self._file, entry))
        return kept

    async def aadd(self, entry: Entry) -> Entry:
        kept: Entry = await _apart(_sql.add_entry, self._file, entry)
        return kept


class SqliteWorking(_SqliteRecords[Entry]):
    """Tier 2 in a file."""

    tier = "working"

    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        finish(_sql.push(self._file, entry, keep, renew))

    async def apush(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await _apart(_sql.push, self._file, entry, keep, renew)

    def purge(self, now: datetime) -> int:
        return finish(_sql.purge(self._file, now))

    async def apurge(self, now: datetime) -> int:
        return await _apart(_sql.purge, self._file, now)


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
        return finish(_sql.add_document(self._file, memories, vectors, space, replaces))

    async def aadd(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        return await _apart(_sql.add_document, self._file, memories, vectors, space, replaces)

    def by_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return finish(_searching.by_words(self._file, words, which, limit))

    async def aby_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return await _apart(_searching.by_words, self._file, words, which, limit)

    def by_vector(self, vector: Vector, which: Select, *, space: Space, limit: int) -> list[Hit]:
        return finish(_searching.by_vector(self._file, vector, which, space, limit))

    async def aby_vector(
        self, vector: Vector, which: Select, *, space: Space, limit: int
    ) -> list[Hit]:
        return await _apart(_searching.by_vector, self._file, vector, which, space, limit)

    def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return finish(_sql.unembedded(self._file, space, limit))

    async def aunembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await _apart(_sql.unembedded, self._file, space, limit)

    def put_vectors(self, vectors: Sequence[tuple[str, Vector]], space: Space) -> int:
        return finish(_sql.put_vectors(self._file, vectors, space))

    async def aput_vectors(self, vectors: Sequence[tuple[str, Vector]], space: Space) -> int:
        return await _apart(_sql.put_vectors, self._file, vectors, space)

    def spaces(self) -> dict[Space, int]:
        return finish(_sql.spaces(self._file))

    async def aspaces(self) -> dict[Space, int]:
        return await _apart(_sql.spaces, self._file)

    def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        finish(_sql.adopt(self._file, space, drop_others))

    async def aadopt(self, space: Space, *, drop_others: bool = False) -> None:
        await _apart(_sql.adopt, self._file, space, drop_others)


async def _apart(operation: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
    """Do a whole operation in a thread, so that the loop is free."""
    return await in_thread(lambda: finish(operation(*args)))

"""The three tiers in one SQLite file: nothing to install, nothing to run.

What is confirmed has been handed to the disk (WAL with `synchronous=FULL`), so it survives a
killed process, and a power cut as far as the disk keeps its word. Threads and tasks of one
process take turns; processes do as well, and wait for each other.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from memoryware._twins import finish, in_thread
from memoryware.errors import StoreNewer, StoreUnavailable
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores import _sql
from memoryware.tiers.stores._schema import APPLICATION, STEPS
from memoryware.tiers.stores.protocol import Hit, Page, Select, Space, Stores, Vector

R = TypeVar("R", Entry, Memory)
T = TypeVar("T")
_PRIVATE: Final = 0o600


def sqlite_stores(path: str | os.PathLike[str], *, lock_timeout: float = 30.0) -> Stores:
    """Return the stores in a file, which is made if it is not there.

    Raises:
        StoreUnavailable: If it cannot be opened, or is something else.
        StoreNewer: If a newer version has written it.
    """
    file = SqliteFile(path, lock_timeout)
    return Stores(SqliteQuarantine(file), SqliteWorking(file), SqliteLongTerm(file))


class SqliteFile:
    """A database file, and the connection of this process to it."""

    def __init__(self, path: str | os.PathLike[str], lock_timeout: float = 30.0) -> None:
        self.path = Path(path).expanduser().absolute()
        self._lock_timeout = lock_timeout
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        self._db: sqlite3.Connection | None = None
        with self._errors():
            self._db = self._connect()

    def close(self) -> None:
        """Close the connection; may be called twice."""
        with self._lock:
            self._closed = True
            if self._db is not None and self._process == os.getpid():
                self._db.close()
            self._db = None

    @asynccontextmanager
    async def transaction(self, *, writes: bool) -> AsyncIterator[_Transaction]:
        """Begin a transaction; it is kept if nothing goes wrong inside, else it never was."""
        if not self._lock.acquire(timeout=self._lock_timeout):
            raise StoreUnavailable(
                f"{self.path} has been busy for {self._lock_timeout} seconds (lock_timeout)"
            )
        try:
            with self._errors():
                db = self._connection()
                db.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                try:
                    yield _Transaction(db)
                    db.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):
                        db.execute("ROLLBACK")
                    raise
        finally:
            self._lock.release()

    def _connection(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreUnavailable(f"{self.path} was closed; open the memory again")
        if self._process != os.getpid():  # a connection must not be taken over a fork
            self._process, self._db = os.getpid(), None
        if self._db is None:
            self._db = self._connect()
        return self._db

    def _connect(self) -> sqlite3.Connection:
        self._make_private()
        db = sqlite3.connect(
            self.path,
            timeout=self._lock_timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            db.create_function("memoryware_has", 2, _has, deterministic=True)
            db.execute("PRAGMA foreign_keys = ON")
            self._check(db)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")
            self._upgrade(db)
        except BaseException:
            db.close()
            raise
        return db

    def _make_private(self) -> None:
        """Make a new file that only its owner may read, before anything is in it."""
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE))

    def _check(self, db: sqlite3.Connection) -> None:
        """Look at whose file it is before anything is changed."""
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application not in (0, APPLICATION) or (tables and application != APPLICATION):
            raise StoreUnavailable(
                f"{self.path} is a database of another program; use a file of its own for memory"
            )
        if version > len(STEPS):
            raise StoreNewer(
                f"{self.path} has version {version}, and this knows {len(STEPS)}: a newer"
                " memoryware has written it. Update this one; nothing was changed"
            )

    def _upgrade(self, db: sqlite3.Connection) -> None:
        if db.execute("PRAGMA user_version").fetchone()[0] == len(STEPS):
            return
        db.execute("BEGIN IMMEDIATE")
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            for step in STEPS[version:]:
                for statement in step.split(";\n"):
                    db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {len(STEPS)}")
            db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what SQLite and the system say into an error that says what to do."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, StoreUnavailable):
                raise
            raise StoreUnavailable(f"{self.path}: {_said(error, self._lock_timeout)}") from error


class _Transaction:
    """A transaction of an embedded database: nothing in it waits for a loop."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    async def execute(self, sql: str, *values: object) -> Sequence[_sql.Row]:
        return self._db.execute(sql, values).fetchall()

    async def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        self._db.executemany(sql, rows)


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
        return finish(_sql.by_words(self._file, words, which, limit))

    async def aby_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return await _apart(_sql.by_words, self._file, words, which, limit)

    def by_vector(self, vector: Vector, which: Select, *, space: Space, limit: int) -> list[Hit]:
        return finish(_sql.by_vector(self._file, vector, which, space, limit))

    async def aby_vector(
        self, vector: Vector, which: Select, *, space: Space, limit: int
    ) -> list[Hit]:
        return await _apart(_sql.by_vector, self._file, vector, which, space, limit)

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


def _has(body: str, text: str) -> bool:
    """Say whether the content of a row has a text, whatever its case."""
    import json

    return text.casefold() in str(json.loads(body)["content"]).casefold()


def _said(error: Exception, timeout: float) -> str:
    text = str(error)
    hints = {
        "locked": f"another process has been writing for {timeout} seconds (lock_timeout)",
        "full": "the disk is full; nothing was lost, make room and try again",
        "readonly": "it may not be written; check its permissions and those of its folder",
        "not a database": "this file is no SQLite database",
        "malformed": "the file is damaged; restore a copy, or try `sqlite3 FILE .recover`",
        "unable to open": "it cannot be opened; is its folder there, and may it be written?",
    }
    known = next((hint for sign, hint in hints.items() if sign in text), None)
    return f"{known} ({text})" if known else text

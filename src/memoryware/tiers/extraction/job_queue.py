"""The queue of threads whose facts wait for extraction: a small SQLite file with leases.

The queue names threads and holds no text: the messages are in quarantine, where `forget` deletes
them, so that no copy of a conversation survives in the queue. A table beside the entries of a store
was rejected: a store selects records by scope and status, so finding what is due would scan every
group, and each kind of store would need it. What a lost queue forgets (another machine, memory of
the process only) is in quarantine all the same, and `MemoryManager.catch_up` finds it again.

The names of threads are ids of people, so that `forget` removes them here as well, from the file
and from its write-ahead log.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from memoryware.errors import StoreClosed, StoreUnavailable
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers.stores.opening import FILE, file_of
from memoryware.tiers.stores.protocol import Stores

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS threads (
    tenant TEXT NOT NULL, group_id TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    first REAL NOT NULL, due REAL NOT NULL, version INTEGER NOT NULL DEFAULT 1,
    leased_until REAL NOT NULL DEFAULT 0, owner TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, group_id, user_id, session_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS threads_due ON threads (due);
CREATE TABLE IF NOT EXISTS spent (day TEXT PRIMARY KEY, tokens INTEGER NOT NULL) WITHOUT ROWID;
"""
_KEY: Final = "tenant = ? AND group_id = ? AND user_id = ? AND session_id = ?"
_SUFFIX: Final = "-learning"
_PRIVATE: Final = 0o600
"""Mode of the file, as of the memory's own: it names people."""
_VERSION: Final = 1
"""Version of a file that is private; SQLite let everybody read those of 0."""
_TIMEOUT: Final = 30.0
"""Seconds to wait for other processes that write."""
_WIPING: Final = 2.0
"""Seconds that overwriting the write-ahead log waits for those who read."""


@dataclass(frozen=True, slots=True)
class QueuedThread:
    """A thread that was taken from the queue.

    Attributes:
        scope: Tenant, group, user and session.
        version: How often it was enqueued; it is done only if it was not enqueued again meanwhile.
        attempts: How often its extraction has failed.
    """

    scope: MemoryScope
    version: int
    attempts: int = 0

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Its key in the queue."""
        return key_of(self.scope)


def key_of(scope: MemoryScope) -> tuple[str, str, str, str]:
    """Return the key of a thread.

    Args:
        scope: Tenant, group, user and session.

    Returns:
        The four names; "" for one that is missing.
    """
    return (
        scope.tenant or "",
        scope.group_id or "",
        scope.user_id or "",
        scope.session_id or "",
    )


def queue_beside(stores: Stores) -> Path | None:
    """Return where the queue of a memory in a SQLite file is.

    Args:
        stores: The stores of the memory.

    Returns:
        A file beside it; None if the memory is elsewhere.
    """
    reopen = stores.reopen
    address = reopen.args[0] if isinstance(reopen, partial) and reopen.args else ""
    address = next(
        (part for part in str(address).split(" + ") if part.strip().startswith(FILE)), ""
    )
    if not address:
        return None
    path, _ = file_of(address.strip())
    return Path(f"{path}{_SUFFIX}")


def forget_threads(stores: Stores, queues: Iterable[ThreadJobQueue], scope: MemoryScope) -> None:
    """Remove the threads of a scope from the queues of a memory.

    Args:
        stores: The stores of the memory; the queue beside their file is one of them.
        queues: The queues that this process has opened for the memory.
        scope: The tenant, and any of group, user and session; what is missing matches all.

    Raises:
        StoreUnavailable: If a queue cannot be written.
    """
    done: set[Path | None] = {None}
    for queue in queues:
        if queue.path is None or queue.path.exists():
            with suppress(StoreClosed):
                queue.forget(scope)
                done.add(queue.path)
    beside = queue_beside(stores)
    if beside is not None and beside not in done and beside.exists():
        with closing(ThreadJobQueue(beside)) as queue:
            queue.forget(scope)


class ThreadJobQueue:
    """The threads that wait; several threads and processes may use one file.

    Args:
        path: The file; None keeps the queue in this process.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._is_closed = False
        self._is_unwiped = False

    @property
    def is_durable(self) -> bool:
        """Whether the queue survives the end of the process."""
        return self.path is not None

    def put(self, scope: MemoryScope, *, now: float, delay: float, longest: float) -> float:
        """Enqueue a thread; one that waits already waits for silence anew.

        Args:
            scope: Tenant, group, user and session.
            now: The moment, in seconds.
            delay: Seconds of silence after which it is due.
            longest: Seconds after the first time, after which it is due in any case.

        Returns:
            When it is due.
        """
        with self._transaction() as cursor:
            cursor.execute(
                "INSERT INTO threads (tenant, group_id, user_id, session_id, first, due)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET version = version + 1,"
                " attempts = 0, due = min(excluded.due, first + ?)"
                " RETURNING due",
                (*key_of(scope), now, now + delay, longest),
            )
            return float(cursor.fetchone()[0])

    def take(
        self, *, now: float, owner: str, lease: float, limit: int, everything: bool = False
    ) -> list[QueuedThread]:
        """Reserve threads that are due, so that no other process takes them.

        Args:
            now: The moment, in seconds.
            owner: Who takes them.
            lease: Seconds after which another process may take them, should this one have died.
            limit: How many at most.
            everything: Whether threads that are not due yet are taken as well.

        Returns:
            The threads, the one that waits longest first.
        """
        with self._transaction() as cursor:
            cursor.execute(
                "SELECT tenant, group_id, user_id, session_id, version, attempts FROM threads"
                " WHERE (due <= ? OR ?) AND leased_until <= ? ORDER BY due LIMIT ?",
                (now, everything, now, limit),
            )
            rows = cursor.fetchall()
            cursor.executemany(
                f"UPDATE threads SET leased_until = ?, owner = ? WHERE {_KEY}",
                [(now + lease, owner, *row[:4]) for row in rows],
            )
        return [
            QueuedThread(
                MemoryScope(
                    tenant=row[0] or None,
                    group_id=row[1] or None,
                    user_id=row[2] or None,
                    session_id=row[3] or None,
                ),
                row[4],
                row[5],
            )
            for row in rows
        ]

    def finish(self, thread: QueuedThread, owner: str) -> None:
        """Remove a thread that was read; if it was enqueued again meanwhile, release it.

        Args:
            thread: The thread, as `take` returned it.
            owner: Who has taken it.
        """
        with self._transaction() as cursor:
            cursor.execute(
                f"DELETE FROM threads WHERE {_KEY} AND version = ? AND owner = ?",
                (*thread.key, thread.version, owner),
            )
        self.release(thread, owner)

    def release(self, thread: QueuedThread, owner: str) -> None:
        """Give back a thread that was not read.

        Args:
            thread: The thread.
            owner: Who has taken it.
        """
        with self._transaction() as cursor:
            cursor.execute(
                f"UPDATE threads SET leased_until = 0, owner = '' WHERE {_KEY} AND owner = ?",
                (*thread.key, owner),
            )

    def fail(self, thread: QueuedThread, owner: str, *, again_at: float, most: int) -> bool:
        """Release a thread whose extraction failed, to be tried again.

        Args:
            thread: The thread.
            owner: Who has taken it.
            again_at: When it is due again.
            most: The number of attempts after which it is dropped.

        Returns:
            Whether it is tried again.
        """
        is_last = thread.attempts + 1 >= most
        with self._transaction() as cursor:
            if is_last:
                cursor.execute(
                    f"DELETE FROM threads WHERE {_KEY} AND owner = ? AND version = ?",
                    (*thread.key, owner, thread.version),
                )
            cursor.execute(
                "UPDATE threads SET attempts = attempts + 1, due = ?, leased_until = 0, owner = ''"
                f" WHERE {_KEY} AND owner = ?",
                (again_at, *thread.key, owner),
            )
        return not is_last

    def forget(self, scope: MemoryScope) -> None:
        """Remove the threads of a scope, and overwrite what the file and its log have of them.

        Args:
            scope: The tenant, and any of group, user and session; what is missing matches all.
        """
        names = (scope.group_id, scope.user_id, scope.session_id)
        with self._transaction() as cursor:
            cursor.execute(
                "DELETE FROM threads WHERE tenant = ?1 AND (?2 IS NULL OR group_id = ?2)"
                " AND (?3 IS NULL OR user_id = ?3) AND (?4 IS NULL OR session_id = ?4)",
                (scope.tenant or "", *names),
            )
        if self.path is None:
            return
        with self._lock, self._errors():
            connection = self._open()
            # Versions that did not overwrite what they deleted may have left names in free pages.
            connection.execute("VACUUM")
            self._wipe(connection, _WIPING)
        if self._is_unwiped:
            logger.warning(
                "%s-wal is being read, and names threads that were forgotten until it is written"
                " or opened the next time",
                self.path.name,
            )

    def next_due(self) -> float | None:
        """Return when the next thread is due; None if none waits."""
        with self._transaction() as cursor:
            cursor.execute("SELECT min(max(due, leased_until)) FROM threads")
            value = cursor.fetchone()[0]
        return None if value is None else float(value)

    def count(self) -> int:
        """Return how many threads wait."""
        with self._transaction() as cursor:
            cursor.execute("SELECT count(*) FROM threads")
            return int(cursor.fetchone()[0])

    def spent(self, day: str) -> int:
        """Return how many tokens all processes have used on a day.

        Args:
            day: The day, such as "2025-03-01".

        Returns:
            The tokens.
        """
        with self._transaction() as cursor:
            cursor.execute("SELECT tokens FROM spent WHERE day = ?", (day,))
            row = cursor.fetchone()
        return int(row[0]) if row else 0

    def spend(self, day: str, tokens: int) -> None:
        """Add tokens to those of a day; days before it are dropped.

        Args:
            day: The day.
            tokens: The tokens.
        """
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM spent WHERE day < ?", (day,))
            cursor.execute(
                "INSERT INTO spent VALUES (?, ?) ON CONFLICT DO UPDATE SET tokens = tokens + ?",
                (day, tokens, tokens),
            )

    def close(self) -> None:
        """Close the file. May be called twice."""
        with self._lock:
            self._is_closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        with self._lock, self._errors():
            connection = self._open()
            cursor = connection.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
            if self._is_unwiped:
                self._wipe(connection, 0)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreUnavailable(
                f"The queue of the memory manager in {self.path} failed ({error}); check the"
                " file, or delete it and call catch_up(scope)"
            ) from error

    def _open(self) -> sqlite3.Connection:
        if self._is_closed:
            raise StoreClosed("The memory manager was closed; make a new one")
        if self._process != os.getpid():  # a fork must not use the connection of its parent
            self._connection, self._process = None, os.getpid()
        if self._connection is None:
            if self.path is not None:
                # Made here, because SQLite lets everybody read what it makes. It says itself why
                # it cannot open a file.
                with suppress(OSError):
                    os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE))
            connection = sqlite3.connect(
                self.path or ":memory:",
                timeout=_TIMEOUT,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                if self.path is not None:
                    connection.execute("PRAGMA journal_mode = WAL")
                    # A killed process loses nothing by it. What a power cut takes, `catch_up`
                    # finds; to wait for the disk took 5 ms of each run.
                    connection.execute("PRAGMA synchronous = NORMAL")
                    connection.execute("PRAGMA secure_delete = ON")
                    self._make_private(connection, self.path)
                connection.executescript(_SCHEMA)
                if self.path is not None:
                    self._wipe(connection, 0)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    @staticmethod
    def _make_private(connection: sqlite3.Connection, path: Path) -> None:
        """Take the file of an older version from others, once: later its mode is the user's."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version >= _VERSION:
            return
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        for end in ("", "-wal", "-shm") if tables else ():
            with suppress(OSError):  # it is another user's, or is not there
                path.with_name(f"{path.name}{end}").chmod(_PRIVATE)
        connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _wipe(self, connection: sqlite3.Connection, seconds: float) -> None:
        """Write the log into the file and truncate it; wait some seconds for those who read."""
        connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        try:
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:  # somebody else does so
            busy = 1
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(_TIMEOUT * 1000)}")
        self._is_unwiped = bool(busy)

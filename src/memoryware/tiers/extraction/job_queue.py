"""The queue of threads whose facts wait for extraction: a small SQLite file with leases.

The queue names threads and holds no text: the messages are in quarantine, where `forget` deletes
them, so that no copy of a conversation survives in the queue. A table beside the entries of a store
was rejected: a store selects records by scope and status, so finding what is due would scan every
group, and each kind of store would need it. What a lost queue forgets (another machine, memory of
the process only) is in quarantine all the same, and `MemoryManager.catch_up` finds it again.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from memoryware.errors import StoreClosed, StoreUnavailable
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
        with self._lock:
            try:
                connection = self._open()
                cursor = connection.execute("BEGIN IMMEDIATE")
                try:
                    yield cursor
                except BaseException:
                    connection.rollback()
                    raise
                connection.commit()
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
            connection = sqlite3.connect(
                self.path or ":memory:", timeout=30, isolation_level=None, check_same_thread=False
            )
            try:
                if self.path is not None:
                    connection.execute("PRAGMA journal_mode = WAL")
                    # A killed process loses nothing by it. What a power cut takes, `catch_up`
                    # finds; to wait for the disk took 5 ms of each run.
                    connection.execute("PRAGMA synchronous = NORMAL")
                connection.executescript(_SCHEMA)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

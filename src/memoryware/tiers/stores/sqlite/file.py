"""One SQLite file: its connection, its transactions, its index of words, and its errors."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, Literal, TypeAlias, TypeVar

from memoryware._runner import run_blocking
from memoryware.errors import StoreNewer, StoreUnavailable
from memoryware.tiers.stores._turns import Ticket, Turns
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.segment import Segments
from memoryware.tiers.stores.sql.port import Port
from memoryware.tiers.stores.sqlite import migration, place
from memoryware.tiers.stores.sqlite.rows import SqliteRows, has, key_of
from memoryware.tiers.stores.sqlite.schema import APPLICATION, STEPS
from memoryware.tiers.stores.sqlite.transaction import Shared, SqliteTransaction
from memoryware.tiers.text.terms import WORDS_VERSION

T = TypeVar("T")
Durability: TypeAlias = Literal["full", "normal"]
"""Whether each change is handed to the disk before it is confirmed, or what gathers in the log."""
_LONGEST: Final = 1_000_000.0
"""Seconds that SQLite can be told to wait."""
_WIPING: Final = 2.0
"""Seconds that overwriting what was deleted waits for those who read."""

_LONG_LOG: Final = 4 * 1024 * 1024
"""Bytes of a log after which it goes into the file: the 1,000 pages of SQLite's own setting."""
_NO_FOLDER: Final = "it cannot be opened; is its folder there, and may it be written?"
CACHE: Final = 16
"""Mebibytes of a file that a connection may keep: what one group has lies all over the file."""
_AGAIN: Final = 0.01
"""Seconds until a connection is prepared again."""
_RAISED: Final = "user-defined function raised"
"""What SQLite says of a function of ours, which raises nothing but what comes from outside."""
_FORKING_WAITS: Final = 30.0
"""Seconds at most that a fork waits for who is using a file."""


class SqliteFile:
    """A database file, and the connection of this process to it.

    Threads use the one connection in turn. What is called inside a transaction may use the
    file itself. A connection must not be taken over a fork, so it is closed before one, and
    parent and child open their own when they need it.

    Ctrl-C may come anywhere, also where it keeps a context manager from ending what it has
    begun. So `do` ends what an operation has left open, and nobody undoes anything twice.
    """

    rows = SqliteRows()
    has_segments = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        lock_timeout: float = 30.0,
        durability: Durability = "full",
        indexed: int = 250_000,
    ) -> None:
        self.path, self._durability = _absolute(path), durability
        self._timeout = min(lock_timeout, _LONGEST)
        self._turns = Turns(self._timeout, self._late)
        self._shared = Shared(Segments(indexed))
        self._open: list[SqliteTransaction] = []
        """Those that have begun, the outermost first."""
        self._closed = self._unwiped = False
        self._interrupted: BaseException | None = None
        self._forking: Ticket | None = None
        self._read_only = False
        self._identity: place.Identity | None = None
        self._db: sqlite3.Connection | None = self._connect()
        _OPEN.add(self)
        self._wipe(0)  # what somebody deleted who was killed then

    def close(self) -> None:
        """Close the connection; may be called twice."""
        self._turns.alone(self._close)

    def do(self, operation: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        """Return what an operation on this file returns; if it fails nothing has changed."""
        return self._turns.alone(lambda: self._whole(operation))

    def _whole(self, operation: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        outside = len(self._open)
        try:
            return run_blocking(operation(self))
        except BaseException:
            while len(self._open) > outside:
                self._undo(self._open[-1])
            raise

    @asynccontextmanager
    async def transaction(
        self,
        which: Select | None,  # noqa: ARG002 - whoever writes is alone with all of it
        *,
        writes: bool = False,
        snapshot: bool = True,
    ) -> AsyncIterator[SqliteTransaction]:
        """Begin a transaction; it is kept if nothing goes wrong inside, else it never was."""
        db = self._connection()
        tx = SqliteTransaction(db, self.errors, self._shared, writes=writes, snapshot=snapshot)
        self._open.append(tx)
        try:
            tx.begin()
            yield tx
            await tx.keep()
        except BaseException:
            self._undo(tx)
            raise
        self._open.remove(tx)
        if self._unwiped and writes:
            self._wipe(0)
        elif writes and not self._open:
            self._shorten_log()

    def _undo(self, tx: SqliteTransaction) -> None:
        if tx not in self._open:
            return
        try:
            tx.undo()
        except sqlite3.Error:  # SQLite has undone everything itself, or this connection is lost
            if tx.db is self._db and tx.db.in_transaction:
                self._drop()
        self._open.remove(tx)

    async def wipe(self) -> None:
        """Overwrite what was deleted in the log as well: now, or when nobody reads it anymore."""
        self._unwiped = True
        self._wipe(_WIPING)

    def _wipe(self, seconds: float) -> None:
        """Try for some time to put the log into the file, and to empty it."""
        if self._db is None or self._db.in_transaction or self._read_only:
            return
        if not self._is_in_place():
            return  # the log beside the path is of another file
        with suppress(sqlite3.Error):  # what is in the log is deleted anyway
            try:
                self._db.execute(f"PRAGMA busy_timeout = {int(min(seconds, self._timeout) * 1000)}")
                self._unwiped = not place.checkpoint(self._db, self.path, "TRUNCATE")
            finally:
                self._db.execute(f"PRAGMA busy_timeout = {int(self._timeout * 1000)}")

    def _shorten_log(self) -> None:
        """Put a long log into the file, as SQLite would do by itself and without a mark."""
        with suppress(OSError, sqlite3.Error):
            if self._db is not None and place.log_of(self.path).stat().st_size > _LONG_LOG:
                place.checkpoint(self._db, self.path, "PASSIVE")

    def back_up(self, target: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Copy the database of this moment into a file; see `place.back_up`."""
        with self.errors():
            self._check_in_place()
            place.back_up(self.path, _absolute(target), overwrite=overwrite, timeout=self._timeout)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what SQLite and the system say into an error that says what to do."""
        try:
            yield
        except StoreUnavailable:
            raise
        except (sqlite3.Error, OSError) as error:
            interrupted, self._interrupted = self._interrupted, None
            if interrupted is None and _RAISED in str(error):  # before it could say so
                interrupted = KeyboardInterrupt()
            if interrupted is not None and not isinstance(interrupted, Exception):
                raise interrupted from None
            raise StoreUnavailable(f"{self.path}: {_said(error, self._timeout)}") from error

    def _late(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.path} has been busy for {self._timeout} seconds (lock_timeout)"
        )

    def _has(self, content: str, folded: str) -> bool:
        """Answer SQLite, which takes Ctrl-C for an error like others."""
        try:
            return has(content, folded)
        except BaseException as error:
            self._interrupted = error
            raise

    def _close(self) -> None:
        self._closed = True
        if self._unwiped:
            self._wipe(_WIPING)
        self._drop()

    def _drop(self) -> None:
        if self._db is not None:
            if self._is_in_place():
                with suppress(sqlite3.Error):  # closing does it as well, without a mark
                    if not self._read_only and not self._db.in_transaction:
                        place.checkpoint(self._db, self.path, "PASSIVE")
                self._db.close()
            else:
                place.leave_open(self._db)
        self._db = None

    def _connection(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreUnavailable(f"{self.path} was closed; open the memory again")
        self._check_in_place()
        if self._db is None:
            self._db = self._connect()
        return self._db

    def _is_in_place(self) -> bool:
        """Return whether the path still leads to the file that was opened; True before that."""
        return self._identity in (None, place.identity_of(self.path))

    def _check_in_place(self) -> None:
        """Refuse to work on a file that has no name any more: what it is told would be lost.

        Raises:
            StoreUnavailable: If the file was deleted, replaced or moved since it was opened.
        """
        if not self._is_in_place():
            raise StoreUnavailable(
                f"{self.path} was deleted or replaced while it was open; nothing was read or"
                " written. Close this memory and open it again"
            )

    def _connect(self) -> sqlite3.Connection:
        with self.errors():
            with suppress(FileExistsError):  # made here, because SQLite lets everybody read it
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, place.PRIVATE))
            self._read_only = not place.is_writable(self.path)
            if self._read_only:
                db = self._connect_read_only()
            else:
                place.check_log(self.path)
                db = sqlite3.connect(
                    self.path,
                    timeout=self._timeout,
                    isolation_level=None,
                    check_same_thread=False,
                    cached_statements=512,
                )
                try:
                    self._prepare_in_time(db)
                except BaseException:
                    db.close()
                    raise
            self._identity = place.identity_of(self.path)
            return db

    def _connect_read_only(self) -> sqlite3.Connection:
        """Open a file that cannot be written; one of an older version is upgraded in memory."""
        db = place.connect_read_only(self.path, self._timeout)
        try:
            version = self._check(db)
            if version < len(STEPS) or not self._is_ready(db):
                db = place.in_memory(db)
                self._upgrade(db)
            self._add_functions(db)
            db.execute(f"PRAGMA cache_size = {-CACHE * 1024}")
            db.execute("PRAGMA query_only = ON")
        except BaseException:
            db.close()
            raise
        return db

    def _prepare_in_time(self, db: sqlite3.Connection) -> None:
        """Prepare a connection, again and again while others do the same.

        SQLite does not wait by itself where two of them turn the log on at once.
        """
        last = monotonic() + self._timeout
        while True:
            try:
                return self._prepare(db)
            except sqlite3.OperationalError as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if "locked" not in str(error) or monotonic() > last:
                    raise
                sleep(_AGAIN)

    def _prepare(self, db: sqlite3.Connection) -> None:
        self._check(db)  # before anything is changed
        self._add_functions(db)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")  # `_shorten_log` does it
        db.execute(f"PRAGMA journal_size_limit = {_LONG_LOG // 4}")  # else its size says nothing
        db.execute(f"PRAGMA synchronous = {self._durability}")
        db.execute("PRAGMA secure_delete = ON")
        db.execute(f"PRAGMA cache_size = {-CACHE * 1024}")
        if 0 < self._check(db) < migration.NARROW:
            self._keep_copy(db)
        self._upgrade(db)

    def _add_functions(self, db: sqlite3.Connection) -> None:
        db.create_function("memoryware_has", 2, self._has, deterministic=True)
        db.create_function("memoryware_key", 1, key_of, deterministic=True)

    def _keep_copy(self, db: sqlite3.Connection) -> None:
        """Copy a file of an older version beside it: the way back, and whoever wants it deletes it.

        The copy is complete before the first row is changed. It is not replaced: a file that was
        brought up in part has it already.
        """
        target = self.path.with_name(f"{self.path.name}.version-{self._check(db)}")
        with suppress(FileExistsError):
            place.back_up(self.path, target, overwrite=False, timeout=self._timeout)

    def _check(self, db: sqlite3.Connection) -> int:
        """Return the version of the file, if it is one of ours that can be used."""
        inside = db.in_transaction
        if not inside:
            db.execute("BEGIN")  # one look at all of it: somebody else may be making it
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        words = 0
        if application == APPLICATION and 0 < version <= len(STEPS):
            (words,) = db.execute("SELECT max(value) FROM about WHERE name = 'words'").fetchone()
        if not inside:
            db.execute("COMMIT")
        if application not in (0, APPLICATION) or (application == 0 and (tables or version)):
            raise StoreUnavailable(
                f"{self.path} is a database of another program; use a file of its own for memory"
            )
        if version > len(STEPS) or (words or 0) > WORDS_VERSION:
            raise StoreNewer(
                f"{self.path} has version {version}.{words or 0}, and this knows"
                f" {len(STEPS)}.{WORDS_VERSION}: a newer memoryware has written it. Update this"
                " one; nothing was changed"
            )
        return int(version)

    def _upgrade(self, db: sqlite3.Connection) -> None:
        """Do the steps that are missing, each of them as a whole, while nobody else does."""
        while (done := self._check(db)) < len(STEPS):
            with migration.whole(db):
                if self._check(db) == done:
                    migration.do_step(db, STEPS, done, APPLICATION)
        migration.move(db)
        if migration.words_version(db) != WORDS_VERSION:
            with migration.whole(db):
                migration.make_words_anew(db)

    @staticmethod
    def _is_ready(db: sqlite3.Connection) -> bool:
        return not migration.is_moving(db) and migration.words_version(db) == WORDS_VERSION

    # Around a fork.

    def let_go(self) -> bool:
        """Hold the file and close its connection, so that a fork finds none; say whether."""
        self._forking = ticket = Ticket()
        try:
            self._turns.enter(ticket, _FORKING_WAITS)
        except StoreUnavailable:
            self.take_up()
            return False
        if self._db is not None and not self._db.in_transaction:
            self._drop()
        return True

    def take_up(self) -> None:
        """Let others use the file again."""
        if self._forking is not None:
            self._turns.leave(self._forking)

    def begin_anew(self) -> None:
        """Forget in a child what belongs to its parent."""
        self._turns, self._open = Turns(self._timeout, self._late), []
        self._shared.clear()
        if self._db is not None:
            _ABANDONED.append(self._db)  # closing it would give up locks of the parent
            self._db = None


def _absolute(path: str | os.PathLike[str]) -> Path:
    try:
        made = Path(path).expanduser().absolute()
        if b"\0" not in os.fsencode(made):
            return made
    except (RuntimeError, ValueError) as error:  # `~` of nobody; not a name for this system
        raise StoreUnavailable(f"{path!r} cannot be the path of a file: {error}") from error
    raise StoreUnavailable(f"{path!r} cannot be the path of a file")


def _said(error: Exception, timeout: float) -> str:
    text = str(error)
    hints = {
        "locked": f"another process has been writing for {timeout} seconds (lock_timeout)",
        "full": "the disk is full; nothing was lost, make room and try again",
        "readonly": "it may not be written; check its permissions and those of its folder",
        "is there already": "a backup replaces no file unless it is told to (overwrite=True)",
        "not a database": "this file is no SQLite database",
        "malformed": "the file is damaged; restore a copy, or try `sqlite3 FILE .recover`",
        "unable to open": _NO_FOLDER,
        "No such file": _NO_FOLDER,
        "UNIQUE": "a record with this id is there already; nothing was stored",
    }
    known = next((hint for sign, hint in hints.items() if sign in text), None)
    return f"{known} ({text})" if known else text


_OPEN: Final[weakref.WeakSet[SqliteFile]] = weakref.WeakSet()
_ABANDONED: Final[list[sqlite3.Connection]] = []
_HELD: Final[list[SqliteFile]] = []
_FORKING: Final = threading.Lock()


def _before_fork() -> None:
    _FORKING.acquire()
    _HELD[:] = [one for one in list(_OPEN) if one.let_go()]


def _after_fork() -> None:
    for one in _HELD:
        one.take_up()
    _HELD.clear()
    _FORKING.release()


def _in_child() -> None:
    for one in list(_OPEN):
        one.begin_anew()
    _HELD.clear()
    _FORKING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)

"""One SQLite file: its connection, its transactions, its log, copies of it, and its errors."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import struct
import tempfile
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep, time_ns
from typing import Any, Final, Literal, NoReturn, TypeAlias, TypeVar
from urllib.parse import quote

from memoryware._runner import run_blocking
from memoryware.errors import StoreClosed, StoreNewer, StoreUnavailable
from memoryware.tiers.stores._locking import ThreadQueue, Ticket
from memoryware.tiers.stores._segment import Segments
from memoryware.tiers.stores._sql.dialect import Port
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sqlite import _schema as schema
from memoryware.tiers.stores.sqlite._rows import SqliteDialect, has, key_of
from memoryware.tiers.stores.sqlite._schema import APPLICATION, STEPS
from memoryware.tiers.stores.sqlite._search import SqliteSearchTransaction, write_blocks
from memoryware.tiers.stores.sqlite._transaction import FileCache
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
_NO_FOLDER: Final = "it cannot be opened; check that its folder exists and is writable"
CACHE: Final = 16
"""Mebibytes of a file that a connection may keep: what one group has lies all over the file."""
IDLE: Final = 1.0
"""Seconds without a use of the file after which blocks are written."""
_PACKER: Final = "memoryware-packer"
_AGAIN: Final = 0.01
"""Seconds until a connection is prepared again."""
_UNDECODABLE: Final = "Could not decode to UTF-8"
"""How the errors of `sqlite3` begin that go on with the text of a row."""
_UNREADABLE: Final = (
    "the file is damaged: a text in it is not UTF-8; restore a backup, or try"
    " `sqlite3 FILE .recover`"
)
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
    begun. So `run` ends what an operation has left open, and nobody undoes anything twice.
    """

    dialect = SqliteDialect()
    has_segments = True
    reads_ahead = False
    suspends = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        lock_timeout: float = 30.0,
        durability: Durability = "full",
        indexed: int = 250_000,
    ) -> None:
        self.path, self._durability = _absolute(path), durability
        self._timeout = min(lock_timeout, _LONGEST)
        self._turns = ThreadQueue(self._timeout, self._late)
        self._shared = FileCache(Segments(indexed))
        self._open: list[SqliteSearchTransaction] = []
        """Those that have begun, the outermost first."""
        self._closed = self._unwiped = False
        self._interrupted: BaseException | None = None
        self._forking: Ticket | None = None
        self._read_only = False
        self._packing: threading.Thread | None = None
        self._used = 0.0
        self._identity: Identity | None = None
        self._db: sqlite3.Connection | None = self._connect()
        _OPEN.add(self)
        self._wipe(0)  # what somebody deleted who was killed then

    async def close(self) -> None:
        """Close the connection; may be called twice."""
        self._turns.alone(self._close)

    async def run(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        """Run an operation on this file; if it fails, nothing has changed."""
        result = self._turns.alone(lambda: self._whole(work))
        if self._shared.unpacked:
            self._pack_later()
        return result

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
        selection: Select | None,  # noqa: ARG002 - whoever writes is alone with all of it
        *,
        writes: bool = False,
        snapshot: bool = True,
    ) -> AsyncIterator[SqliteSearchTransaction]:
        """Begin a transaction; it is committed if nothing fails inside, else rolled back."""
        db = self._connection()
        tx = SqliteSearchTransaction(db, self._fail, self._shared, writes=writes, snapshot=snapshot)
        self._open.append(tx)
        try:
            tx.begin()
            yield tx
            await tx.keep()
        except BaseException:
            self._undo(tx)
            raise
        self._open.remove(tx)
        if writes:
            for outer in self._open:
                outer.forget_groups()
        if self._unwiped and writes:
            self._wipe(0)
        elif writes and not self._open:
            self._shorten_log()

    def _undo(self, tx: SqliteSearchTransaction) -> None:
        if tx not in self._open:
            return
        try:
            tx.undo()
        except sqlite3.Error:  # SQLite has undone everything itself, or this connection is lost
            if tx.db is self._db and tx.db.in_transaction:
                self._drop()
        self._open.remove(tx)

    async def wipe(self) -> None:
        """Overwrite deleted bytes in the write-ahead log, now or once nobody reads it."""
        self._unwiped = True
        self._wipe(_WIPING)

    def _wipe(self, seconds: float) -> None:
        """Checkpoint and truncate the write-ahead log; try for some seconds."""
        if self._db is None or self._db.in_transaction or self._read_only:
            return
        if not self._is_in_place():
            return  # the log beside the path is of another file
        with suppress(sqlite3.Error):  # what is in the log is deleted anyway
            try:
                self._db.execute(f"PRAGMA busy_timeout = {int(min(seconds, self._timeout) * 1000)}")
                self._unwiped = not checkpoint(self._db, self.path, "TRUNCATE")
            finally:
                self._db.execute(f"PRAGMA busy_timeout = {int(self._timeout * 1000)}")

    def _shorten_log(self) -> None:
        """Checkpoint a long log, which SQLite would do without the date that `check_log` needs."""
        with suppress(OSError, sqlite3.Error):
            if self._db is not None and log_of(self.path).stat().st_size > _LONG_LOG:
                checkpoint(self._db, self.path, "PASSIVE")

    def back_up(self, target: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Copy the database of this moment into a file; see `back_up`."""
        with self.errors():
            self._check_in_place()
            back_up(self.path, _absolute(target), overwrite=overwrite, timeout=self._timeout)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Translate errors of SQLite and of the system into errors that say what to do."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        """Raise the error that says what to do, for an error of SQLite or of the system."""
        if isinstance(error, StoreUnavailable):
            raise error
        if isinstance(error, UnicodeDecodeError) or _UNDECODABLE in str(error):
            # Without its cause: that one quotes the text, which is no matter of logs.
            raise StoreUnavailable(f"{self.path}: {_UNREADABLE}") from None
        interrupted, self._interrupted = self._interrupted, None
        if interrupted is None and _RAISED in str(error):  # before it could say so
            interrupted = KeyboardInterrupt()
        if interrupted is not None and not isinstance(interrupted, Exception):
            raise interrupted from None
        raise StoreUnavailable(f"{self.path}: {_explanation(error, self._timeout)}") from error

    # Blocks.

    def _pack_later(self) -> None:
        self._used = monotonic()
        if self._packing is None or not self._packing.is_alive():
            self._packing = threading.Thread(
                target=_pack_when_idle, args=(weakref.ref(self),), daemon=True, name=_PACKER
            )
            self._packing.start()

    def pack_if_idle(self) -> bool:
        """Write some blocks if nobody has used the file for a while; return whether to go on."""
        if monotonic() - self._used < IDLE:
            return True
        with suppress(StoreUnavailable):
            return self._turns.alone(self._pack_some)
        return False

    def _pack_some(self) -> bool:
        """Write some of the blocks that are missing; return whether more are missing."""
        unpacked, db = self._shared.unpacked, self._db
        if not unpacked or db is None or db.in_transaction or self._read_only:
            return False
        if not self._is_in_place():
            return False
        key, group = next(iter(unpacked.items()))
        segment, is_more = self._shared.segments.get(key), False
        with suppress(sqlite3.Error):  # somebody else writes, or there is no room: another time
            try:
                db.execute("PRAGMA busy_timeout = 0")
                is_more = segment is not None and write_blocks(db, group, segment)
            finally:
                db.execute(f"PRAGMA busy_timeout = {int(self._timeout * 1000)}")
        if not is_more:
            del unpacked[key]
            if segment is not None:
                segment.unpacked = 0
        self._shorten_log()
        return bool(unpacked)

    def _late(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.path} has been busy for {self._timeout} seconds (lock_timeout)"
        )

    def _has(self, content: str, folded: str) -> bool:
        """Implement `memoryware_has`: SQLite would report Ctrl-C as an error of the function."""
        try:
            return has(content, folded)
        except BaseException as error:
            self._interrupted = error
            raise

    def _close(self) -> None:
        self._closed = True
        if self._unwiped:
            self._wipe(_WIPING)
        while self._pack_some():
            pass
        self._drop()

    def _drop(self) -> None:
        if self._db is not None:
            if self._is_in_place():
                with suppress(sqlite3.Error):  # no room, for example: the log keeps the changes
                    if not self._read_only and not self._db.in_transaction:
                        checkpoint(self._db, self.path, "PASSIVE")
                with log_in_future(self.path):  # SQLite tries the checkpoint again as it closes
                    self._db.close()
            else:
                leave_open(self._db)
        self._db = None

    def _connection(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreClosed(f"{self.path} was closed; open the memory again")
        self._check_in_place()
        if self._db is None:
            self._db = self._connect()
        return self._db

    def _is_in_place(self) -> bool:
        """Return whether the path still leads to the file that was opened; True before that."""
        return self._identity in (None, identity_of(self.path))

    def _check_in_place(self) -> None:
        """Refuse to use a file that was deleted or replaced: changes to it would be lost.

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
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
            self._read_only = not is_writable(self.path)
            if self._read_only:
                db = self._connect_read_only()
            else:
                check_log(self.path)
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
            self._identity = identity_of(self.path)
            return db

    def _connect_read_only(self) -> sqlite3.Connection:
        """Open a file that cannot be written; one of an older version is upgraded in memory."""
        db = connect_read_only(self.path, self._timeout)
        try:
            version = self._check(db)
            if version < len(STEPS) or not self._is_ready(db):
                db = in_memory(db)
                self._upgrade(db)
            self._add_functions(db)
            db.execute(f"PRAGMA cache_size = {-CACHE * 1024}")
            db.execute("PRAGMA query_only = ON")
        except BaseException:
            db.close()
            raise
        return db

    def _prepare_in_time(self, db: sqlite3.Connection) -> None:
        """Prepare a connection, again while others do the same.

        SQLite does not wait by itself where two connections switch to WAL at once.
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
        if 0 < self._check(db) < len(STEPS):
            self._keep_copy(db)
        self._upgrade(db)

    def _add_functions(self, db: sqlite3.Connection) -> None:
        db.create_function("memoryware_has", 2, self._has, deterministic=True)
        db.create_function("memoryware_key", 1, key_of, deterministic=True)

    def _keep_copy(self, db: sqlite3.Connection) -> None:
        """Copy a file of an older version beside it, as a way back that the user may delete.

        The copy is complete before the first row is changed. It is not replaced: a file that was
        upgraded in part has it already.
        """
        target = self.path.with_name(f"{self.path.name}.version-{self._check(db)}")
        with suppress(FileExistsError):
            back_up(self.path, target, overwrite=False, timeout=self._timeout)

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
        """Run the missing steps of the schema migration, each in a transaction of its own."""
        while (done := self._check(db)) < len(STEPS):
            with schema.write_transaction(db):
                if self._check(db) == done:
                    schema.do_step(db, STEPS, done, APPLICATION)
        schema.move(db)
        if schema.words_version(db) != WORDS_VERSION:
            with schema.write_transaction(db):
                schema.rebuild_words(db)

    @staticmethod
    def _is_ready(db: sqlite3.Connection) -> bool:
        return not schema.is_moving(db) and schema.words_version(db) == WORDS_VERSION

    # Around a fork.

    def before_fork(self) -> bool:
        """Lock the file and close its connection before a fork; return whether that worked."""
        self._forking = ticket = Ticket()
        try:
            self._turns.enter(ticket, _FORKING_WAITS)
        except StoreUnavailable:
            self.after_fork_in_parent()
            return False
        if self._db is not None and not self._db.in_transaction:
            self._drop()
        return True

    def after_fork_in_parent(self) -> None:
        """Unlock the file after a fork."""
        if self._forking is not None:
            self._turns.leave(self._forking)

    def after_fork_in_child(self) -> None:
        """Drop in a child process what belongs to its parent."""
        self._turns, self._open = ThreadQueue(self._timeout, self._late), []
        self._packing = None
        self._shared.clear()
        if self._db is not None:
            _ABANDONED.append(self._db)  # closing it would give up locks of the parent
            self._db = None


def _absolute(path: str | os.PathLike[str]) -> Path:
    try:
        absolute = Path(path).expanduser().absolute()
        if b"\0" not in os.fsencode(absolute):
            return absolute
    except (RuntimeError, ValueError) as error:  # `~` of nobody; not a name for this system
        raise StoreUnavailable(f"{path!r} cannot be the path of a file: {error}") from error
    raise StoreUnavailable(f"{path!r} cannot be the path of a file")


def _explanation(error: Exception, timeout: float) -> str:
    text = str(error)
    hints = {
        "locked": f"another process has been writing for {timeout} seconds (lock_timeout)",
        "full": "the disk is full; nothing was lost, make room and try again",
        "readonly": "it may not be written; check its permissions and those of its folder",
        "is there already": "the target exists; pass overwrite=True to replace it",
        "not a database": "this file is not a SQLite database",
        "malformed": "the file is damaged; restore a copy, or try `sqlite3 FILE .recover`",
        "unable to open": _NO_FOLDER,
        "No such file": _NO_FOLDER,
        "UNIQUE": "a record with this id exists already; nothing was stored",
    }
    hint = next((hint for sign, hint in hints.items() if sign in text), None)
    return f"{hint} ({text})" if hint else text


def _pack_when_idle(reference: weakref.ref[SqliteFile]) -> None:
    """Write blocks of a file while it is idle, as long as it is open."""
    while True:
        sleep(IDLE)
        file = reference()
        if file is None or not file.pack_if_idle():
            return
        del file  # while this sleeps, whoever opened it may drop it


_OPEN: Final[weakref.WeakSet[SqliteFile]] = weakref.WeakSet()
_ABANDONED: Final[list[sqlite3.Connection]] = []
_WAITING_FOR_FORK: Final[list[SqliteFile]] = []
_FORKING: Final = threading.Lock()


def _before_fork() -> None:
    _FORKING.acquire()
    _WAITING_FOR_FORK[:] = [sqlite_file for sqlite_file in list(_OPEN) if sqlite_file.before_fork()]


def _after_fork() -> None:
    for sqlite_file in _WAITING_FOR_FORK:
        sqlite_file.after_fork_in_parent()
    _WAITING_FOR_FORK.clear()
    _FORKING.release()


def _in_child() -> None:
    for sqlite_file in list(_OPEN):
        sqlite_file.after_fork_in_child()
    _WAITING_FOR_FORK.clear()
    _FORKING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)


# On disk.

Identity: TypeAlias = tuple[int, int]
"""Device and inode of a file."""

PRIVATE: Final = 0o600
"""Mode of a new database and of a backup: its owner reads it."""
_WAL_HEADER, _FRAME_HEADER = 32, 24
"""Bytes before the frames of a log, and before the page of each (sqlite.org/fileformat2.html)."""
_CHECKPOINTING: Final = 60 * 10**9
"""Nanoseconds that the time of a log is set ahead while its pages go into the database."""
_METADATA: Final = 50 * 10**6
"""Nanoseconds between changes of metadata of two files that one command made: `chown -R`."""
_LOOKS, _PAUSE = 5, 0.2
"""How often, and every how many seconds, a suspicious log is read: others may be writing it."""


def identity_of(path: Path) -> Identity | None:
    """Return what tells this file from another of the same name; None if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def log_of(path: Path) -> Path:
    """Return the write-ahead log of a database, which lies beside the file that a link leads to."""
    real = path.resolve()
    return real.with_name(f"{real.name}-wal")


def is_writable(path: Path) -> bool:
    """Return whether SQLite could write a database: the file, and logs in its folder."""
    effective = os.access in os.supports_effective_ids
    return all(
        os.access(target, os.W_OK, effective_ids=effective) for target in (path, path.parent)
    )


def connect_read_only(path: Path, timeout: float) -> sqlite3.Connection:
    """Open a database in a place that cannot be written, such as an image.

    Raises:
        StoreUnavailable: If it has a log that cannot be read there.
        sqlite3.Error: If it cannot be read at all.
    """
    log = log_of(path)
    # Without a log nobody has it open for writing, so that nothing needs to be locked.
    options = "mode=ro" if log.exists() else "mode=ro&immutable=1"
    db = sqlite3.connect(
        f"file:{quote(str(path))}?{options}",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        db.close()
        if not log.exists():
            raise
        raise StoreUnavailable(
            f"{path} cannot be written, and its last changes are still in {log.name}: copy both"
            " files to a place that can be written, and open the memory there"
        ) from error
    return db


def in_memory(db: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of a database in memory, and close the one on disk."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(db):
        db.backup(copy)
    return copy


def leave_open(db: sqlite3.Connection) -> None:
    """Never close a connection whose file was replaced.

    Closing it would delete the log of the file that has its name now, by that name. At the end
    of a process Python closes what it can reach, so that this one must not be reachable.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(db))


def checkpoint(db: sqlite3.Connection, path: Path, mode: str) -> bool:
    """Write the pages of the log into the database; return whether all of them were written."""
    with log_in_future(path):
        busy, _, _ = db.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    return not busy


@contextmanager
def log_in_future(path: Path) -> Iterator[None]:
    """Date the log ahead while pages of it are written into the database.

    A checkpoint that stops half way (a kill, a full disk) leaves a database that was changed
    after its log although nobody replaced it. The date says so to `check_log`.
    """
    log = log_of(path)
    later = time_ns() + _CHECKPOINTING
    with suppress(OSError):  # the log belongs to another user, or there is none
        os.utime(log, ns=(later, later))
    try:
        yield
    finally:
        with suppress(OSError):
            os.utime(log)


def check_log(path: Path) -> None:
    """Refuse a database that was put beside the log of another one.

    Raises:
        StoreUnavailable: If the database was changed after a log whose pages are not in it.
    """
    for attempt in range(_LOOKS):
        if not _is_of_another(path):
            return
        if attempt + 1 < _LOOKS:
            sleep(_PAUSE)
    log = log_of(path)
    # The remedy that loses nothing is first: a `chmod` looks like a replacement.
    raise StoreUnavailable(
        f"{path} was changed or replaced after {log.name} was written, which has confirmed changes"
        f" of it. If you did not restore a backup (chmod, ln and touch look alike), keep the log"
        f" and call: touch {log}. Only if you did, delete {log} and {path.name}-shm: they belong"
        " to the old file, and would bring its later texts back"
    )


def _is_of_another(path: Path) -> bool:
    try:
        log, database = log_of(path).stat(), path.stat()
    except OSError:  # no log, or it was written into the database meanwhile
        return False
    if database.st_mtime_ns > time_ns() + _CHECKPOINTING:
        return False  # the clock was set back since: times are no evidence
    newest = max(log.st_mtime_ns, log.st_ctime_ns)
    is_newer = database.st_mtime_ns > newest or database.st_ctime_ns > newest + _METADATA
    try:
        return is_newer and log.st_size > _WAL_HEADER and _differs(path)
    except OSError:
        return False


def _differs(path: Path) -> bool:
    """Return whether the last committed pages of a log are not those of the database."""
    log = log_of(path).read_bytes()
    (size,) = struct.unpack_from(">I", log, 8)
    size = size or 65_536
    salts = log[16:24]
    pending: dict[int, int] = {}
    committed: dict[int, int] = {}
    for start in range(_WAL_HEADER, len(log) - size - _FRAME_HEADER + 1, size + _FRAME_HEADER):
        number, pages = struct.unpack_from(">II", log, start)
        if log[start + 8 : start + 16] != salts:
            break  # of an earlier round of the log
        pending[number] = start + _FRAME_HEADER
        if pages:
            committed.update(pending)
            pending.clear()
    with path.open("rb") as file:
        for number, start in sorted(committed.items()):
            file.seek((number - 1) * size)
            if file.read(size) != log[start : start + size]:
                return True
    return False


def back_up(path: Path, target: Path, *, overwrite: bool, timeout: float) -> None:
    """Write a copy of a database of one moment, checked and complete, that only its owner reads.

    The copy is a single file: what was deleted is not in it, nor is a log. Others go on writing
    meanwhile.

    Raises:
        FileExistsError: If the target is there already.
        sqlite3.Error: If the file cannot be read or is damaged.
        OSError: If the copy cannot be written; an older one is still there then.
    """
    _check_target(target, overwrite=overwrite)
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        if is_writable(path):
            source = sqlite3.connect(path, timeout=timeout, isolation_level=None)
        else:
            source = connect_read_only(path, timeout)
        with closing(source) as db:
            db.execute("VACUUM INTO ?", [draft])
        _check_integrity(draft)
        _flush(Path(draft))
        _check_target(target, overwrite=overwrite)  # it may have come meanwhile
        Path(draft).replace(target)
        _flush(target.parent)
    except BaseException:
        with suppress(OSError):
            Path(draft).unlink(missing_ok=True)
        raise


def _check_target(target: Path, *, overwrite: bool) -> None:
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} is there already")


def _check_integrity(database: str) -> None:
    with closing(sqlite3.connect(database)) as db:
        (first, *_), *_ = db.execute("PRAGMA integrity_check(1)")
        if first != "ok":
            raise sqlite3.DatabaseError(f"malformed: {first}")
        tables = db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        ).fetchall()
        for (table,) in tables:  # SQLite does not check the encoding of texts, reading them does
            for _ in db.execute(f'SELECT * FROM "{table}"'):
                pass


def _flush(path: Path) -> None:
    with suppress(OSError):  # folders cannot be flushed everywhere
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

"""What lies under a database: its identity on disk, its write-ahead log, and copies of it.

SQLite cannot tell that a file was deleted or replaced below an open connection, and it applies
whatever log lies beside a file, also beside one that was restored from a backup. Both lose or
resurrect texts without a word (https://sqlite.org/howtocorrupt.html, sections 2 and 4).
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import struct
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from time import sleep, time_ns
from typing import Final, TypeAlias
from urllib.parse import quote

from memoryware.errors import StoreUnavailable

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
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.parent))


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
    """Bring the log into the database; return whether all of it could be.

    While pages are written the log has a time in the future: if the process is killed then, the
    database is newer than its log although nobody replaced it.
    """
    log = log_of(path)
    later = time_ns() + _CHECKPOINTING
    with suppress(OSError):  # of another user
        os.utime(log, ns=(later, later))
    try:
        busy, _, _ = db.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    finally:
        with suppress(OSError):
            os.utime(log)
    return not busy


def check_log(path: Path) -> None:
    """Refuse a database that was put beside the log of another one.

    Raises:
        StoreUnavailable: If the file is newer than a log whose pages are not in it.
    """
    for look in range(_LOOKS):
        if not _is_of_another(path):
            return
        if look + 1 < _LOOKS:
            sleep(_PAUSE)
    log = log_of(path)
    raise StoreUnavailable(
        f"{path} was replaced after {log.name} was written. If you restored a backup, delete"
        f" {log} and {path.name}-shm: they belong to the old file, and would bring its later texts"
        f" back. If nobody replaced it, call: touch {log}"
    )


def _is_of_another(path: Path) -> bool:
    try:
        log, own = log_of(path).stat(), path.stat()
        newest = max(log.st_mtime_ns, log.st_ctime_ns)
        is_newer = own.st_mtime_ns > newest or own.st_ctime_ns > newest + _METADATA
        return is_newer and log.st_size > _WAL_HEADER and _differs(path)
    except OSError:  # no log, or it was taken in meanwhile
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


def _flush(path: Path) -> None:
    with suppress(OSError):  # folders cannot be flushed everywhere
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

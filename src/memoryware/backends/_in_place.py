"""Writing into a file that no other file can take the place of.

A memory file that is mounted alone into a container cannot be renamed over (EBUSY), and its folder
may be read-only. It can only be written in place, and a crash in the middle leaves half of it, so
the old bytes are kept as a copy first: beside the file, or else in the folder for temporary files.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from memoryware.backends._disk import Disk, Place, regular
from memoryware.backends._draft import HAS_FLOCK, Overtaken, Patience, marks
from memoryware.backends._folder import closed
from memoryware.backends._locks import lock_folder
from memoryware.backends._paths import RESERVED_SUFFIX
from memoryware.errors import WriteFailed

if HAS_FLOCK:
    import fcntl

CANNOT_RENAME: Final = frozenset(
    {errno.EBUSY, errno.EXDEV, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTSUP}
)
"""What the system says where no draft can be made, or take the place of the file."""
_NEW: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY
_NAMED_AT_MOST: Final = 100
"""Bytes of a file name that are taken over into the name of its copy."""


def change_in_place(
    disk: Disk, path: str, place: Place, change: Callable[[bytes | None], bytes | None]
) -> bool:
    """Write what `change` makes of the bytes of a file into the file itself.

    Args:
        disk: Where it is.
        path: What errors call it.
        place: Its name in an open folder.
        change: Makes the new bytes of the old ones; None would be a deletion.

    Returns:
        False if it is to be deleted, which is not done here.

    Raises:
        FileError: If it cannot be read or written, or no copy of it can be kept.
        Overtaken: If another program changed it meanwhile.
    """
    fd = place.folder.open(place.name, os.O_RDWR)
    try:
        _lock(path, fd, disk)
        seen = regular(path, os.fstat(fd))
        old = disk.content(path, fd, seen.st_size)
        new = change(old)
        if new is None:
            return False
        if new != old:
            copy = _keep_copy(path, place, old)
            if marks(os.fstat(fd)) != marks(seen):
                raise Overtaken
            _overwrite(path, fd, old, new, copy)
        return True
    finally:
        closed(fd)


def _lock(path: str, fd: int, disk: Disk) -> None:
    """Hold the file itself as the lock; it stays the same one, since nothing replaces it."""
    patience = Patience(path, disk.limits.lock_timeout)
    while HAS_FLOCK:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                return None  # a file system without locks
        patience.wait()
    return None


def _keep_copy(path: str, place: Place, data: bytes) -> str:
    """Keep the bytes of a file in another one, and return the host path of that."""
    with suppress(OSError):
        name = f".{_short(place.name)}.before{RESERVED_SUFFIX}"
        with suppress(FileNotFoundError):
            place.folder.remove(name)
        _store(place.folder.open(name, _NEW, 0o600), data)
        place.folder.sync()
        return name
    folder = lock_folder()
    if folder is not None:
        where = hashlib.blake2b(os.fsencode(place.real), digest_size=8).hexdigest()
        copy = folder / f"{where}.{_short(place.name)}.before"
        with suppress(OSError):
            copy.unlink(missing_ok=True)
            _store(os.open(copy, _NEW, 0o600), data)
            return str(copy)
    raise WriteFailed(
        path,
        f"'{path}' was not written: it can only be written in place, and no copy of the old text"
        " could be kept, neither beside it nor in the folder for temporary files",
    )


def _short(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_NAMED_AT_MOST])


def _store(fd: int, data: bytes) -> None:
    try:
        _write_all(fd, data)
        os.fsync(fd)
    finally:
        closed(fd)


def _overwrite(path: str, fd: int, old: bytes, new: bytes, copy: str) -> None:
    try:
        _write_all(fd, new)
    except OSError as error:
        with suppress(OSError):
            _write_all(fd, old)
        reason = error.strerror or str(error)
        raise WriteFailed(
            path, f"'{path}' was not written: {reason}. The old text is kept in '{copy}' as well"
        ) from error
    if os.utime in os.supports_fd:
        with suppress(OSError):  # finer than the system's own, for fingerprints
            os.utime(fd, ns=(time.time_ns(),) * 2)
    os.fsync(fd)


def _write_all(fd: int, data: bytes) -> None:
    """Make these the bytes of an open file; it is cut at the end, never emptied first."""
    os.lseek(fd, 0, os.SEEK_SET)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.ftruncate(fd, len(data))

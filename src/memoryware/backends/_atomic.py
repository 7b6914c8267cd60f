"""Atomic writes: a file is changed whole or not at all, by one writer at a time.

A change is written to a temporary file beside the real one, flushed, and renamed over it.
Readers see the old bytes or the new ones; a failure leaves the old ones. A file with several
hard links becomes two files.

Programs that know nothing of our lock save as they like. Right before the rename the file
must therefore be as it was when it was read, otherwise the change is made again. What is saved
after that last check and before the rename, some microseconds, is lost, and so is what is
written later into the old file through a descriptor that was opened before.

A memory file that is mounted alone into a container cannot be renamed over (EBUSY), and its
folder may be read-only. `change_in_place` overwrites it. A crash in the middle leaves half of
it, so the old bytes are copied first: beside the file, or into the folder for temporary files.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from memoryware.backends._base import FolderThere
from memoryware.backends._disk import Absent, Disk, Place, Telling, regular
from memoryware.backends._folder import LINK_IN_THE_WAY, closed
from memoryware.backends._locks import lock_folder
from memoryware.backends._paths import RESERVED_SUFFIX, is_below
from memoryware.backends._temporary import (
    HAS_FLOCK,
    Claim,
    Draft,
    Lock,
    Overtaken,
    Patience,
    Vanished,
    marks,
    side_lock,
)
from memoryware.errors import FileError, FileIsDirectory, FileMissing, PathUnusable, WriteFailed

Change = Callable[[bytes | None], bytes | None]
"""Makes the new bytes of a file from the old ones; None stands for no file."""
Judge = Callable[[bytes | None], object]
"""Is told the bytes of a file that is to go, None if they cannot be known; may raise."""

_ATTEMPTS: Final = 5
"""How often a folder may be deleted under a writer before it gives up."""
_SAVES: Final = 25
"""How often another program may change a file under a writer before it gives up."""
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_CHANGED_BY_OTHERS: Final = frozenset({errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST})
"""What removing a folder says when a file in it came or went meanwhile."""


class Changes:
    """Changes files of a disk, each whole or not at all.

    Args:
        disk: The files.
        lock: What keeps other writers out, if not what is best here.
        mode: The rights of a new file.
        shared: A name for the drafts of all files of a folder, see `Claim`.
        in_place: Whether a file that cannot be replaced is written in place.
        allowed: Returns the rights that a new file may have at most. It is called after
            `change`, which may only then know which file is brought back.
    """

    def __init__(
        self,
        disk: Disk,
        *,
        lock: Lock | None = None,
        mode: int = 0o666,
        shared: str = "",
        in_place: bool = False,
        allowed: Callable[[], int] | None = None,
    ) -> None:
        self._disk, self._mode, self._shared = disk, mode, shared
        self._in_place, self._allowed = in_place, allowed
        self._lock = lock or ("draft" if HAS_FLOCK and disk.holds_folders else "native")

    def change(self, path: str, at: str, change: Change, *, create: bool) -> None:
        """Replace the bytes of a file by what `change` makes of them.

        Raises:
            FileError: If it is missing and not to be created, cannot be written, or is held
                by somebody else for too long; the old bytes are there then.
        """
        absent: Absent = "make" if create else "refuse"
        with Telling(path, "write"):
            for _ in range(_ATTEMPTS):
                with suppress(Vanished), self._disk.place(path, at, absent) as place:
                    try:
                        return self._change(path, place, change, create=create)
                    except BaseException:
                        place.unmake()
                        raise
        message = f"'{path}' was not written: its folder vanishes again and again; try again"
        raise WriteFailed(path, message)

    def _change(self, path: str, place: Place, change: Change, *, create: bool) -> None:
        for _ in range(_SAVES):
            with suppress(Overtaken):
                if self._changed_somehow(path, place, change, create=create):
                    return
        message = f"'{path}' was not written: another program keeps changing it"
        raise WriteFailed(path, f"{message}; try again")

    def _changed_somehow(self, path: str, place: Place, change: Change, *, create: bool) -> bool:
        try:
            return self._changed(path, place, change, create=create)
        except OSError as error:
            if not self._in_place or error.errno not in CANNOT_RENAME:
                raise
            try:
                if change_in_place(self._disk, path, place, change):
                    return True
            except FileNotFoundError:  # a new file, for which there is no place either
                raise error from None
            raise

    def _changed(self, path: str, place: Place, change: Change, *, create: bool) -> bool:
        seen = place.settle()
        if seen is not None:
            regular(path, seen)
        elif not create:
            raise FileMissing(path)
        with self._draft(path, place, private=seen is not None) as draft:
            try:
                fd = place.folder.open(place.name, os.O_RDWR)  # may it be written at all?
            except FileNotFoundError:
                if not create:
                    raise
                new = change(None)
                if new is not None:
                    if self._allowed is not None:
                        draft.narrow(self._allowed())
                    draft.publish(new, None)
                return True
            except OSError as error:
                if error.errno in LINK_IN_THE_WAY:
                    return False
                raise
            try:
                seen = regular(path, os.fstat(fd))
                old = self._disk.content(path, fd, seen.st_size)
                new = change(old)
                if new == old:
                    return True
                if new is not None:
                    draft.take_after(seen, fd)
            finally:
                closed(fd)
            if new is None:
                _remove(place, seen)
            else:
                draft.publish(new, seen)
            return True

    def delete(self, path: str, at: str, *, root: str = "/", judge: Judge | None = None) -> None:
        """Remove a file, a link, or a folder with all that is in it, but not the root.

        Who gives a `judge` removes no folders.

        Raises:
            FolderThere: For a folder, if there is a judge.
            FileError: If it is not there, is the root or holds it, or cannot be removed.
        """
        with Telling(path, "delete"), self._disk.place(path, at) as place:
            if is_below(root, place.real):
                raise FileIsDirectory(path, f"'{path}' is the root, which cannot be deleted")
            kind = place.folder.lstat(place.name).st_mode
            if stat.S_ISDIR(kind):
                if judge is not None:
                    raise FolderThere(path)
                _clear(path, place)
                place.folder.sync()
            elif stat.S_ISREG(kind):
                try:
                    self._delete_file(path, place, judge)
                except Vanished:  # with the folder that it was in
                    raise FileMissing(path) from None
            else:
                if judge is not None:
                    judge(self._behind_link(path, at))
                place.folder.remove(place.name)
                place.folder.sync()

    def _delete_file(self, path: str, place: Place, judge: Judge | None) -> None:
        for _ in range(_SAVES):
            with suppress(Overtaken), self._held_if_there_is_room(path, place):
                seen = None if judge is None else self._judged(path, place, judge)
                _remove(place, seen)
                return
        message = f"'{path}' was not deleted: another program keeps changing it; try again"
        raise WriteFailed(path, message)

    def _judged(self, path: str, place: Place, judge: Judge) -> os.stat_result:
        fd = place.folder.open(place.name, os.O_RDONLY)
        try:
            seen = regular(path, os.fstat(fd))
            judge(self._disk.content(path, fd, seen.st_size))
        finally:
            closed(fd)
        return seen

    def _behind_link(self, path: str, at: str) -> bytes | None:
        with suppress(FileError):
            return self._disk.read(path, at)
        return None

    @contextmanager
    def _held_if_there_is_room(self, path: str, place: Place) -> Iterator[None]:
        """Hold the lock, but not at the price that nothing can be deleted from a full disk."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._draft(path, place, private=True))
            except OSError as error:
                if error.errno not in _FULL:
                    raise
            yield

    @contextmanager
    def _draft(self, path: str, place: Place, *, private: bool) -> Iterator[Draft]:
        mode = 0o600 if private else self._mode
        claim = Claim(path, place.folder, place.name, mode, self._shared)
        patience = Patience(path, self._disk.limits.lock_timeout)
        with ExitStack() as stack:
            draft, lock = None, self._lock
            if lock == "draft":
                draft, lock = claim.locked(patience), "soft"
            if draft is None:
                host = self._disk.host(place.real)
                stack.enter_context(side_lock(os.path.dirname(host), claim, patience, lock))
                draft = claim.fresh(patience)
            try:
                yield draft
            finally:
                draft.drop()


def _remove(place: Place, seen: os.stat_result | None) -> None:
    """Remove a file for good, if it is still the one that was seen; None for any.

    Raises:
        Overtaken: If it is not.
    """
    if seen is not None and marks(place.folder.lstat(place.name)) != marks(seen):
        raise Overtaken
    place.folder.remove(place.name)
    place.folder.sync()


def _clear(path: str, place: Place) -> None:
    try:
        _clear_all(place)
    except RecursionError:
        message = f"'{path}' has too many folders inside each other; delete the inner ones first"
        raise PathUnusable(path, message) from None


def _clear_all(place: Place) -> None:
    """Remove a folder, also where others remove or add files in it meanwhile.

    Raises:
        OSError: If something in it cannot be removed, or others add files again and again.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            place.folder.clear(place.name)
        except OSError as error:
            if error.errno not in _CHANGED_BY_OTHERS or attempt == _ATTEMPTS:
                raise
            if not _is_there(place):
                if attempt == 1:
                    raise
                return
        else:
            return


def _is_there(place: Place) -> bool:
    with suppress(FileNotFoundError):
        place.folder.lstat(place.name)
        return True
    return False


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

"""Changing one file whole or not at all, one writer at a time.

A change is written to a draft, a temporary file beside the real one, flushed, and
renamed over it. The draft is the lock as well: who created it and holds its `flock` is
the only writer, in all threads and processes. It vanishes with the rename, so a lock
never outlives its change; what a killed process left behind is found unlocked and
removed. Where that does not work (Windows, file systems without `flock`) `filelock`
holds a second file as the lock. A file with several hard links becomes two files.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Literal

from memoryware.backends._disk import Absent, Disk, Place, Telling, regular, whole
from memoryware.backends._folder import LINK_IN_THE_WAY, Folder, closed
from memoryware.backends._paths import RESERVED_SUFFIX, is_below
from memoryware.errors import (
    FileIsDirectory,
    FileMissing,
    LockTimeout,
    PathUnusable,
    WriteFailed,
)

try:
    import fcntl
except ImportError:  # Windows
    HAS_FLOCK = False
else:
    HAS_FLOCK = True

Change = Callable[[bytes | None], bytes]
"""Makes the new bytes of a file from the old ones, None if there was no file."""
Lock = Literal["draft", "native", "soft"]
"""What holds other writers off: the draft itself, or a second file, by a lock of the system
or by being there."""

_ATTEMPTS: Final = 5
"""How often a folder may be deleted under a writer before it gives up."""
_NEW: Final = os.O_CREAT | os.O_EXCL | os.O_RDWR
_LONGEST_PLAIN: Final = 120
"""Longer names are not spelled out in the name of their draft."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.01
_NO_FLOCK: Final = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK})
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class _Vanished(Exception):  # noqa: N818 - never seen outside
    """The folder of a file, or the draft in it, was removed while it was written."""


class Changes:
    """Changes files of a disk, each whole or not at all."""

    def __init__(self, disk: Disk, *, lock: Lock | None = None) -> None:
        self._disk = disk
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
                with suppress(_Vanished), self._disk.place(path, at, absent) as place:
                    while not self._changed(path, place, change, create=create):
                        pass  # a link took the place of the file meanwhile
                    return
        message = f"'{path}' was not written: its folder vanishes again and again; try again"
        raise WriteFailed(path, message)

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
                draft.publish(change(None))
                return True
            except OSError as error:
                if error.errno in LINK_IN_THE_WAY:
                    return False
                raise
            try:
                seen = regular(path, os.fstat(fd))
                old = whole(fd, seen.st_size)
                new = change(old)
                if new == old:
                    return True
                draft.take_after(seen, fd)
            finally:
                closed(fd)
            draft.publish(new)
            return True

    def delete(self, path: str, at: str, *, root: str = "/") -> None:
        """Remove a file, a link, or a folder with all that is in it, but not the root.

        Raises:
            FileError: If it is not there, is the root or holds it, or cannot be removed.
        """
        with Telling(path, "delete"), self._disk.place(path, at) as place:
            if is_below(root, place.real):
                raise FileIsDirectory(path, f"'{path}' is the root, which cannot be deleted")
            kind = place.folder.lstat(place.name).st_mode
            if stat.S_ISDIR(kind):
                _clear(path, place)
            elif stat.S_ISREG(kind):
                with self._held_if_there_is_room(path, place):
                    place.folder.remove(place.name)
            else:
                place.folder.remove(place.name)
            place.folder.sync()

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
        claim = _Claim(path, place.folder, place.name, 0o600 if private else 0o666)
        patience = _Patience(path, self._disk.limits.lock_timeout)
        with ExitStack() as stack:
            draft, lock = None, self._lock
            if lock == "draft":
                draft, lock = claim.locked(patience), "soft"
            if draft is None:
                host = self._disk.host(place.real)
                stack.enter_context(_side_lock(os.path.dirname(host), claim, patience, lock))
                draft = claim.fresh(patience)
            try:
                yield draft
            finally:
                draft.drop()


def _clear(path: str, place: Place) -> None:
    try:
        place.folder.clear(place.name)
    except RecursionError:
        message = f"'{path}' has too many folders inside each other; delete the inner ones first"
        raise PathUnusable(path, message) from None
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        place.folder.clear(place.name)  # a file was written into it meanwhile


class _Patience:
    """Waits in small steps that grow, until it is too late."""

    def __init__(self, path: str, seconds: float) -> None:
        self._path, self._seconds = path, seconds
        self._end, self._pause = time.monotonic() + seconds, _FIRST_PAUSE

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._end - time.monotonic())

    def wait(self) -> None:
        """Wait a little.

        Raises:
            LockTimeout: If the time is over.
        """
        left = self.left
        if not left:
            raise self.over()
        time.sleep(min(left, self._pause * random.uniform(0.5, 1)))  # noqa: S311 - not a secret
        self._pause = min(self._pause * 1.5, _LONGEST_PAUSE)

    def over(self) -> LockTimeout:
        """Return the error for when the time is over."""
        return LockTimeout(
            self._path,
            f"'{self._path}' was held by another writer for {self._seconds:g} seconds;"
            " nothing was written, try again",
        )


@dataclass(slots=True)
class _Claim:
    """The right to write a file, which is got together with a draft."""

    path: str
    folder: Folder
    name: str
    mode: int

    @property
    def temporary(self) -> str:
        """The name of the draft, short enough for every system."""
        return f".{self._plain}{RESERVED_SUFFIX}"

    @property
    def side(self) -> str:
        """The name of a second file that is only a lock."""
        return f".{self._plain}.lock{RESERVED_SUFFIX}"

    @property
    def _plain(self) -> str:
        name = os.fsencode(self.name)
        if len(name) <= _LONGEST_PLAIN:
            return self.name
        return hashlib.blake2b(name, digest_size=16).hexdigest()

    def locked(self, patience: _Patience) -> Draft | None:
        """Wait for a draft that is the lock as well; None where there are no such locks."""
        while True:
            fd, mine = self._opened()
            if fd is None:
                patience.wait()
                continue
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if mine and self._still_there(fd):
                    return Draft(self, fd, None)
                if self._still_there(fd):
                    self._discard()  # its writer was killed
            except OSError as error:
                if error.errno in _NO_FLOCK:
                    closed(fd)
                    return None
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    closed(fd)
                    raise
                patience.wait()
            closed(fd)

    def _opened(self) -> tuple[int | None, bool]:
        """Open the draft; say whether this call created it."""
        with suppress(FileExistsError):
            return self._created(), True
        try:
            return self.folder.open(self.temporary, os.O_RDWR), False
        except (FileNotFoundError, PermissionError):
            return None, False  # it is gone again, or another user is writing
        except OSError as error:
            if error.errno != errno.EISDIR and error.errno not in LINK_IN_THE_WAY:
                raise
            message = f"'{self.temporary}' is in the way of '{self.path}'; remove it"
            raise WriteFailed(self.path, message) from None

    def _created(self) -> int:
        try:
            return self.folder.open(self.temporary, _NEW, self.mode)
        except FileNotFoundError as gone:
            raise _Vanished from gone

    def _still_there(self, fd: int) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(fd), self.folder.lstat(self.temporary))
        return False

    def _discard(self) -> None:
        with suppress(FileNotFoundError):
            self.folder.remove(self.temporary)

    def fresh(self, patience: _Patience) -> Draft:
        """Return a new draft; the lock is held in another way."""
        while True:
            self._discard()
            with suppress(FileExistsError):  # of somebody who tries for the other kind of lock
                return Draft(self, self._created(), patience)
            patience.wait()


@contextmanager
def _side_lock(folder: str, claim: _Claim, patience: _Patience, lock: Lock) -> Iterator[None]:
    """Hold a second file as the lock of a file."""
    import filelock

    kind = filelock.FileLock if lock == "native" else filelock.SoftFileLock
    held = kind(os.path.join(folder, claim.side))
    try:
        held.acquire(timeout=patience.left, poll_interval=_LONGEST_PAUSE)
    except filelock.Timeout:
        raise patience.over() from None
    try:
        yield
    finally:
        held.release()


@dataclass(slots=True)
class Draft:
    """A temporary file that nobody else writes to, on the way to be the real one."""

    claim: _Claim
    fd: int
    patience: _Patience | None
    """How long to wait for readers in the way; None where they never are."""
    published: bool = False

    def take_after(self, old: os.stat_result, fd: int) -> None:
        """Take over the owner, rights and attributes of the open file that is replaced."""
        mode, now = stat.S_IMODE(old.st_mode), os.fstat(self.fd)
        if hasattr(os, "fchmod"):
            os.fchmod(self.fd, mode)
        if hasattr(os, "listxattr"):
            with suppress(OSError):
                _copy_attributes(fd, self.fd)
        if hasattr(os, "fchown") and (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            _give_away(self.fd, old, mode)

    def publish(self, data: bytes) -> None:
        """Become the real file, whole and lasting."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.fd, view) :]
        if os.utime in os.supports_fd:
            with suppress(OSError):  # finer than the system's own, for fingerprints
                os.utime(self.fd, ns=(time.time_ns(),) * 2)
        os.fsync(self.fd)
        self._rename()
        self.published = True
        try:
            self.claim.folder.sync()
        except OSError as error:
            path = self.claim.path
            message = f"'{path}' was written, but may not outlive a power cut: {error.strerror}"
            raise WriteFailed(path, message) from error

    def _rename(self) -> None:
        if self.patience is None:
            self._renamed()
            return
        os.close(self.fd)  # Windows renames no open file
        self.fd = -1
        while not self._renamed():
            self.patience.wait()

    def _renamed(self) -> bool:
        claim = self.claim
        try:
            claim.folder.replace(claim.temporary, claim.name)
        except FileNotFoundError as gone:
            raise _Vanished from gone
        except PermissionError:
            if os.name != "nt" or self.patience is None:
                raise
            return False  # somebody reads the file
        return True

    def drop(self) -> None:
        """Remove the draft if it has not become the real file, and unlock."""
        if not self.published:
            with suppress(OSError):
                self.claim.folder.remove(self.claim.temporary)
        if self.fd >= 0:
            closed(self.fd)


def _copy_attributes(source: int, target: int) -> None:
    """Give an open file the extended attributes of another, lists of access among them."""
    wanted = os.listxattr(source)
    for name in os.listxattr(target):
        if name not in wanted:
            with suppress(OSError):
                os.removexattr(target, name)
    for name in wanted:
        with suppress(OSError):
            os.setxattr(target, name, os.getxattr(source, name))


def _give_away(fd: int, old: os.stat_result, mode: int) -> None:
    """Set the owner as far as this process may, and only rights that go with it."""
    try:
        os.fchown(fd, old.st_uid, old.st_gid)
    except PermissionError:
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
        try:
            os.fchown(fd, -1, old.st_gid)
        except PermissionError:  # another group now: it gets what everybody has
            mode = (mode & ~stat.S_IRWXG) | (mode & stat.S_IRWXO) << 3
    if mode != stat.S_IMODE(os.fstat(fd).st_mode):
        os.fchmod(fd, mode)

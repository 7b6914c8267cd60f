"""Temporary files beside real ones: the new content before the rename, and the lock of the writer.

Who created the temporary file and holds its `flock` is the only writer, in all threads and
processes. The file vanishes with the rename, so a lock never outlives its change; what a
killed process left behind is found unlocked and removed. Only the holder of the lock removes
or renames the file. Where that does not work (Windows, file systems without `flock`)
`filelock` holds a second file as the lock.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Literal

from memoryware.backends._folder import LINK_IN_THE_WAY, Folder, close_quietly
from memoryware.backends._paths import RESERVED_SUFFIX
from memoryware.errors import LockTimeout, WriteFailed

try:
    import fcntl
except ImportError:  # Windows
    HAS_FLOCK = False
else:
    HAS_FLOCK = True

# What holds other writers off: the draft itself, or a second file, by a lock of the system or by
# being there.
Lock = Literal["draft", "native", "soft"]

_NEW: Final = os.O_CREAT | os.O_EXCL | os.O_RDWR
# Longer names are not spelled out in the name of their draft.
_LONGEST_PLAIN: Final = 120
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.01
_NO_FLOCK: Final = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK})


class FolderVanished(Exception):
    """The folder of a file, or the temporary file in it, was removed while it was written."""


class ChangedMeanwhile(Exception):
    """Another program changed a file after it was read and before it was replaced."""


class LockWait:
    """Waits for a lock in steps that grow, until a timeout."""

    def __init__(self, path: str, seconds: float) -> None:
        self._path, self._seconds = path, seconds
        self._end, self._pause = time.monotonic() + seconds, _FIRST_PAUSE

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._end - time.monotonic())

    def wait(self) -> None:
        """Wait for one step.

        Raises:
            LockTimeout: If the time is over.
        """
        left = self.left
        if not left:
            raise self.over()
        # A random part, so that waiters that were woken together do not collide again and again.
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
class WriteClaim:
    """The right to write a file; it comes with the temporary file.

    Files that share a name for their temporary files are written one after the other, and a
    temporary file that a killed process left behind is found by the next one.
    """

    path: str
    folder: Folder
    name: str
    mode: int
    shared: str = ""

    @property
    def temporary(self) -> str:
        """The name of the temporary file, short enough for every system."""
        return f".{self._plain}{RESERVED_SUFFIX}"

    @property
    def side(self) -> str:
        """The name of a second file that is only a lock."""
        return f".{self._plain}.lock{RESERVED_SUFFIX}"

    @property
    def _plain(self) -> str:
        if self.shared:
            return self.shared
        name = os.fsencode(self.name)
        if len(name) <= _LONGEST_PLAIN:
            return self.name
        # The suffix would exceed the 255 bytes that file systems allow for a name.
        return hashlib.blake2b(name, digest_size=16).hexdigest()

    def locked(self, patience: LockWait) -> TemporaryFile | None:
        """Wait for a temporary file that is the lock as well; None without `flock`."""
        while True:
            fd, mine = self._opened()
            if fd is None:
                patience.wait()
                continue
            try:
                # Not blocking: a blocked flock has no timeout.
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The name may stand for another file by now: between opening and locking, the
                # writer before us may have renamed its file, and a third one created its own.
                if mine and self._still_there(fd):
                    return TemporaryFile(self, fd, None)
                if self._still_there(fd):
                    self._discard()  # its writer was killed
            except OSError as error:
                if error.errno in _NO_FLOCK:
                    close_quietly(fd)
                    return None
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    close_quietly(fd)
                    raise
                patience.wait()
            close_quietly(fd)

    def _opened(self) -> tuple[int | None, bool]:
        """Open the temporary file; say whether this call created it."""
        with suppress(FileExistsError):
            return self._created(), True
        try:
            return self.folder.open(self.temporary, os.O_RDWR), False
        except (FileNotFoundError, PermissionError):
            return None, False  # it is gone again, or another user is writing
        except OSError as error:
            if error.errno != errno.EISDIR and error.errno not in LINK_IN_THE_WAY:
                raise
            if error.errno == errno.EISDIR and self._put_aside():
                return None, False
            message = f"'{self.temporary}' is in the way of '{self.path}'; remove it"
            raise WriteFailed(self.path, message) from None

    def _put_aside(self) -> bool:
        """Rename a folder that has the name of the temporary file to another reserved name.

        It is renamed over an empty folder, which systems allow to folders only: the temporary file
        of a writer who was faster cannot be taken away like that.
        """
        aside = f".{random.getrandbits(64):016x}.aside{RESERVED_SUFFIX}"
        try:
            self.folder.make(aside)
        except OSError:
            return False
        try:
            self.folder.replace(self.temporary, aside)
        except OSError as error:
            self.folder.clear(aside)
            return error.errno in (errno.ENOENT, errno.EISDIR, errno.ENOTDIR)
        return True

    def _created(self) -> int:
        try:
            return self.folder.open(self.temporary, _NEW, self.mode)
        except FileNotFoundError as gone:
            raise FolderVanished from gone

    def _still_there(self, fd: int) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(fd), self.folder.lstat(self.temporary))
        return False

    def _discard(self) -> None:
        with suppress(FileNotFoundError):
            try:
                self.folder.remove(self.temporary)
            except IsADirectoryError:
                if not self._put_aside():
                    raise

    def fresh(self, patience: LockWait) -> TemporaryFile:
        """Return a new temporary file; the lock is a second file."""
        while True:
            self._discard()
            with suppress(FileExistsError):  # of somebody who tries for the other kind of lock
                return TemporaryFile(self, self._created(), patience)
            patience.wait()


@contextmanager
def side_lock(folder: str, claim: WriteClaim, patience: LockWait, lock: Lock) -> Iterator[None]:
    """Hold a second file as the lock of a file."""
    import filelock

    kind = filelock.FileLock if lock == "native" else filelock.SoftFileLock
    file_lock = kind(os.path.join(folder, claim.side))
    try:
        file_lock.acquire(timeout=patience.left, poll_interval=_LONGEST_PAUSE)
    except filelock.Timeout:
        raise patience.over() from None
    try:
        yield
    finally:
        file_lock.release()


@dataclass(slots=True)
class TemporaryFile:
    """A temporary file with one writer, to be renamed over the real file."""

    claim: WriteClaim
    fd: int
    patience: LockWait | None
    """How long to wait for readers in the way; None where they never are."""
    published: bool = False

    def take_after(self, old: os.stat_result, fd: int) -> None:
        """Copy owner, rights and attributes of the open file that is replaced."""
        mode, now = stat.S_IMODE(old.st_mode), os.fstat(self.fd)
        if hasattr(os, "fchmod"):
            os.fchmod(self.fd, mode)
        if hasattr(os, "listxattr"):
            with suppress(OSError):
                _copy_attributes(fd, self.fd)
        if hasattr(os, "fchown") and (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            _give_away(self.fd, old, mode)

    def narrow(self, allowed: int) -> None:
        """Remove the rights to read and write that are not among these."""
        mode = stat.S_IMODE(os.fstat(self.fd).st_mode)
        if hasattr(os, "fchmod") and mode & 0o666 & ~allowed:
            os.fchmod(self.fd, mode & (allowed | ~0o666))

    def publish(self, data: bytes, over: os.stat_result | None) -> None:
        """Flush the new content and rename it over the file that was read, None for no file.

        Raises:
            ChangedMeanwhile: If another file is there now. Between this check and the
                rename lies a moment in which a save of a program that does not know our
                locks is still lost; no system can rename on condition.
        """
        view = memoryview(data)
        while view:
            view = view[os.write(self.fd, view) :]
        if os.utime in os.supports_fd:
            with suppress(OSError):  # finer than the system's own, for fingerprints
                os.utime(self.fd, ns=(time.time_ns(),) * 2)
        # Content before name: with the rename first, a power cut may leave an empty file on ext4
        # with delayed allocation and on XFS.
        os.fsync(self.fd)
        self._rename(over)
        self.published = True
        try:
            self.claim.folder.sync()
        except OSError as error:
            path = self.claim.path
            message = f"'{path}' was written, but may not outlive a power cut: {error.strerror}"
            raise WriteFailed(path, message) from error

    def _rename(self, over: os.stat_result | None) -> None:
        if self.patience is None:
            self._renamed(over)
            return
        os.close(self.fd)  # Windows renames no open file
        self.fd = -1
        while not self._renamed(over):
            self.patience.wait()

    def _renamed(self, over: os.stat_result | None) -> bool:
        claim = self.claim
        if marks(self._there()) != marks(over):
            raise ChangedMeanwhile
        try:
            claim.folder.replace(claim.temporary, claim.name)
        except FileNotFoundError as gone:
            raise FolderVanished from gone
        except PermissionError:
            if os.name != "nt" or self.patience is None:
                raise
            return False  # somebody reads the file
        return True

    def _there(self) -> os.stat_result | None:
        with suppress(FileNotFoundError):
            return self.claim.folder.lstat(self.claim.name)
        return None

    def drop(self) -> None:
        """Remove the temporary file unless it was renamed, and unlock."""
        if not self.published:
            with suppress(OSError):
                self.claim.folder.remove(self.claim.temporary)
        if self.fd >= 0:
            close_quietly(self.fd)


def marks(status: os.stat_result | None) -> tuple[int, ...] | None:
    """Return the parts of a file's status that change with each save."""
    # Inode and ctime as well: an editor that saves by rename may keep size and mtime.
    return status and (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _copy_attributes(source: int, target: int) -> None:
    """Give an open file the extended attributes of another, lists of access among them."""
    # The new file may have inherited a default ACL of the folder that the old one did not have.
    attributes = os.listxattr(source)
    for name in os.listxattr(target):
        if name not in attributes:
            with suppress(OSError):
                os.removexattr(target, name)
    for name in attributes:
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

"""Atomic writes: a file is changed whole or not at all, by one writer at a time.

A change is written to a temporary file beside the real one, flushed, and renamed over it.
Readers see the old bytes or the new ones; a failure leaves the old ones. A file with several
hard links becomes two files.

The temporary file is the lock as well: whoever created it and holds its `flock` is the only
writer, in all threads and processes. It vanishes with the rename, so a lock never outlives its
change; one that a killed process left behind is found unlocked and removed. Where `flock` does
not work (Windows, some network file systems) the `filelock` package locks a second file.

Programs that know nothing of this lock save at any moment. Right before the rename the file
must therefore be as it was when it was read, otherwise the change is computed again. What is
saved after that last check and before the rename, some microseconds, is lost, and so is what is
written later into the old file through a descriptor that was opened before.

A memory file that is mounted alone into a container cannot be renamed over (EBUSY), and its
folder may be read-only. `overwrite_in_place` overwrites it. A crash in the middle leaves half of
it, so the old bytes are copied first: beside the file, or into the folder for temporary files.
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
from typing import Final

from memoryware.backends._base import PathIsFolder
from memoryware.backends._disk import Absent, Disk, ErrorContext, FileLocation, check_regular
from memoryware.backends._folder import LINK_IN_THE_WAY, Folder, close_quietly
from memoryware.backends._locks import HAS_FLOCK, LockKind, LockWait, lock_folder, side_lock
from memoryware.backends._paths import RESERVED_SUFFIX, is_below
from memoryware.errors import FileError, FileIsDirectory, FileMissing, PathUnusable, WriteFailed

if HAS_FLOCK:
    import fcntl

# Computes the new bytes of a file from the old ones; None means no file.
MakeContent = Callable[[bytes | None], bytes | None]
# Called with the bytes of a file before its deletion, None if unreadable; raises to refuse.
CheckDeletion = Callable[[bytes | None], object]

# Attempts of a write whose folder is deleted by another process each time.
_ATTEMPTS: Final = 5
# Attempts of a write whose file another program changes each time.
_SAVES: Final = 25
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
# errno values of rmtree when another process adds or removes files in the folder meanwhile.
_CHANGED_BY_OTHERS: Final = frozenset({errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST})


class AtomicWriter:
    """Atomic, locked writes and deletions of files on a disk.

    Args:
        disk: The files.
        lock: How to lock out other writers; None takes the best that works here.
        mode: The permission bits of a new file.
        shared: A name for the temporary files of all files of a folder, see `WriteClaim`.
        in_place: Whether to overwrite a file that cannot be replaced.
        allowed: Returns a mask of the permission bits of a new file. It is called after
            `change`, since an undo knows only then which file it brings back.
    """

    def __init__(
        self,
        disk: Disk,
        *,
        lock: LockKind | None = None,
        mode: int = 0o666,
        shared: str = "",
        in_place: bool = False,
        allowed: Callable[[], int] | None = None,
    ) -> None:
        self._disk, self._mode, self._shared = disk, mode, shared
        self._in_place, self._allowed = in_place, allowed
        self._lock = lock or ("temporary" if HAS_FLOCK and disk.supports_dir_fd else "native")

    def change(self, path: str, at: str, change: MakeContent, *, create: bool) -> None:
        """Replace the bytes of a file with what `change` makes of them.

        Raises:
            FileError: If it is missing and not to be created, cannot be written, or is locked
                by another writer for too long; it is unchanged then.
        """
        absent: Absent = "make" if create else "refuse"
        with ErrorContext(path, "write"):
            for _ in range(_ATTEMPTS):
                with suppress(FolderVanished), self._disk.locate(path, at, absent) as location:
                    try:
                        return self._change(path, location, change, create=create)
                    except BaseException:
                        location.unmake()
                        raise
        message = f"'{path}' was not written: another process keeps deleting its folder; try again"
        raise WriteFailed(path, message)

    def _change(
        self, path: str, location: FileLocation, change: MakeContent, *, create: bool
    ) -> None:
        for _ in range(_SAVES):
            with suppress(ChangedMeanwhile):
                if self._changed_or_overwritten(path, location, change, create=create):
                    return
        message = f"'{path}' was not written: another program keeps changing it"
        raise WriteFailed(path, f"{message}; try again")

    def _changed_or_overwritten(
        self, path: str, location: FileLocation, change: MakeContent, *, create: bool
    ) -> bool:
        try:
            return self._changed(path, location, change, create=create)
        except OSError as error:
            if not self._in_place or error.errno not in CANNOT_RENAME:
                raise
            try:
                if overwrite_in_place(self._disk, path, location, change):
                    return True
            except FileNotFoundError:  # a new file cannot be created here either
                raise error from None
            raise

    def _changed(
        self, path: str, location: FileLocation, change: MakeContent, *, create: bool
    ) -> bool:
        status = location.settle()
        if status is not None:
            check_regular(path, status)
        elif not create:
            raise FileMissing(path)
        # Private until its rights are copied: the text of a file that only its owner may read
        # must not be readable in the temporary file meanwhile.
        with self._draft(path, location, private=status is not None) as draft:
            try:
                fd = location.folder.open(location.name, os.O_RDWR)  # may it be written at all?
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
                status = check_regular(path, os.fstat(fd))
                old = self._disk.content(path, fd, status.st_size)
                new = change(old)
                if new == old:
                    return True
                if new is not None:
                    draft.take_after(status, fd)
            finally:
                close_quietly(fd)
            if new is None:
                _remove(location, status)
            else:
                draft.publish(new, status)
            return True

    def delete(
        self, path: str, at: str, *, root: str = "/", judge: CheckDeletion | None = None
    ) -> None:
        """Remove a file, a link, or a folder with everything in it, but not the root.

        With a `judge` folders are not removed.

        Raises:
            PathIsFolder: For a folder, if there is a judge.
            FileError: If it is missing, is the root or holds it, or cannot be removed.
        """
        with ErrorContext(path, "delete"), self._disk.locate(path, at) as location:
            # By the real path, so that a link to the root is no way around this.
            if is_below(root, location.real):
                raise FileIsDirectory(path, f"'{path}' is the root, which cannot be deleted")
            kind = location.folder.lstat(location.name).st_mode
            if stat.S_ISDIR(kind):
                if judge is not None:
                    raise PathIsFolder(path)
                _clear(path, location)
                location.folder.sync()
            elif stat.S_ISREG(kind):
                try:
                    self._delete_file(path, location, judge)
                except FolderVanished:  # with the folder that it was in
                    raise FileMissing(path) from None
            else:
                if judge is not None:
                    judge(self._behind_link(path, at))
                location.folder.remove(location.name)
                location.folder.sync()

    def _delete_file(self, path: str, location: FileLocation, judge: CheckDeletion | None) -> None:
        for _ in range(_SAVES):
            with suppress(ChangedMeanwhile), self._locked_if_there_is_room(path, location):
                # Without a judge any content may be deleted: a change meanwhile is no reason
                # to try again.
                status = None if judge is None else self._checked(path, location, judge)
                _remove(location, status)
                return
        message = f"'{path}' was not deleted: another program keeps changing it; try again"
        raise WriteFailed(path, message)

    def _checked(self, path: str, location: FileLocation, judge: CheckDeletion) -> os.stat_result:
        fd = location.folder.open(location.name, os.O_RDONLY)
        try:
            status = check_regular(path, os.fstat(fd))
            judge(self._disk.content(path, fd, status.st_size))
        finally:
            close_quietly(fd)
        return status

    def _behind_link(self, path: str, at: str) -> bytes | None:
        with suppress(FileError):
            return self._disk.read(path, at)
        return None

    @contextmanager
    def _locked_if_there_is_room(self, path: str, location: FileLocation) -> Iterator[None]:
        """Hold the lock, but let files be deleted from a full disk, where no lock file fits."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._draft(path, location, private=True))
            except OSError as error:
                if error.errno not in _FULL:
                    raise
            yield

    @contextmanager
    def _draft(
        self, path: str, location: FileLocation, *, private: bool
    ) -> Iterator[TemporaryFile]:
        mode = 0o600 if private else self._mode
        claim = WriteClaim(path, location.folder, location.name, mode, self._shared)
        patience = LockWait(path, self._disk.limits.lock_timeout)
        with ExitStack() as stack:
            draft, lock = None, self._lock
            if lock == "temporary":
                draft, lock = claim.locked(patience), "soft"
            if draft is None:
                host = self._disk.host(location.real)
                stack.enter_context(
                    side_lock(os.path.join(os.path.dirname(host), claim.side), patience, lock)
                )
                draft = claim.fresh(patience)
            try:
                yield draft
            finally:
                draft.drop()


def _remove(location: FileLocation, status: os.stat_result | None) -> None:
    """Remove a file for good, if it still has this status; None for any.

    Raises:
        ChangedMeanwhile: If it has not.
    """
    if status is not None and marks(location.folder.lstat(location.name)) != marks(status):
        raise ChangedMeanwhile
    location.folder.remove(location.name)
    location.folder.sync()


def _clear(path: str, location: FileLocation) -> None:
    try:
        _clear_all(location)
    except RecursionError:
        message = f"'{path}' has too many folders inside each other; delete the inner ones first"
        raise PathUnusable(path, message) from None


def _clear_all(location: FileLocation) -> None:
    """Remove a folder, also where others remove or add files in it meanwhile.

    Raises:
        OSError: If something in it cannot be removed, or others add files again and again.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            location.folder.clear(location.name)
        except OSError as error:
            if error.errno not in _CHANGED_BY_OTHERS or attempt == _ATTEMPTS:
                raise
            if not _exists(location):
                if attempt == 1:
                    raise
                return
        else:
            return


def _exists(location: FileLocation) -> bool:
    with suppress(FileNotFoundError):
        location.folder.lstat(location.name)
        return True
    return False


# errno values where no temporary file can be created, or renamed over the file.
CANNOT_RENAME: Final = frozenset(
    {errno.EBUSY, errno.EXDEV, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTSUP}
)
# Bytes of a file name that go into the name of its copy: names are limited to 255.
_NAMED_AT_MOST: Final = 100


def overwrite_in_place(
    disk: Disk, path: str, location: FileLocation, change: Callable[[bytes | None], bytes | None]
) -> bool:
    """Change a file without replacing it: write into the file itself.

    Args:
        disk: Where it is.
        path: What errors call it.
        location: Its name in an open folder.
        change: Makes the new bytes of the old ones; None would be a deletion.

    Returns:
        False if it is to be deleted, which is not done here.

    Raises:
        FileError: If it cannot be read or written, or no copy of it can be kept.
        ChangedMeanwhile: If another program changed it meanwhile.
    """
    fd = location.folder.open(location.name, os.O_RDWR)
    try:
        _lock(path, fd, disk)
        status = check_regular(path, os.fstat(fd))
        old = disk.content(path, fd, status.st_size)
        new = change(old)
        if new is None:
            return False
        if new != old:
            copy = _keep_copy(path, location, old)
            if marks(os.fstat(fd)) != marks(status):
                raise ChangedMeanwhile
            _overwrite(path, fd, old, new, copy)
        return True
    finally:
        close_quietly(fd)


def _lock(path: str, fd: int, disk: Disk) -> None:
    """Lock the file itself; it keeps its inode, since nothing replaces it."""
    patience = LockWait(path, disk.limits.lock_timeout)
    while HAS_FLOCK:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                return None  # a file system without locks
        patience.wait()
    return None


def _keep_copy(path: str, location: FileLocation, data: bytes) -> str:
    """Copy the old bytes of a file into another one, and return the host path of that."""
    with suppress(OSError):
        name = f".{_short(location.name)}.before{RESERVED_SUFFIX}"
        with suppress(FileNotFoundError):
            location.folder.remove(name)
        _store(location.folder.open(name, _NEW, 0o600), data)
        location.folder.sync()
        return name
    folder = lock_folder()
    if folder is not None:
        where = hashlib.blake2b(os.fsencode(location.real), digest_size=8).hexdigest()
        copy = folder / f"{where}.{_short(location.name)}.before"
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
        close_quietly(fd)


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


_NEW: Final = os.O_CREAT | os.O_EXCL | os.O_RDWR
# Bytes of a file name from which the temporary file is named by a digest.
_LONGEST_PLAIN: Final = 120
_NO_FLOCK: Final = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK})


class FolderVanished(Exception):
    """The folder of a file, or the temporary file in it, was removed while it was written."""


class ChangedMeanwhile(Exception):
    """Another program changed a file after it was read and before it was replaced."""


@dataclass(slots=True)
class WriteClaim:
    """The claim of one writer to a file, held as a lock on its temporary file.

    The name of the temporary file follows from that of the file, so that all writers compete for
    one lock, and the next writer finds what a killed process left behind.
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
        """Create and lock the temporary file, waiting for other writers; None without `flock`."""
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
        """Create the temporary file while a second file is the lock."""
        while True:
            self._discard()
            with suppress(FileExistsError):  # of somebody who tries for the other kind of lock
                return TemporaryFile(self, self._created(), patience)
            patience.wait()


@dataclass(slots=True)
class TemporaryFile:
    """A temporary file with one writer, to be renamed over the real file."""

    claim: WriteClaim
    fd: int
    patience: LockWait | None
    """How long to wait for readers: on Windows an open file cannot be replaced; else None."""
    published: bool = False

    def take_after(self, old: os.stat_result, fd: int) -> None:
        """Copy owner, permission bits and extended attributes of the file that is replaced."""
        mode, now = stat.S_IMODE(old.st_mode), os.fstat(self.fd)
        if hasattr(os, "fchmod"):
            os.fchmod(self.fd, mode)
        if hasattr(os, "listxattr"):
            with suppress(OSError):
                _copy_attributes(fd, self.fd)
        if hasattr(os, "fchown") and (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            _give_away(self.fd, old, mode)

    def narrow(self, allowed: int) -> None:
        """Remove permission bits that are not in the mask."""
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
    """Copy the extended attributes of an open file, which hold access control lists."""
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
    """Set owner and group as far as this process may, and permission bits to match."""
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

"""Confined file access: a directory tree that neither `..` nor a symbolic link leads out of.

A path is walked folder by folder, each opened relative to the one before (`openat`) and never
through a link. A link is read instead, and the walk goes on at its target if that is inside the
root. So what is opened at the end is inside the root, even if another process renames folders
or creates links meanwhile (a time-of-check to time-of-use attack).
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from types import TracebackType
from typing import Final, Literal, Self

from memoryware.backends._folder import (
    LINK_IN_THE_WAY,
    PASS,
    PASS_ANY,
    PLAIN,
    SUPPORTS_DIR_FD,
    Folder,
    HeldFolder,
    NamedFolder,
    open_without_links,
    read_all,
)
from memoryware.backends._paths import check_windows_names
from memoryware.errors import (
    FileDenied,
    FileError,
    FileIsDirectory,
    FileMissing,
    FileNotRegular,
    FileTooLarge,
    PathRefused,
    PathUnusable,
    WriteFailed,
)
from memoryware.settings import FileLimits

# What to do with missing folders of a path: raise, create them, or keep their names.
Absent = Literal["refuse", "make", "keep"]

# PATH_MAX of Linux is 4096 bytes with the final NUL; the temporary file needs its suffix.
_LONGEST_PATH: Final = 4000
_LONGEST_NAME: Final = 255
_WINDOWS: Final = os.name == "nt"
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

Operation = Literal["read", "write", "delete"]


class Disk:
    """The files below one folder.

    Paths are absolute within it (`/notes/a.md`); `path` is what errors call them.

    Attributes:
        root: The real host path of the folder.
        limits: Depth of folders, hops over links, and waiting times.
        supports_dir_fd: Whether folders are held open, which is safe against renames meanwhile.
    """

    def __init__(
        self, root: str, limits: FileLimits, *, supports_dir_fd: bool = SUPPORTS_DIR_FD
    ) -> None:
        self.root, self.limits, self.supports_dir_fd = root, limits, supports_dir_fd
        self._prefix = os.path.join(root, "")
        self._folders: type[HeldFolder | NamedFolder] = (
            HeldFolder if supports_dir_fd else NamedFolder
        )

    def locate(self, path: str, at: str, absent: Absent = "refuse") -> FileLocation:
        """Walk to the folder that a path lies in, without opening its last name. Close the result.

        Raises:
            PathRefused: If a link leads outside.
            OSError: If a folder on the way cannot be entered.
        """
        return FileLocation(self, path, at, absent)

    def read(self, path: str, at: str) -> bytes:
        """Return the bytes of a regular file.

        Raises:
            FileError: If it is missing, may not be read, or is not a regular file.
        """
        _check(path, at, self)
        with ErrorContext(path):
            fd = self._straight(at, os.O_RDONLY | PLAIN)
            if fd is None:
                with self.locate(path, at) as location:
                    fd = location.open(os.O_RDONLY)
            try:
                return self.content(path, fd, check_regular(path, os.fstat(fd)).st_size)
            finally:
                os.close(fd)

    def content(self, path: str, fd: int, size: int) -> bytes:
        """Return all bytes of an open regular file of about this size.

        Raises:
            FileTooLarge: If they are more than is read at once.
        """
        most = self.limits.read_max_bytes
        if size <= most:
            # The size of a file says nothing about how much memory is free.
            with suppress(MemoryError):
                data = read_all(fd, size, most)
                if len(data) <= most:
                    return data
        raise FileTooLarge(
            path,
            f"'{path}' is too large to be read at once; split it into files of less than"
            f" {most} bytes, or raise read_max_bytes in FileLimits",
        )

    def real(self, path: str, at: str) -> str:
        """Return where a path leads within the root, with all links resolved.

        Raises:
            FileError: If it leads outside, or nowhere because of a loop.
        """
        with ErrorContext(path):
            with suppress(FileNotFoundError):
                fd = self._straight(at, PASS_ANY)
                if fd is not None:
                    os.close(fd)
                    return at
            if not os.path.lexists(self.root):
                return at
            with self.locate(path, at, "keep") as location:
                location.settle()
                return location.real

    def _straight(self, at: str, flags: int) -> int | None:
        """Open a path of the root in one step, if that is safe."""
        return open_without_links(self.host(at), flags) if self.supports_dir_fd else None

    def parent(self, at: str) -> Folder | None:
        """Open the folder that a deep path lies in, in one step, if that is safe."""
        end = at.rfind("/")
        if end <= 0:
            return None
        with suppress(FileNotFoundError, NotADirectoryError):
            fd = self._straight(at[:end], PASS)
            return None if fd is None else HeldFolder(fd)
        return None

    def open_root(self, absent: Absent) -> Folder:
        """Open the folder itself."""
        try:
            return self._folders.at(self.root)
        except FileNotFoundError:
            if absent != "make":
                raise
            os.makedirs(self.root, exist_ok=True)
            return self._folders.at(self.root)

    def host(self, at: str) -> str:
        """Return the host path of a path in the root, links not resolved."""
        return self.root if at == "/" else self._prefix + at[1:]

    def inside(self, host: str) -> str | None:
        """Return the path in the root of a real host path, None if it lies outside."""
        # Windows compares paths without case, and realpath returns the case of the disk.
        normal, prefix = os.path.normcase(host), os.path.normcase(self._prefix)
        if normal in (prefix, prefix.removesuffix(os.sep)):
            return "/"
        return "/" + host[len(prefix) :].replace(os.sep, "/") if normal.startswith(prefix) else None


class FileLocation:
    """A name in an open folder, reached from the root without leaving it.

    Attributes:
        folder: The folder that the name is in.
        name: The last name of the path; "." if the path is the folder itself.
    """

    __slots__ = ("_absent", "_created", "_disk", "_hops", "_path", "_walked", "folder", "name")

    def __init__(self, disk: Disk, path: str, at: str, absent: Absent) -> None:
        _check(path, at, disk)
        self._disk, self._path, self._absent = disk, path, absent
        self._hops, self._walked, self._created = disk.limits.symlink_hops, list[str](), list[str]()
        self.name = "."
        folder = disk.parent(at)
        if folder is not None:
            _, *self._walked, self.name = at.split("/")
            self.folder = folder
            return
        self.folder = disk.open_root(absent)
        try:
            self._go(at.split("/")[:0:-1])
        except BaseException:
            self.folder.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.folder.close()

    @property
    def real(self) -> str:
        """The path within the root, with the links resolved that were followed."""
        return "/" + "/".join([*self._walked, *([] if self.name == "." else [self.name])])

    def settle(self) -> os.stat_result | None:
        """Follow links until the name is no link; return its status, None if nothing is there."""
        while True:
            try:
                return self.folder.stat_unless_link(self.name)
            except FileNotFoundError:
                return None
            except OSError as error:
                if error.errno not in LINK_IN_THE_WAY:
                    raise
            self._go(self._through(self.name, []))

    def open(self, flags: int) -> int:
        """Open the file, following links inside the root, and return its descriptor."""
        while True:
            if self.name == ".":
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            try:
                return self.folder.open(self.name, flags)
            except OSError as error:
                if error.errno not in LINK_IN_THE_WAY:
                    raise
            self._go(self._through(self.name, []))

    def unmake(self) -> None:
        """Remove the folders that were created on the way here, unless something is in them."""
        for at in reversed(self._created):
            with (
                suppress(FileError, OSError),
                FileLocation(self._disk, at, at, "refuse") as location,
            ):
                location.folder.unmake(location.name)

    def _go(self, steps: list[str]) -> None:
        """Walk the steps, the next one last in the list; the final one is named, not opened."""
        self.name = "."
        while steps:
            name = steps.pop()
            if name in ("", "."):
                continue
            if name == "..":
                steps = self._up(steps)
            elif not steps:
                self.name = name
            else:
                steps = self._step(name, steps)

    def _step(self, name: str, steps: list[str]) -> list[str]:
        try:
            folder = self.folder.enter(name)
        except FileNotFoundError:
            return self._missing(name, steps)
        except OSError as error:
            if error.errno not in LINK_IN_THE_WAY:
                raise
            return self._through(name, steps)
        self.folder.close()
        self.folder = folder
        self._walked.append(name)
        return steps

    def _missing(self, name: str, steps: list[str]) -> list[str]:
        if self._absent == "refuse":
            raise FileMissing(self._path)
        if self._absent == "keep":
            self.name = "/".join([name, *reversed(steps)])
            return []
        with suppress(FileExistsError):  # somebody else was faster
            self.folder.make(name)
            self._created.append(f"{self.real.removesuffix('/')}/{name}")
        return [*steps, name]

    def _through(self, name: str, steps: list[str]) -> list[str]:
        """Return the steps with a link replaced by where it leads."""
        # Counted over the whole path, as the kernel does; two links that lead to each other
        # would otherwise never end.
        self._hops -= 1
        if self._hops < 0:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        try:
            target = self.folder.link(name)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            if steps:  # not a link: a file in place of a folder
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
            return [name]  # it was a link a moment ago
        if os.path.isabs(target):
            return [*steps, *self._again_from_root(target)]
        return [*steps, *reversed(target.split("/"))]

    def _up(self, steps: list[str]) -> list[str]:
        """Return the steps that lead to the folder above, from the root."""
        # Above the root only a link can lead; the host path says whether it comes back in.
        if not self._walked:
            host = os.path.join(self._disk.root, "..", *reversed(steps))
            return self._again_from_root(host)
        # Not by "..": the folder may have been moved since it was opened, and its parent with it.
        above = self._walked[:-1]
        self._restart()
        return [*steps, *reversed(above)]

    def _again_from_root(self, host: str) -> list[str]:
        """Return the steps to a host path, which must lie in the root; each is checked again."""
        at = self._disk.inside(os.path.realpath(host))
        if at is None:
            raise PathRefused(
                self._path,
                f"Path {self._path} leads outside the root through a symbolic link;"
                " use a path whose file lies inside",
            )
        self._restart()
        return at.split("/")[:0:-1]

    def _restart(self) -> None:
        root = self._disk.open_root("refuse")
        self.folder.close()
        self.folder, self._walked = root, []


def _check(path: str, at: str, disk: Disk) -> None:
    """Refuse names and lengths that no system accepts, before folders are created for them."""
    if at.count("/") > disk.limits.folder_depth:
        depth = disk.limits.folder_depth
        raise PathUnusable(path, f"More than {depth} folders in {path[:80]}…; use fewer")
    if len(at) >= _LONGEST_NAME // 4:  # a character has four bytes at most
        longest = max(len(os.fsencode(name)) for name in at.split("/"))
        if longest > _LONGEST_NAME or len(os.fsencode(disk.host(at))) > _LONGEST_PATH:
            raise PathUnusable(path, f"The path is too long: {path[:80]}…; use shorter names")
    if _WINDOWS:
        check_windows_names(path, at.split("/"))


class ErrorContext:
    """Turns the `OSError` of an operation on a path into a `FileError` with one sentence."""

    __slots__ = ("_doing", "_path")

    def __init__(self, path: str, doing: Operation = "read") -> None:
        self._path, self._doing = path, doing

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError) and not isinstance(error, FileError):
            raise file_error(self._path, error, self._doing) from error


def file_error(path: str, error: OSError, doing: Operation = "read") -> FileError:
    """Map an `OSError` about a path to a `FileError`."""
    reason, code = error.strerror or str(error), error.errno
    if code == errno.ENOENT:
        return FileMissing(path)
    if code == errno.EISDIR:
        return FileIsDirectory(path)
    if code == errno.ENXIO:
        return FileNotRegular(path)
    if code == errno.ENOTDIR:
        return PathUnusable(path, f"'{path}' lies below a file; name a path below a folder")
    if code == errno.ELOOP:
        return PathUnusable(path, f"'{path}' is a loop of symbolic links; name the file itself")
    if code == errno.ENAMETOOLONG:
        return PathUnusable(path, f"The path is too long: {path[:80]}…; use shorter names")
    if code in (errno.EACCES, errno.EPERM):
        return FileDenied(path, f"This process may not {doing} '{path}': {reason}")
    if doing == "read":
        return FileDenied(path, f"The system could not read '{path}': {reason}; try again")
    if doing == "delete":
        return WriteFailed(path, f"'{path}' was not deleted, or not all of it: {reason}; try again")
    return WriteFailed(path, f"'{path}' was not written: {reason}. {_way_out(code)}")


def _way_out(code: int | None) -> str:
    if code in _FULL:
        return "The old text is still there; make room and try again"
    if code == errno.EROFS:
        return "The old text is still there; choose a place that can be written to"
    if code == errno.EBUSY:
        return (
            "A single mounted file cannot be replaced; mount its folder instead, or let the"
            " FilesystemBackend write into it with write_in_place=True"
        )
    return "The old text is still there; try again"


def check_regular(path: str, status: os.stat_result) -> os.stat_result:
    """Return the status of a file if it is a regular one.

    Raises:
        FileIsDirectory: For a folder.
        FileNotRegular: For a pipe, a device or a socket.
    """
    if stat.S_ISREG(status.st_mode):
        return status
    raise FileIsDirectory(path) if stat.S_ISDIR(status.st_mode) else FileNotRegular(path)

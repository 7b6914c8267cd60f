"""A tree of files on disk that nothing leads out of.

A path is walked folder by folder, each opened relative to the one before and never
through a link. A link is read instead, and the walk goes on where it leads if that is
inside the root. What is opened at the end is therefore inside, whatever is renamed or
linked meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from types import TracebackType
from typing import Final, Literal, Self

from memoryware.backends._folder import (
    HOLDS_FOLDERS,
    LINK_IN_THE_WAY,
    PASS,
    PASS_ANY,
    PLAIN,
    Folder,
    HeldFolder,
    NamedFolder,
    straight,
    whole,
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

Absent = Literal["refuse", "make", "keep"]
"""What to do with folders of a path that are not there: raise, create, or take them as named."""

_LONGEST_PATH: Final = 4000
_LONGEST_NAME: Final = 255
_WINDOWS: Final = os.name == "nt"
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

Doing = Literal["read", "write", "delete"]


class Disk:
    """The files below one folder.

    Paths are absolute within it (`/notes/a.md`); `path` is what errors call them.

    Attributes:
        root: The real host path of the folder.
        limits: Depth of folders, hops over links, and waiting times.
        holds_folders: Whether folders are held open, which is safe against swaps.
    """

    def __init__(
        self, root: str, limits: FileLimits, *, holds_folders: bool = HOLDS_FOLDERS
    ) -> None:
        self.root, self.limits, self.holds_folders = root, limits, holds_folders
        self._prefix = os.path.join(root, "")
        self._folders: type[HeldFolder | NamedFolder] = HeldFolder if holds_folders else NamedFolder

    def place(self, path: str, at: str, absent: Absent = "refuse") -> Place:
        """Walk to where a path leads, except for its last name. Close what is returned.

        Raises:
            PathRefused: If a link leads outside.
            OSError: If a folder on the way cannot be passed.
        """
        return Place(self, path, at, absent)

    def read(self, path: str, at: str) -> bytes:
        """Return the bytes of a regular file.

        Raises:
            FileError: If it is missing, may not be read, or is not a regular file.
        """
        _check(path, at, self)
        with Telling(path):
            fd = self._straight(at, os.O_RDONLY | PLAIN)
            if fd is None:
                with self.place(path, at) as place:
                    fd = place.open(os.O_RDONLY)
            try:
                return self.content(path, fd, regular(path, os.fstat(fd)).st_size)
            finally:
                os.close(fd)

    def content(self, path: str, fd: int, size: int) -> bytes:
        """Return all bytes of an open regular file of about this size.

        Raises:
            FileTooLarge: If they are more than is read at once.
        """
        most = self.limits.read_max_bytes
        if size <= most:
            with suppress(MemoryError):
                data = whole(fd, size, most)
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
        with Telling(path):
            with suppress(FileNotFoundError):
                fd = self._straight(at, PASS_ANY)
                if fd is not None:
                    os.close(fd)
                    return at
            if not os.path.lexists(self.root):
                return at
            with self.place(path, at, "keep") as place:
                place.settle()
                return place.real

    def _straight(self, at: str, flags: int) -> int | None:
        """Open a path of the root in one step, if that is safe."""
        return straight(self.host(at), flags) if self.holds_folders else None

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
        given, prefix = os.path.normcase(host), os.path.normcase(self._prefix)
        if given in (prefix, prefix.removesuffix(os.sep)):
            return "/"
        return "/" + host[len(prefix) :].replace(os.sep, "/") if given.startswith(prefix) else None


class Place:
    """A name in an open folder, reached from the root without leaving it.

    Attributes:
        folder: The folder that the name is in.
        name: The last name of the path; "." if the path ends at the folder itself.
    """

    __slots__ = ("_absent", "_disk", "_hops", "_made", "_path", "_walked", "folder", "name")

    def __init__(self, disk: Disk, path: str, at: str, absent: Absent) -> None:
        _check(path, at, disk)
        self._disk, self._path, self._absent = disk, path, absent
        self._hops, self._walked, self._made = disk.limits.symlink_hops, list[str](), list[str]()
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
        """Follow links until the name stands for something else; say for what, None for nothing."""
        while True:
            try:
                return self.folder.found(self.name)
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
        """Remove the folders that were made on the way here, unless something is in them."""
        for at in reversed(self._made):
            with suppress(FileError, OSError), Place(self._disk, at, at, "refuse") as place:
                place.folder.unmake(place.name)

    def _go(self, steps: list[str]) -> None:
        """Take the steps, the next one last in the list, and only name the final one."""
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
            self._made.append(f"{self.real.removesuffix('/')}/{name}")
        return [*steps, name]

    def _through(self, name: str, steps: list[str]) -> list[str]:
        """Return the steps with a link replaced by where it leads."""
        self._hops -= 1
        if self._hops < 0:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        try:
            target = self.folder.link(name)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            if steps:  # not a link: a file stands where a folder is needed
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
            return [name]  # it was a link a moment ago
        if os.path.isabs(target):
            return [*steps, *self._again_from_root(target)]
        return [*steps, *reversed(target.split("/"))]

    def _up(self, steps: list[str]) -> list[str]:
        """Return the steps that lead to the folder above, from the root."""
        if not self._walked:
            host = os.path.join(self._disk.root, "..", *reversed(steps))
            return self._again_from_root(host)
        above = self._walked[:-1]
        self._restart()
        return [*steps, *reversed(above)]

    def _again_from_root(self, host: str) -> list[str]:
        """Return the steps to a host path, which must lie in the root; each is checked anew."""
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
    """Refuse what no system takes, before folders are made for it."""
    if at.count("/") > disk.limits.folder_depth:
        depth = disk.limits.folder_depth
        raise PathUnusable(path, f"More than {depth} folders in {path[:80]}…; use fewer")
    if len(at) >= _LONGEST_NAME // 4:  # a character has four bytes at most
        longest = max(len(os.fsencode(name)) for name in at.split("/"))
        if longest > _LONGEST_NAME or len(os.fsencode(disk.host(at))) > _LONGEST_PATH:
            raise PathUnusable(path, f"The path is too long: {path[:80]}…; use shorter names")
    if _WINDOWS:
        check_windows_names(path, at.split("/"))


class Telling:
    """Turns what the system says about a path into our errors, with one sentence."""

    __slots__ = ("_doing", "_path")

    def __init__(self, path: str, doing: Doing = "read") -> None:
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
            raise told(self._path, error, self._doing) from error


def told(path: str, error: OSError, doing: Doing = "read") -> FileError:
    """Return the error of ours for what the system said about a path."""
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


def regular(path: str, seen: os.stat_result) -> os.stat_result:
    """Return what was seen if it is a regular file.

    Raises:
        FileIsDirectory: For a folder.
        FileNotRegular: For a pipe, a device or a socket.
    """
    if stat.S_ISREG(seen.st_mode):
        return seen
    raise FileIsDirectory(path) if stat.S_ISDIR(seen.st_mode) else FileNotRegular(path)

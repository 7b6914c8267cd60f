"""Open folders, whose entries are reached by name and never through a symbolic link.

`HeldFolder` works relative to a directory descriptor (`dir_fd`), so that no other process can
put another folder or a link in its place between two calls. `NamedFolder` is for systems without
`dir_fd` (Windows): it knows its real path, and checks after each opening what was opened.
Both raise `OSError`; a link in the way is `ELOOP`, or `ENOTDIR` where a folder is needed.

`open_without_links` is a shortcut for Linux (`openat2`, which Python does not offer yet): it
opens a host path in one system call if no link lies on it. Otherwise the path is walked.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Final, Protocol

_DIRECTORY: Final = getattr(os, "O_DIRECTORY", 0)
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
PASS_ANY: Final = getattr(os, "O_PATH", os.O_RDONLY)
# For a folder on the way: to pass through it one need not be allowed to list it.
PASS: Final = _DIRECTORY | PASS_ANY
_LIST: Final = os.O_RDONLY | _DIRECTORY
# For a file: no link is followed, a pipe does not block, bytes stay as they are.
PLAIN: Final = (
    _NOFOLLOW
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
# errno values of systems that cannot fsync a folder, or do not allow it.
_UNSYNCED: Final = frozenset(
    {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM, errno.EISDIR}
)
# errno values when a name that is opened with O_NOFOLLOW is a link.
LINK_IN_THE_WAY: Final = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR})


class Folder(Protocol):
    """Protocol: an open folder. Names are single names; "." is the folder itself."""

    def enter(self, name: str, *, listed: bool = False) -> Folder:
        """Open a folder in this one; one that is to be `listed` needs the right to be."""
        ...

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a file and return its descriptor."""
        ...

    def lstat(self, name: str) -> os.stat_result:
        """Return the status of a name; a link is not followed."""
        ...

    def stat_unless_link(self, name: str) -> os.stat_result:
        """Return the status of a name; a link raises `ELOOP`."""
        ...

    def link(self, name: str) -> str:
        """Return where a link leads; `EINVAL` if it is not a link."""
        ...

    def make(self, name: str) -> None:
        """Create a folder in this one, durably."""
        ...

    def unmake(self, name: str) -> None:
        """Remove an empty folder in this one."""
        ...

    def replace(self, name: str, over: str) -> None:
        """Rename a file over another one."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file or a link."""
        ...

    def clear(self, name: str) -> None:
        """Remove a folder in this one with all that is in it; no link is followed."""
        ...

    def entries(self) -> list[os.DirEntry[str]]:
        """List what is in this folder, which was entered to be listed."""
        ...

    def sync(self) -> None:
        """Make the names in this folder survive a power cut."""
        ...

    def close(self) -> None:
        """Close the folder."""
        ...


class HeldFolder:
    """A folder by its descriptor, for systems that open relative to one."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def at(cls, path: str) -> HeldFolder:
        """Open the folder at a trusted host path; links in that are followed."""
        return cls(os.open(path, PASS))

    def enter(self, name: str, *, listed: bool = False) -> HeldFolder:
        flags = (_LIST if listed else PASS) | _NOFOLLOW
        return HeldFolder(os.open(name, flags, dir_fd=self._fd))

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        return os.open(name, flags | PLAIN, mode, dir_fd=self._fd)

    def lstat(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._fd, follow_symlinks=False)

    def stat_unless_link(self, name: str) -> os.stat_result:
        status = self.lstat(name)
        if stat.S_ISLNK(status.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        return status

    def link(self, name: str) -> str:
        return os.readlink(name, dir_fd=self._fd)

    def make(self, name: str) -> None:
        os.mkdir(name, dir_fd=self._fd)
        self.sync()

    def unmake(self, name: str) -> None:
        os.rmdir(name, dir_fd=self._fd)

    def replace(self, name: str, over: str) -> None:
        os.replace(name, over, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def remove(self, name: str) -> None:
        os.unlink(name, dir_fd=self._fd)

    def clear(self, name: str) -> None:
        shutil.rmtree(name, dir_fd=self._fd)

    def entries(self) -> list[os.DirEntry[str]]:
        with os.scandir(self._fd) as entries:
            return list(entries)

    def sync(self) -> None:
        with _unsynced_is_fine():
            # fsync of an O_PATH descriptor is EBADF.
            fd = os.open(".", _LIST, dir_fd=self._fd)  # the held one may be for passing only
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def close(self) -> None:
        os.close(self._fd)


class NamedFolder:
    """A folder by its real path, for systems that cannot open relative to a folder."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    @classmethod
    def at(cls, path: str) -> NamedFolder:
        """Take the folder at a trusted host path; links in that are followed."""
        real = os.path.realpath(path)
        if not stat.S_ISDIR(os.stat(real).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return cls(real)

    def enter(self, name: str, *, listed: bool = False) -> NamedFolder:  # noqa: ARG002 - no right to list is asked for
        path = self._real(name)
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
        return NamedFolder(path)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        path = self._real(name)
        # Windows has no O_NOFOLLOW, so the file is compared with its name after the opening.
        fd = os.open(path, flags | PLAIN, mode)
        try:
            if not os.path.samestat(os.fstat(fd), os.lstat(self._real(name))):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)  # noqa: TRY301 - the descriptor is closed in one place
        except OSError:
            os.close(fd)
            raise
        return fd

    def lstat(self, name: str) -> os.stat_result:
        return os.lstat(self._join(name))

    def stat_unless_link(self, name: str) -> os.stat_result:
        return os.lstat(self._real(name))

    def link(self, name: str) -> str:
        path = self._join(name)
        real = os.path.realpath(path)
        if _same_path(real, path):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), name)
        return real

    def make(self, name: str) -> None:
        os.mkdir(self._real(name))
        self.sync()

    def unmake(self, name: str) -> None:
        os.rmdir(self._real(name))

    def replace(self, name: str, over: str) -> None:
        os.replace(self._join(name), self._real(over))

    def remove(self, name: str) -> None:
        os.unlink(self._join(name))

    def clear(self, name: str) -> None:
        shutil.rmtree(self._real(name))

    def entries(self) -> list[os.DirEntry[str]]:
        with os.scandir(self._path) as entries:
            return list(entries)

    def sync(self) -> None:
        with _unsynced_is_fine():
            fd = os.open(self._path, _LIST)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def close(self) -> None:
        """Do nothing: no descriptor is open."""

    def _join(self, name: str) -> str:
        return self._path if name == "." else os.path.join(self._path, name)

    def _real(self, name: str) -> str:
        """Return the host path of a name, checked not to be a link."""
        path = self._join(name)
        if not _same_path(os.path.realpath(path), path):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        if os.path.islink(path):  # a link to itself has its own path as real path
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        return path


def _same_path(first: str, other: str) -> bool:
    return os.path.normcase(first) == os.path.normcase(other)


@contextmanager
def _unsynced_is_fine() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _UNSYNCED:
            raise


def close_quietly(fd: int) -> None:
    """Close a descriptor and ignore errors: the work is done, or has failed already."""
    with suppress(OSError):
        os.close(fd)


def read_all(fd: int, size: int, most: int = sys.maxsize) -> bytes:
    """Return the bytes of an open regular file of about this size; few more than `most`."""
    data = os.read(fd, size + 1)
    if len(data) == size:  # the byte more that was asked for is not there
        return data
    pieces = [data]  # it has changed meanwhile, or is more than one read can give
    left = most - len(data)
    while left >= 0 and (piece := os.read(fd, 1 << 20)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


# Whether this system can open relative to a folder.
SUPPORTS_DIR_FD: Final = all(
    function in os.supports_dir_fd
    for function in (os.open, os.stat, os.mkdir, os.unlink, os.readlink)
) and bool(_NOFOLLOW)


# The number of the system call, the same on every kind of processor that has it.
_OPENAT2: Final = 437
_RESOLVE_NO_SYMLINKS: Final = 0x04
_NO_FOLDER: Final = -100
# errno values after which the path is walked instead: a link, or openat2 is not allowed here.
_WALK: Final = frozenset(
    {errno.ELOOP, errno.EXDEV, errno.EAGAIN, errno.EINTR, errno.EPERM, errno.EINVAL, errno.E2BIG}
)

# Opens a path with flags; returns a descriptor, or an error number below zero.
System = Callable[[bytes, int], int]

_missing = False


def open_without_links(host: str, flags: int) -> int | None:
    """Open an absolute host path and return the descriptor, None if it has to be walked.

    Raises:
        OSError: If no link is in the way, and yet it cannot be opened.
    """
    global _missing  # noqa: PLW0603 - the system call does not appear while we run
    if _missing:
        return None
    system = _system()
    result = system(os.fsencode(host), flags) if system else -errno.ENOSYS
    if result >= 0:
        return result
    _missing = result == -errno.ENOSYS
    if _missing or -result in _WALK:
        return None
    raise OSError(-result, os.strerror(-result))


@cache
def _system() -> System | None:
    if sys.platform != "linux" or hasattr(sys, "getandroidapilevel"):
        return None  # Android kills a process for a system call that it does not allow
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).syscall
    except (ImportError, OSError, AttributeError):
        return None
    call.restype = ctypes.c_long
    call.argtypes = [
        *(ctypes.c_long, ctypes.c_long, ctypes.c_char_p),
        *(ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t),
    ]
    open_how = ctypes.c_uint64 * 3
    requests: dict[int, ctypes.Array[ctypes.c_uint64]] = {}

    def opened(path: bytes, flags: int) -> int:
        request = requests.get(flags)
        if request is None:
            request = requests[flags] = open_how(flags | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS)
        fd: int = call(_OPENAT2, _NO_FOLDER, path, request, 24)
        return fd if fd >= 0 else -ctypes.get_errno()

    return opened

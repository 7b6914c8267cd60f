"""`FilesystemBackend`: files on a disk, with safe paths, atomic writes and fast searches."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

from memoryware import _checking
from memoryware._home import expand_home
from memoryware._runner import BLOCKING, Runner, in_thread, run_blocking
from memoryware.backends import _disk_search, _text
from memoryware.backends._atomic import AtomicWriter, CheckDeletion, MakeContent
from memoryware.backends._base import (
    ChangeMode,
    ChangingBackend,
    Core,
    P,
    T,
    UpdateFunction,
    compute_update,
    downloaded,
    uploaded,
)
from memoryware.backends._disk import Disk
from memoryware.backends._disk_search import DiskPath
from memoryware.backends._paths import as_text, is_below, join, normalise
from memoryware.backends._patterns import compile_grep
from memoryware.backends.protocol import (
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from memoryware.errors import FileError, FileMissing, PathRefused, PathUnusable, SettingError
from memoryware.settings import FileLimits

_MEGABYTE: Final = 1024 * 1024
_USUAL_MEGABYTES: Final = 10
_HOME: Final = re.compile(r"~(?:[/\\]|$)")
_KNOWN_AT_MOST: Final = 4096
# Name of the temporary files of `add_file`, whose targets have unique names.
_ADDED: Final = "added"
# How long a file may change again with the same mtime, on the coarsest file system (FAT: 2 s).
_UNSETTLED_NS: Final = 2_500_000_000
# Whether an mtime that we set cannot be told from one that the system set.
_STAMPS_ALIKE: Final = os.name == "nt"


class FilesystemBackend(ChangingBackend):
    """Memory files on disk.

    With `virtual_mode` (the default) `/` means `root_dir` and nothing leads out of it,
    neither `..` nor a symbolic link. A host path below `root_dir` is understood as well.
    Without it, absolute paths are host paths, relative ones start at `root_dir`, and
    agents reach whatever this process may reach.

    `~` is the home folder where that lies inside `root_dir`, or without `virtual_mode`.
    Relative paths start at `root_dir`; if that is the whole disk, at the current folder.

    Args:
        root_dir: The folder; None takes the current one. A missing one is an empty folder until
            the first write creates it. If it is a file, every operation says so. Its links are
            resolved once, at the first use; the constructor does not touch the disk.
        virtual_mode: Whether paths are confined to `root_dir`.
        max_file_size_mb: Larger files are not searched; 10 takes the value of `limits`.
        limits: Waiting times and sizes.
        write_in_place: Whether to overwrite a file that cannot be replaced, such as one that is
            mounted alone into a container. A crash may leave half of it then; the old
            text is copied first, to `.<name>.before.memoryware-tmp` beside the file, or where the
            folder cannot be written, to `memoryware-locks-<user>` in the folder for temporary
            files. All other files are replaced as usual.

    Attributes:
        virtual_mode: As given.
        max_file_size_bytes: Larger files are not searched.
    """

    def __init__(
        self,
        root_dir: str | Path | None = None,
        virtual_mode: bool = True,
        max_file_size_mb: int = _USUAL_MEGABYTES,
        *,
        limits: FileLimits | None = None,
        write_in_place: bool = False,
    ) -> None:
        _checking.check_instance("limits", limits, FileLimits)
        _checking.check_flags(virtual_mode=virtual_mode, write_in_place=write_in_place)
        if root_dir is not None:
            _checking.check_path("root_dir", root_dir)
        self._limits = limits or FileLimits()
        self._configured_root = expand_home(root_dir or ".", "root_dir")
        if not self._configured_root.is_absolute():
            self._configured_root = self._configured_root.absolute()
        self.virtual_mode = virtual_mode
        self._in_place = write_in_place
        self.max_file_size_bytes = _size(max_file_size_mb, self._limits)
        # Fingerprints ask for the same paths in every turn.
        self._paths: dict[str, DiskPath] = {}
        self._local = _LocalFiles()

    @cached_property
    def cwd(self) -> Path:
        """The folder as a real path; resolved at the first use, not on an event loop.

        If `root_dir` is a link that leads elsewhere later, make a new backend to follow it, for
        example in a factory.
        """
        return Path(os.path.realpath(self._configured_root))

    def has_same_files_as(self, other: object) -> bool:
        """Return whether another backend was made for the same folder, without touching the disk.

        Args:
            other: Any object.

        Returns:
            False also for a folder that is the same only through a link.
        """
        return type(other) is type(self) and bool(self._configured_root == other._configured_root)  # noqa: SLF001 - of the same class

    # Where a path leads.

    @cached_property
    def _root(self) -> Path:
        """The root, checked not to be a file.

        An error is not cached, so that the backend works as soon as the file is gone.

        Raises:
            PathUnusable: If it is a file, or lies below one.
        """
        try:
            mode = os.stat(self.cwd).st_mode
        except NotADirectoryError:
            mode = 0
        except OSError:  # it is not there yet, or the operation says why it cannot be opened
            return self.cwd
        if not stat.S_ISDIR(mode):
            # Without its path: an agent in a virtual root is not told where that is.
            message = "root_dir is a file, or below one; give this backend a folder as root_dir"
            raise PathUnusable(str(self.cwd), message)
        return self.cwd

    @cached_property
    def _disk(self) -> Disk:
        return Disk(str(self._root), self._limits)

    @cached_property
    def _whole(self) -> bool:
        """Whether the root is the whole disk."""
        return self.cwd == Path(self.cwd.anchor)

    @cached_property
    def _host_roots(self) -> tuple[str, ...]:
        """Prefixes of host paths below the root.

        Without names that exist in the root when the backend is first used; to look each time
        would let a path change its meaning between being checked and being opened.
        """
        if not self.virtual_mode or self._whole:
            return ()
        spelled = sorted({self.cwd.as_posix(), self._configured_root.as_posix()})
        return tuple(root for root in spelled if not os.path.lexists(self._disk.host(root)))

    def _disk_path(self, key: str) -> DiskPath:
        target = self._paths.get(as_text(key))
        if target is not None:
            return target
        if self.virtual_mode:
            at = self._inside(key)
            target = DiskPath(self._disk, key, at, at)
        else:
            target = self._on_host(key)
        if target.at == key and not any(is_below(key, root) for root in self._host_roots):
            if len(self._paths) >= _KNOWN_AT_MOST:
                self._paths.clear()
                self._local.forget()
            self._paths[key] = target  # it depends on nothing that may change
        return target

    def _inside(self, key: str) -> str:
        """Return the normal virtual path for a path of the caller."""
        if _HOME.match(key):
            home = self._disk.inside(os.path.realpath(_home(key)))
            if home is None:
                raise PathRefused(
                    key,
                    f"'~' is outside the root here: {key}. Use a path below the root such as"
                    " /notes.md, or give the backend a root_dir that holds the home folder",
                )
            return self._within(join(home, normalise("/" + key[2:])))
        at = normalise(key)
        if self._whole and not key.startswith(("/", "\\")):
            return join(self._here(key), at)
        return self._within(at)

    def _within(self, at: str) -> str:
        """Return a path without the host root in front, however often it is repeated.

        Once is not enough: a path is checked under the name that it gets here, and that name
        is opened later, so it must not change its meaning when it comes back.
        """
        while True:
            for host in self._host_roots:
                if is_below(at, host):
                    at = at[len(host) :] or "/"
                    break
            else:
                return at

    def _here(self, key: str) -> str:
        """Return the current folder as a path in the whole disk; its top on another drive."""
        try:
            return self._disk.inside(os.path.realpath(Path.cwd())) or "/"
        except FileNotFoundError:
            message = f"The current folder is gone: {key}; use a path that begins with /"
            raise PathUnusable(key, message) from None

    def _on_host(self, key: str) -> DiskPath:
        """Return where a host path leads, from the top of its drive."""
        path = _home(key) + key[1:] if _HOME.match(key) else key
        drive, tail = os.path.splitdrive(path)
        at = normalise(tail)
        if not tail.startswith(("/", "\\")):
            if drive:
                raise PathRefused(key, f"A path on a drive must be absolute: {key}")
            if self._whole:
                at = join(self._here(key), at)
            else:
                at = join(f"/{self._root.relative_to(self._root.anchor).as_posix()}", at)
        drive = drive or self.cwd.drive
        return DiskPath(Disk(drive + os.sep, self._limits), key, at, drive + at)

    def _resolve_path(self, key: str) -> Path:
        """Return the real host path, with all links resolved.

        Raises:
            PathRefused: If it lies outside the root.
            PathUnusable: If it is a loop of links, or too long.
        """
        target = self._disk_path(key)
        return Path(target.disk.host(target.disk.real(key, target.at)))

    def _real_path(self, key: str) -> str:
        """Return the path of a file with all links resolved, as this backend shows it.

        Raises:
            PathRefused: If it lies outside the root.
            PathUnusable: If it is a loop of links, or too long.
        """
        target = self._disk_path(key)
        return target.shown.removesuffix(target.at) + target.disk.real(key, target.at)

    # One thread hop for a whole operation.

    async def _run_native(self, core: Core[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await in_thread(partial(self._run, core, *args, **kwargs))

    # Reading.

    async def _ls(self, runner: Runner, path: str) -> LsResult:
        return LsResult(entries=_disk_search.listing(self._disk_path(path)))

    async def _read(self, runner: Runner, path: str, offset: int, limit: int) -> ReadResult:
        return _text.show(path, self._bytes(path), offset, limit)

    async def _download(self, runner: Runner, paths: list[str]) -> list[FileDownloadResponse]:
        return [downloaded(path, partial(self._bytes, path)) for path in paths]

    def _bytes(self, path: str) -> bytes:
        target = self._disk_path(path)
        return target.disk.read(path, target.at)

    async def _glob(self, runner: Runner, pattern: str, path: str | None) -> GlobResult:
        return _disk_search.find(self._start(path, pattern), pattern)

    async def _grep(
        self,
        runner: Runner,
        pattern: str,
        path: str | None,
        glob: str | None,
        max_count: int | None,
    ) -> GrepResult:
        deadline = time.monotonic() + self._limits.grep_timeout
        needle, most = compile_grep(pattern), self.max_file_size_bytes
        depth = self._limits.folder_depth
        options = _disk_search.GrepOptions(needle, glob or None, most, max_count, deadline, depth)
        return _disk_search.search(self._start(path, glob), options)

    def _start(self, path: str | None, pattern: str | None) -> DiskPath:
        """Return where a search starts; without a path a tied pattern means the virtual root."""
        tied = self.virtual_mode and (pattern or "").startswith(("/", "\\"))
        return self._disk_path(path or ("/" if tied else "."))

    # Writing.

    async def _write(self, runner: Runner, path: str, content: str) -> WriteResult:
        data = _text.encode(path, content)
        self._change(path, lambda _: data, create=True)
        return WriteResult(path=path)

    async def _edit(self, runner: Runner, path: str, old: str, new: str, every: bool) -> EditResult:
        count = 0

        def change(data: bytes | None) -> bytes:
            nonlocal count
            changed, count = _text.edit_bytes(path, data or b"", old, new, every)
            return changed

        self._change(path, change, create=False)
        return EditResult(path=path, occurrences=count)

    async def _append(self, runner: Runner, path: str, line: str) -> EditResult:
        _text.encode(path, line)
        self._change(path, lambda old: _text.append_bytes(path, old or b"", line), create=True)
        return EditResult(path=path, occurrences=1)

    async def _upload(
        self, runner: Runner, files: list[tuple[str, bytes]]
    ) -> list[FileUploadResponse]:
        return [uploaded(path, partial(self._store, path, data)) for path, data in files]

    def _store(self, path: str, data: bytes) -> None:
        self._change(path, lambda _: data, create=True)

    def _change(
        self,
        path: str,
        change: MakeContent,
        *,
        create: bool,
        allowed: Callable[[], int] | None = None,
    ) -> None:
        target = self._disk_path(path)
        changes = AtomicWriter(target.disk, in_place=self._in_place, allowed=allowed)
        changes.change(path, target.at, change, create=create)

    async def _delete(self, runner: Runner, path: str) -> DeleteResult:
        self._remove(path, None)
        return DeleteResult(path=path)

    def _remove(self, path: str, judge: CheckDeletion | None) -> None:
        target = self._disk_path(path)
        try:
            root = target.disk.inside(str(self.cwd)) or "/"
            AtomicWriter(target.disk).delete(path, target.at, root=root, judge=judge)
        except FileMissing:
            raise FileMissing(path, f"'{path}' not found") from None

    async def _change_file(
        self, runner: Runner, path: str, make: UpdateFunction, mode: ChangeMode
    ) -> None:
        like: str | None = None

        def change(before: bytes | None) -> bytes | None:
            nonlocal like
            new = run_blocking(compute_update(BLOCKING, make, before, mode, path))
            like = new.like
            return new.after

        if mode == "delete":
            self._remove(path, change)
        else:
            create = mode != "change"
            self._change(path, change, create=create, allowed=lambda: self._rights_of(like))

    async def _add_file(self, runner: Runner, path: str, data: bytes, like: str | None) -> None:
        target = self._disk_path(path)
        added = AtomicWriter(target.disk, mode=self._rights_of(like), shared=_ADDED)
        added.change(path, target.at, lambda _: data, create=True)

    def _rights_of(self, like: str | None) -> int:
        """Return the rights that a new file may have: those of another, or the usual ones."""
        with suppress(OSError, FileError):
            if like is not None:
                return os.stat(self._disk_path(like).host).st_mode & 0o666
        return 0o666

    async def _drop_file(self, runner: Runner, path: str) -> None:
        target = self._disk_path(path)
        with suppress(FileMissing):
            AtomicWriter(target.disk, shared=_ADDED).delete(path, target.at)

    # What a backend may offer beyond the protocol.

    def names(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return all names of each path.

        Args:
            paths: The files or folders; they need not exist.

        Returns:
            Per path its absolute name, then the name that links lead to, if that is another. A
            refused path has no names.
        """
        return [self._names(path) for path in paths]

    async def anames(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return all names of each path.

        Args:
            paths: The files or folders; they need not exist.

        Returns:
            Per path its absolute name, then the name that links lead to, if that is another. A
            refused path has no names.
        """
        return await in_thread(self.names, paths)

    def _names(self, path: str) -> tuple[str, ...]:
        try:
            name, real = self._disk_path(path).shown, self._real_path(path)
        except FileError:
            return ()
        return (name,) if real == name else (name, real)

    def fingerprint(self, paths: list[str]) -> list[str | None]:
        """Return a token for the present content of each file; costs one `stat` per file.

        Args:
            paths: The files.

        Returns:
            One token per path, in order; None for a file that may have changed twice within one
            tick of the clock of its file system.
        """
        now = time.time_ns()
        return [self._token(path, now) for path in paths]

    async def afingerprint(self, paths: list[str]) -> list[str | None]:
        """Return a token for the present content of each file; costs one `stat` per file.

        Files on a local file system are looked at on the event loop, which is ten times faster than
        a thread: a `stat` takes a microsecond, a hop to a thread and back 30 to 50. On a network
        file system the same call may hang for minutes, so there it stays in a thread.

        Args:
            paths: The files.

        Returns:
            One token per path, in order; None for a file that may have changed twice within one
            tick of the clock of its file system.
        """
        local = self._local
        if local.may_look(paths):
            began = time.monotonic()
            try:
                tokens = self.fingerprint(paths)
            except Exception:  # noqa: BLE001 - a guard of the loop, such as blockbuster, forbids it
                local.refuse()
            else:
                local.took(time.monotonic() - began)
                return tokens
        return await in_thread(self._look_in_thread, paths)

    def _look_in_thread(self, paths: list[str]) -> list[str | None]:
        tokens = self.fingerprint(paths)
        if type(self).fingerprint is FilesystemBackend.fingerprint:  # not one that may wait
            hosts = ((path, target.host) for path in paths if (target := self._paths.get(path)))
            self._local.note(hosts, _KNOWN_AT_MOST)
        return tokens

    def _token(self, path: str, now: int) -> str | None:
        """Return a token for this content of this file, None if it could be ambiguous.

        Who writes into a file in place may do so twice within one tick of the clock. Such
        a file has two equal times, that of the content and that of the rest; one of ours
        does not, because we set the first one ourselves and more finely.
        """
        try:
            host = self._disk_path(path).host
        except FileError:
            return None
        try:
            status = os.stat(host)
        except OSError as error:
            missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
            return f"disk:{error.errno}:{host}" if missing else None
        changed = status.st_mtime_ns
        # FAT keeps times in steps of two seconds, ext3 and HFS+ of one.
        if now - changed < _UNSETTLED_NS and (_STAMPS_ALIKE or changed == status.st_ctime_ns):
            return None
        return (
            f"disk:{status.st_dev}:{status.st_ino}:{status.st_size}:{changed}:{status.st_ctime_ns}"
        )


def _size(megabytes: Any, limits: FileLimits) -> int:
    """Return in bytes how large a file may be that is searched."""
    if isinstance(megabytes, bool) or not isinstance(megabytes, int | float) or not megabytes > 0:
        raise SettingError(f"max_file_size_mb={megabytes!r}: must be a number of more than 0")
    return int(limits.grep_max_bytes if megabytes == _USUAL_MEGABYTES else megabytes * _MEGABYTE)


def _home(key: str) -> str:
    """Return the home folder of this process."""
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise PathRefused(key, f"The home folder is not known here: {key}; write the whole path")
    return home


# File systems of Linux whose files are in this machine. FUSE is none: it may wait for anything.
_LOCAL: Final = frozenset(
    {
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "zfs", "reiserfs", "jfs"),
        *("tmpfs", "ramfs", "overlay", "erofs", "squashfs", "vfat", "exfat", "ntfs3"),
    }
)
_MOUNTS: Final = "/proc/self/mountinfo"
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
# Paths of one call that are looked at on the loop; more of them are a walk.
_MOST_PATHS: Final = 64
# Seconds of one call from which a disk is taken to be busy, asleep or not local after all.
_SLOW: Final = 0.005
# Seconds after a slow call during which a thread is used: twice as long each time, at most the
# second. The first is short because a busy processor looks like a slow disk.
_PAUSES: Final = (1.0, 60.0)


class _LocalFiles:
    """The paths of one backend whose state may be looked at on the event loop."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._not_before = 0.0
        self._pause = _PAUSES[0]

    def may_look(self, paths: Collection[str]) -> bool:
        """Return whether all paths are known to be local, and looking has been fast."""
        if len(paths) > _MOST_PATHS or not self._paths.issuperset(paths):
            return False
        return not self._not_before or time.monotonic() >= self._not_before

    def note(self, hosts: Iterable[tuple[str, str]], most: int) -> None:
        """Find out which paths are on a local file system. Touches the disk.

        Args:
            hosts: Paths as they are asked for, each with its path on this machine.
            most: How many paths are kept.
        """
        new = [(path, host) for path, host in hosts if path not in self._paths]
        if not new or len(new) > _MOST_PATHS:
            return
        mounts = _mounts()
        if len(self._paths) + len(new) > most:
            self._paths.clear()
        self._paths.update(path for path, host in new if _is_local(host, mounts))

    def forget(self) -> None:
        """Forget all paths, because the backend no longer knows by heart where they lead."""
        self._paths.clear()

    def took(self, seconds: float) -> None:
        """Note how long a look on the loop has taken."""
        if seconds > _SLOW:
            self._not_before = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, _PAUSES[1])
        elif self._not_before:
            self._not_before, self._pause = 0.0, _PAUSES[0]

    def refuse(self) -> None:
        """Look at nothing on the loop any more: something here forbids it."""
        self._not_before = float("inf")


def _is_local(host: str, mounts: dict[str, str]) -> bool:
    """Return whether a file lies on a local file system, after all links."""
    path = Path(os.path.realpath(host))
    for folder in (path, *path.parents):
        kind = mounts.get(str(folder))
        if kind is not None:
            return kind in _LOCAL
    return False


def _mounts() -> dict[str, str]:
    """Return the kind of file system by mount point; nothing where the system does not say."""
    try:
        lines = Path(_MOUNTS).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # not Linux, or hidden: then everything stays in a thread
        return {}
    mounts: dict[str, str] = {}
    for line in lines:  # "36 35 98:0 / /mnt/a\\040b rw - ext4 /dev/sda1 rw"; later ones cover
        head, dash, tail = line.partition(" - ")
        fields = head.split(" ")
        if dash and len(fields) > _POINT:
            point = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields[_POINT])
            mounts[point] = tail.split(" ", 1)[0]
    return mounts


# The position of the mount point in a line.
_POINT: Final = 4

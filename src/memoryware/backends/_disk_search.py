"""List, glob and grep a tree of files on disk.

A search goes down through folders that are held open, so that it cannot be led out of
the root, and enters no links.

A grep begins with a walk of its own. If that takes longer than a moment and ripgrep is
installed, ripgrep says which files in the remaining folders hold the text, and only those are
read. What a match is, and in which files, is decided here, so that both ways give one answer.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Final, Literal

from memoryware.backends._disk import Disk, ErrorContext, FileLocation, check_regular
from memoryware.backends._folder import LINK_IN_THE_WAY, Folder, close_quietly, read_all
from memoryware.backends._paths import RESERVED_SUFFIX, is_nameable
from memoryware.backends._patterns import MOST_MATCHES, closed_folders, compile_glob, grep_bytes
from memoryware.backends.protocol import FileInfo, GlobResult, GrepMatch, GrepResult
from memoryware.errors import FileError, FileMissing, PathUnusable

Entries = list["os.DirEntry[str]"]
# Called with a folder, its path from the start ("" or ending in `/`), and its other entries.
Handle = Callable[[Folder, str, Entries], None]


@dataclass(frozen=True, slots=True)
class DiskPath:
    """A path on a disk, in its four forms.

    Attributes:
        disk: The files.
        path: As the caller spelled it.
        at: The path within the disk.
        shown: The path in listings, without a final slash except for the root.
        host: The host path, links not resolved.
    """

    disk: Disk
    path: str
    at: str
    shown: str
    host: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "host", self.disk.host(self.at))

    def below(self, relative: str) -> str:
        """Return the path in listings of a relative path below this one."""
        return f"{self.shown.rstrip('/')}/{relative}"


def listing(target: DiskPath) -> list[FileInfo]:
    """List what is directly in a folder, sorted by path.

    Raises:
        FileMissing: If there is no such folder.
        FileError: If it is a file, or may not be listed.
    """
    disk, path = target.disk, target.path
    try:
        with ErrorContext(path), disk.locate(path, target.at) as location:
            status = location.settle()
            if status is None:
                raise FileMissing(path)  # noqa: TRY301 - one sentence for all that is missing
            if not stat.S_ISDIR(status.st_mode):
                raise PathUnusable(path, f"Path '{path}': not_a_directory")
            folder = location.folder.enter(location.name, listed=True)
    # A root that does not exist yet is an empty one: the first write creates it.
    except FileMissing:
        if target.at == "/":
            return []
        raise FileMissing(path, f"Path '{path}': path_not_found") from None
    try:
        with ErrorContext(path):
            infos = [_entry(target, entry) for entry in folder.entries() if is_nameable(entry.name)]
    finally:
        folder.close()
    return sorted((info for info in infos if info is not None), key=by_path)


def by_path(entry: FileInfo) -> str:
    """Return the sort key of listings."""
    return entry["path"]


def _entry(target: DiskPath, entry: os.DirEntry[str]) -> FileInfo | None:
    """Return an entry of a listing; None for unreadable ones: pipes, links that lead outside."""
    name, status = target.below(entry.name), _status(target, entry.name, entry)
    if status is not None and stat.S_ISDIR(status.st_mode):
        return FileInfo(path=name + "/", is_dir=True, size=0, modified_at=_moment(status))
    return _info(name, status)


def _status(target: DiskPath, relative: str, entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the status of an entry, links followed; None if it is gone or leads outside."""
    try:
        # From the folder entry: it costs no system call, and most entries are no links.
        linked = entry.is_symlink()
        return _link_status(target, relative) if linked else entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _link_status(target: DiskPath, relative: str) -> os.stat_result | None:
    with (
        suppress(FileError, OSError),
        target.disk.locate(target.path, join(target.at, relative)) as location,
    ):
        return location.settle()
    return None


def _info(name: str, status: os.stat_result | None) -> FileInfo | None:
    if status is None or not stat.S_ISREG(status.st_mode):
        return None
    return FileInfo(path=name, is_dir=False, size=status.st_size, modified_at=_moment(status))


def _moment(status: os.stat_result) -> str:
    try:
        return datetime.fromtimestamp(status.st_mtime, UTC).isoformat()
    except (ValueError, OverflowError, OSError):  # a year that no calendar has
        return ""


def join(folder: str, relative: str) -> str:
    """Return the path of what lies at a relative path in a folder."""
    return f"{folder.rstrip('/')}/{relative}"


@dataclass(slots=True)
class DiskWalk:
    """A walk through all folders below one.

    Attributes:
        skipped: Names of folders that are not entered.
        deepest: Depth of folders up to which a match is possible, None for any.
        allowed: Depth of folders up to which the walk goes.
        deadline: When to enter no more folders, in monotonic time.
        left: Relative paths of folders that were not entered before the deadline.
        deep: Whether folders below the allowed depth were left out.
        unreadable: Relative paths of folders and files that could not be read.
    """

    skipped: frozenset[str]
    deepest: int | None
    allowed: int
    deadline: float
    left: list[str] = field(default_factory=list)
    deep: bool = False
    unreadable: list[str] = field(default_factory=list)

    def through(self, folder: Folder, handle: Handle, prefix: str = "", depth: int = 0) -> None:
        """Call the handler with the entries of a folder, and then of each folder in it."""
        below: list[str] = []
        others: Entries = []
        for entry in folder.entries():
            if not entry.is_dir(follow_symlinks=False):
                others.append(entry)
            elif entry.name not in self.skipped:
                below.append(entry.name)
        handle(folder, prefix, others)
        if depth == self.deepest:
            return
        if depth == self.allowed:
            self.deep = self.deep or bool(below)
            return
        # Files of a folder first: what people look for seldom lies deep.
        for name in below:
            if time.monotonic() > self.deadline:
                self.left.append(prefix + name)
            else:
                self._enter(folder, name, handle, prefix, depth)

    def _enter(self, folder: Folder, name: str, handle: Handle, prefix: str, depth: int) -> None:
        try:
            inner = folder.enter(name, listed=True)
        except FileNotFoundError:
            return
        except OSError:
            self.unreadable.append(prefix + name)
            return
        try:
            self.through(inner, handle, f"{prefix}{name}/", depth + 1)
        except OSError:
            self.unreadable.append(prefix + name)
        finally:
            inner.close()


def find(target: DiskPath, pattern: str) -> GlobResult:
    """Find the files below a path that match a glob pattern."""
    glob, limits = compile_glob(pattern), target.disk.limits
    deadline = time.monotonic() + limits.glob_timeout
    walk = DiskWalk(closed_folders(pattern), glob.max_depth, limits.folder_depth, deadline)
    matches: list[FileInfo] = []

    def handle(_: Folder, prefix: str, entries: Entries) -> None:
        for entry in entries:
            relative = prefix + entry.name
            if glob.matches(relative) and is_nameable(relative):
                info = _info(target.below(relative), _status(target, relative, entry))
                if info is not None:
                    matches.append(info)

    walk_from(target, glob.base, walk, handle)
    matches.sort(key=by_path)
    reason: Literal["budget", "unreadable"] | None = "unreadable" if walk.unreadable else None
    if walk.left or walk.deep:
        reason = "budget"
    return GlobResult(matches=matches, truncated=reason is not None, truncation_reason=reason)


def walk_from(target: DiskPath, base: str, walk: DiskWalk, handle: Handle) -> None:
    """Walk through the folder `base` below a path; a missing one is empty."""
    try:
        at = join(target.at, base) if base else target.at
        with target.disk.locate(target.path, at) as location:
            location.settle()
            folder = location.folder.enter(location.name, listed=True)
    except (FileNotFoundError, NotADirectoryError, PathUnusable):
        return
    except OSError:
        walk.unreadable.append(base)
        return
    try:
        depth = base.count("/") + 1 if base else 0
        walk.through(folder, handle, base and base + "/", depth)
    except OSError:
        walk.unreadable.append(base)
    finally:
        folder.close()


# Seconds of an own walk after which ripgrep, which uses all processors, does the rest.
RIPGREP_AFTER: Final = 0.5
# Folders per call of ripgrep; each is an argument of its command line.
_MOST_FOLDERS: Final = 1000
_FIRST_READ: Final = 1 << 16
_NAMED: Final = 5
_GONE: Final = LINK_IN_THE_WAY | {errno.ENOENT, errno.EISDIR, errno.ENXIO, None}


@dataclass(frozen=True, slots=True)
class GrepOptions:
    """What to search for, in which files, and until when."""

    needle: bytes
    glob: str | None
    most_bytes: int
    max_count: int | None
    deadline: float
    depth: int

    def takes(self, relative: str) -> bool:
        """Return whether a file at this path below the start is searched."""
        return self.asks_for(relative) and is_nameable(relative)

    def asks_for(self, relative: str) -> bool:
        """Return whether the glob, if there is one, takes this path."""
        return self.glob is None or compile_glob(self.glob).matches(relative)

    def lines(self, shown: str, data: bytes) -> list[GrepMatch]:
        """Return the matches in a file, at most one more than wanted."""
        matches = grep_bytes(shown, data, self.needle)
        return list(
            matches if self.max_count is None else islice(matches, _bounded(self.max_count) + 1)
        )

    def late(self) -> bool:
        """Return whether the time is over."""
        return time.monotonic() > self.deadline


@dataclass(slots=True)
class GrepMatches:
    """Matches by the relative path of their file, and the paths of unreadable files."""

    lines: dict[str, list[GrepMatch]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    complete: bool = True

    def note(self, relative: str, error: Exception) -> None:
        """Note an unreadable file, unless it is gone or replaced by something else."""
        if isinstance(error, OSError) and error.errno not in _GONE:
            self.unreadable.append(relative)

    def result(self, target: DiskPath, max_count: int | None) -> GrepResult:
        """Return the matches in the order of paths, and not more than wanted."""
        rows = chain.from_iterable(self.lines[relative] for relative in sorted(self.lines))
        most = None if max_count is None else _bounded(max_count)
        matches = list(rows if most is None else islice(rows, most + 1))
        cut = not self.complete or (most is not None and len(matches) > most)
        error = _unread(target, sorted(self.unreadable))
        return GrepResult(matches=matches[:most], truncated=cut, error=error)


def _bounded(count: int) -> int:
    return min(max(0, count), MOST_MATCHES)


def _unread(target: DiskPath, unreadable: list[str]) -> str | None:
    if not unreadable:
        return None
    names = ", ".join(f"'{target.below(relative)}'" for relative in unreadable[:_NAMED])
    more = f" and {len(unreadable) - _NAMED} more" if len(unreadable) > _NAMED else ""
    return f"Error: the search left out what this process may not read: {names}{more}"


def search(target: DiskPath, options: GrepOptions) -> GrepResult:
    """Find the lines that hold a text in a file, or in all files below a folder."""
    matches = GrepMatches()
    with (
        suppress(FileMissing),
        ErrorContext(target.path),
        target.disk.locate(target.path, target.at) as location,
    ):
        status = location.settle()
        if status is None:
            pass
        elif stat.S_ISDIR(status.st_mode):
            matches = _below(target, target.disk.host(location.real), options)
        elif options.glob is None or options.takes(target.at.rpartition("/")[2]):
            data = _limited(target, location.open(os.O_RDONLY), options.most_bytes)
            matches.lines[""] = options.lines(target.shown, data)
    return matches.result(target, options.max_count)


def _below(target: DiskPath, host: str, options: GrepOptions) -> GrepMatches:
    matches, soon = GrepMatches(), options.deadline
    # ripgrep stops at NUL in a pattern, and its argument could not hold one anyway.
    program = _ripgrep() if b"\0" not in options.needle else None
    if program is not None:
        soon = min(soon, time.monotonic() + RIPGREP_AFTER)
    left = _by_walk(target, options, matches, soon, [""])
    if left and program is not None and not options.late():
        fits_command_line = len(left) <= _MOST_FOLDERS
        if fits_command_line and _by_ripgrep(program, target, host, options, matches, left):
            return matches
        left = _by_walk(target, options, matches, options.deadline, left)
    matches.complete = matches.complete and not left
    return matches


# By a walk.


def _by_walk(
    target: DiskPath,
    options: GrepOptions,
    matches: GrepMatches,
    deadline: float,
    folders: list[str],
) -> list[str]:
    """Search folders and all below them; return the ones that are left for lack of time."""
    walk = DiskWalk(closed_folders(options.glob), None, options.depth, deadline)

    def handle(folder: Folder, prefix: str, entries: Entries) -> None:
        for entry in entries:
            relative = prefix + entry.name
            if not entry.is_file(follow_symlinks=False) or not options.asks_for(relative):
                continue
            if options.late():
                matches.complete = False
                return
            try:
                data = _with_needle(folder, entry.name, options)
            except OSError as error:
                if is_nameable(relative):
                    matches.note(relative, error)
                continue
            # Most files do not hold the text, so the rest is looked at only now.
            if data and is_nameable(relative):
                matches.lines[relative] = options.lines(target.below(relative), data)

    for base in folders:
        walk_from(target, base, walk, handle)
    matches.unreadable += walk.unreadable
    matches.complete = matches.complete and not walk.deep
    return walk.left


def _with_needle(folder: Folder, name: str, options: GrepOptions) -> bytes | None:
    """Return the bytes of a file if they hold the text and are not too many."""
    fd = folder.open(name, os.O_RDONLY)
    try:
        # Without fstat first: most memory files fit into one read.
        data = os.read(fd, _FIRST_READ)
        if len(data) == _FIRST_READ:
            size = os.fstat(fd).st_size
            if size > options.most_bytes:
                return None
            data += read_all(fd, max(0, size - _FIRST_READ), options.most_bytes)
        return data if options.needle in data and len(data) <= options.most_bytes else None
    finally:
        os.close(fd)


# By ripgrep.


def _ripgrep() -> str | None:
    """Return the path of ripgrep; one that lies in the current folder is not trusted."""
    # On Windows `which` also finds an rg.exe in the current folder, which may be a cloned
    # repository of a stranger.
    program = shutil.which("rg")
    return program if program is not None and os.path.isabs(program) else None


def _by_ripgrep(
    program: str,
    target: DiskPath,
    host: str,
    options: GrepOptions,
    matches: GrepMatches,
    folders: list[str],
) -> bool:
    """Search folders and all below them; return False if ripgrep could not read everything."""
    try:
        output, complete = _run_ripgrep(program, host, options, folders)
    except (OSError, subprocess.CalledProcessError):
        return False
    named = [os.fsdecode(path).replace(os.sep, "/").removeprefix("./") for path in output]
    allowed_paths = [path for path in named if path.count("/") <= options.depth]
    matches.complete = matches.complete and complete and len(allowed_paths) == len(named)
    reader = _Reader(target, options.most_bytes)
    with reader:
        # Read again by our own rules: ripgrep decides which files, not what a match is.
        for relative in sorted(filter(options.takes, allowed_paths)):
            if options.late():
                matches.complete = False
                break
            try:
                data = reader.read(relative)
            except (OSError, FileError) as error:
                matches.note(relative, error)
                continue
            matches.lines[relative] = options.lines(target.below(relative), data)
    return True


def _run_ripgrep(
    program: str, host: str, options: GrepOptions, folders: list[str]
) -> tuple[list[bytes], bool]:
    """Return the relative paths that ripgrep names, and whether it came to its end."""
    text, paths = os.fsdecode(options.needle), [f"./{folder}" for folder in folders]
    try:
        done = subprocess.run(  # noqa: S603 - fixed options, the text follows -e
            [program, *_options(options), "-e", text, "--", *paths],
            cwd=host,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=max(0.001, options.deadline - time.monotonic()),
            check=False,
        )
    # What it has printed until then is right; only the rest is missing.
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").split(b"\0")[:-1], False
    if done.returncode not in (0, 1):  # trouble with a file or with the options
        done.check_returncode()
    return done.stdout.split(b"\0")[:-1], True


def _options(options: GrepOptions) -> list[str]:
    return [
        *("--files-with-matches", "--null", "--fixed-strings", "--case-sensitive", "--text"),
        # A config file of the user or a .gitignore of the project must not change what is found.
        *("--no-config", "--no-ignore", "--hidden", "--no-messages", "--encoding=none"),
        *("--no-follow", "--color=never", f"--max-filesize={options.most_bytes}"),
        *(f"--glob=!{name}/" for name in sorted(closed_folders(options.glob))),
        f"--glob=!*{RESERVED_SUFFIX}",
    ]


class _Reader:
    """Reads files below a path one after the other; a folder stays open for its files."""

    def __init__(self, target: DiskPath, most_bytes: int) -> None:
        self._target, self._most = target, most_bytes
        self._location: FileLocation | None = None
        self._parent: str | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        if self._location is not None:
            self._location.folder.close()
            self._location = None

    def read(self, relative: str) -> bytes:
        """Return the bytes of a file; a link in its place is not followed."""
        parent, _, name = relative.rpartition("/")
        if self._location is None or parent != self._parent:
            self.__exit__()
            self._location = self._target.disk.locate(
                self._target.path, join(self._target.at, relative)
            )
            self._parent = parent
        return _limited(self._target, self._location.folder.open(name, os.O_RDONLY), self._most)


def _limited(target: DiskPath, fd: int, most: int) -> bytes:
    """Return the bytes of an open file and close it; none if there are too many."""
    try:
        size = check_regular(target.path, os.fstat(fd)).st_size
        return b"" if size > most else read_all(fd, size, most)
    finally:
        close_quietly(fd)

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
from typing import Final

from memoryware.backends._disk import Disk, Place, Telling, regular
from memoryware.backends._folder import LINK_IN_THE_WAY, Folder, closed, whole
from memoryware.backends._paths import RESERVED_SUFFIX, is_nameable
from memoryware.backends._patterns import closed_folders, compile_glob, grep_bytes
from memoryware.backends._results import build
from memoryware.backends.protocol import FileInfo, GlobResult, GrepMatch, GrepResult
from memoryware.errors import FileError, FileMissing, PathUnusable

Entries = list["os.DirEntry[str]"]
Handle = Callable[[Folder, str, Entries], None]
"""Is given a folder, its path from the start ("" or ending in `/`), and what else is in it."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where on a disk something is, and what it is called.

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
        """Return what a path below this one is called in listings."""
        return f"{self.shown.rstrip('/')}/{relative}"


def listing(spot: Spot) -> list[FileInfo]:
    """Return what is directly in a folder, sorted by path.

    Raises:
        FileMissing: If there is no such folder.
        FileError: If it is a file, or may not be listed.
    """
    disk, path = spot.disk, spot.path
    try:
        with Telling(path), disk.place(path, spot.at) as place:
            seen = place.settle()
            if seen is None:
                raise FileMissing(path)  # noqa: TRY301 - one sentence for all that is missing
            if not stat.S_ISDIR(seen.st_mode):
                raise PathUnusable(path, f"Path '{path}': not_a_directory")
            folder = place.folder.enter(place.name, listed=True)
    except FileMissing:
        if spot.at == "/":
            return []
        raise FileMissing(path, f"Path '{path}': path_not_found") from None
    try:
        with Telling(path):
            found = [_entry(spot, entry) for entry in folder.entries() if is_nameable(entry.name)]
    finally:
        folder.close()
    return sorted((one for one in found if one is not None), key=by_path)


def by_path(entry: FileInfo) -> str:
    """Return what listings are sorted by."""
    return entry["path"]


def _entry(spot: Spot, entry: os.DirEntry[str]) -> FileInfo | None:
    """Return an entry of a listing; None for what cannot be read: pipes, links that lead out."""
    name, seen = spot.below(entry.name), _seen(spot, entry.name, entry)
    if seen is not None and stat.S_ISDIR(seen.st_mode):
        return FileInfo(path=name + "/", is_dir=True, size=0, modified_at=_moment(seen))
    return _info(name, seen)


def _seen(spot: Spot, relative: str, entry: os.DirEntry[str]) -> os.stat_result | None:
    """Say what an entry below a spot is, or leads to; None if it is gone or leads outside."""
    try:
        linked = entry.is_symlink()
        return _linked(spot, relative) if linked else entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _linked(spot: Spot, relative: str) -> os.stat_result | None:
    with suppress(FileError, OSError), spot.disk.place(spot.path, join(spot.at, relative)) as place:
        return place.settle()
    return None


def _info(name: str, seen: os.stat_result | None) -> FileInfo | None:
    if seen is None or not stat.S_ISREG(seen.st_mode):
        return None
    return FileInfo(path=name, is_dir=False, size=seen.st_size, modified_at=_moment(seen))


def _moment(seen: os.stat_result) -> str:
    try:
        return datetime.fromtimestamp(seen.st_mtime, UTC).isoformat()
    except (ValueError, OverflowError, OSError):  # a year that no calendar has
        return ""


def join(folder: str, relative: str) -> str:
    """Return the path of what lies at a relative path in a folder."""
    return f"{folder.rstrip('/')}/{relative}"


@dataclass(slots=True)
class Walk:
    """A way through all folders below one.

    Attributes:
        skipped: Names of folders that are not entered.
        deepest: Folders inside each other in which something can be found, None for any.
        allowed: Folders inside each other that are entered at most.
        deadline: When to enter no more folders, in monotonic time.
        left: Relative paths of folders that were not entered for lack of time.
        deep: Whether folders were not entered because they are too deep.
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
        """Hand over what is in a folder, and then do so for each folder in it."""
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


def find(spot: Spot, pattern: str) -> GlobResult:
    """Return the files below a spot that match a glob pattern."""
    glob, limits = compile_glob(pattern), spot.disk.limits
    deadline = time.monotonic() + limits.glob_timeout
    walk = Walk(closed_folders(pattern), glob.max_depth, limits.folder_depth, deadline)
    found: list[FileInfo] = []

    def handle(_: Folder, prefix: str, entries: Entries) -> None:
        for entry in entries:
            relative = prefix + entry.name
            if glob.matches(relative) and is_nameable(relative):
                info = _info(spot.below(relative), _seen(spot, relative, entry))
                if info is not None:
                    found.append(info)

    walk_from(spot, glob.base, walk, handle)
    found.sort(key=by_path)
    reason = "unreadable" if walk.unreadable else None
    if walk.left or walk.deep:
        reason = "budget"
    return build(GlobResult, matches=found, truncated=reason is not None, truncation_reason=reason)


def walk_from(spot: Spot, base: str, walk: Walk, handle: Handle) -> None:
    """Walk through the folder that lies at `base` below a spot; nothing if there is none."""
    try:
        at = join(spot.at, base) if base else spot.at
        with spot.disk.place(spot.path, at) as place:
            place.settle()
            folder = place.folder.enter(place.name, listed=True)
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


RIPGREP_AFTER: Final = 0.5
"""Seconds of an own walk after which ripgrep, which uses all processors, does the rest."""
_MOST_FOLDERS: Final = 1000
"""Folders that ripgrep is asked about at once; each is a word of a command line."""
_FIRST_READ: Final = 1 << 16
_NAMED: Final = 5
_ENDLESS: Final = 1 << 60
"""More matches than there can be; beyond, counting fails."""
_GONE: Final = LINK_IN_THE_WAY | {errno.ENOENT, errno.EISDIR, errno.ENXIO, None}


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for: bytes, in files of which names and up to which size, and until when."""

    needle: bytes
    glob: str | None
    most_bytes: int
    max_count: int | None
    deadline: float
    depth: int

    def takes(self, relative: str) -> bool:
        """Say whether a file at this path below the start is searched."""
        return self.asks_for(relative) and is_nameable(relative)

    def asks_for(self, relative: str) -> bool:
        """Say whether the glob, if there is one, takes this path."""
        return self.glob is None or compile_glob(self.glob).matches(relative)

    def lines(self, shown: str, data: bytes) -> list[GrepMatch]:
        """Return the matches in a file, one more than wanted at most."""
        found = grep_bytes(shown, data, self.needle)
        return list(
            found if self.max_count is None else islice(found, _at_most(self.max_count) + 1)
        )

    def late(self) -> bool:
        """Say whether the time is over."""
        return time.monotonic() > self.deadline


@dataclass(slots=True)
class Found:
    """Matches by the relative path of their file, and the paths of what could not be read."""

    lines: dict[str, list[GrepMatch]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    complete: bool = True

    def note(self, relative: str, error: Exception) -> None:
        """Note what could not be read, unless it is gone or something else took its place."""
        if isinstance(error, OSError) and error.errno not in _GONE:
            self.unreadable.append(relative)

    def result(self, spot: Spot, max_count: int | None) -> GrepResult:
        """Return the answer: in the order of the paths, and not more than wanted."""
        rows = chain.from_iterable(self.lines[relative] for relative in sorted(self.lines))
        most = None if max_count is None else _at_most(max_count)
        matches = list(rows if most is None else islice(rows, most + 1))
        cut = not self.complete or (most is not None and len(matches) > most)
        error = _unread(spot, sorted(self.unreadable))
        return build(GrepResult, matches=matches[:most], truncated=cut, error=error)


def _at_most(count: int) -> int:
    return min(max(0, count), _ENDLESS)


def _unread(spot: Spot, unreadable: list[str]) -> str | None:
    if not unreadable:
        return None
    names = ", ".join(f"'{spot.below(relative)}'" for relative in unreadable[:_NAMED])
    more = f" and {len(unreadable) - _NAMED} more" if len(unreadable) > _NAMED else ""
    return f"Error: the search left out what this process may not read: {names}{more}"


def search(spot: Spot, wanted: Search) -> GrepResult:
    """Return the lines of the file at a spot, or of all files below, that hold a text."""
    found = Found()
    with suppress(FileMissing), Telling(spot.path), spot.disk.place(spot.path, spot.at) as place:
        seen = place.settle()
        if seen is None:
            pass
        elif stat.S_ISDIR(seen.st_mode):
            found = _below(spot, spot.disk.host(place.real), wanted)
        elif wanted.glob is None or wanted.takes(spot.at.rpartition("/")[2]):
            data = _limited(spot, place.open(os.O_RDONLY), wanted.most_bytes)
            found.lines[""] = wanted.lines(spot.shown, data)
    return found.result(spot, wanted.max_count)


def _below(spot: Spot, host: str, wanted: Search) -> Found:
    found, soon = Found(), wanted.deadline
    program = _ripgrep() if b"\0" not in wanted.needle else None
    if program is not None:
        soon = min(soon, time.monotonic() + RIPGREP_AFTER)
    left = _by_walk(spot, wanted, found, soon, [""])
    if left and program is not None and not wanted.late():
        few = len(left) <= _MOST_FOLDERS
        if few and _by_ripgrep(program, spot, host, wanted, found, left):
            return found
        left = _by_walk(spot, wanted, found, wanted.deadline, left)
    found.complete = found.complete and not left
    return found


# By a walk.


def _by_walk(
    spot: Spot, wanted: Search, found: Found, deadline: float, folders: list[str]
) -> list[str]:
    """Search folders and all below them; return those that are left for lack of time."""
    walk = Walk(closed_folders(wanted.glob), None, wanted.depth, deadline)

    def handle(folder: Folder, prefix: str, entries: Entries) -> None:
        for entry in entries:
            relative = prefix + entry.name
            if not entry.is_file(follow_symlinks=False) or not wanted.asks_for(relative):
                continue
            if wanted.late():
                found.complete = False
                return
            try:
                data = _with_needle(folder, entry.name, wanted)
            except OSError as error:
                if is_nameable(relative):
                    found.note(relative, error)
                continue
            # Most files do not hold the text, so the rest is looked at only now.
            if data and is_nameable(relative):
                found.lines[relative] = wanted.lines(spot.below(relative), data)

    for base in folders:
        walk_from(spot, base, walk, handle)
    found.unreadable += walk.unreadable
    found.complete = found.complete and not walk.deep
    return walk.left


def _with_needle(folder: Folder, name: str, wanted: Search) -> bytes | None:
    """Return the bytes of a file if they hold the text and are not too many."""
    fd = folder.open(name, os.O_RDONLY)
    try:
        data = os.read(fd, _FIRST_READ)
        if len(data) == _FIRST_READ:
            size = os.fstat(fd).st_size
            if size > wanted.most_bytes:
                return None
            data += whole(fd, max(0, size - _FIRST_READ), wanted.most_bytes)
        return data if wanted.needle in data and len(data) <= wanted.most_bytes else None
    finally:
        os.close(fd)


# By ripgrep.


def _ripgrep() -> str | None:
    """Return the program; one that is only found in the current folder is not trusted."""
    program = shutil.which("rg")
    return program if program is not None and os.path.isabs(program) else None


def _by_ripgrep(
    program: str, spot: Spot, host: str, wanted: Search, found: Found, folders: list[str]
) -> bool:
    """Search folders and all below them; say no if ripgrep could not read everything."""
    try:
        output, complete = _asked(program, host, wanted, folders)
    except (OSError, subprocess.CalledProcessError):
        return False
    named = [os.fsdecode(one).replace(os.sep, "/").removeprefix("./") for one in output]
    in_reach = [one for one in named if one.count("/") <= wanted.depth]
    found.complete = found.complete and complete and len(in_reach) == len(named)
    reader = _Reader(spot, wanted.most_bytes)
    with reader:
        for relative in sorted(filter(wanted.takes, in_reach)):
            if wanted.late():
                found.complete = False
                break
            try:
                data = reader.read(relative)
            except (OSError, FileError) as error:
                found.note(relative, error)
                continue
            found.lines[relative] = wanted.lines(spot.below(relative), data)
    return True


def _asked(program: str, host: str, wanted: Search, folders: list[str]) -> tuple[list[bytes], bool]:
    """Return the relative paths that ripgrep names, and whether it came to its end."""
    text, places = os.fsdecode(wanted.needle), [f"./{folder}" for folder in folders]
    try:
        done = subprocess.run(  # noqa: S603 - fixed options, the text stands after -e
            [program, *_options(wanted), "-e", text, "--", *places],
            cwd=host,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=max(0.001, wanted.deadline - time.monotonic()),
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").split(b"\0")[:-1], False
    if done.returncode not in (0, 1):  # trouble with a file or with the options
        done.check_returncode()
    return done.stdout.split(b"\0")[:-1], True


def _options(wanted: Search) -> list[str]:
    return [
        *("--files-with-matches", "--null", "--fixed-strings", "--case-sensitive", "--text"),
        *("--no-config", "--no-ignore", "--hidden", "--no-messages", "--encoding=none"),
        *("--no-follow", "--color=never", f"--max-filesize={wanted.most_bytes}"),
        *(f"--glob=!{name}/" for name in sorted(closed_folders(wanted.glob))),
        f"--glob=!*{RESERVED_SUFFIX}",
    ]


class _Reader:
    """Reads files below a spot, one after the other; a folder stays open for its files."""

    def __init__(self, spot: Spot, most_bytes: int) -> None:
        self._spot, self._most = spot, most_bytes
        self._place: Place | None = None
        self._parent: str | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        if self._place is not None:
            self._place.folder.close()
            self._place = None

    def read(self, relative: str) -> bytes:
        """Return the bytes of a file; a link in its place is not followed."""
        parent, _, name = relative.rpartition("/")
        if self._place is None or parent != self._parent:
            self.__exit__()
            self._place = self._spot.disk.place(self._spot.path, join(self._spot.at, relative))
            self._parent = parent
        return _limited(self._spot, self._place.folder.open(name, os.O_RDONLY), self._most)


def _limited(spot: Spot, fd: int, most: int) -> bytes:
    """Return the bytes of an open file and close it; none if there are too many."""
    try:
        size = regular(spot.path, os.fstat(fd)).st_size
        return b"" if size > most else whole(fd, size, most)
    finally:
        closed(fd)

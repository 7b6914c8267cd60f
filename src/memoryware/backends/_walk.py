"""Listing a tree of files on disk, and finding files in it by name.

A search goes down through folders that are held open, so that it cannot be led out of
the root, and enters no links.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memoryware.backends._disk import Disk, Telling
from memoryware.backends._folder import Folder
from memoryware.backends._match import closed_folders, compile_glob
from memoryware.backends._paths import is_nameable
from memoryware.backends._results import build
from memoryware.backends.protocol import FileInfo, GlobResult
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

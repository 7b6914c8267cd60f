"""What a backend of records needs to be told: where they are; and what may be where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from memoryware._twins import Via
from memoryware.backends._filedata import file_of
from memoryware.backends._making import Steps
from memoryware.backends._paths import is_below
from memoryware.backends.protocol import FileData
from memoryware.errors import FileError, FileIsDirectory, FileMissing, PathUnusable


@dataclass(frozen=True, slots=True)
class Change:
    """The whole new record, what was there before, and what to do again if that changed."""

    file: FileData
    base: FileData | None
    steps: Steps = ("write",)


class Records(Protocol):
    """Where the records are, for the length of one operation. Paths are normal."""

    async def get(self, via: Via, paths: Sequence[str]) -> list[Any]:
        """Return what is stored under each path, None for nothing."""
        ...

    async def all(self, via: Via) -> Mapping[str, Any]:
        """Return everything that is stored, by key; a key may be no path at all."""
        ...

    async def has_below(self, via: Via, folder: str) -> bool:
        """Say whether a file lies in a folder; it may miss what others just wrote."""
        ...

    async def put(self, via: Via, changes: Mapping[str, Change]) -> None:
        """Store new records."""
        ...

    async def drop(self, via: Via, paths: Sequence[str]) -> None:
        """Remove records."""
        ...

    def holding(self, via: Via, paths: Sequence[str]) -> AbstractAsyncContextManager[None]:
        """Keep other writers out of these paths, where they would undo this one."""
        ...


def add_folders(folders: set[str], paths: Iterable[str]) -> None:
    """Add the folders that paths lie in, without the root."""
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]


async def missing(via: Via, records: Records, path: str, name: str) -> FileError:
    """Say why there is no file at a path."""
    return await in_the_way(via, records, path, name) or FileMissing(path)


async def in_the_way(via: Via, records: Records, path: str, name: str) -> FileError | None:
    """Say what makes a file impossible where none is: a folder, or a file above it."""
    if name == "/" or await records.has_below(via, name):
        return FileIsDirectory(path)
    parts = name.split("/")
    above = ["/".join(parts[:end]) for end in range(2, len(parts))]
    for folder, raw in zip(above, await records.get(via, above) if above else [], strict=True):
        if file_of(raw) is not None:
            return PathUnusable(path, f"'{path}' lies below '{folder}', which is a file")
    return None


async def refusal(
    via: Via, records: Records, path: str, name: str | FileError, there: Mapping[str, Any]
) -> str | None:
    """Return the code that forbids an upload; `there` has what the batch itself stores."""
    if isinstance(name, FileError):
        return name.code
    if there.get(name) is not None:
        return None
    new = [one for one, raw in there.items() if raw is not None]
    if any(is_below(one, name) for one in new):
        return "is_directory"
    if any(is_below(name, one) for one in new):
        return "invalid_path"
    problem = await in_the_way(via, records, path, name)
    return problem.code if problem else None

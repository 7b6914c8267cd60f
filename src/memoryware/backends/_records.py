"""Files as records in a mapping: every operation once, over a small port.

`StateBackend` and `StoreBackend` differ in where the records are and in how two
writers are kept from undoing each other; that is what a `Records` port supplies.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, Final, Protocol, TypeVar

from memoryware._clock import Clock, utc_now
from memoryware._twins import Via
from memoryware.backends._doors import TwinBackend
from memoryware.backends._filedata import (
    appended,
    bytes_of,
    edited,
    file_from_bytes,
    file_from_text,
    file_of,
    moments_of,
    size_of,
    stamped,
    text_of,
)
from memoryware.backends._match import compile_glob, compile_grep, grep_bytes, is_skipped
from memoryware.backends._paths import is_below, normalise
from memoryware.backends._results import answer, build
from memoryware.backends._text import is_media, whole_as_base64, window
from memoryware.backends.protocol import (
    DeleteResult,
    EditResult,
    FileData,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from memoryware.errors import (
    FileError,
    FileIsDirectory,
    FileMissing,
    FileNotRegular,
    PathUnusable,
)
from memoryware.events import logger
from memoryware.settings import FileLimits

T = TypeVar("T")

AT_ONCE: Final = 64
"""Files that a batch locks and changes together."""
_MOST_TOLD: Final = 1000
Steps = tuple[str | bool, ...]
"""`("write",)`, `("edit", old, new, every)` or `("append", line)`: how a text was changed."""


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


class RecordBackend(TwinBackend):
    """All operations over records; a subclass says where the records are."""

    def __init__(self, *, clock: Clock = utc_now, limits: FileLimits | None = None) -> None:
        self._clock = clock
        self._limits = limits or FileLimits()

    def _records(self) -> Records:
        """Return the records that this very call may see.

        Raises:
            BackendUnavailable: If there are none here: no graph, no store.
        """
        raise NotImplementedError

    # Reading.

    async def _ls(self, via: Via, path: str) -> LsResult:
        folder = normalise(path)
        prefix = folder.rstrip("/") + "/"
        entries: dict[str, FileInfo] = {}
        records = await self._records().all(via)

        def is_new(name: str) -> bool:
            # A file in a folder that is listed already makes no new entry.
            return name[: name.find("/", len(prefix)) + 1] not in entries

        for name, file in self._files(records, folder, is_new):
            end = name.find("/", len(prefix)) + 1
            if end:
                below = name[:end]
                entries[below] = FileInfo(path=below, is_dir=True, size=0, modified_at="")
            elif name != folder:
                entries[name] = _info(name, file)
        if not entries and folder != "/":
            problem = (
                "path_not_found" if file_of(records.get(folder)) is None else "not_a_directory"
            )
            raise FileMissing(path, f"Path '{path}': {problem}")
        return build(LsResult, entries=[entries[name] for name in sorted(entries)])

    async def _read(self, via: Via, path: str, offset: int, limit: int) -> ReadResult:
        name = normalise(path)
        records = self._records()
        file = self._file(path, *await records.get(via, [name]))
        if file is None:
            raise await _missing(via, records, path, name)
        if is_media(name):
            result = whole_as_base64(bytes_of(path, file))
        else:
            result = window(path, text_of(path, file), offset, limit)
        if result.file_data is not None:
            result.file_data.update(moments_of(file))  # type: ignore[typeddict-item]
        return result

    async def _download(self, via: Via, paths: list[str]) -> list[FileDownloadResponse]:
        records = self._records()
        names = [_name_or_error(path) for path in paths]
        wanted = [name for name in dict.fromkeys(names) if isinstance(name, str)]
        found = dict(zip(wanted, await records.get(via, wanted), strict=True))
        answers = []
        for path, name in zip(paths, names, strict=True):
            try:
                content = await self._content(via, records, path, name, found)
            except FileError as error:
                answers.append(build(FileDownloadResponse, path=path, error=error.code))
            else:
                answers.append(build(FileDownloadResponse, path=path, content=content))
        return answers

    async def _content(
        self, via: Via, records: Records, path: str, name: str | FileError, found: dict[str, Any]
    ) -> bytes:
        if isinstance(name, FileError):
            raise name
        file = self._file(path, found[name])
        if file is None:
            raise await _missing(via, records, path, name)
        return bytes_of(path, file)

    async def _grep(
        self, via: Via, pattern: str, path: str | None, glob: str | None, max_count: int | None
    ) -> GrepResult:
        needle = compile_grep(pattern)
        root = normalise(path or "/")
        include = compile_glob(glob).matches if glob else None
        records = await self._records().all(via)

        def is_wanted(name: str) -> bool:
            relative = _relative(name, root)
            return include(relative) if include else not is_skipped(relative)

        def search() -> GrepResult:
            deadline = time.monotonic() + self._limits.grep_timeout
            most = None if max_count is None else max(max_count, 0) + 1
            matches: list[GrepMatch] = []
            for name, file in sorted(self._files(records, root, is_wanted)):
                if time.monotonic() > deadline:
                    return build(GrepResult, matches=matches, truncated=True)
                found = self._lines_with(pattern, needle, name, file)
                matches += found if most is None else islice(found, most - len(matches))
                if len(matches) == most:
                    return build(GrepResult, matches=matches[: most - 1], truncated=True)
            return build(GrepResult, matches=matches)

        return await _aside(via, search)

    def _lines_with(
        self, pattern: str, needle: bytes, name: str, file: FileData
    ) -> Iterable[GrepMatch]:
        is_text = file["encoding"] == "utf-8"
        if (is_text and pattern not in file["content"]) or (
            size_of(file) > self._limits.grep_max_bytes
        ):
            return ()
        try:
            return grep_bytes(name, bytes_of(name, file), needle)
        except FileNotRegular:
            return ()

    async def _glob(self, via: Via, pattern: str, path: str | None) -> GlobResult:
        fullmatch = compile_glob(pattern).expression.fullmatch
        root = normalise(path or "/")
        start = len(root.rstrip("/")) + 1
        records = await self._records().all(via)

        def is_wanted(name: str) -> bool:
            return fullmatch(name, start) is not None

        def search() -> GlobResult:
            found = [_info(*one) for one in self._files(records, root, is_wanted)]
            return build(GlobResult, matches=sorted(found, key=itemgetter("path")))

        return await _aside(via, search)

    # Writing.

    async def _write(self, via: Via, path: str, content: str) -> WriteResult:
        new = file_from_text(path, content)
        await self._change(via, path, lambda _: (new, ("write",)))
        return build(WriteResult, path=path)

    async def _edit(self, via: Via, path: str, old: str, new: str, every: bool) -> EditResult:
        count = 0

        def change(raw: Any) -> tuple[FileData, Steps]:
            nonlocal count
            file = self._file(path, raw)
            if file is None:
                raise FileMissing(path)
            changed, count = edited(path, file, old, new, every=every)
            return changed, ("edit", old, new, every)

        await self._change(via, path, change)
        return build(EditResult, path=path, occurrences=count)

    async def _append(self, via: Via, path: str, line: str) -> EditResult:
        def change(raw: Any) -> tuple[FileData, Steps]:
            return appended(path, self._file(path, raw), line), ("append", line)

        await self._change(via, path, change)
        return build(EditResult, path=path, occurrences=1)

    async def _change(
        self, via: Via, path: str, change: Callable[[Any], tuple[FileData, Steps]]
    ) -> None:
        name = normalise(path)
        records = self._records()
        async with records.holding(via, [name]):
            (raw,) = await records.get(via, [name])
            problem = await _in_the_way(via, records, path, name) if raw is None else None
            if problem:
                raise problem
            new, steps = change(raw)
            base = file_of(raw)
            done = stamped(new, base, self._clock().isoformat())
            await records.put(via, {name: Change(done, base, steps)})

    async def _upload(self, via: Via, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        records = self._records()
        answers: list[FileUploadResponse] = []
        for some in _groups(files):
            try:
                errors = await self._upload_some(via, records, some)
            except FileError as error:  # none of them could be locked
                errors = [error.code] * len(some)
            for (path, _), code in zip(some, errors, strict=True):
                answers.append(build(FileUploadResponse, path=path, error=code))
        return answers

    async def _upload_some(
        self, via: Via, records: Records, files: Sequence[tuple[str, bytes]]
    ) -> list[str | None]:
        names = [_name_or_error(path) for path, _ in files]
        held = sorted({name for name in names if isinstance(name, str)})
        async with records.holding(via, held):
            there = dict(zip(held, await records.get(via, held), strict=True))
            changes: dict[str, Change] = {}
            errors: list[str | None] = []
            for (path, data), name in zip(files, names, strict=True):
                error = await _refusal(via, records, path, name, {**there, **changes})
                errors.append(error)
                if error is None:
                    base = file_of(there[str(name)])
                    new = stamped(file_from_bytes(data), base, self._clock().isoformat())
                    changes[str(name)] = Change(new, base)
            await records.put(via, changes)
        return errors

    async def _delete(self, via: Via, path: str) -> DeleteResult:
        name = normalise(path)
        if name == "/":
            raise FileIsDirectory(path, f"'{path}' is the root, which cannot be deleted")
        records = self._records()
        doomed = sorted(one for one in await records.all(via) if is_below(one, name))
        if not doomed:
            raise FileMissing(path, f"'{path}' not found")
        for some in _groups(doomed):
            async with records.holding(via, some):
                await records.drop(via, some)
        return build(DeleteResult, path=path)

    # The doors of `Appends`.

    def append(self, file_path: str, line: str) -> EditResult:
        """Add a line to the end of a file, which is created if it is missing."""
        return self._run(self._answer_append, file_path, line)

    async def aappend(self, file_path: str, line: str) -> EditResult:
        """Async twin of `append`."""
        return await self._run_native(self._answer_append, file_path, line)

    async def _answer_append(self, via: Via, path: str, line: str) -> EditResult:
        return await answer(EditResult, self._append(via, path, line))

    # What is a file here.

    def _file(self, path: str, raw: Any) -> FileData | None:
        """Return a stored value as a file, None for nothing.

        Raises:
            FileNotRegular: If it is something else.
        """
        file = file_of(raw)
        if file is None and raw is not None:
            raise FileNotRegular(
                path,
                f"'{path}' holds something that is not a text file of ours. Delete it, or write"
                " it as a whole",
            )
        return file

    def _files(
        self, records: Mapping[str, Any], folder: str, wanted: Callable[[str], bool]
    ) -> Iterator[tuple[str, FileData]]:
        """Yield the wanted files in and below a folder, and tell of what else is there."""
        prefix = folder.rstrip("/") + "/"
        others = []
        for name, raw in records.items():
            if name.startswith(prefix) or name == folder or not name.startswith("/"):
                if not wanted(name):
                    continue
                file = file_of(raw)
                if file is not None and _name_or_error(name) == name:
                    yield name, file
                else:
                    others.append(name)
        if others:
            _tell_of_others(type(self).__name__, others)


_told: set[tuple[str, str]] = set()


def _tell_of_others(backend: str, keys: list[str]) -> None:
    if (backend, keys[0]) not in _told and len(_told) < _MOST_TOLD:
        _told.add((backend, keys[0]))
        logger.warning(
            "%s: %r is not a text file and is left out%s",
            backend,
            keys[0],
            f", and so are {len(keys) - 1} more" if keys[1:] else "",
        )


async def _aside(via: Via, work: Callable[[], T]) -> T:
    """Do work that only computes: here, or in a thread where a loop would have to wait."""
    return await via(work, partial(asyncio.to_thread, work))


def _groups(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))


def _name_or_error(path: str) -> str | FileError:
    try:
        return normalise(path)
    except FileError as error:
        return error


def _info(name: str, file: FileData) -> FileInfo:
    return {
        "path": name,
        "is_dir": False,
        "size": size_of(file),
        "modified_at": file.get("modified_at", ""),
    }


def _relative(name: str, root: str) -> str:
    return name.rpartition("/")[2] if name == root else name[len(root.rstrip("/")) + 1 :]


async def _missing(via: Via, records: Records, path: str, name: str) -> FileError:
    return await _in_the_way(via, records, path, name) or FileMissing(path)


async def _in_the_way(via: Via, records: Records, path: str, name: str) -> FileError | None:
    """Say what makes a file impossible where none is: a folder, or a file above it."""
    if name == "/" or await records.has_below(via, name):
        return FileIsDirectory(path)
    parts = name.split("/")
    above = ["/".join(parts[:end]) for end in range(2, len(parts))]
    for folder, raw in zip(above, await records.get(via, above) if above else [], strict=True):
        if file_of(raw) is not None:
            return PathUnusable(path, f"'{path}' lies below '{folder}', which is a file")
    return None


async def _refusal(
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
    problem = await _in_the_way(via, records, path, name)
    return problem.code if problem else None

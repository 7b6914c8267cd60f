"""All file operations over a mapping of records, for `StateBackend` and `StoreBackend`.

The two differ in where the records are and in how concurrent writers are handled; an
implementation of the `Records` protocol supplies both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, Final, Protocol, TypeVar

from memoryware import _checking
from memoryware._clock import Clock, utc_now
from memoryware._runner import Runner, in_thread
from memoryware.backends._base import (
    ChangeMode,
    ChangingBackend,
    PathIsFolder,
    Steps,
    UpdateFunction,
    compute_update,
)
from memoryware.backends._filedata import (
    appended,
    bytes_at,
    bytes_of,
    cannot_hold,
    edited,
    file_at,
    file_from_bytes,
    file_from_text,
    file_of,
    info_of,
    moments_of,
    size_of,
    stamped,
    text_of,
)
from memoryware.backends._paths import is_below, is_normal, normalise
from memoryware.backends._patterns import (
    MOST_MATCHES,
    compile_glob,
    compile_grep,
    grep_bytes,
    is_skipped,
)
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


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to be stored: the new file, the one it is made from, and how."""

    file: FileData
    base: FileData | None
    steps: Steps = ("write",)


class Records(Protocol):
    """Protocol: access to the records for the length of one operation. Paths are normal.

    Locks: an operation that reads, decides and writes does so inside `holding`. `put` and `drop`
    are also called without it, for records that nobody else writes (versions of a file, see
    `SupportsAdd`) and for the rest of a large folder that is deleted; and they are called while
    another path is locked. So where one lock guards all records, `put` and `drop` take it
    themselves, and it is reentrant. Where each path has its own lock and each record is stored by
    itself, as in `StoreBackend` with `NamedLocks`, they take none.
    """

    async def get(self, runner: Runner, paths: Sequence[str]) -> list[Any]:
        """Return the value under each path, None for nothing."""
        ...

    async def all(self, runner: Runner) -> Mapping[str, Any]:
        """Return everything that is stored, by key; a key need not be a path."""
        ...

    async def has_below(self, runner: Runner, folder: str) -> bool:
        """Return whether a file lies in a folder; very recent files of others may be missed."""
        ...

    async def put(self, runner: Runner, changes: Mapping[str, NewRecord]) -> None:
        """Store new records; not always inside `holding` of their paths."""
        ...

    async def drop(self, runner: Runner, paths: Sequence[str]) -> None:
        """Remove records, ignoring missing ones; not always inside `holding` of their paths."""
        ...

    def holding(self, runner: Runner, paths: Sequence[str]) -> AbstractAsyncContextManager[None]:
        """Lock these paths against other writers, unless concurrent changes are merged later.

        Records that are awaited must not hold a lock of `threading` meanwhile: a second task of
        the same thread would get in, or wait forever.
        """
        ...


def add_folders(folders: set[str], paths: Iterable[str]) -> None:
    """Add the folders that paths lie in, without the root."""
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]


async def missing_error(runner: Runner, records: Records, path: str, name: str) -> FileError:
    """Return the error for a path at which there is no file."""
    return await find_obstacle(runner, records, path, name) or FileMissing(path)


async def find_obstacle(runner: Runner, records: Records, path: str, name: str) -> FileError | None:
    """Return the error that keeps a new file from a path: a folder there, or a file above it."""
    if name == "/" or await records.has_below(runner, name):
        return FileIsDirectory(path)
    parts = name.split("/")
    above = ["/".join(parts[:end]) for end in range(2, len(parts))]
    for folder, raw in zip(above, await records.get(runner, above) if above else [], strict=True):
        if file_of(raw) is not None:
            return PathUnusable(path, f"'{path}' lies below '{folder}', which is a file")
    return None


async def upload_error_code(
    runner: Runner, records: Records, path: str, name: str | FileError, there: Mapping[str, Any]
) -> str | None:
    """Return the code that forbids an upload; `there` has what the same batch stores."""
    if isinstance(name, FileError):
        return name.code
    if there.get(name) is not None:
        return None
    new = [path for path, raw in there.items() if raw is not None]
    if any(is_below(other, name) for other in new):
        return "is_directory"
    if any(is_below(name, other) for other in new):
        return "invalid_path"
    problem = await find_obstacle(runner, records, path, name)
    return problem.code if problem else None


@dataclass(frozen=True, slots=True)
class RecordChange:
    """One record, changed in one step; errors speak of `path`."""

    records: Records
    path: str
    name: str
    clock: Clock

    async def change(self, runner: Runner, make: UpdateFunction, mode: ChangeMode) -> None:
        """Change the record, as `SupportsChange.change_file` does.

        Raises:
            FileError: As there.
        """
        records, name = self.records, self.name
        async with records.holding(runner, [name]):
            (raw,) = await records.get(runner, [name])
            await self._check(runner, mode, raw)
            before = bytes_at(self.path, raw, whole=mode == "replace")
            new = await compute_update(runner, make, before, mode, self.path)
            if new.after is not None:
                base = file_of(raw)
                done = stamped(file_from_bytes(new.after), base, self.clock().isoformat())
                await records.put(runner, {name: NewRecord(done, base, new.steps)})
            elif raw is not None:
                await records.drop(runner, [name])

    async def _check(self, runner: Runner, mode: ChangeMode, raw: Any) -> None:
        """Refuse a change in a mode that does not allow it here.

        Raises:
            FileError: As `SupportsChange.change_file`.
        """
        path, name = self.path, self.name
        if mode == "delete":
            if name == "/":
                raise FileIsDirectory(path, f"'{path}' is the root, which cannot be deleted")
            if await self.records.has_below(runner, name):
                raise PathIsFolder(path)
            if raw is None:
                raise FileMissing(path, f"'{path}' not found")
        elif raw is None:
            problem = await find_obstacle(runner, self.records, path, name)
            if problem or mode == "change":
                raise problem or FileMissing(path)

    async def add(self, runner: Runner, data: bytes) -> None:
        """Store new bytes, without checking what is there and without waiting for others."""
        new = stamped(file_from_bytes(data), None, self.clock().isoformat())
        await self.records.put(runner, {self.name: NewRecord(new, None)})


T = TypeVar("T")

# Files that a batch locks and changes together.
AT_ONCE: Final = 64
_MOST_REPORTED: Final = 1000


class RecordBackend(ChangingBackend):
    """All file operations over records; a subclass implements `_records`."""

    def __init__(self, *, clock: Clock | None = None, limits: FileLimits | None = None) -> None:
        _checking.check_function("clock", clock, or_none=True)
        _checking.check_instance("limits", limits, FileLimits)
        self._clock = clock or utc_now
        self._limits = limits or FileLimits()

    def _records(self) -> Records:
        """Return the records that this call may see.

        Raises:
            BackendUnavailable: If there are none here: no graph, no store.
        """
        raise NotImplementedError

    def _name(self, path: str) -> str:
        """Return the normal spelling of a path.

        Raises:
            PathRefused: As `normalise`.
            PathUnusable: If it has too many folders; each one is looked up before a write.
        """
        name = normalise(path)
        if name.count("/") > self._limits.folder_depth:
            most = self._limits.folder_depth
            raise PathUnusable(path, f"A path may have at most {most} folders: {path[:80]}...")
        return name

    def _names(self, paths: Sequence[str]) -> list[str | FileError]:
        names: list[str | FileError] = []
        for path in paths:
            try:
                names.append(self._name(path))
            except FileError as error:
                names.append(error)
        return names

    # Reading.

    async def _ls(self, runner: Runner, path: str) -> LsResult:
        folder = self._name(path)
        prefix = folder.rstrip("/") + "/"
        entries: dict[str, FileInfo] = {}
        records = await self._records().all(runner)

        def is_new(name: str, _: Any) -> bool:
            # A file in a folder that is listed already makes no new entry.
            return name[: name.find("/", len(prefix)) + 1] not in entries

        for name, file in self._files(records, folder, is_new):
            end = name.find("/", len(prefix)) + 1
            if end:
                below = name[:end]
                entries[below] = FileInfo(path=below, is_dir=True, size=0, modified_at="")
            elif name != folder:
                entries[name] = info_of(name, file)
        if not entries:
            _check_not_a_file(path, folder, records)
        # Folders follow from the paths of files here, so one that is not there is an empty one,
        # as it is for the same kinds of backend in deepagents.
        return LsResult(entries=[entries[name] for name in sorted(entries)])

    async def _read(self, runner: Runner, path: str, offset: int, limit: int) -> ReadResult:
        name = self._name(path)
        records = self._records()
        file = file_at(path, *await records.get(runner, [name]))
        if file is None:
            raise await missing_error(runner, records, path, name)
        if is_media(name):
            result = whole_as_base64(bytes_of(path, file))
        else:
            result = window(path, text_of(path, file), offset, limit)
        if result.file_data is not None:
            result.file_data.update(moments_of(file))  # type: ignore[typeddict-item]
        return result

    async def _download(self, runner: Runner, paths: list[str]) -> list[FileDownloadResponse]:
        records = self._records()
        names = self._names(paths)
        unique = [name for name in dict.fromkeys(names) if isinstance(name, str)]
        raw_by_name = dict(zip(unique, await records.get(runner, unique), strict=True))
        answers = []
        for path, name in zip(paths, names, strict=True):
            try:
                content = await self._content(runner, records, path, name, raw_by_name)
            except FileError as error:
                answers.append(FileDownloadResponse(path=path, error=error.code))
            else:
                answers.append(FileDownloadResponse(path=path, content=content))
        return answers

    async def _content(
        self,
        runner: Runner,
        records: Records,
        path: str,
        name: str | FileError,
        raw_by_name: dict[str, Any],
    ) -> bytes:
        if isinstance(name, FileError):
            raise name
        file = file_at(path, raw_by_name[name])
        if file is None:
            raise await missing_error(runner, records, path, name)
        return bytes_of(path, file)

    async def _grep(
        self,
        runner: Runner,
        pattern: str,
        path: str | None,
        glob: str | None,
        max_count: int | None,
    ) -> GrepResult:
        needle = compile_grep(pattern)
        root = self._name(path or "/")
        include = compile_glob(glob).matches if glob else None
        records = await self._records().all(runner)

        def is_wanted(name: str, raw: Any) -> bool:
            if cannot_hold(raw, pattern):
                return False
            relative = _relative(name, root)
            return include(relative) if include else not is_skipped(relative)

        def search() -> GrepResult:
            deadline = time.monotonic() + self._limits.grep_timeout
            most = None if max_count is None else min(max(max_count, 0), MOST_MATCHES) + 1
            matches: list[GrepMatch] = []
            for name, file in sorted(self._files(records, root, is_wanted)):
                # A store of a whole company may hold millions of lines; the model waits for the
                # answer.
                if time.monotonic() > deadline:
                    return GrepResult(matches=matches, truncated=True)
                found_lines = self._lines_with(needle, name, file)
                matches += found_lines if most is None else islice(found_lines, most - len(matches))
                if len(matches) == most:
                    return GrepResult(matches=matches[: most - 1], truncated=True)
            return GrepResult(matches=matches)

        return await _compute(runner, search)

    def _lines_with(self, needle: bytes, name: str, file: FileData) -> Iterable[GrepMatch]:
        if size_of(file) > self._limits.grep_max_bytes:
            return ()
        try:
            return grep_bytes(name, bytes_of(name, file), needle)
        except FileNotRegular:
            return ()

    async def _glob(self, runner: Runner, pattern: str, path: str | None) -> GlobResult:
        fullmatch = compile_glob(pattern).expression.fullmatch
        root = self._name(path or "/")
        start = len(root.rstrip("/")) + 1
        records = await self._records().all(runner)

        def is_wanted(name: str, _: Any) -> bool:
            return fullmatch(name, start) is not None

        def search() -> GlobResult:
            infos = [info_of(*entry) for entry in self._files(records, root, is_wanted)]
            return GlobResult(matches=sorted(infos, key=itemgetter("path")))

        return await _compute(runner, search)

    # Writing.

    async def _write(self, runner: Runner, path: str, content: str) -> WriteResult:
        new = file_from_text(path, content)
        await self._change(runner, path, lambda _: (new, ("write",)))
        return WriteResult(path=path)

    async def _edit(self, runner: Runner, path: str, old: str, new: str, every: bool) -> EditResult:
        count = 0

        def change(raw: Any) -> tuple[FileData, Steps]:
            nonlocal count
            file = file_at(path, raw)
            if file is None:
                raise FileMissing(path)
            changed, count = edited(path, file, old, new, every=every)
            return changed, ("edit", old, new, every)

        await self._change(runner, path, change)
        return EditResult(path=path, occurrences=count)

    async def _append(self, runner: Runner, path: str, line: str) -> EditResult:
        def change(raw: Any) -> tuple[FileData, Steps]:
            return appended(path, file_at(path, raw), line), ("append", line)

        await self._change(runner, path, change)
        return EditResult(path=path, occurrences=1)

    async def _change(
        self, runner: Runner, path: str, change: Callable[[Any], tuple[FileData, Steps]]
    ) -> None:
        name = self._name(path)
        records = self._records()
        async with records.holding(runner, [name]):
            (raw,) = await records.get(runner, [name])
            problem = await find_obstacle(runner, records, path, name) if raw is None else None
            if problem:
                raise problem
            new, steps = change(raw)
            base = file_of(raw)
            done = stamped(new, base, self._clock().isoformat())
            await records.put(runner, {name: NewRecord(done, base, steps)})

    async def _upload(
        self, runner: Runner, files: list[tuple[str, bytes]]
    ) -> list[FileUploadResponse]:
        records = self._records()
        answers: list[FileUploadResponse] = []
        for batch in _batches(files):
            try:
                errors = await self._upload_some(runner, records, batch)
            except FileError as error:  # none of them could be locked
                errors = [error.code] * len(batch)
            for (path, _), code in zip(batch, errors, strict=True):
                answers.append(FileUploadResponse(path=path, error=code))
        return answers

    async def _upload_some(
        self, runner: Runner, records: Records, files: Sequence[tuple[str, bytes]]
    ) -> list[str | None]:
        names = self._names([path for path, _ in files])
        locked = sorted({name for name in names if isinstance(name, str)})
        async with records.holding(runner, locked):
            there = dict(zip(locked, await records.get(runner, locked), strict=True))
            changes: dict[str, NewRecord] = {}
            errors: list[str | None] = []
            for (path, data), name in zip(files, names, strict=True):
                error = await upload_error_code(runner, records, path, name, {**there, **changes})
                errors.append(error)
                if error is None:
                    base = file_of(there[str(name)])
                    new = stamped(file_from_bytes(data), base, self._clock().isoformat())
                    changes[str(name)] = NewRecord(new, base)
            await records.put(runner, changes)
        return errors

    async def _delete(self, runner: Runner, path: str) -> DeleteResult:
        name = self._name(path)
        if name == "/":
            raise FileIsDirectory(path, f"'{path}' is the root, which cannot be deleted")
        records = self._records()
        (raw,) = await records.get(runner, [name])
        # Both may exist under one name, if another machine wrote below it in the same moment.
        if raw is not None and not await records.has_below(runner, name):
            doomed = [name]
        else:
            doomed = sorted(path for path in await records.all(runner) if is_below(path, name))
        if not doomed:
            raise FileMissing(path, f"'{path}' not found")
        # A lock takes a file descriptor, of which a process may have few. A writer that changes
        # one of the unlocked files meanwhile brings it back, as if its change had come later.
        async with records.holding(runner, doomed[:AT_ONCE]):
            await records.drop(runner, doomed)
        return DeleteResult(path=path)

    # Atomic changes, and files that are added beside them.

    async def _change_file(
        self, runner: Runner, path: str, make: UpdateFunction, mode: ChangeMode
    ) -> None:
        record = RecordChange(self._records(), path, self._name(path), self._clock)
        await record.change(runner, make, mode)

    async def _add_file(self, runner: Runner, path: str, data: bytes, like: str | None) -> None:  # noqa: ARG002 - records have no rights
        await RecordChange(self._records(), path, self._name(path), self._clock).add(runner, data)

    async def _drop_file(self, runner: Runner, path: str) -> None:
        await self._records().drop(runner, [self._name(path)])

    # What is a file here.

    def _files(
        self, records: Mapping[str, Any], folder: str, accepts: Callable[[str, Any], bool]
    ) -> Iterator[tuple[str, FileData]]:
        """Yield the accepted files in and below a folder, and log keys that are no paths."""
        prefix = folder.rstrip("/") + "/"
        others = []
        for name, raw in records.items():
            # Keys without a slash are reported wherever the search began: they are in no folder.
            if name.startswith(prefix) or name == folder or not name.startswith("/"):
                if not accepts(name, raw):
                    continue
                file = file_of(raw)
                if file is not None and is_normal(name):
                    yield name, file
                else:
                    others.append(name)
        if others:
            _report_other_keys(type(self).__name__, others)


# Once per process: a listing is made at every turn of an agent.
_reported: set[tuple[str, str]] = set()


def _report_other_keys(backend: str, keys: list[str]) -> None:
    if (backend, keys[0]) not in _reported and len(_reported) < _MOST_REPORTED:
        _reported.add((backend, keys[0]))
        logger.warning(
            "%s: %r is not a record of a text file and is ignored%s",
            backend,
            keys[0],
            f", and so are {len(keys) - 1} more" if keys[1:] else "",
        )


async def _compute(runner: Runner, work: Callable[[], T]) -> T:
    """Do pure computation: right here, or in a thread where it would block an event loop."""
    return await runner.call(work, partial(in_thread, work))


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))


def _relative(name: str, root: str) -> str:
    return name.rpartition("/")[2] if name == root else name[len(root.rstrip("/")) + 1 :]


def _check_not_a_file(path: str, folder: str, records: Mapping[str, Any]) -> None:
    """Refuse to list a file, or what would lie below one.

    Raises:
        FileMissing: With the code that listings have for it.
    """
    if file_of(records.get(folder)) is not None:
        raise FileMissing(path, f"Path '{path}': not_a_directory")
    while folder != "/":
        folder = folder.rpartition("/")[0] or "/"
        if file_of(records.get(folder)) is not None:
            raise FileMissing(path, f"Path '{path}': path_not_found")

"""Base classes of backends: public methods, blocking and async, over cores written once.

A backend of ours derives from `TwinBackend` and implements the cores (`_ls(runner, path)`,
`_read(runner, ...)`, ...): coroutines that return result values, raise `FileError`, and do I/O
only through `runner`. The public methods turn a `FileError` into the `error` of the result.

A `ChangingBackend` also changes a file in one atomic step: read, decide and write, with no other
writer in between.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, Self, TypeVar

from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.backends.protocol import (
    DEFAULT_READ_LIMIT,
    BackendProtocol,
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
from memoryware.errors import FileDenied, FileError, FileIsDirectory, PathRefused, PatternRefused

# Precondition of a change. `replace`: none; `create`: a text file or no file; `change`: a file;
# `delete`: a file or link, which is removed.
ChangeMode = Literal["replace", "create", "change", "delete"]
# The operation, for policies and the version history.
ChangeKind = Literal["write", "edit", "append", "upload", "delete", "undo", "restore"]
# `("write",)`, `("edit", old, new, every)` or `("append", line)`: how a text was changed.
Steps = tuple[str | bool, ...]
E = TypeVar("E", bound=FileError)


@dataclass(frozen=True, slots=True)
class FileUpdate:
    """The new content of a file.

    Attributes:
        after: Its new bytes; None deletes it.
        steps: The operation and its arguments, for a backend that merges concurrent changes.
        kind: The operation.
        keeps: Callbacks before the write, with the old and the final new bytes; an exception
            aborts the change.
        mark: A value that the caller passes to its own `keeps`.
        like: For a new file: another file of the same backend whose access rights limit those
            of the new one. Backends without access rights ignore it.
    """

    after: bytes | None
    steps: Steps = ("write",)
    kind: ChangeKind = "write"
    keeps: tuple[BeforeWrite, ...] = ()
    mark: Any = None
    like: str | None = None


BeforeWrite = Callable[[Runner, bytes | None, FileUpdate], Coroutine[Any, Any, None]]
# Computes the new bytes from the old ones (None: no file). It is called again if another writer
# was faster; an exception leaves the file unchanged.
UpdateFunction = Callable[[Runner, bytes | None], Coroutine[Any, Any, FileUpdate]]


class SupportsChange(Protocol):
    """Protocol: a backend with an atomic read-modify-write of a file."""

    def change_file(self, path: str, make: UpdateFunction, mode: ChangeMode) -> None:
        """Read, compute and write a file in one step, with no other writer in between.

        `make` runs while the file is locked, and does its I/O through its `runner`.

        Raises:
            PathIsFolder: In mode `delete`, for a folder that might be deleted.
            FileError: If the file cannot be changed, or `make` refuses.
        """
        ...

    async def achange_file(self, path: str, make: UpdateFunction, mode: ChangeMode) -> None:
        """Read, compute and write a file in one step, with no other writer in between.

        `make` runs while the file is locked, and does its I/O through its `runner`.

        Raises:
            PathIsFolder: In mode `delete`, for a folder that might be deleted.
            FileError: If the file cannot be changed, or `make` refuses.
        """
        ...


class SupportsAdd(Protocol):
    """Protocol: a backend that stores files under unique names without taking a lock."""

    def add_file(self, path: str, data: bytes, like: str | None) -> None:
        """Store a file; it may be called while another file is locked.

        Users who may not read the file `like`, if it exists, may not read this one either.

        Raises:
            FileError: If it cannot be stored.
        """
        ...

    async def aadd_file(self, path: str, data: bytes, like: str | None) -> None:
        """Store a file; it may be called while another file is locked.

        Users who may not read the file `like`, if it exists, may not read this one either.

        Raises:
            FileError: If it cannot be stored.
        """
        ...

    def drop_file(self, path: str) -> None:
        """Remove a file that was added; a missing one is no error.

        Raises:
            FileError: If it cannot be removed.
        """
        ...

    async def adrop_file(self, path: str) -> None:
        """Remove a file that was added; a missing one is no error.

        Raises:
            FileError: If it cannot be removed.
        """
        ...


class PathIsFolder(FileIsDirectory):
    """The path is a folder; the caller has to delete the files in it one by one."""


async def compute_update(
    runner: Runner, make: UpdateFunction, before: bytes | None, mode: ChangeMode, path: str
) -> FileUpdate:
    """Compute the new content of a file, and call the `keeps` callbacks before it is written.

    Raises:
        FileDenied: If `make` returns content for a deletion.
    """
    new = await make(runner, before)
    if mode == "delete" and new.after is not None:
        raise FileDenied(path, f"'{path}' may not be deleted")
    for keep in new.keeps:
        await keep(runner, before, new)
    return new


def with_path(error: E, path: str, message: str) -> E:
    """Change the path of an error to the caller's spelling."""
    error.path, error.message, error.args = path, message, (message,)
    return error


P = ParamSpec("P")
T = TypeVar("T")
Core = Callable[Concatenate[Runner, P], Coroutine[Any, Any, T]]


class TwinBackend(BackendProtocol):
    """The public methods, blocking and async, over one coroutine (core) per operation."""

    async def _ls(self, runner: Runner, path: str) -> LsResult:
        raise self._unsupported("ls")

    async def _read(self, runner: Runner, path: str, offset: int, limit: int) -> ReadResult:
        raise self._unsupported("read")

    async def _write(self, runner: Runner, path: str, content: str) -> WriteResult:
        raise self._unsupported("write")

    async def _edit(self, runner: Runner, path: str, old: str, new: str, every: bool) -> EditResult:
        raise self._unsupported("edit")

    async def _delete(self, runner: Runner, path: str) -> DeleteResult:
        raise self._unsupported("delete")

    async def _grep(
        self,
        runner: Runner,
        pattern: str,
        path: str | None,
        glob: str | None,
        max_count: int | None,
    ) -> GrepResult:
        raise self._unsupported("grep")

    async def _glob(self, runner: Runner, pattern: str, path: str | None) -> GlobResult:
        raise self._unsupported("glob")

    async def _upload(
        self, runner: Runner, files: list[tuple[str, bytes]]
    ) -> list[FileUploadResponse]:
        raise self._unsupported("upload_files")

    async def _download(self, runner: Runner, paths: list[str]) -> list[FileDownloadResponse]:
        raise self._unsupported("download_files")

    # A copy works on the same files: a copied in-process store would diverge silently.
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = copy.copy(self)
        memo[id(self)] = copied
        return copied

    # How a core is run. The disk backend overrides `_run_native`: one thread hop per operation.

    def _run(self, core: Core[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return run_blocking(core(BLOCKING, *args, **kwargs))

    async def _run_native(self, core: Core[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await core(ASYNC, *args, **kwargs)

    # The public methods; `BackendProtocol` documents them.

    def ls(self, path: str) -> LsResult:
        return self._run(_errors_in_result(LsResult, self._ls), path)

    async def als(self, path: str) -> LsResult:
        return await self._run_native(_errors_in_result(LsResult, self._ls), path)

    def read(self, file_path: str, offset: int = 0, limit: int = DEFAULT_READ_LIMIT) -> ReadResult:
        return self._run(_errors_in_result(ReadResult, self._read), file_path, offset, limit)

    async def aread(
        self, file_path: str, offset: int = 0, limit: int = DEFAULT_READ_LIMIT
    ) -> ReadResult:
        return await self._run_native(
            _errors_in_result(ReadResult, self._read), file_path, offset, limit
        )

    def write(self, file_path: str, content: str) -> WriteResult:
        return self._run(_errors_in_result(WriteResult, self._write), file_path, content)

    async def awrite(self, file_path: str, content: str) -> WriteResult:
        return await self._run_native(
            _errors_in_result(WriteResult, self._write), file_path, content
        )

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        core = _errors_in_result(EditResult, self._edit)
        return self._run(core, file_path, old_string, new_string, replace_all)

    async def aedit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        core = _errors_in_result(EditResult, self._edit)
        return await self._run_native(core, file_path, old_string, new_string, replace_all)

    def delete(self, file_path: str) -> DeleteResult:
        return self._run(_errors_in_result(DeleteResult, self._delete), file_path)

    async def adelete(self, file_path: str) -> DeleteResult:
        return await self._run_native(_errors_in_result(DeleteResult, self._delete), file_path)

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        return self._run(_errors_in_result(GrepResult, self._grep), pattern, path, glob, max_count)

    async def agrep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        core = _errors_in_result(GrepResult, self._grep)
        return await self._run_native(core, pattern, path, glob, max_count)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        return self._run(_errors_in_result(GlobResult, self._glob), pattern, path)

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        return await self._run_native(_errors_in_result(GlobResult, self._glob), pattern, path)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return self._run(self._upload, files)

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return await self._run_native(self._upload, files)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return self._run(self._download, paths)

    async def adownload_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return await self._run_native(self._download, paths)


class ChangingBackend(TwinBackend):
    """A backend that implements `SupportsChange`, `SupportsAdd` and `Appends`."""

    async def _change_file(
        self, runner: Runner, path: str, make: UpdateFunction, mode: ChangeMode
    ) -> None:
        raise self._unsupported("change_file")

    async def _add_file(self, runner: Runner, path: str, data: bytes, like: str | None) -> None:
        raise self._unsupported("add_file")

    async def _drop_file(self, runner: Runner, path: str) -> None:
        raise self._unsupported("drop_file")

    async def _append(self, runner: Runner, path: str, line: str) -> EditResult:
        raise self._unsupported("append")

    def append(self, file_path: str, line: str) -> EditResult:
        """Add a line to the end of a file.

        Args:
            file_path: The file; a missing one is created.
            line: The text of the line, without its ending.

        Returns:
            The path and 1 as `occurrences`, or the error.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        return self._run(_errors_in_result(EditResult, self._append), file_path, line)

    async def aappend(self, file_path: str, line: str) -> EditResult:
        """Add a line to the end of a file.

        Args:
            file_path: The file; a missing one is created.
            line: The text of the line, without its ending.

        Returns:
            The path and 1 as `occurrences`, or the error.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        return await self._run_native(_errors_in_result(EditResult, self._append), file_path, line)

    def change_file(self, path: str, make: UpdateFunction, mode: ChangeMode) -> None:
        """Change a file in one step: no other change falls between reading and writing it.

        Args:
            path: The file.
            make: Computes the new content from the old one; called again if the file changed
                meanwhile.
            mode: What must exist before the change, see `ChangeMode`.

        Raises:
            PathIsFolder: In mode `delete`, for a folder that might be deleted.
            FileError: If the file cannot be changed, or `make` refuses.
        """
        return self._run(self._change_file, path, make, mode)

    async def achange_file(self, path: str, make: UpdateFunction, mode: ChangeMode) -> None:
        """Change a file in one step: no other change falls between reading and writing it.

        Args:
            path: The file.
            make: Computes the new content from the old one; called again if the file changed
                meanwhile.
            mode: What must exist before the change, see `ChangeMode`.

        Raises:
            PathIsFolder: In mode `delete`, for a folder that might be deleted.
            FileError: If the file cannot be changed, or `make` refuses.
        """
        return await self._run_native(self._change_file, path, make, mode)

    def add_file(self, path: str, data: bytes, like: str | None) -> None:
        """Store a file under a unique name, also while another file is locked.

        Args:
            path: The file.
            data: Its content.
            like: Another file whose access rights the new one gets; None for the default.

        Raises:
            FileError: If it cannot be stored.
        """
        return self._run(self._add_file, path, data, like)

    async def aadd_file(self, path: str, data: bytes, like: str | None) -> None:
        """Store a file under a unique name, also while another file is locked.

        Args:
            path: The file.
            data: Its content.
            like: Another file whose access rights the new one gets; None for the default.

        Raises:
            FileError: If it cannot be stored.
        """
        return await self._run_native(self._add_file, path, data, like)

    def drop_file(self, path: str) -> None:
        """Remove a file that was added with `add_file`; a missing one is no error.

        Args:
            path: The file.

        Raises:
            FileError: If it cannot be removed.
        """
        return self._run(self._drop_file, path)

    async def adrop_file(self, path: str) -> None:
        """Remove a file that was added with `add_file`; a missing one is no error.

        Args:
            path: The file.

        Raises:
            FileError: If it cannot be removed.
        """
        return await self._run_native(self._drop_file, path)


def _errors_in_result(kind: type[R], core: Core[P, R]) -> Core[P, R]:
    """Wrap a core so that its `FileError` becomes the error of its result value."""

    async def run(runner: Runner, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await answer(kind, core(runner, *args, **kwargs))

    return run


Result = LsResult | ReadResult | WriteResult | EditResult | DeleteResult | GrepResult | GlobResult
R = TypeVar(
    "R", LsResult, ReadResult, WriteResult, EditResult, DeleteResult, GrepResult, GlobResult
)
V = TypeVar("V")

# Results whose error text is shown to a model as it is, so it starts with "Error: ".
_SPOKEN_WITH_PREFIX: tuple[type[Any], ...] = (WriteResult, EditResult, DeleteResult, GrepResult)


async def answer(kind: type[R], core: Awaitable[R]) -> R:
    """Await a core and turn its `FileError` into the error of the result.

    `PathRefused` passes through as the `ValueError` that callers rely on, except
    for grep and glob, which search what they are allowed to and find nothing.
    """
    try:
        return await core
    except PathRefused as refused:
        if kind not in (GrepResult, GlobResult):
            raise
        return failure(kind, refused)
    except (FileError, PatternRefused) as error:
        return failure(kind, error)


def failure(kind: type[R], error: Exception | str) -> R:
    """Make a result value that carries the error's sentence."""
    prefix = "Error: " if kind in _SPOKEN_WITH_PREFIX else ""
    return kind(error=f"{prefix}{error}")


def with_callers_path(text: str, inner: str, path: str) -> str:
    """Replace the backend's own path in a message with the path as the caller spelled it."""
    return text if inner == path else text.replace(f"'{inner}'", f"'{path}'")


def downloaded(path: str, read: Callable[[], bytes]) -> FileDownloadResponse:
    """Read one file of a batch; a `FileError` becomes its code."""
    try:
        return FileDownloadResponse(path=path, content=read())
    except FileError as error:
        return FileDownloadResponse(path=path, error=error.code)


def uploaded(path: str, store: Callable[[], object]) -> FileUploadResponse:
    """Store one file of a batch; a `FileError` becomes its code."""
    try:
        store()
    except FileError as error:
        return FileUploadResponse(path=path, error=error.code)
    return FileUploadResponse(path=path)

"""The sync and async doors of a backend, over cores that are written once.

A backend of ours derives from `TwinBackend` and implements the cores
(`_ls(via, path)`, `_read(via, ...)`, ...): coroutines that return result values,
raise `FileError`, and reach the outside world only through `via`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from memoryware._twins import Via, blocking, finish, native
from memoryware.backends._making import Make, Mode
from memoryware.backends._results import R, answer
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

P = ParamSpec("P")
T = TypeVar("T")
Core = Callable[Concatenate[Via, P], Coroutine[Any, Any, T]]


class TwinBackend(BackendProtocol):
    """Both doors of every operation; a subclass writes each operation once."""

    async def _ls(self, via: Via, path: str) -> LsResult:
        raise self._unsupported("ls")

    async def _read(self, via: Via, path: str, offset: int, limit: int) -> ReadResult:
        raise self._unsupported("read")

    async def _write(self, via: Via, path: str, content: str) -> WriteResult:
        raise self._unsupported("write")

    async def _edit(self, via: Via, path: str, old: str, new: str, every: bool) -> EditResult:
        raise self._unsupported("edit")

    async def _delete(self, via: Via, path: str) -> DeleteResult:
        raise self._unsupported("delete")

    async def _grep(
        self, via: Via, pattern: str, path: str | None, glob: str | None, max_count: int | None
    ) -> GrepResult:
        raise self._unsupported("grep")

    async def _glob(self, via: Via, pattern: str, path: str | None) -> GlobResult:
        raise self._unsupported("glob")

    async def _upload(self, via: Via, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        raise self._unsupported("upload_files")

    async def _download(self, via: Via, paths: list[str]) -> list[FileDownloadResponse]:
        raise self._unsupported("download_files")

    # A copy works on the same files: a copied in-process store would diverge silently.
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = copy.copy(self)
        memo[id(self)] = copied
        return copied

    # How a core is run. An embedded backend overrides `_run_native` with one thread hop.

    def _run(self, core: Core[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return finish(core(blocking, *args, **kwargs))

    async def _run_native(self, core: Core[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await core(native, *args, **kwargs)

    # The doors.

    def ls(self, path: str) -> LsResult:
        return self._run(_told(LsResult, self._ls), path)

    async def als(self, path: str) -> LsResult:
        return await self._run_native(_told(LsResult, self._ls), path)

    def read(self, file_path: str, offset: int = 0, limit: int = DEFAULT_READ_LIMIT) -> ReadResult:
        return self._run(_told(ReadResult, self._read), file_path, offset, limit)

    async def aread(
        self, file_path: str, offset: int = 0, limit: int = DEFAULT_READ_LIMIT
    ) -> ReadResult:
        return await self._run_native(_told(ReadResult, self._read), file_path, offset, limit)

    def write(self, file_path: str, content: str) -> WriteResult:
        return self._run(_told(WriteResult, self._write), file_path, content)

    async def awrite(self, file_path: str, content: str) -> WriteResult:
        return await self._run_native(_told(WriteResult, self._write), file_path, content)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        core = _told(EditResult, self._edit)
        return self._run(core, file_path, old_string, new_string, replace_all)

    async def aedit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        core = _told(EditResult, self._edit)
        return await self._run_native(core, file_path, old_string, new_string, replace_all)

    def delete(self, file_path: str) -> DeleteResult:
        return self._run(_told(DeleteResult, self._delete), file_path)

    async def adelete(self, file_path: str) -> DeleteResult:
        return await self._run_native(_told(DeleteResult, self._delete), file_path)

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        return self._run(_told(GrepResult, self._grep), pattern, path, glob, max_count)

    async def agrep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        core = _told(GrepResult, self._grep)
        return await self._run_native(core, pattern, path, glob, max_count)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        return self._run(_told(GlobResult, self._glob), pattern, path)

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        return await self._run_native(_told(GlobResult, self._glob), pattern, path)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return self._run(self._upload, files)

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return await self._run_native(self._upload, files)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return self._run(self._download, paths)

    async def adownload_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return await self._run_native(self._download, paths)


class ChangingBackend(TwinBackend):
    """A backend that changes a file in one step, and stores new files beside it meanwhile."""

    async def _change_file(self, via: Via, path: str, make: Make, mode: Mode) -> None:
        raise self._unsupported("change_file")

    async def _add_file(self, via: Via, path: str, data: bytes, like: str | None) -> None:
        raise self._unsupported("add_file")

    async def _drop_file(self, via: Via, path: str) -> None:
        raise self._unsupported("drop_file")

    async def _append(self, via: Via, path: str, line: str) -> EditResult:
        raise self._unsupported("append")

    def append(self, file_path: str, line: str) -> EditResult:
        """Add a line to the end of a file, which is created if it is missing."""
        return self._run(_told(EditResult, self._append), file_path, line)

    async def aappend(self, file_path: str, line: str) -> EditResult:
        """Async twin of `append`."""
        return await self._run_native(_told(EditResult, self._append), file_path, line)

    def change_file(self, path: str, make: Make, mode: Mode) -> None:
        """Change a file; nobody else's change falls between reading and writing it."""
        return self._run(self._change_file, path, make, mode)

    async def achange_file(self, path: str, make: Make, mode: Mode) -> None:
        """Async twin of `change_file`."""
        return await self._run_native(self._change_file, path, make, mode)

    def add_file(self, path: str, data: bytes, like: str | None) -> None:
        """Store a file whose name nobody else uses."""
        return self._run(self._add_file, path, data, like)

    async def aadd_file(self, path: str, data: bytes, like: str | None) -> None:
        """Async twin of `add_file`."""
        return await self._run_native(self._add_file, path, data, like)

    def drop_file(self, path: str) -> None:
        """Remove such a file again; nothing happens if it is gone."""
        return self._run(self._drop_file, path)

    async def adrop_file(self, path: str) -> None:
        """Async twin of `drop_file`."""
        return await self._run_native(self._drop_file, path)


def _told(kind: type[R], core: Core[P, R]) -> Core[P, R]:
    """Wrap a core so that its errors come out in the result value."""

    async def told(via: Via, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await answer(kind, core(via, *args, **kwargs))

    return told

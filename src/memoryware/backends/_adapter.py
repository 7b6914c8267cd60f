"""Adapter for any backend: capability checks, results as our types, compare-and-swap of a file.

A backend may be ours, deepagents', or any object with the right methods, given as an instance or
as a factory that is called with a runtime. Results are read by attribute, and the plain lists
of older backends are accepted. No other file inspects what kind of object a backend is.

`change` is a compare-and-swap. For a backend that has none, it edits the whole old text: such
an edit fails when another writer changed the text meanwhile, and the change is tried again. Where
an edit is impossible (binary content, a deletion) the file is compared once more right before it
is written; a write by others between that comparison and the write is lost.
"""

from __future__ import annotations

import inspect
import logging
import re
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from typing import Any, Final, cast

from memoryware import _checking
from memoryware._runner import Runner, in_thread
from memoryware.backends import _text
from memoryware.backends._base import (
    ChangeMode,
    FileUpdate,
    PathIsFolder,
    R,
    SupportsAdd,
    SupportsChange,
    TwinBackend,
    UpdateFunction,
    compute_update,
    failure,
    with_callers_path,
    with_path,
)
from memoryware.backends._deepagents import location_key, unwrap
from memoryware.backends._locks import NamedLocks
from memoryware.backends._paths import canonical_names, names_with_links, normal_or_same, normalise
from memoryware.backends.protocol import (
    Appends,
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileData,
    FileDownloadResponse,
    FileUploadResponse,
    Fingerprints,
    GlobResult,
    GrepResult,
    LsResult,
    Names,
    ReadResult,
    WriteResult,
)
from memoryware.errors import (
    FileDenied,
    FileError,
    FileIsDirectory,
    FileMissing,
    MemorywareError,
    PathRefused,
    PathUnusable,
    SettingError,
    WriteFailed,
)
from memoryware.settings import FileLimits

logger = logging.getLogger(__name__)

_METHODS = ("download_files", "adownload_files", "read", "write")
_WRITING = ["write", "awrite", "_write", "edit", "aedit", "_edit", "delete", "adelete", "_delete"]
_WRITING += ["upload_files", "aupload_files", "_upload"]
_LISTED = {LsResult: "entries", GrepResult: "matches", GlobResult: "matches"}
Answer = Coroutine[Any, Any, R]
# Characters of a foreign error's message that are passed on: it may quote a whole request.
_LONGEST_MESSAGE = 300
# End of the error of `append` for a missing or empty file; file tools look for it.
FIRST_TEXT = "write its first text instead"
# Attempts to append a line while other writers change the file.
APPEND_TRIES = 5


def resolve(backend: Any, runtime: Any) -> BackendProtocol:
    """Return the backend, or the result of calling a factory with the runtime.

    Args:
        backend: An instance, or a callable that takes a runtime.
        runtime: Has `.state .context .store .stream_writer .config .tool_call_id`.

    Raises:
        SettingError: If the result is no backend.
    """
    if is_backend(backend):
        return cast("BackendProtocol", backend)
    if not callable(backend):
        raise SettingError(
            f"{_describe(backend)} is not a backend; pass for example StateBackend()"
        )
    result = backend(runtime)
    if not is_backend(result):
        raise SettingError(
            f"The backend factory {_describe(backend)} returned {_describe(result)};"
            " it must return a backend, such as StateBackend()"
        )
    return cast("BackendProtocol", result)


def is_backend(value: Any) -> bool:
    """Return whether a value is a backend rather than a factory (or a class) of backends."""
    if issubclass(type(value), type):  # `isinstance` would ask our backends for their kin
        return False
    return hasattr(value, _METHODS[0]) or any(hasattr(value, name) for name in _METHODS)


def check_backend(value: Any, subject: str) -> None:
    """Check that a value is an instance of a backend, for a place without a runtime.

    Raises:
        SettingError: The message says what to pass instead.
    """
    if is_backend(value):
        return
    if callable(value):
        raise SettingError(
            f"{subject} is {_describe(value)}, not yet a backend; call it and pass the result, or"
            " make the whole in a factory, such as lambda runtime: CompositeBackend(default=...)"
        )
    raise SettingError(
        f"{subject} is {_describe(value)}, not a backend; pass for example StateBackend()"
    )


def check_backend_or_factory(value: Any, option: str) -> None:
    """Check that a value is a backend, or a function that makes one of a runtime.

    Raises:
        SettingError: The message says what to pass instead.
    """
    if is_backend(value):
        return
    if isinstance(value, type):
        raise SettingError(
            f"{option}={value.__name__} is a class: pass an instance, such as"
            f" {value.__name__}(...), or a function that makes one of the runtime"
        )
    if not callable(value):
        raise _checking.wrong(
            option, value, "a backend, such as StateBackend(), or a function that makes one"
        )


def fingerprints_of(backend: Any) -> Fingerprints | None:
    """Return the backend if it implements `Fingerprints`, else None."""
    return backend if _has_twins(backend, "fingerprint") else None


def appends_of(backend: Any) -> Appends | None:
    """Return the backend if it implements `Appends`, else None."""
    return backend if _has_twins(backend, "append") else None


def names_of(backend: Any) -> Names | None:
    """Return the backend if it implements `Names`, else None."""
    return backend if _has_twins(backend, "names") else None


def twins_of(backend: Any, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a method as a pair, blocking and async.

    A missing async half runs the blocking one in a thread; a missing blocking half raises
    `NotImplementedError`.
    """
    sync = getattr(backend, name, None)
    asyn = getattr(backend, "a" + name, None)
    if sync is None:
        sync = partial(_raise_unsupported, f"{type(backend).__name__} has no {name}()")
    return sync, asyn or partial(in_thread, sync)


async def refusal_of(runner: Runner, backend: Any, path: str) -> str:
    """Return why a backend refuses a path, as a sentence; "" if it gives no reason.

    `download_files` returns codes only. Our own backends are asked to read the path, which fails
    with the full message. A foreign one might block forever on a named pipe, so for it only the
    spelling is checked.
    """
    try:
        if _reads_regular_files_only(backend, path):
            answer = await BackendAdapter(backend).read(runner, path, path, 0, 1)
            return (answer.error or "").rstrip(".")
        normalise(path)
    except FileError as error:
        return error.message.rstrip(".")
    return ""


def _reads_regular_files_only(backend: Any, path: str) -> bool:
    backend = unwrap(backend)
    parted = getattr(backend, "_get_backend_and_key", None)
    if parted is not None:
        return _reads_regular_files_only(*parted(path))
    return isinstance(backend, TwinBackend)


def changes_of(backend: Any) -> SupportsChange | None:
    """Return the backend if it implements `SupportsChange`, else None.

    A subclass that overrides write methods does not count: its overrides must be called.
    """
    homes = {getattr(getattr(backend, name, None), "__module__", "") for name in _WRITING}
    ours = all(home.startswith("memoryware.") for home in homes)
    return backend if ours and _has_twins(backend, "change_file") else None


def adds_of(backend: Any) -> SupportsAdd | None:
    """Return the backend if it implements `SupportsAdd`, else None."""
    return backend if changes_of(backend) and _has_twins(backend, "add_file") else None


def same_files(first: Any, second: Any) -> bool:
    """Return whether two backends or factories hold the same files, as far as that is visible.

    Wrappers are unwrapped. Two separate backends are the same only where
    their class can tell, as `FilesystemBackend` can.
    """
    first, second = unwrap(first), unwrap(second)
    if first is second:
        return True
    if not is_backend(first) and not is_backend(second):  # two views of one method are equal
        return bool(first == second)
    tell = getattr(first, "has_same_files_as", None)
    return callable(tell) and bool(tell(second))


def _has_twins(backend: Any, name: str) -> bool:
    """Return whether a method exists, blocking and async.

    The same as `isinstance` with a runtime-checkable protocol, but a hundred times faster.
    """
    return callable(getattr(backend, name, None)) and callable(getattr(backend, "a" + name, None))


class BackendAdapter:
    """Adapter: calls any backend, converts its results to ours and its exceptions to errors.

    Two kinds of exception pass through: `PathRefused`, and control flow of LangGraph, such as an
    interrupt.
    """

    __slots__ = ("backend",)

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    @property
    def name(self) -> str:
        """The name of the backend's class."""
        return type(self.backend).__name__

    # One file or folder: `path` is as the caller spelled it, `inner` as the backend knows it.

    def ls(self, runner: Runner, path: str, inner: str) -> Answer[LsResult]:
        return self._call(LsResult, runner, "ls", path, inner)

    def read(
        self, runner: Runner, path: str, inner: str, offset: int, limit: int
    ) -> Answer[ReadResult]:
        return self._call(ReadResult, runner, "read", path, inner, offset, limit)

    def write(self, runner: Runner, path: str, inner: str, content: str) -> Answer[WriteResult]:
        return self._call(WriteResult, runner, "write", path, inner, content)

    def edit(
        self, runner: Runner, path: str, inner: str, old: str, new: str, every: bool
    ) -> Answer[EditResult]:
        return self._call(EditResult, runner, "edit", path, inner, old, new, every)

    def delete(self, runner: Runner, path: str, inner: str) -> Answer[DeleteResult]:
        return self._call(DeleteResult, runner, "delete", path, inner)

    async def append(self, runner: Runner, path: str, inner: str, line: str) -> EditResult:
        """Append a line; for a backend without `append`, edit the whole text.

        Such an edit fails when the text was changed meanwhile, so no line is lost. A missing or
        empty file is an error, because there is no text to edit.
        """
        if appends_of(self.backend) is not None:
            return await self._call(EditResult, runner, "append", path, inner, line)
        busy = f"File '{path}' was changed by other writers at each attempt; try again"
        result, before = failure(EditResult, busy), b""
        for _ in range(APPEND_TRIES):
            (got,) = await self.download(runner, [inner])
            if not got.content:
                return failure(EditResult, _append_error(path, got.error))
            if got.content == before:
                break
            before = got.content
            text = before.decode("utf-8", "replace")
            longer = _text.append(path, text, line)
            result = await self.edit(runner, path, inner, text, longer, every=False)
            if not result.error:
                break
        return result

    def glob(self, runner: Runner, pattern: str, path: str | None) -> Answer[GlobResult]:
        args = (pattern,) if path is None else (pattern, path)
        return self._search(GlobResult, runner, "glob", *args)

    async def grep(
        self,
        runner: Runner,
        pattern: str,
        path: str | None,
        glob: str | None,
        max_count: int | None,
    ) -> GrepResult:
        """Search; for a backend without `max_count` the matches are cut afterwards."""
        if max_count is None or not self._takes("max_count", "grep"):
            result = await self._search(GrepResult, runner, "grep", pattern, path, glob)
        else:
            result = await self._search(
                GrepResult, runner, "grep", pattern, path, glob, max_count=max_count
            )
        if max_count is None or len(result.matches or []) <= max_count:
            return result
        matches = (result.matches or [])[:max_count]
        return GrepResult(error=result.error, matches=matches, truncated=True)

    async def upload(
        self, runner: Runner, files: list[tuple[str, bytes]]
    ) -> list[FileUploadResponse]:
        """Store files; one answer per file, whatever the backend does."""
        answers = await self._batch(runner, "upload_files", files)
        pairs = zip(files, answers, strict=True)
        return [FileUploadResponse(path, _error_of(answer)) for (path, _), answer in pairs]

    async def download(self, runner: Runner, paths: list[str]) -> list[FileDownloadResponse]:
        """Return the bytes of files; one answer per path, whatever the backend does."""
        answers = await self._batch(runner, "download_files", paths)
        return [self._got(path, answer) for path, answer in zip(paths, answers, strict=True)]

    async def fingerprint(self, runner: Runner, paths: list[str]) -> list[str | None]:
        """Return one fingerprint per path, None where the backend has none."""
        unknown: list[str | None] = [None] * len(paths)
        if fingerprints_of(self.backend) is None:
            return unknown
        try:
            tokens = list(await runner.call(*self._twins("fingerprint"), paths))
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            self._explain("fingerprint", error)
            return unknown
        return tokens if len(tokens) == len(paths) else unknown

    async def names(self, runner: Runner, paths: list[str]) -> list[tuple[str, ...]]:
        """Return the names of each path; its normal spelling if the backend has no `names`."""
        if names_of(self.backend) is None:
            real = getattr(self.backend, "_real_path", None)  # deepagents' disk has it
            if not callable(real):
                return [canonical_names(path) for path in paths]
            look = partial(names_with_links, real, paths)
            return await runner.call(look, partial(in_thread, look))
        try:
            answers = list(await runner.call(*self._twins("names"), paths))
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            self._explain("names", error)
            answers = []
        return answers if len(answers) == len(paths) else [()] * len(paths)

    async def execute(self, runner: Runner, command: str, timeout: int | None) -> Any:  # noqa: ASYNC109 - handed through
        """Run a command in a sandbox, and return its own answer.

        Raises:
            NotImplementedError: If the backend is no sandbox.
        """
        if timeout is not None and self._takes("timeout", "execute"):
            return await runner.call(*self._twins("execute"), command, timeout=timeout)
        return await runner.call(*self._twins("execute"), command)

    async def _call(
        self, kind: type[R], runner: Runner, name: str, path: str, inner: str, /, *args: Any
    ) -> R:
        try:
            answer = self._as_result(kind, await runner.call(*self._twins(name), inner, *args))
        except PathRefused as refused:
            raise PathRefused(path, with_callers_path(refused.message, inner, path)) from None
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            answer = failure(kind, self._explain(name, error))
        if answer.error is None or inner == path:
            return answer
        return replace(answer, error=with_callers_path(answer.error, inner, path))

    async def _search(
        self, kind: type[R], runner: Runner, name: str, /, *args: Any, **kwargs: Any
    ) -> R:
        try:
            return self._as_result(kind, await runner.call(*self._twins(name), *args, **kwargs))
        except PathRefused as refused:
            return failure(kind, refused)
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            return failure(kind, self._explain(name, error))

    async def _batch(self, runner: Runner, name: str, items: list[Any]) -> list[Any]:
        try:
            answers = await runner.call(*self._twins(name), items)
            if len(answers) == len(items):
                return list(answers)
            reason = f"{self.name}.{name}() returned {len(answers)} results for {len(items)} files"
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            message = self._explain(name, error)
            reason = error.code if isinstance(error, PathRefused) else message
        return [FileUploadResponse(path="", error=reason)] * len(items)

    def _got(self, path: str, answer: Any) -> FileDownloadResponse:
        content, error = getattr(answer, "content", None), _error_of(answer)
        if content is None and error is None:
            error = f"{self.name}.download_files() returned neither content nor an error"
        return FileDownloadResponse(path, content, error)

    def _twins(self, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        return twins_of(self.backend, name)

    def _takes(self, parameter: str, name: str) -> bool:
        halves = self._twins(name)
        return all(_accepts(getattr(half, "__func__", half), parameter) for half in halves)

    def _as_result(self, kind: type[R], answer: Any) -> R:
        """Convert the return value of a backend to our result type, by attribute.

        Plain lists and strings are what backends returned before deepagents had result types.
        """
        if isinstance(answer, kind):
            return answer
        if isinstance(answer, list) and kind in _LISTED:
            fields_of_list: dict[str, Any] = {_LISTED[kind]: answer}
            return kind(**fields_of_list)
        if isinstance(answer, str):
            if kind is ReadResult and not answer.startswith("Error"):
                return kind(file_data=FileData(content=answer, encoding="utf-8"))
            return kind(error=answer)
        names = [field.name for field in fields(kind) if hasattr(answer, field.name)]
        if not names:
            raise TypeError(f"answered with {_describe(answer)} instead of a {kind.__name__}")
        return kind(**{name: getattr(answer, name) for name in names})

    def _explain(self, name: str, error: Exception) -> str:
        """Turn an exception into a sentence; control flow of LangGraph is raised again."""
        errors = sys.modules.get("langgraph.errors")
        if errors is not None and isinstance(error, errors.GraphBubbleUp):
            raise error
        if isinstance(error, NotImplementedError):
            return f"{self.name} does not support {name}()"
        if isinstance(error, MemorywareError):
            return str(error)
        logger.warning("%s.%s() raised %s", self.name, name, type(error).__name__)
        logger.debug("The error was", exc_info=error)
        # `strerror` alone: the text of an OSError has host paths, which must not reach a model.
        message = (
            getattr(error, "strerror", None) or str(error).partition("\n")[0][:_LONGEST_MESSAGE]
        )
        return f"{self.name}.{name}() failed with {type(error).__name__}: {message}"


def _error_of(answer: Any) -> Any:
    return getattr(answer, "error", "the backend returned no result")


def _append_error(path: str, error: str | None) -> str:
    if error is None:
        return f"File '{path}' is empty; {FIRST_TEXT}"
    if error == "file_not_found":
        return f"File '{path}' not found; {FIRST_TEXT}"
    return f"File '{path}' could not be read: {error}"


def _raise_unsupported(message: str, *_: Any, **__: Any) -> Any:
    raise NotImplementedError(message)


def _describe(value: Any) -> str:
    kind = f"a {type(value).__name__}" if value is not None else "None"
    return f"the class {value.__name__}" if isinstance(value, type) else kind


@lru_cache(maxsize=256)
def _accepts(function: Any, parameter: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return parameter in parameters or any(
        other.kind is other.VAR_KEYWORD for other in parameters.values()
    )


def keeps_files_in_state(backend: Any) -> bool:
    """Return whether a backend may keep files in the graph state, so that it needs the channel.

    The result of a factory is unknown before it runs, so the answer is yes.
    """
    backend = unwrap(backend)
    named = [kind.__name__ for kind in type(backend).__mro__]
    if not is_backend(backend) or "StateBackend" in named:
        return True
    routes = getattr(backend, "routes", None)
    parts = (
        [getattr(backend, "default", None), *routes.values()] if isinstance(routes, Mapping) else []
    )
    return any(keeps_files_in_state(part) for part in parts if part is not None)


# Attempts of a compare-and-swap against other writers.
_TRIES: Final = 25
_ABSENT: Final = re.compile("not.?found|no such|not.?exist|not_a_directory", re.IGNORECASE)
# Exception class by error code of an upload.
_KINDS: Final[dict[str, type[FileError]]] = {
    "file_not_found": FileMissing,
    "permission_denied": FileDenied,
    "is_directory": FileIsDirectory,
    "invalid_path": PathUnusable,
}


def is_gone(error: str) -> bool:
    """Guess from its text whether an error means that there is no such folder."""
    return _ABSENT.search(error) is not None


async def change(
    adapter: BackendAdapter,
    runner: Runner,
    names: tuple[str, str],
    make: UpdateFunction,
    mode: ChangeMode,
) -> None:
    """Change a file atomically, as `SupportsChange.change_file` does, on any backend.

    Args:
        adapter: The backend.
        runner: Calls what may block.
        names: The path as the caller spelled it, and as the backend knows it.
        make: Computes the new content.
        mode: What must exist before the change, see `ChangeMode`.

    Raises:
        FileError: If the file cannot be changed, or `make` refuses.
    """
    path, inner = names
    able = changes_of(adapter.backend)
    if able is None:
        # The lock excludes other wrappers, in this process and in others. A writer without a
        # wrapper does not take it; the compare-and-swap below notices its change.
        named = [f"{location_key(adapter.backend)}\0{normal_or_same(inner)}"]
        async with NamedLocks(
            runner, named, path=path, timeout=FileLimits().lock_timeout, outer=True
        ):
            await _Swap(adapter, runner, path, inner).change(make, mode)
        return
    try:
        await runner.call(able.change_file, able.achange_file, inner, make, mode)
    except FileError as error:
        raise with_path(error, path, with_callers_path(error.message, inner, path))  # noqa: B904 - it is the same


async def add(
    adapter: BackendAdapter, runner: Runner, names: tuple[str, str | None], data: bytes
) -> None:
    """Store a file under a unique name, without taking a lock.

    It may be called while another file is locked, as for the version of a change.

    Args:
        adapter: The backend.
        runner: Calls what may block.
        names: The path, and the path of a file whose access rights the new one gets.
        data: The bytes.

    Raises:
        FileError: If it cannot be stored.
    """
    path, like = names
    able = adds_of(adapter.backend)
    if able is not None:
        await runner.call(able.add_file, able.aadd_file, path, data, like)
        return
    (stored,) = await adapter.upload(runner, [(path, data)])
    if stored.error:
        raise WriteFailed(path, f"'{path}' was not written: {stored.error}")


async def drop(adapter: BackendAdapter, runner: Runner, path: str) -> None:
    """Remove a file that was added; a missing one is no error.

    Raises:
        FileError: If it cannot be removed.
    """
    able = adds_of(adapter.backend)
    if able is not None:
        await runner.call(able.drop_file, able.adrop_file, path)
        return
    result = await adapter.delete(runner, path, path)
    if result.error and (await adapter.download(runner, [path]))[0].error != "file_not_found":
        raise WriteFailed(path, f"'{path}' was not removed: {result.error}")


@dataclass(frozen=True, slots=True)
class _Swap:
    """Compare-and-swap of one file, over a backend that has none of its own."""

    adapter: BackendAdapter
    runner: Runner
    path: str
    inner: str

    async def change(self, make: UpdateFunction, mode: ChangeMode) -> None:
        for _ in range(_TRIES):
            before = await self._content_before(mode)
            new = await compute_update(self.runner, make, before, mode, self.path)
            if new.after == before or await self._put(before, new):
                return
        message = f"'{self.path}' was not written: other writers changed it at each attempt"
        raise WriteFailed(self.path, f"{message}; try again")

    async def _content_before(self, mode: ChangeMode) -> bytes | None:
        path, error, content = self.path, *await self._got()
        if error is None:
            return content
        if error == "file_not_found":
            if mode == "delete":
                raise await self._no_file(folder=False)
            if mode == "change":
                raise FileMissing(path)
            return None
        if error == "invalid_path":
            normalise(self.inner)
            raise PathUnusable(path, f"'{path}' is not a valid path of a file")
        if error == "is_directory":
            raise await self._no_file(folder=True) if mode == "delete" else FileIsDirectory(path)
        raise FileDenied(path, f"'{path}' cannot be changed, because it cannot be read: {error}")

    async def _no_file(self, *, folder: bool) -> FileError:
        """Return the error for a path without a file: a folder, or nothing."""
        if normalise(self.inner) == "/":
            return FileIsDirectory(self.path, f"'{self.path}' is the root; delete single files")
        if folder or (await self.adapter.ls(self.runner, self.path, self.inner)).entries:
            return PathIsFolder(self.path)
        return FileMissing(self.path, f"'{self.path}' not found")

    async def _got(self) -> tuple[Any, bytes | None]:
        (answer,) = await self.adapter.download(self.runner, [self.inner])
        content: Any = answer.content
        return answer.error, content.encode() if isinstance(content, str) else content

    async def _put(self, before: bytes | None, update: FileUpdate) -> bool:
        """Write the new content; return False if another writer was faster.

        Raises:
            FileError: If the backend refuses for another reason.
        """
        after = update.after
        old, new = _plain_text(before), _plain_text(after)
        if old is not None and old.strip() and new is not None:
            edit = self.adapter.edit(self.runner, self.path, self.inner, old, new, every=False)
            error = (await edit).error
        elif before is None and new is not None and update.kind != "upload":
            error = (await self.adapter.write(self.runner, self.path, self.inner, new)).error
        elif not await self._still_has(before):
            return False
        elif after is None:
            error = (await self.adapter.delete(self.runner, self.path, self.inner)).error
        else:
            error = (await self.adapter.upload(self.runner, [(self.inner, after)]))[0].error
        if error is None:
            return True
        if not await self._still_has(before):
            return False
        message = str(error).removeprefix("Error: ")
        raise _KINDS.get(message, WriteFailed)(
            self.path, f"'{self.path}' was not changed: {message}"
        )

    async def _still_has(self, before: bytes | None) -> bool:
        _, content = await self._got()
        return content == before


def _plain_text(data: bytes | None) -> str | None:
    """Return bytes as a text that every backend stores unchanged; None if that is impossible."""
    if data is None or b"\r" in data or b"\0" in data or data.startswith(b"\xef\xbb\xbf"):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None

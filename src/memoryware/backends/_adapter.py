"""Adapter for any backend: what it can do, its answers as our values, atomic changes of a file.

A backend may be ours, deepagents', or anybody's with the right methods; it may be
given as an instance or as a factory that is called with a runtime. Results are
read by attribute, and older plain lists are accepted. No other file inspects what kind of
object a backend is.

`change` is a compare-and-swap. Where the backend has none of its own, an edit of the whole old
text is the step: it is refused when somebody else changed the text meanwhile, and the change is
tried again. Where no edit will do (bytes that are no text, a file to be deleted) the file is
compared once more right before it is written; a write by others in between is lost.
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
from memoryware._twins import Via, in_thread
from memoryware.backends import _text
from memoryware.backends._base import (
    Adds,
    Changes,
    FolderThere,
    Made,
    Make,
    Mode,
    TwinBackend,
    as_told,
    made,
)
from memoryware.backends._deepagents import place_of, unwrapped
from memoryware.backends._locks import Holding
from memoryware.backends._paths import linked, normalise, spelled
from memoryware.backends._results import R, build, failure, said
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
_TOLD = 300
"""How many characters of an unknown error's message are passed on."""
FIRST_TEXT = "write its first text instead"
"""How the error ends of a line that has no text to be added to."""
APPEND_TRIES = 5
"""How often a line is added anew because somebody else changed the file meanwhile."""


def resolve(backend: Any, runtime: Any) -> BackendProtocol:
    """Return the backend itself, or what a factory makes of the runtime.

    Args:
        backend: An instance, or a callable that takes a runtime.
        runtime: Has `.state .context .store .stream_writer .config .tool_call_id`.

    Raises:
        SettingError: If that is no backend.
    """
    if is_backend(backend):
        return cast("BackendProtocol", backend)
    if not callable(backend):
        raise SettingError(f"{_named(backend)} is not a backend; pass for example StateBackend()")
    made = backend(runtime)
    if not is_backend(made):
        raise SettingError(
            f"The backend factory {_named(backend)} returned {_named(made)};"
            " it must return a backend, such as StateBackend()"
        )
    return cast("BackendProtocol", made)


def is_backend(value: Any) -> bool:
    """Say whether a value is a backend rather than a factory (or a class) of backends."""
    if issubclass(type(value), type):  # `isinstance` would ask our backends for their kin
        return False
    return hasattr(value, _METHODS[0]) or any(hasattr(value, name) for name in _METHODS)


def must_be_backend(value: Any, place: str) -> None:
    """Refuse what is not an instance of a backend, for a place that has no runtime.

    Raises:
        SettingError: The message says what to pass instead.
    """
    if is_backend(value):
        return
    if callable(value):
        raise SettingError(
            f"{place} is {_named(value)}, which has to be called first; pass a backend, or make"
            " the whole in a factory, such as lambda runtime: CompositeBackend(default=...)"
        )
    raise SettingError(
        f"{place} is {_named(value)}, not a backend; pass for example StateBackend()"
    )


def must_be_backend_or_factory(value: Any, option: str) -> None:
    """Refuse what is neither a backend nor a function that makes one of a runtime.

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
    """Return the backend as one that offers fingerprints, or None."""
    return backend if _can(backend, "fingerprint") else None


def appends_of(backend: Any) -> Appends | None:
    """Return the backend as one that can add a line by itself, or None."""
    return backend if _can(backend, "append") else None


def names_of(backend: Any) -> Names | None:
    """Return the backend as one that knows all names of a file, or None."""
    return backend if _can(backend, "names") else None


def twins_of(backend: Any, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a method and its async twin; a missing half is made of the other, or says so."""
    sync = getattr(backend, name, None)
    asyn = getattr(backend, "a" + name, None)
    if sync is None:
        sync = partial(_lacking, f"{type(backend).__name__} has no {name}()")
    return sync, asyn or partial(in_thread, sync)


async def refusal_of(via: Via, backend: Any, path: str) -> str:
    """Return the sentence with which a backend refuses a path; "" where it has none.

    `download_files` has codes only. One of ours is asked to read the path, which it refuses as
    well; somebody else's may wait for ever on a pipe, so only the spelling is looked at.
    """
    try:
        if _reads_regular_files_only(backend, path):
            answer = await Guest(backend).read(via, path, path, 0, 1)
            return (answer.error or "").rstrip(".")
        normalise(path)
    except FileError as error:
        return error.message.rstrip(".")
    return ""


def _reads_regular_files_only(backend: Any, path: str) -> bool:
    backend = unwrapped(backend)
    parted = getattr(backend, "_get_backend_and_key", None)
    if parted is not None:
        return _reads_regular_files_only(*parted(path))
    return isinstance(backend, TwinBackend)


def changes_of(backend: Any) -> Changes | None:
    """Return the backend as one that changes a file in one step, or None.

    Whose class has its own way of writing is asked to write.
    """
    homes = {getattr(getattr(backend, name, None), "__module__", "") for name in _WRITING}
    ours = all(home.startswith("memoryware.") for home in homes)
    return backend if ours and _can(backend, "change_file") else None


def adds_of(backend: Any) -> Adds | None:
    """Return the backend as one that stores new files without waiting, or None."""
    return backend if changes_of(backend) and _can(backend, "add_file") else None


def same_files(first: Any, second: Any) -> bool:
    """Say whether two backends or factories hold the same files, as far as that can be seen.

    Wrappers are looked through. Two backends that were made apart are the same only where
    their class can tell, as that of the disk.
    """
    first, second = unwrapped(first), unwrapped(second)
    if first is second:
        return True
    if not is_backend(first) and not is_backend(second):  # two views of one method are equal
        return bool(first == second)
    tell = getattr(first, "has_same_files_as", None)
    return callable(tell) and bool(tell(second))


def _can(backend: Any, name: str) -> bool:
    """Say whether both twins are there: `isinstance` of a protocol, but a hundred times faster."""
    return callable(getattr(backend, name, None)) and callable(getattr(backend, "a" + name, None))


class Guest:
    """Anybody's backend, asked so that it answers in our values and does not raise.

    Two things do pass: `PathRefused`, and what ends the step of a graph, such as an
    interrupt.
    """

    __slots__ = ("backend",)

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    @property
    def name(self) -> str:
        """The name of the backend's class."""
        return type(self.backend).__name__

    # Of a single file or folder: `path` is the caller's, `inner` the backend's own.

    def ls(self, via: Via, path: str, inner: str) -> Answer[LsResult]:
        return self._ask(LsResult, via, "ls", path, inner)

    def read(self, via: Via, path: str, inner: str, offset: int, limit: int) -> Answer[ReadResult]:
        return self._ask(ReadResult, via, "read", path, inner, offset, limit)

    def write(self, via: Via, path: str, inner: str, content: str) -> Answer[WriteResult]:
        return self._ask(WriteResult, via, "write", path, inner, content)

    def edit(
        self, via: Via, path: str, inner: str, old: str, new: str, every: bool
    ) -> Answer[EditResult]:
        return self._ask(EditResult, via, "edit", path, inner, old, new, every)

    def delete(self, via: Via, path: str, inner: str) -> Answer[DeleteResult]:
        return self._ask(DeleteResult, via, "delete", path, inner)

    async def append(self, via: Via, path: str, inner: str, line: str) -> EditResult:
        """Add a line to the end; without an `append` by an edit of the whole text.

        Such an edit is refused when somebody else changed the text meanwhile, so nothing
        is lost; a file that is missing or empty gives no text to hold on to.
        """
        if appends_of(self.backend) is not None:
            return await self._ask(EditResult, via, "append", path, inner, line)
        result, before = failure(EditResult, f"File '{path}' changes too often; try again"), b""
        for _ in range(APPEND_TRIES):
            (got,) = await self.download(via, [inner])
            if not got.content:
                return failure(EditResult, _nothing_to_hold(path, got.error))
            if got.content == before:
                break
            before = got.content
            text = before.decode("utf-8", "replace")
            longer = _text.append(path, text, line)
            result = await self.edit(via, path, inner, text, longer, every=False)
            if not result.error:
                break
        return result

    def glob(self, via: Via, pattern: str, path: str | None) -> Answer[GlobResult]:
        args = (pattern,) if path is None else (pattern, path)
        return self._search(GlobResult, via, "glob", *args)

    async def grep(
        self, via: Via, pattern: str, path: str | None, glob: str | None, max_count: int | None
    ) -> GrepResult:
        """Search; a backend that knows no `max_count` is asked without and cut afterwards."""
        if max_count is None or not self._takes("max_count", "grep"):
            found = await self._search(GrepResult, via, "grep", pattern, path, glob)
        else:
            found = await self._search(
                GrepResult, via, "grep", pattern, path, glob, max_count=max_count
            )
        if max_count is None or len(found.matches or []) <= max_count:
            return found
        kept = (found.matches or [])[:max_count]
        return build(GrepResult, error=found.error, matches=kept, truncated=True)

    async def upload(self, via: Via, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Store files; one answer per file, whatever the backend does."""
        answers = await self._batch(via, "upload_files", files)
        pairs = zip(files, answers, strict=True)
        return [FileUploadResponse(path, _error_of(one)) for (path, _), one in pairs]

    async def download(self, via: Via, paths: list[str]) -> list[FileDownloadResponse]:
        """Return the bytes of files; one answer per path, whatever the backend does."""
        answers = await self._batch(via, "download_files", paths)
        return [self._got(path, one) for path, one in zip(paths, answers, strict=True)]

    async def fingerprint(self, via: Via, paths: list[str]) -> list[str | None]:
        """Return one token per path, None where the backend cannot say."""
        unknown: list[str | None] = [None] * len(paths)
        if fingerprints_of(self.backend) is None:
            return unknown
        try:
            tokens = list(await via(*self._pair("fingerprint"), paths))
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            self._explain("fingerprint", error)
            return unknown
        return tokens if len(tokens) == len(paths) else unknown

    async def names(self, via: Via, paths: list[str]) -> list[tuple[str, ...]]:
        """Return the names of each path; by its spelling where the backend cannot tell."""
        if names_of(self.backend) is None:
            real = getattr(self.backend, "_real_path", None)  # deepagents' disk has it
            if not callable(real):
                return [spelled(path) for path in paths]
            look = partial(linked, real, paths)
            return await via(look, partial(in_thread, look))
        try:
            told = list(await via(*self._pair("names"), paths))
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            self._explain("names", error)
            told = []
        return told if len(told) == len(paths) else [()] * len(paths)

    async def execute(self, via: Via, command: str, timeout: int | None) -> Any:  # noqa: ASYNC109 - handed through
        """Run a command where the backend is a sandbox, and return its own answer.

        Raises:
            NotImplementedError: If it is none.
        """
        if timeout is not None and self._takes("timeout", "execute"):
            return await via(*self._pair("execute"), command, timeout=timeout)
        return await via(*self._pair("execute"), command)

    async def _ask(
        self, kind: type[R], via: Via, name: str, path: str, inner: str, /, *args: Any
    ) -> R:
        try:
            told = self._as(kind, await via(*self._pair(name), inner, *args))
        except PathRefused as refused:
            raise PathRefused(path, said(refused.message, inner, path)) from None
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            told = failure(kind, self._explain(name, error))
        if told.error is None or inner == path:
            return told
        return replace(told, error=said(told.error, inner, path))

    async def _search(self, kind: type[R], via: Via, name: str, /, *args: Any, **kwargs: Any) -> R:
        try:
            return self._as(kind, await via(*self._pair(name), *args, **kwargs))
        except PathRefused as refused:
            return failure(kind, refused)
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            return failure(kind, self._explain(name, error))

    async def _batch(self, via: Via, name: str, asked: list[Any]) -> list[Any]:
        try:
            answers = await via(*self._pair(name), asked)
            if len(answers) == len(asked):
                return list(answers)
            reason = f"{self.name}.{name}() gave {len(answers)} answers for {len(asked)} files"
        except Exception as error:  # noqa: BLE001 - anybody's backend may raise anything
            told = self._explain(name, error)
            reason = error.code if isinstance(error, PathRefused) else told
        return [build(FileUploadResponse, path="", error=reason)] * len(asked)

    def _got(self, path: str, answer: Any) -> FileDownloadResponse:
        content, error = getattr(answer, "content", None), _error_of(answer)
        if content is None and error is None:
            error = f"{self.name}.download_files() gave neither content nor an error"
        return FileDownloadResponse(path, content, error)

    def _pair(self, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        return twins_of(self.backend, name)

    def _takes(self, parameter: str, name: str) -> bool:
        halves = self._pair(name)
        return all(_accepts(getattr(one, "__func__", one), parameter) for one in halves)

    def _as(self, kind: type[R], answer: Any) -> R:
        """Read anybody's answer as ours, by attribute; a plain list or text is older."""
        if isinstance(answer, kind):
            return answer
        if isinstance(answer, list) and kind in _LISTED:
            return build(kind, **{_LISTED[kind]: answer})
        if isinstance(answer, str):
            if kind is ReadResult and not answer.startswith("Error"):
                return build(kind, file_data=FileData(content=answer, encoding="utf-8"))
            return build(kind, error=answer)
        known = [one.name for one in fields(kind) if hasattr(answer, one.name)]
        if not known:
            raise TypeError(f"answered with {_named(answer)} instead of a {kind.__name__}")
        return build(kind, **{one: getattr(answer, one) for one in known})

    def _explain(self, name: str, error: Exception) -> str:
        """Turn an exception into a sentence; one that steers the graph passes through."""
        errors = sys.modules.get("langgraph.errors")
        if errors is not None and isinstance(error, errors.GraphBubbleUp):
            raise error
        if isinstance(error, NotImplementedError):
            return f"{self.name} does not support {name}()"
        if isinstance(error, MemorywareError):
            return str(error)
        logger.warning("%s.%s() raised %s", self.name, name, type(error).__name__)
        logger.debug("The error was", exc_info=error)
        # The names of real files in an OSError are nobody's business beyond this line.
        told = getattr(error, "strerror", None) or str(error).partition("\n")[0][:_TOLD]
        return f"{self.name}.{name}() failed with {type(error).__name__}: {told}"


def _error_of(answer: Any) -> Any:
    return getattr(answer, "error", "no answer")


def _told(error: Exception) -> str:
    """Name an error and what it says; that of the system without paths of this machine."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _nothing_to_hold(path: str, error: str | None) -> str:
    if error is None:
        return f"File '{path}' is empty; {FIRST_TEXT}"
    if error == "file_not_found":
        return f"File '{path}' not found; {FIRST_TEXT}"
    return f"File '{path}' could not be read: {error}"


def _lacking(message: str, *_: Any, **__: Any) -> Any:
    raise NotImplementedError(message)


def _named(value: Any) -> str:
    kind = f"a {type(value).__name__}" if value is not None else "None"
    return f"the class {value.__name__}" if isinstance(value, type) else kind


@lru_cache(maxsize=256)
def _accepts(function: Any, parameter: str) -> bool:
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return parameter in known or any(one.kind is one.VAR_KEYWORD for one in known.values())


def keeps_files_in_state(backend: Any) -> bool:
    """Say whether a backend may keep files in the graph state, so that it needs the channel.

    Of a factory nobody can know before it runs, so the answer is yes.
    """
    backend = unwrapped(backend)
    named = [kind.__name__ for kind in type(backend).__mro__]
    if not is_backend(backend) or "StateBackend" in named:
        return True
    routes = getattr(backend, "routes", None)
    parts = (
        [getattr(backend, "default", None), *routes.values()] if isinstance(routes, Mapping) else []
    )
    return any(keeps_files_in_state(part) for part in parts if part is not None)


_TRIES: Final = 25
"""How often a change is made anew because somebody else was faster."""
_ABSENT: Final = re.compile("not.?found|no such|not.?exist|not_a_directory", re.IGNORECASE)
_KINDS: Final[dict[str, type[FileError]]] = {
    "file_not_found": FileMissing,
    "permission_denied": FileDenied,
    "is_directory": FileIsDirectory,
    "invalid_path": PathUnusable,
}
"""What is raised for the codes of an upload."""


def is_gone(error: str) -> bool:
    """Say whether an error means that there is no such folder, as far as one can tell."""
    return _ABSENT.search(error) is not None


async def change(guest: Guest, via: Via, names: tuple[str, str], make: Make, mode: Mode) -> None:
    """Change a file of a backend, as `Changes.change_file` says.

    Args:
        guest: The backend.
        via: The half of its twins to take.
        names: The path as the caller spelled it, and as the backend knows it.
        make: Makes the new bytes.
        mode: What has to be there.

    Raises:
        FileError: As there.
    """
    path, inner = names
    able = changes_of(guest.backend)
    if able is None:
        # Other wrappers wait, also those in other processes; whoever writes past them is
        # found out by the edit.
        named = [f"{place_of(guest.backend)}\0{_spelled(inner)}"]
        async with Holding(via, named, path=path, timeout=FileLimits().lock_timeout, outer=True):
            await _Swap(guest, via, path, inner).change(make, mode)
        return
    try:
        await via(able.change_file, able.achange_file, inner, make, mode)
    except FileError as error:
        raise as_told(error, path, said(error.message, inner, path))  # noqa: B904 - it is the same


async def add(guest: Guest, via: Via, names: tuple[str, str | None], data: bytes) -> None:
    """Store a file whose name nobody else uses; another file may be held meanwhile.

    Args:
        guest: The backend.
        via: The half of its twins to take.
        names: The path, and that of a file whose readers may read this one too.
        data: The bytes.

    Raises:
        FileError: If it cannot be stored.
    """
    path, like = names
    able = adds_of(guest.backend)
    if able is not None:
        await via(able.add_file, able.aadd_file, path, data, like)
        return
    (stored,) = await guest.upload(via, [(path, data)])
    if stored.error:
        raise WriteFailed(path, f"'{path}' was not written: {stored.error}")


async def drop(guest: Guest, via: Via, path: str) -> None:
    """Remove a file that was added; nothing happens if it is gone.

    Raises:
        FileError: If it cannot be removed.
    """
    able = adds_of(guest.backend)
    if able is not None:
        await via(able.drop_file, able.adrop_file, path)
        return
    told = await guest.delete(via, path, path)
    if told.error and (await guest.download(via, [path]))[0].error != "file_not_found":
        raise WriteFailed(path, f"'{path}' was not removed: {told.error}")


def _spelled(path: str) -> str:
    try:
        return normalise(path)
    except FileError:
        return path


@dataclass(frozen=True, slots=True)
class _Swap:
    guest: Guest
    via: Via
    path: str
    inner: str

    async def change(self, make: Make, mode: Mode) -> None:
        for _ in range(_TRIES):
            before = await self._found(mode)
            new = await made(self.via, make, before, mode, self.path)
            if new.after == before or await self._put(before, new):
                return
        message = f"'{self.path}' was not written: others keep changing it; try again"
        raise WriteFailed(self.path, message)

    async def _found(self, mode: Mode) -> bytes | None:
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
            raise PathUnusable(path, f"'{path}' cannot be used as the path of a file")
        if error == "is_directory":
            raise await self._no_file(folder=True) if mode == "delete" else FileIsDirectory(path)
        raise FileDenied(path, f"'{path}' cannot be changed, because it cannot be read: {error}")

    async def _no_file(self, *, folder: bool) -> FileError:
        """Say of what is no file whether it is a folder that might be deleted."""
        if normalise(self.inner) == "/":
            return FileIsDirectory(self.path, f"'{self.path}' is the root; delete single files")
        if folder or (await self.guest.ls(self.via, self.path, self.inner)).entries:
            return FolderThere(self.path)
        return FileMissing(self.path, f"'{self.path}' not found")

    async def _got(self) -> tuple[Any, bytes | None]:
        (answer,) = await self.guest.download(self.via, [self.inner])
        content: Any = answer.content
        return answer.error, content.encode() if isinstance(content, str) else content

    async def _put(self, before: bytes | None, wanted: Made) -> bool:
        """Write, and say whether nobody else was faster.

        Raises:
            FileError: If the backend refuses for another reason.
        """
        after = wanted.after
        old, new = _plain(before), _plain(after)
        if old is not None and old.strip() and new is not None:
            edit = self.guest.edit(self.via, self.path, self.inner, old, new, every=False)
            error = (await edit).error
        elif before is None and new is not None and wanted.kind != "upload":
            error = (await self.guest.write(self.via, self.path, self.inner, new)).error
        elif not await self._is(before):
            return False
        elif after is None:
            error = (await self.guest.delete(self.via, self.path, self.inner)).error
        else:
            error = (await self.guest.upload(self.via, [(self.inner, after)]))[0].error
        if error is None:
            return True
        if not await self._is(before):
            return False
        told = str(error).removeprefix("Error: ")
        raise _KINDS.get(told, WriteFailed)(self.path, f"'{self.path}' was not changed: {told}")

    async def _is(self, before: bytes | None) -> bool:
        _, content = await self._got()
        return content == before


def _plain(data: bytes | None) -> str | None:
    """Return bytes as a text that every backend stores just so; None if there is none."""
    if data is None or b"\r" in data or b"\0" in data or data.startswith(b"\xef\xbb\xbf"):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None

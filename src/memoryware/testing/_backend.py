"""The base of the suites of file backends: options, a proxy for both modes, result checks."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import pytest

from memoryware.backends.protocol import (
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from memoryware.testing._suite import ConformanceSuite, Mode, run_in_thread, run_together

# Paths.

_ELSEWHERE = re.compile(r"~|[A-Za-z]:")
"""Prefixes of paths that are not relative to the root."""


@dataclass(frozen=True, slots=True)
class BackendTraits:
    """The options of a `BackendSuite` that each call needs.

    Tests use paths below `/`; `root` is added to the paths of calls and removed from the paths
    of results.
    """

    root: str = ""
    relative_to_root: bool = True
    fixed_folders: frozenset[str] = frozenset()
    deadline: float = 30

    def inward(self, path: str) -> str:
        """Add the root to a path of a test."""
        if path.startswith(("/", "\\")):
            return self.root + path
        if self.relative_to_root or not self.root or _ELSEWHERE.match(path):
            return path
        return f"{self.root}/{path}"

    def search_root(self, path: str | None) -> str | None:
        """Add the root to a folder to search; None stays None where the backend knows its root."""
        if path is not None:
            return self.inward(path)
        return self.root if self.root and not self.relative_to_root else None

    def outward(self, result: Any, path: str) -> Any:
        """Remove the root from the path and the error of a result."""
        inner = self.inward(path)
        if inner == path and not self.root:
            return result
        changed: dict[str, Any] = {}
        result_path, error = getattr(result, "path", None), result.error
        if result_path is not None:
            changed["path"] = path if result_path == inner else self.without_root(result_path)
        if error is not None:
            changed["error"] = error.replace(inner, path).replace(self.root, "")
        return replace(result, **changed)

    def outward_rows(self, result: Any, rows: str, path: str) -> Any:
        """Remove the root from the entries or matches of a result."""
        if not self.root:
            return result
        entries = getattr(result, rows)
        if entries:
            entries = [{**row, "path": self.without_root(row["path"])} for row in entries]
        return replace(self.outward(result, path), **{rows: entries})

    def without_root(self, path: str) -> str:
        """Remove the root from a path."""
        assert path.startswith(self.root), f"{path} is not below {self.root}"
        return path.removeprefix(self.root) or "/"


# Checks of every result.


def check_listing(result: LsResult) -> None:
    """Either an error or entries; sorted, each once, folders and only folders end in `/`."""
    _check_error(result.error)
    assert (result.error is None) != (result.entries is None), "an error or entries, not both"
    paths = _paths(result.entries)
    assert paths == sorted(set(paths)), "entries are sorted by path, and each comes once"
    for entry in result.entries or []:
        _check_entry(entry)


def check_glob(result: GlobResult) -> None:
    """Files only, sorted, each once; a reason is given only for what was cut short."""
    _check_error(result.error)
    assert result.error is not None or result.matches is not None, "an error or matches"
    assert result.truncated or result.truncation_reason is None, "a reason, but nothing missing"
    paths = _paths(result.matches)
    assert paths == sorted(set(paths)), "matches are sorted by path, and each comes once"
    for entry in result.matches or []:
        _check_entry(entry)
        assert not entry["path"].endswith("/"), "folders never match"


def check_grep(result: GrepResult) -> None:
    """Lines by path and number, without their endings, each once."""
    _check_error(result.error)
    assert result.error is not None or result.matches is not None, "an error or matches"
    positions = [(match["path"], match["line"]) for match in result.matches or []]
    assert positions == sorted(set(positions)), (
        "matches are sorted by path and line, each line once"
    )
    for match in result.matches or []:
        assert match["path"].startswith("/"), "paths in answers are absolute"
        assert match["line"] >= 1, "lines count from 1"
        assert not set("\r\n") & set(match["text"]), "a line comes without its ending"


def check_read(result: ReadResult) -> None:
    """Either an error or file data; the window's numbers fit together and its text."""
    _check_error(result.error)
    assert (result.error is None) != (result.file_data is None), "an error or file data, not both"
    if result.file_data is None:
        assert result.total_lines is result.start_line is result.next_offset is None
        return
    assert result.file_data["encoding"] in ("utf-8", "base64")
    for moment in ("created_at", "modified_at"):
        _check_time(str(result.file_data.get(moment, "")))
    text, start, end = result.file_data["content"], result.start_line, result.end_line
    assert (start is None) == (end is None), "start_line and end_line come together"
    if start is None or end is None:
        assert result.next_offset is None, "an empty window leads nowhere"
        return
    assert not result.no_lines_requested
    assert 1 <= start <= end <= (result.total_lines or 0)
    assert "\r" not in text, "the window has LF line endings"
    assert text.count("\n") + (not text.endswith("\n")) == end - start + 1
    more = end < (result.total_lines or 0)
    assert result.next_offset == (end if more else None), "next_offset is where reading goes on"


def check_change(result: WriteResult | EditResult | DeleteResult, path: str) -> None:
    """A success has the path as the caller wrote it."""
    _check_error(result.error)
    if result.error is None:
        assert result.path == path, "the result names the path as it was asked for"


def check_edit(result: EditResult) -> None:
    """A success says how often the text was replaced."""
    assert result.error is not None or (result.occurrences or 0) >= 1


def check_uploads(result: list[FileUploadResponse], paths: list[str]) -> None:
    """One answer per file, in order."""
    _check_batch(result, paths)


def check_downloads(result: list[FileDownloadResponse], paths: list[str]) -> None:
    """One answer per path, in order, with bytes or an error and never both."""
    _check_batch(result, paths)
    for answer in result:
        assert (answer.content is None) != (answer.error is None), "bytes or an error, not both"
        assert answer.content is None or type(answer.content) is bytes


def _check_batch(
    result: Sequence[FileDownloadResponse | FileUploadResponse], paths: list[str]
) -> None:
    assert [answer.path for answer in result] == paths, "one answer per path, in the given order"
    for answer in result:
        _check_error(answer.error)


def _check_entry(entry: FileInfo) -> None:
    path, folder = entry["path"], entry.get("is_dir", False)
    assert path.startswith("/"), "paths in answers are absolute"
    assert "//" not in path
    assert path.endswith("/") == folder, "folders and only folders end in '/'"
    assert not folder or entry.get("size", 0) == 0, "a folder has size 0"
    _check_time(entry.get("modified_at", ""))


def _check_time(text: str) -> None:
    if text:
        datetime.fromisoformat(text)  # a time is ISO 8601, or empty


def _check_error(error: str | None) -> None:
    assert error is None or error.strip(), "an error says something"


def _paths(entries: list[FileInfo] | None) -> list[str]:
    return [entry["path"] for entry in entries or []]


# The proxy.


class BackendProxy:
    """Calls a backend in one mode, and checks every result.

    `await proxy.read(path)` calls `read` in a thread without an event loop, or awaits `aread`;
    "inline" calls `read` directly, for workers that run in a thread already. The root of the
    traits is added to absolute paths and removed from results, and empty fixed folders are left
    out, so that all backends look alike to a test.
    """

    def __init__(
        self, open_backend: Callable[[], Any], mode: Mode | Literal["inline"], traits: BackendTraits
    ) -> None:
        self._open, self.mode, self.traits = open_backend, mode, traits

    @cached_property
    def target(self) -> Any:
        """The backend itself, opened at the first use."""
        return self._open()

    def again(self) -> BackendProxy:
        """Open another backend on the same data."""
        return BackendProxy(self._open, self.mode, self.traits)

    def for_worker(self, mode: Mode, *, share: bool) -> BackendProxy:
        """Return this backend, or another opening of its data, for one of many workers."""
        target = self.target
        opened = (lambda: target) if share else self._open
        return BackendProxy(opened, "inline" if mode == "blocking" else mode, self.traits)

    async def ls(self, path: str) -> LsResult:
        answer = await self._ask("ls", self._in(path))
        result: LsResult = self.traits.outward_rows(answer, "entries", path)
        check_listing(result)
        if result.entries and self.traits.fixed_folders:
            bare = [entry["path"] for entry in result.entries if await self._is_bare(entry["path"])]
            entries = [entry for entry in result.entries if entry["path"] not in bare]
            return replace(result, entries=entries)
        return result

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> ReadResult:
        options = {"offset": offset} if limit is None else {"offset": offset, "limit": limit}
        answer = await self._ask("read", self._in(path), **options)
        result: ReadResult = self.traits.outward(answer, path)
        check_read(result)
        return result

    async def write(self, path: str, content: str) -> WriteResult:
        answer = await self._ask("write", self._in(path), content)
        result: WriteResult = self.traits.outward(answer, path)
        check_change(result, path)
        return result

    async def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> EditResult:
        options = {"replace_all": True} if replace_all else {}
        answer = await self._ask("edit", self._in(path), old, new, **options)
        result: EditResult = self.traits.outward(answer, path)
        check_change(result, path)
        check_edit(result)
        return result

    async def append(self, path: str, line: str) -> EditResult:
        answer = await self._ask("append", self._in(path), line)
        result: EditResult = self.traits.outward(answer, path)
        check_change(result, path)
        return result

    async def delete(self, path: str) -> DeleteResult:
        answer = await self._ask("delete", self._in(path))
        result: DeleteResult = self.traits.outward(answer, path)
        check_change(result, path)
        return result

    async def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        inner = self.traits.search_root(path)
        options = {} if max_count is None else {"max_count": max_count}
        answer = await self._ask("grep", pattern, path=inner, glob=glob, **options)
        result: GrepResult = self.traits.outward_rows(answer, "matches", path or "/")
        check_grep(result)
        return result

    async def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        answer = await self._ask("glob", pattern, path=self.traits.search_root(path))
        result: GlobResult = self.traits.outward_rows(answer, "matches", path or "/")
        check_glob(result)
        return result

    async def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        answers = await self._ask("upload_files", [(self._in(p), data) for p, data in files])
        result = self._each_outward(answers, [path for path, _ in files])
        check_uploads(result, [path for path, _ in files])
        return result

    async def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        answers = await self._ask("download_files", [self._in(path) for path in paths])
        result = self._each_outward(answers, paths)
        check_downloads(result, paths)
        return result

    async def fingerprint(self, paths: list[str]) -> list[str | None]:
        tokens: list[str | None] = await self._ask("fingerprint", [self._in(p) for p in paths])
        assert len(tokens) == len(paths), "one token per path"
        return tokens

    async def names(self, paths: list[str]) -> list[tuple[str, ...]]:
        answers = await self._ask("names", [self._in(path) for path in paths])
        assert len(answers) == len(paths), "names per path"
        return [tuple(map(self.traits.without_root, names)) for names in answers]

    # Shortcuts.

    async def bytes_of(self, path: str) -> bytes | None:
        """Return the bytes of a file, None if it is not there."""
        (answer,) = await self.download_files([path])
        assert answer.error in (None, "file_not_found", "invalid_path"), answer.error
        return answer.content

    async def text_of(self, path: str) -> str | None:
        """Return the whole text of a file exactly as it is stored, None if it is not there."""
        data = await self.bytes_of(path)
        return None if data is None else data.decode()

    async def put(self, **texts: str) -> None:
        """Write files below the root, named by keyword: `put(a="x")` writes `/a.md`."""
        await self.fill({f"/{name}.md": text for name, text in texts.items()})

    async def fill(self, files: dict[str, str] | dict[str, bytes]) -> None:
        """Store files in one batch."""
        pairs = [(p, c.encode() if isinstance(c, str) else c) for p, c in files.items()]
        assert [answer.error for answer in await self.upload_files(pairs)] == [None] * len(pairs)

    async def files(self) -> list[str]:
        """Return the paths of all files whose names do not begin with a dot."""
        return paths_of(await self.glob("**"))

    # Calls.

    async def _is_bare(self, path: str) -> bool:
        """Whether a folder is fixed and empty."""
        return path in self.traits.fixed_folders and not (await self.ls(path)).entries

    async def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if self.mode == "inline":
            return getattr(self.target, name)(*args, **kwargs)
        if self.mode == "native":
            async with asyncio.timeout(self.traits.deadline):
                return await getattr(self.target, "a" + name)(*args, **kwargs)
        work = partial(getattr(self.target, name), *args, **kwargs)
        return await run_in_thread(work, self.traits.deadline)

    def _in(self, path: str) -> str:
        return self.traits.inward(path)

    def _each_outward(self, answers: list[Any], paths: list[str]) -> list[Any]:
        assert len(answers) == len(paths), "one answer per path"
        return [
            self.traits.outward(answer, path) for answer, path in zip(answers, paths, strict=True)
        ]


async def run_workers(
    workers: list[BackendProxy], work: Callable[[int, BackendProxy], Coroutine[Any, Any, None]]
) -> None:
    """Start workers at the same moment, as threads or as tasks by their mode."""
    numbered = dict(enumerate(workers))
    threads = {me: worker for me, worker in numbered.items() if worker.mode == "inline"}
    tasks = {me: worker for me, worker in numbered.items() if worker.mode != "inline"}
    await run_together(threads, tasks, work, workers[0].traits.deadline * 2)


async def retry(ask: Callable[[], Coroutine[Any, Any, Any]], tries: int = 500) -> None:
    """Call until there is no error, as an agent does that is asked to try again."""
    error = None
    for _ in range(tries):
        error = (await ask()).error
        if error is None:
            return
    raise AssertionError(f"still refused after {tries} tries: {error}")


def paths_of(result: LsResult | GlobResult | GrepResult) -> list[str]:
    """Return the paths of a result without an error, in order."""
    assert result.error is None, result.error
    rows = getattr(result, "entries", None) or getattr(result, "matches", None) or []
    return [row["path"] for row in rows]


def twin_differences(kind: type, protocol: type) -> list[str]:
    """List differences between `x` and `ax` of a class, and from the protocol."""
    problems = []
    for name in (name for name in vars(protocol) if "a" + name in vars(protocol)):
        sync, asyn = getattr(kind, name, None), getattr(kind, "a" + name, None)
        if sync is None or asyn is None:
            problems.append(f"{name} and a{name} must both be there")
            continue
        if inspect.iscoroutinefunction(sync) or not inspect.iscoroutinefunction(asyn):
            problems.append(f"{name} must be a plain function and a{name} a coroutine function")
        first, second = _arguments(sync), _arguments(asyn)
        if first != second:
            problems.append(f"{name}{inspect.signature(sync)} and a{name}{inspect.signature(asyn)}")
        expected = _arguments(getattr(protocol, name))
        if first[: len(expected)] != expected:
            problems.append(f"{name}{inspect.signature(sync)} does not begin as the protocol says")
    return problems


def _arguments(function: Any) -> list[tuple[str, Any, Any]]:
    parameters = inspect.signature(function).parameters.values()
    return [(parameter.name, parameter.kind, parameter.default) for parameter in parameters]


# The suite.

OpenBackend = Callable[[], Any]


class BackendSuite(ConformanceSuite):
    """The base of the suites of file backends.

    Derive a test class from a suite, override the fixture `open_backend`, and set the class
    attributes that differ. An attribute selects which of two results a test expects; it never
    skips a test.
    """

    persistent: ClassVar[bool] = True
    """Whether a backend that is opened again has its files; otherwise it is empty."""
    deletes: ClassVar[bool] = True
    """Whether `delete` works; otherwise it returns an error, or raises NotImplementedError."""
    stores_binary: ClassVar[bool] = True
    """Whether bytes that are not text can be stored; otherwise their upload is an error."""
    stores_empty_folders: ClassVar[bool] = False
    """Whether a folder stays when its last file is deleted, as on a disk."""
    refuses_missing_folders: ClassVar[bool | None] = None
    """Whether `ls` of a missing folder is an error; otherwise it is an empty listing, as where
    folders follow from the paths of files. None allows both, as in a composite of backends."""
    reports_created_at: ClassVar[bool] = False
    """Whether `read` returns `created_at`, which an overwrite does not change."""
    case_sensitive: ClassVar[bool] = True
    """Whether `/a.md` and `/A.md` are two files."""
    matches_loose_whitespace: ClassVar[bool] = True
    """Whether `edit` matches text that differs only in white space, and suggests similar lines."""
    expands_home: ClassVar[bool] = False
    """Whether `~` is expanded; otherwise paths that begin with it are refused."""
    relative_to_root: ClassVar[bool] = True
    """Whether relative paths begin at the fixture `root`; otherwise at `/`."""
    fixed_folders: ClassVar[frozenset[str]] = frozenset()
    """Folders that exist without files, such as mounts: `{"/mnt/"}`."""
    max_name_bytes: ClassVar[int] = 200
    """The length of file names, in bytes, that the backend must accept."""
    listing_size: ClassVar[int] = 1200
    """Files of the longest listing; set fewer where each file is expensive."""
    big_file_chars: ClassVar[int] = 2_000_000
    """Characters of the largest file that the tests write."""

    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        """Override: return a function that opens a backend on the same data, empty at first."""
        raise NotImplementedError(
            f"{type(self).__name__} must override the fixture `open_backend`: a function that"
            " opens a backend on the same data, which is empty at first"
        )

    @pytest.fixture
    def root(self) -> str:
        """Override to use a folder of the backend as `/`."""
        return ""

    @pytest.fixture
    def traits(self, root: str) -> BackendTraits:
        """Return the options that each call needs."""
        return BackendTraits(root, self.relative_to_root, self.fixed_folders, self.deadline)

    @pytest.fixture
    def backend(self, open_backend: OpenBackend, mode: Mode, traits: BackendTraits) -> BackendProxy:
        """Return the backend in one mode."""
        return BackendProxy(open_backend, mode, traits)

    def assert_missing_folder(self, result: Any, path: str) -> None:
        """Assert that a listing reports a missing folder, as `refuses_missing_folders` says."""
        error = f"Path '{path}': path_not_found"
        answers: list[tuple[Any, Any]] = []
        if self.refuses_missing_folders is not False:
            answers.append((error, None))
        if not self.refuses_missing_folders:
            answers.append((None, []))
        assert (result.error, result.entries) in answers

    def workers(self, backend: BackendProxy, count: int) -> list[BackendProxy]:
        """Return workers in one mode; half of them share one opened backend."""
        mode: Mode = "native" if backend.mode == "native" else "blocking"
        return [
            backend.for_worker(mode, share=not self.persistent or me % 2 == 0)
            for me in range(count)
        ]

"""One test body, two doors: the blocking half or the async half of a backend."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal

from memoryware.backends.protocol import (
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
from memoryware.testing import _laws
from memoryware.testing._guarded import Door
from memoryware.testing._terms import Terms
from memoryware.testing._threads import at_once, in_thread


class Either:
    """A backend seen through one of its doors.

    `await either.read(path)` calls `read` in a thread without an event loop, or awaits
    `aread`; `inline` calls `read` on the spot, for workers that are in a thread already.
    Every answer is held against the laws of its kind. The root of the terms is put before
    absolute paths on the way in and taken off on the way out, and standing folders with
    nothing in them are left out, so that all backends look alike to a test.
    """

    def __init__(
        self, open_backend: Callable[[], Any], door: Door | Literal["inline"], terms: Terms
    ) -> None:
        self._open, self.door, self.terms = open_backend, door, terms

    @cached_property
    def target(self) -> Any:
        """The backend itself, opened at the first use."""
        return self._open()

    def again(self) -> Either:
        """Open another backend on the same data."""
        return Either(self._open, self.door, self.terms)

    def for_worker(self, door: Door, *, share: bool) -> Either:
        """Return this backend, or another opening of its data, for one of many workers."""
        target = self.target
        opened = (lambda: target) if share else self._open
        return Either(opened, "inline" if door == "blocking" else door, self.terms)

    async def ls(self, path: str) -> LsResult:
        answer = await self._ask("ls", self._in(path))
        result: LsResult = self.terms.outward_rows(answer, "entries", path)
        _laws.of_listing(result)
        if result.entries and self.terms.standing:
            bare = [one["path"] for one in result.entries if await self._is_bare(one["path"])]
            kept = [one for one in result.entries if one["path"] not in bare]
            return replace(result, entries=kept)
        return result

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> ReadResult:
        wanted = {"offset": offset} if limit is None else {"offset": offset, "limit": limit}
        answer = await self._ask("read", self._in(path), **wanted)
        result: ReadResult = self.terms.outward(answer, path)
        _laws.of_read(result)
        return result

    async def write(self, path: str, content: str) -> WriteResult:
        answer = await self._ask("write", self._in(path), content)
        result: WriteResult = self.terms.outward(answer, path)
        _laws.of_change(result, path)
        return result

    async def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> EditResult:
        asked = {"replace_all": True} if replace_all else {}
        answer = await self._ask("edit", self._in(path), old, new, **asked)
        result: EditResult = self.terms.outward(answer, path)
        _laws.of_change(result, path)
        _laws.of_edit(result)
        return result

    async def append(self, path: str, line: str) -> EditResult:
        answer = await self._ask("append", self._in(path), line)
        result: EditResult = self.terms.outward(answer, path)
        _laws.of_change(result, path)
        return result

    async def delete(self, path: str) -> DeleteResult:
        answer = await self._ask("delete", self._in(path))
        result: DeleteResult = self.terms.outward(answer, path)
        _laws.of_change(result, path)
        return result

    async def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        inner = self.terms.place(path)
        asked = {} if max_count is None else {"max_count": max_count}
        answer = await self._ask("grep", pattern, path=inner, glob=glob, **asked)
        result: GrepResult = self.terms.outward_rows(answer, "matches", path or "/")
        _laws.of_grep(result)
        return result

    async def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        answer = await self._ask("glob", pattern, path=self.terms.place(path))
        result: GlobResult = self.terms.outward_rows(answer, "matches", path or "/")
        _laws.of_glob(result)
        return result

    async def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        answers = await self._ask("upload_files", [(self._in(p), data) for p, data in files])
        result = self._each_outward(answers, [path for path, _ in files])
        _laws.of_uploads(result, [path for path, _ in files])
        return result

    async def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        answers = await self._ask("download_files", [self._in(path) for path in paths])
        result = self._each_outward(answers, paths)
        _laws.of_downloads(result, paths)
        return result

    async def fingerprint(self, paths: list[str]) -> list[str | None]:
        tokens: list[str | None] = await self._ask("fingerprint", [self._in(p) for p in paths])
        assert len(tokens) == len(paths), "one token per path"
        return tokens

    async def names(self, paths: list[str]) -> list[tuple[str, ...]]:
        answers = await self._ask("names", [self._in(path) for path in paths])
        assert len(answers) == len(paths), "names per path"
        return [tuple(map(self.terms.without_root, one)) for one in answers]

    # What tests ask for most.

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
        assert [one.error for one in await self.upload_files(pairs)] == [None] * len(pairs)

    async def files(self) -> list[str]:
        """Return the paths of all files whose names do not begin with a dot."""
        return paths_of(await self.glob("**"))

    # The way in and the way out.

    async def _is_bare(self, path: str) -> bool:
        """Say whether a folder is only there because it always is."""
        return path in self.terms.standing and not (await self.ls(path)).entries

    async def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if self.door == "inline":
            return getattr(self.target, name)(*args, **kwargs)
        if self.door == "native":
            async with asyncio.timeout(self.terms.deadline):
                return await getattr(self.target, "a" + name)(*args, **kwargs)
        work = partial(getattr(self.target, name), *args, **kwargs)
        return await in_thread(work, self.terms.deadline)

    def _in(self, path: str) -> str:
        return self.terms.inward(path)

    def _each_outward(self, answers: list[Any], asked: list[str]) -> list[Any]:
        assert len(answers) == len(asked), "one answer per path"
        return [self.terms.outward(one, path) for one, path in zip(answers, asked, strict=True)]


async def work_at_once(
    workers: list[Either], work: Callable[[int, Either], Coroutine[Any, Any, None]]
) -> None:
    """Let workers begin in the same moment, as threads or as tasks by their door."""
    numbered = dict(enumerate(workers))
    threads = {me: one for me, one in numbered.items() if one.door == "inline"}
    tasks = {me: one for me, one in numbered.items() if one.door != "inline"}
    await at_once(threads, tasks, work, workers[0].terms.deadline * 2)


async def insist(ask: Callable[[], Coroutine[Any, Any, Any]], tries: int = 500) -> None:
    """Ask until there is no error, as an agent would that is told to try again."""
    error = None
    for _ in range(tries):
        error = (await ask()).error
        if error is None:
            return
    raise AssertionError(f"still refused after {tries} tries: {error}")


def paths_of(result: LsResult | GlobResult | GrepResult) -> list[str]:
    """Return the paths of an answer that has no error, in order."""
    assert result.error is None, result.error
    rows = getattr(result, "entries", None) or getattr(result, "matches", None) or []
    return [row["path"] for row in rows]


def twin_differences(kind: type, protocol: type) -> list[str]:
    """Say how `x` and `ax` disagree on a class, or do not take what the protocol names."""
    problems = []
    for name in (one for one in vars(protocol) if "a" + one in vars(protocol)):
        sync, asyn = getattr(kind, name, None), getattr(kind, "a" + name, None)
        if sync is None or asyn is None:
            problems.append(f"{name} and a{name} must both be there")
            continue
        if inspect.iscoroutinefunction(sync) or not inspect.iscoroutinefunction(asyn):
            problems.append(f"{name} must be a plain function and a{name} a coroutine function")
        first, second = _arguments(sync), _arguments(asyn)
        if first != second:
            problems.append(f"{name}{inspect.signature(sync)} and a{name}{inspect.signature(asyn)}")
        wanted = _arguments(getattr(protocol, name))
        if first[: len(wanted)] != wanted:
            problems.append(f"{name}{inspect.signature(sync)} does not begin as the protocol says")
    return problems


def _arguments(function: Any) -> list[tuple[str, Any, Any]]:
    parameters = inspect.signature(function).parameters.values()
    return [(one.name, one.kind, one.default) for one in parameters]

"""`CompositeBackend`: a tree of folders, some of which are kept in other backends.

A mounted folder behaves like a folder: it is listed in its parent, searched from
above, and hides what the backend below it keeps under the same name. A backend that
fails reports its error and leaves the answers of the other backends alone.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from memoryware import _checking
from memoryware._copying import ReconstructedOnUnpickling
from memoryware._twins import Via
from memoryware.backends._adapter import Guest, add, change, drop, must_be_backend
from memoryware.backends._base import ChangingBackend, Made, Make, Mode
from memoryware.backends._paths import join
from memoryware.backends._patterns import put_together, within
from memoryware.backends._results import build, said
from memoryware.backends._routing import Mounts, Pathfinder, Routes, Way, Ways
from memoryware.backends.protocol import (
    BackendLike,
    DeleteResult,
    EditResult,
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
from memoryware.errors import FileDenied, FileError

_NAMED = 20
"""How many found files the error of a glob names, because callers may drop the rest."""

W = TypeVar("W", WriteResult, EditResult, DeleteResult)
A = TypeVar("A", FileDownloadResponse, FileUploadResponse)


@dataclass(frozen=True, slots=True)
class _Part:
    """The share of one backend in a batch; `places` are those in the caller's list."""

    guest: Guest
    mounts: list[str]
    places: list[int]
    names: list[str]


class CompositeBackend(ChangingBackend, ReconstructedOnUnpickling):
    """Keeps some folders in backends of their own and everything else in `default`.

    Routes go by whole names and the longest wins: `/memories/` does not catch
    `/memories-old`. Any spelling of a path or of a route means the same folder. Parts
    may be ours, deepagents' or anybody's, and composites themselves.

    What a mount hides stays hidden under every name that the part below has for it: a
    host path goes where its name in the tree goes, and a link to it is refused.
    """

    def __init__(
        self,
        default: BackendLike,
        routes: Mapping[str, BackendLike],
        *,
        artifacts_root: str = "/",
    ) -> None:
        """Mount the backends of `routes` at their prefixes.

        Raises:
            PathRefused: If a prefix cannot be a path.
            SettingError: If a prefix is the root, two are the same folder, or a value is
                not a backend; the message says what to do.
        """
        must_be_backend(default, "The default backend")
        if not isinstance(routes, Mapping):
            raise _checking.wrong("routes", routes, 'a dict such as {"/memories/": backend}, or {}')
        _checking.check_text("artifacts_root", artifacts_root)
        for prefix, backend in routes.items():
            must_be_backend(backend, f"The route {prefix!r}")
        self._mounts = Mounts(routes)
        names = self._mounts.names
        self._guests = {name: Guest(routes[prefix]) for prefix, name in names.items()}
        self._guests[""] = Guest(default)
        by_prefix = Routes({f"{name}/": routes[prefix] for prefix, name in names.items()})
        self._routes = MappingProxyType(by_prefix)
        self._sorted = sorted(by_prefix.items(), key=lambda one: (-len(one[0]), one[0]))
        self._finder = Pathfinder(self._mounts, self._guests)
        self.artifacts_root = artifacts_root

    @property
    def default(self) -> Any:
        """The backend of every path that no route claims."""
        return self._guests[""].backend

    @property
    def routes(self) -> Mapping[str, Any]:
        """The mounted backends by normal prefix; read-only, and read in any spelling."""
        return self._routes

    @property
    def sorted_routes(self) -> list[tuple[str, Any]]:
        """The routes as pairs, the longest prefix first."""
        return list(self._sorted)

    # Where a path leads.

    def _get_backend_and_key(self, key: str) -> tuple[Any, str]:
        """Return the backend that a path belongs to, and the path as that backend knows it."""
        way = self._finder.by_spelling(key)
        return self._guests[way.mount].backend, way.inner

    # Operations on one file.

    async def _read(self, via: Via, path: str, offset: int, limit: int) -> ReadResult:
        way = await self._finder.file(via, path)
        return await self._guests[way.mount].read(via, path, way.inner, offset, limit)

    async def _write(self, via: Via, path: str, content: str) -> WriteResult:
        way = await self._finder.file(via, path)
        return _at(path, await self._guests[way.mount].write(via, path, way.inner, content))

    async def _edit(self, via: Via, path: str, old: str, new: str, every: bool) -> EditResult:
        way = await self._finder.file(via, path)
        return _at(path, await self._guests[way.mount].edit(via, path, way.inner, old, new, every))

    async def _append(self, via: Via, path: str, line: str) -> EditResult:
        way = await self._finder.file(via, path)
        return _at(path, await self._guests[way.mount].append(via, path, way.inner, line))

    async def _delete(self, via: Via, path: str) -> DeleteResult:
        way = await self._deletable(via, path)
        return _at(path, await self._guests[way.mount].delete(via, path, way.inner))

    async def _deletable(self, via: Via, path: str) -> Way:
        way = await self._finder.way(via, path)
        if self._mounts.is_folder(way.path):
            at = way.path if way.path in self._guests else self._mounts.below(way.path)[0]
            raise FileDenied(
                path,
                f"'{path}' cannot be deleted, because another backend is mounted at '{at}';"
                " delete single files instead",
            )
        return way

    async def _change_file(self, via: Via, path: str, make: Make, mode: Mode) -> None:
        find = self._deletable if mode == "delete" else self._finder.file
        way = await find(via, path)

        async def make_inside(via: Via, before: bytes | None) -> Made:
            new = await make(via, before)
            return (
                new
                if new.like is None
                else replace(new, like=await self._inner_like(via, way, new.like))
            )

        await change(self._guests[way.mount], via, (path, way.inner), make_inside, mode)

    async def _add_file(self, via: Via, path: str, data: bytes, like: str | None) -> None:
        way = await self._finder.file(via, path)
        alike = await self._inner_like(via, way, like)
        await add(self._guests[way.mount], via, (way.inner, alike), data)

    async def _inner_like(self, via: Via, way: Way, like: str | None) -> str | None:
        """Return the path of another file in the part to which a path leads; None if not there."""
        other = None if like is None else await self._finder.way(via, like)
        return other.inner if other is not None and other.mount == way.mount else None

    async def _drop_file(self, via: Via, path: str) -> None:
        way = await self._finder.file(via, path)
        await drop(self._guests[way.mount], via, way.inner)

    # Listing and searching.

    async def _ls(self, via: Via, path: str) -> LsResult:
        way = await self._finder.way(via, path)
        mount, normal, inner = way.mount, way.path, way.inner
        told = await self._guests[mount].ls(via, path, inner)
        mounted = [_folder(join(normal, f"/{one}")) for one in self._mounts.children(normal)]
        exists = mounted or normal == "/" or (mount and normal == mount)
        error = None if exists and is_absent(told.error) else told.error
        hidden = {one["path"] for one in mounted}
        found = named(mount, told.entries or [])
        entries = [*mounted, *(one for one in found if one["path"].rstrip("/") + "/" not in hidden)]
        entries.sort(key=lambda one: one["path"])
        if error and mounted:
            error = f"{error}; mounted here all the same: {', '.join(sorted(hidden))}"
        return build(LsResult, error=error, entries=entries if entries or not error else None)

    async def _glob(self, via: Via, pattern: str, path: str | None) -> GlobResult:
        asked = await self._questions(via, path, pattern)
        found = await via.all(
            self._guests[one.mount].glob(via, one.pattern or pattern, one.inner) for one in asked
        )
        files = {one["path"]: one for one in merged(self._mounts, asked, found)}
        names = sorted(files)
        error = errors_of(asked, found)
        if error and names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            error += f"; found elsewhere: {', '.join(names[:_NAMED])}{more}"
        reasons = [one.truncation_reason for one in found if one.truncation_reason]
        worst = [one for one in reasons if one == "unreadable"] or reasons or [None]
        return build(
            GlobResult,
            error=error,
            matches=[files[name] for name in names] if names or not error else None,
            truncated=any(one.truncated for one in found),
            truncation_reason=worst[0],
        )

    async def _grep(
        self, via: Via, pattern: str, path: str | None, glob: str | None, max_count: int | None
    ) -> GrepResult:
        asked = await self._questions(via, path, glob)
        found = await via.all(self._grep_one(via, one, pattern, max_count) for one in asked)
        lines = {(one["path"], one["line"]): one for one in merged(self._mounts, asked, found)}
        matches = [lines[place] for place in sorted(lines)[:max_count]]
        error = errors_of(asked, found)
        return build(
            GrepResult,
            error=error and f"Error: {error}",
            matches=matches if matches or not error else None,
            truncated=any(one.truncated for one in found) or len(matches) < len(lines),
        )

    async def _grep_one(
        self, via: Via, one: Question, pattern: str, max_count: int | None
    ) -> GrepResult:
        """Ask one part; matches that a mount hides do not count against the limit."""
        guest = self._guests[one.mount]
        found = await guest.grep(via, pattern, one.inner, one.pattern, max_count)
        given = found.matches or []
        hidden = len(given) - len(visible(self._mounts, one.mount, given))
        if max_count is not None and found.truncated and hidden:
            return await guest.grep(via, pattern, one.inner, one.pattern, None)
        return found

    async def _questions(self, via: Via, path: str | None, pattern: str | None) -> list[Question]:
        if path is None:
            return questions(self._mounts, "", "/", None, pattern)
        way = await self._finder.way(via, path)
        return questions(self._mounts, way.mount, way.path, way.inner, pattern)

    # Batches: one call per backend, in the order and spelling of the caller.

    async def _upload(self, via: Via, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        def ask(part: _Part) -> Coroutine[Any, Any, list[FileUploadResponse]]:
            named = zip(part.names, part.places, strict=True)
            return part.guest.upload(via, [(name, files[place][1]) for name, place in named])

        return await self._batch(via, FileUploadResponse, [path for path, _ in files], ask)

    async def _download(self, via: Via, paths: list[str]) -> list[FileDownloadResponse]:
        def ask(part: _Part) -> Coroutine[Any, Any, list[FileDownloadResponse]]:
            return part.guest.download(via, part.names)

        return await self._batch(via, FileDownloadResponse, paths, ask)

    async def _batch(
        self,
        via: Via,
        kind: type[A],
        paths: list[str],
        ask: Callable[[_Part], Coroutine[Any, Any, list[A]]],
    ) -> list[A]:
        parts, refused = self._parted(await self._finder.files(via, paths))
        answers = {place: build(kind, path="", error=code) for place, code in refused.items()}
        told = await via.all(map(ask, parts))
        for part, given in zip(parts, told, strict=True):
            answers.update(zip(part.places, given, strict=True))
        for place, path in enumerate(paths):
            answers[place].path = path
        return [answers[place] for place in range(len(paths))]

    def _parted(self, ways: Ways) -> tuple[list[_Part], dict[int, str]]:
        """Return what to ask of each backend, by identity, and the codes of refused paths."""
        parts: dict[int, _Part] = {}
        refused: dict[int, str] = {}
        for place, way in enumerate(ways):
            if isinstance(way, FileError):
                refused[place] = way.code
                continue
            guest = self._guests[way.mount]
            part = parts.setdefault(id(guest.backend), _Part(guest, [], [], []))
            part.mounts.append(way.mount)
            part.places.append(place)
            part.names.append(way.inner)
        return list(parts.values()), refused

    def fingerprint(self, paths: list[str]) -> list[str | None]:
        """Return one token per path; None where the part cannot say."""
        return self._run(self._fingerprint, paths)

    async def afingerprint(self, paths: list[str]) -> list[str | None]:
        """Async twin of `fingerprint`."""
        return await self._run_native(self._fingerprint, paths)

    async def _fingerprint(self, via: Via, paths: list[str]) -> list[str | None]:
        parts, _ = self._parted(await self._finder.files(via, paths))
        told = await via.all(part.guest.fingerprint(via, part.names) for part in parts)
        tokens: list[str | None] = [None] * len(paths)
        for part, given in zip(parts, told, strict=True):
            for place, mount, token in zip(part.places, part.mounts, given, strict=True):
                tokens[place] = None if token is None else f"{mount}\n{token}"
        return tokens

    def names(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return, per path, its absolute name and then the name it links to, if another."""
        return self._run(self._names, paths)

    async def anames(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Async twin of `names`."""
        return await self._run_native(self._names, paths)

    async def _names(self, via: Via, paths: list[str]) -> list[tuple[str, ...]]:
        parts, _ = self._parted(await self._finder.named(via, paths))
        told = await via.all(part.guest.names(via, part.names) for part in parts)
        names: list[tuple[str, ...]] = [() for _ in paths]
        for part, given in zip(parts, told, strict=True):
            for place, mount, known in zip(part.places, part.mounts, given, strict=True):
                names[place] = tuple(join(mount or "/", one) for one in known)
        return names

    # Commands, where the default backend is a sandbox.

    def execute(self, command: str, *, timeout: int | None = None) -> Any:
        """Run a command in the default backend.

        Raises:
            NotImplementedError: If the default backend cannot run commands.
        """
        return self._run(self._execute, command, timeout)

    async def aexecute(self, command: str, *, timeout: int | None = None) -> Any:  # noqa: ASYNC109 - handed through
        """Async twin of `execute`."""
        return await self._run_native(self._execute, command, timeout)

    async def _execute(self, via: Via, command: str, timeout: int | None) -> Any:  # noqa: ASYNC109 - handed through
        return await self._guests[""].execute(via, command, timeout)


def _at(path: str, told: W) -> W:
    return replace(told, path=None if told.error else path)


def _folder(path: str) -> FileInfo:
    return FileInfo(path=f"{path}/", is_dir=True, size=0, modified_at="")


M = TypeVar("M", FileInfo, GrepMatch)


@dataclass(frozen=True, slots=True)
class Question:
    """Which part to ask, from which of its folders on, for files of which names."""

    mount: str
    inner: str | None
    pattern: str | None
    exists: bool = True
    """The folder is there, whatever the part says, because it is or holds a mount."""


def questions(
    mounts: Mounts, mount: str, normal: str, inner: str | None, pattern: str | None
) -> list[Question]:
    """Return what to ask of each part that a search of a folder has to look into.

    Within a mount a pattern may repeat the path of the search; both readings count.

    Raises:
        PatternRefused: If the pattern has to be adapted and cannot work.
    """
    patterns = [pattern]
    repeated = normal[1:] + "/"
    if mount and pattern is not None and pattern.lstrip("/").startswith(repeated):
        patterns.append("/" + pattern.lstrip("/").removeprefix(repeated))
    own = put_together(map(str, patterns)) if len(patterns) > 1 else patterns
    below = mounts.below(normal) if normal else []
    exists = normal == "/" or inner == "/" or bool(below)
    asked = [Question(mount, inner, one, exists) for one in own]
    begin = len(normal.rstrip("/")) + 1
    for name in below:
        if pattern is None:
            asked.append(Question(name, "/", None))
            continue
        inside = {one for each in patterns for one in within(str(each), name[begin:])}
        asked += [Question(name, "/", one) for one in sorted(inside)]
    return asked


def merged(mounts: Mounts, asked: list[Question], found: Iterable[Any]) -> Iterator[Any]:
    """Yield what the parts found, under full paths and without what mounts hide."""
    for one, told in zip(asked, found, strict=True):
        yield from named(one.mount, visible(mounts, one.mount, told.matches or []))


def visible(mounts: Mounts, mount: str, matches: list[M]) -> list[M]:
    """Return the matches of a part that no mount inside it hides."""
    if not mounts.below(mount or "/"):
        return matches
    return [one for one in matches if not mounts.hides(full(mount, one["path"]), mount)]


def named(mount: str, given: list[M]) -> list[M]:
    """Return what a part gave under full paths."""
    if not mount:
        return given
    return [{**one, "path": full(mount, one["path"])} for one in given]


def full(mount: str, path: str) -> str:
    """Return the full path of what a part calls by this path."""
    return mount + path if path.startswith("/") or not mount else f"{mount}/{path}"


def errors_of(asked: list[Question], found: Iterable[Any]) -> str | None:
    """Return the errors of the parts in one text, without those of missing folders."""
    errors: dict[str, str] = {}
    for one, told in zip(asked, found, strict=True):
        if told.error and not (one.exists and is_absent(told.error)):
            inner = one.inner or "/"
            text = said(told.error, inner, full(one.mount, inner))
            errors[one.mount] = text.removeprefix("Error: ")
    if len({one.mount for one in asked}) == 1:
        return errors.get(asked[0].mount)
    texts = [f"'{name or '/'}' could not be searched: {errors[name]}" for name in sorted(errors)]
    return "; ".join(texts) or None


def is_absent(error: str | None) -> bool:
    """Say whether the error of a part means that it has no such folder."""
    return error is not None and ("path_not_found" in error or "not_a_directory" in error)

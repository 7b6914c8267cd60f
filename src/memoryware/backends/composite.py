"""`CompositeBackend`: a tree of folders, some of which are kept in other backends.

A mounted folder behaves like a folder: it is listed in its parent, searched from
above, and hides what the backend below it keeps under the same name. A backend that
fails reports its error and leaves the answers of the other backends alone.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from memoryware import _checking
from memoryware._copying import ReconstructedOnUnpickling
from memoryware._runner import Runner
from memoryware.backends._adapter import BackendAdapter, add, change, check_backend, drop
from memoryware.backends._base import ChangeMode, ChangingBackend, FileUpdate, UpdateFunction
from memoryware.backends._paths import join
from memoryware.backends._routing import (
    Mounts,
    Route,
    RouteOrError,
    Router,
    Routes,
    SearchRequest,
    is_absent,
    join_errors,
    merge_matches,
    search_requests,
    visible,
    with_full_paths,
)
from memoryware.backends.protocol import (
    BackendLike,
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
from memoryware.errors import FileDenied, FileError

# How many found files the error of a glob names, because callers may drop the rest.
_NAMED = 20

W = TypeVar("W", WriteResult, EditResult, DeleteResult)
A = TypeVar("A", FileDownloadResponse, FileUploadResponse)


@dataclass(frozen=True, slots=True)
class _BatchPart:
    """The share of one backend in a batch; `indexes` are positions in the caller's list."""

    adapter: BackendAdapter
    mounts: list[str]
    indexes: list[int]
    names: list[str]


class CompositeBackend(ChangingBackend, ReconstructedOnUnpickling):
    """Keeps some folders in backends of their own and everything else in `default`.

    Routes match whole names and the longest wins: `/memories/` does not catch
    `/memories-old`. Any spelling of a path or of a route means the same folder. The backends
    may be ours, deepagents' or anybody's, and composites themselves.

    What a mount hides stays hidden under every name that the backend below has for it: a
    host path is routed by its name in the tree, and a link to it is refused.
    """

    def __init__(
        self,
        default: BackendLike,
        routes: Mapping[str, BackendLike],
        *,
        artifacts_root: str = "/",
    ) -> None:
        """Mount the backends of `routes` at their prefixes.

        Args:
            default: The backend of every path that no route claims.
            routes: Backends by prefix, such as `{"/memories/": backend}`.
            artifacts_root: The folder for large results of tools, as in deepagents.

        Raises:
            PathRefused: If a prefix cannot be a path.
            SettingError: If a prefix is the root, two are the same folder, or a value is
                not a backend; the message says what to do.
        """
        check_backend(default, "The default backend")
        if not isinstance(routes, Mapping):
            raise _checking.wrong("routes", routes, 'a dict such as {"/memories/": backend}, or {}')
        _checking.check_text("artifacts_root", artifacts_root)
        for prefix, backend in routes.items():
            check_backend(backend, f"The route {prefix!r}")
        self._mounts = Mounts(routes)
        names = self._mounts.names
        self._adapters = {name: BackendAdapter(routes[prefix]) for prefix, name in names.items()}
        self._adapters[""] = BackendAdapter(default)
        by_prefix = Routes({f"{name}/": routes[prefix] for prefix, name in names.items()})
        self._routes = MappingProxyType(by_prefix)
        self._sorted = sorted(by_prefix.items(), key=lambda route: (-len(route[0]), route[0]))
        self._router = Router(self._mounts, self._adapters)
        self.artifacts_root = artifacts_root

    @property
    def default(self) -> Any:
        """The backend of every path that no route claims."""
        return self._adapters[""].backend

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
        route = self._router.by_spelling(key)
        return self._adapters[route.mount].backend, route.inner

    # Operations on one file.

    async def _read(self, runner: Runner, path: str, offset: int, limit: int) -> ReadResult:
        route = await self._router.file(runner, path)
        return await self._adapters[route.mount].read(runner, path, route.inner, offset, limit)

    async def _write(self, runner: Runner, path: str, content: str) -> WriteResult:
        route = await self._router.file(runner, path)
        return _at(
            path, await self._adapters[route.mount].write(runner, path, route.inner, content)
        )

    async def _edit(self, runner: Runner, path: str, old: str, new: str, every: bool) -> EditResult:
        route = await self._router.file(runner, path)
        return _at(
            path, await self._adapters[route.mount].edit(runner, path, route.inner, old, new, every)
        )

    async def _append(self, runner: Runner, path: str, line: str) -> EditResult:
        route = await self._router.file(runner, path)
        return _at(path, await self._adapters[route.mount].append(runner, path, route.inner, line))

    async def _delete(self, runner: Runner, path: str) -> DeleteResult:
        route = await self._deletable(runner, path)
        return _at(path, await self._adapters[route.mount].delete(runner, path, route.inner))

    async def _deletable(self, runner: Runner, path: str) -> Route:
        route = await self._router.route(runner, path)
        if self._mounts.is_folder(route.path):
            at = route.path if route.path in self._adapters else self._mounts.below(route.path)[0]
            raise FileDenied(
                path,
                f"'{path}' cannot be deleted, because another backend is mounted at '{at}';"
                " delete single files instead",
            )
        return route

    async def _change_file(
        self, runner: Runner, path: str, make: UpdateFunction, mode: ChangeMode
    ) -> None:
        find = self._deletable if mode == "delete" else self._router.file
        route = await find(runner, path)

        async def make_inside(runner: Runner, before: bytes | None) -> FileUpdate:
            new = await make(runner, before)
            return (
                new
                if new.like is None
                else replace(new, like=await self._inner_like(runner, route, new.like))
            )

        await change(self._adapters[route.mount], runner, (path, route.inner), make_inside, mode)

    async def _add_file(self, runner: Runner, path: str, data: bytes, like: str | None) -> None:
        route = await self._router.file(runner, path)
        alike = await self._inner_like(runner, route, like)
        await add(self._adapters[route.mount], runner, (route.inner, alike), data)

    async def _inner_like(self, runner: Runner, route: Route, like: str | None) -> str | None:
        """Return the path of another file in the part to which a path leads; None if not there."""
        other = None if like is None else await self._router.route(runner, like)
        return other.inner if other is not None and other.mount == route.mount else None

    async def _drop_file(self, runner: Runner, path: str) -> None:
        route = await self._router.file(runner, path)
        await drop(self._adapters[route.mount], runner, route.inner)

    # Listing and searching.

    async def _ls(self, runner: Runner, path: str) -> LsResult:
        route = await self._router.route(runner, path)
        mount, normal, inner = route.mount, route.path, route.inner
        result = await self._adapters[mount].ls(runner, path, inner)
        mounted = [_folder(join(normal, f"/{name}")) for name in self._mounts.children(normal)]
        exists = mounted or normal == "/" or (mount and normal == mount)
        error = None if exists and is_absent(result.error) else result.error
        hidden = {entry["path"] for entry in mounted}
        own_entries = with_full_paths(mount, result.entries or [])
        entries = [
            *mounted,
            *(entry for entry in own_entries if entry["path"].rstrip("/") + "/" not in hidden),
        ]
        entries.sort(key=lambda entry: entry["path"])
        if error and mounted:
            error = f"{error}; mounted here all the same: {', '.join(sorted(hidden))}"
        return LsResult(error=error, entries=entries if entries or not error else None)

    async def _glob(self, runner: Runner, pattern: str, path: str | None) -> GlobResult:
        requests = await self._search_requests(runner, path, pattern)
        results = await runner.gather(
            self._adapters[request.mount].glob(runner, request.pattern or pattern, request.inner)
            for request in requests
        )
        files = {info["path"]: info for info in merge_matches(self._mounts, requests, results)}
        names = sorted(files)
        error = join_errors(requests, results)
        if error and names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            error += f"; found elsewhere: {', '.join(names[:_NAMED])}{more}"
        reasons = [result.truncation_reason for result in results if result.truncation_reason]
        worst = [reason for reason in reasons if reason == "unreadable"] or reasons or [None]
        return GlobResult(
            error=error,
            matches=[files[name] for name in names] if names or not error else None,
            truncated=any(result.truncated for result in results),
            truncation_reason=worst[0],
        )

    async def _grep(
        self,
        runner: Runner,
        pattern: str,
        path: str | None,
        glob: str | None,
        max_count: int | None,
    ) -> GrepResult:
        requests = await self._search_requests(runner, path, glob)
        results = await runner.gather(
            self._grep_one(runner, request, pattern, max_count) for request in requests
        )
        lines = {
            (match["path"], match["line"]): match
            for match in merge_matches(self._mounts, requests, results)
        }
        matches = [lines[line] for line in sorted(lines)[:max_count]]
        error = join_errors(requests, results)
        return GrepResult(
            error=error and f"Error: {error}",
            matches=matches if matches or not error else None,
            truncated=any(result.truncated for result in results) or len(matches) < len(lines),
        )

    async def _grep_one(
        self, runner: Runner, request: SearchRequest, pattern: str, max_count: int | None
    ) -> GrepResult:
        """Search one backend; matches that a mount hides do not count against the limit."""
        adapter = self._adapters[request.mount]
        result = await adapter.grep(runner, pattern, request.inner, request.pattern, max_count)
        matches = result.matches or []
        hidden = len(matches) - len(visible(self._mounts, request.mount, matches))
        if max_count is not None and result.truncated and hidden:
            return await adapter.grep(runner, pattern, request.inner, request.pattern, None)
        return result

    async def _search_requests(
        self, runner: Runner, path: str | None, pattern: str | None
    ) -> list[SearchRequest]:
        if path is None:
            return search_requests(self._mounts, "", "/", None, pattern)
        route = await self._router.route(runner, path)
        return search_requests(self._mounts, route.mount, route.path, route.inner, pattern)

    # Batches: one call per backend, in the order and spelling of the caller.

    async def _upload(
        self, runner: Runner, files: list[tuple[str, bytes]]
    ) -> list[FileUploadResponse]:
        def ask(part: _BatchPart) -> Coroutine[Any, Any, list[FileUploadResponse]]:
            pairs = zip(part.names, part.indexes, strict=True)
            return part.adapter.upload(runner, [(name, files[index][1]) for name, index in pairs])

        return await self._batch(runner, FileUploadResponse, [path for path, _ in files], ask)

    async def _download(self, runner: Runner, paths: list[str]) -> list[FileDownloadResponse]:
        def ask(part: _BatchPart) -> Coroutine[Any, Any, list[FileDownloadResponse]]:
            return part.adapter.download(runner, part.names)

        return await self._batch(runner, FileDownloadResponse, paths, ask)

    async def _batch(
        self,
        runner: Runner,
        kind: type[A],
        paths: list[str],
        ask: Callable[[_BatchPart], Coroutine[Any, Any, list[A]]],
    ) -> list[A]:
        parts, refused = self._parted(await self._router.files(runner, paths))
        answers = {index: kind(path="", error=code) for index, code in refused.items()}
        results = await runner.gather(map(ask, parts))
        for part, part_answers in zip(parts, results, strict=True):
            answers.update(zip(part.indexes, part_answers, strict=True))
        for index, path in enumerate(paths):
            answers[index].path = path
        return [answers[index] for index in range(len(paths))]

    def _parted(self, routes_or_errors: RouteOrError) -> tuple[list[_BatchPart], dict[int, str]]:
        """Group paths by backend (by identity), and return the codes of refused paths."""
        parts: dict[int, _BatchPart] = {}
        refused: dict[int, str] = {}
        for index, route in enumerate(routes_or_errors):
            if isinstance(route, FileError):
                refused[index] = route.code
                continue
            adapter = self._adapters[route.mount]
            # By identity: two routes to one backend are one batch, and backends need not be
            # hashable.
            part = parts.setdefault(id(adapter.backend), _BatchPart(adapter, [], [], []))
            part.mounts.append(route.mount)
            part.indexes.append(index)
            part.names.append(route.inner)
        return list(parts.values()), refused

    def fingerprint(self, paths: list[str]) -> list[str | None]:
        """Return a token for the present content of each file.

        Args:
            paths: The files.

        Returns:
            One token per path, in order; None where its backend has none.
        """
        return self._run(self._fingerprint, paths)

    async def afingerprint(self, paths: list[str]) -> list[str | None]:
        """Return a token for the present content of each file.

        Args:
            paths: The files.

        Returns:
            One token per path, in order; None where its backend has none.
        """
        return await self._run_native(self._fingerprint, paths)

    async def _fingerprint(self, runner: Runner, paths: list[str]) -> list[str | None]:
        parts, _ = self._parted(await self._router.files(runner, paths))
        results = await runner.gather(
            part.adapter.fingerprint(runner, part.names) for part in parts
        )
        tokens: list[str | None] = [None] * len(paths)
        for part, part_tokens in zip(parts, results, strict=True):
            for index, mount, token in zip(part.indexes, part.mounts, part_tokens, strict=True):
                tokens[index] = None if token is None else f"{mount}\n{token}"
        return tokens

    def names(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return all names of each path.

        Args:
            paths: The files or folders; they need not exist.

        Returns:
            Per path its absolute name, then the name that links lead to, if that is another. A
            refused path has no names.
        """
        return self._run(self._names, paths)

    async def anames(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return all names of each path.

        Args:
            paths: The files or folders; they need not exist.

        Returns:
            Per path its absolute name, then the name that links lead to, if that is another. A
            refused path has no names.
        """
        return await self._run_native(self._names, paths)

    async def _names(self, runner: Runner, paths: list[str]) -> list[tuple[str, ...]]:
        parts, _ = self._parted(await self._router.named(runner, paths))
        results = await runner.gather(part.adapter.names(runner, part.names) for part in parts)
        names: list[tuple[str, ...]] = [() for _ in paths]
        for part, part_names in zip(parts, results, strict=True):
            for index, mount, own_names in zip(part.indexes, part.mounts, part_names, strict=True):
                names[index] = tuple(join(mount or "/", name) for name in own_names)
        return names

    # Commands, where the default backend is a sandbox.

    def execute(self, command: str, *, timeout: int | None = None) -> Any:
        """Run a command in the default backend.

        Args:
            command: The command line.
            timeout: Seconds after which it is stopped; None leaves that to the backend.

        Returns:
            The answer of that backend.

        Raises:
            NotImplementedError: If the default backend cannot run commands.
        """
        return self._run(self._execute, command, timeout)

    async def aexecute(self, command: str, *, timeout: int | None = None) -> Any:  # noqa: ASYNC109 - handed through
        """Run a command in the default backend.

        Args:
            command: The command line.
            timeout: Seconds after which it is stopped; None leaves that to the backend.

        Returns:
            The answer of that backend.

        Raises:
            NotImplementedError: If the default backend cannot run commands.
        """
        return await self._run_native(self._execute, command, timeout)

    async def _execute(self, runner: Runner, command: str, timeout: int | None) -> Any:  # noqa: ASYNC109 - handed through
        return await self._adapters[""].execute(runner, command, timeout)


def _at(path: str, result: W) -> W:
    return replace(result, path=None if result.error else path)


def _folder(path: str) -> FileInfo:
    return FileInfo(path=f"{path}/", is_dir=True, size=0, modified_at="")

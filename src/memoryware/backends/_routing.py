"""Routing of `CompositeBackend`: the mount table, and the backend that a path belongs to.

A mount is named by its normal path without a final slash; "" is the default backend. A look-up
costs as many steps as the path has folders, however many mounts there are.

A path is not enough: a backend may know other names for it, from a host path, a home folder
or a link. So a backend that knows names and has mounts inside is asked for them first. Its
own name for the path decides where it goes. A link that leads to what a mount hides, or
to a folder with a mount in it, is refused, as nobody could say which of the two is meant.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard, TypeVar

from memoryware._runner import Runner
from memoryware.backends._adapter import BackendAdapter, names_of
from memoryware.backends._base import with_callers_path
from memoryware.backends._paths import join, normalise
from memoryware.backends._patterns import put_together, within
from memoryware.backends.protocol import FileInfo, GrepMatch
from memoryware.errors import FileDenied, FileError, FileIsDirectory, PathRefused, SettingError


class Mounts:
    """A table of mounts, checked when it is built.

    Attributes:
        names: The normal name of each prefix as it was given.
    """

    def __init__(self, prefixes: Iterable[str]) -> None:
        """Read the prefixes in any spelling.

        Raises:
            PathRefused: For a prefix that no path can be.
            SettingError: For the root, and for two prefixes that name one folder.
        """
        self.names: dict[str, str] = {}
        spelled: dict[str, str] = {}
        for prefix in prefixes:
            name = normalise(prefix)
            if name == "/":
                raise SettingError(
                    f"The route {prefix!r} is the root; give that backend as `default` instead"
                )
            if name in spelled:
                raise SettingError(
                    f"The routes {spelled[name]!r} and {prefix!r} name the same folder; keep one"
                )
            spelled[name] = prefix
            self.names[prefix] = name
        self._cache = frozenset(["", *spelled])
        self._sorted = sorted(spelled)
        self._children: dict[str, set[str]] = {}
        for name in spelled:
            steps = name.split("/")
            for depth in range(1, len(steps)):
                folder = "/".join(steps[:depth]) or "/"
                self._children.setdefault(folder, set()).add(steps[depth])

    def owner(self, path: str) -> str:
        """Return the mount that a normal path lies in, the longest one by whole names."""
        # Whole names only: a prefix by characters would let /memories catch /memories-old.
        while path not in self._cache:
            path = path[: path.rfind("/")]
        return path

    def children(self, folder: str) -> set[str]:
        """Return the names in a normal folder that are mounts or lead to one."""
        return self._children.get(folder, set())

    def below(self, folder: str) -> list[str]:
        """Return the mounts that lie in a normal folder, at any depth, without itself."""
        if folder == "/":
            return self._sorted
        start = bisect_left(self._sorted, folder + "/")
        end = bisect_left(self._sorted, folder + "0", start)  # "0" comes right after "/"
        return self._sorted[start:end]

    def hides(self, path: str, mount: str) -> bool:
        """Return whether a file of a mount is hidden, by a mount inside or what leads to one."""
        return self.owner(path) != mount or self.is_folder(path)

    def is_folder(self, path: str) -> bool:
        """Return whether a normal path is a mount or leads to one."""
        return path in self._children or (path in self._cache and path != "")


class Routes(dict[str, Any]):
    """Backends by normal prefix (`/memories/`), found by any spelling of it."""

    def __missing__(self, prefix: str) -> Any:
        try:
            name = normalise(prefix) + "/"
        except PathRefused:
            raise KeyError(prefix) from None
        if name not in self:
            raise KeyError(prefix)
        return self[name]


# Spellings that mean something on a disk only: the default backend is asked.
_OF_A_DISK: Final = re.compile(r"(?:~|[A-Za-z]:)(?:[/\\]|$)")
# Paths whose route is cached; the mounts never change.
_KNOWN_AT_MOST: Final = 4096


@dataclass(frozen=True, slots=True)
class Route:
    """The backend that a path belongs to.

    Attributes:
        mount: The backend, by its mount; "" for the default.
        path: The full normal path; "" for a path without a normal form.
        inner: The path as that backend is asked for it.
    """

    mount: str
    path: str
    inner: str


# One per requested path; a refused path has an error.
RouteOrError = Sequence[Route | FileError]


class Router:
    """Finds the backends of paths, with one batched call of `names` per backend."""

    def __init__(self, mounts: Mounts, adapters: Mapping[str, BackendAdapter]) -> None:
        self._mounts, self._adapters = mounts, adapters
        self._cache: dict[str, Route] = {}
        self._mounts_with_names = frozenset(
            mount
            for mount, adapter in adapters.items()
            if names_of(adapter.backend) is not None and mounts.below(mount or "/")
        )

    def by_spelling(self, path: Any) -> Route:
        """Return the route that follows from the spelling alone.

        The default gets the path as it came, and is the only one to read paths without a normal
        form.

        Raises:
            PathRefused: For a path that no backend accepts.
        """
        cached = self._cache.get(path) if isinstance(path, str) else None
        if cached is not None:
            return cached
        try:
            normal = normalise(path)
        except PathRefused:
            if _OF_A_DISK.match(str(path)):
                return Route("", "", path)
            raise
        route = self._inside(normal)
        if not route.mount:
            route = replace(route, inner=path)
        if len(self._cache) >= _KNOWN_AT_MOST:
            self._cache.clear()
        self._cache[path] = route
        return route

    def _inside(self, normal: str) -> Route:
        mount = self._mounts.owner(normal)
        return Route(mount, normal, normal[len(mount) :] or "/")

    async def route(self, runner: Runner, path: str) -> Route:
        """Return the route of a file or folder.

        Raises:
            PathRefused: For a path that no backend accepts.
            FileDenied: For a link into what a mount hides.
        """
        route = self.by_spelling(path)
        return (
            _raise_error((await self.routes_or_errors(runner, [path]))[0])
            if self._needs_names(route)
            else route
        )

    async def file(self, runner: Runner, path: str) -> Route:
        """Return the route of a file.

        Raises:
            FileIsDirectory: If it is a mount or leads to one; a file there would be hidden.
            FileError: As `route`.
        """
        route = await self.route(runner, path)
        if self._mounts.is_folder(route.path):
            raise FileIsDirectory(path)
        return route

    async def files(self, runner: Runner, paths: list[str]) -> RouteOrError:
        """Return the routes of files."""
        pairs = zip(paths, await self.routes_or_errors(runner, paths), strict=True)
        return [
            FileIsDirectory(path)
            if isinstance(route, Route) and self._mounts.is_folder(route.path)
            else route
            for path, route in pairs
        ]

    async def routes_or_errors(self, runner: Runner, paths: list[str]) -> RouteOrError:
        """Return the routes of files or folders."""
        routes, names = await self._resolve(runner, paths)
        for index, own in names.items():
            route = routes[index]
            if isinstance(route, Route) and (hidden := self._hidden(route, own)):
                routes[index] = FileDenied(
                    paths[index],
                    f"'{paths[index]}' leads by a link to '{hidden}', where another backend is"
                    " mounted; use that path",
                )
        return routes

    async def named(self, runner: Runner, paths: list[str]) -> RouteOrError:
        """Return the routes for looking up names; links are named wherever they lead."""
        return (await self._resolve(runner, paths))[0]

    def _hidden(self, route: Route, own: tuple[str, ...]) -> str | None:
        """Return the name behind a link that another backend has a claim to."""
        for name in own[1:]:
            if self._mounts.hides(name, route.mount):
                return name
        return None

    async def _resolve(
        self, runner: Runner, paths: list[str]
    ) -> tuple[list[Route | FileError], dict[int, tuple[str, ...]]]:
        """Return the routes, and the full names of paths whose backend was asked for them."""
        routes: list[Route | FileError] = [self._first_route(path) for path in paths]
        names: dict[int, tuple[str, ...]] = {}
        left = dict(enumerate(routes))
        # Each round leads to a mount inside the last one, so there is an end.
        while open_routes := {
            index: route for index, route in left.items() if self._needs_names(route)
        }:
            answers = await self._names_by_index(runner, open_routes)
            left = {}
            for index, own in answers.items():
                route, names[index] = open_routes[index], own
                if not own:
                    continue
                here = self._inside(own[0])
                if here.mount == route.mount:
                    routes[index] = Route(route.mount, own[0], route.inner)
                else:
                    routes[index] = left[index] = here
                    del names[index]
        return routes, names

    def _first_route(self, path: str) -> Route | FileError:
        try:
            return self.by_spelling(path)
        except FileError as error:
            return error

    def _needs_names(self, route: Route | FileError) -> TypeGuard[Route]:
        return isinstance(route, Route) and route.mount in self._mounts_with_names

    async def _names_by_index(
        self, runner: Runner, routes: dict[int, Route]
    ) -> dict[int, tuple[str, ...]]:
        by_mount: dict[str, list[int]] = {}
        for index, route in routes.items():
            by_mount.setdefault(route.mount, []).append(index)
        answers = await runner.gather(
            self._adapters[mount].names(runner, [routes[index].inner for index in indexes])
            for mount, indexes in by_mount.items()
        )
        return {
            index: tuple(join(mount or "/", name) for name in own)
            for (mount, indexes), names_of_each in zip(by_mount.items(), answers, strict=True)
            for index, own in zip(indexes, names_of_each, strict=True)
        }


def _raise_error(route: Route | FileError) -> Route:
    if isinstance(route, FileError):
        raise route
    return route


M = TypeVar("M", FileInfo, GrepMatch)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search in one backend: from which folder on, for files of which names."""

    mount: str
    inner: str | None
    pattern: str | None
    exists: bool = True
    """The folder is there, whatever the part says, because it is or holds a mount."""


def search_requests(
    mounts: Mounts, mount: str, normal: str, inner: str | None, pattern: str | None
) -> list[SearchRequest]:
    """Return the searches that a search of a folder consists of, one or more per backend.

    Within a mount a pattern may repeat the path of the search; both readings count.

    Raises:
        PatternRefused: If the pattern has to be rebased and cannot work.
    """
    patterns = [pattern]
    repeated = normal[1:] + "/"
    if mount and pattern is not None and pattern.lstrip("/").startswith(repeated):
        patterns.append("/" + pattern.lstrip("/").removeprefix(repeated))
    own = put_together(map(str, patterns)) if len(patterns) > 1 else patterns
    below = mounts.below(normal) if normal else []
    exists = normal == "/" or inner == "/" or bool(below)
    requests = [SearchRequest(mount, inner, own_pattern, exists) for own_pattern in own]
    begin = len(normal.rstrip("/")) + 1
    for name in below:
        if pattern is None:
            requests.append(SearchRequest(name, "/", None))
            continue
        inside = {rest for each in patterns for rest in within(str(each), name[begin:])}
        requests += [SearchRequest(name, "/", rest) for rest in sorted(inside)]
    return requests


def merge_matches(
    mounts: Mounts, requests: list[SearchRequest], results: Iterable[Any]
) -> Iterator[Any]:
    """Yield the matches of all backends under full paths, without those that mounts hide."""
    for request, result in zip(requests, results, strict=True):
        yield from with_full_paths(
            request.mount, visible(mounts, request.mount, result.matches or [])
        )


def visible(mounts: Mounts, mount: str, matches: list[M]) -> list[M]:
    """Return the matches of a backend that no mount inside it hides."""
    if not mounts.below(mount or "/"):
        return matches
    return [match for match in matches if not mounts.hides(full_path(mount, match["path"]), mount)]


def with_full_paths(mount: str, items: list[M]) -> list[M]:
    """Return entries of a backend under full paths."""
    if not mount:
        return items
    return [{**item, "path": full_path(mount, item["path"])} for item in items]


def full_path(mount: str, path: str) -> str:
    """Return the full path of a path within a mount."""
    return mount + path if path.startswith("/") or not mount else f"{mount}/{path}"


def join_errors(requests: list[SearchRequest], results: Iterable[Any]) -> str | None:
    """Return the errors of all searches as one text, without those of missing folders."""
    errors: dict[str, str] = {}
    for request, result in zip(requests, results, strict=True):
        if result.error and not (request.exists and is_absent(result.error)):
            inner = request.inner or "/"
            text = with_callers_path(result.error, inner, full_path(request.mount, inner))
            errors[request.mount] = text.removeprefix("Error: ")
    if len({request.mount for request in requests}) == 1:
        return errors.get(requests[0].mount)
    texts = [f"'{name or '/'}' could not be searched: {errors[name]}" for name in sorted(errors)]
    return "; ".join(texts) or None


def is_absent(error: str | None) -> bool:
    """Return whether an error means that the backend has no such folder."""
    return error is not None and ("path_not_found" in error or "not_a_directory" in error)

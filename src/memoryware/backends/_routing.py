"""Routing of a composite: the table of mounts, and the backend that a path belongs to.

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard

from memoryware._twins import Via
from memoryware.backends._adapter import Guest, names_of
from memoryware.backends._paths import join, normalise
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
        self._known = frozenset(["", *spelled])
        self._sorted = sorted(spelled)
        self._children: dict[str, set[str]] = {}
        for name in spelled:
            steps = name.split("/")
            for depth in range(1, len(steps)):
                folder = "/".join(steps[:depth]) or "/"
                self._children.setdefault(folder, set()).add(steps[depth])

    def owner(self, path: str) -> str:
        """Return the mount that a normal path lies in, the longest one by whole names."""
        while path not in self._known:
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
        """Say whether a file of a mount is hidden, by a mount inside or what leads to one."""
        return self.owner(path) != mount or self.is_folder(path)

    def is_folder(self, path: str) -> bool:
        """Say whether a normal path is a mount or leads to one."""
        return path in self._children or (path in self._known and path != "")


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


_OF_A_DISK: Final = re.compile(r"(?:~|[A-Za-z]:)(?:[/\\]|$)")
"""Spellings that mean something on a disk only: the default backend is asked."""
_KNOWN_AT_MOST: Final = 4096
"""Paths whose way is remembered; the mounts never change."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where a path leads.

    Attributes:
        mount: The part, by its mount; "" for the default.
        path: The full normal path; "" for what no normal path can say.
        inner: The path as the part is asked for it.
    """

    mount: str
    path: str
    inner: str


Ways = Sequence[Way | FileError]
"""One per path that was asked for; an error stands for a path that is refused."""


class Pathfinder:
    """Finds the parts of paths, in as few questions to the parts as there are parts."""

    def __init__(self, mounts: Mounts, guests: Mapping[str, Guest]) -> None:
        self._mounts, self._guests = mounts, guests
        self._known: dict[str, Way] = {}
        self._asking = frozenset(
            mount
            for mount, guest in guests.items()
            if names_of(guest.backend) is not None and mounts.below(mount or "/")
        )

    def by_spelling(self, path: Any) -> Way:
        """Return the way that follows from the spelling alone.

        The default gets the path as it came, and alone reads what no normal path can say.

        Raises:
            PathRefused: For what no part takes.
        """
        known = self._known.get(path) if isinstance(path, str) else None
        if known is not None:
            return known
        try:
            normal = normalise(path)
        except PathRefused:
            if _OF_A_DISK.match(str(path)):
                return Way("", "", path)
            raise
        found = self._inside(normal)
        if not found.mount:
            found = replace(found, inner=path)
        if len(self._known) >= _KNOWN_AT_MOST:
            self._known.clear()
        self._known[path] = found
        return found

    def _inside(self, normal: str) -> Way:
        mount = self._mounts.owner(normal)
        return Way(mount, normal, normal[len(mount) :] or "/")

    async def way(self, via: Via, path: str) -> Way:
        """Return the way of a file or folder.

        Raises:
            PathRefused: For what no part takes.
            FileDenied: For a link into what a mount hides.
        """
        found = self.by_spelling(path)
        return _must((await self.ways(via, [path]))[0]) if self._asks(found) else found

    async def file(self, via: Via, path: str) -> Way:
        """Return the way of what has to be a file.

        Raises:
            FileIsDirectory: If it is a mount or leads to one; a file there would be hidden.
            FileError: As `way` does.
        """
        found = await self.way(via, path)
        if self._mounts.is_folder(found.path):
            raise FileIsDirectory(path)
        return found

    async def files(self, via: Via, paths: list[str]) -> Ways:
        """Return the ways of what have to be files."""
        pairs = zip(paths, await self.ways(via, paths), strict=True)
        return [
            FileIsDirectory(path)
            if isinstance(way, Way) and self._mounts.is_folder(way.path)
            else way
            for path, way in pairs
        ]

    async def ways(self, via: Via, paths: list[str]) -> Ways:
        """Return the ways of files or folders."""
        found, names = await self._found(via, paths)
        for place, own in names.items():
            way = found[place]
            if isinstance(way, Way) and (hidden := self._hidden(way, own)):
                found[place] = FileDenied(
                    paths[place],
                    f"'{paths[place]}' leads by a link to '{hidden}', where another backend is"
                    " mounted; use that path",
                )
        return found

    async def named(self, via: Via, paths: list[str]) -> Ways:
        """Return the ways to ask for names; links are named wherever they lead."""
        return (await self._found(via, paths))[0]

    def _hidden(self, way: Way, own: tuple[str, ...]) -> str | None:
        """Return the name behind a link that another part has a claim to."""
        for name in own[1:]:
            if self._mounts.hides(name, way.mount):
                return name
        return None

    async def _found(
        self, via: Via, paths: list[str]
    ) -> tuple[list[Way | FileError], dict[int, tuple[str, ...]]]:
        """Return the ways, and the full names of those paths whose part was asked for them."""
        found: list[Way | FileError] = [self._started(path) for path in paths]
        names: dict[int, tuple[str, ...]] = {}
        left = dict(enumerate(found))
        # Each round leads to a mount inside the last one, so there is an end.
        while asked := {place: way for place, way in left.items() if self._asks(way)}:
            told = await self._told(via, asked)
            left = {}
            for place, own in told.items():
                way, names[place] = asked[place], own
                if not own:
                    continue
                here = self._inside(own[0])
                if here.mount == way.mount:
                    found[place] = Way(way.mount, own[0], way.inner)
                else:
                    found[place] = left[place] = here
                    del names[place]
        return found, names

    def _started(self, path: str) -> Way | FileError:
        try:
            return self.by_spelling(path)
        except FileError as error:
            return error

    def _asks(self, way: Way | FileError) -> TypeGuard[Way]:
        return isinstance(way, Way) and way.mount in self._asking

    async def _told(self, via: Via, asked: dict[int, Way]) -> dict[int, tuple[str, ...]]:
        by_mount: dict[str, list[int]] = {}
        for place, way in asked.items():
            by_mount.setdefault(way.mount, []).append(place)
        told = await via.all(
            self._guests[mount].names(via, [asked[place].inner for place in places])
            for mount, places in by_mount.items()
        )
        return {
            place: tuple(join(mount or "/", one) for one in own)
            for (mount, places), given in zip(by_mount.items(), told, strict=True)
            for place, own in zip(places, given, strict=True)
        }


def _must(found: Way | FileError) -> Way:
    if isinstance(found, FileError):
        raise found
    return found

"""Where folders of other backends are mounted: pure look-ups, no backend in sight.

A mount is named by its normal path without a final slash; "" is the default backend.
Looking up costs as many steps as the path has folders, however many mounts there are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from memoryware.backends._paths import normalise
from memoryware.errors import PathRefused, SettingError


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

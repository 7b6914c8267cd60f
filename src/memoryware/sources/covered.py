"""Which memory file a path means, by every name that the backend has for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memoryware._twins import Via
from memoryware.backends._foreign import Guest
from memoryware.backends._paths import folded
from memoryware.sources.source import Source, identity_of


@dataclass(frozen=True, slots=True)
class Covered:
    """The memory files of one run by their names; names that differ by case are one."""

    guest: Guest
    sources: tuple[tuple[Source, frozenset[str]], ...]

    @classmethod
    async def of(cls, via: Via, backend: object, sources: Sequence[Source]) -> Covered:
        """Find out the names of all memory files."""
        guest = Guest(backend)
        names = await guest.names(via, [one.path for one in sources])
        pairs = zip(sources, names, strict=True)
        return cls(guest, tuple((one, _names(one.path, own)) for one, own in pairs))

    async def by(self, via: Via, path: str, *, folder: bool = False) -> list[Source]:
        """Return the memory files that a path means; with `folder` also those that lie in it."""
        (own,) = await self.guest.names(via, [path])
        asked = _names(path, own)
        below = tuple(name.rstrip("/") + "/" for name in asked) if folder else ()
        return [
            source
            for source, names in self.sources
            if names & asked or any(name.startswith(below) for name in names if below)
        ]

    def is_file(self, source: Source, path: str) -> bool:
        """Say whether a path names this very file, rather than a folder that it lies in."""
        name = folded(identity_of(path))
        return not any(own.startswith(name.rstrip("/") + "/") for own in self._names_of(source))

    def _names_of(self, source: Source) -> frozenset[str]:
        return next(names for one, names in self.sources if one is source)


def _names(path: str, own: Sequence[str]) -> frozenset[str]:
    return frozenset(map(folded, own or (identity_of(path),)))


def strictest(sources: Sequence[Source]) -> Source:
    """Return the source whose owner allows least, of several that are one file."""
    return min(sources, key=lambda one: (one.writable is True, one.writable == "ask"))

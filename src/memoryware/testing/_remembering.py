"""A backend with a history as the tests of its suite see it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import pytest

from memoryware.backends._versions import UNSET, Version
from memoryware.testing._either import Either
from memoryware.testing._guarded import Door
from memoryware.testing._suite import OpenBackend, Suite
from memoryware.testing._terms import Terms

OpenOutside = Callable[[], Any]


class History(Protocol):
    """What a backend with a history offers; its twins are not named here."""

    def log(self, path: str) -> list[Version]: ...

    async def alog(self, path: str) -> list[Version]: ...

    def show(self, path: str, version: Any) -> str: ...

    async def ashow(self, path: str, version: Any) -> str: ...

    def diff(self, path: str, a: Any = UNSET, b: Any = None) -> str: ...

    async def adiff(self, path: str, a: Any = UNSET, b: Any = None) -> str: ...

    def undo(self, path: str, to: Any = None, *, reason: str | None = None) -> Version: ...

    async def aundo(self, path: str, to: Any = None, *, reason: str | None = None) -> Version: ...

    def restore(self, path: str, at: Any, *, reason: str | None = None) -> Version: ...

    async def arestore(self, path: str, at: Any, *, reason: str | None = None) -> Version: ...

    def files(self) -> list[str]: ...

    async def afiles(self) -> list[str]: ...


class Remembering(Either):
    """A backend with a history, seen through one door."""

    async def log(self, path: str) -> list[Version]:
        versions: list[Version] = await self._ask("log", self._in(path))
        _of_log(versions)
        return versions

    async def show(self, path: str, version: Any) -> str:
        return str(await self._ask("show", self._in(path), version))

    async def diff(self, path: str, *versions: Any) -> str:
        return str(await self._ask("diff", self._in(path), *versions))

    async def undo(self, path: str, to: Any = None, *, reason: str | None = None) -> Version:
        made: Version = await self._ask("undo", self._in(path), to, reason=reason)
        assert made.current, "what an undo has made is what the file is now"
        return made

    async def restore(self, path: str, at: Any) -> Version:
        made: Version = await self._ask("restore", self._in(path), at)
        assert made.current
        return made

    async def remembered(self) -> list[str]:
        return [self.terms.without_root(path) for path in await self._ask("files")]

    async def kinds(self, path: str) -> list[str]:
        """Return the kinds of the versions of a file, oldest first."""
        return [one.kind for one in reversed(await self.log(path))]


def _of_log(versions: list[Version]) -> None:
    """Newest first, each once, in one unbroken chain, and at most one is current."""
    numbers = [one.number for one in versions]
    assert numbers == sorted(numbers, reverse=True), "the newest version comes first"
    assert len({one.id for one in versions}) == len(versions), "each version comes once"
    assert sum(one.current for one in versions) <= 1, "a file holds one version at most"
    assert all(one.time.tzinfo is not None for one in versions), "a time has a zone"
    assert [one.dropped for one in versions[:-1]] == [0] * len(versions[:-1])
    applied = [one for one in versions if one.applied]
    for later, earlier in pairwise(applied):
        if later.number > earlier.number:
            assert later.kind == "merged" or later.before == earlier.after, (
                f"version {later.number} does not follow {earlier.number}"
            )


class HistorySuite(Suite):
    """What every backend with a history does. Each change goes through it unless said so."""

    folder: ClassVar[str] = "/.memoryware/history"
    """Where the versions are, as it is hidden."""

    @pytest.fixture
    def backend(self, open_backend: OpenBackend, door: Door, terms: Terms) -> Remembering:
        """Return a backend seen through one door."""
        return Remembering(open_backend, door, terms)

    @pytest.fixture
    def open_outside(self, open_backend: OpenBackend) -> OpenOutside:
        """Return a function that opens the same files without their history."""
        return lambda: open_backend().inner

    @pytest.fixture
    def outside(self, open_outside: OpenOutside, door: Door, terms: Terms) -> Either:
        """Return the same files without their history."""
        return Either(open_outside, door, terms)


def whole(backend: Remembering, path: str) -> str:
    """Return the path of a file as the history names it."""
    return backend.terms.inward(path)

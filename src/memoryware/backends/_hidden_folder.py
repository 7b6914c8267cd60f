"""`HidingBackend`: hide the folder of a history from agents, under every name that leads there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from memoryware._twins import Via
from memoryware.backends._adapter import Guest
from memoryware.backends._deepagents import is_rootless, unwrapped
from memoryware.backends._paths import folded, is_below, normalise
from memoryware.backends._results import build
from memoryware.backends._wrapping import WrappingBackend
from memoryware.backends.protocol import (
    FileDownloadResponse,
    FileInfo,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
)
from memoryware.errors import FileDenied, FileMissing, PathUnusable, SettingError

_OURS: Final = "/.memoryware"
Entry = TypeVar("Entry", FileInfo, GrepMatch)


class HidingBackend(WrappingBackend):
    """Hides one folder of the inner backend: nothing in it is listed, found, read or changed.

    What is asked for in it is not there; what is to be written there is denied. A folder
    that it lies in can be emptied around it.
    """

    def __init__(self, inner: Any, *, hidden: str) -> None:
        super().__init__(inner)
        if not hidden.startswith("~") and normalise(hidden) == "/":
            raise SettingError(f"folder={hidden!r}: must not be the root, where the files are")
        self._hidden_folder = hidden
        self._known_hidden: HiddenFolders | None = None

    async def _hidden(self, via: Via) -> HiddenFolders:
        if self._known_hidden is None:
            roots = await roots_of(self._guest, via, self._hidden_folder)
            self._known_hidden = HiddenFolders(roots)
        return self._known_hidden

    async def _hides(self, via: Via, path: str) -> bool:
        return (await self._hidden(via)).covers(await self._names_of(via, path))

    async def _shown(self, via: Via, rows: Sequence[Entry]) -> list[Entry]:
        """Return the rows of an answer that are not hidden."""
        hidden = await self._hidden(via)
        paths = sorted({row["path"] for row in rows})
        names = await self._all_names(via, paths)
        gone = {path for path, own in zip(paths, names, strict=True) if hidden.covers(own)}
        return [row for row in rows if row["path"] not in gone]

    async def _admit(self, via: Via, path: str, names: Sequence[str]) -> None:
        if (await self._hidden(via)).covers(names):
            message = f"'{path}' belongs to the history of files; nothing was changed there"
            raise FileDenied(path, message)

    # Reading.

    async def _ls(self, via: Via, path: str) -> LsResult:
        if await self._hides(via, path):
            raise FileMissing(path, f"Path '{path}': path_not_found")
        found = await super()._ls(via, path)
        if found.entries:
            found.entries = await self._shown(via, found.entries)
        return found

    async def _read(self, via: Via, path: str, offset: int, limit: int) -> ReadResult:
        if await self._hides(via, path):
            raise FileMissing(path)
        return await super()._read(via, path, offset, limit)

    async def _glob(self, via: Via, pattern: str, path: str | None) -> GlobResult:
        if path is not None and await self._hides(via, path):
            return build(GlobResult, matches=[])
        found = await super()._glob(via, pattern, path)
        if found.matches:
            found.matches = await self._shown(via, found.matches)
        return found

    async def _grep(
        self, via: Via, pattern: str, path: str | None, glob: str | None, max_count: int | None
    ) -> GrepResult:
        if path is not None and await self._hides(via, path):
            return build(GrepResult, matches=[])
        found = await super()._grep(via, pattern, path, glob, max_count)
        given = found.matches or []
        shown = await self._shown(via, given)
        if max_count is not None and found.truncated and len(shown) < len(given):
            # What is hidden does not count against the limit.
            found = await super()._grep(via, pattern, path, glob, None)
            shown = await self._shown(via, found.matches or [])
            found.truncated = found.truncated or len(shown) > max_count
            shown = shown[:max_count]
        if given:
            found.matches = shown
        return found

    async def _download(self, via: Via, paths: list[str]) -> list[FileDownloadResponse]:
        hidden = await self._hidden(via)
        names = await self._all_names(via, paths)
        open_here = [place for place, own in enumerate(names) if not hidden.covers(own)]
        told = await super()._download(via, [paths[place] for place in open_here])
        found = dict(zip(open_here, told, strict=True))
        return [
            found.get(place) or build(FileDownloadResponse, path=path, error="file_not_found")
            for place, path in enumerate(paths)
        ]

    async def _clear(self, via: Via, path: str) -> None:
        """Delete what is left of a folder, except for what is hidden in it."""
        hidden = await self._hidden(via)
        if not hidden.lies_below(await self._names_of(via, path)):
            await super()._clear(via, path)
            return
        listed = await self._guest.ls(via, path, path)
        for entry in listed.entries or []:
            names = await self._names_of(via, entry["path"])
            if hidden.covers(names):
                continue
            if hidden.lies_below(names):
                await self._clear(via, entry["path"])
            else:
                await super()._clear(via, entry["path"])


def must_have_root(inner: Any) -> None:
    """Refuse a disk of deepagents without a root of its own: its paths have no one meaning.

    Raises:
        SettingError: The message says what to pass instead.
    """
    disk = unwrapped(inner)
    if is_rootless(disk):
        raise SettingError(
            f"a {type(disk).__name__} with virtual_mode=False has no root for a history; pass"
            " virtual_mode=True, or the FilesystemBackend of memoryware"
        )


async def roots_of(guest: Guest, via: Via, folder: str) -> tuple[str, ...]:
    """Return all names of the folder of a history, the absolute one first.

    Raises:
        PathUnusable: If it has none, as when a link leads from it to the outside.
    """
    (names,) = await guest.names(via, [folder])
    if names:
        return names
    raise PathUnusable(folder, f"The history cannot be in '{folder}'; choose another folder")


class HiddenFolders:
    """The folders that an agent shall not see: those of a history, by all their names."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = [folded(_top_folder(root)) for root in roots]

    def covers(self, names: Iterable[str]) -> bool:
        """Say whether a path with these names is hidden."""
        return any(is_below(folded(name), root) for name in names for root in self._roots)

    def lies_below(self, names: Iterable[str]) -> bool:
        """Say whether something in the folder with these names is hidden."""
        return any(is_below(root, folded(name)) for name in names for root in self._roots)


def _top_folder(root: str) -> str:
    """Return the folder that is hidden: `.memoryware` with all in it, if that is in the path."""
    start = f"{root}/".find(f"{_OURS}/")
    return root if start < 0 else root[: start + len(_OURS)]

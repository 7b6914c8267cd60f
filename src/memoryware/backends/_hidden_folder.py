"""`HidingBackend`: hide the folder of a history from agents, under every name that leads there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from memoryware._runner import Runner
from memoryware.backends._adapter import BackendAdapter
from memoryware.backends._deepagents import is_rootless, unwrap
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

    Reads in it find nothing; writes in it are denied. A folder that contains it can be emptied
    around it.
    """

    def __init__(self, inner: Any, *, hidden: str) -> None:
        super().__init__(inner)
        if not hidden.startswith("~") and normalise(hidden) == "/":
            raise SettingError(f"folder={hidden!r}: must not be the root, where the files are")
        self._hidden_folder = hidden
        self._known_hidden: HiddenFolders | None = None

    async def _hidden(self, runner: Runner) -> HiddenFolders:
        if self._known_hidden is None:
            roots = await names_of_history_folder(self._adapter, runner, self._hidden_folder)
            self._known_hidden = HiddenFolders(roots)
        return self._known_hidden

    async def _hides(self, runner: Runner, path: str) -> bool:
        return (await self._hidden(runner)).covers(await self._names_of(runner, path))

    async def _shown(self, runner: Runner, rows: Sequence[Entry]) -> list[Entry]:
        """Return the entries of an answer that are not hidden."""
        hidden = await self._hidden(runner)
        paths = sorted({row["path"] for row in rows})
        names = await self._all_names(runner, paths)
        gone = {path for path, own in zip(paths, names, strict=True) if hidden.covers(own)}
        return [row for row in rows if row["path"] not in gone]

    async def _check_path(self, runner: Runner, path: str, names: Sequence[str]) -> None:
        if (await self._hidden(runner)).covers(names):
            message = f"'{path}' belongs to the history of files; nothing was changed there"
            raise FileDenied(path, message)

    # Reading.

    async def _ls(self, runner: Runner, path: str) -> LsResult:
        if await self._hides(runner, path):
            # The words of a missing folder: an error of its own would say that something is there.
            raise FileMissing(path, f"Path '{path}': path_not_found")
        result = await super()._ls(runner, path)
        if result.entries:
            result.entries = await self._shown(runner, result.entries)
        return result

    async def _read(self, runner: Runner, path: str, offset: int, limit: int) -> ReadResult:
        if await self._hides(runner, path):
            raise FileMissing(path)
        return await super()._read(runner, path, offset, limit)

    async def _glob(self, runner: Runner, pattern: str, path: str | None) -> GlobResult:
        if path is not None and await self._hides(runner, path):
            return build(GlobResult, matches=[])
        result = await super()._glob(runner, pattern, path)
        if result.matches:
            result.matches = await self._shown(runner, result.matches)
        return result

    async def _grep(
        self,
        runner: Runner,
        pattern: str,
        path: str | None,
        glob: str | None,
        max_count: int | None,
    ) -> GrepResult:
        if path is not None and await self._hides(runner, path):
            return build(GrepResult, matches=[])
        result = await super()._grep(runner, pattern, path, glob, max_count)
        matches = result.matches or []
        shown = await self._shown(runner, matches)
        if max_count is not None and result.truncated and len(shown) < len(matches):
            # What is hidden does not count against the limit.
            result = await super()._grep(runner, pattern, path, glob, None)
            shown = await self._shown(runner, result.matches or [])
            result.truncated = result.truncated or len(shown) > max_count
            shown = shown[:max_count]
        if matches:
            result.matches = shown
        return result

    async def _download(self, runner: Runner, paths: list[str]) -> list[FileDownloadResponse]:
        hidden = await self._hidden(runner)
        names = await self._all_names(runner, paths)
        open_here = [index for index, own in enumerate(names) if not hidden.covers(own)]
        answers = await super()._download(runner, [paths[index] for index in open_here])
        by_index = dict(zip(open_here, answers, strict=True))
        return [
            by_index.get(index) or build(FileDownloadResponse, path=path, error="file_not_found")
            for index, path in enumerate(paths)
        ]

    async def _clear(self, runner: Runner, path: str) -> None:
        """Delete what is left of a folder, except for what is hidden in it."""
        hidden = await self._hidden(runner)
        if not hidden.lies_below(await self._names_of(runner, path)):
            await super()._clear(runner, path)
            return
        listed = await self._adapter.ls(runner, path, path)
        for entry in listed.entries or []:
            names = await self._names_of(runner, entry["path"])
            if hidden.covers(names):
                continue
            if hidden.lies_below(names):
                await self._clear(runner, entry["path"])
            else:
                await super()._clear(runner, entry["path"])


def check_has_root(inner: Any) -> None:
    """Refuse a disk of deepagents without a root of its own: its paths are ambiguous.

    Raises:
        SettingError: The message says what to pass instead.
    """
    disk = unwrap(inner)
    if is_rootless(disk):
        raise SettingError(
            f"a {type(disk).__name__} with virtual_mode=False has no root for a history; pass"
            " virtual_mode=True, or the FilesystemBackend of memoryware"
        )


async def names_of_history_folder(
    adapter: BackendAdapter, runner: Runner, folder: str
) -> tuple[str, ...]:
    """Return all names of the folder of a history, the absolute one first.

    Raises:
        PathUnusable: If it has none, as when a link leads from it to the outside.
    """
    (names,) = await adapter.names(runner, [folder])
    if names:
        return names
    raise PathUnusable(folder, f"The history cannot be in '{folder}'; choose another folder")


class HiddenFolders:
    """The folders that agents must not see: those of a history, by all their names."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = [folded(_top_folder(root)) for root in roots]

    def covers(self, names: Iterable[str]) -> bool:
        """Say whether a path with these names is hidden."""
        return any(is_below(folded(name), root) for name in names for root in self._roots)

    def lies_below(self, names: Iterable[str]) -> bool:
        """Say whether something in the folder with these names is hidden."""
        return any(is_below(root, folded(name)) for name in names for root in self._roots)


def _top_folder(root: str) -> str:
    """Return the folder to hide: the whole `.memoryware`, if that is in the path."""
    start = f"{root}/".find(f"{_OURS}/")
    return root if start < 0 else root[: start + len(_OURS)]

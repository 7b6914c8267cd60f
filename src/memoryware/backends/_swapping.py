"""Changing one file of anybody's backend, in one step if it can, else as if it could.

Without a way of its own to do that, an edit of the whole old text is the step: it is
refused when somebody else changed the text meanwhile, and then all begins anew. Where no
edit will do, for bytes that are no text or for a file that is to go, the file is looked at
once more right before it is written; what another does in between is lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from memoryware._twins import Via
from memoryware.backends._foreign import Guest, adds_of, changes_of
from memoryware.backends._locks import Holding
from memoryware.backends._making import FolderThere, Made, Make, Mode, as_told, made
from memoryware.backends._paths import normalise
from memoryware.backends._peer import place_of
from memoryware.backends._results import said
from memoryware.errors import (
    FileDenied,
    FileError,
    FileIsDirectory,
    FileMissing,
    PathUnusable,
    WriteFailed,
)
from memoryware.settings import FileLimits

_TRIES: Final = 25
"""How often a change is made anew because somebody else was faster."""
_ABSENT: Final = re.compile("not.?found|no such|not.?exist|not_a_directory", re.IGNORECASE)
_KINDS: Final[dict[str, type[FileError]]] = {
    "file_not_found": FileMissing,
    "permission_denied": FileDenied,
    "is_directory": FileIsDirectory,
    "invalid_path": PathUnusable,
}
"""What is raised for the codes of an upload."""


def is_gone(error: str) -> bool:
    """Say whether an error means that there is no such folder, as far as one can tell."""
    return _ABSENT.search(error) is not None


async def change(guest: Guest, via: Via, names: tuple[str, str], make: Make, mode: Mode) -> None:
    """Change a file of a backend, as `Changes.change_file` says.

    Args:
        guest: The backend.
        via: The half of its twins to take.
        names: The path as the caller spelled it, and as the backend knows it.
        make: Makes the new bytes.
        mode: What has to be there.

    Raises:
        FileError: As there.
    """
    path, inner = names
    able = changes_of(guest.backend)
    if able is None:
        # Other wrappers wait, also those in other processes; whoever writes past them is
        # found out by the edit.
        named = [f"{place_of(guest.backend)}\0{_spelled(inner)}"]
        async with Holding(via, named, path=path, timeout=FileLimits().lock_timeout, outer=True):
            await _Swap(guest, via, path, inner).change(make, mode)
        return
    try:
        await via(able.change_file, able.achange_file, inner, make, mode)
    except FileError as error:
        raise as_told(error, path, said(error.message, inner, path))  # noqa: B904 - it is the same


async def add(guest: Guest, via: Via, names: tuple[str, str | None], data: bytes) -> None:
    """Store a file whose name nobody else uses; another file may be held meanwhile.

    Args:
        guest: The backend.
        via: The half of its twins to take.
        names: The path, and that of a file whose readers may read this one too.
        data: The bytes.

    Raises:
        FileError: If it cannot be stored.
    """
    path, like = names
    able = adds_of(guest.backend)
    if able is not None:
        await via(able.add_file, able.aadd_file, path, data, like)
        return
    (stored,) = await guest.upload(via, [(path, data)])
    if stored.error:
        raise WriteFailed(path, f"'{path}' was not written: {stored.error}")


async def drop(guest: Guest, via: Via, path: str) -> None:
    """Remove a file that was added; nothing happens if it is gone.

    Raises:
        FileError: If it cannot be removed.
    """
    able = adds_of(guest.backend)
    if able is not None:
        await via(able.drop_file, able.adrop_file, path)
        return
    told = await guest.delete(via, path, path)
    if told.error and (await guest.download(via, [path]))[0].error != "file_not_found":
        raise WriteFailed(path, f"'{path}' was not removed: {told.error}")


def _spelled(path: str) -> str:
    try:
        return normalise(path)
    except FileError:
        return path


@dataclass(frozen=True, slots=True)
class _Swap:
    guest: Guest
    via: Via
    path: str
    inner: str

    async def change(self, make: Make, mode: Mode) -> None:
        for _ in range(_TRIES):
            before = await self._found(mode)
            new = await made(self.via, make, before, mode, self.path)
            if new.after == before or await self._put(before, new):
                return
        message = f"'{self.path}' was not written: others keep changing it; try again"
        raise WriteFailed(self.path, message)

    async def _found(self, mode: Mode) -> bytes | None:
        path, error, content = self.path, *await self._got()
        if error is None:
            return content
        if error == "file_not_found":
            if mode == "delete":
                raise await self._no_file(folder=False)
            if mode == "change":
                raise FileMissing(path)
            return None
        if error == "invalid_path":
            normalise(self.inner)
            raise PathUnusable(path, f"'{path}' cannot be used as the path of a file")
        if error == "is_directory":
            raise await self._no_file(folder=True) if mode == "delete" else FileIsDirectory(path)
        raise FileDenied(path, f"'{path}' cannot be changed, because it cannot be read: {error}")

    async def _no_file(self, *, folder: bool) -> FileError:
        """Say of what is no file whether it is a folder that might be deleted."""
        if normalise(self.inner) == "/":
            return FileIsDirectory(self.path, f"'{self.path}' is the root; delete single files")
        if folder or (await self.guest.ls(self.via, self.path, self.inner)).entries:
            return FolderThere(self.path)
        return FileMissing(self.path, f"'{self.path}' not found")

    async def _got(self) -> tuple[Any, bytes | None]:
        (answer,) = await self.guest.download(self.via, [self.inner])
        content: Any = answer.content
        return answer.error, content.encode() if isinstance(content, str) else content

    async def _put(self, before: bytes | None, wanted: Made) -> bool:
        """Write, and say whether nobody else was faster.

        Raises:
            FileError: If the backend refuses for another reason.
        """
        after = wanted.after
        old, new = _plain(before), _plain(after)
        if old is not None and old.strip() and new is not None:
            edit = self.guest.edit(self.via, self.path, self.inner, old, new, every=False)
            error = (await edit).error
        elif before is None and new is not None and wanted.kind != "upload":
            error = (await self.guest.write(self.via, self.path, self.inner, new)).error
        elif not await self._is(before):
            return False
        elif after is None:
            error = (await self.guest.delete(self.via, self.path, self.inner)).error
        else:
            error = (await self.guest.upload(self.via, [(self.inner, after)]))[0].error
        if error is None:
            return True
        if not await self._is(before):
            return False
        told = str(error).removeprefix("Error: ")
        raise _KINDS.get(told, WriteFailed)(self.path, f"'{self.path}' was not changed: {told}")

    async def _is(self, before: bytes | None) -> bool:
        _, content = await self._got()
        return content == before


def _plain(data: bytes | None) -> str | None:
    """Return bytes as a text that every backend stores just so; None if there is none."""
    if data is None or b"\r" in data or b"\0" in data or data.startswith(b"\xef\xbb\xbf"):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None

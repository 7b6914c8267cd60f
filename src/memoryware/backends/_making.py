"""What it takes to change one file in one step: read, decide, write, nobody in between."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from memoryware._twins import Via
from memoryware.errors import FileDenied, FileError, FileIsDirectory

Mode = Literal["replace", "create", "change", "delete"]
"""What a step needs to find: anything at all (`replace`), text or nothing (`create`), a
file (`change`); or a file or link that is to go (`delete`)."""
Kind = Literal["write", "edit", "append", "upload", "delete", "undo", "restore"]
"""What somebody does to a file."""
Steps = tuple[str | bool, ...]
"""`("write",)`, `("edit", old, new, every)` or `("append", line)`: how a text was changed."""
E = TypeVar("E", bound=FileError)


@dataclass(frozen=True, slots=True)
class Made:
    """What a file shall be.

    Attributes:
        after: Its new bytes; None for no file.
        steps: How they follow from the old ones, for who has to do it again.
        kind: What this is to whoever did it.
        keeps: Called with the old and the new bytes when nobody will change them any more
            and nothing is written yet; what they raise stops the step.
        mark: Whatever the maker and a keeper have to tell each other.
        like: Where there was no file: another file of the same backend; who may not read that
            one may not read the new one either. Backends without rights ignore it.
    """

    after: bytes | None
    steps: Steps = ("write",)
    kind: Kind = "write"
    keeps: tuple[Keep, ...] = ()
    mark: Any = None
    like: str | None = None


Keep = Callable[[Via, bytes | None, Made], Coroutine[Any, Any, None]]
Make = Callable[[Via, bytes | None], Coroutine[Any, Any, Made]]
"""Makes the new bytes of the old ones, None if there is no file.

It may be called again if somebody else was faster. What it raises leaves all as it is.
"""


class Changes(Protocol):
    """A backend that can change a file in one step."""

    def change_file(self, path: str, make: Make, mode: Mode) -> None:
        """Change a file; nobody else's change falls between reading and writing it.

        `make` runs while the file is held and reaches the outside through its `via`.

        Raises:
            FolderThere: In mode `delete`, for a folder that might be deleted.
            FileError: If the file cannot be changed, or `make` does not want it to be.
        """
        ...

    async def achange_file(self, path: str, make: Make, mode: Mode) -> None:
        """Async twin of `change_file`."""
        ...


class Adds(Protocol):
    """A backend that stores files whose names nobody else uses, without waiting for them."""

    def add_file(self, path: str, data: bytes, like: str | None) -> None:
        """Store a file; it may be called while another file is held.

        Nobody may read it who may not read the file `like`, if that is there.

        Raises:
            FileError: If it cannot be stored.
        """
        ...

    async def aadd_file(self, path: str, data: bytes, like: str | None) -> None:
        """Async twin of `add_file`."""
        ...

    def drop_file(self, path: str) -> None:
        """Remove such a file again; nothing happens if it is gone.

        Raises:
            FileError: If it cannot be removed.
        """
        ...

    async def adrop_file(self, path: str) -> None:
        """Async twin of `drop_file`."""
        ...


class FolderThere(FileIsDirectory):
    """There is a folder, which may be deleted, but not as a file."""


async def made(via: Via, make: Make, before: bytes | None, mode: Mode, path: str) -> Made:
    """Return what a file shall be, after everybody who keeps something has kept it.

    Raises:
        FileDenied: If a file that was to go shall stay.
    """
    new = await make(via, before)
    if mode == "delete" and new.after is not None:
        raise FileDenied(path, f"'{path}' may not be deleted")
    for keep in new.keeps:
        await keep(via, before, new)
    return new


def as_told(error: E, path: str, message: str) -> E:
    """Return an error of the same kind about the path as somebody else spelled it."""
    error.path, error.message, error.args = path, message, (message,)
    return error

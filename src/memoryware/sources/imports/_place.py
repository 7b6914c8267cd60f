"""Where an import leads: paths that are joined and compared by whole segments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memoryware.backends._paths import normalise
from memoryware.errors import PathRefused

_ANCHOR: Final = re.compile(r"(?:[A-Za-z]:(?:/|$)|~(?:/|$)|\.(?:/|$)|/)?")


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder, as the backend would be asked for it.

    Attributes:
        anchor: What the path starts from: `/`, `~/`, `./`, a drive such as `C:/`, or "" for
            a path that starts where the backend lets relative ones start.
        parts: The segments below it.
    """

    anchor: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, path: str) -> Place:
        """Return the place of a path as it is spelled.

        Raises:
            FileError: For a path that no backend takes.
        """
        spelled = path.replace("\\", "/")
        anchor = _anchor(spelled)
        whole = f"{anchor}/" if anchor and not anchor.endswith("/") else anchor
        return cls(whole, _parts(spelled[len(anchor) :]))

    @property
    def spelled(self) -> str:
        """The path to ask the backend for."""
        return self.anchor + "/".join(self.parts) or "."

    @property
    def key(self) -> tuple[str, ...]:
        """What two spellings of one place have in common."""
        return (self.anchor.removeprefix("./").lower(), *self.parts)

    @property
    def folder(self) -> Place:
        """The folder that it lies in."""
        return Place(self.anchor, self.parts[:-1])

    def is_below(self, folder: Place) -> bool:
        """Say whether it is this folder or in it."""
        return self.key[: len(folder.key)] == folder.key

    def then(self, written: str) -> Place:
        """Return where a path leads that is written in a file of this folder.

        Raises:
            FileError: If it leads above the start of this path, or no backend takes it.
        """
        spelled = written.replace("\\", "/")
        if _anchor(spelled) not in ("", ".", "./"):
            return Place.of(spelled)
        parts = list(self.parts)
        for name in spelled.split("/"):
            if name == "..":
                if not parts:
                    raise PathRefused(written, f"It leads out of the root: {written}")
                parts.pop()
            elif name not in ("", "."):
                parts.append(name)
        return Place(self.anchor, _parts("/".join(parts)))


def _anchor(spelled: str) -> str:
    found = _ANCHOR.match(spelled)
    return found.group() if found else ""


def _parts(below: str) -> tuple[str, ...]:
    return tuple(filter(None, normalise("/" + below).split("/")))

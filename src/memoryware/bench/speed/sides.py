"""What is measured: one class for each side, with the ways it can be asked.

A new peer is one class more: it says what it is called, how it is filled, and which ways of
asking it has. What it cannot do is left out of the tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar, Final

from memoryware.bench.speed.made import Made, Question

Ask = Callable[[Question, bool], Any]
"""Answers a question; True means among everything, False in one group."""
Put = Callable[[int], Any]
"""Keeps one of the memories that come later."""

WORDS: Final = "words"
FREQUENT: Final = "frequent words"
VECTORS: Final = "vectors"
HYBRID: Final = "hybrid"
RECORD: Final = "record"
PROMOTE: Final = "promote"
QUICK_PUT: Final = "promote, not flushed"


class Absent(Exception):
    """A side cannot run here; the text says why, and what would help."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a side may keep what it has.

    Attributes:
        folder: A folder of its own.
        url: The address of a server, for a side that needs one.
    """

    folder: Path
    url: str = ""


class Side:
    """One of those that are measured in turns.

    Attributes:
        name: What its column is called.
        most: Memories up to which it is filled; with more it would take hours or all memory.
        too_many: Why not more.
        keeps: Whether what it was filled with is there when it is opened again.
        local: Whether it works in this process, so that its memory can be measured.
    """

    name: ClassVar[str]
    most: ClassVar[int] = 10**9
    too_many: ClassVar[str] = ""
    keeps: ClassVar[bool] = True
    local: ClassVar[bool] = True
    packages: ClassVar[Sequence[str]] = ()

    def __init__(self, made: Made, place: Place) -> None:
        """Open it, and make it if it is not there.

        Raises:
            Absent: If it cannot run here.
        """
        self.made, self.place = made, place

    def load(self, numbers: range) -> None:
        """Put in many memories at once."""
        raise NotImplementedError

    def loaded(self) -> None:
        """Do what is done once when everything is in; it does not count as loading."""

    def asks(self) -> Mapping[str, Ask]:
        """Return the ways to ask it, by what finds: words, vectors, or both."""
        return {}

    def puts(self) -> Mapping[str, Put]:
        """Return the ways to keep one memory more."""
        return {}

    def numbers(self, answer: Any) -> list[int]:
        """Return which memories an answer names, best first."""
        return [int(one) for one in answer]

    def disk(self) -> int | None:
        """Return the bytes of its files; None if it has none."""
        return size_of(self.place.folder)

    def close(self) -> None:
        """Give back what it holds."""


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())


def resident() -> int | None:
    """Return the bytes of memory that this process has; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {}
    for one in packages:
        try:
            found[one] = version(one)
        except PackageNotFoundError:
            continue
    return found

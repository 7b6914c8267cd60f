"""Lines of a file from its end, and the places where they stand."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from memoryware.errors import SettingError

_BLOCK: Final = 1 << 16
_DIGITS: Final = re.compile("[0-9]{1,25}")


class Place(NamedTuple):
    """Where a line stands, and its time."""

    file: int
    start: int
    at: datetime

    @property
    def mark(self) -> str:
        """Its name, of which `of` makes it again."""
        return f"{self.file} {self.start} {self.at.isoformat()}"

    @classmethod
    def of(cls, mark: str) -> Place:
        """Return the place that a mark names.

        Raises:
            SettingError: If it names none.
        """
        try:
            number, start, moment = mark.split(" ")
            at = datetime.fromisoformat(moment)
        except ValueError:
            number, start, at = "", "", datetime.min  # noqa: DTZ901 - refused below
        if at.tzinfo is None or not _DIGITS.fullmatch(number) or not _DIGITS.fullmatch(start):
            raise SettingError(f"{mark!r:.200} is not the mark of a line of a journal")
        return cls(int(number), int(start), at)


def backwards(path: Path, end: int | None) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of a file and where they begin, the last one before a place first."""
    with path.open("rb") as file:
        place, rest = file.seek(0, os.SEEK_END), b""
        place = place if end is None else min(place, end)
        while place > 0:
            size = min(_BLOCK, place)
            place -= size
            file.seek(place)
            first, *lines = (file.read(size) + rest).split(b"\n")
            start = place + len(first) + 1 + sum(len(one) + 1 for one in lines)
            for line in reversed(lines):
                start -= len(line) + 1
                yield line, start
            rest = first
        yield rest, 0

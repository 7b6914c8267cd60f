"""The lines of two texts around their protected parts, and which of them survived a change."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

_BREAK: Final = re.compile(r"\n")


class Lines:
    """The lines of a text, and which of them are outside some parts of it.

    Attributes:
        text: As it was given.
        starts: Where each line starts.
        outside: For each line, whether it touches none of the parts.
    """

    def __init__(self, text: str, plain: str, parts: Iterable[tuple[int, int]]) -> None:
        self.text = text
        self.starts = [0, *(found.end() for found in _BREAK.finditer(plain))]
        self.outside = [True] * len(self.starts)
        for start, end in parts:
            first, last = self.at(start), self.at(max(start, end - 1))
            self.outside[first : last + 1] = [False] * (last + 1 - first)

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, position: int) -> int:
        """Return the number of the line that a character is on."""
        return bisect_right(self.starts, position) - 1

    def end(self, number: int) -> int:
        """Return where the next line starts, or the end of the text."""
        return self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)

    def from_(self, position: int) -> int:
        """Return the first line start from a place on; past the end, the place itself."""
        line = self.at(position)
        if position > len(self.text) or self.starts[line] == position:
            return position
        return self.end(line)

    def content(self, number: int) -> str:
        """Return a line without its ending."""
        return self.text[self.starts[number] : self.end(number)].rstrip("\r\n\x85\u2028\u2029")

    def slice(self, first: int, last: int) -> str:
        """Return some lines as they are, without the ending of the last one."""
        return self.text[self.starts[first] : self.starts[last] + len(self.content(last))]

    def is_blank(self, number: int) -> bool:
        """Say whether a line has nothing to see; what is before and after the text has not."""
        return not 0 <= number < len(self.starts) or not self.content(number).strip()

    def by_content(self) -> dict[str, list[int]]:
        """Return the outside lines with something on them by what they say."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, outside in enumerate(self.outside):
            if outside and (content := self.content(number)).strip():
                found[content].append(number)
        return found


def survivors(before: Lines, after: Lines) -> tuple[dict[int, int], dict[str, list[int]]]:
    """Return where outside lines are now, and the lines of `after` that are left over.

    Of lines that say the same, the first belongs to the first.
    """
    there = after.by_content()
    places: dict[int, int] = {}
    for content, numbers in before.by_content().items():
        now = there.get(content, [])
        places.update(zip(numbers, now, strict=False))
        if content in there:
            there[content] = now[len(numbers) :]
    return places, there


class Blocked:
    """Parts of a text that nothing may be put into."""

    def __init__(self, parts: Iterable[tuple[int, int]], lines: Lines) -> None:
        self._lines = lines
        self._parts: list[tuple[int, int]] = []
        self._whole: list[tuple[int, int]] = []  # up to the line that follows each
        for start, end in sorted(parts):
            _add(self._parts, start, end)
            _add(self._whole, start, lines.from_(end))

    def holds(self, position: int) -> bool:
        """Say whether a place is inside a part."""
        return _holding(self._parts, position) is not None

    def free(self, position: int) -> int:
        """Return the place to take at a line start, or at the end of the text.

        A place inside a part gives way to the line after it; if the part is open at the end
        of the text, to the line on which it begins.
        """
        part = _holding(self._whole, position)
        if part is None:
            return position
        start, end = part
        return end if end <= len(self._lines.text) else self._lines.starts[self._lines.at(start)]


def _add(parts: list[tuple[int, int]], start: int, end: int) -> None:
    """Add a part that starts after the others; what overlaps becomes one."""
    if parts and start < parts[-1][1]:
        parts[-1] = (parts[-1][0], max(parts[-1][1], end))
    else:
        parts.append((start, end))


def _holding(parts: Sequence[tuple[int, int]], position: int) -> tuple[int, int] | None:
    index = bisect_left(parts, (position,)) - 1
    return parts[index] if index >= 0 and position < parts[index][1] else None


def nearest(numbers: Sequence[int], wanted: int, most: int) -> Sequence[int]:
    """Return some numbers of an ordered list: from the wanted one on, then those before it."""
    at = bisect_left(numbers, wanted)
    return [*numbers[at : at + most], *numbers[max(0, at - most) : at][::-1]][:most]

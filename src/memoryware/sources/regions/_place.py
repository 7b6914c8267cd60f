"""Where a protected part goes that is not in a changed text any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from memoryware.sources.markdown.scanning import plain_lines
from memoryware.sources.markdown.stripping import strip_comments
from memoryware.sources.regions._lines import Blocked, Lines, nearest, survivors
from memoryware.sources.regions._mark import Marked
from memoryware.sources.regions._old import Old

_TRIES: Final = 8
"""Places that are looked at for the visible text of one part."""


class Edit(NamedTuple):
    """A part of a text, and what takes its place."""

    start: int
    end: int
    text: str


class Placing:
    """Finds the place of each region that is missing.

    Args:
        old: The text before.
        new: The text after.
        lines: The lines of the text after.
        where: The regions that are there, by number.
    """

    def __init__(
        self, old: Old, new: Marked, lines: Lines, where: Mapping[int, tuple[int, int]]
    ) -> None:
        self._old, self._new, self._lines, self._where = old, new, lines, where
        self._places, self._left = survivors(old.lines, lines)
        self._used = set(self._places.values())
        self._closed = [
            *((span.start, span.end + bool(span.closer)) for span in new.code),
            *((one.start, one.end) for one in new.comments),
            *where.values(),
        ]
        self._break = (
            "\r\n" if "\r\n" in (new.text if "\n" in new.text else old.lines.text) else "\n"
        )

    def edits(self) -> list[Edit]:
        """Return what puts all missing regions in."""
        missing = [i for i in range(len(self._old.regions)) if i not in self._where]
        if not missing:
            return []
        wrapped, anchors = self._forwards()
        behind = self._backwards()
        blocked = Blocked(
            [*self._closed, *((edit.start, edit.end) for edit in wrapped.values())], self._lines
        )
        done = {index for group in self._old.groups if group[0] in wrapped for index in group}
        inserts: dict[int, list[int]] = defaultdict(list)
        for index in missing:
            if index not in done:
                place = self._place(index, anchors[index], behind[index])
                inserts[blocked.free(place)].append(index)
        chunks = [Edit(at, at, self._chunk(at, put)) for at, put in inserts.items()]
        return [*wrapped.values(), *chunks]

    def _forwards(self) -> tuple[dict[int, Edit], list[int | None]]:
        """Return the edits around visible text, and where what precedes each region ends."""
        blocked = Blocked(self._closed, self._lines)
        wrapped: dict[int, Edit] = {}
        anchors: list[int | None] = []
        anchor: int | None = None
        line = 0
        for group in self._old.groups:
            first = self._old.rows(group[0])[0]
            for number in range(line, first):
                if number in self._places:
                    anchor = self._lines.end(self._places[number])
            line = self._old.rows(group[-1])[1] + 1
            if not any(index in self._where for index in group):
                edit = self._around(group, self._lines.at(anchor or 0), blocked)
                if edit:
                    wrapped[group[0]] = edit
                    anchor = self._lines.from_(edit.end)
            for index in group:
                if index in self._where:
                    anchor = self._lines.from_(self._where[index][1])
                anchors.append(anchor)
        return wrapped, anchors

    def _backwards(self) -> list[int | None]:
        """Return for each region where what is after it begins."""
        behind: list[int | None] = []
        anchor: int | None = None
        line = len(self._old.lines) - 1
        for index in range(len(self._old.regions) - 1, -1, -1):
            first, last = self._old.rows(index)
            for number in range(line, last, -1):
                if number in self._places:
                    anchor = self._lines.starts[self._places[number]]
            line = min(line, first)
            behind.append(anchor)
            if index in self._where:
                anchor = self._lines.starts[self._lines.at(self._where[index][0])]
        return behind[::-1]

    def _around(self, group: Sequence[int], wanted: int, blocked: Blocked) -> Edit | None:
        """Return the edit that puts the lines of some regions around what is left of them."""
        rows = self._old.rows(group[0])[0], self._old.rows(group[-1])[1]
        whole = self._old.lines.slice(*rows)
        visible = _visible(whole)
        if not visible:
            return None
        for first in nearest(self._left.get(visible[0], ()), wanted, _TRIES):
            numbers = range(first, first + len(visible))
            if numbers[-1] >= len(self._lines) or not all(
                self._lines.outside[number]
                and number not in self._used
                and self._lines.content(number) == line
                for number, line in zip(numbers, visible, strict=True)
            ):
                continue
            start = self._lines.starts[first]
            end = self._lines.starts[numbers[-1]] + len(visible[-1])
            if not blocked.holds(start) and not blocked.holds(end):
                self._used.update(numbers)
                return Edit(start, end, whole)
        return None

    def _place(self, index: int, anchor: int | None, behind: int | None) -> int:
        """Return the line start, or the end of the text, that a region goes to."""
        first, _ = self._old.rows(index)
        if anchor is not None:
            line = self._lines.at(anchor)
            more = line + 1 < len(self._lines) and self._lines.starts[line] == anchor
            if more and self._old.lines.is_blank(first - 1) and self._lines.is_blank(line):
                return self._lines.end(line)
            return anchor
        if behind is not None:
            return behind
        return 0 if all(map(self._old.lines.is_blank, range(first))) else len(self._lines.text)

    def _chunk(self, at: int, put: Sequence[int]) -> str:
        """Return the text to insert: each region on lines of its own, blank lines as they were."""
        return "".join(self._pieces(at, put))

    def _pieces(self, at: int, put: Sequence[int]) -> Iterator[str]:
        old, lines = self._old, self._lines
        line = lines.at(at)
        fresh = lines.starts[line] == at
        if not fresh:
            yield self._break
        blank = fresh and lines.is_blank(line - 1)
        for position, index in enumerate(put):
            first, last = old.rows(index)
            if not blank and old.lines.is_blank(first - 1):
                yield self._break
            yield old.regions[index].text
            final = position + 1 == len(put)
            blank = old.lines.is_blank(last + 1) and old.lines.end(last) < len(old.lines.text)
            if final and at == len(lines.text):
                if fresh:
                    yield self._break
                return
            yield self._break
            if blank and not (final and lines.is_blank(line)):
                yield self._break


def _visible(text: str) -> list[str]:
    """Return the lines that a model sees of a text, without blank ones around them."""
    lines = strip_comments(plain_lines(text.replace("\r\n", "\n")) + "\n").text.split("\n")
    shown = [number for number, line in enumerate(lines) if line.strip()]
    return lines[shown[0] : shown[-1] + 1] if shown else []

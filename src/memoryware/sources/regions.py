"""Hidden regions: text between machine markers survives every change of a model.

A model does not see comments, so it cannot keep what depends on them. `restore` compares a
text before and after a change and puts back, byte for byte, what is missing or different.
The lines around a region that survived the change say where it goes: after the nearest line
before it, else before the nearest line after it. All of it takes time linear in the texts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from memoryware.sources._markers import (
    MarkedText,
    MarkerComment,
    MarkerPair,
    Region,
    Which,
    find_markers,
    find_regions,
    protected_pairs,
)
from memoryware.sources.markdown import plain_lines, strip_comments, within

__all__ = ["Region", "Which", "regions", "restore"]


def regions(text: str, *, which: Which = "marked") -> list[Region]:
    """Find the protected regions of a text.

    Args:
        text: A memory file as it is stored, with any line endings.
        which: "marked" protects what is between a pair of markers, and comments that begin
            with `memoryware:keep`; "all" every other comment outside code as well.

    Returns:
        The outermost regions, in order.
    """
    return find_regions(find_markers(text), which)


def restore(before: str, after: str, *, which: Which = "marked") -> tuple[str, tuple[str, ...]]:
    """Put the protected regions of the old text back into the changed one.

    A region that was changed is put back where it is; a missing one goes around the
    visible text that is left of it, else after the nearest line before it that is still
    there, else before the nearest line after it, else to the start or the end. Copies of a
    region are removed. Nothing else of the changed text is lost.

    Args:
        before: The text before the change.
        after: The text after it.
        which: Which comments are protected, as in `regions`.

    Returns:
        The text, which is `after` itself if nothing was wrong, and the names of the regions
        that were put back.
    """
    if before == after or "<!--" not in before:
        return after, ()
    old = _TextBefore(find_markers(before), which)
    attempt = _RegionRestore(old, find_markers(after))
    if attempt.is_whole:
        return after, ()
    names = attempt.names
    text = attempt.run()
    # Code that a change opened may swallow what was put back, so the result is checked.
    if not _RegionRestore(old, find_markers(text)).is_whole:
        text = _in_front(old, after)
    return text, tuple(dict.fromkeys(names))


def _in_front(old: _TextBefore, after: str) -> str:
    """Put the missing regions at the start of a text, where every better place has failed.

    There nothing can interfere: code that a region opens ends with the blank line after it.
    """
    attempt = _RegionRestore(old, find_markers(after))
    while attempt.copies:
        after = attempt.without_copies()
        attempt = _RegionRestore(old, find_markers(after))
    return "".join(f"{old.regions[i].text}\n\n" for i in attempt.missing) + after


class _RegionRestore:
    """One pass over a changed text.

    Attributes:
        missing: The regions that are not in it as they were.
        copies: Spans of regions that occur more often than before.
    """

    def __init__(self, old: _TextBefore, new: MarkedText) -> None:
        self.old, self.new = old, new
        self.where: dict[int, tuple[int, int]] = {}
        self.copies: list[tuple[int, int]] = []
        self._copied: list[str] = []
        self._claimed = bytearray(len(new.text) + 1)
        self._find()
        self.missing = [i for i in range(len(old.regions)) if i not in self.where]
        self._edits: list[_RegionEdit] = []

    @property
    def is_whole(self) -> bool:
        """Whether all regions are there, each as often as it was."""
        return not self.missing and not self.copies

    @property
    def names(self) -> list[str]:
        """The names of the regions that are missing or too many."""
        return [*(self.old.regions[index].name for index in self.missing), *self._copied]

    def without_copies(self) -> str:
        """Return the text with each region at most as often as it was."""
        lines = _LineTable(self.new.text, self.new.plain, self.copies)
        return _applied(self.new.text, [_without(lines, *copy) for copy in self.copies])

    def run(self) -> str:
        """Return the restored text."""
        rejected = self._changed()
        loose = [*self.copies, *self._leftovers(rejected)]
        lines = _LineTable(self.new.text, self.new.plain, [*self.where.values(), *loose])
        self._edits += [_without(lines, start, end) for start, end in loose]
        self._edits += _RegionPlacement(self.old, self.new, lines, self.where).edits()
        return _applied(self.new.text, self._edits)

    def _find(self) -> None:
        """Find the regions that are there, longest first, each copy used once."""
        by_text: dict[str, list[int]] = defaultdict(list)
        for index, region in enumerate(self.old.regions):
            by_text[region.text].append(index)
        lengths = set(map(len, by_text))
        there: dict[str, set[int]] = defaultdict(set)
        spans = [pair.span for pair in self.new.pairs]
        for start, end in [
            *spans,
            *((comment.start, comment.end) for comment in self.new.comments),
        ]:
            if end - start in lengths and (text := self.new.text[start:end]) in by_text:
                there[text].add(start)
        # Longest first, because a region may contain the text of a shorter one.
        for text in sorted(by_text, key=len, reverse=True):
            free = sorted(start for start in there[text] if not self._claimed[start])
            candidates = [(start, start + len(text)) for start in free]
            self.where.update(zip(by_text[text], candidates, strict=False))
            self._take(candidates)
            more = candidates[len(by_text[text]) :] if text in self.old.machine else []
            self.copies += more
            self._copied += [self.old.regions[by_text[text][0]].name] * bool(more)

    def _take(self, spans: Iterable[tuple[int, int]]) -> None:
        for start, end in spans:
            self._claimed[start:end] = b"\1" * (end - start)

    def _changed(self) -> set[MarkerPair]:
        """Put back regions whose text differs; return pairs that contain more than that."""
        waiting: dict[str, deque[int]] = defaultdict(deque)
        for index in self.missing:
            if index in self.old.pairs:
                waiting[self.old.pairs[index].begin.key].append(index)
        starts = sorted(start for start, _ in [*self.where.values(), *self.copies])
        rejected, done = set[MarkerPair](), 0
        for pair in sorted(
            protected_pairs(self.new), key=lambda pair: (pair.begin.start, -pair.end.end)
        ):
            start, end = pair.span
            if start < done or self._claimed[start] or not waiting.get(pair.begin.key):
                continue
            done = end
            if bisect_left(starts, start) != bisect_left(starts, end) or self._swallows(pair):
                rejected.add(pair)
                continue
            index = waiting[pair.begin.key].popleft()
            self.where[index] = (start, end)
            self._edits.append(_RegionEdit(start, end, self.old.regions[index].text))
            self._take([(start, end)])
        return rejected

    def _swallows(self, pair: MarkerPair) -> bool:
        """Return whether lines from outside have come between two markers."""
        body = self.new.text[pair.begin.end : pair.end.start]
        return not self.old.outside.isdisjoint(line.rstrip("\r") for line in body.split("\n"))

    def _leftovers(self, rejected: AbstractSet[MarkerPair]) -> list[tuple[int, int]]:
        """Return the markers of missing regions that are left without their partner."""
        gone = {
            text for i in self.missing if i not in self.where for text in self.old.markers(i)
        } - self.old.loose
        paired = {
            marker.start for pair in self.new.pairs if pair not in rejected for marker in pair
        }
        return [
            (comment.start, comment.end)
            for comment in self.new.comments
            if self._is_loose(comment, paired)
            and self.new.text[comment.start : comment.end] in gone
        ]

    def _is_loose(self, comment: MarkerComment, paired: set[int]) -> bool:
        return not self._claimed[comment.start] and comment.start not in paired


def _without(lines: _LineTable, start: int, end: int) -> _RegionEdit:
    """Remove a span, with its lines if nothing else is on them."""
    first, last = lines.at(start), lines.at(end - 1)
    before = lines.text[lines.starts[first] : start]
    after = lines.text[end : lines.end(last)]
    if before.strip() or after.strip():
        return _RegionEdit(start, end, "")
    return _RegionEdit(lines.starts[first], lines.end(last), "")


def _applied(text: str, edits: Iterable[_RegionEdit]) -> str:
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start >= position:
            pieces += [text[position : edit.start], edit.text]
            position = edit.end
    return "".join([*pieces, text[position:]])


# Positions that are tried for the visible text of one region: more would be quadratic.
_TRIES: Final = 8


class _RegionEdit(NamedTuple):
    """A span of a text and its replacement."""

    start: int
    end: int
    text: str


class _RegionPlacement:
    """Finds the place of each region that is missing.

    Args:
        old: The text before.
        new: The text after.
        lines: The lines of the text after.
        where: The regions that are there, by number.
    """

    def __init__(
        self,
        old: _TextBefore,
        new: MarkedText,
        lines: _LineTable,
        where: Mapping[int, tuple[int, int]],
    ) -> None:
        self._old, self._new, self._lines, self._where = old, new, lines, where
        self._new_lines, self._left = _survivors(old.lines, lines)
        self._used = set(self._new_lines.values())
        self._closed = [
            *((span.start, span.end + bool(span.closer)) for span in new.code),
            *((comment.start, comment.end) for comment in new.comments),
            *where.values(),
        ]
        # The file keeps its line ends, also where the changed text has lost them.
        self._break = (
            "\r\n" if "\r\n" in (new.text if "\n" in new.text else old.lines.text) else "\n"
        )

    def edits(self) -> list[_RegionEdit]:
        """Return the edits that insert all missing regions."""
        missing = [i for i in range(len(self._old.regions)) if i not in self._where]
        if not missing:
            return []
        wrapped, anchors = self._forwards()
        behind = self._backwards()
        blocked = _BlockedSpans(
            [*self._closed, *((edit.start, edit.end) for edit in wrapped.values())], self._lines
        )
        done = {index for group in self._old.groups if group[0] in wrapped for index in group}
        inserts: dict[int, list[int]] = defaultdict(list)
        for index in missing:
            if index not in done:
                insertion = self._position_of(index, anchors[index], behind[index])
                inserts[blocked.free(insertion)].append(index)
        chunks = [_RegionEdit(at, at, self._chunk(at, put)) for at, put in inserts.items()]
        return [*wrapped.values(), *chunks]

    def _forwards(self) -> tuple[dict[int, _RegionEdit], list[int | None]]:
        """Return the edits around visible text, and per region the end of what precedes it."""
        blocked = _BlockedSpans(self._closed, self._lines)
        wrapped: dict[int, _RegionEdit] = {}
        anchors: list[int | None] = []
        anchor: int | None = None
        line = 0
        for group in self._old.groups:
            first = self._old.rows(group[0])[0]
            for number in range(line, first):
                if number in self._new_lines:
                    anchor = self._lines.end(self._new_lines[number])
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
        """Return per region the start of what follows it."""
        behind: list[int | None] = []
        anchor: int | None = None
        line = len(self._old.lines) - 1
        for index in range(len(self._old.regions) - 1, -1, -1):
            first, last = self._old.rows(index)
            for number in range(line, last, -1):
                if number in self._new_lines:
                    anchor = self._lines.starts[self._new_lines[number]]
            line = min(line, first)
            behind.append(anchor)
            if index in self._where:
                anchor = self._lines.starts[self._lines.at(self._where[index][0])]
        return behind[::-1]

    def _around(
        self, group: Sequence[int], target: int, blocked: _BlockedSpans
    ) -> _RegionEdit | None:
        """Return the edit that puts the lines of some regions around what is left of them."""
        rows = self._old.rows(group[0])[0], self._old.rows(group[-1])[1]
        whole = self._old.lines.slice(*rows)
        visible = _visible(whole)
        if not visible:
            return None
        # Few tries: a text of a thousand equal lines would make this quadratic.
        for first in _nearest(self._left.get(visible[0], ()), target, _TRIES):
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
                return _RegionEdit(start, end, whole)
        return None

    def _position_of(self, index: int, anchor: int | None, behind: int | None) -> int:
        """Return the line start, or the end of the text, at which a region is inserted."""
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
    """Return the lines of a text that a model sees, without blank ones around them."""
    lines = strip_comments(plain_lines(text.replace("\r\n", "\n")) + "\n").text.split("\n")
    shown = [number for number, line in enumerate(lines) if line.strip()]
    return lines[shown[0] : shown[-1] + 1] if shown else []


class _TextBefore:
    """The text before the change.

    Attributes:
        regions: The protected regions, in order.
        groups: The regions that share lines.
        pairs: The markers of the regions that have some.
        machine: Texts of regions that must not be duplicated.
        loose: Markers outside of regions.
        outside: The lines outside of regions.
    """

    def __init__(self, marks: MarkedText, which: Which) -> None:
        self.marks = marks
        self.regions = find_regions(marks, which)
        by_span = {pair.span: pair for pair in protected_pairs(marks)}
        self.pairs = {
            index: by_span[region.start, region.end]
            for index, region in enumerate(self.regions)
            if (region.start, region.end) in by_span
        }
        self.machine = {region.text for region in find_regions(marks, "marked")}
        spans = [(region.start, region.end) for region in self.regions]
        self.lines = _LineTable(marks.text, marks.plain, spans)
        self.loose = {
            marks.text[comment.start : comment.end]
            for comment in marks.comments
            if not within(spans, comment.start)
        }
        self.outside = set(self.lines.by_content())
        self.groups = list(self._groups())

    def rows(self, index: int) -> tuple[int, int]:
        """Return the first and the last line of a region."""
        region = self.regions[index]
        return self.lines.at(region.start), self.lines.at(region.end - 1)

    def markers(self, index: int) -> Iterator[str]:
        """Yield the texts of the markers of a region."""
        for marker in self.pairs.get(index, ()):
            yield self.marks.text[marker.start : marker.end]

    def _groups(self) -> Iterator[list[int]]:
        group: list[int] = []
        last = -1
        for index in range(len(self.regions)):
            first, end = self.rows(index)
            if group and first > last:
                yield group
                group = []
            group.append(index)
            last = end
        if group:
            yield group


_BREAK: Final = re.compile(r"\n")


class _LineTable:
    """The lines of a text, and which of them are outside some spans of it.

    Attributes:
        text: The text itself.
        starts: Where each line starts.
        outside: For each line, whether it touches none of the spans.
    """

    def __init__(self, text: str, plain: str, spans: Iterable[tuple[int, int]]) -> None:
        self.text = text
        self.starts = [0, *(ending.end() for ending in _BREAK.finditer(plain))]
        self.outside = [True] * len(self.starts)
        for start, end in spans:
            first, last = self.at(start), self.at(max(start, end - 1))
            self.outside[first : last + 1] = [False] * (last + 1 - first)

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, position: int) -> int:
        """Return the number of the line with this character."""
        return bisect_right(self.starts, position) - 1

    def end(self, number: int) -> int:
        """Return where the next line starts, or the end of the text."""
        return self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)

    def from_(self, position: int) -> int:
        """Return the first line start at or after a position; past the end, the position itself."""
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
        """Return whether a line is blank; lines before and after the text are."""
        return not 0 <= number < len(self.starts) or not self.content(number).strip()

    def by_content(self) -> dict[str, list[int]]:
        """Return the numbers of the outside lines that are not blank, by their content."""
        by_line: dict[str, list[int]] = defaultdict(list)
        for number, outside in enumerate(self.outside):
            if outside and (content := self.content(number)).strip():
                by_line[content].append(number)
        return by_line


def _survivors(
    before: _LineTable, after: _LineTable
) -> tuple[dict[int, int], dict[str, list[int]]]:
    """Map outside lines to where they are now, and return the unmatched lines of `after`.

    Equal lines are matched in order.
    """
    there = after.by_content()
    counterparts: dict[int, int] = {}
    for content, numbers in before.by_content().items():
        now = there.get(content, [])
        counterparts.update(zip(numbers, now, strict=False))
        if content in there:
            there[content] = now[len(numbers) :]
    return counterparts, there


class _BlockedSpans:
    """Spans of a text that nothing may be inserted into."""

    def __init__(self, spans: Iterable[tuple[int, int]], lines: _LineTable) -> None:
        self._lines = lines
        self._parts: list[tuple[int, int]] = []
        self._whole: list[tuple[int, int]] = []  # up to the line that follows each
        for start, end in sorted(spans):
            _add(self._parts, start, end)
            _add(self._whole, start, lines.from_(end))

    def holds(self, position: int) -> bool:
        """Return whether a position is inside a span."""
        return _holding(self._parts, position) is not None

    def free(self, position: int) -> int:
        """Return the nearest allowed position to a line start, or to the end of the text.

        A position inside a span moves to the line after it; if the span is open at the end
        of the text, to the line on which it begins.
        """
        part = _holding(self._whole, position)
        if part is None:
            return position
        start, end = part
        return end if end <= len(self._lines.text) else self._lines.starts[self._lines.at(start)]


def _add(spans: list[tuple[int, int]], start: int, end: int) -> None:
    """Add a span that starts after the others; overlapping ones are merged."""
    if spans and start < spans[-1][1]:
        spans[-1] = (spans[-1][0], max(spans[-1][1], end))
    else:
        spans.append((start, end))


def _holding(spans: Sequence[tuple[int, int]], position: int) -> tuple[int, int] | None:
    index = bisect_left(spans, (position,)) - 1
    return spans[index] if index >= 0 and position < spans[index][1] else None


def _nearest(numbers: Sequence[int], number: int, most: int) -> Sequence[int]:
    """Return some numbers of an ordered list: from this one on, then those before it."""
    at = bisect_left(numbers, number)
    return [*numbers[at : at + most], *numbers[max(0, at - most) : at][::-1]][:most]

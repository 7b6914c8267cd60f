"""Author comments, removed from what the model sees, in linear time.

`<!-- ... -->` goes, except inside fenced code and code spans, where it is content. A
comment that is never closed removes nothing: losing rules is worse than showing a note.
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_MARK: Final = re.compile(r"[`~\\<](?:(?<=<)!--|(?<=`)`*+|(?<=~)~~++|(?<=\\)[`<\\](?:\\[`<\\])*+)")
"""A comment, a run of ticks or tildes, escapes. It begins with a set of characters, because
such a one is searched for several times faster."""
_FENCE: Final = re.compile(
    r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<run>`{3,}+(?=[^`\n]*$)|~{3,}+)", re.MULTILINE
)
_FENCE_END: Final = re.compile(r"^[ \t>]*+(?P<run>`{3,}+|~{3,}+)[ \t]*$", re.MULTILINE)
_TICKS: Final = re.compile(r"`+")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without its comments.

    Attributes:
        text: What is left.
        removed: For each comment, the line of `text` from which on lines of the original are
            further down (from 0), and by how many, to find them again.
        unclosed: Openers that no end belongs to; they are still in the text.
    """

    text: str
    removed: tuple[tuple[int, int], ...] = ()
    unclosed: int = 0

    def original_line(self, line: int) -> int:
        """Return which line of the original (from 0) a line of `text` was."""
        return line + sum(breaks for at, breaks in self.removed if at <= line)


def strip_comments(text: str) -> Stripped:
    """Return the text (with LF line endings) without comments outside code."""
    if "<!--" not in text:
        return Stripped(text)
    return _Scan(text).run()


class _Scan:
    """One pass from left to right; each helper looks only ahead of `position`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kept: list[str] = []
        self.lines = 0
        self.removed: list[tuple[int, int]] = []
        self.unclosed = 0
        self._at_start = True
        self._next_end = 0

    # Looked for when the first code begins; most texts have none, or no comments beside it.

    @cached_property
    def _fences(self) -> list[tuple[int, str, int]]:
        return [(m.start(), m["run"], m.end()) for m in _FENCE_END.finditer(self.text)]

    @cached_property
    def _ticks(self) -> dict[int, list[int]]:
        starts: dict[int, list[int]] = defaultdict(list)
        for run in _TICKS.finditer(self.text):
            starts[len(run.group())].append(run.start())
        return starts

    @cached_property
    def _blanks(self) -> list[int]:
        return [m.start() for m in _BLANK_LINE.finditer(self.text)]

    def run(self) -> Stripped:
        """Scan the whole text."""
        position = copied = 0
        while mark := _MARK.search(self.text, position):
            at, found = mark.span()
            if (kind := self.text[at]) == "<":
                end = self._comment_end(at)
                if end is None:
                    break
                if end:
                    copied = self._drop(copied, at, end)
                position = max(end or found, copied)
            elif kind != "\\" and (fence := self._fence_at(at, position)):
                position = self._after_fence(fence["run"], fence.end())
            else:
                position = self._after_span(found - at, found) if kind == "`" else found
        self._keep(copied, len(self.text))
        return Stripped("".join(self.kept), tuple(self.removed), self.unclosed)

    def _fence_at(self, at: int, position: int) -> re.Match[str] | None:
        """Return the fence that opens a code block here, with only its indent before it."""
        line = self.text.rfind("\n", position, at) + 1
        if not line:
            if position and self.text[position - 1] != "\n":
                return None
            line = position
        fence = _FENCE.match(self.text, line)
        return fence if fence and fence.start("run") == at else None

    def _keep(self, start: int, end: int) -> str:
        piece = self.text[start:end]
        self.kept.append(piece)
        _, line_end, rest = piece.rpartition("\n")
        self.lines += piece.count("\n") if line_end else 0
        self._at_start = (bool(line_end) or self._at_start) and not rest.strip(" \t")
        return piece

    def _drop(self, copied: int, start: int, end: int) -> int:
        """Leave out a comment, with its line, or with the blanks before it at a line's end."""
        before, text = self._keep(copied, start), self.text
        if text.startswith("\n", end):
            _, line_end, indent = before.rpartition("\n")
            starts_line = line_end or not copied or text[copied - 1] == "\n"
            if starts_line and not indent.strip(" \t"):
                end += 1
            else:
                self.kept[-1] = before.rstrip(" \t")
        # Text before the comment keeps its line where it was; what follows moves up.
        self.removed.append((self.lines + (not self._at_start), text.count("\n", start, end)))
        return end

    def _after_fence(self, opening: str, position: int) -> int:
        for index in range(bisect.bisect_left(self._fences, (position,)), len(self._fences)):
            _, run, end = self._fences[index]
            if run[0] == opening[0] and len(run) >= len(opening):
                return end
        return len(self.text)

    def _after_span(self, length: int, position: int) -> int:
        """Return where a code span ends, or the place after its ticks if it never does."""
        starts = self._ticks[length]
        index = bisect.bisect_left(starts, position)
        if index == len(starts):
            return position
        blank = bisect.bisect_left(self._blanks, position)
        if blank < len(self._blanks) and self._blanks[blank] < starts[index]:
            return position
        return starts[index] + length

    def _comment_end(self, start: int) -> int | None:
        """Return the end of a comment, 0 if this opener is unclosed, None if all are."""
        if self.text.startswith(("<!-->", "<!--->"), start):
            return self.text.index(">", start) + 1
        if self._next_end < start + 4:  # looked up once for all openers before it
            self._next_end = self.text.find("-->", start + 4)
        end = self._next_end
        if end < 0:
            self.unclosed += 1
            return None
        if self.text.find("<!--", start + 4, end) >= 0:
            self.unclosed += 1
            return 0
        return end + 3

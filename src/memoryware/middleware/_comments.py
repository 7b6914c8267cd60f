"""Author comments, removed from what the model sees, in linear time.

`<!-- ... -->` goes, except inside fenced code and code spans, where it is content. A
comment that is never closed removes nothing: losing rules is worse than showing a note.
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"^[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<fence>`{3,}+(?=[^`\n]*$)|~{3,}+)"
    r"|\\[`<\\]"
    r"|(?P<ticks>`++)"
    r"|(?P<comment><!--)",
    re.MULTILINE,
)
_FENCE_END: Final = re.compile(r"^[ \t>]*+(?P<run>`{3,}+|~{3,}+)[ \t]*$", re.MULTILINE)
_TICKS: Final = re.compile(r"`+")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without its comments.

    Attributes:
        text: What is left.
        removed: For each comment, the line of `text` it stood in (from 0) and how many line
            breaks went with it, to find lines of the original again.
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
        self._next_end = 0
        self._fences = [(m.start(), m["run"], m.end()) for m in _FENCE_END.finditer(text)]
        self._ticks: dict[int, list[int]] = defaultdict(list)
        for run in _TICKS.finditer(text):
            self._ticks[len(run.group())].append(run.start())
        self._blanks = [m.start() for m in _BLANK_LINE.finditer(text)]

    def run(self) -> Stripped:
        """Scan the whole text."""
        position = copied = 0
        while token := _TOKEN.search(self.text, position):
            if token["fence"]:
                position = self._after_fence(token["fence"], token.end())
            elif token["ticks"]:
                position = self._after_span(len(token["ticks"]), token.end())
            elif token["comment"]:
                end = self._comment_end(token.start())
                if end is None:
                    break
                if end:
                    copied = self._drop(copied, token.start(), end)
                position = max(end or token.end(), copied)
            else:
                position = token.end()
        self._keep(copied, len(self.text))
        return Stripped("".join(self.kept), tuple(self.removed), self.unclosed)

    def _keep(self, start: int, end: int) -> None:
        piece = self.text[start:end]
        self.kept.append(piece)
        self.lines += piece.count("\n")

    def _drop(self, copied: int, start: int, end: int) -> int:
        """Leave out a comment, with its line when nothing else stands in it."""
        self._keep(copied, start)
        line_start = self.text.rfind("\n", copied, start) + 1
        at_line_start = line_start > 0 or copied == 0 or self.text[copied - 1] == "\n"
        alone = at_line_start and not self.text[max(line_start, copied) : start].strip(" \t")
        if alone and self.text[end : end + 1] == "\n":
            end += 1
        self.removed.append((self.lines, self.text.count("\n", start, end)))
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
        for short in ("<!-->", "<!--->"):
            if self.text.startswith(short, start):
                return start + len(short)
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

"""Where code and comments are in a Markdown text, found in one pass of linear time.

Comments in fenced code and in code spans are content, and so is code in comments. The
text has LF line endings; `plain_lines` makes such a text without moving a character.
"""

from __future__ import annotations

import bisect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, Literal, NamedTuple

SpanKind = Literal["comment", "code", "unclosed"]

_MARK: Final = re.compile(r"[`~\\<](?:(?<=<)!--|(?<=`)`*+|(?<=~)~~++|(?<=\\)[`<\\](?:\\[`<\\])*+)")
"""A comment, a run of ticks or tildes, escapes. It begins with a set of characters, because
such a one is searched for several times faster."""
_FENCE: Final = re.compile(
    r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<run>`{3,}+(?=[^`\n]*$)|~{3,}+)", re.MULTILINE
)
_FENCE_END: Final = re.compile(r"^[ \t>]*+(?P<run>`{3,}+|~{3,}+)[ \t]*$", re.MULTILINE)
_TICKS: Final = re.compile(r"`+")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
_LINE_ENDS: Final = {0x0D: "\n", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}
"""Characters that end a line as well."""


class Span(NamedTuple):
    """A part of a text.

    Attributes:
        kind: A closed comment, code, or the four characters that open a comment that is
            never closed.
        start: Its first character; of fenced code, that of its line.
        end: The character after it.
        closer: What would close fenced code that is never closed, else "".
    """

    kind: SpanKind
    start: int
    end: int
    closer: str = ""


def plain_lines(text: str) -> str:
    """Return the text with LF endings, every other character at the place where it was."""
    if text.isascii() and "\r" not in text:
        return text
    return text.replace("\r\n", " \n").translate(_LINE_ENDS)


def spans(text: str) -> Iterator[Span]:
    """Return the comments and the code of a text (with LF line endings) in order."""
    return _Scan(text).run()


class _Scan:
    """One pass from left to right; each helper looks only ahead of `position`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._next_end = 0

    # Looked for when the first code begins; most texts have none.

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

    def run(self) -> Iterator[Span]:
        """Scan the whole text."""
        position = 0
        while mark := _MARK.search(self.text, position):
            at, found = mark.span()
            position = found
            if (kind := self.text[at]) == "<":
                end = self._comment_end(at)
                yield Span("comment", at, end) if end else Span("unclosed", at, found)
                position = end or found
            elif kind != "\\" and (fence := self._fence_at(at, mark.pos)):
                position, closer = self._after_fence(fence["run"], fence.end())
                yield Span("code", fence.start(), position, closer)
            elif kind == "`" and (end := self._after_span(found - at, found)):
                yield Span("code", at, end)
                position = end

    def _fence_at(self, at: int, position: int) -> re.Match[str] | None:
        """Return the fence that opens a code block here, with only its indent before it."""
        line = self.text.rfind("\n", position, at) + 1
        if not line:
            if position and self.text[position - 1] != "\n":
                return None
            line = position
        fence = _FENCE.match(self.text, line)
        return fence if fence and fence.start("run") == at else None

    def _after_fence(self, opening: str, position: int) -> tuple[int, str]:
        """Return where fenced code ends, and what is missing if that is the end of the text."""
        for index in range(bisect.bisect_left(self._fences, (position,)), len(self._fences)):
            _, run, end = self._fences[index]
            if run[0] == opening[0] and len(run) >= len(opening):
                return end, ""
        return len(self.text), opening

    def _after_span(self, length: int, position: int) -> int:
        """Return where a code span ends, 0 if it never does."""
        starts = self._ticks[length]
        index = bisect.bisect_left(starts, position)
        if index == len(starts):
            return 0
        blank = bisect.bisect_left(self._blanks, position)
        if blank < len(self._blanks) and self._blanks[blank] < starts[index]:
            return 0
        return starts[index] + length

    def _comment_end(self, start: int) -> int:
        """Return the end of a comment, 0 if this opener is unclosed."""
        if self.text.startswith(("<!-->", "<!--->"), start):
            return self.text.index(">", start) + 1
        if 0 <= self._next_end < start + 4:  # looked up once for all openers before it
            self._next_end = self.text.find("-->", start + 4)
        end = self._next_end
        if end < 0 or self.text.find("<!--", start + 4, end) >= 0:
            return 0
        return end + 3


def within(parts: Sequence[tuple[int, int]], position: int) -> bool:
    """Say whether a character belongs to one of some parts, which are apart and in order."""
    index = bisect.bisect_right(parts, (position, sys.maxsize)) - 1
    return index >= 0 and position < parts[index][1]

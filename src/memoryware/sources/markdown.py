"""Code and comments of a Markdown text: find and strip them, in one pass of linear time.

Comments in fenced code and in code spans are content, and so is code in comments. The
text has LF line endings; `plain_lines` makes such a text without moving a character.

`strip_comments` removes `<!-- ... -->` from what the model sees. A comment that is never
closed removes nothing: losing rules is worse than showing a note.
"""

from __future__ import annotations

import bisect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

SpanKind = Literal["comment", "code", "unclosed"]

# A comment, a run of ticks or tildes, escapes. It begins with a set of characters, because such a
# one is searched for several times faster.
_MARK: Final = re.compile(r"[`~\\<](?:(?<=<)!--|(?<=`)`*+|(?<=~)~~++|(?<=\\)[`<\\](?:\\[`<\\])*+)")
_FENCE: Final = re.compile(
    r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<run>`{3,}+(?=[^`\n]*$)|~{3,}+)", re.MULTILINE
)
_FENCE_END: Final = re.compile(r"^[ \t>]*+(?P<run>`{3,}+|~{3,}+)[ \t]*$", re.MULTILINE)
_TICKS: Final = re.compile(r"`+")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
# Characters that end a line as well.
_LINE_ENDS: Final = {0x0D: "\n", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}


class MarkdownSpan(NamedTuple):
    """A span of a Markdown text.

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
    """Turn all line endings into LF; every other character stays at its index.

    Args:
        text: Any text.

    Returns:
        A text of the same length.
    """
    # Most memory files; isascii() reads a flag of the string.
    if text.isascii() and "\r" not in text:
        return text
    # A blank for the CR keeps every index valid in the original text.
    return text.replace("\r\n", " \n").translate(_LINE_ENDS)


def spans(text: str) -> Iterator[MarkdownSpan]:
    """Find the comments and the code of a text.

    Args:
        text: Markdown with LF line endings.

    Returns:
        The spans in order.
    """
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

    def run(self) -> Iterator[MarkdownSpan]:
        """Scan the whole text."""
        position = 0
        while mark := _MARK.search(self.text, position):
            at, end_of_mark = mark.span()
            position = end_of_mark
            if (kind := self.text[at]) == "<":
                end = self._comment_end(at)
                yield (
                    MarkdownSpan("comment", at, end)
                    if end
                    else MarkdownSpan("unclosed", at, end_of_mark)
                )
                position = end or end_of_mark
            elif kind != "\\" and (fence := self._fence_at(at, mark.pos)):
                position, closer = self._after_fence(fence["run"], fence.end())
                yield MarkdownSpan("code", fence.start(), position, closer)
            elif kind == "`" and (end := self._after_span(end_of_mark - at, end_of_mark)):
                yield MarkdownSpan("code", at, end)
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
    """Return whether a character belongs to one of several spans.

    Args:
        parts: Start and end of each span, in order and without overlaps.
        position: The index of the character.

    Returns:
        Whether a span covers it.
    """
    index = bisect.bisect_right(parts, (position, sys.maxsize)) - 1
    return index >= 0 and position < parts[index][1]


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
        """Map a line of `text` back to the original.

        Args:
            line: The number of the line, from 0.

        Returns:
            The number of the original line, from 0.
        """
        return line + sum(breaks for at, breaks in self.removed if at <= line)


def strip_comments(text: str) -> Stripped:
    """Remove the comments outside code from a text.

    Args:
        text: Markdown with LF line endings.

    Returns:
        The text without comments, and where they were.
    """
    if "<!--" not in text:
        return Stripped(text)
    return _Strip(text).run()


class _Strip:
    """The text without comments so far, and the line on which the next piece begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[str] = []
        self.lines = 0
        self._at_start = True

    def run(self) -> Stripped:
        """Go through the whole text."""
        copied = unclosed = 0
        removed: list[tuple[int, int]] = []
        last = self.text.rfind("-->")
        for span in spans(self.text):
            if span.kind == "unclosed":
                unclosed += 1
                if span.start > last:  # nothing that follows is ever closed
                    break
            if span.kind == "comment":
                line_before = self._keep(copied, span.start)
                end = self._dropped_to(copied, span.end, line_before)
                # Text before it keeps its line where it was; what follows moves up.
                breaks = self.text.count("\n", span.start, end)
                removed.append((self.lines + (not self._at_start), breaks))
                copied = end
        self._keep(copied, len(self.text))
        return Stripped("".join(self.pieces), tuple(removed), unclosed)

    def _keep(self, start: int, end: int) -> str:
        piece = self.text[start:end]
        self.pieces.append(piece)
        _, line_end, rest = piece.rpartition("\n")
        self.lines += piece.count("\n") if line_end else 0
        self._at_start = (bool(line_end) or self._at_start) and not rest.strip(" \t")
        return piece

    def _dropped_to(self, copied: int, end: int, before: str) -> int:
        """Return where text goes on: a comment goes with its line, or the blanks before it."""
        if not self.text.startswith("\n", end):
            return end
        _, line_end, indent = before.rpartition("\n")
        starts_line = line_end or not copied or self.text[copied - 1] == "\n"
        if starts_line and not indent.strip(" \t"):
            return end + 1
        self.pieces[-1] = before.rstrip(" \t")
        return end

"""Author comments, removed from what the model sees, in linear time.

`<!-- ... -->` goes, except inside fenced code and code spans, where it is content. A
comment that is never closed removes nothing: losing rules is worse than showing a note.
"""

from __future__ import annotations

from dataclasses import dataclass

from memoryware.sources.markdown.scanning import spans


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
    return _Strip(text).run()


class _Strip:
    """What is kept so far, and the line that the next piece begins on."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kept: list[str] = []
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
        return Stripped("".join(self.kept), tuple(removed), unclosed)

    def _keep(self, start: int, end: int) -> str:
        piece = self.text[start:end]
        self.kept.append(piece)
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
        self.kept[-1] = before.rstrip(" \t")
        return end

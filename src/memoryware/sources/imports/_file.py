"""One file of an expansion: its import lines, what became of them, and its text in the end.

A file is made self-contained before it is put into another: code in it is closed, and an
opener of a comment that is never closed is spelled `&lt;!--`, so that it can neither hide
nor swallow what stands around it. Lines in it that look like our own are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from memoryware.sources.imports._line import ImportLine, import_lines, passed_over
from memoryware.sources.imports._place import Place
from memoryware.sources.markdown.scanning import plain_lines, spans

_OURS: Final = re.compile(
    r"^([ \t]*+)(?=\[(?:from|end of|import [a-z ]{1,16}:) [^\n]*\][ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_OPENER: Final = "&lt;!--"
_NAMED_AT_MOST: Final = 200
_IN_NAMES: Final = str.maketrans("[]`", "()'")


@dataclass(slots=True, eq=False)
class Target:
    """What became of one path on an import line.

    Attributes:
        file: The file that it leads to.
        is_here: Whether the text of the file stands here, and not where else it is imported.
        report: Why there is no file.
    """

    file: File | None = None
    is_here: bool = False
    report: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether the text of a file stands here."""
        return self.is_here and not self.report and self.file is not None and not self.file.report


@dataclass(slots=True, eq=False)
class File:
    """A file that imports or is imported.

    Attributes:
        place: Where it is.
        depth: How many imports lead to it.
        text: Its text, with LF line endings.
        lines: Its import lines.
        targets: What became of each path of each line; lines without any stay as they are.
        report: Why its text is not shown.
    """

    place: Place
    depth: int
    text: str = ""
    lines: list[ImportLine] = field(default_factory=list)
    targets: list[list[Target]] = field(default_factory=list)
    report: str = ""
    _openers: list[int] = field(default_factory=list)
    _closer: str = ""
    _passed_over: int = 0

    @property
    def name(self) -> str:
        """The path as it is shown."""
        return named(self.place.spelled)

    def read(self, text: str, suffixes: Sequence[str], most: int) -> None:
        """Take the text and find import lines in it, one more than the most that are followed."""
        text = plain_lines(text.replace("\r\n", "\n"))
        if self.depth:
            text = _OURS.sub(r"\1\\", text).strip("\n")
        found = list(spans(text))
        self.text = text
        self.lines = import_lines(text, found, suffixes, most + 1)
        self._openers = [span.start for span in found if span.kind == "unclosed"]
        self._closer = found[-1].closer if found else ""
        if len(self.lines) <= most:
            self._passed_over = passed_over(text, found, suffixes, self.lines)

    def notes(self) -> Iterator[str]:
        """Say what was not imported."""
        for line, targets in zip(self.lines, self.targets, strict=False):
            start = line.mentioned[0][0] if line.mentioned else line.start
            number = self.text.count("\n", 0, start) + 1
            for target in targets:
                missed = target.report or (target.is_here and target.file and target.file.report)
                if missed:
                    yield f"{self.name}, line {number}: {missed}"
        if self._passed_over:
            yield (
                f"{self.name}, line {self._passed_over}: a path after '@' is not imported; to be,"
                " it must not be indented like code"
            )
        if self._openers and self.lines:
            yield f"{self.name}: a comment is never closed; its text is shown to the model"

    def pieces(self) -> Iterator[str | list[Target]]:
        """Return the text in pieces, with the targets where their lines were.

        Of a mention in a sentence only a file that is shown comes; what was wrong with the
        others is in the notes, since the sentence still stands.
        """
        edits: list[tuple[int, int, str | list[Target]]] = [
            (at, at + 4, _OPENER) for at in self._openers
        ]
        lines = zip(self.lines, self.targets, strict=False)
        for line, targets in lines:
            shown = [one for one in targets if one.is_shown] if line.mentioned else targets
            if shown or not line.mentioned:
                edits.append((line.start, line.end, shown))
        position = 0
        for start, end, put in sorted(edits, key=lambda edit: edit[0]):
            yield self.text[position:start]
            yield put
            position = end
        yield self.text[position:]
        if self._closer:
            yield f"\n{self._closer}"


class _Rendering:
    """The text so far."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._shown: set[File] = set()
        self._tail = "\n\n"  # the last two characters
        self._gap = False  # whether a blank line must come before more text

    @property
    def text(self) -> str:
        return "".join(self._out)

    def file(self, file: File) -> None:
        self._shown.add(file)
        for piece in file.pieces():
            if isinstance(piece, str):
                self._put(piece)
                continue
            for index, target in enumerate(piece):
                if index:
                    self._put("\n")
                self._target(target)

    def _target(self, target: Target) -> None:
        file = target.file
        report = target.report or (file.report if file else "")
        if file and not report and (file in self._shown or not target.is_here):
            where = "above" if file in self._shown else "below"
            report = f"import skipped: {file.name} is already shown {where}"
        if report or not file:
            self._put(f"[{report}]")
            return
        self._blank_line()
        self._put(f"[from {file.name}]\n")
        self.file(file)
        if not self._tail.endswith("\n"):
            self._put("\n")
        self._gap = False  # lines that end files may follow each other
        self._put(f"[end of {file.name}]")
        self._gap = True

    def _put(self, text: str) -> None:
        if self._gap and text.strip("\n"):
            self._gap = False
            if not self._tail.endswith("\n\n") and not text.startswith("\n\n"):
                text = f"\n{text}"
        self._out.append(text)
        self._tail = (self._tail + text)[-2:]

    def _blank_line(self) -> None:
        self._gap = False
        if self._tail != "\n\n":
            self._put("\n" if self._tail.endswith("\n") else "\n\n")


def render(outermost: File) -> str:
    """Return the text of a file with all that it imports in it."""
    rendering = _Rendering()
    rendering.file(outermost)
    return rendering.text


def named(path: str) -> str:
    """Return a path as it may stand in a line of ours."""
    short = path if len(path) <= _NAMED_AT_MOST else f"{path[:_NAMED_AT_MOST]}…"
    return "".join(one if one.isprintable() else "?" for one in short.translate(_IN_NAMES))

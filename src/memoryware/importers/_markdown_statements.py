"""Split Markdown into statements: paragraphs and items of lists, with their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoryware.sources.markdown import strip_comments

_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_BOLD_HEADING: Final = re.compile(r"(\*\*|__)([^*_]+?):?\1:?$")
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE: Final = re.compile(r"(?:[-*_=][ \t]*){3,}$")
_FRONT: Final = re.compile(r"---\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FRONT_CHARS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class MarkdownStatement:
    """A statement of a Markdown text.

    Attributes:
        text: A paragraph, or an item of a list with its nested items, without its marker.
        line: Its first line, from 1.
        headings: The headings above it, the outermost first.
        is_item: Whether it is an item of a list.
    """

    text: str
    line: int
    headings: tuple[str, ...] = ()
    is_item: bool = False


def front_matter(text: str) -> tuple[dict[str, str | list[str]], str, int]:
    """Split the front matter of a Markdown file from its text.

    Only texts and lists of texts are read, so that no YAML of strangers builds objects.

    Args:
        text: A text with LF line endings.

    Returns:
        The fields, the rest of the text, and the number of lines before it.
    """
    match = _FRONT.match(text[:_FRONT_CHARS])
    if match is None:
        return {}, text, 0
    fields: dict[str, str | list[str]] = {}
    key = ""
    for line in match[1].splitlines():
        name, colon, value = line.partition(":")
        if line.lstrip().startswith("- ") and key:
            items = fields[key]
            item = _unquoted(line.lstrip()[2:])
            fields[key] = [*items, item] if isinstance(items, list) else [item]
        elif colon and name.strip() and not line[:1].isspace() and not line.startswith("#"):
            key, value = name.strip(), value.strip()
            is_list = value.startswith("[") and value.endswith("]")
            inside = [_unquoted(item) for item in value[1:-1].split(",") if item.strip()]
            fields[key] = inside if is_list else _unquoted(value)
    return fields, text[match.end() :], match[0].count("\n")


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def statements_of(text: str, first_line: int = 1) -> Iterator[MarkdownStatement]:
    """Split a text into statements.

    A paragraph that ends in a colon keeps the list or code below it, since neither says
    anything alone. Comments are removed.

    Args:
        text: Markdown with LF line endings, without front matter.
        first_line: The number of its first line.

    Yields:
        The statements in order.
    """
    stripped = strip_comments(text)
    splitter = _Splitter()
    for index, line in enumerate(stripped.text.split("\n")):
        splitter.add(line.rstrip(), stripped.original_line(index) + first_line)
    splitter.end()
    yield from splitter.statements


class _Splitter:
    """The statements so far, and the lines of the one that is being read."""

    def __init__(self) -> None:
        self.statements: list[MarkdownStatement] = []
        self._headings: list[tuple[int, str]] = []
        self._lines: list[str] = []
        self._line = 0
        self._is_item = False
        self._fence = ""
        self._was_blank = False

    def add(self, line: str, number: int) -> None:
        """Add the next line."""
        if self._fence:
            self._lines.append(line)
            if line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""
            return
        if not line:
            self._was_blank = True
            return
        was_blank, self._was_blank = self._was_blank, False
        fence = _FENCE.match(line)
        if fence:
            self._fence = fence[1]
            self._continue_or_begin(line, number, was_blank=was_blank)
        elif heading := self._heading(line, was_blank=was_blank):
            self.end()
            level = len(heading[1]) if heading[1].startswith("#") else 7
            self._headings = [pair for pair in self._headings if pair[0] < level]
            self._headings.append((level, heading[2].strip()))
        elif _RULE.fullmatch(line) and not line.lstrip().startswith("="):
            self.end()
        elif item := _ITEM.match(line):
            if self._introduces:
                self._lines.append(line)
                return
            self._begin(line[item.end() :], number, is_item=True)
        else:
            self._continue_or_begin(line, number, was_blank=was_blank)

    def _heading(self, line: str, *, was_blank: bool) -> re.Match[str] | None:
        """Match a heading; a bold line counts as one at the beginning of a paragraph."""
        begins = was_blank or not self._lines
        return _HEADING.match(line) or (_BOLD_HEADING.match(line) if begins else None)

    @property
    def _introduces(self) -> bool:
        """Whether a paragraph is open that ends in a colon, or a list that it introduces."""
        return (
            bool(self._lines)
            and not self._is_item
            and (
                self._lines[-1].endswith((":", "\uff1a"))
                or bool(_ITEM.match(self._lines[-1].lstrip()))
            )
        )

    def _continue_or_begin(self, line: str, number: int, *, was_blank: bool) -> None:
        is_nested = self._is_item and line[:1].isspace()
        if self._lines and (not was_blank or is_nested or self._introduces):
            self._lines.append(line)
        else:
            self._begin(line, number, is_item=False)

    def _begin(self, line: str, number: int, *, is_item: bool) -> None:
        self.end()
        self._lines, self._line, self._is_item = [line.strip()], number, is_item

    def end(self) -> None:
        """End the open statement."""
        text = "\n".join(self._lines).strip()
        if any(character.isalnum() for character in text):
            headings = tuple(heading for _, heading in self._headings)
            self.statements.append(MarkdownStatement(text, self._line, headings, self._is_item))
        self._lines, self._is_item, self._fence, self._was_blank = [], False, "", False

"""Import lines of a memory file: find `@path` outside code, and resolve the path.

A line of only paths is replaced by the files. In a sentence the path stays as a word, and the
file is inserted after the paragraph, as Claude Code treats such a mention. Paths are joined and
compared by whole segments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from memoryware.backends._paths import LONGEST_PATH, normalise
from memoryware.errors import PathRefused
from memoryware.sources.markdown import MarkdownSpan, within

_LINE: Final = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<marker>(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<paths>@(?=\S)[^\n]*)$",
    re.MULTILINE,
)
_PATH: Final = re.compile(r"@((?:[^\s\\]|\\.)++)(?:[ \t]++|$)")
# What begins after a paragraph: a blank line, a list item, a heading, code.
_NEW_BLOCK: Final = re.compile(
    r"[ \t]*+(?:$|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|```|~~~|<!--)|\Z", re.MULTILINE
)
_INDENT: Final = re.compile(r"[ \t]*+")
# Characters of texts that have no blanks between words.
_CJK: Final = r"\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
_CODE_COLUMNS: Final = 4


class ImportLine(NamedTuple):
    """A line with nothing but imports, or the place after a paragraph that mentions files.

    Attributes:
        start: Its first character.
        end: Its line end; of a place after a paragraph the same.
        paths: What is imported, as it is written.
        mentioned: Where the paths are mentioned; empty for a line of its own.
    """

    start: int
    end: int
    paths: tuple[str, ...]
    mentioned: tuple[tuple[int, int], ...] = ()


def import_lines(
    text: str, spans: Sequence[MarkdownSpan], suffixes: Sequence[str], most: int
) -> list[ImportLine]:
    """Return the first import lines of a text with LF line endings, in order."""
    if "@" not in text:
        return []
    code = _closed(spans)
    lines: list[ImportLine] = []
    for line in _LINE.finditer(text):
        if not line["marker"] and _columns(line["indent"]) >= _CODE_COLUMNS:
            continue  # indented code
        paths = _paths(line["paths"], suffixes)
        if paths and not within(code, line.start("paths")):
            lines.append(ImportLine(line.start(), line.end(), paths))
            if len(lines) >= most:
                break
    whole = [(line.start, line.end) for line in lines]
    lines += _mentions(text, code, whole, suffixes, most)
    return sorted(lines, key=lambda line: line.start)[:most]


def _mentions(
    text: str,
    code: Sequence[tuple[int, int]],
    whole: Sequence[tuple[int, int]],
    suffixes: Sequence[str],
    most: int,
) -> list[ImportLine]:
    """Return the places after paragraphs that mention files, up to a number of paths."""
    by_place: dict[int, list[tuple[str, tuple[int, int]]]] = {}
    count, position, line_end, is_other = 0, -1, -1, False
    for mention in _mention(tuple(suffixes)).finditer(text):
        path, at = mention["path"], mention.start()
        if at > line_end:
            line = text.rfind("\n", 0, at) + 1
            line_end = text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
            indent = _INDENT.match(text, line)[0]  # type: ignore[index]  # it matches nothing too
            is_other = _columns(indent) >= _CODE_COLUMNS or text.startswith(">", line + len(indent))
        if is_other or not _is_path(path, suffixes) or within(code, at) or within(whole, at):
            continue
        if at > position:  # else in the paragraph of the mention before it
            position = _after_paragraph(text, at, code, whole)
        by_place.setdefault(position, []).append((path, mention.span()))
        count += 1
        if count >= most:
            break
    return [
        ImportLine(
            position, position, tuple(path for path, _ in paths), tuple(span for _, span in paths)
        )
        for position, paths in by_place.items()
    ]


def _after_paragraph(
    text: str, position: int, code: Sequence[tuple[int, int]], whole: Sequence[tuple[int, int]]
) -> int:
    """Return the end of the paragraph that a character is in, not inside code or a comment."""
    while True:
        end = text.find("\n", position)
        if end < 0:
            return len(text)
        is_new = within(whole, end + 1) or _NEW_BLOCK.match(text, end + 1)
        if is_new and not within(code, end):
            return end
        position = end + 1


def first_ignored_line(
    text: str, spans: Sequence[MarkdownSpan], suffixes: Sequence[str], lines: Sequence[ImportLine]
) -> int:
    """Return the first line (from 1) with an `@path` outside code that is no import, or 0."""
    if "@" not in text:
        return 0
    code = _closed(spans)
    whole = sorted(span for line in lines for span in (line.mentioned or [(line.start, line.end)]))
    for match in _path_like(tuple(suffixes)).finditer(text):
        if not within(code, match.start()) and not within(whole, match.start()):
            return text.count("\n", 0, match.start()) + 1
    return 0


def _closed(spans: Sequence[MarkdownSpan]) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in spans if span.kind != "unclosed"]


def _paths(written: str, suffixes: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of a line, empty if one of its words is no path."""
    paths, position = [], 0
    while match := _PATH.match(written, position):
        path = match[1].replace("\\ ", " ")
        if not _is_path(path, suffixes):
            return ()
        paths.append(path)
        position = match.end()
    return tuple(paths) if position == len(written) else ()


def _is_path(path: str, suffixes: Sequence[str]) -> bool:
    # https://user@host/x.md is a link in a sentence, not an import.
    if len(path) > LONGEST_PATH or "://" in path:
        return False
    *folders, name = path.replace("\\", "/").split("/")
    if path.startswith(("./", "../", "~/")):
        return name not in ("", ".", "..")
    if "@" in (folders[0] if folders else path):
        return False  # a handle of somebody, or a package with its version
    return name.lower().endswith(tuple(suffixes)) and name.lower() not in suffixes


def _columns(indent: str) -> int:
    return len(indent.expandtabs(_CODE_COLUMNS))


@lru_cache(maxsize=64)
def _mention(suffixes: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a path in a sentence: after a blank, a bracket or a quote."""
    endings = "|".join(map(re.escape, sorted(suffixes, key=len, reverse=True)))
    before = rf"[\s(\[\"'“„*_{_CJK}]"
    after = rf"['’]s\b|[.,;:!?]*+[)\]\"'”“*_]*+[.,;:!?]*+(?:\s|\Z|[—–]|[{_CJK}])"
    return re.compile(
        rf"(?:^|(?<={before}))@(?P<path>[^\s@`<>|\"']{{1,4096}}?(?:{endings}))(?={after})",
        re.IGNORECASE | re.MULTILINE,
    )


@lru_cache(maxsize=64)
def _path_like(suffixes: tuple[str, ...]) -> re.Pattern[str]:
    endings = "|".join(map(re.escape, suffixes))
    return re.compile(rf"(?:^|(?<=[\s(]))@[^\s@`]*(?:{endings})\b", re.IGNORECASE | re.MULTILINE)


_ANCHOR: Final = re.compile(r"(?:[A-Za-z]:(?:/|$)|~(?:/|$)|\.(?:/|$)|/)?")


@dataclass(frozen=True, slots=True)
class ImportPath:
    """A path of an import, as the backend is asked for it.

    Attributes:
        anchor: What the path starts from: `/`, `~/`, `./`, a drive such as `C:/`, or "" for
            a path that starts where the backend lets relative ones start.
        parts: The segments below it.
    """

    anchor: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, path: str) -> ImportPath:
        """Parse a path.

        Raises:
            FileError: For a path that no backend accepts.
        """
        spelled = path.replace("\\", "/")
        anchor = _anchor(spelled)
        whole = f"{anchor}/" if anchor and not anchor.endswith("/") else anchor
        return cls(whole, _parts(spelled[len(anchor) :]))

    @property
    def spelled(self) -> str:
        """The path to ask the backend for."""
        return self.anchor + "/".join(self.parts) or "."

    @property
    def key(self) -> tuple[str, ...]:
        """The same for two spellings of one path."""
        return (self.anchor.removeprefix("./").lower(), *self.parts)

    @property
    def folder(self) -> ImportPath:
        """The folder that it lies in."""
        return ImportPath(self.anchor, self.parts[:-1])

    def is_below(self, folder: ImportPath) -> bool:
        """Return whether it is this folder or in it."""
        return self.key[: len(folder.key)] == folder.key

    def then(self, written: str) -> ImportPath:
        """Resolve a path that is written in a file of this folder.

        Raises:
            FileError: If it leads above the start of this path, or no backend accepts it.
        """
        spelled = written.replace("\\", "/")
        if _anchor(spelled) not in ("", ".", "./"):
            return ImportPath.of(spelled)
        parts = list(self.parts)
        for name in spelled.split("/"):
            if name == "..":
                if not parts:
                    raise PathRefused(written, f"It leads out of the root: {written}")
                parts.pop()
            elif name not in ("", "."):
                parts.append(name)
        return ImportPath(self.anchor, _parts("/".join(parts)))


def _anchor(spelled: str) -> str:
    match = _ANCHOR.match(spelled)
    return match.group() if match else ""


def _parts(below: str) -> tuple[str, ...]:
    return tuple(filter(None, normalise("/" + below).split("/")))

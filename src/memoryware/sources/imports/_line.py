"""What is an import line: a path after `@` on a line of its own, outside code and comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from memoryware.backends._paths import LONGEST_PATH
from memoryware.sources.markdown.scanning import Span, within

_LINE: Final = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<marker>(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<paths>@(?=\S)[^\n]*)$",
    re.MULTILINE,
)
_PATH: Final = re.compile(r"@((?:[^\s\\]|\\.)++)(?:[ \t]++|$)")
_CODE_COLUMNS: Final = 4


class ImportLine(NamedTuple):
    """A line with nothing but imports.

    Attributes:
        start: Its first character.
        end: Its line end.
        paths: What is imported, as it is written.
    """

    start: int
    end: int
    paths: tuple[str, ...]


def import_lines(
    text: str, spans: Sequence[Span], suffixes: Sequence[str], most: int
) -> list[ImportLine]:
    """Return the first import lines of a text with LF line endings, in order."""
    if "@" not in text:
        return []
    code = _closed(spans)
    found = []
    for line in _LINE.finditer(text):
        if not line["marker"] and _columns(line["indent"]) >= _CODE_COLUMNS:
            continue  # indented code
        paths = _paths(line["paths"], suffixes)
        if paths and not within(code, line.start("paths")):
            found.append(ImportLine(line.start(), line.end(), paths))
            if len(found) >= most:
                break
    return found


def passed_over(
    text: str, spans: Sequence[Span], suffixes: Sequence[str], lines: Sequence[ImportLine]
) -> int:
    """Return the first line (from 1) with a path after `@` outside code that is no import, or 0."""
    if "@" not in text:
        return 0
    code, whole = _closed(spans), [(line.start, line.end) for line in lines]
    for found in _alike(tuple(suffixes)).finditer(text):
        if not within(code, found.start()) and not within(whole, found.start()):
            return text.count("\n", 0, found.start()) + 1
    return 0


def _closed(spans: Sequence[Span]) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in spans if span.kind != "unclosed"]


def _paths(written: str, suffixes: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of a line, or none if one of them is no path."""
    paths, position = [], 0
    while found := _PATH.match(written, position):
        path = found[1].replace("\\ ", " ")
        if not _is_path(path, suffixes):
            return ()
        paths.append(path)
        position = found.end()
    return tuple(paths) if position == len(written) else ()


def _is_path(path: str, suffixes: Sequence[str]) -> bool:
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
def _alike(suffixes: tuple[str, ...]) -> re.Pattern[str]:
    endings = "|".join(map(re.escape, suffixes))
    return re.compile(rf"(?:^|(?<=[\s(]))@[^\s@`]*(?:{endings})\b", re.IGNORECASE | re.MULTILINE)

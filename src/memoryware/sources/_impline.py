"""What is an import line: a path after `@` on a line of its own, outside code and comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from memoryware.backends._paths import LONGEST_PATH
from memoryware.sources._regscan import Span

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


def import_lines(text: str, spans: Sequence[Span], suffixes: Sequence[str]) -> list[ImportLine]:
    """Return the import lines of a text with LF line endings, in order."""
    if "@" not in text:
        return []
    starts = [span.start for span in spans]
    found = []
    for line in _LINE.finditer(text):
        if not line["marker"] and _columns(line["indent"]) >= _CODE_COLUMNS:
            continue  # indented code
        paths = _paths(line["paths"], suffixes)
        if paths and not _is_inside(line.start("paths"), starts, spans):
            found.append(ImportLine(line.start(), line.end(), paths))
    return found


def in_sentences(text: str, spans: Sequence[Span], suffixes: Sequence[str]) -> list[int]:
    """Return the lines (from 1) on which something looks like an import and is none."""
    if "@" not in text:
        return []
    starts = [span.start for span in spans]
    whole = {line.start for line in import_lines(text, spans, suffixes)}
    lines: dict[int, None] = {}
    at = number = 0
    for found in _alike(tuple(suffixes)).finditer(text):
        line = text.rfind("\n", at, found.start()) + 1 or at
        number += text.count("\n", at, line)
        at = line
        if line not in whole and not _is_inside(found.start(), starts, spans):
            lines[number + 1] = None
    return list(lines)


def _paths(written: str, suffixes: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of a line, or none if one of them is no path."""
    paths, position = [], 0
    while found := _PATH.match(written, position):
        path = re.sub(r"\\ ", " ", found[1])
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
    if "@" in (path if not folders else folders[0]):
        return False  # a handle of somebody, or a package
    return name.lower().endswith(tuple(suffixes)) and name.lower() not in suffixes


def _is_inside(at: int, starts: Sequence[int], spans: Sequence[Span]) -> bool:
    index = bisect_right(starts, at) - 1
    return index >= 0 and spans[index].kind != "unclosed" and at < spans[index].end


def _columns(indent: str) -> int:
    return len(indent.expandtabs(_CODE_COLUMNS))


@lru_cache(maxsize=64)
def _alike(suffixes: tuple[str, ...]) -> re.Pattern[str]:
    endings = "|".join(map(re.escape, suffixes))
    return re.compile(rf"(?:^|(?<=[\s(]))@[^\s@`]*(?:{endings})\b", re.IGNORECASE | re.MULTILINE)

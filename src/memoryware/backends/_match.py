"""What glob and grep mean, the same for every backend.

Patterns become one regular expression over the path relative to the search root,
so a backend only has to list its files. Braces are expanded by `bracex`, which
bounds their number; everything else is the shell's `* ? [abc] [!abc]` and `**`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import bracex

from memoryware.backends.protocol import GrepMatch
from memoryware.errors import PatternRefused

SKIPPED_FOLDERS: Final = frozenset(
    {".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
"""Folders that a search enters only when it is told their name."""
_BRACES = 1000
_NOT_SKIPPED = "(?!(?:" + "|".join(map(re.escape, sorted(SKIPPED_FOLDERS))) + ")/)"
_ANY_FOLDERS = rf"(?:{_NOT_SKIPPED}[^/]+/)*"


@dataclass(frozen=True, slots=True)
class GlobPattern:
    """A compiled pattern.

    Attributes:
        expression: Matches a path relative to the search root, without a leading slash.
        base: Folders that every match lies in, literally, such as `src/app`; may be "".
        max_depth: Number of slashes a match can have at most, None without a limit.
    """

    expression: re.Pattern[str]
    base: str
    max_depth: int | None

    def matches(self, relative: str) -> bool:
        """Say whether a file at this relative path matches."""
        return self.expression.fullmatch(relative) is not None

    def select(self, relatives: Iterable[str]) -> list[str]:
        """Return the paths that match, in the given order."""
        fullmatch = self.expression.fullmatch
        return [path for path in relatives if fullmatch(path)]


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> GlobPattern:
    """Compile a glob pattern.

    Raises:
        PatternRefused: For an empty pattern, a `..` segment, or more than 1,000 braces.
    """
    text = pattern.replace("\\", "/")
    if not text.strip("/"):
        raise PatternRefused(f"Glob pattern {pattern!r} is empty; use for example '*.md'")
    if ".." in text.split("/"):
        raise PatternRefused(f"Path traversal not allowed in glob pattern: {pattern}")
    try:
        spelled = sorted(set(bracex.expand(text, limit=_BRACES)))
    except bracex.ExpansionLimitException:
        message = f"Glob pattern {pattern!r} has more than {_BRACES} alternatives; narrow it"
        raise PatternRefused(message) from None
    parts = [_segments(one) for one in spelled]
    expression = re.compile("|".join(_expression(one) for one in parts), re.DOTALL)
    return GlobPattern(expression, _common_base(parts), _deepest(parts))


def _segments(pattern: str) -> list[str]:
    tied = pattern.startswith("/")
    split = [part for part in pattern.split("/") if part not in ("", ".")]
    again = zip(split, ["", *split], strict=False)
    segments = [part for part, before in again if not (part == before == "**")]
    return segments if tied or len(segments) > 1 or "/" in pattern else ["**", *segments]


def _expression(segments: list[str]) -> str:
    *folders, name = segments
    text = "".join(_ANY_FOLDERS if part == "**" else _segment(part) + "/" for part in folders)
    return text + (_ANY_FOLDERS + r"(?!\.)[^/]+" if name == "**" else _segment(name))


def _segment(part: str) -> str:
    text, rest = "" if part.startswith(".") else r"(?!\.)", part
    while rest:
        group = re.match(r"\[[!^]?\]?[^\]]*\]", rest)
        if rest[0] == "*":
            rest, text = rest.lstrip("*"), text + "[^/]*"
        elif rest[0] == "?":
            rest, text = rest[1:], text + "[^/]"
        elif group:
            rest, text = rest[group.end() :], text + _character_class(group.group()[1:-1])
        else:
            rest, text = rest[1:], text + re.escape(rest[0])
    return text


def _character_class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    members = inside[negated:].replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
    members = members.replace("^", r"\^").replace("&&", r"&\&").replace("||", r"|\|")
    text = f"(?!/)[{'^' if negated else ''}{members}]"
    try:
        re.compile(text)
    except re.error:
        return re.escape(f"[{inside}]")
    return text


def _common_base(parts: list[list[str]]) -> str:
    bases = set()
    for segments in parts:
        literal: list[str] = []
        for part in segments[:-1]:
            if re.search(r"[*?\[]", part):
                break
            literal.append(part)
        bases.add("/".join(literal))
    return bases.pop() if len(bases) == 1 else ""


def _deepest(parts: list[list[str]]) -> int | None:
    return None if any("**" in one for one in parts) else max(len(one) - 1 for one in parts)


def is_skipped(relative: str) -> bool:
    """Say whether a path relative to the search root lies in a skipped folder."""
    return not SKIPPED_FOLDERS.isdisjoint(relative.split("/")[:-1])


def compile_grep(pattern: str) -> bytes:
    """Return the bytes to look for in a line.

    Raises:
        PatternRefused: If the pattern is empty or spans lines.
    """
    if not pattern:
        raise PatternRefused("The text to search for is empty; give at least one character")
    if "\n" in pattern or "\r" in pattern:
        raise PatternRefused("The text to search for spans lines; search for one line at a time")
    try:
        return pattern.encode()
    except UnicodeEncodeError:
        raise PatternRefused("The text to search for holds half of a surrogate pair") from None


def grep_bytes(path: str, data: bytes, needle: bytes) -> Iterator[GrepMatch]:
    """Yield each line of a file that holds the needle; nothing for binary data."""
    if needle not in data or b"\0" in data:
        return
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    position, line, counted = data.find(needle), 1, 0
    while position >= 0:
        start = data.rfind(b"\n", 0, position) + 1
        end = data.find(b"\n", position)
        end = len(data) if end < 0 else end
        line, counted = line + data.count(b"\n", counted, start), start
        text = data[start:end].decode("utf-8", "replace")
        yield GrepMatch(path=path, line=line, text=text.removeprefix("\ufeff"))
        position = data.find(needle, end)

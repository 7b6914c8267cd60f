"""Patterns of glob and grep, the same for every backend.

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

# Folders that a search enters only when it is told their name.
SKIPPED_FOLDERS: Final = frozenset(
    {".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
_BRACES = 1000
# Characters with a meaning in a glob pattern.
WILDCARDS: Final = frozenset("*?[{")
# More matches than there can be; beyond, `islice` refuses to count.
MOST_MATCHES: Final = 1 << 60
# Characters that a pattern may have; a path is not longer either.
LONGEST_PATTERN: Final = 4096
# Characters that all alternatives of a pattern may have together.
_MOST_SPELLED: Final = 50_000
# Opening braces that a pattern may have.
_NESTED: Final = 100
# Slashes that a pattern may have.
_DEEPEST: Final = 1000
# Stretches between two `**` that may be tried at every place; each is a power of the depth.
_BACKTRACKED: Final = 2
_NOT_SKIPPED = "(?!(?:" + "|".join(map(re.escape, sorted(SKIPPED_FOLDERS))) + ")/)"
_FOLDER = rf"(?:{_NOT_SKIPPED}[^/]++/)"
_ANY_FOLDERS = _FOLDER + "*"


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
        """Return whether a file at this relative path matches."""
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
    parts = [_segments(alternative) for alternative in _spelled(pattern)]
    expression = re.compile("|".join(_expression(segments) for segments in parts), re.DOTALL)
    return GlobPattern(expression, _common_base(parts), _deepest(parts))


@lru_cache(maxsize=4096)
def within(pattern: str, folder: str) -> tuple[str, ...]:
    """Rebase a pattern: the patterns that find in a folder what `pattern` finds there from above.

    `folder` is the relative path from the start of the search, such as `team/notes`.
    There is more than one only if they cannot be joined, and none if the pattern
    cannot match anything in that folder.

    Raises:
        PatternRefused: As `compile_glob`.
    """
    whole = {tuple(_segments(alternative)) for alternative in _spelled(pattern)}
    left = whole
    for name in folder.split("/"):
        left = {rest for segments in left for rest in _after(segments, name)}
    return (pattern,) if left == whole else put_together("/".join(segments) for segments in left)


def _after(segments: tuple[str, ...], name: str) -> Iterator[tuple[str, ...]]:
    """Yield the rest of a pattern in a folder of this name."""
    first, *rest = segments
    if first == "**":
        if name not in SKIPPED_FOLDERS:
            yield segments
        if rest:
            yield from _after(tuple(rest), name)
    elif rest and re.fullmatch(_segment(first), name, re.DOTALL):
        yield tuple(rest)


def put_together(tied: Iterable[str]) -> tuple[str, ...]:
    """Join patterns that are tied to the start of the search into one, if possible."""
    texts = sorted({pattern.lstrip("/") for pattern in tied})
    together = "/{" + ",".join(texts) + "}"
    plain = not any(set(text) & set("{},\\") for text in texts)
    if len(texts) > 1 and plain and len(together) <= LONGEST_PATTERN:
        return (together,)
    return tuple("/" + text for text in texts)


@dataclass(frozen=True, slots=True)
class RulePattern:
    """A compiled path rule; unlike a search it hides no dot names and skips no folders.

    Attributes:
        expression: Matches a normal path.
        folders: Matches the folders that a matching path can lie in.
    """

    expression: re.Pattern[str]
    folders: re.Pattern[str]

    def matches(self, path: str) -> bool:
        """Return whether a normal path matches."""
        return self.expression.fullmatch(path) is not None

    def covers(self, path: str) -> bool:
        """Return whether a normal path matches, or a folder that it lies in."""
        steps = path.split("/")
        return any(self.matches("/".join(steps[:n])) for n in range(2, len(steps) + 1))

    def may_hold(self, folder: str) -> bool:
        """Return whether a path that matches can lie below a normal folder."""
        return folder == "/" or self.folders.fullmatch(folder) is not None


@lru_cache(maxsize=256)
def compile_rule(pattern: str) -> RulePattern:
    """Compile a pattern that says which paths are allowed or denied.

    A final `/` stands for that folder and everything in it. The rest is as in
    `compile_glob`, but `*` and `**` match dot names and every folder, so that a rule has
    no holes.

    Raises:
        PatternRefused: As `compile_glob`, and for `~`, which has no place in a rule.
    """
    text = pattern.replace("\\", "/")
    if text.endswith("/"):
        text = (text.rstrip("/") and text.rstrip("/") + "{,/**}") or "/**"
    parts = [_segments(alternative) for alternative in _spelled(text)]
    if any("~" in segments[:1] for segments in parts):
        raise PatternRefused(f"'~' is not available in a path rule: {pattern}; start it with '/'")
    folders = {_rule(segments[:n]) for segments in parts for n in range(1, len(segments))}
    deep = {_rule(segments[: segments.index("**") + 1]) for segments in parts if "**" in segments}
    return RulePattern(
        re.compile("|".join(_rule(segments) for segments in parts), re.DOTALL),
        re.compile("|".join(sorted(folders | deep)) or r"(?!)", re.DOTALL),
    )


def _rule(segments: list[str]) -> str:
    first, *groups = _groups(segments)
    text = _names(first)
    for group in groups[:-1]:
        text += rf"(?>(?:/[^/]++)*?{_names(group)}(?=/|\Z))"
    return text + ("(?:/[^/]++)*" + (_names(groups[-1]) or "/[^/]++") if groups else "")


def _names(segments: list[str]) -> str:
    return "".join("/" + _wildcards(part) for part in segments)


def _spelled(pattern: str) -> list[str]:
    text = pattern.replace("\\", "/")
    if len(text) > LONGEST_PATTERN or text.count("{") > _NESTED or text.count("/") > _DEEPEST:
        raise PatternRefused(
            f"Glob pattern '{pattern[:80]}…' is too long: at most {LONGEST_PATTERN} characters and"
            f" {_NESTED} braces and {_DEEPEST} folders"
        )
    try:
        spelled = {
            alternative
            for alternative in bracex.expand(text, limit=_BRACES)
            if alternative.strip("/.")
        }
    except bracex.ExpansionLimitException:
        message = f"Glob pattern {pattern!r} has more than {_BRACES} alternatives; narrow it"
        raise PatternRefused(message) from None
    except RecursionError:
        message = f"Glob pattern {pattern!r} has too many braces in each other; narrow it"
        raise PatternRefused(message) from None
    if sum(map(len, spelled)) > _MOST_SPELLED:
        message = f"Glob pattern '{pattern[:80]}…' has too long alternatives; narrow it"
        raise PatternRefused(message)
    if any(".." in alternative.split("/") for alternative in (text, *spelled)):
        raise PatternRefused(f"Path traversal not allowed in glob pattern: {pattern}")
    if not spelled:
        raise PatternRefused(f"Glob pattern {pattern!r} is empty; use for example '*.md'")
    return sorted(spelled)


def _segments(pattern: str) -> list[str]:
    tied = pattern.startswith("/")
    split = [part for part in pattern.split("/") if part not in ("", ".")]
    again = zip(split, ["", *split], strict=False)
    segments = [part for part, before in again if not (part == before == "**")]
    if tied or "/" in pattern or segments == ["**"]:
        return segments
    return ["**", *segments]


# A star takes as little as it can, and what was found stays found: if the rest does not
# match then, it would not match after a longer star either. So no pattern takes longer
# than its length times that of the path, where trying every split would never end.


def _expression(segments: list[str]) -> str:
    first, *groups = _groups(segments)
    if not groups:
        return "/".join(map(_segment, first))
    text = "".join(_segment(part) + "/" for part in first)
    tried = [group for group in groups[:-1] if any(map(_may_be_skipped, group))]
    if len(tried) > _BACKTRACKED:
        raise PatternRefused("A pattern with so many '**' and '.*' takes too long; narrow it")
    for group in groups[:-1]:
        names = "".join(_segment(part) + "/" for part in group)
        # What `**` does not enter a later place may still hold, so the first may be wrong.
        text += _ANY_FOLDERS + names if group in tried else f"(?>{_FOLDER}*?{names})"
    return text + _ANY_FOLDERS + ("/".join(map(_segment, groups[-1])) or r"(?!\.)[^/]++")


def _groups(segments: list[str]) -> list[list[str]]:
    """Return the segments of a pattern between its `**`."""
    groups: list[list[str]] = [[]]
    for part in segments:
        if part == "**":
            groups.append([])
        else:
            groups[-1].append(part)
    return groups


def _may_be_skipped(part: str) -> bool:
    return part.startswith(".") and re.search(r"[*?\[]", part) is not None


def _segment(part: str) -> str:
    return _wildcards(part) if part.startswith(".") else r"(?!\.)" + _wildcards(part)


def _wildcards(part: str) -> str:
    """Return the regular expression for a whole name between slashes."""
    pieces, rest = [""], part
    while rest:
        group = re.match(r"\[[!^]?\]?[^\]]*\]", rest)
        if rest[0] == "*":
            rest = rest.lstrip("*")
            pieces.append("")
        elif rest[0] == "?":
            rest, pieces[-1] = rest[1:], pieces[-1] + "[^/]"
        elif group:
            rest = rest[group.end() :]
            pieces[-1] += _character_class(group.group()[1:-1])
        else:
            rest, pieces[-1] = rest[1:], pieces[-1] + re.escape(rest[0])
    first, *others = pieces
    if not others:
        return first
    text = first + "".join(f"(?>[^/]*?{piece})" for piece in others[:-1])
    return rf"(?>{text}[^/]*{others[-1]}(?=/|\Z))"


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
    return (
        None
        if any("**" in segments for segments in parts)
        else max(len(segments) - 1 for segments in parts)
    )


@lru_cache(maxsize=256)
def closed_folders(pattern: str | None) -> frozenset[str]:
    """Return the names of folders that a search for this pattern need not enter.

    Raises:
        PatternRefused: As `compile_glob`.
    """
    if pattern is None:
        return SKIPPED_FOLDERS
    parts = {part for alternative in _spelled(pattern) for part in _segments(alternative)[:-1]} - {
        "**"
    }
    named = re.compile("|".join(map(_segment, sorted(parts))) or "(?!)", re.DOTALL)
    return frozenset(name for name in SKIPPED_FOLDERS if not named.fullmatch(name))


def is_skipped(relative: str) -> bool:
    """Return whether a path relative to the search root lies in a skipped folder."""
    return not SKIPPED_FOLDERS.isdisjoint(relative.split("/")[:-1])


def compile_grep(pattern: str) -> bytes:
    """Return the bytes to look for in a line.

    Raises:
        PatternRefused: If the pattern is empty or spans lines.
    """
    # An empty text would match every line of every file.
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

"""Diffs of two texts: unified, as `diff -u` prints them, and side by side."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal, TypeAlias

from memoryware.backends import _text

# Status of a row; a gap replaces equal lines that are not shown.
LineKind: TypeAlias = Literal["same", "changed", "removed", "added", "gap"]
# A piece of a line, and whether it differs from the other side.
LinePart: TypeAlias = tuple[str, bool]
# Lines with more characters are compared as a whole: within a line it takes quadratic time.
_LONG_LINE: Final = 2000
# Similarity ratio from which two lines are shown as one changed line.
_ALIKE: Final = 0.4


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of the old text and its counterpart in the new one.

    Attributes:
        kind: "same", "changed", "removed", "added", or "gap".
        old_number: Number of the left line, from 1; None if there is none. For a gap, the number
            of its first line.
        old: The left line in pieces.
        new_number: Number of the right line, likewise.
        new: The right line in pieces.
        hidden: How many lines a gap replaces.
    """

    kind: LineKind
    old_number: int | None = None
    old: tuple[LinePart, ...] = ()
    new_number: int | None = None
    new: tuple[LinePart, ...] = ()
    hidden: int = 0


def side_by_side(old: str, new: str, *, around: int | None = 3) -> list[DiffRow]:
    """Compare two texts line by line, with the changed pieces within each line.

    Args:
        old: The left text.
        new: The right text.
        around: How many equal lines are shown around each change; None for all.

    Returns:
        Rows in order; a row of kind "gap" stands for equal lines that are not shown.
    """
    left, right = old.splitlines(), new.splitlines()
    rows: list[DiffRow] = []
    # Exact up to 4,000 lines; without the heuristic the time is quadratic.
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=len(left) + len(right) > 4000)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            rows += [
                DiffRow(
                    "same", a + n + 1, ((left[a + n], False),), c + n + 1, ((left[a + n], False),)
                )
                for n in range(b - a)
            ]
        else:
            rows += _changed((a, left[a:b]), (c, right[c:d]))
    return rows if around is None else list(_with_gaps(rows, around))


def _changed(old: tuple[int, Sequence[str]], new: tuple[int, Sequence[str]]) -> Iterator[DiffRow]:
    """Yield changed lines, each next to its counterpart."""
    (first, left), (second, right) = old, new
    for index, (removed, other) in enumerate(zip_longest(left, right)):
        if removed is None:
            yield DiffRow("added", new_number=second + index + 1, new=((other, True),))
        elif other is None:
            yield DiffRow("removed", first + index + 1, ((removed, True),))
        else:
            before, after = _pieces(removed, other)
            yield DiffRow("changed", first + index + 1, before, second + index + 1, after)


def _pieces(old: str, new: str) -> tuple[tuple[LinePart, ...], tuple[LinePart, ...]]:
    """Return two lines in pieces that are the same or differ; whole if hardly anything is."""
    whole = ((old, True),), ((new, True),)
    # A minified line would take minutes: comparing characters is quadratic.
    if max(len(old), len(new)) > _LONG_LINE:
        return whole
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return whole
    left, right = list[LinePart](), list[LinePart]()
    for kind, a, b, c, d in matcher.get_opcodes():
        left += [(old[a:b], kind != "equal")] if b > a else []
        right += [(new[c:d], kind != "equal")] if d > c else []
    return tuple(left), tuple(right)


def _with_gaps(rows: Sequence[DiffRow], around: int) -> Iterator[DiffRow]:
    """Yield rows near a change, and one gap for each stretch of others."""
    changes = [index for index, row in enumerate(rows) if row.kind != "same"]
    near = {
        index
        for change in changes
        for index in range(max(0, change - around), min(len(rows), change + around + 1))
    }
    hidden: list[DiffRow] = []
    for index, row in enumerate(rows):
        if index not in near:
            hidden.append(row)
            continue
        yield from _gap(hidden)
        hidden = []
        yield row
    yield from _gap(hidden)


def _gap(hidden: Sequence[DiffRow]) -> Iterator[DiffRow]:
    if hidden:
        first = hidden[0]
        yield DiffRow("gap", first.old_number, (), first.new_number, (), len(hidden))


def unified(old: bytes, new: bytes, before: str, after: str) -> str:
    """Return the unified diff of two files, "" if they are equal.

    Args:
        old: The bytes before.
        new: The bytes after.
        before: The name of the old file.
        after: The name of the new file.

    Returns:
        Lines with their endings; one sentence for files that are not text.
    """
    if old == new:
        return ""
    if _text.is_binary(old) or _text.is_binary(new):
        return f"{before} and {after} differ and are not text\n"
    first, second = (_text.decode(data).text.splitlines(keepends=True) for data in (old, new))
    lines = difflib.unified_diff(first, second, before, after)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )

"""What fits the terminal: short ids, wrapped text, and rows for narrow and for wide ones."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Final

NARROW: Final = 60
"""Columns below which a table is printed as a list of its rows."""
WIDE: Final = 120
"""Columns from which a record is one line."""
SHORT: Final = 8
"""Characters of a generated id that are printed, or more where others begin alike."""
_GENERATED: Final = re.compile("[0-9a-f]{32}")


def columns() -> int | None:
    """Return the width of the terminal; None if the output goes to a pipe or a file."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if is_terminal else None


def is_narrow() -> bool:
    """Return whether the output goes to a narrow terminal."""
    width = columns()
    return width is not None and width < NARROW


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Return short forms of ids; each names one of them alone.

    Args:
        ids: Whole ids, of records or of statements (`ENTRY#2`).

    Returns:
        The short form by id; an id that was not generated is its own.
    """
    every = dict.fromkeys(ids)
    bases = sorted({base for id_ in every if _GENERATED.fullmatch(base := id_.partition("#")[0])})
    lengths = dict.fromkeys(bases, SHORT)
    for first, second in pairwise(bases):
        pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=True))
        alike = sum(1 for _ in pairs) + 1
        lengths[first] = max(lengths[first], alike)
        lengths[second] = max(lengths[second], alike)
    return {id_: _cut_base(id_, lengths) for id_ in every}


def short_id(id_: str) -> str:
    """Return the short form of one id; see `short_ids`."""
    return short_ids([id_])[id_]


def _cut_base(id_: str, lengths: dict[str, int]) -> str:
    base, mark, number = id_.partition("#")
    return f"{base[: lengths[base]]}{mark}{number}" if base in lengths else id_


def cell_width(text: str) -> int:
    """Return how many columns a text takes; a Chinese character takes two."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def wrap(text: str, width: int) -> Iterator[str]:
    """Break a line at blanks, and a longer word wherever it has to be.

    Args:
        text: The line.
        width: The columns of each part.

    Yields:
        The parts; one, "", for an empty line.
    """
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_width(joined) <= width:
            line = joined
            continue
        if line:
            yield line
        line = word
        while cell_width(line) > width:
            head = _fitting(line, max(width, 2))
            yield head
            line = line[len(head) :]
    yield line


def hang(text: str, width: int, indent: str) -> list[str]:
    """Wrap a line whose further lines are indented; its own indentation stays.

    Args:
        text: The line.
        width: The columns of a line.
        indent: The beginning of every line but the first.

    Returns:
        The lines.
    """
    if cell_width(text) <= width:
        return [text]
    start = len(text) - len(text.lstrip())
    # Blanks that align the beginning are no place to break.
    head = text[: start or len(indent)]
    first, *rest = wrap(text[len(head) :], width - max(len(indent), len(head)))
    return [f"{head}{first}", *(f"{indent}{line}" for line in rest)]


def _fitting(text: str, width: int) -> str:
    end = 0
    for position, char in enumerate(text):
        end += cell_width(char)
        if end > width:
            return text[:position]
    return text


def fit(text: str, width: int) -> str:
    """Cut a line that is wider than so many columns."""
    return text if cell_width(text) <= width else f"{_fitting(text, max(width - 1, 1))}…"


def pad(text: str, width: int) -> str:
    """Fill a line with blanks up to so many columns."""
    return text + " " * (width - cell_width(text))


def flow(parts: Sequence[str], width: int | None, *, indent: str = "    ") -> Iterator[str]:
    """Put parts on lines, two blanks between them, as many on each as fit.

    Args:
        parts: The parts; one is broken only if it is wider than a line.
        width: The columns of a line; None for one line.
        indent: The beginning of every line but the first.

    Yields:
        The lines.
    """
    if width is None:
        yield "  ".join(parts)
        return
    line = ""
    for part in parts:
        joined = f"{line}  {part}" if line.strip() else f"{line}{part}"
        if cell_width(joined) <= width or not line.strip():
            line = joined
        else:
            yield line
            line = f"{indent}{part}"
        if cell_width(line) > width:
            first, *rest = wrap(line.strip(), width - len(indent))
            yield first if line[:1] != " " else f"{indent}{first}"
            *middle, last = rest or [""]
            yield from (f"{indent}{part}" for part in middle)
            line = f"{indent}{last}"
    if line.strip():
        yield line

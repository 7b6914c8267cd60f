"""Secrets in a column of a Markdown or CSV table, under a heading that announces them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryware.guard._mentions import Mention
from memoryware.guard._scan import Scan
from memoryware.guard._values import assigned, has_digit
from memoryware.guard._words import announces

_WIDEST_ROW: Final = 400
_SHORTEST: Final = 3
"""Characters of a cell that may be a secret."""
_MOST_WORDS: Final = 4
"""Words of a heading."""
_STEPS: Final = 8
"""What judging a cell costs."""
_CSV_HEADING: Final = re.compile(r"\s*[\w \"'-]{1,40}(?:,[\w \"'-]{1,40}){1,20}\s*")
_AROUND: Final = " \t\r\"'`*"


def find(scan: Scan, mention: Mention) -> Iterator[tuple[int, int]]:
    """Return the places of the secrets in the rows below the word.

    A cell is judged once for each thing that a heading above it announces. So a text in which
    each row is a heading of those below it takes no longer than any other table.
    """
    text = scan.text
    begin = text.rfind("\n", max(0, mention.start - _WIDEST_ROW), mention.start) + 1
    stop = text.find("\n", mention.end, mention.end + _WIDEST_ROW)
    if stop < 0:
        return
    sign = "|" if "|" in text[begin:stop] else ","
    column, columns = text.count(sign, begin, mention.start), text.count(sign, begin, stop)
    if not columns or (sign == "," and not _CSV_HEADING.fullmatch(text, begin, stop)):
        return
    heading = text[slice(*_cell(text, begin, stop, sign, column))]
    if len(heading.split()) > _MOST_WORDS:
        return  # a sentence with such a word in it
    while True:
        begin = stop + 1
        stop = text.find("\n", begin, begin + _WIDEST_ROW)
        stop = min(len(text), begin + _WIDEST_ROW) if stop < 0 else stop
        if begin >= stop or text.count(sign, begin, stop) != columns:
            return
        start, end = _cell(text, begin, stop, sign, column)
        cell = start, f"{mention.sort.value} {mention.last}"
        if cell in scan.cells or not scan.afford(begin, _STEPS):
            return
        scan.cells.add(cell)
        value = text[start:end]
        if len(value) < _SHORTEST:
            continue
        if announces(value) and not has_digit(value):
            return  # another heading
        if assigned(mention.sort, value, quoted=False, alone=True, ends=mention.last):
            yield start, end


def _cell(text: str, begin: int, stop: int, sign: str, column: int) -> tuple[int, int]:
    """Return the place of what stands in a column of a row."""
    for _ in range(column):
        begin = text.index(sign, begin, stop) + 1
    end = text.find(sign, begin, stop)
    end = stop if end < 0 else end
    while begin < end and text[begin] in _AROUND:
        begin += 1
    while end > begin and text[end - 1] in _AROUND:
        end -= 1
    return begin, end

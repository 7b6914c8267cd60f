"""Where an edit takes place: the text as it is, or whole lines that differ in blanks.

The work is linear in the text, whatever the old text is: it comes from a model, and
nothing else of the process runs while a text is searched.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice
from operator import add
from typing import Final

LINE_END: Final = re.compile(r"\r\n|\r|\n")
NEAREST_LINES: Final = 3
"""How many similar lines an edit that found nothing names."""
_NEAREST_CHARS: Final = 30_000
"""Characters of a file that are compared in the search for similar lines."""
_NEAREST_LINE: Final = 80
"""Characters of a line that count for how similar it is."""
_SIMILAR: Final = 0.5
_FORGIVEN_LINES: Final = 2000
"""Lines that an old text may have for its blanks to be forgiven."""
_FORGIVEN_PLACES: Final = 20
"""Places with the right words that are looked at; with more of them nothing is forgiven."""
_BLANKS: Final = " \t"
_TAB_WIDTHS: Final = (*range(1, 9), *range(-8, 0))

Span = tuple[int, int]


def to_lf(text: str) -> str:
    """Return the text with LF line endings only."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def exactly(text: str, old: str) -> list[Span]:
    """Find every place of a text with LF endings, whatever endings it has there."""
    if "\n" not in old or "\r" not in text:
        return list(_spans(text, old))
    # A pair of CR and LF is one sign here, so that no place begins or ends within it.
    pairs = [pair.start() - n for n, pair in enumerate(re.finditer("\r\n", text))]
    found = _spans(to_lf(text), old)
    return [(at + bisect_left(pairs, at), to + bisect_left(pairs, to)) for at, to in found]


def _spans(text: str, old: str) -> Iterator[Span]:
    begin = text.find(old)
    while begin >= 0:
        yield begin, begin + len(old)
        begin = text.find(old, begin + len(old))


def around(text: str, found: list[Span]) -> Iterator[str]:
    """Yield the whole lines in which each place lies; "" for a place in lines just given."""
    last = -1
    for start, end in found:
        if end <= last:
            yield ""
            continue
        before = max(last - 1, 0)
        first = max(text.rfind(sign, before, start) + 1 for sign in "\n\r")
        first = max(first, last, 0)
        last = end
        if not text[first:end].endswith(("\n", "\r")):
            ending = LINE_END.search(text, end)
            last = ending.start() if ending else len(text)
        yield text[first:last]


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the indentation of an old text becomes that of the file.

    Blanks become tabs, `width` of them each, or tabs so many blanks if `width` is negative,
    and 0 changes neither; then `more` is put before, or `less` taken away.
    """

    width: int
    more: str
    less: str

    def of(self, indentation: str) -> str | None:
        """Return what an indentation becomes, None if it cannot."""
        turned = _turned(indentation, self.width)
        if turned is None or not turned.startswith(self.less):
            return None
        return self.more + turned[len(self.less) :]

    def over(self, new: str) -> str | None:
        """Return a new text with the indentation of the file, None if it does not fit."""
        lines = []
        for line in new.split("\n"):
            body = line.lstrip(_BLANKS)
            indentation = self.of(line[: len(line) - len(body)]) if body else ""
            if indentation is None:
                return None
            lines.append(indentation + body if body else line)
        return "\n".join(lines)


def _turned(indentation: str, width: int) -> str | None:
    before, after = ("\t", " " * -width) if width < 0 else (" " * width, "\t")
    if not width or not indentation.strip(after[:1]):
        return indentation
    turned = indentation.replace(before, after)
    return None if turned.strip(after[:1]) or indentation.strip(before[:1]) else turned


def forgivingly(text: str, old: str, new: str) -> tuple[Span, str] | None:
    """Find the one place whose lines differ from the old text in blanks alone.

    Only whole lines count. Blanks at their ends are forgiven, and indentation that is
    of the other kind or shifted by the same in all lines. The new text comes back with
    the indentation of the file.
    """
    lines = old.removesuffix("\n").split("\n")
    if not old.strip() or len(lines) > _FORGIVEN_LINES:
        return None
    spans = list(_line_spans(text))
    places = list(islice(_with_words(text, spans, lines), _FORGIVEN_PLACES + 1))
    found = []
    for first in places:
        there = [text[start:end] for start, end in spans[first : first + len(lines)]]
        readings = list(_readings(lines, there))
        if readings:
            found.append((first, readings))
    if len(found) != 1 or len(places) > _FORGIVEN_PLACES:
        return None
    first, readings = found[0]
    shifted = _agreed(readings, new)
    after = first + len(lines)
    end = spans[after - 1][1]
    if old.endswith("\n"):
        end = spans[after][0] if after < len(spans) else len(text)
    return None if shifted is None else ((spans[first][0], end), shifted)


def _line_spans(text: str) -> Iterator[Span]:
    start = 0
    for ending in LINE_END.finditer(text):
        yield start, ending.start()
        start = ending.end()
    if start < len(text):
        yield start, len(text)


def _with_words(text: str, spans: list[Span], lines: list[str]) -> Iterator[int]:
    """Yield the number of each line from where on the lines are these but for blanks."""
    bodies = (text[start:end].strip(_BLANKS) for start, end in spans)
    hay = "\n" + "".join(f"{body}\n" for body in bodies)
    needle = "\n" + "".join(f"{line.strip(_BLANKS)}\n" for line in lines)
    number, counted, at = 0, 0, hay.find(needle)
    while at >= 0:
        number, counted = number + hay.count("\n", counted, at), at
        yield number
        at = hay.find(needle, at + 1)


def _readings(lines: list[str], there: list[str]) -> Iterator[_Reading]:
    """Yield the ways in which the indentation of lines is that of the lines of a file."""
    pairs = [
        (_indentation(line), _indentation(own))
        for line, own in zip(lines, there, strict=True)
        if line.strip(_BLANKS)
    ]
    for width in (0, *_TAB_WIDTHS):
        turned, own = _turned(pairs[0][0], width), pairs[0][1]
        if turned is None or not (own.endswith(turned) or turned.endswith(own)):
            continue
        more = own[: max(len(own) - len(turned), 0)]
        less = turned[: max(len(turned) - len(own), 0)]
        reading = _Reading(width, more, less)
        if all(reading.of(given) == wanted for given, wanted in pairs):
            yield reading


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(_BLANKS))]


def _agreed(readings: list[_Reading], new: str) -> str | None:
    """Return the new text by the simplest reading; None if equally simple ones disagree."""

    def rank(reading: _Reading) -> int:
        return 0 if not reading.width else 2 if reading.more or reading.less else 1

    simplest = min(map(rank, readings))
    results = {one.over(new) for one in readings if rank(one) == simplest}
    return results.pop() if len(results) == 1 else None


def nearest(text: str, old: str) -> list[str]:
    """Return the lines that are most like the first line of an old text, best first."""
    wanted = _pairs(next((line.strip() for line in old.split("\n") if line.strip()), old))
    alike: dict[str, float] = {}
    for line in to_lf(text[:_NEAREST_CHARS]).split("\n"):
        shown = line.strip()
        if shown and shown not in alike:
            pairs = _pairs(shown)
            both = (wanted & pairs).total()
            alike[shown] = 2 * both / ((wanted.total() + pairs.total()) or 1)
    best = nlargest(NEAREST_LINES, alike, key=alike.__getitem__)
    return [one for one in best if alike[one] >= _SIMILAR]


def _pairs(line: str) -> Counter[str]:
    """Return the neighbours in a line; to compare them takes no longer than the line is."""
    line = line[:_NEAREST_LINE].lower()
    return Counter(map(add, line, line[1:]))

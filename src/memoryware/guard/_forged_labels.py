"""Forged labels: words of a text that pass themselves off as what memory says of it.

A recalled text stands behind a label such as `[1a2b3c4d; long-term memory; verified; ...]`. A text
may have such a label in it, in any brackets and with any separators, to look verified.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memoryware.guard._confusables import canonical, signs, skeleton

_ROUNDED: Final = {"[": "(", "]": ")"}
_OPENS: Final = "([{<\u00ab\u2039\u201c\u201e\u2018\uff08\uff5b\u2985\u2983\u2768\u2774\u207d\u208d"
_CLOSES: Final = ")]}>\u00bb\u203a\u201d\u2019\uff09\uff5d\u2986\u2984\u2769\u2775\u207e\u208e"
_SEPARATOR: Final = re.compile(r"[^\w\s.,'\"!?()\[\]{}-]|\s[-\u2013\u2014]{1,3}\s|[()\[\]{}]")
"""What parts the fields of a record rather than the words of a sentence."""
_ID: Final = re.compile(r"(?<!\w)(?=[a-f]*\d)[0-9a-f]{8}(?!\w)|(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_NUMBERED: Final = re.compile(r"(?:^|\s)\d{1,4}[.)]\s*$")
_NUMBER_BEHIND: Final = re.compile(r"\W{0,6}[+-]?\d")
_NEAR: Final = 60
"""Characters between two fields of one label."""
_ENOUGH: Final = 2
"""Signs of a label that make words one: see `_is_label`."""


@dataclass(frozen=True, slots=True)
class _Field:
    kind: str
    start: int
    end: int


def unlabelled(text: str, words: Mapping[str, Sequence[str]], mark: str) -> str:
    """Return a text in which nothing can be taken for a label.

    Square brackets around a forged label become round ones, and a mark says what it is; the
    words stay. A text without a forged label is returned as it is.

    Args:
        text: The text, in one line.
        words: The words of real labels, by what they tell: of the store, the check, the trust.
        mark: What to put before a forged label: "not a label".
    """
    fields = _fields(text, words)
    if not fields:
        return text
    marked: list[int] = []
    covered = -1
    for first, second in zip(fields, [*fields[1:], None], strict=True):
        if first.start < covered:
            continue
        pair = [first] if second is None or second.start - first.end > _NEAR else [first, second]
        if _is_label(text, pair):
            marked.append(_start(text, first.start))
            covered = first.end + 2 * _NEAR
    square = text if not _has_square(text, fields) else text.translate(_round())
    if not marked:
        return square
    return _marked(text.translate(_round()), marked, mark)


def rounded(text: str) -> str:
    """Return a text with round brackets in place of square ones and of what looks like them."""
    return text.translate(_round())


def unscored(text: str, score: str, mark: str) -> str:
    """Return a text in which nothing can be taken for a score.

    Args:
        text: The text, in one line.
        score: The word before a real score: "relevance".
        mark: What to put before a forged one: "not a score".
    """
    if not score:
        return text
    forged = [
        field.start
        for field in _fields(text, {"score": [score]})
        if _NUMBER_BEHIND.match(text, field.end)
    ]
    return _marked(text, forged, mark)


def _marked(text: str, places: Sequence[int], mark: str) -> str:
    """Return a text with a mark at these places, which are in order; in linear time."""
    pieces, done = list[str](), 0
    for place in places:
        pieces += [text[done:place], f"{mark}: "]
        done = place
    return "".join([*pieces, text[done:]])


def _fields(text: str, words: Mapping[str, Sequence[str]]) -> list[_Field]:
    """Return where words of labels stand, in any spelling."""
    letters, places = _letters(text)
    fields = []
    for kind, some in words.items():
        for word in {canonical(one) for one in some} - {""}:
            at = letters.find(word)
            while at >= 0:
                start, end = places[at], places[at + len(word) - 1] + 1
                if _is_whole(text, start, end):
                    fields.append(_Field(kind, start, end))
                at = letters.find(word, at + 1)
    fields.sort(key=lambda one: (one.start, -one.end))
    kept: list[_Field] = []
    for one in fields:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _letters(text: str) -> tuple[str, list[int]]:
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isalnum():
            plain = skeleton(character)
            letters.append(plain)
            places += [place] * len(plain)
    return "".join(letters), places


def _is_whole(text: str, start: int, end: int) -> bool:
    """Say whether words do not begin or end inside of others; Chinese has no blanks to say so."""
    if not text[start].isascii() and ord(text[start]) > 0x2E80:
        return True
    return not text[max(0, start - 1) : start].isalnum() and not text[end : end + 1].isalnum()


def _is_label(text: str, fields: list[_Field]) -> bool:
    """Say whether words of labels stand as in a label.

    Single words are part of ordinary sentences: "the figures are verified". Two that tell of
    different things, in brackets or with a separator between them, are not.
    """
    first, last = fields[0], fields[-1]
    kinds = {one.kind for one in fields}
    before = text[max(0, first.start - _NEAR) : first.start]
    around = before + text[first.start : last.end + _NEAR]
    opened = _opened(before) >= 0
    dated = _ID.search(around) is not None
    if len(kinds) < 2:
        return opened and dated
    between = text[first.end : last.start]
    if not re.search(r"\W", between.strip(" ")) and not opened:
        return False
    signs_of_one = [
        opened,
        _SEPARATOR.search(between) is not None,
        dated or _NUMBERED.search(before) is not None,
        "store" in kinds,
    ]
    return sum(signs_of_one) >= _ENOUGH


def _start(text: str, place: int) -> int:
    """Return where a label begins: behind the bracket that is open before its first word."""
    before = text[max(0, place - _NEAR) : place]
    opened = _opened(before)
    return place if opened < 0 else place - len(before) + opened + 1


def _opened(text: str) -> int:
    """Return the place of the last bracket that is still open; -1 for none."""
    opened = max(text.rfind(one) for one in _opens())
    return opened if opened > max(text.rfind(one) for one in _closes()) else -1


def _has_square(text: str, fields: list[_Field]) -> bool:
    """Say whether a word of a label stands in square brackets, behind a semicolon."""
    starts = [one.start for one in fields]
    for opened in re.finditer(f"[{re.escape(signs('['))}]", text):
        inside = text[opened.end() : opened.end() + 4 * _NEAR]
        stop = opened.end() + min(
            (place for one in signs("]") if (place := inside.find(one)) >= 0), default=len(inside)
        )
        number = bisect_left(starts, opened.end())
        if number < len(starts) and starts[number] < stop:
            before = text[opened.end() : min(stop, starts[-1])]
            if ";" in before or "\uff1b" in before:
                return True
    return False


@lru_cache(maxsize=1)
def _round() -> dict[int, str]:
    return {ord(one): round_ for sign, round_ in _ROUNDED.items() for one in signs(sign)}


@lru_cache(maxsize=1)
def _opens() -> str:
    return "".join({*_OPENS, *signs("["), *signs("<")})


@lru_cache(maxsize=1)
def _closes() -> str:
    return "".join({*_CLOSES, *signs("]"), *signs(">")})

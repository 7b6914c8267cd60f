"""`Region`: a part of a memory file that a machine or its owner keeps, and a model may not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from memoryware.sources.regions._mark import KEEP, Comment, Marked, Pair, marked

Which = Literal["marked", "all"]
"""What is protected: parts between markers, or every other comment outside code as well."""
_NAMED_AT_MOST: Final = 64
_UNNAMED: Final = re.compile(r"[^\w:./ -]")


@dataclass(frozen=True, slots=True)
class Region:
    """A protected part of a text.

    Attributes:
        name: What its marker calls it, for people; other comments are called by their line.
        start: Its first character.
        end: The character after it.
        text: All of it, markers included.
    """

    name: str
    start: int
    end: int
    text: str


def find(found: Marked, which: Which) -> list[Region]:
    """Return the protected parts of a text in order, the outermost ones."""
    single = found.comments if which == "all" else [one for one in found.comments if _kept(one)]
    spans = [(*pair.span, _clean(pair.begin.key) or "region") for pair in found.pairs]
    spans += [(one.start, one.end, _clean(one.key) if _kept(one) else "") for one in single]
    regions, end, line, counted = [], 0, 1, 0
    for start, stop, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= end:
            line += found.plain.count("\n", counted, start)
            counted, end = start, stop
            region = Region(name or f"comment in line {line}", start, stop, found.text[start:stop])
            regions += [region] * _stands_alone(region.text)
    return regions


def _stands_alone(text: str) -> bool:
    """Say whether a part would be one anywhere: code that begins in it ends in it."""
    if "`" not in text and "~~~" not in text:
        return True
    whole = (0, len(text))
    found = marked(text)
    return whole in [*(pair.span for pair in found.pairs), *(one[:2] for one in found.comments)]


def parts(found: Marked) -> list[Pair]:
    """Return all pairs, and comments that are protected by themselves as pairs of their own."""
    return [*found.pairs, *(Pair(one, one) for one in found.comments if _kept(one))]


def _kept(comment: Comment) -> bool:
    return comment.role in ("begin", "name") and bool(KEEP.match(comment.key))


def _clean(key: str) -> str:
    return _UNNAMED.sub("", key)[:_NAMED_AT_MOST]

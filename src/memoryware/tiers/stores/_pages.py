"""A page of a list, in stores that have the whole list at hand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._loading import number_of_mark
from memoryware.tiers.stores.protocol import Page

R = TypeVar("R", Entry, Memory)
_LONGEST: Final = 40
"""Digits that no number has, in any of these stores."""


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a list is wanted; see `Transaction.find`."""

    limit: int | None = None
    offset: int = 0
    after: str | None = None


def page_of(found: Sequence[tuple[int, R]], part: Part) -> Page[R]:
    """Return a part of records that come with their numbers, the highest one first.

    Raises:
        SettingError: If the mark cannot be one.
    """
    start = part.offset
    if part.after is not None:
        mark = number_of_mark(part.after, _LONGEST)
        start += bisect_right(found, -mark, key=lambda one: -one[0])
    some = found[start:] if part.limit is None else found[start : start + part.limit]
    marks = [str(number) for number, _ in some]
    return Page([record for _, record in some], len(found), min(start, len(found)), marks)

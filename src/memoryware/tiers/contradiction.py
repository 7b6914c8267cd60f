"""Texts that cannot both hold: the same statement with another number, name or a negation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Memory
from memoryware.tiers.values import ContextItem, Contradiction

_NEGATIONS: Final = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "nor",
        "without",
        "cannot",
        "longer",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "nie",
        "ne",
        "pas",
        "jamais",
        "no",
        "nunca",
        "不",
        "没",
        "非",
    ]
)
_NUMBER: Final = re.compile(r"\d+")
_ALIKE: Final = 0.5
"""Share of words that two statements must have in common to be about the same."""
_LONGEST: Final = 40
"""Words of a statement; longer texts say more than one thing."""


def contradictions_among(items: Sequence[ContextItem | Memory]) -> tuple[Contradiction, ...]:
    """Return the pairs that say different things of the same; none where that is not plain.

    Two texts of one subject differ if their words do. Without a subject, two short texts
    must share most of their words and differ in a number, a name or a negation.
    """
    found = []
    for one, other in combinations(items, 2):
        if one.document_id is not None and one.document_id == other.document_id:
            continue
        reason = why(one.content, other.content, same=_same_subject(one, other))
        if reason:
            found.append(Contradiction(first=one.id, second=other.id, reason=reason))
    return tuple(found)


def why(one: str, other: str, *, same: bool = False) -> str:
    """Return why two texts contradict each other, in words; "" if they do not plainly."""
    first, second = words_of(one), words_of(other)
    if first == second:
        return ""
    if same:
        return "the same subject, and not the same text"
    if not first or not second or max(len(first), len(second)) > _LONGEST:
        return ""
    left, right = set(first), set(second)
    only_left, only_right = left - right, right - left
    alike = len(left & right) / min(len(left), len(right))
    if alike < _ALIKE or len(left & right) < 2:
        return ""
    if (only_left ^ only_right) and bool(only_left & _NEGATIONS) != bool(only_right & _NEGATIONS):
        rest = (only_left | only_right) - _NEGATIONS
        if len(rest) <= 2:
            return "one denies what the other says"
    if len(only_left) == len(only_right) == 1:
        a, b = next(iter(only_left)), next(iter(only_right))
        if _NUMBER.search(a) and _NUMBER.search(b):
            return f"not the same number: {a} and {b}"
        if len(left & right) >= 3 and first[-1] == a and second[-1] == b:
            return f"not the same value: {a} and {b}"
    return ""


def _same_subject(one: ContextItem | Memory, other: ContextItem | Memory) -> bool:
    return one.subject is not None and one.subject == other.subject

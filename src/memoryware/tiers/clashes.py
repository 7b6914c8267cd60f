"""Two statements that plainly cannot both hold: one place is filled otherwise, or one denies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from memoryware.tiers.statements import (
    AUXILIARIES,
    CHANGED,
    DENIALS,
    LONGEST,
    SHARED,
    UNSPACED,
    Said,
    has_digit,
    is_about_nothing,
    is_name,
    is_said_to_be,
)


def clash(one: Said, other: Said) -> str:
    """Return why two statements cannot both hold, "" if they can."""
    longer, shorter = sorted((len(one.words), len(other.words)), reverse=True)
    if one.words == other.words or longer > LONGEST or shorter < 2:
        return ""
    if len(one.different & other.different) < 2:
        return ""
    shared = (Counter(one.words) & Counter(other.words)).total()
    if shared < max(2, SHARED * longer):
        return ""
    if not _may_clash(one, other):
        return ""
    matcher = SequenceMatcher(None, one.words, other.words, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    left = [word for _, i, j, _, _ in changes for word in one.words[i:j]]
    right = [word for _, _, _, i, j in changes for word in other.words[i:j]]
    if _denied(left, right):
        return "one denies what the other says"
    if len(changes) != 1 or changes[0][0] != "replace":
        return ""
    _, start, end, begin, stop = changes[0]
    return _difference(one, (start, end), other.written[begin:stop])


def _may_clash(one: Said, other: Said) -> bool:
    """Say whether two statements could differ by a denial or in one place: a quick look.

    Most pairs differ in many places, and to find out which is what takes the time.
    """
    counts = Counter(one.words), Counter(other.words)
    only = {*(counts[0] - counts[1]), *(counts[1] - counts[0])}
    if only & DENIALS and only <= DENIALS | AUXILIARIES:
        return True
    place = _alike(one.words, other.words) + _alike(one.words[::-1], other.words[::-1])
    return max(len(one.words), len(other.words)) - place <= CHANGED * 2


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many of the same words two statements begin."""
    different = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(different, min(len(one), len(other)))


def _denied(left: Sequence[str], right: Sequence[str]) -> bool:
    if any(word not in DENIALS | AUXILIARIES for word in (*left, *right)):
        return False
    return bool(DENIALS.intersection(left)) != bool(DENIALS.intersection(right))


def _difference(one: Said, place: tuple[int, int], new: Sequence[str]) -> str:
    """Return what the place of a statement says that another fills with something else."""
    start, end = place
    old, rest = one.written[start:end], len(one.words) - end
    before = one.words[:start]
    if is_about_nothing(before, rest):
        return ""
    unspaced = re.fullmatch(rf"[{UNSPACED}]+", "".join((*old, *new)))
    if max(len(old), len(new)) > (CHANGED * 2 if unspaced else CHANGED):
        return ""
    said = f"{' '.join(old)[:40]} and {' '.join(new)[:40]}"
    if all(any(map(has_digit, side)) for side in (old, new)):
        return f"not the same number: {said}"
    if all(map(is_name, (*old, *new))):
        return f"not the same name: {said}"
    if rest == 0 and is_said_to_be(before) and not {*old, *new} & (DENIALS | AUXILIARIES):
        return f"not the same value: {said}"
    return ""

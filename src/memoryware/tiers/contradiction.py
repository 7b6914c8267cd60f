"""Texts that cannot both hold: the same statement with another number, name or a denial.

Only what is plain is found. Two statements are held against each other if they are the same
word for word but for one place, and the rest of a text does not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from typing import Final

from memoryware.tiers.contrasts import contrasts
from memoryware.tiers.records import Memory
from memoryware.tiers.statements import (
    AUXILIARIES,
    CHANGED,
    DENIALS,
    LONGEST,
    SHARED,
    UNSPACED,
    Said,
    Statements,
    has_digit,
    is_about_nothing,
    is_name,
    is_said_to_be,
    statements_of,
)
from memoryware.tiers.values import ContextItem, Contradiction

_OTHERWISE: Final = "the same subject, and not the same text"


def contradictions_among(items: Sequence[ContextItem | Memory]) -> tuple[Contradiction, ...]:
    """Return the pairs that say different things of the same; none where that is not plain.

    Two texts of one subject differ if their words do. Without a subject, two statements must
    be the same but for a number, a name or a denial. Of two documents one pair is named.
    """
    known = {text: statements_of(text) for text in {one.content for one in items}}
    said = [known[one.content] for one in items]
    documents = [one.document_id or one.id for one in items]
    places = contrasts(said, documents)
    for pair in _of_one_subject(items):
        places.setdefault(pair, [])
    found: dict[tuple[str, str], Contradiction] = {}
    for (i, j), where in sorted(places.items()):
        between = documents[i], documents[j]
        if between[0] == between[1] or between in found or between[::-1] in found:
            continue
        if _same_words(said[i], said[j]):
            continue
        reason = _first_clash((said[i][a], said[j][b]) for a, b in sorted(where))
        reason = reason or (_OTHERWISE if _same_subject(items[i], items[j]) else "")
        if reason:
            found[between] = Contradiction(first=items[i].id, second=items[j].id, reason=reason)
    return tuple(found.values())


def why(one: str | Statements, other: str | Statements, *, same: bool = False) -> str:
    """Return why two texts contradict each other, in words; "" if they do not plainly.

    Args:
        one: A text, or its statements, so that they are read once.
        other: Another.
        same: Whether they are of one subject, so that any difference counts.
    """
    left = statements_of(one) if isinstance(one, str) else one
    right = statements_of(other) if isinstance(other, str) else other
    if _same_words(left, right):
        return ""
    reason = _first_clash((first, second) for first in left for second in right)
    return reason or (_OTHERWISE if same else "")


def _first_clash(pairs: Iterable[tuple[Said, Said]]) -> str:
    return next(filter(None, (_clash(*pair) for pair in pairs)), "")


def _same_words(one: Statements, other: Statements) -> bool:
    return [said.words for said in one] == [said.words for said in other]


def _of_one_subject(items: Sequence[ContextItem | Memory]) -> Iterable[tuple[int, int]]:
    subjects: dict[str, list[int]] = {}
    for at, one in enumerate(items):
        if one.subject is not None:
            subjects.setdefault(one.subject, []).append(at)
    return (pair for some in subjects.values() for pair in combinations(some, 2))


def _clash(one: Said, other: Said) -> str:
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


def _same_subject(one: ContextItem | Memory, other: ContextItem | Memory) -> bool:
    return one.subject is not None and one.subject == other.subject

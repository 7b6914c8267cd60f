"""Texts that cannot both hold: the same statement with another number, name or a denial.

Statements are held against each other, and the rest of a text does not count. Two contradict each
other if they are the same word for word but for one place, or if `compare` finds a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import combinations, starmap
from typing import Final

from memoryware.tiers.comparison import disagree, plain_clash
from memoryware.tiers.contrasts import contrasts
from memoryware.tiers.records import Memory
from memoryware.tiers.statements import Said, Statements, statements_of
from memoryware.tiers.values import ContextItem, Contradiction

_OTHERWISE: Final = "the same subject, and not the same text"
_DISAGREES: Final = "not the same about one matter"
_COMPARED: Final = 25
"""Items of which each is compared with each; of further ones only plain clashes are found."""
_PAIRS: Final = 8
"""Statements of two long texts that are compared by what they say, those with most in common."""
_LIKELY: Final = 0.3
"""Share of its words from which a statement of a longer text is compared with another."""


def contradictions_among(items: Sequence[ContextItem | Memory]) -> tuple[Contradiction, ...]:
    """Return the pairs that say different things of the same; none where that is not plain.

    Two texts of one subject differ if their words do. Without a subject, two statements must
    be the same but for a number, a name or a denial, or be in conflict as `compare` says; the
    latter is asked of the first items. Of two documents one pair is named.
    """
    known = {text: statements_of(text) for text in {one.content for one in items}}
    said = [known[one.content] for one in items]
    documents = [one.document_id or one.id for one in items]
    places = contrasts(said, documents)
    for pair in (*_of_one_subject(items), *combinations(range(min(len(items), _COMPARED)), 2)):
        places.setdefault(pair, [])
    found: dict[tuple[str, str], Contradiction] = {}
    for (i, j), where in sorted(places.items()):
        between = documents[i], documents[j]
        if between[0] == between[1] or between in found or between[::-1] in found:
            continue
        pairs = [(said[i][a], said[j][b]) for a, b in sorted(where)]
        same = _same_subject(items[i], items[j])
        is_compared = j < _COMPARED
        reason = _reason(said[i], said[j], pairs, same=same, is_compared=is_compared)
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
    pairs = ((first, second) for first in left for second in right)
    return _reason(left, right, pairs, same=same)


def _reason(
    left: Statements,
    right: Statements,
    pairs: Iterable[tuple[Said, Said]],
    *,
    same: bool,
    is_compared: bool = True,
) -> str:
    """Return why texts contradict each other; the pairs are those that could clash plainly."""
    if [one.words for one in left] == [one.words for one in right]:
        both = zip(left, right, strict=True)  # "-5 degrees" and "5 degrees" are the same words
        rewritten = [(one.text, other.text) for one, other in both if one.text != other.text]
        return _DISAGREES if any(starmap(disagree, rewritten)) else ""
    reason = next(filter(None, (plain_clash(*pair) for pair in pairs)), "")
    if not reason and is_compared:
        reason = _disagreement(left, right)
    return reason or (_OTHERWISE if same else "")


def _disagreement(left: Statements, right: Statements) -> str:
    """Return that two texts disagree if `compare` says so of a statement of each."""
    both = {one.words for one in left} & {one.words for one in right}
    ours, theirs = ([one for one in side if one.words not in both] for side in (left, right))
    pairs = [(one, other) for one in ours for other in theirs]
    if len(left) > 1 or len(right) > 1:
        pairs = nlargest(_PAIRS, filter(_is_likely, pairs), key=_shared)
    return _DISAGREES if any(disagree(one.text, other.text) for one, other in pairs) else ""


def _is_likely(pair: tuple[Said, Said]) -> bool:
    """Return whether statements share enough words to be worth a comparison."""
    longest = max(len(one.different) for one in pair)
    return _shared(pair) >= max(2, _LIKELY * longest)


def _shared(pair: tuple[Said, Said]) -> int:
    return len(pair[0].different & pair[1].different)


def _of_one_subject(items: Sequence[ContextItem | Memory]) -> Iterable[tuple[int, int]]:
    subjects: dict[str, list[int]] = {}
    for at, one in enumerate(items):
        if one.subject is not None:
            subjects.setdefault(one.subject, []).append(at)
    return (pair for some in subjects.values() for pair in combinations(some, 2))


def _same_subject(one: ContextItem | Memory, other: ContextItem | Memory) -> bool:
    return one.subject is not None and one.subject == other.subject

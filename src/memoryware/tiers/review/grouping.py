"""Grouping of statements that say the same; pure functions.

An inverted index of stems proposes pairs, and `compare` alone decides about each. A score never
does: by words as by vectors, "may" and "may not" or db2 and db3 are nearly the same, and one
approval of a group takes all of it.

Postings are bit sets, one bit for each statement: counting shared stems of one statement with
all earlier ones takes a few operations on whole numbers, a third of the time of a counter of
pairs. NumPy is not quicker here, because most lists are short.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from memoryware._remembering import remembered
from memoryware.tiers.review.priority import topic_stems
from memoryware.tiers.text.comparison import Relation, compare

CANDIDATES: Final = 12
"""Statements that one is compared with, those that share most of its words first."""
_LEAST: Final = 4
"""Two statements are compared if they share at least one in so many of their stems. It is far
below what `compare` asks of a conflict: day and time may both differ, and it reads more as
grammar."""
_POSTINGS: Final = 150
"""A stem of more statements proposes nothing: who shares only such stems shares little."""
_RARE: Final = 6
"""Statements of a stem that two of one series may share to be compared: "The api listens on port
80" and "The api listens on port 81" speak of one thing, two tickets do not."""
_CACHED_CHARS: Final = 4000
"""Characters of two texts whose relation is cached: a digest is asked for more than once."""
MAX_CONFLICTS: Final = 8
"""Conflicts that are noted for one group; more of them are reports of one form, not a conflict."""


@dataclass(slots=True)
class StatementGroup:
    """Statements that say the same.

    Attributes:
        text: The statement that stands for all; each member says the same as this very text.
        members: Places of the statements, this one first.
        conflicts: Numbers of groups that say something else about the same matter.
    """

    text: str
    members: list[int]
    conflicts: list[int] = field(default_factory=list)


def groups_of(texts: Sequence[str], series: Sequence[bool] = ()) -> list[StatementGroup]:
    """Group texts that say the same, and note which groups disagree.

    Args:
        texts: Statements. Of a group the one that comes first stands for all.
        series: For each text, whether many others have its form. Two of these are compared only
            if they share a rare word: reports of one form that name different numbers are no
            conflict, and comparing all of them takes long.

    Returns:
        The groups, in the order of their first members.
    """
    groups: list[StatementGroup] = []
    numbers: dict[str, int] = {}
    in_series: list[bool] = []
    for position, text in enumerate(texts):
        number = numbers.setdefault(" ".join(text.split()), len(groups))
        if number == len(groups):
            groups.append(StatementGroup(text, []))
            in_series.append(bool(series) and series[position])
        groups[number].members.append(position)
    merged: dict[int, int] = {}
    proposals = _proposals([topic_stems(group.text) for group in groups], in_series)
    for number, (group, candidates) in enumerate(zip(groups, proposals, strict=True)):
        for other in candidates:
            if other in merged:
                continue
            relation = _relation(groups[other].text, group.text)
            if relation is Relation.SAME:
                merged[number] = other
                break
            if relation is Relation.CONFLICT:
                group.conflicts.append(other)
    return _merged(groups, merged)


def _merged(groups: Sequence[StatementGroup], merged: dict[int, int]) -> list[StatementGroup]:
    left = [number for number in range(len(groups)) if number not in merged]
    renumbered = {number: position for position, number in enumerate(left)}
    disagreeing: dict[int, set[int]] = defaultdict(set)
    for number, group in enumerate(groups):
        mine = merged.get(number, number)
        if mine != number:
            groups[mine].members += group.members
        for other in group.conflicts:
            theirs = merged.get(other, other)
            if theirs != mine:
                disagreeing[mine].add(theirs)
                disagreeing[theirs].add(mine)
    for number in left:
        conflicts = sorted(renumbered[other] for other in disagreeing[number])
        groups[number].conflicts = conflicts[:MAX_CONFLICTS]
        groups[number].members.sort()
    return [groups[number] for number in left]


def _proposals(stems: Sequence[frozenset[str]], in_series: Sequence[bool]) -> Iterator[list[int]]:
    """Yield for each statement the earlier ones it may repeat or contradict, the likeliest first.

    Args:
        stems: Of each statement.
        in_series: For each of them, whether many others have its form.
    """
    frequencies = Counter(chain.from_iterable(stems))
    outside = frequencies
    if any(in_series):
        outside = Counter(
            chain.from_iterable(
                words for words, is_series in zip(stems, in_series, strict=True) if not is_series
            )
        )
    usable = {stem for stem, count in frequencies.items() if 1 < count <= _POSTINGS}
    # A statement of a series is compared with what is in none, so both are indexed apart.
    everywhere: dict[str, int] = defaultdict(int)
    outside_series: dict[str, int] = defaultdict(int)
    bags: dict[frozenset[str], list[int]] = defaultdict(list)
    for number, words in enumerate(stems):
        shareable = words & usable
        if in_series[number]:
            counted = words
            having = _union(
                everywhere[stem] if frequencies[stem] <= _RARE else outside_series[stem]
                for stem in words
                if frequencies[stem] <= _RARE or outside[stem] <= _POSTINGS
            )
        else:
            counted = shareable
            postings = [everywhere[stem] for stem in shareable if stem in everywhere]
            having = _having_at_least(-(-len(words) // _LEAST), postings)
        fits = []
        for other in _bits(having):
            most = max(len(words), len(stems[other]))
            shared = len(counted & stems[other])
            if shared * _LEAST >= most:
                fits.append((shared / most, -other))
        best = fits if len(fits) < 2 else heapq.nlargest(CANDIDATES, fits)
        bag = bags[words]
        yield list(dict.fromkeys([*bag[:CANDIDATES], *(-other for _, other in best)]))
        bag.append(number)
        bit = 1 << number
        for stem in shareable:
            everywhere[stem] |= bit
        if not in_series[number]:
            for stem in words:
                if frequencies[stem] > _RARE:
                    outside_series[stem] |= bit


def _union(postings: Iterable[int]) -> int:
    union = 0
    for posting in postings:
        union |= posting
    return union


def _having_at_least(least: int, postings: Sequence[int]) -> int:
    """Return as a bit set what is in at least so many of the postings.

    The counts are kept as binary digits: a bit set for the ones, one for the twos and so on.
    """
    if not 0 < least <= len(postings):  # a text without stems shares none
        return 0
    digits: list[int] = []
    for posting in postings:
        carry = posting
        for place, digit in enumerate(digits):
            if not carry:
                break
            digits[place] = digit ^ carry
            carry &= digit
        if carry:
            digits.append(carry)
    if least >> len(digits):
        return 0
    more, equal = 0, -1
    for place in reversed(range(len(digits))):
        if least >> place & 1:
            equal &= digits[place]
        else:
            more |= equal & digits[place]
            equal &= ~digits[place]
    return more | equal


def _bits(bit_set: int) -> Iterator[int]:
    while bit_set:
        lowest = bit_set & -bit_set
        yield lowest.bit_length() - 1
        bit_set ^= lowest


def _relation(first: str, second: str) -> Relation:
    is_short = len(first) + len(second) <= _CACHED_CHARS
    return _cached_relation(first, second) if is_short else compare(first, second)


_cached_relation: Final = remembered(2048)(compare)

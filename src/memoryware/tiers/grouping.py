"""Grouping of statements that say the same; pure functions.

An inverted index of stems proposes pairs, and `compare` alone decides about each. A score never
does: by words as by vectors, "may" and "may not" or db2 and db3 are nearly the same, and one
approval of a group takes all of it.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from memoryware._remembering import remembered
from memoryware.tiers._stemming import STOP
from memoryware.tiers.comparison import Relation, compare
from memoryware.tiers.ranking import words_of

CANDIDATES: Final = 12
"""Statements that one is compared with, those that share most of its words first."""
_LEAST: Final = 0.25
"""Share of their stems that two statements must have in common to be compared. It is far below
what `compare` asks of a conflict: day and time may both differ, and it reads more as grammar."""
_POSTINGS: Final = 150
"""A stem of more statements proposes nothing: who shares only such stems shares little."""
_RARE: Final = 6
"""Statements of a stem that two of one series may share to be compared: "The api listens on port
80" and "The api listens on port 81" speak of one thing, two tickets do not."""
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
    index = StatementIndex([group.text for group in groups], in_series)
    merged: dict[int, int] = {}
    for number, group in enumerate(groups):
        for other in index.candidates(number):
            if other in merged:
                continue
            relation = compare(groups[other].text, group.text)
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


class StatementIndex:
    """An inverted index of stems, which proposes what a statement should be compared with."""

    def __init__(self, texts: Sequence[str], in_series: Sequence[bool]) -> None:
        """Index statements.

        Args:
            texts: Different statements; the index names each by its place in this list.
            in_series: For each of them, whether many others have its form.
        """
        self._stems = [_stems(text) for text in texts]
        self._in_series = in_series
        self._having: dict[str, list[int]] = defaultdict(list)
        # A statement of a series is compared with what is in none, so both are listed apart.
        self._alone: dict[str, list[int]] = defaultdict(list)
        self._bags: dict[frozenset[str], list[int]] = defaultdict(list)
        for number, stems in enumerate(self._stems):
            self._bags[stems].append(number)
            for stem in stems:
                self._having[stem].append(number)
                if not in_series[number]:
                    self._alone[stem].append(number)

    def candidates(self, number: int) -> list[int]:
        """Return which earlier statements one may repeat or contradict, the likeliest first."""
        stems = self._stems[number]
        bag = self._bags[stems]
        equal = [other for other in bag[:CANDIDATES] if other < number] if len(bag) > 1 else []
        is_series = self._in_series[number]
        shared: Counter[int] = Counter()
        for stem in stems:
            having = self._having[stem]
            if is_series and len(having) > _RARE:
                having = self._alone.get(stem, [])
            if len(having) <= _POSTINGS:
                shared.update(having[: bisect_left(having, number)])
        if is_series:  # only their rare words were counted
            shared = Counter({other: len(stems & self._stems[other]) for other in shared})
        size = len(stems)
        fits = [
            (count / max(size, len(self._stems[other])), -other)
            for other, count in shared.items()
            if count >= _LEAST * max(size, len(self._stems[other]))
        ]
        best = fits if len(fits) < 2 else heapq.nlargest(CANDIDATES, fits)
        return list(dict.fromkeys([*equal, *(-other for _, other in best)]))


@remembered(4096)
def _stems(text: str) -> frozenset[str]:
    words = frozenset(words_of(text))
    return words - STOP or words

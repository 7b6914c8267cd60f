"""Which statements of many texts could clash, without holding each against each.

Two statements can clash only if they are alike without denials, or begin and end with the
same words around one place. So each is put under what it would share with such another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Final, TypeAlias

from memoryware.tiers.statements import (
    AUXILIARIES,
    CHANGED,
    DENIALS,
    LONGEST,
    SHARED,
    Statements,
    has_digit,
    is_about_nothing,
    is_name,
    is_said_to_be,
)

Places: TypeAlias = dict[tuple[int, int], list[tuple[int, int]]]
_Place: TypeAlias = tuple[int, int]
"""A statement: the number of its text, and its own there."""
_Words: TypeAlias = tuple[str, ...]
_Written: TypeAlias = dict[_Words, list[tuple[_Place, _Words]]]
"""Where the same words are a statement, and how they are written there."""
_Groups: TypeAlias = dict[_Words, list[tuple[_Place, frozenset[str]]]]
"""What fills a place, by its words, and the ways in which another could clash with it."""
_PASSING: Final = DENIALS | AUXILIARIES


def contrasts(texts: Sequence[Statements], documents: Sequence[str]) -> Places:
    """Return for each two texts which of their statements could clash.

    The work grows with the words and with what is found, not with the pairs. Texts of one
    document are not held against each other.
    """
    written: _Written = defaultdict(list)
    for text, statements in enumerate(texts):
        for at, said in enumerate(statements):
            if 1 < len(said.words) <= LONGEST:
                written[said.words].append(((text, at), said.written))
    found: Places = defaultdict(list)
    for one, other in {*_denied(written), *_around_a_place(written)}:
        if documents[one[0]] != documents[other[0]]:
            found[one[0], other[0]].append((one[1], other[1]))
    return dict(found)


def _denied(written: _Written) -> Iterator[tuple[_Place, _Place]]:
    """Return statements that are the same but for denials and what comes with them."""
    alike: dict[_Words, list[_Words]] = defaultdict(list)
    for words in written:
        alike[tuple(word for word in words if word not in _PASSING)].append(words)
    for several in alike.values():
        for one, other in combinations(several, 2):
            if not DENIALS.isdisjoint((*one, *other)):
                for (first, _), (second, _) in product(written[one], written[other]):
                    yield min(first, second), max(first, second)


def _around_a_place(written: _Written) -> Iterator[tuple[_Place, _Place]]:
    """Return statements that begin and end with the same words, and could clash in between."""
    beginnings, ends = _Beginnings(written), _Beginnings(words[::-1] for words in written)
    by_frame: dict[tuple[int, int], _Groups] = defaultdict(lambda: defaultdict(list))
    for words, places in written.items():
        begins, stops = beginnings.of(words), ends.of(words[::-1])
        for start, rest in _frames(words, len(begins), len(stops)):
            middle = slice(start, len(words) - rest)
            said_to_be = rest == 0 and is_said_to_be(words[:start])
            for place, as_written in places:
                ways = _ways(as_written[middle], said_to_be=said_to_be)
                if ways:
                    frame = begins[start - 1], stops[rest - 1] if rest else -1
                    by_frame[frame][words[middle]].append((place, ways))
    for groups in by_frame.values():
        for some, others in combinations(groups.values(), 2):
            for (first, ways), (second, other) in product(some, others):
                if ways & other:
                    yield min(first, second), max(first, second)


class _Beginnings:
    """What statements begin with, each numbered; what only one begins with does not count."""

    def __init__(self, many: Iterable[_Words]) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self._counts: list[int] = []
        for words in many:
            number = -1
            for word in words:
                number = self._numbers.setdefault((number, word), len(self._counts))
                if number == len(self._counts):
                    self._counts.append(0)
                self._counts[number] += 1

    def of(self, words: _Words) -> list[int]:
        """Return the numbers of the first word, the first two and so on, while it is shared."""
        numbers: list[int] = []
        number = -1
        for word in words:
            number = self._numbers[number, word]
            if self._counts[number] == 1:
                break
            numbers.append(number)
        return numbers


def _frames(words: _Words, begins: int, stops: int) -> Iterator[tuple[int, int]]:
    """Return how many words may stand before and after a place that another fills otherwise.

    Args:
        words: The statement.
        begins: With how many of its first words another begins.
        stops: With how many of its last words another ends.
    """
    most = len(words)
    for rest in range(min(stops, most - 2) + 1):
        for start in range(max(1, most - rest - CHANGED * 2), min(begins, most - rest - 1) + 1):
            enough = start + rest >= max(2, SHARED * most)
            if enough and not is_about_nothing(words[:start], rest):
                yield start, rest


def _ways(middle: _Words, *, said_to_be: bool) -> frozenset[str]:
    """Return as what the words at a place could clash with others of the same kind."""
    ways = {
        "number": any(map(has_digit, middle)),
        "name": all(map(is_name, middle)),
        "value": said_to_be and _PASSING.isdisjoint(middle),
    }
    return frozenset(way for way, is_so in ways.items() if is_so)

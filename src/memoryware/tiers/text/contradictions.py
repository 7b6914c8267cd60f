"""Texts that cannot both hold: the same statement with another number, name or a denial.

Statements are held against each other, and the rest of a text does not count. Two contradict each
other if they are the same word for word but for one place, or if `compare` finds a conflict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import combinations, product, starmap
from typing import Final, TypeAlias

from memoryware.tiers.records import Memory
from memoryware.tiers.text.comparison import disagree, plain_clash
from memoryware.tiers.text.statements import (
    AUXILIARIES,
    CHANGED,
    DENIALS,
    LONGEST,
    SHARED,
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

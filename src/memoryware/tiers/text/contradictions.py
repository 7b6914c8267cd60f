"""Contradictions among texts: the same statement with another number, name, value or a denial.

Statements are compared, and the rest of a text does not count. Two contradict each other if they
are the same word for word but for one place, or if `compare` finds a conflict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import combinations, product, starmap
from operator import itemgetter
from typing import Final, TypeAlias

from memoryware.tiers.model import Memory
from memoryware.tiers.text.comparison import disagree, plain_clash
from memoryware.tiers.text.statements import (
    CHANGED,
    DENIALS,
    LONGEST,
    PASSING,
    SHARED,
    PlainStatement,
    PlainStatements,
    has_digit,
    is_about_nothing,
    is_name,
    is_said_to_be,
    plain_statements,
)
from memoryware.tiers.values import ContextItem, Contradiction

_OTHER_TEXT: Final = "the same subject, and not the same text"
_CONFLICT: Final = "not the same about one matter"
_MAX_COMPARED: Final = 25
"""Items of which each is compared with each; of further ones only plain clashes are found."""
_MAX_PAIRS: Final = 8
"""Statements of two long texts that are compared by what they say, those with most in common."""
_LIKELY: Final = 0.3
"""Share of its words from which a statement of a longer text is compared with another."""


def contradictions_among(items: Sequence[ContextItem | Memory]) -> tuple[Contradiction, ...]:
    """Return the pairs of texts that contradict each other; only where that is plain.

    Two texts of one subject contradict each other if their words differ. Without a subject, two
    statements must be the same but for a number, a name or a denial, or be in conflict as
    `compare` says; the latter is asked of the first 25 items.

    Args:
        items: What was recalled, best first.

    Returns:
        One pair for each two documents.
    """
    by_text = {text: plain_statements(text) for text in {item.content for item in items}}
    statements = [by_text[item.content] for item in items]
    documents = [item.document_id or item.id for item in items]
    candidates = clash_candidates(statements, documents)
    compared = combinations(range(min(len(items), _MAX_COMPARED)), 2)
    for pair in (*_of_one_subject(items), *compared):
        candidates.setdefault(pair, [])
    found: dict[tuple[str, str], Contradiction] = {}
    for (i, j), positions in sorted(candidates.items()):
        between = documents[i], documents[j]
        if between[0] == between[1] or between in found or between[::-1] in found:
            continue
        reason = _reason(
            statements[i],
            statements[j],
            [(statements[i][a], statements[j][b]) for a, b in sorted(positions)],
            same_subject=items[i].subject is not None and items[i].subject == items[j].subject,
            is_compared=j < _MAX_COMPARED,
        )
        if reason:
            found[between] = Contradiction(first=items[i].id, second=items[j].id, reason=reason)
    return tuple(found.values())


def contradiction_between(
    first: str | PlainStatements, second: str | PlainStatements, *, same_subject: bool = False
) -> str:
    """Return why two texts contradict each other, in words; "" if they do not plainly.

    Args:
        first: A text, or its statements where it is compared with many.
        second: Another.
        same_subject: Whether both are of one subject, so that any difference counts.
    """
    left = plain_statements(first) if isinstance(first, str) else first
    right = plain_statements(second) if isinstance(second, str) else second
    return _reason(left, right, product(left, right), same_subject=same_subject)


def _reason(
    left: PlainStatements,
    right: PlainStatements,
    pairs: Iterable[tuple[PlainStatement, PlainStatement]],
    *,
    same_subject: bool,
    is_compared: bool = True,
) -> str:
    """Return why texts contradict each other; `pairs` are those that can clash plainly."""
    if [statement.words for statement in left] == [statement.words for statement in right]:
        both = zip(left, right, strict=True)  # "-5 degrees" and "5 degrees" are the same words
        rewritten = [(a.text, b.text) for a, b in both if a.text != b.text]
        return _CONFLICT if any(starmap(disagree, rewritten)) else ""
    reason = next(filter(None, starmap(plain_clash, pairs)), "")
    if not reason and is_compared and _in_conflict(left, right):
        reason = _CONFLICT
    return reason or (_OTHER_TEXT if same_subject else "")


def _in_conflict(left: PlainStatements, right: PlainStatements) -> bool:
    """Return whether a statement of one text disagrees with one of the other."""
    if len(left) == len(right) == 1:
        return disagree(left[0].text, right[0].text)
    both = {statement.words for statement in left} & {statement.words for statement in right}
    likely: list[tuple[int, str, str]] = []
    for first in left:
        for second in right:
            # Sharing two words is seldom, so that is asked before anything else.
            shared = len(first.distinct & second.distinct)
            if shared < 2 or first.words in both or second.words in both:
                continue
            if shared >= _LIKELY * max(len(first.distinct), len(second.distinct)):
                likely.append((shared, first.text, second.text))
    best = nlargest(_MAX_PAIRS, likely, key=itemgetter(0))
    return any(disagree(first, second) for _, first, second in best)


def _of_one_subject(items: Sequence[ContextItem | Memory]) -> Iterable[tuple[int, int]]:
    subjects: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        if item.subject is not None:
            subjects.setdefault(item.subject, []).append(position)
    return (pair for several in subjects.values() for pair in combinations(several, 2))


# Statements of many texts that can clash, without comparing each with each.

Candidates: TypeAlias = dict[tuple[int, int], list[tuple[int, int]]]
"""For two texts the positions of their statements that can clash."""
_Place: TypeAlias = tuple[int, int]
"""A statement: the position of its text, and its own there."""
_Words: TypeAlias = tuple[str, ...]
_Written: TypeAlias = dict[_Words, list[tuple[_Place, _Words]]]
"""Where statements of these words are, and how they are written there."""
_Fillers: TypeAlias = dict[_Words, list[tuple[_Place, frozenset[str]]]]
"""What fills the place of a frame, by its words, and the kinds of clash that it can have."""


def clash_candidates(texts: Sequence[PlainStatements], documents: Sequence[str]) -> Candidates:
    """Return for each two texts which of their statements can clash plainly.

    Two statements can clash only if they are equal without denials, or begin and end with the
    same words around one place. So each is indexed by what it would share with such another, and
    the work grows with the words and the candidates instead of the pairs.

    Args:
        texts: The statements of each text.
        documents: The document of each; texts of one document are not compared.
    """
    written: _Written = defaultdict(list)
    for position, statements in enumerate(texts):
        for at, statement in enumerate(statements):
            if 1 < len(statement.words) <= LONGEST:
                written[statement.words].append(((position, at), statement.written))
    found: Candidates = defaultdict(list)
    for first, second in {*_denied(written), *_around_a_place(written)}:
        if documents[first[0]] != documents[second[0]]:
            found[first[0], second[0]].append((first[1], second[1]))
    return dict(found)


def _denied(written: _Written) -> Iterator[tuple[_Place, _Place]]:
    """Yield statements that are equal but for denials and the auxiliaries beside them."""
    alike: dict[_Words, list[_Words]] = defaultdict(list)
    for words in written:
        alike[tuple(word for word in words if word not in PASSING)].append(words)
    for several in alike.values():
        for left, right in combinations(several, 2):
            if not DENIALS.isdisjoint((*left, *right)):
                for (first, _), (second, _) in product(written[left], written[right]):
                    yield min(first, second), max(first, second)


def _around_a_place(written: _Written) -> Iterator[tuple[_Place, _Place]]:
    """Yield statements that begin and end with the same words, and can clash in between."""
    prefixes = _Prefixes(written)
    suffixes = _Prefixes(words[::-1] for words in written)
    by_frame: dict[tuple[int, int], _Fillers] = defaultdict(lambda: defaultdict(list))
    for words, places in written.items():
        begins, stops = prefixes.of(words), suffixes.of(words[::-1])
        for start, rest in _frames(words, len(begins), len(stops)):
            middle = slice(start, len(words) - rest)
            said_to_be = rest == 0 and is_said_to_be(words[:start])
            for place, as_written in places:
                kinds = _kinds(as_written[middle], said_to_be=said_to_be)
                if kinds:
                    frame = begins[start - 1], stops[rest - 1] if rest else -1
                    by_frame[frame][words[middle]].append((place, kinds))
    for fillers in by_frame.values():
        for some, others in combinations(fillers.values(), 2):
            for (first, kinds), (second, other) in product(some, others):
                if kinds & other:
                    yield min(first, second), max(first, second)


class _Prefixes:
    """A trie of the statements' first words, each prefix numbered."""

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
    """Yield how many words can be before and after a place that another fills otherwise.

    Args:
        words: The statement.
        begins: With how many of its first words another begins.
        stops: With how many of its last words another ends.
    """
    length = len(words)
    for rest in range(min(stops, length - 2) + 1):
        least = max(1, length - rest - CHANGED * 2)
        for start in range(least, min(begins, length - rest - 1) + 1):
            enough = start + rest >= max(2, SHARED * length)
            if enough and not is_about_nothing(words[:start], rest):
                yield start, rest


def _kinds(middle: _Words, *, said_to_be: bool) -> frozenset[str]:
    """Return with which kinds of words the words at a place can clash."""
    kinds = {
        "number": any(map(has_digit, middle)),
        "name": all(map(is_name, middle)),
        "value": said_to_be and PASSING.isdisjoint(middle),
    }
    return frozenset(kind for kind, is_so in kinds.items() if is_so)

"""Comparison of texts: the same, in conflict, or supporting each other.

`compare` is strict on purpose: two texts say the same only if their sentences do (see
`memoryware.tiers.text.sentences`), never because a similarity is high. `same_claim` and
`says_the_same` are looser, for texts that something else found similar.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import islice, product, starmap
from typing import Final

from memoryware._unicode import normalised
from memoryware.guard import drop_hidden
from memoryware.tiers.text.contradictions import (
    claiming_part,
    comparable,
    plain_clash,
    plain_statements,
)
from memoryware.tiers.text.phrases import TURNS
from memoryware.tiers.text.sentences import (
    in_conflict,
    matches,
    same_sentence,
    same_sentences,
)
from memoryware.tiers.text.tokens import MARKERS, NEGATIONS, Sentence, tokenize_pairs

_PUNCTUATION: Final = ".,;:!\"'()[]*_`“”‘’«»。，、"
"""Marks around a word that say nothing; a question mark and a sign do."""
_ENGLISH_ARTICLES: Final = frozenset({"a", "an", "the"})
_LOCATED: Final = """
, is are be live lives reside resides kept stored held located our my ist sind liegt liegen unsere
unser
"""
_LOCATING: Final = frozenset(_LOCATED.split())
"""Words that do not count where one text only has to support another."""
_MAX_BREAKS: Final = 16
_MAX_SENTENCES: Final = 32


class Relation(StrEnum):
    """How two texts relate to each other."""

    SAME = "same"
    CONFLICT = "conflict"
    DIFFERENT = "different"


def compare(first: str, second: str, *, by_other: bool = False) -> Relation:
    """Compare what two texts say.

    Args:
        first: A text in English, German or Chinese; other languages are compared word by word.
        second: Another text.
        by_other: Whether another speaker said it: "I like tea" and "I don't like tea" of two people
            are no conflict.

    Returns:
        `SAME` if both say the same: politeness, hedges of remembering, articles, inflection,
        markup and a plain reordering of clauses do not count. `CONFLICT` if they are about one
        matter with other names, numbers, roles, objects, or another negation, modality or
        quantity. `DIFFERENT` for anything else, also for a text that only adds to the other.
    """
    relation = _compare_sentences(first, second, by_other=by_other)
    if relation is not Relation.DIFFERENT:
        return relation
    ours, theirs = (
        comparable(plain_statements(text), by_other=by_other) for text in (first, second)
    )
    has_clash = any(starmap(plain_clash, product(ours, theirs)))
    return Relation.CONFLICT if has_clash else Relation.DIFFERENT


def _compare_sentences(first: str, second: str, *, by_other: bool) -> Relation:
    """Compare two texts without the search for plain clashes that `compare` adds."""
    ((left, right, german),) = tokenize_pairs([(first, second)])
    if not left or not right:
        is_same = not left and not right and first.split() == second.split() != []
        return Relation.SAME if is_same else Relation.DIFFERENT
    if same_sentences(left, right, german=german):
        return Relation.SAME
    claiming = claiming_part(first), claiming_part(second)
    if claiming != (first, second):
        ((left, right, _),) = tokenize_pairs([claiming])
    is_conflict = in_conflict(left, right, by_other=by_other)
    return Relation.CONFLICT if is_conflict else Relation.DIFFERENT


def same_claim(text: str, other: str) -> bool:
    """Return whether a text claims nothing that a text of similar meaning does not.

    For texts whose embeddings are alike: they may use other words, but names and numbers must
    appear in the other in the same order, and negations, modality and quantity must be equal.

    Args:
        text: A text.
        other: A text with a similar embedding.

    Returns:
        Whether every claim of the text is in the other.
    """
    ((left, right, _),) = tokenize_pairs([(text, other)])
    names: list[list[str]] = []
    markers: list[list[str]] = []
    for side in (left, right):
        tokens = [token for sentence in side for token in sentence.tokens]
        names.append([token.exact for token in tokens if token.is_name])
        markers.append(
            sorted(token.stem for token in tokens if {token.exact, token.stem} & MARKERS)
        )
    rest = iter(names[1])
    return markers[0] == markers[1] and all(name in rest for name in names[0])


def same_words(text: str, other: str) -> bool:
    """Return whether two texts have the same words in the same order, apart from articles.

    Args:
        text: A text.
        other: Another text.

    Returns:
        Whether they have.
    """
    return _words(text) == _words(other)


def says_the_same(text: str, other: str) -> bool:
    """Return whether a text supports another, with phrases in other places.

    For corroboration with a similarity below 1: "In MySQL are the orders of our shop" supports "The
    orders of the shop are kept in MySQL". All other words must be the same, and so must be the
    parts before and after the break. The other text may have more sentences, but none with a
    negation.

    Args:
        text: A text.
        other: The text that it may support.

    Returns:
        Whether it does.
    """
    if compare(text, other) is Relation.SAME:
        return True
    ((left, right, german),) = tokenize_pairs([(text, other)])
    sides = (left, right)
    if _contains(right, left, german=german):
        return True
    questions = [[sentence.is_question for sentence in side] for side in sides]
    if questions[0] != questions[1]:
        return False
    first, second = (
        [token for sentence in side for token in sentence.tokens if token.exact not in _LOCATING]
        for side in sides
    )
    if len(first) != len(second) or not first:
        return False
    breaks = (position for position, token in enumerate(second) if token.matches(first[0]))
    return any(
        matches(first, [*second[position:], *second[:position]])
        for position in islice(breaks, _MAX_BREAKS)
    )


def _contains(longer: Sequence[Sentence], shorter: Sequence[Sentence], *, german: bool) -> bool:
    """Return whether a text has all sentences of another, and the rest negates nothing."""
    rest = [*longer]
    if len(longer) > _MAX_SENTENCES or len(shorter) > len(longer):
        return False
    for sentence in shorter:
        same = next((item for item in rest if same_sentence(sentence, item, german=german)), None)
        if same is None:
            return False
        rest.remove(same)
    words = {
        word for sentence in rest for token in sentence.tokens for word in (token.exact, token.stem)
    }
    return bool(shorter) and not words & (NEGATIONS | TURNS)


def _words(text: str) -> list[str]:
    plain = drop_hidden(normalised("NFKC", text))[0].casefold()
    words = [word.strip(_PUNCTUATION) or word for word in plain.split()]
    return [word for word in words if word not in _ENGLISH_ARTICLES]

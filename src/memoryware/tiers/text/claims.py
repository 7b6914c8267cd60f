"""Whether two texts claim the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from memoryware._unicode import normalised
from memoryware.guard import drop_hidden
from memoryware.tiers.text.comparison import Relation, compare, matches, same_sentence
from memoryware.tiers.text.phrases import TURNS
from memoryware.tiers.text.tokens import MARKERS, NEGATIONS, Sentence, is_german, tokenize

_AROUND: Final = ".,;:!\"'()[]*_`“”‘’«»。，、"
"""What stands around a word and says nothing; a question mark and a sign do."""
_ARTICLES: Final = frozenset({"a", "an", "the"})
_LOCATED: Final = """
, is are be live lives reside resides kept stored held located our my ist sind liegt liegen unsere
unser
"""
_LOCATING: Final = frozenset(_LOCATED.split())
"""Words that do not count where two texts are only to support each other."""
_BREAKS: Final = 16
_SENTENCES: Final = 32


def same_claim(text: str, other: str) -> bool:
    """Return whether a text that is near another in meaning claims nothing that it does not.

    It is for texts whose embeddings are alike: they may use other words, but all names and
    numbers must be those of the other, in its order, and so must negations, modality and
    quantity.
    """
    german = is_german(text, other)
    names: list[list[str]] = []
    markers: list[list[str]] = []
    for one in (text, other):
        tokens = [token for part in tokenize(one, is_german=german) for token in part.tokens]
        names.append([token.exact for token in tokens if token.is_name])
        markers.append(sorted(t.stem for t in tokens if {t.exact, t.stem} & MARKERS))
    rest = iter(names[1])
    return markers[0] == markers[1] and all(name in rest for name in names[0])


def same_words(text: str, other: str) -> bool:
    """Return whether two texts have the same words in the same order, apart from articles."""
    return _words(text) == _words(other)


def says_the_same(text: str, other: str) -> bool:
    """Return whether two texts say the same to somebody who accepts other places for phrases.

    It is looser than `compare`, for corroboration that is asked for below a similarity of 1:
    "In MySQL are the orders of our shop" supports "The orders of the shop are kept in MySQL".
    Every other word must be the same, and what stands before and after the break as well. The
    other text may have more sentences, but none that denies something.
    """
    if compare(text, other) is Relation.SAME:
        return True
    german = is_german(text, other)
    sides = [tokenize(one, is_german=german) for one in (text, other)]
    if _contains(sides[1], sides[0], german=german):
        return True
    if [one.is_question for one in sides[0]] != [one.is_question for one in sides[1]]:
        return False
    first, second = (
        [t for part in side for t in part.tokens if t.exact not in _LOCATING] for side in sides
    )
    if len(first) != len(second) or not first:
        return False
    breaks = (at for at, token in enumerate(second) if token.matches(first[0]))
    return any(matches(first, [*second[at:], *second[:at]]) for at in islice(breaks, _BREAKS))


def _contains(longer: Sequence[Sentence], shorter: Sequence[Sentence], *, german: bool) -> bool:
    """Return whether all sentences of a text are in another, and the rest denies nothing."""
    left = [*longer]
    if len(longer) > _SENTENCES or len(shorter) > len(longer):
        return False
    for sentence in shorter:
        found = next((one for one in left if same_sentence(sentence, one, german=german)), None)
        if found is None:
            return False
        left.remove(found)
    words = {word for one in left for token in one.tokens for word in (token.exact, token.stem)}
    return bool(shorter) and not words & (NEGATIONS | TURNS)


def _words(text: str) -> list[str]:
    plain = drop_hidden(normalised("NFKC", text))[0].casefold()
    words = [word.strip(_AROUND) or word for word in plain.split()]
    return [word for word in words if word not in _ARTICLES]

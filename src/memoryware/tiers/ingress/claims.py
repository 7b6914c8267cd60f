"""Whether two texts claim the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memoryware._unicode import normalised
from memoryware.guard import drop_hidden
from memoryware.tiers.ingress._statements import statements_of
from memoryware.tiers.ingress.echo import Background, Piece, distinct, words_beside

_AROUND: Final = ".,;:!\"'()[]*_`“”‘’«»。，、"
"""What stands around a word and says nothing; a question mark and a sign do."""
_ARTICLES: Final = frozenset({"a", "an", "the"})
_NAMES: Final = 2
"""Names and numbers without which a text does not say what another says in another order."""


def same_claim(text: str, other: str) -> bool:
    """Say whether a text has no name, number, correction or denial that the other has not."""
    ground = Background.of([Piece(other)])
    return not any(ground.corrects(one) for one in statements_of(text))


def same_words(text: str, other: str) -> bool:
    """Say whether two texts have the same words in the same order; case and articles aside."""
    return _words(text) == _words(other)


def says_the_same(text: str, other: str) -> bool:
    """Say whether neither of two texts says something that the other does not say.

    Both have the same names and numbers, in the same order, deny the same, and no word stands
    in the place of another. Where it is not clear they are taken for different.
    """
    if _names_of(text) != _names_of(other):
        return False
    return not any(_adds(one, Piece(known)) for one, known in ((text, other), (other, text)))


def retold(text: str, shown: Iterable[Piece]) -> tuple[str, ...]:
    """Return the id of a text of which another is made in another order.

    It has at least two of its names and numbers, all of them in the order in which they stand
    there, corrects nothing, and has no word of its own that tells something.
    """
    names = _names_of(text)
    if len(names) < _NAMES:
        return ()
    for one in shown:
        there = iter(_names_of(one.content))
        if all(name in there for name in names) and not _adds(text, one, 1.0):
            return (one.id,)
    return ()


def _adds(text: str, known: Piece, share: float = 0.0) -> bool:
    ground, statements = Background.of([known]), statements_of(text)
    pieces = distinct(statements, words_beside(statements))
    return any(ground.is_new(one, share, words) for one, words in pieces)


def _words(text: str) -> list[str]:
    plain = drop_hidden(normalised("NFKC", text))[0].casefold()
    words = [word.strip(_AROUND) or word for word in plain.split()]
    return [word for word in words if word not in _ARTICLES]


def _names_of(text: str) -> list[str]:
    return [word for one in statements_of(text) for word in one.words if word in one.hard]

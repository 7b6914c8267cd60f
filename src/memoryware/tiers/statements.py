"""The statements of a text: its words as they are written, and as they are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN: Final = re.compile(
    rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:['.@:/&,-][^\W_{UNSPACED}]+)*%?|[$€£]\d[\d.,]*"
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|[;；]|\n+")
_NOT: Final = re.compile(r"n't\b|(?<=\bcan)not\b", re.IGNORECASE)
_ELIDED: Final = re.compile(r"\b(n|d|l|j|c|m|s|qu)'(?=\w)", re.IGNORECASE)
_DENYING: Final = """
not no never none nor without nicht kein keine keinen keiner keinem nie niemals ohne ne n pas
jamais aucun aucune sans nunca ningún ninguno ninguna sin non mai senza não nem не нет никогда
без 不 没 沒 非 未 無 无
"""
_HELPING: Final = """
do does did has have will would is are was were be been can could wo ca longer anymore any more
yet mehr plus más più mais 有 了
"""
_LINKING: Final = """
is are was were = ist sind war est sont était es son era è sono é são
это 是 在 为 為 叫 于 於 で は が
"""
_ARTICLES: Final = """
the a an in at on to by der die das ein eine im am auf le la les un une à en el los las il lo o
os as
"""
DENIALS: Final = frozenset(_DENYING.split())
AUXILIARIES: Final = frozenset(_HELPING.split())
"""Words that come and go with a denial and say nothing of their own."""
IS: Final = frozenset(_LINKING.split())
SMALL: Final = frozenset(_ARTICLES.split())
"""What may stand between what is spoken of and what is said of it."""
LONGEST: Final = 40
"""Words of a statement; a longer one says more than one thing."""
_MOST: Final = 60
"""Statements of one text that are looked at."""
_LOOKED_AT: Final = 4000
"""Characters of one text that are looked at."""
CHANGED: Final = 3
"""Words of a name or value."""
SHARED: Final = 0.5
"""Share of its words that a statement must have in common with the other."""


@dataclass(frozen=True, slots=True)
class Said:
    """A statement: its words as they are written, as they are compared, and its text."""

    written: tuple[str, ...]
    words: tuple[str, ...]
    different: frozenset[str]
    text: str


Statements: TypeAlias = tuple[Said, ...]


def statements_of(text: str) -> Statements:
    """Return the statements of a text, each once; a question is none."""
    made: dict[tuple[str, ...], Said] = {}
    plain = unicodedata.normalize("NFKC", text[:_LOOKED_AT]).replace("’", "'")
    for sentence in _SENTENCE_END.split(plain):
        if sentence.rstrip().endswith("?"):
            continue
        apart = _ELIDED.sub(r"\1 ", _NOT.sub(" not", sentence))
        written = tuple(_TOKEN.findall(apart))
        words = tuple(word.casefold() for word in written)
        if words:
            made.setdefault(words, Said(written, words, frozenset(words), sentence))
    return tuple(made.values())[:_MOST]


def has_digit(word: str) -> bool:
    """Say whether a word has a digit."""
    return any(one.isdigit() for one in word)


def is_name(word: str) -> bool:
    """Say whether a word is written like a name."""
    return any(one.isupper() for one in word)


def is_about_nothing(before: Sequence[str], rest: int) -> bool:
    """Say whether what two statements begin with names nothing that both could speak of.

    "Ticket 12 is open" and "Ticket 13 is open" speak of two tickets.
    """
    spoken_of = len(before) - (before[:1] != () and before[0] in SMALL)
    return spoken_of < 1 or (spoken_of == 1 and rest > 1)


def is_said_to_be(before: Sequence[str]) -> bool:
    """Say whether words end with "is" or the like, so that a value follows."""
    return next((word for word in reversed(before) if word not in SMALL), "") in IS

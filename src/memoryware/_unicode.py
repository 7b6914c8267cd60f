"""Unicode normalisation and search folding, in time linear in the length of a text."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

_MOST: Final = 64
"""Marks of one letter that are kept; no script has as many."""
_MANY: Final = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{_MOST},}}")
"""Where so many marks may stand together; the last two are letters that become marks."""
_PHRASES: Final = re.compile("([\ufdfa\ufdfb]+)")
"""Characters that stand for a phrase, and stay as they are: it has up to 18 letters."""


def normalised(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Return a text in a normal form, of each letter with the first of its marks.

    Python puts the marks of a letter in order by holding each against each. What stands for a
    whole phrase stays as it is, so that no text becomes much longer.
    """
    if text.isascii():
        return text
    if len(text) >= _MOST:
        text = _MANY.sub(_with_few, text)
    pieces = _PHRASES.split(text)
    if len(pieces) == 1:
        return unicodedata.normalize(form, text)
    return "".join(
        piece if _PHRASES.fullmatch(piece) else unicodedata.normalize(form, piece)
        for piece in pieces
    )


def _with_few(run: re.Match[str]) -> str:
    shortened: list[str] = []
    marks = 0
    for character in run.group():
        marks = marks + 1 if _is_mark(character) else 0
        if marks <= _MOST:
            shortened.append(character)
    return "".join(shortened)


def _is_mark(character: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0


# One spelling for the same word.

_KEPT_MARKS: Final = "\u3099\u309a"
"""Marks that make another sound of a Japanese letter; all other accents are folded away."""
_IGNORED: Final = frozenset(
    "\u034f\u0640\u07fa\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
)
"""Invisible letters and stretching marks that are not of the category Cf."""
_VARIANTS: Final = {
    **dict.fromkeys("\u0649\u06cc\u06cd\u06d2", "\u064a"),  # Arabic, Persian and Urdu yeh
    **dict.fromkeys("\u06a9\u06aa", "\u0643"),  # kaf
    **dict.fromkeys("\u0629\u06be\u06c1\u06d5", "\u0647"),  # heh, and teh marbuta
    "\u0671": "\u0627",  # alef wasla
    "\u0131": "i",  # Turkish dotless i: its capital is the I of everybody else
    "\u066b": ".",  # Arabic decimal and thousands separators
    "\u066c": ",",
}
"""Letters that keyboards of different countries give for the same sound."""


class _Folding(dict[int, str | None]):
    """A translation table that is filled on first use; for `str.translate`."""

    def __missing__(self, code: int) -> str | None:
        folded = self[code] = _folded_character(chr(code))
        return folded


def _folded_character(character: str) -> str | None:
    if character in _KEPT_MARKS:
        return character
    if character in _IGNORED or "\ufe00" <= character <= "\ufe0f":
        return None
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return None
    digit = unicodedata.decimal(character, None)
    return _VARIANTS.get(character, character) if digit is None else str(digit)


_FOLDING: Final = _Folding()


def fold(text: str) -> str:
    """Return a text in the one spelling in which words are stored and searched.

    Width, accents, invisible characters (soft hyphens, zero-width and directional marks, byte
    order marks), stretched Arabic, the letters that differ between Arabic, Persian and Urdu or
    between Turkish and other Latin keyboards, and the digits of other scripts are made equal.
    Case is kept, so that names such as `maxTokens` can still be taken apart.
    """
    if text.isascii():
        return text
    decomposed = normalised("NFKD", text)
    return unicodedata.normalize("NFC", decomposed.translate(_FOLDING))

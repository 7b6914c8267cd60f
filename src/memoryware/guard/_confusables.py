"""Fold characters to the ASCII letters that a reader may take them for.

The table is Unicode's (UTS 39) with additions; `NOTICE.md` says where it comes from.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

_SIGNS: Final = "<>[]|/"
"""Lines of the table that list look-alikes of a sign, not of letters."""
_CANONICAL: Final = {
    # Letters and digits of ASCII that look alike in one font or another, and digits that
    # people write in place of letters.
    **dict.fromkeys("i1", "l"),
    "0": "o",
    "3": "e",
    "4": "a",
    "5": "s",
    "7": "t",
    "m": "rn",
    "w": "vv",
}


_ENCLOSED: Final = (*range(0x2100, 0x2150), *range(0x2460, 0x2500), *range(0x1F100, 0x1F200))
"""Blocks of symbols that are letters in circles, squares and brackets."""


@cache
def _table() -> dict[str, str]:
    """Return the table: a character, and the letters or the sign that it looks like."""
    text = files("memoryware.guard").joinpath("confusables.txt").read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {character: letters for letters, characters in rows for character in characters}


@cache
def signs(sign: str) -> str:
    """Return a sign of `_SIGNS` and everything that looks like it."""
    others = (one for one, letters in _table().items() if letters == sign)
    compatible = {"<": "\uff1c\ufe64", ">": "\uff1e\ufe65", "[": "\uff3b", "]": "\uff3d"}
    more = compatible.get(sign, "") + {"|": "\uff5c", "/": "\uff0f\\\uff3c\u29f5"}.get(sign, "")
    return sign + "".join(others) + more


@cache
def symbols_like_letters() -> str:
    """Return what looks like a letter and is a symbol, so that it may part words as well."""
    table = {one: letters for one, letters in _table().items() if letters not in _SIGNS}
    enclosed = {chr(code): _base(chr(code)) for code in _ENCLOSED}
    pairs = {**enclosed, **table}.items()
    return "|" + "".join(one for one, letters in pairs if letters.isalnum() and not one.isalnum())


@lru_cache(maxsize=8192)
def skeleton(character: str) -> str:
    """Return the letters that a reader may take a character for; "" for an accent.

    Two texts that look alike have the same letters. They are lower case, and canonical: `I`,
    `l`, `1` and U+01C0 are all `l`.
    """
    letters = character if character.isascii() else _ascii(character)
    return "".join(_CANONICAL.get(one, one) for one in letters.lower())


def latin(word: str) -> str:
    """Return a word with the letters of other scripts that look like ASCII ones folded to these."""
    if word.isascii():
        return word
    letters = [one if _is_latin(one) else _ascii(one) for one in word]
    mixed = any(one.isascii() and one.isalpha() for one in word)
    folded = "".join(letters)
    return folded if mixed or folded.isascii() else word


@lru_cache(maxsize=8192)
def _is_latin(character: str) -> bool:
    return character.isascii() or unicodedata.name(character, "").startswith("LATIN")


def _ascii(character: str) -> str:
    table = _table()
    letters = table.get(character)
    if letters is None:
        if unicodedata.combining(character):
            return ""
        base = _base(character)
        letters = table.get(base, base)
    return character if letters in _SIGNS else letters


def _base(character: str) -> str:
    """Return the letter that a character is a variant of: of U+24B6 and U+249C, `A` and `a`."""
    variants = unicodedata.normalize("NFKD", character)
    return next((one for one in variants if one.isalnum()), variants[0])


def canonical(text: str) -> str:
    """Return the skeletons of the letters and digits of a text."""
    return "".join(skeleton(one) for one in text if one.isalnum())

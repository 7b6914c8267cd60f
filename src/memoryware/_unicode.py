"""Unicode normal forms, in time that the length of a text explains."""

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
        one if _PHRASES.fullmatch(one) else unicodedata.normalize(form, one) for one in pieces
    )


def _with_few(run: re.Match[str]) -> str:
    kept, marks = [], 0
    for one in run.group():
        marks = marks + 1 if _is_mark(one) else 0
        if marks <= _MOST:
            kept.append(one)
    return "".join(kept)


def _is_mark(character: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0

"""How texts are cut into words, and how lists of what was found become one; pure functions."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_WORD: Final = re.compile(r"[\w]+")
_UNSPACED: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\U00020000-\U000323af]+"
)
"""Scripts that are written without blanks."""


def words_of(text: str) -> list[str]:
    """Return the words of a text as all engines index and search them, in order, with repeats.

    Case, width and accents do not count. Scripts without blanks give pairs of characters.
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFC", plain)):
        position = 0
        for run in _UNSPACED.finditer(word):
            found += [word[position : run.start()]] if run.start() > position else []
            characters = run.group()
            found += [characters[n : n + 2] for n in range(max(1, len(characters) - 1))]
            position = run.end()
        found += [word[position:]] if position < len(word) else []
    return found

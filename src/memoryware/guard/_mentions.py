"""Where a text mentions secrets: the words that announce one, each once, in any order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoryware.guard._words import BEGINNINGS, OTHER_STEMS, STEMS, UNSPACED, Sort, says_otherwise, sort_of

_INSIDE: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_SPACED: Final = r"(?:(?![\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[\w.-])"
"""A letter of a script that puts blanks between words, or a sign inside an identifier."""
_WORD: Final = re.compile(f"{_SPACED}{{0,60}}")
_LETTERS: Final = re.compile(f"{_SPACED}{{0,40}}$")
_NETWORK: Final = re.compile(r"ssid|wi-?fi|wlan|wpa|netzwerk|hotspot")
"""What makes the key behind it that of a wireless network."""
_WIDEST: Final = 60
"""Characters of an identifier that are looked at on each side of a keyword."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A word that announces a secret.

    Attributes:
        sort: What it announces.
        start: Where the word begins, with the whole identifier that it stands in.
        end: Where it ends.
        last: Whether the identifier ends with it: `DB_PASSWORD`, not `PASSWORD_DB`.
        unspaced: Whether it is of a language without blanks between words.
    """

    sort: Sort
    start: int
    end: int
    last: bool = True
    unspaced: bool = False


def mentions(text: str, low: str) -> Iterator[Mention]:
    """Return every word of the text that announces a secret."""
    seen: set[int] = set()
    for stem in STEMS if text.isascii() else [*STEMS, *OTHER_STEMS]:
        at = low.find(stem)
        while at >= 0:
            inside = stem in BEGINNINGS and at and low[at - 1].isalpha() and text[at].islower()
            start = -1 if inside else _start(text, at)
            if start >= 0 and start not in seen:
                seen.add(start)
                end = _end(text, at + len(stem))
                found = sort_of(text[start:end])
                if found is not None and not _otherwise(text, start, found[0]):
                    sort = found[0]
                    if sort in (Sort.KEY, Sort.CODE) and _of_network(low, sort, start, end):
                        sort = Sort.PASSWORD
                    yield Mention(sort, start, end, found[1])
            at = low.find(stem, at + len(stem))
    if not text.isascii():
        yield from _unspaced(low)


def _unspaced(low: str) -> Iterator[Mention]:
    for word, sort in UNSPACED.items():
        at = low.find(word.lower())
        while at >= 0:
            yield Mention(sort, at, at + len(word), unspaced=True)
            at = low.find(word.lower(), at + len(word))


def _of_network(low: str, sort: Sort, start: int, end: int) -> bool:
    """Say whether a key or code is that of a wireless network."""
    back, ahead = (60, 0) if sort is Sort.KEY else (12, 12)
    return _NETWORK.search(low, max(0, start - back), end + ahead) is not None


def _otherwise(text: str, start: int, sort: Sort) -> bool:
    """Say whether the word before gives this one another meaning: "public key"."""
    if sort is Sort.PASSWORD:
        return False
    before = text[max(0, start - 20) : start].rpartition("\n")[2].split()
    return bool(before) and says_otherwise(before[-1].lower().strip("\"'`,*_()[]"))


def _start(text: str, at: int) -> int:
    chunk = text[max(0, at - _WIDEST) : at]
    if chunk.isascii():
        kept = chunk.rstrip(_INSIDE)
        start = at - (len(chunk) - len(kept))
    else:
        match = _LETTERS.search(chunk)
        start = at - len(match.group()) if match else at
    while start < at and text[start] in "-.":
        start += 1
    return start


def _end(text: str, at: int) -> int:
    match = _WORD.match(text, at)
    end = match.end() if match else at
    while end > at and text[end - 1] in "-._":
        end -= 1
    return end

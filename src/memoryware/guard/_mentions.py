"""Where a text mentions secrets: the words that announce one."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from memoryware.guard._lexicon import BEGINNINGS, OTHER_STEMS, SAYS_OTHERWISE, STEMS
from memoryware.guard._scan import Scan
from memoryware.guard._words import UNSPACED, Sort, sort_of

_INSIDE: Final = string.ascii_letters + string.digits + "_-."
_LETTER: Final = (
    "(?:(?![\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[\\w.-])"
)
"""A letter of a script that puts blanks between words, or a sign inside an identifier."""
_REST: Final = re.compile(f"{_LETTER}{{0,60}}")
_BACKWARDS: Final = re.compile(f"{_LETTER}*")
_NETWORK: Final = re.compile(r"ssid|wi-?fi|wlan|wpa|netzwerk|hotspot")
"""What makes a key or a code near it that of a wireless network."""
_STEPS: Final = 2
"""What looking at a word costs."""
_WIDEST: Final = 60
"""Characters of an identifier that are looked at before the word for a secret."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A word that announces a secret.

    Attributes:
        sort: What it announces.
        start: Where the word begins, with the whole identifier that it stands in.
        end: Where it ends.
        last: Whether the identifier ends with it: `DB_PASSWORD`, not `PASSWORD_DB`.
        unspaced: Whether it is of a script without blanks between words.
    """

    sort: Sort
    start: int
    end: int
    last: bool = True
    unspaced: bool = False


def mentions(scan: Scan) -> Iterator[Mention]:
    """Return every word that announces a secret, each once, in the order of the text.

    Where too many stand together, those for which the budget of their place has nothing left are
    passed over.
    """
    text, seen = scan.text, -1
    for at, stem, sort in _hits(text, scan.low):
        if not scan.afford(at, _STEPS):
            continue
        if sort is not None:
            yield Mention(sort, at, at + len(stem), unspaced=True)
            continue
        start = -1 if stem in BEGINNINGS and _goes_on(text, at) else _start(text, at)
        if start > seen:
            seen = start
            mention = _mention(text, scan.low, start, _end(text, at + len(stem)))
            if mention is not None:
                yield mention


def _hits(text: str, low: str) -> list[tuple[int, str, Sort | None]]:
    """Return where stems of words for secrets stand, in order, and the sort of unspaced ones."""
    ascii_only = text.isascii()
    found: list[tuple[int, str, Sort | None]] = []
    for stem in STEMS if ascii_only else (*STEMS, *OTHER_STEMS):
        at = low.find(stem)
        while at >= 0:
            found.append((at, stem, None))
            at = low.find(stem, at + len(stem))
    for word, sort in () if ascii_only else UNSPACED.items():
        at = low.find(word)
        while at >= 0:
            found.append((at, word, sort))
            at = low.find(word, at + len(word))
    found.sort(key=itemgetter(0))
    return found


def _mention(text: str, low: str, start: int, end: int) -> Mention | None:
    found = sort_of(text[start:end])
    if found is None:
        return None
    sort, last = found
    if sort is not Sort.PASSWORD:
        before = text[max(0, start - 20) : start].rpartition("\n")[2].split()
        if before and before[-1].lower().strip("\"'`,*_()[]") in SAYS_OTHERWISE:
            return None
    back, ahead = {Sort.KEY: (60, 0), Sort.CODE: (12, 12)}.get(sort, (0, 0))
    if back and _NETWORK.search(low, max(0, start - back), end + ahead):
        sort = Sort.PASSWORD
    return Mention(sort, start, end, last)


def _goes_on(text: str, at: int) -> bool:
    """Say whether the word has begun before this place."""
    return at > 0 and text[at - 1].isalpha() and text[at].islower()


def _start(text: str, at: int) -> int:
    chunk = text[max(0, at - _WIDEST) : at]
    if chunk.isascii():
        start = at - len(chunk) + len(chunk.rstrip(_INSIDE))
    else:
        begun = _BACKWARDS.match(chunk[::-1])
        start = at - begun.end() if begun else at
    while start < at and text[start] in "-.":
        start += 1
    return start


def _end(text: str, at: int) -> int:
    rest = _REST.match(text, at)
    end = rest.end() if rest else at
    while end > at and text[end - 1] in "-._":
        end -= 1
    return end

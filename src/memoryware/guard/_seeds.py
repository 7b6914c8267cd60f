"""The words that restore a wallet."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from memoryware.guard._lexicon import listed
from memoryware.guard._mentions import Mention

_FEWEST, _MOST = 12, 48
_DIFFERENT: Final = 0.75
"""The least part of the words that are not there twice."""
_WORD: Final = re.compile(
    r"(?:\d{1,2}[.):]?\s{0,3})?(?P<word>[a-z]{3,8})"
    r"(?:[,;]?\s{1,3}|\s{0,2}[-|]\s{0,2}|,|(?=[\"'`.)\]<])|$)"
)
_BEGIN: Final = re.compile(r"(?<=[\s\"'`:=])(?=[a-z0-9])")
_TRIES: Final = 8
"""Places behind the word for a seed where the words may begin."""
_WITHIN: Final = 80
JOINING: Final = frozenset(
    listed("""
        the and for are was has had but not his her our its from have been were into does did get
        got him she who how why than them those these would could also just because
    """)
)
"""Words that join sentences and are never in a seed phrase."""


def find(text: str, mention: Mention) -> tuple[int, int] | None:
    """Return twelve or more short words in a row, none of which joins sentences."""
    begins = _BEGIN.finditer(text, mention.end, mention.end + _WITHIN)
    behind = mention.end
    for begin in islice(begins, _TRIES):
        if begin.start() >= behind:
            first, behind, words = _run(text, begin.start())
            if len(words) >= _FEWEST and _drawn(words):
                return first, behind
    return None


def _run(text: str, at: int) -> tuple[int, int, list[str]]:
    """Return where a row of words begins and ends, and the words."""
    words: list[str] = []
    first = last = at
    while len(words) < _MOST and (match := _WORD.match(text, at)):
        drawn = len(words) != _FEWEST or _drawn(words)
        if match["word"] in JOINING or not drawn:
            break
        first = first if words else match.start("word")
        at, last = match.end(), match.end("word")
        words.append(match["word"])
    return first, last, words


def _drawn(words: list[str]) -> bool:
    """Say whether the words are as different as those that are drawn by chance."""
    return len(set(words)) >= _DIFFERENT * len(words)

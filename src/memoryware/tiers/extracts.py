"""Summaries made of the sentences that are there; pure functions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from memoryware.tiers.contradiction import why
from memoryware.tiers.ranking import words_of

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class Extract:
    """A summary, and what it is a summary of.

    Attributes:
        text: The summary.
        places: The places of the texts no sentence of which is missing in it.
    """

    text: str
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    at: int
    """Its place among all sentences."""
    text: str
    words: frozenset[str]

    def says(self, other: _Sentence) -> bool:
        """Say whether this has every word of another sentence, and does not contradict it."""
        return other.words <= self.words and not why(self.text, other.text)


def extracts_of(texts: Sequence[str], chars: int) -> list[Extract]:
    """Return the sentences of texts, none twice, in as few summaries as have room for them.

    What the texts have in common comes first. Whoever keeps the summaries loses no sentence:
    each text is in exactly one of them, whole. One text alone stays as it is.

    Args:
        texts: The texts, the oldest first.
        chars: Characters that a summary fills at most, unless one text is longer.
    """
    parts = _sentences(texts)
    common = Counter(
        word for some in parts for word in {word for one in some for word in one.words}
    )
    worth = {one.at: _worth(one, common) for some in parts for one in some}
    left, made = list(range(len(texts))), list[Extract]()
    while left:
        extract = _extract(texts, parts, left, worth, chars)
        made.append(extract)
        left = [place for place in left if place not in extract.places]
    return made


def _sentences(texts: Sequence[str]) -> list[list[_Sentence]]:
    numbers = count()
    return [
        [
            _Sentence(next(numbers), part.strip(), frozenset(words_of(part)))
            for part in _SENTENCE.split(text)
            if part.strip()
        ]
        for text in texts
    ]


def _extract(
    texts: Sequence[str],
    parts: Sequence[Sequence[_Sentence]],
    left: Sequence[int],
    worth: Mapping[int, float],
    chars: int,
) -> Extract:
    """Return a summary of as many of the texts that are left as it has room for."""
    kept: list[_Sentence] = []
    whole: list[int] = []
    room = chars
    best = {place: max((worth[one.at] for one in parts[place]), default=0.0) for place in left}
    for place in sorted(left, key=lambda at: (-best[at], at)):
        new, size = _added(kept, parts[place], room)
        if size <= room:
            kept, room = [*kept, *new], room - size
            whole.append(place)
    if len(whole) < 2:  # it stays as it is, also where even one alone is longer
        place = (*whole, *left)[0]
        return Extract(texts[place], (place,))
    in_order = sorted(kept, key=lambda one: one.at)
    return Extract(" ".join(one.text for one in in_order), tuple(sorted(whole)))


def _added(
    kept: Sequence[_Sentence], sentences: Sequence[_Sentence], room: int
) -> tuple[list[_Sentence], int]:
    """Return what sentences say that is not kept yet, and its characters, until it is too much."""
    new: list[_Sentence] = []
    size = 0
    for one in sentences:
        if not any(known.says(one) for known in (*kept, *new)):
            new.append(one)
            size += len(one.text) + 1
            if size > room:
                break
    return new, size


def _worth(sentence: _Sentence, common: Counter[str]) -> float:
    """Return how much a sentence says of what all texts speak of; long ones win little."""
    total = sum(common[word] for word in sentence.words)
    return total / math.sqrt(max(1, len(sentence.words)))

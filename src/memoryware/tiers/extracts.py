"""Summaries made of the sentences that are there; pure functions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from memoryware.tiers.contradiction import why
from memoryware.tiers.ranking import words_of

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_SENTENCES: Final = 3
"""Sentences of a summary."""
_SAME: Final = 0.8
"""Share of the words of the shorter of two sentences from which they say the same."""


def extract_of(texts: Sequence[str], chars: int) -> str:
    """Return the sentences that have most in common with the rest, in their order, none twice.

    One text alone stays as it is.

    Args:
        texts: The texts, the oldest first.
        chars: Characters that are filled at most, unless one sentence is longer.
    """
    if len(texts) == 1:
        return texts[0]
    sentences = [part.strip() for text in texts for part in _SENTENCE.split(text) if part.strip()]
    common = Counter(word for text in texts for word in set(words_of(text)))
    kept: list[int] = []
    for place in sorted(range(len(sentences)), key=lambda at: (-_worth(sentences[at], common), at)):
        room = chars - sum(len(sentences[at]) + 1 for at in kept)
        if kept and len(sentences[place]) > room:
            continue
        if not any(_say_the_same(sentences[place], sentences[at]) for at in kept):
            kept.append(place)
        if len(kept) == _SENTENCES:
            break
    return " ".join(sentences[at] for at in sorted(kept))


def _worth(sentence: str, common: Counter[str]) -> float:
    """Return how much a sentence says of what all texts speak of; long ones win little."""
    words = set(words_of(sentence))
    return sum(common[word] for word in words) / math.sqrt(max(1, len(words)))


def _say_the_same(one: str, other: str) -> bool:
    first, second = set(words_of(one)), set(words_of(other))
    alike = len(first & second) >= _SAME * min(len(first), len(second))
    return alike and not why(one, other)

"""What the suite of `search` shares: queries, and what was seen as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoryware.testing._documents import FLAT
from memoryware.tiers.stores.protocol import Query, Searched, Seen, Sight, Space, Vector
from memoryware.tiers.text.terms import words_of


def asking(
    text: str = "", vector: Vector | None = None, space: Space | None = FLAT, **more: Any
) -> Query:
    """Return a query for the words of a text and for a vector."""
    words = tuple(dict.fromkeys(words_of(text)))
    return Query(words=words, vector=vector, space=space if vector else None, **more)


def everything(sight: Sight) -> Sequence[int]:
    """Choose all that is seen."""
    return range(len(sight.seen))


def nothing(sight: Sight) -> Sequence[int]:
    """Choose nothing of what is seen."""
    del sight
    return []


def texts(found: Searched) -> list[str]:
    """Return the texts of what was read, sorted."""
    return sorted(one.content for one in found.memories.values())


def runs(found: Searched) -> list[list[str]]:
    """Return the texts that stand side by side, if all were read, sorted: threads have no order."""
    standing: list[list[str]] = []
    for place, one in enumerate(found.sight.seen):
        if one.follows and standing:
            standing[-1].append(found.memories[place].content)
        else:
            standing.append([found.memories[place].content])
    return sorted(standing)


def seen_of(found: Searched) -> dict[str, Seen]:
    """Return what was seen of each text that was read."""
    return {one.content: found.sight.seen[place] for place, one in found.memories.items()}

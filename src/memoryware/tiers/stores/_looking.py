"""What a search sees of memories that are in hand, in plain Python: the reference."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoryware.tiers.records import Memory
from memoryware.tiers.scoring import bm25
from memoryware.tiers.stores.protocol import Query, Seen, Sight


@dataclass(frozen=True, slots=True)
class Item:
    """A memory that fits, as a search needs it."""

    thread: Hashable
    words: Mapping[str, int]
    size: int
    similarity: float | None


def thread_of(memory: Memory, query: Query) -> Hashable:
    """Return in what a memory stands: its document, or its session if these are asked for."""
    scope = memory.scope
    session = scope.session_id if query.sessions else None
    return scope.group_id, bool(session), session or memory.document_id


def look(
    items: Sequence[Item], query: Query, corpus: Iterable[Mapping[str, int]]
) -> tuple[Sight, list[int]]:
    """Return what is seen of items, in the order of storing, and the place of each among them.

    Args:
        items: What fits the selection.
        query: What is looked for.
        corpus: The words of everything that the tenant and groups have.
    """
    sizes, having = [], dict.fromkeys(query.words, 0)
    for words in corpus:
        sizes.append(sum(words.values()))
        for word in having:
            having[word] += word in words
    mean = sum(sizes) / len(sizes) if sizes else 0.0
    by_words = {
        place: bm25(one.words, having, len(sizes), mean)
        for place, one in enumerate(items)
        if not having.keys().isdisjoint(one.words)
    }
    near = {place: one.similarity for place, one in enumerate(items) if one.similarity is not None}
    hits = {*newest_best(by_words, query.limit), *newest_best(near, query.limit)}
    threads: dict[Hashable, list[int]] = {items[place].thread: [] for place in sorted(hits)}
    joined = [place for place, one in enumerate(items) if one.thread in threads]
    most = query.thread if query.reach > 0 else 0
    for place in joined[max(0, len(joined) - most) :]:
        threads[items[place].thread].append(place)
    shown = beside(threads.values(), hits, query.reach)
    seen = [
        Seen(
            tuple(items[place].words.get(word, 0) for word in query.words),
            items[place].size,
            items[place].similarity,
            follows,
        )
        for place, follows in shown
    ]
    sight = Sight(seen, tuple(having.values()), len(sizes), mean)
    return sight, [place for place, _ in shown]


def newest_best(scores: Mapping[int, float], most: int) -> list[int]:
    """Return the places with the best scores; of those that are as good, the last ones."""
    return heapq.nlargest(max(0, most), scores, key=lambda place: (scores[place], place))


def beside(threads: Iterable[Sequence[int]], hits: set[int], reach: int) -> list[tuple[int, bool]]:
    """Return hits and what is beside them, thread by thread, and whether each follows another.

    Args:
        threads: Numbers of memories, in their order.
        hits: Numbers of those that were found; what is in no thread comes last.
        reach: How many on each side of a hit are beside it.
    """
    found: list[tuple[int, bool]] = []
    alone = set(hits)
    for thread in threads:
        near: set[int] = set()
        for at, number in enumerate(thread):
            if number in hits:
                near.update(range(max(0, at - reach), min(len(thread), at + reach + 1)))
        found += [(thread[at], at - 1 in near) for at in sorted(near)]
        alone.difference_update(thread)
    return found + [(number, False) for number in sorted(alone)]

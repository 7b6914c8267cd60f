"""What a ranked list is worth; pure functions over ids."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence


def recall(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """Return the share of the gold that is among the first k; 0 without gold."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold)) if gold else 0.0


def recall_any(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """Return 1 if any of the gold is among the first k, else 0; 0 without gold."""
    return float(not set(gold).isdisjoint(ranked[:k]))


def recall_all(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """Return 1 if all of the gold is among the first k, else 0; 1 without gold."""
    return float(set(gold) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[Hashable], gold: Collection[Hashable]) -> float:
    """Return one divided by the place of the first of the gold; 0 if none is there."""
    return next((1 / place for place, one in enumerate(ranked, 1) if one in gold), 0.0)


def ndcg_any(
    ranked: Sequence[Hashable], gold: Collection[Hashable], k: int, relevant: int | None = None
) -> float:
    """Return the discounted gain of the first k as a share of the best possible one.

    The first two places count whole, the third 1 / log2(3), and so on, as LongMemEval has it.

    Args:
        ranked: Ids, best first; one that comes twice counts twice.
        gold: Ids that count.
        k: How many are looked at.
        relevant: How often ids of the gold stand in everything that is ranked; by default each
            once.
    """
    most = min(k, len(set(gold)) if relevant is None else relevant)
    best = math.fsum(_discount(place) for place in range(most))
    got = math.fsum(_discount(place) for place, one in enumerate(ranked[:k]) if one in gold)
    return got / best if best else 0.0


def _discount(place: int) -> float:
    return 1.0 if place == 0 else 1 / math.log2(place + 1)


def first_of_each(ranked: Sequence[Hashable]) -> list[Hashable]:
    """Return a ranking in which each stands once, where it stood first."""
    return list(dict.fromkeys(ranked))


def reach(ranked: Sequence[Hashable], k: int) -> int:
    """Return how many must be looked at to see k different ones; at least k."""
    seen: set[Hashable] = set()
    for place, one in enumerate(ranked, 1):
        seen.add(one)
        if place >= k and len(seen) >= k:
            return place
    return max(k, len(ranked))

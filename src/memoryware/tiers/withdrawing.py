"""Removing promotions of a text, and the text if none is left, whatever others do meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from memoryware.tiers._parts import Parts
from memoryware.tiers.grounds import fewer
from memoryware.tiers.records import Ground, Memory
from memoryware.tiers.stores.protocol import Select


async def withdraw(
    parts: Parts, which: Select, falls: Callable[[Memory, Ground], bool]
) -> list[Memory]:
    """Remove promotions of memories; delete and return the memories of which none is left.

    Args:
        parts: The memory, inside a transaction.
        which: The memories.
        falls: Whether a promotion of a memory is removed.
    """
    store = parts.tiers.long_term
    memories = (await store.find(which)).items
    gone = [memory for memory in memories if all(falls(memory, one) for one in memory.grounds)]
    ids = {memory.id for memory in gone}
    left = tuple(memory.id for memory in memories if memory.id not in ids)
    if left:
        await store.edit(which.also(ids=left), lambda memory: fewer(memory, partial(falls, memory)))
    if gone:
        await store.delete(which.also(ids=tuple(ids)))
    return gone

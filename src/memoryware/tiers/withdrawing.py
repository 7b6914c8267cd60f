"""Removing promotions of a text, and the text if none is left, whatever others do meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from memoryware.tiers._parts import Parts
from memoryware.tiers.grounds import fewer, standing_on
from memoryware.tiers.records import Ground, Memory
from memoryware.tiers.stores.protocol import Select


async def withdraw(
    parts: Parts, which: Select, falls: Callable[[Memory, Ground], bool]
) -> list[Memory]:
    """Remove promotions of memories; return the memories of which none was left, which are gone.

    They are marked first, in one step, and what somebody promotes between that and the
    deletion loses its mark and stays.
    """
    store, mark = parts.tiers.long_term, f"withdrawn:{parts.new_id()}"

    def marked(memory: Memory) -> Memory:
        if not all(falls(memory, one) for one in memory.grounds):
            return fewer(memory, partial(falls, memory))
        grounds = [replace(one, revocations=(mark, *one.revocations)) for one in memory.grounds]
        return standing_on(memory, grounds)

    def unmarked(memory: Memory) -> Memory:
        return fewer(memory, lambda one: mark in one.revocations)

    changed = await store.edit(which, marked)
    if not changed:
        return []
    mine = which.also(ids=tuple(one.id for one in changed))
    empty = mine.also(revocations=(mark,))
    gone = (await store.find(empty)).items
    if gone:
        await store.delete(empty)
    left = {one.id for one in await store.edit(mine, unmarked)}
    return [one for one in gone if one.id not in left]

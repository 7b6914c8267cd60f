"""What pages ask the stores for: one record, a stretch of a list, figures kept for a moment."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, cast

from memoryware.inspector.site import Visit
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.stores.protocol import Page, Select
from memoryware.tiers.values import Layer

T = TypeVar("T")
LAYERS: Final[tuple[Layer, ...]] = ("long_term", "working", "quarantine")
"""The tiers, the one that people look for first."""
LABELS: Final[dict[Layer, str]] = {
    "long_term": "Long-term memory",
    "working": "Working memory",
    "quarantine": "Quarantine",
}


async def find(visit: Visit, layer: Layer, which: Select, **how: Any) -> Page[Any]:
    """Return what a tier has of a selection."""
    store = getattr(visit.memory.parts.stores, layer)
    return cast("Page[Any]", await store.afind(which, **how))


async def leaf(visit: Visit, layer: Layer, which: Select, after: str, before: str) -> Page[Any]:
    """Return the page after a mark, the one before a mark, or the first one without either."""
    rows = visit.limits.rows
    if not before:
        return await find(visit, layer, which, limit=rows, after=after or None)
    newer = (await find(visit, layer, which, limit=0, after=before)).newer - 1
    return await find(visit, layer, which, limit=rows, offset=max(0, newer - rows))


async def by_ids(visit: Visit, ids: tuple[str, ...]) -> dict[str, tuple[Layer, Entry | Memory]]:
    """Return records of this tenant and group by their ids, with their tiers."""
    found: dict[str, tuple[Layer, Entry | Memory]] = {}
    if not ids:
        return found
    layers: tuple[Layer, ...] = ("working", "quarantine", "long_term")
    for layer in layers:
        some = await find(visit, layer, Select.within(visit.scope, ids=ids))
        found |= {one.id: (layer, one) for one in some.items}
    return found


def changed(visit: Visit, *, queue: bool = False) -> None:
    """Count anew what was kept; with `queue` look at what waits anew as well."""
    waiting = visit.site.kept.get("digest")
    visit.site.kept.clear()
    if waiting is not None and not queue:
        visit.site.kept["digest"] = waiting


async def kept(visit: Visit, name: str, make: Callable[[], Awaitable[T]]) -> T:
    """Return what was made a few seconds ago at most, or make it anew."""
    known = visit.site.kept.get(name)
    if known is not None and time.monotonic() - known[0] < visit.limits.kept_seconds:
        return cast("T", known[1])
    made = await make()
    visit.site.kept[name] = (time.monotonic(), made)
    return made

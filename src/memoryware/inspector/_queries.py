"""Queries of the pages: records by id, pages of a list, cached figures."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, cast

from memoryware.inspector._site import Visit
from memoryware.stores import Select
from memoryware.tiers import Entry, Memory
from memoryware.tiers.stores.protocol import Page
from memoryware.tiers.values import Layer

T = TypeVar("T")
LAYERS: Final[tuple[Layer, ...]] = ("long_term", "working", "quarantine")
"""The tiers, in the order of the pages."""
LABELS: Final[dict[Layer, str]] = {
    "long_term": "Long-term memory",
    "working": "Working memory",
    "quarantine": "Quarantine",
}


async def find(visit: Visit, layer: Layer, select: Select, **options: Any) -> Page[Any]:
    """Select records of a tier."""
    store = getattr(visit.memory.parts.stores, layer)
    return cast("Page[Any]", await store.afind(select, **options))


async def list_page(
    visit: Visit, layer: Layer, select: Select, after: str, before: str
) -> Page[Any]:
    """Return the page after a cursor, the page before a cursor, or the first page."""
    rows = visit.limits.rows
    if not before:
        return await find(visit, layer, select, limit=rows, after=after or None)
    newer = (await find(visit, layer, select, limit=0, after=before)).newer - 1
    return await find(visit, layer, select, limit=rows, offset=max(0, newer - rows))


async def by_ids(visit: Visit, ids: tuple[str, ...]) -> dict[str, tuple[Layer, Entry | Memory]]:
    """Return records of this tenant and group by their ids, with their tiers."""
    records: dict[str, tuple[Layer, Entry | Memory]] = {}
    if not ids:
        return records
    layers: tuple[Layer, ...] = ("working", "quarantine", "long_term")
    for layer in layers:
        page = await find(visit, layer, Select.within(visit.scope, ids=ids))
        records |= {record.id: (layer, record) for record in page.items}
    return records


def invalidate(visit: Visit, *, queue: bool = False) -> None:
    """Drop the cache; with `queue` the digest of the review queue as well."""
    digest = visit.cache.get("digest")
    visit.cache.clear()
    if digest is not None and not queue:
        visit.cache["digest"] = digest


async def cached_value(visit: Visit, name: str, compute: Callable[[], Awaitable[T]]) -> T:
    """Return a value from the cache, or compute it if it is older than `kept_seconds`."""
    cached = visit.cache.get(name)
    if cached is not None and time.monotonic() - cached[0] < visit.limits.kept_seconds:
        return cast("T", cached[1])
    value = await compute()
    visit.cache[name] = (time.monotonic(), value)
    return value

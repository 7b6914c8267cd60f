"""What the tiers hold, for people: pages, quarantine included, and one record by its id."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from memoryware._twins import Via
from memoryware.errors import EntryMissing
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts
from memoryware.tiers.ranking import query_words, words_of
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import LAYERS, Layer, Listed, Listing

LayerName: TypeAlias = Literal["all", "quarantine", "working", "longterm", "long_term"]
"""The tier that is listed."""
_LAYERS: Final[dict[str, tuple[Layer, ...]]] = {
    "all": LAYERS,
    "quarantine": ("quarantine",),
    "working": ("working",),
    "longterm": ("long_term",),
    "long_term": ("long_term",),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which page is wanted; see `TieredMemory.list`.

    Raises:
        SettingError: For a layer that is none, or a number below 0.
    """

    layer: LayerName = "all"
    limit: int | None = None
    offset: int = 0
    query: str = ""

    def __post_init__(self) -> None:
        checking.choice("layer", self.layer, _LAYERS)
        if self.limit is not None:
            checking.whole("limit", self.limit)
        checking.whole("offset", self.offset)
        checking.text("query", self.query)


async def list_records(parts: Parts, via: Via, scope: MemoryScope, page: Wanted) -> Listing:
    """Return a page of what exactly this tenant and group have."""
    limit = parts.limits.listed if page.limit is None else page.limit
    which = Select.within(scope)
    query = set(query_words(page.query))
    most = None if query else page.offset + limit
    found: list[Listed] = []
    total = 0
    for layer in _LAYERS[page.layer]:
        store = getattr(parts.stores, layer)
        asked = which.also(live_at=parts.clock()) if layer == "working" else which
        some = await via(store.find, store.afind, asked, limit=most)
        found += [_listed(parts, layer, one, query) for one in some.items]
        total += some.total
    if query:
        found = [one for one in found if one.score]
        total = len(found)
    found.sort(key=lambda one: (-(one.score or 0), -one.created_at.timestamp()))
    return Listing(items=tuple(found[page.offset : page.offset + limit]), total=total)


async def get(parts: Parts, via: Via, id_: str, scope: MemoryScope) -> Entry | Memory:
    """Return an entry or a memory by its id.

    Raises:
        EntryMissing: If this tenant and group have none with this id.
        SettingError: For an id that is no text.
    """
    checking.text("id", id_)
    which = Select.within(scope, ids=(id_,))
    for layer in LAYERS:
        store = getattr(parts.stores, layer)
        found = await via(store.find, store.afind, which)
        if found.items:
            record: Entry | Memory = found.items[0]
            return record
    raise EntryMissing(f"Group {scope.group_id!r} has no entry or memory {id_!r}")


def _listed(parts: Parts, layer: Layer, record: Entry | Memory, query: set[str]) -> Listed:
    same = query & set(words_of(record.content)) if query else query
    return Listed(
        id=record.id,
        layer=layer,
        content=record.content,
        created_at=record.created_at,
        score=len(same) / len(query) if query else None,
        status=status_of(record, parts.clock()),
        trust=record.provenance.trust,
        origin=record.provenance.origin,
        record=record,
    )


def status_of(record: Entry | Memory, now: datetime) -> str:
    """Return what became of a record, in one word."""
    if isinstance(record, Entry):
        return record.status
    if record.revocation is not None:
        return "revoked"
    ended = record.valid_to is not None and record.valid_to <= now
    return "superseded" if ended else "current"

"""What the tiers hold, for people: pages, quarantine included, and one record by its id."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Final, Literal, TypeAlias
from urllib.parse import quote, unquote

from memoryware.errors import EntryMissing, SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.terms import query_words, words_of
from memoryware.tiers.values import LAYERS, Layer, Listed, Listing

LayerName: TypeAlias = Literal["all", "quarantine", "working", "longterm", "long_term"]
"""The tier that is listed."""
_RANK: Final = "rank"
"""What a mark names where the best comes first: the place in that order."""
_LAYERS: Final[dict[str, tuple[Layer, ...]]] = {
    "all": LAYERS,
    "quarantine": ("quarantine",),
    "working": ("working",),
    "longterm": ("long_term",),
    "long_term": ("long_term",),
}


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Which page is wanted; see `TieredMemory.list`.

    Raises:
        SettingError: For a layer that is none, or a number below 0.
    """

    layer: LayerName = "all"
    limit: int | None = None
    offset: int = 0
    query: str = ""
    after: str | None = None

    def __post_init__(self) -> None:
        checking.choice("layer", self.layer, _LAYERS)
        if self.limit is not None:
            checking.whole("limit", self.limit)
        checking.whole("offset", self.offset)
        checking.text("query", self.query)
        checking.text("after", self.after, or_none=True)


async def list_records(parts: Parts, scope: MemoryScope, page: ListOptions) -> Listing:
    """Return a page of what exactly this tenant and group have."""
    limit = parts.limits.listed if page.limit is None else page.limit
    layers, query = _LAYERS[page.layer], set(query_words(page.query))
    marks = _marks_of(page.after, (_RANK,) if query else layers)
    start = page.offset + int(marks.get(_RANK, 0))
    end = min(start + limit, sys.maxsize)
    found: list[list[tuple[Listed, str]]] = []
    total = left = 0
    for layer in layers:
        store, which = getattr(parts.tiers, layer), Select.within(scope)
        if layer == "working":
            which = which.also(live_at=parts.clock())
        most = None if query else end
        some = await store.find(which, limit=most, after=marks.get(layer))
        lines = (_listed(parts, layer, one, query) for one in some.items)
        found.append([*zip(lines, some.marks, strict=True)])
        total, left = total + some.total, left + some.total - some.newer
    if query:
        return _ranked([one for some in found for one, _ in some if one.score], start, limit)
    newest = merge(*found, key=lambda both: -both[0].created_at.timestamp())
    taken = [*islice(newest, end)]
    marks |= {one.layer: mark for one, mark in taken}
    return Listing(
        items=tuple(one for one, _ in taken[start:]),
        total=total,
        next=_mark_of(marks) if taken and len(taken) < left else None,
    )


def _ranked(found: list[Listed], start: int, limit: int) -> Listing:
    """Return a part of what has a word of the query, the best first."""
    found.sort(key=lambda one: (-(one.score or 0), -one.created_at.timestamp()))
    some = tuple(found[start : start + limit])
    end = start + len(some)
    following = _mark_of({_RANK: str(end)}) if some and end < len(found) else None
    return Listing(items=some, total=len(found), next=following)


def _mark_of(marks: Mapping[str, str]) -> str:
    """Return marks of tiers as one, in such a way that a shell leaves it as it is."""
    return ",".join(f"{name}={quote(mark, safe='')}" for name, mark in marks.items())


def _marks_of(mark: str | None, names: Sequence[str]) -> dict[str, str]:
    """Return the marks of tiers by their names.

    Raises:
        SettingError: If the mark is none of a list of these tiers.
    """
    if mark is None:
        return {}
    pairs = [one.partition("=") for one in mark.split(",")]
    found = {name: unquote(value) for name, _, value in pairs}
    rank = found.get(_RANK, "0")
    if not set(found) <= set(names) or not (rank.isascii() and rank.isdigit() and len(rank) < 10):
        raise SettingError(
            f"after={mark!r:.200}: is no mark of this list; take `next` of a page of the same list"
        )
    return found


async def get(parts: Parts, id_: str, scope: MemoryScope) -> Entry | Memory:
    """Return an entry or a memory by its id.

    Raises:
        EntryMissing: If this tenant and group have none with this id.
        SettingError: For an id that is no text.
    """
    checking.text("id", id_)
    which = Select.within(scope, ids=(id_,))
    for layer in LAYERS:
        store = getattr(parts.tiers, layer)
        found = await store.find(which)
        if found.items:
            record: Entry | Memory = found.items[0]
            return record
    hint = parts.forgotten.hint(scope, id_)
    raise EntryMissing(f"Group {scope.group_id!r} has no entry or memory {id_!r}{hint}")


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

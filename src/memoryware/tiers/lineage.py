"""What was made of what: the descendants of a text, and everything of an origin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from memoryware._twins import Via
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.records import Entry, Memory, Origin
from memoryware.tiers.stores.protocol import Select


@dataclass
class Found:
    """Ids of records, by tier, in the order in which they were found."""

    quarantine: dict[str, None] = field(default_factory=dict)
    working: dict[str, None] = field(default_factory=dict)
    long_term: dict[str, None] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many records these are."""
        return len(self.quarantine) + len(self.working) + len(self.long_term)


async def everything_of(parts: Parts, via: Via, scope: MemoryScope, origin: Origin) -> Found:
    """Return everything in whose lineage an origin is."""
    found = Found()
    await _note(parts, via, found, Select.within(scope, root=str(origin)))
    return found


async def made_of(
    parts: Parts, via: Via, scope: MemoryScope, ids: Iterable[str], *, descendants: bool = True
) -> Found:
    """Return records by their ids, their whole documents, and everything made of them."""
    return await made_of_selected(
        parts, via, Select.within(scope), Select.within(scope, ids=tuple(ids)), descendants
    )


async def made_of_selected(
    parts: Parts, via: Via, where: Select, which: Select, descendants: bool
) -> Found:
    """Return what a selection names, and everything in `where` that was made of it."""
    found = Found()
    new = await _note(parts, via, found, which)
    while new:
        ids = {one.id for one in new}
        documents = {one.document_id for one in new if isinstance(one, Memory)}
        new = []
        if documents:
            new += await _note(parts, via, found, where.also(documents=tuple(documents)))
        if descendants:
            new += await _note(parts, via, found, where.also(made_of=tuple(ids)))
        # A text in working memory and in quarantine is one, under one id.
        new += await _note(parts, via, found, where.also(ids=tuple(ids)))
    return found


async def _note(parts: Parts, via: Via, found: Found, which: Select) -> list[Entry | Memory]:
    """Note what a selection names; return what was not known before."""
    new: list[Entry | Memory] = []
    for layer in ("quarantine", "working", "long_term"):
        store: Any = getattr(parts.stores, layer)
        known: dict[str, None] = getattr(found, layer)
        for one in (await via(store.find, store.afind, which)).items:
            if one.id not in known:
                known[one.id] = None
                new.append(one)
    return new

"""What all tiers do with records in a LangGraph store, and what the tiers of entries do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from memoryware.tiers.records import Entry
from memoryware.tiers.stores._loading import whole_of, without_doubles
from memoryware.tiers.stores._pages import Part, page_of
from memoryware.tiers.stores.langgraph.base import BaseItems, Kept, Place, kept_of, label
from memoryware.tiers.stores.protocol import Page, Select, Stretch

_QUARANTINE: Final = "quarantine"
_WORKING: Final = "working"
_KEYS: Final = "keys"
"""Where the ids of entries are kept by the keys under which they were recorded."""


async def find(items: BaseItems, tier: str, which: Select, part: Part) -> Page[Any]:
    """Return a page of a tier, what was stored last first."""
    async with items.reading():
        found = await items.select(tier, which)
    return page_of([(one.seq, one.record) for one in found], part)


async def edit(
    items: BaseItems, tier: str, which: Select, change: Callable[[Any], Any]
) -> list[Any]:
    """Change what fits, in one batch; return what differs."""
    async with items.writing():
        changed = []
        for one in await items.select(tier, which):
            old = one.record
            new = change(replace(old, metadata=deepcopy(dict(old.metadata))))
            if new != old:
                # A vector of the old text must not find the new one.
                vectors = one.vectors if new.content == old.content else {}
                changed.append(Kept(one.seq, new, vectors))
        await items.write([items.put(tier, one) for one in changed])
    return [one.record for one in changed]


async def delete(items: BaseItems, tier: str, which: Select) -> int:
    """Remove what fits, in one batch."""
    async with items.writing():
        return await _delete(items, tier, await items.select(tier, which))


async def add(items: BaseItems, entry: Entry) -> Entry:
    """Keep an entry in quarantine, or return the one that has its key."""
    async with items.writing():
        kept = items.put(_QUARANTINE, Kept(items.next_seq(), entry))
        if entry.key is None:
            await items.must_be_new(_QUARANTINE, [entry])
            await items.write([kept])
            return entry
        key = _key_place(items, entry, entry.key)
        known = await _known(items, entry, key)
        if known is not None:
            return known
        await items.must_be_new(_QUARANTINE, [entry])
        # A key without its entry is free; an entry without its key would be recorded again.
        await items.write([items.put_value(key, {"id": label(entry.id)}), kept])
    return entry


async def push(items: BaseItems, entry: Entry, keep: int, *, renew: bool) -> None:
    """Put an entry first in working memory of its group, and keep the newest."""
    async with items.writing():
        there = await items.select(_WORKING, Select.within(entry.scope))
        first = Kept(items.next_seq(), entry)
        newest = [first, *(one for one in there if one.record.id != entry.id)]
        puts = [first]
        if renew:
            until = entry.expires_at
            others = newest[1:keep]
            puts += [Kept(one.seq, replace(one.record, expires_at=until)) for one in others]
        gone = [items.drop(_WORKING, one.record) for one in newest[keep:]]
        written = [items.put(_WORKING, one) for one in puts] if keep > 0 else []
        await items.write([*written, *gone])


async def purge(items: BaseItems, now: datetime) -> int:
    """Remove what has expired from working memory, in all groups."""
    async with items.writing():
        every = await items.everything(_WORKING)
        old = [one for one in every if one.record.expires_at and one.record.expires_at <= now]
        return await _delete(items, _WORKING, old)


async def walk(items: BaseItems, tier: str, mark: str | None) -> Stretch[Any]:
    """Return the records of all tenants, what was stored first first."""
    async with items.reading():
        every = [one.record for one in await items.everything(tier)]
    return whole_of(every[::-1], mark)


async def load(items: BaseItems, tier: str, records: Sequence[Any]) -> list[Any]:
    """Keep records as they are, in one batch; return those that were not there so."""
    kept = []
    async with items.writing():
        if tier == _QUARANTINE:
            records = without_doubles(records, await _with_keys(items, records))
        values = await items.get([items.place(tier, one) for one in records])
        for record, value in zip(records, values, strict=True):
            old = None if value is None else kept_of(tier, value)
            if old is None:
                kept.append(Kept(items.next_seq(), record))
            elif old.record != record:
                vectors = old.vectors if old.record.content == record.content else {}
                kept.append(Kept(old.seq, record, vectors))
        ops = [items.put(tier, one) for one in kept]
        if tier == _QUARANTINE:
            keyed = [one.record for one in kept if one.record.key is not None]
            keys = [(_key_place(items, one, one.key), {"id": label(one.id)}) for one in keyed]
            ops = [*(items.put_value(*one) for one in keys), *ops]
        await items.write(ops)
    return [one.record for one in kept]


async def _with_keys(items: BaseItems, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that are there under the keys of others."""
    keyed = [(one, one.key) for one in entries if one.key is not None]
    values = await items.get([_key_place(items, *one) for one in keyed])
    places = [
        (items.space(_QUARANTINE, one.scope.tenant, one.scope.group_id), value["id"])
        for (one, _), value in zip(keyed, values, strict=True)
        if value is not None
    ]
    found = [kept_of(_QUARANTINE, one) for one in await items.get(places) if one is not None]
    return [one.record for one in found]


async def _delete(items: BaseItems, tier: str, gone: Sequence[Kept]) -> int:
    drops = [items.drop(tier, one.record) for one in gone]
    if tier == _QUARANTINE:
        named = [one.record for one in gone if one.record.key is not None]
        places = [_key_place(items, one, one.key) for one in named]
        values = await items.get(places)
        for one, place, value in zip(named, places, values, strict=True):
            if value == {"id": label(one.id)}:
                drops.append(items.put_value(place, None))
    await items.write(drops)
    return len(gone)


async def _known(items: BaseItems, entry: Entry, key: Place) -> Entry | None:
    """Return the entry that was recorded under a key, None if there is none anymore."""
    (value,) = await items.get([key])
    if value is None:
        return None
    scope = entry.scope
    space = items.space(_QUARANTINE, scope.tenant, scope.group_id)
    (found,) = await items.get([(space, value["id"])])
    known: Entry | None = None if found is None else kept_of(_QUARANTINE, found).record
    return known if known is not None and known.key == entry.key else None


def _key_place(items: BaseItems, entry: Entry, key: str) -> Place:
    return items.space(_KEYS, entry.scope.tenant, entry.scope.group_id), label(key)

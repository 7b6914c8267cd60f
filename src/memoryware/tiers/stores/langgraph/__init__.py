"""The three tiers in a LangGraph store (`BaseStore`), for who has one already.

What such a store cannot do, this cannot either:

- It cannot compare before it writes. Threads and tasks of one process that share the store
  object take turns, so they lose nothing; of two processes that change the same record in one
  moment the last one wins, a list in working memory may be cut too short or too long for a
  while, and a key may be recorded twice.
- Several records are changed in one batch. `SqliteStore` and `PostgresStore` make that one
  transaction; `InMemoryStore` does not need to; of others nobody knows. The order is the safe
  one: what is new comes first, then what it replaces ends, then what is old goes.
- It finds by namespace and by nothing else. A question looks at all records of its groups, and
  `purge`, `unembedded`, `spaces` and `walk` at those of all tenants. That is for thousands of
  records, not for millions.
- It embeds texts by itself and cannot search by a vector, so vectors are kept as a part of each
  memory and compared here. An index of the store is neither needed nor used.

Expired entries are told by your clock. A store with a sweeper sweeps them some time after.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware._remembering import remembered
from memoryware._runner import ASYNC, BLOCKING
from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.stores.codec import packed, scores, unpacked
from memoryware.tiers.stores.langgraph.items import (
    LONG_TERM,
    BaseItems,
    Kept,
    PendingItems,
    Place,
    kept_of,
    label,
)
from memoryware.tiers.stores.protocol import (
    Choose,
    Page,
    Query,
    Searched,
    Select,
    Space,
    Store,
    Stores,
    Stretch,
    Tier,
    Transaction,
    Vector,
)
from memoryware.tiers.stores.selecting import (
    Item,
    Part,
    fits,
    look,
    page_of,
    thread_of,
    whole_of,
    without_doubles,
)
from memoryware.tiers.text.terms import words_of

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

__all__ = ["langgraph_stores"]

T = TypeVar("T")


def langgraph_stores(
    store: BaseStore,
    *,
    root: str = "memoryware",
    lock_timeout: float = 30.0,
    grace: float = 3600.0,
) -> Stores:
    """Return the three tiers in a LangGraph store. Who made the store closes it.

    Args:
        store: Such as `InMemoryStore()`, or the one that a graph is compiled with.
        root: What all namespaces begin with.
        lock_timeout: Seconds to wait for others of this process.
        grace: Seconds after which a store with a sweeper may drop what has expired.

    Raises:
        SettingError: If the root cannot be one.
    """
    blocking = BaseItems(store, root, lock_timeout, grace, BLOCKING)
    native = BaseItems(store, root, lock_timeout, grace, ASYNC)
    return Stores.of(LangGraphStore(blocking, native))


class LangGraphStore(SharedOnCopy, Store):
    """All tiers in a LangGraph store; see `langgraph_stores`."""

    def __init__(self, blocking: BaseItems, native: BaseItems | None = None) -> None:
        self._items, self.suspends = blocking, blocking.runner.suspends
        self._native = LangGraphStore(native) if native is not None else self

    def halves(self) -> tuple[Store, Store]:
        return self, self._native

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,  # noqa: ARG002 - writers of all groups take turns
        writes: bool = True,
    ) -> T:
        async with self._items.writing() if writes else self._items.reading():
            pending = PendingItems(self._items)
            result = await work(_LangGraphTransaction(pending))
            await pending.commit()
        return result

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Stretch[Any]:  # noqa: ARG002
        return await walk(self._items, tier, mark)

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        return await load(self._items, tier, records)

    async def purge(self, now: datetime) -> int:
        return await purge(self._items, now)

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        if counted:
            return await spaces(self._items)
        return dict.fromkeys(await known_spaces(self._items), 0)

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        await adopt(self._items, space, drop_others=drop_others)

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await unembedded(self._items, space, limit)

    async def close(self) -> None:
        self._items.close()
        if self._native is not self:
            await self._native.close()


class _LangGraphTransaction(Transaction):
    """Collects changes, which are written as one batch at the end."""

    def __init__(self, items: PendingItems) -> None:
        self._items = items

    async def find(
        self,
        tier: Tier,
        which: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        return await find(self._items, tier, which, Part(limit, offset, after))

    async def add(
        self,
        tier: Tier,
        records: Sequence[Any],
        *,
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Any]:
        if tier == "quarantine":
            return [await add_entry(self._items, entry) for entry in records]
        return await add_document(self._items, records, vectors, space)

    async def edit(self, tier: Tier, which: Select, change: Callable[[Any], Any]) -> list[Any]:
        return await edit(self._items, tier, which, change)

    async def delete(self, tier: Tier, which: Select) -> int:
        return await delete(self._items, tier, which)

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await push(self._items, entry, keep, renew=renew)

    async def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        return await search(self._items, query, which, choose)

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return await put_vectors(self._items, vectors, space)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return await vectors_of(self._items, memories, space)


# Records of every tier, and entries.


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


async def add_entry(items: BaseItems, entry: Entry) -> Entry:
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


# Long-term memory.


_Key: TypeAlias = tuple[str | None, str | None, str, str]
"""Tenant, group, id and text of a memory."""
_TEXTS_KNOWN: Final = 16_384
"""Texts of which the words are remembered."""


async def add_document(
    items: BaseItems,
    memories: Sequence[Memory],
    vectors: Sequence[Vector | None],
    space: Space | None,
) -> list[Memory]:
    """Keep all chunks of a document, or return those of the current one with the same text."""
    first = memories[0]
    async with items.writing():
        there = await items.select(LONG_TERM, Select.within(first.scope))
        known = _same_document([one.record for one in there], first)
        if known:
            return known
        await items.must_be_new(LONG_TERM, memories)
        spaces_ = await _spaces(items)
        pairs = list(zip(memories, vectors or (None,) * len(memories), strict=True))
        made = [_kept(items, one, vector, space) for one, vector in pairs]
        puts = [items.put(LONG_TERM, one) for one in made]
        if space is not None and any(one.vectors for one in made):
            puts = [*_known_by(items, spaces_, space), *puts]
        await items.write(puts)
    return list(memories)


async def search(items: BaseItems, query: Query, which: Select, choose: Choose) -> Searched:
    """Return what is seen of memories that fit, and those that are chosen of it."""
    vector, space = query.vector, query.space
    async with items.reading():
        if vector is not None and space is not None:
            await _must_be_current(items, space)
        whole = Select(tenant=which.tenant, groups=which.groups)
        every = await items.select(LONG_TERM, whole)
    found = [one for one in reversed(every) if fits(one.record, which)]
    near: dict[int, float] = {}
    if vector is not None and space is not None:
        having = [place for place, one in enumerate(found) if space.name in one.vectors]
        data = [_unpacked(found[place].vectors[space.name]) for place in having]
        near = dict(zip(having, scores(packed(vector, space), data), strict=True))
    known = [
        Item(
            thread_of(one.record, query),
            (words := _words(one.record.content)),
            words.total(),
            near.get(at),
        )
        for at, one in enumerate(found)
    ]
    sight, places = look(known, query, [_words(one.record.content) for one in every])
    return Searched(sight, {at: found[places[at]].record for at in choose(sight)})


async def _must_be_current(items: BaseItems, space: Space) -> None:
    """Refuse to search in a space that is not the current one: it may be half full."""
    known = await _spaces(items)
    _check(known, space)
    for name, dimension in list(known.items())[:1]:
        if name != space.name:
            raise EmbeddingMismatch(str(Space(name, dimension)), str(space))


async def unembedded(items: BaseItems, space: Space, limit: int) -> list[Memory]:
    """Return memories without a vector in a space, oldest first."""
    async with items.reading():
        every = await items.everything(LONG_TERM)
    missing = [one.record for one in reversed(every) if space.name not in one.vectors]
    return missing[:limit]


async def put_vectors(
    items: BaseItems, vectors: Sequence[tuple[Memory, Vector]], space: Space
) -> int:
    """Keep vectors of memories that are there and say the same."""
    async with items.writing():
        known = await _spaces(items)
        _check(known, space)
        given = {_key(one): _packed(vector, space) for one, vector in vectors}
        there = await _there(items, [one for one, _ in vectors])
        kept = [
            replace(one, vectors={**one.vectors, space.name: given[key]})
            for key, one in there.items()
        ]
        puts = [items.put(LONG_TERM, one) for one in kept]
        await items.write([*_known_by(items, known, space), *puts] if puts else [])
    return len(kept)


async def vectors_of(
    items: BaseItems, memories: Sequence[Memory], space: Space
) -> list[Vector | None]:
    """Return the vectors of memories that are there and say the same."""
    async with items.reading():
        _check(await _spaces(items), space)
        there = await _there(items, memories)
    kept = [there.get(_key(one)) for one in memories]
    texts = [None if one is None else one.vectors.get(space.name) for one in kept]
    return [None if one is None else unpacked(_unpacked(one)) for one in texts]


async def _there(items: BaseItems, memories: Sequence[Memory]) -> dict[_Key, Kept]:
    """Return those of memories that are there and say the same."""
    values = await items.get([items.place(LONG_TERM, one) for one in memories])
    found = [kept_of(LONG_TERM, value) for value in values if value is not None]
    wanted = {_key(one) for one in memories}
    return {_key(one.record): one for one in found if _key(one.record) in wanted}


async def spaces(items: BaseItems) -> dict[Space, int]:
    """Return every space and how many vectors it has, the current one first."""
    async with items.reading():
        known = await _spaces(items)
        every = await items.everything(LONG_TERM)
    counts = Counter(name for one in every for name in one.vectors)
    return {Space(name, dimension): counts[name] for name, dimension in known.items()}


async def known_spaces(items: BaseItems) -> list[Space]:
    """Return every space, the current one first."""
    async with items.reading():
        known = await _spaces(items)
    return [Space(name, dimension) for name, dimension in known.items()]


async def adopt(items: BaseItems, space: Space, *, drop_others: bool) -> None:
    """Make a space the current one."""
    async with items.writing():
        known = await _spaces(items)
        _check(known, space)
        others = {} if drop_others else known
        new = {space.name: space.dimension, **others}
        puts = [_spaces_put(items, new)]
        if drop_others:
            for one in await items.everything(LONG_TERM):
                kept = {name: data for name, data in one.vectors.items() if name == space.name}
                if kept != one.vectors:
                    puts.append(items.put(LONG_TERM, replace(one, vectors=kept)))
        await items.write(puts)


# Spaces: one item has them all, the current one first.


def _spaces_place(items: BaseItems) -> Place:
    return (items.root, "spaces"), "all"


def _spaces_put(items: BaseItems, known: dict[str, int]) -> Any:
    return items.put_value(_spaces_place(items), {"spaces": [list(one) for one in known.items()]})


async def _spaces(items: BaseItems) -> dict[str, int]:
    (value,) = await items.get([_spaces_place(items)])
    return {} if value is None else dict(value["spaces"])


def _known_by(items: BaseItems, known: dict[str, int], space: Space) -> list[Any]:
    """Return what makes a space known, if it is new."""
    _check(known, space)
    if space.name in known:
        return []
    return [_spaces_put(items, {**known, space.name: space.dimension})]


def _check(known: dict[str, int], space: Space) -> None:
    dimension = known.get(space.name, space.dimension)
    if dimension != space.dimension:
        raise EmbeddingMismatch(str(Space(space.name, dimension)), str(space))


# Memories.


def _key(one: Memory) -> _Key:
    return one.scope.tenant, one.scope.group_id, one.id, one.content


def _kept(items: BaseItems, one: Memory, vector: Vector | None, space: Space | None) -> Kept:
    has_vector = vector is not None and space is not None
    vectors = {space.name: _packed(vector, space)} if has_vector else {}  # type: ignore[union-attr, arg-type]
    return Kept(items.next_seq(), one, vectors)


def _packed(vector: Vector, space: Space) -> str:
    return base64.b64encode(packed(vector, space)).decode()


def _unpacked(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except ValueError as error:
        raise StoreUnavailable("A vector in the LangGraph store cannot be read") from error


def _same_document(there: Sequence[Memory], new: Memory) -> list[Memory]:
    """Return the chunks of the current document with the same text and owner."""
    same = [
        one
        for one in reversed(there)
        if (one.content_hash, one.scope.agent_id) == (new.content_hash, new.scope.agent_id)
        and one.valid_to is None
        and one.revocation is None
    ]
    ours = [one for one in same if one.document_id == same[0].document_id]
    return sorted(ours, key=lambda one: one.chunk_index)


@remembered(_TEXTS_KNOWN)
def _words(text: str) -> Counter[str]:
    return Counter(words_of(text))

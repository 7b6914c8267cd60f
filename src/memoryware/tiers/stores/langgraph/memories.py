"""What long-term memory does in a LangGraph store."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from memoryware._remembering import remembered
from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.tiers.records import Memory
from memoryware.tiers.stores._looking import Item, look, thread_of
from memoryware.tiers.stores._selecting import fits
from memoryware.tiers.stores._vectors import packed, scores, unpacked
from memoryware.tiers.stores.langgraph.base import LONG_TERM, BaseItems, Kept, Place, kept_of
from memoryware.tiers.stores.protocol import Choose, Query, Searched, Select, Space, Vector
from memoryware.tiers.text.terms import words_of

_Key: TypeAlias = tuple[str | None, str | None, str, str]
"""Tenant, group, id and text of a memory."""
_TEXTS_KNOWN: Final = 16_384
"""Texts of which the words are remembered."""


async def add(
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

"""What long-term memory knows of a query: by words, by meaning, and beside what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from memoryware.errors import EmbeddingMismatch
from memoryware.events import logger
from memoryware.tiers.ranking import Found, best_first, coverage_of, fused, lone_characters
from memoryware.tiers.records import Memory
from memoryware.tiers.retrieval.asking import Considered, Part, Search
from memoryware.tiers.stores.protocol import Hit, Select
from memoryware.tiers.values import item_of

Heap = dict[str, Considered]
"""What was found in one part of long-term memory, by id."""


async def ask_cold(search: Search) -> list[Considered]:
    """Return what fits in memory of the group and in the experience of the agent itself."""
    agent = search.wanted.agent_id or search.scope.agent_id
    asked = [_part(search, "group", None)] + ([_part(search, "agent", agent)] if agent else [])
    return [one for some in await search.via.all(asked) for one in some]


async def _part(search: Search, part: Part, agent: str | None) -> list[Considered]:
    session, since = search.wanted.session_id, search.since
    whole = search.live().also(agents=(agent,))
    which = whole.also(since=since) if since is not None else whole
    if session is not None:
        which = which.also(sessions=(session,))
    found = await _found(search, part, which)
    if search.wanted.explain and which != whole:
        for id_, one in (await _found(search, part, whole)).items():
            if id_ not in found:
                found[id_] = one
                _say_why(search, one)
    return list(found.values())


def _say_why(search: Search, one: Considered) -> None:
    """Say of a text that the selection has left out which condition did."""
    session = search.wanted.session_id
    if session is not None and one.item.scope.session_id != session:
        one.leave_out("session", "from another session than was asked for")
    else:
        one.leave_out("time_range", f"older than {search.wanted.time_range_days} days")


async def _found(search: Search, part: Part, which: Select) -> Heap:
    heap: Heap = {}
    by_words, by_vectors = await search.via.all(
        [_by_words(search, which), _by_vectors(search, which)]
    )
    limit = search.parts.limits.candidates
    for place, hit in enumerate(by_words, 1):
        _take(heap, part, hit, "words").ranks["words"] = place
    for place, hit in enumerate(by_vectors, 1):
        _take(heap, part, hit, "vectors").ranks["vectors"] = place
    await _add_neighbours(search, part, which, heap)
    if len(by_words) >= limit or len(by_vectors) >= limit:
        await _measure_rest(search, part, which, heap)
    _lend(search, heap)
    for one in heap.values():
        one.weigh(vectors=_measures(search))
    return heap


def _measures(search: Search) -> bool:
    """Say whether long-term memory was searched by vectors at all."""
    return search.vector is not None and search.measures_cold


async def _by_words(search: Search, which: Select) -> list[Hit]:
    store, via, limit = search.parts.stores.long_term, search.via, search.parts.limits.candidates
    hits: list[Hit] = await via(store.by_words, store.aby_words, search.words, which, limit=limit)
    lone = lone_characters(search.words)
    if hits or not lone:
        return hits
    # One character of a script without blanks stands in pairs in the index.
    page = await via(store.find, store.afind, which.also(contains=lone[0]), limit=limit)
    return [Hit(one, 1.0, whole=float(len(search.words))) for one in page.items]


async def _by_vectors(search: Search, which: Select) -> list[Hit]:
    embedder, store = search.parts.embedder, search.parts.stores.long_term
    if search.vector is None or embedder is None:
        return []
    space, limit = embedder.space_of(search.vector), search.parts.limits.candidates
    try:
        hits: list[Hit] = await search.via(
            store.by_vector, store.aby_vector, search.vector, which, space=space, limit=limit
        )
    except EmbeddingMismatch as mismatch:
        search.measures_cold = False
        note = f"{mismatch}; words alone were searched in long-term memory"
        logger.warning("%s", note)
        search.note(note)
        return []
    return hits


async def _measure_rest(search: Search, part: Part, which: Select, heap: Heap) -> None:
    """Measure by words what came by meaning and the other way round.

    A list that ends at its limit does not say what the texts behind its end are worth.
    """
    wordless = tuple(id_ for id_, one in heap.items() if one.found.words is None)
    unlike = tuple(id_ for id_, one in heap.items() if one.found.similarity is None)
    by_words, by_vectors = await search.via.all(
        [
            _by_words(search, which.also(ids=wordless)),
            _by_vectors(search, which.also(ids=unlike)),
        ]
    )
    for hit in by_words:
        _take(heap, part, hit, "words")
    for hit in by_vectors:
        _take(heap, part, hit, "vectors")


async def _add_neighbours(search: Search, part: Part, which: Select, heap: Heap) -> None:
    """Let chunks beside the best of those that were found take part."""
    limits, vectors = search.parts.limits, _measures(search)
    most = 2 * max(limits.cold_items, limits.agent_items, search.wanted.cold_items or 0)
    best = best_first(list(heap.values()), lambda one: fused(one.found, vectors=vectors))[:most]
    documents, left = dict[str, None](), limits.neighbour_chunks
    for one in best:
        chunks = int(one.item.metadata["chunk_count"])
        if chunks > 1 and one.place[0] not in documents and chunks <= left:
            documents[one.place[0]] = None
            left -= chunks
    if not documents:
        return
    store = search.parts.stores.long_term
    rest = await search.via(store.find, store.afind, which.also(documents=tuple(documents)))
    places = [one.place for one in best]
    beside = {(name, number + step) for name, number in places for step in (-1, 1)}
    for memory in rest.items:
        if (memory.document_id, memory.chunk_index) in beside and memory.id not in heap:
            heap[memory.id] = _considered(memory, part)


def _lend(search: Search, heap: Heap) -> None:
    """Lend each chunk a part of what the better of those beside it is worth."""
    vectors = _measures(search)
    own = {one.place: fused(one.found, vectors=vectors) for one in heap.values()}
    for one in heap.values():
        name, number = one.place
        near = max(own.get((name, number + step), 0.0) for step in (-1, 1))
        if near > own[one.place]:
            one.found = replace(one.found, near=near)
    lent = [one for one in heap.values() if one.found.near >= 0]
    for place, one in enumerate(best_first(lent, lambda one: one.found.near), 1):
        one.ranks["neighbours"] = place


def _take(heap: Heap, part: Part, hit: Hit, way: Literal["words", "vectors"]) -> Considered:
    """Note what a list says of a memory."""
    one = heap.get(hit.memory.id)
    if one is None:
        one = heap[hit.memory.id] = _considered(hit.memory, part)
    if way == "words":
        covered = coverage_of(hit.value, hit.whole)
        one.found = replace(one.found, words=hit.value, coverage=covered)
    else:
        one.found = replace(one.found, similarity=hit.value)
    return one


def _considered(memory: Memory, part: Part) -> Considered:
    place = memory.document_id, memory.chunk_index
    return Considered(item_of(memory), part, memory.content_hash, place, Found())

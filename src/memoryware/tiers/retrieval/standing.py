"""What long-term memory says of a text that is in working memory as well."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from memoryware.events import logger
from memoryware.tiers.grounds import SAID_AGAIN
from memoryware.tiers.records import Memory
from memoryware.tiers.retrieval.asking import Considered, Search
from memoryware.tiers.stores.protocol import Select


async def stand_as_promoted(search: Search, hot: Sequence[Considered]) -> None:
    """Show what was promoted as what it is now: of long-term memory, or not at all.

    A text whose place another has taken is left out, unless it was said again since.
    """
    known = await _same_texts(search, hot)
    replaced = await replaced_early(search, [one for some in known.values() for one in some])
    for one in hot:
        same = known.get(one.record.content_hash, ())
        first = sorted(same, key=lambda memory: memory.chunk_index)
        holds = next((m for m in first if _is_current(search, m) and m.id not in replaced), None)
        if holds is None:
            ended = (
                search.now if memory.id in replaced else memory.valid_to
                for memory in same
                if memory.revocation is None
            )
            said = _said_at(one)
            if any(end is not None and said <= end <= search.now for end in ended):
                one.leave_out("superseded", "long-term memory has something in its place")
        elif "cold" in search.wanted.layers:
            one.promoted = holds


def _is_current(search: Search, memory: Memory) -> bool:
    ended = memory.valid_to is not None and memory.valid_to <= search.now
    return memory.revocation is None and memory.has_begun(search.now) and not ended


async def replaced_early(search: Search, memories: Sequence[Memory]) -> set[str]:
    """Return ids of memories that end later by their date, though their successor has begun.

    A machine whose clock is ahead dates the end of what it replaces into the future. Until
    then both texts would be shown.
    """
    late = {
        one.id: one.superseded_by
        for one in memories
        if one.superseded_by and one.valid_to is not None and one.valid_to > search.now
    }
    if not late or search.wanted.at is not None:
        return set()
    store, documents = search.parts.tiers.long_term, tuple(dict.fromkeys(late.values()))
    which = Select.within(search.scope, documents=documents, revocations=(None,))
    found = (await store.find(which)).items
    begun = {one.document_id for one in found if one.has_begun(search.now)}
    return {id_ for id_, document in late.items() if document in begun}


def _said_at(one: Considered) -> datetime:
    """Return when a text in working memory was said the last time."""
    again = one.record.metadata.get(SAID_AGAIN)
    return datetime.fromisoformat(again) if again else one.record.created_at


async def _same_texts(search: Search, hot: Sequence[Considered]) -> dict[str, list[Memory]]:
    """Return memories by the hash of their text; nothing where that cannot be asked."""
    if not hot:
        return {}
    store = search.parts.tiers.long_term
    agent = search.wanted.agent_id or search.scope.agent_id
    hashes = tuple(dict.fromkeys(one.record.content_hash for one in hot))
    which = Select.within(search.scope, agents=tuple({None, agent}), hashes=hashes)
    try:
        found = (await store.find(which)).items
    except Exception as error:  # noqa: BLE001 - the search of long-term memory tells of it
        logger.debug("working memory was not held against long-term memory: %s", error)
        return {}
    known: dict[str, list[Memory]] = defaultdict(list)
    for memory in found:
        known[memory.content_hash].append(memory)
    return known

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
    for one in hot:
        same = known.get(one.record.content_hash, ())
        first = sorted(same, key=lambda memory: memory.chunk_index)
        holds = next((memory for memory in first if memory.holds_at(search.now)), None)
        if holds is None:
            ended = (memory.valid_to for memory in same if memory.revocation is None)
            said = _said_at(one)
            if any(end is not None and said <= end <= search.now for end in ended):
                one.leave_out("superseded", "long-term memory has something in its place")
        elif "cold" in search.wanted.layers:
            one.promoted = holds


def _said_at(one: Considered) -> datetime:
    """Return when a text in working memory was said the last time."""
    again = one.record.metadata.get(SAID_AGAIN)
    return datetime.fromisoformat(again) if again else one.record.created_at


async def _same_texts(search: Search, hot: Sequence[Considered]) -> dict[str, list[Memory]]:
    """Return memories by the hash of their text; nothing where that cannot be asked."""
    if not hot:
        return {}
    store = search.parts.stores.long_term
    agent = search.wanted.agent_id or search.scope.agent_id
    hashes = tuple(dict.fromkeys(one.record.content_hash for one in hot))
    which = Select.within(search.scope, agents=tuple({None, agent}), hashes=hashes)
    try:
        found = (await search.via(store.find, store.afind, which)).items
    except Exception as error:  # noqa: BLE001 - the search of long-term memory tells of it
        logger.debug("working memory was not held against long-term memory: %s", error)
        return {}
    known: dict[str, list[Memory]] = defaultdict(list)
    for memory in found:
        known[memory.content_hash].append(memory)
    return known

"""Helpers of the tests of recall: put something into working and long-term memory directly."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.model import Entry, Memory, hash_of
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.recall.query import RetrieveOptions
from memoryware.tiers.recall.search import retrieve
from memoryware.tiers.values import ContextItem, Recall
from tiers.kit import Door, run

SHOP = MemoryScope(group_id="shop", agent_id="helper")
IN_SESSION = MemoryScope(group_id="shop", agent_id="helper", session_id="s1")
"""The same in a session, whose texts are neighbours of each other."""


def hot(given: Parts, text: str, scope: MemoryScope = SHOP, **more: Any) -> Entry:
    """Put a text into working memory."""
    entry = Entry(
        id=given.new_id(),
        scope=scope,
        content=text,
        created_at=more.pop("created_at", given.clock()),
        provenance=Provenance(Origin.parse(more.pop("origin", "agent:helper"))),
        expires_at=given.clock() + timedelta(hours=24),
        **more,
    )
    given.stores.working.push(entry, keep=given.limits.working_entries)
    return entry


def cold(given: Parts, *chunks: str, scope: MemoryScope = SHOP, **more: Any) -> list[Memory]:
    """Put a text in chunks into long-term memory of the group, or with `agent` of an agent."""
    now, document = given.clock(), given.new_id()
    embed = more.pop("embed", True) and given.embedder is not None
    made = Memory(
        id="",
        document_id=document,
        scope=replace(scope, agent_id=more.pop("agent", None)),
        content="",
        created_at=more.pop("created_at", now),
        provenance=Provenance(Origin.parse(more.pop("origin", "person:ann"))),
        promoted_by="ann",
        chunk_count=len(chunks),
        content_hash=more.pop("content_hash", hash_of("\n".join(chunks))),
        valid_from=more.pop("valid_from", now),
        **more,
    )
    memories = [
        replace(made, id=given.new_id(), content=text, chunk_index=place)
        for place, text in enumerate(chunks)
    ]
    vectors: list[Any] = []
    if embed and given.embedder is not None:
        vectors = given.embedder.embeddings.embed_documents(list(chunks))
    space = given.embedder.space_of(vectors[0]) if vectors and given.embedder else None
    return given.stores.long_term.add(memories, vectors, space)


async def recall(
    door: Door, given: Parts, query: str, scope: MemoryScope = SHOP, **wanted: Any
) -> Recall:
    """Ask memory through one of its doors."""
    found: Recall = await run(
        door, retrieve, given, query, scope, options=RetrieveOptions(**wanted)
    )
    return found


def texts(items: list[ContextItem]) -> list[str]:
    """Return the texts of what was recalled, in order."""
    return [one.content for one in items]

"""The two sides of the load run: the tiers, and LangGraph's store, for the same three wishes."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.load.making import DIMENSION, Group, WordEmbeddings, tag_of
from memoryware import MemoryScope, TieredMemory

KINDS = ("record", "promote", "retrieve")
MIXED = "mixed"
PHASES = {MIXED: 0.4, "record": 0.25, "promote": 0.1, "retrieve": 0.25}
"""What a turn of a side is spent on, as shares of its time.

In a mixed load each process does one operation after the other, so the number of each kind
says how long all of them take together; a phase of one kind says how many of it there can be.
The servers are killed in the mixed phase.
"""
FOUND = 5
"""Memories that a retrieval shows at most; the default of the tiers."""
_NOT_RECORDED = ("store_failed", "filter_failed")


@dataclass(frozen=True)
class Wish:
    """One operation, before it is done.

    Attributes:
        kind: One of `KINDS`.
        group: Whose memory.
        key: What makes it the same wish when it is done once more.
        text: The text, or the question.
        entry: Of a promotion: what `record` returned.
    """

    kind: str
    group: Group
    key: str
    text: str
    entry: Any = None


class Side(Protocol):
    """What is under load."""

    name: str

    def do(self, wish: Wish) -> tuple[Any, dict[str, Any]]:
        """Do it; return what a promotion needs, and what was confirmed."""
        ...

    def close(self) -> None: ...


class Tiers:
    """Ours: quarantine and long-term memory in PostgreSQL, working memory in Redis."""

    name = "memoryware"

    def __init__(self, url: str) -> None:
        self.embeddings = WordEmbeddings()
        self._memory = TieredMemory.open(url, embeddings=self.embeddings, on_error="raise")

    def do(self, wish: Wish) -> tuple[Any, dict[str, Any]]:
        tenant, name = wish.group
        scope = MemoryScope(tenant=tenant, group_id=name, agent_id="helper")
        if wish.kind == "record":
            made = self._memory.record(wish.text, scope, {"confidence": 0.9}, key=wish.key)
            said = {"id": made.entry.id, "working": made.working, "refused": made.refused}
            if made.refused in _NOT_RECORDED:
                said["degraded"] = made.refused
            return made.entry, said
        if wish.kind == "promote":
            promoted = self._memory.promote(wish.entry, by="ann")
            return None, {"ids": promoted.ids, "id": wish.entry.id}
        found = self._memory.retrieve(wish.text, scope)
        here = [(one.scope.tenant, one.scope.group_id) == wish.group for one in found]
        right = all(here) and all(tag_of(wish.group) in one.content for one in found)
        cold = sum(one.source == "long_term" for one in found)
        said = {"right": right, "found": min(cold, FOUND), "working": len(found) - cold}
        return None, said | ({"degraded": f"{found.failed} failed"} if found.failed else {})

    def close(self) -> None:
        self._memory.close()


class LangGraph:
    """LangGraph's `PostgresStore`: one row in a namespace of the group, and a vector of some."""

    name = "PostgresStore"

    def __init__(self, url: str) -> None:
        self.embeddings = WordEmbeddings()
        self._open = ExitStack()
        self._store = self._open.enter_context(langgraph_store(url, self.embeddings))

    def do(self, wish: Wish) -> tuple[Any, dict[str, Any]]:
        notes, memories = (*wish.group, "notes"), (*wish.group, "memories")
        if wish.kind == "record":
            value = {"text": wish.text, "confidence": 0.9}
            self._store.put(notes, wish.key, value, index=False)
            return wish, {"id": wish.key}
        if wish.kind == "promote":
            before: Wish = wish.entry
            self._store.put(memories, before.key, {"text": before.text, "by": "ann"})
            return None, {"id": before.key, "ids": [before.key]}
        found = self._store.search(memories, query=wish.text, limit=FOUND)
        right = all(
            one.namespace == memories and tag_of(wish.group) in one.value["text"] for one in found
        )
        return None, {"right": right, "found": len(found)}

    def close(self) -> None:
        self._open.close()


def langgraph_store(url: str, embeddings: WordEmbeddings) -> Any:
    """Return a `PostgresStore` with its own pool and its index of vectors, as its docs have it."""
    from langgraph.store.postgres import PostgresStore

    return PostgresStore.from_conn_string(
        url,
        pool_config={"min_size": 1, "max_size": 10},
        index={"dims": DIMENSION, "embed": embeddings, "fields": ["text"]},
    )

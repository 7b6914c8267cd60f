"""One conversation in a memory: put there, asked, and taken away again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from memoryware.bench.datasets.values import Conversation, Question, Turn
from memoryware.bench.recall.scoring import Ranking
from memoryware.errors import StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Memory, Origin, Provenance, hash_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.terms import query_words

TENANT: Final = "memoryware-bench"
"""The tenant of everything that a bench puts into a store."""
RETRIEVE: Final = "retrieve"
WORDS: Final = "words alone"
VECTORS: Final = "vectors alone"
"""The ways of asking: as everybody does, and each list by itself."""
_BATCH: Final = 500
"""Turns that are put into a store at once."""


@dataclass(slots=True)
class Clocks:
    """Seconds that the parts of a measure took.

    Attributes:
        put: Putting turns into the store, with their words.
        embed: Making their vectors, and putting these into the store.
        asked: Each `retrieve` to the full depth.
    """

    put: float = 0.0
    embed: float = 0.0
    asked: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a memory that has the turns of one conversation at a time.

    Attributes:
        memory: Where they are put.
        depth: How many are asked for.
        alone: Each k that is asked for by itself besides.
        lists: Whether words and vectors are asked by themselves as well.
        clocks: What took how long.
    """

    memory: TieredMemory
    depth: int
    alone: tuple[int, ...] = ()
    lists: bool = False
    clocks: Clocks = field(default_factory=Clocks)

    @contextmanager
    def holding(self, conversation: Conversation) -> Iterator[None]:
        """Put the turns of a conversation into the memory, and take them away at the end."""
        store, which = self.memory.parts.stores.long_term, Select.within(_scope(conversation))
        store.delete(which)
        try:
            began = time.perf_counter()
            memories = memories_of(conversation)
            for start in range(0, len(memories), _BATCH):
                store.load(memories[start : start + _BATCH])
            put = time.perf_counter()
            if self.memory.parts.embedder is not None:
                self.memory.embed_pending()
            self.clocks.put += put - began
            self.clocks.embed += time.perf_counter() - put
            yield
        finally:
            store.delete(which)

    def rankings(self, question: Question, conversation: Conversation) -> Mapping[str, Ranking]:
        """Return what each way of asking finds for a question, by the name of the way."""
        scope, at = _scope(conversation), moment_of(question, conversation)
        began = time.perf_counter()
        deepest = self._retrieved(question, scope, at, self.depth)
        self.clocks.asked.append(time.perf_counter() - began)
        alone = {k: self._retrieved(question, scope, at, k) for k in self.alone}
        made = {RETRIEVE: Ranking(deepest, alone)}
        return made | self._lists(question, scope, at) if self.lists else made

    def _retrieved(
        self, question: Question, scope: MemoryScope, at: datetime, most: int
    ) -> tuple[str, ...]:
        found = self.memory.retrieve(
            question.text, scope, max_results=most, at=at, layers=("cold",)
        )
        if found.failed:  # no answer is no wrong answer
            raise StoreUnavailable(f"The memory could not be asked: {'; '.join(found.notes)}")
        return tuple(one.id for one in found)

    def _lists(self, question: Question, scope: MemoryScope, at: datetime) -> dict[str, Ranking]:
        """Return what the words alone find, and what the vectors alone find."""
        parts = self.memory.parts
        store, embedder = parts.stores.long_term, parts.embedder
        which = Select.within(scope, agents=(None,), live_at=at)
        hits = store.by_words(query_words(question.text), which, limit=self.depth)
        made = {WORDS: Ranking(tuple(hit.memory.id for hit in hits))}
        if embedder is not None:
            vector = embedder.embeddings.embed_query(question.text)
            space = embedder.space_of(vector)
            near = store.by_vector(vector, which, space=space, limit=self.depth)
            made[VECTORS] = Ranking(tuple(hit.memory.id for hit in near))
        return made


def memories_of(conversation: Conversation) -> list[Memory]:
    """Return the turns of a conversation: a session is a document, and a turn is a chunk of it."""
    sessions: dict[str, list[Turn]] = {}
    for turn in conversation.turns:
        sessions.setdefault(turn.session, []).append(turn)
    places = {turn.id: at for turns in sessions.values() for at, turn in enumerate(turns)}
    return [
        _memory_of(turn, conversation.id, places[turn.id], len(sessions[turn.session]))
        for turn in conversation.turns
    ]


def _memory_of(turn: Turn, group: str, place: int, count: int) -> Memory:
    return Memory(
        id=turn.id,
        document_id=turn.session,
        scope=MemoryScope(tenant=TENANT, group_id=group, session_id=turn.session),
        content=turn.content,
        created_at=turn.time,
        provenance=Provenance(Origin(turn.role, turn.speaker)),
        promoted_by=TENANT,
        chunk_index=place,
        chunk_count=count,
        content_hash=hash_of(f"{turn.session} {turn.content}"),
        metadata={"speaker": turn.speaker, "role": turn.role},
        valid_from=turn.time,
    )


def moment_of(question: Question, conversation: Conversation) -> datetime:
    """Return when a question is asked: when its data set says, but never before the last turn.

    What "last May" means hangs on it. Some data sets ask before the talk is over; no turn is
    hidden from a question because of that.
    """
    last = max(turn.time for turn in conversation.turns)
    return last if question.asked is None else max(last, question.asked)


def _scope(conversation: Conversation) -> MemoryScope:
    return MemoryScope(tenant=TENANT, group_id=conversation.id)

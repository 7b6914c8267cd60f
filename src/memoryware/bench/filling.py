"""Fill a memory with a conversation: turn by turn as an agent does, or in bulk.

`Stored` maps what a search returns to turns, because a long turn becomes several memories and
turns with the same text become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any, Final, Literal

from memoryware._clock import utc_now
from memoryware.bench.datasets import Conversation, DatasetTurn
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Memory, hash_of
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Promotion

Filling = Literal["turns", "bulk"]
"""How a memory is filled: "turns" records each turn and promotes it, "bulk" loads memories."""
TENANT: Final = "memoryware-bench"
"""The tenant of all memories of a measurement."""
PERSON: Final = TENANT
"""The person who promotes the turns."""
_BATCH: Final = 500
"""Turns that are promoted or loaded in one call."""


class TurnClock:
    """A clock that shows the time of the turn that is recorded.

    Attributes:
        now: The time that it shows.
    """

    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> datetime:
        """Return the time that it shows."""
        return self.now


def ids_in_order() -> Callable[[], str]:
    """Return a function that returns a new id with each call, in ascending order.

    Equally good results are ordered by their ids, and random ones would change the figures.
    """
    numbers = count(1)
    return lambda: f"{next(numbers):032x}"


@dataclass(frozen=True, slots=True)
class Stored:
    """The memories that the turns of a conversation have become.

    Attributes:
        turns: The turns that a memory was made from, by its id.
    """

    turns: Mapping[str, Sequence[str]]

    def turns_of(self, memory_ids: Iterable[str]) -> tuple[str, ...]:
        """Map a ranking of memories to turns.

        Args:
            memory_ids: Ids of memories, best first.

        Returns:
            Ids of turns, each once, at the rank of its best memory.
        """
        ranked = (turn for memory in memory_ids for turn in self.turns.get(memory, ()))
        return tuple(dict.fromkeys(ranked))


def scope_of(conversation: Conversation) -> MemoryScope:
    """Return the scope in which the questions of a conversation are asked.

    Args:
        conversation: The conversation.

    Returns:
        A group of the tenant `TENANT`.
    """
    return MemoryScope(tenant=TENANT, group_id=conversation.id)


def fill(
    memory: TieredMemory, clock: TurnClock, conversation: Conversation, filling: Filling
) -> Stored:
    """Store the turns of a conversation.

    Args:
        memory: The memory; it was opened with `clock`.
        clock: Is set to the time of each turn.
        conversation: The conversation.
        filling: How: turn by turn, or in bulk.

    Returns:
        Which memories are which turns.
    """
    if filling == "bulk":
        return _load(memory, conversation)
    return _promote(memory, clock, conversation, _record(memory, clock, conversation))


def clear(memory: TieredMemory, conversation: Conversation) -> None:
    """Delete a conversation from all tiers.

    Args:
        memory: The memory.
        conversation: The conversation.
    """
    stores, select = memory.parts.stores, Select.within(scope_of(conversation))
    for tier in (stores.quarantine, stores.working, stores.long_term):
        tier.delete(select)


# Turn by turn.


def _record(memory: TieredMemory, clock: TurnClock, conversation: Conversation) -> list[Entry]:
    """Record each turn at its time, on behalf of who said it."""
    entries: list[Entry] = []
    for turn in conversation.turns:
        clock.now = turn.time
        recorded = memory.record(
            turn.content,
            _turn_scope(turn, conversation),
            _metadata(turn),
            provenance=_provenance(turn),
        )
        entries.append(recorded.entry)
    return entries


def _promote(
    memory: TieredMemory, clock: TurnClock, conversation: Conversation, entries: Sequence[Entry]
) -> Stored:
    """Promote entries after the last turn, as a person does who reviews them all."""
    clock.now = max(turn.time for turn in conversation.turns)
    promotions: list[Promotion] = []
    for start in range(0, len(entries), _BATCH):
        promotions += memory.promote_many(entries[start : start + _BATCH], by=PERSON)
    turns: dict[str, list[str]] = {}
    for turn, promotion in zip(conversation.turns, promotions, strict=True):
        for id_ in promotion.ids:
            turns.setdefault(id_, []).append(turn.id)
    return Stored(turns)


def _turn_scope(turn: DatasetTurn, conversation: Conversation) -> MemoryScope:
    return MemoryScope(tenant=TENANT, group_id=conversation.id, session_id=turn.session)


def _metadata(turn: DatasetTurn) -> dict[str, Any]:
    return {"speaker": turn.name} if turn.name else {}


def _provenance(turn: DatasetTurn) -> Provenance:
    return Provenance(Origin(turn.role, turn.name))


# In bulk: a session is a document, and a turn is a chunk of it.


def _load(memory: TieredMemory, conversation: Conversation) -> Stored:
    records = memories_of(conversation)
    for start in range(0, len(records), _BATCH):
        memory.parts.stores.long_term.load(records[start : start + _BATCH])
    if memory.parts.embedder is not None:
        memory.embed_pending()
    return Stored({turn.id: (turn.id,) for turn in conversation.turns})


def memories_of(conversation: Conversation) -> list[Memory]:
    """Return the turns of a conversation as memories: a session is a document of them.

    Args:
        conversation: The conversation.

    Returns:
        One memory for each turn, with the id of the turn.
    """
    sessions: dict[str, list[DatasetTurn]] = {}
    for turn in conversation.turns:
        sessions.setdefault(turn.session, []).append(turn)
    positions = {turn.id: at for turns in sessions.values() for at, turn in enumerate(turns)}
    return [
        Memory(
            id=turn.id,
            document_id=turn.session,
            scope=_turn_scope(turn, conversation),
            content=turn.content,
            created_at=turn.time,
            provenance=_provenance(turn),
            promoted_by=PERSON,
            chunk_index=positions[turn.id],
            chunk_count=len(sessions[turn.session]),
            content_hash=hash_of(f"{turn.session} {turn.content}"),
            metadata=_metadata(turn),
            valid_from=turn.time,
        )
        for turn in conversation.turns
    ]

"""The order in which statements were said: an older one that is approved later becomes the past."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import identity_of
from memoryware.tiers.material import Material
from memoryware.tiers.model import SAID_AGAIN, WAITING, Entry, Memory, lineages
from memoryware.tiers.provenance import Provenance, stated_speaker
from memoryware.tiers.stores.protocol import Select


def last_said_at(record: Entry | Memory) -> datetime:
    """Return when a text was said the last time, as far as its record says so.

    Args:
        record: The entry or memory.

    Returns:
        The time.
    """
    again = record.metadata.get(SAID_AGAIN)
    if isinstance(again, str):
        with suppress(ValueError):
            moment = datetime.fromisoformat(again)
            if moment.tzinfo is not None:
                return max(moment, record.said_at)
    return record.said_at


def last_said_of(material: Material) -> datetime | None:
    """Return when the text of a promotion was said the last time, by who said it.

    Args:
        material: The text.

    Returns:
        The time; None if no entry says it.
    """
    if not material.entries:
        return None
    own = _speakers(material.provenance)
    copies = [copy for copy in material.copies or () if _speakers(copy.provenance) <= own]
    return max(map(last_said_at, (*material.entries, *copies)))


def with_last_said(memory: Memory, material: Material) -> Memory:
    """Return a memory that notes when its text was said the last time.

    Args:
        memory: The memory.
        material: Its text, which is promoted again.

    Returns:
        The memory; the same one if it was not said since.
    """
    last = last_said_of(material)
    if last is None or last <= last_said_at(memory):
        return memory
    return replace(memory, metadata={**memory.metadata, SAID_AGAIN: last.isoformat()})


@dataclass(frozen=True, slots=True)
class Successor:
    """What ends a text that is approved after something newer was.

    Attributes:
        memory: The memory that the same speaker said next.
        predecessors: Documents that end by that memory now, and were said before the text.
    """

    memory: Memory
    predecessors: tuple[str, ...] = ()


async def successor_of(
    parts: Parts, material: Material, current: Sequence[Memory], history: Sequence[Memory] = ()
) -> Successor | None:
    """Return what ends a text at once, because its speaker has said something else since.

    A digest lists the newest statement first, so whoever approves one after the other approves
    the correction before the mistake.

    Args:
        parts: The stores and the rules of the memory.
        material: The text.
        current: Current memories that the text would replace.
        history: Memories of the same subject, current or not.

    Returns:
        The successor; None if the text is newer than what is current, or of somebody else.
    """
    said_at = _moment_in_order(material)
    if said_at is None:
        return None
    if not _later(material, current, said_at):
        return None
    if material.repeats:  # the same was said again, in other words
        select = Select.within(material.scope, ids=material.repeats)
        repeats = (await parts.tiers.quarantine.find(select)).items
        said_at = max((said_at, *map(last_said_at, repeats)))
    later = _later(material, current, said_at)
    if not later:
        return None
    following = min((*later, *_later(material, history, said_at)), key=last_said_at)
    predecessors = tuple(
        memory.document_id
        for memory in history
        if memory.superseded_by == following.document_id and last_said_at(memory) < said_at
    )
    return Successor(following, predecessors)


def said_before(material: Material, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories that the speaker of a text has said before it.

    Args:
        material: The text.
        memories: The memories.

    Returns:
        Those that are older and of the same speaker; none if it is not known when it was said.
    """
    said_at = _moment_in_order(material)
    if said_at is None:
        return []
    return [
        memory
        for memory in memories
        if last_said_at(memory) < said_at and _is_same_speaker(material, memory)
    ]


def said_after(material: Material, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories that the speaker of a text has said after it.

    Args:
        material: The text.
        memories: The memories.

    Returns:
        Those that are newer and of the same speaker; none if it is not known when it was said.
    """
    said_at = _moment_in_order(material)
    if said_at is None:
        return []
    return _later(material, memories, said_at)


def _moment_in_order(material: Material) -> datetime | None:
    """Return when a text was said the last time; None if that orders nothing.

    A text that somebody passes is said now. What was promoted before and is promoted again is
    current again: that is a decision about a decision, and not the end of a queue.
    """
    entries = material.entries
    if material.is_text or not all(entry.status in WAITING for entry in entries):
        return None
    return last_said_of(material)


def _later(material: Material, memories: Sequence[Memory], said_at: datetime) -> list[Memory]:
    return [
        memory
        for memory in memories
        if last_said_at(memory) > said_at and _is_same_speaker(material, memory)
    ]


def _is_same_speaker(material: Material, memory: Memory) -> bool:
    stated, other = (
        {name.casefold() for record in records if (name := stated_speaker(record.metadata))}
        for records in (material.entries, (memory,))
    )
    if stated and other and not stated & other:
        return False
    own = _speakers(material.provenance)
    return bool(own) and any(own <= _speakers(lineage) for lineage in lineages(memory))


def _speakers(provenance: Provenance) -> set[tuple[str, str]]:
    """Return who answers for a text: its users, or else every origin of its lineage."""
    roots = {(str(root.kind), identity_of(root.name)) for root in provenance.roots}
    return {root for root in roots if root[0] == "user"} or roots


async def file_as_past(
    parts: Parts, chunks: Sequence[Memory], successor: Successor
) -> tuple[list[Memory], tuple[str, ...]]:
    """End a new document where its successor began.

    Args:
        parts: The stores and the rules of the memory.
        chunks: The document.
        successor: What ends it.

    Returns:
        The chunks as they are now, and the documents that end by this one.
    """
    first, by = chunks[0], successor.memory
    until = max(by.valid_from, first.valid_from)

    def end(chunk: Memory) -> Memory:
        if chunk.document_id == first.document_id:
            return replace(chunk, valid_to=until, superseded_by=by.document_id)
        if chunk.superseded_by != by.document_id:
            return chunk
        ends = max(first.valid_from, chunk.valid_from)
        return replace(chunk, valid_to=ends, superseded_by=first.document_id)

    select = Select.within(first.scope, documents=(first.document_id, *successor.predecessors))
    ended = {memory.id: memory for memory in await parts.tiers.long_term.edit(select, end)}
    return [ended.get(chunk.id, chunk) for chunk in chunks], successor.predecessors

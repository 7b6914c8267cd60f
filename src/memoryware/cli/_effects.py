"""What the approval of a statement does to long-term memory, shown before the decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from memoryware.cli import _output
from memoryware.cli._layout import short_id
from memoryware.errors import EntryMissing
from memoryware.tiers.chronology import said_after
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.material import Material
from memoryware.tiers.model import Entry, Memory, PendingPromotion, Record, hash_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.validity import spellings
from memoryware.tiers.values import Insight

_LINE: Final = 200
"""Characters of a text that are shown."""


def effect_lines(memory: TieredMemory, insight: Insight, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield what the approval of a statement replaces or hides, and what it contradicts.

    Args:
        memory: The memory.
        insight: The statement.
        entries: Its entries.

    Yields:
        A line for each memory.
    """
    digest = hash_of(insight.summary)
    waits = next((e.waits for e in entries if e.waits and e.content_hash == digest), None)
    shown: set[str] = set()
    if waits is not None and waits.removes:
        if not waits.against:
            yield "Approved, it hides nothing: memory has nothing that it asks to forget."
        for record in _records(memory, insight, waits.against):
            shown.add(record.id)
            yield f"Approved, it hides: {_text(record)}"
    elif waits is not None:
        rivals = _rivals(memory, insight, entries, waits)
        material = Material(insight.summary, insight.scope, insight.provenance, tuple(entries))
        later = {rival.document_id for rival in said_after(material, rivals)}
        for rival in rivals:
            shown.add(rival.id)
            if later:
                is_later = rival.document_id in later
                yield f"{'Said later, stays current' if is_later else 'Stays'}: {_text(rival)}"
            else:
                yield f"Will replace: {_text(rival)}"
    others = [id_ for id_ in insight.contradicts if id_ not in shown]
    for record in _records(memory, insight, others):
        yield f"Contradicts long-term memory: {_text(record)}"


def hidden_lines(memory: TieredMemory, entries: Sequence[Entry], options: str) -> Iterator[str]:
    """Yield what approved requests to forget have hidden, and how that is undone.

    Args:
        memory: The memory.
        entries: The entries that ask for it, as they are now.
        options: The options that a further command needs.

    Yields:
        A line for each record.
    """
    if not any(entry.waits is not None and entry.waits.against for entry in entries):
        yield "Memory has nothing that it asks to forget."
    for entry in entries:
        for id_ in entry.waits.against if entry.waits is not None else ():
            with suppress(EntryMissing):
                record = memory.get(id_, entry.scope)
                yield f"Hidden: {_text(record)}"
                receipt = record.revocations[-1] if record.revocations else record.revocation
                if receipt is not None:
                    yield f"To undo this: memoryware restore {short_id(receipt)}{options}"


def _rivals(
    memory: TieredMemory, insight: Insight, entries: Sequence[Entry], waits: PendingPromotion
) -> list[Memory]:
    """Return the first chunks of the current documents that a proposal would replace."""
    select = Select.within(insight.scope, revocations=(None,))
    selections = [select.also(documents=waits.replaces)] if waits.replaces else []
    if waits.subject:
        agent = entries[0].personal_owner or waits.agent_id
        selections.append(select.also(agents=(agent,), subjects=spellings(waits.subject)))
    rivals = {
        record.document_id: record
        for selection in selections
        for record in memory.parts.stores.long_term.find(selection).items
        if record.valid_to is None and record.chunk_index == 0
    }
    own = hash_of(insight.summary)
    return [record for record in rivals.values() if record.content_hash != own]


def _records(memory: TieredMemory, insight: Insight, ids: Sequence[str]) -> Iterator[Record]:
    for id_ in ids:
        with suppress(EntryMissing):  # forgotten meanwhile
            yield memory.get(id_, insight.scope)


def _text(record: Record) -> str:
    return f"{_output.one_line(record.content, _LINE)}  ({short_id(record.id)})"

"""What a text in long-term memory stands on: one promotion or several, and what took them back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from memoryware.tiers.records import Entry, Ground, Memory, Origin, Provenance, Record, Status

Key: TypeAlias = tuple[Provenance, str]
"""What tells one promotion of a text from another: `Ground.key`."""

SOURCE_GONE: Final = "source_gone"
"""The code under which working memory refuses what was made of a forgotten text."""
DISCARDED: Final = "discarded"
"""The code under which an answer is hidden that was thrown away in its thread, and the key in its
metadata with the reason and the receipt."""
SAID_AGAIN: Final = "said_again_at"
"""Where an entry of working memory keeps when the same was said the last time."""
BEFORE: Final = "status_before_revocation"
"""Where an entry keeps the status that it gets back when nothing takes it back anymore."""


def promoted_again(memory: Memory, ground: Ground, most: int) -> Memory:
    """Return a memory that stands on one more promotion; on a known one it stands already.

    Where no record stands behind it, its user is one of its origins, so that it is found.
    """
    if any(one.key == ground.key for one in memory.grounds) or len(memory.grounds) >= most:
        return memory
    made, scope = ground.provenance, ground.scope
    if not made.sources and scope.user_id:
        roots = (*made.roots, Origin("user", scope.user_id))
        made = Provenance(made.origin, made.sources, roots)
        ground = replace(ground, provenance=made, scope=replace(scope, session_id=None))
    return standing_on(memory, (*memory.grounds, ground))


def taken_back(entry: Entry, receipt: str) -> Entry:
    """Return an entry that is hidden because of a receipt, beside others that it has."""
    if receipt in entry.revocations:
        return entry
    metadata = entry.metadata
    if not entry.revocations:
        metadata = {**metadata, BEFORE: entry.status}
    marks = (*entry.revocations, receipt)
    return replace(
        entry, revocation=marks[0], revocations=marks, status="revoked", metadata=metadata
    )


def inherited_receipts(record: Record) -> tuple[str, ...]:
    """Return the receipts that hide what is made of a record as well.

    An answer that was thrown away is no bad source: what was said after it stays.
    """
    discarded = record.metadata.get(DISCARDED)
    own = discarded.get("receipt") if isinstance(discarded, Mapping) else None
    return tuple(receipt for receipt in record.revocations if receipt != own)


def without_grounds(memory: Memory, receipt: str, keys: Collection[Key]) -> Memory:
    """Return a memory of which some promotions do not count anymore because of a receipt."""
    grounds = [
        replace(one, revocations=(*one.revocations, receipt))
        if one.key in keys and receipt not in one.revocations
        else one
        for one in memory.grounds
    ]
    return standing_on(memory, grounds)


def given_back(record: Record, receipt: str) -> Record:
    """Return a record without what one receipt did to it."""
    if isinstance(record, Memory):
        return standing_on(record, [_without(one, receipt) for one in record.grounds])
    if receipt not in record.revocations:
        return record
    marks = tuple(one for one in record.revocations if one != receipt)
    if marks:
        return replace(record, revocation=marks[0], revocations=marks)
    metadata = {name: held for name, held in record.metadata.items() if name != BEFORE}
    status: Status = record.metadata.get(BEFORE, "pending")
    return replace(record, revocation=None, revocations=(), status=status, metadata=metadata)


def fewer(memory: Memory, falls: Callable[[Ground], bool]) -> Memory:
    """Return a memory without some of its promotions; as it is if none would be left."""
    left = [one for one in memory.grounds if not falls(one)]
    return standing_on(memory, left) if left else memory


def standing_on(memory: Memory, grounds: Collection[Ground]) -> Memory:
    """Return a memory that stands on these: on the first that counts, or else it is hidden."""
    ordered = sorted(grounds, key=lambda one: bool(one.revocations))
    first, *further = ordered
    marks = first.revocations
    changed = replace(memory, revocation=marks[0] if marks else None, further=tuple(further))
    if first == memory.grounds[0]:
        return changed
    said = {
        "promoted_at": first.promoted_at.isoformat(),
        "promoted_by": first.promoted_by,
        "source_entry_ids": list(first.provenance.sources),
    }
    return replace(
        changed,
        scope=replace(first.scope, agent_id=memory.scope.agent_id),
        provenance=first.provenance,
        promoted_by=first.promoted_by,
        created_at=first.promoted_at,
        revocations=marks,
        metadata={name: said.get(name, held) for name, held in memory.metadata.items()},
    )


def _without(ground: Ground, receipt: str) -> Ground:
    if receipt not in ground.revocations:
        return ground
    marks = tuple(one for one in ground.revocations if one != receipt)
    return replace(ground, revocations=marks)

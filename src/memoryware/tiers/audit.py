"""Who did what to memory, as records and the journal say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args

from memoryware._twins import Via
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.journal import Noted
from memoryware.tiers.records import Entry, Memory, Record
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Layer

ActKind: TypeAlias = Literal[
    "promoted",
    "superseded",
    "rejected",
    "proposed",
    "checked",
    "revoked",
    "restored",
    "forgotten",
]
"""What somebody did."""
ACT_KINDS: Final[tuple[ActKind, ...]] = get_args(ActKind)
NO_JOURNAL: Final = (
    "Who revoked, restored or forgot something is kept by a journal, and this memory has none:"
    " open it with journal='memory.journal.jsonl'"
)
"""What is said where nobody can know who took back what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One thing that somebody did.

    Attributes:
        kind: What.
        at: When.
        by: Who; "" where nobody said so.
        id: Of the record, or what a revocation was asked to take back.
        layer: Where that is; None for several.
        content: The text of the record; "" for several, or where it is gone.
        detail: More, in words.
        receipt: The id of the revocation; "" for anything else.
        total: How many records.
    """

    kind: ActKind
    at: datetime
    by: str
    id: str
    layer: Layer | None = None
    content: str = ""
    detail: str = ""
    receipt: str = ""
    total: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was done.

    Attributes:
        acts: The newest first.
        people: Everybody who did something, of what was looked at.
        next: Acts before this moment are on the next page; None at the end.
        notes: What a person should know, in sentences.
    """

    acts: tuple[Act, ...] = ()
    people: tuple[str, ...] = ()
    next: datetime | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which acts are wanted; see `TieredMemory.audit`."""

    by: str | None = None
    kind: ActKind | None = None
    before: datetime | None = None
    limit: int | None = None


async def audit(parts: Parts, via: Via, scope: MemoryScope, asked: Asked) -> Audit:
    """Return who did what, the newest first."""
    limit = parts.limits.listed if asked.limit is None else asked.limit
    found = await _all(parts, via, scope)
    people = tuple(sorted({one.by for one in found if one.by}))
    fits = sorted((one for one in found if _fits(one, asked)), key=lambda one: one.at, reverse=True)
    acts = fits[:limit]
    return Audit(
        acts=tuple(acts),
        people=people,
        next=acts[-1].at if acts and len(fits) > len(acts) else None,
        notes=(NO_JOURNAL,) if parts.journal is None else (),
    )


async def _all(parts: Parts, via: Via, scope: MemoryScope) -> list[Act]:
    most, which = parts.limits.looked_back, Select.within(scope)
    cold, tray = parts.stores.long_term, parts.stores.quarantine
    memories = (await via(cold.find, cold.afind, which, limit=most)).items
    found = [*_of_memories(memories)]
    for status in ("rejected", "proposed"):
        some = which.also(statuses=(status,))
        for entry in (await via(tray.find, tray.afind, some, limit=most)).items:
            found += _of_entry(entry)
    journal = parts.journal
    if journal is not None:
        lines = await via(
            journal.newest,
            journal.anewest,
            scope,
            kinds=("revoked", "restored", "forgotten"),
            limit=most,
        )
        found += map(_of_line, lines)
    return found


def _fits(act: Act, asked: Asked) -> bool:
    return (
        asked.by in (None, act.by)
        and asked.kind in (None, act.kind)
        and (asked.before is None or act.at < asked.before)
    )


def _of_memories(memories: Iterable[Memory]) -> Iterator[Act]:
    firsts = [one for one in memories if one.chunk_index == 0]
    by_document = {one.document_id: one for one in firsts}
    for one in firsts:
        for at in one.grounds:
            yield Act(
                kind="promoted",
                at=at.promoted_at,
                by=at.promoted_by,
                id=one.id,
                layer="long_term",
                content=one.content,
                detail=f"about {one.subject}" if one.subject else "",
            )
        yield from _ended(one, by_document)
        yield from _checked(one, "long_term")


def _ended(memory: Memory, by_document: Mapping[str, Memory]) -> Iterator[Act]:
    """Yield that a memory was superseded, with who promoted what took its place."""
    if memory.superseded_by is None or memory.valid_to is None:
        return
    heir = by_document.get(memory.superseded_by)
    yield Act(
        kind="superseded",
        at=heir.created_at if heir else memory.valid_to,
        by=heir.promoted_by if heir else "",
        id=memory.id,
        layer="long_term",
        content=memory.content,
        detail=heir.content if heir else "",
    )


def _of_entry(entry: Entry) -> Iterator[Act]:
    if entry.status == "rejected" and entry.decided_at is not None:
        why = entry.metadata.get("rejected_because", entry.metadata.get("reason", ""))
        yield Act(
            kind="rejected",
            at=entry.decided_at,
            by=entry.decided_by or "",
            id=entry.id,
            layer="quarantine",
            content=entry.content,
            detail=why if isinstance(why, str) else "",
        )
    if entry.proposed_by is not None:
        yield Act(
            kind="proposed",
            at=entry.created_at,
            by=entry.proposed_by,
            id=entry.id,
            layer="quarantine",
            content=entry.content,
        )
    yield from _checked(entry, "quarantine")


def _checked(record: Record, layer: Layer) -> Iterator[Act]:
    verdict = record.verdict
    if verdict is not None and verdict.at is not None:
        yield Act(
            kind="checked",
            at=verdict.at,
            by=verdict.by,
            id=record.id,
            layer=layer,
            content=record.content,
            detail="verified" if verdict.verified else "; ".join(verdict.issues) or "wrong",
        )


def _of_line(line: Noted) -> Act:
    kinds: Mapping[str, ActKind] = {
        "revoked": "revoked",
        "restored": "restored",
        "forgotten": "forgotten",
    }
    return Act(
        kind=kinds[line.kind],
        at=line.at,
        by=line.by,
        id=line.what,
        detail=line.reason,
        receipt=line.receipt,
        total=line.counts.total,
    )

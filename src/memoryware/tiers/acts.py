"""What somebody did to memory, as records and the journal say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args

from memoryware.tiers.journal import Noted
from memoryware.tiers.records import Entry, Memory, Record
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
        mark: After which `TieredMemory.audit` goes on.
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
    mark: str = ""


def of_memories(memories: Iterable[Memory], heirs: Iterable[Memory]) -> Iterator[Act]:
    """Yield what was done to memories, with those that took their place among `heirs`."""
    firsts = [one for one in memories if one.chunk_index == 0]
    by_document = {one.document_id: one for one in (*firsts, *heirs) if one.chunk_index == 0}
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


def of_entry(entry: Entry) -> Iterator[Act]:
    """Yield what was done to an entry."""
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


def of_line(line: Noted) -> Act:
    """Return what a line of the journal says."""
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

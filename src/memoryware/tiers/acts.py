"""What somebody did to memory, as records and the journal say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args

from memoryware.tiers.journal import Noted, NotedKind
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
TOLD: Final[Mapping[NotedKind, ActKind]] = {
    "revoked": "revoked",
    "restored": "restored",
    "forgotten": "forgotten",
}
"""What a journal tells of what somebody did."""


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
        about = f"about {one.subject}" if one.subject else ""
        for at in one.grounds:
            yield _done(one, "promoted", at.promoted_at, at.promoted_by, about)
        yield from _ended(one, by_document)
        yield from _checked(one)


def _ended(memory: Memory, by_document: Mapping[str, Memory]) -> Iterator[Act]:
    """Yield that a memory was superseded, with who promoted what took its place."""
    if memory.superseded_by is None or memory.valid_to is None:
        return
    heir = by_document.get(memory.superseded_by)
    if heir is None:
        yield _done(memory, "superseded", memory.valid_to, "")
    else:
        yield _done(memory, "superseded", heir.created_at, heir.promoted_by, heir.content)


def of_entry(entry: Entry) -> Iterator[Act]:
    """Yield what was done to an entry."""
    if entry.status == "rejected" and entry.decided_at is not None:
        why = entry.metadata.get("rejected_because", entry.metadata.get("reason", ""))
        said = why if isinstance(why, str) else ""
        yield _done(entry, "rejected", entry.decided_at, entry.decided_by or "", said)
    for name in entry.all_proposers:
        yield _done(entry, "proposed", entry.created_at, name)
    yield from _checked(entry)


def _checked(record: Record) -> Iterator[Act]:
    verdict = record.verdict
    if verdict is not None and verdict.at is not None:
        said = "verified" if verdict.verified else "; ".join(verdict.issues) or "wrong"
        yield _done(record, "checked", verdict.at, verdict.by, said)


def _done(record: Record, kind: ActKind, at: datetime, by: str, detail: str = "") -> Act:
    """Return what was done to a record."""
    return Act(
        kind=kind,
        at=at,
        by=by,
        id=record.id,
        layer="long_term" if isinstance(record, Memory) else "quarantine",
        content=record.content,
        detail=detail,
    )


def of_line(line: Noted) -> Act:
    """Return what a line of the journal says."""
    return Act(
        kind=TOLD[line.kind],
        at=line.at,
        by=line.by,
        id=line.what,
        detail=line.reason,
        receipt=line.receipt,
        total=line.counts.total,
    )

"""Whether a record fits a selection: the meaning of `Select`, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final

from memoryware.tiers.records import Entry, Memory, lineages
from memoryware.tiers.stores.protocol import Hit, Select

_VALUES: Final[Mapping[str, str]] = {
    "groups": "scope.group_id",
    "users": "scope.user_id",
    "agents": "scope.agent_id",
    "sessions": "scope.session_id",
    "ids": "id",
    "documents": "document_id",
    "statuses": "status",
    "hashes": "content_hash",
    "subjects": "subject",
    "superseded_by": "superseded_by",
    "revocations": "revocation",
}
"""Where a record has the value that each condition asks for."""


def fits(record: Entry | Memory, which: Select) -> bool:
    """Say whether a record fits every condition."""
    if record.scope.tenant != which.tenant:
        return False
    if not all(_has_one_of(record, name, values) for name, values in _given(which)):
        return False
    if which.since is not None and record.created_at < which.since:
        return False
    if which.before is not None and record.created_at >= which.before:
        return False
    if not _comes_from(record, which):
        return False
    if which.contains and which.contains.casefold() not in record.content.casefold():
        return False
    return which.live_at is None or is_live(record, which.live_at, which.ahead)


def _comes_from(record: Entry | Memory, which: Select) -> bool:
    """Say whether what is asked for is in the lineage of a record, by any of its promotions."""
    if which.root is None and which.made_of is None:
        return True
    known = lineages(record)
    if which.root is not None and which.root not in {
        str(root) for one in known for root in one.roots
    }:
        return False
    made_of = which.made_of
    return made_of is None or any(not set(made_of).isdisjoint(one.sources) for one in known)


def is_live(record: Entry | Memory, moment: datetime, ahead: timedelta = timedelta(0)) -> bool:
    """Say whether a record may be shown at a moment; a memory may begin that much later."""
    if isinstance(record, Memory):
        return record.holds_at(moment, ahead)
    expired = record.expires_at is not None and record.expires_at <= moment
    return record.revocation is None and not expired


def _given(which: Select) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    for name in _VALUES:
        values = getattr(which, name)
        if values is not None:
            yield name, values


def _has_one_of(record: Entry | Memory, name: str, values: tuple[str | None, ...]) -> bool:
    """Say whether a record has one of these values; what is asked for is looked at, not more."""
    return attrgetter(_VALUES[name])(record) in values if _has(record, name) else None in values


def _has(record: Entry | Memory, name: str) -> bool:
    """Say whether a record of this kind can have such a value at all."""
    if isinstance(record, Memory):
        return name != "statuses"
    return name not in ("documents", "subjects", "superseded_by")


def best_of(hits: list[Hit], limit: int) -> list[Hit]:
    """Return the best hits; of those that are as good, the latest first."""
    hits.sort(key=lambda hit: (-hit.value, -hit.memory.created_at.timestamp(), hit.memory.id))
    return hits[:limit]


def same_document(memories: Iterable[Memory], new: Memory) -> list[Memory]:
    """Return the chunks of a document that is stored already, in order; none if it is new.

    Args:
        memories: What is stored, in the order in which it was.
        new: A chunk of the document that is about to be stored. A document with its
            `content_hash`, tenant, group and agent counts if it is valid without end and not
            revoked; of several, the one that was stored first.
    """
    equal = [memory for memory in memories if _is_equal(memory, new)]
    chunks = [memory for memory in equal if memory.document_id == equal[0].document_id]
    return sorted(chunks, key=lambda memory: memory.chunk_index)


def _is_equal(memory: Memory, new: Memory) -> bool:
    """Say whether a memory is of a current document with the same text and owner."""
    return (
        memory.content_hash == new.content_hash
        and memory.valid_to is None
        and memory.revocation is None
        and memory.scope.tenant == new.scope.tenant
        and memory.scope.group_id == new.scope.group_id
        and memory.scope.agent_id == new.scope.agent_id
    )

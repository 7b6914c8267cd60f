"""Whether a record fits a selection: the meaning of `Select`, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores.protocol import Select


def fits(record: Entry | Memory, which: Select) -> bool:
    """Say whether a record fits every condition."""
    scope = record.scope
    if scope.tenant != which.tenant:
        return False
    if not all(_is_among(value, values) for value, values in _pairs(record, which)):
        return False
    if which.since is not None and record.created_at < which.since:
        return False
    if which.before is not None and record.created_at >= which.before:
        return False
    if which.root is not None and which.root not in map(str, record.provenance.roots):
        return False
    if which.made_of is not None and not set(which.made_of) & set(record.provenance.sources):
        return False
    if which.contains and which.contains.casefold() not in record.content.casefold():
        return False
    return which.live_at is None or is_live(record, which.live_at)


def is_live(record: Entry | Memory, moment: datetime) -> bool:
    """Say whether a record may be shown at a moment."""
    if isinstance(record, Memory):
        return record.holds_at(moment)
    expired = record.expires_at is not None and record.expires_at <= moment
    return record.revocation is None and not expired


def _pairs(
    record: Entry | Memory, which: Select
) -> Iterator[tuple[str | None, tuple[str | None, ...] | None]]:
    scope, is_memory = record.scope, isinstance(record, Memory)
    yield scope.group_id, which.groups
    yield scope.user_id, which.users
    yield scope.agent_id, which.agents
    yield scope.session_id, which.sessions
    yield record.id, which.ids
    yield record.content_hash, which.hashes
    yield record.revocation, which.revocations
    yield record.document_id if isinstance(record, Memory) else None, which.documents
    yield record.subject if isinstance(record, Memory) else None, which.subjects
    yield None if is_memory else record.status, which.statuses  # type: ignore[union-attr]


def _is_among(value: str | None, values: tuple[str | None, ...] | None) -> bool:
    return values is None or value in values

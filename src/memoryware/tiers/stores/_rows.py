"""Records as rows, and selections as conditions of SQL."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._json import entry_from_json, memory_from_json, record_to_json
from memoryware.tiers.stores.protocol import Select

COLUMNS: Final = (
    "tier", "id", "part", "tenant", "group_id", "user_id", "agent_id", "session_id", "status",
    "hash", "document", "subject", "revocation", "once", "created", "expires", "valid_from",
    "valid_to", "size", "body",
)  # fmt: skip
_ANY_OF: Final = {
    "users": "user_id",
    "agents": "agent_id",
    "sessions": "session_id",
    "ids": "id",
    "documents": "document",
    "statuses": "status",
    "hashes": "hash",
    "subjects": "subject",
    "revocations": "revocation",
}
"""The column of each condition that is a tuple of values."""


def part_of(tenant: str | None, group: str | None) -> str:
    """Return tenant and group as one text; no two pairs have the same."""
    return json.dumps([tenant, group], ensure_ascii=True)


def token_of(part: str) -> str:
    """Return the word that stands for a tenant and group, or a tenant, in the index of words."""
    return "p" + hashlib.blake2b(part.encode(), digest_size=16).hexdigest()


def row_of(tier: str, record: Entry | Memory) -> tuple[Any, ...]:
    """Return a record as the values of `COLUMNS`."""
    scope = record.scope
    row = {
        "tier": tier,
        "id": record.id,
        "part": part_of(scope.tenant, scope.group_id),
        "tenant": scope.tenant,
        "group_id": scope.group_id,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "session_id": scope.session_id,
        "hash": record.content_hash,
        "revocation": record.revocation,
        "created": micros(record.created_at),
        "body": json.dumps(record_to_json(record), ensure_ascii=True),
    }
    if isinstance(record, Entry):
        row |= {"status": record.status, "once": record.key if tier == "quarantine" else None}
        row |= {"expires": micros(record.expires_at), "size": 0}
    else:
        row |= {"document": record.document_id, "subject": record.subject}
        row |= {"valid_from": micros(record.valid_from), "valid_to": micros(record.valid_to)}
        row |= {"size": len(words_of(record.content))}
    return tuple(row.get(name) for name in COLUMNS)


def record_of(tier: str, body: str) -> Any:
    """Return the record of a row."""
    data = json.loads(body)
    return memory_from_json(data) if tier == "long_term" else entry_from_json(data)


def micros(moment: datetime | None) -> int | None:
    """Return a moment in whole microseconds since 1970."""
    if moment is None:
        return None
    since = moment.timestamp()
    return int(since // 1) * 1_000_000 + moment.microsecond


def condition(tier: str, which: Select) -> tuple[str, list[Any]]:
    """Return the condition of a selection, and its values."""
    pieces, values = [], list[Any]()
    for sql, more in _conditions(tier, which):
        pieces.append(sql)
        values += more
    return " AND ".join(pieces), values


def _conditions(tier: str, which: Select) -> Iterator[tuple[str, list[Any]]]:
    yield "record.tier = ?", [tier]
    if which.groups is None:
        yield "record.tenant IS ?", [which.tenant]
    else:
        parts = [part_of(which.tenant, one) for one in which.groups]
        yield _among("part", parts)
    for name, column in _ANY_OF.items():
        values = getattr(which, name)
        if values is not None:
            yield _among(column, list(values))
    for table, names in (("root", which.root), ("source", which.made_of)):
        if names is not None:
            given = [names] if isinstance(names, str) else list(names)
            among, values = _among("name", given, table)
            yield f"record.seq IN (SELECT seq FROM {table} WHERE {among})", values
    if which.since is not None:
        yield "record.created >= ?", [micros(which.since)]
    if which.before is not None:
        yield "record.created < ?", [micros(which.before)]
    if which.contains:
        yield "memoryware_has(record.body, ?)", [which.contains]
    if which.live_at is not None:
        yield _live(tier, micros(which.live_at))


def _live(tier: str, moment: int | None) -> tuple[str, list[Any]]:
    if tier != "long_term":
        expired = "(record.expires IS NULL OR record.expires > ?)"
        return f"record.revocation IS NULL AND {expired}", [moment]
    begun, ended = "record.valid_from <= ?", "(record.valid_to IS NULL OR record.valid_to > ?)"
    return f"record.revocation IS NULL AND {begun} AND {ended}", [moment, moment]


def _among(column: str, values: list[Any], table: str = "record") -> tuple[str, list[Any]]:
    """Return a condition that a column has one of these values; None among them is no value."""
    texts = [one for one in values if one is not None]
    among = f"{table}.{column} IN (SELECT value FROM json_each(?))"
    if len(texts) == 1:
        among = f"{table}.{column} = ?"
    given: list[Any] = texts if len(texts) == 1 else [json.dumps(texts)]
    return (f"({among} OR {table}.{column} IS NULL)" if None in values else among), given

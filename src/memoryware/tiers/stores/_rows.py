"""Records as rows, and selections as conditions of SQL."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from memoryware.errors import StoreUnavailable
from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._json import entry_from_json, memory_from_json, record_to_json
from memoryware.tiers.stores.protocol import Select

COLUMNS: Final = (
    "tier", "id", "part", "tenant", "group_id", "user_id", "agent_id", "session_id", "status",
    "hash", "document", "subject", "revocation", "once", "created", "expires", "valid_from",
    "valid_to", "size", "content", "body",
)  # fmt: skip
READ: Final = "record.body, record.content"
"""The columns of which `record_of` makes a record."""
_ANY_OF: Final = {
    "ids": "id",
    "documents": "document",
    "revocations": "revocation",
    "sessions": "session_id",
    "hashes": "hash",
    "subjects": "subject",
    "statuses": "status",
    "users": "user_id",
    "agents": "agent_id",
}
"""The column of each condition that is a tuple of values; the most telling ones first."""
_OF_TENANT: Final = frozenset(
    {"document", "revocation", "session_id", "subject", "user_id", "agent_id"}
)
"""Columns whose index begins with the tenant; that of others begins with the group."""
_ODD: Final = re.compile("[\x00\ud800-\udfff]|^\x01")
_MARK: Final = "\x01"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def part_of(tenant: str | None, group: str | None) -> str:
    """Return tenant and group as one text; no two pairs have the same."""
    return json.dumps([tenant, group], ensure_ascii=True)


def tokens_of(tenant: str | None, *groups: str | None) -> list[str]:
    """Return the words that stand for these groups in the index of words; of none the tenant's."""
    parts = [part_of(tenant, one) for one in groups] or [json.dumps([tenant])]
    digests = (hashlib.blake2b(one.encode(), digest_size=16) for one in parts)
    return [f"p{one.hexdigest()}" for one in digests]


def flat(text: str | None) -> str | None:
    """Return a text as every database can keep and compare it; no two texts have the same."""
    if text is None or not _ODD.search(text):
        return text
    return _MARK + json.dumps(text)[1:-1]  # NUL and halves of pairs: what UTF-8 or C cannot hold


def unflat(text: str) -> str:
    """Return the text of which `flat` made this one."""
    return str(json.loads(f'"{text[1:]}"')) if text.startswith(_MARK) else text


def unflat_or_none(text: str | None) -> str | None:
    """Return the text of which `flat` made this one; None of None."""
    return None if text is None else unflat(text)


def has(content: str, folded: str) -> bool:
    """Say whether a kept content has a text, whatever its case; that is folded and flat."""
    return unflat(folded) in unflat(content).casefold()


def row_of(tier: str, record: Entry | Memory) -> tuple[Any, ...]:
    """Return a record as the values of `COLUMNS`."""
    scope, body = record.scope, record_to_json(record)
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
        "content": body.pop("content"),
        "body": json.dumps(body, ensure_ascii=True),
    }
    if isinstance(record, Entry):
        row |= {"status": record.status, "once": record.key if tier == "quarantine" else None}
        row |= {"expires": micros(record.expires_at), "size": 0}
    else:
        row |= {"document": record.document_id, "subject": record.subject}
        row |= {"valid_from": micros(record.valid_from), "valid_to": micros(record.valid_to)}
        row |= {"size": len(words_of(record.content))}
    values = (row.get(name) for name in COLUMNS)
    return tuple(flat(one) if isinstance(one, str) else one for one in values)


def record_of(tier: str, row: Sequence[Any]) -> Any:
    """Return the record of a row of `READ`.

    Raises:
        StoreUnavailable: If the row cannot be read.
    """
    try:
        data = {**json.loads(row[0]), "content": unflat(row[1])}
        return memory_from_json(data) if tier == "long_term" else entry_from_json(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreUnavailable(
            f"A record in {tier} cannot be read: the file is damaged, or another program has"
            " written into it; restore a copy"
        ) from error


def micros(moment: datetime | None) -> int | None:
    """Return a moment in whole microseconds since 1970."""
    return None if moment is None else (moment - _EPOCH) // timedelta(microseconds=1)


def condition(tier: str, which: Select) -> tuple[str, list[Any]]:
    """Return the condition of a selection, and its values."""
    pieces, values = [], list[Any]()
    for sql, more in _conditions(tier, which):
        pieces.append(sql)
        values += more
    return " AND ".join(pieces), values


def corpus(which: Select) -> tuple[str, list[Any]]:
    """Return the condition of all memories of the tenant and groups of a selection."""
    return condition("long_term", Select(tenant=which.tenant, groups=which.groups))


def order(which: Select) -> str:
    """Return by what to sort, what was stored last first, without losing the telling index."""
    key = _key(which)
    return f"{'+' if key and len(_given(which)[key]) > 1 else ''}record.seq DESC"


def _given(which: Select) -> dict[str, tuple[str | None, ...]]:
    every = ((column, getattr(which, name)) for name, column in _ANY_OF.items())
    return {column: values for column, values in every if values is not None}


def _key(which: Select) -> str | None:
    """Return the column whose index is taken."""
    return next((one for one, values in _given(which).items() if None not in values), None)


def _conditions(tier: str, which: Select) -> Iterator[tuple[str, list[Any]]]:
    """Yield conditions that leave one index to take, that of the most telling one.

    A `+` keeps SQLite from taking another, which it likes to do where that spares sorting.
    """
    key = _key(which)
    everywhere = key == "id" and which.groups is None
    yield f"{'+' if everywhere else ''}record.tier = ?", [tier]
    yield from _whose(which, key)
    for column, wanted in _given(which).items():
        yield _among(f"{'' if column == key else '+'}record.{column}", wanted)
    for table, names in (("root", which.root), ("source", which.made_of)):
        if names is not None:
            among, values = _among(f"{table}.name", [names] if isinstance(names, str) else names)
            yield f"record.seq IN (SELECT seq FROM {table} WHERE {among})", values
    if which.since is not None:
        yield "record.created >= ?", [micros(which.since)]
    if which.before is not None:
        yield "record.created < ?", [micros(which.before)]
    if which.contains:
        yield "memoryware_has(record.content, ?)", [flat(which.contains.casefold())]
    if which.live_at is not None:
        yield _live(tier, micros(which.live_at))


def _whose(which: Select, key: str | None) -> Iterator[tuple[str, list[Any]]]:
    if which.groups is None:
        yield f"{'+' if key == 'id' else ''}record.tenant IS ?", [flat(which.tenant)]
        return
    parts = [part_of(which.tenant, one) for one in which.groups]
    if key in _OF_TENANT:
        yield "record.tenant IS ?", [flat(which.tenant)]
        yield _among("+record.part", parts)
    else:
        yield _among("record.part", parts)


def _live(tier: str, moment: int | None) -> tuple[str, list[Any]]:
    if tier != "long_term":
        expired = "(record.expires IS NULL OR record.expires > ?)"
        return f"record.revocation IS NULL AND {expired}", [moment]
    begun, ended = "record.valid_from <= ?", "(record.valid_to IS NULL OR record.valid_to > ?)"
    return f"record.revocation IS NULL AND {begun} AND {ended}", [moment, moment]


def _among(column: str, values: Sequence[str | None]) -> tuple[str, list[Any]]:
    """Return a condition that a column has one of these values; None among them is no value."""
    texts = [flat(one) for one in values if one is not None]
    if len(texts) == 1:
        among, given = f"{column} = ?", [texts[0]]
    else:
        among, given = f"{column} IN (SELECT value FROM json_each(?))", [json.dumps(texts)]
    return (f"({among} OR {column} IS NULL)" if None in values else among), given

"""Records as rows, and selections as conditions of SQL: what the dialects of databases share."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, TypeAlias

from memoryware.errors import StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_text
from memoryware.tiers.stores.protocol import Select

Condition: TypeAlias = tuple[str, list[Any]]
"""A condition in SQL, and its values."""
COLUMNS: Final = (
    "tier", "id", "part", "tenant", "group_id", "user_id", "agent_id", "session_id", "status",
    "hash", "document", "subject", "revocation", "once", "created", "expires", "valid_from",
    "valid_to", "size", "content", "body",
)  # fmt: skip
READ: Final = "record.body, record.content"
"""The columns of which `record_of` makes a record."""
ANY_OF: Final = {
    "ids": "id",
    "documents": "document",
    "superseded_by": "superseded",
    "revocations": "revocation",
    "sessions": "session_id",
    "hashes": "hash",
    "subjects": "subject",
    "statuses": "status",
    "users": "user_id",
    "agents": "agent_id",
}
"""The column of each condition that is a tuple of values; the most selective ones first."""
_OF_TENANT: Final = frozenset(
    {"document", "superseded", "revocation", "session_id", "subject", "user_id", "agent_id"}
)
"""Columns whose index begins with the tenant; that of others begins with the group."""
_COMPARED: Final = (
    "id", "part", "tenant", "group_id", "user_id", "agent_id", "session_id", "hash", "document",
    "subject", "revocation", "once",
)  # fmt: skip
"""Columns with texts of any length that are only compared."""
_KNOWN: Final = 4096
"""Tenants and groups of which the names are remembered."""
_ODD: Final = re.compile("[\x00\ud800-\udfff]|^\x01")
_MARK: Final = "\x01"
CONVERTED_AT_ONCE: Final = 120
"""Records that are converted before they are stored; of more, the rows would take much memory,
and Python's garbage collector would look through all of them again and again."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO: Final = timedelta(microseconds=1)


@lru_cache(maxsize=_KNOWN)
def group_key(tenant: str | None, group: str | None) -> str:
    """Return tenant and group as one text; no two pairs have the same."""
    return json.dumps([tenant, group], ensure_ascii=True)


def tokens_of(tenant: str | None, *groups: str | None) -> list[str]:
    """Return the tokens of these groups in the index of words; without groups the tenant's."""
    parts = [group_key(tenant, group) for group in groups] or [json.dumps([tenant])]
    digests = (hashlib.blake2b(part.encode(), digest_size=16) for part in parts)
    return [f"p{digest.hexdigest()}" for digest in digests]


def names_of(scope: MemoryScope) -> tuple[str, ...]:
    """Return the tokens under which the words of a memory are indexed: its tenant and its group."""
    return _names_of(scope.tenant, scope.group_id)


@lru_cache(maxsize=_KNOWN)
def _names_of(tenant: str | None, group: str | None) -> tuple[str, ...]:
    return (*tokens_of(tenant), *tokens_of(tenant, group))


def flat(text: str | None) -> str | None:
    """Encode a text so that every database can store and compare it; no two have the same code."""
    if text is None or text.isprintable() or not _ODD.search(text):
        return text
    return _MARK + json.dumps(text)[1:-1]  # NUL and halves of pairs: what UTF-8 or C cannot hold


def unflat(text: str) -> str:
    """Decode what `flat` returned."""
    return str(json.loads(f'"{text[1:]}"')) if text.startswith(_MARK) else text


def record_of(tier: str, row: Sequence[Any]) -> Any:
    """Decode the record of a row of `READ`.

    Raises:
        StoreUnavailable: If the row cannot be decoded.
    """
    try:
        data = {**json.loads(row[0]), "content": unflat(row[1])}
        return memory_from_json(data) if tier == "long_term" else entry_from_json(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(tier) from error


def damaged(tier: str) -> StoreUnavailable:
    """Return the error for a row that cannot be decoded."""
    return StoreUnavailable(
        f"A record in {tier} cannot be read: the file is damaged, or another program has"
        " written into it; restore a copy"
    )


@lru_cache(maxsize=16)
def insertion(columns: tuple[str, ...]) -> str:
    """Return the INSERT statement for a record with these columns."""
    return f"INSERT INTO record ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def micros(moment: datetime | None) -> int | None:
    """Return a moment in whole microseconds since 1970."""
    return None if moment is None else (moment - EPOCH) // _MICRO


class SqlDialect:
    """The SQL of a database: how records become rows, and selections conditions."""

    columns: tuple[str, ...] = COLUMNS
    read: str = READ
    """The columns of which, behind the number of a record, `record` makes it."""
    lock_clause: str = ""
    """What ends a `SELECT` of records that are changed next."""
    owner: str = ""
    """The column that says whose a row is, where others can write rows by hand; see `is_own`."""

    def record(self, tier: str, row: Sequence[Any]) -> Any:
        """Decode the record of a row: its number, and the columns of `read`.

        Raises:
            StoreUnavailable: If the row cannot be decoded.
        """
        return record_of(tier, row[1:])

    def records(self, tier: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Decode the records of many rows; see `record`."""
        return [self.record(tier, row) for row in rows]

    def key(self, text: str | None) -> Any:
        """Encode a text for a column that is compared."""
        return flat(text)

    part: str = "part"
    """The column, or expression, that says of which tenant and group a record is."""
    expires: str = "expires"
    """When an entry expires."""
    current: str = "record.valid_to IS NULL AND record.revocation IS NULL"
    """What a memory fits that is valid without end, and not revoked."""

    def stored_group_key(self, part: str) -> Any:
        """Encode the key of a group as `part` has it."""
        return self.key(part)

    def in_tier(self, tier: str, *, loose: bool = False) -> str:
        """Return the condition that a record is of a tier; with `loose` no index is taken."""
        return f"{self.loose('tier') if loose else 'tier'} = '{tier}'"

    def text_of(self, stored: str) -> str | None:
        """Decode what `key` returned, None if that is impossible."""
        return unflat(stored)

    def loose(self, column: str) -> str:
        """Return a column of text in a form for which the database takes no index."""
        return column

    def unsorted(self) -> str:
        """Return the number of a record in a form for which the database takes no index."""
        return "record.seq"

    def any_of(self, column: str, texts: Sequence[Any]) -> Condition:
        """Return the condition that a column has one of these texts, as `key` returned them."""
        raise NotImplementedError

    def numbered(self, column: str, numbers: Iterable[int]) -> Condition:
        """Return the condition that a column has one of these numbers."""
        raise NotImplementedError

    def within(self, scope: MemoryScope) -> Condition:
        """Return the condition that a record is of the tenant and group of a scope."""
        here, values = self.where(scope.tenant)
        part = self.key(group_key(scope.tenant, scope.group_id))
        return f"record.part = ?{here}", [part, *values]

    def where(self, tenant: str | None) -> Condition:  # noqa: ARG002 - everything is in one place
        """Return a condition on the tenant, for statements that select by numbers alone."""
        return "", []

    def is_own(self, record: Entry | Memory, owner: Sequence[Any]) -> bool:  # noqa: ARG002 - so it is
        """Return whether a record is of the tenant that owns its row."""
        return True

    def contains(self, folded: str) -> Condition:
        """Return the condition that the content contains a text, which is case-folded."""
        raise NotImplementedError

    def row_of(self, tier: str, record: Entry | Memory, words: int) -> tuple[Any, ...]:
        """Encode a record, whose text has so many words, as the values of `columns`."""
        return tuple(map(self._row(tier, record, words).get, self.columns))

    def _row(self, tier: str, record: Entry | Memory, words: int) -> dict[str, Any]:
        scope = record.scope
        row: dict[str, Any] = {
            "tier": tier,
            "id": record.id,
            "part": group_key(scope.tenant, scope.group_id),
            "tenant": scope.tenant,
            "group_id": scope.group_id,
            "user_id": scope.user_id,
            "agent_id": scope.agent_id,
            "session_id": scope.session_id,
            "hash": record.content_hash,
            "revocation": record.revocation,
            "created": micros(record.created_at),
            "content": flat(record.content),
            "body": record_to_text(record),
            "size": words,
        }
        if isinstance(record, Entry):
            row |= {"status": record.status, "once": record.key if tier == "quarantine" else None}
            row["expires"] = micros(record.expires_at)
        else:
            row |= {"document": record.document_id, "subject": record.subject}
            row |= {"valid_from": micros(record.valid_from), "valid_to": micros(record.valid_to)}
        for name in _COMPARED:
            if (text := row.get(name)) is not None:
                row[name] = self.key(text)
        return row

    def condition(self, tier: str, selection: Select) -> Condition:
        """Return the condition of a selection, and its values."""
        pieces, values = [], list[Any]()
        for sql, more in self._conditions(tier, selection):
            pieces.append(sql)
            values += more
        return " AND ".join(pieces), values

    def corpus(self, selection: Select) -> Condition:
        """Return the condition of all memories of the tenant and groups of a selection."""
        return self.condition("long_term", Select(tenant=selection.tenant, groups=selection.groups))

    def order_column(self, selection: Select) -> str:
        """Return the number of a record, to sort by it without losing the most selective index."""
        key = _key(selection)
        several = key is not None and len(_given(selection)[key]) > 1
        return self.unsorted() if several else "record.seq"

    def same(self, column: str, text: str | None) -> Condition:
        """Return the condition that a column has this text, or has no value for None."""
        return self._among(column, (text,))

    def _conditions(self, tier: str, selection: Select) -> Iterator[Condition]:
        """Yield conditions that leave the database one index to take, the most selective one."""
        key = _key(selection)
        everywhere = key == "id" and selection.groups is None
        yield f"{self.loose('record.tier') if everywhere else 'record.tier'} = ?", [tier]
        yield from self._whose(selection, key)
        for column, value in _given(selection).items():
            named = f"record.{column}"
            yield self._among(named if column == key else self.loose(named), value)
        for table, names in (("root", selection.root), ("source", selection.made_of)):
            if names is not None:
                texts = [names] if isinstance(names, str) else names
                among, values = self._among(f"{table}.name", texts)
                yield f"record.seq IN (SELECT seq FROM {table} WHERE {among})", values
        if selection.since is not None:
            yield "record.created >= ?", [micros(selection.since)]
        if selection.before is not None:
            yield "record.created < ?", [micros(selection.before)]
        if selection.contains:
            yield self.contains(selection.contains.casefold())
        if selection.live_at is not None:
            yield _live(
                tier, micros(selection.live_at), micros(selection.live_at + selection.ahead)
            )

    def _whose(self, selection: Select, key: str | None) -> Iterator[Condition]:
        if selection.groups is None:
            column = self.loose("record.tenant") if key == "id" else "record.tenant"
            yield self.same(column, selection.tenant)
            return
        parts = [group_key(selection.tenant, group) for group in selection.groups]
        if key in _OF_TENANT:
            yield self.same("record.tenant", selection.tenant)
            yield self._among(self.loose("record.part"), parts)
        else:
            yield self._among("record.part", parts)

    def _among(self, column: str, values: Sequence[str | None]) -> Condition:
        """Return the condition that a column has one of these values; None is no value."""
        texts = [self.key(value) for value in values if value is not None]
        if not texts and values:
            return f"{column} IS NULL", []
        condition = (f"{column} = ?", [texts[0]]) if len(texts) == 1 else self.any_of(column, texts)
        return (
            (f"({condition[0]} OR {column} IS NULL)", condition[1]) if None in values else condition
        )


def _given(selection: Select) -> dict[str, tuple[str | None, ...]]:
    every = ((column, getattr(selection, name)) for name, column in ANY_OF.items())
    return {column: values for column, values in every if values is not None}


def _key(selection: Select) -> str | None:
    """Return the column whose index is taken."""
    return next((key for key, values in _given(selection).items() if None not in values), None)


def _live(tier: str, moment: int | None, begun_by: int | None) -> tuple[str, list[Any]]:
    if tier != "long_term":
        expired = "(record.expires IS NULL OR record.expires > ?)"
        return f"record.revocation IS NULL AND {expired}", [moment]
    begun, ended = "record.valid_from <= ?", "(record.valid_to IS NULL OR record.valid_to > ?)"
    return f"record.revocation IS NULL AND {begun} AND {ended}", [begun_by, moment]

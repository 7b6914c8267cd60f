"""Records as rows, and selections as conditions of SQL, for every database that we know."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory, lineages
from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_text
from memoryware.tiers.stores.protocol import Select, Space
from memoryware.tiers.text.terms import words_of

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
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO: Final = timedelta(microseconds=1)


@lru_cache(maxsize=_KNOWN)
def part_of(tenant: str | None, group: str | None) -> str:
    """Return tenant and group as one text; no two pairs have the same."""
    return json.dumps([tenant, group], ensure_ascii=True)


def tokens_of(tenant: str | None, *groups: str | None) -> list[str]:
    """Return the words that stand for these groups in the index of words; of none the tenant's."""
    parts = [part_of(tenant, one) for one in groups] or [json.dumps([tenant])]
    digests = (hashlib.blake2b(one.encode(), digest_size=16) for one in parts)
    return [f"p{one.hexdigest()}" for one in digests]


def names_of(scope: MemoryScope) -> tuple[str, ...]:
    """Return the names of the parts that a memory is in: its tenant and its group."""
    return _names_of(scope.tenant, scope.group_id)


@lru_cache(maxsize=_KNOWN)
def _names_of(tenant: str | None, group: str | None) -> tuple[str, ...]:
    return (*tokens_of(tenant), *tokens_of(tenant, group))


def flat(text: str | None) -> str | None:
    """Return a text as every database can keep and compare it; no two texts have the same."""
    if text is None or text.isprintable() or not _ODD.search(text):
        return text
    return _MARK + json.dumps(text)[1:-1]  # NUL and halves of pairs: what UTF-8 or C cannot hold


def unflat(text: str) -> str:
    """Return the text of which `flat` made this one."""
    return str(json.loads(f'"{text[1:]}"')) if text.startswith(_MARK) else text


def unflat_or_none(text: str | None) -> str | None:
    """Return the text of which `flat` made this one; None of None."""
    return None if text is None else unflat(text)


def record_of(tier: str, row: Sequence[Any]) -> Any:
    """Return the record of a row of `READ`.

    Raises:
        StoreUnavailable: If the row cannot be read.
    """
    try:
        data = {**json.loads(row[0]), "content": unflat(row[1])}
        return memory_from_json(data) if tier == "long_term" else entry_from_json(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(tier) from error


def damaged(tier: str) -> StoreUnavailable:
    """Return the error for a row that cannot be read."""
    return StoreUnavailable(
        f"A record in {tier} cannot be read: the file is damaged, or another program has"
        " written into it; restore a copy"
    )


@lru_cache(maxsize=16)
def insertion(columns: tuple[str, ...]) -> str:
    """Return the statement that keeps a new record of these columns."""
    return f"INSERT INTO record ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def micros(moment: datetime | None) -> int | None:
    """Return a moment in whole microseconds since 1970."""
    return None if moment is None else (moment - EPOCH) // _MICRO


class Rows:
    """How a database writes records down and asks for them; see `sqlite.rows`."""

    columns: tuple[str, ...] = COLUMNS
    read: str = READ
    """The columns of which, behind the number of a record, `record` makes it."""
    held: str = ""
    """What ends a `SELECT` of records that are changed next."""
    owner: str = ""
    """The column that says whose a row is, where others can write rows by hand; see `is_own`."""

    def record(self, tier: str, row: Sequence[Any]) -> Any:
        """Return the record of a row: its number, and the columns of `read`.

        Raises:
            StoreUnavailable: If the row cannot be read.
        """
        return record_of(tier, row[1:])

    def records(self, tier: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the records of many rows; see `record`."""
        return [self.record(tier, row) for row in rows]

    def key(self, text: str | None) -> Any:
        """Return a text as it is kept to be compared."""
        return flat(text)

    part: str = "part"
    """The column, or expression, that says of which tenant and group a record is."""
    expires: str = "expires"
    """When an entry expires."""
    current: str = "record.valid_to IS NULL AND record.revocation IS NULL"
    """What a memory fits that is valid without end, and not revoked."""
    vector_of: str = "space = ? AND seq = record.seq"
    """What the vector of a record in a space fits."""

    def key_of_part(self, part: str) -> Any:
        """Return the name of a tenant and group as `part` has it."""
        return self.key(part)

    def in_tier(self, tier: str, *, loose: bool = False) -> str:
        """Return the condition that a record is of a tier; with `loose` no index is taken."""
        return f"{self.loose('tier') if loose else 'tier'} = '{tier}'"

    def named(self, kept: str) -> str | None:
        """Return the text of which `key` made this one, None if it cannot be known."""
        return unflat(kept)

    def loose(self, column: str) -> str:
        """Return a column of text in such a way that its index is not taken."""
        return column

    def unsorted(self) -> str:
        """Return the number of a record in such a way that no index is taken for its order."""
        return "record.seq"

    def any_of(self, column: str, texts: Sequence[Any]) -> Condition:
        """Return a condition that a column has one of these texts, as `key` returned them."""
        raise NotImplementedError

    def numbered(self, column: str, numbers: Iterable[int]) -> Condition:
        """Return a condition that a column has one of these numbers."""
        raise NotImplementedError

    def within(self, scope: MemoryScope) -> Condition:
        """Return a condition that a record is of the tenant and group of a scope."""
        here, values = self.where(scope.tenant)
        part = self.key(part_of(scope.tenant, scope.group_id))
        return f"record.part = ?{here}", [part, *values]

    def where(self, tenant: str | None) -> Condition:  # noqa: ARG002 - everything is in one place
        """Return what follows a condition that only fits a tenant, to say where that is kept."""
        return "", []

    def is_own(self, record: Entry | Memory, owner: Sequence[Any]) -> bool:  # noqa: ARG002 - so it is
        """Say whether a record is of the tenant whose row it is in."""
        return True

    def contains(self, folded: str) -> Condition:
        """Return a condition that the content has a text, whatever its case; that is folded."""
        raise NotImplementedError

    def row_of(self, tier: str, record: Entry | Memory, words: int) -> tuple[Any, ...]:
        """Return a record, whose text has so many words, as the values of `columns`."""
        return tuple(map(self._row(tier, record, words).get, self.columns))

    def _row(self, tier: str, record: Entry | Memory, words: int) -> dict[str, Any]:
        scope = record.scope
        row: dict[str, Any] = {
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

    def condition(self, tier: str, which: Select) -> Condition:
        """Return the condition of a selection, and its values."""
        pieces, values = [], list[Any]()
        for sql, more in self._conditions(tier, which):
            pieces.append(sql)
            values += more
        return " AND ".join(pieces), values

    def corpus(self, which: Select) -> Condition:
        """Return the condition of all memories of the tenant and groups of a selection."""
        return self.condition("long_term", Select(tenant=which.tenant, groups=which.groups))

    def place(self, which: Select) -> str:
        """Return the number of a record, to sort by it without losing the telling index."""
        key = _key(which)
        several = key is not None and len(_given(which)[key]) > 1
        return self.unsorted() if several else "record.seq"

    def same(self, column: str, text: str | None) -> Condition:
        """Return a condition that a column has this text, or no value as well."""
        return self._among(column, (text,))

    def _conditions(self, tier: str, which: Select) -> Iterator[Condition]:
        """Yield conditions that leave one index to take, that of the most telling one."""
        key = _key(which)
        everywhere = key == "id" and which.groups is None
        yield f"{self.loose('record.tier') if everywhere else 'record.tier'} = ?", [tier]
        yield from self._whose(which, key)
        for column, wanted in _given(which).items():
            named = f"record.{column}"
            yield self._among(named if column == key else self.loose(named), wanted)
        for table, names in (("root", which.root), ("source", which.made_of)):
            if names is not None:
                one = [names] if isinstance(names, str) else names
                among, values = self._among(f"{table}.name", one)
                yield f"record.seq IN (SELECT seq FROM {table} WHERE {among})", values
        if which.since is not None:
            yield "record.created >= ?", [micros(which.since)]
        if which.before is not None:
            yield "record.created < ?", [micros(which.before)]
        if which.contains:
            yield self.contains(which.contains.casefold())
        if which.live_at is not None:
            yield _live(tier, micros(which.live_at), micros(which.live_at + which.ahead))

    def _whose(self, which: Select, key: str | None) -> Iterator[Condition]:
        if which.groups is None:
            column = self.loose("record.tenant") if key == "id" else "record.tenant"
            yield self.same(column, which.tenant)
            return
        parts = [part_of(which.tenant, one) for one in which.groups]
        if key in _OF_TENANT:
            yield self.same("record.tenant", which.tenant)
            yield self._among(self.loose("record.part"), parts)
        else:
            yield self._among("record.part", parts)

    def _among(self, column: str, values: Sequence[str | None]) -> Condition:
        """Return a condition that a column has one of these; None among them is no value."""
        texts = [self.key(one) for one in values if one is not None]
        if not texts and values:
            return f"{column} IS NULL", []
        one = (f"{column} = ?", [texts[0]]) if len(texts) == 1 else self.any_of(column, texts)
        return (f"({one[0]} OR {column} IS NULL)", one[1]) if None in values else one


def _given(which: Select) -> dict[str, tuple[str | None, ...]]:
    every = ((column, getattr(which, name)) for name, column in ANY_OF.items())
    return {column: values for column, values in every if values is not None}


def _key(which: Select) -> str | None:
    """Return the column whose index is taken."""
    return next((one for one, values in _given(which).items() if None not in values), None)


def _live(tier: str, moment: int | None, begun_by: int | None) -> tuple[str, list[Any]]:
    if tier != "long_term":
        expired = "(record.expires IS NULL OR record.expires > ?)"
        return f"record.revocation IS NULL AND {expired}", [moment]
    begun, ended = "record.valid_from <= ?", "(record.valid_to IS NULL OR record.valid_to > ?)"
    return f"record.revocation IS NULL AND {begun} AND {ended}", [begun_by, moment]


_EVERY: Final = 2**63 - 1
"""A limit that is none."""
_AT_ONCE: Final = 120
"""Records that are converted before they are stored; of more, the rows would take much memory,
and Python's garbage collector would look through all of them again and again."""


class SpaceRow(NamedTuple):
    """An embedding space of a database."""

    number: int
    space: Space
    current: bool


SPACES_READ: Final = "SELECT id, name, dimension, current FROM space ORDER BY current DESC, id"
"""Reads every embedding space, the current one first."""


class WideRecords:
    """The row-level half of a transaction, for an engine with such tables and an index of words.

    Whoever inherits it offers the other methods of `port.Transaction`.
    """

    rows: Rows
    _spaces: Sequence[SpaceRow] | None = None
    """The embedding spaces as they were read last."""

    async def find_whole(self, requests: Sequence[tuple[str, Select]]) -> list[Sequence[Any]]:
        tx: Any = self
        reads = []
        for tier, which in requests:
            (where, values), place = self.rows.condition(tier, which), self.rows.place(which)
            sql = f"SELECT seq, {self.rows.read} FROM record WHERE {where} ORDER BY {place} DESC"
            reads.append(tx.execute(sql, *values))
        found: list[Sequence[Any]] = await tx.gather(reads)
        return found

    async def read_part(
        self,
        tier: str,  # noqa: ARG002
        which: Select,  # noqa: ARG002
        sql: str,
        *values: object,
    ) -> Sequence[Any]:
        tx: Any = self
        rows: Sequence[Any] = await tx.execute(sql, *values)
        return rows

    async def known_spaces(self) -> Sequence[SpaceRow]:
        tx: Any = self
        rows = await tx.execute(SPACES_READ)
        self._spaces = [
            SpaceRow(number, Space(unflat(name), dimension), bool(current))
            for number, name, dimension, current in rows
        ]
        return self._spaces

    async def number_of_space(self, space: Space) -> int | None:
        rows = self._spaces
        if rows is None or all(row.space.name != space.name for row in rows):
            rows = await self.known_spaces()  # it may have been made meanwhile
        named = next((row for row in rows if row.space.name == space.name), None)
        if named is not None and named.space != space:
            raise EmbeddingMismatch(str(named.space), str(space))
        return None if named is None else named.number

    async def unembedded(self, space: Space, limit: int) -> Sequence[Any]:
        tx: Any = self
        rows = await tx.execute("SELECT name, id FROM space")
        known: dict[str | None, int] = {row[0]: row[1] for row in rows}
        number = known.pop(flat(space.name), 0)
        # As values, so that the database knows how few there are and does not compare all vectors.
        among, spaces = self.rows.numbered("space", [0, *known.values()])
        found: Sequence[Any] = await tx.execute(
            f"SELECT seq, {self.rows.read} FROM record WHERE seq IN (SELECT seq FROM record"
            f" WHERE {among}"
            f" AND NOT EXISTS (SELECT 1 FROM vector WHERE {self.rows.vector_of})"
            " ORDER BY seq LIMIT ?) ORDER BY seq",
            *spaces, number, limit,
        )  # fmt: skip
        return found

    async def insert(
        self, tier: str, records: Sequence[Any], spaces: Mapping[int, int]
    ) -> list[int]:
        tx: Any = self
        numbers, known = list[int](), tier == "long_term"
        texts: list[Sequence[str]] = [words_of(one.content) if known else () for one in records]
        for start in range(0, len(records), _AT_ONCE):
            some = records[start : start + _AT_ONCE]
            made = [
                (
                    spaces.get(place, 0) if known else None,
                    *self.rows.row_of(tier, one, len(texts[place])),
                )
                for place, one in enumerate(some, start)
            ]
            new = await tx.keep_records(("space", *self.rows.columns), made)
            await self._keep_lineages(list(zip(new, some, strict=True)))
            numbers += new
        if known and records:
            names = (names_of(one.scope) for one in records)
            await tx.index(list(zip(numbers, names, texts, strict=True)))
        return numbers

    async def replace(self, tier: str, seq: int, old: Any, new: Any) -> None:
        tx: Any = self
        words = words_of(new.content) if tier == "long_term" else []
        row = self.rows.row_of(tier, new, len(words))
        await tx.execute(_replacement(self.rows.columns), *row, seq)
        if lineages(new) != lineages(old):
            for table in ("source", "root"):
                await tx.execute(f"DELETE FROM {table} WHERE seq = ?", seq)
            await self._keep_lineages([(seq, new)])
        if tier == "long_term" and new.content != old.content:
            # A vector of the old text must not find the new one.
            await tx.execute("DELETE FROM vector WHERE seq = ?", seq)
            await tx.execute("UPDATE record SET space = 0 WHERE seq = ?", seq)
            await tx.unindex([seq])
            await tx.index([(seq, names_of(new.scope), words)])

    async def drop(self, tier: str, numbers: Sequence[int]) -> None:
        tx: Any = self
        if numbers and tier == "long_term":
            await tx.unindex(numbers)
        if numbers:
            where, values = self.rows.numbered("seq", numbers)
            await tx.execute(f"DELETE FROM record WHERE {where}", *values)

    def rows_read(self, tier: str, which: Select) -> Sequence[Any] | None:  # noqa: ARG002
        """Others may have changed what was read without being held."""
        return None

    async def drop_selected(self, tier: str, which: Select) -> int:
        tx: Any = self
        where, values = self.rows.condition(tier, which)
        rows = await tx.execute(
            f"SELECT seq FROM record WHERE {where} ORDER BY seq DESC{self.rows.held}", *values
        )
        await self.drop(tier, [row[0] for row in rows])
        return len(rows)

    async def drop_found(self, tier: str, numbers: str, *values: object) -> None:
        tx: Any = self
        if tier == "long_term":
            await self.drop(tier, [row[0] for row in await tx.execute(numbers, *values)])
        else:
            await tx.execute(f"DELETE FROM record WHERE seq IN ({numbers})", *values)

    async def add_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        tx: Any = self
        if vectors:
            await tx.put_vectors(space, vectors)
            where, values = self.rows.numbered("seq", [seq for seq, _ in vectors])
            await tx.execute(f"UPDATE record SET space = ? WHERE {where}", space, *values)

    async def generation(self, tenant: str | None, group: str | None) -> int | None:  # noqa: ARG002
        return None

    async def settle(self) -> None:
        """It does from its beginning."""

    async def adopted(self) -> None:
        self._spaces = None

    async def drop_other_spaces(self, space: int) -> None:
        tx: Any = self
        self._spaces = None
        # The spaces first: that waits for those who are storing a vector in one.
        await tx.execute("DELETE FROM space WHERE id != ?", space)
        await tx.execute("UPDATE record SET space = 0 WHERE space != ?", space)

    async def counted_spaces(self) -> Sequence[Sequence[Any]]:
        tx: Any = self
        rows: Sequence[Sequence[Any]] = await tx.execute(
            "SELECT name, dimension, (SELECT count(*) FROM vector WHERE vector.space = space.id)"
            " FROM space ORDER BY current DESC, id"
        )
        return rows

    async def count(self, tier: str, which: Select | None) -> int:
        tx: Any = self
        where, values = self.rows.in_tier(tier), list[Any]()
        if which is not None:
            where, values = self.rows.condition(tier, which)
        ((count,),) = await tx.execute(f"SELECT count(*) FROM record WHERE {where}", *values)
        return int(count)

    async def memories(self, which: Select, numbers: Collection[int]) -> dict[int, Memory] | None:
        tx: Any = self
        if not numbers:
            return {}
        rows = self.rows
        (where, values), (here, more) = rows.numbered("seq", numbers), rows.where(which.tenant)
        found = await tx.execute(
            f"SELECT seq, {rows.read} FROM record WHERE {where}{here}", *values, *more
        )
        return {row[0]: rows.record("long_term", row) for row in found}

    async def _keep_lineages(self, linked: Sequence[tuple[int, Any]]) -> None:
        tx: Any = self
        made = [(seq, one) for seq, record in linked for one in lineages(record)]
        sources = [(seq, name) for seq, one in made for name in one.sources]
        roots = [(seq, str(root)) for seq, one in made for root in one.roots]
        for table, names in (("source", sources), ("root", roots)):
            if names:
                kept = [(seq, self.rows.key(name)) for seq, name in dict.fromkeys(names)]
                await tx.many(f"INSERT INTO {table} (seq, name) VALUES (?, ?)", kept)


@cache
def _replacement(columns: Sequence[str]) -> str:
    return f"UPDATE record SET {', '.join(f'{one} = ?' for one in columns)} WHERE seq = ?"

"""The store of a database in SQL: its transactions and every operation of the tiers, over a port.

A port offers a transaction. That of an embedded database never suspends, so that operations need
no event loop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast

from memoryware._copying import SharedOnCopy
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.stores._sql import dialect as sql_dialect
from memoryware.tiers.stores._sql import searching
from memoryware.tiers.stores._sql.dialect import SPACES_READ, Port, PortTransaction, Row, SqlDialect
from memoryware.tiers.stores.codec import packed_all
from memoryware.tiers.stores.protocol import (
    Batch,
    Chooser,
    Page,
    Query,
    SearchResult,
    Select,
    Space,
    Store,
    Tier,
    Transaction,
    Vector,
)
from memoryware.tiers.stores.selecting import PageRequest, parse_mark, without_duplicates

T = TypeVar("T")
Statement: TypeAlias = tuple[str, list[Any]]
"""A statement and its values."""
_Read: TypeAlias = tuple[Select, Statement]

__all__ = ["Database", "SqlStore"]


class Database(Protocol):
    """A database that runs operations over its ports."""

    suspends: bool

    async def run(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        """Run a whole operation, again after a conflict with other transactions."""
        ...

    async def close(self) -> None: ...


class SqlStore(SharedOnCopy, Store):
    """All tiers in a database.

    Args:
        blocking: The database for blocking clients.
        native: The database for asynchronous clients; the same by default.
        beside: A database that is closed together with this one.
    """

    def __init__(
        self, blocking: Database, native: Database | None = None, *, beside: Database | None = None
    ) -> None:
        self._database, self.suspends = blocking, blocking.suspends
        self._native = self if native is None else SqlStore(native, beside=blocking)
        self._databases = [
            database for database in (blocking, native, beside) if database is not None
        ]

    def halves(self) -> tuple[Store, Store]:
        return self, self._native

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,
        writes: bool = True,
    ) -> T:
        async def run(port: Port) -> T:
            snapshot = writes or not port.has_segments
            async with port.transaction(about, writes=writes, snapshot=snapshot) as transaction:
                inner = _NestedPort(port, transaction, is_settled=writes)
                result = await work(_SqlTransaction(inner))
            if inner.is_untidy:
                await port.wipe()
            return result

        return await self._database.run(run)

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Batch[Any]:
        return await self._database.run(lambda port: walk(port, tier, mark, limit))

    async def count_groups(self, tier: Tier) -> dict[tuple[str | None, str | None], int]:
        return await self._database.run(lambda port: count_groups(port, tier))

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        return await self._database.run(lambda port: load(port, tier, records))

    async def purge(self, now: datetime) -> int:
        return await self._database.run(lambda port: purge(port, now))

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        await self._database.run(lambda port: adopt(port, space, drop_others))

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await self._database.run(lambda port: unembedded(port, space, limit))

    async def close(self) -> None:
        for database in self._databases:
            await database.close()


class _NestedPort:
    """A port whose transactions are parts of an open transaction.

    A transaction that only reads, and whose engine can begin it late, begins with its second call:
    from then on all calls see the same moment, and a single search costs no transaction. Nor does
    a search after a read of the generation: it compares generations itself, and begins a
    transaction if they differ.

    Attributes:
        is_untidy: Whether deleted bytes have to be overwritten after the commit.
        has_generation: Whether the generation was read, and nothing after it.
    """

    def __init__(
        self, port: Port, transaction: PortTransaction, *, is_settled: bool = False
    ) -> None:
        self._port, self._transaction, self._is_settled = port, transaction, is_settled
        self.reads_ahead = port.reads_ahead
        self.is_untidy = self._is_used = self.has_generation = False

    @property
    def opened(self) -> PortTransaction:
        """The open transaction, for what changes something: it is alone with its records."""
        return self._transaction

    @property
    def has_segments(self) -> bool:
        return self._port.has_segments

    @property
    def dialect(self) -> SqlDialect:
        return self._port.dialect

    @asynccontextmanager
    async def transaction(
        self,
        selection: Select | None,  # noqa: ARG002 - the open one is about these records already
        *,
        writes: bool = False,  # noqa: ARG002
        snapshot: bool = True,
    ) -> AsyncIterator[PortTransaction]:
        is_second = self._is_used or self.has_generation
        if not self._is_settled and (snapshot or is_second):
            await self._transaction.settle()
            self._is_settled = True
        self._is_used = True
        yield self._transaction

    async def generation(self, scope: MemoryScope) -> int | None:
        """Return the generation of a group."""
        generation = await self._transaction.generation(scope.tenant, scope.group_id)
        self.has_generation = not self._is_used
        return generation

    async def gather(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """Run reads side by side, where that takes fewer round trips."""
        return await self._transaction.gather(works)

    async def read_ahead(self, search: Select, reads: Sequence[tuple[str, Statement]]) -> None:
        """Announce statements that will be executed."""
        await self._transaction.read_ahead(search, reads)

    async def wipe(self) -> None:
        """Note that deleted bytes have to be overwritten after the commit."""
        self.is_untidy = True


class _SqlTransaction(Transaction):
    """An open transaction of a database."""

    reads_ahead = True

    def __init__(self, port: _NestedPort) -> None:
        self._port = port
        self._announced: _Read | None = None

    async def find_many(self, requests: Sequence[tuple[Tier, Select]]) -> list[Page[Any]]:
        return await find_whole(self._port, requests)

    async def find(
        self,
        tier: Tier,
        selection: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        if limit is None and not offset and after is None:
            return (await find_whole(self._port, [(tier, selection)]))[0]
        return await find(self._port, tier, selection, PageRequest(limit, offset, after))

    async def add(
        self,
        tier: Tier,
        records: Sequence[Any],
        *,
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Any]:
        if tier == "quarantine":
            return [await add_entry(self._port, entry) for entry in records]
        return await add_document(self._port, records, vectors, space, self._announced)

    async def edit(self, tier: Tier, selection: Select, change: Callable[[Any], Any]) -> list[Any]:
        """Change the selected records, all or none; return those that differ."""
        changed, other_text = [], False
        tx = self._port.opened
        rows = tx.rows_read(tier, selection)
        for row in await locked_rows(tx, self._port, tier, selection) if rows is None else rows:
            old = self._port.dialect.record(tier, row)
            new = change(self._port.dialect.record(tier, row))  # which may change metadata in place
            if new != old:
                await tx.replace(tier, row[0], old, new)
                changed.append(new)
                other_text = other_text or new.content != old.content
        if other_text:
            await self._port.wipe()
        return changed

    async def delete(self, tier: Tier, selection: Select) -> int:
        """Delete the selected records with their words and vectors, and overwrite their bytes."""
        dropped = await self._port.opened.drop_selected(tier, selection)
        if dropped:
            await self._port.wipe()
        return dropped

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        """Put an entry first in working memory of its group, and drop the oldest ones."""
        tx, dialect, id_ = self._port.opened, self._port.dialect, self._port.dialect.key(entry.id)
        (mine, values), here = dialect.within(entry.scope), dialect.in_tier("working")
        others = f"SELECT seq FROM record WHERE {here} AND {mine} AND id"
        await tx.drop_found(
            "working",
            f"{others} = ? UNION ALL SELECT seq FROM"
            f" (SELECT seq FROM ({others} != ?) AS other"
            " ORDER BY seq DESC LIMIT ? OFFSET ?) AS older",
            *values, id_, *values, id_, _EVERY, max(0, keep - 1),
        )  # fmt: skip
        if keep > 0:
            await tx.insert("working", [entry], _NOWHERE)
        if renew:
            for row in await locked_rows(tx, self._port, "working", Select.within(entry.scope)):
                old = dialect.record("working", row)
                renewed = replace(old, expires_at=entry.expires_at)
                if renewed != old:
                    await tx.replace("working", row[0], old, renewed)

    async def search(self, query: Query, selection: Select, choose: Chooser) -> SearchResult:
        self._port.has_generation = False
        return await searching.search(self._port, query, selection, choose)

    async def read_ahead(
        self, search: Select, document: Select, edits: Select | None, space: Space | None
    ) -> None:
        dialect = self._port.dialect
        self._announced = document, _same_document_read(dialect, document)
        reads = [("long_term", self._announced[1])]
        if edits is not None:
            reads.append(("quarantine", _locking_read(dialect, "quarantine", edits)))
        if space is not None:
            reads.append(("space", (SPACES_READ, [])))
        await self._port.read_ahead(search, reads)

    async def generation(self, scope: MemoryScope) -> int | None:
        return await self._port.generation(scope)

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        """Return every space, the current one first, with the number of its vectors if counted."""
        async with self._port.transaction(None, snapshot=False) as tx:
            if not counted:
                return {row.space: 0 for row in await tx.known_spaces()}
            rows = await tx.counted_spaces()
        return {
            Space(sql_dialect.unflat(name), dimension): count for name, dimension, count in rows
        }

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        """Store vectors of memories that still exist with the same content."""
        dialect = self._port.dialect
        data = packed_all([vector for _, vector in vectors], space)
        ready = {memory_key(dialect, memory): data[at] for at, (memory, _) in enumerate(vectors)}
        if not ready:
            return 0
        tx = self._port.opened
        current = await numbers_of(tx, dialect, ready, suffix=dialect.lock_clause)
        if current:
            await tx.add_vectors(await _ensure_space(tx, space), current)
        return len(current)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        """Return the vectors of memories that still exist with the same content."""
        async with self._port.transaction(None) as tx:
            number = await tx.number_of_space(space)
            if number is None or not memories:
                return [None] * len(memories)
            keys = [memory_key(self._port.dialect, memory) for memory in memories]
            there = await numbers_of(tx, self._port.dialect, {key: key for key in keys}, suffix="")
            by_number = await tx.vectors(number, [seq for seq, _ in there])
        by_key = {key: by_number.get(seq) for seq, key in there}
        return [by_key.get(key) for key in keys]


# Operations.

_EVERY: Final = 2**63 - 1
"""A limit that is none."""
_NOWHERE: Final[Mapping[int, int]] = {}


async def find_whole(port: Port, requests: Sequence[tuple[Tier, Select]]) -> list[Page[Any]]:
    """Return all records of several selections, the last stored first."""
    if not requests:
        return []
    async with port.transaction(requests[0][1], snapshot=False) as tx:
        selected = await tx.find_whole(requests)
    pages = []
    for (tier, _), rows in zip(requests, selected, strict=True):
        items, marks = port.dialect.records(tier, rows), [str(row[0]) for row in rows]
        pages.append(Page(items, len(items), 0, marks))
    return pages


async def find(port: Port, tier: str, selection: Select, part: PageRequest) -> Page[Any]:
    """Return a page of a tier, the last stored record first."""
    async with port.transaction(selection) as tx:
        # Whether the page is full, and so not all there is, is known one round trip later.
        counts_at_once = port.reads_ahead and part.limit is not None and part.limit > 1
        return await find_in(tx, port.dialect, tier, selection, part, counts_at_once=counts_at_once)


async def find_in(
    tx: PortTransaction,
    dialect: SqlDialect,
    tier: str,
    selection: Select,
    part: PageRequest,
    *,
    counts_at_once: bool,
) -> Page[Any]:
    """Return a page of a tier as this transaction sees it."""
    here, more = dialect.where(selection.tenant)
    (where, values), number = dialect.condition(tier, selection), dialect.order_column(selection)
    mark = _EVERY if part.after is None else parse_mark(part.after)
    on = "" if part.after is None else f" AND {number} < ?"
    values_on = [*values, *([mark] if on else [])]
    page_rows: Sequence[Row] = ()
    counted: int | None = None
    limit = min(_EVERY, _EVERY if part.limit is None else part.limit)
    if limit > 0:
        read = tx.read_part(
            tier, selection,
            f"SELECT seq, {dialect.read} FROM record WHERE seq IN (SELECT seq FROM record"
            f" WHERE {where}{on} ORDER BY {number} DESC LIMIT ? OFFSET ?){here}"
            " ORDER BY seq DESC",  # no texts are sorted
            *values_on, limit, min(_EVERY, part.offset), *more,
        )  # fmt: skip
        if counts_at_once:
            both: list[Any] = await tx.gather([read, tx.count(tier, selection)])
            page_rows, counted = both
        else:
            page_rows = await read
    total, newer = len(page_rows), 0
    if part.offset or on or total == part.limit:  # else these are all
        total = await tx.count(tier, selection) if counted is None else counted
    if on:
        ((newer,),) = await tx.execute(
            f"SELECT count(*) FROM record WHERE {where} AND {number} >= ?", *values, mark
        )
    items, marks = (
        [dialect.record(tier, row) for row in page_rows],
        [str(row[0]) for row in page_rows],
    )
    return Page(items, total, min(total, newer + part.offset), marks)


async def add_entry(port: _NestedPort, entry: Any) -> Any:
    """Store an entry in quarantine, or return the stored one with its key."""
    tx = port.opened
    if entry.key is not None:
        mine, values = port.dialect.within(entry.scope)
        same = await tx.execute(
            f"SELECT seq, {port.dialect.read} FROM record"
            f" WHERE {port.dialect.in_tier('quarantine')} AND {mine} AND once = ?",
            *values, port.dialect.key(entry.key),
        )  # fmt: skip
        if same:
            return port.dialect.record("quarantine", same[0])
    await tx.insert("quarantine", [entry], _NOWHERE)
    return entry


async def purge(port: Port, now: datetime) -> int:
    """Delete the expired entries of working memory."""
    async with port.transaction(None, writes=True) as tx:
        rows = await tx.execute(
            f"SELECT seq FROM record WHERE {port.dialect.in_tier('working')}"
            f" AND {port.dialect.expires} <= ? ORDER BY {_FIRST}{port.dialect.lock_clause}",
            sql_dialect.micros(now),
        )
        await tx.drop("working", [row[0] for row in rows])
    return len(rows)


async def add_document(
    port: _NestedPort,
    memories: Sequence[Memory],
    vectors: Sequence[Vector | None],
    space: Space | None,
    announced: _Read | None = None,
) -> list[Memory]:
    """Store all chunks of a document, or return those of a current document with the same text.

    Args:
        port: The database.
        memories: The chunks.
        vectors: Their vectors, if there are any.
        space: The space of the vectors.
        announced: The read of the current document, where it was read ahead.
    """
    first = memories[0]
    pairs = zip(memories, vectors or (None,) * len(memories), strict=True)
    given_vectors = {
        position: vector
        for position, (_, vector) in enumerate(pairs)
        if space and vector is not None
    }
    same = Select.within(first.scope, agents=(first.scope.agent_id,), hashes=(first.content_hash,))
    tx = port.opened
    reads: list[Coroutine[Any, Any, Any]] = [_same_document(tx, port.dialect, same, announced)]
    reads += [tx.number_of_space(space)] if space and given_vectors else []
    stored, *numbers_known = await tx.gather(reads)
    if stored:
        return cast("list[Memory]", stored)
    ready = packed_all([*given_vectors.values()], space) if space else []
    number = 0
    if space and ready:
        number = numbers_known[0] or await _ensure_space(tx, space)
    numbers = await tx.insert("long_term", memories, dict.fromkeys(given_vectors, number))
    if ready:
        stored_numbers = [numbers[position] for position in given_vectors]
        await tx.put_vectors(number, list(zip(stored_numbers, ready, strict=True)))
    return list(memories)


async def unembedded(port: Port, space: Space, limit: int) -> list[Memory]:
    """Return memories without a vector in a space, oldest first."""
    async with port.transaction(None) as tx:
        rows = await tx.unembedded(space, limit)
    return port.dialect.records("long_term", rows)


MemoryKey: TypeAlias = tuple[Any, ...]
"""What the row of a memory has where it is kept: part, id and text."""


def memory_key(dialect: SqlDialect, memory: Memory) -> MemoryKey:
    """Return the columns by which the row of a memory is recognised: group, id and content."""
    part = sql_dialect.group_key(memory.scope.tenant, memory.scope.group_id)
    return dialect.stored_group_key(part), dialect.key(memory.id), sql_dialect.flat(memory.content)


async def numbers_of(
    tx: PortTransaction, dialect: SqlDialect, keys: Mapping[MemoryKey, T], *, suffix: str
) -> list[tuple[int, T]]:
    """Return the numbers of the memories with these keys, each with the value of its key."""
    among, texts = dialect.any_of("id", list(dict.fromkeys(key[1] for key in keys)))
    read = await tx.execute(
        f"SELECT seq, {dialect.part}, id, content FROM record"
        f" WHERE {among} AND {dialect.in_tier('long_term', loose=True)} ORDER BY {_FIRST}{suffix}",
        *texts,
    )
    return [(row[0], keys[key]) for row in read if (key := tuple(row[1:])) in keys]


async def adopt(port: Port, space: Space, drop_others: bool) -> None:
    """Make a space the current one."""
    async with port.transaction(None, writes=True) as tx:
        await tx.alone()
        number = await _ensure_space(tx, space)
        await tx.execute("UPDATE space SET current = false WHERE current AND id != ?", number)
        await tx.execute("UPDATE space SET current = true WHERE id = ?", number)
        await tx.adopted()
        if drop_others:
            await tx.drop_other_spaces(number)


# Inside a transaction.

_FIRST: Final = "seq DESC"
"""The order in which all transactions take what they are going to change."""


async def locked_rows(
    tx: PortTransaction, port: Port, tier: str, selection: Select
) -> Sequence[Any]:
    """Return the selected rows, and lock them until the end of the transaction."""
    sql, values = _locking_read(port.dialect, tier, selection)
    return await tx.execute(sql, *values)


def _locking_read(dialect: SqlDialect, tier: str, selection: Select) -> tuple[str, list[Any]]:
    (where, values), number = dialect.condition(tier, selection), dialect.order_column(selection)
    read = f"SELECT seq, {dialect.read} FROM record WHERE {where}"
    return f"{read} ORDER BY {number} DESC{dialect.lock_clause}", values


def _same_document_read(dialect: SqlDialect, selection: Select) -> tuple[str, list[Any]]:
    same, values = dialect.condition("long_term", selection)
    return f"SELECT seq, {dialect.read} FROM record WHERE {same} AND {dialect.current}", values


async def _same_document(
    tx: PortTransaction, dialect: SqlDialect, same: Select, announced: _Read | None
) -> list[Memory]:
    """Return the chunks of the current document that is selected, in their order."""
    sql, values = (
        announced[1] if announced and announced[0] == same else _same_document_read(dialect, same)
    )
    ordered = sorted(await tx.execute(sql, *values), key=itemgetter(0))
    memories = [dialect.record("long_term", row) for row in ordered]
    of_one = [memory for memory in memories if memory.document_id == memories[0].document_id]
    return sorted(of_one, key=lambda memory: memory.chunk_index)


async def _ensure_space(tx: PortTransaction, space: Space) -> int:
    """Return the number of a space; a new one is stored."""
    number = await tx.number_of_space(space)
    if number is None:
        await tx.alone()
        number = await tx.number_of_space(space)
    if number is not None:
        return number
    created = await tx.execute(
        "INSERT INTO space (name, dimension, current)"
        " VALUES (?, ?, NOT EXISTS (SELECT 1 FROM space WHERE current)) RETURNING id",
        sql_dialect.flat(space.name), space.dimension,
    )  # fmt: skip
    number = int(created[0][0])
    await tx.prepare_space(number, space.dimension)
    return number


# Everything that a database has.


async def walk(port: Port, tier: str, mark: str | None, limit: int) -> Batch[Any]:
    """Return records of all tenants in the order of their numbers, behind that of the mark."""
    last = parse_mark(mark)
    async with port.transaction(None) as tx:
        rows = await tx.execute(
            f"SELECT seq, {port.dialect.read}{port.dialect.owner} FROM record"
            f" WHERE {port.dialect.in_tier(tier, loose=True)} AND seq > ? ORDER BY seq LIMIT ?",
            last, max(1, limit),
        )  # fmt: skip
        total = None
        if mark is None:
            total = await tx.count(tier, None)
    more = str(rows[-1][0]) if len(rows) == max(1, limit) else None
    pairs = [(port.dialect.record(tier, row), row) for row in rows]
    own = [record for record, row in pairs if port.dialect.is_own(record, row[-1:])]
    if len(own) < len(pairs):
        logger.warning(
            "%d records of %s are passed over: somebody has written them by hand, and they say that"
            " they are of another tenant than whose they are",
            len(pairs) - len(own),
            tier,
        )
    return Batch(own, more, total)


async def count_groups(port: Port, tier: str) -> dict[tuple[str | None, str | None], int]:
    """Count the records of a tier by tenant and group."""
    sql, values = port.dialect.group_counts(tier)
    async with port.transaction(None, writes=False) as tx:
        rows = await tx.execute(sql, *values)
    groups = ((port.dialect.counted_group(tier, row), row[0]) for row in rows)
    return {group: int(count) for group, count in groups if group is not None}


async def load(port: Port, tier: str, records: Sequence[Any]) -> list[Any]:
    """Store records as they are, tenant by tenant; return those that were new or differed."""
    loaded, by_tenant = [], dict[str | None, dict[tuple[str | None, str], Any]]()
    for record in records:
        by_tenant.setdefault(record.scope.tenant, {})[_key(record)] = record
    for tenant, mine in by_tenant.items():
        loaded += await _load(port, tier, tenant, list(mine.values()))
    return loaded


async def _load(port: Port, tier: str, tenant: str | None, records: Sequence[Any]) -> list[Any]:
    groups = tuple(dict.fromkeys(record.scope.group_id for record in records))
    # Of several groups by ids alone: each id would be looked for in each of the groups.
    some = groups if len(groups) == 1 else None
    selection = Select(tenant=tenant, groups=some, ids=tuple(record.id for record in records))
    other_text = False
    async with port.transaction(Select(tenant=tenant), writes=True) as tx:
        stored_rows = await locked_rows(tx, port, tier, selection)
        stored = {
            _key(record): (record, row[0])
            for row in stored_rows
            for record in (port.dialect.record(tier, row),)
        }
        if tier == "quarantine":
            records = await _without_doubles(tx, port, groups, records)
        new = [record for record in records if _key(record) not in stored]
        both = [(*stored[_key(record)], record) for record in records if _key(record) in stored]
        differing = [(old, seq, record) for old, seq, record in both if old != record]
        await tx.insert(tier, new, {})
        for old, seq, record in differing:
            await tx.replace(tier, seq, old, record)
            other_text = other_text or old.content != record.content
    if other_text:
        await port.wipe()
    return [*new, *(record for _, _, record in differing)]


async def _without_doubles(
    tx: PortTransaction, port: Port, groups: Sequence[str | None], entries: Sequence[Any]
) -> list[Any]:
    """Drop entries whose key another entry has, in the database or among them."""
    dialect, keys = port.dialect, [entry.key for entry in entries if entry.key is not None]
    if not keys:
        return list(entries)
    selection = Select(tenant=entries[0].scope.tenant, groups=tuple(groups))
    (mine, values), (once, more) = (
        dialect.condition("quarantine", selection),
        dialect.any_of(dialect.loose("once"), [dialect.key(key) for key in keys]),
    )
    if len(groups) > 1:  # each key would be looked for in each of the groups
        once = once.replace(dialect.loose("once"), "once", 1)
    same = await tx.execute(
        f"SELECT seq, {dialect.read} FROM record WHERE {mine} AND {once}", *values, *more
    )
    return without_duplicates(entries, [dialect.record("quarantine", row) for row in same])


def _key(record: Any) -> tuple[str | None, str]:
    return record.scope.group_id, record.id

"""The store of a database in SQL: its transactions and every operation of the tiers, over a port.

A port offers a transaction; an embedded one never waits inside it, so that its operations can
be driven without an event loop.
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
from memoryware.tiers.stores.codec import packed_all
from memoryware.tiers.stores.protocol import (
    Batch,
    Choose,
    Page,
    Query,
    Searched,
    Select,
    Space,
    Store,
    Tier,
    Transaction,
    Vector,
)
from memoryware.tiers.stores.selecting import Part, number_of_mark, without_doubles
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sql import searching
from memoryware.tiers.stores.sql.port import Port, Row
from memoryware.tiers.stores.sql.port import Transaction as PortTransaction
from memoryware.tiers.stores.sql.rows import Rows

T = TypeVar("T")
Statement: TypeAlias = tuple[str, list[Any]]
"""A statement and its values."""
_Read: TypeAlias = tuple[Select, Statement]

__all__ = ["Database", "SqlStore"]


class Database(Protocol):
    """Runs operations over its ports."""

    suspends: bool

    async def run(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        """Run a whole operation; it is begun anew where others were in between."""
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
        self._databases = [one for one in (blocking, native, beside) if one is not None]

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
                inner = _Joined(port, transaction, is_settled=writes)
                result = await work(_SqlTransaction(inner))
            if inner.is_untidy:
                await port.wipe()
            return result

        return await self._database.run(run)

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Batch[Any]:
        return await self._database.run(lambda port: walk(port, tier, mark, limit))

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


class _Joined:
    """A port whose transactions are parts of one that is open.

    One that only reads, and that begins when it needs to, begins with its second call: from then
    on all calls see the same moment, and a single search costs no transaction. Nor does one after
    the generation was read: a search compares generations itself, and begins if they differ.

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
    def rows(self) -> Rows:
        return self._port.rows

    @asynccontextmanager
    async def transaction(
        self,
        which: Select | None,  # noqa: ARG002 - the open one is about these records already
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

    def __init__(self, port: _Joined) -> None:
        self._port = port
        self._announced: _Read | None = None

    async def find_many(self, requests: Sequence[tuple[Tier, Select]]) -> list[Page[Any]]:
        return await find_whole(self._port, requests)

    async def find(
        self,
        tier: Tier,
        which: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        if limit is None and not offset and after is None:
            return (await find_whole(self._port, [(tier, which)]))[0]
        return await find(self._port, tier, which, Part(limit, offset, after))

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

    async def edit(self, tier: Tier, which: Select, change: Callable[[Any], Any]) -> list[Any]:
        return await edit(self._port, tier, which, change)

    async def delete(self, tier: Tier, which: Select) -> int:
        return await delete(self._port, tier, which)

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await push(self._port, entry, keep, renew)

    async def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        self._port.has_generation = False
        return await searching.search(self._port, query, which, choose)

    async def read_ahead(
        self, search: Select, document: Select, edits: Select | None, space: Space | None
    ) -> None:
        rows = self._port.rows
        self._announced = document, _same_document_read(rows, document)
        reads = [("long_term", self._announced[1])]
        if edits is not None:
            reads.append(("quarantine", _held_read(rows, "quarantine", edits)))
        if space is not None:
            reads.append(("space", (sql_rows.SPACES_READ, [])))
        await self._port.read_ahead(search, reads)

    async def generation(self, scope: MemoryScope) -> int | None:
        return await self._port.generation(scope)

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        return await spaces(self._port, counted)

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return await put_vectors(self._port, vectors, space)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return await vectors_of(self._port, memories, space)


# Operations.

_EVERY: Final = 2**63 - 1
"""A limit that is none."""
_NOWHERE: Final[Mapping[int, int]] = {}


async def find_whole(port: Port, requests: Sequence[tuple[Tier, Select]]) -> list[Page[Any]]:
    """Return everything that each selection fits, what was stored last first."""
    if not requests:
        return []
    async with port.transaction(requests[0][1], snapshot=False) as tx:
        found = await tx.find_whole(requests)
    pages = []
    for (tier, _), rows in zip(requests, found, strict=True):
        items, marks = port.rows.records(tier, rows), [str(row[0]) for row in rows]
        pages.append(Page(items, len(items), 0, marks))
    return pages


async def find(port: Port, tier: str, which: Select, part: Part) -> Page[Any]:
    """Return a part of a tier, what was stored last first."""
    async with port.transaction(which) as tx:
        # Whether the page is full, and so not all there is, is known one round trip later.
        counts_at_once = port.reads_ahead and part.limit is not None and part.limit > 1
        return await find_in(tx, port.rows, tier, which, part, counts_at_once=counts_at_once)


async def find_in(
    tx: PortTransaction,
    rows: Rows,
    tier: str,
    which: Select,
    part: Part,
    *,
    counts_at_once: bool,
) -> Page[Any]:
    """Return a part of a tier as this transaction sees it."""
    here, more = rows.where(which.tenant)
    (where, values), place = rows.condition(tier, which), rows.place(which)
    mark = _EVERY if part.after is None else number_of_mark(part.after)
    on = "" if part.after is None else f" AND {place} < ?"
    values_on = [*values, *([mark] if on else [])]
    found: Sequence[Row] = ()
    counted: int | None = None
    limit = min(_EVERY, _EVERY if part.limit is None else part.limit)
    if limit > 0:
        read = tx.read_part(
            tier, which,
            f"SELECT seq, {rows.read} FROM record WHERE seq IN (SELECT seq FROM record"
            f" WHERE {where}{on} ORDER BY {place} DESC LIMIT ? OFFSET ?){here}"
            " ORDER BY seq DESC",  # no texts are sorted
            *values_on, limit, min(_EVERY, part.offset), *more,
        )  # fmt: skip
        if counts_at_once:
            both: list[Any] = await tx.gather([read, tx.count(tier, which)])
            found, counted = both
        else:
            found = await read
    total, newer = len(found), 0
    if part.offset or on or total == part.limit:  # else these are all
        total = await tx.count(tier, which) if counted is None else counted
    if on:
        ((newer,),) = await tx.execute(
            f"SELECT count(*) FROM record WHERE {where} AND {place} >= ?", *values, mark
        )
    items, marks = [rows.record(tier, row) for row in found], [str(row[0]) for row in found]
    return Page(items, total, min(total, newer + part.offset), marks)


async def edit(port: _Joined, tier: str, which: Select, change: Callable[[Any], Any]) -> list[Any]:
    """Change what fits, all of it or nothing; return what differs."""
    changed, other_text = [], False
    tx = port.opened
    rows = tx.rows_read(tier, which)
    for row in await held(tx, port, tier, which) if rows is None else rows:
        old = port.rows.record(tier, row)
        new = change(port.rows.record(tier, row))  # which may change metadata in place
        if new != old:
            await tx.replace(tier, row[0], old, new)
            changed.append(new)
            other_text = other_text or new.content != old.content
    if other_text:
        await port.wipe()
    return changed


async def delete(port: _Joined, tier: str, which: Select) -> int:
    """Remove what fits, with its words and vectors, and overwrite where it was."""
    dropped = await port.opened.drop_selected(tier, which)
    if dropped:
        await port.wipe()
    return dropped


async def add_entry(port: _Joined, entry: Any) -> Any:
    """Keep an entry in quarantine, or return the one that has its key."""
    tx = port.opened
    if entry.key is not None:
        mine, values = port.rows.within(entry.scope)
        known = await tx.execute(
            f"SELECT seq, {port.rows.read} FROM record"
            f" WHERE {port.rows.in_tier('quarantine')} AND {mine} AND once = ?",
            *values, port.rows.key(entry.key),
        )  # fmt: skip
        if known:
            return port.rows.record("quarantine", known[0])
    await tx.insert("quarantine", [entry], _NOWHERE)
    return entry


async def push(port: _Joined, entry: Any, keep: int, renew: bool) -> None:
    """Put an entry first in working memory of its group, and keep the newest."""
    tx, rows, id_ = port.opened, port.rows, port.rows.key(entry.id)
    (mine, values), here = rows.within(entry.scope), rows.in_tier("working")
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
        for row in await held(tx, port, "working", Select.within(entry.scope)):
            one = rows.record("working", row)
            renewed = replace(one, expires_at=entry.expires_at)
            if renewed != one:
                await tx.replace("working", row[0], one, renewed)


async def purge(port: Port, now: datetime) -> int:
    """Remove what has expired from working memory."""
    async with port.transaction(None, writes=True) as tx:
        rows = await tx.execute(
            f"SELECT seq FROM record WHERE {port.rows.in_tier('working')}"
            f" AND {port.rows.expires} <= ? ORDER BY {_FIRST}{port.rows.held}",
            sql_rows.micros(now),
        )
        await tx.drop("working", [row[0] for row in rows])
    return len(rows)


async def add_document(
    port: _Joined,
    memories: Sequence[Memory],
    vectors: Sequence[Vector | None],
    space: Space | None,
    announced: _Read | None = None,
) -> list[Memory]:
    """Keep all chunks of a document, or return those of the current one with the same text.

    Args:
        port: The database.
        memories: The chunks.
        vectors: Their vectors, if there are any.
        space: The space of the vectors.
        announced: The read of the current document, where it was read ahead.
    """
    first = memories[0]
    given = zip(memories, vectors or (None,) * len(memories), strict=True)
    found = {place: one for place, (_, one) in enumerate(given) if space and one is not None}
    same = Select.within(first.scope, agents=(first.scope.agent_id,), hashes=(first.content_hash,))
    tx = port.opened
    reads: list[Coroutine[Any, Any, Any]] = [_same_document(tx, port.rows, same, announced)]
    reads += [tx.number_of_space(space)] if space and found else []
    known, *numbers_known = await tx.gather(reads)
    if known:
        return cast("list[Memory]", known)
    ready = packed_all([*found.values()], space) if space else []
    number = 0
    if space and ready:
        number = numbers_known[0] or await _space_made(tx, space)
    numbers = await tx.insert("long_term", memories, dict.fromkeys(found, number))
    if ready:
        made = [numbers[place] for place in found]
        await tx.put_vectors(number, list(zip(made, ready, strict=True)))
    return list(memories)


async def unembedded(port: Port, space: Space, limit: int) -> list[Memory]:
    """Return memories without a vector in a space, oldest first."""
    async with port.transaction(None) as tx:
        rows = await tx.unembedded(space, limit)
    return port.rows.records("long_term", rows)


async def put_vectors(port: _Joined, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
    """Keep vectors of memories that are there and say the same."""
    rows = port.rows
    data = packed_all([vector for _, vector in vectors], space)
    ready = {place_of(rows, one): data[at] for at, (one, _) in enumerate(vectors)}
    if not ready:
        return 0
    tx = port.opened
    kept = await numbers_of(tx, rows, ready, held=rows.held)
    if kept:
        await tx.add_vectors(await _space_made(tx, space), kept)
    return len(kept)


Place: TypeAlias = tuple[Any, ...]
"""What the row of a memory has where it is kept: part, id and text."""


def place_of(rows: Rows, memory: Memory) -> Place:
    """Return where a memory is kept."""
    part = sql_rows.part_of(memory.scope.tenant, memory.scope.group_id)
    return rows.key_of_part(part), rows.key(memory.id), sql_rows.flat(memory.content)


async def numbers_of(
    tx: PortTransaction, rows: Rows, places: Mapping[Place, T], *, held: str
) -> list[tuple[int, T]]:
    """Return the numbers of the memories that are at these places, with what each place has."""
    among, texts = rows.any_of("id", list(dict.fromkeys(place[1] for place in places)))
    found = await tx.execute(
        f"SELECT seq, {rows.part}, id, content FROM record"
        f" WHERE {among} AND {rows.in_tier('long_term', loose=True)} ORDER BY {_FIRST}{held}",
        *texts,
    )
    return [(row[0], places[place]) for row in found if (place := tuple(row[1:])) in places]


async def spaces(port: Port, counted: bool) -> dict[Space, int]:
    """Return every space, the current one first, with the number of its vectors if counted."""
    async with port.transaction(None, snapshot=False) as tx:
        if not counted:
            return {row.space: 0 for row in await tx.known_spaces()}
        rows = await tx.counted_spaces()
    return {Space(sql_rows.unflat(name), dimension): count for name, dimension, count in rows}


async def adopt(port: Port, space: Space, drop_others: bool) -> None:
    """Make a space the current one."""
    async with port.transaction(None, writes=True) as tx:
        await tx.alone()
        number = await _space_made(tx, space)
        await tx.execute("UPDATE space SET current = false WHERE current AND id != ?", number)
        await tx.execute("UPDATE space SET current = true WHERE id = ?", number)
        await tx.adopted()
        if drop_others:
            await tx.drop_other_spaces(number)


# Inside a transaction.

_FIRST: Final = "seq DESC"
"""The order in which all transactions take what they are going to change."""


async def held(tx: PortTransaction, port: Port, tier: str, which: Select) -> Sequence[Any]:
    """Return what fits, with its numbers; others have to wait until this was changed."""
    sql, values = _held_read(port.rows, tier, which)
    return await tx.execute(sql, *values)


def _held_read(rows: Rows, tier: str, which: Select) -> tuple[str, list[Any]]:
    (where, values), place = rows.condition(tier, which), rows.place(which)
    read = f"SELECT seq, {rows.read} FROM record WHERE {where} ORDER BY {place} DESC{rows.held}"
    return read, values


def _same_document_read(rows: Rows, which: Select) -> tuple[str, list[Any]]:
    same, values = rows.condition("long_term", which)
    return f"SELECT seq, {rows.read} FROM record WHERE {same} AND {rows.current}", values


async def _same_document(
    tx: PortTransaction, rows: Rows, same: Select, announced: _Read | None
) -> list[Memory]:
    """Return the chunks of the current document that fits, in their order."""
    sql, values = (
        announced[1] if announced and announced[0] == same else _same_document_read(rows, same)
    )
    found = sorted(await tx.execute(sql, *values), key=itemgetter(0))
    known = [rows.record("long_term", row) for row in found]
    of_one = [one for one in known if one.document_id == known[0].document_id]
    return sorted(of_one, key=lambda one: one.chunk_index)


async def _space_made(tx: PortTransaction, space: Space) -> int:
    """Return the number of a space, which is made if it is new."""
    known = await tx.number_of_space(space)
    if known is None:
        await tx.alone()
        known = await tx.number_of_space(space)
    if known is not None:
        return known
    made = await tx.execute(
        "INSERT INTO space (name, dimension, current)"
        " VALUES (?, ?, NOT EXISTS (SELECT 1 FROM space WHERE current)) RETURNING id",
        sql_rows.flat(space.name), space.dimension,
    )  # fmt: skip
    number: int = made[0][0]
    await tx.made_space(number, space.dimension)
    return number


# Everything that a database has.


async def walk(port: Port, tier: str, mark: str | None, limit: int) -> Batch[Any]:
    """Return records of all tenants in the order of their numbers, after that of the mark."""
    last = number_of_mark(mark)
    async with port.transaction(None) as tx:
        rows = await tx.execute(
            f"SELECT seq, {port.rows.read}{port.rows.owner} FROM record"
            f" WHERE {port.rows.in_tier(tier, loose=True)} AND seq > ? ORDER BY seq LIMIT ?",
            last, max(1, limit),
        )  # fmt: skip
        total = None
        if mark is None:
            total = await tx.count(tier, None)
    more = str(rows[-1][0]) if len(rows) == max(1, limit) else None
    found = [(port.rows.record(tier, row), row) for row in rows]
    own = [one for one, row in found if port.rows.is_own(one, row[-1:])]
    if len(own) < len(found):
        logger.warning(
            "%d records of %s are passed over: somebody has written them by hand, and they say that"
            " they are of another tenant than whose they are",
            len(found) - len(own),
            tier,
        )
    return Batch(own, more, total)


async def load(port: Port, tier: str, records: Sequence[Any]) -> list[Any]:
    """Keep records as they are, tenant by tenant; return those that were not there so."""
    kept, by_tenant = [], dict[str | None, dict[tuple[str | None, str], Any]]()
    for one in records:
        by_tenant.setdefault(one.scope.tenant, {})[_key(one)] = one
    for tenant, mine in by_tenant.items():
        kept += await _load(port, tier, tenant, list(mine.values()))
    return kept


async def _load(port: Port, tier: str, tenant: str | None, records: Sequence[Any]) -> list[Any]:
    groups = tuple(dict.fromkeys(one.scope.group_id for one in records))
    # Of several groups by ids alone: each id would be looked for in each of the groups.
    some = groups if len(groups) == 1 else None
    which = Select(tenant=tenant, groups=some, ids=tuple(one.id for one in records))
    other_text = False
    async with port.transaction(Select(tenant=tenant), writes=True) as tx:
        found = await held(tx, port, tier, which)
        known = {
            _key(one): (one, row[0]) for row in found for one in (port.rows.record(tier, row),)
        }
        if tier == "quarantine":
            records = await _without_doubles(tx, port, groups, records)
        new = [one for one in records if _key(one) not in known]
        both = [(*known[_key(one)], one) for one in records if _key(one) in known]
        differing = [(old, seq, one) for old, seq, one in both if old != one]
        await tx.insert(tier, new, {})
        for old, seq, one in differing:
            await tx.replace(tier, seq, old, one)
            other_text = other_text or old.content != one.content
    if other_text:
        await port.wipe()
    return [*new, *(one for _, _, one in differing)]


async def _without_doubles(
    tx: PortTransaction, port: Port, groups: Sequence[str | None], entries: Sequence[Any]
) -> list[Any]:
    """Return entries but those whose key another one has, here or among them."""
    rows, keys = port.rows, [one.key for one in entries if one.key is not None]
    if not keys:
        return list(entries)
    which = Select(tenant=entries[0].scope.tenant, groups=tuple(groups))
    (mine, values), (once, more) = (
        rows.condition("quarantine", which),
        rows.any_of(rows.loose("once"), [rows.key(one) for one in keys]),
    )
    if len(groups) > 1:  # each key would be looked for in each of the groups
        once = once.replace(rows.loose("once"), "once", 1)
    found = await tx.execute(
        f"SELECT seq, {rows.read} FROM record WHERE {mine} AND {once}", *values, *more
    )
    return without_doubles(entries, [rows.record("quarantine", row) for row in found])


async def vectors_of(port: Port, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
    """Return the vectors of memories that are there and say the same."""
    async with port.transaction(None) as tx:
        number = await tx.number_of_space(space)
        if number is None or not memories:
            return [None] * len(memories)
        places = [place_of(port.rows, one) for one in memories]
        there = await numbers_of(tx, port.rows, {one: one for one in places}, held="")
        known = await tx.vectors(number, [seq for seq, _ in there])
    found = {place: known.get(seq) for seq, place in there}
    return [found.get(place) for place in places]


def _key(record: Any) -> tuple[str | None, str]:
    return record.scope.group_id, record.id

"""Every operation of the tiers in SQL, written once over a port.

A port offers a transaction; an embedded one never waits inside it, so that its operations can
be driven without an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypeAlias, TypeVar, cast

from memoryware.tiers.records import Memory
from memoryware.tiers.stores._loading import number_of_mark
from memoryware.tiers.stores._pages import Part
from memoryware.tiers.stores._vectors import packed_all
from memoryware.tiers.stores.protocol import Page, Select, Space, Vector
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sql.port import Port, Row, Transaction
from memoryware.tiers.stores.sql.rows import Rows
from memoryware.tiers.stores.sql.searching import number_of

T = TypeVar("T")
_EVERY: Final = 2**63 - 1
"""A limit that is none."""
_NOWHERE: Final[Mapping[int, int]] = {}


async def find(port: Port, tier: str, which: Select, part: Part) -> Page[Any]:
    """Return a page of a tier, what was stored last first."""
    whole = part.limit is None and not part.offset and part.after is None
    async with port.transaction(which, snapshot=not whole) as tx:
        return await find_in(tx, port.rows, tier, which, part)


async def find_in(tx: Transaction, rows: Rows, tier: str, which: Select, part: Part) -> Page[Any]:
    """Return a page of a tier as this transaction sees it."""
    (where, values), place = rows.condition(tier, which), rows.place(which)
    here, more = rows.where(which.tenant)
    mark = _EVERY if part.after is None else number_of_mark(part.after)
    on = "" if part.after is None else f" AND {place} < ?"
    values_on = [*values, *([mark] if on else [])]
    found: Sequence[Row] = ()
    limit = min(_EVERY, _EVERY if part.limit is None else part.limit)
    if limit > 0:
        found = await tx.execute(
            f"SELECT seq, {rows.read} FROM record WHERE seq IN (SELECT seq FROM record"
            f" WHERE {where}{on} ORDER BY {place} DESC LIMIT ? OFFSET ?){here}"
            " ORDER BY seq DESC",  # no texts are sorted
            *values_on, limit, min(_EVERY, part.offset), *more,
        )  # fmt: skip
    total, newer = len(found), 0
    if part.offset or on or total == part.limit:  # else these are all
        total = await tx.count(tier, which)
    if on:
        ((newer,),) = await tx.execute(
            f"SELECT count(*) FROM record WHERE {where} AND {place} >= ?", *values, mark
        )
    items, marks = [rows.record(tier, row) for row in found], [str(row[0]) for row in found]
    return Page(items, total, min(total, newer + part.offset), marks)


async def edit(port: Port, tier: str, which: Select, change: Callable[[Any], Any]) -> list[Any]:
    """Change what fits, all of it or nothing; return what differs."""
    changed, other_text = [], False
    async with port.transaction(which, writes=True) as tx:
        for row in await held(tx, port, tier, which):
            old = port.rows.record(tier, row)
            new = change(port.rows.record(tier, row))  # which may change metadata in place
            if new != old:
                await tx.replace(tier, row[0], old, new)
                changed.append(new)
                other_text = other_text or new.content != old.content
    if other_text:
        await port.wipe()
    return changed


async def delete(port: Port, tier: str, which: Select) -> int:
    """Remove what fits, with its words and vectors, and overwrite where it was."""
    where, values = port.rows.condition(tier, which)
    async with port.transaction(which, writes=True) as tx:
        rows = await tx.execute(
            f"SELECT seq FROM record WHERE {where} ORDER BY {_FIRST}{port.rows.held}", *values
        )
        await tx.drop(tier, [row[0] for row in rows])
    if rows:
        await port.wipe()
    return len(rows)


async def add_entry(port: Port, entry: Any) -> Any:
    """Keep an entry in quarantine, or return the one that has its key."""
    async with port.transaction(Select.within(entry.scope), writes=True) as tx:
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


async def push(port: Port, entry: Any, keep: int, renew: bool) -> None:
    """Put an entry first in working memory of its group, and keep the newest."""
    rows, which = port.rows, Select.within(entry.scope)
    (mine, values), here = rows.within(entry.scope), rows.in_tier("working")
    async with port.transaction(which, writes=True) as tx:
        others = f"SELECT seq FROM record WHERE {here} AND {mine} AND id"
        await tx.drop_found(
            "working",
            f"{others} = ? UNION ALL SELECT seq FROM"
            f" (SELECT seq FROM ({others} != ?) AS other"
            " ORDER BY seq DESC LIMIT ? OFFSET ?) AS older",
            *values, rows.key(entry.id), *values, rows.key(entry.id), _EVERY, max(0, keep - 1),
        )  # fmt: skip
        if keep > 0:
            await tx.insert("working", [entry], _NOWHERE)
        if renew:
            for row in await held(tx, port, "working", which):
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
    port: Port,
    memories: Sequence[Memory],
    vectors: Sequence[Vector | None],
    space: Space | None,
) -> list[Memory]:
    """Keep all chunks of a document, or return those of the current one with the same text."""
    first = memories[0]
    given = zip(memories, vectors or (None,) * len(memories), strict=True)
    found = {place: one for place, (_, one) in enumerate(given) if space and one is not None}
    async with port.transaction(Select.within(first.scope), writes=True) as tx:
        reads: list[Coroutine[Any, Any, Any]] = [_same_document(tx, port.rows, first)]
        reads += [number_of(tx, space)] if space and found else []
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
        rows = await tx.execute("SELECT name, id FROM space")
        known: dict[str | None, int] = {row[0]: row[1] for row in rows}
        number = known.pop(sql_rows.flat(space.name), 0)
        # As values, so that the database knows how few there are and does not compare all vectors.
        among, spaces_ = port.rows.numbered("space", [0, *known.values()])
        rows = await tx.execute(
            f"SELECT seq, {port.rows.read} FROM record WHERE seq IN (SELECT seq FROM record"
            f" WHERE {among}"
            f" AND NOT EXISTS (SELECT 1 FROM vector WHERE {port.rows.vector_of})"
            " ORDER BY seq LIMIT ?) ORDER BY seq",
            *spaces_, number, limit,
        )  # fmt: skip
    return [port.rows.record("long_term", row) for row in rows]


async def put_vectors(port: Port, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
    """Keep vectors of memories that are there and say the same."""
    rows = port.rows
    data = packed_all([vector for _, vector in vectors], space)
    ready = {place_of(rows, one): data[at] for at, (one, _) in enumerate(vectors)}
    if not ready:
        return 0
    async with port.transaction(None, writes=True) as tx:
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
    tx: Transaction, rows: Rows, places: Mapping[Place, T], *, held: str
) -> list[tuple[int, T]]:
    """Return the numbers of the memories that are at these places, with what each place has."""
    among, texts = rows.any_of("id", list(dict.fromkeys(place[1] for place in places)))
    found = await tx.execute(
        f"SELECT seq, {rows.part}, id, content FROM record"
        f" WHERE {among} AND {rows.in_tier('long_term', loose=True)} ORDER BY {_FIRST}{held}",
        *texts,
    )
    return [(row[0], places[place]) for row in found if (place := tuple(row[1:])) in places]


async def spaces(port: Port) -> dict[Space, int]:
    """Return every space with the number of its vectors, the current one first."""
    async with port.transaction(None, snapshot=False) as tx:
        rows = await tx.counted_spaces()
    return {Space(sql_rows.unflat(name), dimension): count for name, dimension, count in rows}


async def known_spaces(port: Port) -> list[Space]:
    """Return every space, the current one first."""
    async with port.transaction(None, snapshot=False) as tx:
        rows = await tx.execute("SELECT name, dimension FROM space ORDER BY current DESC, id")
    return [Space(sql_rows.unflat(name), dimension) for name, dimension in rows]


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


async def held(tx: Transaction, port: Port, tier: str, which: Select) -> Sequence[Any]:
    """Return what fits, with its numbers; others have to wait until this was changed."""
    (where, values), place = port.rows.condition(tier, which), port.rows.place(which)
    return await tx.execute(
        f"SELECT seq, {port.rows.read} FROM record WHERE {where}"
        f" ORDER BY {place} DESC{port.rows.held}",
        *values,
    )


async def _same_document(tx: Transaction, rows: Rows, first: Memory) -> list[Memory]:
    same, more = rows.condition(
        "long_term",
        Select.within(first.scope, agents=(first.scope.agent_id,), hashes=(first.content_hash,)),
    )
    found = await tx.execute(
        f"SELECT seq, {rows.read} FROM record WHERE {same} AND {rows.current} ORDER BY seq", *more
    )
    known = [rows.record("long_term", row) for row in found]
    of_one = [one for one in known if one.document_id == known[0].document_id]
    return sorted(of_one, key=lambda one: one.chunk_index)


async def _space_made(tx: Transaction, space: Space) -> int:
    """Return the number of a space, which is made if it is new; see `number_of`."""
    known = await number_of(tx, space)
    if known is None:
        await tx.alone()
        known = await number_of(tx, space)
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

"""Every operation of the tiers in SQL, written once over a port.

A port offers a transaction; an embedded one never waits inside it, so that its operations can
be driven without an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar, cast

from memoryware.tiers.records import Memory, lineages
from memoryware.tiers.stores._loading import number_of_mark
from memoryware.tiers.stores._pages import Part
from memoryware.tiers.stores._vectors import packed_all
from memoryware.tiers.stores.protocol import Page, Select
from memoryware.tiers.stores.sight import Space, Vector
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sql.port import Port, Transaction
from memoryware.tiers.stores.sql.rows import Rows
from memoryware.tiers.stores.sql.searching import number_of
from memoryware.tiers.text.terms import words_of

T = TypeVar("T")
_EVERY: Final = 2**63 - 1
"""A limit that is none."""
_AT_ONCE: Final = 120
"""Records that are written down before they are kept; of more, the rows would take much room,
and Python would look through all of them again and again for garbage."""
_NOWHERE: Final[Mapping[int, int]] = {}


async def find(port: Port, tier: str, which: Select, part: Part) -> Page[Any]:
    """Return a page of a tier, what was stored last first."""
    (where, values), place = port.rows.condition(tier, which), port.rows.place(which)
    here, more = port.rows.where(which.tenant)
    mark = _EVERY if part.after is None else number_of_mark(part.after)
    on = "" if part.after is None else f" AND {place} < {mark}"
    async with port.transaction(which) as tx:
        rows = await tx.execute(
            f"SELECT {sql_rows.READ}, seq FROM record WHERE seq IN (SELECT seq FROM record"
            f" WHERE {where}{on} ORDER BY {place} DESC LIMIT ? OFFSET ?){here}"
            " ORDER BY seq DESC",  # no texts are sorted
            *values, min(_EVERY, _EVERY if part.limit is None else part.limit),
            min(_EVERY, part.offset), *more,
        )  # fmt: skip
        total, newer = len(rows), 0
        if part.offset or on or total == part.limit:  # else these are all
            counted = await tx.execute(
                f"SELECT count(*), count(CASE WHEN record.seq >= {mark} THEN 1 END)"
                f" FROM record WHERE {where}",
                *values,
            )
            total, newer = counted[0]
    items, marks = [sql_rows.record_of(tier, row) for row in rows], [str(row[2]) for row in rows]
    return Page(items, total, min(total, newer + part.offset), marks)


async def edit(port: Port, tier: str, which: Select, change: Callable[[Any], Any]) -> list[Any]:
    """Change what fits, all of it or nothing; return what differs."""
    changed, other_text = [], False
    async with port.transaction(which, writes=True) as tx:
        for row in await held(tx, port, tier, which):
            old, new = sql_rows.record_of(tier, row), change(sql_rows.record_of(tier, row))
            if new != old:
                await replaced(tx, port, tier, row[2], old, new)
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
        await _drop(tx, port.rows, tier, [row[0] for row in rows])
    if rows:
        await port.wipe()
    return len(rows)


async def add_entry(port: Port, entry: Any) -> Any:
    """Keep an entry in quarantine, or return the one that has its key."""
    async with port.transaction(Select.within(entry.scope), writes=True) as tx:
        if entry.key is not None:
            mine, values = port.rows.within(entry.scope)
            known = await tx.execute(
                f"SELECT {sql_rows.READ} FROM record"
                f" WHERE tier = 'quarantine' AND {mine} AND once = ?",
                *values, port.rows.key(entry.key),
            )  # fmt: skip
            if known:
                return sql_rows.record_of("quarantine", known[0])
        await insert(tx, port.rows, "quarantine", [entry])
    return entry


async def push(port: Port, entry: Any, keep: int, renew: bool) -> None:
    """Put an entry first in working memory of its group, and keep the newest."""
    which = Select.within(entry.scope)
    mine, values = port.rows.within(entry.scope)
    async with port.transaction(which, writes=True) as tx:
        await tx.execute(
            f"DELETE FROM record WHERE tier = 'working' AND {mine} AND id = ?",
            *values, port.rows.key(entry.id),
        )  # fmt: skip
        await insert(tx, port.rows, "working", [entry])
        await tx.execute(
            "DELETE FROM record WHERE tier = 'working' AND seq IN (SELECT seq FROM record"
            f" WHERE tier = 'working' AND {mine} ORDER BY seq DESC LIMIT ? OFFSET ?)",
            *values, _EVERY, keep,
        )  # fmt: skip
        if renew:
            for row in await held(tx, port, "working", which):
                one = sql_rows.record_of("working", row)
                renewed = replace(one, expires_at=entry.expires_at)
                if renewed != one:
                    await replaced(tx, port, "working", row[2], one, renewed)


async def purge(port: Port, now: datetime) -> int:
    """Remove what has expired from working memory."""
    async with port.transaction(None, writes=True) as tx:
        rows = await tx.execute(
            "SELECT seq FROM record WHERE tier = 'working' AND expires <= ?"
            f" ORDER BY {_FIRST}{port.rows.held}",
            sql_rows.micros(now),
        )
        await _drop(tx, port.rows, "working", [row[0] for row in rows])
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
        numbers = await insert(tx, port.rows, "long_term", memories, dict.fromkeys(found, number))
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
            f"SELECT {sql_rows.READ} FROM record WHERE seq IN (SELECT seq FROM record"
            f" WHERE {among}"
            " AND NOT EXISTS (SELECT 1 FROM vector WHERE space = ? AND seq = record.seq)"
            " ORDER BY seq LIMIT ?) ORDER BY seq",
            *spaces_, number, limit,
        )  # fmt: skip
    return [sql_rows.record_of("long_term", row) for row in rows]


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
            await _put(tx, rows, await _space_made(tx, space), kept)
    return len(kept)


Place: TypeAlias = tuple[Any, ...]
"""What the row of a memory has where it is kept: part, id and text."""


def place_of(rows: Rows, memory: Memory) -> Place:
    """Return where a memory is kept."""
    part = sql_rows.part_of(memory.scope.tenant, memory.scope.group_id)
    return rows.key(part), rows.key(memory.id), sql_rows.flat(memory.content)


async def numbers_of(
    tx: Transaction, rows: Rows, places: Mapping[Place, T], *, held: str
) -> list[tuple[int, T]]:
    """Return the numbers of the memories that are at these places, with what each place has."""
    among, texts = rows.any_of("id", list(dict.fromkeys(place[1] for place in places)))
    found = await tx.execute(
        f"SELECT seq, part, id, content FROM record"
        f" WHERE {among} AND {rows.loose('tier')} = 'long_term' ORDER BY {_FIRST}{held}",
        *texts,
    )
    return [(row[0], places[place]) for row in found if (place := tuple(row[1:])) in places]


async def spaces(port: Port) -> dict[Space, int]:
    """Return every space with the number of its vectors, the current one first."""
    async with port.transaction(None) as tx:
        rows = await tx.execute(
            "SELECT name, dimension, (SELECT count(*) FROM vector WHERE vector.space = space.id)"
            " FROM space ORDER BY current DESC, id"
        )
    return {Space(sql_rows.unflat(name), dimension): count for name, dimension, count in rows}


async def known_spaces(port: Port) -> list[Space]:
    """Return every space, the current one first."""
    async with port.transaction(None) as tx:
        rows = await tx.execute("SELECT name, dimension FROM space ORDER BY current DESC, id")
    return [Space(sql_rows.unflat(name), dimension) for name, dimension in rows]


async def adopt(port: Port, space: Space, drop_others: bool) -> None:
    """Make a space the current one."""
    async with port.transaction(None, writes=True) as tx:
        await tx.alone()
        number = await _space_made(tx, space)
        await tx.execute("UPDATE space SET current = false WHERE current AND id != ?", number)
        await tx.execute("UPDATE space SET current = true WHERE id = ?", number)
        if drop_others:  # the space first: that waits for those who are storing a vector in it
            await tx.execute("DELETE FROM space WHERE id != ?", number)
            await tx.execute("UPDATE record SET space = 0 WHERE space != ?", number)


# Inside a transaction.

_FIRST: Final = "seq DESC"
"""The order in which all transactions take what they are going to change."""


@cache
def _replacement(columns: Sequence[str]) -> str:
    return f"UPDATE record SET {', '.join(f'{one} = ?' for one in columns)} WHERE seq = ?"


async def held(tx: Transaction, port: Port, tier: str, which: Select) -> Sequence[Any]:
    """Return what fits, with its numbers; others have to wait until this was changed."""
    (where, values), place = port.rows.condition(tier, which), port.rows.place(which)
    return await tx.execute(
        f"SELECT {sql_rows.READ}, seq FROM record WHERE {where}"
        f" ORDER BY {place} DESC{port.rows.held}",
        *values,
    )


async def insert(
    tx: Transaction,
    rows: Rows,
    tier: str,
    records: Sequence[Any],
    spaces_: Mapping[int, int] = _NOWHERE,
) -> list[int]:
    """Store records with their lineages and words; return their numbers.

    Args:
        tx: The transaction.
        rows: How records are written down.
        tier: Their tier.
        records: The records.
        spaces_: The space of those that are given a vector next, by their places.
    """
    numbers, known = list[int](), tier == "long_term"
    texts: list[Sequence[str]] = [words_of(one.content) if known else () for one in records]
    for start in range(0, len(records), _AT_ONCE):
        some = records[start : start + _AT_ONCE]
        made = [
            (spaces_.get(place, 0) if known else None, *rows.row_of(tier, one, len(texts[place])))
            for place, one in enumerate(some, start)
        ]
        new = await tx.keep_records(("space", *rows.columns), made)
        await _link(tx, rows, list(zip(new, some, strict=True)))
        numbers += new
    if known and records:
        names = (sql_rows.names_of(one.scope) for one in records)
        await tx.index(list(zip(numbers, names, texts, strict=True)))
    return numbers


async def replaced(tx: Transaction, port: Port, tier: str, seq: int, old: Any, new: Any) -> None:
    """Put a record in place of an old one, and what hangs on it as far as that differs."""
    words = words_of(new.content) if tier == "long_term" else []
    row = port.rows.row_of(tier, new, len(words))
    await tx.execute(_replacement(port.rows.columns), *row, seq)
    if lineages(new) != lineages(old):
        for table in ("source", "root"):
            await tx.execute(f"DELETE FROM {table} WHERE seq = ?", seq)
        await _link(tx, port.rows, [(seq, new)])
    if tier == "long_term" and new.content != old.content:
        # A vector of the old text must not find the new one.
        await tx.execute("DELETE FROM vector WHERE seq = ?", seq)
        await tx.execute("UPDATE record SET space = 0 WHERE seq = ?", seq)
        await tx.unindex([seq])
        await tx.index([(seq, sql_rows.names_of(new.scope), words)])


async def _link(tx: Transaction, rows: Rows, linked: Sequence[tuple[int, Any]]) -> None:
    made = [(seq, one) for seq, record in linked for one in lineages(record)]
    sources = [(seq, name) for seq, one in made for name in one.sources]
    roots = [(seq, str(root)) for seq, one in made for root in one.roots]
    for table, names in (("source", sources), ("root", roots)):
        if names:
            kept = [(seq, rows.key(name)) for seq, name in dict.fromkeys(names)]
            await tx.many(f"INSERT INTO {table} (seq, name) VALUES (?, ?)", kept)


async def _drop(tx: Transaction, rows: Rows, tier: str, numbers: Sequence[int]) -> None:
    if numbers and tier == "long_term":
        await tx.unindex(numbers)
    if numbers:
        where, values = rows.numbered("seq", numbers)
        await tx.execute(f"DELETE FROM record WHERE {where}", *values)


async def _same_document(tx: Transaction, rows: Rows, first: Memory) -> list[Memory]:
    agent, more = rows.same("agent_id", first.scope.agent_id)
    mine, values = rows.within(first.scope)
    found = await tx.execute(
        f"SELECT {sql_rows.READ} FROM record WHERE tier = 'long_term' AND {mine} AND hash = ?"
        f" AND {agent} AND valid_to IS NULL AND revocation IS NULL ORDER BY seq",
        *values, rows.key(first.content_hash), *more,
    )  # fmt: skip
    known = [sql_rows.record_of("long_term", row) for row in found]
    same = [one for one in known if one.document_id == known[0].document_id]
    return sorted(same, key=lambda one: one.chunk_index)


async def _put(
    tx: Transaction, rows: Rows, space: int, vectors: Sequence[tuple[int, bytes]]
) -> None:
    if vectors:
        await tx.put_vectors(space, vectors)
        where, values = rows.numbered("seq", [seq for seq, _ in vectors])
        await tx.execute(f"UPDATE record SET space = ? WHERE {where}", space, *values)


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

"""Every operation of the tiers in SQL, written once over a port.

A port offers a transaction; an embedded one never waits inside it, so that its operations can
be driven without an event loop.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Memory, lineages
from memoryware.tiers.stores import _rows
from memoryware.tiers.stores._port import Port, Transaction
from memoryware.tiers.stores._searching import number_of
from memoryware.tiers.stores._vectors import packed
from memoryware.tiers.stores.protocol import Page, Select, Space, Vector

_INSERT: Final = (
    f"INSERT INTO record (space, {', '.join(_rows.COLUMNS)})"
    f" VALUES (?, {', '.join('?' * len(_rows.COLUMNS))}) RETURNING seq"
)
_UPDATE: Final = (
    f"UPDATE record SET {', '.join(f'{one} = ?' for one in _rows.COLUMNS)} WHERE seq = ?"
)


async def find(port: Port, tier: str, which: Select, limit: int | None, offset: int) -> Page[Any]:
    """Return a page of a tier, what was stored last first."""
    (where, values), order = _rows.condition(tier, which), _rows.order(which)
    async with port.transaction(writes=False) as tx:
        rows = await tx.execute(
            f"SELECT {_rows.READ} FROM record WHERE seq IN (SELECT seq FROM record WHERE {where}"
            f" ORDER BY {order} LIMIT ? OFFSET ?) ORDER BY seq DESC",  # sorts numbers, not texts
            *values, -1 if limit is None else limit, offset,
        )  # fmt: skip
        total = len(rows)
        if limit is not None or offset:
            counted = await tx.execute(f"SELECT count(*) FROM record WHERE {where}", *values)
            total = counted[0][0]
    return Page([_rows.record_of(tier, row) for row in rows], total)


async def edit(port: Port, tier: str, which: Select, change: Callable[[Any], Any]) -> list[Any]:
    """Change what fits, all of it or nothing; return what differs."""
    (where, values), order = _rows.condition(tier, which), _rows.order(which)
    changed, other_text = [], False
    async with port.transaction(writes=True) as tx:
        rows = await tx.execute(
            f"SELECT {_rows.READ}, seq FROM record WHERE {where} ORDER BY {order}", *values
        )
        for row in rows:
            old, new = _rows.record_of(tier, row), change(_rows.record_of(tier, row))
            if new != old:
                await _replace(tx, tier, row[2], old, new)
                changed.append(new)
                other_text = other_text or new.content != old.content
    if other_text:
        await port.wipe()
    return changed


async def delete(port: Port, tier: str, which: Select) -> int:
    """Remove what fits, with its words and vectors, and overwrite where it was."""
    where, values = _rows.condition(tier, which)
    async with port.transaction(writes=True) as tx:
        rows = await tx.execute(f"SELECT seq FROM record WHERE {where}", *values)
        await _drop(tx, tier, [row[0] for row in rows])
    if rows:
        await port.wipe()
    return len(rows)


async def add_entry(port: Port, entry: Any) -> Any:
    """Keep an entry in quarantine, or return the one that has its key."""
    async with port.transaction(writes=True) as tx:
        if entry.key is not None:
            part = _rows.part_of(entry.scope.tenant, entry.scope.group_id)
            known = await tx.execute(
                f"SELECT {_rows.READ} FROM record"
                " WHERE tier = 'quarantine' AND part = ? AND once = ?",
                part, _rows.flat(entry.key),
            )  # fmt: skip
            if known:
                return _rows.record_of("quarantine", known[0])
        await _insert(tx, "quarantine", entry)
    return entry


async def push(port: Port, entry: Any, keep: int, renew: bool) -> None:
    """Put an entry first in working memory of its group, and keep the newest."""
    part = _rows.part_of(entry.scope.tenant, entry.scope.group_id)
    async with port.transaction(writes=True) as tx:
        same = await tx.execute(
            "SELECT seq FROM record WHERE tier = 'working' AND part = ? AND id = ?",
            part, _rows.flat(entry.id),
        )  # fmt: skip
        await _drop(tx, "working", [row[0] for row in same])
        await _insert(tx, "working", entry)
        old = await tx.execute(
            "SELECT seq FROM record WHERE tier = 'working' AND part = ?"
            " ORDER BY seq DESC LIMIT -1 OFFSET ?",
            part, keep,
        )  # fmt: skip
        await _drop(tx, "working", [row[0] for row in old])
        if renew:
            rows = await tx.execute(
                f"SELECT {_rows.READ}, seq FROM record WHERE tier = 'working' AND part = ?", part
            )
            for row in rows:
                one = _rows.record_of("working", row)
                renewed = replace(one, expires_at=entry.expires_at)
                await _replace(tx, "working", row[2], one, renewed)


async def purge(port: Port, now: datetime) -> int:
    """Remove what has expired from working memory."""
    async with port.transaction(writes=True) as tx:
        rows = await tx.execute(
            "SELECT seq FROM record WHERE tier = 'working' AND expires <= ?", _rows.micros(now)
        )
        await _drop(tx, "working", [row[0] for row in rows])
    return len(rows)


async def add_document(
    port: Port,
    memories: Sequence[Memory],
    vectors: Sequence[Vector | None],
    space: Space | None,
    replaces: Sequence[str],
) -> list[Memory]:
    """Keep all chunks of a document, or return those of the current one with the same text."""
    if not memories:
        return []
    first = memories[0]
    pairs = list(zip(memories, vectors or (None,) * len(memories), strict=True))
    async with port.transaction(writes=True) as tx:
        known = await _same_document(tx, first)
        if known:
            return known
        number = (
            await _space_made(tx, space) if space and any(v is not None for _, v in pairs) else None
        )
        for one, vector in pairs:
            seq = await _insert(tx, "long_term", one)
            if vector is not None and space is not None and number is not None:
                await _put(tx, number, seq, packed(vector, space))
        if replaces:
            await _end(tx, first, replaces)
    return list(memories)


async def unembedded(port: Port, space: Space, limit: int) -> list[Memory]:
    """Return memories without a vector in a space, oldest first."""
    async with port.transaction(writes=False) as tx:
        known = await tx.execute("SELECT id FROM space WHERE name = ?", _rows.flat(space.name))
        number = known[0][0] if known else 0
        rows = await tx.execute(
            f"SELECT {_rows.READ} FROM record WHERE seq IN (SELECT seq FROM record"
            " WHERE space IN (SELECT 0 UNION SELECT id FROM space WHERE id != ?)"
            " AND NOT EXISTS (SELECT 1 FROM vector WHERE space = ? AND seq = record.seq)"
            " ORDER BY seq LIMIT ?) ORDER BY seq",
            number, number, limit,
        )  # fmt: skip
    return [_rows.record_of("long_term", row) for row in rows]


async def put_vectors(port: Port, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
    """Keep vectors of memories that are there and say the same."""
    ready = [(one, packed(vector, space)) for one, vector in vectors]
    kept = set()
    async with port.transaction(writes=True) as tx:
        for one, data in ready:
            part = _rows.part_of(one.scope.tenant, one.scope.group_id)
            rows = await tx.execute(
                "SELECT seq FROM record"
                " WHERE tier = 'long_term' AND part = ? AND id = ? AND content = ?",
                part, _rows.flat(one.id), _rows.flat(one.content),
            )  # fmt: skip
            for (seq,) in rows:
                await _put(tx, await _space_made(tx, space), seq, data)
                kept.add(seq)
    return len(kept)


async def spaces(port: Port) -> dict[Space, int]:
    """Return every space with the number of its vectors, the current one first."""
    async with port.transaction(writes=False) as tx:
        rows = await tx.execute(
            "SELECT name, dimension, (SELECT count(*) FROM vector WHERE vector.space = space.id)"
            " FROM space ORDER BY current DESC, id"
        )
    return {Space(_rows.unflat(name), dimension): count for name, dimension, count in rows}


async def adopt(port: Port, space: Space, drop_others: bool) -> None:
    """Make a space the current one."""
    async with port.transaction(writes=True) as tx:
        number = await _space_made(tx, space)
        await tx.execute("UPDATE space SET current = (id = ?)", number)
        if drop_others:
            await tx.execute("UPDATE record SET space = 0 WHERE space != ?", number)
            await tx.execute("DELETE FROM vector WHERE space != ?", number)
            await tx.execute("DELETE FROM space WHERE id != ?", number)


# Inside a transaction.


async def _insert(tx: Transaction, tier: str, record: Any) -> int:
    space = 0 if tier == "long_term" else None
    rows = await tx.execute(_INSERT, space, *_rows.row_of(tier, record))
    seq: int = rows[0][0]
    await _link(tx, seq, record)
    if tier == "long_term":
        await _index(tx, seq, record)
    return seq


async def _replace(tx: Transaction, tier: str, seq: int, old: Any, new: Any) -> None:
    await tx.execute(_UPDATE, *_rows.row_of(tier, new), seq)
    if lineages(new) != lineages(old):
        for table in ("source", "root"):
            await tx.execute(f"DELETE FROM {table} WHERE seq = ?", seq)
        await _link(tx, seq, new)
    if tier == "long_term" and new.content != old.content:
        # A vector of the old text must not find the new one.
        await tx.execute("DELETE FROM vector WHERE seq = ?", seq)
        await tx.execute("UPDATE record SET space = 0 WHERE seq = ?", seq)
        await tx.unindex([seq])
        await _index(tx, seq, new)


async def _link(tx: Transaction, seq: int, record: Any) -> None:
    made = lineages(record)
    sources = [name for one in made for name in one.sources]
    roots = [str(name) for one in made for name in one.roots]
    for table, names in (("source", sources), ("root", roots)):
        rows = [(seq, _rows.flat(one)) for one in dict.fromkeys(names)]
        await tx.many(f"INSERT INTO {table} (seq, name) VALUES (?, ?)", rows)


async def _index(tx: Transaction, seq: int, record: Any) -> None:
    scope = record.scope
    corpora = _rows.tokens_of(scope.tenant) + _rows.tokens_of(scope.tenant, scope.group_id)
    await tx.index(seq, corpora, words_of(record.content))


async def _drop(tx: Transaction, tier: str, numbers: Sequence[int]) -> None:
    if numbers and tier == "long_term":
        await tx.unindex(numbers)
    if numbers:
        await tx.execute(
            "DELETE FROM record WHERE seq IN (SELECT value FROM json_each(?))",
            json.dumps(list(numbers)),
        )


async def _same_document(tx: Transaction, first: Memory) -> list[Memory]:
    rows = await tx.execute(
        f"SELECT {_rows.READ} FROM record WHERE tier = 'long_term' AND part = ? AND hash = ?"
        " AND agent_id IS ? AND valid_to IS NULL AND revocation IS NULL ORDER BY seq",
        _rows.part_of(first.scope.tenant, first.scope.group_id), _rows.flat(first.content_hash),
        _rows.flat(first.scope.agent_id),
    )  # fmt: skip
    found = [_rows.record_of("long_term", row) for row in rows]
    same = [one for one in found if one.document_id == found[0].document_id]
    return sorted(same, key=lambda one: one.chunk_index)


async def _end(tx: Transaction, first: Memory, replaces: Sequence[str]) -> None:
    which = Select.within(first.scope, documents=tuple(replaces))
    where, values = _rows.condition("long_term", which)
    rows = await tx.execute(
        f"SELECT {_rows.READ}, seq FROM record WHERE {where} AND valid_to IS NULL", *values
    )
    for row in rows:
        one = _rows.record_of("long_term", row)
        ended = replace(one, valid_to=first.valid_from, superseded_by=first.document_id)
        await _replace(tx, "long_term", row[2], one, ended)


async def _put(tx: Transaction, space: int, seq: int, data: bytes) -> None:
    await tx.execute("DELETE FROM vector WHERE space = ? AND seq = ?", space, seq)
    await tx.execute("INSERT INTO vector (space, seq, data) VALUES (?, ?, ?)", space, seq, data)
    await tx.execute("UPDATE record SET space = ? WHERE seq = ?", space, seq)


async def _space_made(tx: Transaction, space: Space) -> int:
    """Return the number of a space, which is made if it is new; see `_space`."""
    known = await number_of(tx, space)
    if known is not None:
        return known
    rows = await tx.execute(
        "INSERT INTO space (name, dimension, current)"
        " VALUES (?, ?, NOT EXISTS (SELECT 1 FROM space WHERE current)) RETURNING id",
        _rows.flat(space.name), space.dimension,
    )  # fmt: skip
    number: int = rows[0][0]
    return number

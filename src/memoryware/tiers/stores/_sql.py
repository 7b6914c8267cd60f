"""Every operation of the tiers in SQL, written once over a port.

A port offers a transaction; an embedded one never waits inside it, so that its operations can
be driven without an event loop.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol

from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.ranking import bm25, whole_score, words_of
from memoryware.tiers.records import Memory
from memoryware.tiers.stores import _rows
from memoryware.tiers.stores._vectors import packed, scores
from memoryware.tiers.stores.protocol import Hit, Page, Select, Space, Vector

Row = Sequence[Any]
_INSERT: Final = (
    f"INSERT INTO record ({', '.join(_rows.COLUMNS)})"
    f" VALUES ({', '.join('?' * len(_rows.COLUMNS))}) RETURNING seq"
)
_UPDATE: Final = (
    f"UPDATE record SET {', '.join(f'{one} = ?' for one in _rows.COLUMNS)} WHERE seq = ?"
)
_POOL: Final = 4
"""How many times the wanted number of texts the index of words is asked for, to rank them again."""


class Transaction(Protocol):
    """What can be done inside a transaction."""

    async def execute(self, sql: str, *values: object) -> Sequence[Row]: ...
    async def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None: ...


class Port(Protocol):
    """A database."""

    def transaction(self, *, writes: bool) -> AbstractAsyncContextManager[Transaction]: ...


async def find(port: Port, tier: str, which: Select, limit: int | None, offset: int) -> Page[Any]:
    """Return a page of a tier, what was stored last first."""
    where, values = _rows.condition(tier, which)
    async with port.transaction(writes=False) as tx:
        rows = await tx.execute(
            f"SELECT body FROM record WHERE {where} ORDER BY seq DESC LIMIT ? OFFSET ?",
            *values, -1 if limit is None else limit, offset,
        )  # fmt: skip
        total = len(rows)
        if limit is not None or offset:
            counted = await tx.execute(f"SELECT count(*) FROM record WHERE {where}", *values)
            total = counted[0][0]
    return Page([_rows.record_of(tier, row[0]) for row in rows], total)


async def edit(port: Port, tier: str, which: Select, change: Callable[[Any], Any]) -> list[Any]:
    """Change what fits, all of it or nothing; return what differs."""
    where, values = _rows.condition(tier, which)
    async with port.transaction(writes=True) as tx:
        rows = await tx.execute(
            f"SELECT seq, body FROM record WHERE {where} ORDER BY seq DESC", *values
        )
        changed = []
        for seq, body in rows:
            old = _rows.record_of(tier, body)
            new = change(old)
            if new != old:
                await _replace(tx, tier, seq, new, rewritten=new.content != old.content)
                changed.append(new)
    return changed


async def delete(port: Port, tier: str, which: Select) -> int:
    """Remove what fits, with its words and vectors."""
    where, values = _rows.condition(tier, which)
    async with port.transaction(writes=True) as tx:
        rows = await tx.execute(f"SELECT seq FROM record WHERE {where}", *values)
        await _drop(tx, [row[0] for row in rows])
    return len(rows)


async def add_entry(port: Port, entry: Any) -> Any:
    """Keep an entry in quarantine, or return the one that has its key."""
    async with port.transaction(writes=True) as tx:
        if entry.key is not None:
            part = _rows.part_of(entry.scope.tenant, entry.scope.group_id)
            known = await tx.execute(
                "SELECT body FROM record WHERE tier = 'quarantine' AND part = ? AND once = ?",
                part, entry.key,
            )  # fmt: skip
            if known:
                return _rows.record_of("quarantine", known[0][0])
        await _insert(tx, "quarantine", entry)
    return entry


async def push(port: Port, entry: Any, keep: int, renew: bool) -> None:
    """Put an entry first in working memory of its group, and keep the newest."""
    part = _rows.part_of(entry.scope.tenant, entry.scope.group_id)
    async with port.transaction(writes=True) as tx:
        same = await tx.execute(
            "SELECT seq FROM record WHERE tier = 'working' AND id = ?", entry.id
        )
        await _drop(tx, [row[0] for row in same])
        await _insert(tx, "working", entry)
        old = await tx.execute(
            "SELECT seq FROM record WHERE tier = 'working' AND part = ?"
            " ORDER BY seq DESC LIMIT -1 OFFSET ?",
            part, keep,
        )  # fmt: skip
        await _drop(tx, [row[0] for row in old])
        if renew:
            rows = await tx.execute(
                "SELECT seq, body FROM record WHERE tier = 'working' AND part = ?", part
            )
            for seq, body in rows:
                one = replace(_rows.record_of("working", body), expires_at=entry.expires_at)
                await _replace(tx, "working", seq, one, rewritten=False)


async def purge(port: Port, now: datetime) -> int:
    """Remove what has expired from working memory."""
    async with port.transaction(writes=True) as tx:
        rows = await tx.execute(
            "SELECT seq FROM record WHERE tier = 'working' AND expires <= ?", _rows.micros(now)
        )
        await _drop(tx, [row[0] for row in rows])
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
        number = await _space(tx, space) if space and any(v is not None for _, v in pairs) else None
        for one, vector in pairs:
            seq = await _insert(tx, "long_term", one)
            if vector is not None and space is not None:
                await tx.execute(
                    "INSERT INTO vector VALUES (?, ?, ?)", number, seq, packed(vector, space)
                )
        if replaces:
            await _end(tx, first, replaces)
    return list(memories)


async def by_words(port: Port, words: Sequence[str], which: Select, limit: int) -> list[Hit]:
    """Return what has one of the words, by BM25 with the numbers of its own groups."""
    wanted = list(dict.fromkeys(words))
    if not wanted or limit < 1 or which.groups == ():
        return []
    if which.groups is None:
        corpora, within = [which.tenant], "record.tenant IS ?"
        tokens = [_rows.token_of(json.dumps([which.tenant]))]
    else:
        corpora = [_rows.part_of(which.tenant, one) for one in which.groups]
        within = f"record.part IN ({', '.join('?' * len(corpora))})"
        tokens = [_rows.token_of(one) for one in corpora if one is not None]
    inside = f"part : ({' OR '.join(tokens)})"
    where, values = _rows.condition("long_term", which)
    async with port.transaction(writes=False) as tx:
        ((count, size),) = await tx.execute(
            f"SELECT count(*), total(size) FROM record WHERE tier = 'long_term' AND {within}",
            *corpora,
        )
        having = {}
        for word in wanted:
            rows = await tx.execute(
                "SELECT count(*) FROM word_index WHERE word_index MATCH ?",
                f"{inside} AND words : {_quoted(word)}",
            )
            having[word] = rows[0][0]
        found = await tx.execute(
            "SELECT record.body, word_index.words FROM word_index"
            " JOIN record ON record.seq = word_index.rowid"
            f" WHERE word_index MATCH ? AND {where} ORDER BY bm25(word_index, 0.0, 1.0) LIMIT ?",
            f"{inside} AND words : ({' OR '.join(map(_quoted, wanted))})",
            *values, limit * _POOL,
        )  # fmt: skip
    mean, whole = size / count if count else 0, whole_score(having, count)
    score = partial(bm25, having=having, count=count, mean=mean)
    hits = [
        Hit(_rows.record_of("long_term", body), score(Counter(text.split())), whole)
        for body, text in found
    ]
    return _best(hits, limit)


async def by_vector(
    port: Port, vector: Vector, which: Select, space: Space, limit: int
) -> list[Hit]:
    """Return what is nearest by cosine among what fits."""
    where, values = _rows.condition("long_term", which)
    async with port.transaction(writes=False) as tx:
        known = await tx.execute("SELECT id, dimension FROM space WHERE name = ?", space.name)
        if known and known[0][1] != space.dimension:
            raise EmbeddingMismatch(str(Space(space.name, known[0][1])), str(space))
        query = packed(vector, space)
        rows = await tx.execute(
            "SELECT record.seq, vector.data FROM record JOIN vector ON vector.seq = record.seq"
            f" WHERE vector.space = ? AND {where}",
            known[0][0] if known else -1, *values,
        )  # fmt: skip
        ranked = sorted(
            zip(scores(query, [row[1] for row in rows]), (row[0] for row in rows), strict=True),
            reverse=True,
        )[:limit]
        rows = await tx.execute(
            "SELECT seq, body FROM record WHERE seq IN (SELECT value FROM json_each(?))",
            json.dumps([seq for _, seq in ranked]),
        )
        bodies = {seq: body for seq, body in rows}  # noqa: C416 - rows of two, as pairs
    return _best([Hit(_rows.record_of("long_term", bodies[s]), v) for v, s in ranked], limit)


async def unembedded(port: Port, space: Space, limit: int) -> list[Memory]:
    """Return memories without a vector in a space, oldest first."""
    async with port.transaction(writes=False) as tx:
        rows = await tx.execute(
            "SELECT body FROM record WHERE tier = 'long_term' AND seq NOT IN"
            " (SELECT vector.seq FROM vector JOIN space ON space.id = vector.space"
            " WHERE space.name = ?) ORDER BY seq LIMIT ?",
            space.name, limit,
        )  # fmt: skip
    return [_rows.record_of("long_term", row[0]) for row in rows]


async def put_vectors(port: Port, vectors: Sequence[tuple[str, Vector]], space: Space) -> int:
    """Keep vectors by the ids of memories that are there."""
    kept = 0
    async with port.transaction(writes=True) as tx:
        number: int | None = None
        for id_, vector in vectors:
            data = packed(vector, space)
            rows = await tx.execute(
                "SELECT seq FROM record WHERE tier = 'long_term' AND id = ?", id_
            )
            if not rows:
                continue
            number = number if number is not None else await _space(tx, space)
            await tx.execute(
                "INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", number, rows[0][0], data
            )
            kept += 1
    return kept


async def spaces(port: Port) -> dict[Space, int]:
    """Return every space with the number of its vectors, the current one first."""
    async with port.transaction(writes=False) as tx:
        rows = await tx.execute(
            "SELECT name, dimension, (SELECT count(*) FROM vector WHERE vector.space = space.id)"
            " FROM space ORDER BY current DESC, id"
        )
    return {Space(name, dimension): count for name, dimension, count in rows}


async def adopt(port: Port, space: Space, drop_others: bool) -> None:
    """Make a space the current one."""
    async with port.transaction(writes=True) as tx:
        number = await _space(tx, space)
        await tx.execute("UPDATE space SET current = (id = ?)", number)
        if drop_others:
            await tx.execute("DELETE FROM vector WHERE space != ?", number)
            await tx.execute("DELETE FROM space WHERE id != ?", number)


# Inside a transaction.


async def _insert(tx: Transaction, tier: str, record: Any) -> int:
    rows = await tx.execute(_INSERT, *_rows.row_of(tier, record))
    seq: int = rows[0][0]
    await _link(tx, tier, seq, record)
    return seq


async def _replace(tx: Transaction, tier: str, seq: int, record: Any, *, rewritten: bool) -> None:
    await tx.execute(_UPDATE, *_rows.row_of(tier, record), seq)
    for table in ("source", "root"):
        await tx.execute(f"DELETE FROM {table} WHERE seq = ?", seq)
    if rewritten:  # a vector of the old text must not find the new one
        await tx.execute("DELETE FROM vector WHERE seq = ?", seq)
    await _link(tx, tier, seq, record)


async def _link(tx: Transaction, tier: str, seq: int, record: Any) -> None:
    made = record.provenance
    await tx.many("INSERT INTO source VALUES (?, ?)", [(seq, one) for one in made.sources])
    await tx.many("INSERT INTO root VALUES (?, ?)", [(seq, str(one)) for one in made.roots])
    if tier == "long_term":
        scope = record.scope
        parts = json.dumps([scope.tenant]), _rows.part_of(scope.tenant, scope.group_id)
        await tx.execute("DELETE FROM word_index WHERE rowid = ?", seq)
        await tx.execute(
            "INSERT INTO word_index (rowid, part, words) VALUES (?, ?, ?)",
            seq, " ".join(map(_rows.token_of, parts)), " ".join(words_of(record.content)),
        )  # fmt: skip


async def _drop(tx: Transaction, numbers: Sequence[int]) -> None:
    for table, column in (("word_index", "rowid"), ("record", "seq")):
        if numbers:
            await tx.execute(
                f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))",
                json.dumps(list(numbers)),
            )


async def _same_document(tx: Transaction, first: Memory) -> list[Memory]:
    rows = await tx.execute(
        "SELECT body FROM record WHERE tier = 'long_term' AND part = ? AND hash = ?"
        " AND agent_id IS ? AND valid_to IS NULL AND revocation IS NULL ORDER BY seq",
        _rows.part_of(first.scope.tenant, first.scope.group_id), first.content_hash,
        first.scope.agent_id,
    )  # fmt: skip
    found = [_rows.record_of("long_term", row[0]) for row in rows]
    same = [one for one in found if one.document_id == found[0].document_id]
    return sorted(same, key=lambda one: one.chunk_index)


async def _end(tx: Transaction, first: Memory, replaces: Sequence[str]) -> None:
    which = Select.within(first.scope, documents=tuple(replaces))
    where, values = _rows.condition("long_term", which)
    rows = await tx.execute(
        f"SELECT seq, body FROM record WHERE {where} AND valid_to IS NULL", *values
    )
    for seq, body in rows:
        ended = replace(
            _rows.record_of("long_term", body),
            valid_to=first.valid_from,
            superseded_by=first.document_id,
        )
        await _replace(tx, "long_term", seq, ended, rewritten=False)


async def _space(tx: Transaction, space: Space) -> int:
    """Return the number of a space, which is made if it is new.

    Raises:
        EmbeddingMismatch: If it is known with another dimension.
    """
    rows = await tx.execute("SELECT id, dimension FROM space WHERE name = ?", space.name)
    if rows and rows[0][1] != space.dimension:
        raise EmbeddingMismatch(str(Space(space.name, rows[0][1])), str(space))
    if not rows:
        rows = await tx.execute(
            "INSERT INTO space (name, dimension, current)"
            " VALUES (?, ?, NOT EXISTS (SELECT 1 FROM space WHERE current)) RETURNING id",
            space.name, space.dimension,
        )  # fmt: skip
    number: int = rows[0][0]
    return number


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _best(hits: list[Hit], limit: int) -> list[Hit]:
    hits.sort(key=lambda hit: (-hit.value, -hit.memory.created_at.timestamp(), hit.memory.id))
    return [hit for hit in hits if not math.isnan(hit.value)][:limit]

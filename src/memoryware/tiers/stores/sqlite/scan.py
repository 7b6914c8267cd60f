"""A search without a segment: the rows of any groups are read one after the other.

This is the way for groups that are too large for a segment, for several groups at once, and
where NumPy is not installed. It takes time for each row, and memory for those that have a word
of the query or are near it.
"""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeAlias

from memoryware.tiers.scoring import bm25
from memoryware.tiers.stores._looking import beside, newest_best
from memoryware.tiers.stores._vectors import scores
from memoryware.tiers.stores.protocol import Query, Seen, Select, Sight
from memoryware.tiers.stores.segment import BATCH, WORD, count_words, word_hash
from memoryware.tiers.stores.sql.port import Row
from memoryware.tiers.stores.sqlite.rows import SqliteRows

Ask: TypeAlias = Callable[..., Awaitable[Sequence[Row]]]
"""Runs one statement in the transaction of the search."""


async def scan(
    ask: Ask, rows: SqliteRows, query: Query, which: Select, space: tuple[int, bytes] | None
) -> tuple[Sight, list[int]]:
    """Return what a search sees, and the numbers of these memories."""
    hashes = [word_hash(word) for word in query.words]
    (corpus, values), (fits, more) = rows.corpus(which), rows.condition("long_term", which)
    above = f"({space[0] if space else 0} << 44)"
    sql = (
        f"SELECT record.seq, record.words, {fits}, vector.data FROM record"
        f" LEFT JOIN vector ON vector.id = {above} | record.seq"
        f" WHERE {corpus} AND record.seq > ? ORDER BY record.seq LIMIT ?"
    )
    count = total = last = 0
    having, counted = [0] * len(hashes), dict[int, tuple[tuple[int, ...], int]]()
    best: list[tuple[float, int]] = []
    while some := await ask(sql, *more, *values, last, BATCH):
        last, count = some[-1][0], count + len(some)
        for seq, words, is_fit, _ in some:
            size = len(words) // WORD
            total += size
            often = count_words(words, hashes)
            if any(often):
                having = [known + (one > 0) for known, one in zip(having, often, strict=True)]
                if is_fit:
                    counted[seq] = often, size
        if space is not None:
            those = [(seq, data) for seq, _, is_fit, data in some if is_fit and data is not None]
            measured = scores(space[1], [data for _, data in those])
            for (seq, _), value in zip(those, measured, strict=True):
                best.append((value, seq))
            best = heapq.nlargest(max(0, query.limit), best)
    mean = total / count if count else 0.0
    if not count or query.limit < 1:
        return Sight((), tuple(having), count, mean), []
    near = {seq: value for value, seq in best}
    names = [str(place) for place in range(len(hashes))]
    in_corpus = dict(zip(names, having, strict=True))
    by_words = {
        seq: bm25(dict(zip(names, often, strict=True)), in_corpus, count, mean, size)
        for seq, (often, size) in counted.items()
    }
    hits = {*newest_best(by_words, query.limit), *near}
    shown = beside(await _threads(ask, rows, query, which, hits), hits, query.reach)
    seen = await _seen(ask, rows, hashes, space, [number for number, _ in shown])
    found = [Seen(*seen[number], follows) for number, follows in shown]
    return Sight(found, tuple(having), count, mean), [number for number, _ in shown]


async def _threads(
    ask: Ask, rows: SqliteRows, query: Query, which: Select, hits: set[int]
) -> list[list[int]]:
    """Return the newest fitting numbers of the threads that hits are in."""
    if query.reach < 1 or query.thread < 1 or not hits:
        return []
    session = "nullif(record.session_id, '')" if query.sessions else "NULL"
    columns = f"record.seq, record.grp, {session}, ifnull(record.document, record.id)"
    where, values = rows.numbered("record.seq", hits)
    threads: dict[tuple[Any, ...], list[int]] = {}
    for row in await ask(f"SELECT {columns} FROM record WHERE {where}", *values):
        threads[_thread(row)] = []
    fits, more = rows.condition("long_term", which)
    members: list[tuple[int, tuple[Any, ...]]] = []
    sessions = [name for _, in_session, name in threads if in_session]
    documents = [name for _, in_session, name in threads if not in_session]
    for column, names in _COLUMNS.items():
        wanted = sessions if column == "session_id" else documents
        if not wanted:
            continue
        for name in names:
            among, texts = rows.any_of(name, list(dict.fromkeys(wanted)))
            found: Sequence[Row] = await ask(
                f"SELECT {columns} FROM record WHERE record.seq IN"
                f" (SELECT seq FROM record WHERE {among} AND tier = 1) AND {fits}",
                *texts, *more,
            )  # fmt: skip
            members += [(row[0], thread) for row in found if (thread := _thread(row)) in threads]
    for number, thread in heapq.nlargest(query.thread, dict(members).items()):
        threads[thread].append(number)
    return [sorted(numbers) for numbers in threads.values()]


_COLUMNS: Final = {"session_id": ("session_id",), "document": ("document", "id")}
"""The columns by which members of threads are looked up."""


def _thread(row: Row) -> tuple[Any, ...]:
    _, part, session, document = row
    return part, session is not None, document if session is None else session


async def _seen(
    ask: Ask,
    rows: SqliteRows,
    hashes: Sequence[bytes],
    space: tuple[int, bytes] | None,
    numbers: Sequence[int],
) -> dict[int, tuple[tuple[int, ...], int, float | None]]:
    where, values = rows.numbered("record.seq", numbers)
    found = await ask(
        "SELECT record.seq, record.words, vector.data FROM record LEFT JOIN vector"
        f" ON vector.id = ({space[0] if space else 0} << 44) | record.seq WHERE {where}",
        *values,
    )
    near: dict[int, float] = {}
    if space is not None:
        those = [(row[0], row[2]) for row in found if row[2] is not None]
        measured = scores(space[1], [data for _, data in those])
        near = {seq: value for (seq, _), value in zip(those, measured, strict=True)}
    return {
        seq: (count_words(words, hashes), len(words) // WORD, near.get(seq))
        for seq, words, _ in found
    }

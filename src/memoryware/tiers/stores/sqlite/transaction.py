"""What is done inside a transaction of a SQLite file, with its index of words."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Final, TypeAlias, TypeVar

from memoryware._twins import finish
from memoryware.errors import StoreUnavailable
from memoryware.tiers.scoring import bm25
from memoryware.tiers.stores._vectors import scores, unpacked
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sight import Query, Sight, Vector
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sql.port import Corpus, Row, Scores
from memoryware.tiers.stores.sql.rows import Condition, insertion
from memoryware.tiers.stores.sqlite.columns import BATCH
from memoryware.tiers.stores.sqlite.index import Indexes, PartIndex, is_known
from memoryware.tiers.stores.sqlite.rows import SqliteRows

T = TypeVar("T")
_ROWS: Final = SqliteRows()
Errors: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Turns what SQLite says into our errors."""


class SqliteTransaction:
    """A transaction of a connection: nothing in it waits for a loop.

    Inside of another one it is a savepoint.
    """

    def __init__(
        self, db: sqlite3.Connection, errors: Errors, indexes: Indexes, *, writes: bool
    ) -> None:
        self.db, self._errors, self._untidy = db, errors, False
        self._writes = writes
        # What is not kept yet must not come into an index.
        self._indexes = None if db.in_transaction or writes else indexes
        how = _BEGUN if db.in_transaction else _WRITES if writes else _READS
        self._begin, self._keep, *self._undo = how

    def begin(self) -> None:
        with self._errors():
            self.db.execute(self._begin)

    async def keep(self) -> None:
        await self._tidy()
        if self._writes:
            await self.execute(_PRUNED, CHANGES)
        with self._errors():
            self.db.execute(self._keep)

    def undo(self) -> None:
        """Undo everything that was done in it.

        Raises:
            sqlite3.Error: If SQLite has done so already, or the connection is lost.
        """
        for statement in self._undo:
            self.db.execute(statement)

    async def execute(self, sql: str, *values: object) -> Sequence[Row]:
        with self._errors():
            self._must_go_on()
            return self.db.execute(sql, values).fetchall()

    async def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        at_once = _for_rows(sql, TOGETHER)
        whole = len(rows) - len(rows) % TOGETHER if at_once else 0
        with self._errors():
            self._must_go_on()
            for start in range(0, whole, TOGETHER):
                some = rows[start : start + TOGETHER]
                self.db.execute(at_once, [*chain.from_iterable(some)])
            self.db.executemany(sql, rows[whole:])

    async def gather(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        return [await work for work in works]

    async def keep_records(
        self, columns: Sequence[str], rows: Sequence[Sequence[object]]
    ) -> list[int]:
        if len(rows) == 1:
            sql = f"{insertion(tuple(columns))} RETURNING seq"
            return [(await self.execute(sql, *rows[0]))[0][0]]
        ((last,),) = await self.execute(_LAST)  # whoever writes is alone
        numbers = range(last + 1, last + 1 + len(rows))
        pairs = zip(numbers, rows, strict=True)
        await self.many(insertion(("seq", *columns)), [(seq, *row) for seq, row in pairs])
        return [*numbers]

    def _must_go_on(self) -> None:
        """Keep SQLite from storing each statement by itself where it has undone the others."""
        if not self.db.in_transaction:
            raise StoreUnavailable("A failure has undone this change; try again")

    async def alone(self) -> None:
        """Whoever writes is alone."""

    async def index(self, texts: Sequence[tuple[int, Sequence[str], Sequence[str]]]) -> None:
        rows = ((seq, " ".join(names), " ".join(words)) for seq, names, words in texts)
        with self._errors():
            self._must_go_on()
            self.db.executemany(INDEX, rows)  # not `many`: see `TOGETHER`

    async def unindex(self, numbers: Sequence[int]) -> None:
        self._untidy = True
        where, values = _ROWS.numbered("rowid", numbers)
        await self.execute(f"DELETE FROM word_index WHERE {where}", *values)

    async def _tidy(self) -> None:
        """Take words that were removed out of the index, which else only marks them."""
        if self._untidy:
            ((times,),) = await self.execute(_TIDIED)
            how = "optimize" if times % _REBUILT_AFTER else "rebuild"
            await self.execute("INSERT INTO word_index (word_index) VALUES (?)", how)

    async def having(self, names: Sequence[str], words: Sequence[str]) -> dict[str, int]:
        found = {}
        for word in words:
            looked = _looked(names, [word])
            ((found[word],),) = await self.execute(
                "SELECT count(*) FROM word_index WHERE word_index MATCH ?", looked
            )
        return found

    async def weighed(
        self,
        corpus: Corpus,
        words: Sequence[str],
        without: Sequence[str],
        which: Condition,
        most: int,  # noqa: ARG002 - all are looked at anyway
    ) -> Scores:
        looked = _looked(corpus.names, words)
        if without:
            looked = f"({looked}) NOT ({_looked(corpus.names, without)})"
        where, values = which
        found = await self.execute(
            "SELECT record.seq, word_index.words FROM word_index"
            " CROSS JOIN record ON record.seq = word_index.rowid"
            f" WHERE word_index MATCH ? AND {where}",
            looked, *values,
        )  # fmt: skip
        count, mean = corpus.count, corpus.mean
        return [
            (seq, bm25(Counter(text.split()), corpus.having, count, mean)) for seq, text in found
        ]

    async def sight(
        self, query: Query, which: Select, space: tuple[int, bytes] | None
    ) -> tuple[Sight, Sequence[int]] | None:
        index = self._index(which)
        if index is None:
            return None
        from memoryware.tiers.stores.sqlite.sighting import Look, sight_of, unit

        number, data = space or (0, b"")
        if space is not None:
            index.read_vectors(self._asked, number)

        def measure(numbers: Sequence[int]) -> Mapping[int, float]:
            return finish(self.measured(number, data, numbers)) if numbers else {}

        return sight_of(Look(index, query, which, unit(data) if space else None, measure))

    def _index(self, which: Select) -> PartIndex | None:
        """Return the index that can say what fits a selection."""
        one_group = which.groups is not None and len(which.groups) == 1
        if self._indexes is None or not one_group or not is_known(which):
            return None
        (group,) = which.groups or (None,)
        part = _ROWS.key(sql_rows.part_of(which.tenant, group))
        return self._indexes.of(str(part), self._asked)

    def _asked(self, sql: str, *values: object) -> Iterator[Row]:
        with self._errors():
            self._must_go_on()
            yield from self.db.execute(sql, values)

    async def counted(
        self,
        names: Sequence[str],  # noqa: ARG002 - the words of a text stand there once
        words: Sequence[str],
        numbers: Sequence[int],
    ) -> Mapping[int, tuple[int, ...]]:
        where, values = _ROWS.numbered("rowid", numbers)
        rows = await self.execute(f"SELECT rowid, words FROM word_index WHERE {where}", *values)
        found = {}
        for seq, text in rows:
            counted = Counter(text.split())
            found[seq] = tuple(counted[word] for word in words)
        return found

    async def put_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        await self.many(_PUT, [(space, seq, data) for seq, data in vectors])

    async def vectors(self, space: int, numbers: Sequence[int]) -> dict[int, Vector]:
        where, values = _ROWS.numbered("seq", numbers)
        rows = await self.execute(
            f"SELECT seq, data FROM vector WHERE space = ? AND {where}", space, *values
        )
        return {seq: unpacked(data) for seq, data in rows}

    async def nearest(
        self,
        space: int,
        query: bytes,
        which: Condition,
        most: int,  # noqa: ARG002 - all are looked at anyway
    ) -> Scores:
        where, values = which
        rows = self._asked(
            "SELECT record.seq, vector.data FROM record JOIN vector ON vector.seq = record.seq"
            f" WHERE vector.space = ? AND {where}",
            space, *values,
        )  # fmt: skip
        found = list[tuple[int, float]]()
        while some := list(islice(rows, BATCH)):  # all at once would take much room
            measured = scores(query, [data for _, data in some])
            found += zip((seq for seq, _ in some), measured, strict=True)
        return found

    async def measured(
        self, space: int, query: bytes, numbers: Sequence[int]
    ) -> Mapping[int, float]:
        where, values = _ROWS.numbered("seq", numbers)
        rows = await self.execute(
            f"SELECT seq, data FROM vector WHERE space = ? AND {where}", space, *values
        )
        near = scores(query, [data for _, data in rows])
        return {seq: value for (seq, _), value in zip(rows, near, strict=True)}

    async def made_space(self, space: int, dimension: int) -> None:
        """There is nothing to make ready."""


TOGETHER: Final = 40
"""Rows that one statement keeps; so many have fewer values than any SQLite takes.

Where a table has triggers, or rows may be replaced, a statement copies each page before it
changes it, and has FTS5 write down what it has gathered: for rows one by one that takes longer
than to keep them. The index of words itself is not written so, because it gathers better.
"""
_ROW: Final = re.compile(r"(?<= VALUES )\([?, ]+\)$")
CHANGES: Final = 20_000
"""Changes of records that a file knows, so that indexes can follow them."""
_PRUNED: Final = "DELETE FROM change WHERE id <= (SELECT max(id) FROM change) - ?"
_LAST: Final = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'record'"
"""The highest number that a record ever had: none is given twice."""
_TIDIED: Final = (
    "INSERT INTO about VALUES ('tidied', 1)"
    " ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value"
)
_REBUILT_AFTER: Final = 100
"""An index gets levels each time that it is tidied, and FTS5 cannot read one of 2000 levels."""
_PUT: Final = "INSERT OR REPLACE INTO vector (space, seq, data) VALUES (?, ?, ?)"
_READS: Final[tuple[str, ...]] = ("BEGIN", "COMMIT", "ROLLBACK")
_WRITES: Final[tuple[str, ...]] = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
_BEGUN: Final[tuple[str, ...]] = (
    *("SAVEPOINT inside", "RELEASE inside"),
    *("ROLLBACK TO inside", "RELEASE inside"),
)
"""How transactions begin, are kept and are undone; the last kind inside of another one."""
INDEX: Final = "INSERT INTO word_index (rowid, part, words) VALUES (?, ?, ?)"


@lru_cache(maxsize=64)
def _for_rows(sql: str, count: int) -> str:
    """Return an insertion of one row as that of so many; "" for another statement."""
    row = _ROW.search(sql)
    return f"{sql[: row.start()]}{', '.join([row.group()] * count)}" if row else ""


def _looked(corpora: Sequence[str], words: Sequence[str]) -> str:
    """Return what is looked for in the index of words: one of these in one of the corpora."""
    return f"part : ({' OR '.join(corpora)}) AND words : ({' OR '.join(map(_quoted, words))})"


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'

"""A transaction in SQLite, with its index of words."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final, TypeAlias

from memoryware.errors import StoreUnavailable
from memoryware.tiers.stores._port import Condition, Row

Errors: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Turns what SQLite says into our errors."""


class SqliteTransaction:
    """A transaction of a connection: nothing in it waits for a loop.

    Inside of another one it is a savepoint.
    """

    def __init__(self, db: sqlite3.Connection, errors: Errors, *, writes: bool) -> None:
        self.db, self._errors, self._untidy = db, errors, False
        how = _BEGUN if db.in_transaction else _WRITES if writes else _READS
        self._begin, self._keep, *self._undo = how

    def begin(self) -> None:
        with self._errors():
            self.db.execute(self._begin)

    async def keep(self) -> None:
        await self._tidy()
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
        with self._errors():
            self._must_go_on()
            self.db.executemany(sql, rows)

    def _must_go_on(self) -> None:
        """Keep SQLite from storing each statement by itself where it has undone the others."""
        if not self.db.in_transaction:
            raise StoreUnavailable("A failure has undone this change; try again")

    async def index(self, seq: int, corpora: Sequence[str], words: Sequence[str]) -> None:
        await self.execute(INDEX, seq, " ".join(corpora), " ".join(words))

    async def unindex(self, numbers: Sequence[int]) -> None:
        self._untidy = True
        await self.execute(
            "DELETE FROM word_index WHERE rowid IN (SELECT value FROM json_each(?))",
            json.dumps(list(numbers)),
        )

    async def _tidy(self) -> None:
        """Take words that were removed out of the index, which else only marks them."""
        if self._untidy:
            ((times,),) = await self.execute(_TIDIED)
            how = "optimize" if times % _REBUILT_AFTER else "rebuild"
            await self.execute("INSERT INTO word_index (word_index) VALUES (?)", how)

    async def having(self, corpora: Sequence[str], word: str) -> int:
        rows = await self.execute(
            "SELECT count(*) FROM word_index WHERE word_index MATCH ?", _looked(corpora, [word])
        )
        count: int = rows[0][0]
        return count

    async def holding(
        self, corpora: Sequence[str], word: str, without: Sequence[str], which: Condition
    ) -> Sequence[Row]:
        looked = _looked(corpora, [word])
        if without:
            looked = f"({looked}) NOT ({_looked(corpora, without)})"
        where, values = which
        return await self.execute(
            "SELECT record.seq, word_index.words FROM word_index"
            " CROSS JOIN record ON record.seq = word_index.rowid"
            f" WHERE word_index MATCH ? AND {where}",
            looked, *values,
        )  # fmt: skip


_TIDIED: Final = (
    "INSERT INTO about VALUES ('tidied', 1)"
    " ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value"
)
_REBUILT_AFTER: Final = 100
"""An index gets levels each time that it is tidied, and FTS5 cannot read one of 2000 levels."""
INDEX: Final = "INSERT INTO word_index (rowid, part, words) VALUES (?, ?, ?)"
_READS: Final[tuple[str, ...]] = ("BEGIN", "COMMIT", "ROLLBACK")
_WRITES: Final[tuple[str, ...]] = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
_BEGUN: Final[tuple[str, ...]] = (
    *("SAVEPOINT inside", "RELEASE inside"),
    *("ROLLBACK TO inside", "RELEASE inside"),
)
"""How transactions begin, are kept and are undone; the last kind inside of another one."""


def _looked(corpora: Sequence[str], words: Sequence[str]) -> str:
    """Return what is looked for in the index of words: one of these in one of the corpora."""
    return f"part : ({' OR '.join(corpora)}) AND words : ({' OR '.join(map(_quoted, words))})"


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'

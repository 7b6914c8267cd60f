"""Brings the rows of an older file into the tables of today, in steps that a kill may end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, Final

from memoryware._runner import run_blocking
from memoryware.tiers.stores.segment import WORD, Segments, packed_words
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sqlite.schema import ABOUT, FOURTH
from memoryware.tiers.stores.sqlite.transaction import Shared, SqliteTransaction
from memoryware.tiers.text.terms import WORDS_VERSION, words_of

BATCH: Final = 1000
"""Records that are moved in one transaction."""
NARROW: Final = 4
"""The version whose tables are not made of those before."""
_OLD: Final = ("record", "vector", "space")


@contextmanager
def whole(db: sqlite3.Connection) -> Iterator[None]:
    """Begin a transaction that is kept if nothing goes wrong."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
    else:
        db.execute("COMMIT")


def do_step(db: sqlite3.Connection, steps: Sequence[str], done: int, application: int) -> None:
    """Do one step inside a transaction; a new file begins with the tables of today."""
    reached = done + 1
    if done == 0:
        _run(db, f"{ABOUT};\n{FOURTH}")
        db.execute("INSERT INTO about VALUES ('words', ?)", (WORDS_VERSION,))
        reached = NARROW
    elif reached == NARROW:
        _put_aside(db)
    else:
        _run(db, steps[done])
    db.execute(f"PRAGMA application_id = {application}")
    db.execute(f"PRAGMA user_version = {reached}")


def _run(db: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";\n"):
        db.execute(statement)


def _put_aside(db: sqlite3.Connection) -> None:
    """Rename the tables of version 3 whose rows are moved, and make those of version 4."""
    for kind in ("trigger", "index"):
        names = db.execute(
            "SELECT name FROM sqlite_master WHERE type = ? AND sql IS NOT NULL", (kind,)
        )
        for (name,) in names.fetchall():
            db.execute(f"DROP {kind} {name}")
    for table in ("source", "root", "word_index", "change"):
        db.execute(f"DROP TABLE {table}")
    for table in _OLD:
        db.execute(f"ALTER TABLE {table} RENAME TO {table}_3")
    _run(db, FOURTH)
    db.execute(
        "INSERT INTO sqlite_sequence SELECT 'record', seq FROM sqlite_sequence"
        " WHERE name = 'record_3'"
    )
    db.execute("INSERT INTO space SELECT id, name, dimension, current, 0 FROM space_3")
    db.execute("INSERT OR REPLACE INTO about VALUES ('words', ?), ('moved', 0)", (WORDS_VERSION,))


def is_moving(db: sqlite3.Connection) -> bool:
    """Return whether rows of an older version are still to be moved."""
    return bool(db.execute("SELECT 1 FROM about WHERE name = 'moved'").fetchone())


def move(db: sqlite3.Connection) -> None:
    """Move all rows that are left; several processes may do it at once, in turns."""
    while is_moving(db):
        with whole(db):
            if is_moving(db):
                _move_some(db)


def _move_some(db: sqlite3.Connection) -> None:
    ((moved,),) = db.execute("SELECT value FROM about WHERE name = 'moved'").fetchall()
    rows = db.execute(
        "SELECT body, content, seq, tier, space FROM record_3 WHERE seq > ? ORDER BY seq LIMIT ?",
        (moved, BATCH),
    ).fetchall()
    if not rows:
        for table in reversed(_OLD):
            db.execute(f"DROP TABLE {table}_3")
        db.execute("DELETE FROM about WHERE name = 'moved'")
        return
    run_blocking(_moved(db, rows))
    db.execute("UPDATE about SET value = ? WHERE name = 'moved'", (rows[-1][2],))


async def _moved(db: sqlite3.Connection, rows: list[Any]) -> None:
    tx = SqliteTransaction(db, nullcontext, Shared(Segments(0)), writes=True)
    tx.begin()
    for tier in ("quarantine", "long_term", "working"):
        some = [row for row in rows if row[3] == tier]
        records = [sql_rows.record_of(tier, row) for row in some]
        spaces = {place: row[4] for place, row in enumerate(some) if row[4] is not None}
        await tx.insert(tier, records, spaces, numbers=[row[2] for row in some])
    vectors = await tx.execute(
        "SELECT space, seq, data FROM vector_3 WHERE seq >= ? AND seq <= ?", rows[0][2], rows[-1][2]
    )
    for space in {row[0] for row in vectors}:
        await tx.put_vectors(space, [(seq, data) for one, seq, data in vectors if one == space])
    await tx.keep()


def words_version(db: sqlite3.Connection) -> int | None:
    """Return the version of the rules by which the words of memories were made."""
    row = db.execute("SELECT value FROM about WHERE name = 'words'").fetchone()
    return None if row is None else int(row[0])


def make_words_anew(db: sqlite3.Connection) -> None:
    """Make the words of every memory by the rules of today."""
    if words_version(db) == WORDS_VERSION:
        return
    for seq, content in db.execute("SELECT seq, content FROM record WHERE tier = 1").fetchall():
        words = packed_words(words_of(sql_rows.unflat(content)))
        db.execute("UPDATE record SET words = ? WHERE seq = ?", (words, seq))
    db.execute(
        "UPDATE part SET generation = generation + 1, cold = generation + 1, words ="
        f" (SELECT coalesce(sum(length(words) / {WORD}), 0) FROM record"
        " WHERE grp = part.id AND tier = 1)"
    )
    db.execute("DELETE FROM change")
    db.execute("INSERT OR REPLACE INTO about VALUES ('words', ?)", (WORDS_VERSION,))

"""The tables of the SQLite file in numbered steps, and the migration of older files.

A step that has shipped never changes. Migrations can be resumed after a kill.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NoReturn

from memoryware._runner import run_blocking
from memoryware.tiers.stores._columns import WORD, packed_words
from memoryware.tiers.stores._segment import Segments
from memoryware.tiers.stores._sql import dialect as sql_dialect
from memoryware.tiers.stores.sqlite._transaction import SPACE_BITS, FileCache, SqliteTransaction
from memoryware.tiers.text.terms import WORDS_VERSION, index_terms

APPLICATION: Final = 0x6D656D77
"""The application id of our files: "memw"."""

ABOUT: Final = "CREATE TABLE about (name TEXT PRIMARY KEY, value INTEGER NOT NULL)"

_FIRST: Final = f"""
{ABOUT};
CREATE TABLE record (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which records were stored
  tier TEXT NOT NULL, id TEXT NOT NULL,
  part TEXT NOT NULL, -- tenant and group
  tenant TEXT, group_id TEXT, user_id TEXT, agent_id TEXT, session_id TEXT,
  status TEXT, hash TEXT NOT NULL, document TEXT, subject TEXT, revocation TEXT,
  once TEXT, -- the key under which an entry is recorded once
  created INTEGER NOT NULL, expires INTEGER, valid_from INTEGER, valid_to INTEGER,
  size INTEGER NOT NULL DEFAULT 0, -- words
  space INTEGER, -- of a memory: a space in which it has a vector, 0 if none is known
  content TEXT NOT NULL, body TEXT NOT NULL,
  UNIQUE (tier, part, id)
);
CREATE INDEX record_id ON record (id);
CREATE UNIQUE INDEX record_once ON record (tier, part, once) WHERE once IS NOT NULL;
-- With what a listing and a recall ask for, so that counting needs no rows.
CREATE INDEX record_part
  ON record (tier, part, seq, revocation, valid_from, valid_to, expires, agent_id, size);
CREATE INDEX record_tenant ON record (tier, tenant, seq);
CREATE INDEX record_status ON record (tier, part, status, seq) WHERE status IS NOT NULL;
CREATE INDEX record_hash ON record (tier, part, hash);
CREATE INDEX record_user ON record (tier, tenant, user_id, seq) WHERE user_id IS NOT NULL;
CREATE INDEX record_agent ON record (tier, tenant, agent_id, seq) WHERE agent_id IS NOT NULL;
CREATE INDEX record_session ON record (tier, tenant, session_id, seq)
  WHERE session_id IS NOT NULL;
CREATE INDEX record_document ON record (tier, tenant, document, seq)
  WHERE document IS NOT NULL;
CREATE INDEX record_subject ON record (tier, tenant, subject, seq) WHERE subject IS NOT NULL;
CREATE INDEX record_revocation ON record (tier, tenant, revocation, seq)
  WHERE revocation IS NOT NULL;
CREATE INDEX record_expires ON record (expires) WHERE expires IS NOT NULL;
CREATE INDEX record_space ON record (space, seq) WHERE space IS NOT NULL;
CREATE TABLE source (
  seq INTEGER NOT NULL REFERENCES record ON DELETE CASCADE, name TEXT NOT NULL,
  PRIMARY KEY (name, seq)
) WITHOUT ROWID;
CREATE INDEX source_seq ON source (seq);
CREATE TABLE root (
  seq INTEGER NOT NULL REFERENCES record ON DELETE CASCADE, name TEXT NOT NULL,
  PRIMARY KEY (name, seq)
) WITHOUT ROWID;
CREATE INDEX root_seq ON root (seq);
-- The words are ours, so the tokenizer only splits at blanks; `part` keeps a search in a group.
CREATE VIRTUAL TABLE word_index USING fts5 (part, words, tokenize = "ascii tokenchars '_'");
CREATE TABLE space (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL,
  current INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE vector (
  space INTEGER NOT NULL REFERENCES space ON DELETE CASCADE,
  seq INTEGER NOT NULL REFERENCES record ON DELETE CASCADE, data BLOB NOT NULL,
  PRIMARY KEY (space, seq)
) WITHOUT ROWID;
CREATE INDEX vector_seq ON vector (seq)
"""

_SECOND: Final = """
-- Which memories have changed, in order, so that a process can follow with its index.
-- The mark tells a change from another with its number, where an older file was put back.
CREATE TABLE change (
  id INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL,
  mark INTEGER NOT NULL DEFAULT (random())
);
CREATE TRIGGER record_added AFTER INSERT ON record WHEN NEW.tier = 'long_term'
  BEGIN INSERT INTO change (seq) VALUES (NEW.seq); END;
CREATE TRIGGER record_changed AFTER UPDATE ON record WHEN NEW.tier = 'long_term'
  BEGIN INSERT INTO change (seq) VALUES (NEW.seq); END;
CREATE TRIGGER record_gone AFTER DELETE ON record WHEN OLD.tier = 'long_term'
  BEGIN INSERT INTO change (seq) VALUES (OLD.seq); END
"""

_THIRD: Final = """
-- Vectors in the order of storing: by their key a page of the file held two of them, not five.
CREATE TABLE vector_kept (
  seq INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
  space INTEGER NOT NULL REFERENCES space ON DELETE CASCADE, data BLOB NOT NULL,
  UNIQUE (seq, space)
);
INSERT INTO vector_kept SELECT seq, space, data FROM vector ORDER BY seq, space;
DROP TABLE vector;
ALTER TABLE vector_kept RENAME TO vector;
CREATE INDEX vector_space ON vector (space)
"""

FOURTH: Final = """
-- Rows of a tenant and group share its number; what is counted often is kept beside it.
CREATE TABLE part (
  id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, -- tenant and group as JSON
  tenant TEXT,
  generation INTEGER NOT NULL, -- raised by every write: a moment in microseconds, or one more
  cold INTEGER NOT NULL, -- the generation of the last write to long-term memory
  quarantine INTEGER NOT NULL DEFAULT 0, long_term INTEGER NOT NULL DEFAULT 0,
  working INTEGER NOT NULL DEFAULT 0, waiting INTEGER NOT NULL DEFAULT 0,
  words INTEGER NOT NULL DEFAULT 0, -- of all of long-term memory
  newest INTEGER NOT NULL DEFAULT 0 -- no memory was created later
);
CREATE INDEX part_tenant ON part (tenant);
-- What many records share: origin, roots, and who promoted them or the role of their node.
CREATE TABLE provenance (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL UNIQUE);
CREATE TABLE root (
  name TEXT NOT NULL, provenance INTEGER NOT NULL, PRIMARY KEY (name, provenance)
) WITHOUT ROWID;
-- Ids, hashes and receipts of 32 hexadecimal digits are kept as 16 bytes, others as text.
CREATE TABLE record (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which records were stored
  grp INTEGER NOT NULL, tier INTEGER NOT NULL, -- 0 quarantine, 1 long-term, 2 working memory
  id NOT NULL, provenance INTEGER NOT NULL, created INTEGER NOT NULL,
  begins INTEGER, -- valid_from, where that is not when it was created
  ends INTEGER, -- valid_to of a memory, expires_at of an entry
  revocation, status, agent_id, user_id, session_id,
  document, -- where that is not the id
  subject, -- where that is not the topic
  topic, -- the subject, folded
  superseded, -- the document that took its place
  once, -- the key under which an entry is recorded once
  space INTEGER, -- of a memory: a space in which it has a vector, 0 if none is known
  hash NOT NULL, sources, -- ids of what it was made from
  words BLOB, -- hashes of its words in order, six bytes each
  content TEXT NOT NULL, more TEXT -- everything else as JSON, where it is not the default
);
CREATE UNIQUE INDEX record_id ON record (id, tier, grp);
CREATE UNIQUE INDEX record_once ON record (once, grp) WHERE once IS NOT NULL;
CREATE INDEX record_part ON record (grp, tier);
CREATE INDEX record_bounded ON record (grp) -- all others are valid since they were created
  WHERE tier = 1 AND (revocation IS NOT NULL OR begins IS NOT NULL OR ends IS NOT NULL);
CREATE INDEX record_hash ON record (hash, grp);
CREATE INDEX record_document ON record (document) WHERE document IS NOT NULL;
CREATE INDEX record_topic ON record (topic, grp) WHERE topic IS NOT NULL;
CREATE INDEX record_superseded ON record (superseded) WHERE superseded IS NOT NULL;
CREATE INDEX record_user ON record (user_id, grp) WHERE user_id IS NOT NULL;
CREATE INDEX record_agent ON record (agent_id, grp) WHERE agent_id IS NOT NULL;
CREATE INDEX record_session ON record (session_id, grp) WHERE session_id IS NOT NULL;
CREATE INDEX record_status ON record (grp, status) WHERE tier = 0;
CREATE INDEX record_revocation ON record (revocation, grp) WHERE revocation IS NOT NULL;
CREATE INDEX record_expires ON record (ends) WHERE tier = 2 AND ends IS NOT NULL;
CREATE INDEX record_provenance ON record (provenance);
CREATE INDEX record_space ON record (space) WHERE space IS NOT NULL;
CREATE TABLE source (name NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (name, seq)) WITHOUT ROWID;
CREATE TABLE space (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL,
  current INTEGER NOT NULL DEFAULT 0, vectors INTEGER NOT NULL DEFAULT 0
);
-- The number of the space, times 2 to the power of 44, and the number of the record.
CREATE TABLE vector (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
-- Which memories of a group other than new ones each write to it touched, so that processes can
-- follow; the numbers are packed, NULL if they are too many.
CREATE TABLE change (
  grp INTEGER NOT NULL, generation INTEGER NOT NULL, numbers BLOB, PRIMARY KEY (grp, generation)
) WITHOUT ROWID
"""

_FIFTH: Final = f"""
-- What a segment keeps of the memories of a large group whose number is above one and up to
-- another; derived from their rows, see `blocks`. A write deletes those of what it touches.
CREATE TABLE block (
  id INTEGER PRIMARY KEY, grp INTEGER NOT NULL, space INTEGER NOT NULL,
  above INTEGER NOT NULL, last INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE UNIQUE INDEX block_last ON block (grp, last);
-- Whether a group has blocks: few have, and a write need not look for them.
ALTER TABLE part ADD COLUMN packed INTEGER NOT NULL DEFAULT 0;
-- Memories without a vector in a space that is known. In the row of the record, whose column
-- `space` is not used any more, each new vector had the whole row written again.
CREATE TABLE pending (
  space INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (space, seq)
) WITHOUT ROWID;
INSERT INTO pending SELECT space.id, record.seq FROM space JOIN record
  ON record.space IS NOT NULL AND record.space != space.id
  WHERE NOT EXISTS (SELECT 1 FROM vector WHERE vector.id = (space.id << {SPACE_BITS}) | record.seq);
DROP INDEX record_space;
-- The first row counts everything: no group has its key or its tenant.
INSERT INTO part (id, key, tenant, generation, cold, quarantine, long_term, working, waiting, words)
  SELECT 0, '*', x'', 0, 0, coalesce(sum(quarantine), 0), coalesce(sum(long_term), 0),
  coalesce(sum(working), 0), coalesce(sum(waiting), 0), coalesce(sum(words), 0) FROM part
"""

STEPS: Final = (_FIRST, _SECOND, _THIRD, FOURTH, _FIFTH)
"""Statements, with a semicolon between them; step n brings a file from version n to n + 1.

The fourth only makes the tables: see `migration` for the rows.
"""

BATCH: Final = 1000
"""Records that are moved in one transaction."""
NARROW: Final = 4
"""The version whose tables are not made of those before."""
_OLD: Final = ("record", "vector", "space")


@contextmanager
def write_transaction(db: sqlite3.Connection) -> Iterator[None]:
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
        with write_transaction(db):
            if is_moving(db):
                _move_some(db)


def _move_some(db: sqlite3.Connection) -> None:
    ((moved,),) = db.execute("SELECT value FROM about WHERE name = 'moved'").fetchall()
    rows = db.execute(
        "SELECT body, content, seq, tier FROM record_3 WHERE seq > ? ORDER BY seq LIMIT ?",
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
    tx = SqliteTransaction(db, _raise, FileCache(Segments(0)), writes=True)
    tx.begin()
    for tier in ("quarantine", "long_term", "working"):
        some = [row for row in rows if row[3] == tier]
        records = [sql_dialect.record_of(tier, row) for row in some]
        await tx.insert(tier, records, {}, numbers=[row[2] for row in some])
    vectors = await tx.execute(
        "SELECT space, seq, data FROM vector_3 WHERE seq >= ? AND seq <= ?", rows[0][2], rows[-1][2]
    )
    for space in {row[0] for row in vectors}:
        await tx.add_vectors(
            space, [(seq, data) for number, seq, data in vectors if number == space]
        )
    await tx.keep()


def _raise(error: Exception) -> NoReturn:
    raise error


def words_version(db: sqlite3.Connection) -> int | None:
    """Return the version of the rules by which the words of memories were made."""
    row = db.execute("SELECT value FROM about WHERE name = 'words'").fetchone()
    return None if row is None else int(row[0])


def rebuild_words(db: sqlite3.Connection) -> None:
    """Make the words of every memory by the rules of today."""
    if words_version(db) == WORDS_VERSION:
        return
    rows = db.execute("SELECT seq, content, more FROM record WHERE tier = 1").fetchall()
    for seq, content, more in rows:
        speaker = sql_dialect.speaker_in(more) if more and '"speaker"' in more else ""
        words = packed_words(index_terms(sql_dialect.unflat(content), speaker))
        db.execute("UPDATE record SET words = ? WHERE seq = ?", (words, seq))
    db.execute(
        "UPDATE part SET generation = generation + 1, cold = generation + 1, words ="
        f" (SELECT coalesce(sum(length(words) / {WORD}), 0) FROM record"
        " WHERE grp = part.id AND tier = 1)"
    )
    db.execute("UPDATE part SET words = (SELECT sum(words) FROM part WHERE id > 0) WHERE id = 0")
    db.execute("DELETE FROM change")
    db.execute("DELETE FROM block")
    db.execute("INSERT OR REPLACE INTO about VALUES ('words', ?)", (WORDS_VERSION,))

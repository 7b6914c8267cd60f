"""The tables of the SQLite file, in numbered steps; a step that has shipped never changes."""

from __future__ import annotations

from typing import Final

APPLICATION: Final = 0x6D656D77
"""The application id of our files: "memw"."""

_FIRST: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
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

STEPS: Final = (_FIRST, _SECOND, _THIRD)
"""Statements, with a semicolon between them; step n brings a file from version n to n + 1."""

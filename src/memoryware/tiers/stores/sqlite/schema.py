"""The tables of the SQLite file, in numbered steps; a step that has shipped never changes."""

from __future__ import annotations

from typing import Final

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

STEPS: Final = (_FIRST, _SECOND, _THIRD, FOURTH)
"""Statements, with a semicolon between them; step n brings a file from version n to n + 1.

The fourth only makes the tables: see `migration` for the rows.
"""

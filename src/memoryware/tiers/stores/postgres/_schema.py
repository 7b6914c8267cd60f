"""The tables in PostgreSQL: their steps of migration, row-level security, and opening them.

A step that has shipped never changes. Each is one transaction: a process that is killed in it
leaves the tables as they were before, the next one to open them goes on from there, and nobody
ever works with half of a step. A step of SQLite moves its rows in batches. Here older versions
write meanwhile, so that batches would need triggers that keep both forms of each row; what they
would save is a wait of everybody else while the server writes the table `record` anew: 2.6
seconds for 100,000 memories (step 3, two cores).

The tables have little in common with those of SQLite; see "Decisions" in docs/contributing.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic, sleep
from typing import Any, Final

import psycopg

from memoryware.errors import StoreNewer, StoreUnavailable
from memoryware.tiers.stores._columns import packed_words
from memoryware.tiers.stores._sql import dialect as sql_dialect
from memoryware.tiers.stores.postgres._address import Address, Command, owner_of, quoted
from memoryware.tiers.stores.postgres._connection import (
    connect_options,
    first_line,
    hint_of,
    unavailable,
)
from memoryware.tiers.stores.postgres._dialect import counted_tokens
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.terms import WORDS_VERSION, terms_of

SERVER: Final = 14
"""The oldest version of PostgreSQL that is used."""
PGVECTOR: Final = (0, 8)
"""The oldest version of pgvector, which goes on looking where hits are filtered away."""
INDEXED: Final = 4000
"""The most dimensions that an index of half vectors can have."""

TABLES: Final = ("record", "source", "root", "word_index", "vector")
"""What records are made of; each row belongs to a tenant."""
GUARDED: Final = (*TABLES, "part", "change")
"""All tables whose rows belong to a tenant."""
_BY_OWNER: Final = "/* by owner */"
"""Stands where a table is said to be in parts."""

_FIRST: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
CREATE SEQUENCE record_seq;
CREATE TABLE record (
  seq BIGINT NOT NULL DEFAULT nextval('record_seq'), -- the order of storing
  owner TEXT COLLATE "C" NOT NULL DEFAULT current_setting('memoryware.owner'), -- the tenant
  tier TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL,
  part TEXT COLLATE "C" NOT NULL, -- tenant and group
  tenant TEXT COLLATE "C", group_id TEXT COLLATE "C", user_id TEXT COLLATE "C",
  agent_id TEXT COLLATE "C", session_id TEXT COLLATE "C",
  status TEXT COLLATE "C", hash TEXT COLLATE "C" NOT NULL, document TEXT COLLATE "C",
  subject TEXT COLLATE "C", revocation TEXT COLLATE "C",
  once TEXT COLLATE "C", -- the key under which an entry is recorded once
  created BIGINT NOT NULL, expires BIGINT, valid_from BIGINT, valid_to BIGINT,
  size INTEGER NOT NULL DEFAULT 0, -- words
  space INTEGER, -- of a memory: a space in which it has a vector, 0 if none is known
  content TEXT COLLATE "C" NOT NULL, body TEXT COLLATE "C" NOT NULL,
  folded BYTEA, -- the content whatever its case, where lower() does not do
  PRIMARY KEY (seq, owner), CONSTRAINT record_own UNIQUE (tier, part, id, owner)
) /* by owner */;
CREATE UNIQUE INDEX record_once ON record (tier, part, once, owner) WHERE once IS NOT NULL;
CREATE INDEX record_id ON record (id);
CREATE INDEX record_part ON record (tier, part, seq)
  INCLUDE (owner, revocation, valid_from, valid_to, expires, size);
CREATE INDEX record_tenant ON record (tier, tenant, seq) INCLUDE (owner, size);
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
  seq BIGINT NOT NULL, name TEXT COLLATE "C" NOT NULL,
  owner TEXT COLLATE "C" NOT NULL DEFAULT current_setting('memoryware.owner'),
  FOREIGN KEY (seq, owner) REFERENCES record ON DELETE CASCADE
) /* by owner */;
CREATE INDEX source_name ON source (name, seq);
CREATE INDEX source_seq ON source (seq);
CREATE TABLE root (
  seq BIGINT NOT NULL, name TEXT COLLATE "C" NOT NULL,
  owner TEXT COLLATE "C" NOT NULL DEFAULT current_setting('memoryware.owner'),
  FOREIGN KEY (seq, owner) REFERENCES record ON DELETE CASCADE
) /* by owner */;
CREATE INDEX root_name ON root (name, seq);
CREATE INDEX root_seq ON root (seq);
-- A token stands for a word in a group, or in all of a tenant, so that a lookup finds no others.
CREATE TABLE word_index (
  seq BIGINT NOT NULL,
  owner TEXT COLLATE "C" NOT NULL DEFAULT current_setting('memoryware.owner'),
  tokens BIGINT[] NOT NULL,
  often SMALLINT[] NOT NULL, -- how often each word is there, in the order of the tokens
  PRIMARY KEY (seq, owner), FOREIGN KEY (seq, owner) REFERENCES record ON DELETE CASCADE
) /* by owner */;
-- New words go into the tree at once: a list of them would be read whole by every search.
CREATE INDEX word_tokens ON word_index USING gin (tokens) WITH (fastupdate = off);
-- What each connection did last, so that whoever lost one can see whether it was done.
CREATE TABLE done (
  connection BIGINT PRIMARY KEY, mark BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now(),
  role NAME NOT NULL DEFAULT session_user
) WITH (fillfactor = 50);
CREATE TABLE space (
  id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT COLLATE "C" NOT NULL,
  dimension INTEGER NOT NULL, current BOOLEAN NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX space_name ON space (md5(name));
CREATE UNIQUE INDEX space_current ON space (current) WHERE current;
CREATE TABLE vector (
  space INTEGER NOT NULL REFERENCES space ON DELETE CASCADE,
  seq BIGINT NOT NULL, owner TEXT COLLATE "C" NOT NULL, data @pgvector.halfvec NOT NULL,
  PRIMARY KEY (space, seq, owner),
  FOREIGN KEY (seq, owner) REFERENCES record ON DELETE CASCADE
) /* by owner */;
CREATE INDEX vector_seq ON vector (seq);
"""

_SECOND: Final = """
-- The document that took the place of a memory: chains are followed from the record that changes.
-- It is read from the body, so that rows of an older version that is still running have it too.
ALTER TABLE record ADD COLUMN superseded TEXT COLLATE "C" GENERATED ALWAYS AS (
  CASE WHEN tier = 'long_term'
    THEN substring(body FROM '"superseded_by": ?"([^"\\\\]{1,200})"') END
) STORED;
CREATE INDEX record_superseded ON record (tier, tenant, superseded) WHERE superseded IS NOT NULL;
-- A number for each tenant and group that every change of its records raises, whoever makes it:
-- an older version that is still running, or somebody by hand. Names of groups are not kept.
CREATE TABLE part (
  key BIGINT NOT NULL, -- a hash of record.part
  owner TEXT COLLATE "C" NOT NULL, generation BIGINT NOT NULL, PRIMARY KEY (key, owner)
) WITH (fillfactor = 50);
-- It runs as the owner of the tables: roles that were admitted before need no new grant to write.
CREATE FUNCTION raise_generation() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = @schema, pg_temp AS $$ BEGIN
    INSERT INTO part (key, owner, generation)
      SELECT key, owner, nextval('record_seq') FROM
        (SELECT DISTINCT hashtextextended(changed.part, 0) AS key, changed.owner FROM changed
          ORDER BY 1, 2) AS touched
      ON CONFLICT (key, owner) DO UPDATE SET generation = nextval('record_seq');
    RETURN NULL;
  END $$;
CREATE TRIGGER record_added AFTER INSERT ON record REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION raise_generation();
CREATE TRIGGER record_changed AFTER UPDATE ON record REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION raise_generation();
CREATE TRIGGER record_gone AFTER DELETE ON record REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION raise_generation();
DO $$ DECLARE role OID; BEGIN
  FOR role IN SELECT DISTINCT grantee FROM pg_class, aclexplode(relacl)
    WHERE pg_class.oid = 'record'::regclass AND grantee <> relowner AND grantee <> 0
  LOOP EXECUTE format('GRANT SELECT ON part TO %I', role::regrole::text); END LOOP;
END $$;
"""

_SUPERSEDED: Final = (
    """substring(body FROM '"valid_from": ?"[^"]*", ?(?:"valid_to": ?"[^"]*", ?)?"""
    """"superseded_by": ?"((?:[^"\\\\]|\\\\.)*)"')"""
)
"""The document that took the place of a memory, as JSON spells it; no key of its metadata."""

SLOTS: Final = 64
"""Changes of long-term memory of a group that clients can follow one by one."""
NAMED: Final = 2000
"""Memories that one change names at most; of more of them clients read the group anew."""
_BEFORE: Final = f"""
-- As JSON spells it, so that ids with quotes or beyond ASCII are in it as well; see `spelled`.
ALTER TABLE record DROP COLUMN superseded;
ALTER TABLE record ADD COLUMN superseded TEXT COLLATE "C" GENERATED ALWAYS AS (
  CASE WHEN tier = 'long_term' THEN
    CASE WHEN length({_SUPERSEDED}) > 200 THEN md5({_SUPERSEDED}) ELSE {_SUPERSEDED} END
  END
) STORED;
CREATE INDEX record_superseded ON record (tier, tenant, superseded) WHERE superseded IS NOT NULL;
-- Hashes of the words of a memory in their order, of which clients make their segments. An older
-- version that is still running leaves them out, and clients make them of the content then.
ALTER TABLE word_index ADD COLUMN words BYTEA;
-- What a client compares its segment of a group with, and how much there is to read.
ALTER TABLE part ADD COLUMN cold BIGINT NOT NULL DEFAULT 0, -- the last change of long-term memory
  ADD COLUMN changes BIGINT NOT NULL DEFAULT 0, -- how many changes of it there were
  ADD COLUMN memories BIGINT NOT NULL DEFAULT 0, ADD COLUMN words BIGINT NOT NULL DEFAULT 0;
INSERT INTO part (key, owner, generation, memories, words)
  SELECT hashtextextended(part, 0), owner, nextval('record_seq'), count(*), sum(size)
    FROM record WHERE tier = 'long_term' GROUP BY 1, 2
  ON CONFLICT (key, owner) DO UPDATE SET memories = excluded.memories, words = excluded.words;
-- The last changes of each group, so that a client reads only these. A ring: nobody cleans up.
CREATE TABLE change (
  key BIGINT NOT NULL, owner TEXT COLLATE "C" NOT NULL, slot INTEGER NOT NULL,
  cold BIGINT NOT NULL, -- `part.cold` as it was after this change
  numbers BIGINT[], -- what was added, changed or removed; NULL for too many to name
  PRIMARY KEY (key, owner, slot)
) WITH (fillfactor = 50);
DROP TRIGGER record_added ON record;
DROP TRIGGER record_changed ON record;
DROP TRIGGER record_gone ON record;
DROP FUNCTION raise_generation();
-- `cold` is a time, and so never the same after a failover to a server that had missed changes.
CREATE FUNCTION note_group(
  of_key BIGINT, of_owner TEXT, touched BIGINT[], more BIGINT, longer BIGINT
) RETURNS VOID LANGUAGE plpgsql SET search_path = @schema, pg_temp AS $$
  DECLARE
    at BIGINT;
    state RECORD;
  BEGIN
    IF touched IS NOT NULL THEN
      at := extract(epoch FROM clock_timestamp()) * 1000000;
    END IF;
    INSERT INTO part AS known (key, owner, generation, cold, changes, memories, words)
      VALUES (of_key, of_owner, nextval('record_seq'), coalesce(at, 0), 0, more, longer)
      ON CONFLICT (key, owner) DO UPDATE SET generation = nextval('record_seq'),
        cold = CASE WHEN at IS NULL THEN known.cold ELSE greatest(known.cold + 1, at) END,
        changes = known.changes + (at IS NOT NULL)::integer,
        memories = known.memories + more, words = known.words + longer
      RETURNING known.cold, known.changes INTO state;
    IF touched IS NOT NULL THEN
      INSERT INTO change (key, owner, slot, cold, numbers)
        VALUES (of_key, of_owner, state.changes % {SLOTS}, state.cold,
          CASE WHEN cardinality(touched) <= {NAMED} THEN touched END)
        ON CONFLICT (key, owner, slot)
          DO UPDATE SET cold = excluded.cold, numbers = excluded.numbers;
    END IF;
  END $$;
"""
_TRIGGER: Final = """
CREATE FUNCTION note_{name}() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = @schema, pg_temp AS $$ BEGIN
    PERFORM note_group(hashed, owner, numbers, memories, words) FROM (
      SELECT hashtextextended(part, 0) AS hashed, owner,
        array_agg(DISTINCT seq) FILTER (WHERE tier = 'long_term') AS numbers,
        coalesce(sum(sign) FILTER (WHERE tier = 'long_term'), 0) AS memories,
        coalesce(sum(sign * size) FILTER (WHERE tier = 'long_term'), 0)::bigint AS words
      FROM ({rows}) AS row GROUP BY 1, 2 ORDER BY 1, 2
    ) AS touched;
    RETURN NULL;
  END $$;
CREATE TRIGGER record_{name} AFTER {event} ON record REFERENCING {tables}
  FOR EACH STATEMENT EXECUTE FUNCTION note_{name}();
"""
_GRANTED: Final = """
DO $$ DECLARE role OID; BEGIN
  FOR role IN SELECT DISTINCT grantee FROM pg_class, aclexplode(relacl)
    WHERE pg_class.oid = 'record'::regclass AND grantee <> relowner AND grantee <> 0
  LOOP EXECUTE format('GRANT SELECT ON change TO %I', role::regrole::text); END LOOP;
END $$;
"""

_NEW: Final = "SELECT seq, part, owner, tier, size, 1 AS sign FROM changed"
_OLD: Final = "SELECT seq, part, owner, tier, size, -1 AS sign FROM former"
_FORMER, _CHANGED = "OLD TABLE AS former", "NEW TABLE AS changed"
_THIRD: Final = "".join(
    (
        _BEFORE,
        _TRIGGER.format(name="added", event="INSERT", tables=_CHANGED, rows=_NEW),
        _TRIGGER.format(
            name="changed",
            event="UPDATE",
            tables=f"{_FORMER} {_CHANGED}",
            rows=f"{_NEW} UNION ALL {_OLD}",
        ),
        _TRIGGER.format(name="gone", event="DELETE", tables=_FORMER, rows=_OLD),
        _GRANTED,
    )
)

STEPS: Final = (_FIRST, _SECOND, _THIRD)
"""Step n brings a schema from version n to n + 1."""


def step_sql(step: str, schema: str, vectors: str, partitions: int) -> str:
    """Return a step as it is done.

    Args:
        step: One of `STEPS`.
        schema: The schema of the tables, as SQL has it.
        vectors: The schema that pgvector is in, as SQL has it. It is not on the path of any
            statement: somebody may be allowed to put functions into it that fit better.
        partitions: Into how many parts by a hash of the tenant tables are made; 0 for whole ones.
    """
    step = step.replace("@pgvector", vectors).replace("@schema", schema)
    if not partitions:
        return step.replace(_BY_OWNER, "")
    parts = "".join(
        f"CREATE TABLE {table}_{n} PARTITION OF {table}"
        f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {n});\n"
        for table in TABLES
        if f"CREATE TABLE {table} (" in step
        for n in range(partitions)
    )
    return step.replace(_BY_OWNER, "PARTITION BY HASH (owner)") + parts


def vector_index(space: int, dimension: int, vectors: str) -> str | None:
    """Return what makes the index of the vectors of a space, None if there can be none."""
    if not 0 < dimension <= INDEXED:
        return None
    return (
        f"CREATE INDEX IF NOT EXISTS vector_{space} ON vector"
        f" USING hnsw ((data::{vectors}.halfvec({dimension})) {vectors}.halfvec_cosine_ops)"
        f" WHERE space = {space}"
    )


# Row-level security: the database itself keeps tenants apart.

_GUARD: Final = """
CREATE TABLE bound (role OID PRIMARY KEY, owner TEXT COLLATE "C" NOT NULL);
-- Whoever is a member of a bound role, in whatever way, is bound as well; to two is to none.
-- Functions that run as the owner see nothing that others could have put in the place of a table.
CREATE FUNCTION owner_now() RETURNS TEXT LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN session_user = current_user
      OR (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)
    THEN current_setting('memoryware.owner', true)
    ELSE (SELECT CASE count(DISTINCT owner) WHEN 0 THEN current_setting('memoryware.owner', true)
                 WHEN 1 THEN min(owner) END
          FROM {schema}.bound WHERE pg_has_role(session_user, role, 'MEMBER')) END $$;
-- No condition of a query may come before a policy unless it is known to leak nothing, and that
-- of an index of words is not; so this looks into the index, and keeps to the policy by itself.
CREATE FUNCTION looked_up(wanted BIGINT[], unwanted BIGINT[]) RETURNS SETOF word_index
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT * FROM {schema}.word_index WHERE tokens && wanted AND NOT tokens && unwanted
  AND (SELECT {schema}.owner_now()) IN (owner, '*') $$;
ALTER TABLE done ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON done USING (role = session_user) WITH CHECK (role = session_user);
"""
_POLICY: Final = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON {table} USING ((SELECT owner_now()) IN (owner, '*'))
  WITH CHECK ((SELECT owner_now()) IN (owner, '*'));
"""


def guard(schema: str) -> str:
    """Return what is done once in a schema; whoever owns the tables is not kept out."""
    return _GUARD.format(schema=schema) + "".join(map(policy, GUARDED))


def policy(table: str) -> str:
    """Return what keeps tenants apart in a table."""
    return _POLICY.format(table=table)


def grants(schema: str, role: str, *, bound: bool) -> str:
    """Return what lets a role work with memory; one that is bound cannot begin or change spaces.

    What it was let do before does not count anymore.
    """
    name = quoted(role)
    tables = ", ".join(f"{schema}.{table}" for table in TABLES)
    spaces = "SELECT" if bound else "SELECT, INSERT, UPDATE, DELETE"
    return "; ".join(
        (
            f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {name}",
            f"GRANT USAGE ON SCHEMA {schema} TO {name}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {name}",
            f"GRANT {spaces} ON {schema}.space TO {name}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.done TO {name}",
            f"GRANT SELECT ON {schema}.about TO {name}",
            f"GRANT SELECT ON {schema}.part, {schema}.change TO {name}",
            f"GRANT USAGE ON SEQUENCE {schema}.record_seq TO {name}",
        )
    )


Db = psycopg.Connection[tuple[Any, ...]]
_COMING: Final = re.compile("starting up|shutting down|in recovery mode")
"""What a server says that will be there soon; one with messages in English is waited for."""
_AGAIN: Final = 0.1
"""Seconds until it is asked again."""
_BRIEFLY: Final = 0.2
"""Seconds to wait for one table; less than the one after which a server looks for deadlocks."""
_BATCH: Final = 500
_ROLE: Final = "(SELECT oid FROM pg_roles WHERE rolname = %s)"
_GUARDED_SINCE: Final = {"part": 2, "change": 3}
"""The version from which on there are tables that were not in the first one."""
_KEPT: Final = "interval '1 day'"
"""How long it is kept what a connection did last."""
_INDEX: Final = (
    "INSERT INTO word_index (seq, owner, tokens, often, words) VALUES (%s, %s, %s::bigint[],"
    " %s::smallint[], %s)"
)


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """What was found when a database was opened.

    Attributes:
        address: Where it is.
        path: The search path of every transaction.
        is_relaxed: Whether the server confirms a commit before it is on the disk, unless a
            transaction insists.
        vectors: The schema that pgvector is in, as SQL has it.
        guarded: Whether rows are guarded by policies.
        partitioned: Whether tables are in parts by tenant.
    """

    address: Address
    path: str
    is_relaxed: bool
    vectors: str
    guarded: bool
    partitioned: bool

    def settings(self, selection: Select | None, *, writes: bool = False) -> Command:
        """Return the statement with which a transaction about these records begins."""
        return self.address.settings(
            selection, self.path, is_durable=self.is_relaxed, writes=writes
        )


def open_database(address: Address) -> OpenedDatabase:
    """Return a database whose tables are as they must be.

    Raises:
        StoreUnavailable: If it cannot be reached, or something is missing there.
        StoreNewer: If a newer version has made the tables.
    """
    with _translate_errors(address), _connect(address) as db:
        _check(address, db)
        where = _extension(address, db)
        vectors, path = quoted(where), f"{address.schema}, pg_temp"
        is_relaxed = db.execute("SHOW synchronous_commit").fetchone() == ("off",)
        state = _state(address, db)
        if state.needs(address):
            state = _upgrade(address, db, f"SET LOCAL search_path = {path}", vectors)
        else:
            db.execute(f"DELETE FROM {address.schema}.done WHERE at < now() - {_KEPT}".encode())
        return OpenedDatabase(
            address, path, is_relaxed, vectors, state.guarded, state.partitions > 0
        )


def grant_access(address: Address, role: str, tenant: str | None, *, bound: bool) -> None:
    """Let a role work with the tables, which are opened by whoever owns them."""
    address = replace(address, limits=replace(address.limits, row_security=True))
    open_database(address)
    schema = address.schema
    with _translate_errors(address), _connect(address) as db, db.transaction():
        db.execute(grants(schema, role, bound=bound).encode())
        db.execute(f"DELETE FROM {schema}.bound WHERE role = {_ROLE}".encode(), [role])
        if bound:
            insert = f"INSERT INTO {schema}.bound VALUES ({_ROLE}, %s)"
            db.execute(insert.encode(), [role, owner_of(tenant)])


@dataclass(frozen=True, slots=True)
class _State:
    """How the tables are.

    Attributes:
        version: How many steps were taken; 0 if there are no tables.
        words: By which version words were made.
        guarded: Whether rows are guarded by policies.
        partitions: In how many parts the tables are; 0 if they are whole.
    """

    version: int = 0
    words: int = 0
    guarded: bool = False
    partitions: int = 0

    def needs(self, address: Address) -> bool:
        """Return whether something is to be done before they are used."""
        expected = (len(STEPS), WORDS_VERSION, self.guarded or address.limits.row_security)
        return (self.version, self.words, self.guarded) != expected


@contextmanager
def _translate_errors(address: Address) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        if error.sqlstate is None and hint_of(error) is None:
            raise StoreUnavailable(
                f"{address.shown} cannot be reached: {first_line(error)}. Is the server running,"
                " and are host, port and name right?"
            ) from error
        raise unavailable(address.shown, error) from error


@contextmanager
def _connect(address: Address) -> Iterator[Db]:
    last = monotonic() + address.limits.pool_timeout
    while True:
        try:
            db = psycopg.connect(**connect_options(address))
            break
        except psycopg.OperationalError as error:
            if not _COMING.search(str(error)) or monotonic() > last:
                raise
        sleep(_AGAIN)
    with db:
        yield db


def _check(address: Address, db: Db) -> None:
    if db.info.server_version < SERVER * 10_000:
        raise StoreUnavailable(
            f"{address.shown} is PostgreSQL {db.info.server_version // 10_000}; memory needs"
            f" {SERVER} or later"
        )
    encoding = db.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreUnavailable(
            f"{address.shown} keeps texts as {encoding}; memory needs a database that was created"
            " with ENCODING 'UTF8'"
        )


def _extension(address: Address, db: Db) -> str:
    """Return the schema in which pgvector is."""
    extension = _find_extension(db)
    if extension is None:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", [address.key()])
            if _find_extension(db) is None:
                _create_extension(address, db)
        extension = _find_extension(db)
    version, where = extension or ("0", "")
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < PGVECTOR:
        needed = ".".join(map(str, PGVECTOR))
        raise StoreUnavailable(
            f"{address.shown} has pgvector {version}; memory needs {needed} or later: update the"
            " package on the server, then run ALTER EXTENSION vector UPDATE"
        )
    return where


def _find_extension(db: Db) -> tuple[str, str] | None:
    row = db.execute(
        "SELECT extversion, nspname FROM pg_extension JOIN pg_namespace"
        " ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
    ).fetchone()
    return None if row is None else (str(row[0]), str(row[1]))


def _create_extension(address: Address, db: Db) -> None:
    there = db.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone()
    if there is None:
        raise StoreUnavailable(
            f"{address.shown}: the server has no pgvector; install its package for this version of"
            " PostgreSQL on the server"
        )
    try:
        db.execute("CREATE EXTENSION vector")
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreUnavailable(
            f"{address.shown}: pgvector is not switched on in this database, and this role may not"
            " do it; let an administrator run CREATE EXTENSION vector in it"
        ) from error


def _state(address: Address, db: Db) -> _State:
    """Return how the tables are.

    Raises:
        StoreUnavailable: If they are of another program, or in another number of parts.
        StoreNewer: If they are newer.
    """
    schema = address.limits.schema
    (tables,) = _fetch_one(db, "SELECT count(*) FROM pg_tables WHERE schemaname = %s", schema)
    if not tables:
        return _State()
    ours = _fetch_one(db, "SELECT to_regclass(%s) IS NOT NULL", f"{address.schema}.about")[0]
    about: dict[str, int] = {}
    if ours:
        rows = db.execute(f"SELECT name, value FROM {address.schema}.about".encode())
        about = dict(rows.fetchall())
    if "memoryware" not in about:
        raise StoreUnavailable(
            f"{address.shown}: the schema {schema} belongs to another program; give memory one of"
            " its own: ?schema=memoryware"
        )
    version, words = about["memoryware"], about.get("words", 0)
    if version > len(STEPS) or words > WORDS_VERSION:
        raise StoreNewer(
            f"{address.shown}: the schema {schema} has version {version}.{words}, and this knows"
            f" {len(STEPS)}.{WORDS_VERSION}: a newer memoryware has written it. Update this one;"
            " nothing was changed"
        )
    requested, parts = address.limits.partitions, about.get("partitions", 0)
    if requested not in {0, parts}:
        raise StoreUnavailable(
            f"{address.shown}: the tables in the schema {schema} were made with"
            f" partitions={parts}, and {requested} were asked for. That cannot be changed: leave it"
            " out, or copy the memory into another schema with copy_stores"
        )
    return _State(version, words, bool(about.get("guarded")), parts)


def _upgrade(address: Address, db: Db, path: str, vectors: str) -> _State:
    """Take the steps that are missing, each in its transaction, while nobody else does."""
    while True:
        with db.transaction():
            db.execute(_wait_for_locks(address.limits.lock_timeout))
            db.execute("SELECT pg_advisory_xact_lock(%s)", [address.key()])
            old = _state(address, db)
            if not old.needs(address):
                return old
            db.execute(path)
            new = _take_step(address, db, old, vectors)
            about = {"memoryware": new.version, "words": new.words, "partitions": new.partitions}
            for name, value in (about | {"guarded": int(new.guarded)}).items():
                db.execute(
                    "INSERT INTO about VALUES (%s, %s)"
                    " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                    [name, value],
                )
            is_done = not new.needs(address)
            if is_done:
                _index_vectors(db, vectors)
        if is_done:
            return new


def _take_step(address: Address, db: Db, old: _State, vectors: str) -> _State:
    """Do the first thing that is missing; new tables are made at once as they are today."""
    guarded = old.guarded or address.limits.row_security
    if not old.version:
        parts = address.limits.partitions
        if not _fetch_one(db, "SELECT to_regnamespace(%s) IS NOT NULL", address.schema)[0]:
            db.execute(f"CREATE SCHEMA {address.schema}")
        for step in STEPS:
            db.execute(step_sql(step, address.schema, vectors, parts).encode())
        if guarded:
            db.execute(guard(address.schema).encode())
        return _State(len(STEPS), WORDS_VERSION, guarded, parts)
    if old.version == len(STEPS) and old.words != WORDS_VERSION:
        _rebuild_word_index(db)
        return replace(old, words=WORDS_VERSION)
    _lock_tables(address, db)
    if old.version < len(STEPS):
        db.execute(step_sql(STEPS[old.version], address.schema, vectors, old.partitions).encode())
        new = replace(old, version=old.version + 1)
        for table, version in _GUARDED_SINCE.items() if old.guarded else ():
            if version == new.version:
                db.execute(policy(table).encode())
        return new
    db.execute(guard(address.schema).encode())
    return replace(old, guarded=True)


def _lock_tables(address: Address, db: Db) -> None:
    """Wait for everybody who works with the tables before anything is done to one of them.

    Others take them in various orders. Whoever has read one and waits for another would end in a
    deadlock with a step that has worked on the other for seconds, and the server would give up
    the step; so all are taken at once, or none.
    """
    rows = db.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
        " AND relname = ANY(%s)",
        [[*GUARDED]],
    )
    tables = ", ".join(row[0] for row in rows.fetchall())
    last = monotonic() + address.limits.lock_timeout
    while True:
        try:
            with db.transaction():
                db.execute(_wait_for_locks(_BRIEFLY))
                db.execute(f"LOCK TABLE {tables}".encode())
        except psycopg.errors.LockNotAvailable:
            if monotonic() > last:
                raise
            sleep(_AGAIN)
        else:
            break
    db.execute(_wait_for_locks(address.limits.lock_timeout))


def _wait_for_locks(seconds: float) -> bytes:
    return f"SET LOCAL lock_timeout = {round(seconds * 1000)}".encode()


def _index_vectors(db: Db, vectors: str) -> None:
    """Make the indexes of spaces that a role could not make which does not own the tables."""
    for space, dimension in db.execute("SELECT id, dimension FROM space").fetchall():
        index = vector_index(space, dimension, vectors)
        if index is not None:
            db.execute(index.encode())


def _rebuild_word_index(db: Db) -> None:
    """Index every memory by words as they are made now; others can read meanwhile."""
    db.execute("LOCK TABLE record IN SHARE ROW EXCLUSIVE MODE")
    db.execute("DELETE FROM word_index")
    last = 0
    while True:
        rows = db.execute(
            f"SELECT {sql_dialect.READ}, seq FROM record WHERE tier = 'long_term' AND seq > %s"
            " ORDER BY seq LIMIT %s",
            [last, _BATCH],
        ).fetchall()
        if not rows:
            return
        for row in rows:
            memory, last = sql_dialect.record_of("long_term", row), row[2]
            words = terms_of(memory)
            tokens = counted_tokens(sql_dialect.names_of(memory.scope), words)
            owner = owner_of(memory.scope.tenant)
            db.execute(_INDEX, [last, owner, *tokens, packed_words(words)])
            db.execute("UPDATE record SET size = %s WHERE seq = %s", [len(words), last])


def _fetch_one(db: Db, sql: str, *values: object) -> tuple[Any, ...]:
    row = db.execute(sql.encode(), values or None).fetchone()
    return row if row is not None else (None,)

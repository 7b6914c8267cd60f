"""Opening a database: what it must have, and its tables in numbered steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic, sleep
from typing import Any, Final

import psycopg

from memoryware.errors import StoreNewer, StoreUnavailable
from memoryware.tiers.stores.postgres.address import Address, Command, owner_of, quoted
from memoryware.tiers.stores.postgres.connection import (
    connect_options,
    first_line,
    hint_of,
    unavailable,
)
from memoryware.tiers.stores.postgres.rows import counted_tokens
from memoryware.tiers.stores.postgres.schema import (
    PGVECTOR,
    SERVER,
    STEPS,
    grants,
    guard,
    made,
    policy,
    vector_index,
)
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.text.terms import WORDS_VERSION, words_of

Db = psycopg.Connection[tuple[Any, ...]]
_COMING: Final = re.compile("starting up|shutting down|in recovery mode")
"""What a server says that will be there soon; one with messages in English is waited for."""
_AGAIN: Final = 0.1
"""Seconds until it is asked again."""
_BATCH: Final = 500
_ROLE: Final = "(SELECT oid FROM pg_roles WHERE rolname = %s)"
_WITH_GENERATIONS: Final = 2
"""The version from which on groups have a generation."""
_KEPT: Final = "interval '1 day'"
"""How long it is kept what a connection did last."""
_INDEX: Final = (
    "INSERT INTO word_index (seq, owner, tokens, often) VALUES (%s, %s, %s::bigint[],"
    " %s::smallint[])"
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

    def settings(self, which: Select | None) -> Command:
        """Return the statement with which a transaction about these records begins."""
        return self.address.settings(which, self.path, is_durable=self.is_relaxed)


def opened(address: Address) -> OpenedDatabase:
    """Return a database whose tables are as they must be.

    Raises:
        StoreUnavailable: If it cannot be reached, or something is missing there.
        StoreNewer: If a newer version has made the tables.
    """
    with _told(address), _connected(address) as db:
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


def admitted(address: Address, role: str, tenant: str | None, *, bound: bool) -> None:
    """Let a role work with the tables, which are opened by whoever owns them."""
    address = replace(address, limits=replace(address.limits, row_security=True))
    opened(address)
    schema = address.schema
    with _told(address), _connected(address) as db, db.transaction():
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
        """Say whether something is to be done before they are used."""
        wanted = (len(STEPS), WORDS_VERSION, self.guarded or address.limits.row_security)
        return (self.version, self.words, self.guarded) != wanted


@contextmanager
def _told(address: Address) -> Iterator[None]:
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
def _connected(address: Address) -> Iterator[Db]:
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
    known = _known_extension(db)
    if known is None:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", [address.key()])
            if _known_extension(db) is None:
                _create_extension(address, db)
        known = _known_extension(db)
    version, where = known or ("0", "")
    if tuple(int(one) for one in version.split(".")[:2] if one.isdigit()) < PGVECTOR:
        needed = ".".join(map(str, PGVECTOR))
        raise StoreUnavailable(
            f"{address.shown} has pgvector {version}; memory needs {needed} or later: update the"
            " package on the server, then run ALTER EXTENSION vector UPDATE"
        )
    return where


def _known_extension(db: Db) -> tuple[str, str] | None:
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
    (tables,) = _one(db, "SELECT count(*) FROM pg_tables WHERE schemaname = %s", schema)
    if not tables:
        return _State()
    ours = _one(db, "SELECT to_regclass(%s) IS NOT NULL", f"{address.schema}.about")[0]
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
    wanted, parts = address.limits.partitions, about.get("partitions", 0)
    if wanted not in {0, parts}:
        raise StoreUnavailable(
            f"{address.shown}: the tables in the schema {schema} were made with"
            f" partitions={parts}, and {wanted} were asked for. That cannot be changed: leave it"
            " out, or copy the memory into another schema with copy_stores"
        )
    return _State(version, words, bool(about.get("guarded")), parts)


def _upgrade(address: Address, db: Db, path: str, vectors: str) -> _State:
    """Do the steps that are missing, all of them or none, while nobody else does."""
    limits = address.limits
    with db.transaction():
        db.execute(f"SET LOCAL lock_timeout = {round(limits.lock_timeout * 1000)}")
        db.execute("SELECT pg_advisory_xact_lock(%s)", [address.key()])
        old = _state(address, db)
        parts = old.partitions if old.version else limits.partitions
        new = _State(len(STEPS), WORDS_VERSION, old.guarded or limits.row_security, parts)
        if not _one(db, "SELECT to_regnamespace(%s) IS NOT NULL", address.schema)[0]:
            db.execute(f"CREATE SCHEMA {address.schema}")
        db.execute(path)
        for step in STEPS[old.version :]:
            db.execute(made(step, address.schema, vectors, parts).encode())
        if old.version and old.words != new.words:
            _index_anew(db)
        if new.guarded and not old.guarded:
            db.execute(guard(address.schema).encode())
        elif old.guarded and old.version < _WITH_GENERATIONS:
            db.execute(policy("part").encode())
        about = {"memoryware": new.version, "words": new.words, "partitions": parts}
        for name, value in (about | {"guarded": int(new.guarded)}).items():
            db.execute(
                "INSERT INTO about VALUES (%s, %s)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                [name, value],
            )
        for space, dimension in db.execute("SELECT id, dimension FROM space").fetchall():
            index = vector_index(space, dimension, vectors)
            if index is not None:
                db.execute(index.encode())
    return new


def _index_anew(db: Db) -> None:
    """Index every memory by words as they are made now."""
    db.execute("LOCK TABLE record IN SHARE ROW EXCLUSIVE MODE")
    db.execute("DELETE FROM word_index")
    last = 0
    while True:
        rows = db.execute(
            f"SELECT {sql_rows.READ}, seq FROM record WHERE tier = 'long_term' AND seq > %s"
            " ORDER BY seq LIMIT %s",
            [last, _BATCH],
        ).fetchall()
        if not rows:
            return
        for row in rows:
            memory, last = sql_rows.record_of("long_term", row), row[2]
            words = words_of(memory.content)
            made = counted_tokens(sql_rows.names_of(memory.scope), words)
            db.execute(_INDEX, [last, owner_of(memory.scope.tenant), *made])
            db.execute("UPDATE record SET size = %s WHERE seq = %s", [len(words), last])


def _one(db: Db, sql: str, *values: object) -> tuple[Any, ...]:
    row = db.execute(sql.encode(), values or None).fetchone()
    return row if row is not None else (None,)

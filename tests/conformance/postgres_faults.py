"""PostgreSQL with one fault each, in transactions, connections, openings and guarded rows."""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import suppress

import psycopg

from conformance.postgres_player import Fault, Seed, begins, both, code, text
from conformance.postgres_row_faults import FAULTS as IN_ROWS
from conformance.postgres_search_faults import FAULTS as IN_SEARCH
from memoryware.errors import StoreNewer, StoreUnavailable
from memoryware.tiers.stores.postgres import _address as addresses
from memoryware.tiers.stores.postgres import _connection as connection
from memoryware.tiers.stores.postgres import _dialect as pg_dialect
from memoryware.tiers.stores.postgres import _schema as schema
from memoryware.tiers.stores.postgres import _store as store
from memoryware.tiers.stores.postgres import _transaction as transaction
from memoryware.tiers.stores.postgres._address import Address
from memoryware.tiers.stores.postgres._connection import (
    AsyncPipeline,
    ConnectionState,
    Pipeline,
    RolledBack,
)
from memoryware.tiers.stores.postgres._pool import AsyncPool, BlockingPool, Pool
from memoryware.tiers.stores.postgres._schema import TABLES
from memoryware.tiers.stores.postgres._store import AsyncServer, BlockingServer
from memoryware.tiers.text.terms import WORDS_VERSION

BLOCKING, NATIVE = {"mode": "blocking"}, {"mode": "native"}
TAKES_TURNS = "test_a_group_that_others_write_is_waited_for_and_no_other"
LOST_ANSWER = "test_a_commit_whose_answer_is_lost_happens_once"
POOLER = "test_nothing_is_left_in_a_session_that_a_pooler_lends_to_others"
BY_HAND = "test_a_tenant_sees_nothing_of_another_by_statements_by_hand"


# Transactions.


def _whole_tenant(self, which):
    return [] if which is None else [("SELECT pg_advisory_xact_lock(?)", [self.key("all")])]


async def _kept_at_once(self, statement, *values, was=transaction.PostgresTransaction.execute):
    """Keeps each change at once, whatever becomes of the rest."""
    rows = await was(self, statement, *values)
    if statement.startswith("UPDATE"):
        ((path,),) = await was(self, "SHOW search_path")
        ((owner,),) = await was(self, "SHOW memoryware.owner")
        again = f"SET LOCAL search_path = {path}", f"SET LOCAL memoryware.owner = '{owner}'"
        for command in ("COMMIT", "BEGIN", *again):
            await was(self, command)
    return rows


async def _not_looked(self, pool, pipeline, was=BlockingServer._commit):
    with suppress(RolledBack, StoreUnavailable):
        await was(self, pool, pipeline)


async def _no_mark(self, pool, number, mark, error):
    return 0


async def _no_rollback(self):
    """Leave the transaction as it is."""


TRANSACTIONS = {
    "lets two change a group at once": Fault(
        code(Address, "locks", lambda self, which: []), "test_waiting", TAKES_TURNS, BLOCKING
    ),
    "keeps a text twice that two bring at once": Fault(
        code(Address, "locks", lambda self, which: []),
        "long_term",
        "test_one_text_from_eight_workers_is_one_document",
    ),
    "lets all groups wait for each other": Fault(
        code(Address, "locks", _whole_tenant), "test_waiting", TAKES_TURNS, NATIVE
    ),
    "lets groups change while their whole tenant does": Fault(
        begins("pg_advisory_xact_lock_shared(", "abs("), "test_waiting", TAKES_TURNS, BLOCKING
    ),
    "reads every statement at another moment": Fault(
        begins("REPEATABLE READ READ ONLY", "READ COMMITTED READ ONLY"),
        "test_waiting",
        "test_a_page_and_its_total_are_of_one_moment",
        NATIVE,
    ),
    "has kept a part of an edit that failed": Fault(
        code(transaction.PostgresTransaction, "execute", _kept_at_once),
        "quarantine",
        "test_an_edit_that_fails_has_changed_nothing",
    ),
    "says that it is kept though the commit failed": Fault(
        code(BlockingServer, "_commit", _not_looked),
        "test_losses",
        LOST_ANSWER,
        {"arrives": False, **BLOCKING},
    ),
    "does again what was kept where the answer is lost": Fault(
        code(AsyncServer, "_committed_mark", _no_mark),
        "test_losses",
        LOST_ANSWER,
        {"arrives": True, **NATIVE},
    ),
    "writes no mark": Fault(
        code(store, "_MARK", "SELECT ?::bigint, ?::bigint, ?::bigint"),
        "test_losses",
        LOST_ANSWER,
        {"arrives": True, **BLOCKING},
    ),
    "does not wait for a commit that goes on": Fault(
        code(
            store,
            "_FENCED",
            "SELECT coalesce((SELECT mark FROM done WHERE connection = ?), ? + ?::bigint)",
        ),
        "test_losses",
        "test_a_commit_that_goes_on_without_its_connection_happens_once",
        BLOCKING,
    ),
    "gives up when one connection is lost": Fault(
        code(store, "_LOSSES", 1),
        "test_losses",
        "test_an_edit_whose_connection_is_killed_is_done_once",
        BLOCKING,
    ),
    "leaves the victim of a deadlock alone": Fault(
        code(connection, "_RETRIED", frozenset({"40001", "23503"})),
        "test_waiting",
        "test_the_victim_of_a_deadlock_is_done_again",
    ),
    "never ends a statement": Fault(
        both(
            begins("'statement_timeout', '300'", "'statement_timeout', '0'"),
            code(connection, "_GRACE", 0.5),
        ),
        "test_waiting",
        "test_a_statement_that_takes_too_long_is_ended",
        NATIVE,
    ),
    "waits for others as long as for anything": Fault(
        both(
            begins("'lock_timeout', '300'", "'lock_timeout', '0'"),
            begins("'statement_timeout', '60000'", "'statement_timeout', '900'"),
        ),
        "test_waiting",
        TAKES_TURNS,
        BLOCKING,
    ),
    "does not say that it only reads": Fault(
        code(connection, "_HINTS", {}),
        "test_other_servers",
        "test_a_server_that_only_reads_from_now_on_says_so",
        BLOCKING,
    ),
}

# Connections.


def _put_as_it_is(self, db):
    slot, db.session.slot = db.session.slot, None
    self._idle.append((db, time.monotonic()))
    self._leave(slot)


def _not_given_back(self, db, was=Pool.put):
    with suppress(RuntimeError):
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            return
    was(self, db)


async def _more(self, longest):
    return True


def _prepared(self, key, was=ConnectionState.prepare):
    was(self, key)
    return was(self, key)


def _always_prepared(self, *given, was=Pipeline._statement):
    statement = was(self, *given)
    statement.is_prepared = True
    return statement


async def _slow(self, exchange, was=AsyncPipeline._wait):
    time.sleep(0.001)  # noqa: ASYNC251 - the fault
    return await was(self, exchange)


CONNECTIONS = {
    "hands out a transaction that was not ended": Fault(
        both(code(Pool, "put", _put_as_it_is), code(Pipeline, "roll_back", _no_rollback)),
        "test_segments",
        "test_a_transaction_sees_its_own_memories_and_nobody_else_does_before_it_is_committed",
    ),
    "keeps the connection of a call that was cancelled": Fault(
        code(Pool, "put", _not_given_back),
        "test_waiting",
        "test_a_call_that_is_cancelled_gives_its_connection_back",
    ),
    "makes more connections than it may for threads": Fault(
        code(BlockingPool, "_enter", _more), "test_waiting", "test_a_full_pool_is_said", BLOCKING
    ),
    "makes more connections than it may for tasks": Fault(
        code(AsyncPool, "_enter", _more), "test_waiting", "test_a_full_pool_is_said", NATIVE
    ),
    "goes on after it was closed": Fault(
        code(BlockingServer, "_must_be_open", lambda self: None),
        "test_waiting",
        "test_what_was_closed_says_so",
    ),
    "blocks the event loop": Fault(
        code(AsyncPipeline, "_wait", _slow),
        "quarantine",
        "test_the_async_half_leaves_the_event_loop_free",
        NATIVE,
    ),
    "sets what a session keeps": Fault(
        begins(", true)", ", false)"), "test_other_servers", POOLER, BLOCKING
    ),
    "takes locks that a session keeps": Fault(
        begins("pg_advisory_xact_lock_shared(", "pg_advisory_lock_shared("),
        "test_other_servers",
        POOLER,
        NATIVE,
    ),
    "keeps statements ready that a pooler cannot have": Fault(
        both(
            code(ConnectionState, "prepare", _prepared),
            code(Pipeline, "_statement", _always_prepared),
        ),
        "test_other_servers",
        POOLER,
        BLOCKING,
    ),
}

# Openings.


def _any_key(self, *parts, was=Address.key):
    return was(self, *parts) if parts else secrets.randbits(62)


def _accepted(address, db, was=schema._state):
    try:
        return was(address, db)
    except StoreNewer:
        return schema._State(len(schema.STEPS), WORDS_VERSION)


def _taken_over(address, db, was=schema._state):
    try:
        return was(address, db)
    except StoreUnavailable:
        return schema._State()


def _at_ease(address, path, is_relaxed, *more, was=schema.OpenedDatabase):
    return was(address, path, False, *more)


def _step_by_step(self, query, *values, was=psycopg.Connection.execute, **more):
    """Keeps a step before it is noted, whatever becomes of that."""
    done = was(self, query, *values, **more)
    if isinstance(query, bytes) and query.startswith(b"ALTER TABLE record"):
        (path,) = was(self, "SHOW search_path").fetchone()
        was(self, f"COMMIT; BEGIN; SET LOCAL search_path = {path}")
    return done


OPENINGS = {
    "makes tables without taking turns": Fault(
        code(Address, "key", _any_key),
        "test_opening",
        "test_many_who_open_at_once_make_the_tables_once",
    ),
    "opens what a newer version has made": Fault(
        code(schema, "_state", _accepted),
        "test_opening",
        "test_a_newer_schema_is_left_alone_and_an_older_one_brought_up",
    ),
    "has done a part of a step": Fault(
        code(psycopg.Connection, "execute", _step_by_step),
        "test_opening",
        "test_a_newer_schema_is_left_alone_and_an_older_one_brought_up",
    ),
    "makes its tables among those of another program": Fault(
        code(schema, "_state", _taken_over),
        "test_opening",
        "test_a_schema_of_another_program_is_left_alone",
    ),
    "leaves words as another version made them": Fault(
        code(schema, "_rebuild_word_index", lambda db: None),
        "test_opening",
        "test_words_that_another_version_made_are_made_anew",
    ),
    "confirms what is not on the disk": Fault(
        code(schema, "OpenedDatabase", _at_ease),
        "test_losses",
        "test_what_was_confirmed_is_there_once_after_a_restart",
        {"how": 3, **BLOCKING},
    ),
}

# Guarded rows.


def _unguarded(table: str) -> Seed:
    switch = f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
    return code(schema, "guard", lambda name, was=schema.guard: was(name).replace(switch, ""))


def _once_admitted(address, role, tenant, *, bound, was=store.grant_access):
    asked = f"SELECT has_schema_privilege(%s, '{address.limits.schema}', 'USAGE')"
    with psycopg.connect(address.conninfo) as db:
        there = db.execute("SELECT to_regnamespace(%s) IS NOT NULL", [address.schema]).fetchone()
        if there == (True,) and db.execute(asked, [role]).fetchone() == (True,):
            return
    was(address, role, tenant, bound=bound)


def _unbound(name, role, *, bound, was=schema.grants):
    return was(name, role, bound=False)


GUARDED = {
    **{
        f"guards every table but {table}": Fault(_unguarded(table), "test_guard", BY_HAND)
        for table in TABLES
    },
    "believes what a bound role says": Fault(
        text(schema, "_GUARD", "WHERE pg_has_role(", "WHERE false AND pg_has_role("),
        "test_guard",
        BY_HAND,
    ),
    "looks words up for everybody": Fault(
        text(schema, "_GUARD", "AND (SELECT {schema}.owner_now()) IN (owner, '*') $$", "$$"),
        "test_guard",
        BY_HAND,
    ),
    "lets anybody write for others": Fault(
        text(schema, "_POLICY", "CHECK ((SELECT owner_now()) IN (owner, '*'))", "CHECK (true)"),
        "test_guard",
        "test_nobody_writes_for_a_tenant_that_is_not_theirs",
        {"table": "source"},
    ),
    "shows bound roles that other tenants write": Fault(
        code(schema, "GUARDED", TABLES),
        "test_generations",
        "test_roles_raise_the_generation_of_their_tenant_alone",
    ),
    "lets a bound role change spaces": Fault(
        code(schema, "grants", _unbound),
        "test_guard",
        "test_a_role_that_owns_nothing_can_do_everything_for_its_tenants",
    ),
    "admits a role once and for all": Fault(
        code(store, "grant_access", _once_admitted),
        "test_guard",
        "test_the_last_admission_of_a_role_counts",
    ),
    "gives words that it makes anew to nobody": Fault(
        code(schema, "owner_of", lambda tenant: "n"),
        "test_guard",
        "test_words_that_are_made_anew_stay_with_their_tenant",
    ),
    "keeps what is of a tenant as if it were of all": Fault(
        code(
            addresses,
            "owner_of",
            lambda tenant: "*" if tenant == "a" else pg_dialect.owner_of(tenant),
        ),
        "test_guard",
        BY_HAND,
    ),
}

FAULTS: dict[str, Fault] = {
    **TRANSACTIONS,
    **CONNECTIONS,
    **OPENINGS,
    **GUARDED,
    **IN_ROWS,
    **IN_SEARCH,
}

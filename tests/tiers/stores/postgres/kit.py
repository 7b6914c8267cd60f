"""What the tests of PostgreSQL share; `conftest` makes fixtures of those that yield."""

from __future__ import annotations

import asyncio
import functools
import os
from contextlib import contextmanager

import psycopg
import pytest

from counting import Relay
from memoryware import MemoryScope
from memoryware.testing._store import FLAT, document, entry
from memoryware.tiers.stores.postgres import _schema as schema
from memoryware.tiers.stores.postgres import admit_role, postgres_stores
from servers import postgres
from servers.pooler import Pooler
from servers.proxy import Proxy

MODES = ["blocking", "native"]
TENANTS = [None, *(f"tenant {n}" for n in range(20))]


def address():
    with postgres.schema_at(postgres.url()) as made:
        yield made


def stores(address):
    made = postgres_stores(address)
    yield made
    made.working.close()


def parted(address):
    """An address at which tables are in parts by tenant."""
    yield f"{address}&partitions=4"


def filled(parted):
    """Stores in parts, with an entry and a memory of each of many tenants."""
    made = postgres_stores(parted)
    for tenant in TENANTS:
        scope = MemoryScope(tenant=tenant, group_id="g")
        made.quarantine.add(entry(f"entry of {tenant}", scope))
        made.long_term.add(document(f"tea of {tenant}", scope=scope), [[1, 0, 0]], FLAT)
    yield made
    made.working.close()


def server():
    """A server of its own, which a test may stop."""
    made = postgres.started()
    yield made
    made.remove()


def replica(server):
    """A server that repeats what the own one does."""
    made = postgres.started(server)
    yield made
    made.remove()


def proxy():
    made = Proxy(_folder())
    yield made
    made.close()


def pooler():
    made = Pooler(_folder())
    yield made
    made.close()


def _folder():
    if os.environ.get("TEST_POSTGRES_URL"):
        pytest.skip("stands before a server of its own")
    return postgres.url().partition("host=")[2]


def through(address, other):
    """Return an address by way of what stands before the server."""
    return address.replace(_folder(), str(other.folder))


def roles(address):
    """Roles that do not own the tables: one for all tenants, and one bound to tenant b."""
    if os.environ.get("TEST_POSTGRES_URL"):
        pytest.skip("makes roles")
    names = [f"app_{os.getpid()}", f"bound_{os.getpid()}"]
    for name in names:
        postgres.asked(address, f"CREATE ROLE {name} LOGIN")
    admit_role(address, names[0])
    admit_role(address, names[1], "b")
    yield [address.replace("postgres@", f"{name}@") for name in names]
    for name in names:
        postgres.asked(address, f"DROP OWNED BY {name}; DROP ROLE {name}")


def call(store, mode, name, *args, **more):
    """Call a method in a mode; the native one in a loop of its own."""
    if mode == "blocking":
        return getattr(store, name)(*args, **more)

    async def once():
        try:
            return await getattr(store, f"a{name}")(*args, **more)
        finally:
            await asyncio.sleep(0)

    return asyncio.run(once())


def kill(address, *, idle=True):
    """End connections of stores at an address from the side of the server."""
    states = "state LIKE 'idle%'" if idle else "true"
    postgres.asked(
        address,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        f" WHERE application_name = 'memoryware' AND {states}",
    )


@contextmanager
def holding(address, sql, *values):
    """Do something by hand in a transaction that stays open."""
    plain, _, name = address.replace("&schema=", "?schema=").partition("?schema=")
    with psycopg.connect(plain) as db:
        db.execute(f'SET search_path = "{name}", public')
        db.execute("SET memoryware.owner = 'tt'")
        db.execute(sql, values or None)
        yield db
        db.rollback()


def counted(address, script):
    plain, _, name = address.replace("&schema=", "?schema=").partition("?schema=")
    with psycopg.connect(plain, autocommit=True) as db:
        db.execute(f'SET search_path = "{name}", public')
        cursor = db.execute(script)
        while cursor.nextset():
            pass
        return cursor.fetchone()[0]


@contextmanager
def database(name, options=""):
    base = postgres.url()
    postgres.asked(f"{base}&schema=public", f"CREATE DATABASE {name} TEMPLATE template0 {options}")
    try:
        yield base.replace("/postgres?", f"/{name}?")
    finally:
        postgres.asked(f"{base}&schema=public", f"DROP DATABASE {name} WITH (FORCE)")


def old(address, monkeypatch):
    """Stores with the tables of 0.1.0, in which a role was admitted, and the address of it."""
    if os.environ.get("TEST_POSTGRES_URL"):
        pytest.skip("makes roles")
    name = f"old_{os.getpid()}"
    postgres.asked(address, f"CREATE ROLE {name} LOGIN")
    with monkeypatch.context() as patched:
        patched.setattr(schema, "STEPS", schema.STEPS[:1])
        patched.setattr(schema, "guard", _first_guard)
        patched.setattr(schema, "grants", _first_grants)
        admit_role(address, name)
        made = postgres_stores(address)
    yield made, address.replace("postgres@", f"{name}@")
    made.working.close()
    postgres.asked(address, f"DROP OWNED BY {name}; DROP ROLE {name}")


def _first_guard(name, was=schema.guard):
    newer = (schema.policy(table) for table in ("part", "change"))
    return functools.reduce(lambda text, one: text.replace(one, ""), newer, was(name))


def _first_grants(name, role, *, bound, was=schema.grants):
    return was(name, role, bound=bound).replace(
        f'GRANT SELECT ON {name}.part, {name}.change TO "{role}"; ', ""
    )


def relay():
    """Stands before the server and counts round trips."""
    if os.environ.get("TEST_POSTGRES_URL"):
        pytest.skip("stands before a server of its own")
    folder = postgres.url().partition("host=")[2]
    made = Relay(f"{folder}/.s.PGSQL.5432", ".s.PGSQL.5432", postgres=True)
    yield made
    made.close()

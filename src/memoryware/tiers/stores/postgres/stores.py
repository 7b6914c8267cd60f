"""The three tiers in PostgreSQL with pgvector, for many processes on many machines.

What is confirmed has been committed. Where a connection is lost in the middle, the server is
asked what became of the transaction; what was not done is done once more, and nothing twice.
Changes of one group take turns; groups do not wait for each other.

What is deleted is found by nobody from then on. Its bytes stay until the server has cleaned up
(`VACUUM`) and something else is stored in their place; its log and its backups keep copies as long
as you let them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from types import EllipsisType
from typing import Any, TypeVar

from memoryware.settings import PostgresLimits
from memoryware.tiers.stores.postgres.address import address_of
from memoryware.tiers.stores.postgres.opening import admitted, opened
from memoryware.tiers.stores.postgres.server import BlockingServer, Ground, NativeServer
from memoryware.tiers.stores.protocol import Stores
from memoryware.tiers.stores.sql.port import Port
from memoryware.tiers.stores.sql.stores import SqlStore

T = TypeVar("T")


def postgres_stores(
    url: str, *, limits: PostgresLimits | None = None, lock_timeout: float | None = None
) -> Stores:
    """Return the stores at an address; the tables are made if they are not there.

    Args:
        url: `postgresql://user:password@host/database`; what libpq knows may follow after a
            `?`, and settings of `PostgresLimits` as well: `?schema=memory&pool_size=20`.
        limits: The settings.
        lock_timeout: In place of that of the settings.

    Raises:
        StoreUnavailable: If it cannot be reached, or something is missing there.
        StoreNewer: If a newer version has made the tables.
    """
    limits = limits or PostgresLimits()
    if lock_timeout is not None:
        limits = replace(limits, lock_timeout=max(0.001, lock_timeout))
    ground = opened(address_of(url, limits))
    blocking = _Blocking(ground)
    # psycopg cannot wait in the event loop that is usual on Windows: threads serve there.
    native = None if sys.platform == "win32" else _Native(ground)
    return Stores.of(SqlStore(blocking, native))


def admit_role(
    url: str, role: str, tenant: str | EllipsisType | None = ..., *, schema: str = "memoryware"
) -> None:
    """Let a database role work with the memory at an address, and keep tenants apart for it.

    Row-level security is switched on. A transaction of the role then sees the tenant that it is
    about and no other, also where a statement forgets to say so. Roles that own the tables, and
    superusers, are not kept out: let applications use others.

    Args:
        url: An address of whoever owns the tables.
        role: A role that is there; an earlier call for it no longer counts.
        tenant: Bind the role to this tenant: it sees no other, whatever its statements say.
            Without it the role may work for every tenant, one at a time.
        schema: The schema of the memory, if the address does not say it.
    """
    address = address_of(url, PostgresLimits(schema=schema))
    if isinstance(tenant, EllipsisType):
        admitted(address, role, None, bound=False)
    else:
        admitted(address, role, tenant, bound=True)


class _Blocking:
    """Runs operations over a server; they never suspend."""

    suspends = False

    def __init__(self, ground: Ground) -> None:
        self._server = BlockingServer(ground)

    async def run(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        return await self._server.tried(work)

    async def close(self) -> None:
        self._server.close()


class _Native:
    """Runs operations over a server on an event loop."""

    suspends = True

    def __init__(self, ground: Ground) -> None:
        self._server = NativeServer(ground)

    async def run(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        return await self._server.tried(work)

    async def close(self) -> None:
        self._server.close()  # which waits for nobody

"""The three tiers in PostgreSQL with pgvector, for many processes on many machines.

What is confirmed has been committed. Where a connection is lost in the middle, the server is
asked what became of the transaction; what was not done is done once more, and nothing twice.
Changes of one group take turns; groups do not wait for each other.

What is deleted is found by nobody from then on. Its bytes stay until the server has cleaned up
(`VACUUM`) and something else is stored in their place; its log and its backups keep copies as long
as you let them.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from time import monotonic
from types import EllipsisType
from typing import Any, Final, TypeVar

from memoryware.errors import StoreClosed, StoreUnavailable, StoreUnconfirmed
from memoryware.settings import PostgresLimits
from memoryware.tiers.stores._sql.dialect import Port
from memoryware.tiers.stores._sql.store import SqlStore
from memoryware.tiers.stores.postgres._address import Command, address_of, plan_mode
from memoryware.tiers.stores.postgres._connection import (
    Pipeline,
    RolledBack,
)
from memoryware.tiers.stores.postgres._dialect import PostgresDialect
from memoryware.tiers.stores.postgres._pool import AsyncPool, BlockingPool, Pool
from memoryware.tiers.stores.postgres._schema import OpenedDatabase, grant_access, open_database
from memoryware.tiers.stores.postgres._search import GroupSegments, PostgresSearchTransaction
from memoryware.tiers.stores.postgres._transaction import READ, RESERVE
from memoryware.tiers.stores.protocol import Select, Stores

T = TypeVar("T")
_TRIES: Final = 8
"""How often a transaction is begun that conflicts with others."""
_LOSSES: Final = 2
"""How often the connection may be lost before an operation is given up."""
_PAUSE: Final = 0.02
"""Seconds before the second try; then twice as long each time."""
_FENCE: Final = -1
"""The mark of a connection that may commit nothing anymore."""
_MARK: Final = (
    "INSERT INTO done (connection, mark) VALUES (?, ?) ON CONFLICT (connection) DO UPDATE"
    " SET mark = excluded.mark / (done.mark <> ?)::integer, at = now()"
)
"""Notes that a transaction is about to be committed; it fails once the connection is fenced."""
_FENCED: Final = (
    "INSERT INTO done (connection, mark) VALUES (?, ?) ON CONFLICT (connection) DO UPDATE"
    " SET mark = CASE done.mark WHEN ? THEN done.mark ELSE excluded.mark END, at = now()"
    " RETURNING mark"
)
"""Returns the mark that a lost connection has committed, or fences it.

It waits for a transaction that has written its mark and is not over. The server may still have
statements of the lost connection before it, with their COMMIT: the fence makes them fail.
"""


def postgres_stores(
    url: str, *, limits: PostgresLimits | None = None, lock_timeout: float | None = None
) -> Stores:
    """Return the stores in a PostgreSQL database; the tables are created if they do not exist.

    Args:
        url: `postgresql://user:password@host/database`, with options of libpq and of
            `PostgresLimits` behind a `?`: `?schema=memory&pool_size=20`.
        limits: The limits; options in the address win.
        lock_timeout: Replaces the one of the limits.

    Returns:
        The stores of the three tiers, which share their connections.

    Raises:
        StoreUnavailable: If the server cannot be reached, or something is missing there.
        StoreNewer: If a newer version has created the tables.
    """
    limits = limits or PostgresLimits()
    if lock_timeout is not None:
        limits = replace(limits, lock_timeout=max(0.001, lock_timeout))
    database = open_database(address_of(url, limits))
    segments = GroupSegments(database.address.limits.indexed)
    # psycopg cannot wait in the event loop that is usual on Windows: threads serve there.
    native = None if sys.platform == "win32" else AsyncServer(database, segments)
    return Stores.of(SqlStore(BlockingServer(database, segments), native))


def admit_role(
    url: str, role: str, tenant: str | EllipsisType | None = ..., *, schema: str = "memoryware"
) -> None:
    """Grant a database role access to the memory at an address, and keep tenants apart for it.

    This switches on row-level security: a transaction of the role sees only the tenant that it is
    about, even where a statement has no such condition. Owners of the tables and superusers are
    not restricted, so let applications use other roles.

    Args:
        url: An address with the owner of the tables as user.
        role: An existing role; an earlier call for it is replaced.
        tenant: Restrict the role to this tenant, whatever its statements say. Without it the role
            may work for every tenant, one at a time.
        schema: The schema of the memory, if the address has none.
    """
    address = address_of(url, PostgresLimits(schema=schema))
    if isinstance(tenant, EllipsisType):
        grant_access(address, role, None, bound=False)
    else:
        grant_access(address, role, tenant, bound=True)


class Server(ABC):
    """A database whose transactions are committed, or have not happened; nothing is done twice."""

    suspends: bool
    dialect = PostgresDialect()
    has_segments = True
    reads_ahead = True

    def __init__(self, database: OpenedDatabase, segments: GroupSegments | None = None) -> None:
        self._segments = segments or GroupSegments(database.address.limits.indexed)
        self._database, self._address = database, database.address
        self._limits = database.address.limits
        self._lock, self._process, self._is_closed = threading.Lock(), os.getpid(), False

    @asynccontextmanager
    async def transaction(
        self, selection: Select | None, *, writes: bool = False, snapshot: bool = True
    ) -> AsyncIterator[PostgresSearchTransaction]:
        pool = self._own()
        db = await pool.take(self._limits.pool_timeout)
        pipeline = pool.pipeline(db)
        try:
            try:
                transaction = self._begin(pipeline, selection, writes=writes, snapshot=snapshot)
                transaction.segments = self._segments
                yield transaction
                await self._commit(pool, pipeline)
            except BaseException:
                await pipeline.roll_back()
                raise
        finally:
            pool.put(db)

    async def wipe(self) -> None:  # noqa: B027 - both have none
        """Leave it to the server, which takes away what was deleted when it cleans up."""

    async def run(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        """Do an operation, again if it is certain that it was not done.

        Raises:
            StoreUnavailable: If it cannot be done now, or it is not known whether it was.
        """
        losses = attempts = 0
        last = monotonic() + self._limits.pool_timeout
        while True:
            try:
                return await work(self)
            except RolledBack as error:
                if error.stale and monotonic() < last:
                    continue  # it had died in the pool, so nothing was begun
                attempts, losses = attempts + 1, losses + error.lost
                if losses >= _LOSSES or attempts >= _TRIES:
                    raise StoreUnavailable(
                        f"{self._address.shown}: nothing was stored ({error}); try again"
                    ) from error
            await self._pause(_PAUSE * 2 ** (attempts - 1) * random.uniform(0.5, 1.5))  # noqa: S311

    def _begin(
        self, pipeline: Pipeline, selection: Select | None, *, writes: bool, snapshot: bool
    ) -> PostgresSearchTransaction:
        """Begin a transaction; one that reads begins once it needs to see one moment."""
        settings = self._database.settings(selection, writes=writes)
        plans = plan_mode(selection, writes=writes)
        if not writes:
            pipeline.begin(READ if snapshot else "", [settings])
            late = None if snapshot else [settings]
            return PostgresSearchTransaction(pipeline, self._database, plans, late=late)
        # The numbers after the locks: they are in the order of storing.
        commands = [settings, *self._address.locks(selection), *([RESERVE] if selection else [])]
        begun = pipeline.begin("BEGIN", commands)
        reserved = begun[-1] if selection else None
        return PostgresSearchTransaction(pipeline, self._database, plans, reserved)

    async def _commit(self, pool: Pool[Any], pipeline: Pipeline) -> None:
        """Commit; where the answer is lost, look whether the mark of the transaction is there."""
        if not pipeline.has_written:
            await pipeline.commit()
            return
        connection, mark = pipeline.db.session.number, secrets.randbits(62) + 1
        await pipeline.execute(_MARK, [connection, mark, _FENCE])
        try:
            await pipeline.commit()
        except (RolledBack, StoreUnavailable) as error:
            if not pipeline.db.closed:
                raise
            if await self._committed_mark(pool, connection, mark, error) != mark:
                raise  # nothing was stored, and cannot be anymore

    async def _committed_mark(
        self, pool: Pool[Any], connection: int, mark: int, error: Exception
    ) -> int:
        """Return the mark that a lost connection has committed, if it is this one.

        Numbers of transactions do not tell: after a crash they are given out again.

        Raises:
            StoreUnconfirmed: If the server cannot be asked.
        """
        commands: list[Command] = [(_FENCED, [connection, _FENCE, mark])]
        last = monotonic() + self._limits.statement_timeout
        while monotonic() < last:
            try:
                db = await pool.take(max(0.0, last - monotonic()))
            except StoreUnavailable:
                break
            pipeline = pool.pipeline(db)
            try:
                pipeline.begin("BEGIN", [self._database.settings(None)])
                (((committed,),),) = await pipeline.execute_all(commands)
                await pipeline.commit()
            except RolledBack:
                await self._pause(_PAUSE)
            except StoreUnavailable:
                break
            else:
                return int(committed)
            finally:
                await pipeline.roll_back()
                pool.put(db)
        raise StoreUnconfirmed(
            f"{self._address.shown}: the connection was lost while this was being stored, and the"
            " server cannot be asked whether it was; look before you store it again"
        ) from error

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    def _own(self) -> Pool[Any]:
        """Return the connections of this process, and of this loop where there is one."""

    @abstractmethod
    async def _pause(self, seconds: float) -> None: ...

    def _must_be_open(self) -> None:
        if self._is_closed:
            raise StoreClosed(f"{self._address.shown} was closed; open the memory again")


class BlockingServer(Server):
    """Waits by blocking; threads share its connections."""

    suspends = False

    def __init__(self, database: OpenedDatabase, segments: GroupSegments | None = None) -> None:
        super().__init__(database, segments)
        self._pool: BlockingPool | None = None

    def _own(self) -> BlockingPool:
        with self._lock:
            self._must_be_open()
            if self._process != os.getpid():  # a fork must not use connections of its parent
                _ABANDONED.append(self._pool)
                self._pool, self._process = None, os.getpid()
            if self._pool is None:
                self._pool = BlockingPool(self._address)
            return self._pool

    async def _pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - nothing of this half runs in a loop

    async def close(self) -> None:
        """Close the connections; may be called twice."""
        with self._lock:
            self._is_closed, pool = True, self._pool
        if pool is not None and self._process == os.getpid():
            pool.close()


class AsyncServer(Server):
    """Waits in the event loop; each loop has connections of its own."""

    suspends = True

    def __init__(self, database: OpenedDatabase, segments: GroupSegments | None = None) -> None:
        super().__init__(database, segments)
        self._pools: dict[asyncio.AbstractEventLoop, AsyncPool] = {}

    def _own(self) -> AsyncPool:
        loop = asyncio.get_running_loop()
        with self._lock:
            self._must_be_open()
            if self._process != os.getpid():
                _ABANDONED.append(self._pools)
                self._pools, self._process = {}, os.getpid()
            if loop not in self._pools:
                for other in [pool for pool in self._pools if pool.is_closed()]:
                    self._pools.pop(other).close()
                self._pools[loop] = AsyncPool(self._address)
            return self._pools[loop]

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Close the connections of every loop without waiting for anybody; may be called twice."""
        with self._lock:
            self._is_closed, pools = True, [*self._pools.values()]
        for pool in pools if self._process == os.getpid() else ():
            pool.close()


_ABANDONED: Final[list[object]] = []
"""What a fork has from its parent; closing it would end what the parent is doing."""

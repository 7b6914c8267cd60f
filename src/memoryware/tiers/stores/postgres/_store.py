"""The three tiers in PostgreSQL with pgvector, for many processes on many machines.

What is confirmed has been committed. Where a connection is lost in the middle, the server is
asked what became of the transaction; what was not done is done once more, and nothing twice.
Changes of one group take turns; groups do not wait for each other.

What is deleted is found by nobody from then on. Its bytes stay until the server has cleaned up
(`VACUUM`) and something else is stored in their place; its log and its backups keep copies as long
as you let them.

The pool is our own, not psycopg_pool, which was measured beside it (psycopg_pool 3.3.3):

- After a server had been away for 20 seconds, psycopg_pool connected 9 seconds after it was back
  (it waits longer between attempts, up to minutes), and each call in between waited for its whole
  timeout and then said "couldn't get a connection", not why. This pool tries with the next call,
  and one that is waited for in vain costs its timeout once.
- A Ctrl-C at the wrong moment takes a connection out of psycopg_pool for good: in four of six
  runs its only connection was lost, after 3,500 to 17,800 interrupts. Here a slot of the pool is
  a weak reference, so it comes back by itself.
- It runs four threads (or tasks of one event loop), which a forked process does not have and
  which a loop that ends leaves unfinished. Nothing runs in the background here.
- Taking a connection and putting it back costs 2.0 microseconds of CPU in both.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import select
import sys
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from time import monotonic
from types import EllipsisType
from typing import Any, Final, Generic, TypeVar

import psycopg

from memoryware.errors import StoreUnavailable, StoreUnconfirmed
from memoryware.settings import PostgresLimits
from memoryware.tiers.stores._sql.port import Port
from memoryware.tiers.stores._sql.store import SqlStore
from memoryware.tiers.stores.postgres._address import Address, Command, address_of, plan_mode
from memoryware.tiers.stores.postgres._connection import (
    AsyncConnection,
    AsyncPipeline,
    BlockingConnection,
    BlockingPipeline,
    ConnectionState,
    Pipeline,
    RolledBack,
    connect_options,
    first_line,
    hint_of,
    unavailable,
)
from memoryware.tiers.stores.postgres._rows import PostgresDialect
from memoryware.tiers.stores.postgres._schema import OpenedDatabase, grant_access, open_database
from memoryware.tiers.stores.postgres._search import GroupSegments, PostgresSearchTransaction
from memoryware.tiers.stores.postgres._transaction import READ, RESERVE
from memoryware.tiers.stores.protocol import Select, Stores

C = TypeVar("C", BlockingConnection, AsyncConnection)
_SHORTEST: Final = 0.001
_RECONNECT_PAUSE: Final = 0.05
"""Seconds until a server that does not answer is asked again."""


class _PoolSlot:
    """Lets one have a connection."""


class Pool(ABC, Generic[C]):
    """Connections, at most `pool_size` at a time.

    A server that is away is waited for once. Whoever comes after that asks once and no longer,
    until it is there again, so that an agent without its memory is not slow as well.
    """

    def __init__(self, address: Address) -> None:
        self._address, self._limits = address, address.limits
        self._is_away = False
        self._idle: deque[tuple[C, float]] = deque()
        self._closed = False

    async def take(self, longest: float) -> C:
        """Return a connection, which has to be given back with `put`.

        Args:
            longest: Seconds to wait for one.

        Raises:
            StoreUnavailable: If there is none in that time.
        """
        last = monotonic() + longest
        slot = await self._enter(longest)
        if slot is None:
            raise StoreUnavailable(
                f"{self._address.shown}: all {self._limits.pool_size} connections (pool_size) have"
                f" been in use for {longest:.1f} seconds (pool_timeout)"
            )
        try:
            while True:
                db = self._spare()
                if db is not None:
                    db.session.slot = slot
                    return db
                try:
                    db = await self._connect()
                except psycopg.Error as error:
                    self._connection_failed(
                        error, longest, is_late=monotonic() + _RECONNECT_PAUSE > last
                    )
                else:
                    db.session = ConnectionState()
                    self._is_away, db.session.slot = False, slot
                    return db
                await self._pause(_RECONNECT_PAUSE)
        except BaseException:
            self._leave(slot)
            raise

    def put(self, db: C) -> None:
        """Take a connection back; one that is in the middle of something is closed."""
        slot, db.session.slot = db.session.slot, None
        if db.closed:
            self._drop_idle()  # whatever ended it has most likely ended them as well
        elif self._closed or db.session.state != "idle":
            db.pgconn.finish()
        else:
            self._idle.append((db, monotonic()))
            if self._closed:  # in this moment
                self.close()
        self._leave(slot)

    def close(self) -> None:
        """Close the connections that nobody uses; others are closed when they are put back."""
        self._closed = True
        self._drop_idle()

    def _drop_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop()[0].pgconn.finish()

    def _spare(self) -> C | None:
        """Return the connection that was used last; close those that were not used for long."""
        if self._closed:
            raise StoreUnavailable(f"{self._address.shown} was closed; open the memory again")
        with suppress(IndexError):
            while self._idle[0][1] + self._limits.idle_timeout < monotonic():
                self._idle.popleft()[0].pgconn.finish()
        with suppress(IndexError):
            while True:
                db = self._idle.pop()[0]
                # A transaction that is sent with its COMMIT has to ask a new connection what
                # became of it, unless it is seen here that the server has closed this one.
                if _is_open(db.pgconn):
                    return db
                db.pgconn.finish()
        return None

    def _connection_failed(self, error: psycopg.Error, longest: float, *, is_late: bool) -> None:
        """Raise what a failed connection means, unless it is worth trying again."""
        may_come_back = isinstance(error, psycopg.OperationalError)
        was_away = self._is_away
        if may_come_back and not was_away and not is_late:
            return
        self._is_away = may_come_back
        shown = self._address.shown
        if hint_of(error) is not None:
            raise unavailable(shown, error) from error
        state = "is still away" if was_away else f"has been away for {longest:.1f} seconds"
        limit = "" if was_away else " (pool_timeout)"
        raise StoreUnavailable(f"{shown} {state}{limit}: {first_line(error)}") from error

    @abstractmethod
    def pipeline(self, db: C) -> Pipeline:
        """Return what sends the statements of one transaction on a connection."""

    @abstractmethod
    async def _enter(self, longest: float) -> object | None:
        """Return a slot of the pool, None if there is none within so many seconds."""

    @abstractmethod
    def _leave(self, slot: object | None) -> None:
        """Give a slot back."""

    @abstractmethod
    async def _connect(self) -> C: ...

    @abstractmethod
    async def _pause(self, seconds: float) -> None: ...


def _is_open(pgconn: Any) -> bool:
    """Return whether the server has not closed a connection, as far as its socket tells."""
    if not hasattr(select, "poll"):  # Windows, where select() takes sockets of any number
        is_readable = bool(select.select([pgconn.socket], [], [], 0)[0])
    else:
        waiting = select.poll()
        waiting.register(pgconn.socket, select.POLLIN)
        is_readable = bool(waiting.poll(0))
    try:
        for _ in range(2 if is_readable else 0):
            pgconn.consume_input()  # last words or answers that nobody waited for, then the end
    except psycopg.OperationalError:
        return False
    return True


class BlockingPool(Pool[BlockingConnection]):
    """For threads.

    A slot is taken as long as somebody holds it, and comes back by itself: a Ctrl-C between any
    two steps would leave a counter wrong for good.
    """

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._taken: list[weakref.ref[_PoolSlot]] = []
        self._lock = threading.Lock()

    def pipeline(self, db: BlockingConnection) -> BlockingPipeline:
        return BlockingPipeline(db, self._address)

    async def _enter(self, longest: float) -> object | None:
        last, pause = monotonic() + longest, _SHORTEST
        while True:
            slot = _PoolSlot()
            with self._lock:
                self._taken = [reference for reference in self._taken if reference() is not None]
                if len(self._taken) < self._limits.pool_size:
                    self._taken.append(weakref.ref(slot))
                    return slot
            if monotonic() >= last:
                return None
            time.sleep(pause)  # noqa: ASYNC251 - nothing of this half runs in a loop
            pause = min(pause * 2, _RECONNECT_PAUSE)

    def _leave(self, slot: object | None) -> None:
        """Let go of it: that is all."""

    async def _connect(self) -> BlockingConnection:
        return BlockingConnection.connect(**connect_options(self._address))

    async def _pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - nothing of this half runs in a loop


class AsyncPool(Pool[AsyncConnection]):
    """For the tasks of one event loop."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._room = asyncio.Semaphore(self._limits.pool_size)

    def pipeline(self, db: AsyncConnection) -> AsyncPipeline:
        return AsyncPipeline(db, self._address)

    async def _enter(self, longest: float) -> object | None:
        try:
            async with asyncio.timeout(longest):
                await self._room.acquire()
        except TimeoutError:
            return None
        return _PoolSlot()

    def _leave(self, slot: object | None) -> None:
        if slot is not None:
            self._room.release()

    async def _connect(self) -> AsyncConnection:
        return await AsyncConnection.connect(**connect_options(self._address))

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


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
            raise StoreUnavailable(f"{self._address.shown} was closed; open the memory again")


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

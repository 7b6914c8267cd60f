"""A PostgreSQL and its connections: transactions that happen once, or are said not to have."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, TypeVar

from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolClosed, PoolTimeout

from memoryware.errors import StoreUnavailable
from memoryware.tiers.stores._port import Port
from memoryware.tiers.stores._postgres_address import Address
from memoryware.tiers.stores._postgres_link import (
    BlockingConnection,
    BlockingLink,
    NativeConnection,
    NativeLink,
    Undone,
    prepare,
)
from memoryware.tiers.stores._postgres_rows import PostgresRows
from memoryware.tiers.stores._postgres_transaction import PostgresTransaction
from memoryware.tiers.stores.protocol import Select

T = TypeVar("T")
_TRIES: Final = 8
"""How often an operation is begun that others keep coming in between of."""
_LOSSES: Final = 2
"""How often the connection may be lost before an operation is given up."""
_PAUSE: Final = 0.02
"""Seconds before the second try; then twice as long each time."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What was found when a database was opened.

    Attributes:
        address: Where it is.
        setting: The statements that every transaction begins with.
        guarded: Whether rows are guarded by policies.
    """

    address: Address
    setting: str
    guarded: bool


class _Server(ABC):
    """A port whose transactions are kept, or never were; nothing is done twice."""

    rows = PostgresRows()

    def __init__(self, ground: Ground) -> None:
        self._ground, self._address = ground, ground.address
        self._limits = ground.address.limits

    @asynccontextmanager
    async def transaction(
        self, which: Select | None, *, writes: bool = False
    ) -> AsyncIterator[PostgresTransaction]:
        link, number = await self._begun(which, writes=writes)
        try:
            try:
                yield PostgresTransaction(
                    link, self._limits, self._address.key("spaces"), guarded=self._ground.guarded
                )
            except BaseException:
                with suppress(Undone, StoreUnavailable):
                    await link.script("ROLLBACK")
                raise
            await self._keep(link, number)
        finally:
            await self._give(link)

    async def wipe(self) -> None:  # noqa: B027 - both have none
        """Leave it to the server, which takes away what was deleted when it cleans up."""

    async def tried(self, work: Callable[[Port], Coroutine[Any, Any, T]]) -> T:
        """Do an operation, again if it is certain that it was not done.

        Raises:
            StoreUnavailable: If it cannot be done now, or it is not known whether it was.
        """
        lost = 0
        for attempt in range(_TRIES):
            try:
                return await work(self)
            except Undone as undone:
                lost += undone.lost
                if lost >= _LOSSES or attempt == _TRIES - 1:
                    raise StoreUnavailable(
                        f"{self._address.shown}: nothing was stored ({undone}); try again"
                    ) from undone
            await self._pause(_PAUSE * 2**attempt * random.uniform(0.5, 1.5))  # noqa: S311
        raise AssertionError

    async def _begun(self, which: Select | None, *, writes: bool) -> tuple[Any, str]:
        """Begin a transaction on a connection that lives; return its link and number."""
        text = self._address.beginning(which, writes=writes, more=self._ground.setting)
        last = monotonic() + self._limits.pool_timeout
        while True:
            link = await self._take(max(0.01, last - monotonic()))
            try:
                rows = await link.script(text)
            except Undone as undone:  # it had died in the pool, so nothing was begun
                await self._give(link)
                if not undone.lost or monotonic() > last:
                    raise
                await self._pause(_PAUSE)
            except BaseException:
                with suppress(Undone, StoreUnavailable):
                    await link.script("ROLLBACK")
                await self._give(link)
                raise
            else:
                return link, rows[0][0] if writes else ""

    async def _keep(self, link: Any, number: str) -> None:
        """Commit; where the answer is lost, ask the server what became of the transaction."""
        try:
            await link.script("COMMIT")
        except (Undone, StoreUnavailable) as error:
            if not number or not link.db.closed:
                if number:
                    raise
                return
            fate = await self._fate(number, error)
            if fate != "committed":
                raise Undone(f"{error}", lost=True) from error

    async def _fate(self, number: str, error: Exception) -> str:
        """Return "committed" or "aborted"."""
        last, fate = monotonic() + self._limits.statement_timeout, ""
        try:
            while monotonic() < last:
                link = await self._take(max(0.01, last - monotonic()))
                try:
                    rows = await link.script(f"SELECT pg_xact_status('{int(number)}'::xid8)")
                    fate = rows[0][0]
                except Undone:
                    fate = "in progress"
                finally:
                    await self._give(link)
                if fate != "in progress":
                    break
                await self._pause(_PAUSE)
        except StoreUnavailable as away:
            error = away
        if fate in ("committed", "aborted"):
            return fate
        raise StoreUnavailable(
            f"{self._address.shown}: the connection was lost while this was being stored, and the"
            " server cannot be asked whether it was; look before you store it again"
        ) from error

    @abstractmethod
    async def _take(self, longest: float) -> Any: ...

    @abstractmethod
    async def _give(self, link: Any) -> None: ...

    @abstractmethod
    async def _pause(self, seconds: float) -> None: ...

    def _pooled(self) -> dict[str, Any]:
        limits = self._limits
        return {
            "kwargs": {
                "autocommit": True,
                "connect_timeout": max(2, round(limits.connect_timeout)),
                "application_name": "memoryware",
            },
            "min_size": 0,
            "max_size": limits.pool_size,
            "max_idle": limits.idle_timeout,
            "reconnect_timeout": max(1.0, limits.pool_timeout),
            "timeout": limits.pool_timeout,
            "open": False,
        }

    def _closed(self) -> StoreUnavailable:
        return StoreUnavailable(f"{self._address.shown} was closed; open the memory again")

    def _full(self, longest: float) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self._address.shown}: no connection for {longest:.1f} seconds (pool_timeout): the"
            f" server is away, or all {self._limits.pool_size} connections are in use (pool_size)"
        )


class BlockingServer(_Server):
    """Waits by blocking; threads share its connections."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        self._pool: ConnectionPool[BlockingConnection] | None = None
        self._lock, self._process, self._shut = threading.Lock(), os.getpid(), False

    async def _take(self, longest: float) -> BlockingLink:
        pool = self._opened()
        try:
            return BlockingLink(pool.getconn(longest), self._address.shown)
        except PoolTimeout as error:
            raise self._full(longest) from error
        except PoolClosed as error:
            raise self._closed() from error

    async def _give(self, link: BlockingLink) -> None:
        pool = self._pool
        if pool is not None:
            pool.putconn(link.db)

    async def _pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - nothing of this half runs in a loop

    def _opened(self) -> ConnectionPool[BlockingConnection]:
        with self._lock:
            if self._shut:
                raise self._closed()
            if self._process != os.getpid():  # a fork must not use connections of its parent
                _ABANDONED.append(self._pool)
                self._pool, self._process = None, os.getpid()
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._address.conninfo,
                    connection_class=BlockingConnection,
                    configure=self._configure,
                    **self._pooled(),
                )
                self._pool.open()
            return self._pool

    def _configure(self, db: BlockingConnection) -> None:
        prepare(db, self._limits.statement_timeout)

    def close(self) -> None:
        """Close the connections; may be called twice."""
        with self._lock:
            self._shut, pool, own = True, self._pool, self._process == os.getpid()
        if pool is not None and own:
            pool.close()


class NativeServer(_Server):
    """Waits in the event loop; each loop has connections of its own."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        self._pools: dict[asyncio.AbstractEventLoop, _Pool] = {}
        self._lock, self._process, self._shut = threading.Lock(), os.getpid(), False

    async def _take(self, longest: float) -> NativeLink:
        pool = self._own()
        try:
            await pool.pool.open()
            return NativeLink(await pool.pool.getconn(longest), self._address.shown)
        except PoolTimeout as error:
            raise self._full(longest) from error
        except PoolClosed as error:
            raise self._closed() from error

    async def _give(self, link: NativeLink) -> None:
        pool = self._pools.get(asyncio.get_running_loop())
        if pool is None:
            link.db.pgconn.finish()
        else:  # also if whoever asked has gone away
            await asyncio.shield(pool.pool.putconn(link.db))

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def _own(self) -> _Pool:
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._shut:
                raise self._closed()
            if self._process != os.getpid():
                _ABANDONED.append(self._pools)
                self._pools, self._process = {}, os.getpid()
            if loop not in self._pools:
                for one in [one for one in self._pools if one.is_closed()]:
                    self._pools.pop(one).abandon()
                self._pools[loop] = _Pool(self._address, self._pooled())
            return self._pools[loop]

    def close(self) -> None:
        """Close the connections of every loop."""
        for loop, pool in self._taken():
            pool.abandon_in(loop)

    async def aclose(self) -> None:
        """Close the connections of every loop, those of this one before it returns."""
        mine = asyncio.get_running_loop()
        for loop, pool in self._taken():
            if loop is mine:
                await pool.pool.close()
            else:
                pool.abandon_in(loop)

    def _taken(self) -> list[tuple[asyncio.AbstractEventLoop, _Pool]]:
        with self._lock:
            self._shut = True
            pools, self._pools = [*self._pools.items()], {}
        return pools if self._process == os.getpid() else []


class _Pool:
    """The connections of one event loop."""

    def __init__(self, address: Address, how: dict[str, Any]) -> None:
        self._made: list[NativeConnection] = []
        self._timeout = address.limits.statement_timeout
        self.pool = AsyncConnectionPool(
            address.conninfo, connection_class=NativeConnection, configure=self._configure, **how
        )

    async def _configure(self, db: NativeConnection) -> None:
        prepare(db, self._timeout)
        self._made = [one for one in self._made if not one.closed] + [db]

    def abandon(self) -> None:
        """Close the connections where no loop can do it."""
        for one in self._made:
            one.pgconn.finish()

    def abandon_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close the connections in the thread of their loop, if it runs."""
        running = None
        with suppress(RuntimeError):
            running = asyncio.get_running_loop()
        if loop.is_running() and loop is not running:
            with suppress(RuntimeError):  # it has ended in this moment
                loop.call_soon_threadsafe(self.abandon)
                return
        self.abandon()


_ABANDONED: Final[list[object]] = []
"""What a fork has from its parent; closing it would end what the parent is doing."""

"""A PostgreSQL and its connections: transactions that happen once, or are said not to have."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, TypeVar

from memoryware.errors import StoreUnavailable, StoreUnconfirmed
from memoryware.tiers.stores.postgres.address import Address
from memoryware.tiers.stores.postgres.link import Undone
from memoryware.tiers.stores.postgres.pool import BlockingPool, NativePool, Pool
from memoryware.tiers.stores.postgres.rows import PostgresRows
from memoryware.tiers.stores.postgres.transaction import PostgresTransaction
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sql.port import Port

T = TypeVar("T")
_TRIES: Final = 8
"""How often an operation is begun that others keep coming in between of."""
_LOSSES: Final = 2
"""How often the connection may be lost before an operation is given up."""
_MARK: Final = (
    "INSERT INTO done (connection, mark) VALUES ({}, {})"
    " ON CONFLICT (connection) DO UPDATE SET mark = excluded.mark, at = now()"
)
_LAST_MARK: Final = (
    "INSERT INTO done (connection, mark) VALUES ({}, 0)"
    " ON CONFLICT (connection) DO UPDATE SET mark = done.mark RETURNING mark"
)
"""Waits for a transaction that has written the mark and is not over."""
_PAUSE: Final = 0.02
"""Seconds before the second try; then twice as long each time."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What was found when a database was opened.

    Attributes:
        address: Where it is.
        setting: The statements that every transaction begins with.
        guarded: Whether rows are guarded by policies.
        partitioned: Whether tables are in parts by tenant.
    """

    address: Address
    setting: str
    guarded: bool
    partitioned: bool


class _Server(ABC):
    """A port whose transactions are kept, or never were; nothing is done twice."""

    def __init__(self, ground: Ground) -> None:
        self.rows = PostgresRows(partitioned=ground.partitioned)
        self._ground, self._address = ground, ground.address
        self._limits = ground.address.limits
        self._lock, self._process, self._shut = threading.Lock(), os.getpid(), False

    @asynccontextmanager
    async def transaction(
        self, which: Select | None, *, writes: bool = False
    ) -> AsyncIterator[PostgresTransaction]:
        pool = self._own()
        link, mark = await self._begun(pool, which, writes=writes)
        try:
            try:
                yield PostgresTransaction(
                    link,
                    self._limits,
                    self._address.key("spaces"),
                    guarded=self._ground.guarded,
                    partitioned=self._ground.partitioned,
                )
            except BaseException:
                with suppress(Undone, StoreUnavailable):
                    await link.script("ROLLBACK")
                raise
            await self._keep(pool, link, mark)
        finally:
            pool.put(link.db)

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

    async def _begun(
        self, pool: Pool[Any], which: Select | None, *, writes: bool
    ) -> tuple[Any, int]:
        """Begin a transaction on a connection that lives; return its link and its mark."""
        mark = secrets.randbits(62) + 1 if writes else 0
        last = monotonic() + self._limits.pool_timeout
        while True:
            link = pool.link(await pool.take(max(0.0, last - monotonic())))
            begin = self._address.beginning(which, writes=writes)
            begin.insert(1, self._ground.setting)
            if writes:
                begin.append(_MARK.format(link.db.number, mark))
            try:
                await link.script("; ".join(begin))
            except Undone as undone:  # it had died in the pool, so nothing was begun
                pool.put(link.db)
                if not undone.lost or monotonic() > last:
                    raise
            except BaseException:
                with suppress(Undone, StoreUnavailable):
                    await link.script("ROLLBACK")
                pool.put(link.db)
                raise
            else:
                return link, mark

    async def _keep(self, pool: Pool[Any], link: Any, mark: int) -> None:
        """Commit; where the answer is lost, look whether the mark of the transaction is there."""
        try:
            await link.script("COMMIT")
        except (Undone, StoreUnavailable) as error:
            if not mark:
                return  # nothing was to be kept
            if not link.db.closed:
                raise
            if await self._last_mark(pool, link.db.number, error) != mark:
                raise Undone(f"{error}", lost=True) from error

    async def _last_mark(self, pool: Pool[Any], number: int, error: Exception) -> int:
        """Return the mark of what a lost connection did last, once the server has ended it.

        Numbers of transactions do not tell: after a crash they are given out again.
        """
        begin = self._address.beginning(None, writes=True)
        begin.insert(1, self._ground.setting)
        last = monotonic() + self._limits.statement_timeout
        with suppress(StoreUnavailable):
            while monotonic() < last:
                link = pool.link(await pool.take(max(0.0, last - monotonic())))
                try:
                    await link.script("; ".join(begin))
                    ((mark,),) = await link.script(_LAST_MARK.format(number))
                    await link.script("COMMIT")
                    return int(mark)
                except Undone:
                    await self._pause(_PAUSE)
                finally:
                    with suppress(Undone, StoreUnavailable):
                        await link.script("ROLLBACK")
                    pool.put(link.db)
        raise StoreUnconfirmed(
            f"{self._address.shown}: the connection was lost while this was being stored, and the"
            " server cannot be asked whether it was; look before you store it again"
        ) from error

    @abstractmethod
    def _own(self) -> Pool[Any]:
        """Return the connections of this process, and of this loop where there is one."""

    @abstractmethod
    async def _pause(self, seconds: float) -> None: ...

    def _must_be_open(self) -> None:
        if self._shut:
            raise StoreUnavailable(f"{self._address.shown} was closed; open the memory again")


class BlockingServer(_Server):
    """Waits by blocking; threads share its connections."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
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

    def close(self) -> None:
        """Close the connections; may be called twice."""
        with self._lock:
            self._shut, pool = True, self._pool
        if pool is not None and self._process == os.getpid():
            pool.close()


class NativeServer(_Server):
    """Waits in the event loop; each loop has connections of its own."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        self._pools: dict[asyncio.AbstractEventLoop, NativePool] = {}

    def _own(self) -> NativePool:
        loop = asyncio.get_running_loop()
        with self._lock:
            self._must_be_open()
            if self._process != os.getpid():
                _ABANDONED.append(self._pools)
                self._pools, self._process = {}, os.getpid()
            if loop not in self._pools:
                for one in [one for one in self._pools if one.is_closed()]:
                    self._pools.pop(one).close()
                self._pools[loop] = NativePool(self._address)
            return self._pools[loop]

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def close(self) -> None:
        """Close the connections of every loop; may be called twice."""
        with self._lock:
            self._shut, pools = True, [*self._pools.values()]
        for one in pools if self._process == os.getpid() else ():
            one.close()


_ABANDONED: Final[list[object]] = []
"""What a fork has from its parent; closing it would end what the parent is doing."""

"""Connection pools of the PostgreSQL store, blocking and asynchronous.

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
import select
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from time import monotonic
from typing import Any, Final, Generic, TypeVar

import psycopg

from memoryware.errors import StoreClosed, StoreUnavailable
from memoryware.tiers.stores.postgres._address import Address
from memoryware.tiers.stores.postgres._connection import (
    AsyncConnection,
    AsyncPipeline,
    BlockingConnection,
    BlockingPipeline,
    ConnectionState,
    Pipeline,
    connect_options,
    first_line,
    hint_of,
    unavailable,
)

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
            raise StoreClosed(f"{self._address.shown} was closed; open the memory again")
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

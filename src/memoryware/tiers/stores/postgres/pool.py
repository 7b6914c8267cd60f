"""Connections to a PostgreSQL that are kept for the next who needs one.

Nothing runs in the background: whoever needs a connection makes it. So a loop or a process
that ends needs nobody to end a pool first.
"""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from time import monotonic
from typing import Any, Final, Generic, TypeVar

import psycopg
from psycopg import pq

from memoryware.errors import StoreUnavailable
from memoryware.tiers.stores.postgres.address import Address
from memoryware.tiers.stores.postgres.link import (
    BlockingConnection,
    BlockingLink,
    NativeConnection,
    NativeLink,
    first_line,
    hint_of,
    prepare,
    unavailable,
)

C = TypeVar("C", BlockingConnection, NativeConnection)
_PAUSE: Final = 0.05
"""Seconds until a server that does not answer is asked again."""


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
        """Return a connection; whoever takes one has to put it back.

        Raises:
            StoreUnavailable: If there is none within so many seconds.
        """
        last = monotonic() + longest
        if not await self._enter(longest):
            raise StoreUnavailable(
                f"{self._address.shown}: all {self._limits.pool_size} connections (pool_size) have"
                f" been in use for {longest:.1f} seconds (pool_timeout)"
            )
        try:
            while True:
                db = self._spare()
                if db is not None:
                    return db
                try:
                    made = self._ready(await self._made())
                except psycopg.Error as error:
                    comes_back, was_away = (
                        isinstance(error, psycopg.OperationalError),
                        self._is_away,
                    )
                    if not comes_back or was_away or monotonic() + _PAUSE > last:
                        self._is_away = comes_back
                        raise self._without(error, "" if was_away else f"{longest:.1f}") from error
                else:
                    self._is_away = False
                    return made
                await self._pause(_PAUSE)
        except BaseException:
            self._leave()
            raise

    def put(self, db: C) -> None:
        """Take a connection back; one in which something is unfinished is closed."""
        if self._closed or db.pgconn.transaction_status != pq.TransactionStatus.IDLE:
            db.pgconn.finish()
        else:
            self._idle.append((db, monotonic()))
            if self._closed:  # in this moment
                self.close()
        self._leave()

    def close(self) -> None:
        """Close the connections that nobody uses; others are closed when they are put back."""
        self._closed = True
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
            return self._idle.pop()[0]
        return None

    def _ready(self, db: C) -> C:
        prepare(db, self._limits.statement_timeout)
        return db

    def _without(self, error: psycopg.Error, waited: str) -> StoreUnavailable:
        if hint_of(error) is not None:
            return unavailable(self._address.shown, error)
        how = f"has been away for {waited} seconds (pool_timeout)" if waited else "is still away"
        return StoreUnavailable(f"{self._address.shown} {how}: {first_line(error)}")

    def _how(self) -> dict[str, Any]:
        return how_to_connect(self._address)

    @abstractmethod
    def link(self, db: C) -> Any:
        """Return what a transaction uses a connection by."""

    @abstractmethod
    async def _enter(self, longest: float) -> bool: ...

    @abstractmethod
    def _leave(self) -> None: ...

    @abstractmethod
    async def _made(self) -> C: ...

    @abstractmethod
    async def _pause(self, seconds: float) -> None: ...


class BlockingPool(Pool[BlockingConnection]):
    """For threads."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._room = threading.Semaphore(self._limits.pool_size)

    def link(self, db: BlockingConnection) -> BlockingLink:
        return BlockingLink(db, self._address.shown)

    async def _enter(self, longest: float) -> bool:
        return self._room.acquire(timeout=min(longest, threading.TIMEOUT_MAX))

    def _leave(self) -> None:
        self._room.release()

    async def _made(self) -> BlockingConnection:
        return BlockingConnection.connect(**self._how())

    async def _pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - nothing of this half runs in a loop


class NativePool(Pool[NativeConnection]):
    """For the tasks of one event loop."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._room = asyncio.Semaphore(self._limits.pool_size)

    def link(self, db: NativeConnection) -> NativeLink:
        return NativeLink(db, self._address.shown)

    async def _enter(self, longest: float) -> bool:
        try:
            async with asyncio.timeout(longest):
                return await self._room.acquire()
        except TimeoutError:
            return False

    def _leave(self) -> None:
        self._room.release()

    async def _made(self) -> NativeConnection:
        return await NativeConnection.connect(**self._how())

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def how_to_connect(address: Address) -> dict[str, Any]:
    """Return what a connection is made with."""
    return {
        "conninfo": address.conninfo,
        "autocommit": True,
        "prepare_threshold": 5 if address.limits.prepared_statements else None,
        "connect_timeout": max(2, round(address.limits.connect_timeout)),
        "application_name": "memoryware",
    }

"""Turns between threads and tasks of one process: many may read, one alone may write."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from memoryware._twins import Via
from memoryware.errors import StoreUnavailable

_SHORTEST_PAUSE: Final = 0.0005
_LONGEST_PAUSE: Final = 0.01
"""Seconds at most between two looks of a task whether it is its turn."""


class Turns:
    """Whose turn it is. A task never blocks its event loop while it waits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._writes = False
        self._waiting = 0

    @asynccontextmanager
    async def reading(self, via: Via, timeout: float) -> AsyncIterator[None]:
        """Wait until nobody writes, and keep writers out meanwhile.

        Raises:
            StoreUnavailable: If that takes longer than the timeout.
        """
        await via(self._wait, self._await, False, timeout)
        try:
            yield
        finally:
            self._leave(writes=False)

    @asynccontextmanager
    async def writing(self, via: Via, timeout: float) -> AsyncIterator[None]:
        """Wait until nobody reads or writes, and keep everybody out meanwhile.

        Raises:
            StoreUnavailable: If that takes longer than the timeout.
        """
        with self._changed:
            self._waiting += 1  # so that readers do not come one after the other for ever
        try:
            await via(self._wait, self._await, True, timeout)
        finally:
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            self._leave(writes=True)

    def _enter(self, writes: bool) -> bool:
        if self._writes or (self._readers if writes else self._waiting):
            return False
        if writes:
            self._writes = True
        else:
            self._readers += 1
        return True

    def _leave(self, *, writes: bool) -> None:
        with self._changed:
            if writes:
                self._writes = False
            else:
                self._readers -= 1
            self._changed.notify_all()

    def _wait(self, writes: bool, timeout: float) -> None:
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._enter(writes), min(timeout, threading.TIMEOUT_MAX)
            ):
                raise _too_long(timeout)

    async def _await(self, writes: bool, timeout: float) -> None:
        end, pause = time.monotonic() + timeout, 0.0
        while True:
            with self._changed:
                if self._enter(writes):
                    return
            if time.monotonic() > end:
                raise _too_long(timeout)
            await asyncio.sleep(pause)
            pause = min(pause * 2 or _SHORTEST_PAUSE, _LONGEST_PAUSE)


def _too_long(timeout: float) -> StoreUnavailable:
    return StoreUnavailable(f"Somebody else has been writing for {timeout:g} seconds; try again")

"""Turns between threads and tasks of one process: many may read, one alone may write."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from memoryware._runner import Runner
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
    async def reading(self, runner: Runner, patience: float) -> AsyncIterator[None]:
        """Wait until nobody writes, and keep writers out meanwhile.

        Raises:
            StoreUnavailable: If that takes longer than the patience, in seconds.
        """
        await runner.call(self._wait, self._await, writes=False, patience=patience)
        try:
            yield
        finally:
            self._leave(writes=False)

    @asynccontextmanager
    async def writing(self, runner: Runner, patience: float) -> AsyncIterator[None]:
        """Wait until nobody reads or writes, and keep everybody out meanwhile.

        Raises:
            StoreUnavailable: If that takes longer than the patience, in seconds.
        """
        with self._changed:
            self._waiting += 1  # so that readers do not come one after the other for ever
        try:
            await runner.call(self._wait, self._await, writes=True, patience=patience)
        finally:
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            self._leave(writes=True)

    def _enter(self, *, writes: bool) -> bool:
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

    def _wait(self, *, writes: bool, patience: float) -> None:
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._enter(writes=writes), min(patience, threading.TIMEOUT_MAX)
            ):
                raise _too_long(patience)

    async def _await(self, *, writes: bool, patience: float) -> None:
        end, pause = time.monotonic() + patience, 0.0
        while True:
            with self._changed:
                if self._enter(writes=writes):
                    return
            if time.monotonic() > end:
                raise _too_long(patience)
            await asyncio.sleep(pause)
            pause = min(pause * 2 or _SHORTEST_PAUSE, _LONGEST_PAUSE)


def _too_long(patience: float) -> StoreUnavailable:
    return StoreUnavailable(f"Somebody else has been writing for {patience:g} seconds; try again")

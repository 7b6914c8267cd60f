"""One change of a memory file at a time, from the judgement to the deed.

Several calls of one turn run side by side. Judged apart they may each be harmless and be a
secret, or the end of a file, together.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from memoryware._twins import Via, blocking
from memoryware.errors import LockTimeout

_STRIPES: Final = 64
"""Locks that all files share; two files with the same one just wait a little."""


class FileLocks:
    """Who may change a file, for threads and for tasks of an event loop."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._threads = [threading.Lock() for _ in range(_STRIPES)]
        self._tasks: weakref.WeakKeyDictionary[object, list[asyncio.Lock]] = (
            weakref.WeakKeyDictionary()
        )

    @asynccontextmanager
    async def hold(self, via: Via, path: str) -> AsyncIterator[None]:
        """Keep other calls off a file for the length of a block.

        Raises:
            LockTimeout: If another call holds it for too long.
        """
        stripe = hash(path) % _STRIPES
        if via is blocking:
            lock = self._threads[stripe]
            if not lock.acquire(timeout=self._timeout):
                raise _busy(path)
            try:
                yield
            finally:
                lock.release()
            return
        turn = self._tasks.setdefault(
            asyncio.get_running_loop(), [asyncio.Lock() for _ in range(_STRIPES)]
        )[stripe]
        try:
            await asyncio.wait_for(turn.acquire(), self._timeout)
        except TimeoutError:
            raise _busy(path) from None
        try:
            yield
        finally:
            turn.release()


def _busy(path: str) -> LockTimeout:
    message = f"'{path}' is being changed by another call that does not end; try again"
    return LockTimeout(path, message)

"""Locks of a store: a queue of threads, and a lock with many readers and one writer."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Final, TypeVar

from memoryware._runner import ASYNC, Runner
from memoryware.errors import StoreUnavailable

T = TypeVar("T")
_AGAIN: Final = 0.05
"""Seconds after which who waits looks again, should nobody have called."""


class Ticket:
    """A place in a queue."""

    __slots__ = ("call", "process", "thread")

    def __init__(self) -> None:
        self.process, self.thread = os.getpid(), threading.get_ident()
        self.call: threading.Lock | None = None
        """Given back by who leaves, if this one waits."""


class ThreadQueue:
    """A reentrant lock: a queue of threads, of which the first holds it.

    A `threading.RLock` that is taken with a timeout stays taken for ever where Ctrl-C comes
    between taking it and the `try` that would give it back, and in the child of a fork if another
    thread had it. A queue of tickets has neither trouble: leaving it is one step that may be
    repeated, and tickets of another process do not count.
    """

    def __init__(self, timeout: float, late: Callable[[], Exception]) -> None:
        self._timeout, self._late = timeout, late
        self._queue: dict[Ticket, None] = {}

    def alone(self, work: Callable[[], T]) -> T:
        """Run a unit of work while no other thread is inside.

        Raises:
            Exception: What `late` returns, if other threads take too long.
        """
        ticket = Ticket()
        try:
            try:
                self.enter(ticket)
                return work()
            finally:
                self.leave(ticket)
        except BaseException:
            self.leave(ticket)  # Ctrl-C may have come just before the first time
            raise

    def enter(self, ticket: Ticket, most: float = math.inf) -> None:
        """Wait for the turn of a ticket. Leave the queue also if this fails."""
        self._queue[ticket] = None
        if self._is_first(ticket):
            return
        ticket.call = call = threading.Lock()
        call.acquire()
        last = monotonic() + min(self._timeout, most)
        while not self._is_first(ticket):
            left = last - monotonic()
            if left <= 0:
                raise self._late()
            call.acquire(timeout=min(_AGAIN, left))

    def leave(self, ticket: Ticket) -> None:
        """Leave the queue and wake the next ticket; may be called twice."""
        self._queue.pop(ticket, None)
        for first in list(self._queue)[:1]:
            if first.call is not None:
                with suppress(RuntimeError):  # has been called already
                    first.call.release()

    def _is_first(self, ticket: Ticket) -> bool:
        for first in list(self._queue):
            if first.process != ticket.process:
                self._queue.pop(first, None)  # its thread was not taken over a fork
            else:
                return first.thread == ticket.thread
        return False


_SHORTEST_PAUSE: Final = 0.0005
_LONGEST_PAUSE: Final = 0.01
"""Seconds at most between two looks of a task whether it is its turn."""


class ReadWriteLock:
    """A lock for threads and tasks of one process, with many readers or one writer.

    A waiting task does not block its event loop.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._writes = False
        self._waiting = 0

    @asynccontextmanager
    async def reading(self, runner: Runner, patience: float) -> AsyncIterator[None]:
        """Wait until nobody writes, and keep writers out.

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
        """Wait until nobody reads or writes, and keep everybody else out.

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
            await ASYNC.sleep(pause)
            pause = min(pause * 2 or _SHORTEST_PAUSE, _LONGEST_PAUSE)


def _too_long(patience: float) -> StoreUnavailable:
    return StoreUnavailable(f"Another writer has held the lock for {patience:g} seconds; try again")

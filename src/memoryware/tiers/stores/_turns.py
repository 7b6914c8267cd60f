"""One thread at a time, and nothing left behind by one that was interrupted.

A `threading.RLock` that is taken with a timeout stays taken for ever where Ctrl-C comes between
taking it and the `try` that would give it back, and in the child of a fork if another thread
had it. A queue of tickets has neither trouble: leaving it is one step that may be repeated,
and tickets of another process do not count.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final, TypeVar

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


class Turns:
    """A queue of threads; the first is inside, and may go in once more."""

    def __init__(self, timeout: float, late: Callable[[], Exception]) -> None:
        self._timeout, self._late = timeout, late
        self._queue: dict[Ticket, None] = {}

    def alone(self, work: Callable[[], T]) -> T:
        """Return what a piece of work returns while no other thread is inside.

        Raises:
            Exception: The one that `late` makes, if others take too long.
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
        """Wait until it is the turn of a ticket; what fails here has to be left as well."""
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
        """Leave the queue, and call the next one; may be done twice."""
        self._queue.pop(ticket, None)
        for one in list(self._queue)[:1]:
            if one.call is not None:
                with suppress(RuntimeError):  # has been called already
                    one.call.release()

    def _is_first(self, ticket: Ticket) -> bool:
        for one in list(self._queue):
            if one.process != ticket.process:
                self._queue.pop(one, None)  # its thread was not taken over a fork
            else:
                return one.thread == ticket.thread
        return False

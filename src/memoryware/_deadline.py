"""Calls with a deadline, on standing worker threads.

A call into a foreign library (an embedding model, a reranker, a chat model) may hang, and Python
cannot stop a thread. So it runs on a worker thread, and its caller stops waiting at the deadline.
Starting a thread for each call took up to .5 ms of every question, so workers wait for the next
call. A worker whose call is late is out of the pool until that call ends: others get another one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Any, Final, TypeVar

T = TypeVar("T")
MOST_IDLE: Final = 8
"""Workers that wait for a call at most; further ones end with theirs."""
_NAME: Final = "memoryware-worker"

_idle: Final[list[_Worker]] = []
"""Workers that wait for a call; the last one is taken, because its memory is in the caches."""


class _Call:
    """One call: what is called, and what came of it."""

    __slots__ = ("args", "context", "error", "is_done", "result", "work")

    def __init__(self, context: Context, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.context, self.work, self.args = context, work, args
        self.result: Any = None
        self.error: BaseException | None = None
        # A plain lock: an Event or a Condition would take three of them for one call.
        self.is_done = threading.Lock()
        self.is_done.acquire()

    def run(self) -> None:
        try:
            self.result = self.context.run(self.work, *self.args)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self.error = error


class _Worker:
    """A thread that runs one call after the other.

    It is a daemon, so a call that hangs does not keep the interpreter from exiting.
    """

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        threading.Thread(target=self._serve, daemon=True, name=_NAME).start()

    def take(self, call: _Call) -> None:
        """Run a call on this worker's thread; returns at once."""
        self._calls.put(call)

    def _serve(self) -> None:
        is_wanted = True
        while is_wanted:
            call = self._calls.get()
            call.run()
            is_wanted = len(_idle) < MOST_IDLE
            if is_wanted:
                _idle.append(self)  # before the caller goes on, whose next call finds it here
            call.is_done.release()
            del call  # its texts would stay in memory until the next call


def call_within(seconds: float, work: Callable[..., T], *args: Any) -> T:
    """Return the result of a call that may take so many seconds.

    The call sees the context variables of its caller.

    Args:
        seconds: How long the caller waits.
        work: What is called, on another thread.
        args: Its arguments.

    Returns:
        What it returns.

    Raises:
        TimeoutError: If it takes longer. It goes on by itself, and its result is dropped.
    """
    call = _Call(copy_context(), work, args)
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.take(call)
    if not call.is_done.acquire(timeout=max(0.0, min(seconds, threading.TIMEOUT_MAX))):
        raise TimeoutError
    if call.error is not None:
        try:
            raise call.error
        finally:
            del call  # the traceback holds this frame, and the frame would hold the error
    result: T = call.result
    return result


def _forget_workers() -> None:
    _idle.clear()


# A forked child has none of its parent's threads: a call handed to one would never be run.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)

"""The base of all suites: both modes of a method, and workers at the same time."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ClassVar, Literal, TypeVar

import pytest

from memoryware._twins import finish

# Threads and tasks.

T = TypeVar("T")
W = TypeVar("W")


async def run_in_thread(
    work: Callable[[], T], deadline: float, until: threading.Event | None = None
) -> T:
    """Run blocking work in a thread of its own, which has no event loop.

    A thread that does not come back is left behind as a daemon: the test fails with
    a `TimeoutError` and the run goes on.

    Args:
        work: What is done.
        deadline: Seconds that it may take.
        until: Keeps the thread alive when its work is done. The system gives the number of
            a thread that has ended to the next one, which a lock would then take for its owner.
    """
    done: concurrent.futures.Future[T] = concurrent.futures.Future()
    context = contextvars.copy_context()

    def run() -> None:
        done.set_running_or_notify_cancel()
        try:
            done.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - carried to the test
            done.set_exception(error)
        if until is not None:
            until.wait(deadline)

    threading.Thread(target=run, daemon=True).start()
    async with asyncio.timeout(deadline):
        return await asyncio.wrap_future(done)


async def run_together(
    threads: dict[int, W],
    tasks: dict[int, W],
    work: Callable[[int, W], Coroutine[Any, Any, None]],
    deadline: float,
) -> None:
    """Let workers, by their numbers, begin in the same moment, as threads and as tasks.

    All of them come to an end before the first error is raised, so that none works on
    with data that the test has put away.
    """
    gate, ready = threading.Barrier(len(threads) + 1), asyncio.Event()

    def in_a_thread(me: int) -> None:
        gate.wait(deadline)
        finish(work(me, threads[me]))

    async def as_a_task(me: int) -> None:
        await ready.wait()
        await work(me, tasks[me])

    async def open_the_gate() -> None:
        await run_in_thread(lambda: gate.wait(deadline), deadline)
        ready.set()

    ends = await asyncio.gather(
        open_the_gate(),
        *(run_in_thread(partial(in_a_thread, me), deadline) for me in threads),
        *map(as_a_task, tasks),
        return_exceptions=True,
    )
    for error in ends:
        if error is not None:
            raise error


# The suite.

Mode = Literal["blocking", "native"]
"""A half of the twins: `op`, called without an event loop, or `aop`, awaited."""


class ConformanceSuite:
    """A suite whose tests cannot be replaced, run through every door."""

    modes: ClassVar[tuple[Mode, ...]] = ("blocking", "native")
    """The halves of the twins that are there; what is async only says so here."""
    deadline: ClassVar[float] = 30
    """Seconds that one call may take."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a replaced test, and mark the tests for pytest-asyncio's strict mode."""
        super().__init_subclass__(**kwargs)
        ours = [base for base in cls.__mro__[1:] if base.__module__.startswith(__package__ or "?")]
        tests = [name for base in {cls, *ours} for name in vars(base) if name.startswith("test_")]
        replaced = sorted({name for name in tests if tests.count(name) > 1})
        if not cls.modes or not {*cls.modes} <= {"blocking", "native"}:
            raise TypeError(
                f"{cls.__name__}.doors={cls.modes!r}: name 'blocking', 'native' or both"
            )
        if replaced:
            raise TypeError(f"{cls.__name__}: a conformance test cannot be replaced: {replaced}")
        for name, test in vars(cls).items():
            if name.startswith("test_") and inspect.iscoroutinefunction(test):
                pytest.mark.asyncio(test)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test that has a door through every door."""
        if "mode" in metafunc.fixturenames:
            metafunc.parametrize("mode", self.modes)

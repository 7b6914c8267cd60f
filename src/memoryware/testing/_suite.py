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

from memoryware._runner import run_blocking

# Threads and tasks.

T = TypeVar("T")
W = TypeVar("W")


async def run_in_thread(
    work: Callable[[], T], deadline: float, until: threading.Event | None = None
) -> T:
    """Run blocking work in a new thread, which has no event loop.

    A thread that exceeds the deadline is abandoned as a daemon; the test fails with a
    `TimeoutError`.

    Args:
        work: The work.
        deadline: Seconds that it may take.
        until: Keeps the thread alive after its work. The system reuses the id of a thread that
            has ended, so that a lock would take the next thread for its owner.

    Returns:
        The result of the work.
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
    """Start workers at the same moment, as threads and as tasks.

    All workers end before the first error is raised, so that none uses data of a test that has
    ended.

    Args:
        threads: Workers that run in a thread, by number.
        tasks: Workers that run as a task, by number.
        work: What each worker does, given its number and itself.
        deadline: Seconds that all of it may take.
    """
    gate, ready = threading.Barrier(len(threads) + 1), asyncio.Event()

    def in_a_thread(me: int) -> None:
        gate.wait(deadline)
        run_blocking(work(me, threads[me]))

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
"""How methods are called: `op`, in a thread without an event loop, or `aop`, awaited."""


class ConformanceSuite:
    """A suite whose tests run in every mode and cannot be overridden."""

    modes: ClassVar[tuple[Mode, ...]] = ("blocking", "native")
    """The modes to test; set it to `("native",)` for an object with async methods only."""
    deadline: ClassVar[float] = 30
    """Seconds that one call may take."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse overridden tests, and mark the tests for pytest-asyncio's strict mode."""
        super().__init_subclass__(**kwargs)
        ours = [base for base in cls.__mro__[1:] if base.__module__.startswith(__package__ or "?")]
        tests = [name for base in {cls, *ours} for name in vars(base) if name.startswith("test_")]
        replaced = sorted({name for name in tests if tests.count(name) > 1})
        if not cls.modes or not {*cls.modes} <= {"blocking", "native"}:
            raise TypeError(f"{cls.__name__}.modes={cls.modes!r}: use 'blocking', 'native' or both")
        if replaced:
            raise TypeError(f"{cls.__name__}: conformance tests cannot be overridden: {replaced}")
        for name, test in vars(cls).items():
            if name.startswith("test_") and inspect.iscoroutinefunction(test):
                pytest.mark.asyncio(test)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test with a `mode` in every mode."""
        if "mode" in metafunc.fixturenames:
            metafunc.parametrize("mode", self.modes)

"""Execution mode of an operation: driven to its end by the caller, or awaited on an event loop.

Operations of the tiers are coroutines that are written once. The blocking client drives them with
`run_blocking`; they never suspend then, because everything that they await goes through a
`Runner` or a store that does not suspend. The asynchronous client awaits the same coroutines.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Final, ParamSpec, TypeVar

__all__ = [
    "ASYNC",
    "BLOCKING",
    "OFFLOAD_CHARS",
    "AsyncRunner",
    "BlockingRunner",
    "Runner",
    "in_thread",
    "run_blocking",
]

P = ParamSpec("P")
T = TypeVar("T")

OFFLOAD_CHARS: Final = 20_000
"""Characters from which computation on texts is offloaded: it takes longer than a thread hop."""


def run_blocking(operation: Coroutine[Any, Any, T]) -> T:
    """Drive a coroutine that never suspends to its end and return its result.

    Args:
        operation: The coroutine.

    Returns:
        What the coroutine returns.

    Raises:
        RuntimeError: If it waits for an event loop.
    """
    try:
        operation.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    operation.close()
    raise RuntimeError(f"{operation!r} waited for an event loop in blocking mode")


async def in_thread(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work in a thread of the default pool and return its result."""
    import asyncio  # a third of what importing a backend would cost; whoever awaits has it

    return await asyncio.to_thread(work, *args, **kwargs)


class Runner(ABC):
    """How an operation calls what may take time: foreign libraries, computation, waiting.

    Attributes:
        suspends: Whether its coroutines may wait on the event loop. If not, they finish at once.
    """

    suspends: bool

    @abstractmethod
    async def call(
        self,
        blocking: Callable[P, T],
        asynchronous: Callable[P, Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call one of two functions of another library, such as `invoke` and `ainvoke`."""

    @abstractmethod
    async def offload(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run computation or blocking work; on an event loop it runs in a thread."""

    @abstractmethod
    async def gather(self, operations: Iterable[Coroutine[Any, Any, T]], /) -> list[T]:
        """Run operations concurrently if they can suspend, else in order; return their results."""

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Wait."""


class BlockingRunner(Runner):
    """Calls what blocks; its coroutines never suspend."""

    suspends = False

    async def call(
        self,
        blocking: Callable[P, T],
        asynchronous: Callable[P, Awaitable[T]],  # noqa: ARG002 - the other runner calls it
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        return blocking(*args, **kwargs)

    async def offload(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    async def gather(self, operations: Iterable[Coroutine[Any, Any, T]], /) -> list[T]:
        waiting = list(operations)
        try:
            return [await operation for operation in waiting]
        finally:
            for operation in waiting:
                operation.close()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - there is no loop to block


class AsyncRunner(Runner):
    """Awaits on the event loop, and keeps computation off it."""

    suspends = True

    async def call(
        self,
        blocking: Callable[P, T],  # noqa: ARG002 - the other runner calls it
        asynchronous: Callable[P, Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        return await asynchronous(*args, **kwargs)

    async def offload(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await in_thread(work, *args, **kwargs)

    async def gather(self, operations: Iterable[Coroutine[Any, Any, T]], /) -> list[T]:
        import asyncio

        return list(await asyncio.gather(*operations))

    async def sleep(self, seconds: float) -> None:
        import asyncio

        await asyncio.sleep(seconds)


BLOCKING: Final[Runner] = BlockingRunner()
ASYNC: Final[Runner] = AsyncRunner()

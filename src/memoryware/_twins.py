"""Write an operation once, offer it as `op()` and `await aop()`.

An operation that touches the outside world is one coroutine. Whatever it awaits
comes through `via`, which takes one half of a pair of twins. The blocking half
never suspends, so `finish` can drive the coroutine to its end without a loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def finish(operation: Coroutine[Any, Any, T]) -> T:
    """Run an operation that never suspends and return its result."""
    try:
        operation.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    operation.close()
    raise RuntimeError(f"{operation!r} waited for an event loop in blocking mode")


async def in_thread(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work in a thread of the default pool and return its result."""
    import asyncio  # a third of what importing a backend would cost; who awaits has it already

    return await asyncio.to_thread(work, *args, **kwargs)


class Via(Protocol):
    """Which half of a pair of twins to take. A pair shares one signature."""

    async def __call__(
        self,
        sync: Callable[P, T],
        asyn: Callable[P, Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T: ...

    async def all(self, operations: Iterable[Coroutine[Any, Any, T]], /) -> list[T]:
        """Finish operations in order: side by side if native, else one after the other."""
        ...


class _Blocking:
    async def __call__(
        self,
        sync: Callable[P, T],
        asyn: Callable[P, Awaitable[T]],  # noqa: ARG002 - the other half of the pair
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        return sync(*args, **kwargs)

    async def all(self, operations: Iterable[Coroutine[Any, Any, T]], /) -> list[T]:
        waiting = list(operations)
        try:
            return [await operation for operation in waiting]
        finally:
            for operation in waiting:
                operation.close()


class _Native:
    async def __call__(
        self,
        sync: Callable[P, T],  # noqa: ARG002 - the other half of the pair
        asyn: Callable[P, Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        return await asyn(*args, **kwargs)

    async def all(self, operations: Iterable[Coroutine[Any, Any, T]], /) -> list[T]:
        import asyncio

        return list(await asyncio.gather(*operations))


blocking: Via = _Blocking()
native: Via = _Native()

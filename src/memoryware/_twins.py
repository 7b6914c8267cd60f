"""Write an operation once, offer it as `op()` and `await aop()`.

An operation that touches the outside world is one coroutine. Whatever it awaits
comes through `via`, which takes one half of a pair of twins. The blocking half
never suspends, so `finish` can drive the coroutine to its end without a loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, ParamSpec, TypeVar

from memoryware._runner import AsyncRunner, BlockingRunner, Runner, in_thread
from memoryware._runner import run_blocking as finish

__all__ = ["Via", "blocking", "finish", "in_thread", "native"]

P = ParamSpec("P")
T = TypeVar("T")


class Via(Runner):
    """A runner that is called itself: `via(read, aread, path)`; file memory still asks so."""

    async def __call__(
        self,
        sync: Callable[P, T],
        asyn: Callable[P, Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        return await self.call(sync, asyn, *args, **kwargs)

    async def all(self, operations: Iterable[Coroutine[Any, Any, T]], /) -> list[T]:
        """Finish operations in order: side by side if native, else one after the other."""
        return await self.gather(operations)


class _Blocking(BlockingRunner, Via): ...


class _Native(AsyncRunner, Via): ...


blocking: Via = _Blocking()
native: Via = _Native()

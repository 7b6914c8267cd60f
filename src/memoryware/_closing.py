"""Context managers that close an object at the end of a `with` or `async with` block."""

from __future__ import annotations

from abc import abstractmethod
from types import TracebackType
from typing import Self


class ClosedOnExit:
    """An object with `close` and `aclose`, which the end of a block calls."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Close it. May be called twice."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close it. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

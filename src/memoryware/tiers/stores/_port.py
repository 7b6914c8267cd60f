"""What every operation in SQL asks of a database, beside SQL itself."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias

Row: TypeAlias = Sequence[Any]
Condition: TypeAlias = tuple[str, list[Any]]
"""A condition in SQL, and its values."""


class Transaction(Protocol):
    """What can be done inside a transaction. A port has its own index of words."""

    async def execute(self, sql: str, *values: object) -> Sequence[Row]: ...

    async def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None: ...

    async def index(self, seq: int, corpora: Sequence[str], words: Sequence[str]) -> None:
        """Keep the words of a memory, in place of older ones, under the names of its corpora."""
        ...

    async def unindex(self, numbers: Sequence[int]) -> None:
        """Remove the words of memories, so that nothing is left of them."""
        ...

    async def having(self, corpora: Sequence[str], word: str) -> int:
        """Return how many memories of these corpora have a word."""
        ...

    async def holding(
        self, corpora: Sequence[str], word: str, without: Sequence[str], which: Condition
    ) -> Sequence[Row]:
        """Return number and words of each memory that has a word, none of others, and fits."""
        ...


class Port(Protocol):
    """A database."""

    def transaction(self, *, writes: bool) -> AbstractAsyncContextManager[Transaction]: ...

    async def wipe(self) -> None:
        """Overwrite what was deleted where it may still lie, as far as that can be done now."""
        ...

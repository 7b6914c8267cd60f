"""The store of this process: transactions over its three tiers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware._runner import run_blocking
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores.embedded.entries import EmbeddedQuarantine, EmbeddedWorking
from memoryware.tiers.stores.embedded.memories import EmbeddedLongTerm
from memoryware.tiers.stores.protocol import (
    Choose,
    Page,
    Query,
    Searched,
    Select,
    Space,
    Store,
    Stretch,
    Tier,
    Transaction,
    Vector,
)

T = TypeVar("T")


class EmbeddedStore(SharedOnCopy, Store):
    """Keeps all tiers in this process.

    Args:
        lock_timeout: Seconds to wait for other threads.
    """

    def __init__(self, lock_timeout: float = 30.0) -> None:
        self.quarantine = EmbeddedQuarantine(lock_timeout)
        self.working = EmbeddedWorking(lock_timeout)
        self.long_term = EmbeddedLongTerm(lock_timeout)

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,  # noqa: ARG002 - writers of all groups take turns
        writes: bool = True,  # noqa: ARG002 - readers do as well
    ) -> T:
        async def run() -> T:
            return await work(_EmbeddedTransaction(self))

        def undone_on_error() -> T:
            tiers: Sequence[Any] = (self.quarantine, self.working, self.long_term)
            before = [tier.snapshot() for tier in tiers]
            try:
                return run_blocking(run())
            except BaseException:
                for tier, state in zip(tiers, before, strict=True):
                    tier.roll_back(state)
                raise

        inner = (self.working, self.quarantine)
        alone = undone_on_error
        for tier in inner:
            alone = _in_turn(tier, alone)
        return self.long_term.alone(alone)

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Stretch[Any]:
        result: Stretch[Any] = self._tier(tier).walk(mark, limit=limit)
        return result

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        result: list[Any] = self._tier(tier).load(records)
        return result

    async def purge(self, now: datetime) -> int:
        return self.working.purge(now)

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:  # noqa: ARG002
        return self.long_term.spaces()

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        self.long_term.adopt(space, drop_others=drop_others)

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return self.long_term.unembedded(space, limit=limit)

    async def close(self) -> None:
        for tier in (self.quarantine, self.working, self.long_term):
            tier.close()

    def _tier(self, tier: Tier) -> Any:
        return getattr(self, tier)


class _EmbeddedTransaction(Transaction):
    """Passes on to the tiers, which let only this thread in meanwhile."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store

    async def find(
        self,
        tier: Tier,
        which: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        result: Page[Any] = self._tier(tier).find(which, limit=limit, offset=offset, after=after)
        return result

    async def add(
        self,
        tier: Tier,
        records: Sequence[Any],
        *,
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Any]:
        if tier == "quarantine":
            return [self._tier(tier).add(entry) for entry in records]
        result: list[Any] = self._tier(tier).add(records, vectors, space)
        return result

    async def edit(self, tier: Tier, which: Select, change: Callable[[Any], Any]) -> list[Any]:
        result: list[Any] = self._tier(tier).edit(which, change)
        return result

    async def delete(self, tier: Tier, which: Select) -> int:
        result: int = self._tier(tier).delete(which)
        return result

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        self._store.working.push(entry, keep=keep, renew=renew)

    async def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        return self._store.long_term.search(query, which, choose)

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return self._store.long_term.put_vectors(vectors, space)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return self._store.long_term.vectors_of(memories, space)

    def _tier(self, tier: Tier) -> Any:
        return getattr(self._store, tier)


def _in_turn(tier: EmbeddedQuarantine | EmbeddedWorking, work: Callable[[], T]) -> Callable[[], T]:
    return lambda: tier.alone(work)

"""A store that passes on to another, and can fail, wait or count before and after each call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from memoryware.errors import StoreUnavailable
from memoryware.tiers.stores.protocol import TIERS, Store, Stores, TierHandle, Transaction

Hook = Callable[[str, str], None]
"""Called with a tier and the name of a method; with "" and "read" or "write" around transactions."""


class Hooked(Store):
    """A store with hooks around the calls of its transactions and its own."""

    def __init__(self, inner: Store, before: Hook, after: Hook) -> None:
        self.inner, self.before, self.after = inner, before, after
        self.suspends = inner.suspends

    def halves(self):
        blocking, native = self.inner.halves()
        if native is self.inner and blocking is self.inner:
            return self, self
        return (
            Hooked(blocking, self.before, self.after),
            Hooked(native, self.before, self.after),
        )

    async def transaction(self, work, *, about=None, writes=True):
        async def inside(transaction):
            return await work(_HookedTransaction(transaction, self))

        work_inside = self.inner.transaction(inside, about=about, writes=writes)
        return await self._call("", "write" if writes else "read", work_inside)

    async def walk(self, tier, mark=None, *, limit):
        return await self._call(tier, "walk", self.inner.walk(tier, mark, limit=limit))

    async def load(self, tier, records):
        return await self._call(tier, "load", self.inner.load(tier, records))

    async def purge(self, now):
        return await self._call("working", "purge", self.inner.purge(now))

    async def adopt(self, space, *, drop_others=False):
        work = self.inner.adopt(space, drop_others=drop_others)
        return await self._call("long_term", "adopt", work)

    async def unembedded(self, space, *, limit):
        work = self.inner.unembedded(space, limit=limit)
        return await self._call("long_term", "unembedded", work)

    async def close(self):
        await self.inner.close()

    async def _call(self, tier, name, work):
        try:
            self.before(tier, name)
        except BaseException:
            work.close()
            raise
        result = await work
        self.after(tier, name)
        return result


class _HookedTransaction(Transaction):
    def __init__(self, inner: Transaction, hooked: Hooked) -> None:
        self.inner, self.hooked = inner, hooked

    async def find(self, tier, which, **more):
        return await self._call(tier, "find", self.inner.find(tier, which, **more))

    async def add(self, tier, records, **more):
        return await self._call(tier, "add", self.inner.add(tier, records, **more))

    async def edit(self, tier, which, change):
        return await self._call(tier, "edit", self.inner.edit(tier, which, change))

    async def delete(self, tier, which):
        return await self._call(tier, "delete", self.inner.delete(tier, which))

    async def push(self, entry, **more):
        return await self._call("working", "push", self.inner.push(entry, **more))

    async def search(self, query, which, choose):
        return await self._call("long_term", "search", self.inner.search(query, which, choose))

    async def put_vectors(self, vectors, space):
        return await self._call("long_term", "put_vectors", self.inner.put_vectors(vectors, space))

    async def vectors_of(self, memories, space):
        return await self._call("long_term", "vectors_of", self.inner.vectors_of(memories, space))

    async def spaces(self, *, counted=True):
        return await self._call("long_term", "spaces", self.inner.spaces(counted=counted))

    async def generation(self, scope):
        return await self.inner.generation(scope)

    async def _call(self, tier, name, work):
        return await self.hooked._call(tier, name, work)


def _nothing(tier: str, name: str) -> None:
    pass


def hooked(stores: Stores, before: Hook = _nothing, after: Hook = _nothing) -> Stores:
    """Return stores with hooks; tiers that were in one store stay in one."""
    known: dict[int, Store] = {}
    handles: dict[str, Any] = {}
    for tier in TIERS:
        store = getattr(stores, tier).store
        wrapped = known.setdefault(id(store), Hooked(store, before, after))
        handles[tier] = TierHandle(wrapped, tier)
    return replace(stores, **handles)


def failing(
    stores: Stores,
    tier: str,
    *names: str,
    times: float = float("inf"),
    error: Callable[[], Exception] = lambda: StoreUnavailable("the disk is gone"),
) -> Stores:
    """Return stores of which some methods of a tier, or all, fail a number of times."""
    left = times

    def before(where: str, name: str) -> None:
        nonlocal left
        if where == tier and (not names or name in names) and left > 0:
            left -= 1
            raise error()

    return hooked(stores, before)


def redis_working(*args: Any, **more: Any) -> TierHandle:
    """Return working memory in Redis with both doors."""
    from memoryware.tiers.stores.redis import RedisWorking

    return TierHandle(RedisWorking(*args, **more), "working")

"""Working memory in Redis or Valkey, for agents on many machines.

A group has one list, `wm:{group}`, or `wm:{tenant/group}`; what could be mistaken in a name is
percent-encoded. Entries are pushed, cut to the newest and given their time in one script, so
nobody ever sees half of it. Redis 6.2 or later or any Valkey will do, without modules. In a
cluster the list of a group is in one place, and a change of several groups is made group by
group; elsewhere it happens as a whole.

What has expired is told by your clock, as in every store: it is not shown, and `purge` removes
it. Besides, the server counts for itself from the moment of each push and drops an entry when its
time and a grace are over, so nothing stays for ever because nobody purged. Two clocks are never
compared.

A push that was not answered is made once more, which does no harm. A change or a removal is
looked up first, and made again only if it was not made. How safe a confirmed entry is when
the server dies is for the server to say: with `appendonly yes` and `appendfsync always` it
is on the disk; with the usual settings the last second may be lost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware._runner import ASYNC, BLOCKING, Runner
from memoryware.errors import StoreUnavailable
from memoryware.tiers.records import Entry
from memoryware.tiers.stores._pages import Part
from memoryware.tiers.stores.protocol import Page, Select, Store, Stretch, Tier, Transaction
from memoryware.tiers.stores.redis import working
from memoryware.tiers.stores.redis.server import RedisServer
from memoryware.tiers.stores.redis.settings import RedisSettings

__all__ = ["RedisSettings", "RedisWorking"]

T = TypeVar("T")


class RedisWorking(SharedOnCopy, Store):
    """Tier 2 in Redis or Valkey.

    Args:
        url: Such as "redis://user:password@host:6379/0", "rediss://..." for TLS, or
            "unix:///path/of/the.sock"; settings may stand behind a question mark.
        settings: How to talk to it.

    Raises:
        StoreUnavailable: If it cannot be reached, does not let us in, is too old, or drops
            what it has when it is full.
        SettingError: If a setting has a value outside its range.
    """

    def __init__(self, url: str, settings: RedisSettings | None = None) -> None:
        server = RedisServer(url, settings or RedisSettings())
        self._blocking, self._native = _Half(server, BLOCKING), _Half(server, ASYNC)

    def halves(self) -> tuple[Store, Store]:
        return self._blocking, self._native

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,
        writes: bool = True,
    ) -> T:
        return await self._blocking.transaction(work, about=about, writes=writes)

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Stretch[Any]:
        return await self._blocking.walk(tier, mark, limit=limit)

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        return await self._blocking.load(tier, records)

    async def purge(self, now: datetime) -> int:
        return await self._blocking.purge(now)

    async def close(self) -> None:
        await self._blocking.close()


class _Half(Store):
    """Working memory for one kind of clients.

    Each change is one script on the server, which is a unit by itself: a transaction of several
    changes is not undone as a whole.
    """

    def __init__(self, server: RedisServer, runner: Runner) -> None:
        self._server, self.suspends = server, runner.suspends
        self._lists = working.Lists(server, runner)

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,  # noqa: ARG002 - a script is alone with its lists
        writes: bool = True,  # noqa: ARG002
    ) -> T:
        return await work(_RedisTransaction(self._lists))

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Stretch[Any]:  # noqa: ARG002
        return await working.walk(self._lists, mark, limit)

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:  # noqa: ARG002
        return await working.load(self._lists, records)

    async def purge(self, now: datetime) -> int:
        return await working.purge(self._lists, now)

    async def close(self) -> None:
        if self.suspends:
            await self._server.aclose()
        else:
            self._server.close()


class _RedisTransaction(Transaction):
    """Changes of lists, each of them at once."""

    def __init__(self, lists: working.Lists) -> None:
        self._lists = lists

    async def find(
        self,
        tier: Tier,  # noqa: ARG002 - there is but one
        which: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        return await working.find(self._lists, which, Part(limit, offset, after))

    async def add(self, *_: Any, **__: Any) -> list[Any]:
        raise StoreUnavailable("Redis keeps working memory only, which entries are pushed to")

    async def edit(self, tier: Tier, which: Select, change: Callable[[Any], Any]) -> list[Any]:  # noqa: ARG002
        return await working.edit(self._lists, which, change)

    async def delete(self, tier: Tier, which: Select) -> int:  # noqa: ARG002
        return await working.delete(self._lists, which)

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await working.push(self._lists, entry, keep, renew=renew)

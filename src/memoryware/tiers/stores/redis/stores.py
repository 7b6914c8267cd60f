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

from collections.abc import Callable, Sequence
from datetime import datetime

from memoryware._copying import SharedOnCopy
from memoryware._twins import blocking, finish, native
from memoryware.tiers.records import Entry
from memoryware.tiers.stores._pages import Part
from memoryware.tiers.stores.protocol import Page, Select, Stretch
from memoryware.tiers.stores.redis import working
from memoryware.tiers.stores.redis.server import RedisServer
from memoryware.tiers.stores.redis.settings import RedisSettings

__all__ = ["RedisSettings", "RedisWorking"]


class RedisWorking(SharedOnCopy):
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
        self._server = RedisServer(url, settings or RedisSettings())
        self._lists = working.Lists(self._server)

    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        finish(working.push(self._lists, blocking, entry, keep, renew=renew))

    async def apush(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await working.push(self._lists, native, entry, keep, renew=renew)

    def find(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[Entry]:
        return finish(working.find(self._lists, blocking, which, Part(limit, offset, after)))

    async def afind(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[Entry]:
        return await working.find(self._lists, native, which, Part(limit, offset, after))

    def edit(self, which: Select, change: Callable[[Entry], Entry]) -> list[Entry]:
        return finish(working.edit(self._lists, blocking, which, change))

    async def aedit(self, which: Select, change: Callable[[Entry], Entry]) -> list[Entry]:
        return await working.edit(self._lists, native, which, change)

    def delete(self, which: Select) -> int:
        return finish(working.delete(self._lists, blocking, which))

    async def adelete(self, which: Select) -> int:
        return await working.delete(self._lists, native, which)

    def purge(self, now: datetime) -> int:
        return finish(working.purge(self._lists, blocking, now))

    async def apurge(self, now: datetime) -> int:
        return await working.purge(self._lists, native, now)

    def walk(self, mark: str | None = None, *, limit: int) -> Stretch[Entry]:
        return finish(working.walk(self._lists, blocking, mark, limit))

    async def awalk(self, mark: str | None = None, *, limit: int) -> Stretch[Entry]:
        return await working.walk(self._lists, native, mark, limit)

    def load(self, records: Sequence[Entry]) -> list[Entry]:
        return finish(working.load(self._lists, blocking, records))

    async def aload(self, records: Sequence[Entry]) -> list[Entry]:
        return await working.load(self._lists, native, records)

    def close(self) -> None:
        self._server.close()

    async def aclose(self) -> None:
        await self._server.aclose()

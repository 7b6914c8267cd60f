"""Working memory in Redis or Valkey, for agents on many machines.

A group has one list, `wm:{group}`, or `wm:{tenant/group}`; what could be mistaken in a name is
percent-encoded. Entries are pushed, cut to the newest and given their time in one script, so
nobody ever sees half of it. Redis 6.2 or later or any Valkey will do, without modules. In a
cluster the list of a group is in one place, and a change of several groups is made group by
group; elsewhere it happens as a whole.

Expired entries are recognized by your clock, as in every store: they are not shown, and `purge`
removes them. Besides, the server counts from the moment of each push and drops an entry when its
time and a grace are over, so nothing stays for ever because nobody purged. Two clocks are never
compared.

A push that was not answered is made once more, which does no harm. A change or a removal is
looked up first, and made again only if it was not made. How safe a confirmed entry is when
the server dies is for the server to say: with `appendonly yes` and `appendfsync always` it
is on disk; with the usual settings the last second may be lost.
"""

from __future__ import annotations

import os
import random
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware._runner import ASYNC, BLOCKING, Runner
from memoryware.errors import SettingError, StoreUnavailable, StoreUnconfirmed
from memoryware.tiers.model import Entry
from memoryware.tiers.stores.codec import copies_of, copy_of
from memoryware.tiers.stores.protocol import Batch, Page, Select, Store, Tier, Transaction
from memoryware.tiers.stores.redis import _lists as lists
from memoryware.tiers.stores.redis._server import Command, RedisServer, RedisSettings
from memoryware.tiers.stores.selecting import PageRequest, is_selected, page_of, predicate_of

__all__ = ["RedisSettings", "RedisWorking"]

T = TypeVar("T")

_BATCH: Final = 100
"""Lists that one question asks for."""
_TYPICAL_LENGTH: Final = 10
"""Entries that a list has about."""
_UNLIMITED: Final = 2**31
"""So many entries that nothing is cut."""
_SHORTEST_PAUSE: Final = 0.0005
_LONGEST_PAUSE: Final = 0.02
"""Seconds at most between two attempts to change what others change as well."""


class RedisStore(Store):
    """Working memory for one kind of clients, blocking or asynchronous.

    Each change is one script on the server, which is a unit by itself: a transaction of several
    changes is not undone as a whole.
    """

    def __init__(self, server: RedisServer, runner: Runner, recent: lists.RecentLists) -> None:
        self._server, self.suspends = server, runner.suspends
        self._lists = RedisLists(server, runner, recent)

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,  # noqa: ARG002 - a script is alone with its lists
        writes: bool = True,  # noqa: ARG002
    ) -> T:
        return await work(_RedisTransaction(self._lists))

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Batch[Any]:  # noqa: ARG002
        return await self._lists.walk(mark, limit)

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:  # noqa: ARG002
        return await self._lists.load(records)

    async def purge(self, now: datetime) -> int:
        return await self._lists.purge(now)

    async def close(self) -> None:
        if self.suspends:
            await self._server.aclose()
        else:
            self._server.close()


class RedisWorking(SharedOnCopy, RedisStore):
    """Tier 2 in Redis or Valkey.

    Args:
        url: Such as "redis://user:password@host:6379/0", "rediss://..." for TLS, or
            "unix:///path/of/the.sock"; settings may follow a question mark.
        settings: How to talk to it.

    Raises:
        StoreUnavailable: If the server cannot be reached, refuses the user, is too old, or evicts
            keys when it is full.
        SettingError: If a setting has a value outside its range.
    """

    def __init__(self, url: str, settings: RedisSettings | None = None) -> None:
        server = RedisServer(url, settings or RedisSettings())
        recent = lists.RecentLists()
        super().__init__(server, BLOCKING, recent)
        self._native = RedisStore(server, ASYNC, recent)

    def halves(self) -> tuple[Store, Store]:
        return self, self._native


class _RedisTransaction(Transaction):
    """Changes of lists, each of them at once.

    What is read right after a push is what the push has left: the server has sent it along.
    """

    def __init__(self, redis_lists: RedisLists) -> None:
        self._lists = redis_lists
        self._pushed: dict[str, bytes] = {}

    async def find(
        self,
        tier: Tier,  # noqa: ARG002 - there is but one
        selection: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        return await self._lists.find(selection, PageRequest(limit, offset, after), self._pushed)

    async def add(self, *_: Any, **__: Any) -> list[Any]:
        raise StoreUnavailable(
            "Redis stores working memory only: push entries to it, nothing can be added"
        )

    async def edit(self, tier: Tier, selection: Select, change: Callable[[Any], Any]) -> list[Any]:  # noqa: ARG002
        self._pushed = {}
        return await self._lists.edit(selection, change)

    async def delete(self, tier: Tier, selection: Select) -> int:  # noqa: ARG002
        self._pushed = {}
        return await self._lists.delete(selection)

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        name, joined = await self._lists.push(entry, keep, renew=renew)
        self._pushed = {name: joined}


@dataclass(frozen=True)
class ListSnapshot:
    """A list as it was read.

    Attributes:
        name: The name of its group.
        raw: Its elements as the server has them.
        elements: Its elements taken apart.
    """

    name: str
    raw: Sequence[bytes]
    elements: Sequence[lists.Element]

    def has_mark(self, mark: str) -> bool:
        """Return whether one of its elements was written under a mark."""
        return any(element.mark == mark for element in self.elements)


@dataclass
class ListChange:
    """A change of a list, which is made only while the list is as it was read.

    Attributes:
        snapshot: The list as it was read.
        operations: The arguments of `SWAP` for each element that changes.
        changed: The entries as they will be, with their numbers.
        expiries: When they expire.
    """

    snapshot: ListSnapshot
    operations: list[tuple[str | int, ...]] = field(default_factory=list)
    changed: list[tuple[int, Entry]] = field(default_factory=list)
    expiries: list[str] = field(default_factory=list)


Plan = Callable[[ListSnapshot], ListChange]
"""Computes the change of a list; it runs again if others have changed the list meanwhile."""


class RedisLists:
    """The lists of all groups on one server, and two indexes of them.

    `groups` has the name of every group, in order, so that those of a tenant are neighbours;
    `expiry` has them by when their first entry expires, or earlier. A name without a list does no
    harm and goes with the next purge; a list without its name never stays: names are added before
    a list is written, and once more behind it.
    """

    def __init__(self, server: RedisServer, runner: Runner, recent: lists.RecentLists) -> None:
        self._server, self._runner, self._recent = server, runner, recent

    async def push(self, entry: Entry, keep: int, *, renew: bool) -> tuple[str, bytes]:
        """Put an entry first in the list of its group.

        Args:
            entry: The entry.
            keep: How many entries of the group stay.
            renew: Let all entries of the group expire when this one does.

        Returns:
            The name of the group, and its list as it is now.
        """
        name = lists.name_of(entry.scope.tenant, entry.scope.group_id)
        expires = lists.micros_of(entry.expires_at)
        lifetime = lists.lifetime_of(entry, self._server.settings.grace)
        payload = lists.payload_of(entry, _new_mark())
        values = (keep, int(renew), lists.id_of(entry), expires, lifetime, payload)
        index = self.index_commands(name, expires)
        run = lists.PUSH.on(self._key(name), values=values)
        answers = await self._ask(self._indexed(run, index), together=True)
        return name, answers[len(index)]

    async def find(
        self, selection: Select, part: PageRequest, pushed: Mapping[str, bytes] | None = None
    ) -> Page[Entry]:
        """Return a page of the entries that fit, newest first.

        Args:
            selection: What they fit.
            part: The page.
            pushed: Lists that were read already, by their names.
        """
        with _reading():
            snapshots = await self._read(await self._names(selection), pushed)
        is_fitting = predicate_of(selection)
        fitting = [
            (_number_of(snapshot.name, element), element.entry)
            for snapshot in snapshots
            for element in snapshot.elements
            if is_fitting(element.entry)
        ]
        page = page_of(_newest_first(fitting), part)
        return replace(page, items=copies_of(page.items))

    async def edit(self, selection: Select, change: Callable[[Entry], Entry]) -> list[Entry]:
        """Change the entries that fit: all of them or none, in a cluster group by group."""
        mark, grace = _new_mark(), self._server.settings.grace

        def plan(snapshot: ListSnapshot) -> ListChange:
            planned = ListChange(snapshot)
            for position, element in enumerate(snapshot.elements):
                if not is_selected(element.entry, selection):
                    continue
                new = change(copy_of(element.entry))
                if new == element.entry:
                    continue
                expires = lists.micros_of(new.expires_at)
                lifetime = lists.lifetime_of(new, grace)
                is_same_time = expires == element.expires
                deadline = element.deadline if is_same_time else lifetime and f"+{lifetime}"
                before = f"1|{element.seq}|{expires}"
                planned.operations.append((position, before, deadline, lists.payload_of(new, mark)))
                planned.changed.append((element.seq, new))
                planned.expiries.append(expires)
            return planned

        applied = await self._change(selection, plan, mark)
        changed = _newest_first([pair for change_ in applied for pair in change_.changed])
        return [entry for _, entry in changed]

    async def delete(self, selection: Select) -> int:
        """Remove the entries that fit: all of them at once, in a cluster group by group."""

        def plan(snapshot: ListSnapshot) -> ListChange:
            elements = enumerate(snapshot.elements)
            fitting = [
                position for position, element in elements if is_selected(element.entry, selection)
            ]
            return ListChange(snapshot, [(position, "", "", "") for position in fitting])

        applied = await self._change(selection, plan, _new_mark())
        return sum(len(change.operations) for change in applied)

    async def purge(self, now: datetime) -> int:
        """Remove what has expired, in all groups."""
        purged, moment = 0, lists.micros_of(now)
        due: Command = ("ZRANGEBYSCORE", self._expiry, "-inf", moment, "LIMIT", 0, _BATCH)
        while True:
            (raw,) = await self._ask([due])
            names = [name.decode() for name in raw]
            if not names:
                return purged
            # A push writes its list before its name: either it is seen here, or it lowers the
            # score again.
            commands: list[Command] = []
            for name in names:
                commands.append(("ZADD", self._expiry, "XX", "+inf", name))
                commands.append(lists.PURGE.on(self._key(name), values=[moment]))
            answers = (await self._ask(commands))[1::2]
            purged += sum(answer[0] for answer in answers)
            self._recent.drop(names)
            await self._update_indexes(
                [(name, left, first) for name, (_, left, first) in zip(names, answers, strict=True)]
            )

    async def walk(self, mark: str | None, limit: int) -> Batch[Entry]:
        """Return the lists of some groups, in the order of their names, behind that of the mark."""
        most = max(1, limit // _TYPICAL_LENGTH)
        if not str(mark).isascii():
            raise SettingError(f"mark={mark!r} is not one that this store has returned")
        first = "-" if mark is None else f"({mark}"
        with _reading():
            (raw,) = await self._ask([("ZRANGEBYLEX", self._groups, first, "+", "LIMIT", 0, most)])
            names = [name.decode() for name in raw]
            snapshots = await self._read(names)
        entries = [
            element.entry for snapshot in snapshots for element in reversed(snapshot.elements)
        ]
        return Batch(copies_of(entries), names[-1] if len(names) == most else None)

    async def load(self, entries: Sequence[Entry]) -> list[Entry]:
        """Store entries as they are, one after the other; return those that were not there so."""
        by_name: dict[str, dict[str, Entry]] = {}
        for entry in entries:
            name = lists.name_of(entry.scope.tenant, entry.scope.group_id)
            by_name.setdefault(name, {})[entry.id] = entry
        loaded = []
        for snapshot in await self._read(list(by_name)):
            by_id = by_name[snapshot.name]
            stored = {element.entry.id: element.entry for element in snapshot.elements}
            differing = {key: new for key, new in by_id.items() if stored.get(key, new) != new}
            for entry in differing.values():
                selection = Select.within(entry.scope, ids=(entry.id,))
                await self.edit(selection, lambda old: differing.get(old.id, old))  # noqa: B023
            new_entries = [entry for key, entry in by_id.items() if key not in stored]
            for entry in new_entries:
                await self.push(entry, _UNLIMITED, renew=False)
            loaded += [*new_entries, *differing.values()]
        return loaded

    # Keys and indexes.

    def _key(self, name: str) -> str:
        return lists.key_of(self._server.settings.prefix, name)

    @property
    def _groups(self) -> str:
        return f"{self._server.settings.prefix}groups"

    @property
    def _expiry(self) -> str:
        return f"{self._server.settings.prefix}expiry"

    def index_commands(self, name: str, expires: str) -> list[Command]:
        """Return the commands that add a name to the indexes; one that is due earlier stays so."""
        due = ("ZADD", self._expiry, "LT", expires or "+inf", name)
        return [("ZADD", self._groups, 0, name), due]

    async def _update_indexes(self, left: Iterable[tuple[str, int, bytes]]) -> None:
        """Correct the indexes of some groups.

        Args:
            left: The name of each group, how many entries it has left, and when the first of
                them expires.
        """
        commands: list[Command] = []
        empty = []
        for name, count, first in left:
            if not count:
                empty.append(name)
            elif first:
                commands.append(("ZADD", self._expiry, "LT", first.decode(), name))
        if empty:
            commands += [("ZREM", self._groups, *empty), ("ZREM", self._expiry, *empty)]
        if commands:
            await self._ask(commands)
        if not empty:
            return
        # Others may have begun one of these lists anew in between.
        exists = await self._ask([("EXISTS", self._key(name)) for name in empty])
        begun = [name for name, is_there in zip(empty, exists, strict=True) if is_there]
        # When the first of them expires is not known: look at them at the next purge.
        if again := [command for name in begun for command in self.index_commands(name, "-inf")]:
            await self._ask(again)

    async def _names(self, selection: Select) -> list[str]:
        """Return the names of the groups that a selection looks at."""
        if selection.groups is not None:
            return [
                lists.name_of(selection.tenant, group) for group in dict.fromkeys(selection.groups)
            ]
        if selection.tenant is None:  # a name with a slash is one of a tenant
            (raw,) = await self._ask([("ZRANGEBYLEX", self._groups, "-", "+")])
            return [text for name in raw if "/" not in (text := name.decode())]
        first = lists.name_of(selection.tenant, None)
        behind = f"({first[:-1]}0"  # "0" follows "/"
        (raw,) = await self._ask([("ZRANGEBYLEX", self._groups, f"[{first}", behind)])
        return [name.decode() for name in raw]

    async def _read(
        self, names: Sequence[str], pushed: Mapping[str, bytes] | None = None
    ) -> list[ListSnapshot]:
        begun, recent = self._recent.begin(), self._recent
        joined = dict(pushed or {})
        missing = [name for name in names if name not in joined]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            commands = [lists.READ.on(self._key(name)) for name in batch]
            answers = await self._ask(commands, together=True)
            joined |= zip(batch, answers, strict=True)
        contents = {name: recent.content_of(name, joined[name], begun) for name in names}
        return [
            ListSnapshot(name, content.raw, content.elements) for name, content in contents.items()
        ]

    def _indexed(self, run: Command, index: Sequence[Command]) -> list[Command]:
        """Return the commands that run a script, with those of the indexes around it.

        In a cluster the indexes are in other places than the list, and others are served in
        between.
        """
        return [*index, run, *(index if self._server.is_cluster else ())]

    async def _ask(
        self, commands: Sequence[Command], *, together: bool = False, again: bool = True
    ) -> list[Any]:
        return await self._server.ask(self._runner, commands, together=together, again=again)

    # Optimistic changes: read the lists, and swap their elements if nobody has changed them.

    async def _change(self, selection: Select, plan: Plan, mark: str) -> list[ListChange]:
        """Change lists while they are as they were read; read anew what others have changed."""
        with _reading():
            names = await self._names(selection)
        applied, unsure = list[ListChange](), list[ListChange]()
        patience = self._server.settings.lock_timeout
        end, longest = time.monotonic() + patience, _SHORTEST_PAUSE
        refused: dict[str, ListChange] = {}
        while True:
            with nullcontext() if unsure else _reading():
                snapshots = await self._read(names)
            unsure = [change for change in unsure if change.snapshot.name in names]
            confirmed = unsure if unsure and _was_applied(unsure, snapshots, mark) else []
            # The client of a cluster may ask twice by itself; the second answer is a refusal then.
            confirmed = confirmed or [
                refused[snapshot.name]
                for snapshot in snapshots
                if snapshot.name in refused and snapshot.has_mark(mark)
            ]
            applied, names = applied + confirmed, _without(names, confirmed)
            planned = [plan(snapshot) for snapshot in snapshots if snapshot.name in names]
            changes = [change for change in planned if change.operations]
            is_cluster = self._server.is_cluster
            units = [[change] for change in changes] if is_cluster else [changes] if changes else []
            waiting = False
            for unit in units:
                try:
                    swapped = await self._swap(unit)
                except StoreUnconfirmed:
                    if unsure:
                        raise
                    unsure, swapped = unit, False
                if swapped:
                    applied, names = applied + unit, _without(names, unit)
                elif is_cluster:
                    refused[unit[0].snapshot.name] = unit[0]
                waiting = waiting or not swapped
            if not waiting:
                return applied
            if time.monotonic() > end:
                raise StoreUnavailable(
                    f"Others have been changing the same entries for {patience:g} seconds;"
                    " try again"
                )
            await self._runner.sleep(random.uniform(0, longest))  # noqa: S311 - no secret
            longest = min(longest * 2, _LONGEST_PAUSE)

    async def _swap(self, changes: Sequence[ListChange]) -> bool:
        """Change some lists at once; return False if one of them is no longer as it was read."""
        values: list[str | int] = [lists.digest_of(change.snapshot.raw) for change in changes]
        for change in changes:
            words = [word for operation in change.operations for word in operation]
            values += [len(change.operations), *words]
        due: list[Command] = [
            ("ZADD", self._expiry, "LT", expires, change.snapshot.name)
            for change in changes
            for expires in change.expiries
            if expires
        ]
        keys = [self._key(change.snapshot.name) for change in changes]
        run = lists.SWAP.on(*keys, values=values)
        commands = self._indexed(run, due)
        answers = (await self._ask(commands, together=True, again=False))[len(due)]
        if answers is None:
            return False
        self._recent.drop([change.snapshot.name for change in changes])
        await self._update_indexes(
            [
                (change.snapshot.name, 0, b"")
                for change, answer in zip(changes, answers, strict=True)
                if not answer[0]
            ]
        )
        return True


@contextmanager
def _reading() -> Iterator[None]:
    """Where nothing is changed, a missing answer leaves no doubt: raise `StoreUnavailable`."""
    try:
        yield
    except StoreUnconfirmed as error:
        raise StoreUnavailable(str(error)) from error


def _was_applied(
    unsure: Sequence[ListChange], snapshots: Sequence[ListSnapshot], mark: str
) -> bool:
    """Return whether a change was made that the server has not confirmed.

    Raises:
        StoreUnconfirmed: If that cannot be seen, because others have changed the same since.
    """
    now = {snapshot.name: snapshot for snapshot in snapshots}
    before = [
        (now[change.snapshot.name], change.snapshot.raw[int(operation[0])])
        for change in unsure
        for operation in change.operations
    ]
    if all(raw in snapshot.raw for snapshot, raw in before):
        return False
    is_removal = not any(change.changed for change in unsure)
    if is_removal and not any(raw in snapshot.raw for snapshot, raw in before):
        return True
    if any(now[change.snapshot.name].has_mark(mark) for change in unsure):
        return True
    raise StoreUnconfirmed(
        "Redis did not confirm a change, and others have changed the same since: read the"
        " entries before you repeat it"
    )


def _without(names: Sequence[str], changes: Sequence[ListChange]) -> list[str]:
    changed = {change.snapshot.name for change in changes}
    return [name for name in names if name not in changed]


def _newest_first(numbered: list[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
    return sorted(numbered, key=lambda pair: -pair[0])


def _number_of(name: str, element: lists.Element) -> int:
    """Return the number of an entry among those of all lists, where two may have one moment."""
    return element.seq << 32 | zlib.crc32(name.encode())


def _new_mark() -> str:
    return os.urandom(8).hex()

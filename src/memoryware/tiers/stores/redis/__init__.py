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

import os
import random
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware._runner import ASYNC, BLOCKING, Runner
from memoryware.errors import SettingError, StoreUnavailable, StoreUnconfirmed
from memoryware.tiers.model import Entry
from memoryware.tiers.stores.protocol import Page, Select, Store, Stretch, Tier, Transaction
from memoryware.tiers.stores.redis import lists
from memoryware.tiers.stores.redis.server import Command, RedisServer, RedisSettings
from memoryware.tiers.stores.selecting import Part, fits, page_of

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
        self._lists = Lists(server, runner)

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,  # noqa: ARG002 - a script is alone with its lists
        writes: bool = True,  # noqa: ARG002
    ) -> T:
        return await work(_RedisTransaction(self._lists))

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Stretch[Any]:  # noqa: ARG002
        return await walk(self._lists, mark, limit)

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:  # noqa: ARG002
        return await load(self._lists, records)

    async def purge(self, now: datetime) -> int:
        return await purge(self._lists, now)

    async def close(self) -> None:
        if self.suspends:
            await self._server.aclose()
        else:
            self._server.close()


class _RedisTransaction(Transaction):
    """Changes of lists, each of them at once."""

    def __init__(self, lists: Lists) -> None:
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
        return await find(self._lists, which, Part(limit, offset, after))

    async def add(self, *_: Any, **__: Any) -> list[Any]:
        raise StoreUnavailable("Redis keeps working memory only, which entries are pushed to")

    async def edit(self, tier: Tier, which: Select, change: Callable[[Any], Any]) -> list[Any]:  # noqa: ARG002
        return await edit(self._lists, which, change)

    async def delete(self, tier: Tier, which: Select) -> int:  # noqa: ARG002
        return await delete(self._lists, which)

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await push(self._lists, entry, keep, renew=renew)


# Operations.


Change = Callable[[Entry], Entry]

_AT_ONCE: Final = 100
"""Lists that one question asks for."""
_IN_A_LIST: Final = 10
"""Entries that a list has about."""
_ALL: Final = 2**31
"""So many entries that nothing is cut."""
_SHORTEST_PAUSE: Final = 0.0005
_LONGEST_PAUSE: Final = 0.02
"""Seconds at most between two attempts to change what others change as well."""


@dataclass(frozen=True)
class Lists:
    """The lists of all groups on one server, and two indexes of them.

    `groups` has the name of every group, in order, so that those of a tenant stand together;
    `expiry` has them by when their first entry expires, or earlier. A name that has no list
    anymore does no harm and goes with the next purge; a list without its name never stays:
    names are put in before a list and again behind it.
    """

    server: RedisServer
    runner: Runner

    def key(self, name: str) -> str:
        return lists.key_of(self.server.settings.prefix, name)

    @property
    def groups(self) -> str:
        return f"{self.server.settings.prefix}groups"

    @property
    def expiry(self) -> str:
        return f"{self.server.settings.prefix}expiry"

    def named(self, name: str, expires: str) -> list[Command]:
        """Return the commands that put a name into the indexes; one that is early stays so."""
        due = ("ZADD", self.expiry, "LT", expires or "+inf", name)
        return [("ZADD", self.groups, 0, name), due]

    def unnamed(self, names: Sequence[str]) -> list[Command]:
        """Return the commands that take names out of the indexes."""
        return [("ZREM", self.groups, *names), ("ZREM", self.expiry, *names)] if names else []


@dataclass(frozen=True)
class _Seen:
    """A list as it was seen."""

    name: str
    raw: Sequence[bytes]
    elements: Sequence[lists.Element]

    def has(self, mark: str) -> bool:
        """Say whether something in it was written under a mark."""
        return any(one.mark == mark for one in self.elements)


@dataclass
class _Plan:
    """What is to be done to a list.

    Attributes:
        seen: The list for which it was made.
        ops: The words of each change.
        changed: The entries as they will be, with their numbers.
        expiries: When they expire.
    """

    seen: _Seen
    ops: list[tuple[str | int, ...]] = field(default_factory=list)
    changed: list[tuple[int, Entry]] = field(default_factory=list)
    expiries: list[str] = field(default_factory=list)


async def push(of: Lists, entry: Entry, keep: int, *, renew: bool) -> None:
    """Put an entry first in the list of its group."""
    name = lists.name_of(entry.scope.tenant, entry.scope.group_id)
    expires = lists.micros_of(entry.expires_at)
    life = lists.life_of(entry, of.server.settings.grace)
    written = lists.written_of(entry, _mark())
    values = (keep, int(renew), lists.id_of(entry), expires, life, written)
    indexed = of.named(name, expires)
    run = lists.PUSH.on(of.key(name), values=values)
    await of.server.ask(of.runner, [*indexed, run, *indexed], together=True)


async def find(of: Lists, which: Select, part: Part) -> Page[Entry]:
    """Return a page of what fits, what was stored last first."""
    with _asking():
        read = await _read(of, await _names(of, which))
    found = [
        (_number(seen.name, one), one.entry)
        for seen in read
        for one in seen.elements
        if fits(one.entry, which)
    ]
    return page_of(_newest_first(found), part)


async def edit(of: Lists, which: Select, change: Change) -> list[Entry]:
    """Change what fits; in a cluster group by group, else all of it or nothing."""
    mark, grace = _mark(), of.server.settings.grace

    def plan(seen: _Seen) -> _Plan:
        made = _Plan(seen)
        for place, one in enumerate(seen.elements):
            if not fits(one.entry, which):
                continue
            new = change(lists.element_of(seen.raw[place]).entry)
            if new == one.entry:
                continue
            expires = lists.micros_of(new.expires_at)
            same = expires == one.expires
            life = lists.life_of(new, grace)
            deadline = one.deadline if same else life and f"+{life}"
            before = f"1|{one.seq}|{expires}"
            made.ops.append((place, before, deadline, lists.written_of(new, mark)))
            made.changed.append((one.seq, new))
            made.expiries.append(expires)
        return made

    done = await _swapped(of, which, plan, mark)
    changed = _newest_first([both for one in done for both in one.changed])
    return [entry for _, entry in changed]


async def delete(of: Lists, which: Select) -> int:
    """Remove what fits; in a cluster group by group, else all of it at once."""

    def plan(seen: _Seen) -> _Plan:
        fitting = [n for n, one in enumerate(seen.elements) if fits(one.entry, which)]
        return _Plan(seen, [(place, "", "", "") for place in fitting])

    done = await _swapped(of, which, plan, _mark())
    return sum(len(one.ops) for one in done)


async def purge(of: Lists, now: datetime) -> int:
    """Remove what has expired, in all groups."""
    gone, moment = 0, lists.micros_of(now)
    asked: Command = ("ZRANGEBYSCORE", of.expiry, "-inf", moment, "LIMIT", 0, _AT_ONCE)
    while True:
        (raw,) = await of.server.ask(of.runner, [asked])
        names = [_text(one) for one in raw]
        if not names:
            return gone
        # A push puts its list before its name: either it is seen here, or it lowers the score.
        commands: list[Command] = []
        for name in names:
            commands.append(("ZADD", of.expiry, "XX", "+inf", name))
            commands.append(lists.PURGE.on(of.key(name), values=[moment]))
        answers = (await of.server.ask(of.runner, commands))[1::2]
        gone += sum(answer[0] for answer in answers)
        await _settled(of, [(n, a[1], a[2]) for n, a in zip(names, answers, strict=True)])


async def walk(of: Lists, mark: str | None, limit: int) -> Stretch[Entry]:
    """Return the lists of some groups, in the order of their names, behind that of the mark."""
    most = max(1, limit // _IN_A_LIST)
    if not str(mark).isascii():
        raise SettingError(f"mark={mark!r} is not one that this store has returned")
    first = "-" if mark is None else f"({mark}"
    asked: Command = ("ZRANGEBYLEX", of.groups, first, "+", "LIMIT", 0, most)
    with _asking():
        (raw,) = await of.server.ask(of.runner, [asked])
        names = [_text(one) for one in raw]
        seen = await _read(of, names)
    entries = [one.entry for some in seen for one in reversed(some.elements)]
    return Stretch(entries, names[-1] if len(names) == most else None)


async def load(of: Lists, entries: Sequence[Entry]) -> list[Entry]:
    """Keep entries as they are, one after the other; return those that were not there so."""
    of_names: dict[str, dict[str, Entry]] = {}
    for one in entries:
        name = lists.name_of(one.scope.tenant, one.scope.group_id)
        of_names.setdefault(name, {})[one.id] = one
    kept = []
    for seen in await _read(of, list(of_names)):
        mine, there = of_names[seen.name], {one.entry.id: one.entry for one in seen.elements}
        differing = {id_: one for id_, one in mine.items() if there.get(id_, one) != one}
        new = [one for id_, one in mine.items() if id_ not in there]
        for one in differing.values():
            which = Select.within(one.scope, ids=(one.id,))
            await edit(of, which, lambda old: differing.get(old.id, old))  # noqa: B023
        for one in new:
            await push(of, one, _ALL, renew=False)
        kept += [*new, *differing.values()]
    return kept


# Names and lists.


@contextmanager
def _asking() -> Iterator[None]:
    """Where nothing is changed, no answer leaves no doubt."""
    try:
        yield
    except StoreUnconfirmed as error:
        raise StoreUnavailable(str(error)) from error


async def _names(of: Lists, which: Select) -> list[str]:
    """Return the names of the groups that a selection looks at."""
    if which.groups is not None:
        return [lists.name_of(which.tenant, one) for one in dict.fromkeys(which.groups)]
    if which.tenant is None:  # a name with a slash is one of a tenant
        (raw,) = await of.server.ask(of.runner, [("ZRANGEBYLEX", of.groups, "-", "+")])
        return [name for name in map(_text, raw) if "/" not in name]
    first = lists.name_of(which.tenant, None)
    asked = ("ZRANGEBYLEX", of.groups, f"[{first}", f"({first[:-1]}0")  # "0" follows "/"
    (raw,) = await of.server.ask(of.runner, [asked])
    return [_text(one) for one in raw]


async def _read(of: Lists, names: Sequence[str]) -> list[_Seen]:
    found = []
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        asked: list[Command] = [("LRANGE", of.key(name), 0, -1) for name in some]
        for name, raw in zip(
            some, await of.server.ask(of.runner, asked, together=True), strict=True
        ):
            found.append(_Seen(name, raw, [lists.element_of(one) for one in raw]))
    return found


async def _settled(of: Lists, left: Iterable[tuple[str, int, bytes]]) -> None:
    """Put right what the indexes say of some groups, of which so much is left until then."""
    commands: list[Command] = []
    empty = []
    for name, count, first in left:
        if not count:
            empty.append(name)
        elif first:
            commands.append(("ZADD", of.expiry, "LT", _text(first), name))
    commands += of.unnamed(empty)
    if commands:
        await of.server.ask(of.runner, commands)
    if empty:  # somebody may have begun one of these lists anew in between
        there = await of.server.ask(of.runner, [("EXISTS", of.key(name)) for name in empty])
        again = [name for name, is_there in zip(empty, there, strict=True) if is_there]
        # When the first of them expires is not known: look at them at the next purge.
        commands = [one for name in again for one in of.named(name, "-inf")]
        if commands:
            await of.server.ask(of.runner, commands)


# Changing what was seen.


async def _swapped(
    of: Lists, which: Select, plan: Callable[[_Seen], _Plan], mark: str
) -> list[_Plan]:
    """Change lists while they are as they were seen; what others changed is seen anew."""
    with _asking():
        names = await _names(of, which)
    done, unsure = list[_Plan](), list[_Plan]()
    patience = of.server.settings.lock_timeout
    end, longest = time.monotonic() + patience, _SHORTEST_PAUSE
    refused: dict[str, _Plan] = {}
    while True:
        with nullcontext() if unsure else _asking():
            seen = await _read(of, names)
        unsure = [one for one in unsure if one.seen.name in names]
        found = unsure if unsure and _was_done(unsure, seen, mark) else []
        # The client of a cluster may ask twice by itself; the second answer is a refusal then.
        found = found or [
            refused[one.name] for one in seen if one.name in refused and one.has(mark)
        ]
        done, names = done + found, _without(names, found)
        seen = [one for one in seen if one.name in names]
        plans = [one for one in map(plan, seen) if one.ops]
        units = [[one] for one in plans] if of.server.is_cluster else [plans] if plans else []
        waiting = False
        for some in units:
            try:
                swapped = await _swap(of, some)
            except StoreUnconfirmed:
                if unsure:
                    raise
                unsure, swapped = some, False
            if swapped:
                done, names = done + some, _without(names, some)
            elif of.server.is_cluster:
                refused[some[0].seen.name] = some[0]
            waiting = waiting or not swapped
        if not waiting:
            return done
        if time.monotonic() > end:
            raise StoreUnavailable(
                f"Others have been changing the same entries for {patience:g} seconds; try again"
            )
        await of.runner.sleep(random.uniform(0, longest))  # noqa: S311 - no secret
        longest = min(longest * 2, _LONGEST_PAUSE)


async def _swap(of: Lists, plans: Sequence[_Plan]) -> bool:
    """Change some lists at once; say whether all of them still were what was seen."""
    values: list[str | int] = [lists.digest_of(one.seen.raw) for one in plans]
    for one in plans:
        values += [len(one.ops), *(word for op in one.ops for word in op)]
    due = [
        ("ZADD", of.expiry, "LT", expires, one.seen.name)
        for one in plans
        for expires in one.expiries
        if expires
    ]
    run = lists.SWAP.on(*(of.key(one.seen.name) for one in plans), values=values)
    replies = await of.server.ask(of.runner, [*due, run, *due], together=True, again=False)
    answers = replies[len(due)]
    if answers is None:
        return False
    left = zip(plans, answers, strict=True)
    await _settled(of, [(one.seen.name, 0, b"") for one, answer in left if not answer[0]])
    return True


def _was_done(unsure: Sequence[_Plan], seen: Sequence[_Seen], mark: str) -> bool:
    """Say whether a change was made that nobody confirmed.

    Raises:
        StoreUnconfirmed: If that cannot be seen, as somebody else has changed the same since.
    """
    now = {one.name: one for one in seen}
    before = [(now[one.seen.name], one.seen.raw[int(op[0])]) for one in unsure for op in one.ops]
    if all(raw in one.raw for one, raw in before):
        return False
    is_removal = not any(one.changed for one in unsure)
    if is_removal and not any(raw in one.raw for one, raw in before):
        return True
    if any(now[plan.seen.name].has(mark) for plan in unsure):
        return True
    raise StoreUnconfirmed(
        "Redis did not say whether it made a change, and others have made more since"
    )


def _without(names: Sequence[str], plans: Sequence[_Plan]) -> list[str]:
    changed = {one.seen.name for one in plans}
    return [one for one in names if one not in changed]


def _newest_first(found: list[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
    return sorted(found, key=lambda both: -both[0])


def _number(name: str, one: lists.Element) -> int:
    """Return the number of an entry among those of all lists, where two may have one moment."""
    return one.seq << 32 | zlib.crc32(name.encode())


def _mark() -> str:
    return os.urandom(8).hex()


def _text(raw: bytes) -> str:
    return raw.decode()

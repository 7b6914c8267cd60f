"""Working memory in Redis with one fault each, which the suite of its tier has to notice."""

from __future__ import annotations

import asyncio
import inspect
import os
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from conformance.store_players import tests_of
from hooked import redis_working
from memoryware.testing import WorkingStoreConformance
from memoryware.testing._store import StoreProxy
from memoryware.tiers.stores.protocol import TierHandle
from memoryware.tiers.stores.redis import RedisSettings
from memoryware.tiers.stores.redis import _lists as lists
from memoryware.tiers.stores.redis import _store as redis_store
from memoryware.tiers.stores.redis._server import RedisServer, Script
from memoryware.tiers.stores.redis._store import ListChange, RedisLists

SCRIPTS: dict[str, tuple[str, str, str]] = {
    "keeps the old one beside the new": ("PUSH", "of == id or (", "("),
    "puts an entry last": ("PUSH", "'LPUSH'", "'RPUSH'"),
    "keeps one too many": ("PUSH", "0, keep - 1)", "0, keep)"),
    "cuts nothing": ("PUSH", "redis.call('LTRIM', key, 0, keep - 1)", "redis.call('PING')"),
    "never renews": ("PUSH", "if renew then", "if false then"),
    "renews always": ("PUSH", "if renew then", "if true then"),
    "numbers anew in each list": ("PUSH", "local seq = time[1] * 1000000 + time[2]", "local seq = 1"),
    "changes what is no longer what was seen": ("SWAP", "~= take() then", "== take() .. 'x' then"),
    "changes the next one": ("SWAP", "key, place, table", "key, place + 1, table"),
    "removes nothing": ("SWAP", "if gone > 0 then", "if false then"),
    "purges a moment later": ("PURGE", "<= moment", "< moment"),
    "purges what never expires": ("PURGE", "expires ~= '' and tonumber(expires) <= moment", "true"),
    "counts no purges": ("PURGE", "return {gone,", "return {0,"),
    "says that nothing is left to purge": ("PURGE", "answer[1], answer[2]", "answer[1], ''"),
    "drops by our clock": ("PUSH", "tonumber(ends) <= now", "tonumber(expires or 0) > 1"),
    "lets lists go at once": ("PUSH", "return settle(key)", "settle(key); redis.call('PEXPIRE', key, 1)"),
}  # fmt: skip
"""A script, what stands in it, and what stands there instead."""


@contextmanager
def wrong_script(name: str, right: str, wrong: str):
    script = getattr(lists, name)
    assert script.text.count(right) == 1, f"{right!r} stands {script.text.count(right)} times"
    with patch.object(lists, name, Script(script.text.replace(right, wrong))):
        yield


def _named(tenant, group):
    return f"{tenant}/{group}"


def _folded(tenant, group, was=lists.name_of):
    return was(tenant, group).casefold()


async def _blind(of, changes, was=RedisLists._swap):
    """Says that a change was made whether it was or not."""
    await was(of, changes)
    return True


async def _one_by_one(of, changes, was=RedisLists._swap):
    """Changes one entry after the other, so that others see a part of it."""
    if len(changes) == 1 and changes[0].changed and len(changes[0].operations) > 1:
        whole = changes[0]
        operations = whole.operations
        whole.operations = operations[:1]
        if not await was(of, changes):
            whole.operations = operations
            return False
        (now,) = await of._read([whole.snapshot.name])
        rest = ListChange(now, operations[1:], whole.changed[1:], whole.expiries[1:])
        await was(of, [rest])
        return True
    return await was(of, changes)


async def _no_index(of, which, was=RedisLists._names):
    """Knows no group that was not named."""
    return [] if which.groups is None else await was(of, which)


CODE: dict[str, tuple[Any, str, Any]] = {
    "mixes up None and its name": (lists, "name_of", _named),
    "mixes up cases": (lists, "name_of", _folded),
    "changes blindly": (RedisLists, "_swap", _blind),
    "changes one after the other": (RedisLists, "_swap", _one_by_one),
    "never notes when something expires": (
        RedisLists,
        "index_commands",
        lambda of, name, expires: [("ZADD", of._groups, 0, name)],
    ),
    "notes no groups": (
        RedisLists,
        "index_commands",
        lambda of, name, expires: [("ZADD", of._expiry, "LT", expires or "+inf", name)],
    ),
    "finds only groups that are named": (RedisLists, "_names", _no_index),
    "sorts by nothing": (
        redis_store,
        "_newest_first",
        lambda found: [one for _, one in found][::-1],
    ),
    "forgets fractions of a second": (
        lists,
        "micros_of",
        lambda moment: "" if moment is None else str(int(moment.timestamp()) * 1_000_000),
    ),
    "has one id for all": (lists, "id_of", lambda entry: "0" * 32),
    "blocks the event loop": (RedisServer, "_native", None),
}
"""Where a function is, its name, and what is there instead."""


@contextmanager
def wrong_code(place: Any, name: str, wrong: Any):
    if name == "_native":

        async def slow(self, was=RedisServer._native):
            import time

            time.sleep(0.001)  # noqa: ASYNC251 - the fault
            return await was(self)

        wrong = slow
    with patch.object(place, name, wrong):
        yield


FAULTS = {
    **{name: (wrong_script, one) for name, one in SCRIPTS.items()},
    **{name: (wrong_code, one) for name, one in CODE.items()},
}


def first_failure(url: str, fault: str | None) -> str | None:
    """Return the first test of the suite that a faulty store fails, None if it passes all."""
    deadline = 5 if fault else 60
    space = {"deadline": deadline, "__module__": __name__}
    suite = type("Played", (WorkingStoreConformance,), space)()
    for name, arguments in tests_of(suite):
        try:
            if fault is None:
                asyncio.run(_play(suite, url, name, arguments))
                continue
            wrong, what = FAULTS[fault]
            with wrong(*what):
                asyncio.run(_play(suite, url, name, arguments))
        except (Exception, pytest.fail.Exception) as error:
            return f"{name} {arguments}: {type(error).__name__}: {str(error)[:200]}"
    return None


async def _play(suite: Any, url: str, name: str, arguments: dict[str, Any]) -> None:
    known: list[TierHandle] = []
    settings = RedisSettings(prefix=f"{os.urandom(8).hex()}:", lock_timeout=3)

    def opened() -> TierHandle:
        known.append(redis_working(url, settings))
        return known[-1]

    try:
        given = {"opened": opened, "target": opened(), **arguments}
        if "mode" in arguments:
            given["store"] = StoreProxy(given["target"], arguments["mode"], suite.deadline)
        test = getattr(suite, name)
        await test(**{one: given[one] for one in inspect.signature(test).parameters})
    finally:
        for one in known:
            await one.aclose()

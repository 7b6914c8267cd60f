"""Working memory in Redis: what is its alone."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace

import pytest
import redis

from hooked import redis_working
from memoryware.errors import SettingError, StoreNewer, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.testing._store import (
    ACME,
    NASTY,
    NEIGHBOURS,
    NOON,
    append_mark,
    entry,
    later,
    within,
)
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.redis import RedisSettings
from memoryware.tiers.stores.redis._lists import key_of, name_of

HOUR = 3600


@pytest.fixture
def client(redis_url):
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


@pytest.fixture
def make(redis_url, redis_prefix):
    """Return a function that opens a store; settings may be given."""
    known = []

    def make_one(**settings):
        known.append(redis_working(redis_url, RedisSettings(prefix=redis_prefix, **settings)))
        return known[-1]

    yield make_one
    for one in known:
        one.close()


@pytest.fixture
def store(make):
    return make()


@pytest.fixture
def keys(client, redis_prefix):
    """Return a function that returns our keys, without the prefix."""
    return lambda: sorted(
        key.removeprefix(redis_prefix) for key in client.scan_iter(f"{redis_prefix}*", count=1000)
    )


# Keys.


@pytest.mark.parametrize(
    ("tenant", "group", "key"),
    [
        (None, "g1", "wm:{g1}"),
        (None, "team-7@acme", "wm:{team-7@acme}"),
        ("t", "g1", "wm:{t/g1}"),
        (None, "t/g1", "wm:{t%2Fg1}"),
        ("t", None, "wm:{t/}"),
        (None, None, "wm:{}"),
        (None, "", "wm:{%}"),
        ("", "a b", "wm:{%/a%20b}"),
        (None, "{x}", "wm:{%7Bx%7D}"),
        (None, "Ä\ud800", "wm:{%C3%84%ED%A0%80}"),
    ],
)
def test_a_group_has_a_key_that_can_be_read(tenant, group, key):
    assert key_of("wm:", name_of(tenant, group)) == key


def test_no_two_groups_share_a_key_and_each_has_its_own_slot_name():
    names = [name_of(one.tenant, one.group_id) for one in NEIGHBOURS]
    names += [name_of("x", one) for one in NASTY] + [name_of(one, "x") for one in NASTY]
    assert len(set(names)) == len({*NEIGHBOURS}) + 2 * len(NASTY)
    assert all(key_of("p:", one).count("{") == 1 and "}" not in one for one in names)


def test_what_is_stored_is_where_it_was_said_to_be(store, keys):
    store.push(entry(scope=MemoryScope(group_id="g1")), keep=5)
    assert keys() == ["expiry", "groups", "{g1}"]


def test_two_prefixes_are_strangers(redis_url, redis_prefix, store):
    other = redis_working(redis_url, RedisSettings(prefix=f"{redis_prefix}2:"))
    store.push(entry(expires_at=NOON), keep=5)
    assert other.find(within()).total == 0
    assert other.purge(NOON) == 0
    assert store.purge(NOON) == 1
    other.close()


def test_nothing_is_left_of_groups_that_have_nothing(store, keys):
    for scope in (ACME, MemoryScope(group_id="b"), MemoryScope(tenant="u")):
        store.push(entry(scope=scope, expires_at=NOON), keep=5)
    assert store.delete(within()) == 1
    assert store.purge(NOON) == 2
    assert keys() == []


def test_a_name_without_a_list_goes_with_the_next_purge(store, keys, client, redis_prefix):
    store.push(entry(expires_at=NOON), keep=5)
    client.delete(f"{redis_prefix}{{t/acme}}")  # as if the server had dropped it
    assert store.find(Select(tenant="t")).total == 0
    assert store.purge(NOON) == 0
    assert keys() == []


def test_many_groups_are_purged_and_found(store):
    scopes = [MemoryScope(tenant="t", group_id=f"g{n}") for n in range(250)]
    for n, scope in enumerate(scopes):
        store.push(entry(f"{n}", scope, expires_at=later(hours=n % 2)), keep=5)
    found = store.find(Select(tenant="t"), limit=3)
    assert ([one.content for one in found.items], found.total) == (["249", "248", "247"], 250)
    assert store.purge(NOON) == 125
    assert len(store.edit(Select(tenant="t"), append_mark)) == 125
    assert store.delete(Select(tenant="t")) == 125


# Time.


def test_a_list_lives_as_long_as_its_last_entry_and_a_grace(store, client, redis_prefix):
    key = f"{redis_prefix}{{t/acme}}"
    store.push(entry(expires_at=later(hours=24)), keep=5)
    store.push(entry(expires_at=later(hours=1)), keep=5)
    assert 25 * HOUR - 60 <= client.ttl(key) <= 25 * HOUR + 1
    store.push(entry(), keep=5)
    assert client.ttl(key) == -1
    store.push(entry(expires_at=later(hours=2)), keep=5, renew=True)
    assert 3 * HOUR - 60 <= client.ttl(key) <= 3 * HOUR + 1
    store.edit(within(), lambda one: replace(one, expires_at=later(hours=9)))
    assert 10 * HOUR - 60 <= client.ttl(key) <= 10 * HOUR + 1


def test_the_clock_of_the_server_does_not_count(store):
    long_ago = NOON.replace(year=1970)
    one = entry(created_at=long_ago, expires_at=long_ago.replace(day=2))
    store.push(one, keep=5)
    assert store.find(within()).items == [one]
    far = NOON.replace(year=9998)
    two = entry(created_at=NOON, expires_at=far)
    store.push(two, keep=5)
    assert store.find(within()).items == [two, one]
    assert store.purge(NOON) == 1


def test_a_server_drops_what_nobody_purged(make, keys):
    store = make(grace=0)
    for group in ("idle", "busy"):
        scope = MemoryScope(group_id=group)
        store.push(entry("old", scope, expires_at=later(microseconds=1000)), keep=5)
    busy = entry("new", scope)
    time.sleep(0.05)
    store.push(busy, keep=5)
    assert store.find(within(scope)).items == [busy]
    assert "{idle}" not in keys()


# Scripts and other programs.


@pytest.mark.parametrize("door", ["blocking", "native"])
async def test_a_server_that_forgot_the_scripts_is_told_them_again(store, client, door):
    one, two = entry("one"), entry("two", expires_at=NOON)
    steps = [
        ("push", (one,), {"keep": 5}, None),
        ("push", (two,), {"keep": 5}, None),
        ("edit", (within(ids=(one.id,)), append_mark), {}, [append_mark(one)]),
        ("purge", (NOON,), {}, 1),
        ("delete", (within(),), {}, 1),
    ]
    for name, args, more, wanted in steps:
        client.script_flush()
        if door == "native":
            answer = await getattr(store, f"a{name}")(*args, **more)
        else:
            answer = await asyncio.to_thread(getattr(store, name), *args, **more)
        assert answer == wanted, name
    await store.aclose()


def test_what_another_program_wrote_is_said(store, client, redis_prefix):
    key = f"{redis_prefix}{{t/acme}}"
    client.set(key, "something")
    for ask in (
        lambda: store.push(entry(), keep=5),
        lambda: store.find(within()),
        lambda: store.edit(within(), append_mark),
    ):
        with pytest.raises(StoreUnavailable, match="another prefix"):
            ask()
    client.delete(key)
    client.lpush(key, "1|x")
    with pytest.raises(StoreUnavailable, match="another prefix"):
        store.find(within())


def test_what_a_newer_version_wrote_is_left_alone(store, client, redis_prefix):
    key, newer = f"{redis_prefix}{{t/acme}}", "2|a|b|c"
    client.lpush(key, newer)
    with pytest.raises(StoreNewer, match="update"):
        store.find(within())
    store.push(entry(expires_at=NOON), keep=5, renew=True)
    assert store.purge(NOON) == 1
    assert client.lrange(key, 0, -1) == [newer]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prefix": "{x}"}, "braces"),
        ({"timeout": 0}, "timeout=0"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"connections": 0}, "connections=0"),
        ({"grace": -1}, "grace=-1"),
        ({"eviction": "perhaps"}, "refuse, allow"),
    ],
)
def test_a_wrong_setting_is_refused(settings, said):
    with pytest.raises(SettingError, match=said):
        RedisSettings(**settings)


def test_settings_stand_in_an_address_too(redis_url, redis_prefix, client):
    store = redis_working(f"{redis_url}?prefix={redis_prefix}x:&timeout=2.5&decode_responses=True")
    store.push(entry(scope=MemoryScope(group_id="g")), keep=5)
    assert client.exists(f"{redis_prefix}x:{{g}}")
    assert store.find(within(MemoryScope(group_id="g"))).total == 1
    store.close()
    with pytest.raises(SettingError, match="must be a number"):
        redis_working(f"{redis_url}?timeout=soon")


# Threads, tasks and event loops.


def test_a_store_serves_one_event_loop_after_the_other(make):
    async def work(n):
        store = make()
        await store.apush(entry(f"{n}"), keep=50)
        total = (await store.afind(within())).total
        if n % 2:
            await store.aclose()
        else:
            await asyncio.to_thread(store.close)
        return total

    assert [asyncio.run(work(n)) for n in range(4)] == [1, 2, 3, 4]
    assert make().find(within()).total == 4


def test_a_store_can_be_closed_from_outside_its_event_loop(make):
    store, loop = make(), asyncio.new_event_loop()
    loop.run_until_complete(store.apush(entry(), keep=5))
    store.close()
    store = make()
    loop.run_until_complete(store.apush(entry(), keep=5))
    running = threading.Thread(target=loop.run_forever)
    running.start()
    store.close()
    loop.call_soon_threadsafe(loop.stop)
    running.join()
    loop.close()
    assert make().find(within()).total == 2


async def test_a_store_can_be_closed_inside_its_event_loop_by_its_blocking_half(make):
    store = make()
    await store.apush(entry(), keep=5)
    store.close()
    await asyncio.sleep(0.05)
    again = make()
    assert (await again.afind(within())).total == 1
    await again.aclose()


async def test_calls_that_are_cancelled_leave_nothing_behind(make):
    store = make(connections=2)
    await store.apush(entry("x" * 200_000), keep=5)
    for n in range(60):
        call = asyncio.ensure_future(store.afind(within()))
        await asyncio.sleep(0.0002 * (n % 12))
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert (await store.afind(within(MemoryScope(group_id="none")))).total == 0
        assert (await store.afind(within())).total == 1
    await store.aclose()


async def test_more_tasks_than_connections_take_turns(make):
    store = make(connections=2)
    await asyncio.gather(*(store.apush(entry(f"{n}"), keep=50) for n in range(40)))
    assert (await store.afind(within())).total == 40
    await store.aclose()


def test_an_entry_that_a_caller_changes_stays_as_it_is_stored(store):
    store.push(replace(entry("The orders are on db2."), metadata={"topic": "shop"}), keep=5)
    (first,) = store.find(within(ACME)).items
    first.metadata["topic"] = "changed by the caller"
    (again,) = store.find(within(ACME)).items
    assert again.metadata == {"topic": "shop"}


def test_what_is_forgotten_is_not_kept_by_the_process(store):
    kept = entry("The password of the shop is tulip-99.")
    store.push(kept, keep=5)
    assert store.find(within(ACME)).items
    assert b"tulip-99" in _remembered(store)
    store.delete(within(ACME, ids=(kept.id,)))
    assert b"tulip-99" not in _remembered(store)


def _remembered(store):
    contents = store.store.halves()[0]._lists._recent._lists.values()
    return b"".join(content.joined for content in contents)

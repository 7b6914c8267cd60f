"""What is seen when a Redis is not well: errors that say what to do, nothing lost or doubled."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest
import redis

from hooked import redis_working
from memoryware.errors import StoreUnavailable, StoreUnconfirmed
from memoryware.scope import MemoryScope
from memoryware.stores import open_stores
from memoryware.testing._store import NOON, entry, within
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.redis import RedisSettings
from memoryware.tiers.stores.redis._lists import READ, SWAP
from servers.redis import redis_server
from tiers.stores.lossy import Lossy

pytestmark = pytest.mark.slow

GROUPS = [MemoryScope(tenant="t", group_id=f"g{n}") for n in range(3)]


@pytest.fixture
def server():
    """A server of one's own, for what would disturb the others."""
    with redis_server("--appendonly", "yes", "--appendfsync", "always") as one:
        yield one


@pytest.fixture
async def store(server):
    one = redis_working(server.url, RedisSettings(timeout=0.5))
    yield one
    await one.aclose()


def admin(server):
    return redis.Redis.from_url(server.url, decode_responses=True)


def counted(record):
    return replace(record, metadata={"count": record.metadata.get("count", 0) + 1})


async def through(store, door, name, *args, **kwargs):
    if door == "native":
        return await getattr(store, f"a{name}")(*args, **kwargs)
    return await asyncio.to_thread(getattr(store, name), *args, **kwargs)


DOORS = pytest.mark.parametrize("door", ["blocking", "native"])


# Opening.


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1", "unix:///nowhere/redis.sock"])
def test_a_server_that_is_not_there_is_said(url):
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        redis_working(url)


@pytest.mark.parametrize(
    "url", ["redis://host:port", "redis://[x", "http://x", "unix://", "redis://host?db=x"]
)
def test_an_address_that_cannot_be_is_said(url):
    with pytest.raises(StoreUnavailable, match="address"):
        redis_working(url)


def test_a_wrong_password_is_said_and_never_shown():
    with redis_server("--requirepass", "hush") as server:
        for given in ("", ":wrong@", "ann:wrong@"):
            with pytest.raises(StoreUnavailable, match="user and password") as raised:
                redis_working(f"unix://{given}{server.socket}")
            assert "hush" not in str(raised.value)
            assert "wrong@" not in str(raised.value)
        redis_working(f"unix://:hush@{server.socket}").close()


def test_a_user_without_rights_is_told_which_it_needs(server):
    with admin(server) as client:
        client.execute_command("ACL SETUSER ann on >x ~wm:* +ping +info")
        client.execute_command(
            "ACL SETUSER bob on >x ~wm:* +@read +@write +@scripting +@transaction +time +info"
        )
    ann = redis_working(f"unix://ann:x@{server.socket}")
    with pytest.raises(StoreUnavailable, match=r"~wm:\* and the commands \+@read"):
        ann.push(entry(), keep=5)
    ann.close()
    bob = redis_working(f"unix://bob:x@{server.socket}")
    bob.push(entry(expires_at=NOON), keep=5)
    assert len(bob.edit(within(), counted)) == bob.purge(NOON) == 1
    bob.push(entry(), keep=5)
    assert bob.delete(within()) == 1
    bob.close()


@contextmanager
def answering(text):
    """A server that says the same to everything, as a version that we do not have would."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            try:
                while True:
                    client, _ = listening.accept()
                    with client:
                        while client.recv(1 << 16):
                            client.sendall(b"$%d\r\n%s\r\n" % (len(text), text.encode()))
            except OSError:
                return

        threading.Thread(target=serve, daemon=True).start()
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(("version", "good"), [("5.0.14", False), ("6.0.16", False), ("6.2.0", True), ("8.10.1", True)])  # fmt: skip
def test_a_server_that_is_too_old_is_said(version, good):
    with answering(f"# Server\r\nredis_version:{version}\r\n") as url:
        if good:
            redis_working(url).close()
        else:
            with pytest.raises(StoreUnavailable, match=f"{version}.*6\\.2 or later"):
                redis_working(url)


def test_a_server_that_drops_data_is_refused_unless_that_may_be():
    with redis_server("--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru") as server:
        with pytest.raises(StoreUnavailable, match=r"volatile-lru.*eviction=allow"):
            redis_working(server.url)
        store = redis_working(f"{server.url}?eviction=allow")
        store.push(entry(), keep=5)
        with admin(server) as client:
            client.delete("wm:{t/acme}")  # dropped: the group has no working memory anymore
        assert store.find(within()).total == 0
        store.close()


def test_a_file_is_closed_if_its_redis_cannot_be_opened(tmp_path):
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        open_stores(f"sqlite:///{tmp_path}/memory.db + redis://127.0.0.1:1")
    open_stores(f"sqlite:///{tmp_path}/memory.db").working.close()


# Refusals.


def test_a_server_that_is_full_says_so_and_loses_nothing(server, store):
    kept = [entry(f"{n}") for n in range(3)]
    for one in kept:
        store.push(one, keep=5)
    with admin(server) as client:
        client.config_set("maxmemory", "1kb")
        for ask in (
            lambda: store.push(entry("more"), keep=5),
            lambda: store.edit(within(), counted),
        ):
            with pytest.raises(StoreUnavailable, match=r"full.*maxmemory"):
                ask()
        client.config_set("maxmemory", 0)
    assert store.find(within()).items == kept[::-1]


def test_a_replica_is_not_written_to(server, store):
    with admin(server) as client:
        client.execute_command("REPLICAOF", "127.0.0.1", "1")  # the primary need not be there
        with pytest.raises(StoreUnavailable, match=r"replica.*primary"):
            store.push(entry(), keep=5)


# No answers.


@DOORS
async def test_a_server_that_hangs_is_waited_for_no_longer_than_was_said(server, store, door):
    await through(store, door, "push", entry(), keep=5)
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(StoreUnavailable, match=r"0\.5 seconds") as raised:
            await through(store, door, "find", within())
        assert raised.type is StoreUnavailable, "whoever only asks has nothing to look after"
        with pytest.raises(StoreUnconfirmed, match=r"0\.5 seconds"):
            await through(store, door, "push", entry(), keep=5)
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    assert (await through(store, door, "find", within())).total in {1, 2}


def test_who_finds_no_free_connection_is_told_so(server):
    store = redis_working(server.url, RedisSettings(timeout=3, lock_timeout=0.2, connections=1))
    said = []

    def find():
        try:
            store.find(within())
        except StoreUnavailable as error:
            said.append(str(error))

    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        threads = [threading.Thread(target=find) for _ in range(3)]
        for one in threads:
            one.start()
        threads[0].join(1)
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    for one in threads:
        one.join()
    assert len(said) == 2
    assert all("all 1 connections were busy" in one for one in said)
    store.close()


@DOORS
@pytest.mark.parametrize("kill", [False, True])
async def test_what_was_confirmed_is_there_after_a_restart(server, store, door, kill):
    kept = [entry(f"{n}") for n in range(5)]
    for one in kept:
        await through(store, "blocking", "push", one, keep=10)
    server.restart(kill=kill)
    last = entry("last")
    await through(store, door, "push", last, keep=10)
    assert (await through(store, door, "find", within())).items == [last, *kept[::-1]]


def test_while_a_server_is_away_every_call_says_so(server, store):
    store.push(entry(), keep=5)
    server.stop()
    for ask in (
        lambda: store.push(entry(), keep=5),
        lambda: store.find(within()),
        lambda: store.edit(within(), counted),
        lambda: store.delete(within()),
        lambda: store.purge(NOON),
    ):
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            ask()
    server.start()
    assert store.find(within()).total == 1


@DOORS
async def test_connections_that_were_cut_are_made_anew(server, store, door):
    async def work():
        await store.apush(entry(), keep=5)
        with admin(server) as client:
            client.execute_command("CLIENT KILL TYPE normal SKIPME yes")
        try:
            return (await store.afind(within())).total
        finally:
            await store.aclose()

    if door == "native":
        assert await work() == 1
        return
    store.push(entry(), keep=5)
    with admin(server) as client:
        client.execute_command("CLIENT KILL TYPE normal SKIPME yes")
    assert store.find(within()).total == 1


# Answers that are lost: what was asked for was done.


@pytest.fixture
def lossy(server, tmp_path):
    one = Lossy(tmp_path, str(server.socket))
    yield one
    one.close()


@pytest.fixture
async def far(lossy):
    one = redis_working(lossy.url, RedisSettings(timeout=2))
    # A server that knows the scripts already does what it is asked for at once.
    one.push(entry(), keep=5)
    one.edit(within(), counted)
    one.delete(within())
    yield one
    await one.aclose()


@DOORS
async def test_a_push_without_an_answer_is_made_once_more_and_is_there_once(
    lossy, far, store, door
):
    first, one = entry("first"), entry("one")
    await through(far, door, "push", first, keep=5)
    lossy.lose, lossy.only = 1, b"MULTI"
    await through(far, door, "push", one, keep=5)
    assert lossy.lost == 1
    assert store.find(within()).items == [one, first]


@DOORS
async def test_an_edit_without_an_answer_is_made_once(lossy, far, store, door):
    for scope in GROUPS:
        await through(far, door, "push", entry(scope=scope), keep=5)
    tenant = Select(tenant="t")
    lossy.lose, lossy.only = 1, b"MULTI"
    changed = await through(far, door, "edit", tenant, counted)
    assert lossy.lost == 1
    found = store.find(tenant).items
    assert [one.metadata for one in found] == [{"count": 1}] * 3
    assert changed == found


@DOORS
async def test_a_removal_without_an_answer_is_counted(lossy, far, store, door):
    for scope in (*GROUPS, GROUPS[0]):
        await through(far, door, "push", entry(scope=scope), keep=5)
    lossy.lose, lossy.only = 1, b"MULTI"
    assert await through(far, door, "delete", Select(tenant="t")) == 4
    assert lossy.lost == 1
    assert store.find(Select(tenant="t")).total == 0


def test_an_edit_that_was_overtaken_without_an_answer_is_not_made_twice(lossy, far, store):
    far.push(entry(), keep=5)
    lossy.lose, lossy.only = 1, SWAP.digest.encode()
    seen = []

    def change(record):
        seen.append(record.metadata)
        return counted(record)

    # Somebody else changes it between the lost answer and the look whether it was done.
    server_reads = far.store._server.ask

    async def ask(runner, commands, **more):
        if lossy.lost and not seen[1:] and commands[0][0] is READ:
            seen.append("other")
            store.edit(within(), counted)
        return await server_reads(runner, commands, **more)

    far.store._server.ask = ask
    with pytest.raises(StoreUnconfirmed, match="did not confirm"):
        far.edit(within(), change)
    assert store.find(within()).items[0].metadata == {"count": 2}


def test_what_is_never_answered_is_reported(lossy, far, store):
    lossy.lose, lossy.only = 2, b"MULTI"
    with pytest.raises(StoreUnconfirmed, match="cannot be reached"):
        far.push(entry(), keep=5)
    assert lossy.lost == 2
    assert store.find(within()).total == 1


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_what_four_processes_were_told_is_true_though_the_server_was_killed(server, store):
    everybody = MemoryScope(group_id="all")
    store.push(entry(scope=everybody, metadata={"count": 0}), keep=5)
    command = [sys.executable, "-m", "tiers.stores.redis_worker", server.url]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}
    workers = [
        subprocess.Popen([*command, f"w{n}", "150"], stdout=subprocess.PIPE, env=path, text=True)
        for n in range(4)
    ]
    said = [one.stdout.readline().strip() for one in workers]  # all of them are at work now
    for _ in range(3):
        time.sleep(0.5)
        server.restart(kill=True)
    said += [line for one in workers for line in one.communicate(timeout=60)[0].splitlines()]
    assert [one.returncode for one in workers] == [0] * 4
    confirmed = {line.split()[1] for line in said if line.startswith("pushed")}
    found = [one.id for one in store.find(Select(tenant="t")).items]
    assert len(found) == len(set(found))
    assert confirmed <= set(found)
    assert len(confirmed) > 300
    # What was not confirmed may have been done, once.
    attempts = 4 * 150
    count = store.find(within(everybody)).items[0].metadata["count"]
    assert said.count("counted") <= count <= attempts

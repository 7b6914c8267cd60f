"""PostgreSQL: who waits for whom, how long, and whose connections are whose."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from memoryware.errors import StoreUnavailable
from memoryware.settings import PostgresLimits
from memoryware.testing._store import ACME, FLAT, document, entry, within
from memoryware.tiers.stores.postgres import postgres_stores
from memoryware.tiers.stores.protocol import Select
from servers import postgres
from tiers.stores.postgres.kit import MODES, call, holding, through

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("mode", MODES)
def test_a_full_pool_is_said(address, mode):
    stores = postgres_stores(address, limits=PostgresLimits(pool_size=1, pool_timeout=0.2))
    stores.quarantine.add(entry())

    async def native():
        def change(record):
            time.sleep(0.5)
            return record

        edit = asyncio.create_task(stores.quarantine.aedit(within(), change))
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailable, match=r"pool_size.*pool_timeout"):
            await asyncio.gather(*(stores.quarantine.afind(within()) for _ in range(3)))
        await edit
        await stores.quarantine.aclose()

    def change(record):
        with pytest.raises(StoreUnavailable, match=r"pool_size.*pool_timeout"):
            stores.quarantine.find(within())
        return record

    if mode == "native":
        asyncio.run(native())
    else:
        assert stores.quarantine.edit(within(), change) == []
        assert stores.quarantine.find(within()).total == 1
    stores.working.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_takes_no_more_connections_is_said(roles, address, mode):
    name = roles[0].partition("//")[2].partition("@")[0]
    postgres.asked(address, f"ALTER ROLE {name} CONNECTION LIMIT 1")
    stores = postgres_stores(f"{roles[0]}&pool_timeout=0.3")
    stores.quarantine.add(entry())

    def change(record):
        with pytest.raises(StoreUnavailable, match=r"lower pool_size, or raise max_connections"):
            call(stores.quarantine, mode, "find", within())
        with pytest.raises(StoreUnavailable, match=r"lower pool_size, or raise max_connections"):
            postgres_stores(roles[0])
        return record

    assert stores.quarantine.edit(within(), change) == []
    assert stores.quarantine.find(within()).total == 1
    stores.working.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_group_that_others_write_is_waited_for_and_no_other(address, mode):
    stores = postgres_stores(address, lock_timeout=0.3)
    other = replace(ACME, group_id="other")

    def change(record):
        with pytest.raises(StoreUnavailable, match="lock_timeout"):
            call(stores.quarantine, mode, "add", entry("waits"))
        with pytest.raises(StoreUnavailable, match="lock_timeout"):
            call(stores.quarantine, mode, "delete", Select(tenant="t"))
        with pytest.raises(StoreUnavailable, match="lock_timeout"):  # whatever it is about
            call(stores.quarantine, mode, "delete", Select(tenant="t", ids=("nobody's",)))
        call(stores.quarantine, mode, "add", entry("does not wait", other))
        assert call(stores.quarantine, mode, "find", within()).total == 1
        return record

    stores.quarantine.add(entry())
    stores.quarantine.edit(within(), change)
    assert stores.quarantine.find(Select(tenant="t")).total == 2
    stores.working.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_statement_that_takes_too_long_is_ended(address, mode):
    stores = postgres_stores(f"{address}&statement_timeout=0.3")
    stores.quarantine.add(entry())
    with (
        holding(address, "LOCK TABLE record"),
        pytest.raises(
            StoreUnavailable, match=r"took too long and was canceled \(statement_timeout"
        ),
    ):
        call(stores.quarantine, mode, "find", within())
    assert call(stores.quarantine, mode, "find", within()).total == 1
    stores.working.close()


def test_the_victim_of_a_deadlock_is_done_again(stores, address):
    one, two = (stores.quarantine.add(entry(name)) for name in ("one", "two"))
    result = []

    def edit():
        try:
            result.extend(stores.quarantine.edit(within(), lambda old: replace(old, refused="x")))
        except StoreUnavailable as error:
            result.append(error)

    touch = "UPDATE record SET size = size WHERE id = %s"
    with holding(address, touch, one.id) as db:
        thread = threading.Thread(target=edit)
        thread.start()
        time.sleep(0.3)
        db.execute(touch, [two.id])
        db.commit()
    thread.join(20)
    assert [getattr(old, "refused", old) for old in result] == ["x", "x"]
    assert [old.refused for old in stores.quarantine.find(within()).items] == ["x", "x"]


@pytest.mark.parametrize("mode", MODES)
def test_a_page_and_its_total_are_of_one_moment(address, proxy, mode):
    stores = postgres_stores(through(address, proxy))
    direct = postgres_stores(address)
    stores.quarantine.add(entry("first"))
    proxy.word, proxy.meanwhile = b"count(*)", lambda: direct.quarantine.add(entry("meanwhile"))
    page = call(stores.quarantine, mode, "find", within(), limit=1)
    assert proxy.word == b""
    assert ([one.content for one in page.items], page.total) == (["first"], 1)
    assert direct.quarantine.find(within(), limit=9).total == 2
    for one in (stores, direct):
        one.working.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_vector_that_comes_while_its_text_is_changed_is_passed_over(address, proxy, mode):
    stores, direct = postgres_stores(through(address, proxy)), postgres_stores(address)
    (one,) = document("before")
    stores.long_term.add([one])
    kept = []
    late = threading.Thread(
        target=lambda: kept.append(direct.long_term.put_vectors([(one, [1, 0, 0])], FLAT))
    )

    def meanwhile():
        late.start()
        late.join(0.5)  # it has to wait for the commit; this gives it time not to

    proxy.word, proxy.meanwhile = b"COMMIT", meanwhile
    change = lambda old: replace(old, content="after")
    (changed,) = call(stores.long_term, mode, "edit", within(), change)
    late.join(20)
    assert kept == [0]
    assert stores.long_term.unembedded(FLAT, limit=9) == [changed]
    for some in (stores, direct):
        some.working.close()


async def test_a_call_that_is_cancelled_gives_its_connection_back(address):
    stores = postgres_stores(address, limits=PostgresLimits(pool_size=1, pool_timeout=2))
    await stores.quarantine.aadd(entry())
    with holding(address, "LOCK TABLE record"):
        for _ in range(3):
            task = asyncio.create_task(stores.quarantine.aadd(entry()))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    assert (await stores.quarantine.afind(within())).total == 1
    await stores.quarantine.aclose()


# Loops, forks, and the end.


def test_each_loop_has_connections_of_its_own_and_leaves_none(stores, address):
    for n in range(5):
        asyncio.run(stores.quarantine.aadd(entry(f"{n}")))
    assert asyncio.run(stores.quarantine.afind(within())).total == 5
    stores.quarantine.close()
    deadline = time.monotonic() + 20
    while True:  # those of other tests may be ending just now
        rows = postgres.asked(
            address,
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'memoryware'"
            " AND backend_start > now() - interval '1 minute' AND state = 'idle'",
        )
        if rows[0][0] <= 2:
            break
        assert time.monotonic() < deadline, f"{rows[0][0]} connections are left"
        time.sleep(0.1)


async def test_what_was_closed_says_so(stores):
    await stores.quarantine.aadd(entry())
    await stores.working.aclose()
    for work in (stores.quarantine.afind(within()), asyncio.to_thread(stores.long_term.spaces)):
        with pytest.raises(StoreUnavailable, match="was closed"):
            await work


FORKED = """
import os, sys
from memoryware.testing._store import entry, within
from memoryware.tiers.stores.postgres import postgres_stores
stores = postgres_stores(sys.argv[1])
stores.quarantine.add(entry("parent"))
child = os.fork()
if child == 0:
    import dataclasses
    stores.quarantine.add(dataclasses.replace(entry("child"), id="c" * 32))
    stores.working.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0
print(stores.quarantine.find(within()).total)
"""


def test_a_fork_has_connections_of_its_own_and_nobody_has_to_close(address):
    run = subprocess.run(
        [sys.executable, "-c", FORKED, address],
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert (run.stdout.strip(), run.returncode, run.stderr) == ("2", 0, "")

"""PostgreSQL: connections that are lost, servers that stop, and what is then true."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from memoryware.errors import StoreUnavailable
from memoryware.settings import PostgresLimits
from memoryware.testing._store import entry, within
from memoryware.tiers.stores.postgres import postgres_stores
from servers import postgres
from tiers.stores.postgres.kit import MODES, call, kill, through
from tiers.stores.test_sqlite import confirmed, start
from tiers.stores.worker import CHUNKS, SHOP

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("mode", MODES)
def test_a_connection_that_died_in_the_pool_is_not_noticed(stores, address, mode):
    call(stores.quarantine, mode, "add", entry("one"))
    kill(address)
    call(stores.quarantine, mode, "add", entry("two"))
    kill(address)
    assert call(stores.quarantine, mode, "find", within()).total == 2


@pytest.mark.parametrize("mode", MODES)
def test_an_edit_whose_connection_is_killed_is_done_once(stores, address, mode):
    stores.quarantine.add(entry(metadata={"count": 0}))
    seen = []

    def change(record):
        seen.append(record)
        if len(seen) == 1:
            kill(address)
        return replace(record, metadata={"count": record.metadata["count"] + 1})

    (changed,) = call(stores.quarantine, mode, "edit", within(), change)
    assert (changed.metadata["count"], len(seen)) == (1, 2)
    assert stores.quarantine.find(within()).items == [changed]


@pytest.mark.parametrize("mode", MODES)
def test_a_connection_that_is_lost_again_and_again_is_said_and_changes_nothing(
    stores, address, mode
):
    one = stores.quarantine.add(entry())

    def change(record):
        kill(address)
        return replace(record, content="never")

    with pytest.raises(StoreUnavailable, match="nothing was stored"):
        call(stores.quarantine, mode, "edit", within(), change)
    assert stores.quarantine.find(within()).items == [one]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arrives", [True, False])
def test_a_commit_whose_answer_is_lost_happens_once(address, proxy, mode, arrives):
    stores = postgres_stores(through(address, proxy))
    one = stores.quarantine.add(entry(metadata={"count": 0}))
    proxy.arrives = arrives

    def counted(record):
        proxy.word = b"COMMIT" if proxy.lost == 0 else b""
        return replace(record, metadata={"count": record.metadata["count"] + 1})

    assert len(call(stores.quarantine, mode, "edit", within(), counted)) == 1
    assert proxy.lost == 1
    assert stores.quarantine.find(within()).items == [replace(one, metadata={"count": 1})]
    proxy.word = b"COMMIT"
    two = entry("two")
    assert call(stores.quarantine, mode, "add", two) == two
    proxy.word = b"COMMIT"
    assert call(stores.quarantine, mode, "delete", within(ids=(one.id,))) == 1
    assert (proxy.lost, stores.quarantine.find(within()).items) == (3, [two])
    stores.working.close()


SLOW = """
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON record DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION slow();
"""
"""Makes a commit take its time."""


@pytest.mark.parametrize("mode", MODES)
def test_a_commit_that_goes_on_without_its_connection_happens_once(address, proxy, mode):
    stores = postgres_stores(through(address, proxy))
    one = stores.quarantine.add(entry(metadata={"count": 0}))
    postgres.asked(address, SLOW)
    proxy.answers = False

    def counted(record):
        proxy.word = b"COMMIT" if proxy.lost == 0 else b""
        return replace(record, metadata={"count": record.metadata["count"] + 1})

    assert len(call(stores.quarantine, mode, "edit", within(), counted)) == 1
    assert proxy.lost == 1
    assert stores.quarantine.find(within()).items == [replace(one, metadata={"count": 1})]
    stores.working.close()


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_what_was_confirmed_is_there_once_after_a_restart(server, how, mode):
    stores = postgres_stores(server.url, limits=PostgresLimits(pool_timeout=25))
    confirmed, failed, stop = [], [], threading.Event()

    def write(me):
        for n in range(10_000):
            if stop.is_set():
                return
            one = entry(f"{me} {n}", key=f"{me} {n}")
            try:
                call(stores.quarantine, mode, "add", one)
                confirmed.append(one.content)
            except StoreUnavailable as error:
                failed.append(error)

    threads = [threading.Thread(target=write, args=(me,)) for me in range(3)]
    for one in threads:
        one.start()
    for _ in range(2):
        time.sleep(0.7)
        server.stop(how)
        server.start()
    time.sleep(0.5)
    stop.set()
    for one in threads:
        one.join(40)
    there = [one.content for one in stores.quarantine.find(within()).items]
    assert len(there) == len(set(there))
    assert failed == []
    assert sorted(there) == sorted(confirmed)
    assert len(confirmed) > 20
    stores.working.close()


def test_a_server_that_is_away_is_said_in_time(server):
    stores = postgres_stores(f"{server.url}&pool_timeout=0.5")
    stores.quarantine.add(entry())
    server.stop()
    for mode in MODES:
        with pytest.raises(StoreUnavailable, match=r"away.*pool_timeout"):
            call(stores.quarantine, mode, "find", within())
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        postgres_stores(server.url)
    server.start()
    for mode in MODES:
        assert call(stores.quarantine, mode, "find", within()).total == 1
    stores.working.close()


def test_a_server_that_is_away_is_waited_for_once(server):
    stores = postgres_stores(f"{server.url}&pool_timeout=0.3")
    for _ in range(2):
        server.stop()
        with pytest.raises(StoreUnavailable, match=r"away for 0\.\d seconds \(pool_timeout\)"):
            stores.quarantine.find(within())
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="still away"):
                stores.quarantine.find(within())
        server.start()
        assert stores.quarantine.find(within()).total == 0
    stores.working.close()


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_says_nothing_is_not_waited_for_for_ever(server, mode):
    stores = postgres_stores(f"{server.url}&statement_timeout=0.5&pool_timeout=1")
    stopped = []

    def change(record):
        ((pid,),) = postgres.asked(
            server.url,
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'memoryware'"
            " AND state = 'idle in transaction'",
        )
        stopped.append(pid)
        os.kill(pid, signal.SIGSTOP)
        return replace(record, content="new")

    stores.quarantine.add(entry())
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="has not answered"):
        call(stores.quarantine, mode, "edit", within(), change)
    assert time.monotonic() - began < 20
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    stores.working.close()


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_killed_processes_and_a_crashing_server_lose_and_double_nothing(server):
    dice, told = random.Random(3), dict[Any, list[str]]()
    postgres_stores(server.url).working.close()
    with ExitStack() as started, ExitStack() as read:

        def begun():
            worker = started.enter_context(start(server.url, 10_000))
            mine = told.setdefault(worker, [])
            thread = threading.Thread(target=lambda: [mine.append(line) for line in worker.stdout])
            thread.start()
            read.callback(thread.join, 20)
            read.callback(worker.kill)
            return worker

        workers = [begun() for _ in range(3)]
        for turn in range(12):
            time.sleep(dice.uniform(0.5, 1.5))
            if turn in (4, 8):
                while not all(told[one] for one in workers):  # all have opened it
                    time.sleep(0.05)
                server.stop(signal.SIGQUIT)
                server.start()
            else:
                workers.pop(0).kill()
                workers.append(begun())
        while not all(told[one] for one in workers):
            time.sleep(0.05)
        assert [one.poll() for one in workers] == [None] * 3, "a worker met an error"
    recorded, promoted, decided = confirmed([line for lines in told.values() for line in lines])
    assert len(decided) > 5
    stores = postgres_stores(server.url)
    entries = stores.quarantine.find(within(SHOP)).items
    waiting = {one.id: one for one in entries}
    assert len(waiting) == len(entries)
    assert recorded <= set(waiting)
    documents: dict[str, list[int]] = {}
    for one in stores.long_term.find(within(SHOP)).items:
        documents.setdefault(one.document_id, []).append(one.chunk_index)
    assert promoted <= set(documents)
    assert all(sorted(one) in ([0], list(range(CHUNKS))) for one in documents.values())
    for id_, document_id in decided:
        assert waiting[id_].status == "promoted"
        assert document_id in documents
    memories = sum(map(len, documents.values()))
    for table in ("word_index", "vector"):
        assert postgres.asked(server.url, f"SELECT count(*) FROM {table}") == [(memories,)]
    stores.working.close()

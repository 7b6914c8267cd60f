"""PostgreSQL: poolers, replicas, and a replica that takes over."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from urllib.parse import quote

import psycopg
import pytest

from memoryware import MemoryScope
from memoryware.errors import StoreUnavailable
from memoryware.testing._store import FLAT, document, entry, within
from memoryware.tiers.stores.postgres import postgres_stores
from servers import postgres
from tiers.stores.postgres.kit import MODES, call, database, kill, through

LEFT = (
    "SELECT pg_backend_pid(), current_setting('memoryware.owner', true),"
    " (SELECT string_agg(name, ' ') FROM pg_settings WHERE source = 'session'),"
    " (SELECT count(*) FROM pg_prepared_statements),"
    " (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())"
)
"""What a session still has of a transaction that is over."""


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_left_in_a_session_that_a_pooler_lends_to_others(address, pooler, mode):
    pooled = through(address, pooler)
    stores = postgres_stores(f"{pooled}&prepared_statements=off&pool_size=4")
    failed = []

    def work(me):
        scope = MemoryScope(tenant=f"t{me}", group_id="g")
        try:
            for n in range(8):
                call(stores.quarantine, mode, "add", entry(f"{n}", scope))
                call(stores.quarantine, mode, "edit", within(scope), seen)
            call(
                stores.long_term, mode, "add", document(f"tea {me}", scope=scope), [[1, 0, 0]], FLAT
            )
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(40)
    assert failed == []
    for me in range(4):
        which = within(MemoryScope(tenant=f"t{me}", group_id="g"))
        found = stores.quarantine.find(which).items
        assert [one.metadata["seen"] for one in found] == [*range(1, 9)]
        for hits in (
            stores.long_term.by_words(["tea"], which, limit=9),
            stores.long_term.by_vector([1, 0, 0], which, space=FLAT, limit=9),
        ):
            assert [hit.memory.content for hit in hits] == [f"tea {me}"]
    sessions = set()
    with psycopg.connect(pooled.partition("&")[0], autocommit=True, prepare_threshold=None) as db:
        last = time.monotonic() + 20
        while (
            len(sessions) < 2 and time.monotonic() < last
        ):  # the end of a read may still be coming
            pid, owner, *left = db.execute(LEFT).fetchone()
            sessions.add(pid)
            assert (owner or "", *left) == ("", None, 0, 0)
    assert len(sessions) == 2
    stores.working.close()


def seen(record):
    return replace(record, metadata={"seen": record.metadata.get("seen", 0) + 1})


@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_only_reads_from_now_on_says_so(mode):
    name = f"reads_{os.getpid()}_{mode}"
    with database(name) as url:
        stores = postgres_stores(url)
        stores.quarantine.add(entry("kept"))
        alter = f"ALTER DATABASE {name} SET default_transaction_read_only = on"
        postgres.asked(f"{postgres.url()}&schema=public", alter)
        kill(url)
        for work in (("add", entry()), ("edit", within(), seen), ("delete", within())):
            with pytest.raises(StoreUnavailable, match="only reads, so it is a replica"):
                call(stores.quarantine, mode, *work)
        assert [one.content for one in call(stores.quarantine, mode, "find", within()).items] == [
            "kept"
        ]
        with pytest.raises(StoreUnavailable, match="only reads, so it is a replica"):
            postgres_stores(url)
        alter = f"ALTER DATABASE {name} RESET default_transaction_read_only"
        postgres.asked(f"{postgres.url()}&schema=public", alter)
        kill(url)
        assert len(call(stores.quarantine, mode, "edit", within(), seen)) == 1
        stores.working.close()


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_replica_says_that_it_is_one_and_can_take_over(server, replica, mode):
    with pytest.raises(StoreUnavailable, match="only reads, so it is a replica"):
        postgres_stores(replica.url)  # where there are no tables yet
    hosts = ",".join(quote(str(one.base), safe="") for one in (server, replica))
    both = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write&pool_timeout=20"
    stores = postgres_stores(both)
    kept = [stores.quarantine.add(entry(f"{n}")) for n in range(3)]
    _caught_up(server, replica)
    with pytest.raises(StoreUnavailable, match="only reads, so it is a replica"):
        postgres_stores(replica.url)
    server.stop(signal.SIGQUIT)
    postgres.asked(replica.url, "SELECT pg_promote()")
    kept.append(call(stores.quarantine, mode, "add", entry("after")))
    assert call(stores.quarantine, mode, "find", within()).items == kept[::-1]
    stores.working.close()


def _caught_up(server, replica):
    ((wanted,),) = postgres.asked(server.url, "SELECT pg_current_wal_lsn()::text")
    done = f"SELECT pg_last_wal_replay_lsn() >= '{wanted}'"
    last = time.monotonic() + 20
    while postgres.asked(replica.url, done) != [(True,)]:
        assert time.monotonic() < last
        time.sleep(0.05)

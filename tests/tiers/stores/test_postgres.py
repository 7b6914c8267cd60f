"""PostgreSQL: what can go wrong between here and there, and what is then true."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from memoryware import MemoryScope, StoreNewer, StoreUnavailable, open_stores
from memoryware.conformance._documents import document
from memoryware.conformance._tiers import ACME, entry, later, memory, within
from memoryware.settings import PostgresLimits
from memoryware.tiers.ranking import WORDS_VERSION, cosine
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.postgres import admit_role, opening, postgres_stores, schema
from memoryware.tiers.stores.postgres.address import address_of
from memoryware.tiers.stores.protocol import Select, Space
from servers import postgres
from servers.proxy import Proxy
from tiers.stores.test_sqlite import confirmed, start
from tiers.stores.worker import CHUNKS, SHOP

DOORS = ["blocking", "native"]
FLAT = Space("flat", 3)
ODD = ["a\0b", "a\0c", "\ud800", "\udfff\ud800", "\x01", "\x01\\u0000", "\x01\x02", "🜁", "%s ? %"]


@pytest.fixture
def address():
    with postgres.schema_at(postgres.url()) as made:
        yield made


@pytest.fixture
def stores(address):
    made = postgres_stores(address)
    yield made
    made.working.close()


@pytest.fixture
def server():
    """A server of its own, which a test may stop."""
    made = postgres.started()
    yield made
    made.remove()


def call(store, door, name, *args, **more):
    """Call a method through a door; the native one in a loop of its own."""
    if door == "blocking":
        return getattr(store, name)(*args, **more)

    async def once():
        try:
            return await getattr(store, f"a{name}")(*args, **more)
        finally:
            await asyncio.sleep(0)

    return asyncio.run(once())


def kill(address, *, idle=True):
    """End connections of stores at an address from the side of the server."""
    states = "state LIKE 'idle%'" if idle else "true"
    postgres.asked(
        address,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE application_name = 'memoryware' AND {states}",
    )


@contextmanager
def holding(address, sql, *values):
    """Do something by hand in a transaction that stays open."""
    plain, _, name = address.replace("&schema=", "?schema=").partition("?schema=")
    with psycopg.connect(plain) as db:
        db.execute(f'SET search_path = "{name}", public')
        db.execute("SET memoryware.owner = 'tt'")
        db.execute(sql, values or None)
        yield db
        db.rollback()


# Texts and ids.


@pytest.mark.parametrize("text", [*ODD, "x" * 100_000, "ä" * 3000, "\0" * 3000])
def test_any_text_can_stand_anywhere(stores, text):
    names = text.translate({0: "0"}).encode("utf-8", "replace").decode()[:900]  # a scope has no NUL
    scope = MemoryScope(*(names + one for one in "tguas"))
    one = entry(text, scope, key=text, revocation=text, metadata={text: text})
    stores.quarantine.add(one)
    assert stores.quarantine.add(replace(entry("again", scope), key=text)) == one
    two = memory(text, scope, subject=text, document_id=text, content_hash=text)
    stores.long_term.add([two], [[1, 0, 0]], Space(text, 3))
    which = within(scope, users=(names + "u",), sessions=(names + "s",), agents=(names + "a",))
    assert stores.quarantine.find(which.also(revocations=(text,))).items == [one]
    found = stores.long_term.find(which.also(subjects=(text,), documents=(text,), contains=text))
    assert found.items == [two]
    assert stores.long_term.spaces() == {Space(text, 3): 1}
    near = replace(scope, group_id=names + "G")
    assert stores.quarantine.find(within(near)).total == 0


def test_texts_that_begin_alike_are_not_the_same(stores):
    long = "x" * 999
    for n in range(3):
        stores.quarantine.add(entry(scope=replace(ACME, group_id=f"{long}{n}")))
    found = [
        stores.quarantine.find(within(replace(ACME, group_id=f"{long}{n}"))).total for n in range(4)
    ]
    assert found == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("Straße 7", "STRASSE"), ("ÄRGER", "ärger"), ("a\0B", "A\0b"), ("İstanbul", "i̇STANBUL"),
        ("数据库", "据"), ("\ud800X", "\ud800x"), ("100%", "0%"), ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ],
)  # fmt: skip
def test_a_part_of_a_text_is_found_whatever_its_case(stores, content, part):
    stores.quarantine.add(entry(content))
    stores.quarantine.add(entry("something else"))
    assert [one.content for one in stores.quarantine.find(within(contains=part)).items] == [content]


# Connections that are lost.


@pytest.mark.parametrize("door", DOORS)
def test_a_connection_that_died_in_the_pool_is_not_noticed(stores, address, door):
    call(stores.quarantine, door, "add", entry("one"))
    kill(address)
    call(stores.quarantine, door, "add", entry("two"))
    kill(address)
    assert call(stores.quarantine, door, "find", within()).total == 2


@pytest.mark.parametrize("door", DOORS)
def test_an_edit_whose_connection_is_killed_is_done_once(stores, address, door):
    stores.quarantine.add(entry(metadata={"count": 0}))
    seen = []

    def change(record):
        seen.append(record)
        if len(seen) == 1:
            kill(address)
        return replace(record, metadata={"count": record.metadata["count"] + 1})

    (changed,) = call(stores.quarantine, door, "edit", within(), change)
    assert (changed.metadata["count"], len(seen)) == (1, 2)
    assert stores.quarantine.find(within()).items == [changed]


@pytest.mark.parametrize("door", DOORS)
def test_a_connection_that_is_lost_again_and_again_is_said_and_changes_nothing(
    stores, address, door
):
    one = stores.quarantine.add(entry())

    def change(record):
        kill(address)
        return replace(record, content="never")

    with pytest.raises(StoreUnavailable, match="nothing was stored"):
        call(stores.quarantine, door, "edit", within(), change)
    assert stores.quarantine.find(within()).items == [one]


@pytest.fixture
def proxy():
    if os.environ.get("TEST_POSTGRES_URL"):
        pytest.skip("stands before a server of its own")
    made = Proxy(postgres.url().partition("host=")[2])
    yield made
    made.close()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("arrives", [True, False])
def test_a_commit_whose_answer_is_lost_happens_once(address, proxy, door, arrives):
    through = address.replace(postgres.url().partition("host=")[2], proxy.folder)
    stores = postgres_stores(through)
    one = stores.quarantine.add(entry(metadata={"count": 0}))
    proxy.arrives = arrives

    def counted(record):
        proxy.word = b"COMMIT" if proxy.lost == 0 else b""
        return replace(record, metadata={"count": record.metadata["count"] + 1})

    assert len(call(stores.quarantine, door, "edit", within(), counted)) == 1
    assert proxy.lost == 1
    assert stores.quarantine.find(within()).items == [replace(one, metadata={"count": 1})]
    proxy.word = b"COMMIT"
    two = entry("two")
    assert call(stores.quarantine, door, "add", two) == two
    proxy.word = b"COMMIT"
    assert call(stores.quarantine, door, "delete", within(ids=(one.id,))) == 1
    assert (proxy.lost, stores.quarantine.find(within()).items) == (3, [two])
    stores.working.close()


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_what_was_confirmed_is_there_once_after_a_restart(server, how, door):
    stores = postgres_stores(server.url, limits=PostgresLimits(pool_timeout=25))
    confirmed, failed, stop = [], [], threading.Event()

    def write(me):
        for n in range(10_000):
            if stop.is_set():
                return
            one = entry(f"{me} {n}", key=f"{me} {n}")
            try:
                call(stores.quarantine, door, "add", one)
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
    for door in DOORS:
        with pytest.raises(StoreUnavailable, match=r"away.*pool_timeout"):
            call(stores.quarantine, door, "find", within())
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        postgres_stores(server.url)
    server.start()
    for door in DOORS:
        assert call(stores.quarantine, door, "find", within()).total == 1
    stores.working.close()


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_a_server_that_says_nothing_is_not_waited_for_for_ever(server, door):
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
        call(stores.quarantine, door, "edit", within(), change)
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


# Waiting for others.


@pytest.mark.parametrize("door", DOORS)
def test_a_full_pool_is_said(address, door):
    stores = postgres_stores(address, limits=PostgresLimits(pool_size=1, pool_timeout=0.2))
    stores.quarantine.add(entry())

    async def native():
        def change(record):
            time.sleep(0.5)
            return record

        edit = asyncio.create_task(stores.quarantine.aedit(within(), change))
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailable, match="pool_size"):
            await asyncio.gather(*(stores.quarantine.afind(within()) for _ in range(3)))
        await edit
        await stores.quarantine.aclose()

    def change(record):
        with pytest.raises(StoreUnavailable, match="pool_size"):
            stores.quarantine.find(within())
        return record

    if door == "native":
        asyncio.run(native())
    else:
        assert stores.quarantine.edit(within(), change) == []
        assert stores.quarantine.find(within()).total == 1
    stores.working.close()


@pytest.mark.parametrize("door", DOORS)
def test_a_group_that_others_write_is_waited_for_and_no_other(address, door):
    stores = postgres_stores(address, lock_timeout=0.3)
    other = replace(ACME, group_id="other")

    def change(record):
        with pytest.raises(StoreUnavailable, match="lock_timeout"):
            call(stores.quarantine, door, "add", entry("waits"))
        with pytest.raises(StoreUnavailable, match="lock_timeout"):
            call(stores.quarantine, door, "delete", Select(tenant="t"))
        call(stores.quarantine, door, "add", entry("does not wait", other))
        assert call(stores.quarantine, door, "find", within()).total == 1
        return record

    stores.quarantine.add(entry())
    stores.quarantine.edit(within(), change)
    assert stores.quarantine.find(Select(tenant="t")).total == 2
    stores.working.close()


@pytest.mark.parametrize("door", DOORS)
def test_a_statement_that_takes_too_long_is_ended(address, door):
    stores = postgres_stores(f"{address}&statement_timeout=0.3")
    stores.quarantine.add(entry())
    with (
        holding(address, "LOCK TABLE record"),
        pytest.raises(StoreUnavailable, match="statement_timeout"),
    ):
        call(stores.quarantine, door, "find", within())
    assert call(stores.quarantine, door, "find", within()).total == 1
    stores.working.close()


def test_the_victim_of_a_deadlock_is_done_again(stores, address):
    one, two = (stores.quarantine.add(entry(name)) for name in ("one", "two"))
    thread_ended, result = threading.Event(), []

    def edit():
        result.extend(stores.quarantine.edit(within(), lambda old: replace(old, refused="x")))
        thread_ended.set()

    touch = "UPDATE record SET size = size WHERE id = %s"
    with holding(address, touch, one.id) as db:
        thread = threading.Thread(target=edit)
        thread.start()
        time.sleep(0.3)
        db.execute(touch, [two.id])
        db.commit()
    thread.join(20)
    assert thread_ended.is_set()
    assert [old.refused for old in stores.quarantine.find(within()).items] == ["x", "x"]


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
    time.sleep(0.1)
    rows = postgres.asked(
        address,
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'memoryware'"
        " AND query LIKE '%%' AND backend_start > now() - interval '1 minute' AND state = 'idle'",
    )
    assert rows[0][0] <= 2


async def test_what_was_closed_says_so(stores):
    await stores.quarantine.aadd(entry())
    await stores.working.aclose()
    for work in (stores.quarantine.afind(within()), asyncio.to_thread(stores.long_term.spaces)):
        with pytest.raises(StoreUnavailable, match="was closed"):
            await work


FORKED = """
import os, sys
from memoryware.conformance._tiers import entry, within
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


# Opening.


def test_the_address_may_carry_settings(address):
    with pytest.raises(StoreUnavailable, match="pool_size=0: must be"):
        open_stores(f"{address}&pool_size=0")
    with pytest.raises(StoreUnavailable, match="row_security='perhaps'"):
        open_stores(f"{address}&row_security=perhaps")
    with pytest.raises(StoreUnavailable, match="no address"):
        open_stores("postgresql://host:port/x")
    open_stores(f"{address}&pool_size=3&statement_timeout=5.5").working.close()


def test_an_address_may_name_several_servers_of_which_the_one_that_writes_is_taken():
    made = address_of(
        "postgresql://ann:hush@[::1]:5432,b.example:5433,c/x?target_session_attrs=read-write",
        PostgresLimits(),
    )
    assert made.shown == "postgresql://[::1]:5432,b.example:5433,c/x"
    known = conninfo_to_dict(made.conninfo)
    assert (known["host"], known["port"]) == ("::1,b.example,c", "5432,5433,")
    assert known["target_session_attrs"] == "read-write"
    with pytest.raises(StoreUnavailable, match="no address"):
        address_of("postgresql://a:5432,b:port/x", PostgresLimits())


def test_a_server_that_does_not_answer_is_passed_over_for_the_next(address):
    plain, _, folder = address.partition("host=")
    stores = postgres_stores(f"{plain}host=/nowhere,{folder}")
    stores.quarantine.add(entry())
    assert stores.quarantine.find(within()).total == 1
    stores.working.close()


def test_a_missing_package_names_the_command(address):
    script = (
        "import sys\nsys.modules['psycopg'] = None\nfrom memoryware import open_stores\n"
        "try:\n    open_stores('postgresql://ann:hush@host/x')\n"
        "except OSError as error:\n    print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=50, check=True
    )
    assert "pip install 'memoryware[postgres]'" in run.stdout
    assert "hush" not in run.stdout


def test_many_who_open_at_once_make_the_tables_once(address):
    failed = []

    def opening(n):
        try:
            stores = postgres_stores(address)
            stores.quarantine.add(entry(f"{n}"))
            stores.working.close()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=opening, args=(n,)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == []
    assert postgres.asked(address, "SELECT count(*) FROM record") == [(8,)]


def test_a_schema_of_another_program_is_left_alone(address):
    name = address.rpartition("=")[2]
    postgres.asked(address, f'CREATE SCHEMA "{name}"')
    postgres.asked(address, "CREATE TABLE theirs (x int)")
    with pytest.raises(StoreUnavailable, match="another program"):
        postgres_stores(address)


def test_a_newer_schema_is_left_alone_and_an_older_one_brought_up(address, stores, monkeypatch):
    stores.quarantine.add(entry("kept"))
    step = "ALTER TABLE record ADD COLUMN mood TEXT"
    monkeypatch.setattr(opening, "STEPS", (*schema.STEPS, f"{step}; NONSENSE"))
    with pytest.raises(StoreUnavailable, match="NONSENSE"):
        postgres_stores(address)
    monkeypatch.setattr(opening, "STEPS", (*schema.STEPS, step))
    newer = postgres_stores(address)
    assert newer.quarantine.find(within()).total == 1
    newer.working.close()
    stores.quarantine.add(entry("by the older one, which was open"))
    monkeypatch.undo()
    with pytest.raises(StoreNewer, match=r"version 2\.1"):
        postgres_stores(address)


def test_words_that_another_version_made_are_made_anew(stores, address):
    kept = [memory(f"about the orders {n}") for n in range(3)]
    for one in kept:
        stores.long_term.add([one])
    postgres.asked(address, "UPDATE about SET value = %s WHERE name = 'words'", WORDS_VERSION - 1)
    postgres.asked(address, "UPDATE word_index SET tokens = '{1}', often = '{1}'")
    assert stores.long_term.by_words(["order"], within(), limit=5) == []
    again = postgres_stores(address)
    assert len(again.long_term.by_words(["order"], within(), limit=5)) == 3
    again.working.close()


@contextmanager
def database(name, options=""):
    base = postgres.url()
    postgres.asked(f"{base}&schema=public", f"CREATE DATABASE {name} TEMPLATE template0 {options}")
    try:
        yield base.replace("/postgres?", f"/{name}?")
    finally:
        postgres.asked(f"{base}&schema=public", f"DROP DATABASE {name} WITH (FORCE)")


def test_what_a_database_lacks_is_said():
    name = f"lacking_{os.getpid()}"
    with (
        database(name, "ENCODING 'LATIN1' LOCALE 'C'") as url,
        pytest.raises(StoreUnavailable, match="ENCODING 'UTF8'"),
    ):
        postgres_stores(url)
    with database(name) as url:
        postgres.asked(f"{url}&schema=public", f"CREATE ROLE {name} LOGIN")
        mine = url.replace("postgres@", f"{name}@")
        with pytest.raises(StoreUnavailable, match="CREATE EXTENSION vector"):
            postgres_stores(mine)
        postgres.asked(f"{url}&schema=public", "CREATE EXTENSION vector")
        with pytest.raises(StoreUnavailable, match="may not"):
            postgres_stores(mine)
        postgres.asked(f"{url}&schema=public", "UPDATE pg_extension SET extversion = '0.7.4'")
        with pytest.raises(StoreUnavailable, match=r"0\.7\.4.*0\.8.*ALTER EXTENSION"):
            postgres_stores(url)
    postgres.asked(f"{postgres.url()}&schema=public", f"DROP ROLE {name}")
    with pytest.raises(StoreUnavailable, match="does not exist"):
        postgres_stores(url)


# Large scopes.


def test_among_many_the_index_finds_as_many_as_were_asked_for(address):
    dice = random.Random(1)
    stores = postgres_stores(address, limits=PostgresLimits(exact_vectors=100))
    space = Space("wide", 16)
    vectors = {}
    for group in range(4):
        scope = replace(ACME, group_id=f"g{group}")
        for n in range(5):
            chunks = document(*(f"{n} {m}" for m in range(100)), scope=scope)
            made = [[dice.gauss(0, 1) for _ in range(16)] for _ in chunks]
            stores.long_term.add(chunks, made, space)
            vectors |= {one.id: (group, vector) for one, vector in zip(chunks, made, strict=True)}
    good = 0
    for _ in range(10):
        query = [dice.gauss(0, 1) for _ in range(16)]
        which = within(replace(ACME, group_id="g2"), live_at=later(hours=1))
        hits = stores.long_term.by_vector(query, which, space=space, limit=10)
        assert len(hits) == 10
        mine = [(cosine(query, one), id_) for id_, (group, one) in vectors.items() if group == 2]
        best = {id_ for _, id_ in sorted(mine, reverse=True)[:10]}
        good += len(best & {hit.memory.id for hit in hits})
    assert good >= 90
    stores.working.close()
    time.sleep(0.1)
    scans = postgres.asked(
        address,
        "SELECT pg_stat_force_next_flush(), idx_scan FROM pg_stat_user_indexes"
        " WHERE indexrelname = 'vector_1' AND schemaname = current_schema()",
    )
    assert scans[0][1] >= 10


def test_words_are_looked_up_and_no_others(stores, address):
    for n in range(300):
        scope = replace(ACME, group_id=f"g{n % 3}")
        stores.long_term.add(document(f"tea {n}", scope=scope))
    postgres.asked(address, "ANALYZE word_index")
    assert (
        len(stores.long_term.by_words(["tea"], within(replace(ACME, group_id="g1")), limit=500))
        == 100
    )
    hits = stores.long_term.by_words(["7", "tea"], Select(tenant="t"), limit=1)
    assert [hit.memory.content for hit in hits] == ["tea 7"]
    plan = postgres.asked(
        address,
        "SET enable_seqscan = off; EXPLAIN SELECT * FROM word_index WHERE tokens && '{7}'::bigint[]",
    )
    assert "word_tokens" in str(plan)


@pytest.mark.parametrize("more", ["", "&prepared_statements=off"])
def test_many_words_score_as_they_do_elsewhere(address, more):
    dice, words = random.Random(2), [f"w{n}" for n in range(60)]
    stores = postgres_stores(address + more)
    mine, theirs = stores.long_term, embedded().long_term
    for _ in range(30):
        made = document(" ".join(dice.choices(words, k=40)), created_at=later(hours=dice.random()))
        mine.add(made)
        theirs.add(made)
    for count in (1, 20, 24, 25, 60):
        asked = dice.sample(words, count)
        one, other = (store.by_words(asked, within(), limit=5) for store in (mine, theirs))
        assert [hit.memory for hit in one] == [hit.memory for hit in other]
        assert [hit.value for hit in one] == pytest.approx([hit.value for hit in other])
    stores.working.close()


# Row-level security.


@pytest.fixture
def roles(address):
    """Roles that do not own the tables: one for all tenants, and one bound to tenant b."""
    if os.environ.get("TEST_POSTGRES_URL"):
        pytest.skip("makes roles")
    names = [f"app_{os.getpid()}", f"bound_{os.getpid()}"]
    for name in names:
        postgres.asked(address, f"CREATE ROLE {name} LOGIN")
    admit_role(address, names[0])
    admit_role(address, names[1], "b")
    yield [address.replace("postgres@", f"{name}@") for name in names]
    for name in names:
        postgres.asked(address, f"DROP OWNED BY {name}; DROP ROLE {name}")


def test_a_tenant_sees_nothing_of_another_by_statements_by_hand(roles):
    app, bound = roles
    stores = postgres_stores(app)
    for tenant in ("a", "b", None):
        scope = MemoryScope(tenant, "g")
        stores.quarantine.add(entry(f"entry of {tenant}", scope))
        stores.long_term.add(document(f"tea of {tenant}", scope=scope), [[1, 0, 0]], FLAT)
    tables = ["record", "source", "root", "word_index", "vector"]
    counting = "; ".join(f"SELECT count(*) FROM {one}" for one in tables)
    for sets, wanted in (("ta", 1), ("tb", 1), ("n", 1), ("tc", 0), ("", 0)):
        script = (
            f"SET memoryware.owner = '{sets}'; SELECT count(*) FROM record WHERE tier = 'long_term'"
        )
        assert counted(app, script) == wanted
        for one in tables[2:]:
            assert counted(app, f"SET memoryware.owner = '{sets}'; SELECT count(*) FROM {one}") in (
                wanted, 2 * wanted,
            )  # fmt: skip
    for sets in ("ta", "*", "tb"):  # whatever a bound role says
        script = f"SET memoryware.owner = '{sets}'; SELECT string_agg(content, ',') FROM record"
        assert counted(bound, script) == "entry of b,tea of b"
        script = f"SET memoryware.owner = '{sets}'; UPDATE record SET size = 9 RETURNING 1"
        assert counted(bound, script) == 1
        looked = "SELECT count(*) FROM looked_up((SELECT array_agg(t) FROM word_index, unnest(tokens) t), '{}')"
        assert counted(bound, f"SET memoryware.owner = '{sets}'; {looked}") == 1
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        counted(
            bound,
            "SET memoryware.owner = 'ta'; INSERT INTO root SELECT seq, 'x', 'ta' FROM record RETURNING 1",
        )
    assert counting
    stores.working.close()


def counted(address, script):
    plain, _, name = address.replace("&schema=", "?schema=").partition("?schema=")
    with psycopg.connect(plain, autocommit=True) as db:
        db.execute(f'SET search_path = "{name}", public')
        cursor = db.execute(script)
        while cursor.nextset():
            pass
        return cursor.fetchone()[0]


def test_a_role_that_owns_nothing_can_do_everything_for_its_tenants(roles):
    app, bound = roles
    stores = postgres_stores(app)
    for tenant in ("a", "b"):
        scope = MemoryScope(tenant, "g")
        stores.working.push(entry("x", scope, expires_at=later(hours=1)), keep=5)
        stores.long_term.add(document("green tea", "door", scope=scope))
    assert len(stores.long_term.unembedded(FLAT, limit=9)) == 4
    every = [(one, [1, 0, 0]) for one in stores.long_term.unembedded(FLAT, limit=9)]
    assert stores.long_term.put_vectors(every, FLAT) == 4
    which = Select(tenant="b", groups=("g",))
    assert len(stores.long_term.by_vector([1, 0, 0], which, space=FLAT, limit=9)) == 2
    assert len(stores.long_term.by_words(["tea"], which, limit=9)) == 1
    of_b = postgres_stores(bound)
    assert len(of_b.long_term.by_words(["tea"], which, limit=9)) == 1
    assert of_b.long_term.by_words(["tea"], Select(tenant="a", groups=("g",)), limit=9) == []
    assert of_b.long_term.spaces() == {FLAT: 2}
    assert of_b.working.purge(later(hours=2)) == 1
    with pytest.raises(StoreUnavailable, match="may not"):
        of_b.long_term.add(document("for a", scope=MemoryScope("a", "g")))
    with pytest.raises(StoreUnavailable, match="may not"):
        of_b.long_term.adopt(Space("other", 2), drop_others=True)
    assert stores.working.purge(later(hours=2)) == 1
    stores.working.close()
    of_b.working.close()

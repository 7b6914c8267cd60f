"""PostgreSQL: how often an operation waits for the server, and statements that nobody waits for."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from memoryware._runner import run_blocking
from memoryware.errors import StoreUnavailable
from memoryware.settings import PostgresLimits
from memoryware.testing._store import FLAT, document, entry, within
from memoryware.tiers.stores.postgres import postgres_stores
from memoryware.tiers.stores.postgres._address import address_of
from memoryware.tiers.stores.postgres._schema import open_database
from memoryware.tiers.stores.postgres._store import BlockingServer
from memoryware.tiers.stores.protocol import Select
from servers import postgres
from tiers.stores.postgres.kit import MODES, call, holding, through


@pytest.fixture
def server(address):
    """The port of a database, whose transactions a test may begin itself."""
    opened_server = BlockingServer(open_database(address_of(address, PostgresLimits())))
    yield opened_server
    run_blocking(opened_server.close())


def test_round_trips_of_the_operations_of_a_store(address, relay):
    stores = postgres_stores(through(address, relay))
    which, vectors = within(), [[1, 0, 0], [0, 1, 0]]
    stores.long_term.add(document("makes", "the space"), vectors, FLAT)
    waiting = stores.quarantine.add(entry("first", key="first"))
    change = lambda record: replace(record, refused="no")
    taken = {
        "add": lambda: stores.quarantine.add(entry("second", key="second")),
        "add again": lambda: stores.quarantine.add(replace(waiting, id="f" * 32)),
        "push": lambda: stores.working.push(entry("third"), keep=3),
        "find": lambda: stores.quarantine.find(which),
        "edit": lambda: stores.quarantine.edit(within(ids=(waiting.id,)), change),
        "delete": lambda: stores.quarantine.delete(within(ids=(waiting.id,))),
        "document": lambda: stores.long_term.add(document("a", "b"), vectors, FLAT),
    }
    counts = {name: relay.counted(operation) for name, operation in taken.items()}
    written = {"add": 2, "push": 1, "edit": 2, "delete": 2, "document": 2}
    assert counts == written | {"add again": 1, "find": 1}
    stores.working.close()


def test_reads_that_are_gathered_take_one_round_trip(address, relay):
    port = BlockingServer(open_database(address_of(through(address, relay), PostgresLimits())))

    async def times(tx, number):
        ((first,),) = await tx.execute("SELECT ?::integer * 2", number)
        return (await tx.execute("SELECT ?::integer * 2", first))[0][0]

    async def work(port):
        async with port.transaction(within(), snapshot=False) as tx:
            return await tx.gather([times(tx, number) for number in range(20)])

    assert run_blocking(port.run(work)) == [number * 4 for number in range(20)]
    assert relay.counted(lambda: run_blocking(port.run(work))) == 2
    run_blocking(port.close())


def test_an_error_of_a_gathered_read_closes_the_others(server):
    closed = []

    async def fails(tx):
        await tx.execute("SELECT 1")
        raise ValueError("this one")

    async def waits(tx):
        try:
            await tx.execute("SELECT 2")
            await tx.execute("SELECT 3")
        finally:
            closed.append("waits")

    async def work(port):
        async with port.transaction(within()) as tx:
            await tx.gather([waits(tx), fails(tx)])

    with pytest.raises(ValueError, match="this one"):
        run_blocking(server.run(work))
    assert closed == ["waits"]
    assert run_blocking(server.run(_answers)) == [(1,)]


async def _answers(port):
    async with port.transaction(within()) as tx:
        return await tx.execute("SELECT 1")


def test_an_error_of_a_statement_that_nobody_waited_for_undoes_the_transaction(server, address):
    async def work(port):
        async with port.transaction(within(), writes=True) as tx:
            await tx.execute("DELETE FROM about WHERE name = 'words'")
            await tx.execute("UPDATE about SET value = value / 0")
            await tx.execute("DELETE FROM about")

    with pytest.raises(StoreUnavailable, match="division by zero"):
        run_blocking(server.run(work))
    assert len(postgres.asked(address, "SELECT name FROM about")) == 4
    assert run_blocking(server.run(_answers)) == [(1,)]


def test_an_error_that_was_caught_keeps_the_rest_from_being_committed(server, address):
    async def work(port):
        async with port.transaction(within(), writes=True) as tx:
            await tx.execute("DELETE FROM about WHERE name = 'words'")
            with pytest.raises(StoreUnavailable, match="division by zero"):
                await tx.execute("SELECT 1 / 0")
            # The server answers COMMIT with ROLLBACK then, and calls neither an error.

    with pytest.raises(StoreUnavailable, match=r"aborted|nothing was stored"):
        run_blocking(server.run(work))
    assert len(postgres.asked(address, "SELECT name FROM about")) == 4


def test_more_statements_than_fit_into_a_queue_are_one_transaction(server, address):
    async def work(port):
        async with port.transaction(within(), writes=True) as tx:
            for number in range(2500):
                await tx.execute("INSERT INTO about VALUES (?, ?)", f"{number}", number)
            raise ValueError("undone")

    with pytest.raises(ValueError, match="undone"):
        run_blocking(server.run(work))
    assert len(postgres.asked(address, "SELECT name FROM about")) == 4


def test_a_read_without_a_transaction_is_about_its_tenant_each_time(server):
    async def owners(port):
        async with port.transaction(Select(tenant="a"), snapshot=False) as tx:
            asked = "SELECT current_setting('memoryware.owner'), now()"
            return [(await tx.execute(asked))[0] for _ in range(2)]

    (first, begun), (second, later) = run_blocking(server.run(owners))
    assert (first, second) == ("ta", "ta")
    assert begun < later, "both are of one transaction"


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_commit_that_arrives_after_the_client_gave_it_up_fails(address, proxy, mode):
    stores = postgres_stores(through(address, proxy))
    stores.quarantine.add(entry("first"))
    proxy.word, proxy.late = b"COMMIT", 0.5
    one = entry("second", key="once")
    assert call(stores.quarantine, mode, "add", one) == one
    assert proxy.lost == 1
    assert stores.quarantine.find(within()).total == 2
    stores.working.close()


def test_a_fenced_connection_commits_nothing(server, address):
    """Also where it holds no lock that its successor would wait for."""
    fenced = threading.Event()

    async def work(port):
        async with port.transaction(None, writes=True) as tx:
            number = tx._pipeline.db.session.number
            if not fenced.is_set():
                fence = "INSERT INTO done (connection, mark) VALUES (%s, -1)"
                postgres.asked(address, fence, number)
                fenced.set()
            await tx.execute("INSERT INTO about VALUES ('more', 1)")

    with pytest.raises(StoreUnavailable, match="division by zero"):
        run_blocking(server.run(work))
    assert len(postgres.asked(address, "SELECT name FROM about")) == 4


def test_a_transaction_that_waits_for_its_client_is_known_as_idle(stores, address):
    """Only so the server ends it when the client is gone for good."""
    states = []

    def change(record):
        states.extend(
            postgres.asked(
                address,
                "SELECT state FROM pg_stat_activity WHERE application_name = 'memoryware'"
                " AND state LIKE 'idle in%%' AND backend_start > now() - interval '1 minute'",
            )
        )
        return record

    stores.quarantine.add(entry())
    stores.quarantine.edit(within(), change)
    assert ("idle in transaction",) in states


def test_statements_are_prepared_when_they_are_sent_again(stores, address, server):
    async def work(port):
        async with port.transaction(within()) as tx:
            for number in range(3):
                await tx.execute("SELECT ?::integer + 41", number)
            return await tx.execute(
                "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%41'"
            )

    assert [*run_blocking(server.run(work))] == [("SELECT $1::integer + 41",)]


def test_no_more_statements_stay_prepared_than_may(server):
    async def work(port):
        async with port.transaction(within()) as tx:
            for number in range(250):
                for _ in range(2):
                    await tx.execute(f"SELECT {number}")
            return await tx.execute("SELECT count(*) FROM pg_prepared_statements")

    ((count,),) = run_blocking(server.run(work))
    assert 150 < count <= 201


def test_a_reader_that_does_not_wait_for_its_end_leaves_its_connection_usable(stores, address):
    stores.quarantine.add(entry("kept"))
    for _ in range(3):
        assert stores.quarantine.find(within(), limit=1).total == 1
    with holding(address, "LOCK TABLE record IN ACCESS EXCLUSIVE MODE") as db:
        threading.Timer(0.3, db.rollback).start()
        began = time.monotonic()
        assert stores.quarantine.find(within()).total == 1
        assert time.monotonic() - began > 0.2

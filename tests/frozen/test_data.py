"""Data that memoryware 0.1.0 wrote is read as it was, by every engine and both doors."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from doors import everyday_and_slow
from frozen import engines
from frozen.commands import outputs
from frozen.reads import AsyncDoor, differences, read_all, readable
from frozen.sample import Sample
from memoryware import TieredMemory
from memoryware.stores import aopen_stores, langgraph_stores, open_stores
from memoryware.tiers.stores.embedded import embedded
from servers import postgres

HERE = Path(__file__).parent
AGAIN = "If this is meant: python tests/frozen/made.py reads, and a line in docs/changelog.d"
SAME, NEAR = 2e-6, 1e-4
"""How far scores may be apart: where vectors are kept alike, and where they are kept otherwise."""


@pytest.fixture(scope="module")
def frozen():
    return json.loads((HERE / "reads.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def written():
    """What reads answer on data that today's version has written."""
    return json.loads((HERE / "written.json").read_text("utf-8"))


def assert_same(expected, memory, labels, tolerance=SAME):
    found = json.loads(json.dumps(read_all(memory, labels)))
    differing = list(differences(expected, found, tolerance))
    assert not differing, "\n".join([f"{len(differing)} answers differ:", *differing[:20], AGAIN])


def opener(stores, journal):
    """Return a function that opens memories over the stores of each call."""
    return lambda **options: TieredMemory(stores(), journal=journal, **options)


def async_opener(runner, address, journal):
    """Return the same for an address, with memories that use the asynchronous half alone."""

    def opened(**options):
        stores = runner.run(aopen_stores(address))
        return AsyncDoor(TieredMemory(stores, journal=journal, **options), runner)

    return opened


@contextmanager
def loaded_postgres():
    with postgres.schema_at(postgres.url()) as address:
        engines.load_postgres(address)
        yield address


# What 0.1.0 has written.


@pytest.mark.parametrize(
    "version", [4, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3))]
)
def test_a_sqlite_file_is_read_as_before(version, frozen, tmp_path):
    path = engines.place_sqlite(tmp_path, version)
    journal = path.with_suffix(".journal.jsonl")
    for _ in ("migrated", "opened again"):
        with readable(
            opener(lambda: open_stores(f"sqlite:///{path}"), journal), Sample(None)
        ) as memory:
            assert_same(frozen, memory, engines.labels())


@pytest.mark.parametrize("version", [3, 4])
def test_what_a_sqlite_file_counts_is_right_after_a_migration(version, tmp_path):
    path = engines.place_sqlite(tmp_path, version)
    open_stores(f"sqlite:///{path}").long_term.close()
    with closing(sqlite3.connect(path)) as db:
        without = """
            SELECT space.id, seq FROM space, record WHERE tier = 1
            AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.id = (space.id << 44) | seq)
            ORDER BY space.id, seq
        """
        pending = db.execute("SELECT space, seq FROM pending ORDER BY space, seq").fetchall()
        assert pending == db.execute(without).fetchall() != []
        counts = "SELECT sum(quarantine), sum(long_term), sum(working), sum(waiting), sum(words)"
        every = db.execute(f"{counts} FROM part WHERE id = 0").fetchone()
        assert every == db.execute(f"{counts} FROM part WHERE id > 0").fetchone()


@pytest.mark.slow
def test_a_sqlite_file_is_read_as_before_by_the_asynchronous_half(frozen, tmp_path):
    path = engines.place_sqlite(tmp_path)
    with asyncio.Runner() as runner:
        opened = async_opener(runner, f"sqlite:///{path}", path.with_suffix(".journal.jsonl"))
        with readable(opened, Sample(None)) as memory:
            assert_same(frozen, memory, engines.labels())


@pytest.mark.slow
def test_tables_in_postgres_are_read_as_before(frozen, tmp_path):
    journal = engines.place_journal(tmp_path)
    with (
        loaded_postgres() as address,
        readable(opener(lambda: open_stores(address), journal), Sample(None)) as memory,
    ):
        assert_same(frozen, memory, engines.labels())


@pytest.mark.slow
def test_tables_in_postgres_are_read_as_before_by_the_asynchronous_half(frozen, tmp_path):
    journal = engines.place_journal(tmp_path)
    with (
        loaded_postgres() as address,
        asyncio.Runner() as runner,
        readable(async_opener(runner, address, journal), Sample(None)) as memory,
    ):
        assert_same(frozen, memory, engines.labels())


@pytest.mark.slow
def test_working_memory_in_redis_is_read_as_before(frozen, tmp_path, redis_url, redis_prefix):
    journal = engines.place_journal(tmp_path)
    engines.load_redis(redis_url, redis_prefix)
    with loaded_postgres() as address:
        postgres.asked(address, "DELETE FROM record WHERE tier = 'working'")
        both = f"{address} + {redis_url}?prefix={redis_prefix}"
        with readable(opener(lambda: open_stores(both), journal), Sample(None)) as memory:
            assert_same(frozen, memory, engines.labels())


@pytest.mark.slow
def test_items_of_a_langgraph_store_are_read_as_before(frozen, tmp_path):
    store, journal = engines.load_langgraph(), engines.place_journal(tmp_path)
    with readable(opener(lambda: langgraph_stores(store), journal), Sample(None)) as memory:
        assert_same(frozen, memory, engines.labels())


# What today's version writes, from the same calls.


def assert_written_alike(written, opened, tolerance=SAME):
    sample = Sample(opened)
    labels = sample.write()
    with readable(opened, sample) as memory:
        assert_same(written, memory, labels, tolerance)


@pytest.mark.slow
def test_the_same_calls_leave_the_same_memory_in_a_process(written, tmp_path):
    class Kept:  # each opening is of the same stores, which closing must not end
        stores = embedded()

    def opened(**options):
        memory = TieredMemory(Kept.stores, journal=tmp_path / "journal", **options)
        memory.close = lambda: None
        return memory

    assert_written_alike(written, opened, NEAR)


@pytest.mark.slow
def test_the_same_calls_leave_the_same_memory_in_a_file(written, tmp_path):
    address = f"sqlite:///{tmp_path / 'memory.db'}"
    assert_written_alike(written, opener(lambda: open_stores(address), tmp_path / "journal"))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["file", "server"])
def test_the_same_asynchronous_calls_leave_the_same_memory(where, written, tmp_path):
    with asyncio.Runner() as runner, postgres.schema_at(postgres.url()) as schema:
        address = schema if where == "server" else f"sqlite:///{tmp_path / 'memory.db'}"
        assert_written_alike(written, async_opener(runner, address, tmp_path / "journal"))


@pytest.mark.slow
def test_the_same_calls_leave_the_same_memory_on_servers(
    written, tmp_path, redis_url, redis_prefix
):
    with postgres.schema_at(postgres.url()) as address:
        both = f"{address} + {redis_url}?prefix={redis_prefix}"
        assert_written_alike(written, opener(lambda: open_stores(both), tmp_path / "journal"))


@pytest.mark.slow
def test_the_same_calls_leave_the_same_memory_in_a_langgraph_store(written, tmp_path):
    from langgraph.store.memory import InMemoryStore

    store = InMemoryStore()
    opened = opener(lambda: langgraph_stores(store), tmp_path / "journal")
    assert_written_alike(written, opened)


# The command.


def test_commands_print_the_same_json(tmp_path):
    engines.place_sqlite(tmp_path)
    expected = json.loads((HERE / "outputs.json").read_text("utf-8"))
    differing = list(differences(expected, outputs(tmp_path, engines.labels()), SAME))
    assert not differing, "\n".join([*differing[:20], AGAIN])


# The tests can fail.


@pytest.mark.parametrize(
    "statement",
    everyday_and_slow(
        'UPDATE record SET body = replace(body, \'"status":"rejected"\', \'"status":"pending"\')',
        'UPDATE record SET body = replace(body, \'"group_id":"shop"\', \'"group_id":"other"\')',
        "UPDATE record SET body = replace(body, '\"sources\":[', '\"lost\":[')",
        "DELETE FROM vector WHERE seq = (SELECT min(seq) FROM vector)",
    ),
)
def test_lost_data_is_seen(statement, frozen, tmp_path):
    import sqlite3

    path = engines.place_sqlite(tmp_path)
    with sqlite3.connect(path, isolation_level=None) as db:
        assert db.execute(statement).rowcount
    db.close()
    journal = path.with_suffix(".journal.jsonl")
    with (
        readable(opener(lambda: open_stores(f"sqlite:///{path}"), journal), Sample(None)) as memory,
        pytest.raises(AssertionError, match="answers differ"),
    ):
        assert_same(frozen, memory, engines.labels())

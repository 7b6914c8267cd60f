"""Every store that we ship passes the suite of its protocol, and all of them rank alike."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import psycopg
import pytest
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from docs.pages import ROOT, blocks
from doors import everyday
from memoryware.testing import (
    LongTermStoreConformance,
    QuarantineStoreConformance,
    WorkingStoreConformance,
)
from memoryware.testing._store import document, later, within
from memoryware.tiers.stores._sql import searching
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.langgraph import langgraph_stores
from memoryware.tiers.stores.postgres import postgres_stores
from memoryware.tiers.stores.protocol import Space, Stores
from memoryware.tiers.stores.redis import RedisSettings, RedisWorking
from memoryware.tiers.stores.sqlite import sqlite_stores
from memoryware.tiers.text.terms import words_of
from servers import postgres


@pytest.fixture
def address():
    """A PostgreSQL with a schema of its own for each test."""
    with postgres.schema_at(postgres.url()) as made:
        yield made


@everyday("blocking")
class _Embedded:
    persistent = False

    @pytest.fixture
    def open_stores(self):
        return embedded


@everyday("native")
class _Sqlite:
    """The asynchronous half calls the blocking one in a thread: who tests that tests both."""

    @pytest.fixture
    def open_stores(self, in_memory):
        return lambda: sqlite_stores(in_memory / "memory.db")


@everyday("native")
class _Redis:
    @pytest.fixture
    def open_stores(self, redis_url, redis_prefix):
        settings = RedisSettings(prefix=redis_prefix)

        def open_both():
            rest = embedded()
            return Stores(rest.quarantine, RedisWorking(redis_url, settings), rest.long_term)

        return open_both


@everyday()
class _RedisOldest(_Redis):
    @pytest.fixture
    def redis_url(self, redis_oldest_url):
        return redis_oldest_url


@everyday()
class _RedisCluster:
    @pytest.fixture
    def open_stores(self, redis_cluster_url):
        settings = RedisSettings(prefix=f"{os.urandom(8).hex()}:")

        def open_both():
            rest = embedded()
            working = RedisWorking(redis_cluster_url, settings)
            return Stores(rest.quarantine, working, rest.long_term)

        return open_both


@everyday("native")
class _InMemory:
    @pytest.fixture
    def open_stores(self):
        store = InMemoryStore()
        return lambda: langgraph_stores(store)


@everyday()
class _LangGraphSqlite:
    @pytest.fixture
    def open_stores(self, tmp_path):
        with SqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
            store.setup()
            yield lambda: langgraph_stores(store)


@everyday()
class _LangGraphAsyncSqlite:
    """A store of one event loop, which is native only."""

    modes = ("native",)

    @pytest.fixture
    async def open_stores(self, tmp_path):
        async with AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
            await store.setup()
            yield lambda: langgraph_stores(store)


@everyday()
class _LangGraphPostgres:
    @pytest.fixture
    def open_stores(self, address):
        whole, _, schema = address.rpartition("schema=")
        with psycopg.connect(whole.rstrip("?&"), autocommit=True) as db:
            db.execute(f'CREATE SCHEMA "{schema}"')
        with PostgresStore.from_conn_string(f"{whole}options=-csearch_path%3D{schema}") as store:
            store.setup()
            yield lambda: langgraph_stores(store)


@everyday("native")
class _Postgres:
    @pytest.fixture
    def open_stores(self):
        with postgres.emptied_schema() as address:
            yield lambda: postgres_stores(address)


@everyday()
class _SlowPostgres(_Postgres):
    """What only the long-term memory of everyday tests is asked of."""


@everyday()
class _PostgresWithoutSegments:
    """Where the server searches for itself."""

    @pytest.fixture
    def open_stores(self, address):
        return lambda: postgres_stores(f"{address}&indexed=0")


@everyday()
class _PostgresInParts:
    """In tables that are in parts by tenant."""

    @pytest.fixture
    def open_stores(self, address):
        return lambda: postgres_stores(f"{address}&partitions=3")


class TestEmbeddedQuarantine(_Embedded, QuarantineStoreConformance):
    pass


class TestEmbeddedWorking(_Embedded, WorkingStoreConformance):
    pass


class TestEmbeddedLongTerm(_Embedded, LongTermStoreConformance):
    pass


class TestSqliteQuarantine(_Sqlite, QuarantineStoreConformance):
    pass


class TestSqliteWorking(_Sqlite, WorkingStoreConformance):
    pass


class TestRedisWorking(_Redis, WorkingStoreConformance):
    pass


class TestRedisOldestWorking(_RedisOldest, WorkingStoreConformance):
    pass


class TestRedisClusterWorking(_RedisCluster, WorkingStoreConformance):
    pass


class TestSqliteLongTerm(_Sqlite, LongTermStoreConformance):
    pass


class TestInMemoryQuarantine(_InMemory, QuarantineStoreConformance):
    pass


class TestInMemoryWorking(_InMemory, WorkingStoreConformance):
    pass


class TestInMemoryLongTerm(_InMemory, LongTermStoreConformance):
    pass


class TestLangGraphSqliteQuarantine(_LangGraphSqlite, QuarantineStoreConformance):
    pass


class TestLangGraphSqliteWorking(_LangGraphSqlite, WorkingStoreConformance):
    pass


class TestLangGraphSqliteLongTerm(_LangGraphSqlite, LongTermStoreConformance):
    pass


class TestLangGraphAsyncSqliteQuarantine(_LangGraphAsyncSqlite, QuarantineStoreConformance):
    pass


class TestLangGraphAsyncSqliteWorking(_LangGraphAsyncSqlite, WorkingStoreConformance):
    pass


class TestLangGraphAsyncSqliteLongTerm(_LangGraphAsyncSqlite, LongTermStoreConformance):
    pass


class TestLangGraphPostgresQuarantine(_LangGraphPostgres, QuarantineStoreConformance):
    pass


class TestLangGraphPostgresWorking(_LangGraphPostgres, WorkingStoreConformance):
    pass


class TestLangGraphPostgresLongTerm(_LangGraphPostgres, LongTermStoreConformance):
    pass


class TestPostgresQuarantine(_SlowPostgres, QuarantineStoreConformance):
    pass


class TestPostgresWorking(_SlowPostgres, WorkingStoreConformance):
    pass


class TestPostgresWithoutSegmentsLongTerm(_PostgresWithoutSegments, LongTermStoreConformance):
    pass


class TestPostgresInPartsLongTerm(_PostgresInParts, LongTermStoreConformance):
    pass


class TestPostgresInPartsQuarantine(_PostgresInParts, QuarantineStoreConformance):
    pass


class TestPostgresInPartsWorking(_PostgresInParts, WorkingStoreConformance):
    pass


class TestPostgresLongTerm(_Postgres, LongTermStoreConformance):
    pass


WORDS = [
    "tea",
    "milk",
    "green",
    "black",
    "cup",
    "the",
    "of",
    "four",
    "o'clock",
    "数据库",
    "Straße",
    "naïve",
    "x_17",
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_all_stores_rank_alike(in_memory, address, seed, monkeypatch):
    # So few texts are scored in one look; here some seeds take them word by word.
    monkeypatch.setattr(searching, "_FEW", (0, 25, 40, 60, 500)[seed])
    dice = random.Random(seed)
    opened = [embedded(), sqlite_stores(in_memory / "memory.db"), postgres_stores(address)]
    opened.append(langgraph_stores(InMemoryStore()))
    stores = [one.long_term for one in opened]
    space = Space("a model", 12)
    for n in range(40):
        texts = [" ".join(dice.choices(WORDS, k=dice.randrange(1, 30))) for _ in range(2)]
        made = document(*texts, created_at=later(hours=n), agent=dice.choice([None, "a"]))
        vectors = [[dice.gauss(0, 1) for _ in range(12)] for _ in texts]
        ended = [
            one.items[0].document_id for one in [stores[0].find(within(), limit=1)] if one.items
        ]
        for store in stores:
            store.add(made, vectors, space, replaces=ended if n % 9 == 8 else ())
    for _ in range(20):
        query = words_of(" ".join(dice.choices(WORDS, k=3)))
        which = within(live_at=later(hours=dice.randrange(40)), agents=dice.choice([None, ("a",)]))
        limit = dice.choice([3, 100])
        one, *others = (store.by_words(query, which, limit=limit) for store in stores)
        for other in others:
            assert [hit.memory for hit in one] == [hit.memory for hit in other]
            assert [hit.value for hit in one] == pytest.approx([hit.value for hit in other])
            assert [hit.whole for hit in one] == pytest.approx([hit.whole for hit in other])
        vector = [dice.gauss(0, 1) for _ in range(12)]
        one, *others = (store.by_vector(vector, which, space=space, limit=10) for store in stores)
        values = [hit.value for hit in one]
        for other in others:
            assert [hit.value for hit in other] == pytest.approx(values, abs=0.002)
    for one in opened:
        one.working.close()


# What somebody meets who runs a suite on a store of their own.


def test_a_test_of_a_suite_cannot_be_replaced():
    with pytest.raises(TypeError, match=r"cannot be overridden.*test_a_key_is_recorded_once"):

        class Replaced(QuarantineStoreConformance):
            async def test_a_key_is_recorded_once(self):
                """Nothing to see here."""

    with pytest.raises(TypeError, match=r"cannot be overridden.*test_each_group_has_its_own_list"):

        class Removed(WorkingStoreConformance):
            test_each_group_has_its_own_list = None


def test_a_class_tests_one_tier():
    with pytest.raises(TypeError, match="one class for each tier"):

        class Both(QuarantineStoreConformance, WorkingStoreConformance):
            pass


def test_a_mode_has_a_name():
    with pytest.raises(TypeError, match="use 'blocking', 'native' or both"):

        class Neither(LongTermStoreConformance):
            modes = ("async",)


@pytest.mark.parametrize(
    "suite", [QuarantineStoreConformance, WorkingStoreConformance, LongTermStoreConformance]
)
def test_every_test_of_a_suite_is_marked_for_strict_mode(suite):
    tests = [name for name in dir(suite) if name.startswith("test_")]
    assert len(tests) >= 40
    assert [name for name in tests if not getattr(suite, name).pytestmark] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_tests_that_the_reference_shows_pass_in_a_project_of_somebody_else(tmp_path):
    (shown,) = (
        one
        for one in blocks(ROOT / "docs" / "reference" / "testing.md")
        if one.title == "test_my_stores.py"
    )
    (tmp_path / shown.title).write_text(shown.text)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nasyncio_mode = strict\nasyncio_default_fixture_loop_scope = function\n"
        "filterwarnings = error\nxfail_strict = true\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--color=no"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert "skipped" not in run.stdout

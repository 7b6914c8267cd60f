"""StoreBackend passes the one suite, over stores that block, that live on a loop, and both."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest
import pytest_asyncio
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from doors import everyday
from memoryware import StoreBackend
from memoryware.testing import AppendsConformance, FileBackendConformance


@everyday("blocking")
class TestStoreInMemory(FileBackendConformance, AppendsConformance):
    reports_created_at = True
    refuses_missing_folders = False

    @pytest.fixture
    def open_backend(self):
        store = InMemoryStore()
        return lambda: StoreBackend(store=store, namespace=("memory", "auth0|jane.roe"))


@everyday()
class TestStoreInSqlite(FileBackendConformance, AppendsConformance):
    reports_created_at = True
    refuses_missing_folders = False
    modes = ("blocking",)
    listing_size = 250

    @pytest.fixture
    def open_backend(self, tmp_path):
        connection = sqlite3.connect(
            tmp_path / "store.db", check_same_thread=False, isolation_level=None
        )
        store = SqliteStore(connection)
        store.setup()
        yield lambda: StoreBackend(store=store, namespace=lambda _: ("memory", "ann"))
        connection.close()


def ann(_runtime):
    return "mem", "ann"


@everyday()
class TestAsyncSqliteStore(FileBackendConformance, AppendsConformance):
    """This store lives on a loop, and takes blocking calls from other threads only."""

    reports_created_at = True
    listing_size = 250

    @pytest_asyncio.fixture
    async def open_backend(self, tmp_path):
        async with AsyncSqliteStore.from_conn_string(str(tmp_path / "memory.db")) as store:
            await store.setup()
            yield lambda: StoreBackend(store=store, namespace=ann)


class AsyncOnlyStore(BaseStore):
    """Like a store whose connection lives on the event loop: blocking calls are refused."""

    def __init__(self):
        self.inner = InMemoryStore()

    def batch(self, ops):
        raise RuntimeError("blocking call on an async store")

    async def abatch(self, ops):
        await asyncio.sleep(0)
        return await self.inner.abatch(ops)


class TestAsyncOnlyStore(FileBackendConformance, AppendsConformance):
    modes = ("native",)
    reports_created_at = True

    @pytest.fixture
    def open_backend(self):
        store = AsyncOnlyStore()
        return lambda: StoreBackend(store=store, namespace=ann)

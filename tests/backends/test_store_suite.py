"""StoreBackend passes the one suite, over two kinds of store."""

from __future__ import annotations

import sqlite3

import pytest
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from doors import everyday
from memoryware import StoreBackend
from memoryware.testing import AppendsConformance, FileBackendConformance


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

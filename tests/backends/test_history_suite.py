"""A backend with a history keeps every promise of the one in it."""

from __future__ import annotations

import sqlite3
import threading

import pytest
import pytest_asyncio
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from backends.in_graph import InGraph, Thread
from conformance.dict_backend import DictBackend
from memoryware.backends import CompositeBackend, FilesystemBackend, StateBackend, StoreBackend
from memoryware.backends.history import HistoryBackend
from memoryware.conformance import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
    NamesConformance,
)


class _OnDisk(
    FileBackendConformance, AppendsConformance, FingerprintsConformance, NamesConformance
):
    keeps_empty_folders = True
    longest_name = 255
    many_files = 60


class TestDisk(_OnDisk):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return lambda: HistoryBackend(FilesystemBackend(tmp_path / "root"))


class TestHostPaths(_OnDisk):
    has_home = True

    @pytest.fixture
    def open_backend(self, tmp_path):
        return lambda: HistoryBackend(FilesystemBackend(tmp_path, virtual_mode=False))

    @pytest.fixture
    def root(self, tmp_path):
        return str(tmp_path)


class TestStoreInMemory(FileBackendConformance, AppendsConformance):
    tells_created_at = True
    many_files = 60

    @pytest.fixture
    def open_backend(self):
        store = InMemoryStore()
        return lambda: HistoryBackend(StoreBackend(store=store, namespace=("memory", "ann")))

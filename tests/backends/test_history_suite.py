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
from memoryware.backends._wrapping import WrappingBackend
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


class TestStoreInSqlite(*FileBackendConformance.__bases__, AppendsConformance):
    """This store blocks only. A wrapper answers errors at the other door, it does not raise."""

    tells_created_at = True
    doors = ("blocking",)
    many_files = 40

    @pytest.fixture
    def open_backend(self, tmp_path):
        connection = sqlite3.connect(
            tmp_path / "store.db", check_same_thread=False, isolation_level=None
        )
        store = SqliteStore(connection)
        store.setup()
        yield lambda: HistoryBackend(
            StoreBackend(store=store, namespace=("files", "ann")),
            versions=StoreBackend(store=store, namespace=("history", "ann")),
        )
        connection.close()


class TestAsyncSqliteStore(FileBackendConformance, AppendsConformance):
    tells_created_at = True
    many_files = 40

    @pytest_asyncio.fixture
    async def open_backend(self, tmp_path):
        async with AsyncSqliteStore.from_conn_string(str(tmp_path / "memory.db")) as store:
            await store.setup()
            yield lambda: HistoryBackend(StoreBackend(store=store, namespace=("memory", "ann")))


class InGraphWithHistory(InGraph):
    """Calls a state backend with a history inside a run of its thread."""

    def __init__(self, thread):
        super().__init__(thread)
        self.inner = HistoryBackend(StateBackend())


class TestState(FileBackendConformance, AppendsConformance):
    tells_created_at = True
    many_files = 40

    @pytest.fixture
    def open_backend(self):
        thread = Thread()
        return lambda: InGraphWithHistory(thread)


class TestDict(FileBackendConformance, AppendsConformance, FingerprintsConformance):
    """A backend that cannot change a file in one step: edits of the whole text stand in."""

    many_files = 60

    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        return lambda: HistoryBackend(DictBackend(files, lock))


class TestComposite(
    FileBackendConformance, AppendsConformance, FingerprintsConformance, NamesConformance
):
    """Parts of which one steps natively and the other does not; versions are in the default."""

    keeps_empty_folders = True
    many_files = 60
    standing = frozenset({"/docs/", "/src/", "/src/deep/", "/☕/"})

    @pytest.fixture
    def open_backend(self, tmp_path):
        files, lock, store = {}, threading.RLock(), InMemoryStore()
        mounts = {"/docs/": DictBackend(files, lock)}
        mounts["/src/deep/"] = StoreBackend(store=store, namespace=("a", "b"))
        mounts["/☕/"] = StoreBackend(store=store, namespace=("☕",))
        return lambda: HistoryBackend(
            CompositeBackend(default=FilesystemBackend(tmp_path), routes=mounts)
        )


class TestPart(
    FileBackendConformance, AppendsConformance, FingerprintsConformance, NamesConformance
):
    """The part of a composite has a history, and so has another wrapper around it."""

    keeps_empty_folders = True
    many_files = 60
    relative_to_root = False

    @pytest.fixture
    def root(self):
        return "/memories"

    @pytest.fixture
    def open_backend(self, tmp_path):
        def nested():
            part = HistoryBackend(FilesystemBackend(tmp_path))
            whole = CompositeBackend(
                default=FilesystemBackend(tmp_path / "x"), routes={"/memories": part}
            )
            return WrappingBackend(whole)

        return nested

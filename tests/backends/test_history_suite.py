"""A backend with a history keeps every promise of the one in it."""

from __future__ import annotations

import sqlite3
import threading

import pytest
import pytest_asyncio
from deepagents.backends.filesystem import FilesystemBackend as TheirDisk
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from backends.in_graph import InGraph, Thread
from conformance.dict_backend import DictBackend
from doors import everyday
from memoryware.backends import CompositeBackend, FilesystemBackend, StateBackend, StoreBackend
from memoryware.backends._versions import UNSET
from memoryware.backends._wrapping import WrappingBackend
from memoryware.backends.history import HistoryBackend
from memoryware.testing import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
    HistoryConformance,
    NamesConformance,
)
from memoryware.testing._file_concurrency import ConcurrencyConformance
from memoryware.testing._file_content import EditConformance, WriteConformance
from memoryware.testing._file_paths import PathsConformance
from memoryware.testing._history import UndoConformance, VersionConformance


class _Files(FileBackendConformance, AppendsConformance):
    listing_size = 40


class _Kept(_Files, HistoryConformance):
    pass


@everyday("blocking")
class TestDisk(_Kept, FingerprintsConformance, NamesConformance):
    stores_empty_folders = True
    max_name_bytes = 255

    @pytest.fixture
    def open_backend(self, in_memory):
        return lambda: HistoryBackend(FilesystemBackend(in_memory / "root"))


@everyday("blocking")
class TestHostPaths(HistoryConformance, PathsConformance, NamesConformance):
    expands_home = True
    stores_empty_folders = True
    max_name_bytes = 255

    @pytest.fixture
    def open_backend(self, in_memory):
        return lambda: HistoryBackend(FilesystemBackend(in_memory, virtual_mode=False))

    @pytest.fixture
    def root(self, in_memory):
        return str(in_memory)


@everyday()
class TestStoreInMemory(_Kept):
    reports_created_at = True

    @pytest.fixture
    def open_backend(self):
        store = InMemoryStore()
        return lambda: HistoryBackend(StoreBackend(store=store, namespace=("memory", "ann")))


@everyday()
class TestStoreInSqlite(
    WriteConformance, ConcurrencyConformance, VersionConformance, UndoConformance
):
    """This store blocks only; versions have a namespace of their own."""

    reports_created_at = True
    modes = ("blocking",)

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


@everyday()
class TestAsyncSqliteStore(WriteConformance, ConcurrencyConformance, HistoryConformance):
    reports_created_at = True

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

    def log(self, path):
        return self.thread.run(lambda: self.inner.log(path))

    async def alog(self, path):
        return await self.thread.arun(lambda: self.inner.alog(path))

    def show(self, path, version):
        return self.thread.run(lambda: self.inner.show(path, version))

    async def ashow(self, path, version):
        return await self.thread.arun(lambda: self.inner.ashow(path, version))

    def diff(self, path, a=UNSET, b=None):
        return self.thread.run(lambda: self.inner.diff(path, a, b))

    async def adiff(self, path, a=UNSET, b=None):
        return await self.thread.arun(lambda: self.inner.adiff(path, a, b))

    def undo(self, path, to=None, *, reason=None):
        return self.thread.run(lambda: self.inner.undo(path, to, reason=reason))

    async def aundo(self, path, to=None, *, reason=None):
        return await self.thread.arun(lambda: self.inner.aundo(path, to, reason=reason))

    def restore(self, path, at, *, reason=None):
        return self.thread.run(lambda: self.inner.restore(path, at, reason=reason))

    async def arestore(self, path, at, *, reason=None):
        return await self.thread.arun(lambda: self.inner.arestore(path, at, reason=reason))

    def files(self):
        return self.thread.run(self.inner.files)

    async def afiles(self):
        return await self.thread.arun(self.inner.afiles)


@everyday()
class TestState(_Kept):
    reports_created_at = True

    @pytest.fixture
    def thread(self):
        return Thread()

    @pytest.fixture
    def open_backend(self, thread):
        return lambda: InGraphWithHistory(thread)

    @pytest.fixture
    def open_outside(self, thread):
        return lambda: InGraph(thread)


class _Dict:
    """A backend that cannot change a file in one step: edits of the whole text stand in."""

    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        return lambda: HistoryBackend(DictBackend(files, lock))


@everyday("blocking")
class TestDict(_Dict, HistoryConformance):
    pass


@everyday()
class TestFilesOfDict(_Dict, _Files, FingerprintsConformance):
    pass


class _Composite:
    """Parts of which one steps natively and the other does not; versions are in the default."""

    stores_empty_folders = True
    fixed_folders = frozenset({"/docs/", "/src/", "/src/deep/", "/☕/"})

    @pytest.fixture
    def open_backend(self, in_memory):
        files, lock, store = {}, threading.RLock(), InMemoryStore()
        mounts = {"/docs/": DictBackend(files, lock)}
        mounts["/src/deep/"] = StoreBackend(store=store, namespace=("a", "b"))
        mounts["/☕/"] = StoreBackend(store=store, namespace=("☕",))
        return lambda: HistoryBackend(
            CompositeBackend(default=FilesystemBackend(in_memory), routes=mounts)
        )


@everyday("native")
class TestComposite(_Composite, HistoryConformance):
    pass


@everyday()
class TestFilesOfComposite(_Composite, _Files, FingerprintsConformance, NamesConformance):
    pass


@everyday("blocking")
class TestTheirDisk(HistoryConformance):
    """deepagents' own disk."""

    stores_empty_folders = True

    @pytest.fixture
    def open_backend(self, in_memory):
        return lambda: HistoryBackend(TheirDisk(in_memory, virtual_mode=True))


@everyday("native")
class TestVersionsElsewhere(VersionConformance, UndoConformance):
    """Files on disk, their versions in a store, and a wrapper in between."""

    stores_empty_folders = True

    @pytest.fixture
    def store(self):
        return StoreBackend(store=InMemoryStore(), namespace=("history",))

    @pytest.fixture
    def open_backend(self, in_memory, store):
        return lambda: HistoryBackend(
            WrappingBackend(FilesystemBackend(in_memory)), versions=store, folder="/kept/of/files"
        )


@everyday("native")
class TestPart(WriteConformance, EditConformance, ConcurrencyConformance, NamesConformance):
    """The part of a composite has a history, and another wrapper is around that."""

    stores_empty_folders = True
    relative_to_root = False

    @pytest.fixture
    def root(self):
        return "/memories"

    @pytest.fixture
    def open_backend(self, in_memory):
        def nested():
            part = HistoryBackend(FilesystemBackend(in_memory))
            whole = CompositeBackend(
                default=FilesystemBackend(in_memory / "x"), routes={"/memories": part}
            )
            return WrappingBackend(whole)

        return nested

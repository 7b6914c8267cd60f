"""Every backend that ships passes the one suite, and so does one of somebody else."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from conformance.dict_backend import DictBackend
from doors import everyday
from memoryware import BackendProtocol, CompositeBackend, FilesystemBackend, StoreBackend
from memoryware.backends import FileUploadResponse
from memoryware.backends._records import RecordBackend
from memoryware.backends.protocol import DEFAULT_READ_LIMIT
from memoryware.testing import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
    NamesConformance,
)


@everyday("native")
class TestDict(FileBackendConformance, AppendsConformance, FingerprintsConformance):
    refuses_missing_folders = True

    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        return lambda: DictBackend(files, lock)


class Drawer(RecordBackend):
    """Records in a dictionary: all that a backend of one's own needs, in thirty lines."""

    def __init__(self, drawer, lock):
        super().__init__()
        self.drawer, self.lock = drawer, lock

    def _records(self):
        return self

    async def get(self, runner, paths):
        return [self.drawer.get(path) for path in paths]

    async def all(self, runner):
        return dict(self.drawer)

    async def has_below(self, runner, folder):
        return any(path.startswith(folder.rstrip("/") + "/") for path in [*self.drawer])

    async def put(self, runner, changes):
        self.drawer.update({path: change.file for path, change in changes.items()})

    async def drop(self, runner, paths):
        for path in paths:
            self.drawer.pop(path, None)

    @asynccontextmanager
    async def holding(self, runner, paths):
        with self.lock:
            yield


@everyday("blocking")
class TestDrawer(FileBackendConformance, AppendsConformance):
    reports_created_at = True

    @pytest.fixture
    def open_backend(self):
        drawer, lock = {}, threading.RLock()
        return lambda: Drawer(drawer, lock)


class BlockingOnly(BackendProtocol):
    """A backend that knows nothing of loops: its async half is that of the protocol."""

    def __init__(self, inner):
        self.inner = inner

    def ls(self, path):
        return self.inner.ls(path)

    def read(self, file_path, offset=0, limit=DEFAULT_READ_LIMIT):
        return self.inner.read(file_path, offset, limit)

    def write(self, file_path, content):
        return self.inner.write(file_path, content)

    def edit(self, file_path, old_string, new_string, replace_all=False):
        return self.inner.edit(file_path, old_string, new_string, replace_all)

    def grep(self, pattern, path=None, glob=None, *, max_count=None):
        return self.inner.grep(pattern, path, glob, max_count=max_count)

    def glob(self, pattern, path=None):
        return self.inner.glob(pattern, path)

    def upload_files(self, files):
        return [self.upload(path, data) for path, data in files]

    def upload(self, path, data):
        try:
            data.decode()
        except UnicodeDecodeError:
            return FileUploadResponse(path=path, error=f"'{path}' is not text")
        return self.inner.upload_files([(path, data)])[0]

    def download_files(self, paths):
        return self.inner.download_files(paths)


@everyday("native")
class TestBlockingOnly(FileBackendConformance):
    """It cannot delete, forgets when it is closed, and takes text only."""

    deletes = persistent = stores_binary = False

    @pytest.fixture
    def open_backend(self):
        return lambda: BlockingOnly(DictBackend({}, threading.RLock()))


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


class OfParts(
    FileBackendConformance, AppendsConformance, FingerprintsConformance, NamesConformance
):
    pass


@everyday("native")
class TestComposite(OfParts):
    """Mounts lie where the tests work: whole trees, nested, and hidden ones."""

    fixed_folders = frozenset(
        {"/folder/", "/docs/", "/docs/.secret/", "/src/", "/src/deep/", "/☕/"}
    )

    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        part = lambda name: DictBackend(files.setdefault(name, {}), lock)
        mounts = ("/folder/", "/docs/", "/docs/.secret/", "/src/deep/", "/☕/")
        return lambda: CompositeBackend(
            default=part("default"), routes={mount: part(mount) for mount in mounts}
        )


@everyday("blocking")
class TestDiskAndStore(OfParts):
    """A tree on disk, parts of which are in a store."""

    stores_empty_folders = True
    listing_size = 300
    fixed_folders = frozenset({"/docs/", "/src/", "/src/deep/", "/☕/"})

    @pytest.fixture
    def open_backend(self, tmp_path):
        store = InMemoryStore()

        def part(*names):
            return StoreBackend(store=store, namespace=names)

        return lambda: CompositeBackend(
            default=FilesystemBackend(tmp_path),
            routes={"/docs/": part("docs"), "/src/deep/": part("a", "b"), "/☕/": part("☕")},
        )


@everyday()
class TestMount(OfParts):
    """A mounted backend, in a composite that is mounted itself."""

    relative_to_root = False

    @pytest.fixture
    def root(self):
        return "/outer/inner"

    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        part = lambda name: DictBackend(files.setdefault(name, {}), lock)

        def nested():
            inner = CompositeBackend(default=part("a"), routes={"/inner/": part("b")})
            return CompositeBackend(default=part("c"), routes={"/outer/": inner})

        return nested

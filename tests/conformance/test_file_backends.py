"""Every backend that ships passes the one suite, and so does one of somebody else."""

from __future__ import annotations

import asyncio
import threading

import pytest
import pytest_asyncio
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from conformance.dict_backend import DictBackend
from memoryware import CompositeBackend, StoreBackend
from memoryware.conformance import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
)


class TestDict(FileBackendConformance, AppendsConformance, FingerprintsConformance):
    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        return lambda: DictBackend(files, lock)


def ann(_runtime):
    return "mem", "ann"


class TestAsyncSqliteStore(FileBackendConformance, AppendsConformance):
    """This store lives on a loop, and takes blocking calls from other threads only."""

    tells_created_at = True

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
    doors = ("native",)
    tells_created_at = True

    @pytest.fixture
    def open_backend(self):
        store = AsyncOnlyStore()
        return lambda: StoreBackend(store=store, namespace=ann)


class TestComposite(FileBackendConformance, AppendsConformance, FingerprintsConformance):
    """Mounts lie where the tests work: whole trees, nested, and hidden ones."""

    standing = frozenset({"/folder/", "/docs/", "/docs/.secret/", "/src/", "/src/deep/", "/☕/"})

    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        part = lambda name: DictBackend(files.setdefault(name, {}), lock)
        mounts = ("/folder/", "/docs/", "/docs/.secret/", "/src/deep/", "/☕/")
        return lambda: CompositeBackend(
            default=part("default"), routes={mount: part(mount) for mount in mounts}
        )


class TestMount(FileBackendConformance, AppendsConformance, FingerprintsConformance):
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

"""CompositeBackend passes the one suite, over parts of one kind, of several, and mounted itself."""

from __future__ import annotations

import threading

import pytest
from langgraph.store.memory import InMemoryStore

from conformance.dict_backend import DictBackend
from doors import everyday
from memoryware import CompositeBackend, FilesystemBackend, StoreBackend
from memoryware.testing import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
    NamesConformance,
)


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
    def open_backend(self, in_memory):
        store = InMemoryStore()

        def part(*names):
            return StoreBackend(store=store, namespace=names)

        return lambda: CompositeBackend(
            default=FilesystemBackend(in_memory),
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

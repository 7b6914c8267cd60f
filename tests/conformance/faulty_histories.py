"""The suite of histories over every faulty one; not part of a normal run."""

from __future__ import annotations

import pytest
from langgraph.store.memory import InMemoryStore

from conformance.history_faults import FAULTS
from memoryware.backends import StoreBackend
from memoryware.backends.history import HistoryBackend
from memoryware.testing import HistoryConformance


class _Over(HistoryConformance):
    deadline = 5
    kind: type[HistoryBackend]

    @pytest.fixture
    def open_backend(self):
        store = InMemoryStore()
        return lambda: self.kind(StoreBackend(store=store, namespace=("a",)))


for one in [HistoryBackend, *FAULTS]:
    name = f"Test{one.__name__}"
    globals()[name] = type(name, (_Over,), {"kind": one, "__module__": __name__})
del one

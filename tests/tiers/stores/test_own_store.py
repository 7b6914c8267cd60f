"""The store that the guide "A store of your own" shows keeps the contract."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from doors import everyday
from memoryware.testing import (
    LongTermStoreConformance,
    QuarantineStoreConformance,
    WorkingStoreConformance,
)
from memoryware.testing._store import entry, within
from memoryware.testing._tier_stores import DocumentConformance

EXAMPLE = Path(__file__).parents[3] / "examples" / "own_store"
pytest.importorskip("duckdb")


@pytest.fixture
def own(monkeypatch):
    """The module of the example."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import duckdb_store

    yield duckdb_store
    sys.modules.pop("duckdb_store", None)


def test_the_openings_of_a_file_share_it_and_a_pickle_opens_it_again(own, tmp_path):
    stores = own.duckdb_stores(str(tmp_path / "memory.db"))
    stores.quarantine.add(entry("one"))
    again = pickle.loads(pickle.dumps(stores))
    assert again.quarantine.find(within()).total == 1
    again.quarantine.close()
    assert stores.quarantine.find(within()).total == 1
    stores.quarantine.close()


class Own:
    @pytest.fixture
    def open_stores(self, own, tmp_path):
        return lambda: own.duckdb_stores(str(tmp_path / "memory.db"))


@everyday()
class TestQuarantine(Own, QuarantineStoreConformance): ...


@everyday()
class TestWorking(Own, WorkingStoreConformance): ...


@everyday()
class TestLongTerm(Own, LongTermStoreConformance): ...


@everyday("native")
class TestDocuments(Own, DocumentConformance):
    """A part of it each day: DuckDB takes a quarter of a second for a test."""

    tier = "long_term"

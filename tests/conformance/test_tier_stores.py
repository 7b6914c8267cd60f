"""Every store that we ship passes the suite of its protocol."""

from __future__ import annotations

import pytest

from memoryware.conformance import (
    LongTermStoreConformance,
    QuarantineStoreConformance,
    WorkingStoreConformance,
)
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.sqlite import sqlite_stores


class _Embedded:
    persistent = False

    @pytest.fixture
    def open_stores(self):
        return embedded


class _Sqlite:
    @pytest.fixture
    def open_stores(self, tmp_path):
        return lambda: sqlite_stores(tmp_path / "memory.db")


class TestEmbeddedQuarantine(_Embedded, QuarantineStoreConformance):
    pass


class TestEmbeddedWorking(_Embedded, WorkingStoreConformance):
    pass


class TestEmbeddedLongTerm(_Embedded, LongTermStoreConformance):
    pass


class TestSqliteQuarantine(_Sqlite, QuarantineStoreConformance):
    pass


class TestSqliteWorking(_Sqlite, WorkingStoreConformance):
    pass


class TestSqliteLongTerm(_Sqlite, LongTermStoreConformance):
    pass

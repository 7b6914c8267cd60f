"""Stores in a SQLite file."""

from __future__ import annotations

import pytest

from memoryware.tiers.stores.sqlite import sqlite_stores


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def stores(path):
    made = sqlite_stores(path)
    yield made
    made.quarantine.close()

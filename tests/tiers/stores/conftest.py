"""Stores in a SQLite file."""

from __future__ import annotations

import pytest

from memoryware.tiers.stores.sqlite import sqlite_stores


@pytest.fixture
def tmp_path(tmp_path_factory):
    """A folder on a disk."""
    return tmp_path_factory.mktemp("stores")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def stores(path):
    made = sqlite_stores(path)
    yield made
    made.quarantine.close()


@pytest.fixture
def opened(path):
    """Return a function that opens the file, and returns its long-term memory."""
    memories = []

    def open_file(**options):
        memories.append(sqlite_stores(path, **options).long_term)
        return memories[-1]

    yield open_file
    for memory in memories:
        memory.close()

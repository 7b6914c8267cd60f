"""Memories in both kinds of stores that need no server."""

from __future__ import annotations

from itertools import count

import pytest

from memoryware import TieredMemory
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.sqlite import sqlite_stores
from tiers.kit import Clock, ids


@pytest.fixture(params=["embedded", "sqlite"])
def opened(request, tmp_path):
    """Opens memories, each with stores of its own, and closes them in the end."""
    numbers, made = count(), []

    def open_memory(**options):
        path = tmp_path / f"{next(numbers)}.db"
        stores = embedded() if request.param == "embedded" else sqlite_stores(path)
        made.append(TieredMemory(stores, **options))
        return made[-1]

    yield open_memory
    for one in made:
        one.close()


@pytest.fixture
def memory(opened):
    """A memory with a clock of the tests, and ids that can be foretold."""
    return opened(clock=Clock(), new_id=ids())

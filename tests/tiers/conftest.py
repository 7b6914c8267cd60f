"""Memories in every kind of place: in this process, in a file, and on servers."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from memoryware import TieredMemory
from memoryware.stores import open_stores
from memoryware.tiers.stores.embedded import embedded
from servers import postgres
from tiers.kit import Clock, ids

NOT_EVERYDAY = ({"blocking", "sqlite"}, {"native", "embedded"})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Each client and each store every day, but not each client with each store.

    Both clients drive one coroutine, and the suites of the stores run through both.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents and hasattr(item, "callspec"):
            values = [one for one in item.callspec.params.values() if isinstance(one, str)]
            if any(pair <= {*values} for pair in NOT_EVERYDAY):
                item.add_marker(pytest.mark.slow)


@pytest.fixture
def tmp_path(in_memory):
    """SQLite in memory; tests of its file are in `stores`, which works on a disk."""
    return in_memory


@pytest.fixture(params=["embedded", "sqlite", "servers"])
def opened(request, tmp_path):
    """Opens memories, each with stores of its own, and closes them in the end."""
    with ExitStack() as closing:

        def stores():
            number = len(made)
            if request.param == "embedded":
                return embedded()
            if request.param == "sqlite":
                return open_stores(f"sqlite:///{tmp_path / f'{number}.db'}")
            address = closing.enter_context(postgres.emptied_schema())
            redis_url = request.getfixturevalue("redis_url")
            prefix = request.getfixturevalue("redis_prefix")
            return open_stores(f"{address} + {redis_url}?prefix={prefix}{number}:")

        def open_memory(**options):
            made.append(TieredMemory(stores(), **options))
            closing.callback(made[-1].close)
            return made[-1]

        made = []
        yield open_memory


@pytest.fixture
def memory(opened):
    """A memory with a clock of the tests, and ids that can be foretold."""
    return opened(clock=Clock(), new_id=ids())

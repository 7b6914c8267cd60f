"""The stores in this process: what is theirs alone."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from memoryware.errors import StoreUnavailable
from memoryware.testing._store import entry, within
from memoryware.tiers.stores.embedded import embedded


@pytest.fixture
def held():
    """A store that somebody else has been writing for too long."""
    store = embedded(lock_timeout=0.05).quarantine
    store.add(entry())
    begun, done = threading.Event(), threading.Event()

    def change(record):
        begun.set()
        done.wait(10)
        return record

    thread = threading.Thread(target=store.edit, args=(within(), change))
    thread.start()
    begun.wait(10)
    yield store
    done.set()
    thread.join()


def test_who_waits_for_too_long_is_told_so(held):
    with pytest.raises(StoreUnavailable, match=r"0\.05 seconds"):
        held.find(within())


async def test_the_loop_is_free_while_others_wait_for_the_store(held):
    waiting = asyncio.ensure_future(held.aadd(entry()))
    await asyncio.sleep(0)
    assert not waiting.done()
    with pytest.raises(StoreUnavailable):
        await waiting


def test_a_store_works_again_after_a_failure():
    store = embedded(lock_timeout=0.05).working
    store.push(entry(), keep=5)
    with pytest.raises(ZeroDivisionError):
        store.edit(within(), lambda _: 1 / 0)
    seen = []
    other = threading.Thread(target=lambda: seen.append(store.find(within()).total))
    other.start()
    other.join()
    assert seen == [1]


def test_a_change_may_look_into_the_store_itself():
    store = embedded(lock_timeout=0.05).quarantine
    store.add(entry("one"))
    seen = []
    store.edit(within(), lambda one: seen.append(store.find(within()).total) or one)
    assert seen == [1]


def test_two_stores_have_nothing_in_common():
    one, other = embedded(), embedded()
    one.quarantine.add(entry())
    one.working.push(entry(), keep=5)
    assert other.quarantine.find(within()).total == 0
    assert one.working.find(within()).total == 1


def test_opening_one_loads_neither_langchain_nor_a_driver():
    script = (
        "import sys, memoryware.tiers.stores.embedded as e\ne.embedded()\n"
        "print({one.split('.')[0] for one in sys.modules}"
        " & {'langchain', 'langchain_core', 'langgraph', 'sqlite3', 'numpy', 'pydantic'})"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == "set()"

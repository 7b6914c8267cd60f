"""PostgreSQL: a Ctrl-C in the middle of a call costs a connection at most, and nothing for good."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys

import pytest

from memoryware.errors import StoreUnavailable
from memoryware.testing._store import FLAT, document, within
from memoryware.tiers.stores.postgres import postgres_stores

INTERRUPTED = """
import random, signal, sys
from memoryware.testing._store import FLAT, document
from memoryware.testing._store import entry, within
from memoryware.tiers.stores.postgres import postgres_stores

def interrupt(*_):
    raise KeyboardInterrupt

dice, store = random.Random(int(sys.argv[2])), postgres_stores(sys.argv[1])
store.quarantine.add(entry("first"))
signal.signal(signal.SIGALRM, interrupt)
for n in range(400):
    try:
        signal.setitimer(signal.ITIMER_REAL, dice.uniform(0.0003, 0.02))
        if n % 2:
            store.long_term.add(document(f"a {n}", f"b {n}"), [[1, 0, 0], [0, 1, 0]], FLAT)
        else:
            store.quarantine.find(within())
    except KeyboardInterrupt:
        pass
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            pass
for n in range(5):
    store.long_term.add(document(f"after {n}", f"all {n}"), [[1, 0, 0], [0, 1, 0]], FLAT)
texts = [one.content for one in store.long_term.find(within()).items]
whole = {one.split()[-1] for one in texts if one.startswith("a ")}
assert whole == {one.split()[-1] for one in texts if one.startswith("b ")}, "a half document"
print("went on with", len(texts))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_process_that_was_interrupted_again_and_again_goes_on(address, seed):
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, f"{address}&pool_size=2&pool_timeout=5", seed],
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert "went on with" in run.stdout


@pytest.mark.slow
async def test_a_cancelled_task_ends_as_one_and_leaves_the_pool_whole(address):
    dice, stores = random.Random(3), postgres_stores(f"{address}&pool_size=2&pool_timeout=20")
    for n in range(150):
        chunks = document(*(f"{n} {m}" for m in range(4)))
        task = asyncio.create_task(stores.long_term.aadd(chunks, [[1, 0, 0]] * 4, FLAT))
        await asyncio.sleep(dice.uniform(0, 0.02))
        task.cancel()
        (ended,) = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(ended, asyncio.CancelledError | StoreUnavailable | list)
    for n in range(3):
        await stores.long_term.aadd(document(f"after {n}", "all"), [[1, 0, 0]] * 2, FLAT)
    assert (await stores.long_term.afind(within())).total % 2 == 0
    await stores.long_term.aclose()

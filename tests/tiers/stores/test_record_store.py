"""Stores over rows with one driver only, blocking or asynchronous, serve both clients."""

from __future__ import annotations

import asyncio
import threading

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware._runner import BLOCKING, run_blocking
from memoryware.stores import RecordStore, RecordTransaction, Stores
from memoryware.testing._store import ACME, entry, memory, within
from memoryware.tiers.stores.views import Tiers
from tiers.kit import HashEmbeddings

SHOP = MemoryScope(tenant="acme", group_id="shop", user_id="ann")


class DictTransaction(RecordTransaction):
    """Rows in a dict that becomes that of the store at the end."""

    def __init__(self, store):
        self.store, self.data, self.spaces_ = store, dict(store.data), store.spaces_

    async def rows(self, tier, which):
        await self.store.wait()
        rows = [row for (kept_in, *_), row in self.data.items() if kept_in == tier]
        return sorted(rows, key=lambda row: row.number)

    async def put(self, tier, rows):
        await self.store.wait()
        self.data |= {identity(tier, row.record): row for row in rows}

    async def remove(self, tier, rows):
        for row in rows:
            del self.data[identity(tier, row.record)]

    async def next_number(self):
        self.store.last += 1
        return self.store.last

    async def get_spaces(self):
        return self.spaces_

    async def set_spaces(self, spaces):
        self.spaces_ = list(spaces)


def identity(tier, record):
    return tier, record.scope.tenant, record.scope.group_id, record.id


class DictStore(RecordStore):
    """A store whose only driver is blocking, or asynchronous and bound to running loops."""

    def __init__(self, *, suspends):
        self.suspends = suspends
        self.data, self.spaces_, self.last, self.lock = {}, [], 0, threading.Lock()

    async def wait(self):
        """Wait as the driver does."""
        if self.suspends:
            await asyncio.sleep(0)
        else:
            with pytest.raises(RuntimeError):  # a driver that blocks is never on an event loop
                asyncio.get_running_loop()

    async def transaction(self, work, *, about=None, writes=True):
        with self.lock:
            transaction = DictTransaction(self)
            result = await work(transaction)
            self.data, self.spaces_ = transaction.data, transaction.spaces_
        return result


@pytest.fixture(params=[False, True], ids=["blocking", "asynchronous"])
def store(request):
    return DictStore(suspends=request.param)


TEXT = "Ann wants the deliveries on Tuesdays at nine."
QUESTION = "When are the deliveries?"


def test_the_blocking_client_does_everything(store):
    with TieredMemory(Stores.of(store), embeddings=HashEmbeddings(16)) as tiered:
        recorded = tiered.record(TEXT, SHOP)
        (promoted,) = (tiered.promote(recorded.entry.id, SHOP, by="ann")).memories
        assert TEXT in [item.content for item in tiered.retrieve(QUESTION, SHOP)]
        tiered.forget(SHOP, ids=[promoted.id], by="ann")
        assert tiered.list(SHOP, tier="longterm").items == ()


async def test_the_asynchronous_client_does_everything(store):
    async with TieredMemory(Stores.of(store), embeddings=HashEmbeddings(16)) as tiered:
        recorded = await tiered.arecord(TEXT, SHOP)
        (promoted,) = (await tiered.apromote(recorded.entry.id, SHOP, by="ann")).memories
        assert TEXT in [item.content for item in await tiered.aretrieve(QUESTION, SHOP)]
        await tiered.aforget(SHOP, ids=[promoted.id], by="ann")
        assert (await tiered.alist(SHOP, tier="longterm")).items == ()


def test_a_transaction_that_fails_half_way_changes_no_tier(store):
    tiers = Tiers(Stores.of(store), BLOCKING)
    run_blocking(tiers.quarantine.add(entry("before")))

    async def work(inner):
        await inner.quarantine.add(entry("during"))
        await inner.working.push(entry("during"), keep=3)
        await inner.long_term.add([memory("during")])
        raise KeyError("half way")

    with pytest.raises(KeyError, match="half way"):
        run_blocking(tiers.transaction(work, ACME))
    for tier, expected in (("quarantine", 1), ("working", 0), ("long_term", 0)):
        assert run_blocking(tiers.tier(tier).find(within())).total == expected

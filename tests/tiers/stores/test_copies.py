"""A memory on servers is shared by deep copies and opened again by pickles."""

from __future__ import annotations

import copy
import pickle

import pytest

from memoryware import MemoryScope, TieredMemory, TieredMemoryMiddleware
from memoryware.errors import NotPicklable
from memoryware.stores import open_stores
from servers import postgres

SHOP = MemoryScope(group_id="shop", user_id="ann")
FACT = "The orders of the shop are kept in PostgreSQL 17 on db2."


@pytest.fixture
def address(redis_url):
    with postgres.schema_at(postgres.url()) as database:
        yield f"{database} + {redis_url}"


def test_a_memory_on_servers_can_be_copied_and_pickled(address):
    with TieredMemory.open(address) as memory:
        memory.promote(FACT, SHOP, by="ann")
        copied = copy.deepcopy({"memory": memory, "middleware": TieredMemoryMiddleware(memory)})
        assert copied["memory"] is memory
        with pickle.loads(pickle.dumps(memory)) as again:
            assert again.parts.stores.long_term is not memory.parts.stores.long_term
            found = again.retrieve("where are the orders", SHOP, tiers=("long_term",))
            assert [item.content for item in found] == [FACT]


async def test_stores_are_shared_by_copies_and_opened_again_by_pickles(address):
    stores = open_stores(address)
    assert copy.deepcopy(stores) is stores
    again = pickle.loads(pickle.dumps(stores))
    for one in (stores.quarantine, stores.working, stores.long_term):
        assert copy.copy(one) is copy.deepcopy(one) is one
        with pytest.raises(NotPicklable, match="by its address"):
            pickle.dumps(one)
    for opened in (stores, again):
        for one in (opened.quarantine, opened.working, opened.long_term):
            await one.aclose()

"""A memory whose servers go away serves what is left, says what is missing, and goes on."""

from __future__ import annotations

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware.errors import StoreUnavailable
from servers import postgres
from servers.redis import redis_server

SHOP = MemoryScope(group_id="shop", user_id="ann")
SAID = "The orders of the shop are in PostgreSQL 17 since Monday, on the server db2."
KEPT = "The shop opens at nine on Mondays, and at ten on all other days of the week."
MEANWHILE = "Something else was said while a server was away, and it is long enough to stay."


@pytest.fixture
def database():
    made = postgres.started()
    yield made
    made.remove()


@pytest.fixture
def cache():
    with redis_server("--appendonly", "yes", "--appendfsync", "always") as made:
        yield made


@pytest.fixture
async def memory(database, cache):
    made = TieredMemory.open(f"{database.url}&pool_timeout=0.5 + {cache.url}")
    made.record(SAID, SHOP)
    made.promote(KEPT, SHOP, by="ann")
    yield made
    await made.aclose()


async def asked(memory, door, name, *args, **more):
    if door == "native":
        return await getattr(memory, f"a{name}")(*args, **more)
    return getattr(memory, name)(*args, **more)


def told(recall):
    return [(one.source, one.content) for one in recall]


DOORS = pytest.mark.parametrize("door", ["blocking", "native"])


@pytest.mark.slow
@DOORS
async def test_without_redis_long_term_memory_is_recalled_and_quarantine_written(
    memory, cache, door
):
    cache.stop(kill=True)
    recall = await asked(memory, door, "retrieve", "When does the shop open?", SHOP)
    assert told(recall) == [("long_term", KEPT)]
    assert recall.failed == ("working",)
    assert recall.notes == ("working memory could not be asked: StoreUnavailable",)
    recorded = await asked(memory, door, "record", MEANWHILE, SHOP, key="k")
    assert (recorded.working, recorded.refused) == (False, "store_failed")
    cache.start()
    again = await asked(memory, door, "record", MEANWHILE, SHOP, key="k")
    assert (again.working, again.entry.id) == (True, recorded.entry.id)
    recall = await asked(memory, door, "retrieve", "What was said meanwhile?", SHOP)
    assert recall.failed == ()
    assert ("working", MEANWHILE) in told(recall)
    assert memory.list(SHOP, tier="quarantine", query="meanwhile").total <= 1


@pytest.mark.slow
@DOORS
async def test_without_the_database_working_memory_is_recalled_and_nothing_is_claimed(
    memory, database, door
):
    database.stop()
    recall = await asked(memory, door, "retrieve", "Where are the orders?", SHOP)
    assert told(recall) == [("working", SAID)]
    assert recall.failed == ("long_term",)
    for name, args, more in (
        ("record", (MEANWHILE, SHOP), {"key": "k"}),
        ("promote", (MEANWHILE, SHOP), {"by": "ann"}),
        ("revoke", ("an id", SHOP), {"by": "ann"}),
        ("forget", (SHOP,), {}),
    ):
        with pytest.raises(StoreUnavailable, match="away"):
            await asked(memory, door, name, *args, **more)
    database.start()
    assert (await asked(memory, door, "record", MEANWHILE, SHOP, key="k")).working
    assert not (await asked(memory, door, "record", MEANWHILE, SHOP, key="k")).refused
    await asked(memory, door, "promote", MEANWHILE, SHOP, by="ann")
    recall = await asked(memory, door, "retrieve", "When does the shop open?", SHOP)
    assert recall.failed == ()
    assert ("long_term", KEPT) in told(recall)
    assert memory.list(SHOP, tier="quarantine").total == 2
    assert memory.list(SHOP, tier="longterm").total == 2


@pytest.mark.slow
@DOORS
async def test_without_both_nothing_is_recalled_and_that_is_said(memory, database, cache, door):
    database.stop()
    cache.stop()
    recall = await asked(memory, door, "retrieve", "Where are the orders?", SHOP)
    assert told(recall) == []
    assert set(recall.failed) == {"working", "long_term"}
    database.start()
    cache.start()
    recall = await asked(memory, door, "retrieve", "Where are the orders?", SHOP)
    assert recall.failed == ()
    assert ("working", SAID) in told(recall)

"""Several outputs are recorded together, and several texts promoted together."""

from __future__ import annotations

import pytest

from counting import counted_statements
from hooked import failing, hooked
from memoryware import MemoryScope, Output, TieredMemory
from memoryware.errors import EntryRefused, PromotionRefused, SettingError, StoreUnavailable
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.sqlite import sqlite_stores
from tiers.kit import DOORS, HashEmbeddings

SHOP = MemoryScope(group_id="shop", agent_id="helper")
SURE = {"confidence": 0.9}
TEXTS = [
    "Invoices are sent on the first Monday of each month.",
    "The kitchen of the office closes at nine in the evening.",
    "Parcels to Norway leave the depot on Thursday.",
]


@pytest.fixture(params=["embedded", "sqlite"])
def stores(request, tmp_path):
    return embedded() if request.param == "embedded" else sqlite_stores(tmp_path / "m.db")


async def record_many(memory, door, *given, **more):
    if door == "native":
        return await memory.arecord_many(*given, **more)
    return memory.record_many(*given, **more)


async def promote_many(memory, door, *given, **more):
    if door == "native":
        return await memory.apromote_many(*given, **more)
    return memory.promote_many(*given, **more)


def logged(memory):
    return [one.record.content for one in memory.list(SHOP, tier="quarantine").items][::-1]


def cold(memory):
    return [one.record.content for one in memory.list(SHOP, tier="longterm").items][::-1]


@pytest.mark.parametrize("door", DOORS)
async def test_outputs_are_recorded_in_order(stores, door):
    memory = TieredMemory(stores)
    outputs = [Output(text, SURE) for text in (*TEXTS, TEXTS[0], "ok")]
    done = await record_many(memory, door, outputs, SHOP)
    assert [one.working for one in done] == [True, True, True, False, False]
    # What is said again in the same batch is a duplicate of what came before it.
    assert done[3].refused == "duplicate"
    assert done[3].entry.duplicate_of == (done[0].entry.id,)
    assert logged(memory) == [one.content for one in outputs]
    assert await record_many(memory, door, [], SHOP) == []


@pytest.mark.parametrize("door", DOORS)
async def test_a_key_is_recorded_once_in_a_batch_and_after_it(stores, door):
    memory = TieredMemory(stores)
    batch = [Output(TEXTS[0], SURE, key="a"), Output(TEXTS[0], SURE, key="a")]
    first = await record_many(memory, door, batch, SHOP)
    again = await record_many(memory, door, batch[:1], SHOP)
    assert len({one.entry.id for one in (*first, *again)}) == 1
    assert logged(memory) == TEXTS[:1]


async def test_what_cannot_be_recorded_keeps_the_whole_batch_out(stores):
    memory = TieredMemory(stores)
    with pytest.raises(EntryRefused):
        memory.record_many([TEXTS[0], 7], SHOP)
    assert logged(memory) == []


async def test_a_failing_working_memory_leaves_all_of_it_in_quarantine():
    memory = TieredMemory(failing(embedded(), "working", "push"))
    done = memory.record_many([Output(text, SURE) for text in TEXTS], SHOP)
    assert [one.refused for one in done] == ["store_failed"] * 3
    assert logged(memory) == TEXTS


@pytest.mark.parametrize("door", DOORS)
async def test_texts_are_promoted_together_and_embedded_in_one_call(stores, door):
    model = HashEmbeddings()
    memory = TieredMemory(stores, embeddings=model)
    entry = memory.log_quarantine(TEXTS[0], SHOP)
    done = await promote_many(memory, door, [entry, *TEXTS[1:]], SHOP, by="ann")
    assert [len(promotion.ids) for promotion in done] == [1, 1, 1]
    assert model.asked == [TEXTS]
    assert cold(memory) == TEXTS
    assert memory.get(entry.id, SHOP).status == "promoted"
    assert memory.spaces().popitem()[1] == 3
    assert await promote_many(memory, door, [], SHOP, by="ann") == []


@pytest.mark.parametrize("door", DOORS)
async def test_a_blank_text_keeps_the_whole_batch_out(stores, door):
    memory = TieredMemory(stores)
    entry = memory.log_quarantine("", SHOP)
    for blank in ("  ", entry, entry.id):
        with pytest.raises(EntryRefused, match="blank"):
            await promote_many(memory, door, [*TEXTS, blank], SHOP, by="ann")
    assert cold(memory) == []


@pytest.mark.parametrize("door", DOORS)
async def test_one_that_may_not_be_promoted_keeps_all_out(stores, door):
    memory = TieredMemory(stores)
    entries = [memory.log_quarantine(text, SHOP) for text in TEXTS]
    memory.reject(entries[2], by="bob")
    with pytest.raises(PromotionRefused, match="rejected"):
        await promote_many(memory, door, entries, by="ann")
    assert cold(memory) == []
    assert [memory.get(one.id, SHOP).status for one in entries[:2]] == ["pending"] * 2


async def test_a_store_that_fails_at_the_last_one_keeps_none():
    whole = embedded()
    memory = TieredMemory(whole)
    entries = [memory.log_quarantine(text, SHOP) for text in TEXTS]
    count = 0

    def before(tier, name):
        nonlocal count
        count += (tier, name) == ("long_term", "add")
        if count == 3:
            raise StoreUnavailable("the disk is gone")

    with pytest.raises(StoreUnavailable):
        TieredMemory(hooked(whole, before)).promote_many(entries, by="ann")
    assert cold(memory) == []


def test_a_batch_is_one_flush(tmp_path):
    with TieredMemory.open(f"sqlite:///{tmp_path / 'm.db'}") as memory:
        memory.record(TEXTS[0], SHOP, SURE)
        with counted_statements() as recorded:
            memory.record_many([Output(f"{text} Really.", SURE) for text in TEXTS], SHOP)
        with counted_statements() as promoted:
            memory.promote_many(TEXTS, SHOP, by="ann")
    assert (recorded.flushes, promoted.flushes) == (1, 1)


@pytest.mark.parametrize("single", ["The lift is out of order.", b"lift", {"lift": 1}, 7, None])
def test_a_single_text_is_no_list_of_texts(single):
    memory = TieredMemory.open("memory://")
    for call in (
        lambda: memory.record_many(single, "shop"),
        lambda: memory.promote_many(single, "shop", by="ann"),
    ):
        with pytest.raises(SettingError, match="must be a list, even for one"):
            call()
    assert memory.list("shop", tier="quarantine").total == 0

"""A listing by state, origin, user and time; the groups of a store; several decisions at once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware.errors import EntryMissing, PromotionRefused, SettingError
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.sqlite import sqlite_stores
from tiers.kit import DOORS, Clock, ids

SHOP = MemoryScope(group_id="shop")
WEB, PAGE = (Provenance(Origin("tool", name)) for name in ("web", "page"))


async def call(memory, door, name, *arguments, **more):
    if door == "native":
        return await getattr(memory, f"a{name}")(*arguments, **more)
    return getattr(memory, name)(*arguments, **more)


@pytest.fixture(params=["embedded", "sqlite"])
def memory(request, tmp_path):
    """The suites of the stores try servers, with both clients."""
    stores = embedded() if request.param == "embedded" else sqlite_stores(tmp_path / "m.db")
    with TieredMemory(stores, clock=Clock(), new_id=ids()) as opened:
        yield opened


@pytest.fixture
def filled(memory):
    """A memory with records in every state."""
    clock = memory.parts.clock

    def log(text, user=None, provenance=None):
        clock.forward(hours=1)
        scope = MemoryScope(group_id="shop", user_id=user)
        return memory.log_quarantine(text, scope, provenance=provenance)

    log("pending", "ann")
    memory.propose(log("proposed", "bo"), by="bo")
    memory.reject(log("rejected", provenance=WEB), by="ann")
    memory.promote(log("promoted", "ann", PAGE), by="ann")
    memory.revoke(log("revoked entry", provenance=WEB), SHOP, by="ann")
    clock.forward(hours=1)
    old = memory.promote("The till opens at nine.", SHOP, by="ann", subject="till")
    clock.forward(hours=1)
    memory.promote("The till opens at ten.", SHOP, by="ann", subject="till")
    gone = memory.promote("revoked memory", SHOP, by="ann")
    memory.revoke(gone, SHOP, by="ann")
    assert old.memories
    return memory


@pytest.mark.parametrize("door", DOORS)
async def test_a_state_selects_entries_and_memories(filled, door):
    async def texts(**filters):
        listing = await call(filled, door, "list", SHOP, **filters)
        assert listing.total == len(listing.items)
        return [line.content for line in listing]

    for state in ("pending", "proposed", "rejected"):
        assert await texts(state=state) == [state]
    assert await texts(state="promoted") == ["promoted"]
    assert await texts(state="current") == ["The till opens at ten.", "promoted"]
    assert await texts(state="superseded") == ["The till opens at nine."]
    assert await texts(state="revoked") == ["revoked memory", "revoked entry"]
    assert await texts(state="revoked", tier="quarantine") == ["revoked entry"]
    assert await texts(state="pending", tier="long_term") == []
    assert await texts(state="current", query="till") == ["The till opens at ten."]
    assert await texts(state="superseded", query="?") == ["The till opens at nine."]
    with pytest.raises(SettingError, match="state"):
        await texts(state="dubious")


@pytest.mark.parametrize("door", DOORS)
async def test_origin_user_and_time_select_records(filled, door):
    async def texts(**filters):
        return [line.content for line in await call(filled, door, "list", SHOP, **filters)]

    assert await texts(origin="tool:web") == ["revoked entry", "rejected"]
    assert await texts(origin="tool", tier="quarantine") == [
        "revoked entry",
        "promoted",
        "rejected",
    ]
    assert await texts(origin="tool:w") == await texts(origin="too") == []
    assert await texts(user="ann", tier="quarantine") == ["promoted", "pending"]
    assert await texts(user="ann", origin="tool:page", state="promoted") == ["promoted"]
    start = filled.parts.clock() - timedelta(hours=5, minutes=30)
    assert await texts(before=start, tier="quarantine") == ["pending"]
    assert "pending" not in await texts(since=start)
    assert await texts(since=start, before=start) == []


async def test_pages_of_a_filtered_listing_are_parts_of_the_whole(filled):
    for filters in ({"state": "revoked"}, {"origin": "tool"}, {"state": "current"}, {}):
        whole = [line.id for line in filled.list(SHOP, **filters)]
        paged, after = [], None
        while True:
            page = filled.list(SHOP, limit=1, after=after, **filters)
            assert page.total == len(whole)
            paged += [line.id for line in page]
            if (after := page.next) is None:
                break
        assert paged == whole, filters


@pytest.mark.parametrize("door", DOORS)
async def test_groups_are_listed_with_their_counts(memory, door):
    assert await call(memory, door, "groups") == ()
    for tenant, group in ((None, "b"), (None, "a"), ("acme", "a"), (None, None)):
        memory.log_quarantine("text", MemoryScope(tenant=tenant, group_id=group))
    memory.promote("text", MemoryScope(group_id="a"), by="ann")
    memory.record("Parcels leave on Thursday.", MemoryScope(group_id="a"), {"confidence": 1})
    groups = {(one.tenant, one.group_id): one.counts for one in await call(memory, door, "groups")}
    assert [*groups] == [(None, None), (None, "a"), (None, "b"), ("acme", "a")]
    counts = groups[None, "a"]
    assert (counts.quarantine, counts.working, counts.long_term) == (2, 1, 1)
    assert groups["acme", "a"].total == 1


# Several at once.


@pytest.mark.parametrize("door", DOORS)
async def test_several_entries_are_rejected_or_none(memory, door):
    first, second, promoted = (memory.log_quarantine(text, SHOP).id for text in "abc")
    memory.promote(promoted, SHOP, by="ann")
    with pytest.raises(PromotionRefused):
        await call(memory, door, "reject_many", [first, second, promoted], SHOP, by="ann")
    assert {memory.get(id_, SHOP).status for id_ in (first, second)} == {"pending"}
    done = await call(memory, door, "reject_many", [first, second], SHOP, by="ann", reason="old")
    assert [(entry.id, entry.status) for entry in done] == [
        (first, "rejected"),
        (second, "rejected"),
    ]
    assert done[1].metadata["rejected_because"] == "old"


@pytest.mark.parametrize("door", DOORS)
async def test_rejected_entries_leave_working_memory_together(memory, door):
    texts = ("Parcels leave on Thursday.", "The kitchen closes at nine.")
    logged = [memory.record(text, SHOP, {"confidence": 1}).entry for text in texts]
    assert memory.list(SHOP, tier="working").total == 2
    await call(memory, door, "reject_many", logged, SHOP, by="ann")
    assert memory.list(SHOP, tier="working").total == 0


@pytest.mark.parametrize("door", DOORS)
async def test_several_entries_are_proposed_or_none(memory, door):
    first, second, revoked = (memory.log_quarantine(text, SHOP).id for text in "abc")
    memory.revoke(revoked, SHOP, by="ann")
    with pytest.raises(PromotionRefused):
        await call(memory, door, "propose_many", [first, second, revoked], SHOP, by="ann")
    # An id that no entry has is a text, which becomes an entry.
    assert {memory.get(id_, SHOP).status for id_ in (first, second)} == {"pending"}
    done = await call(memory, door, "propose_many", [first, second], SHOP, by="ann")
    assert [(entry.id, entry.status) for entry in done] == [
        (first, "proposed"),
        (second, "proposed"),
    ]


@pytest.mark.parametrize("door", DOORS)
async def test_several_ids_are_revoked_with_one_receipt_or_none(memory, door):
    first, second = (memory.log_quarantine(text, SHOP).id for text in "ab")
    with pytest.raises(EntryMissing, match="nothing was revoked"):
        await call(memory, door, "revoke", (first, "f" * 32, second), SHOP, by="ann")
    assert {memory.get(id_, SHOP).status for id_ in (first, second)} == {"pending"}
    receipt = await call(memory, door, "revoke", (first, second), SHOP, by="ann")
    assert (receipt.counts.quarantine, {*receipt.ids}) == (2, {first, second})
    assert (await call(memory, door, "restore", receipt, by="ann")).quarantine == 2


@pytest.mark.parametrize("door", DOORS)
async def test_several_revocations_are_undone_together(memory, door):
    receipts = [memory.revoke(memory.log_quarantine(text, SHOP), SHOP, by="ann") for text in "ab"]
    counts = await call(memory, door, "restore_many", receipts, by="ann")
    assert [count.quarantine for count in counts] == [1, 1]
    assert memory.list(SHOP, state="revoked").total == 0
    assert await call(memory, door, "restore_many", [], by="ann") == []
    other = memory.log_quarantine("c", MemoryScope(group_id="other"))
    elsewhere = memory.revoke(other, other.scope, by="ann")
    with pytest.raises(SettingError, match="one tenant and group"):
        await call(memory, door, "restore_many", [receipts[0], elsewhere], by="ann")

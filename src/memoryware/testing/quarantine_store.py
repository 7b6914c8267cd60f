"""What it means to be a store of quarantine, as tests."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pytest

from memoryware.errors import StoreUnavailable
from memoryware.testing._tiers import (
    ACME,
    NASTY,
    NEIGHBOURS,
    Asked,
    OpenStore,
    entry,
    later,
    within,
)
from memoryware.testing.tier_keeping import TierKeepingConformance
from memoryware.testing.tier_loading import TierLoadingConformance
from memoryware.testing.tier_paging import TierPagingConformance
from memoryware.testing.tier_selecting import TierSelectingConformance
from memoryware.testing.tier_transactions import TierTransactionsConformance
from memoryware.tiers.model import Entry


class QuarantineStoreConformance(
    TierKeepingConformance,
    TierLoadingConformance,
    TierPagingConformance,
    TierSelectingConformance,
    TierTransactionsConformance,
):
    """Every test that a store of tier 1 has to pass.

    Derive a class and override the fixture `open_stores`; set `persistent = False` if the
    stores are empty when they are opened again.
    """

    tier = "quarantine"

    async def test_an_id_is_stored_once_in_its_group(self, store: Asked) -> None:
        one = await store.add(entry("one"))
        with pytest.raises(StoreUnavailable, match="id"):
            await store.add(replace(one, content="two"))
        assert await store.texts(within()) == ["one"]

    async def test_a_key_is_recorded_once(self, store: Asked) -> None:
        first = await store.add(entry("one", key="k"))
        assert await store.add(entry("two", key="k")) == first
        assert await store.ids(within()) == [first.id]

    async def test_a_key_belongs_to_its_tenant_and_group(self, store: Asked) -> None:
        kept = [await store.add(entry(scope=one, key="k")) for one in NEIGHBOURS]
        assert len({one.id for one in kept}) == len(NEIGHBOURS)
        again = [await store.add(entry(scope=one, key="k")) for one in NEIGHBOURS]
        assert again == kept

    async def test_any_text_can_be_a_key(self, store: Asked) -> None:
        kept = [await store.add(entry(key=one)) for one in ("", *NASTY)]
        assert (await store.find(within())).total == len(NASTY) + 1
        assert [await store.add(entry(key=one.key)) for one in kept] == kept

    async def test_a_key_does_not_hang_on_who_records(self, store: Asked) -> None:
        first = await store.add(entry("one", key="k"))
        for scope in (
            replace(ACME, user_id="bob"),
            replace(ACME, agent_id="a", session_id="s2", node_id="n"),
        ):
            assert await store.add(entry("two", scope, key="k")) == first

    async def test_an_edited_entry_keeps_its_key(self, store: Asked) -> None:
        first = await store.add(entry("one", key="k"))
        await store.edit(within(), lambda one: replace(one, status="promoted"))
        assert (await store.add(entry("two", key="k"))).id == first.id
        assert (await store.add(entry("two", key="k"))).status == "promoted"

    async def test_an_entry_with_the_key_of_another_is_not_loaded(self, store: Asked) -> None:
        first = await store.add(entry("one", key="k"))
        other, new = entry("two", key="k"), entry("three", key="k2")
        theirs = entry("four", replace(ACME, group_id="other"), key="k")
        assert await store.load([other, new, theirs, entry("five", key="k2")]) == [new, theirs]
        assert await store.texts(within()) == ["three", "one"]
        changed = replace(first, status="promoted")
        assert await store.load([changed]) == [changed]

    async def test_a_loaded_key_is_not_recorded_again(self, store: Asked) -> None:
        one = entry("one", key="k")
        await store.load([one])
        assert await store.add(entry("two", key="k")) == one

    async def test_everything_is_kept(self, store: Asked) -> None:
        for n in range(150):
            await store.add(entry("the same", created_at=later(days=-n)))
        assert (await store.find(within(), limit=1)).total == 150

    async def test_what_was_decided_stays_and_is_found_by_what_it_is_now(
        self, store: Asked
    ) -> None:
        one = await store.add(entry())
        for status in ("proposed", "rejected", "promoted", "revoked", "pending"):
            await store.edit(within(), partial(replace, status=status))
            assert await store.ids(within(statuses=(status,))) == [one.id]
            assert (await store.one(within())).status == status

    async def test_the_status_is_a_condition(self, store: Asked) -> None:
        states = ("pending", "proposed", "promoted", "rejected", "revoked")
        kept = {one: await store.add(entry(one, status=one)) for one in states}
        assert await store.ids(within(statuses=("rejected",))) == [kept["rejected"].id]
        both = await store.ids(within(statuses=("pending", "promoted")))
        assert both == [kept["promoted"].id, kept["pending"].id]

    async def test_nothing_expires_by_itself(self, store: Asked) -> None:
        one = await store.add(entry())
        assert await store.ids(within(live_at=later(days=3650))) == [one.id]

    async def test_what_was_revoked_is_not_live(self, store: Asked) -> None:
        await store.add(entry(revocation="r"))
        assert await store.ids(within(live_at=later())) == []

    async def test_one_key_from_eight_workers_is_one_entry(
        self, store: Asked, opened: OpenStore
    ) -> None:
        found: set[tuple[str, str]] = set()

        async def add(me: int, mine: Asked) -> None:
            for key in ("a", "b", "c", "d"):
                kept = await mine.add(entry(f"by {me}", key=key))
                found.add((key, kept.id))

        await self.at_work(self.workers(store, opened), add)
        assert len(found) == 4
        assert (await store.find(within())).total == 4

    @pytest.mark.parametrize("seed", range(4))
    async def test_behaves_like_a_list(self, store: Asked, seed: int) -> None:
        dice, model = random.Random(seed), list[Entry]()  # noqa: S311 - a test
        for step in range(60):
            match dice.choice(["add", "add", "add", "edit", "delete"]):
                case "add":
                    key = dice.choice([None, "a", "b"])
                    one = entry(f"step {step}", key=key)
                    known = [old for old in model if key is not None and old.key == key]
                    assert await store.add(one) == (known[0] if known else one)
                    model += [] if known else [one]
                case "edit" if model:
                    one = dice.choice(model)
                    new = replace(one, refused=f"step {step}")
                    await store.edit(within(ids=(one.id,)), lambda _, new=new: new)
                    model[model.index(one)] = new
                case "delete" if model:
                    one = model.pop(dice.randrange(len(model)))
                    assert await store.delete(within(ids=(one.id,))) == 1
        assert (await store.find(within())).items == model[::-1]

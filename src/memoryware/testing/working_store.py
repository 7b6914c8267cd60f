"""What it means to be a store of working memory, as tests."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from memoryware.scope import MemoryScope
from memoryware.testing._tiers import (
    ACME,
    NEIGHBOURS,
    NOON,
    WORKERS,
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
from memoryware.tiers.model import Entry


class WorkingStoreConformance(
    TierKeepingConformance, TierLoadingConformance, TierPagingConformance, TierSelectingConformance
):
    """Every test that a store of tier 2 has to pass.

    Derive a class and override the fixture `open_stores`; set `persistent = False` if the
    stores are empty when they are opened again.
    """

    tier = "working"

    async def test_the_newest_stay_and_come_first(self, store: Asked) -> None:
        kept = [entry(f"text {n}") for n in range(60)]
        for one in kept:
            await store.push(one, keep=50)
        assert await store.ids(within()) == [one.id for one in reversed(kept[10:])]

    async def test_a_shorter_list_drops_the_oldest_at_once(self, store: Asked) -> None:
        for n in range(6):
            await store.push(entry(f"{n}"), keep=10)
        await store.push(entry("last"), keep=3)
        assert await store.texts(within()) == ["last", "5", "4"]
        await store.push(entry("only"), keep=1)
        assert await store.texts(within()) == ["only"]

    async def test_the_newest_is_what_was_pushed_last_whatever_its_time(self, store: Asked) -> None:
        for n in range(4):
            await store.push(entry(f"{n}", created_at=later(days=-n)), keep=2)
        assert await store.texts(within()) == ["3", "2"]

    async def test_each_group_has_its_own_list(self, store: Asked) -> None:
        for text in ("one", "two"):
            for scope in NEIGHBOURS:
                await store.push(entry(text, scope), keep=1)
        found = {scope: await store.texts(within(scope)) for scope in NEIGHBOURS}
        assert found == {scope: ["two"] for scope in NEIGHBOURS}

    async def test_sessions_and_users_of_a_group_share_its_list(self, store: Asked) -> None:
        for n in range(5):
            await store.push(
                entry(scope=replace(ACME, user_id=f"u{n}", session_id=f"s{n}")), keep=3
            )
        assert (await store.find(within())).total == 3

    async def test_an_entry_pushed_again_is_moved_and_replaced(self, store: Asked) -> None:
        one, two = entry("one"), entry("two")
        for pushed in (one, two, replace(one, content="one again")):
            await store.push(pushed, keep=5)
        found = (await store.find(within())).items
        assert [record.content for record in found] == ["one again", "two"]

    async def test_an_entry_pushed_again_does_not_push_another_out(self, store: Asked) -> None:
        one, two = entry("one"), entry("two")
        for pushed in (one, two, one):
            await store.push(pushed, keep=2)
        assert await store.ids(within()) == [one.id, two.id]
        await store.push(one, keep=2)
        assert await store.ids(within()) == [one.id, two.id]

    async def test_an_entry_pushed_again_is_selected_by_what_it_is_now(self, store: Asked) -> None:
        one = entry("one", revocation="r", expires_at=later(hours=1))
        await store.push(one, keep=5)
        await store.push(replace(one, content="two", revocation=None, expires_at=None), keep=5)
        assert await store.ids(within(revocations=("r",))) == []
        assert await store.texts(within(live_at=later(hours=2))) == ["two"]
        assert await store.purge(later(hours=2)) == 0

    async def test_each_entry_expires_after_its_own_time(self, store: Asked) -> None:
        first = entry("first", expires_at=later(hours=24))
        second = entry("second", expires_at=later(hours=47))
        forever = entry("forever")
        for one in (first, second, forever):
            await store.push(one, keep=5)
        live = [await store.ids(within(live_at=later(hours=hours))) for hours in (23.9, 24, 47)]
        assert live == [[forever.id, second.id, first.id], [forever.id, second.id], [forever.id]]

    async def test_with_renew_the_whole_list_expires_together(self, store: Asked) -> None:
        first = entry("first", expires_at=later(hours=24))
        second = entry("second", expires_at=later(hours=47))
        await store.push(first, keep=5)
        elsewhere = entry(scope=MemoryScope(tenant="t", group_id="b"), expires_at=later(hours=1))
        await store.push(elsewhere, keep=5)
        await store.push(second, keep=5, renew=True)
        assert await store.ids(within(live_at=later(hours=46))) == [second.id, first.id]
        assert (await store.one(within(ids=(first.id,)))).expires_at == later(hours=47)
        assert await store.ids(within(elsewhere.scope, live_at=later(hours=2))) == []

    async def test_with_renew_a_list_can_expire_sooner(self, store: Asked) -> None:
        await store.push(entry("one", expires_at=later(hours=9)), keep=5)
        await store.push(entry("two", expires_at=later(hours=1)), keep=5, renew=True)
        assert [one.expires_at for one in (await store.find(within())).items] == [
            later(hours=1)
        ] * 2
        assert await store.purge(later(hours=1)) == 2

    async def test_with_renew_a_list_can_be_kept_for_ever_and_shortened(self, store: Asked) -> None:
        for n in range(3):
            await store.push(entry(f"{n}", expires_at=later(hours=n + 1)), keep=5)
        await store.push(entry("ever"), keep=3, renew=True)
        assert [one.expires_at for one in (await store.find(within())).items] == [None] * 3
        await store.push(entry("soon", expires_at=later(hours=1)), keep=5, renew=True)
        assert await store.purge(later(hours=1)) == 4

    async def test_without_renew_nobody_elses_time_changes(self, store: Asked) -> None:
        await store.push(entry("one", expires_at=later(hours=1)), keep=5)
        await store.push(entry("two", expires_at=later(hours=9)), keep=5)
        times = [one.expires_at for one in (await store.find(within())).items]
        assert times == [later(hours=9), later(hours=1)]

    async def test_an_edit_can_change_when_something_expires(self, store: Asked) -> None:
        await store.push(entry("one", expires_at=later(hours=1)), keep=5)
        await store.edit(within(), lambda one: replace(one, expires_at=later(hours=3)))
        assert await store.purge(later(hours=2)) == 0
        assert await store.purge(later(hours=3)) == 1

    async def test_what_was_revoked_is_not_live(self, store: Asked) -> None:
        await store.push(entry(revocation="r"), keep=5)
        assert await store.ids(within(live_at=NOON)) == []
        assert (await store.find(within())).total == 1

    async def test_purge_removes_what_has_expired_everywhere(self, store: Asked) -> None:
        scopes = [ACME, MemoryScope(tenant="u", group_id="b"), MemoryScope(group_id="c")]
        for n, scope in enumerate(scopes):
            await store.push(entry(scope=scope, expires_at=later(hours=n + 1)), keep=5)
            await store.push(entry(scope=scope), keep=5)
        assert await store.purge(later(hours=2)) == 2
        assert [(await store.find(within(one))).total for one in scopes] == [1, 1, 2]
        assert await store.purge(later(hours=2)) == 0

    async def test_purge_takes_what_expires_at_that_very_moment(self, store: Asked) -> None:
        await store.push(entry(expires_at=NOON + timedelta(microseconds=1)), keep=5)
        assert await store.purge(NOON) == 0
        assert await store.purge(NOON + timedelta(microseconds=1)) == 1

    async def test_no_push_of_eight_workers_is_lost(self, store: Asked, opened: OpenStore) -> None:
        async def push(me: int, mine: Asked) -> None:
            for n in range(5):
                await mine.push(entry(f"{me} {n}"), keep=30)
                assert (await mine.find(within())).total <= 30

        await self.at_work(self.workers(store, opened), push)
        found = await store.texts(within())
        assert len(found) == 30
        for me in range(WORKERS):
            mine = [int(one.split()[1]) for one in found if one.startswith(f"{me} ")]
            assert mine == list(range(4, 4 - len(mine), -1))

    async def test_an_entry_that_eight_workers_push_is_there_once(
        self, store: Asked, opened: OpenStore
    ) -> None:
        others = [entry(f"{n}") for n in range(3)]
        for one in others:
            await store.push(one, keep=5)
        shared = entry("shared")

        async def push(me: int, mine: Asked) -> None:
            for _ in range(3):
                await mine.push(replace(shared, content=f"by {me}"), keep=5)
                assert (await mine.find(within())).total == 4

        await store.push(shared, keep=5)
        await self.at_work(self.workers(store, opened), push)
        assert await store.ids(within()) == [one.id for one in (shared, *reversed(others))]

    async def test_pushes_and_purges_leave_the_event_loop_free(self, target: Any) -> None:
        if "native" not in self.doors:
            return
        store = Asked(target, "native", self.deadline)
        await store.push(entry(), keep=5)
        with blockbuster_ctx():
            await store.push(entry(expires_at=NOON), keep=2, renew=True)
            await store.push(entry(), keep=2)
            assert await store.purge(NOON) == 1

    @pytest.mark.parametrize("seed", range(4))
    async def test_behaves_like_a_short_list(self, store: Asked, seed: int) -> None:
        dice, model = random.Random(seed), list[Entry]()  # noqa: S311 - a test
        for step in range(60):
            match dice.choice(["push", "push", "again", "delete", "purge"]):
                case "push":
                    one = entry(f"step {step}", expires_at=later(hours=dice.randrange(1, 100)))
                    await store.push(one, keep=6)
                    model = [one, *model][:6]
                case "again" if model:
                    one = replace(dice.choice(model), content=f"again {step}")
                    await store.push(one, keep=6)
                    model = [one, *(old for old in model if old.id != one.id)]
                case "delete" if model:
                    one = model.pop(dice.randrange(len(model)))
                    assert await store.delete(within(ids=(one.id,))) == 1
                case "purge":
                    now = later(hours=step)
                    left = [old for old in model if old.expires_at and old.expires_at > now]
                    assert await store.purge(now) == len(model) - len(left)
                    model = left
        assert (await store.find(within())).items == model

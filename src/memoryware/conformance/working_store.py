"""What it means to be a `WorkingStore`, as tests."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from memoryware.conformance._either import Door
from memoryware.conformance._threads import at_once
from memoryware.conformance._tiers import ACME, NASTY, NOON, Asked, TierSuite, entry, later, within
from memoryware.scope import MemoryScope
from memoryware.tiers.records import Entry
from memoryware.tiers.stores.protocol import Stores, WorkingStore


class WorkingStoreConformance(TierSuite):
    """Every test that a store of tier 2 has to pass; override the fixture `open_stores`."""

    protocol = WorkingStore
    tier = "working"

    async def test_the_newest_stay_and_come_first(self, store: Asked) -> None:
        kept = [entry(f"text {n}") for n in range(60)]
        for one in kept:
            await store.push(one, keep=50)
        assert await store.ids(within()) == [one.id for one in reversed(kept[10:])]

    async def test_each_group_has_its_own_list(self, store: Asked) -> None:
        scopes = [MemoryScope(tenant="t", group_id=one) for one in ("g1", "g10", *NASTY[2:6])]
        for _ in range(3):
            for scope in scopes:
                await store.push(entry(scope=scope), keep=2)
        for scope in scopes:
            assert (await store.find(within(scope))).total == 2

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

    async def test_no_push_is_lost_between_eight_workers(self, stores: Stores, door: Door) -> None:
        target = stores.working

        async def push(me: int, one: Asked) -> None:
            for n in range(5):
                await one.push(entry(f"{me} {n}"), keep=30)

        inline = "inline" if door == "blocking" else door
        workers = {n: Asked(target, inline, self.deadline) for n in range(8)}
        threads, tasks = (workers, {}) if door == "blocking" else ({}, workers)
        await at_once(threads, tasks, push, self.deadline * 2)
        found = (await Asked(target, door, self.deadline).find(within())).items
        assert len(found) == 30
        for me in range(8):
            mine = [int(one.content.split()[1]) for one in found if one.content[0] == str(me)]
            assert mine == sorted(mine, reverse=True)

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

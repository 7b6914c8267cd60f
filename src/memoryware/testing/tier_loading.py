"""What a store has can be read from end to end, and put into another one as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memoryware.scope import MemoryScope
from memoryware.testing._tiers import (
    ACME,
    NASTY,
    NEIGHBOURS,
    NOON,
    Asked,
    OpenStore,
    TierSuite,
    later,
    within,
)
from memoryware.tiers.model import Verdict
from memoryware.tiers.stores.protocol import Select

OTHER = MemoryScope(tenant="u", group_id="acme")


class TierLoadingConformance(TierSuite):
    """What `walk` and `load` do."""

    async def test_a_walk_brings_every_record_of_every_tenant_as_it_is(self, store: Asked) -> None:
        scopes = [*NEIGHBOURS[:20], *(MemoryScope(tenant=one, group_id=one) for one in NASTY)]
        kept = [
            await self.keep(store, self.make(f"text {n}", scope)) for n, scope in enumerate(scopes)
        ]
        for limit in (1, 3, 1000):
            found = await walked(store, limit)
            assert {key(one): one for one in found} == {key(one): one for one in kept}

    async def test_a_walk_brings_what_was_stored_first_first(self, store: Asked) -> None:
        kept = await self.keep_all(store, *map(str, range(12)))
        for limit in (1, 5, 12, 13):
            assert await walked(store, limit) == kept

    async def test_the_first_part_of_a_walk_says_how_many_there_are_or_nothing(
        self, store: Asked
    ) -> None:
        assert await store.load([]) == []
        part = await store.walk(limit=10)
        assert (part.items, part.mark) == ([], None)
        assert part.total in {0, None}
        await self.keep_all(store, *"abcde")
        assert (await store.walk(limit=2)).total in {5, None}

    async def test_a_walk_goes_on_where_it_was_in_another_opening(
        self, store: Asked, opened: OpenStore
    ) -> None:
        if not self.persistent:
            return
        kept = [
            await self.keep(store, self.make(f"text {n}", replace(ACME, group_id=f"g{n:03}")))
            for n in range(40)
        ]
        part = await store.walk(limit=10)
        rest = []
        if part.mark is not None:
            later_on = Asked(opened(), store.door, self.deadline)
            rest = await walked(later_on, 10, part.mark)
        assert [*part.items, *rest] == kept

    async def test_what_goes_and_comes_during_a_walk_does_no_harm(self, store: Asked) -> None:
        kept = await self.keep_all(store, *map(str, range(10)))
        part = await store.walk(limit=3)
        await store.delete(within(ids=(kept[0].id, kept[5].id)))
        new = await self.keep(store, self.make("new"))
        rest = await walked(store, 3, part.mark) if part.mark is not None else []
        found = {one.id for one in [*part.items, *rest]}
        assert {one.id for one in kept} - {kept[0].id, kept[5].id} <= found
        assert found <= {*(one.id for one in kept), new.id}

    async def test_records_are_loaded_as_they_are_and_in_this_order(self, store: Asked) -> None:
        first = await self.keep(store, self.make("there before"))
        records = [*map(self.rich, range(5)), self.make("of another", OTHER)]
        assert same(await store.load(records), records)
        found = (await store.find(within())).items
        assert found == [*records[4::-1], first]
        assert await store.one(Select.within(OTHER)) == records[5]

    async def test_what_is_there_as_it_is_stays(self, store: Asked) -> None:
        records = [self.rich(n) for n in range(4)]
        assert same(await store.load(records), records)
        assert await store.load(records) == []
        assert await store.load(records[:2]) == []
        assert (await store.find(within())).items == records[::-1]

    async def test_what_differs_is_replaced_in_its_place(self, store: Asked) -> None:
        records = [self.rich(n) for n in range(4)]
        await store.load(records)
        more = {"content_hash": "another"} if self.tier == "long_term" else {}
        changed = replace(records[1], content="another text", **more)
        assert await store.load([records[0], changed, records[2]]) == [changed]
        assert (await store.find(within())).items == [records[3], records[2], changed, records[0]]
        assert await store.ids(within(hashes=(changed.content_hash,))) == [changed.id]
        assert await store.ids(within(contains="another text")) == [changed.id]

    async def test_loading_one_record_leaves_its_namesakes_alone(self, store: Asked) -> None:
        mine = await self.keep(store, self.make("mine"))
        theirs = replace(mine, scope=replace(OTHER, user_id="bob"), content="theirs")
        here = replace(mine, scope=replace(ACME, group_id="other"), content="other group")
        assert same(await store.load([theirs, here]), [theirs, here])
        assert await store.one(within()) == mine
        assert await store.one(Select.within(OTHER)) == theirs

    async def test_what_was_walked_can_be_loaded_again(self, store: Asked) -> None:
        records = [self.rich(n, NEIGHBOURS[n % 7]) for n in range(30)]
        await store.load(records)
        found = await walked(store, 7)
        await store.delete(Select(tenant=None))
        await store.delete(Select(tenant="t"))
        assert same(await store.load(found), found)
        assert same(await walked(store, 1000), records)

    async def test_several_load_the_same_at_once(self, store: Asked, opened: OpenStore) -> None:
        records = [self.rich(n, NEIGHBOURS[n % 3]) for n in range(30)]

        async def work(_: int, mine: Asked) -> None:
            for start in range(0, 30, 10):
                await mine.load(records[start : start + 10])

        await self.at_work(self.workers(store, opened), work)
        found = await walked(store, 1000)
        assert sorted(one.id for one in found) == sorted(one.id for one in records)
        assert same(found, records)

    def rich(self, number: int, scope: MemoryScope = ACME) -> Any:
        """Return a record of which every part is filled."""
        record = self.make(
            f"text {number} \U0001f600 \x00 \ud800",
            scope,
            created_at=later(minutes=-number),
            metadata={"n": number, "list": [1, {"a": None}]},
            revocation="r1" if number % 3 == 1 else None,
            revocations=("r1",) if number % 3 == 1 else (),
        )
        return replace(record, **self.more())

    def more(self) -> dict[str, Any]:
        """Return values of what only records of this tier have."""
        if self.tier == "long_term":
            return {"valid_to": later(days=3), "superseded_by": "d9", "subject": "tea"}
        verdict = Verdict(verified=True, confidence=0.5, issues=("none",), by="ann", at=NOON)
        until = later(hours=24) if self.tier == "working" else None
        return {"verdict": verdict, "status": "promoted", "expires_at": until}


async def walked(store: Asked, limit: int, mark: str | None = None) -> list[Any]:
    """Return what a walk brings."""
    found = []
    while True:
        part = await store.walk(mark, limit=limit)
        found += part.items
        mark = part.mark
        if mark is None:
            return found
        assert len(found) < 10_000, "the walk has no end"


def key(record: Any) -> tuple[str | None, str | None, str]:
    """Return what a record is known by."""
    return record.scope.tenant, record.scope.group_id, record.id


def same(some: list[Any], others: list[Any]) -> bool:
    """Say whether these are the same records, whatever their order."""
    return len(some) == len(others) and {key(one): one for one in some} == {
        key(one): one for one in others
    }

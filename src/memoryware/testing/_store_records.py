"""Records: stored, edited, deleted, loaded in bulk, and in transactions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
from blockbuster import blockbuster_ctx

from memoryware.errors import StoreClosed
from memoryware.scope import MemoryScope
from memoryware.testing._store import (
    ACME,
    NASTY,
    NEIGHBOURS,
    NOON,
    WORKERS,
    OpenStore,
    StoreProxy,
    StoreSuite,
    append_mark,
    entry,
    later,
    memory,
    within,
)
from memoryware.testing._suite import Mode
from memoryware.tiers.model import PendingPromotion, Verdict
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.protocol import TIERS, Select, Space, Tier, Transaction

# Store, edit and delete.

ODD: Final = ("\0", "a\0b", "\ud800", "\udfff\ud800", "\x01", "\x01\\u0000", "", *NASTY)
"""Texts that C, UTF-8 or a careless store cannot keep."""
TEXTS: Final = (
    *ODD,
    *("  two  blanks  ", "line\nbreak\r\nand\ttab\n", "é e\u0301", "\u202eright to left"),
    *("e\u200bmpty width", "1e400", "\\u0041 \\n", "'; DROP TABLE record; --", "x" * 100_000),
)


class RecordConformance(StoreSuite):
    """What holds of records in every tier."""

    async def test_a_record_comes_back_as_it_was(self, store: StoreProxy) -> None:
        record = replace(
            self.make("Zeilen\n\n\u00e4\u4e16\U0001f600 'quoted' \"too\" \\ %"),
            metadata={"confidence": 0.9, "tags": ["a", None], "deep": {"x": True, "": [1, 2]}},
            provenance=Provenance(
                Origin("agent", "helper"),
                ("e2", "e1"),
                (Origin("user", "ann: b"), Origin("tool", "")),
            ),
            verdict=Verdict(verified=False, confidence=0.25, issues=("no",), by="f", at=NOON),
            created_at=NOON + timedelta(microseconds=123456),
            scope=replace(ACME, agent_id="a", node_id="n"),
        )
        await self.keep(store, record)
        assert await store.find_one(within()) == record

    async def test_all_fields_of_a_record_are_kept(self, store: StoreProxy) -> None:
        more: dict[str, Any] = {"revocation": "r1", "revocations": ("r1", "r2")}
        if self.tier == "long_term":
            more |= {"chunk_index": 2, "chunk_count": 3, "subject": "s", "valid_to": later(days=1)}
            more |= {"superseded_by": "d9", "valid_from": later(microseconds=1)}
        else:
            more |= {"key": "k", "status": "promoted", "refused": "too_short", "echo_of": ("m1",)}
            more |= {"proposed_by": "p", "decided_by": "d", "decided_at": NOON, "role": "tool"}
            more |= {"duplicate_of": ("m4",), "proposers": ("o", "p")}
            waits = PendingPromotion(
                subject="s", against=("m5",), agent_id="a", valid_from=later(days=1)
            )
            more |= {"waits": waits, "decided": {"h1": "rejected"}, "ungrouped": True}
            more |= {"memory_ids": ("m2", "m3"), "expires_at": later(microseconds=1)}
        record = self.make(**more)
        await self.keep(store, record)
        assert await store.find_one(within()) == record

    async def test_every_text_comes_back_as_it_was(self, store: StoreProxy) -> None:
        records = await self.keep_all(store, *TEXTS)
        assert (await store.find(within())).items == records[::-1]

    async def test_a_store_shares_nothing_that_can_be_changed(self, store: StoreProxy) -> None:
        metadata: dict[str, Any] = {"deep": {"x": 1}}
        decided = {"h1": "rejected"}
        await self.keep(store, self.make(metadata=metadata))
        metadata["deep"]["x"] = 2
        assert (await store.find_one(within())).metadata == {"deep": {"x": 1}}
        (await store.find_one(within())).metadata["deep"]["x"] = 3
        assert (await store.find_one(within())).metadata == {"deep": {"x": 1}}
        if self.tier != "long_term":  # memories have no decisions
            await store.edit(within(), lambda record: replace(record, decided=decided))
            decided["h2"] = "promoted"
            (await store.find_one(within())).decided["h1"] = "promoted"
            assert (await store.find_one(within())).decided == {"h1": "rejected"}

    async def test_an_empty_store_finds_nothing(self, store: StoreProxy) -> None:
        page = await store.find(within())
        assert (page.items, page.total) == ([], 0)
        assert await store.edit(within(), append_mark) == []
        assert await store.delete(within()) == 0

    # Edits.

    async def test_an_edit_changes_what_fits_and_returns_what_differs(
        self, store: StoreProxy
    ) -> None:
        first, second, third = await self.keep_all(store, "one", "two", "three")

        def shout_first(record: Any) -> Any:
            return append_mark(record) if record.id == first.id else record

        assert await store.edit(within(ids=(first.id, second.id)), shout_first) == [
            append_mark(first)
        ]
        assert (await store.find(within())).items == [third, second, append_mark(first)]
        assert await store.edit(within(), lambda record: record) == []
        assert len(await store.edit(within(), append_mark)) == 3

    async def test_an_edited_field_is_found_by_its_new_value_only(self, store: StoreProxy) -> None:
        record = await self.keep(store, self.make("before", metadata={"a": 1}))
        provenance = Provenance(Origin("tool", "x"), ("e7",))
        scope = replace(ACME, user_id="bob", session_id="s2", agent_id=record.scope.agent_id)
        new = replace(
            record,
            revocation="r2",
            provenance=provenance,
            content="after",
            scope=scope,
            metadata={},
            created_at=later(days=9),
        )
        assert await store.edit(within(), lambda _: new) == [new]
        now: dict[str, Any] = {
            "revocations": ("r2",),
            "root": "tool:x",
            "made_of": ("e7",),
            "contains": "after",
            "users": ("bob",),
            "sessions": ("s2",),
            "since": later(days=9),
        }
        was: dict[str, Any] = {
            "revocations": (None,),
            "root": "agent:helper",
            "contains": "before",
            "users": ("ann",),
            "sessions": ("s1",),
            "before": later(days=9),
        }
        assert {name: await store.ids(within().also(**{name: now[name]})) for name in now} == {
            name: [record.id] for name in now
        }
        assert {name: await store.ids(within().also(**{name: was[name]})) for name in was} == {
            name: [] for name in was
        }

    async def test_an_edit_that_fails_has_changed_nothing(self, store: StoreProxy) -> None:
        records = [
            await self.keep(store, self.make(text, metadata={"n": [0]}))
            for text in ("one", "two", "three")
        ]
        seen_ids: list[str] = []

        def fails_at_the_last(record: Any) -> Any:
            seen_ids.append(record.id)
            record.metadata["n"].append(1)
            if len(seen_ids) == len(records):
                raise RuntimeError("no")
            return append_mark(record)

        with pytest.raises(RuntimeError, match="no"):
            await store.edit(within(), fails_at_the_last)
        assert (await store.find(within())).items == records[::-1]
        assert len(await store.edit(within(), append_mark)) == 3

    # Deletes.

    async def test_what_was_deleted_can_be_stored_again(self, store: StoreProxy) -> None:
        first, second = await self.keep_all(store, "one", "two")
        await store.delete(within(ids=(first.id,)))
        await self.keep(store, first)
        assert (await store.find(within())).items == [first, second]

    # Strangers.

    async def test_any_text_can_be_an_id(self, store: StoreProxy) -> None:
        records = [
            await self.keep(store, self.make(f"text {n}", id=id_)) for n, id_ in enumerate(ODD)
        ]
        assert await store.ids(within()) == [record.id for record in reversed(records)]
        for id_ in ODD:
            assert await store.ids(within(ids=(id_,))) == [id_]
        assert set(await store.ids(within(ids=ODD[:3]))) == {*ODD[:3]}
        assert await store.delete(within(ids=ODD[:3])) == 3
        assert await store.ids(within(ids=ODD)) == [*reversed(ODD[3:])]

    async def test_strangers_may_have_the_same_ids(self, store: StoreProxy) -> None:
        record = self.make()
        for scope in NEIGHBOURS:
            await self.keep(store, replace(record, scope=scope, content=f"of {scope}"))
        expected = {scope: [f"of {scope}"] for scope in NEIGHBOURS}
        named = {scope: within(scope, ids=(record.id,)) for scope in NEIGHBOURS}
        assert {scope: await store.texts(named[scope]) for scope in NEIGHBOURS} == expected
        mine, theirs = ACME, replace(ACME, group_id="b")
        for scope in (mine, theirs):
            await self.keep(store, replace(record, scope=scope))
        assert len(await store.edit(within(mine, ids=(record.id,)), append_mark)) == 1
        assert await store.texts(within(theirs)) == [record.content]
        assert await store.delete(within(mine, ids=(record.id,))) == 1
        assert await store.ids(within(theirs)) == [record.id]
        assert await store.ids(within(mine)) == []

    async def test_several_ids_are_found_in_the_order_of_the_store(self, store: StoreProxy) -> None:
        records = await self.keep_all(store, *"abcde")
        ids = (records[3].id, records[0].id, records[4].id, "gone", records[0].id)
        expected = [records[index].id for index in (4, 3, 0)]
        assert await store.ids(within(ids=ids)) == expected
        assert await store.ids(Select(tenant=ACME.tenant, ids=ids)) == expected

    # Closing.

    async def test_after_close_every_call_says_so(self, store: StoreProxy) -> None:
        await self.keep_all(store, "one")
        await store.close()
        for call in (
            partial(store.find, within()),
            partial(store.edit, within(), append_mark),
            partial(store.delete, within()),
            partial(store.walk, limit=1),
            partial(store.load, [self.make()]),
            partial(self.keep, store, self.make("two")),
        ):
            with pytest.raises(StoreClosed, match="closed"):
                await call()

    async def test_records_outlive_the_store_that_kept_them(
        self, opened: OpenStore, mode: Mode
    ) -> None:
        first = StoreProxy(opened(), mode, self.deadline)
        records = await self.keep_all(first, "one", "two", "three")
        await first.edit(within(ids=(records[1].id,)), append_mark)
        await first.delete(within(ids=(records[0].id,)))
        await first.close()
        again = StoreProxy(opened(), mode, self.deadline)
        expected = [records[2], append_mark(records[1])] if self.persistent else []
        assert (await again.find(within())).items == expected

    async def test_closing_twice_is_no_error(self, store: StoreProxy) -> None:
        await self.keep_all(store, "one")
        for _ in range(2):
            await store.close()
        await asyncio.to_thread(store.target.close)

    # Many at once.

    async def test_no_edit_of_eight_workers_is_lost(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        await self._counted_up(store, self.workers(store, opened))

    async def test_no_edit_of_threads_and_tasks_together_is_lost(self, target: Any) -> None:
        stores = [StoreProxy(target, mode, self.deadline) for mode in self.modes]
        workers = [worker for store in stores for worker in self.workers(store, lambda: target)]
        await self._counted_up(stores[0], workers[::2])

    async def _counted_up(self, store: StoreProxy, workers: list[StoreProxy]) -> None:
        await self.keep(store, self.make(metadata={"count": 0}))

        async def work(_: int, mine: StoreProxy) -> None:
            for _step in range(5):
                assert len(await mine.edit(within(), _counted)) == 1

        await self.run_workers(workers, work)
        assert (await store.find_one(within())).metadata == {"count": 5 * len(workers)}

    async def test_nothing_that_eight_workers_store_is_lost(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        async def work(me: int, mine: StoreProxy) -> None:
            for n in range(4):
                record = await self.keep(mine, self.make(f"{me} {n}"))
                await mine.edit(within(ids=(record.id,)), append_mark)
                if n == 0:
                    assert await mine.delete(within(ids=(record.id,))) == 1

        await self.run_workers(self.workers(store, opened), work)
        expected = sorted(f"{me} {n}!" for me in range(WORKERS) for n in range(1, 4))
        assert sorted(await store.texts(within())) == expected

    async def test_a_reader_never_sees_half_an_edit(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        for n in range(12):
            await self.keep(store, self.make(f"text {n}", metadata={"count": 0}))

        async def work(me: int, mine: StoreProxy) -> None:
            for _ in range(6):
                if me == 0:
                    await mine.edit(within(), _counted)
                else:
                    records = (await mine.find(within())).items
                    assert len({record.metadata["count"] for record in records}) == 1

        await self.run_workers(self.workers(store, opened), work)

    async def test_a_page_and_its_total_are_of_one_moment(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        async def work(me: int, mine: StoreProxy) -> None:
            for n in range(6):
                if me < 2:
                    record = await self.keep(mine, self.make(f"{me} {n}"))
                    await mine.delete(within(ids=(record.id,)))
                else:
                    page = await mine.find(within(), limit=1)
                    assert len(page.items) == min(page.total, 1)

        await self.run_workers(self.workers(store, opened), work)

    async def test_the_async_half_leaves_the_event_loop_free(self, target: Any) -> None:
        if "native" not in self.modes:
            return
        store = StoreProxy(target, "native", self.deadline)
        await self.keep_all(store, "warm", "up")
        with blockbuster_ctx():
            await self.keep_all(store, "one", "two")
            assert len(await store.ids(within(contains="o"), limit=3)) == 2
            assert len(await store.edit(within(), append_mark)) == 4
            with pytest.raises(ZeroDivisionError):
                await store.edit(within(), lambda _: 1 / 0)
            assert await store.delete(within()) == 4
            await store.close()


def _counted(record: Any) -> Any:
    return replace(record, metadata={"count": record.metadata["count"] + 1})


# Walk and load.

OTHER = MemoryScope(tenant="u", group_id="acme")


class BulkLoadConformance(StoreSuite):
    """What `walk` and `load` do."""

    async def test_a_walk_brings_every_record_of_every_tenant_as_it_is(
        self, store: StoreProxy
    ) -> None:
        scopes = [*NEIGHBOURS[:20], *(MemoryScope(tenant=name, group_id=name) for name in NASTY)]
        records = [
            await self.keep(store, self.make(f"text {n}", scope)) for n, scope in enumerate(scopes)
        ]
        for limit in (1, 3, 1000):
            loaded = await walked(store, limit)
            assert {key(record): record for record in loaded} == {
                key(record): record for record in records
            }

    async def test_records_are_counted_by_tenant_and_group(self, store: StoreProxy) -> None:
        assert await store.count_groups() == {}
        scopes = [
            MemoryScope(tenant=tenant, group_id=group)
            for tenant in ("t", None, "", "ü" * 300)
            for group in ("g", None, "", "g" * 300)
        ]
        for number, scope in enumerate(scopes, 1):
            for n in range(number % 3):
                await self.keep(store, self.make(f"{n}", scope=scope))
        counts = {(s.tenant, s.group_id): n % 3 for n, s in enumerate(scopes, 1) if n % 3}
        assert await store.count_groups() == counts
        await store.delete(within(scopes[0]))
        del counts[scopes[0].tenant, scopes[0].group_id]
        assert await store.count_groups() == counts

    async def test_a_walk_brings_what_was_stored_first_first(self, store: StoreProxy) -> None:
        records = await self.keep_all(store, *map(str, range(12)))
        for limit in (1, 5, 12, 13):
            assert await walked(store, limit) == records

    async def test_the_first_part_of_a_walk_says_how_many_there_are_or_nothing(
        self, store: StoreProxy
    ) -> None:
        assert await store.load([]) == []
        part = await store.walk(limit=10)
        assert (part.items, part.mark) == ([], None)
        assert part.total in {0, None}
        await self.keep_all(store, *"abcde")
        assert (await store.walk(limit=2)).total in {5, None}

    async def test_a_walk_goes_on_where_it_was_in_another_opening(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        if not self.persistent:
            return
        records = [
            await self.keep(store, self.make(f"text {n}", replace(ACME, group_id=f"g{n:03}")))
            for n in range(40)
        ]
        part = await store.walk(limit=10)
        rest = []
        if part.mark is not None:
            later_on = StoreProxy(opened(), store.mode, self.deadline)
            rest = await walked(later_on, 10, part.mark)
        assert [*part.items, *rest] == records

    async def test_what_goes_and_comes_during_a_walk_does_no_harm(self, store: StoreProxy) -> None:
        records = await self.keep_all(store, *map(str, range(10)))
        part = await store.walk(limit=3)
        await store.delete(within(ids=(records[0].id, records[5].id)))
        new = await self.keep(store, self.make("new"))
        rest = await walked(store, 3, part.mark) if part.mark is not None else []
        ids = {record.id for record in [*part.items, *rest]}
        assert {record.id for record in records} - {records[0].id, records[5].id} <= ids
        assert ids <= {*(record.id for record in records), new.id}

    async def test_records_are_loaded_as_they_are_and_in_this_order(
        self, store: StoreProxy
    ) -> None:
        first = await self.keep(store, self.make("there before"))
        records = [*map(self.rich, range(5)), self.make("of another", OTHER)]
        assert same(await store.load(records), records)
        stored = (await store.find(within())).items
        assert stored == [*records[4::-1], first]
        assert await store.find_one(Select.within(OTHER)) == records[5]

    async def test_what_is_there_as_it_is_stays(self, store: StoreProxy) -> None:
        records = [self.rich(n) for n in range(4)]
        assert same(await store.load(records), records)
        assert await store.load(records) == []
        assert await store.load(records[:2]) == []
        assert (await store.find(within())).items == records[::-1]

    async def test_what_differs_is_replaced_in_its_place(self, store: StoreProxy) -> None:
        records = [self.rich(n) for n in range(4)]
        await store.load(records)
        more = {"content_hash": "another"} if self.tier == "long_term" else {}
        changed = replace(records[1], content="another text", **more)
        assert await store.load([records[0], changed, records[2]]) == [changed]
        assert (await store.find(within())).items == [records[3], records[2], changed, records[0]]
        assert await store.ids(within(hashes=(changed.content_hash,))) == [changed.id]
        assert await store.ids(within(contains="another text")) == [changed.id]

    async def test_loading_one_record_leaves_its_namesakes_alone(self, store: StoreProxy) -> None:
        mine = await self.keep(store, self.make("mine"))
        theirs = replace(mine, scope=replace(OTHER, user_id="bob"), content="theirs")
        here = replace(mine, scope=replace(ACME, group_id="other"), content="other group")
        assert same(await store.load([theirs, here]), [theirs, here])
        assert await store.find_one(within()) == mine
        assert await store.find_one(Select.within(OTHER)) == theirs

    async def test_what_was_walked_can_be_loaded_again(self, store: StoreProxy) -> None:
        records = [self.rich(n, NEIGHBOURS[n % 7]) for n in range(30)]
        await store.load(records)
        walked_records = await walked(store, 7)
        await store.delete(Select(tenant=None))
        await store.delete(Select(tenant="t"))
        assert same(await store.load(walked_records), walked_records)
        assert same(await walked(store, 1000), records)

    async def test_several_load_the_same_at_once(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        records = [self.rich(n, NEIGHBOURS[n % 3]) for n in range(30)]

        async def work(_: int, mine: StoreProxy) -> None:
            for start in range(0, 30, 10):
                await mine.load(records[start : start + 10])

        await self.run_workers(self.workers(store, opened), work)
        walked_records = await walked(store, 1000)
        assert sorted(record.id for record in walked_records) == sorted(
            record.id for record in records
        )
        assert same(walked_records, records)

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


async def walked(store: StoreProxy, limit: int, mark: str | None = None) -> list[Any]:
    """Return all records of a walk."""
    records = []
    while True:
        part = await store.walk(mark, limit=limit)
        records += part.items
        mark = part.mark
        if mark is None:
            return records
        assert len(records) < 10_000, "the walk has no end"


def key(record: Any) -> tuple[str | None, str | None, str]:
    """Return the identity of a record."""
    return record.scope.tenant, record.scope.group_id, record.id


def same(records: list[Any], others: list[Any]) -> bool:
    """Return whether these are the same records, whatever their order."""
    return len(records) == len(others) and {key(record): record for record in records} == {
        key(record): record for record in others
    }


# Transactions over all tiers.

PLANE = Space("plane", 2)


class TransactionConformance(StoreSuite):
    """What holds of a transaction, in a store that keeps all three tiers."""

    async def test_a_transaction_sees_what_it_changed_and_that_stays(
        self, store: StoreProxy
    ) -> None:
        async def work(transaction: Transaction) -> dict[str, list[str]]:
            await change_all(transaction)
            return await contents(transaction)

        await store.transaction(fill_all)
        expected = {tier: ["new", "edited!"] for tier in TIERS}
        assert await store.transaction(work) == expected
        assert await store.transaction(contents, writes=False) == expected

    async def test_a_transaction_that_fails_changes_no_tier(self, store: StoreProxy) -> None:
        async def work(transaction: Transaction) -> None:
            await change_all(transaction)
            raise LookupError("half way")

        async def choose_all(transaction: Transaction) -> Any:
            pages = [await transaction.find(tier, within()) for tier in TIERS]
            return pages, await transaction.vectors_of(pages[2].items, PLANE)

        await store.transaction(fill_all)
        before = await store.transaction(choose_all, writes=False)
        with pytest.raises(LookupError, match="half way"):
            await store.transaction(work)
        assert await store.transaction(choose_all, writes=False) == before

    async def test_several_selections_are_answered_like_each_by_itself(
        self, store: StoreProxy
    ) -> None:
        async def compare(transaction: Transaction) -> None:
            requests: list[tuple[Tier, Any]] = [
                (self.tier, within(contains="text 1")),
                *((tier, within()) for tier in TIERS),
                (self.tier, within(ids=("gone",))),
            ]
            pages = await transaction.find_many(requests)
            assert pages == [await transaction.find(tier, select) for tier, select in requests]
            totals = {tier: 72 if tier == self.tier else 2 for tier in TIERS}
            assert [page.total for page in pages] == [11, *totals.values(), 0]
            assert await transaction.find_many([]) == []

        await store.transaction(fill_all)
        await store.load([self.make(f"text {number}") for number in range(70)])
        await store.transaction(compare, writes=False)

    async def test_each_change_raises_the_generation(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        async def generation(transaction: Transaction) -> int | None:
            return await transaction.generation(ACME)

        other = StoreProxy(opened(), store.mode, self.deadline) if self.persistent else store
        await store.transaction(fill_all)
        record = (await store.find(within())).items[0]
        changes: list[Any] = [
            partial(store.load, [self.make("loaded")]),
            partial(other.edit, within(contains="loaded"), append_mark),
            partial(other.delete, within(contains="loaded")),
            partial(self.keep, other, self.make("another")),
            *(partial(store.transaction, partial(push_or_edit, tier)) for tier in TIERS),
        ]
        if self.tier == "long_term":
            changes.append(partial(other.put_vectors, [(record, [0.0, 1.0])], PLANE))
        for change in changes:
            before = await store.transaction(generation, writes=False)
            await change()
            after = await store.transaction(generation, writes=False)
            assert (before is None) == (after is None)
            assert before is None or after is None or after > before, change


async def fill_all(transaction: Transaction) -> None:
    """Put two records into each tier."""
    await transaction.add("quarantine", [entry("edited")])
    await transaction.add("quarantine", [entry("deleted")])
    for text in ("edited", "deleted"):
        await transaction.push(entry(text, expires_at=later(hours=1)), keep=9)
        await transaction.add("long_term", [memory(text)], vectors=[[1.0, 0.0]], space=PLANE)


async def change_all(transaction: Transaction) -> None:
    """Edit one record of each tier, delete one and add one."""
    for tier in TIERS:
        await transaction.edit(tier, within(contains="edited"), append_mark)
        await transaction.delete(tier, within(contains="deleted"))
    await transaction.add("quarantine", [entry("new")])
    await transaction.push(entry("new"), keep=9, renew=True)
    await transaction.add("long_term", [memory("new")], vectors=[[0.0, 1.0]], space=PLANE)


async def push_or_edit(tier: Tier, transaction: Transaction) -> None:
    """Change one record of a tier."""
    if tier == "working":
        await transaction.push(entry("pushed"), keep=9)
    else:
        await transaction.edit(tier, within(contains="edited"), append_mark)


async def contents(transaction: Transaction) -> dict[str, list[str]]:
    """Return the contents of each tier, newest first."""
    pages = {tier: await transaction.find(tier, within()) for tier in TIERS}
    return {tier: [record.content for record in page.items] for tier, page in pages.items()}

"""What is stored comes back, is changed as a whole, and goes when it is told to."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
from blockbuster import blockbuster_ctx

from memoryware.errors import StoreUnavailable
from memoryware.testing._guarded import Door
from memoryware.testing._tiers import (
    ACME,
    NASTY,
    NEIGHBOURS,
    NOON,
    WORKERS,
    Asked,
    OpenStore,
    TierSuite,
    later,
    shout,
    within,
)
from memoryware.tiers.model import Origin, PendingPromotion, Provenance, Verdict
from memoryware.tiers.stores.protocol import Select

ODD: Final = ("\0", "a\0b", "\ud800", "\udfff\ud800", "\x01", "\x01\\u0000", "", *NASTY)
"""Texts that C, UTF-8 or a careless store cannot keep."""
TEXTS: Final = (
    *ODD,
    *("  two  blanks  ", "line\nbreak\r\nand\ttab\n", "é e\u0301", "\u202eright to left"),
    *("e\u200bmpty width", "1e400", "\\u0041 \\n", "'; DROP TABLE record; --", "x" * 100_000),
)


class TierKeepingConformance(TierSuite):
    """What holds of records in every tier."""

    async def test_a_record_comes_back_as_it_was(self, store: Asked) -> None:
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
        assert await store.one(within()) == record

    async def test_all_fields_of_a_record_are_kept(self, store: Asked) -> None:
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
        assert await store.one(within()) == record

    async def test_every_text_comes_back_as_it_was(self, store: Asked) -> None:
        kept = await self.keep_all(store, *TEXTS)
        assert (await store.find(within())).items == kept[::-1]

    async def test_a_store_shares_nothing_that_can_be_changed(self, store: Asked) -> None:
        metadata: dict[str, Any] = {"deep": {"x": 1}}
        decided = {"h1": "rejected"}
        await self.keep(store, self.make(metadata=metadata))
        metadata["deep"]["x"] = 2
        assert (await store.one(within())).metadata == {"deep": {"x": 1}}
        (await store.one(within())).metadata["deep"]["x"] = 3
        assert (await store.one(within())).metadata == {"deep": {"x": 1}}
        if self.tier != "long_term":  # memories have no decisions
            await store.edit(within(), lambda record: replace(record, decided=decided))
            decided["h2"] = "promoted"
            (await store.one(within())).decided["h1"] = "promoted"
            assert (await store.one(within())).decided == {"h1": "rejected"}

    async def test_an_empty_store_finds_nothing(self, store: Asked) -> None:
        page = await store.find(within())
        assert (page.items, page.total) == ([], 0)
        assert await store.edit(within(), shout) == []
        assert await store.delete(within()) == 0

    # Edits.

    async def test_an_edit_changes_what_fits_and_returns_what_differs(self, store: Asked) -> None:
        one, two, three = await self.keep_all(store, "one", "two", "three")

        def only_one(record: Any) -> Any:
            return shout(record) if record.id == one.id else record

        assert await store.edit(within(ids=(one.id, two.id)), only_one) == [shout(one)]
        assert (await store.find(within())).items == [three, two, shout(one)]
        assert await store.edit(within(), lambda record: record) == []
        assert len(await store.edit(within(), shout)) == 3

    async def test_an_edited_field_is_found_by_its_new_value_only(self, store: Asked) -> None:
        one = await self.keep(store, self.make("before", metadata={"a": 1}))
        made = Provenance(Origin("tool", "x"), ("e7",))
        scope = replace(ACME, user_id="bob", session_id="s2", agent_id=one.scope.agent_id)
        new = replace(
            one,
            revocation="r2",
            provenance=made,
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
            name: [one.id] for name in now
        }
        assert {name: await store.ids(within().also(**{name: was[name]})) for name in was} == {
            name: [] for name in was
        }

    async def test_an_edit_that_fails_has_changed_nothing(self, store: Asked) -> None:
        kept = [
            await self.keep(store, self.make(text, metadata={"n": [0]}))
            for text in ("one", "two", "three")
        ]
        seen: list[str] = []

        def fails_at_the_last(record: Any) -> Any:
            seen.append(record.id)
            record.metadata["n"].append(1)
            if len(seen) == len(kept):
                raise RuntimeError("no")
            return shout(record)

        with pytest.raises(RuntimeError, match="no"):
            await store.edit(within(), fails_at_the_last)
        assert (await store.find(within())).items == kept[::-1]
        assert len(await store.edit(within(), shout)) == 3

    # Deletes.

    async def test_what_was_deleted_can_be_stored_again(self, store: Asked) -> None:
        one, two = await self.keep_all(store, "one", "two")
        await store.delete(within(ids=(one.id,)))
        await self.keep(store, one)
        assert (await store.find(within())).items == [one, two]

    # Strangers.

    async def test_any_text_can_be_an_id(self, store: Asked) -> None:
        kept = [await self.keep(store, self.make(f"text {n}", id=one)) for n, one in enumerate(ODD)]
        assert await store.ids(within()) == [one.id for one in reversed(kept)]
        for one in ODD:
            assert await store.ids(within(ids=(one,))) == [one]
        assert set(await store.ids(within(ids=ODD[:3]))) == {*ODD[:3]}
        assert await store.delete(within(ids=ODD[:3])) == 3
        assert await store.ids(within(ids=ODD)) == [*reversed(ODD[3:])]

    async def test_strangers_may_have_the_same_ids(self, store: Asked) -> None:
        one = self.make()
        for scope in NEIGHBOURS:
            await self.keep(store, replace(one, scope=scope, content=f"of {scope}"))
        wanted = {scope: [f"of {scope}"] for scope in NEIGHBOURS}
        named = {scope: within(scope, ids=(one.id,)) for scope in NEIGHBOURS}
        assert {scope: await store.texts(named[scope]) for scope in NEIGHBOURS} == wanted
        mine, theirs = ACME, replace(ACME, group_id="b")
        for scope in (mine, theirs):
            await self.keep(store, replace(one, scope=scope))
        assert len(await store.edit(within(mine, ids=(one.id,)), shout)) == 1
        assert await store.texts(within(theirs)) == [one.content]
        assert await store.delete(within(mine, ids=(one.id,))) == 1
        assert await store.ids(within(theirs)) == [one.id]
        assert await store.ids(within(mine)) == []

    async def test_several_ids_are_found_in_the_order_of_the_store(self, store: Asked) -> None:
        kept = await self.keep_all(store, *"abcde")
        ids = (kept[3].id, kept[0].id, kept[4].id, "gone", kept[0].id)
        wanted = [kept[place].id for place in (4, 3, 0)]
        assert await store.ids(within(ids=ids)) == wanted
        assert await store.ids(Select(tenant=ACME.tenant, ids=ids)) == wanted

    # Closing.

    async def test_after_close_every_call_says_so(self, store: Asked) -> None:
        await self.keep_all(store, "one")
        await store.close()
        for call in (
            partial(store.find, within()),
            partial(store.edit, within(), shout),
            partial(store.delete, within()),
            partial(store.walk, limit=1),
            partial(store.load, [self.make()]),
            partial(self.keep, store, self.make("two")),
        ):
            with pytest.raises(StoreUnavailable, match="closed"):
                await call()

    async def test_records_outlive_the_store_that_kept_them(
        self, opened: OpenStore, door: Door
    ) -> None:
        first = Asked(opened(), door, self.deadline)
        kept = await self.keep_all(first, "one", "two", "three")
        await first.edit(within(ids=(kept[1].id,)), shout)
        await first.delete(within(ids=(kept[0].id,)))
        await first.close()
        again = Asked(opened(), door, self.deadline)
        wanted = [kept[2], shout(kept[1])] if self.persistent else []
        assert (await again.find(within())).items == wanted

    async def test_closing_twice_is_no_error(self, store: Asked) -> None:
        await self.keep_all(store, "one")
        for _ in range(2):
            await store.close()
        await asyncio.to_thread(store.target.close)

    # Many at once.

    async def test_no_edit_of_eight_workers_is_lost(self, store: Asked, opened: OpenStore) -> None:
        await self._counted_up(store, self.workers(store, opened))

    async def test_no_edit_of_threads_and_tasks_together_is_lost(self, target: Any) -> None:
        asked = [Asked(target, one, self.deadline) for one in self.doors]
        workers = [one for store in asked for one in self.workers(store, lambda: target)]
        await self._counted_up(asked[0], workers[::2])

    async def _counted_up(self, store: Asked, workers: list[Asked]) -> None:
        await self.keep(store, self.make(metadata={"count": 0}))

        async def work(_: int, mine: Asked) -> None:
            for _step in range(5):
                assert len(await mine.edit(within(), _counted)) == 1

        await self.at_work(workers, work)
        assert (await store.one(within())).metadata == {"count": 5 * len(workers)}

    async def test_nothing_that_eight_workers_store_is_lost(
        self, store: Asked, opened: OpenStore
    ) -> None:
        async def work(me: int, mine: Asked) -> None:
            for n in range(4):
                one = await self.keep(mine, self.make(f"{me} {n}"))
                await mine.edit(within(ids=(one.id,)), shout)
                if n == 0:
                    assert await mine.delete(within(ids=(one.id,))) == 1

        await self.at_work(self.workers(store, opened), work)
        wanted = sorted(f"{me} {n}!" for me in range(WORKERS) for n in range(1, 4))
        assert sorted(await store.texts(within())) == wanted

    async def test_a_reader_never_sees_half_an_edit(self, store: Asked, opened: OpenStore) -> None:
        for n in range(12):
            await self.keep(store, self.make(f"text {n}", metadata={"count": 0}))

        async def work(me: int, mine: Asked) -> None:
            for _ in range(6):
                if me == 0:
                    await mine.edit(within(), _counted)
                else:
                    found = (await mine.find(within())).items
                    assert len({one.metadata["count"] for one in found}) == 1

        await self.at_work(self.workers(store, opened), work)

    async def test_a_page_and_its_total_are_of_one_moment(
        self, store: Asked, opened: OpenStore
    ) -> None:
        async def work(me: int, mine: Asked) -> None:
            for n in range(6):
                if me < 2:
                    one = await self.keep(mine, self.make(f"{me} {n}"))
                    await mine.delete(within(ids=(one.id,)))
                else:
                    page = await mine.find(within(), limit=1)
                    assert len(page.items) == min(page.total, 1)

        await self.at_work(self.workers(store, opened), work)

    async def test_the_async_half_leaves_the_event_loop_free(self, target: Any) -> None:
        if "native" not in self.doors:
            return
        store = Asked(target, "native", self.deadline)
        await self.keep_all(store, "warm", "up")
        with blockbuster_ctx():
            await self.keep_all(store, "one", "two")
            assert len(await store.ids(within(contains="o"), limit=3)) == 2
            assert len(await store.edit(within(), shout)) == 4
            with pytest.raises(ZeroDivisionError):
                await store.edit(within(), lambda _: 1 / 0)
            assert await store.delete(within()) == 4
            await store.close()


def _counted(record: Any) -> Any:
    return replace(record, metadata={"count": record.metadata["count"] + 1})

"""What the suites of the tier stores share: the two doors, records, and promises of all."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Final

import pytest
from blockbuster import blockbuster_ctx

from memoryware.conformance._either import Door, twin_differences
from memoryware.conformance._threads import at_once, in_thread
from memoryware.scope import MemoryScope
from memoryware.tiers.records import Entry, Memory, Origin, Provenance, Verdict
from memoryware.tiers.stores.protocol import Select, Stores

OpenStores = Callable[[], Stores]
NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""When everything in these suites begins."""
NASTY: Final = (
    *("g1", "g10", "a.b", "a/b", "a:b", "%", "_", "a%2Fb", "'", '"', "a'b", 'a"b', "[]"),
    *('["x"]', "null", "None", "\\", "a\nb", " ", "Ä", "A\u0308", "日本", "😀", "*", "g1 OR g2"),
)
"""Ids that a careless store mixes up."""
ACME: Final = MemoryScope(tenant="t", group_id="acme", user_id="ann", session_id="s1")
_numbers = itertools.count(1)


def entry(content: str = "a text", scope: MemoryScope = ACME, **more: Any) -> Entry:
    """Return an entry to store."""
    given: dict[str, Any] = {
        "id": f"{next(_numbers):032x}",
        "scope": scope,
        "content": content,
        "created_at": NOON,
        "provenance": Provenance(Origin("agent", "helper")),
        **more,
    }
    return Entry(**given)


def memory(content: str = "a text", scope: MemoryScope = ACME, **more: Any) -> Memory:
    """Return a memory to store: the only chunk of its document."""
    number = next(_numbers)
    given: dict[str, Any] = {
        "id": f"{number:032x}",
        "document_id": f"d{number:031x}",
        "scope": replace(scope, agent_id=more.pop("agent", None)),
        "content": content,
        "created_at": NOON,
        "valid_from": NOON,
        "promoted_by": "ann",
        "content_hash": f"hash of {content}",
        "provenance": Provenance(Origin("agent", "helper")),
        **more,
    }
    return Memory(**given)


def within(scope: MemoryScope = ACME, **conditions: Any) -> Select:
    """Return a selection of one tenant and group."""
    return Select.within(scope, **conditions)


def later(**amount: float) -> datetime:
    """Return a moment after noon."""
    return NOON + timedelta(**amount)


class Asked:
    """A store seen through one of its doors: `await asked.find(...)` either way."""

    def __init__(self, store: Any, door: Door | str, deadline: float) -> None:
        self.store, self.door, self.deadline = store, door, deadline

    def __getattr__(self, name: str) -> Any:
        if self.door == "native":
            return getattr(self.store, "a" + name)
        half = getattr(self.store, name)
        if self.door == "inline":

            async def here(*args: Any, **kwargs: Any) -> Any:
                return half(*args, **kwargs)

            return here

        async def apart(*args: Any, **kwargs: Any) -> Any:
            return await in_thread(partial(half, *args, **kwargs), self.deadline)

        return apart

    async def ids(self, which: Select, **more: Any) -> list[str]:
        """Return the ids of what is found, in the order of the store."""
        return [one.id for one in (await self.find(which, **more)).items]

    async def one(self, which: Select) -> Any:
        """Return the only record that is found."""
        (found,) = (await self.find(which)).items
        return found


class TierSuite:
    """Derive a test class from a suite and override `open_stores`; answer what differs."""

    doors: ClassVar[tuple[Door, ...]] = ("blocking", "native")
    """The halves of the twins that are tested."""
    deadline: ClassVar[float] = 30
    """Seconds that one call may take."""
    persistent: ClassVar[bool] = True
    """Opened again, the stores have their records; if False they are empty again."""
    protocol: ClassVar[type]
    tier: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a replaced test, and mark the tests for pytest-asyncio's strict mode."""
        super().__init_subclass__(**kwargs)
        ours = [base for base in cls.__mro__[1:] if base.__module__.startswith(__package__ or "?")]
        tests = [name for base in {cls, *ours} for name in vars(base) if name.startswith("test_")]
        replaced = sorted({name for name in tests if tests.count(name) > 1})
        if replaced:
            raise TypeError(f"{cls.__name__}: a conformance test cannot be replaced: {replaced}")
        for name, test in vars(cls).items():
            if name.startswith("test_") and inspect.iscoroutinefunction(test):
                pytest.mark.asyncio(test)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test that has a door through every door of the store."""
        if "door" in metafunc.fixturenames:
            metafunc.parametrize("door", self.doors)

    @pytest.fixture
    def open_stores(self) -> OpenStores:
        """Return a function that opens stores on the same, at first empty, data."""
        raise NotImplementedError(
            f"{type(self).__name__} must override the fixture `open_stores`: a function that opens"
            " the three stores on the same, at first empty, data"
        )

    @pytest.fixture
    def stores(self, open_stores: OpenStores) -> Iterator[Stores]:
        """Return the stores, opened once and closed at the end."""
        opened = open_stores()
        yield opened
        for one in (opened.quarantine, opened.working, opened.long_term):
            one.close()

    @pytest.fixture
    def store(self, stores: Stores, door: Door) -> Asked:
        """Return the store of this suite, through one door."""
        return Asked(getattr(stores, self.tier), door, self.deadline)

    def make(self, content: str = "a text", scope: MemoryScope = ACME, **more: Any) -> Any:
        """Return a record of this tier."""
        return (
            memory(content, scope, **more)
            if self.tier == "long_term"
            else entry(content, scope, **more)
        )

    async def keep(self, store: Asked, record: Any) -> Any:
        """Store a record."""
        if self.tier == "quarantine":
            return await store.add(record)
        if self.tier == "working":
            await store.push(record, keep=1000)
        else:
            await store.add([record])
        return record

    # What all tiers promise.

    def test_twins_have_one_signature(self, stores: Stores) -> None:
        assert twin_differences(type(getattr(stores, self.tier)), self.protocol) == []

    async def test_what_is_stored_comes_back_as_it_was(self, store: Asked) -> None:
        record = replace(
            self.make("Zeilen\n\n\u00e4\u4e16\U0001f600 'quoted' \"too\" \\ %"),
            metadata={"confidence": 0.9, "tags": ["a", None], "deep": {"x": True}},
            provenance=Provenance(
                Origin("agent", "helper"),
                ("e1", "e2"),
                (Origin("user", "ann: b"), Origin("tool", "")),
            ),
            verdict=Verdict(verified=False, confidence=0.25, issues=("no",), by="f", at=NOON),
            created_at=NOON + timedelta(microseconds=123456),
            scope=replace(ACME, agent_id="a", node_id="n"),
        )
        await self.keep(store, record)
        assert await store.one(within()) == record

    async def test_all_fields_of_a_record_are_kept(self, store: Asked) -> None:
        more: dict[str, Any] = {"revocation": "r1"}
        if self.tier == "long_term":
            more |= {"chunk_index": 2, "chunk_count": 3, "subject": "s", "valid_to": later(days=1)}
            more |= {"superseded_by": "d9"}
        else:
            more |= {"key": "k", "status": "promoted", "refused": "too_short", "echo_of": ("m1",)}
            more |= {"proposed_by": "p", "decided_by": "d", "decided_at": NOON, "role": "tool"}
            more |= {"memory_ids": ("m2", "m3"), "expires_at": later(hours=1)}
        record = self.make(**more)
        await self.keep(store, record)
        assert await store.one(within()) == record

    async def test_an_empty_store_finds_nothing(self, store: Asked) -> None:
        page = await store.find(within())
        assert (page.items, page.total) == ([], 0)

    async def test_what_was_stored_last_comes_first(self, store: Asked) -> None:
        kept = [
            await self.keep(store, self.make(f"text {n}", created_at=later(days=-n)))
            for n in range(5)
        ]
        assert await store.ids(within()) == [one.id for one in reversed(kept)]

    async def test_pages_are_parts_of_the_whole_and_say_how_much_there_is(
        self, store: Asked
    ) -> None:
        kept = [await self.keep(store, self.make(f"text {n}")) for n in range(7)]
        newest = [one.id for one in reversed(kept)]
        page = await store.find(within(), limit=3, offset=2)
        assert [one.id for one in page.items] == newest[2:5]
        assert page.total == 7
        assert (await store.find(within(), limit=0)).total == 7
        assert (await store.find(within(), limit=0)).items == []
        assert (await store.find(within(), offset=6)).items[0].id == newest[6]
        past = await store.find(within(), limit=3, offset=50)
        assert (past.items, past.total) == ([], 7)

    async def test_tenants_and_groups_never_meet(self, store: Asked) -> None:
        scopes = [
            MemoryScope(tenant=t, group_id=g) for t in (None, "t", "T") for g in (None, "", *NASTY)
        ]
        kept = {scope: await self.keep(store, self.make("one text", scope)) for scope in scopes}
        for scope, record in kept.items():
            assert await store.ids(within(scope)) == [record.id], scope
        victim, other = scopes[3], scopes[4]
        assert await store.delete(within(other, ids=(kept[victim].id,))) == 0
        assert await store.edit(within(other, ids=(kept[victim].id,)), _shout) == []
        assert await store.ids(within(victim)) == [kept[victim].id]

    async def test_a_tenant_and_a_group_are_told_apart(self, store: Asked) -> None:
        await self.keep(store, self.make(scope=MemoryScope(tenant="a", group_id="b")))
        for scope in (
            MemoryScope(tenant="b", group_id="a"),
            MemoryScope(group_id="a"),
            MemoryScope(),
        ):
            assert await store.ids(within(scope)) == []

    async def test_no_groups_named_means_all_of_the_tenant_and_no_other(self, store: Asked) -> None:
        ours = [
            await self.keep(store, self.make(scope=MemoryScope(tenant="t", group_id=g)))
            for g in ("a", "b", None)
        ]
        await self.keep(store, self.make(scope=MemoryScope(tenant="u", group_id="a")))
        await self.keep(store, self.make(scope=MemoryScope(group_id="a")))
        assert sorted(await store.ids(Select(tenant="t"))) == sorted(one.id for one in ours)
        assert await store.ids(Select(tenant="t", groups=("a", None))) == [ours[2].id, ours[0].id]
        assert await store.ids(Select(tenant="t", groups=())) == []

    @pytest.mark.parametrize("part", ["user", "agent", "session"])
    async def test_parts_of_a_scope_are_conditions(self, store: Asked, part: str) -> None:
        values = (None, "x", "X", "x'--")
        scopes = [replace(ACME, **{f"{part}_id": one}) for one in values]
        kept = [
            await self.keep(store, replace(self.make(f"text {n}"), scope=one))
            for n, one in enumerate(scopes)
        ]
        for value, record in zip(values, kept, strict=True):
            assert await store.ids(within(**{f"{part}s": (value,)})) == [record.id]
        assert await store.ids(within(**{f"{part}s": (None, "x")})) == [kept[1].id, kept[0].id]
        assert await store.ids(within(**{f"{part}s": ()})) == []

    async def test_ids_are_conditions(self, store: Asked) -> None:
        kept = [await self.keep(store, self.make(f"text {n}")) for n in range(4)]
        assert await store.ids(within(ids=(kept[0].id, kept[2].id, "f" * 32))) == [
            kept[2].id,
            kept[0].id,
        ]
        assert await store.ids(within(ids=())) == []
        assert len(await store.ids(within(ids=tuple(one.id for one in kept) * 9000))) == 4

    async def test_hash_revocation_and_lineage_are_conditions(self, store: Asked) -> None:
        made = Provenance(Origin("agent", "b"), ("e1", "e2"), (Origin("tool", "web:x"),))
        other = Provenance(Origin("tool", "web"), ("e12",))
        one = await self.keep(store, self.make("first", provenance=made, revocation="r"))
        two = await self.keep(store, self.make("second", provenance=other))
        assert await store.ids(within(hashes=(one.content_hash,))) == [one.id]
        assert await store.ids(within(revocations=("r",))) == [one.id]
        assert await store.ids(within(revocations=(None,))) == [two.id]
        assert await store.ids(within(root="tool:web:x")) == [one.id]
        assert await store.ids(within(root="tool:web")) == [two.id]
        assert await store.ids(within(made_of=("e2", "e9"))) == [one.id]
        assert await store.ids(within(made_of=("e1", "e12"))) == [two.id, one.id]
        assert await store.ids(within(made_of=("e",))) == []

    async def test_times_are_conditions_to_the_microsecond(self, store: Asked) -> None:
        kept = [
            await self.keep(store, self.make(f"t{n}", created_at=NOON + timedelta(microseconds=n)))
            for n in (-1, 0, 1)
        ]
        assert await store.ids(within(since=NOON)) == [kept[2].id, kept[1].id]
        assert await store.ids(within(before=NOON)) == [kept[0].id]
        assert await store.ids(within(since=NOON, before=NOON)) == []

    async def test_a_part_of_the_content_is_a_condition_whatever_its_case(
        self, store: Asked
    ) -> None:
        one = await self.keep(store, self.make("Die Stra\u00dfe 100% \u00c4rger"))
        await self.keep(store, self.make("something 100"))
        for part in ("STRASSE", "100%", "\u00e4RGER", "e 1"):
            assert await store.ids(within(contains=part)) == [one.id]
        assert await store.ids(within(contains="helper")) == []

    async def test_an_edit_changes_what_fits_and_returns_what_differs(self, store: Asked) -> None:
        one, two = [await self.keep(store, self.make(text)) for text in ("one", "two")]
        changed = await store.edit(within(ids=(one.id,)), _shout)
        assert [record.content for record in changed] == ["one!"]
        assert {r.id: r.content for r in (await store.find(within())).items} == {
            one.id: "one!",
            two.id: "two",
        }
        assert await store.edit(within(), lambda record: record) == []
        assert await store.ids(within(ids=(one.id, two.id))) == [two.id, one.id]

    async def test_an_edited_field_is_found_by_its_new_value_only(self, store: Asked) -> None:
        one = await self.keep(store, self.make())
        await store.edit(
            within(),
            lambda r: replace(
                r, revocation="r2", provenance=Provenance(Origin("tool", "x"), ("e7",))
            ),
        )
        assert await store.ids(within(revocations=("r2",), root="tool:x", made_of=("e7",))) == [
            one.id
        ]
        assert await store.ids(within(root="agent:helper")) == []
        assert await store.ids(within(revocations=(None,))) == []

    async def test_an_edit_that_fails_has_changed_nothing(self, store: Asked) -> None:
        kept = [await self.keep(store, self.make(text)) for text in ("one", "two", "three")]
        seen: list[str] = []

        def fails_at_the_last(record: Any) -> Any:
            seen.append(record.id)
            if len(seen) == len(kept):
                raise RuntimeError("no")
            return _shout(record)

        with pytest.raises(RuntimeError, match="no"):
            await store.edit(within(), fails_at_the_last)
        assert {record.content for record in (await store.find(within())).items} == {
            "one",
            "two",
            "three",
        }
        assert len(await store.edit(within(), _shout)) == 3

    async def test_a_delete_removes_what_fits_and_says_how_much(self, store: Asked) -> None:
        kept = [await self.keep(store, self.make(f"text {n}")) for n in range(3)]
        assert await store.delete(within(ids=(kept[0].id, kept[1].id))) == 2
        assert await store.ids(within()) == [kept[2].id]
        assert await store.delete(within(ids=(kept[0].id,))) == 0

    async def test_records_outlive_the_store_that_kept_them(
        self, open_stores: OpenStores, door: Door
    ) -> None:
        first = open_stores()
        record = self.make()
        await self.keep(Asked(getattr(first, self.tier), door, self.deadline), record)
        await getattr(first, self.tier).aclose()
        second = open_stores()
        again = Asked(getattr(second, self.tier), door, self.deadline)
        assert await again.ids(within()) == ([record.id] if self.persistent else [])
        second.long_term.close()
        second.long_term.close()

    async def test_no_edit_is_lost_between_eight_workers(self, stores: Stores, door: Door) -> None:
        target = getattr(stores, self.tier)
        asked = Asked(target, door, self.deadline)
        await self.keep(asked, self.make(metadata={"count": 0}))

        async def add_ten(_: int, one: Asked) -> None:
            for _step in range(10):
                await one.edit(within(), _counted)

        workers = {
            n: Asked(target, "inline" if door == "blocking" else door, self.deadline)
            for n in range(8)
        }
        threads, tasks = (workers, {}) if door == "blocking" else ({}, workers)
        await at_once(threads, tasks, add_ten, self.deadline * 2)
        assert (await asked.one(within())).metadata == {"count": 80}

    async def test_the_async_half_leaves_the_loop_free(self, stores: Stores) -> None:
        store = Asked(getattr(stores, self.tier), "native", self.deadline)
        with blockbuster_ctx():
            record = await self.keep(store, self.make())
            assert await store.ids(within()) == [record.id]
            assert len(await store.edit(within(), _shout)) == 1
            assert await store.delete(within()) == 1

    async def test_async_calls_side_by_side_all_come_through(self, stores: Stores) -> None:
        store = Asked(getattr(stores, self.tier), "native", self.deadline)
        await asyncio.gather(*(self.keep(store, self.make(f"text {n}")) for n in range(20)))
        assert (await store.find(within())).total == 20


def _shout(record: Any) -> Any:
    return replace(record, content=f"{record.content}!")


def _counted(record: Any) -> Any:
    return replace(record, metadata={"count": record.metadata["count"] + 1})

"""Selections and pages."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memoryware.errors import SettingError
from memoryware.scope import MemoryScope
from memoryware.testing._store import (
    ACME,
    NOON,
    OpenStore,
    StoreProxy,
    StoreSuite,
    append_mark,
    later,
    within,
)
from memoryware.tiers.model import Memory
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.protocol import Select

# Selections.


class SelectConformance(StoreSuite):
    """A selection returns exactly the records that its conditions match."""

    # Whose memory it is.

    async def test_nobody_changes_or_deletes_what_is_anothers(self, store: StoreProxy) -> None:
        near = [MemoryScope(tenant="t", group_id=group) for group in ("g1", "g10", "G1", "", None)]
        near += [MemoryScope(group_id="g1"), MemoryScope(tenant="g1", group_id="t")]
        victim = near[0]
        record = await self.keep(store, self.make(scope=victim))
        for other in near[1:]:
            await self.keep(store, self.make(scope=other))
            assert await store.edit(within(other, ids=(record.id,)), append_mark) == []
            assert await store.delete(within(other, ids=(record.id,))) == 0
            assert len(await store.edit(within(other), append_mark)) == 1
            assert await store.delete(within(other)) == 1
        assert (await store.find(within(victim))).items == [record]

    async def test_no_groups_named_means_all_of_the_tenant_and_no_other(
        self, store: StoreProxy
    ) -> None:
        ours = [
            await self.keep(store, self.make(scope=MemoryScope(tenant="t", group_id=group)))
            for group in ("a", "b", None)
        ]
        await self.keep(store, self.make(scope=MemoryScope(tenant="u", group_id="a")))
        nameless = await self.keep(store, self.make(scope=MemoryScope(group_id="a")))
        assert await store.ids(Select(tenant="t")) == [record.id for record in reversed(ours)]
        assert await store.ids(Select()) == [nameless.id]
        assert await store.ids(Select(tenant="t", groups=("a", None))) == [ours[2].id, ours[0].id]
        assert await store.ids(Select(tenant="t", groups=())) == []
        assert await store.delete(Select(tenant="t", groups=())) == 0

    # Conditions.

    @pytest.mark.parametrize("part", ["user", "agent", "session"])
    async def test_parts_of_a_scope_are_conditions(self, store: StoreProxy, part: str) -> None:
        values = (None, "", "x", "X", "x1", "x'--", "%")
        records = [
            await self.keep(store, self.make(f"text {n}", replace(ACME, **{f"{part}_id": value})))
            for n, value in enumerate(values)
        ]

        def having(*values: str | None) -> Select:
            return within().also(**{f"{part}s": values})

        ids = [await store.ids(having(value)) for value in values]
        assert ids == [[record.id] for record in records]
        assert await store.ids(having(None, "x")) == [records[2].id, records[0].id]
        assert await store.ids(having()) == []
        assert await store.ids(having("y")) == []

    async def test_ids_are_conditions(self, store: StoreProxy) -> None:
        records = await self.keep_all(store, *"abcd")
        assert await store.texts(within(ids=(records[0].id, records[2].id, "f" * 32))) == ["c", "a"]
        assert await store.ids(within(ids=())) == []
        many = tuple(f"{n:032x}" for n in range(10**20, 10**20 + 40_000))
        assert await store.texts(within(ids=(*many, records[1].id))) == ["b"]

    async def test_the_beginning_of_generated_ids_is_a_condition(self, store: StoreProxy) -> None:
        ids = ("a" * 32, "ab" * 16, "abc0" * 8, "A" * 32, "abcdef", "ab" * 15 + "zz", "\0ab")
        other = MemoryScope(tenant="t", group_id="other")
        for id_, scope in [*((id_, ACME) for id_ in ids), ("ab" * 15 + "00", other)]:
            await self.keep(store, replace(self.make(f"text {id_}", scope), id=id_))
        expected = {"ab": ids[2:0:-1], "a": ids[2::-1], "abc": ids[2:3], ids[1]: ids[1:2]}
        for prefix, begun in expected.items():
            assert await store.ids(within(prefix=prefix)) == [*begun], prefix
        for prefix in ("b", "A", "ab%", "zz", "\0", "a" * 33, "_"):
            assert await store.ids(within(prefix=prefix)) == [], prefix
        assert await store.ids(within(prefix="ab", ids=(ids[0], ids[1]))) == [ids[1]]
        assert (await store.find(within(prefix="a"), limit=1)).total == 3

    async def test_hash_revocation_and_lineage_are_conditions(self, store: StoreProxy) -> None:
        provenance = Provenance(Origin("agent", "b"), ("e1", "e2"), (Origin("tool", "web:x"),))
        other = Provenance(Origin("tool", "web"), ("e12",))
        first = await self.keep(store, self.make("first", provenance=provenance, revocation="r"))
        second = await self.keep(store, self.make("second", provenance=other))
        cases: tuple[tuple[dict[str, Any], list[Any]], ...] = (
            ({"hashes": (first.content_hash,)}, [first]),
            ({"hashes": (first.content_hash[:-1], "")}, []),
            ({"revocations": ("r",)}, [first]),
            ({"revocations": (None,)}, [second]),
            ({"revocations": (None, "r")}, [second, first]),
            ({"root": "tool:web:x"}, [first]),
            ({"root": "agent:b"}, [first]),
            ({"root": "tool:web"}, [second]),
            ({"root": "tool:"}, []),
            ({"made_of": ("e2", "e9")}, [first]),
            ({"made_of": ("e1", "e12")}, [second, first]),
            ({"made_of": ("e",)}, []),
            ({"made_of": ()}, []),
        )
        for conditions, expected in cases:
            ids = await store.ids(within(**conditions))
            assert ids == [record.id for record in expected], conditions

    async def test_what_a_tier_has_not_is_no_value(self, store: StoreProxy) -> None:
        record = await self.keep(store, self.make())
        if self.tier == "long_term":
            assert await store.ids(within(statuses=("pending",))) == []
        else:
            assert await store.ids(within(documents=("d",))) == []
            assert await store.ids(within(subjects=("s",))) == []
            assert await store.ids(within(subjects=(None,))) == [record.id]

    async def test_times_are_conditions_to_the_microsecond(self, store: StoreProxy) -> None:
        for n in (-1, 0, 1):
            moment = NOON + timedelta(microseconds=n)
            await self.keep(store, self.make(f"{n}", created_at=moment))
        assert await store.texts(within(since=NOON)) == ["1", "0"]
        assert await store.texts(within(before=NOON)) == ["-1"]
        assert await store.texts(within(since=NOON, before=NOON)) == []
        assert await store.texts(within(since=NOON, before=later(microseconds=1))) == ["0"]

    async def test_a_part_of_the_content_is_a_condition_whatever_its_case(
        self, store: StoreProxy
    ) -> None:
        await self.keep_all(store, "Die Stra\u00dfe 100% \u00c4rger", "something 100 a\\b_c")
        for part in ("STRASSE", "100%", "\u00e4RGER", "e 1"):
            assert len(await store.ids(within(contains=part))) == 1, part
        for part in ("helper", "a_b", "100%r", "%", ".*", "ann"):
            contents = await store.texts(within(contains=part))
            assert all(part in text for text in contents), part
        assert await store.texts(within(contains="A\\B_")) == ["something 100 a\\b_c"]

    async def test_a_changed_content_is_found_by_its_parts_whatever_their_case(
        self, store: StoreProxy
    ) -> None:
        contents = ("plain text", "Stra\u00dfe", "\u00c4rger", "a\0B", "plain again")
        parts = ("PLAIN T", "STRASSE", "\u00e4RG", "A\0b", "AGAIN")
        await self.keep(store, self.make(contents[0]))
        for index in (0, 1, 2, 3, 4, 3, 1, 0):
            new = contents[index]
            await store.edit(within(), lambda old, new=new: replace(old, content=new))
            matching = [part for part in parts if await store.ids(within(contains=part))]
            assert matching == [parts[index]]

    @pytest.mark.parametrize("seed", range(5))
    async def test_a_selection_means_what_a_plain_model_means(
        self, store: StoreProxy, seed: int
    ) -> None:
        dice = random.Random(seed)  # noqa: S311 - dice, not a secret
        model: list[Any] = []
        for step in range(30):
            model.insert(0, await self.keep(store, self._any_record(dice, step)))
        for step in range(60):
            select = _any_selection(dice, model)
            matching = [record for record in model if meant(record, select)]
            match dice.choice(["find", "find", "find", "find", "edit", "delete"]):
                case "find":
                    assert (await store.find(select)).items == matching, select
                case "edit":
                    changed = await store.edit(select, _moved(step))
                    assert {record.id for record in changed} == {record.id for record in matching}
                    model = [
                        _moved(step)(record) if record in matching else record for record in model
                    ]
                case "delete" if len(matching) < len(model) / 3:
                    assert await store.delete(select) == len(matching)
                    model = [record for record in model if record not in matching]
        for scope in {record.scope for record in model}:
            mine = [record for record in model if meant(record, within(scope))]
            assert (await store.find(within(scope))).items == mine

    def _any_record(self, dice: random.Random, step: int) -> Any:
        scope = MemoryScope(
            tenant=dice.choice(["t", "t", None]),
            group_id=dice.choice(["g", "g", "g1", None]),
            user_id=dice.choice(["ann", "bob", None]),
            agent_id=dice.choice(["a", None]),
            session_id=dice.choice(["s1", "s2", None]),
        )
        origin = Origin(dice.choice(["agent", "tool", "user"]), dice.choice(["x", "y"]))
        more: dict[str, Any] = {
            "provenance": Provenance(origin, tuple(dice.sample(["e1", "e2", "e3"], 1))),
            "created_at": later(hours=dice.randrange(8)),
            "revocation": dice.choice([None, None, "r"]),
        }
        if self.tier == "long_term":
            more |= {"subject": dice.choice([None, "tea"]), "valid_from": more["created_at"]}
            more |= {"valid_to": dice.choice([None, later(hours=dice.randrange(8, 12))])}
        else:
            more |= {"expires_at": dice.choice([None, later(hours=dice.randrange(12))])}
            more |= {"status": dice.choice(["pending", "promoted"])}
        return self.make(f"{dice.choice(['Tea', 'MILK', '50%'])} {step}", scope, **more)


def _any_selection(dice: random.Random, model: list[Any]) -> Select:
    """Return a selection with a few conditions that some records of a model fit."""
    pool = model or [None]
    ids = [getattr(record, "id", "x") for record in dice.choices(pool, k=6)]
    possible: dict[str, Callable[[], Any]] = {
        "groups": lambda: dice.choice([("g",), ("g", "g1"), (None,), ("g1", None), ("x",)]),
        "users": lambda: dice.choice([("ann",), ("bob", None), ("x",), ()]),
        "agents": lambda: dice.choice([("a",), (None,), ("a", None)]),
        "sessions": lambda: dice.choice([("s1",), ("s2", None)]),
        "ids": lambda: tuple(ids),
        "hashes": lambda: tuple(getattr(record, "content_hash", "x") for record in pool[:9]),
        "subjects": lambda: dice.choice([("tea",), (None,)]),
        "revocations": lambda: dice.choice([("r",), (None,)]),
        "root": lambda: dice.choice(["tool:x", "agent:y", "user:x", "tool"]),
        "made_of": lambda: dice.choice([("e1",), ("e2", "e3"), ("e9",)]),
        "since": lambda: later(hours=dice.randrange(8)),
        "before": lambda: later(hours=dice.randrange(8)),
        "contains": lambda: dice.choice(["tea", "milk", "0%", "1"]),
        "prefix": lambda: dice.choice([ids[0][:6], ids[0], "0", "f", "x"]),
        "live_at": lambda: later(hours=dice.randrange(12)),
    }
    if dice.random() < 0.3:  # entries only have a status, memories only a document
        possible["statuses"] = lambda: dice.choice([("pending",), ("promoted", "pending")])
        possible["documents"] = lambda: tuple(
            getattr(record, "document_id", "x") for record in pool[:9]
        )
    names = dice.sample(sorted(possible), dice.randrange(4))
    conditions: Mapping[str, Any] = {name: possible[name]() for name in names}
    return Select(tenant=dice.choice(["t", "t", None]), **conditions)


def _moved(step: int) -> Callable[[Any], Any]:
    """Return a change that other selections notice."""

    def change(record: Any) -> Any:
        return replace(
            record,
            scope=replace(record.scope, session_id=("s1", "s2", None)[step % 3]),
            revocation=("r", None)[step % 2],
            created_at=later(hours=step % 8, microseconds=step + 1),
            provenance=Provenance(Origin("tool", "xy"[step % 2]), (f"e{step % 3}",)),
        )

    return change


def meant(record: Any, select: Select) -> bool:
    """Return whether a record is meant by a selection, as plainly as it can be said."""
    scope, provenance = record.scope, record.provenance
    values: dict[str, Any] = {
        "groups": scope.group_id,
        "users": scope.user_id,
        "agents": scope.agent_id,
        "sessions": scope.session_id,
        "ids": record.id,
        "hashes": record.content_hash,
        "revocations": record.revocation,
        "documents": getattr(record, "document_id", None),
        "subjects": getattr(record, "subject", None),
        "statuses": getattr(record, "status", None),
    }
    conditions = {name: getattr(select, name) for name in values}
    return all(
        (
            scope.tenant == select.tenant,
            *(conditions[name] is None or values[name] in conditions[name] for name in values),
            select.root is None or select.root in [str(root) for root in provenance.roots],
            select.made_of is None
            or any(source in provenance.sources for source in select.made_of),
            select.since is None or record.created_at >= select.since,
            select.before is None or record.created_at < select.before,
            select.contains.casefold() in record.content.casefold(),
            record.id.startswith(select.prefix),
            select.live_at is None or _is_live(record, select.live_at),
        )
    )


def _is_live(record: Any, moment: Any) -> bool:
    if record.revocation is not None:
        return False
    if isinstance(record, Memory):
        begun, end = record.valid_from <= moment, record.valid_to
        return begun and (end is None or end > moment)
    return record.expires_at is None or bool(record.expires_at > moment)


# Pages.


class PageConformance(StoreSuite):
    """Pages of a list of records."""

    async def test_what_was_stored_last_comes_first_whoever_stored_it(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        two = self.workers(store, opened)[:2]
        records = [
            await self.keep(
                StoreProxy(two[n % 2].target, store.mode, self.deadline),
                self.make(f"{n}", created_at=later(days=-n)),
            )
            for n in range(6)
        ]
        assert await store.ids(within()) == [record.id for record in reversed(records)]

    async def test_pages_are_parts_of_the_whole_and_say_how_much_there_is(
        self, store: StoreProxy
    ) -> None:
        await self.keep_all(store, *"abcdefg")
        page = await store.find(within(), limit=3, offset=2)
        assert ([record.content for record in page.items], page.total) == (["e", "d", "c"], 7)
        assert await store.texts(within(), limit=2) == ["g", "f"]
        assert await store.texts(within(), offset=6) == ["a"]
        huge = 2**70
        assert len((await store.find(within(), limit=huge)).items) == 7
        for beyond in ({"limit": 0}, {"limit": 3, "offset": 50}, {"offset": 7}, {"offset": huge}):
            page = await store.find(within(), **beyond)
            assert (page.items, page.total) == ([], 7), beyond
        page = await store.find(within(contains="c"), limit=1)
        assert (len(page.items), page.total) == (1, 1)

    async def test_a_long_list_is_not_cut(self, store: StoreProxy) -> None:
        loaded = [self.make(f"{n}") for n in range(120)]
        await store.load(loaded)
        newest = loaded[::-1]
        page = await store.find(within())
        assert (page.items, page.total) == (newest, 120)
        assert (await store.find(within(), limit=110)).items == newest[:110]
        assert (await store.find(within(), offset=10)).items == newest[10:]
        assert (await store.find(within(), after=page.marks[9])).items == newest[10:]

    async def test_a_mark_leads_from_page_to_page(self, store: StoreProxy) -> None:
        await self.keep_all(store, *"abcdefg")
        pages, mark = list[tuple[list[str], int, int]](), None
        for _ in range(4):
            page = await store.find(within(), limit=2, after=mark)
            pages.append(([record.content for record in page.items], page.newer, page.total))
            mark = page.next
            if mark is None:
                break
        assert pages == [(["g", "f"], 0, 7), (["e", "d"], 2, 7), (["c", "b"], 4, 7), (["a"], 6, 7)]
        whole = await store.find(within())
        assert (len(whole.marks), whole.next) == (7, None)
        page = await store.find(within(), after=whole.marks[1], offset=1, limit=2)
        assert ([record.content for record in page.items], page.newer) == (["d", "c"], 3)
        assert page.marks == whole.marks[3:5]
        for beyond in ({"after": whole.marks[-1]}, {"after": whole.marks[5], "offset": 9}):
            page = await store.find(within(), **beyond)
            assert (page.items, page.total, page.newer, page.next) == ([], 7, 7, None), beyond
        page = await store.find(within(contains="b"), after=whole.marks[2])
        assert ([record.content for record in page.items], page.newer, page.total) == (["b"], 0, 1)

    async def test_what_comes_and_goes_meanwhile_moves_no_page(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        records = await self.keep_all(store, *"abcdef")
        first = await store.find(within(), limit=2)
        await self.keep_all(store, "new", "newer")
        await store.edit(within(ids=(records[3].id,)), append_mark)
        await store.delete(within(ids=(records[4].id, records[1].id)))
        other = StoreProxy(opened(), store.mode, self.deadline) if self.persistent else store
        for opened_store in (store, other):
            page = await opened_store.find(within(), after=first.next, limit=2)
            assert [record.content for record in page.items] == ["d!", "c"]
            assert (page.newer, page.total) == (3, 6)

    async def test_pages_of_several_groups(self, store: StoreProxy) -> None:
        for number in range(6):
            scope = replace(ACME, group_id=f"g{number % 2}")
            await self.keep(store, self.make(str(number), scope=scope))
        select = within().also(groups=("g0", "g1"))
        for some in (select, select.also(groups=None)):
            page = await store.find(some, limit=4)
            rest = await store.find(some, limit=4, after=page.next)
            pages = [[record.content for record in part.items] for part in (page, rest)]
            assert pages == [["5", "4", "3", "2"], ["1", "0"]]

    @pytest.mark.parametrize("mark", ["x", "-1", "1.5", "", "²", "9" * 50, 7])
    async def test_a_mark_that_no_store_gives_is_refused(
        self, store: StoreProxy, mark: Any
    ) -> None:
        await self.keep_all(store, "one")
        with pytest.raises(SettingError, match="mark"):
            await store.find(within(), after=mark)

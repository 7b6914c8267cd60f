"""A selection means exactly what its conditions say, and never what belongs to another."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memoryware.scope import MemoryScope
from memoryware.testing._tiers import (
    ACME,
    NOON,
    Asked,
    TierSuite,
    later,
    shout,
    within,
)
from memoryware.tiers.model import Memory, Origin, Provenance
from memoryware.tiers.stores.protocol import Select


class TierSelectingConformance(TierSuite):
    """What a selection finds, in every tier."""

    # Whose memory it is.

    async def test_nobody_changes_or_deletes_what_is_anothers(self, store: Asked) -> None:
        near = [MemoryScope(tenant="t", group_id=one) for one in ("g1", "g10", "G1", "", None)]
        near += [MemoryScope(group_id="g1"), MemoryScope(tenant="g1", group_id="t")]
        victim = near[0]
        kept = await self.keep(store, self.make(scope=victim))
        for other in near[1:]:
            await self.keep(store, self.make(scope=other))
            assert await store.edit(within(other, ids=(kept.id,)), shout) == []
            assert await store.delete(within(other, ids=(kept.id,))) == 0
            assert len(await store.edit(within(other), shout)) == 1
            assert await store.delete(within(other)) == 1
        assert (await store.find(within(victim))).items == [kept]

    async def test_no_groups_named_means_all_of_the_tenant_and_no_other(self, store: Asked) -> None:
        ours = [
            await self.keep(store, self.make(scope=MemoryScope(tenant="t", group_id=group)))
            for group in ("a", "b", None)
        ]
        await self.keep(store, self.make(scope=MemoryScope(tenant="u", group_id="a")))
        nameless = await self.keep(store, self.make(scope=MemoryScope(group_id="a")))
        assert await store.ids(Select(tenant="t")) == [one.id for one in reversed(ours)]
        assert await store.ids(Select()) == [nameless.id]
        assert await store.ids(Select(tenant="t", groups=("a", None))) == [ours[2].id, ours[0].id]
        assert await store.ids(Select(tenant="t", groups=())) == []
        assert await store.delete(Select(tenant="t", groups=())) == 0

    # Conditions.

    @pytest.mark.parametrize("part", ["user", "agent", "session"])
    async def test_parts_of_a_scope_are_conditions(self, store: Asked, part: str) -> None:
        values = (None, "", "x", "X", "x1", "x'--", "%")
        kept = [
            await self.keep(store, self.make(f"text {n}", replace(ACME, **{f"{part}_id": one})))
            for n, one in enumerate(values)
        ]

        def having(*wanted: str | None) -> Select:
            return within().also(**{f"{part}s": wanted})

        found = [await store.ids(having(value)) for value in values]
        assert found == [[one.id] for one in kept]
        assert await store.ids(having(None, "x")) == [kept[2].id, kept[0].id]
        assert await store.ids(having()) == []
        assert await store.ids(having("y")) == []

    async def test_ids_are_conditions(self, store: Asked) -> None:
        kept = await self.keep_all(store, *"abcd")
        assert await store.texts(within(ids=(kept[0].id, kept[2].id, "f" * 32))) == ["c", "a"]
        assert await store.ids(within(ids=())) == []
        many = tuple(f"{n:032x}" for n in range(10**20, 10**20 + 40_000))
        assert await store.texts(within(ids=(*many, kept[1].id))) == ["b"]

    async def test_hash_revocation_and_lineage_are_conditions(self, store: Asked) -> None:
        made = Provenance(Origin("agent", "b"), ("e1", "e2"), (Origin("tool", "web:x"),))
        other = Provenance(Origin("tool", "web"), ("e12",))
        one = await self.keep(store, self.make("first", provenance=made, revocation="r"))
        two = await self.keep(store, self.make("second", provenance=other))
        cases: tuple[tuple[dict[str, Any], list[Any]], ...] = (
            ({"hashes": (one.content_hash,)}, [one]),
            ({"hashes": (one.content_hash[:-1], "")}, []),
            ({"revocations": ("r",)}, [one]),
            ({"revocations": (None,)}, [two]),
            ({"revocations": (None, "r")}, [two, one]),
            ({"root": "tool:web:x"}, [one]),
            ({"root": "agent:b"}, [one]),
            ({"root": "tool:web"}, [two]),
            ({"root": "tool:"}, []),
            ({"made_of": ("e2", "e9")}, [one]),
            ({"made_of": ("e1", "e12")}, [two, one]),
            ({"made_of": ("e",)}, []),
            ({"made_of": ()}, []),
        )
        for conditions, wanted in cases:
            found = await store.ids(within(**conditions))
            assert found == [record.id for record in wanted], conditions

    async def test_what_a_tier_has_not_is_no_value(self, store: Asked) -> None:
        one = await self.keep(store, self.make())
        if self.tier == "long_term":
            assert await store.ids(within(statuses=("pending",))) == []
        else:
            assert await store.ids(within(documents=("d",))) == []
            assert await store.ids(within(subjects=("s",))) == []
            assert await store.ids(within(subjects=(None,))) == [one.id]

    async def test_times_are_conditions_to_the_microsecond(self, store: Asked) -> None:
        for n in (-1, 0, 1):
            moment = NOON + timedelta(microseconds=n)
            await self.keep(store, self.make(f"{n}", created_at=moment))
        assert await store.texts(within(since=NOON)) == ["1", "0"]
        assert await store.texts(within(before=NOON)) == ["-1"]
        assert await store.texts(within(since=NOON, before=NOON)) == []
        assert await store.texts(within(since=NOON, before=later(microseconds=1))) == ["0"]

    async def test_a_part_of_the_content_is_a_condition_whatever_its_case(
        self, store: Asked
    ) -> None:
        await self.keep_all(store, "Die Stra\u00dfe 100% \u00c4rger", "something 100 a\\b_c")
        for part in ("STRASSE", "100%", "\u00e4RGER", "e 1"):
            assert len(await store.ids(within(contains=part))) == 1, part
        for part in ("helper", "a_b", "100%r", "%", ".*", "ann"):
            found = await store.texts(within(contains=part))
            assert all(part in one for one in found), part
        assert await store.texts(within(contains="A\\B_")) == ["something 100 a\\b_c"]

    async def test_a_changed_content_is_found_by_its_parts_whatever_their_case(
        self, store: Asked
    ) -> None:
        contents = ("plain text", "Stra\u00dfe", "\u00c4rger", "a\0B", "plain again")
        parts = ("PLAIN T", "STRASSE", "\u00e4RG", "A\0b", "AGAIN")
        await self.keep(store, self.make(contents[0]))
        for place in (0, 1, 2, 3, 4, 3, 1, 0):
            new = contents[place]
            await store.edit(within(), lambda old, new=new: replace(old, content=new))
            found = [one for one in parts if await store.ids(within(contains=one))]
            assert found == [parts[place]]

    @pytest.mark.parametrize("seed", range(5))
    async def test_a_selection_means_what_a_plain_model_means(
        self, store: Asked, seed: int
    ) -> None:
        dice = random.Random(seed)  # noqa: S311 - dice, not a secret
        model: list[Any] = []
        for step in range(30):
            model.insert(0, await self.keep(store, self._any_record(dice, step)))
        for step in range(60):
            which = _any_selection(dice, model)
            fitting = [one for one in model if meant(one, which)]
            match dice.choice(["find", "find", "find", "find", "edit", "delete"]):
                case "find":
                    assert (await store.find(which)).items == fitting, which
                case "edit":
                    changed = await store.edit(which, _moved(step))
                    assert {one.id for one in changed} == {one.id for one in fitting}
                    model = [_moved(step)(one) if one in fitting else one for one in model]
                case "delete" if len(fitting) < len(model) / 3:
                    assert await store.delete(which) == len(fitting)
                    model = [one for one in model if one not in fitting]
        for scope in {one.scope for one in model}:
            mine = [one for one in model if meant(one, within(scope))]
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
    some = [getattr(one, "id", "x") for one in dice.choices(pool, k=6)]
    possible: dict[str, Callable[[], Any]] = {
        "groups": lambda: dice.choice([("g",), ("g", "g1"), (None,), ("g1", None), ("x",)]),
        "users": lambda: dice.choice([("ann",), ("bob", None), ("x",), ()]),
        "agents": lambda: dice.choice([("a",), (None,), ("a", None)]),
        "sessions": lambda: dice.choice([("s1",), ("s2", None)]),
        "ids": lambda: tuple(some),
        "hashes": lambda: tuple(getattr(one, "content_hash", "x") for one in pool[:9]),
        "subjects": lambda: dice.choice([("tea",), (None,)]),
        "revocations": lambda: dice.choice([("r",), (None,)]),
        "root": lambda: dice.choice(["tool:x", "agent:y", "user:x", "tool"]),
        "made_of": lambda: dice.choice([("e1",), ("e2", "e3"), ("e9",)]),
        "since": lambda: later(hours=dice.randrange(8)),
        "before": lambda: later(hours=dice.randrange(8)),
        "contains": lambda: dice.choice(["tea", "milk", "0%", "1"]),
        "live_at": lambda: later(hours=dice.randrange(12)),
    }
    if dice.random() < 0.3:  # entries only have a status, memories only a document
        possible["statuses"] = lambda: dice.choice([("pending",), ("promoted", "pending")])
        possible["documents"] = lambda: tuple(getattr(one, "document_id", "x") for one in pool[:9])
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


def meant(record: Any, which: Select) -> bool:
    """Say whether a record is meant by a selection, as plainly as it can be said."""
    scope, made = record.scope, record.provenance
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
    wanted = {name: getattr(which, name) for name in values}
    return all(
        (
            scope.tenant == which.tenant,
            *(wanted[name] is None or values[name] in wanted[name] for name in values),
            which.root is None or which.root in [str(root) for root in made.roots],
            which.made_of is None or any(one in made.sources for one in which.made_of),
            which.since is None or record.created_at >= which.since,
            which.before is None or record.created_at < which.before,
            which.contains.casefold() in record.content.casefold(),
            which.live_at is None or _is_live(record, which.live_at),
        )
    )


def _is_live(record: Any, moment: Any) -> bool:
    if record.revocation is not None:
        return False
    if isinstance(record, Memory):
        begun, end = record.valid_from <= moment, record.valid_to
        return begun and (end is None or end > moment)
    return record.expires_at is None or bool(record.expires_at > moment)

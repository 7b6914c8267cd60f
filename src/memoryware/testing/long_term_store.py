"""What it means to be a store of long-term memory, as tests."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.testing._documents import FLAT, document
from memoryware.testing._sights import asking, everything, runs
from memoryware.testing._tiers import NOON, Asked, within
from memoryware.testing.documents import DocumentsConformance
from memoryware.testing.sights import SightsConformance
from memoryware.testing.tier_keeping import TierKeepingConformance
from memoryware.testing.tier_loading import TierLoadingConformance
from memoryware.testing.tier_paging import TierPagingConformance
from memoryware.testing.tier_selecting import TierSelectingConformance
from memoryware.testing.tier_transactions import TierTransactionsConformance
from memoryware.testing.vectors import VectorsConformance, by_vector
from memoryware.testing.words import WordsConformance, by_words
from memoryware.tiers.model import Memory
from memoryware.tiers.scoring import cosine


class LongTermStoreConformance(
    DocumentsConformance,
    WordsConformance,
    VectorsConformance,
    SightsConformance,
    TierKeepingConformance,
    TierLoadingConformance,
    TierPagingConformance,
    TierSelectingConformance,
    TierTransactionsConformance,
):
    """Every test that a store of tier 3 has to pass.

    Derive a class and override the fixture `open_stores`; set `persistent = False` if the
    stores are empty when they are opened again.
    """

    tier = "long_term"

    async def test_an_id_is_stored_once_in_its_group(self, store: Asked) -> None:
        (one,) = document("one")
        await store.add([one], [[1, 0, 0]], FLAT)
        (new, other), twice = document("two", "three"), replace(one, content_hash="another")
        for some in ([new, twice], [new, replace(other, id=new.id)]):
            with pytest.raises(StoreUnavailable, match="id"):
                await store.add(some, [[0, 1, 0]] * 2, FLAT)
        assert await store.texts(within()) == ["one"]
        assert await by_vector(store, [1, 0, 0]) == [("one", 1.0)]

    async def test_searches_leave_the_event_loop_free(self, target: Any) -> None:
        if "native" not in self.doors:
            return
        store = Asked(target, "native", self.deadline)
        await store.add(document("warm up"), [[0, 1, 0]], FLAT)
        with blockbuster_ctx():
            (one,) = document("green tea")
            await store.add([one], [[1, 0, 0]], FLAT, replaces=["nothing"])
            assert await store.add(document("green tea")) == [one]
            assert await by_words(store, "tea") == ["green tea"]
            assert (await by_vector(store, [1, 0, 0]))[0] == ("green tea", 1.0)
            assert runs(
                await store.search(asking("tea", [1, 0, 0], limit=1), within(), everything)
            ) == [["green tea"]]
            assert await store.unembedded(FLAT, limit=5) == []
            assert await store.put_vectors([(one, [0, 0, 1])], FLAT) == 1
            with pytest.raises(EmbeddingMismatch):
                await store.put_vectors([(one, [1])], FLAT)
            await store.adopt(FLAT, drop_others=True)
            assert await store.spaces() == {FLAT: 2}

    @pytest.mark.parametrize("seed", range(4))
    async def test_behaves_like_a_dictionary(self, store: Asked, seed: int) -> None:
        dice, model = random.Random(seed), _Model()  # noqa: S311 - dice, not a secret
        for step in range(60):
            await _step(store, dice, model, step)
            if step % 15 == 14:
                await self._agree(store, model)

    async def _agree(self, store: Asked, model: _Model) -> None:
        records, vectors = model.records, model.vectors
        assert (await store.find(within())).items == [*records.values()][::-1]
        live = {one.id for one in records.values() if one.holds_at(NOON)}
        for word in ("tea", "milk", "more"):
            hits = await store.by_words([word], within(live_at=NOON), limit=99)
            having = {one for one in live if word in records[one].content.split()}
            assert {hit.memory.id for hit in hits} == having
        hits = await store.by_vector([1, 0, 0], within(), space=FLAT, limit=99)
        assert {hit.memory.id: hit.value for hit in hits} == pytest.approx(
            {one: cosine((1, 0, 0), vectors[one]) for one in vectors}, abs=0.01
        )
        missing = [one.id for one in await store.unembedded(FLAT, limit=99)]
        assert missing == [one for one in records if one not in vectors]
        assert await store.spaces() == ({FLAT: len(vectors)} if model.known else {})


@dataclass
class _Model:
    """Long-term memory as two dictionaries."""

    records: dict[str, Memory] = field(default_factory=dict)
    vectors: dict[str, tuple[float, ...]] = field(default_factory=dict)
    known: bool = False
    """Whether there ever was a vector."""

    def same_as(self, new: Memory) -> list[Memory]:
        return [
            one
            for one in self.records.values()
            if one.content_hash == new.content_hash and one.valid_to is None and not one.revocation
        ]

    def current(self, documents: list[str]) -> list[Memory]:
        known = self.records.values()
        return [one for one in known if one.document_id in documents and one.valid_to is None]

    def put(self, id_: str, vector: tuple[float, ...] | None) -> None:
        if vector is not None:
            self.vectors[id_], self.known = vector, True


async def _step(store: Asked, dice: random.Random, model: _Model, step: int) -> None:
    """Take one step in the store and in its model."""
    some = dice.choice([*model.records.values()]) if model.records else None
    vector = dice.choice([None, (1.0, float(step), 0.0), (float(-step), 1.0, 1.0)])
    match dice.choice(["add", "add", "replace", "change", "revoke", "vector", "delete"]):
        case "add" | "replace" as what:
            new = document(f"{dice.choice(['tea', 'milk'])} {dice.randrange(8)}", f"more {step}")
            new = [replace(one, content_hash=new[0].content) for one in new]
            old = [some.document_id] if some and what == "replace" else []
            known = model.same_as(new[0])
            assert await store.add(new, [vector, None], FLAT, replaces=old) == (known or new)
            if not known:
                for one in [one for one in model.records.values() if one.document_id in old]:
                    if one.valid_to is not None:
                        continue
                    ended = replace(one, valid_to=NOON, superseded_by=new[0].document_id)
                    model.records[one.id] = ended
                model.records |= {one.id: one for one in new}
                model.put(new[0].id, vector)
        case "change" if some:
            model.records[some.id] = changed = replace(some, content=f"{some.content} more")
            model.vectors.pop(some.id, None)
            assert await store.edit(within(ids=(some.id,)), lambda _: changed) == [changed]
        case "revoke" if some:
            model.records[some.id] = changed = replace(some, revocation=f"r{step}")
            assert await store.edit(within(ids=(some.id,)), lambda _: changed) == [changed]
        case "vector" if some and vector:
            model.put(some.id, vector)
            gone = replace(some, id="gone")
            assert await store.put_vectors([(some, vector), (gone, vector)], FLAT) == 1
        case "delete" if some:
            del model.records[some.id]
            model.vectors.pop(some.id, None)
            assert await store.delete(within(ids=(some.id,))) == 1

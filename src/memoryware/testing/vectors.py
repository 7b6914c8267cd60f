"""What a search by vector finds, and which vectors there are."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from memoryware.errors import EmbeddingMismatch
from memoryware.scope import MemoryScope
from memoryware.testing._documents import FLAT, OTHER, document
from memoryware.testing._guarded import Door
from memoryware.testing._tiers import (
    ACME,
    NEIGHBOURS,
    WORKERS,
    Asked,
    OpenStore,
    TierSuite,
    later,
    within,
)
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores.protocol import Select, Space, Transaction


async def by_vector(
    store: Asked, vector: list[float], which: Select | None = None, space: Space = FLAT
) -> list[tuple[str, float]]:
    """Return what is found by a vector, with its cosine."""
    hits = await store.by_vector(vector, which or within(), space=space, limit=10)
    return [(hit.memory.content, round(hit.value, 2)) for hit in hits]


class VectorsConformance(TierSuite):
    """What `by_vector`, `put_vectors`, `unembedded`, `spaces`, `known_spaces` and `adopt` do."""

    async def test_the_nearest_comes_first_with_its_cosine(self, store: Asked) -> None:
        vectors = {
            "east": [1, 0, 0],
            "north-east": [3, 3, 0],
            "north": [0, 2, 0],
            "west": [-5, 0, 0],
        }
        for text, vector in vectors.items():
            await store.add(document(text), [vector], FLAT)
        near = await by_vector(store, [10, 0, 0])
        assert near == [("east", 1.0), ("north-east", 0.71), ("north", 0.0), ("west", -1.0)]

    async def test_vectors_are_compared_exactly(self, store: Asked) -> None:
        dice = random.Random(3)  # noqa: S311 - dice, not a secret
        wide = Space("wide", 24)
        texts = [f"text {n}" for n in range(60)]
        vectors = [[dice.gauss(0, 1) for _ in range(24)] for _ in texts]
        await store.add(document(*texts), vectors, wide)
        query = [dice.gauss(0, 1) for _ in range(24)]
        wanted = sorted((cosine(query, one) for one in vectors), reverse=True)
        found = await store.by_vector(query, within(), space=wide, limit=20)
        assert [hit.value for hit in found] == pytest.approx(wanted[:20], abs=0.01)
        for hit in found:
            own = vectors[hit.memory.chunk_index]
            assert hit.value == pytest.approx(cosine(query, own), abs=0.01)

    async def test_a_limit_keeps_the_nearest_as_they_are_now(self, store: Asked) -> None:
        chunks = document("east", "north-east", "north")
        await store.add(chunks, [[1, 0, 0], [1, 1, 0], [0, 1, 0]], FLAT)
        await store.edit(within(), lambda old: replace(old, subject="s"))
        hits = await store.by_vector([0, 2, 0], within(), space=FLAT, limit=2)
        assert [hit.memory for hit in hits] == [
            replace(chunks[2], subject="s"),
            replace(chunks[1], subject="s"),
        ]

    async def test_large_small_and_empty_vectors_are_kept(self, store: Asked) -> None:
        for text, vector in {
            "large": [1e30, 0, 0],
            "small": [0, 1e-30, 0],
            "none": [0, 0, 0],
        }.items():
            await store.add(document(text), [vector], FLAT)
        found = dict(await by_vector(store, [1, 1, 0]))
        assert found == {"large": 0.71, "small": 0.71, "none": 0.0}
        assert all(math.isfinite(value) for value in found.values())

    async def test_what_has_no_vector_is_found_by_words_and_named(self, store: Asked) -> None:
        chunks = document("one tea", "two tea", "three tea")
        await store.add(chunks, [[1, 0, 0], None, None], FLAT)
        assert [text for text, _ in await by_vector(store, [1, 0, 0])] == ["one tea"]
        assert len(await store.by_words(["tea"], within(), limit=5)) == 3
        missing = await store.unembedded(FLAT, limit=10)
        assert [one.content for one in missing] == ["two tea", "three tea"]
        assert [one.content for one in await store.unembedded(FLAT, limit=1)] == ["two tea"]

    async def test_vectors_can_be_kept_later(self, store: Asked) -> None:
        one, two = document("one"), document("two", scope=MemoryScope(group_id="x"))
        for some in (one, two):
            await store.add(some)
        assert len(await store.unembedded(FLAT, limit=9)) == 2
        (gone,) = document("gone")
        pairs = [(one[0], [1, 0, 0]), (two[0], [0, 1, 0]), (gone, [0, 0, 1])]
        assert await store.put_vectors(pairs, FLAT) == 2
        assert await store.unembedded(FLAT, limit=9) == []
        assert await by_vector(store, [1, 0, 0]) == [("one", 1.0)]
        await store.put_vectors([(one[0], [0, 1, 0])], FLAT)
        assert await by_vector(store, [1, 0, 0]) == [("one", 0.0)]

    async def test_the_oldest_of_all_tenants_are_named_first(self, store: Asked) -> None:
        scopes = (ACME, MemoryScope(tenant="u", group_id="x"), MemoryScope(), ACME)
        for n, scope in enumerate(scopes):
            await store.add(document(f"{n}", scope=scope, created_at=later(days=-n)))
        await store.add(document("has one"), [[1, 0, 0]], FLAT)
        missing = [one.content for one in await store.unembedded(FLAT, limit=9)]
        assert missing == ["0", "1", "2", "3"]
        assert [one.content for one in await store.unembedded(FLAT, limit=2)] == ["0", "1"]
        assert len(await store.unembedded(OTHER, limit=9)) == 5
        assert await store.spaces() == {FLAT: 1}

    async def test_vectors_for_nobody_are_no_error(self, store: Asked) -> None:
        assert await store.put_vectors([], FLAT) == 0
        (gone,), (one,) = document("gone"), document("one")
        assert await store.put_vectors([(gone, [1, 0, 0])], FLAT) == 0
        await store.add([one])
        for _ in range(2):
            assert await store.put_vectors([(one, [1, 0, 0])], FLAT) == 1
        assert await store.spaces() == {FLAT: 1}

    async def test_a_vector_of_a_text_that_was_changed_meanwhile_is_passed_over(
        self, store: Asked
    ) -> None:
        (one,) = document("one")
        await store.add([one])
        await store.edit(within(), lambda old: replace(old, content="two"))
        assert await store.put_vectors([(one, [1, 0, 0])], FLAT) == 0
        changed = await store.one(within())
        assert await store.unembedded(FLAT, limit=9) == [changed]
        assert await store.put_vectors([(changed, [1, 0, 0])], FLAT) == 1

    async def test_a_vector_is_of_one_memory_whoever_has_the_same_id(self, store: Asked) -> None:
        (one,) = document("one")
        strangers = [replace(one, scope=scope) for scope in NEIGHBOURS[:9]]
        for stranger in strangers:
            await store.add([stranger])
        assert await store.put_vectors([(strangers[1], [1, 0, 0])], FLAT) == 1
        assert await store.spaces() == {FLAT: 1}
        missing = await store.unembedded(FLAT, limit=20)
        assert missing == [one for one in strangers if one is not strangers[1]]

    async def test_spaces_do_not_mix(self, store: Asked) -> None:
        one = document("one")
        await store.add(one, [[1, 0, 0]], FLAT)
        await store.put_vectors([(one[0], [0, 1])], OTHER)
        assert await by_vector(store, [0, 1, 0]) == [("one", 0.0)]
        await store.adopt(OTHER)
        assert await by_vector(store, [0, 1], space=OTHER) == [("one", 1.0)]

    async def test_a_space_that_is_not_the_current_one_is_not_searched(self, store: Asked) -> None:
        chunks = document("one", "two")
        assert await by_vector(store, [1, 0], space=OTHER) == []
        await store.add(chunks, [[1, 0, 0], [0, 1, 0]], FLAT)
        await store.put_vectors([(chunks[0], [0, 1])], OTHER)
        for other in (OTHER, Space("third", 3), Space("FLAT", 3), Space("", 3)):
            with pytest.raises(EmbeddingMismatch, match=r"flat \(3 dimensions\)"):
                await by_vector(store, [1.0] * other.dimension, space=other)
        await store.adopt(OTHER)
        with pytest.raises(EmbeddingMismatch):
            await by_vector(store, [1, 0, 0])

    async def test_a_space_has_one_dimension(self, store: Asked) -> None:
        await store.add(document("one"), [[1, 0, 0]], FLAT)
        wrong = Space("flat", 2)
        with pytest.raises(EmbeddingMismatch, match=r"flat \(3 dimensions\)"):
            await store.add(document("two"), [[1, 0]], wrong)
        with pytest.raises(EmbeddingMismatch):
            await store.put_vectors([(await store.one(within()), [1, 0])], wrong)
        with pytest.raises(EmbeddingMismatch):
            await store.by_vector([1, 0], within(), space=wrong, limit=5)
        assert (await store.find(within())).total == 1

    async def test_a_failed_batch_of_vectors_keeps_none(self, store: Asked) -> None:
        chunks = document("one", "two")
        await store.add(chunks)
        with pytest.raises(EmbeddingMismatch):
            await store.put_vectors([(chunks[0], [1, 0, 0]), (chunks[1], [1])], FLAT)
        assert len(await store.unembedded(FLAT, limit=9)) == 2
        assert await store.spaces() == {}
        await store.put_vectors([(one, [0, 1, 0]) for one in chunks], FLAT)
        with pytest.raises(EmbeddingMismatch):
            await store.put_vectors([(chunks[0], [1, 0, 0]), (chunks[1], [1])], FLAT)
        assert await by_vector(store, [0, 1, 0]) == [("one", 1.0), ("two", 1.0)]

    async def test_a_query_has_the_dimension_of_its_space(self, store: Asked) -> None:
        await store.add(document("one"), [[1, 0, 0]], FLAT)
        with pytest.raises(EmbeddingMismatch):
            await store.by_vector([1, 0], within(), space=FLAT, limit=5)

    async def test_a_space_can_be_adopted_before_it_has_vectors(self, store: Asked) -> None:
        await store.adopt(OTHER)
        await store.adopt(OTHER)
        assert await store.spaces() == {OTHER: 0}
        await store.add(document("one"), [[1, 0, 0]], FLAT)
        assert list((await store.spaces()).items()) == [(OTHER, 0), (FLAT, 1)]

    async def test_vectors_are_there_when_the_store_is_opened_again(
        self, opened: OpenStore, door: Door
    ) -> None:
        first = Asked(opened(), door, self.deadline)
        (one,) = document("one")
        await first.add([one], [[1, 0, 0]], FLAT)
        await first.put_vectors([(one, [0, 2])], OTHER)
        await first.adopt(OTHER)
        await first.close()
        again = Asked(opened(), door, self.deadline)
        found = await by_vector(again, [0, 1], space=OTHER)
        assert found == ([("one", 1.0)] if self.persistent else [])
        wanted = {OTHER: 1, FLAT: 1} if self.persistent else {}
        assert list((await again.spaces()).items()) == [*wanted.items()]

    async def test_the_first_space_is_the_current_one_until_another_is_adopted(
        self, store: Asked
    ) -> None:
        assert await store.spaces() == {}
        chunks = document("one", "two")
        await store.add(chunks, [[1, 0, 0], [0, 1, 0]], FLAT)
        await store.put_vectors([(chunks[0], [1, 0])], OTHER)
        assert list((await store.spaces()).items()) == [(FLAT, 2), (OTHER, 1)]
        await store.adopt(OTHER)
        assert list((await store.spaces()).items()) == [(OTHER, 1), (FLAT, 2)]
        await store.adopt(OTHER, drop_others=True)
        assert await store.spaces() == {OTHER: 1}
        assert len(await store.unembedded(FLAT, limit=9)) == 2

    async def test_which_spaces_there_are_is_known_without_counting(self, store: Asked) -> None:
        assert await store.known_spaces() == []
        chunks = document("one", "two")
        await store.add(chunks)
        assert await store.known_spaces() == []
        await store.put_vectors([(chunks[0], [1, 0])], OTHER)
        await store.put_vectors([(one, [1, 0, 0]) for one in chunks], FLAT)
        assert await store.known_spaces() == [OTHER, FLAT]
        third = Space("third", 2)
        await store.adopt(third)
        assert await store.known_spaces() == [third, OTHER, FLAT]
        await store.delete(within())
        assert await store.known_spaces() == [third, OTHER, FLAT]
        await store.adopt(FLAT, drop_others=True)
        assert await store.known_spaces() == [FLAT]

    async def test_a_transaction_sees_the_spaces_that_it_begins(self, store: Asked) -> None:
        async def begin(transaction: Transaction) -> list[list[Space]]:
            before = [*await transaction.spaces(counted=False)]
            await transaction.add("long_term", document("one"), vectors=[[1, 0, 0]], space=FLAT)
            first = [*await transaction.spaces(counted=False)]
            other = document("two")
            await transaction.add("long_term", other, vectors=[[1, 0]], space=OTHER)
            return [before, first, [*await transaction.spaces()]]

        async def break_off(transaction: Transaction) -> None:
            await begin(transaction)
            raise KeyError("nothing of this happened")

        with pytest.raises(KeyError):
            await store.transaction(break_off)
        assert await store.spaces() == {}
        assert await store.transaction(begin) == [[], [FLAT], [FLAT, OTHER]]
        assert await store.spaces() == {FLAT: 1, OTHER: 1}

    async def test_eight_groups_may_begin_a_space_at_once(
        self, store: Asked, opened: OpenStore
    ) -> None:
        async def add(me: int, mine: Asked) -> None:
            scope = replace(ACME, group_id=f"g{me}")
            await mine.add(document(f"text {me}", scope=scope), [[1, 0, 0]], FLAT)

        await self.at_work(self.workers(store, opened), add)
        assert await store.spaces() == {FLAT: WORKERS}

    async def test_a_vector_does_not_outlive_its_text(self, store: Asked) -> None:
        one, two, three = document("one"), document("two"), document("three")
        for some in (one, two, three):
            await store.add(some, [[1, 0, 0]], FLAT)
        await store.delete(within(ids=(one[0].id,)))
        await store.edit(within(ids=(two[0].id,)), lambda old: replace(old, content="new"))
        await store.edit(within(ids=(three[0].id,)), lambda old: replace(old, subject="s"))
        assert await by_vector(store, [1, 0, 0]) == [("three", 1.0)]
        assert [old.content for old in await store.unembedded(FLAT, limit=9)] == ["new"]
        assert await store.spaces() == {FLAT: 1}

    async def test_vectors_can_be_read_again(self, store: Asked) -> None:
        chunks = document("east", "north-east", "nowhere")
        await store.add(chunks, [[1, 0, 0], [3, 3, 0], None], FLAT)
        await store.put_vectors([(chunks[0], [0, 7])], OTHER)
        stranger = document("stranger")[0]
        found = await store.vectors_of([chunks[2], chunks[1], stranger, chunks[0]], FLAT)
        assert [one is None for one in found] == [True, False, True, False]
        assert cosine([1, 1, 0], found[1]) == pytest.approx(1, abs=0.001)
        assert cosine([1, 0, 0], found[3]) == pytest.approx(1, abs=0.001)
        assert [len(one) for one in await store.vectors_of(chunks[:1], OTHER)] == [2]
        assert await store.vectors_of(chunks, Space("unknown", 9)) == [None] * 3
        assert await store.vectors_of([], FLAT) == []

    async def test_only_the_vector_of_this_text_in_this_group_is_read(self, store: Asked) -> None:
        (mine,) = document("mine")
        theirs = replace(mine, scope=MemoryScope(tenant="u", group_id="acme"))
        await store.add([mine], [[1, 0, 0]], FLAT)
        await store.add([theirs], [[0, 1, 0]], FLAT)
        one, other = await store.vectors_of([mine, theirs], FLAT)
        assert one[0] > 0.9
        assert other[1] > 0.9
        assert await store.vectors_of([replace(mine, content="another")], FLAT) == [None]
        with pytest.raises(EmbeddingMismatch):
            await store.vectors_of([mine], Space(FLAT.name, 4))

    async def test_what_is_read_can_be_kept_elsewhere(self, store: Asked) -> None:
        dice = random.Random(5)  # noqa: S311 - dice, not a secret
        chunks = document(*map(str, range(20)))
        vectors = [[dice.gauss(0, 1) for _ in range(3)] for _ in chunks]
        await store.add(chunks, vectors, FLAT)
        read = await store.vectors_of(chunks, FLAT)
        query = [dice.gauss(0, 1) for _ in range(3)]
        before = await by_vector(store, query)
        await store.delete(within())
        assert await store.load(chunks) == chunks
        assert await by_vector(store, query) == []
        assert await store.put_vectors(list(zip(chunks, read, strict=True)), FLAT) == 20
        assert await by_vector(store, query) == before
        assert await store.vectors_of(chunks, FLAT) == read

    async def test_a_loaded_memory_keeps_its_vector_if_its_text_stays(self, store: Asked) -> None:
        chunks = document("one", "two")
        await store.add(chunks, [[1, 0, 0], [0, 1, 0]], FLAT)
        revoked = replace(chunks[0], revocation="r")
        other = replace(chunks[1], content="three")
        assert await store.load([revoked, other]) == [revoked, other]
        assert await by_vector(store, [1, 0, 0]) == [("one", 1.0)]
        assert await store.unembedded(FLAT, limit=9) == [other]
        words = [hit.memory for hit in await store.by_words(["three"], within(), limit=9)]
        assert words == [other]
        assert await store.by_words(["two"], within(), limit=9) == []

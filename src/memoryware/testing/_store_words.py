"""Search by words, and vectors."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from memoryware.errors import EmbeddingMismatch
from memoryware.scope import MemoryScope
from memoryware.testing._store import (
    ACME,
    FLAT,
    NEIGHBOURS,
    OTHER,
    WORKERS,
    OpenStore,
    StoreProxy,
    StoreSuite,
    document,
    later,
    within,
)
from memoryware.testing._suite import Mode
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores.protocol import Select, Space, Transaction
from memoryware.tiers.text.terms import words_of

# Search by words.


async def by_words(
    store: StoreProxy, text: str, select: Select | None = None, limit: int = 10
) -> list[str]:
    """Return the texts that a search by words finds, best first."""
    hits = await store.by_words(words_of(text), select or within(), limit=limit)
    return [hit.memory.content for hit in hits]


class WordSearchConformance(StoreSuite):
    """What `by_words` does."""

    async def test_words_are_those_of_the_library(self, store: StoreProxy) -> None:
        texts = [
            "\u6570\u636e\u5e93\u7528\u7684\u662fPostgreSQL",
            "M\u00fcller & S\u00f6hne",
            "id x_17-b",
            "C'est \u00e7a",
        ]
        for text in texts:
            await store.add(document(text))
        for query, text in zip(("\u6570\u636e\u5e93", "muller", "X_17", "est"), texts, strict=True):
            assert text in await by_words(store, query)

    @pytest.mark.parametrize(
        "query", ['"', "tea OR", "NOT tea", "tea*", "NEAR(tea)", "-tea", "a:b", "'", "^tea"]
    )
    async def test_no_query_is_a_language(self, store: StoreProxy, query: str) -> None:
        await store.add(document("tea"))
        assert set(await by_words(store, query)) <= {"tea"}
        hits = await store.by_words([query, "tea"], within(), limit=5)
        assert [hit.memory.content for hit in hits] == ["tea"]

    async def test_words_are_found_in_their_group_only(self, store: StoreProxy) -> None:
        for number, scope in enumerate(NEIGHBOURS):
            await store.add(document(f"tea {number}", scope=scope))
        texts_by_scope = {
            scope: await by_words(store, "tea", within(scope)) for scope in NEIGHBOURS
        }
        assert texts_by_scope == {
            scope: [f"tea {number}"] for number, scope in enumerate(NEIGHBOURS)
        }

    async def test_scores_of_a_group_do_not_depend_on_others(self, store: StoreProxy) -> None:
        for text in ("rare word", "common word", "common talk"):
            await store.add(document(text))
        before = await store.by_words(["rare", "common"], within(), limit=5)
        for n in range(9):
            text = f"rare rare {n} and many words"
            await store.add(document(text, scope=replace(ACME, group_id=f"acme{n}")))
            await store.add(document(text, scope=replace(ACME, tenant=f"t{n}")))
        after = await store.by_words(["rare", "common"], within(), limit=5)
        values = [hit.value for hit in before]
        assert [hit.memory for hit in after] == [hit.memory for hit in before]
        assert [hit.value for hit in after] == pytest.approx(values)

    async def test_what_was_deleted_does_not_count_anymore(self, store: StoreProxy) -> None:
        for text in ("rare word", "common word", "common talk"):
            await store.add(document(text))
        before = await store.by_words(["rare", "common"], within(), limit=5)
        for n in range(9):
            (chunk,) = document(f"rare rare {n} and many words")
            await store.add([chunk])
            await store.edit(
                within(ids=(chunk.id,)), lambda old: replace(old, content="rare again")
            )
            await store.delete(within(ids=(chunk.id,)))
        after = await store.by_words(["rare", "common"], within(), limit=5)
        assert [hit.memory for hit in after] == [hit.memory for hit in before]
        assert [hit.value for hit in after] == pytest.approx([hit.value for hit in before])

    async def test_words_keep_to_every_condition(self, store: StoreProxy) -> None:
        provenance = Provenance(Origin("tool", "x"), ("e1",))
        scope = replace(ACME, user_id="bob", session_id="s2")
        fields_of: dict[str, dict[str, Any]] = {
            "plain tea": {},
            "bob's tea": {"scope": scope, "provenance": provenance, "subject": "s"},
            "agent's tea": {"agent": "a", "created_at": later(days=2)},
            "revoked tea": {"revocation": "r"},
            "old tea": {"valid_to": later(hours=1)},
        }
        memories = {text: document(text, **more)[0] for text, more in fields_of.items()}
        for memory in memories.values():
            await store.add([memory])
        live = {"plain tea", "bob's tea", "agent's tea"}
        cases: tuple[tuple[dict[str, Any], set[str]], ...] = (
            ({"live_at": later(hours=1)}, live),
            ({"users": ("bob",)}, {"bob's tea"}),
            ({"sessions": ("s2",), "subjects": ("s",)}, {"bob's tea"}),
            ({"agents": (None,)}, {*fields_of} - {"agent's tea"}),
            ({"agents": ("a",), "since": later(days=2)}, {"agent's tea"}),
            ({"before": later(days=2), "revocations": (None,), "contains": "OLD"}, {"old tea"}),
            ({"root": "tool:x", "made_of": ("e1",)}, {"bob's tea"}),
            ({"ids": (memories["old tea"].id,)}, {"old tea"}),
            ({"documents": (memories["old tea"].document_id, "x")}, {"old tea"}),
            ({"hashes": (memories["plain tea"].content_hash,)}, {"plain tea"}),
            ({"groups": ()}, set()),
            ({"users": ()}, set()),
            ({"statuses": ("pending",)}, set()),
        )
        for conditions, expected in cases:
            select = within().also(**conditions)
            assert {*await by_words(store, "tea", select)} == expected, conditions

    async def test_what_is_found_is_the_record_as_it_is_now(self, store: StoreProxy) -> None:
        (chunk,) = document("green tea")
        await store.add([chunk])
        new = replace(chunk, subject="s", metadata={"seen": 1})
        await store.edit(within(), lambda _: new)
        assert [hit.memory for hit in await store.by_words(["tea"], within(), limit=5)] == [new]

    async def test_a_text_is_found_by_the_name_of_its_speaker(self, store: StoreProxy) -> None:
        ito = {"speaker": "Rosalind Ito"}
        records = [
            *document("I like tea", metadata=ito),
            *document("Rosalind Ito: I like milk", metadata=ito),
            *document("I like juice", metadata={"speaker": ["Rosalind"]}),
            *document("Rosalind likes rain"),
        ]
        await store.add(records)
        names = {"I like tea", "Rosalind Ito: I like milk", "Rosalind likes rain"}
        assert {*await by_words(store, "rosalind")} == names
        hits = await store.by_words(words_of("ito"), within(), limit=9)
        assert len({hit.value for hit in hits}) == 1, "a name that the text has counts once"
        select = within(ids=(records[0].id,))
        await store.edit(select, lambda old: replace(old, metadata={"speaker": "Bo"}))
        assert {*await by_words(store, "rosalind")} == names - {"I like tea"}
        assert await by_words(store, "bo") == ["I like tea"]

    async def test_words_are_there_when_the_store_is_opened_again(
        self, opened: OpenStore, mode: Mode
    ) -> None:
        first = StoreProxy(opened(), mode, self.deadline)
        await first.add(document("green tea", "black coffee"))
        await first.close()
        again = StoreProxy(opened(), mode, self.deadline)
        assert await by_words(again, "tea") == (["green tea"] if self.persistent else [])


# Vectors.


async def by_vector(
    store: StoreProxy, vector: list[float], select: Select | None = None, space: Space = FLAT
) -> list[tuple[str, float]]:
    """Return the texts that a search by a vector finds, with their cosines."""
    hits = await store.by_vector(vector, select or within(), space=space, limit=10)
    return [(hit.memory.content, round(hit.value, 2)) for hit in hits]


class VectorConformance(StoreSuite):
    """What `by_vector`, `put_vectors`, `unembedded`, `spaces`, `known_spaces` and `adopt` do."""

    async def test_the_nearest_comes_first_with_its_cosine(self, store: StoreProxy) -> None:
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

    async def test_vectors_are_compared_exactly(self, store: StoreProxy) -> None:
        dice = random.Random(3)  # noqa: S311 - dice, not a secret
        wide = Space("wide", 24)
        texts = [f"text {n}" for n in range(60)]
        vectors = [[dice.gauss(0, 1) for _ in range(24)] for _ in texts]
        await store.add(document(*texts), vectors, wide)
        query = [dice.gauss(0, 1) for _ in range(24)]
        expected = sorted((cosine(query, vector) for vector in vectors), reverse=True)
        hits = await store.by_vector(query, within(), space=wide, limit=20)
        assert [hit.value for hit in hits] == pytest.approx(expected[:20], abs=0.01)
        for hit in hits:
            own = vectors[hit.memory.chunk_index]
            assert hit.value == pytest.approx(cosine(query, own), abs=0.01)

    async def test_a_limit_keeps_the_nearest_as_they_are_now(self, store: StoreProxy) -> None:
        chunks = document("east", "north-east", "north")
        await store.add(chunks, [[1, 0, 0], [1, 1, 0], [0, 1, 0]], FLAT)
        await store.edit(within(), lambda old: replace(old, subject="s"))
        hits = await store.by_vector([0, 2, 0], within(), space=FLAT, limit=2)
        assert [hit.memory for hit in hits] == [
            replace(chunks[2], subject="s"),
            replace(chunks[1], subject="s"),
        ]

    async def test_large_small_and_empty_vectors_are_kept(self, store: StoreProxy) -> None:
        for text, vector in {
            "large": [1e30, 0, 0],
            "small": [0, 1e-30, 0],
            "none": [0, 0, 0],
        }.items():
            await store.add(document(text), [vector], FLAT)
        similarities = dict(await by_vector(store, [1, 1, 0]))
        assert similarities == {"large": 0.71, "small": 0.71, "none": 0.0}
        assert all(math.isfinite(value) for value in similarities.values())

    async def test_what_has_no_vector_is_found_by_words_and_named(self, store: StoreProxy) -> None:
        chunks = document("one tea", "two tea", "three tea")
        await store.add(chunks, [[1, 0, 0], None, None], FLAT)
        assert [text for text, _ in await by_vector(store, [1, 0, 0])] == ["one tea"]
        assert len(await store.by_words(["tea"], within(), limit=5)) == 3
        missing = await store.unembedded(FLAT, limit=10)
        assert [memory.content for memory in missing] == ["two tea", "three tea"]
        assert [memory.content for memory in await store.unembedded(FLAT, limit=1)] == ["two tea"]

    async def test_vectors_can_be_kept_later(self, store: StoreProxy) -> None:
        own, other = document("one"), document("two", scope=MemoryScope(group_id="x"))
        for chunks in (own, other):
            await store.add(chunks)
        assert len(await store.unembedded(FLAT, limit=9)) == 2
        (gone,) = document("gone")
        pairs = [(own[0], [1, 0, 0]), (other[0], [0, 1, 0]), (gone, [0, 0, 1])]
        assert await store.put_vectors(pairs, FLAT) == 2
        assert await store.unembedded(FLAT, limit=9) == []
        assert await by_vector(store, [1, 0, 0]) == [("one", 1.0)]
        await store.put_vectors([(own[0], [0, 1, 0])], FLAT)
        assert await by_vector(store, [1, 0, 0]) == [("one", 0.0)]

    async def test_the_oldest_of_all_tenants_are_named_first(self, store: StoreProxy) -> None:
        scopes = (ACME, MemoryScope(tenant="u", group_id="x"), MemoryScope(), ACME)
        for n, scope in enumerate(scopes):
            await store.add(document(f"{n}", scope=scope, created_at=later(days=-n)))
        await store.add(document("has one"), [[1, 0, 0]], FLAT)
        missing = [memory.content for memory in await store.unembedded(FLAT, limit=9)]
        assert missing == ["0", "1", "2", "3"]
        assert [memory.content for memory in await store.unembedded(FLAT, limit=2)] == ["0", "1"]
        assert len(await store.unembedded(OTHER, limit=9)) == 5
        assert await store.spaces() == {FLAT: 1}

    async def test_vectors_for_nobody_are_no_error(self, store: StoreProxy) -> None:
        assert await store.put_vectors([], FLAT) == 0
        (gone,), (chunk,) = document("gone"), document("one")
        assert await store.put_vectors([(gone, [1, 0, 0])], FLAT) == 0
        await store.add([chunk])
        for _ in range(2):
            assert await store.put_vectors([(chunk, [1, 0, 0])], FLAT) == 1
        assert await store.spaces() == {FLAT: 1}

    async def test_a_vector_of_a_text_that_was_changed_meanwhile_is_passed_over(
        self, store: StoreProxy
    ) -> None:
        (chunk,) = document("one")
        await store.add([chunk])
        await store.edit(within(), lambda old: replace(old, content="two"))
        assert await store.put_vectors([(chunk, [1, 0, 0])], FLAT) == 0
        changed = await store.find_one(within())
        assert await store.unembedded(FLAT, limit=9) == [changed]
        assert await store.put_vectors([(changed, [1, 0, 0])], FLAT) == 1

    async def test_a_vector_is_of_one_memory_whoever_has_the_same_id(
        self, store: StoreProxy
    ) -> None:
        (chunk,) = document("one")
        strangers = [replace(chunk, scope=scope) for scope in NEIGHBOURS[:9]]
        for stranger in strangers:
            await store.add([stranger])
        assert await store.put_vectors([(strangers[1], [1, 0, 0])], FLAT) == 1
        assert await store.spaces() == {FLAT: 1}
        missing = await store.unembedded(FLAT, limit=20)
        assert missing == [stranger for stranger in strangers if stranger is not strangers[1]]

    async def test_spaces_do_not_mix(self, store: StoreProxy) -> None:
        chunks = document("one")
        await store.add(chunks, [[1, 0, 0]], FLAT)
        await store.put_vectors([(chunks[0], [0, 1])], OTHER)
        assert await by_vector(store, [0, 1, 0]) == [("one", 0.0)]
        await store.adopt(OTHER)
        assert await by_vector(store, [0, 1], space=OTHER) == [("one", 1.0)]

    async def test_a_space_that_is_not_the_current_one_is_not_searched(
        self, store: StoreProxy
    ) -> None:
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

    async def test_a_space_has_one_dimension(self, store: StoreProxy) -> None:
        await store.add(document("one"), [[1, 0, 0]], FLAT)
        wrong = Space("flat", 2)
        with pytest.raises(EmbeddingMismatch, match=r"flat \(3 dimensions\)"):
            await store.add(document("two"), [[1, 0]], wrong)
        with pytest.raises(EmbeddingMismatch):
            await store.put_vectors([(await store.find_one(within()), [1, 0])], wrong)
        with pytest.raises(EmbeddingMismatch):
            await store.by_vector([1, 0], within(), space=wrong, limit=5)
        assert (await store.find(within())).total == 1

    async def test_a_failed_batch_of_vectors_keeps_none(self, store: StoreProxy) -> None:
        chunks = document("one", "two")
        await store.add(chunks)
        with pytest.raises(EmbeddingMismatch):
            await store.put_vectors([(chunks[0], [1, 0, 0]), (chunks[1], [1])], FLAT)
        assert len(await store.unembedded(FLAT, limit=9)) == 2
        assert await store.spaces() == {}
        await store.put_vectors([(chunk, [0, 1, 0]) for chunk in chunks], FLAT)
        with pytest.raises(EmbeddingMismatch):
            await store.put_vectors([(chunks[0], [1, 0, 0]), (chunks[1], [1])], FLAT)
        assert await by_vector(store, [0, 1, 0]) == [("one", 1.0), ("two", 1.0)]

    async def test_a_query_has_the_dimension_of_its_space(self, store: StoreProxy) -> None:
        await store.add(document("one"), [[1, 0, 0]], FLAT)
        with pytest.raises(EmbeddingMismatch):
            await store.by_vector([1, 0], within(), space=FLAT, limit=5)

    async def test_a_space_can_be_adopted_before_it_has_vectors(self, store: StoreProxy) -> None:
        await store.adopt(OTHER)
        await store.adopt(OTHER)
        assert await store.spaces() == {OTHER: 0}
        await store.add(document("one"), [[1, 0, 0]], FLAT)
        assert list((await store.spaces()).items()) == [(OTHER, 0), (FLAT, 1)]

    async def test_vectors_are_there_when_the_store_is_opened_again(
        self, opened: OpenStore, mode: Mode
    ) -> None:
        first = StoreProxy(opened(), mode, self.deadline)
        (chunk,) = document("one")
        await first.add([chunk], [[1, 0, 0]], FLAT)
        await first.put_vectors([(chunk, [0, 2])], OTHER)
        await first.adopt(OTHER)
        await first.close()
        again = StoreProxy(opened(), mode, self.deadline)
        hits = await by_vector(again, [0, 1], space=OTHER)
        assert hits == ([("one", 1.0)] if self.persistent else [])
        expected = {OTHER: 1, FLAT: 1} if self.persistent else {}
        assert list((await again.spaces()).items()) == [*expected.items()]

    async def test_the_first_space_is_the_current_one_until_another_is_adopted(
        self, store: StoreProxy
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

    async def test_which_spaces_there_are_is_known_without_counting(
        self, store: StoreProxy
    ) -> None:
        assert await store.known_spaces() == []
        chunks = document("one", "two")
        await store.add(chunks)
        assert await store.known_spaces() == []
        await store.put_vectors([(chunks[0], [1, 0])], OTHER)
        await store.put_vectors([(chunk, [1, 0, 0]) for chunk in chunks], FLAT)
        assert await store.known_spaces() == [OTHER, FLAT]
        third = Space("third", 2)
        await store.adopt(third)
        assert await store.known_spaces() == [third, OTHER, FLAT]
        await store.delete(within())
        assert await store.known_spaces() == [third, OTHER, FLAT]
        await store.adopt(FLAT, drop_others=True)
        assert await store.known_spaces() == [FLAT]

    async def test_a_transaction_sees_the_spaces_that_it_begins(self, store: StoreProxy) -> None:
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
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        async def add(me: int, mine: StoreProxy) -> None:
            scope = replace(ACME, group_id=f"g{me}")
            await mine.add(document(f"text {me}", scope=scope), [[1, 0, 0]], FLAT)

        await self.run_workers(self.workers(store, opened), add)
        assert await store.spaces() == {FLAT: WORKERS}

    async def test_a_vector_does_not_outlive_its_text(self, store: StoreProxy) -> None:
        first, second, third = document("one"), document("two"), document("three")
        for chunks in (first, second, third):
            await store.add(chunks, [[1, 0, 0]], FLAT)
        await store.delete(within(ids=(first[0].id,)))
        await store.edit(within(ids=(second[0].id,)), lambda old: replace(old, content="new"))
        await store.edit(within(ids=(third[0].id,)), lambda old: replace(old, subject="s"))
        assert await by_vector(store, [1, 0, 0]) == [("three", 1.0)]
        assert [old.content for old in await store.unembedded(FLAT, limit=9)] == ["new"]
        assert await store.spaces() == {FLAT: 1}

    async def test_vectors_can_be_read_again(self, store: StoreProxy) -> None:
        chunks = document("east", "north-east", "nowhere")
        await store.add(chunks, [[1, 0, 0], [3, 3, 0], None], FLAT)
        await store.put_vectors([(chunks[0], [0, 7])], OTHER)
        stranger = document("stranger")[0]
        found_vectors = await store.vectors_of([chunks[2], chunks[1], stranger, chunks[0]], FLAT)
        assert [vector is None for vector in found_vectors] == [True, False, True, False]
        assert cosine([1, 1, 0], found_vectors[1]) == pytest.approx(1, abs=0.001)
        assert cosine([1, 0, 0], found_vectors[3]) == pytest.approx(1, abs=0.001)
        assert [len(vector) for vector in await store.vectors_of(chunks[:1], OTHER)] == [2]
        assert await store.vectors_of(chunks, Space("unknown", 9)) == [None] * 3
        assert await store.vectors_of([], FLAT) == []

    async def test_only_the_vector_of_this_text_in_this_group_is_read(
        self, store: StoreProxy
    ) -> None:
        (mine,) = document("mine")
        theirs = replace(mine, scope=MemoryScope(tenant="u", group_id="acme"))
        await store.add([mine], [[1, 0, 0]], FLAT)
        await store.add([theirs], [[0, 1, 0]], FLAT)
        vector, other_vector = await store.vectors_of([mine, theirs], FLAT)
        assert vector[0] > 0.9
        assert other_vector[1] > 0.9
        assert await store.vectors_of([replace(mine, content="another")], FLAT) == [None]
        with pytest.raises(EmbeddingMismatch):
            await store.vectors_of([mine], Space(FLAT.name, 4))

    async def test_what_is_read_can_be_kept_elsewhere(self, store: StoreProxy) -> None:
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

    async def test_a_loaded_memory_keeps_its_vector_if_its_text_stays(
        self, store: StoreProxy
    ) -> None:
        chunks = document("one", "two")
        await store.add(chunks, [[1, 0, 0], [0, 1, 0]], FLAT)
        revoked = replace(chunks[0], revocation="r")
        other = replace(chunks[1], content="three")
        assert await store.load([revoked, other]) == [revoked, other]
        assert await by_vector(store, [1, 0, 0]) == [("one", 1.0)]
        assert await store.unembedded(FLAT, limit=9) == [other]
        words = [hit.memory for hit in await store.by_words(words_of("three"), within(), limit=9)]
        assert words == [other]
        assert await store.by_words(words_of("two"), within(), limit=9) == []

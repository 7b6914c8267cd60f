"""What it means to be a `LongTermStore`, as tests."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from memoryware.conformance._either import Door
from memoryware.conformance._threads import at_once
from memoryware.conformance._tiers import (
    ACME,
    NASTY,
    NOON,
    Asked,
    TierSuite,
    later,
    memory,
    within,
)
from memoryware.errors import EmbeddingMismatch
from memoryware.scope import MemoryScope
from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Memory
from memoryware.tiers.stores.protocol import LongTermStore, Select, Space, Stores

FLAT = Space("flat", 3)
OTHER = Space("other", 2)


def document(*texts: str, **more: Any) -> list[Memory]:
    """Return the chunks of one document."""
    first = memory(texts[0], **more)
    whole = "hash of " + " ".join(texts)
    return [
        replace(
            memory(text, **more),
            document_id=first.document_id,
            chunk_index=place,
            chunk_count=len(texts),
            content_hash=whole,
        )
        for place, text in enumerate(texts)
    ]


async def by_words(
    store: Asked, text: str, which: Select | None = None, limit: int = 10
) -> list[str]:
    """Return what is found by the words of a text, best first."""
    hits = await store.by_words(words_of(text), which or within(), limit=limit)
    assert all(hit.value > 0 for hit in hits)
    assert [hit.value for hit in hits] == sorted((hit.value for hit in hits), reverse=True)
    return [hit.memory.content for hit in hits]


async def by_vector(
    store: Asked, vector: list[float], which: Select | None = None, space: Space = FLAT
) -> list[tuple[str, float]]:
    """Return what is found by a vector, with its cosine."""
    hits = await store.by_vector(vector, which or within(), space=space, limit=10)
    return [(hit.memory.content, round(hit.value, 2)) for hit in hits]


class LongTermStoreConformance(TierSuite):
    """Every test that a store of tier 3 has to pass; override the fixture `open_stores`."""

    protocol = LongTermStore
    tier = "long_term"

    # Documents.

    async def test_all_chunks_of_a_document_are_kept(self, store: Asked) -> None:
        chunks = document("one", "two", "three")
        assert await store.add(chunks) == chunks
        found = (await store.find(within(documents=(chunks[0].document_id,)))).items
        assert sorted(found, key=lambda one: one.chunk_index) == chunks

    async def test_nothing_to_keep_is_no_error(self, store: Asked) -> None:
        assert await store.add([]) == []
        assert (await store.find(within())).total == 0

    async def test_a_document_is_there_as_a_whole_or_not_at_all(self, store: Asked) -> None:
        chunks = document("one", "two", "three")
        with pytest.raises(EmbeddingMismatch):
            await store.add(chunks, [[1, 0, 0], [0, 1, 0], [1, 0]], FLAT)
        assert (await store.find(within())).total == 0
        assert await by_words(store, "one two three") == []
        assert await store.add(chunks, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], FLAT) == chunks

    async def test_a_failed_document_has_ended_no_other(self, store: Asked) -> None:
        old = document("old")
        await store.add(old)
        with pytest.raises(EmbeddingMismatch):
            await store.add(document("new"), [[1, 0]], FLAT, replaces=[old[0].document_id])
        assert (await store.one(within())).valid_to is None

    async def test_the_same_text_is_there_once(self, store: Asked) -> None:
        first = document("one", "two")
        await store.add(first)
        assert await store.add(document("one", "two")) == first
        assert (await store.find(within())).total == 2

    async def test_the_same_text_of_another_owner_is_another(self, store: Asked) -> None:
        await store.add(document("text"))
        others = [
            document("text", agent="a"),
            document("text", agent="b"),
            document("text", scope=replace(ACME, group_id="acme2")),
            document("text", scope=replace(ACME, tenant="u")),
        ]
        for one in others:
            assert await store.add(one) == one

    async def test_a_text_that_does_not_hold_anymore_can_come_back(self, store: Asked) -> None:
        await store.add(document("ended", valid_to=later(days=1)))
        await store.add(document("revoked", revocation="r"))
        for text in ("ended", "revoked"):
            again = document(text)
            assert await store.add(again) == again

    async def test_a_document_ends_where_another_takes_its_place(self, store: Asked) -> None:
        old, new = document("old 1", "old 2"), document("new", valid_from=later(days=1))
        await store.add(old)
        await store.add(new, replaces=[old[0].document_id])
        found = {one.content: one for one in (await store.find(within())).items}
        for text in ("old 1", "old 2"):
            assert found[text].valid_to == later(days=1)
            assert found[text].superseded_by == new[0].document_id
        assert found["new"].valid_to is None
        assert await store.ids(within(live_at=later(days=1))) == [new[0].id]
        before = await store.find(within(live_at=later(hours=23)))
        assert {one.content for one in before.items} == {"old 1", "old 2"}

    async def test_only_documents_of_the_group_are_replaced(self, store: Asked) -> None:
        old = document("old", scope=replace(ACME, group_id="other"))
        await store.add(old)
        await store.add(document("new"), replaces=[old[0].document_id])
        assert (await store.one(within(old[0].scope))).valid_to is None

    async def test_a_known_text_replaces_nothing(self, store: Asked) -> None:
        old, same = document("old"), document("same")
        await store.add(old)
        await store.add(same)
        await store.add(document("same"), replaces=[old[0].document_id])
        assert (await store.one(within(documents=(old[0].document_id,)))).valid_to is None

    async def test_validity_is_a_condition(self, store: Asked) -> None:
        await store.add(document("now"))
        await store.add(document("later", valid_from=later(days=1)))
        await store.add(document("gone", revocation="r"))
        assert await by_words(store, "now later gone", within(live_at=NOON)) == ["now"]
        found = await store.find(within(live_at=later(days=2)))
        assert {one.content for one in found.items} == {"now", "later"}

    async def test_documents_and_subjects_are_conditions(self, store: Asked) -> None:
        one, two = document("one", subject="db"), document("two")
        await store.add(one)
        await store.add(two)
        assert await store.ids(within(subjects=("db",))) == [one[0].id]
        assert await store.ids(within(subjects=(None,))) == [two[0].id]
        assert await store.ids(within(documents=(two[0].document_id, "x"))) == [two[0].id]

    # Words.

    async def test_one_word_is_enough_and_more_are_better(self, store: Asked) -> None:
        for text in ("green tea at four", "green door", "black coffee"):
            await store.add(document(text))
        assert await by_words(store, "Green TEA") == ["green tea at four", "green door"]
        assert await by_words(store, "nothing of it") == []
        assert await by_words(store, "") == []

    async def test_a_rare_word_counts_more_than_a_common_one(self, store: Asked) -> None:
        for n in range(8):
            await store.add(document(f"common talk number {n}"))
        await store.add(document("rare talk here once"))
        assert (await by_words(store, "common rare"))[0] == "rare talk here once"

    async def test_a_long_text_does_not_win_by_its_length(self, store: Asked) -> None:
        await store.add(document("tea " + "and much more besides " * 30))
        await store.add(document("tea time"))
        assert (await by_words(store, "tea"))[0] == "tea time"

    async def test_words_are_those_of_the_library(self, store: Asked) -> None:
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
    async def test_no_query_is_a_language(self, store: Asked, query: str) -> None:
        await store.add(document("tea"))
        assert set(await by_words(store, query)) <= {"tea"}
        hits = await store.by_words([query, "tea"], within(), limit=5)
        assert [hit.memory.content for hit in hits] == ["tea"]

    async def test_words_are_found_in_their_group_only(self, store: Asked) -> None:
        scopes = [MemoryScope(tenant=t, group_id=g) for t in (None, "t") for g in (None, *NASTY)]
        for place, scope in enumerate(scopes):
            await store.add(document(f"tea {place}", scope=scope))
        for place, scope in enumerate(scopes):
            assert await by_words(store, "tea", within(scope)) == [f"tea {place}"]

    async def test_scores_of_a_group_do_not_depend_on_others(self, store: Asked) -> None:
        for text in ("rare word", "common word", "common talk"):
            await store.add(document(text))
        before = [hit.value for hit in await store.by_words(["rare", "common"], within(), limit=5)]
        for n in range(9):
            await store.add(document(f"rare rare {n}", scope=replace(ACME, group_id=f"o{n}")))
        after = [hit.value for hit in await store.by_words(["rare", "common"], within(), limit=5)]
        assert after == pytest.approx(before)

    async def test_words_keep_to_conditions_and_limits(self, store: Asked) -> None:
        for n in range(6):
            agent = "a" if n % 2 else None
            await store.add(document(f"tea {n}", agent=agent, created_at=later(days=n)))
        assert len(await by_words(store, "tea", limit=4)) == 4
        mine = await by_words(store, "tea", within(agents=("a",), since=later(days=2)))
        assert sorted(mine) == ["tea 3", "tea 5"]
        assert await by_words(store, "tea", Select(tenant="t", groups=())) == []

    async def test_words_of_all_groups_of_a_tenant(self, store: Asked) -> None:
        for group in ("a", "b"):
            await store.add(document(f"tea {group}", scope=MemoryScope(tenant="t", group_id=group)))
        await store.add(document("tea c", scope=MemoryScope(tenant="u", group_id="a")))
        found = await by_words(store, "tea", Select(tenant="t"))
        assert sorted(found) == ["tea a", "tea b"]
        both = await by_words(store, "tea", Select(tenant="t", groups=("a", "b", "x")))
        assert sorted(both) == ["tea a", "tea b"]

    async def test_deleted_and_changed_texts_are_not_found_by_old_words(self, store: Asked) -> None:
        one, two = document("green tea"), document("green door")
        await store.add(one)
        await store.add(two)
        await store.delete(within(ids=(one[0].id,)))
        await store.edit(within(ids=(two[0].id,)), lambda old: replace(old, content="red gate"))
        assert await by_words(store, "green tea door") == []
        assert await by_words(store, "gate") == ["red gate"]

    # Vectors.

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

    async def test_vectors_keep_to_groups_conditions_and_limits(self, store: Asked) -> None:
        for place, group in enumerate(("g1", "g10", "a'b")):
            scope = replace(ACME, group_id=group)
            await store.add(document(f"text {place}", scope=scope, agent="a"), [[1, 0, 0]], FLAT)
        g1 = replace(ACME, group_id="g1")
        assert [text for text, _ in await by_vector(store, [1, 0, 0], within(g1))] == ["text 0"]
        assert await by_vector(store, [1, 0, 0], within(g1, agents=(None,))) == []
        hits = await store.by_vector([1, 0, 0], Select(tenant="t"), space=FLAT, limit=2)
        assert len(hits) == 2

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
        assert len(await by_words(store, "tea")) == 3
        missing = await store.unembedded(FLAT, limit=10)
        assert [one.content for one in missing] == ["two tea", "three tea"]
        assert [one.content for one in await store.unembedded(FLAT, limit=1)] == ["two tea"]

    async def test_vectors_can_be_kept_later(self, store: Asked) -> None:
        one, two = document("one"), document("two", scope=MemoryScope(group_id="x"))
        for some in (one, two):
            await store.add(some)
        assert len(await store.unembedded(FLAT, limit=9)) == 2
        pairs = [(one[0].id, [1, 0, 0]), (two[0].id, [0, 1, 0]), ("gone", [0, 0, 1])]
        assert await store.put_vectors(pairs, FLAT) == 2
        assert await store.unembedded(FLAT, limit=9) == []
        assert await by_vector(store, [1, 0, 0]) == [("one", 1.0)]
        await store.put_vectors([(one[0].id, [0, 1, 0])], FLAT)
        assert await by_vector(store, [1, 0, 0]) == [("one", 0.0)]

    async def test_spaces_do_not_mix(self, store: Asked) -> None:
        one = document("one")
        await store.add(one, [[1, 0, 0]], FLAT)
        await store.put_vectors([(one[0].id, [0, 1])], OTHER)
        assert await by_vector(store, [0, 1], space=OTHER) == [("one", 1.0)]
        assert await by_vector(store, [0, 1, 0]) == [("one", 0.0)]
        assert await store.by_vector([1], within(), space=Space("third", 1), limit=5) == []

    async def test_a_space_has_one_dimension(self, store: Asked) -> None:
        await store.add(document("one"), [[1, 0, 0]], FLAT)
        wrong = Space("flat", 2)
        with pytest.raises(EmbeddingMismatch, match=r"flat \(3 dimensions\)"):
            await store.add(document("two"), [[1, 0]], wrong)
        with pytest.raises(EmbeddingMismatch):
            await store.put_vectors([((await store.find(within())).items[0].id, [1, 0])], wrong)
        with pytest.raises(EmbeddingMismatch):
            await store.by_vector([1, 0], within(), space=wrong, limit=5)
        assert (await store.find(within())).total == 1

    async def test_a_failed_batch_of_vectors_keeps_none(self, store: Asked) -> None:
        chunks = document("one", "two")
        await store.add(chunks)
        with pytest.raises(EmbeddingMismatch):
            await store.put_vectors([(chunks[0].id, [1, 0, 0]), (chunks[1].id, [1])], FLAT)
        assert len(await store.unembedded(FLAT, limit=9)) == 2

    async def test_the_first_space_is_the_current_one_until_another_is_adopted(
        self, store: Asked
    ) -> None:
        assert await store.spaces() == {}
        chunks = document("one", "two")
        await store.add(chunks, [[1, 0, 0], [0, 1, 0]], FLAT)
        await store.put_vectors([(chunks[0].id, [1, 0])], OTHER)
        assert list((await store.spaces()).items()) == [(FLAT, 2), (OTHER, 1)]
        await store.adopt(OTHER)
        assert list((await store.spaces()).items()) == [(OTHER, 1), (FLAT, 2)]
        await store.adopt(OTHER, drop_others=True)
        assert await store.spaces() == {OTHER: 1}
        assert await by_vector(store, [1, 0, 0]) == []
        assert len(await store.unembedded(FLAT, limit=9)) == 2

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

    # Many at once.

    async def test_one_text_from_eight_workers_is_one_document(
        self, stores: Stores, door: Door
    ) -> None:
        found: list[list[Memory]] = []

        async def add(_: int, one: Asked) -> None:
            found.append(await one.add(document("one", "two"), [[1, 0, 0], None], FLAT))

        inline = "inline" if door == "blocking" else door
        workers = {n: Asked(stores.long_term, inline, self.deadline) for n in range(8)}
        threads, tasks = (workers, {}) if door == "blocking" else ({}, workers)
        await at_once(threads, tasks, add, self.deadline * 2)
        assert all(some == found[0] for some in found)
        assert (await Asked(stores.long_term, door, self.deadline).find(within())).total == 2

    async def test_searches_leave_the_loop_free(self, stores: Stores) -> None:
        store = Asked(stores.long_term, "native", self.deadline)
        with blockbuster_ctx():
            await store.add(document("green tea"), [[1, 0, 0]], FLAT)
            assert await by_words(store, "tea") == ["green tea"]
            assert await by_vector(store, [1, 0, 0]) == [("green tea", 1.0)]
            assert await store.unembedded(FLAT, limit=5) == []
            await store.adopt(FLAT)
            assert await store.spaces() == {FLAT: 1}

    @pytest.mark.parametrize("seed", range(3))
    async def test_behaves_like_a_dictionary(self, store: Asked, seed: int) -> None:
        dice, model = random.Random(seed), dict[str, Memory]()  # noqa: S311 - a test
        for step in range(50):
            match dice.choice(["add", "add", "edit", "delete"]):
                case "add":
                    (one,) = document(f"tea {dice.randrange(8)}")
                    known = [old for old in model.values() if old.content_hash == one.content_hash]
                    assert await store.add([one], [[1, step, 0]], FLAT) == (known or [one])
                    model |= {} if known else {one.id: one}
                case "edit" if model:
                    one = dice.choice(list(model.values()))
                    new = replace(one, content=f"{one.content} more{step}")
                    await store.edit(within(ids=(one.id,)), lambda _, new=new: new)
                    model[one.id] = new
                case "delete" if model:
                    one = model.pop(dice.choice(list(model)))
                    assert await store.delete(within(ids=(one.id,))) == 1
        assert (await store.find(within())).items == list(model.values())[::-1]
        hits = await store.by_words(["tea"], within(), limit=99)
        assert {hit.memory.id for hit in hits} == set(model)

"""A document is in long-term memory as a whole, once, and ends where another takes its place."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from memoryware.errors import EmbeddingMismatch
from memoryware.testing._documents import FLAT, document
from memoryware.testing._tiers import (
    ACME,
    NEIGHBOURS,
    NOON,
    WORKERS,
    Asked,
    OpenStore,
    TierSuite,
    later,
    within,
)
from memoryware.tiers.model import Memory, Origin, PromotionRecord, Provenance


class DocumentsConformance(TierSuite):
    """What `add` does."""

    async def test_all_chunks_of_a_document_are_kept(self, store: Asked) -> None:
        chunks = document("one", "two", "three")
        assert await store.add(chunks) == chunks
        found = (await store.find(within(documents=(chunks[0].document_id,)))).items
        assert sorted(found, key=lambda one: one.chunk_index) == chunks

    async def test_a_document_is_there_as_a_whole_or_not_at_all(self, store: Asked) -> None:
        chunks = document("one", "two", "three")
        with pytest.raises(EmbeddingMismatch):
            await store.add(chunks, [[1, 0, 0], [0, 1, 0], [1, 0]], FLAT)
        assert (await store.find(within())).total == 0
        assert await store.by_words(["one", "two", "three"], within(), limit=5) == []
        assert await store.spaces() == {}
        assert await store.add(chunks, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], FLAT) == chunks

    async def test_vectors_that_are_not_one_for_each_chunk_are_refused(self, store: Asked) -> None:
        for vectors in ([[1, 0, 0]], [[1, 0, 0]] * 3, [None]):
            with pytest.raises(ValueError):
                await store.add(document("one", "two"), vectors, FLAT)
        assert (await store.find(within())).total == 0
        assert await store.spaces() == {}

    async def test_the_same_text_is_there_once(self, store: Asked) -> None:
        first = document("one", "two")
        await store.add(first)
        assert await store.add(document("one", "two")) == first
        assert (await store.find(within())).total == 2

    async def test_a_known_text_is_returned_as_it_is_now(self, store: Asked) -> None:
        first = document("one", "two", "three")
        await store.add(first)
        await store.edit(within(), lambda one: replace(one, metadata={"n": one.chunk_index}))
        again = await store.add(document("one", "two", "three"), [None] * 3, FLAT)
        assert [one.id for one in again] == [one.id for one in first]
        assert [one.metadata for one in again] == [{"n": 0}, {"n": 1}, {"n": 2}]

    async def test_the_same_text_of_another_owner_is_another(self, store: Asked) -> None:
        others = [
            document("text", agent="a"),
            document("text", agent="b"),
            *(document("text", scope=one) for one in NEIGHBOURS),
        ]
        await store.add(document("text"))
        for one in others:
            assert await store.add(one) == one
            assert await store.add(document("text", scope=one[0].scope)) == one

    async def test_who_asked_makes_no_other_text(self, store: Asked) -> None:
        first = document("text")
        await store.add(first)
        scope = replace(ACME, user_id="bob", session_id="s9", node_id="n")
        assert await store.add(document("text", scope=scope)) == first

    async def test_a_text_that_does_not_hold_anymore_can_come_back(self, store: Asked) -> None:
        await store.add(document("ended", valid_to=later(days=1)))
        await store.add(document("revoked", revocation="r"))
        for text in ("ended", "revoked"):
            again = document(text)
            assert await store.add(again) == again

    async def test_only_documents_of_the_group_are_replaced(self, store: Asked) -> None:
        old = [document("old", scope=one) for one in NEIGHBOURS]
        for one in old:
            await store.add(one)
        await store.add(document("new"), replaces=[one[0].document_id for one in old])
        found = [await store.one(within(one)) for one in NEIGHBOURS]
        assert found == [one[0] for one in old]

    async def test_validity_is_a_condition(self, store: Asked) -> None:
        await store.add(document("now"))
        await store.add(document("later", valid_from=later(days=1)))
        await store.add(document("gone", revocation="r"))
        await store.add(document("ended", valid_to=NOON))
        assert await store.texts(within(live_at=NOON)) == ["now"]
        found = await store.find(within(live_at=later(days=2)))
        assert {one.content for one in found.items} == {"now", "later"}
        for hours, texts in ((23, {"now"}), (24, {"now", "later"})):
            which = within(live_at=NOON, ahead=timedelta(hours=hours))
            assert {one.content for one in (await store.find(which)).items} == texts
            hits = await store.by_words(["now", "later"], which, limit=9)
            assert {hit.memory.content for hit in hits} == texts

    async def test_documents_and_subjects_are_conditions(self, store: Asked) -> None:
        subjects = (None, "", "db", "DB", "db2", "None")
        kept = [document(f"text {n}", subject=one) for n, one in enumerate(subjects)]
        for one in kept:
            await store.add(one)
        found = [await store.ids(within(subjects=(one,))) for one in subjects]
        assert found == [[one[0].id] for one in kept]
        assert await store.ids(within(subjects=("db", None))) == [kept[2][0].id, kept[0][0].id]
        assert await store.ids(within(documents=(kept[1][0].document_id, "x"))) == [kept[1][0].id]
        assert await store.ids(within(documents=())) == []

    async def test_what_was_superseded_is_found_by_what_took_its_place(self, store: Asked) -> None:
        first, second, third = (document(f"text {n}", f"more {n}") for n in range(3))
        await store.add(first)
        await store.add(second, replaces=[first[0].document_id])
        await store.add(third, replaces=[second[0].document_id])
        by = (second[0].document_id, third[0].document_id)
        before = [await store.ids(within(superseded_by=(one,))) for one in by]
        assert before == [[one.id for one in some[::-1]] for some in (first, second)]
        assert await store.ids(within(superseded_by=by)) == [*before[1], *before[0]]
        assert await store.ids(within(superseded_by=("x",))) == []
        assert await store.ids(within(superseded_by=())) == []
        which = within(superseded_by=by[:1])
        await store.edit(which, lambda one: replace(one, superseded_by=None))
        assert await store.ids(which) == []

    async def test_one_text_from_eight_workers_is_one_document(
        self, store: Asked, opened: OpenStore
    ) -> None:
        found: list[list[Memory]] = []

        async def add(_: int, mine: Asked) -> None:
            found.append(await mine.add(document("one", "two"), [[1, 0, 0], None], FLAT))

        await self.at_work(self.workers(store, opened), add)
        assert len(found) == WORKERS
        assert all(some == found[0] for some in found)
        assert (await store.find(within())).total == 2
        assert await store.spaces() == {FLAT: 1}

    async def test_a_document_is_seen_whole_and_there_is_always_a_current_one(
        self, store: Asked, opened: OpenStore
    ) -> None:
        chain = [document(f"{n} a", f"{n} b", f"{n} c", subject="s") for n in range(6)]
        await store.add(chain[0])

        async def work(me: int, mine: Asked) -> None:
            for old, new in pairwise(chain):
                if me == 0:
                    await mine.add(new, replaces=[old[0].document_id])
                else:
                    live = await mine.find(within(live_at=later(days=1), subjects=("s",)))
                    assert len({one.document_id for one in live.items}) == 1
                    assert live.total == 3
                    assert len(await mine.texts(within())) % 3 == 0

        await self.at_work(self.workers(store, opened), work)
        assert (await store.find(within())).total == 18

    async def test_a_memory_is_found_by_every_promotion_that_it_stands_on(
        self, store: Asked
    ) -> None:
        (one,) = document("one")
        made = Provenance(Origin("agent", "second"), ("e2",), (Origin("user", "bob"),))
        ground = PromotionRecord(
            scope=ACME, provenance=made, promoted_by="bob", promoted_at=later(hours=1),
            revocations=("r1", "r2"),
        )  # fmt: skip
        await store.add([replace(one, further=(ground,))])
        for condition in (
            {"root": "user:bob"},
            {"made_of": ("e2", "e9")},
            {"root": "agent:helper"},
        ):
            assert (await store.one(within(**condition))).further == (ground,)
        await store.edit(within(), lambda memory: replace(memory, further=()))
        assert (await store.find(within(root="user:bob"))).total == 0
        assert (await store.find(within(made_of=("e2",)))).total == 0
        await store.edit(within(), lambda memory: replace(memory, further=(ground,)))
        assert await store.one(within(made_of=("e2",))) == replace(one, further=(ground,))

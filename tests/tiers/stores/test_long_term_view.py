"""What long-term memory does above its stores: documents that replace others, ranking by words."""

from __future__ import annotations

import pytest

from memoryware.errors import EmbeddingMismatch
from memoryware.testing._store import FLAT, NOON, StoreProxy, StoreSuite, document, later, within
from memoryware.testing._store_words import by_words
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.sqlite import sqlite_stores


class TestLongTermView(StoreSuite):
    """Over a store in plain Python, and over one that searches by itself."""

    tier = "long_term"

    @pytest.fixture(params=["embedded", "sqlite"])
    def open_stores(self, request, tmp_path):
        if request.param == "embedded":
            return embedded
        return lambda: sqlite_stores(tmp_path / "memory.db")

    async def test_a_document_ends_where_another_takes_its_place(self, store: StoreProxy) -> None:
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

    async def test_what_has_ended_is_not_ended_again(self, store: StoreProxy) -> None:
        old, first = document("old"), document("first", valid_from=later(days=1))
        await store.add(old)
        await store.add(first, replaces=[old[0].document_id])
        second = document("second", valid_from=later(days=2))
        assert await store.add(second, replaces=[old[0].document_id]) == second
        ended = await store.find_one(within(documents=(old[0].document_id,)))
        assert (ended.valid_to, ended.superseded_by) == (later(days=1), first[0].document_id)

    async def test_several_documents_are_replaced_and_no_other(self, store: StoreProxy) -> None:
        old = [document(f"old {n}", agent=agent) for n, agent in enumerate((None, "a", None))]
        for one in old:
            await store.add(one, [[1, 0, 0]], FLAT)
        ids = [one[0].document_id for one in old[:2]]
        await store.add(document("new"), replaces=[*ids, "nobody's"])
        found = {one.content: one.valid_to for one in (await store.find(within())).items}
        assert found == {"old 0": NOON, "old 1": NOON, "old 2": None, "new": None}
        assert await store.spaces() == {FLAT: 3}
        assert await store.by_words(["0"], within(live_at=NOON), limit=5) == []
        assert len(await store.by_words(["0"], within(), limit=5)) == 1

    async def test_a_known_text_replaces_nothing(self, store: StoreProxy) -> None:
        old, same = document("old"), document("same")
        await store.add(old)
        await store.add(same)
        await store.add(document("same"), replaces=[old[0].document_id])
        assert (await store.find_one(within(documents=(old[0].document_id,)))).valid_to is None

    async def test_a_failed_document_has_ended_no_other(self, store: StoreProxy) -> None:
        old = document("old")
        await store.add(old)
        with pytest.raises(EmbeddingMismatch):
            await store.add(document("new"), [[1, 0]], FLAT, replaces=[old[0].document_id])
        assert (await store.find_one(within())).valid_to is None

    async def test_one_word_is_enough_and_more_are_better(self, store: StoreProxy) -> None:
        for text in ("green tea at four", "green door", "black coffee"):
            await store.add(document(text))
        assert await by_words(store, "Green TEA") == ["green tea at four", "green door"]
        assert await by_words(store, "nothing of it") == []
        assert await by_words(store, "") == []

    async def test_a_rare_word_counts_more_than_a_common_one(self, store: StoreProxy) -> None:
        for n in range(8):
            await store.add(document(f"common talk number {n}"))
        await store.add(document("rare talk here once"))
        assert (await by_words(store, "common rare"))[0] == "rare talk here once"

    async def test_a_long_text_does_not_win_by_its_length(self, store: StoreProxy) -> None:
        await store.add(document("tea " + "and much more besides " * 30))
        await store.add(document("tea time"))
        assert (await by_words(store, "tea"))[0] == "tea time"

    async def test_a_limit_keeps_the_best(self, store: StoreProxy) -> None:
        for n in range(12):
            await store.add(document("tea " * (n + 1) + "cup " * (12 - n)))
        best = await by_words(store, "tea", limit=12)
        assert len(best) == 12
        assert await by_words(store, "tea", limit=3) == best[:3]
        assert best[0].count("tea") == 12

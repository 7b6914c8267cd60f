"""The suites of quarantine, working memory and long-term memory."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.testing._store import (
    ACME,
    FLAT,
    NASTY,
    NEIGHBOURS,
    NOON,
    WORKERS,
    OpenStore,
    StoreProxy,
    StoreSuite,
    choose_all,
    document,
    entry,
    later,
    make_query,
    runs,
    within,
)
from memoryware.testing._store_records import (
    BulkLoadConformance,
    RecordConformance,
    TransactionConformance,
)
from memoryware.testing._store_search import SearchConformance
from memoryware.testing._store_select import PageConformance, SelectConformance
from memoryware.testing._store_words import (
    VectorConformance,
    WordSearchConformance,
    by_vector,
    by_words,
)
from memoryware.tiers.model import Entry, Memory, PromotionRecord
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.scoring import cosine
from memoryware.tiers.text.terms import words_of

# Documents of long-term memory.


class DocumentConformance(StoreSuite):
    """What `add` does."""

    async def test_all_chunks_of_a_document_are_kept(self, store: StoreProxy) -> None:
        chunks = document("one", "two", "three")
        assert await store.add(chunks) == chunks
        results = (await store.find(within(documents=(chunks[0].document_id,)))).items
        assert sorted(results, key=lambda chunk: chunk.chunk_index) == chunks

    async def test_a_document_is_there_as_a_whole_or_not_at_all(self, store: StoreProxy) -> None:
        chunks = document("one", "two", "three")
        with pytest.raises(EmbeddingMismatch):
            await store.add(chunks, [[1, 0, 0], [0, 1, 0], [1, 0]], FLAT)
        assert (await store.find(within())).total == 0
        assert await store.by_words(words_of("one two three"), within(), limit=5) == []
        assert await store.spaces() == {}
        assert await store.add(chunks, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], FLAT) == chunks

    async def test_vectors_that_are_not_one_for_each_chunk_are_refused(
        self, store: StoreProxy
    ) -> None:
        for vectors in ([[1, 0, 0]], [[1, 0, 0]] * 3, [None]):
            with pytest.raises(ValueError):
                await store.add(document("one", "two"), vectors, FLAT)
        assert (await store.find(within())).total == 0
        assert await store.spaces() == {}

    async def test_the_same_text_is_there_once(self, store: StoreProxy) -> None:
        first = document("one", "two")
        await store.add(first)
        assert await store.add(document("one", "two")) == first
        assert (await store.find(within())).total == 2

    async def test_a_known_text_is_returned_as_it_is_now(self, store: StoreProxy) -> None:
        first = document("one", "two", "three")
        await store.add(first)
        await store.edit(within(), lambda chunk: replace(chunk, metadata={"n": chunk.chunk_index}))
        again = await store.add(document("one", "two", "three"), [None] * 3, FLAT)
        assert [chunk.id for chunk in again] == [chunk.id for chunk in first]
        assert [chunk.metadata for chunk in again] == [{"n": 0}, {"n": 1}, {"n": 2}]

    async def test_the_same_text_of_another_owner_is_another(self, store: StoreProxy) -> None:
        others = [
            document("text", agent="a"),
            document("text", agent="b"),
            *(document("text", scope=scope) for scope in NEIGHBOURS),
        ]
        await store.add(document("text"))
        for other in others:
            assert await store.add(other) == other
            assert await store.add(document("text", scope=other[0].scope)) == other

    async def test_who_asked_makes_no_other_text(self, store: StoreProxy) -> None:
        first = document("text")
        await store.add(first)
        scope = replace(ACME, user_id="bob", session_id="s9", node_id="n")
        assert await store.add(document("text", scope=scope)) == first

    async def test_a_text_that_does_not_hold_anymore_can_come_back(self, store: StoreProxy) -> None:
        await store.add(document("ended", valid_to=later(days=1)))
        await store.add(document("revoked", revocation="r"))
        for text in ("ended", "revoked"):
            again = document(text)
            assert await store.add(again) == again

    async def test_only_documents_of_the_group_are_replaced(self, store: StoreProxy) -> None:
        old = [document("old", scope=scope) for scope in NEIGHBOURS]
        for group_document in old:
            await store.add(group_document)
        await store.add(
            document("new"), replaces=[group_document[0].document_id for group_document in old]
        )
        results = [await store.find_one(within(scope)) for scope in NEIGHBOURS]
        assert results == [group_document[0] for group_document in old]

    async def test_every_chunk_of_every_replaced_document_ends(self, store: StoreProxy) -> None:
        old = [document(f"old {n}", f"more {n}") for n in range(3)]
        for chunks in old:
            await store.add(chunks)
        new = document("new")
        await store.add(new, replaces=[chunks[0].document_id for chunks in old[:2]])
        ended = [(await store.find_one(within(ids=(c.id,)))) for chunks in old for c in chunks]
        assert [record.superseded_by for record in ended if record] == [
            *[new[0].document_id] * 4,
            *[None] * 2,
        ]

    async def test_validity_is_a_condition(self, store: StoreProxy) -> None:
        await store.add(document("now"))
        await store.add(document("later", valid_from=later(days=1)))
        await store.add(document("gone", revocation="r"))
        await store.add(document("ended", valid_to=NOON))
        assert await store.texts(within(live_at=NOON)) == ["now"]
        results = await store.find(within(live_at=later(days=2)))
        assert {record.content for record in results.items} == {"now", "later"}
        for hours, texts in ((23, {"now"}), (24, {"now", "later"})):
            select = within(live_at=NOON, ahead=timedelta(hours=hours))
            assert {record.content for record in (await store.find(select)).items} == texts
            hits = await store.by_words(["now", "later"], select, limit=9)
            assert {hit.memory.content for hit in hits} == texts

    async def test_documents_and_subjects_are_conditions(self, store: StoreProxy) -> None:
        subjects = (None, "", "db", "DB", "db2", "None")
        documents = [document(f"text {n}", subject=subject) for n, subject in enumerate(subjects)]
        for stored in documents:
            await store.add(stored)
        results = [await store.ids(within(subjects=(subject,))) for subject in subjects]
        assert results == [[stored[0].id] for stored in documents]
        assert await store.ids(within(subjects=("db", None))) == [
            documents[2][0].id,
            documents[0][0].id,
        ]
        assert await store.ids(within(documents=(documents[1][0].document_id, "x"))) == [
            documents[1][0].id
        ]
        assert await store.ids(within(documents=())) == []

    async def test_what_was_superseded_is_found_by_what_took_its_place(
        self, store: StoreProxy
    ) -> None:
        first, second, third = (document(f"text {n}", f"more {n}") for n in range(3))
        await store.add(first)
        await store.add(second, replaces=[first[0].document_id])
        await store.add(third, replaces=[second[0].document_id])
        by = (second[0].document_id, third[0].document_id)
        before = [await store.ids(within(superseded_by=(id_,))) for id_ in by]
        assert before == [[chunk.id for chunk in some[::-1]] for some in (first, second)]
        assert await store.ids(within(superseded_by=by)) == [*before[1], *before[0]]
        assert await store.ids(within(superseded_by=("x",))) == []
        assert await store.ids(within(superseded_by=())) == []
        select = within(superseded_by=by[:1])
        await store.edit(select, lambda chunk: replace(chunk, superseded_by=None))
        assert await store.ids(select) == []

    async def test_one_text_from_eight_workers_is_one_document(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        results: list[list[Memory]] = []

        async def add(_: int, mine: StoreProxy) -> None:
            results.append(await mine.add(document("one", "two"), [[1, 0, 0], None], FLAT))

        await self.run_workers(self.workers(store, opened), add)
        assert len(results) == WORKERS
        assert all(some == results[0] for some in results)
        assert (await store.find(within())).total == 2
        assert await store.spaces() == {FLAT: 1}

    async def test_a_document_is_seen_whole_and_there_is_always_a_current_one(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        chain = [document(f"{n} a", f"{n} b", f"{n} c", subject="s") for n in range(6)]
        await store.add(chain[0])

        async def work(me: int, mine: StoreProxy) -> None:
            for old, new in pairwise(chain):
                if me == 0:
                    await mine.add(new, replaces=[old[0].document_id])
                else:
                    live = await mine.find(within(live_at=later(days=1), subjects=("s",)))
                    assert len({chunk.document_id for chunk in live.items}) == 1
                    assert live.total == 3
                    assert len(await mine.texts(within())) % 3 == 0

        await self.run_workers(self.workers(store, opened), work)
        assert (await store.find(within())).total == 18

    async def test_a_memory_is_found_by_every_promotion_that_it_stands_on(
        self, store: StoreProxy
    ) -> None:
        (chunk,) = document("one")
        provenance = Provenance(Origin("agent", "second"), ("e2",), (Origin("user", "bob"),))
        ground = PromotionRecord(
            scope=ACME, provenance=provenance, promoted_by="bob", promoted_at=later(hours=1),
            revocations=("r1", "r2"),
        )  # fmt: skip
        await store.add([replace(chunk, further=(ground,))])
        for condition in (
            {"root": "user:bob"},
            {"made_of": ("e2", "e9")},
            {"root": "agent:helper"},
        ):
            assert (await store.find_one(within(**condition))).further == (ground,)
        await store.edit(within(), lambda memory: replace(memory, further=()))
        assert (await store.find(within(root="user:bob"))).total == 0
        assert (await store.find(within(made_of=("e2",)))).total == 0
        await store.edit(within(), lambda memory: replace(memory, further=(ground,)))
        assert await store.find_one(within(made_of=("e2",))) == replace(chunk, further=(ground,))


# Quarantine.


class QuarantineStoreConformance(
    RecordConformance,
    BulkLoadConformance,
    PageConformance,
    SelectConformance,
    TransactionConformance,
):
    """Every test that a store of tier 1 has to pass.

    Derive a class and override the fixture `open_stores`; set `persistent = False` if the
    stores are empty when they are opened again.
    """

    tier = "quarantine"

    async def test_an_id_is_stored_once_in_its_group(self, store: StoreProxy) -> None:
        first_entry = await store.add(entry("one"))
        with pytest.raises(StoreUnavailable, match="id"):
            await store.add(replace(first_entry, content="two"))
        assert await store.texts(within()) == ["one"]

    async def test_a_key_is_recorded_once(self, store: StoreProxy) -> None:
        first = await store.add(entry("one", key="k"))
        assert await store.add(entry("two", key="k")) == first
        assert await store.ids(within()) == [first.id]

    async def test_a_key_belongs_to_its_tenant_and_group(self, store: StoreProxy) -> None:
        entries = [await store.add(entry(scope=scope, key="k")) for scope in NEIGHBOURS]
        assert len({stored.id for stored in entries}) == len(NEIGHBOURS)
        again = [await store.add(entry(scope=scope, key="k")) for scope in NEIGHBOURS]
        assert again == entries

    async def test_any_text_can_be_a_key(self, store: StoreProxy) -> None:
        entries = [await store.add(entry(key=key)) for key in ("", *NASTY)]
        assert (await store.find(within())).total == len(NASTY) + 1
        assert [await store.add(entry(key=stored.key)) for stored in entries] == entries

    async def test_a_key_does_not_hang_on_who_records(self, store: StoreProxy) -> None:
        first = await store.add(entry("one", key="k"))
        for scope in (
            replace(ACME, user_id="bob"),
            replace(ACME, agent_id="a", session_id="s2", node_id="n"),
        ):
            assert await store.add(entry("two", scope, key="k")) == first

    async def test_an_edited_entry_keeps_its_key(self, store: StoreProxy) -> None:
        first = await store.add(entry("one", key="k"))
        await store.edit(within(), lambda record: replace(record, status="promoted"))
        assert (await store.add(entry("two", key="k"))).id == first.id
        assert (await store.add(entry("two", key="k"))).status == "promoted"

    async def test_an_entry_with_the_key_of_another_is_not_loaded(self, store: StoreProxy) -> None:
        first = await store.add(entry("one", key="k"))
        other, new = entry("two", key="k"), entry("three", key="k2")
        theirs = entry("four", replace(ACME, group_id="other"), key="k")
        assert await store.load([other, new, theirs, entry("five", key="k2")]) == [new, theirs]
        assert await store.texts(within()) == ["three", "one"]
        changed = replace(first, status="promoted")
        assert await store.load([changed]) == [changed]

    async def test_a_loaded_key_is_not_recorded_again(self, store: StoreProxy) -> None:
        first_entry = entry("one", key="k")
        await store.load([first_entry])
        assert await store.add(entry("two", key="k")) == first_entry

    async def test_everything_is_kept(self, store: StoreProxy) -> None:
        for n in range(150):
            await store.add(entry("the same", created_at=later(days=-n)))
        assert (await store.find(within(), limit=1)).total == 150

    async def test_what_was_decided_stays_and_is_found_by_what_it_is_now(
        self, store: StoreProxy
    ) -> None:
        first_entry = await store.add(entry())
        for status in ("proposed", "rejected", "promoted", "revoked", "pending"):
            await store.edit(within(), partial(replace, status=status))
            assert await store.ids(within(statuses=(status,))) == [first_entry.id]
            assert (await store.find_one(within())).status == status

    async def test_the_status_is_a_condition(self, store: StoreProxy) -> None:
        states = ("pending", "proposed", "promoted", "rejected", "revoked")
        entries = {status: await store.add(entry(status, status=status)) for status in states}
        assert await store.ids(within(statuses=("rejected",))) == [entries["rejected"].id]
        both = await store.ids(within(statuses=("pending", "promoted")))
        assert both == [entries["promoted"].id, entries["pending"].id]

    async def test_nothing_expires_by_itself(self, store: StoreProxy) -> None:
        first_entry = await store.add(entry())
        assert await store.ids(within(live_at=later(days=3650))) == [first_entry.id]

    async def test_what_was_revoked_is_not_live(self, store: StoreProxy) -> None:
        await store.add(entry(revocation="r"))
        assert await store.ids(within(live_at=later())) == []

    async def test_one_key_from_eight_workers_is_one_entry(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        stored_keys: set[tuple[str, str]] = set()

        async def add(me: int, mine: StoreProxy) -> None:
            for key in ("a", "b", "c", "d"):
                stored = await mine.add(entry(f"by {me}", key=key))
                stored_keys.add((key, stored.id))

        await self.run_workers(self.workers(store, opened), add)
        assert len(stored_keys) == 4
        assert (await store.find(within())).total == 4

    @pytest.mark.parametrize("seed", range(4))
    async def test_behaves_like_a_list(self, store: StoreProxy, seed: int) -> None:
        dice, model = random.Random(seed), list[Entry]()  # noqa: S311 - a test
        for step in range(60):
            match dice.choice(["add", "add", "add", "edit", "delete"]):
                case "add":
                    key = dice.choice([None, "a", "b"])
                    record = entry(f"step {step}", key=key)
                    existing = [old for old in model if key is not None and old.key == key]
                    assert await store.add(record) == (existing[0] if existing else record)
                    model += [] if existing else [record]
                case "edit" if model:
                    record = dice.choice(model)
                    new = replace(record, refused=f"step {step}")
                    await store.edit(within(ids=(record.id,)), lambda _, new=new: new)
                    model[model.index(record)] = new
                case "delete" if model:
                    record = model.pop(dice.randrange(len(model)))
                    assert await store.delete(within(ids=(record.id,))) == 1
        assert (await store.find(within())).items == model[::-1]


# Working memory.


class WorkingStoreConformance(
    RecordConformance, BulkLoadConformance, PageConformance, SelectConformance
):
    """Every test that a store of tier 2 has to pass.

    Derive a class and override the fixture `open_stores`; set `persistent = False` if the
    stores are empty when they are opened again.
    """

    tier = "working"

    async def test_the_newest_stay_and_come_first(self, store: StoreProxy) -> None:
        entries = [entry(f"text {n}") for n in range(60)]
        for pushed in entries:
            await store.push(pushed, keep=50)
        assert await store.ids(within()) == [pushed.id for pushed in reversed(entries[10:])]

    async def test_a_shorter_list_drops_the_oldest_at_once(self, store: StoreProxy) -> None:
        for n in range(6):
            await store.push(entry(f"{n}"), keep=10)
        await store.push(entry("last"), keep=3)
        assert await store.texts(within()) == ["last", "5", "4"]
        await store.push(entry("only"), keep=1)
        assert await store.texts(within()) == ["only"]

    async def test_the_newest_is_what_was_pushed_last_whatever_its_time(
        self, store: StoreProxy
    ) -> None:
        for n in range(4):
            await store.push(entry(f"{n}", created_at=later(days=-n)), keep=2)
        assert await store.texts(within()) == ["3", "2"]

    async def test_each_group_has_its_own_list(self, store: StoreProxy) -> None:
        for text in ("one", "two"):
            for scope in NEIGHBOURS:
                await store.push(entry(text, scope), keep=1)
        texts_by_scope = {scope: await store.texts(within(scope)) for scope in NEIGHBOURS}
        assert texts_by_scope == {scope: ["two"] for scope in NEIGHBOURS}

    async def test_sessions_and_users_of_a_group_share_its_list(self, store: StoreProxy) -> None:
        for n in range(5):
            await store.push(
                entry(scope=replace(ACME, user_id=f"u{n}", session_id=f"s{n}")), keep=3
            )
        assert (await store.find(within())).total == 3

    async def test_an_entry_pushed_again_is_moved_and_replaced(self, store: StoreProxy) -> None:
        first, second = entry("one"), entry("two")
        for pushed in (first, second, replace(first, content="one again")):
            await store.push(pushed, keep=5)
        records = (await store.find(within())).items
        assert [record.content for record in records] == ["one again", "two"]

    async def test_an_entry_pushed_again_does_not_push_another_out(self, store: StoreProxy) -> None:
        first, second = entry("one"), entry("two")
        for pushed in (first, second, first):
            await store.push(pushed, keep=2)
        assert await store.ids(within()) == [first.id, second.id]
        await store.push(first, keep=2)
        assert await store.ids(within()) == [first.id, second.id]

    async def test_an_entry_pushed_again_is_selected_by_what_it_is_now(
        self, store: StoreProxy
    ) -> None:
        first = entry("one", revocation="r", expires_at=later(hours=1))
        await store.push(first, keep=5)
        await store.push(replace(first, content="two", revocation=None, expires_at=None), keep=5)
        assert await store.ids(within(revocations=("r",))) == []
        assert await store.texts(within(live_at=later(hours=2))) == ["two"]
        assert await store.purge(later(hours=2)) == 0

    async def test_each_entry_expires_after_its_own_time(self, store: StoreProxy) -> None:
        first = entry("first", expires_at=later(hours=24))
        second = entry("second", expires_at=later(hours=47))
        forever = entry("forever")
        for pushed in (first, second, forever):
            await store.push(pushed, keep=5)
        live = [await store.ids(within(live_at=later(hours=hours))) for hours in (23.9, 24, 47)]
        assert live == [[forever.id, second.id, first.id], [forever.id, second.id], [forever.id]]

    async def test_with_renew_the_whole_list_expires_together(self, store: StoreProxy) -> None:
        first = entry("first", expires_at=later(hours=24))
        second = entry("second", expires_at=later(hours=47))
        await store.push(first, keep=5)
        elsewhere = entry(scope=MemoryScope(tenant="t", group_id="b"), expires_at=later(hours=1))
        await store.push(elsewhere, keep=5)
        await store.push(second, keep=5, renew=True)
        assert await store.ids(within(live_at=later(hours=46))) == [second.id, first.id]
        assert (await store.find_one(within(ids=(first.id,)))).expires_at == later(hours=47)
        assert await store.ids(within(elsewhere.scope, live_at=later(hours=2))) == []

    async def test_with_renew_a_list_can_expire_sooner(self, store: StoreProxy) -> None:
        await store.push(entry("one", expires_at=later(hours=9)), keep=5)
        await store.push(entry("two", expires_at=later(hours=1)), keep=5, renew=True)
        assert [record.expires_at for record in (await store.find(within())).items] == [
            later(hours=1)
        ] * 2
        assert await store.purge(later(hours=1)) == 2

    async def test_with_renew_a_list_can_be_kept_for_ever_and_shortened(
        self, store: StoreProxy
    ) -> None:
        for n in range(3):
            await store.push(entry(f"{n}", expires_at=later(hours=n + 1)), keep=5)
        await store.push(entry("ever"), keep=3, renew=True)
        assert [record.expires_at for record in (await store.find(within())).items] == [None] * 3
        await store.push(entry("soon", expires_at=later(hours=1)), keep=5, renew=True)
        assert await store.purge(later(hours=1)) == 4

    async def test_without_renew_nobody_elses_time_changes(self, store: StoreProxy) -> None:
        await store.push(entry("one", expires_at=later(hours=1)), keep=5)
        await store.push(entry("two", expires_at=later(hours=9)), keep=5)
        times = [record.expires_at for record in (await store.find(within())).items]
        assert times == [later(hours=9), later(hours=1)]

    async def test_an_edit_can_change_when_something_expires(self, store: StoreProxy) -> None:
        await store.push(entry("one", expires_at=later(hours=1)), keep=5)
        await store.edit(within(), lambda record: replace(record, expires_at=later(hours=3)))
        assert await store.purge(later(hours=2)) == 0
        assert await store.purge(later(hours=3)) == 1

    async def test_what_was_revoked_is_not_live(self, store: StoreProxy) -> None:
        await store.push(entry(revocation="r"), keep=5)
        assert await store.ids(within(live_at=NOON)) == []
        assert (await store.find(within())).total == 1

    async def test_purge_removes_what_has_expired_everywhere(self, store: StoreProxy) -> None:
        scopes = [ACME, MemoryScope(tenant="u", group_id="b"), MemoryScope(group_id="c")]
        for n, scope in enumerate(scopes):
            await store.push(entry(scope=scope, expires_at=later(hours=n + 1)), keep=5)
            await store.push(entry(scope=scope), keep=5)
        assert await store.purge(later(hours=2)) == 2
        assert [(await store.find(within(scope))).total for scope in scopes] == [1, 1, 2]
        assert await store.purge(later(hours=2)) == 0

    async def test_purge_takes_what_expires_at_that_very_moment(self, store: StoreProxy) -> None:
        await store.push(entry(expires_at=NOON + timedelta(microseconds=1)), keep=5)
        assert await store.purge(NOON) == 0
        assert await store.purge(NOON + timedelta(microseconds=1)) == 1

    async def test_no_push_of_eight_workers_is_lost(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        async def push(me: int, mine: StoreProxy) -> None:
            for n in range(5):
                await mine.push(entry(f"{me} {n}"), keep=30)
                assert (await mine.find(within())).total <= 30

        await self.run_workers(self.workers(store, opened), push)
        texts = await store.texts(within())
        assert len(texts) == 30
        for me in range(WORKERS):
            mine = [int(text.split()[1]) for text in texts if text.startswith(f"{me} ")]
            assert mine == list(range(4, 4 - len(mine), -1))

    async def test_a_reader_never_sees_a_list_that_is_too_long(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        for n in range(3):
            await store.push(entry(f"{n}"), keep=3)
        ended = list[int]()

        async def work(me: int, mine: StoreProxy) -> None:
            if me < 2:
                try:
                    for n in range(5):
                        await mine.push(entry(f"{me} {n}"), keep=3)
                finally:
                    ended.append(me)
            while len(ended) < 2:
                assert (await mine.find(within())).total == 3
                if mine.mode == "native":  # a store in memory lets no other task in by itself
                    await asyncio.sleep(0)

        await self.run_workers(self.workers(store, opened), work)

    async def test_an_entry_that_eight_workers_push_is_there_once(
        self, store: StoreProxy, opened: OpenStore
    ) -> None:
        others = [entry(f"{n}") for n in range(3)]
        for pushed in others:
            await store.push(pushed, keep=5)
        shared = entry("shared")

        async def push(me: int, mine: StoreProxy) -> None:
            for _ in range(3):
                await mine.push(replace(shared, content=f"by {me}"), keep=5)
                assert (await mine.find(within())).total == 4

        await store.push(shared, keep=5)
        await self.run_workers(self.workers(store, opened), push)
        assert await store.ids(within()) == [record.id for record in (shared, *reversed(others))]

    async def test_pushes_and_purges_leave_the_event_loop_free(self, target: Any) -> None:
        if "native" not in self.modes:
            return
        store = StoreProxy(target, "native", self.deadline)
        await store.push(entry(), keep=5)
        with blockbuster_ctx():
            await store.push(entry(expires_at=NOON), keep=2, renew=True)
            await store.push(entry(), keep=2)
            assert await store.purge(NOON) == 1

    @pytest.mark.parametrize("seed", range(4))
    async def test_behaves_like_a_short_list(self, store: StoreProxy, seed: int) -> None:
        dice, model = random.Random(seed), list[Entry]()  # noqa: S311 - a test
        for step in range(60):
            match dice.choice(["push", "push", "again", "delete", "purge"]):
                case "push":
                    record = entry(f"step {step}", expires_at=later(hours=dice.randrange(1, 100)))
                    await store.push(record, keep=6)
                    model = [record, *model][:6]
                case "again" if model:
                    record = replace(dice.choice(model), content=f"again {step}")
                    await store.push(record, keep=6)
                    model = [record, *(old for old in model if old.id != record.id)]
                case "delete" if model:
                    record = model.pop(dice.randrange(len(model)))
                    assert await store.delete(within(ids=(record.id,))) == 1
                case "purge":
                    now = later(hours=step)
                    left = [old for old in model if old.expires_at and old.expires_at > now]
                    assert await store.purge(now) == len(model) - len(left)
                    model = left
        assert (await store.find(within())).items == model


# Long-term memory.


class LongTermStoreConformance(
    DocumentConformance,
    WordSearchConformance,
    VectorConformance,
    SearchConformance,
    RecordConformance,
    BulkLoadConformance,
    PageConformance,
    SelectConformance,
    TransactionConformance,
):
    """Every test that a store of tier 3 has to pass.

    Derive a class and override the fixture `open_stores`; set `persistent = False` if the
    stores are empty when they are opened again.
    """

    tier = "long_term"

    async def test_an_id_is_stored_once_in_its_group(self, store: StoreProxy) -> None:
        (chunk,) = document("one")
        await store.add([chunk], [[1, 0, 0]], FLAT)
        (new, other), twice = document("two", "three"), replace(chunk, content_hash="another")
        for some in ([new, twice], [new, replace(other, id=new.id)]):
            with pytest.raises(StoreUnavailable, match="id"):
                await store.add(some, [[0, 1, 0]] * 2, FLAT)
        assert await store.texts(within()) == ["one"]
        assert await by_vector(store, [1, 0, 0]) == [("one", 1.0)]

    async def test_searches_leave_the_event_loop_free(self, target: Any) -> None:
        if "native" not in self.modes:
            return
        store = StoreProxy(target, "native", self.deadline)
        await store.add(document("warm up"), [[0, 1, 0]], FLAT)
        with blockbuster_ctx():
            (chunk,) = document("green tea")
            await store.add([chunk], [[1, 0, 0]], FLAT, replaces=["nothing"])
            assert await store.add(document("green tea")) == [chunk]
            assert await by_words(store, "tea") == ["green tea"]
            assert (await by_vector(store, [1, 0, 0]))[0] == ("green tea", 1.0)
            assert runs(
                await store.search(make_query("tea", [1, 0, 0], limit=1), within(), choose_all)
            ) == [["green tea"]]
            assert await store.unembedded(FLAT, limit=5) == []
            assert await store.put_vectors([(chunk, [0, 0, 1])], FLAT) == 1
            with pytest.raises(EmbeddingMismatch):
                await store.put_vectors([(chunk, [1])], FLAT)
            await store.adopt(FLAT, drop_others=True)
            assert await store.spaces() == {FLAT: 2}

    @pytest.mark.parametrize("seed", range(4))
    async def test_behaves_like_a_dictionary(self, store: StoreProxy, seed: int) -> None:
        dice, model = random.Random(seed), _Model()  # noqa: S311 - dice, not a secret
        for step in range(60):
            await _step(store, dice, model, step)
            if step % 15 == 14:
                await self._agree(store, model)

    async def _agree(self, store: StoreProxy, model: _Model) -> None:
        records, vectors = model.records, model.vectors
        assert (await store.find(within())).items == [*records.values()][::-1]
        live = {record.id for record in records.values() if record.holds_at(NOON)}
        for word in ("tea", "milk", "more"):
            hits = await store.by_words([word], within(live_at=NOON), limit=99)
            having = {id_ for id_ in live if word in records[id_].content.split()}
            assert {hit.memory.id for hit in hits} == having
        hits = await store.by_vector([1, 0, 0], within(), space=FLAT, limit=99)
        assert {hit.memory.id: hit.value for hit in hits} == pytest.approx(
            {id_: cosine((1, 0, 0), vectors[id_]) for id_ in vectors}, abs=0.01
        )
        missing = [record.id for record in await store.unembedded(FLAT, limit=99)]
        assert missing == [id_ for id_ in records if id_ not in vectors]
        assert await store.spaces() == ({FLAT: len(vectors)} if model.space_known else {})


@dataclass
class _Model:
    """Long-term memory as two dictionaries."""

    records: dict[str, Memory] = field(default_factory=dict)
    vectors: dict[str, tuple[float, ...]] = field(default_factory=dict)
    space_known: bool = False
    """Whether there ever was a vector."""

    def same_as(self, new: Memory) -> list[Memory]:
        return [
            record
            for record in self.records.values()
            if record.content_hash == new.content_hash
            and record.valid_to is None
            and not record.revocation
        ]

    def current(self, documents: list[str]) -> list[Memory]:
        records = self.records.values()
        return [
            record
            for record in records
            if record.document_id in documents and record.valid_to is None
        ]

    def put(self, id_: str, vector: tuple[float, ...] | None) -> None:
        if vector is not None:
            self.vectors[id_], self.space_known = vector, True


async def _step(store: StoreProxy, dice: random.Random, model: _Model, step: int) -> None:
    """Take one step in the store and in its model."""
    some = dice.choice([*model.records.values()]) if model.records else None
    vector = dice.choice([None, (1.0, float(step), 0.0), (float(-step), 1.0, 1.0)])
    match dice.choice(["add", "add", "replace", "change", "revoke", "vector", "delete"]):
        case "add" | "replace" as action:
            new = document(f"{dice.choice(['tea', 'milk'])} {dice.randrange(8)}", f"more {step}")
            new = [replace(record, content_hash=new[0].content) for record in new]
            old = [some.document_id] if some and action == "replace" else []
            existing = model.same_as(new[0])
            assert await store.add(new, [vector, None], FLAT, replaces=old) == (existing or new)
            if not existing:
                for record in [
                    record for record in model.records.values() if record.document_id in old
                ]:
                    if record.valid_to is not None:
                        continue
                    ended = replace(record, valid_to=NOON, superseded_by=new[0].document_id)
                    model.records[record.id] = ended
                model.records |= {record.id: record for record in new}
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

"""What a search sees of memories, and which of them it reads."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memoryware._twins import finish
from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.testing._documents import FLAT, OTHER, document
from memoryware.testing._guarded import Door
from memoryware.testing._sights import asking, everything, nothing, runs, seen_of, texts
from memoryware.testing._threads import in_thread
from memoryware.testing._tiers import (
    ACME,
    NEIGHBOURS,
    Asked,
    OpenStore,
    later,
    memory,
    within,
)
from memoryware.testing.sight_threads import SightThreadsConformance
from memoryware.tiers.stores.protocol import Query, Seen, Select, Sight, Space
from memoryware.tiers.text.terms import words_of

EAST, NORTH, WEST = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]


class SightsConformance(SightThreadsConformance):
    """What `search` sees, counts and reads."""

    # What is seen.

    async def test_a_text_is_seen_with_its_counts_and_its_size(self, store: Asked) -> None:
        kept = ("tea and tea and milk", "milk and bread", "nothing of it")
        for text in kept:
            await store.add(document(text))
        found = await store.search(asking("milk tea cheese"), within(), everything)
        assert seen_of(found) == {
            kept[0]: Seen((1, 2, 0), len(words_of(kept[0]))),
            kept[1]: Seen((1, 0, 0), len(words_of(kept[1]))),
        }
        assert found.sight.having == (2, 1, 0)
        again = await store.search(asking("cheese tea milk"), within(), everything)
        assert again.sight.having == (0, 1, 2)
        assert seen_of(again)[kept[0]].counts == (0, 2, 1)

    async def test_a_text_is_seen_with_its_cosine(self, store: Asked) -> None:
        vectors = {"east": EAST, "north-east": [3.0, 3.0, 0.0], "north": NORTH, "west": WEST}
        for text, vector in vectors.items():
            await store.add(document(text), [vector], FLAT)
        await store.add(document("nowhere"), [[0.0, 0.0, 0.0]], FLAT)
        found = await store.search(asking(vector=[10.0, 0.0, 0.0]), within(), everything)
        near = {text: one.similarity for text, one in seen_of(found).items()}
        wanted = {"east": 1.0, "north-east": 0.7071, "north": 0.0, "west": -1.0, "nowhere": 0.0}
        assert near == pytest.approx(wanted, abs=0.01)
        assert found.sight.having == ()

    async def test_the_best_by_words_and_the_nearest_are_seen(self, store: Asked) -> None:
        for n in range(6):
            text = "tea " * (n + 1) + "cup " * (6 - n) + f"n{n}"
            await store.add(document(text), [[float(6 - n), float(n), 0.0]], FLAT)
        query = asking("tea", EAST, limit=2, reach=0)
        best = await store.by_words([*query.words], within(), limit=2)
        near = await store.by_vector(EAST, within(), space=FLAT, limit=2)
        found = await store.search(query, within(), everything)
        wanted = {hit.memory.content for hit in [*best, *near]}
        assert {*texts(found)} == wanted
        assert len(wanted) == 4
        assert all(one.similarity is not None for one in found.sight.seen)
        for limit in (0, 1, 99):
            query = asking("tea", EAST, limit=limit, reach=0)
            found = await store.search(query, within(), everything)
            assert len(found.sight.seen) == min(6, 2 * limit)

    async def test_of_equal_texts_the_newest_are_seen(self, store: Asked) -> None:
        kept = [memory("tea", content_hash=f"h{n}", created_at=later(days=9 - n)) for n in range(6)]
        await store.load(kept)
        await store.put_vectors([(one, EAST) for one in kept], FLAT)
        for query in (asking("tea", limit=2), asking(vector=EAST, limit=2)):
            found = await store.search(query, within(), everything)
            seen = {one.id for one in found.memories.values()}
            assert seen == {kept[4].id, kept[5].id}, "stored last, whatever their dates say"

    @pytest.mark.parametrize(
        "odd", ['"', "tea OR", "a b", "", "tea*", "\x00", "\ud800", "x" * 3000, "'", "NOT"]
    )
    async def test_a_word_that_no_text_can_have_finds_nothing(self, store: Asked, odd: str) -> None:
        await store.add(document("a tea"))
        for words, at in (([odd, "tea"], 1), (["tea", odd], 0)):
            found = await store.search(Query(words=words), within(), everything)
            assert texts(found) == ["a tea"]
            assert (found.sight.having[at], found.sight.having[1 - at]) == (1, 0)
        alone = await store.search(Query(words=[odd]), within(), everything)
        assert (len(alone.sight.seen), alone.sight.having, alone.sight.count) == (0, (0,), 1)

    async def test_any_number_of_words_is_counted(self, store: Asked) -> None:
        words = [f"w{n}" for n in range(90)]
        for start in (0, 30, 60):
            await store.add(document(" ".join([*words[start : start + 30], "w0"])))
        found = await store.search(asking(" ".join(words)), within(), everything)
        assert found.sight.having == (3, *[1] * 89)
        counts = sorted(one.counts for one in found.sight.seen)
        assert [sum(one) for one in counts] == [31, 31, 31]
        for which in (Select(tenant="t"), Select(tenant="t", groups=("acme", "b", "c"))):
            again = await store.search(asking(" ".join(words)), which, everything)
            assert sorted(one.counts for one in again.sight.seen) == counts

    # What is counted.

    async def test_everything_of_the_group_is_counted(self, store: Asked) -> None:
        await store.add(document("tea one", agent="a"))
        await store.add(document("tea two and more words", revocation="r"))
        await store.add(document("milk", valid_to=later(hours=1)))
        await store.add(document("tea of strangers", scope=replace(ACME, group_id="other")))
        which = within(agents=("a",), live_at=later(hours=2))
        found = await store.search(asking("tea milk"), which, everything)
        sight = found.sight
        assert texts(found) == ["tea one"]
        assert (sight.having, sight.count) == ((2, 1), 3)
        assert sight.mean == pytest.approx((2 + 5 + 1) / 3)
        for query in (asking("tea milk", limit=0), asking("tea milk", reach=0, thread=0)):
            again = (await store.search(query, which, nothing)).sight
            assert (again.having, again.count) == (sight.having, sight.count)
            assert again.mean == pytest.approx(sight.mean)

    async def test_several_groups_and_a_whole_tenant_are_counted(self, store: Asked) -> None:
        for group in ("a", "b", None):
            scope = MemoryScope(tenant="t", group_id=group)
            await store.add(document(f"tea of {group}", "more", scope=scope))
        await store.add(document("tea", scope=MemoryScope(tenant="u", group_id="a")))
        cases: tuple[tuple[Select, int], ...] = (
            (Select(tenant="t"), 3),
            (Select(tenant="t", groups=("a", None)), 2),
            (Select(tenant="t", groups=("a", "nobody")), 1),
            (Select(tenant="t", groups=("nobody",)), 0),
            (Select(tenant="t", groups=()), 0),
            (Select(), 0),
        )
        for which, count in cases:
            found = await store.search(asking("tea", reach=0), which, everything)
            assert (len(found.sight.seen), found.sight.having) == (count, (count,)), which
            assert found.sight.count == 2 * count
            assert found.sight.mean == (2.0 if count else 0.0)

    async def test_edits_and_deletes_are_counted(self, store: Asked) -> None:
        chunks = document("green tea", "green door", "red door")
        await store.add(chunks, [EAST] * 3, FLAT)
        await store.edit(within(ids=(chunks[0].id,)), lambda old: replace(old, content="a gate"))
        query = asking("green tea gate", EAST)
        found = await store.search(query, within(), everything)
        seen = seen_of(found)
        assert seen["a gate"] == Seen((0, 0, 1), 2, None), "its vector was of another text"
        assert found.sight.having == (1, 0, 1)
        assert runs(found) == [["a gate", "green door", "red door"]]
        await store.delete(within(ids=(chunks[1].id,)))
        after = await store.search(query, within(), everything)
        assert after.sight.having == (0, 0, 1)
        assert (after.sight.count, after.sight.mean) == (2, 2.0)
        assert runs(after) == [["a gate", "red door"]]
        (new,) = document("green tea anew", valid_from=later(days=1))
        await store.add([new], replaces=[chunks[0].document_id])
        now = await store.search(query, within(live_at=later(days=2)), everything)
        assert texts(now) == ["green tea anew"]
        assert now.sight.count == 3

    # Whose it is, and what fits.

    async def test_nothing_of_strangers_is_seen(self, store: Asked) -> None:
        one = memory("tea")
        kept = [
            replace(one, scope=replace(scope, session_id="s"), content=f"tea {place}")
            for place, scope in enumerate(NEIGHBOURS)
        ]
        beside = [replace(mine, id="beside", content=f"{mine.content} beside") for mine in kept]
        await store.load([*kept, *beside])
        await store.put_vectors([(mine, EAST) for mine in kept], FLAT)
        for place, scope in enumerate(NEIGHBOURS):
            for sessions in (False, True):
                query = asking(f"tea {place}", EAST, sessions=sessions)
                found = await store.search(query, within(scope), everything)
                assert runs(found) == [[f"tea {place}", f"tea {place} beside"]], scope
                assert (found.sight.count, found.sight.having) == (2, (2, 2)), scope

    async def test_threads_of_several_groups_stay_apart(self, store: Asked) -> None:
        one = memory("tea 1")
        kept = []
        for n in range(3):
            for group in "abc":
                scope = MemoryScope(tenant="t", group_id=group, session_id="s")
                kept.append(replace(one, id=f"{n}", scope=scope, content=f"{group} {n}"))
        await store.load(kept)
        for sessions in (False, True):
            query = asking("1", sessions=sessions, reach=1, thread=6)
            found = await store.search(query, Select(tenant="t", groups=("a", "c")), everything)
            assert runs(found) == [["a 0", "a 1", "a 2"], ["c 0", "c 1", "c 2"]]
            found = await store.search(replace(query, thread=9), Select(tenant="t"), everything)
            assert runs(found) == [[f"{group} {n}" for n in range(3)] for group in "abc"]
            query = asking("a 2", sessions=sessions, reach=1, thread=3)
            found = await store.search(replace(query, limit=1), Select(tenant="t"), everything)
            assert runs(found) == [["a 1", "a 2"]]

    async def test_everything_keeps_to_the_selection(self, store: Asked) -> None:
        told: dict[str, dict[str, Any]] = {
            "plain tea": {},
            "bob's tea": {"scope": replace(ACME, user_id="bob", session_id="s2")},
            "agent's tea": {"agent": "a", "created_at": later(days=2)},
            "revoked tea": {"revocation": "r"},
            "old tea": {"valid_to": later(hours=1)},
        }
        first = memory()
        kept = {
            text: replace(memory(text, **more), document_id=first.document_id)
            for text, more in told.items()
        }
        await store.load([*kept.values()])
        await store.put_vectors([(one, EAST) for one in kept.values()], FLAT)
        cases: tuple[tuple[dict[str, Any], set[str]], ...] = (
            ({"live_at": later(hours=1)}, {"plain tea", "bob's tea", "agent's tea"}),
            ({"users": ("bob",)}, {"bob's tea"}),
            ({"sessions": ("s2",)}, {"bob's tea"}),
            ({"sessions": ("s1",), "agents": (None,)}, {"plain tea", "revoked tea", "old tea"}),
            ({"agents": ("a",), "since": later(days=2)}, {"agent's tea"}),
            ({"since": later(days=3)}, set()),
            ({"before": later(days=2), "revocations": ("r",)}, {"revoked tea"}),
            ({"ids": (kept["old tea"].id, "x")}, {"old tea"}),
            ({"documents": ("x",)}, set()),
            ({"contains": "OLD"}, {"old tea"}),
            ({"users": ()}, set()),
            ({"statuses": ("pending",)}, set()),
        )
        for conditions, wanted in cases:
            for query in (asking("tea"), asking(vector=EAST), asking("tea", EAST, sessions=True)):
                found = await store.search(query, within().also(**conditions), everything)
                assert {*texts(found)} == wanted, (conditions, query)
                assert len(found.sight.seen) == len(wanted)

    # What is read.

    @pytest.mark.parametrize("places", [[], [0], [2, 0], [1, 1]])
    async def test_what_is_chosen_is_read_at_its_place(
        self, store: Asked, places: list[int]
    ) -> None:
        chunks = document("tea one", "tea two", "tea three")
        await store.add(chunks)
        await store.edit(within(), lambda old: replace(old, subject="s", metadata={"seen": [1]}))
        whole = await store.search(asking("tea"), within(), everything)
        found = await store.search(asking("tea"), within(), lambda _: places)
        assert found.memories == {place: whole.memories[place] for place in places}
        assert found.sight == whole.sight
        assert [one.subject for one in found.memories.values()] == ["s"] * len({*places})

    async def test_who_chooses_sees_everything_but_texts(self, store: Asked) -> None:
        await store.add(document("tea", "milk"), [EAST, NORTH], FLAT)
        seen: list[Sight] = []

        def choose(sight: Sight) -> Sequence[int]:
            seen.append(sight)
            return [place for place, one in enumerate(sight.seen) if one.counts == (1,)]

        found = await store.search(asking("tea", EAST), within(), choose)
        assert texts(found) == ["tea"]
        assert {one == found.sight for one in seen} == {True}
        assert [(one.counts, one.follows) for one in seen[0].seen] == [((1,), False), ((0,), True)]
        assert (seen[0].count, seen[0].having, seen[0].mean) == (2, (1,), 1.0)

    async def test_an_error_of_who_chooses_comes_out_and_locks_nothing(
        self, store: Asked, opened: OpenStore, door: Door
    ) -> None:
        await store.add(document("tea"))

        def choose(sight: Sight) -> Sequence[int]:
            raise RuntimeError(f"no choice of {len(sight.seen)}")

        async def failing(one: Asked) -> None:
            for _ in range(12):
                with pytest.raises(RuntimeError, match="no choice of 1"):
                    await one.search(asking("tea"), within(), choose)

        over = threading.Event()
        if door == "blocking":
            inside = Asked(store.target, "inline", self.deadline)
            await in_thread(lambda: finish(failing(inside)), self.deadline, over)
        else:
            await failing(store)
        other = Asked(opened(), door, self.deadline) if self.persistent else store
        for one in (store, other):
            await one.edit(within(), lambda old: replace(old, content=f"{old.content} more"))
        over.set()
        found = await store.search(asking("tea"), within(), everything)
        assert texts(found) == ["tea more more"]

    async def test_what_was_read_shares_nothing_with_the_store(self, store: Asked) -> None:
        await store.add(document("tea", metadata={"seen": [1]}))
        for _ in range(2):
            found = await store.search(asking("tea"), within(), everything)
            assert found.memories[0].metadata == {"seen": [1]}
            found.memories[0].metadata["seen"].append(2)

    # Refusals.

    async def test_another_space_than_the_current_one_is_refused(self, store: Asked) -> None:
        await store.add(document("tea"), [EAST], FLAT)
        odd = (
            asking("tea", [1.0, 0.0], OTHER),
            asking("tea", [1.0, 0.0], Space("flat", 2)),
            asking("tea", [1.0, 0.0], FLAT),
            asking(vector=[1.0, 0.0, 0.0, 0.0], space=FLAT),
        )
        for query in odd:
            with pytest.raises(EmbeddingMismatch):
                await store.search(query, within(), everything)
        await store.adopt(OTHER)
        with pytest.raises(EmbeddingMismatch):
            await store.search(asking("tea", EAST), within(), everything)
        found = await store.search(odd[0], within(), everything)
        assert seen_of(found) == {"tea": Seen((1,), 1, None)}
        assert texts(await store.search(asking("tea"), within(), everything)) == ["tea"]

    async def test_vectors_of_another_space_are_not_compared(self, store: Asked) -> None:
        one, two = document("tea", "milk")
        await store.add([one, two], [EAST, None], FLAT)
        await store.put_vectors([(one, WEST), (two, EAST)], Space("twin", 3))
        found = await store.search(asking("tea", EAST), within(), everything)
        near = {text: seen.similarity for text, seen in seen_of(found).items()}
        assert near == {"tea": pytest.approx(1.0, abs=0.01), "milk": None}

    async def test_a_space_that_nobody_knows_yet_finds_nothing(self, store: Asked) -> None:
        await store.add(document("tea"))
        found = await store.search(asking("tea", EAST), within(), everything)
        assert seen_of(found) == {"tea": Seen((1,), 1, None)}
        assert not (await store.search(asking(vector=EAST), within(), everything)).sight.seen

    async def test_a_closed_store_sees_nothing(self, store: Asked) -> None:
        await store.add(document("tea"))
        await store.close()
        with pytest.raises(StoreUnavailable):
            await store.search(asking("tea"), within(), everything)

    async def test_what_is_seen_is_there_when_the_store_is_opened_again(
        self, opened: OpenStore, door: Door
    ) -> None:
        first = Asked(opened(), door, self.deadline)
        await first.add(document("green tea", "and milk"), [EAST, NORTH], FLAT)
        query = asking("tea", EAST)
        before = await first.search(query, within(), everything)
        await first.close()
        again = Asked(opened(), door, self.deadline)
        found = await again.search(query, within(), everything)
        assert (found == before) if self.persistent else not found.sight.seen

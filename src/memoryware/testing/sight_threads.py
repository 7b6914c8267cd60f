"""What a search sees beside what it has found."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any, Final

import pytest

from memoryware.scope import MemoryScope
from memoryware.testing._documents import FLAT, document
from memoryware.testing._sights import asking, everything, runs
from memoryware.testing._tiers import ACME, NOON, Asked, TierSuite, later, memory, within
from memoryware.tiers.model import Memory
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores.protocol import Query, Searched, Select
from memoryware.tiers.stores.selecting import Item, fits, look, thread_of
from memoryware.tiers.text.terms import words_of

EAST: Final = [1.0, 0.0, 0.0]
_BROKEN: Final = ("a\x00b", "a\x00c", "\ud800", "\udc00")
"""What may be in the id of a document only; a scope refuses it."""
_ODD: Final = (
    *("'", '"', "%", "_", "\x01", "\x01\x02", "s ", " "),
    *("\x01\\ud800", "a\\u0000b", "S", "s", "Ä", "A\u0308", "null", "0", "None", "[]", "{}"),
)
"""Names of threads that a careless store mixes up."""


def chunks(count: int, **more: Any) -> list[Memory]:
    """Return a document of so many numbered chunks."""
    return document(*(f"n{n}" for n in range(count)), **more)


class SightThreadsConformance(TierSuite):
    """What stands beside what `search` has found."""

    async def test_chunks_beside_a_hit_are_seen(self, store: Asked) -> None:
        await store.add(chunks(10))
        cases: tuple[tuple[str, int, list[list[int]]], ...] = (
            ("n4", 2, [[2, 3, 4, 5, 6]]),
            ("n4", 1, [[3, 4, 5]]),
            ("n4", 99, [[*range(10)]]),
            ("n0", 2, [[0, 1, 2]]),
            ("n9", 2, [[7, 8, 9]]),
            ("n2 n5", 1, [[1, 2, 3, 4, 5, 6]]),
            ("n2 n6", 1, [[1, 2, 3], [5, 6, 7]]),
            ("n2 n4", 1, [[1, 2, 3, 4, 5]]),
            ("n2 n3 n7", 0, [[2], [3], [7]]),
        )
        for asked, reach, wanted in cases:
            found = await store.search(asking(asked, reach=reach), within(), everything)
            assert runs(found) == [[f"n{n}" for n in run] for run in wanted], (asked, reach)

    async def test_what_is_beside_a_near_text_is_seen_with_its_own_cosine(
        self, store: Asked
    ) -> None:
        vectors = [[float(n - 4), 1.0, 0.0] for n in range(5)]
        await store.add(chunks(5), [*vectors[:3], None, [3.0, 0.0, 0.0]], FLAT)
        query = asking("n2", EAST, limit=1, reach=1)
        found = await store.search(query, within(), everything)
        assert runs(found) == [["n1", "n2", "n3", "n4"]]
        near = [one.similarity for one in found.sight.seen]
        assert near[:2] == pytest.approx([-3 / 10**0.5, -2 / 5**0.5], abs=0.01)
        assert near[2:] == [None, pytest.approx(1.0, abs=0.01)]
        assert [one.counts for one in found.sight.seen] == [(0,), (1,), (0,), (0,)]

    async def test_documents_are_threads_and_sessions_where_these_are_asked_for(
        self, store: Asked
    ) -> None:
        scopes = {name: replace(ACME, session_id=name) for name in ("s1", "s2", None, "")}
        first, second, none, empty = (
            document(f"one of {name}", f"two of {name}", scope=scope)
            for name, scope in scopes.items()
        )
        more = document("three of s1", "four of s1", scope=scopes["s1"])
        await store.load([first[0], second[0], none[0], empty[0], more[0], first[1], none[1]])
        await store.load([more[1], second[1], empty[1]])
        every = asking("one three", reach=1)
        found = await store.search(every, within(), everything)
        by_document = [
            ["one of ", "two of "],
            ["one of None", "two of None"],
            ["one of s1", "two of s1"],
            ["one of s2", "two of s2"],
            ["three of s1", "four of s1"],
        ]
        assert runs(found) == sorted(by_document)
        found = await store.search(replace(every, sessions=True), within(), everything)
        talk = ["one of s1", "three of s1", "two of s1"]
        assert runs(found) == sorted([*by_document[:2], talk, by_document[3]])

    async def test_what_does_not_fit_is_passed_over(self, store: Asked) -> None:
        kept = chunks(8)
        kept[3] = replace(kept[3], revocation="r")
        kept[4] = replace(kept[4], valid_to=later(hours=1))
        kept[5] = replace(kept[5], scope=replace(ACME, agent_id="a"))
        kept[6] = replace(kept[6], created_at=later(days=-9))
        await store.add(kept)
        which = within(live_at=later(hours=2), agents=(None,), since=NOON)
        for sessions in (False, True):
            query = asking("n2", reach=2, sessions=sessions)
            found = await store.search(query, which, everything)
            assert runs(found) == [["n0", "n1", "n2", "n7"]]
            found = await store.search(query, within(agents=("a", None)), everything)
            assert runs(found) == [["n0", "n1", "n2", "n3", "n4"]]
            ids = (kept[0].id, kept[2].id, kept[6].id)
            found = await store.search(query, within(ids=ids), everything)
            assert runs(found) == [["n0", "n2", "n6"]]
            assert not (await store.search(query, within(ids=(kept[7].id,)), everything)).memories

    async def test_the_newest_of_the_threads_are_looked_through(self, store: Asked) -> None:
        await store.add(chunks(9))
        cases: tuple[tuple[int, list[list[int]]], ...] = (
            (9, [[0, 1, 2, 3], [5, 6, 7, 8]]),
            (4, [[1], [5, 6, 7, 8]]),
            (2, [[1], [7, 8]]),
            (1, [[1], [7]]),
            (0, [[1], [7]]),
        )
        for thread, wanted in cases:
            for sessions in (False, True):
                query = asking("n1 n7", reach=2, thread=thread, sessions=sessions)
                found = await store.search(query, within(), everything)
                runs_ = [[f"n{n}" for n in run] for run in wanted]
                assert runs(found) == runs_, thread
        await store.add(document("n1 of another", "n2 of another"))
        query = asking("n1", reach=1, thread=2)
        assert runs(await store.search(query, within(), everything)) == [
            ["n1"],
            ["n1 of another", "n2 of another"],
        ]

    async def test_names_of_threads_may_be_any_text(self, store: Asked) -> None:
        names = [*_ODD, *_BROKEN]
        scopes = {name: replace(ACME, session_id=name) for name in _ODD}
        scopes |= {name: replace(ACME, session_id=None) for name in _BROKEN}
        kept = [
            replace(one, document_id=name)
            for n in range(3)
            for place, name in enumerate(names)
            for one in [memory(f"name{place} part{n}", scopes[name])]
        ]
        await store.load(kept)
        for place in range(len(names)):
            for sessions in (False, True):
                query = asking(f"name{place} part1", limit=1, sessions=sessions)
                found = await store.search(query, within(), everything)
                assert runs(found) == [[f"name{place} part{n}" for n in range(3)]], sessions

    async def test_long_names_of_threads_are_not_mixed_up(self, store: Asked) -> None:
        names = ["x" * 300, "x" * 299 + "y", "x" * 301]
        kept = [
            replace(one, document_id=name)
            for n in range(2)
            for place, name in enumerate(names)
            for one in [memory(f"name{place} part{n}", replace(ACME, session_id=name))]
        ]
        await store.load(kept)
        for place in range(len(names)):
            for sessions in (False, True):
                query = asking(f"name{place} part1", limit=1, sessions=sessions)
                found = await store.search(query, within(), everything)
                whole = [f"name{place} part0", f"name{place} part1"]
                assert runs(found) in ([whole], [whole[1:]]), "a name that long may be no thread"

    @pytest.mark.parametrize("seed", range(4))
    async def test_sees_what_the_reference_sees(self, store: Asked, seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - dice, not a secret
        kept = [_some_memory(dice, n) for n in range(200)]
        angles = dice.sample(range(200), 130)
        vectors = {one.id: _turned(at) for one, at in zip(kept, angles, strict=False)}
        dice.shuffle(kept)
        for start in range(0, 200, 50):
            await store.load(kept[start : start + 50])
        made = [(one, vectors[one.id]) for one in kept if one.id in vectors]
        assert await store.put_vectors(made, FLAT) == 130
        for _ in range(25):
            query, which = _some_query(dice), _some_selection(dice, kept)
            found = await store.search(query, which, everything)
            _agree(found, query, which, kept, vectors)


# Dice. Sizes and cosines differ from each other, so that no rounding decides what is seen.


def _turned(place: int) -> list[float]:
    """Return one of 200 vectors whose cosines to the east are as far apart as can be."""
    along = place / 100 - 0.995
    return [along, (1 - along * along) ** 0.5, 0.0]


def _some_memory(dice: random.Random, n: int) -> Memory:
    words = dice.choices(["tea", "milk", "cup", "four", "green"], k=dice.randrange(6))
    filled = [*words, *(["more"] * (n + 6 - len(words)))]
    dice.shuffle(filled)
    scope = MemoryScope(
        tenant="t",
        group_id=dice.choice(["a", "a", "a", "b", None]),
        agent_id=dice.choice([None, None, "x"]),
        session_id=dice.choice([None, "", "s1", "s2", "s3"]),
    )
    one = memory(" ".join(filled), scope, created_at=later(hours=dice.randrange(40)))
    return replace(
        one,
        document_id=f"d{dice.randrange(9)}",
        content_hash=one.id,
        revocation=dice.choice([*[None] * 9, "r"]),
        valid_to=dice.choice([*[None] * 9, later(hours=1)]),
    )


def _some_query(dice: random.Random) -> Query:
    words = ["tea", "milk", "cup", "four", "green", "nothing", "more"]
    vector = dice.choice([None, EAST, [-2.0, 0.0, 0.0]])
    return asking(
        " ".join(dice.sample(words, dice.randrange(4))),
        vector,
        limit=dice.choice([1, 3, 10, 50]),
        reach=dice.choice([0, 1, 3]),
        sessions=dice.choice([True, False]),
        thread=dice.choice([7, 40, 5000]),
    )


def _some_selection(dice: random.Random, kept: list[Memory]) -> Select:
    ids = tuple(one.id for one in dice.sample(kept, 120))
    return Select(
        tenant="t",
        groups=dice.choice([("a",), ("a",), ("a", None), ("b", "a", "nobody"), None]),
        agents=dice.choice([None, (None,), ("x",), (None, "x")]),
        sessions=dice.choice([None, None, ("s1",), ("s1", "s2", None)]),
        documents=dice.choice([None, None, ("d1", "d2", "d3", "d4")]),
        since=dice.choice([None, later(hours=10)]),
        ids=dice.choice([None, None, ids]),
        live_at=dice.choice([None, later(hours=2)]),
    )


def _agree(
    found: Searched,
    query: Query,
    which: Select,
    kept: list[Memory],
    vectors: dict[str, list[float]],
) -> None:
    """Hold what was seen against the reference, thread by thread: these have no order."""
    fitting = [one for one in kept if fits(one, which)]
    items = [_item(one, query, vectors.get(one.id)) for one in fitting]
    every = Select(tenant=which.tenant, groups=which.groups)
    corpus = [Counter(words_of(one.content)) for one in kept if fits(one, every)]
    sight, places = look(items, query, corpus)
    wanted = [fitting[place] for place in places]
    seen = [found.memories[place] for place in range(len(found.sight.seen))]
    told = f"{query} {which}"
    assert found.sight.having == sight.having, told
    assert found.sight.count == sight.count, told
    assert found.sight.mean == pytest.approx(sight.mean), told
    assert _told(seen, found) == _told(wanted, Searched(sight)), told
    near = {one.id: sight.seen[place].similarity for place, one in enumerate(wanted)}
    assert {
        one.id: found.sight.seen[place].similarity for place, one in enumerate(seen)
    } == pytest.approx(near, abs=0.01), told


def _told(memories: list[Memory], found: Searched) -> dict[str, tuple[Any, ...]]:
    """Return of each memory its counts and size, and which one it follows."""
    told = {}
    for place, one in enumerate(memories):
        seen = found.sight.seen[place]
        follows = memories[place - 1].id if seen.follows else None
        told[one.id] = seen.counts, seen.size, follows
    return told


def _item(one: Memory, query: Query, vector: list[float] | None) -> Item:
    words = Counter(words_of(one.content))
    near = None
    if query.vector is not None and vector is not None:
        near = cosine(query.vector, vector)
    return Item(thread_of(one, query), words, words.total(), near)

"""`search`: what it returns, counts and reads, and neighbours in a thread."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from memoryware._runner import run_blocking
from memoryware.errors import EmbeddingMismatch, StoreClosed
from memoryware.scope import MemoryScope
from memoryware.testing._store import (
    ACME,
    FLAT,
    NEIGHBOURS,
    NOON,
    OTHER,
    OpenStore,
    StoreProxy,
    StoreSuite,
    choose_all,
    choose_none,
    document,
    later,
    make_query,
    memory,
    rows_by_text,
    runs,
    texts,
    within,
)
from memoryware.testing._suite import Mode, run_in_thread
from memoryware.tiers.model import Memory
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores.protocol import (
    Query,
    SearchCandidate,
    SearchResult,
    SearchView,
    Select,
    Space,
)
from memoryware.tiers.stores.selecting import (
    IndexedMemory,
    build_view,
    is_selected,
    speaker_key,
    thread_key,
)
from memoryware.tiers.text.terms import terms_of, words_of

# Neighbours in a thread.

EAST: Final = [1.0, 0.0, 0.0]
_BROKEN: Final = ("a\x00b", "a\x00c", "\ud800", "\udc00")
"""What may be in the id of a document only; a scope refuses it."""
_ODD: Final = (
    *("'", '"', "%", "_", "\x01", "\x01\x02", "s ", " "),
    *("\x01\\ud800", "a\\u0000b", "S", "s", "Ä", "A\u0308", "null", "0", "None", "[]", "{}"),
)
"""Names of threads that a careless store mixes up."""


_BY_AGENT: Final = Origin("agent", "helper")
_BY_TOOL: Final = Origin("tool", "search")


def chunks(count: int, **more: Any) -> list[Memory]:
    """Return a document of numbered chunks."""
    return document(*(f"n{n}" for n in range(count)), **more)


class SearchThreadsConformance(StoreSuite):
    """`search`: the neighbours of a hit in its thread."""

    async def test_chunks_beside_a_hit_are_seen(self, store: StoreProxy) -> None:
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
        for words, reach, expected in cases:
            result = await store.search(make_query(words, reach=reach), within(), choose_all)
            assert runs(result) == [[f"n{n}" for n in run] for run in expected], (words, reach)

    async def test_what_is_beside_a_near_text_is_seen_with_its_own_cosine(
        self, store: StoreProxy
    ) -> None:
        vectors = [[float(n - 4), 1.0, 0.0] for n in range(5)]
        await store.add(chunks(5), [*vectors[:3], None, [3.0, 0.0, 0.0]], FLAT)
        query = make_query("n2", EAST, limit=1, reach=1)
        result = await store.search(query, within(), choose_all)
        assert runs(result) == [["n1", "n2", "n3", "n4"]]
        near = [row.similarity for row in result.view.candidates]
        assert near[:2] == pytest.approx([-3 / 10**0.5, -2 / 5**0.5], abs=0.01)
        assert near[2:] == [None, pytest.approx(1.0, abs=0.01)]
        assert [row.counts for row in result.view.candidates] == [(0,), (1,), (0,), (0,)]

    async def test_documents_are_threads_and_sessions_where_these_are_asked_for(
        self, store: StoreProxy
    ) -> None:
        scopes = {name: replace(ACME, session_id=name) for name in ("s1", "s2", None, "")}
        first, second, none, empty = (
            document(f"one of {name}", f"two of {name}", scope=scope)
            for name, scope in scopes.items()
        )
        more = document("three of s1", "four of s1", scope=scopes["s1"])
        await store.load([first[0], second[0], none[0], empty[0], more[0], first[1], none[1]])
        await store.load([more[1], second[1], empty[1]])
        every = make_query("one three", reach=1)
        result = await store.search(every, within(), choose_all)
        by_document = [
            ["one of ", "two of "],
            ["one of None", "two of None"],
            ["one of s1", "two of s1"],
            ["one of s2", "two of s2"],
            ["three of s1", "four of s1"],
        ]
        assert runs(result) == sorted(by_document)
        result = await store.search(replace(every, sessions=True), within(), choose_all)
        talk = ["one of s1", "three of s1", "two of s1"]
        assert runs(result) == sorted([*by_document[:2], talk, by_document[3]])

    async def test_what_does_not_fit_is_passed_over(self, store: StoreProxy) -> None:
        stored = chunks(8)
        stored[3] = replace(stored[3], revocation="r")
        stored[4] = replace(stored[4], valid_to=later(hours=1))
        stored[5] = replace(stored[5], scope=replace(ACME, agent_id="a"))
        stored[6] = replace(stored[6], created_at=later(days=-9))
        await store.add(stored)
        select = within(live_at=later(hours=2), agents=(None,), since=NOON)
        for sessions in (False, True):
            query = make_query("n2", reach=2, sessions=sessions)
            result = await store.search(query, select, choose_all)
            assert runs(result) == [["n0", "n1", "n2", "n7"]]
            result = await store.search(query, within(agents=("a", None)), choose_all)
            assert runs(result) == [["n0", "n1", "n2", "n3", "n4"]]
            ids = (stored[0].id, stored[2].id, stored[6].id)
            result = await store.search(query, within(ids=ids), choose_all)
            assert runs(result) == [["n0", "n2", "n6"]]
            assert not (await store.search(query, within(ids=(stored[7].id,)), choose_all)).memories

    async def test_the_newest_of_the_threads_are_looked_through(self, store: StoreProxy) -> None:
        await store.add(chunks(9))
        cases: tuple[tuple[int, list[list[int]]], ...] = (
            (9, [[0, 1, 2, 3], [5, 6, 7, 8]]),
            (4, [[1], [5, 6, 7, 8]]),
            (2, [[1], [7, 8]]),
            (1, [[1], [7]]),
            (0, [[1], [7]]),
        )
        for thread, expected in cases:
            for sessions in (False, True):
                query = make_query("n1 n7", reach=2, thread=thread, sessions=sessions)
                result = await store.search(query, within(), choose_all)
                runs_ = [[f"n{n}" for n in run] for run in expected]
                assert runs(result) == runs_, thread
        await store.add(document("n1 of another", "n2 of another"))
        query = make_query("n1", reach=1, thread=2)
        assert runs(await store.search(query, within(), choose_all)) == [
            ["n1"],
            ["n1 of another", "n2 of another"],
        ]

    async def test_names_of_threads_may_be_any_text(self, store: StoreProxy) -> None:
        names = [*_ODD, *_BROKEN]
        scopes = {name: replace(ACME, session_id=name) for name in _ODD}
        scopes |= {name: replace(ACME, session_id=None) for name in _BROKEN}
        records = [
            replace(record, document_id=name)
            for n in range(3)
            for number, name in enumerate(names)
            for record in [memory(f"name{number} part{n}", scopes[name])]
        ]
        await store.load(records)
        for number in range(len(names)):
            for sessions in (False, True):
                query = make_query(f"name{number} part1", limit=1, sessions=sessions)
                result = await store.search(query, within(), choose_all)
                assert runs(result) == [[f"name{number} part{n}" for n in range(3)]], sessions

    async def test_long_names_of_threads_are_not_mixed_up(self, store: StoreProxy) -> None:
        names = ["x" * 300, "x" * 299 + "y", "x" * 301]
        records = [
            replace(record, document_id=name)
            for n in range(2)
            for number, name in enumerate(names)
            for record in [memory(f"name{number} part{n}", replace(ACME, session_id=name))]
        ]
        await store.load(records)
        for number in range(len(names)):
            for sessions in (False, True):
                query = make_query(f"name{number} part1", limit=1, sessions=sessions)
                result = await store.search(query, within(), choose_all)
                whole = [f"name{number} part0", f"name{number} part1"]
                assert runs(result) in ([whole], [whole[1:]]), "a name that long may be no thread"

    async def test_other_groups_do_not_decide_the_candidates(self, store: StoreProxy) -> None:
        here = [memory(text) for text in ("rare tea", "common tea", "common cup", "common milk")]
        other = replace(ACME, group_id="elsewhere")
        await store.load([*here, *(memory(f"rare n{number}", other) for number in range(20))])
        query = make_query("rare common", limit=1, reach=0)
        result = await store.search(query, within(), choose_all)
        assert [record.content for record in result.memories.values()] == ["rare tea"]

    async def test_who_said_a_text_is_compared_with_the_one_before(self, store: StoreProxy) -> None:
        saying = [
            ("ann", _BY_AGENT, False),
            ("ann", _BY_TOOL, True),
            ("bob", _BY_TOOL, False),
            ("ann", _BY_AGENT, False),
            ("", _BY_AGENT, False),
            (" ", _BY_AGENT, True),
            (None, _BY_AGENT, True),
            (["ann"], _BY_AGENT, True),
            (None, _BY_TOOL, False),
            (None, Origin("user"), False),
            (None, Origin("user"), True),
            ("user:", _BY_AGENT, True),
            (None, Origin("import", "bundle"), False),
            (None, Origin("import", "bundle"), False),
            ('\U0001f600 "Ann" \\ ü', _BY_AGENT, False),
            ('\U0001f600 "Ann" \\ ü', Origin("import", "bundle"), True),
            (None, Origin("user", '"a" \\ \U0001f600'), False),
            (None, Origin("user", '"a" \\ \U0001f600'), True),
        ]
        records = [
            memory(
                f"n{number}",
                promoted_by="metadata",
                metadata={"metadata": {"speaker": "x"}, "word": '"speaker"'}
                | ({} if speaker is None else {"speaker": speaker})
                | {"more": [{"speaker": "y"}]},
                provenance=Provenance(origin),
            )
            for number, (speaker, origin, _) in enumerate(saying)
        ]
        await store.load(records)
        query = make_query("n0 n6 n12", sessions=True, reach=99)
        result = await store.search(query, within(), choose_all)
        assert _speakers_of(result) == {
            f"n{number}": is_same for number, (_, _, is_same) in enumerate(saying)
        }
        alone = await store.search(replace(query, sessions=False), within(), choose_all)
        assert not any(_speakers_of(alone).values())
        none = await store.search(replace(query, reach=0), within(), choose_all)
        assert not any(_speakers_of(none).values())

    async def test_a_name_at_the_beginning_of_a_text_says_who_said_it(
        self, store: StoreProxy
    ) -> None:
        saying = [
            ("Ann: tea for me", {}, False),
            ("Ann: and four\0cups", {}, True),
            ("Bob: milk as well", {}, False),
            ("Ann:milk is no name", {}, False),  # said by the agent, as all that names nobody
            ("https://milk.example: a page", {}, True),
            (f"{'n' * 41}: is too long for a name", {}, True),
            ("\u5c0f\u660e\uff1a\u6211\u559c\u6b22\u8336", {}, False),
            ("\u5c0f\u660e\uff1a\u6211\u559c\u6b22\u5496\u5561", {}, True),
            ("Ann: green tea", {"speaker": "bob"}, False),
            ("Ann: black tea", {"speaker": "bob"}, True),
        ]
        await store.load(
            [memory(text, metadata=metadata, promoted_by=text) for text, metadata, _ in saying]
        )
        query = make_query("tea milk", sessions=True, reach=99)
        result = await store.search(query, within(), choose_all)
        assert _speakers_of(result) == {text: is_same for text, _, is_same in saying}

    async def test_chunks_of_one_text_are_not_said_again(self, store: StoreProxy) -> None:
        await store.add(chunks(3))
        await store.add(document("m0", "m1"))
        await store.add(document("k0", "k1", metadata={"speaker": "ann"}))
        for sessions in (True, False):
            query = make_query("n0 m0 k0", sessions=sessions, reach=9)
            result = await store.search(query, within(), choose_all)
            expected = dict.fromkeys(("n0", "n1", "n2", "m0", "m1", "k0", "k1"), False)
            assert _speakers_of(result) == expected | {"m0": sessions}

    async def test_speakers_are_compared_past_what_does_not_fit(self, store: StoreProxy) -> None:
        records = [
            memory(f"n{number}", metadata={"speaker": speaker})
            for number, speaker in enumerate("abaab")
        ]
        records[1] = replace(records[1], revocation="r")
        await store.load(records)
        query = make_query("n0", sessions=True, reach=9)
        live = await store.search(query, within(live_at=later(hours=1)), choose_all)
        assert _speakers_of(live) == {"n0": False, "n2": True, "n3": True, "n4": False}
        every = await store.search(query, within(), choose_all)
        assert _speakers_of(every) == dict.fromkeys(("n0", "n1", "n2", "n4"), False) | {"n3": True}

    async def test_a_speaker_may_change(self, store: StoreProxy) -> None:
        query = make_query("n0 n1", sessions=True, reach=9)
        for number in range(3):
            await store.add([memory(f"n{number}", metadata={"speaker": f"s{number}"})])
            await store.search(query, within(), choose_all)
        result = await store.search(query, within(), choose_all)
        assert not any(_speakers_of(result).values())

        def said_by_the_last(old: Memory) -> Memory:
            return replace(old, metadata={"speaker": "s2"} if old.content != "n0" else {})

        await store.edit(within(), said_by_the_last)
        result = await store.search(query, within(), choose_all)
        assert _speakers_of(result) == {"n0": False, "n1": False, "n2": True}
        await store.edit(within(), lambda old: replace(old, provenance=Provenance(_BY_TOOL)))
        await store.edit(within(), lambda old: replace(old, metadata={}))
        result = await store.search(query, within(), choose_all)
        assert _speakers_of(result) == {"n0": False, "n1": True, "n2": True}

    @pytest.mark.parametrize("seed", range(4))
    async def test_sees_what_the_reference_sees(self, store: StoreProxy, seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - dice, not a secret
        records = [_some_memory(dice, n) for n in range(200)]
        angles = dice.sample(range(200), 130)
        vectors = {record.id: _turned(at) for record, at in zip(records, angles, strict=False)}
        dice.shuffle(records)
        for start in range(0, 200, 50):
            await store.load(records[start : start + 50])
        pairs = [(record, vectors[record.id]) for record in records if record.id in vectors]
        assert await store.put_vectors(pairs, FLAT) == 130
        for _ in range(25):
            query, select = _some_query(dice), _some_selection(dice, records)
            result = await store.search(query, select, choose_all)
            _agree(result, query, select, records, vectors)


# Dice. Sizes and cosines differ from each other, so that no rounding decides what is seen.


def _turned(number: int) -> list[float]:
    """Return one of 200 vectors whose cosines to the east are as far apart as can be."""
    along = number / 100 - 0.995
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
    speaker = dice.choice([{}, {"speaker": "ann"}, {"speaker": "bob"}])
    record = memory(" ".join(filled), scope, created_at=later(hours=dice.randrange(40)))
    return replace(
        record,
        document_id=f"d{dice.randrange(9)}",
        content_hash=record.id,
        metadata=speaker,
        provenance=Provenance(dice.choice([_BY_AGENT, _BY_TOOL])),
        revocation=dice.choice([*[None] * 9, "r"]),
        valid_to=dice.choice([*[None] * 9, later(hours=1)]),
    )


def _some_query(dice: random.Random) -> Query:
    words = ["tea", "milk", "cup", "four", "green", "nothing", "more"]
    vector = dice.choice([None, EAST, [-2.0, 0.0, 0.0]])
    return make_query(
        " ".join(dice.sample(words, dice.randrange(4))),
        vector,
        limit=dice.choice([1, 3, 10, 50]),
        reach=dice.choice([0, 1, 3]),
        sessions=dice.choice([True, False]),
        thread=dice.choice([7, 40, 5000]),
    )


def _some_selection(dice: random.Random, records: list[Memory]) -> Select:
    ids = tuple(record.id for record in dice.sample(records, 120))
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
    result: SearchResult,
    query: Query,
    select: Select,
    records: list[Memory],
    vectors: dict[str, list[float]],
) -> None:
    """Compare a result with the reference, thread by thread, as threads have no order."""
    fitting = [record for record in records if is_selected(record, select)]
    items = [_item(record, query, vectors.get(record.id)) for record in fitting]
    every = Select(tenant=select.tenant, groups=select.groups)
    corpus = [Counter(terms_of(record)) for record in records if is_selected(record, every)]
    view, positions = build_view(items, query, corpus)
    expected = [fitting[position] for position in positions]
    read = [result.memories[position] for position in range(len(result.view.candidates))]
    message = f"{query} {select}"
    assert result.view.having == view.having, message
    assert result.view.count == view.count, message
    assert result.view.mean == pytest.approx(view.mean), message
    assert _facts_by_id(read, result) == _facts_by_id(expected, SearchResult(view)), message
    near = {
        record.id: view.candidates[position].similarity for position, record in enumerate(expected)
    }
    assert {
        record.id: result.view.candidates[position].similarity
        for position, record in enumerate(read)
    } == pytest.approx(near, abs=0.01), message


def _facts_by_id(memories: list[Memory], result: SearchResult) -> dict[str, tuple[Any, ...]]:
    """Return of each memory its counts and size, and which one it follows, of the same speaker."""
    facts = {}
    for position, record in enumerate(memories):
        row = result.view.candidates[position]
        follows = memories[position - 1].id if row.follows else None
        facts[record.id] = row.counts, row.size, follows, row.same_speaker
    return facts


def _speakers_of(result: SearchResult) -> dict[str, bool]:
    """Return for each text whether it follows one of the same speaker."""
    return {text: row.same_speaker for text, row in rows_by_text(result).items()}


def _item(record: Memory, query: Query, vector: list[float] | None) -> IndexedMemory:
    words = Counter(terms_of(record))
    near = None
    if query.vector is not None and vector is not None:
        near = cosine(query.vector, vector)
    thread, speaker = thread_key(record, query), speaker_key(record)
    return IndexedMemory(thread, words, words.total(), near, record.document_id, speaker)


# Results, counts and texts.

NORTH: Final = [0.0, 1.0, 0.0]
WEST: Final = [-1.0, 0.0, 0.0]


class SearchConformance(SearchThreadsConformance):
    """`search`: the rows, counts and texts that it returns."""

    # What is seen.

    async def test_a_text_is_seen_with_its_counts_and_its_size(self, store: StoreProxy) -> None:
        contents = ("tea and tea and milk", "milk and bread", "nothing of it")
        for text in contents:
            await store.add(document(text))
        result = await store.search(make_query("milk tea cheese"), within(), choose_all)
        assert rows_by_text(result) == {
            contents[0]: SearchCandidate((1, 2, 0), len(words_of(contents[0]))),
            contents[1]: SearchCandidate((1, 0, 0), len(words_of(contents[1]))),
        }
        assert result.view.having == (2, 1, 0)
        again = await store.search(make_query("cheese tea milk"), within(), choose_all)
        assert again.view.having == (0, 1, 2)
        assert rows_by_text(again)[contents[0]].counts == (0, 2, 1)

    async def test_a_text_is_seen_with_its_cosine(self, store: StoreProxy) -> None:
        vectors = {"east": EAST, "north-east": [3.0, 3.0, 0.0], "north": NORTH, "west": WEST}
        for text, vector in vectors.items():
            await store.add(document(text), [vector], FLAT)
        await store.add(document("nowhere"), [[0.0, 0.0, 0.0]], FLAT)
        result = await store.search(make_query(vector=[10.0, 0.0, 0.0]), within(), choose_all)
        near = {text: row.similarity for text, row in rows_by_text(result).items()}
        expected = {"east": 1.0, "north-east": 0.7071, "north": 0.0, "west": -1.0, "nowhere": 0.0}
        assert near == pytest.approx(expected, abs=0.01)
        assert result.view.having == ()

    async def test_the_best_by_words_and_the_nearest_are_seen(self, store: StoreProxy) -> None:
        for n in range(6):
            text = "tea " * (n + 1) + "cup " * (6 - n) + f"n{n}"
            await store.add(document(text), [[float(6 - n), float(n), 0.0]], FLAT)
        query = make_query("tea", EAST, limit=2, reach=0)
        best = await store.by_words([*query.words], within(), limit=2)
        near = await store.by_vector(EAST, within(), space=FLAT, limit=2)
        result = await store.search(query, within(), choose_all)
        expected = {hit.memory.content for hit in [*best, *near]}
        assert {*texts(result)} == expected
        assert len(expected) == 4
        assert all(row.similarity is not None for row in result.view.candidates)
        for limit in (0, 1, 99):
            query = make_query("tea", EAST, limit=limit, reach=0)
            result = await store.search(query, within(), choose_all)
            assert len(result.view.candidates) == min(6, 2 * limit)

    async def test_of_equal_texts_the_newest_are_seen(self, store: StoreProxy) -> None:
        records = [
            memory("tea", content_hash=f"h{n}", created_at=later(days=9 - n)) for n in range(6)
        ]
        await store.load(records)
        await store.put_vectors([(record, EAST) for record in records], FLAT)
        for query in (make_query("tea", limit=2), make_query(vector=EAST, limit=2)):
            result = await store.search(query, within(), choose_all)
            ids = {record.id for record in result.memories.values()}
            assert ids == {records[4].id, records[5].id}, "stored last, whatever their dates say"

    @pytest.mark.parametrize(
        "odd", ['"', "tea OR", "a b", "", "tea*", "\x00", "\ud800", "x" * 3000, "'", "NOT"]
    )
    async def test_a_word_that_no_text_can_have_finds_nothing(
        self, store: StoreProxy, odd: str
    ) -> None:
        await store.add(document("a tea"))
        for words, at in (([odd, "tea"], 1), (["tea", odd], 0)):
            result = await store.search(Query(words=words), within(), choose_all)
            assert texts(result) == ["a tea"]
            assert (result.view.having[at], result.view.having[1 - at]) == (1, 0)
        alone = await store.search(Query(words=[odd]), within(), choose_all)
        assert (len(alone.view.candidates), alone.view.having, alone.view.count) == (0, (0,), 1)

    async def test_any_number_of_words_is_counted(self, store: StoreProxy) -> None:
        words = [f"w{n}" for n in range(90)]
        for start in (0, 30, 60):
            await store.add(document(" ".join([*words[start : start + 30], "w0"])))
        result = await store.search(make_query(" ".join(words)), within(), choose_all)
        assert result.view.having == (3, *[1] * 89)
        counts = sorted(row.counts for row in result.view.candidates)
        assert [sum(row_counts) for row_counts in counts] == [31, 31, 31]
        for select in (Select(tenant="t"), Select(tenant="t", groups=("acme", "b", "c"))):
            again = await store.search(make_query(" ".join(words)), select, choose_all)
            assert sorted(row.counts for row in again.view.candidates) == counts

    # What is counted.

    async def test_everything_of_the_group_is_counted(self, store: StoreProxy) -> None:
        await store.add(document("tea one", agent="a"))
        await store.add(document("tea two and more words", revocation="r"))
        await store.add(document("milk", valid_to=later(hours=1)))
        await store.add(document("tea of strangers", scope=replace(ACME, group_id="other")))
        select = within(agents=("a",), live_at=later(hours=2))
        result = await store.search(make_query("tea milk"), select, choose_all)
        view = result.view
        assert texts(result) == ["tea one"]
        assert (view.having, view.count) == ((2, 1), 3)
        assert view.mean == pytest.approx((2 + 5 + 1) / 3)
        for query in (make_query("tea milk", limit=0), make_query("tea milk", reach=0, thread=0)):
            again = (await store.search(query, select, choose_none)).view
            assert (again.having, again.count) == (view.having, view.count)
            assert again.mean == pytest.approx(view.mean)

    async def test_several_groups_and_a_whole_tenant_are_counted(self, store: StoreProxy) -> None:
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
        for select, count in cases:
            result = await store.search(make_query("tea", reach=0), select, choose_all)
            assert (len(result.view.candidates), result.view.having) == (count, (count,)), select
            assert result.view.count == 2 * count
            assert result.view.mean == (2.0 if count else 0.0)

    async def test_edits_and_deletes_are_counted(self, store: StoreProxy) -> None:
        chunks = document("green tea", "green door", "red door")
        await store.add(chunks, [EAST] * 3, FLAT)
        await store.edit(within(ids=(chunks[0].id,)), lambda old: replace(old, content="a gate"))
        query = make_query("green tea gate", EAST)
        result = await store.search(query, within(), choose_all)
        rows = rows_by_text(result)
        assert rows["a gate"] == SearchCandidate((0, 0, 1), 2, None), (
            "its vector was of another text"
        )
        assert result.view.having == (1, 0, 1)
        assert runs(result) == [["a gate", "green door", "red door"]]
        await store.delete(within(ids=(chunks[1].id,)))
        after = await store.search(query, within(), choose_all)
        assert after.view.having == (0, 0, 1)
        assert (after.view.count, after.view.mean) == (2, 2.0)
        assert runs(after) == [["a gate", "red door"]]
        (new,) = document("green tea anew", valid_from=later(days=1))
        await store.add([new], replaces=[chunks[0].document_id])
        now = await store.search(query, within(live_at=later(days=2)), choose_all)
        assert texts(now) == ["green tea anew"]
        assert now.view.count == 3

    # Whose it is, and what fits.

    async def test_nothing_of_strangers_is_seen(self, store: StoreProxy) -> None:
        template = memory("tea")
        records = [
            replace(template, scope=replace(scope, session_id="s"), content=f"tea {number}")
            for number, scope in enumerate(NEIGHBOURS)
        ]
        beside = [replace(mine, id="beside", content=f"{mine.content} beside") for mine in records]
        await store.load([*records, *beside])
        await store.put_vectors([(mine, EAST) for mine in records], FLAT)
        for number, scope in enumerate(NEIGHBOURS):
            for sessions in (False, True):
                query = make_query(f"tea {number}", EAST, sessions=sessions)
                result = await store.search(query, within(scope), choose_all)
                assert runs(result) == [[f"tea {number}", f"tea {number} beside"]], scope
                assert (result.view.count, result.view.having) == (2, (2, 2)), scope

    async def test_threads_of_several_groups_stay_apart(self, store: StoreProxy) -> None:
        template = memory("tea 1")
        records = []
        for n in range(3):
            for group in "abc":
                scope = MemoryScope(tenant="t", group_id=group, session_id="s")
                records.append(replace(template, id=f"{n}", scope=scope, content=f"{group} {n}"))
        await store.load(records)
        for sessions in (False, True):
            query = make_query("1", sessions=sessions, reach=1, thread=6)
            result = await store.search(query, Select(tenant="t", groups=("a", "c")), choose_all)
            assert runs(result) == [["a 0", "a 1", "a 2"], ["c 0", "c 1", "c 2"]]
            result = await store.search(replace(query, thread=9), Select(tenant="t"), choose_all)
            assert runs(result) == [[f"{group} {n}" for n in range(3)] for group in "abc"]
            query = make_query("a 2", sessions=sessions, reach=1, thread=3)
            result = await store.search(replace(query, limit=1), Select(tenant="t"), choose_all)
            assert runs(result) == [["a 1", "a 2"]]

    async def test_everything_keeps_to_the_selection(self, store: StoreProxy) -> None:
        fields_of: dict[str, dict[str, Any]] = {
            "plain tea": {},
            "bob's tea": {"scope": replace(ACME, user_id="bob", session_id="s2")},
            "agent's tea": {"agent": "a", "created_at": later(days=2)},
            "revoked tea": {"revocation": "r"},
            "old tea": {"valid_to": later(hours=1)},
        }
        first = memory()
        records = {
            text: replace(memory(text, **more), document_id=first.document_id)
            for text, more in fields_of.items()
        }
        await store.load([*records.values()])
        await store.put_vectors([(record, EAST) for record in records.values()], FLAT)
        cases: tuple[tuple[dict[str, Any], set[str]], ...] = (
            ({"live_at": later(hours=1)}, {"plain tea", "bob's tea", "agent's tea"}),
            ({"users": ("bob",)}, {"bob's tea"}),
            ({"sessions": ("s2",)}, {"bob's tea"}),
            ({"sessions": ("s1",), "agents": (None,)}, {"plain tea", "revoked tea", "old tea"}),
            ({"agents": ("a",), "since": later(days=2)}, {"agent's tea"}),
            ({"since": later(days=3)}, set()),
            ({"before": later(days=2), "revocations": ("r",)}, {"revoked tea"}),
            ({"ids": (records["old tea"].id, "x")}, {"old tea"}),
            ({"documents": ("x",)}, set()),
            ({"contains": "OLD"}, {"old tea"}),
            ({"users": ()}, set()),
            ({"statuses": ("pending",)}, set()),
        )
        for conditions, expected in cases:
            for query in (
                make_query("tea"),
                make_query(vector=EAST),
                make_query("tea", EAST, sessions=True),
            ):
                result = await store.search(query, within().also(**conditions), choose_all)
                assert {*texts(result)} == expected, (conditions, query)
                assert len(result.view.candidates) == len(expected)

    # What is read.

    @pytest.mark.parametrize("positions", [[], [0], [2, 0], [1, 1]])
    async def test_what_is_chosen_is_read_at_its_place(
        self, store: StoreProxy, positions: list[int]
    ) -> None:
        chunks = document("tea one", "tea two", "tea three")
        await store.add(chunks)
        await store.edit(within(), lambda old: replace(old, subject="s", metadata={"seen": [1]}))
        whole = await store.search(make_query("tea"), within(), choose_all)
        result = await store.search(make_query("tea"), within(), lambda _: positions)
        assert result.memories == {position: whole.memories[position] for position in positions}
        assert result.view == whole.view
        assert [record.subject for record in result.memories.values()] == ["s"] * len({*positions})

    async def test_who_chooses_sees_everything_but_texts(self, store: StoreProxy) -> None:
        await store.add(document("tea", "milk"), [EAST, NORTH], FLAT)
        views: list[SearchView] = []

        def choose(view: SearchView) -> Sequence[int]:
            views.append(view)
            return [position for position, row in enumerate(view.candidates) if row.counts == (1,)]

        result = await store.search(make_query("tea", EAST), within(), choose)
        assert texts(result) == ["tea"]
        assert {view == result.view for view in views} == {True}
        assert [(row.counts, row.follows) for row in views[0].candidates] == [
            ((1,), False),
            ((0,), True),
        ]
        assert (views[0].count, views[0].having, views[0].mean) == (2, (1,), 1.0)

    async def test_an_error_of_who_chooses_comes_out_and_locks_nothing(
        self, store: StoreProxy, opened: OpenStore, mode: Mode
    ) -> None:
        await store.add(document("tea"))

        def choose(view: SearchView) -> Sequence[int]:
            raise RuntimeError(f"no choice of {len(view.candidates)}")

        async def failing(searched_store: StoreProxy) -> None:
            for _ in range(12):
                with pytest.raises(RuntimeError, match="no choice of 1"):
                    await searched_store.search(make_query("tea"), within(), choose)

        over = threading.Event()
        if mode == "blocking":
            inside = StoreProxy(store.target, "inline", self.deadline)
            await run_in_thread(lambda: run_blocking(failing(inside)), self.deadline, over)
        else:
            await failing(store)
        other = StoreProxy(opened(), mode, self.deadline) if self.persistent else store
        for opened_store in (store, other):
            await opened_store.edit(
                within(), lambda old: replace(old, content=f"{old.content} more")
            )
        over.set()
        result = await store.search(make_query("tea"), within(), choose_all)
        assert texts(result) == ["tea more more"]

    async def test_what_was_read_shares_nothing_with_the_store(self, store: StoreProxy) -> None:
        await store.add(document("tea", metadata={"seen": [1]}))
        for _ in range(2):
            result = await store.search(make_query("tea"), within(), choose_all)
            assert result.memories[0].metadata == {"seen": [1]}
            result.memories[0].metadata["seen"].append(2)

    # Refusals.

    async def test_another_space_than_the_current_one_is_refused(self, store: StoreProxy) -> None:
        await store.add(document("tea"), [EAST], FLAT)
        odd = (
            make_query("tea", [1.0, 0.0], OTHER),
            make_query("tea", [1.0, 0.0], Space("flat", 2)),
            make_query("tea", [1.0, 0.0], FLAT),
            make_query(vector=[1.0, 0.0, 0.0, 0.0], space=FLAT),
        )
        for query in odd:
            with pytest.raises(EmbeddingMismatch):
                await store.search(query, within(), choose_all)
        await store.adopt(OTHER)
        with pytest.raises(EmbeddingMismatch):
            await store.search(make_query("tea", EAST), within(), choose_all)
        result = await store.search(odd[0], within(), choose_all)
        assert rows_by_text(result) == {"tea": SearchCandidate((1,), 1, None)}
        assert texts(await store.search(make_query("tea"), within(), choose_all)) == ["tea"]

    async def test_vectors_of_another_space_are_not_compared(self, store: StoreProxy) -> None:
        tea, milk = document("tea", "milk")
        await store.add([tea, milk], [EAST, None], FLAT)
        await store.put_vectors([(tea, WEST), (milk, EAST)], Space("twin", 3))
        result = await store.search(make_query("tea", EAST), within(), choose_all)
        near = {text: row.similarity for text, row in rows_by_text(result).items()}
        assert near == {"tea": pytest.approx(1.0, abs=0.01), "milk": None}

    async def test_a_space_that_nobody_knows_yet_finds_nothing(self, store: StoreProxy) -> None:
        await store.add(document("tea"))
        result = await store.search(make_query("tea", EAST), within(), choose_all)
        assert rows_by_text(result) == {"tea": SearchCandidate((1,), 1, None)}
        assert not (
            await store.search(make_query(vector=EAST), within(), choose_all)
        ).view.candidates

    async def test_a_closed_store_sees_nothing(self, store: StoreProxy) -> None:
        await store.add(document("tea"))
        await store.close()
        with pytest.raises(StoreClosed):
            await store.search(make_query("tea"), within(), choose_all)

    async def test_what_is_seen_is_there_when_the_store_is_opened_again(
        self, opened: OpenStore, mode: Mode
    ) -> None:
        first = StoreProxy(opened(), mode, self.deadline)
        await first.add(document("green tea", "and milk"), [EAST, NORTH], FLAT)
        query = make_query("tea", EAST)
        before = await first.search(query, within(), choose_all)
        await first.close()
        again = StoreProxy(opened(), mode, self.deadline)
        result = await again.search(query, within(), choose_all)
        assert (result == before) if self.persistent else not result.view.candidates

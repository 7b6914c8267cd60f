"""A reranker orders the best of what was found; when it is of no help, recall is as before."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import math
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from langchain_core.cross_encoders import BaseCrossEncoder

from limits import limited
from memoryware import MemoryScope, Ranking, TieredMemory
from memoryware.errors import SettingError
from memoryware.settings import TierLimits
from memoryware.tiers import Reranker
from memoryware.tiers.embedding import Rescorer
from memoryware.tiers.model import Verdict
from memoryware.tiers.recall.context import ContextBuilder
from tiers.kit import DOORS, HashEmbeddings, parts
from tiers.known import SHOP, cold, hot, recall, texts
from tiers.long_term import KINDS, both_stores
from tiers.test_options import opened
from tiers.test_retrieval import Planes


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


@pytest.fixture(params=KINDS)
def stores(request, tmp_path):
    made = both_stores(request.param, tmp_path)
    yield made
    made.long_term.close()


class Marks:
    """Scores a text by the number after its `#`, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def rerank(self, query, texts):
        self.asked.append((query, list(texts)))
        return [self.mark(one) for one in texts]

    @staticmethod
    def mark(text):
        return float(text.split("#")[1].split()[0]) if "#" in text else -100.0


class AsyncMarks(Marks):
    """The same with an async twin, and only that may be asked in async runs."""

    def __init__(self) -> None:
        super().__init__()
        self.awaited: list[list[str]] = []

    async def arerank(self, query, texts):
        await asyncio.sleep(0)
        self.awaited.append(list(texts))
        return [self.mark(one) for one in texts]


class CrossEncoder(BaseCrossEncoder):
    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def score(self, text_pairs):
        self.pairs += text_pairs
        return np.array([Marks.mark(text) for _, text in text_pairs], dtype=np.float32)


class Answering:
    """Answers what it is told to, or fails as it is told to."""

    def __init__(self, answer):
        self.answer = answer

    def rerank(self, query, texts):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(texts) if callable(self.answer) else self.answer


class AsyncAnswering(Answering):
    async def arerank(self, query, texts):
        return self.rerank(query, texts)


def given_with(reranker, stores=None, *, timeout=30.0, **more):
    return parts(stores, rescorer=Rescorer(reranker, timeout), **more)


# Order.


async def test_texts_come_in_the_order_of_the_reranker(door, stores):
    marks = Marks()
    given = given_with(marks, stores)
    for text in ("fact fact fact #1", "a fact #3", "some fact #2"):
        cold(given, text)
    before = await recall(door, replace(given, rescorer=None), "fact")
    assert texts(before)[0] == "fact fact fact #1"
    found = await recall(door, given, "fact")
    assert texts(found) == ["a fact #3", "some fact #2", "fact fact fact #1"]
    assert [one.score for one in found] == [3.0, 2.0, 1.0]
    assert found.notes == ()
    assert [asked[0] for asked in marks.asked] == ["fact"]


async def test_all_parts_are_scored_in_one_call_and_ordered_together(door, stores):
    marks = Marks()
    given = given_with(marks, stores, embeddings=HashEmbeddings())
    hot(given, "fact hot #5")
    hot(given, "fact hot too #1")
    cold(given, "fact of the group #4")
    cold(given, "fact of the group too #2")
    cold(given, "fact of the agent #3", agent="helper")
    found = await recall(door, given, "fact")
    assert [Marks.mark(one.content) for one in found] == [5, 4, 3, 2, 1]
    assert len(marks.asked) == 1
    assert sorted(map(Marks.mark, marks.asked[0][1])) == [1, 2, 3, 4, 5]


async def test_the_reranker_lifts_a_text_over_the_limit(door, stores):
    given = given_with(Marks(), stores, limits=TierLimits(long_term_items=2))
    for n in range(10):
        cold(given, f"fact fact fact {n} #{n}")
    cold(given, "a long text with one fact that would be last of all of these #99")
    assert [one.score for one in await recall(door, given, "fact")] == [99, 9]


async def test_only_the_best_are_scored_and_all_others_come_after_them(door, stores):
    marks = Marks()
    limits = TierLimits(rerank_candidates=2, long_term_items=9)
    given = given_with(marks, stores, limits=limits)
    for text in ("fact #-7", "fact and #-9", "fact and more #50", "fact and yet more #60"):
        cold(given, text)
    plain = texts(await recall(door, replace(given, rescorer=None), "fact"))
    found = await recall(door, given, "fact")
    assert len(marks.asked[0][1]) == 2
    assert set(texts(found)[:2]) == set(plain[:2])
    assert texts(found)[2:] == plain[2:]
    first, second = map(Marks.mark, texts(found)[:2])
    assert first > second
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] - scores[1] == pytest.approx(first - second)


async def test_each_part_has_its_own_candidates(door):
    marks = Marks()
    given = given_with(marks, limits=TierLimits(rerank_candidates=1), embeddings=HashEmbeddings())
    for n in range(3):
        hot(given, f"hot fact #{n}")
        cold(given, f"group fact #{n}")
        cold(given, f"agent fact #{n}", agent="helper")
    await recall(door, given, "fact")
    assert sorted(one.split()[0] for one in marks.asked[0][1]) == ["agent", "group", "hot"]


async def test_more_are_scored_than_can_be_shown(door, stores):
    marks = Marks()
    given = given_with(marks, stores, limits=TierLimits(long_term_items=1, rerank_candidates=40))
    for n in range(40):
        cold(given, f"fact number {n} #{n}")
    found = await recall(door, given, "fact")
    assert len(marks.asked[0][1]) == 40
    assert [one.score for one in found] == [39]


async def test_of_equal_scores_the_order_before_stays(door, stores):
    given = given_with(Answering(lambda texts: [0.0] * len(texts)), stores)
    for text in ("fact fact", "fact in a text", "a fact in a text that is longer"):
        cold(given, text)
    plain = await recall(door, replace(given, rescorer=None), "fact")
    assert texts(await recall(door, given, "fact")) == texts(plain)


async def test_what_a_check_found_wrong_stays_last(door, stores):
    limits = TierLimits(rerank_candidates=2)
    given = given_with(Marks(), stores, limits=limits)
    cold(given, "fact fact fact #9", verdict=Verdict(verified=False))
    for n in range(3):
        cold(given, f"fact {n} #{n}")
    found = await recall(door, given, "fact")
    assert texts(found)[-1] == "fact fact fact #9"
    given = replace(given, limits=TierLimits())
    assert texts(await recall(door, given, "fact"))[-1] == "fact fact fact #9"


async def test_texts_are_cut_for_the_reranker_and_never_in_the_answer(door):
    marks = Marks()
    given = given_with(marks, limits=limited(TierLimits, rerank_chars=12))
    long = "fact #5 and " + "much more " * 50
    cold(given, long)
    assert texts(await recall(door, given, "fact")) == [long]
    assert marks.asked == [("fact", ["fact #5 and "])]


async def test_a_text_that_is_there_twice_is_sent_once(door):
    marks = Marks()
    given = given_with(marks)
    hot(given, "the fact #1")
    cold(given, "the fact #1")
    cold(given, "another fact #2")
    found = await recall(door, given, "fact")
    assert texts(found) == ["another fact #2", "the fact #1"]
    assert sorted(marks.asked[0][1]) == ["another fact #2", "the fact #1"]


async def test_what_may_not_be_shown_is_not_sent(door, stores):
    marks = Marks()
    given = given_with(marks, stores, embeddings=Planes())
    cold(given, "shown @0.9 #1")
    cold(given, "far @0.1 #9")
    cold(given, "old @0.9 #9", created_at=given.clock().replace(year=2020))
    cold(given, "other group @0.9 #9", scope=MemoryScope(group_id="bank"))
    cold(given, "own @0.9 #9", agent="somebody")
    hot(given, "from outside @0.3 #9", origin="tool:web")
    for explain in (False, True):
        asked = {"score_threshold": 0.5, "time_range_days": 30, "explain": explain}
        assert texts(await recall(door, given, "zzz", **asked)) == ["shown @0.9 #1"]
        assert marks.asked.pop() == ("zzz", ["shown @0.9 #1"])


async def test_nothing_found_asks_nobody(door):
    marks = Marks()
    assert await recall(door, given_with(marks), "fact") == []
    assert marks.asked == []


async def test_a_part_that_shows_nothing_is_not_sent(door):
    marks = Marks()
    given = given_with(marks, limits=TierLimits(agent_items=0))
    hot(given, "hot fact #1")
    cold(given, "fact #2")
    cold(given, "own fact #3", agent="helper")
    assert texts(await recall(door, given, "fact", working_items=0)) == ["fact #2"]
    assert marks.asked[0][1] == ["fact #2"]


async def test_working_memory_is_ranked_by_what_fits_where_there_is_a_reranker(door, stores):
    given = given_with(Marks(), stores)
    for mark in (2, 3, 1):
        hot(given, f"hot fact #{mark}")
        given.clock.forward(minutes=1)
    cold(given, "fact #4")
    found = await recall(door, given, "fact")
    assert [one.score for one in found] == [4, 3, 2, 1]


async def test_working_memory_by_time_is_left_alone_and_stands_first(door, stores):
    marks = Marks()
    given = given_with(marks, stores, working_ranking="recency")
    hot(given, "older fact #9")
    given.clock.forward(minutes=1)
    hot(given, "newer fact #8")
    cold(given, "fact #50")
    cold(given, "some fact #60")
    found = await recall(door, given, "fact")
    assert texts(found) == ["newer fact #8", "older fact #9", "some fact #60", "fact #50"]
    assert sorted(marks.asked[0][1]) == ["fact #50", "some fact #60"]
    found = await recall(door, given, "fact", max_results=2)
    assert texts(found) == ["newer fact #8", "some fact #60"]


async def test_what_was_promoted_is_shown_as_promoted_and_in_its_place(door):
    given = given_with(Marks())
    entry = hot(given, "fact that is hot #2")
    cold(given, "fact that is hot #2", content_hash=entry.content_hash)
    cold(given, "fact #3")
    cold(given, "more fact #1")
    found = await recall(door, given, "fact")
    assert [one.score for one in found] == [3, 2, 1]
    assert {one.source for one in found} == {"long_term"}


# Explained.


async def test_a_candidate_says_what_the_reranker_said(door, stores):
    limits = TierLimits(rerank_candidates=2)
    given = given_with(Marks(), stores, limits=limits)
    for text in ("fact #-7", "fact and #-3", "fact and much more of it #50"):
        cold(given, text)
    plain = {
        one.content: one.score for one in await recall(door, replace(given, rescorer=None), "fact")
    }
    found = await recall(door, given, "fact", explain=True)
    told = {one.item.content: one for one in found.candidates}
    first, second, third = (
        told["fact and #-3"],
        told["fact #-7"],
        told["fact and much more of it #50"],
    )
    assert (first.ranks["reranker"], second.ranks["reranker"]) == (1, 2)
    assert (first.values["reranker"], second.values["reranker"]) == (-3, -7)
    assert first.values["fused"] == plain["fact and #-3"]
    assert first.reason == "has words of the query; was scored by the reranker"
    assert "reranker" not in third.ranks
    assert not {"reranker", "fused"} & set(third.values)
    assert third.reason == "has words of the query"
    assert third.item.score == plain["fact and much more of it #50"]
    assert [one.item.score for one in (first, second)] == [third.item.score + 4, third.item.score]
    assert list(found) == [first.item, second.item, third.item]


async def test_reasons_change_nothing_and_all_candidates_are_told(door, stores):
    limits = TierLimits(rerank_candidates=10)
    given = given_with(Marks(), stores, embeddings=HashEmbeddings(), limits=limits)
    for n in range(60):
        cold(given, f"the fact number {n} of the shop #{n * 7 % 60}")
    for n in range(20):
        hot(given, f"talk number {n} of the shop #{n * 3 % 20}")
    for query in ("fact 3", "talk 7", "what is number 5?", "shop"):
        plain = await recall(door, given, query, max_results=7)
        explained = await recall(door, given, query, max_results=7, explain=True)
        assert list(plain) == list(explained)
        scored = [one for one in explained.candidates if "reranker" in one.ranks]
        assert len(scored) == 20
        assert len(explained.candidates) > 60
        shown = {one.item.id for one in explained.candidates if one.left_out is None}
        assert shown == {one.id for one in explained}
        assert all(one.reason for one in explained.candidates)


# When it is of no help.


def is_as_before(found, plain, said, caplog):
    assert list(found) == list(plain)
    assert len(found.notes) == 1
    assert said in found.notes[0]
    assert "order without it" in found.notes[0]
    assert [one.levelname for one in caplog.records] == ["WARNING"]
    assert said in caplog.text


@pytest.mark.parametrize("kind", [Answering, AsyncAnswering])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (OSError("the key sk-123 is wrong"), "failed: OSError"),
        (lambda texts: [1.0], "returned 1 scores for 3 texts"),
        (lambda texts: [1.0] * 4, "returned 4 scores for 3 texts"),
        (lambda texts: texts.clear() or [], "returned 0 scores for 3 texts"),
        ([1.0, math.nan, 2.0], "not a number"),
        ([1.0, math.inf, 2.0], "not a number"),
        ([1.0, None, 2.0], "not a number"),
        ([1.0, "high", 2.0], "not a number"),
        (np.ones((3, 2)), "not a number"),
        (None, "failed: TypeError"),
        (7, "failed: TypeError"),
        (StopIteration(), "failed"),
    ],
)
async def test_a_reranker_that_is_of_no_help_changes_nothing(
    door, stores, kind, answer, said, caplog
):
    given = given_with(kind(answer), stores)
    for text in ("fact", "fact and more", "a fact and much more"):
        cold(given, text)
    plain = await recall(door, replace(given, rescorer=None), "fact")
    with caplog.at_level(logging.WARNING, "memoryware"):
        found = await recall(door, given, "fact")
    is_as_before(found, plain, said, caplog)
    assert "sk-123" not in caplog.text
    told = (await recall(door, given, "fact", explain=True)).candidates
    assert not any("reranker" in one.ranks for one in told)


async def test_a_reranker_that_is_late_changes_nothing_and_is_not_waited_for(door, stores, caplog):
    go_on = threading.Event()

    class Slow:
        def rerank(self, query, texts):
            go_on.wait(30)
            return [0.0] * len(texts)

    given = given_with(Slow(), stores, timeout=0.05)
    cold(given, "fact")
    cold(given, "fact and more")
    plain = await recall(door, replace(given, rescorer=None), "fact")
    try:
        with caplog.at_level(logging.WARNING, "memoryware"):
            found = await recall(door, given, "fact")
        assert not go_on.is_set()
    finally:
        go_on.set()
    is_as_before(found, plain, "in time (rerank_timeout=0.05 seconds)", caplog)


async def test_an_async_reranker_that_is_late_is_cancelled(caplog):
    ended = []

    class Slow(Marks):
        async def arerank(self, query, texts):
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

    given = given_with(Slow(), timeout=0.05)
    cold(given, "fact #1")
    plain = await recall("native", replace(given, rescorer=None), "fact")
    with caplog.at_level(logging.WARNING, "memoryware"):
        found = await recall("native", given, "fact")
    is_as_before(found, plain, "in time", caplog)
    assert ended == ["cancelled"]


# Both doors.


async def test_an_async_twin_is_asked_in_async_runs_only(door):
    marks = AsyncMarks()
    given = given_with(marks)
    cold(given, "fact #1")
    cold(given, "some fact #2")
    assert [one.score for one in await recall(door, given, "fact")] == [2, 1]
    assert (len(marks.asked), len(marks.awaited)) == ((0, 1) if door == "native" else (1, 0))


async def test_a_blocking_reranker_does_not_stop_the_loop():
    beats, done = [], threading.Event()

    class Blocking(Marks):
        def rerank(self, query, texts):
            done.wait(30)
            return super().rerank(query, texts)

    async def beat():
        for _ in range(3):
            await asyncio.sleep(0)
            beats.append(time.monotonic())
        done.set()

    given = given_with(Blocking())
    cold(given, "fact #1")
    found, _ = await asyncio.gather(recall("native", given, "fact"), beat())
    assert [one.score for one in found] == [1]
    assert len(beats) == 3


async def test_the_reranker_sees_the_context_of_the_run(door):
    tenant = contextvars.ContextVar("tenant")
    seen = []

    class Looking(Marks):
        def rerank(self, query, texts):
            seen.append(tenant.get())
            return super().rerank(query, texts)

    tenant.set("ann")
    given = given_with(Looking())
    cold(given, "fact #1")
    await recall(door, given, "fact")
    assert seen == ["ann"]


# As an option.


FACTS = ("The orders are in PostgreSQL #1", "The orders are red #3", "The orders wait #2")


@pytest.mark.parametrize("made", [Marks, AsyncMarks, CrossEncoder])
async def test_a_reranker_is_an_option_of_memory(made, tmp_path):
    given = made()
    async with await TieredMemory.aopen(f"sqlite:///{tmp_path}/m.db", reranker=given) as memory:
        for text in FACTS:
            await memory.apromote(text, "shop", by="ann")
        in_async = await memory.aretrieve("Where are the orders?", "shop")
    with TieredMemory.open(f"sqlite:///{tmp_path}/m.db", reranker=given) as memory:
        found = memory.retrieve("Where are the orders?", "shop")
        assert list(found) == list(in_async)
        assert [one.score for one in found] == [3, 2, 1]


def test_a_cross_encoder_is_given_pairs():
    given = CrossEncoder()
    with TieredMemory.open("memory://", reranker=given) as memory:
        memory.promote(FACTS[0], "shop", by="ann")
        memory.retrieve("orders", "shop")
    assert given.pairs == [("orders", FACTS[0])]


def test_the_timeout_is_a_setting(caplog):
    slow = Answering(lambda texts: time.sleep(5))
    limits = TierLimits(rerank_timeout=0.01)
    with TieredMemory.open("memory://", reranker=slow, limits=limits) as memory:
        memory.promote(FACTS[0], "shop", by="ann")
        assert "rerank_timeout=0.01" in memory.retrieve("orders", "shop").notes[0]


class Compressor:
    """What rerankers of LangChain look like that are compressors of documents."""

    def compress_documents(self, documents, query, callbacks=None):
        return documents

    def rerank(self, documents, query, *, top_n=3):
        return [{"index": 0, "relevance_score": 1.0}]


class OnlyAsync:
    async def rerank(self, query, texts):
        return [0.0] * len(texts)


@pytest.mark.parametrize("wrong", ["x", 7, len, Marks, Compressor(), OnlyAsync(), HashEmbeddings()])
@pytest.mark.parametrize("door", ["open", "aopen"])
async def test_what_is_no_reranker_is_told_at_once(door, wrong):
    with pytest.raises(SettingError, match=r"^reranker=.*rerank\(query, texts\).*cross-encoder"):
        await opened(door, reranker=wrong)


def test_a_reranker_can_be_told_by_its_kind():
    assert isinstance(Marks(), Reranker)
    assert not isinstance(CrossEncoder(), Reranker)


def test_a_reranker_and_weights_go_together():
    with TieredMemory.open("memory://", reranker=Marks(), ranking=Ranking(words=2)) as memory:
        for text in FACTS:
            memory.promote(text, SHOP, by="ann")
        assert [one.score for one in memory.retrieve("orders", SHOP)] == [3, 2, 1]


def test_a_context_leaves_out_nothing_by_the_scale_of_a_reranker():
    given = given_with(Marks(), embeddings=HashEmbeddings())
    for text in ("The orders are on db2. #-3 ", "Orders go out on Friday. #-7 "):
        cold(given, text)
    built = ContextBuilder(given).build("orders", SHOP)
    assert [item.score for item in built.sections[0].items] == [-3.0, -7.0]
    strict = ContextBuilder(given, min_relevance=-5).build("orders", SHOP)
    assert [item.score for item in strict.sections[0].items] == [-3.0]

"""`explain=True`: of every text that was considered why it came, and why it is not shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memoryware import MemoryScope
from memoryware.settings import Ranking, TierLimits
from tiers.kit import DOORS, Clock, HashEmbeddings, ids, parts
from tiers.known import IN_SESSION, SHOP, cold, hot, recall, texts
from tiers.long_term import KINDS, both_stores
from tiers.test_retrieval import Planes


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


@pytest.fixture(params=KINDS)
def stores(request, tmp_path):
    made = both_stores(request.param, tmp_path)
    yield made
    made.long_term.close()


def by_text(found):
    return {one.item.content: one for one in found.candidates}


async def test_nothing_is_explained_unless_that_is_asked(door):
    given = parts()
    cold(given, "fact")
    assert (await recall(door, given, "fact")).candidates == ()


async def test_every_candidate_says_how_it_was_found(door, stores):
    given = parts(stores, embeddings=Planes())
    hot(given, "a wombat is hot @0.2")
    cold(given, "wombat @0.5")
    cold(given, "near @0.9")
    found = by_text(await recall(door, given, "wombat", explain=True))
    words, near, first = found["wombat @0.5"], found["near @0.9"], found["a wombat is hot @0.2"]
    assert (words.ranks, near.ranks) == ({"words": 1, "vectors": 2}, {"vectors": 1})
    assert first.ranks == {"recency": 1, "words": 1, "vectors": 1}
    assert words.values["vectors"] == pytest.approx(0.5, abs=1e-3)
    assert words.values["words"] > 0
    assert set(near.values) == {"vectors"}
    assert words.reason == "has words of the query; is near the query in meaning"
    assert near.reason == "is near the query in meaning"
    assert first.reason.startswith("among the newest of working memory")
    assert {one.left_out for one in found.values()} == {None}
    assert words.item.score > 0


async def test_every_reason_to_leave_a_text_out_is_told(door, stores):
    limits = TierLimits(long_term_items=2, agent_items=1, working_items=1)
    given = parts(stores, embeddings=Planes(), limits=limits, ranking=Ranking(sessions=False))
    cold(given, "far @0.1", scope=IN_SESSION)
    cold(given, "other session @0.95", scope=replace(SHOP, session_id="s2"))
    for near in (0.9, 0.8, 0.7):
        cold(given, f"fact @{near}", scope=IN_SESSION)
    cold(given, "own @0.8", agent="helper", scope=IN_SESSION)
    cold(given, "own @0.7", agent="helper", scope=IN_SESSION)
    cold(given, "old @0.99", scope=IN_SESSION, created_at=given.clock().replace(year=2020))
    hot(given, "fact @0.9")
    hot(given, "new @0.75")
    hot(given, "newer @0.70")
    asked = {"score_threshold": 0.5, "session_id": "s1", "time_range_days": 30}
    found = await recall(door, given, "zzz", explain=True, max_results=3, **asked)
    assert texts(found) == ["fact @0.9", "fact @0.8", "own @0.8"]
    why = {(one.item.content, one.item.source): one.left_out for one in found.candidates}
    assert why == {
        ("fact @0.9", "long_term"): None,
        ("fact @0.8", "long_term"): None,
        ("own @0.8", "long_term"): None,
        ("far @0.1", "long_term"): "threshold",
        ("other session @0.95", "long_term"): "session",
        ("old @0.99", "long_term"): "time_range",
        ("fact @0.7", "long_term"): "limit",
        ("own @0.7", "long_term"): "limit",
        ("fact @0.9", "working"): "duplicate",
        ("new @0.75", "working"): "limit",
        ("newer @0.70", "working"): "limit",
    }
    said = {one.left_out: one.detail for one in found.candidates if one.left_out}
    assert "0.100 is below 0.5" in said["threshold"]
    assert "30 days" in said["time_range"]
    assert "another session" in said["session"]
    assert said["duplicate"] == f"the same as {found[0].id} of long-term memory"


async def test_each_limit_says_which_it_is(door):
    given = parts(limits=TierLimits(working_items=1))
    for n in range(3):
        hot(given, f"hot fact {n}")
        cold(given, f"cold fact {n}")
    found = await recall(door, given, "fact", explain=True, max_results=2)
    details = sorted({one.detail for one in found.candidates if one.left_out == "limit"})
    assert details == [
        "not among the best 1 of working memory",
        "not among the best 2 of all (max_results)",
    ]
    assert len(found.candidates) == 6
    assert len(found) == 2


async def test_what_is_shown_is_what_was_not_left_out_with_or_without_reasons(door, stores):
    given = parts(stores, embeddings=HashEmbeddings())
    for n in range(20):
        cold(given, f"the fact number {n} of the shop", f"and its second part {n}")
        hot(given, f"talk number {n} of the shop")
    for query in ("fact 3", "talk 7", "second part", "shop"):
        plain = await recall(door, given, query, max_results=7)
        explained = await recall(door, given, query, max_results=7, explain=True)
        assert list(plain) == list(explained)
        shown = {one.item.id for one in explained.candidates if one.left_out is None}
        assert shown == {one.id for one in explained}
        assert len({one.item.id for one in explained.candidates}) == len(explained.candidates)
        for one in explained.candidates:
            assert one.reason
            assert bool(one.left_out) == bool(one.detail)
            assert all(rank >= 1 for rank in one.ranks.values())


async def test_another_session_is_never_shown_because_reasons_were_asked(door, stores):
    given = parts(stores)
    cold(given, "fact", scope=replace(SHOP, session_id="s2"))
    found = await recall(door, given, "fact", session_id="s1", explain=True)
    assert found == []
    assert [one.left_out for one in found.candidates] == ["session"]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did Will say about the stock?", True),
        ("And what, in May, did Will count?", True),
        ("Will the stock be counted?", False),
        ("It will be counted, the stock", False),
    ],
)
async def test_a_speaker_who_is_called_like_a_small_word_is_known_by_the_capital(
    door, question, named
):
    given = parts()
    cold(given, "The stock was counted twice.", metadata={"speaker": "Will"})
    found = await recall(door, given, question, explain=True)
    assert ("speaker" in found.candidates[0].ranks) is named


# What does not hold now.


@pytest.mark.parametrize("way", ["retrieve", "aretrieve"])
async def test_what_was_superseded_or_revoked_is_among_the_candidates(opened, way):
    clock = Clock()
    memory = opened(clock=clock, new_id=ids())
    shop = MemoryScope(group_id="shop")
    old = memory.promote("The orders are in MySQL.", shop, by="ann", subject="database")
    wrong = memory.promote("The orders are in a drawer.", shop, by="bob")
    later = clock() + timedelta(days=9)
    memory.promote("The orders will be in the cloud.", shop, by="ann", valid_from=later)
    memory.promote("Tea is at four.", shop, by="ann")
    clock.forward(hours=1)
    new = memory.promote("The orders are in PostgreSQL.", shop, by="ann", subject="database")
    receipt = memory.revoke(wrong, shop, by="ann")
    ask = getattr(memory, way)
    found = ask("orders", shop, tiers=("long_term",), explain=True)
    found = await found if way == "aretrieve" else found
    assert [one.content for one in found] == ["The orders are in PostgreSQL."]
    left = {one.item.content: one for one in found.candidates if one.left_out}
    assert {text: one.left_out for text, one in left.items()} == {
        "The orders are in MySQL.": "superseded",
        "The orders are in a drawer.": "revoked",
        "The orders will be in the cloud.": "not_yet",
    }
    assert new.document_id in left["The orders are in MySQL."].detail
    assert clock().isoformat() in left["The orders are in MySQL."].detail
    assert receipt.id in left["The orders are in a drawer."].detail
    assert left["The orders are in MySQL."].item.id == old.ids[0]
    assert left["The orders are in MySQL."].reason == "has words of the query"
    plain = ask("orders", shop, tiers=("long_term",))
    plain = await plain if way == "aretrieve" else plain
    assert [(one.id, one.score) for one in plain] == [(one.id, one.score) for one in found]
    await memory.aclose()


def test_what_was_revoked_in_working_memory_is_among_the_candidates(opened):
    memory = opened()
    shop = MemoryScope(group_id="shop")
    entry = memory.record("The orders of the shop are in a drawer.", shop).entry
    memory.record("The orders of the shop are in PostgreSQL.", shop)
    receipt = memory.revoke(entry, shop, by="ann")
    found = memory.retrieve("orders", shop, explain=True)
    assert [one.content for one in found] == ["The orders of the shop are in PostgreSQL."]
    (left,) = (one for one in found.candidates if one.left_out)
    assert (left.item.id, left.left_out) == (entry.id, "revoked")
    assert receipt.id in left.detail


def test_the_past_is_explained_as_of_its_moment(opened):
    clock = Clock()
    memory = opened(clock=clock)
    shop = MemoryScope(group_id="shop")
    memory.promote("The orders are in MySQL.", shop, by="ann", subject="database")
    before = clock()
    clock.forward(hours=1)
    memory.promote("The orders are in PostgreSQL.", shop, by="ann", subject="database")
    found = memory.retrieve("orders", shop, at=before, explain=True)
    assert [one.content for one in found] == ["The orders are in MySQL."]
    left = {one.item.content: one.left_out for one in found.candidates if one.left_out}
    assert left == {"The orders are in PostgreSQL.": "not_yet"}


async def test_what_is_neither_near_nor_has_a_word_is_left_out_as_weak(door):
    rules = Ranking(sessions=False, least=0.1)
    given = parts(embeddings=Planes(), ranking=rules)
    for near in (0.9, 0.3, 0.1, -0.5):
        cold(given, f"fact @{near}")
    cold(given, "beta gamma @0.1")
    recalled = await recall(door, given, "zzz beta gamma", explain=True)
    left_out = {text.item.content: text.left_out for text in recalled.candidates if text.left_out}
    assert {*texts(recalled)} == {"fact @0.9", "beta gamma @0.1", "fact @0.3"}
    assert left_out == {"fact @0.1": "weak", "fact @-0.5": "weak"}
    weak = next(text for text in recalled.candidates if text.item.content == "fact @0.1")
    assert weak.detail.endswith("is below 0.1")
    every = parts(given.stores, embeddings=Planes(), ranking=replace(rules, least=0))
    assert len(await recall(door, every, "zzz beta gamma")) == 5

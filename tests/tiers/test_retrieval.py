"""Recall: both tiers side by side, by words and by meaning, of one group and never of another."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings

from hooked import failing
from limits import limited
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.events import listen
from memoryware.scope import MemoryScope
from memoryware.settings import Ranking, TierLimits
from memoryware.tiers._parts import Parts
from memoryware.tiers.embedding import Embedder
from memoryware.tiers.model import Verdict
from memoryware.tiers.recall.query import RetrieveOptions
from memoryware.tiers.stores.protocol import Select, Space
from tiers.kit import DOORS, Clock, HashEmbeddings, parts
from tiers.known import IN_SESSION, SHOP, cold, hot, recall, texts
from tiers.long_term import KINDS, Moody, both_stores

NO_LIMITS = TierLimits(working_items=100, long_term_items=100, agent_items=100)


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


@pytest.fixture(params=KINDS)
def stores(request, tmp_path):
    made = both_stores(request.param, tmp_path)
    yield made
    made.long_term.close()


class Planes(Embeddings):
    """Vectors that are given by hand: a text is as near to the query as it says."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._of(one) for one in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]

    def _of(self, text: str) -> list[float]:
        near = float(text.split("@")[1].split(maxsplit=1)[0]) if "@" in text else 0.0
        return [near, (1 - near * near) ** 0.5]


def broken(given: Parts, *tiers: str) -> Parts:
    """Return parts of which these stores fail whatever they are asked."""

    stores = given.stores
    for tier in tiers:
        stores = failing(stores, tier, error=lambda: OSError("disk on fire"))
    return replace(given, stores=stores)


# Limits and order.


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which team does Ann lead now?", "Ann leads the logistics team."),
        ("Which team did Ann first lead?", "Ann leads the payments team."),
    ],
)
async def test_what_is_so_now_is_asked_of_the_newest_text(door, question, first):
    given = parts(ranking=Ranking(sessions=False))
    for team, day in (("payments", 1), ("search", 5), ("logistics", 9)):
        text, at = f"Ann leads the {team} team.", given.clock().replace(year=2025, day=day)
        cold(given, text, created_at=at)
    cold(given, "The canteen closes at three now.", created_at=given.clock())
    recalled = await recall(door, given, question, explain=True)
    assert texts(recalled)[0] == first
    assert "canteen" not in texts(recalled)[0]
    why = {item.item.content: item.reason for item in recalled.candidates}
    assert "end in time that the query asks for" in why[first]
    plain = await recall(door, given, "Which team does Ann lead?", explain=True)
    assert {*texts(plain)} == {*texts(recalled)}  # the order only


async def test_by_recency_working_memory_gives_its_ten_newest_first_with_score_one(door):
    given = parts(working_ranking="recency")
    for n in range(12):
        hot(given, f"note {n}")
        given.clock.forward(minutes=1)
    found = await recall(door, given, "anything")
    assert texts(found) == [f"note {n}" for n in range(11, 1, -1)]
    assert {one.score for one in found} == {1.0}
    assert {one.similarity for one in found} == {None}
    assert {one.source for one in found} == {"working"}
    assert not any(one.verified for one in found)


async def test_the_newest_is_what_was_moved_to_the_front_last(door):
    given = parts()
    first = hot(given, "first")
    hot(given, "second")
    given.stores.working.push(first, keep=50)
    assert texts(await recall(door, given, "x")) == ["first", "second"]


async def test_long_term_memory_gives_ten_by_cosine_in_order(door, stores):
    given = parts(stores, embeddings=Planes())
    for tenth in (3, 9, 5, 8, 1, 7, 6, 2, 4):
        cold(given, f"fact @0.{tenth}", f"fact @0.{tenth}5")
    best = [0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5]
    found = await recall(door, replace(given, ranking=Ranking(beside=0)), "zzz")
    assert texts(found) == [f"fact @{near}" for near in best]
    assert [one.similarity for one in found] == pytest.approx(best, abs=1e-3)
    assert all(-1 <= one.score <= 1 for one in found)
    assert all(one.verified and one.source == "long_term" for one in found)


async def test_working_memory_is_ranked_by_what_fits_where_texts_are_embedded(door):
    given = parts(embeddings=Planes())
    hot(given, "invoices @0.8")
    for n in range(5):
        hot(given, f"tea {n} @0.3")
    found = await recall(door, given, "when do they go out?")
    assert found[0].content == "invoices @0.8"
    assert found[0].similarity == pytest.approx(0.8)
    assert texts(found[1:]) == [f"tea {n} @0.3" for n in (4, 3, 2, 1, 0)]


async def test_both_ways_of_ranking_working_memory_can_be_asked_for(door):
    by_time = parts(embeddings=HashEmbeddings(), working_ranking="recency")
    by_fit = parts(working_ranking="relevance")
    for given in (by_time, by_fit):
        hot(given, "orders are in PostgreSQL")
        hot(given, "tea is in the kitchen")
    assert [one.score for one in await recall(door, by_time, "orders")] == [1.0, 1.0]
    assert texts(await recall(door, by_time, "orders"))[0].startswith("tea")
    found = await recall(door, by_fit, "orders")
    assert texts(found) == ["orders are in PostgreSQL", "tea is in the kitchen"]
    assert found[0].score > found[1].score == 0.0


async def test_limits_can_be_changed_for_one_recall_and_for_all(door):
    given = parts(limits=TierLimits(working_items=2, long_term_items=1))
    for n in range(4):
        hot(given, f"hot word {n}")
        cold(given, f"cold word {n}")
    found = await recall(door, given, "word")
    assert [one.source for one in found] == ["long_term", "working", "working"]
    more = await recall(door, given, "word", working_items=0, long_term_items=3)
    assert [one.source for one in more] == ["long_term"] * 3
    assert await recall(door, given, "word", max_results=0) == []


async def test_what_was_found_is_not_crowded_out_by_what_is_only_new(door):
    for ranking, first in (("recency", ["small talk 9", "small talk 8"]), (None, [])):
        given = parts(working_ranking=ranking)
        for n in range(10):
            hot(given, f"small talk {n}")
            cold(given, f"fact {n}")
        found = await recall(door, given, "fact", max_results=5)
        assert texts(found)[: len(first)] == first
        assert [one.source for one in found[len(first) :]] == ["long_term"] * (5 - len(first))


# One relevance for both layers.


async def test_a_promoted_fact_that_fits_stands_before_all_talk(door, stores):
    given = parts(stores)
    cold(given, "Invoices of suppliers go to accounts@shop.example.")
    for n in range(12):
        hot(given, f"Looked at the shelves in hall {n} with Ben and wrote a note.")
    for query in ("Where do invoices of suppliers go?", "invoices", "Who has seen an invoice?"):
        found = await recall(door, given, query, explain=True)
        assert found[0].content.startswith("Invoices"), query
        assert [one.source for one in found] == ["long_term", *["working"] * 10]
        assert found[1].content.startswith("Looked at the shelves in hall 11")  # the newest


async def test_of_texts_that_fit_equally_the_verified_one_stands_first(door, stores):
    for embeddings in (None, HashEmbeddings(512)):
        given = parts(stores, embeddings=embeddings)
        given.stores.long_term.delete(Select.within(SHOP))
        cold(given, "The shop opens at nine.")
        given.clock.forward(hours=1)
        hot(given, "The shop opens at ten.")
        hot(given, "It opens at eleven, the shop.")
        found = await recall(door, given, "When does the shop open?")
        assert [one.source for one in found] == ["long_term", "working", "working"]
        assert found[0].verified


async def test_what_was_just_said_and_fits_far_better_stands_before_a_fact_that_hardly_fits(
    door, stores
):
    for embeddings in (None, HashEmbeddings(512)):
        given = parts(stores, embeddings=embeddings)
        given.stores.long_term.delete(Select.within(SHOP))
        for n in range(6):
            cold(given, f"Room {n} of the office in Lyon has a printer and a window.")
        hot(given, "The meeting with the auditors moved to Thursday at three.")
        hot(given, "Tea is ready.")
        query = "When is the meeting with the auditors in the office?"
        found = await recall(door, given, query, max_results=5)
        assert found[0].content.startswith("The meeting with the auditors")
        assert "Tea is ready." not in texts(found)


async def test_a_word_is_as_rare_as_it_is_in_both_layers(door, stores):
    given = parts(stores)
    cold(given, "Zurich has a branch.")
    for n in range(20):
        cold(given, f"Shelf {n} is made of oak.")
        hot(given, f"The care of ticket {n} is taken over.")
    found = await recall(door, given, "Who takes care of Zurich?")
    assert found[0].content == "Zurich has a branch."
    # a word that all of the talk has says nothing, though no memory has it
    assert found[0].score > 3 * found[1].score > 0


async def test_what_has_no_word_of_the_query_comes_behind_what_has_some(door):
    given = parts()
    cold(given, "Is the stock counted?")  # a question: its score is low
    hot(given, "Tea is ready.", origin="user:carol")
    for query in ("Did Carol see the stock or the shelf or the door?", "stock of yesterday"):
        found = await recall(door, given, query)
        assert texts(found) == ["Is the stock counted?", "Tea is ready."], query


async def test_what_is_equally_good_comes_newer_first_and_then_by_id(door, stores):
    given = parts(stores)
    for hour in range(2):
        for n in range(2):
            cold(given, f"same words {n}{hour}")
        given.clock.forward(hours=1)
    found = await recall(door, given, "same words")
    assert len({one.score for one in found}) == 1
    assert texts(found) == ["same words 01", "same words 11", "same words 00", "same words 10"]


async def test_of_many_that_are_equally_good_the_newest_are_shown(door, stores):
    given = parts(stores)
    for n in range(40):
        cold(given, f"The stock of day {n} was counted")
        given.clock.forward(hours=1)
    found = await recall(door, given, "stock counted")
    assert texts(found) == [f"The stock of day {n} was counted" for n in range(39, 29, -1)]
    told = await recall(door, given, "stock counted", explain=True)
    assert texts(told) == texts(found)


async def test_explain_shows_what_is_shown_without_it(door, stores):
    given = parts(stores)
    for n in range(40):
        said = "user:carol" if n == 3 else "user:bob"
        cold(given, f"the stock, the shelf and the door {n}", origin=said)
    for query in ("What did Carol say of the stock?", "Which door?", "stock in May 2026"):
        plain = await recall(door, given, query)
        told = await recall(door, given, query, explain=True)
        assert [one.id for one in plain] == [one.id for one in told], query
    assert "door 3" in (await recall(door, given, "What did Carol say of the stock?"))[0].content


# Words, meaning, neighbours.


async def test_words_alone_and_meaning_alone_both_find(door, stores):
    given = parts(stores, embeddings=Planes())
    cold(given, "wombat @0.0")
    cold(given, "about the same thing @0.9")
    for n in range(20):
        cold(given, f"noise {n} @0.2")
    found = await recall(door, given, "wombat")
    assert {"wombat @0.0", "about the same thing @0.9"} <= set(texts(found))


@pytest.mark.parametrize("candidates", [1, 2, 50])
async def test_the_best_of_either_list_is_there_however_short_the_lists(door, stores, candidates):
    given = parts(stores, embeddings=Planes(), limits=limited(TierLimits, candidates=candidates))
    for n in range(9):
        cold(given, f"word word word {n} @0.1")
    for n in range(12):
        cold(given, f"thing {n} @0.{90 if n == 0 else 50 - n}")
    found = texts(await recall(door, given, "word"))
    assert "thing 0 @0.90" in found
    assert any(one.startswith("word") for one in found)


async def test_what_is_behind_the_end_of_a_list_is_measured_all_the_same(door, stores):
    given = parts(stores, embeddings=Planes(), limits=limited(TierLimits, candidates=1))
    cold(given, "wombat @0.5")
    cold(given, "nearer @0.9")
    found = await recall(door, given, "wombat", explain=True)
    by_text = {one.item.content: one for one in found.candidates}
    assert by_text["wombat @0.5"].item.similarity == pytest.approx(0.5, abs=1e-3)
    assert by_text["wombat @0.5"].ranks == {"words": 1}


async def test_a_memory_without_a_vector_yet_is_found_by_words(door, stores):
    given = parts(stores, embeddings=HashEmbeddings())
    cold(given, "The wombat sleeps.", embed=False)
    cold(given, "Tea is in the kitchen.")
    found = await recall(door, given, "wombat", score_threshold=0.7)
    assert texts(found) == ["The wombat sleeps."]
    assert found[0].similarity is None


async def test_a_chunk_beside_the_one_that_was_found_comes_along(door, stores):
    given = parts(stores)
    cold(given, "Chapter one.", "The wombat sleeps.", "It wakes at night.", "Appendix.")
    cold(given, "Tea is in the kitchen.")
    found = await recall(door, given, "wombat", explain=True)
    assert texts(found)[0] == "The wombat sleeps."
    assert texts(found)[-1] == "Appendix."  # two away
    assert "Tea is in the kitchen." not in texts(found)
    (beside,) = (one for one in found.candidates if one.item.content == "It wakes at night.")
    assert set(beside.ranks) == {"neighbours"}
    assert beside.reason == "stands beside a text that was found"


async def test_neighbours_are_of_the_same_document_group_and_time(door, stores):
    given = parts(stores)
    (first, second) = cold(given, "The wombat sleeps.", "It wakes.")
    cold(given, "Other.", "And more.", scope=MemoryScope(group_id="other"))
    given.stores.long_term.edit(
        Select.within(SHOP, ids=(second.id,)), lambda one: replace(one, revocation="r")
    )
    assert texts(await recall(door, given, "wombat")) == [first.content]


async def test_neighbours_are_looked_for_among_so_many_chunks(door, stores):
    given = parts(stores, limits=limited(TierLimits, neighbours=3))
    cold(given, "The wombat sleeps.", *(f"line {n}" for n in range(3)))
    assert texts(await recall(door, given, "wombat")) == ["The wombat sleeps."]


async def test_texts_of_one_session_are_neighbours_unless_that_is_switched_off(door, stores):
    given = parts(stores)
    for text in ("Where does the wombat sleep?", "In the barn.", "Tea is ready."):
        cold(given, text, scope=IN_SESSION)
    apart = replace(given, ranking=Ranking(sessions=False))
    assert len(await recall(door, apart, "wombat")) == 1
    by_session = replace(given, ranking=Ranking(after=(0.5,), before=(0.7,)))
    found = await recall(door, by_session, "wombat")
    assert set(texts(found)) == {"Where does the wombat sleep?", "In the barn."}
    alone = replace(given, ranking=limited(Ranking, after=(), before=(), beside=0))
    assert len(await recall(door, alone, "wombat")) == 1


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("数据库用的是PostgreSQL", "什么数据库"),
        ("小猫在家", "猫"),
        ("Die Größe der Kiste ist 3 m", "GROSSE"),
        ("Décision prise : naïveté", "decision naivete"),
        ("We decided to deploy on Friday", "deployments and decisions"),
        ("The order id is e6f0d1c2-17", "e6f0d1c2"),
        ("limit is 10,000 rows", "10000"),
        ("max_tokens is 5", "what is max tokens"),
        ("데이터베이스를 선택했다", "데이터베이스"),
    ],
)
async def test_words_are_found_in_many_languages_and_forms(door, stores, text, query):
    given = parts(stores, working_ranking="relevance")
    cold(given, text)
    cold(given, "Tea is in the kitchen.")
    assert texts(await recall(door, given, query)) == [text]
    hot(given, f"{text}!?")
    hot(given, "Nothing of it.")
    found = await recall(door, given, query, tiers=("working",))
    assert (found[0].content, found[0].score > 0, found[1].score) == (f"{text}!?", True, 0.0)


# Threshold, time, session.


async def test_the_threshold_is_a_cosine_and_words_are_exempt(door, stores, caplog):
    given = parts(stores, embeddings=Planes())
    for text in ("in @0.71", "out @0.69", "wombat @0.1"):
        cold(given, text)
    hot(given, "hot in @0.72")
    hot(given, "hot out @0.5")
    found = await recall(door, given, "wombat", score_threshold=0.7)
    assert set(texts(found)) == {"in @0.71", "wombat @0.1", "hot in @0.72"}
    with caplog.at_level(logging.INFO):
        none = await recall(door, given, "koala", score_threshold=0.99)
    assert none == []
    said = [one.getMessage() for one in caplog.records if "score_threshold" in one.getMessage()]
    assert len(said) == 1
    assert "0.99" in said[0]
    assert "0.720" in said[0]
    assert any("0.720" in one for one in none.notes)


async def test_without_an_embedder_no_threshold_cuts_anything(door):
    given = parts()
    hot(given, "working")
    cold(given, "a cold fact")
    assert len(await recall(door, given, "fact", score_threshold=0.99)) == 2


async def test_a_range_of_time_leaves_out_what_is_older(door, stores):
    given = parts(stores)
    cold(given, "old fact")
    given.clock.forward(days=8)
    for n in range(60):
        cold(given, f"fact fact {n}", created_at=given.clock() - timedelta(days=30))
    cold(given, "new fact")
    hot(given, "hot fact")
    found = await recall(door, given, "fact", time_range_days=7)
    assert set(texts(found)) == {"new fact", "hot fact"}
    kept = await recall(door, given, "old", tiers=("long_term",))
    assert texts(kept) == ["old fact"]
    assert len(await recall(door, given, "fact", time_range_days=1e12, tiers=("long_term",))) == 10


async def test_a_session_is_a_condition_on_long_term_memory_only(door, stores):
    given = parts(stores)
    cold(given, "fact of this")
    cold(given, "fact of that", scope=replace(SHOP, session_id="s2"))
    hot(given, "hot fact", replace(SHOP, session_id="s3"))
    assert len(await recall(door, given, "fact")) == 3
    assert set(texts(await recall(door, given, "fact", session_id="s2"))) == {
        "fact of that",
        "hot fact",
    }
    assert texts(await recall(door, given, "fact", session_id="")) == ["hot fact"]


async def test_at_shows_what_held_then_and_no_working_memory(door, stores):
    given = parts(stores)
    (old,) = cold(given, "We use MySQL.")
    then = given.clock()
    given.clock.forward(days=1)
    cold(given, "We use PostgreSQL.")
    given.stores.long_term.edit(
        Select.within(SHOP, ids=(old.id,)), lambda one: replace(one, valid_to=given.clock())
    )
    hot(given, "use of something")
    assert texts(await recall(door, given, "use", tiers=("long_term",))) == ["We use PostgreSQL."]
    assert texts(await recall(door, given, "use", at=then)) == ["We use MySQL."]
    assert texts(await recall(door, given, "use", at=given.clock())) == ["We use PostgreSQL."]
    assert await recall(door, given, "use", at=datetime(1999, 1, 1, tzinfo=UTC)) == []
    with pytest.raises(SettingError, match="time zone"):
        RetrieveOptions(at=datetime(2026, 1, 1))


async def test_layers_say_which_tier_is_asked(door):
    given = parts()
    hot(given, "hot fact")
    cold(given, "cold fact")
    assert texts(await recall(door, given, "fact", tiers=("working",))) == ["hot fact"]
    assert texts(await recall(door, given, "fact", tiers=("long_term",))) == ["cold fact"]
    assert await recall(door, given, "fact", tiers=()) == []


# What is never shown, and what sinks.


async def test_revoked_expired_and_superseded_texts_never_appear(door, stores):
    given = parts(stores, embeddings=HashEmbeddings(), limits=NO_LIMITS)
    cold(given, "fact revoked", revocation="r")
    cold(given, "fact ended", valid_to=given.clock())
    cold(given, "fact to come", valid_from=given.clock() + timedelta(days=2))
    hot(given, "fact taken back", revocation="r")
    hot(given, "fact gone")
    given.clock.forward(hours=24)
    assert (await recall(door, given, "fact")).candidates == ()
    found = await recall(door, given, "fact", explain=True)
    assert found == []
    reasons = {one.item.content: one.left_out for one in found.candidates}
    assert reasons == {
        "fact revoked": "revoked",
        "fact ended": "superseded",
        "fact to come": "not_yet",
    }


async def test_what_a_check_found_wrong_comes_last_and_is_no_longer_verified(door, stores):
    given = parts(stores, limits=TierLimits(long_term_items=2))
    cold(given, "wombat wombat wombat", verdict=Verdict(verified=False))
    cold(given, "a wombat")
    found = await recall(door, given, "wombat")
    assert texts(found) == ["a wombat", "wombat wombat wombat"]
    assert [one.verified for one in found] == [True, False]
    cold(given, "another wombat")
    found = await recall(door, given, "wombat")
    assert "wombat wombat wombat" not in texts(found)


# Doubles.


async def test_what_is_hot_and_cold_appears_once_as_cold(door, stores):
    given = parts(stores)
    hot(given, "The shop uses  PostgreSQL.")
    hot(given, "THE SHOP USES postgresql")
    cold(given, "The shop uses PostgreSQL.")
    found = await recall(door, given, "what does the shop use?")
    assert texts(found) == ["The shop uses PostgreSQL."]
    assert found[0].verified


async def test_a_long_text_that_is_cold_in_chunks_is_not_hot_as_well(door, stores):
    given = parts(stores)
    long = hot(given, "The wombat sleeps by day. At night it eats.")
    cold(given, "The wombat sleeps by day.", "At night it eats.", content_hash=long.content_hash)
    found = await recall(door, given, "wombat")
    assert [one.source for one in found] == ["long_term", "long_term"]


async def test_what_says_nearly_the_same_is_shown_once_but_a_correction_is_not_lost(door):
    given = parts(embeddings=HashEmbeddings(512))
    cold(given, "The large shop in the old town keeps all orders in PostgreSQL 16 on server db2.")
    near = "The large shop in the old town keeps all its orders in PostgreSQL 16 on server db2."
    new = "The large shop in the old town keeps all orders in PostgreSQL 17 on server db2."
    hot(given, near)
    hot(given, new)
    found = await recall(door, given, "orders of the shop", explain=True)
    assert near not in texts(found)
    assert new in texts(found)
    (left,) = (one for one in found.candidates if one.item.content == near)
    assert left.left_out == "duplicate"
    assert len(found.contradictions) == 1


async def test_a_text_of_the_group_and_of_the_agent_appears_once(door, stores):
    given = parts(stores)
    cold(given, "wombat sleeps")
    cold(given, "wombat sleeps", agent="helper")
    assert texts(await recall(door, given, "wombat")) == ["wombat sleeps"]


async def test_a_double_takes_no_place(door):
    given = parts(limits=TierLimits(working_items=2))
    cold(given, "fact one")
    for text in ("fact three", "fact two", "fact one"):
        hot(given, text)
    found = await recall(door, given, "fact")
    assert texts(found) == ["fact one", "fact two", "fact three"]


# Whose memory.

NASTY = [
    "g1", "g10", "g", "a.b", "a", "b", "a/b", "a b", "*", "%", "_", "G1", "g1 ", '"', "'; DROP",
    "[", "\\", "null", "None", "0", "é", "e\u0301", "🎉", "g1\x1f", "..",
]  # fmt: skip


async def test_no_group_or_tenant_sees_another(door, stores):
    given = parts(stores, embeddings=HashEmbeddings(), limits=NO_LIMITS)
    scopes = [MemoryScope(tenant=tenant, group_id=one) for one in NASTY for tenant in (None, "t")]
    for place, scope in enumerate(scopes):
        hot(given, f"fact {place} of the day", scope)
        cold(given, f"fact {place + 1000} for ever", scope=scope)
    for place, scope in enumerate(scopes):
        found = await recall(door, given, "fact", scope, explain=True)
        assert set(texts(found)) == {f"fact {place} of the day", f"fact {place + 1000} for ever"}
        assert len(found.candidates) == 2


async def test_an_agent_sees_its_own_experience_and_never_that_of_another(door, stores):
    given = parts(stores, embeddings=HashEmbeddings())
    for agent in ("helper", "other", "help", None):
        for n in range(5):
            cold(given, f"fact {n} of {agent}", agent=agent)
    found = await recall(door, given, "fact", explain=True)
    whose = [one.scope.agent_id for one in found]
    assert sorted(whose, key=str) == [None] * 5 + ["helper"] * 3
    assert {one.item.scope.agent_id for one in found.candidates} == {None, "helper"}
    nobody = await recall(door, given, "fact", replace(SHOP, agent_id=None))
    assert {one.scope.agent_id for one in nobody} == {None}
    named = await recall(door, given, "fact", replace(SHOP, agent_id=None), agent_id="other")
    assert {one.scope.agent_id for one in named} == {None, "other"}


@pytest.mark.parametrize("group", [None, ""])
async def test_without_a_group_nothing_is_recalled(door, group):
    given = parts()
    hot(given, "fact", MemoryScope(group_id=group))
    cold(given, "fact", scope=MemoryScope(group_id=group))
    found = await recall(door, given, "fact", MemoryScope(group_id=group))
    assert (found, found.failed, found.candidates) == ([], (), ())


# Queries.


@pytest.mark.parametrize("query", ["", "  \n\t ", "\u3000"])
async def test_a_blank_query_asks_nothing(door, query):
    given = broken(parts(embeddings=HashEmbeddings(), on_error="raise"), "working", "long_term")
    assert await recall(door, given, query) == []
    assert given.embedder.embeddings.queries == []


@pytest.mark.parametrize(
    "query",
    ["?!", "🎉", "\x00", "\ud800", "a" * 100_000, '" OR 1=1 --', "NOT AND OR", "word " * 5000],
)
async def test_no_query_can_break_a_recall(door, stores, query):
    given = parts(stores, embeddings=HashEmbeddings())
    cold(given, "word")
    hot(given, "word")
    found = await recall(door, given, query)
    assert found.failed == ()
    assert all(len(one) <= 4000 for one in given.embedder.embeddings.queries)


async def test_the_query_is_embedded_once_whatever_is_asked(door):
    given = parts(embeddings=HashEmbeddings())
    hot(given, "hot fact")
    cold(given, "cold fact", "more of it")
    cold(given, "own fact", agent="helper")
    await recall(door, given, "fact", explain=True, session_id="s1", time_range_days=3)
    assert given.embedder.embeddings.queries == ["fact"]
    vector = given.embedder.embeddings.embed_query("fact")
    await recall(door, given, "fact", query_vector=vector)
    assert given.embedder.embeddings.queries == ["fact", "fact"]


# Failures.


async def test_one_tier_that_fails_does_not_take_the_other_away(door):
    for tier, left in (("working", "cold fact"), ("long_term", "hot fact")):
        given = parts(on_error="raise")
        hot(given, "hot fact")
        cold(given, "cold fact")
        heard: list[dict[str, Any]] = []
        with listen(heard.append):
            found = await recall(door, broken(given, tier), "fact")
        assert texts(found) == [left]
        assert found.failed == ("working" if tier == "working" else "long_term",)
        assert "OSError" in found.notes[0]
        events = {one["event"]: one for one in heard}
        assert events["retrieval_error"]["error"] == "OSError"
        assert (events["retrieved"]["working"], events["retrieved"]["long_term"]) == (
            (0, 1) if tier == "working" else (1, 0)
        )


async def test_two_tiers_that_fail_are_told_or_raised_as_the_memory_says(door):
    given = broken(parts(), "working", "long_term")
    found = await recall(door, given, "fact")
    assert (found, found.failed) == ([], ("working", "long_term"))
    with pytest.raises(StoreUnavailable, match="OSError"):
        await recall(door, replace(given, on_error="raise"), "fact")
    with pytest.raises(StoreUnavailable):
        await recall(door, replace(given, on_error="raise"), "fact", tiers=("long_term",))


async def test_a_query_that_cannot_be_embedded_is_asked_by_words(door):
    moody = Moody()
    given = parts(embeddings=moody)
    hot(given, "wombat in the garden")
    hot(given, "tea")
    cold(given, "wombat sleeps")
    moody.broken = ValueError("down")
    found = await recall(door, given, "wombat", score_threshold=0.9)
    assert found.failed == ()
    assert len(found.notes) == 1
    assert "words" in found.notes[0]
    assert {one.similarity for one in found} == {None}
    assert texts(found)[-1] == "tea"
    assert set(texts(found)[:2]) == {"wombat in the garden", "wombat sleeps"}


async def test_an_entry_that_cannot_be_embedded_keeps_its_place_by_words(door):
    given = parts(embeddings=Moody(refuse=lambda text: "odd" in text))
    hot(given, "an odd wombat")
    hot(given, "a plain wombat")
    found = await recall(door, given, "wombat")
    assert set(texts(found)) == {"an odd wombat", "a plain wombat"}


async def test_vectors_of_another_model_leave_words(door, stores):
    given = parts(stores, embeddings=HashEmbeddings(32))
    cold(given, "wombat sleeps")
    other = replace(given, embedder=Embedder(HashEmbeddings(16), "hash"))
    found = await recall(door, other, "wombat")
    assert texts(found) == ["wombat sleeps"]
    assert found[0].similarity is None
    assert "16" in found.notes[0]
    assert Space("hash", 32) in given.stores.long_term.spaces()
    wrong = await recall(door, given, "wombat", query_vector=(1.0, 0.0))
    assert texts(wrong) == ["wombat sleeps"]


async def test_a_recall_tells_what_it_found_and_no_text(door):
    given = parts(embeddings=Planes())
    hot(given, "hot @0.4")
    cold(given, "cold @0.8")
    heard: list[dict[str, Any]] = []
    with listen(heard.append):
        await recall(door, given, "secret plan")
    (one,) = heard
    assert (one["event"], one["working"], one["long_term"]) == ("retrieved", 1, 1)
    assert one["best"] == pytest.approx(0.8, abs=1e-3)
    assert one["ms"] > 0
    assert "secret" not in str(one)
    assert one["agent"] == "helper"


async def test_a_clock_that_is_moved_is_the_only_time_there_is(door):
    given = parts(clock=Clock(datetime(2400, 1, 1, tzinfo=UTC)))
    hot(given, "fact")
    assert len(await recall(door, given, "fact", time_range_days=1)) == 1


async def test_a_list_that_cannot_be_taken_changes_nothing_in_the_stores(door, stores):
    given = parts(stores, embeddings=HashEmbeddings())
    cold(given, "fact one", "fact two")
    hot(given, "fact three")
    before = given.stores.long_term.find(Select.within(SHOP)).items
    found = await recall(door, given, "fact")
    found.clear()
    assert given.stores.long_term.find(Select.within(SHOP)).items == before
    assert len(await recall(door, given, "fact")) == 3


@pytest.mark.slow
async def test_huge_entries_do_not_hold_up_a_recall(door):
    given = parts(embeddings=HashEmbeddings())
    for n in range(20):
        hot(given, f"wombat {n} " + "word " * 190_000)
    cold(given, "wombat sleeps")
    found = await recall(door, given, "wombat")
    assert found[0].content == "wombat sleeps"
    assert len(found) == 11
    assert all(len(one) <= 20_000 for some in given.embedder.embeddings.asked for one in some)


async def test_a_range_of_time_that_cannot_be_is_refused(door):
    for days in (-1, float("nan")):
        with pytest.raises(SettingError, match="time_range_days"):
            await recall(door, parts(), "fact", time_range_days=days)


async def test_every_store_ranks_words_alike(door, tmp_path):
    answers = []
    for kind in KINDS:
        given = parts(both_stores(kind, tmp_path))
        for n in range(30):
            cold(given, f"note {n} of the {'old ' * (n % 3)}shop", f"and {n % 7} wombats")
        asked = ("old shop", "3 wombats", "note 11", "koala")
        found = [await recall(door, given, one, explain=True) for one in asked]
        answers.append(
            [
                (one.item.id, round(one.item.score, 9), dict(one.ranks), one.left_out)
                for some in found
                for one in some.candidates
                if one.left_out is None
            ]
        )
        given.stores.long_term.close()
    assert answers[0] == answers[1]

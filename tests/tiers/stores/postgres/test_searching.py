"""PostgreSQL: words and vectors of large scopes are found by their indexes."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import pytest

from limits import limited
from memoryware.settings import PostgresLimits
from memoryware.testing._store import (
    ACME,
    FLAT,
    choose_all,
    document,
    later,
    make_query,
    runs,
    within,
)
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.postgres import postgres_stores
from memoryware.tiers.stores.protocol import Select, Space
from servers import postgres


@pytest.mark.slow
def test_among_many_the_index_finds_as_many_as_were_asked_for(address):
    dice = random.Random(1)
    stores = postgres_stores(address, limits=limited(PostgresLimits, indexed=0, exact_vectors=100))
    space = Space("wide", 16)
    vectors = {}
    for group in range(4):
        scope = replace(ACME, group_id=f"g{group}")
        for n in range(5):
            chunks = document(*(f"{n} {m}" for m in range(100)), scope=scope)
            made = [[dice.gauss(0, 1) for _ in range(16)] for _ in chunks]
            stores.long_term.add(chunks, made, space)
            vectors |= {one.id: (group, vector) for one, vector in zip(chunks, made, strict=True)}
    good = 0
    for _ in range(10):
        query = [dice.gauss(0, 1) for _ in range(16)]
        which = within(replace(ACME, group_id="g2"), live_at=later(hours=1))
        hits = stores.long_term.by_vector(query, which, space=space, limit=10)
        assert len(hits) == 10
        mine = [(cosine(query, one), id_) for id_, (group, one) in vectors.items() if group == 2]
        best = {id_ for _, id_ in sorted(mine, reverse=True)[:10]}
        good += len(best & {hit.memory.id for hit in hits})
    assert good >= 90
    stores.working.close()
    assert looks(address, 10) >= 10


@pytest.mark.slow
def test_a_small_group_among_many_finds_its_nearest_by_the_index(address):
    dice = random.Random(2)
    stores = postgres_stores(
        address, limits=limited(PostgresLimits, indexed=0, exact_vectors=10, index_breadth=20)
    )
    space = Space("wide", 8)
    mine = {}
    for n in range(15):
        for group, count in (("many", 100), ("few", 2)):
            chunks = document(
                *(f"{group} {n} {m}" for m in range(count)), scope=replace(ACME, group_id=group)
            )
            made = [[dice.gauss(0, 1) for _ in range(8)] for _ in chunks]
            stores.long_term.add(chunks, made, space)
            if group == "few":
                mine |= {one.id: vector for one, vector in zip(chunks, made, strict=True)}
    few, good = within(replace(ACME, group_id="few")), 0
    for _ in range(5):
        query = [dice.gauss(0, 1) for _ in range(8)]
        hits = stores.long_term.by_vector(query, few, space=space, limit=10)
        best = sorted(mine, key=lambda one: -cosine(query, mine[one]))[:10]
        assert len(hits) == 10
        good += len({hit.memory.id for hit in hits} & {*best})
    assert good >= 45
    stores.working.close()
    assert looks(address, 5) >= 5


def test_a_search_sees_what_is_beside_what_the_index_has_found(address):
    dice = random.Random(3)
    stores = postgres_stores(address, limits=limited(PostgresLimits, indexed=0, exact_vectors=10))
    space = Space("wide", 8)
    chunks = document(*(f"n{n}" for n in range(300)))
    made = [[dice.gauss(0, 1) for _ in range(8)] for _ in chunks]
    made[77] = [0.0] * 8  # has no direction, and is in no index
    stores.long_term.add(chunks, made, space)
    query = make_query("n77", made[150], space, limit=1, reach=2)
    found = stores.long_term.search(query, within(), choose_all)
    assert runs(found) == [[f"n{at + n}" for n in range(-2, 3)] for at in (150, 77)]
    near = {one.content: found.view.candidates[at].similarity for at, one in found.memories.items()}
    wanted = {text: cosine(made[150], made[int(text[1:])]) for text in near}
    assert near == pytest.approx(wanted, abs=0.01)
    stores.working.close()
    assert looks(address, 1) >= 1


def looks(address, wanted):
    """Return how often an index of vectors was looked into, once the server has counted it."""
    last = time.monotonic() + 5
    while True:
        ((_, count),) = postgres.asked(
            address,
            "SELECT pg_stat_force_next_flush(), idx_scan FROM pg_stat_user_indexes"
            " WHERE indexrelname = 'vector_1' AND schemaname = current_schema()",
        )
        if count >= wanted or time.monotonic() > last:
            return count
        time.sleep(0.05)


def test_new_words_are_in_the_index_at_once_and_no_search_reads_a_list_of_them(stores, address):
    for n in range(20):
        stores.long_term.add(document(f"tea {n}"))
    assert postgres.asked(address, "SELECT gin_clean_pending_list('word_tokens')") == [(0,)]


def test_words_are_looked_up_and_no_others(stores, address):
    for n in range(300):
        scope = replace(ACME, group_id=f"g{n % 3}")
        stores.long_term.add(document(f"tea {n}", scope=scope))
    postgres.asked(address, "ANALYZE word_index")
    assert (
        len(stores.long_term.by_words(["tea"], within(replace(ACME, group_id="g1")), limit=500))
        == 100
    )
    hits = stores.long_term.by_words(["7", "tea"], Select(tenant="t"), limit=1)
    assert [hit.memory.content for hit in hits] == ["tea 7"]
    plan = postgres.asked(
        address,
        "SET enable_seqscan = off; EXPLAIN SELECT * FROM word_index WHERE tokens && '{7}'::bigint[]",
    )
    assert "word_tokens" in str(plan)


@pytest.mark.parametrize("more", ["", "&prepared_statements=off"])
def test_many_words_score_as_they_do_elsewhere(address, more):
    dice, words = random.Random(2), [f"w{n}" for n in range(60)]
    stores = postgres_stores(address + more)
    mine, theirs = stores.long_term, embedded().long_term
    for _ in range(30):
        made = document(" ".join(dice.choices(words, k=40)), created_at=later(hours=dice.random()))
        mine.add(made)
        theirs.add(made)
    for count in (1, 20, 24, 25, 60):
        asked = dice.sample(words, count)
        one, other = (store.by_words(asked, within(), limit=5) for store in (mine, theirs))
        assert [hit.memory for hit in one] == [hit.memory for hit in other]
        assert [hit.value for hit in one] == pytest.approx([hit.value for hit in other])
    stores.working.close()


def test_of_equals_the_newest_come_first_whatever_the_limit(address):
    stores, days = postgres_stores(address), [*range(30)]
    for day in days:
        made = document(f"tea number{day}", created_at=later(days=day))
        stores.long_term.add(made, [[1, 0, 0]], FLAT)
    for limit in (1, 5, 29):
        wanted = [f"tea number{day}" for day in range(29, 29 - limit, -1)]
        by_words = stores.long_term.by_words(["tea"], within(), limit=limit)
        by_vector = stores.long_term.by_vector([1, 1, 0], within(), space=FLAT, limit=limit)
        assert [hit.memory.content for hit in by_words] == wanted
        assert [hit.memory.content for hit in by_vector] == wanted
    stores.working.close()

"""PostgreSQL: groups are searched in segments of the process, and never in what is out of date."""

from __future__ import annotations

import random
import threading
from dataclasses import replace

import pytest

from memoryware import MemoryScope
from memoryware.settings import PostgresLimits
from memoryware.testing._store import ACME, FLAT, document, within
from memoryware.tiers.stores.postgres import postgres_stores
from memoryware.tiers.stores.protocol import Query, Select
from memoryware.tiers.text.terms import words_of
from servers import postgres
from tiers.stores.postgres.kit import through

np = pytest.importorskip("numpy")


def everything(view):
    return range(len(view.candidates))


def texts(stores, words="tea", which=None, vector=None):
    """Return what a search finds, sorted."""
    query = Query(words=tuple(words_of(words)), vector=vector, space=vector and FLAT, limit=500)
    found = stores.long_term.search(query, which or within(), everything)
    return sorted(one.content for one in found.memories.values())


def test_a_search_sees_what_others_added_changed_and_removed(address):
    mine, other = postgres_stores(address), postgres_stores(address)
    for number in range(5):
        other.long_term.add(document(f"tea {number}"), [[1, number, 0]], FLAT)
        assert texts(mine) == [f"tea {one}" for one in range(number + 1)]
        assert texts(mine, "", vector=(1, 0, 0)) == texts(mine)
    ids = {one.content: one.id for one in mine.long_term.find(within()).items}
    other.long_term.delete(within(ids=(ids["tea 2"],)))
    hidden = within(ids=(ids["tea 3"],))
    other.long_term.edit(hidden, lambda one: replace(one, valid_to=one.valid_from))
    assert texts(mine) == ["tea 0", "tea 1", "tea 3", "tea 4"]
    now = mine.long_term.find(hidden).items[0].created_at
    assert texts(mine, which=within(live_at=now)) == ["tea 0", "tea 1", "tea 4"]
    other.long_term.edit(
        within(ids=(ids["tea 4"],)), lambda one: replace(one, content="coffee is not it")
    )
    assert texts(mine) == ["tea 0", "tea 1", "tea 3"]
    assert texts(mine, "coffee") == ["coffee is not it"]
    for stores in (mine, other):
        stores.working.close()


@pytest.mark.slow
def test_more_changes_than_the_log_has_are_seen_as_well(address):
    mine, other = postgres_stores(address), postgres_stores(address)
    other.long_term.add(document("tea first"))
    assert texts(mine) == ["tea first"]
    for number in range(70):
        other.long_term.add(document(f"tea {number}"))
    other.long_term.load([one for n in range(2100) for one in document(f"coffee {n}")])
    other.long_term.delete(within(contains="first"))
    assert texts(mine) == sorted(f"tea {number}" for number in range(70))
    for stores in (mine, other):
        stores.working.close()


def test_a_search_that_nothing_has_changed_for_takes_one_round_trip(address, relay):
    stores = postgres_stores(through(address, relay))
    stores.long_term.add(document("tea is served", "at four"))
    texts(stores)
    assert relay.counted(lambda: texts(stores)) == 1
    stores.long_term.add(document("tea with milk"))
    assert relay.counted(lambda: texts(stores)) == 1
    stores.working.close()


@pytest.mark.slow
def test_segments_and_the_server_find_the_same(address):
    dice = random.Random(7)
    words = ["tea", "milk", "cup", "pot", "leaf", "sugar", "lemon", "honey"]
    mine, plain = postgres_stores(address), postgres_stores(f"{address}&indexed=0")
    for number in range(120):
        text = " ".join(dice.choices(words, k=dice.randint(2, 12)))
        chunks = document(f"{text} {number}")
        mine.long_term.add(chunks, [[dice.gauss(0, 1) for _ in range(3)]], FLAT)
        if number % 7 == 3:
            which = within(ids=(chunks[0].id,))
            mine.long_term.edit(which, lambda one: replace(one, valid_to=one.valid_from))
    for _ in range(20):
        vector = tuple(dice.gauss(0, 1) for _ in range(3))
        query = Query(
            words=words_of(" ".join(dice.sample(words, 3))), vector=vector, space=FLAT, limit=10
        )
        for which in (within(), within(agents=(None,))):
            seen = [stores.long_term.search(query, which, everything) for stores in (mine, plain)]
            first, second = (
                [found.memories[at].id for at in sorted(found.memories)] for found in seen
            )
            assert first == second
            assert seen[0].view.having == seen[1].view.having
            assert seen[0].view.count == seen[1].view.count
    for stores in (mine, plain):
        stores.working.close()


def test_a_transaction_sees_its_own_memories_and_nobody_else_does_before_it_is_committed(address):
    stores = postgres_stores(address)
    stores.long_term.add(document("tea first"))
    assert texts(stores) == ["tea first"]

    class Undone(Exception):
        pass

    async def work(transaction):
        await transaction.add("long_term", document("tea second"))
        query = Query(words=("tea",), limit=9)
        found = await transaction.search(query, within(), everything)
        assert len(found.memories) == 2
        raise Undone

    from memoryware._runner import run_blocking

    with pytest.raises(Undone):
        run_blocking(stores.long_term.store.transaction(work, about=within()))
    assert texts(stores) == ["tea first"]
    stores.working.close()


def test_a_role_that_lost_its_tenant_sees_nothing_in_its_segment(address, roles):
    scopes = {tenant: MemoryScope(tenant=tenant, group_id="g") for tenant in ("a", "b")}
    owner, bound = postgres_stores(address), postgres_stores(roles[1])
    for scope in scopes.values():
        owner.long_term.add([replace(document("tea")[0], scope=scope)])
    assert texts(bound, which=Select.within(scopes["b"])) == ["tea"]
    assert texts(bound, which=Select.within(scopes["a"])) == []
    postgres.asked(address, "UPDATE bound SET owner = 'ta'")
    assert texts(bound, which=Select.within(scopes["b"])) == []
    for stores in (owner, bound):
        stores.working.close()


def test_threads_that_search_and_add_at_once_see_whole_documents(address):
    stores = postgres_stores(address)
    stores.long_term.add(document("tea 0 a", "tea 0 b"))
    failed, stop = [], threading.Event()

    def search():
        try:
            while not stop.is_set():
                found = texts(stores)
                assert len(found) % 2 == 0, found
                assert found == sorted({*found})
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for one in threads:
        one.start()
    for number in range(1, 40):
        stores.long_term.add(document(f"tea {number} a", f"tea {number} b"))
        if number % 5 == 0:
            old = stores.long_term.find(within(contains=f"tea {number - 3} ")).items
            stores.long_term.delete(within(documents=(old[0].document_id,)))
    stop.set()
    for one in threads:
        one.join(30)
    assert failed == []
    stores.working.close()


def test_groups_that_are_too_large_are_searched_by_the_server(address):
    stores = postgres_stores(address, limits=PostgresLimits(indexed=3))
    for number in range(5):
        stores.long_term.add(document(f"tea {number}"))
        assert len(texts(stores)) == number + 1
    stores.working.close()


@pytest.mark.parametrize(
    "name", ['with "quotes"', "back\\slash", "größer als", "\x01", "x" * 300, "a\ud800b", "plain"]
)
def test_chains_are_found_whatever_the_id_of_a_document(address, name):
    stores = postgres_stores(address)
    (one,) = document("tea")
    odd = {"superseded_by": "of the metadata"}
    ended = replace(one, valid_to=one.valid_from, superseded_by=name, metadata=odd)
    stores.long_term.load([ended, replace(document("other")[0], metadata=odd)])
    found = stores.long_term.find(Select.within(ACME, superseded_by=(name,))).items
    assert [one.content for one in found] == ["tea"]
    assert not stores.long_term.find(within(superseded_by=("of the metadata",))).items
    stores.working.close()

"""What calls on a SQLite file cost, in statements and in steps of SQLite: both are exact counts."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

from memoryware.testing._store import ACME, entry, later, memory, within
from memoryware.tiers.stores.protocol import Query, Select, Space
from memoryware.tiers.stores.sqlite import sqlite_stores

SPACE = Space("model", 4)
VECTOR = [1.0, 2.0, 3.0, 4.0]
HYBRID = Query(words=["orders", "word3"], vector=VECTOR, space=SPACE, limit=5)
OTHER = replace(ACME, group_id="other")


def memories(count, scope=ACME):
    return [memory(f"word{n % 7} of text {n}", scope=scope) for n in range(count)]


def filled(path, count, scope=ACME):
    stores = sqlite_stores(path)
    given = memories(count, scope)
    stores.long_term.load(given)
    stores.long_term.put_vectors([(one, VECTOR) for one in given], SPACE)
    stores.quarantine.load([entry(f"entry {n}", scope=scope) for n in range(count)])
    return stores, given


@contextmanager
def counted(stores):
    """Count statements, and steps of SQLite by hundreds."""
    db = stores.long_term.store._database._db
    counts = {"statements": [], "steps": 0}

    def step():
        counts["steps"] += 1

    db.set_trace_callback(counts["statements"].append)
    db.set_progress_handler(step, 100)
    try:
        yield counts
    finally:
        db.set_trace_callback(None)
        db.set_progress_handler(None, 0)


def statements(stores, work):
    with counted(stores) as counts:
        work()
    return counts["statements"]


def search(stores, query=HYBRID, **more):
    which = within(live_at=later(hours=1), **more)
    return stores.long_term.search(query, which, lambda view: range(min(5, len(view.candidates))))


def test_a_search_takes_two_statements_and_one_that_shows_the_same_again_takes_one(tmp_path):
    stores, _ = filled(tmp_path / "memory.db", 40)
    search(stores)
    other = replace(HYBRID, words=["word5"], vector=[4.0, 1.0, 0.0, 0.0])
    assert len(statements(stores, lambda: search(stores, other))) <= 2
    assert len(statements(stores, lambda: search(stores))) == 1


def test_a_write_to_another_group_does_not_touch_what_is_known_of_this_one(tmp_path):
    stores, _ = filled(tmp_path / "memory.db", 40)
    search(stores)
    elsewhere, _ = filled(tmp_path / "memory.db", 10, OTHER)
    elsewhere.long_term.delete(Select.within(OTHER))
    told = statements(stores, lambda: search(stores))
    assert not [one for one in told if "BEGIN" in one or "FROM change" in one]


def test_reads_of_one_statement_begin_no_transaction(tmp_path):
    stores, given = filled(tmp_path / "memory.db", 5)
    which = within(ids=(given[0].id,))
    assert len(statements(stores, lambda: stores.long_term.find(which))) == 1
    assert len(statements(stores, lambda: stores.long_term.spaces())) == 1


@pytest.mark.parametrize(
    ("name", "most"), [("record", 7), ("push", 7), ("edit", 9), ("delete", 16), ("document", 12)]
)
def test_statements_of_a_write(tmp_path, name, most):
    stores, given = filled(tmp_path / "memory.db", 5)
    first = within(ids=(given[0].id,))
    works = {
        "record": lambda: stores.quarantine.add(entry("another", key="k")),
        "push": lambda: stores.working.push(entry("another"), keep=3),
        "edit": lambda: stores.long_term.edit(first, lambda one: replace(one, revocation="r")),
        "delete": lambda: stores.long_term.delete(first),
        "document": lambda: stores.long_term.add([memory("another")], [VECTOR], SPACE),
    }
    told = statements(stores, works[name])
    # One generation in 32 removes what other processes have followed long ago.
    usual = [one for one in told if not one.startswith("DELETE FROM change WHERE grp")]
    assert len(usual) <= most, told
    assert len([one for one in told if one == "COMMIT"]) == 1


def test_what_calls_cost_does_not_grow_with_the_group(tmp_path):
    steps = {}
    for count in (100, 3000):
        stores, given = filled(tmp_path / f"{count}.db", count)
        search(stores)
        one = given[count // 2]
        which = within(ids=(one.id,))
        works = {
            "find": lambda which=which, stores=stores: stores.long_term.find(which),
            "list": lambda stores=stores: stores.long_term.find(within(), limit=20),
            "count": lambda stores=stores: stores.long_term.find(within(), limit=0),
            "count what is valid": lambda stores=stores: stores.long_term.find(
                within(live_at=later(days=900)), limit=0
            ),
            "count what waits": lambda stores=stores: stores.quarantine.find(
                within(statuses=("pending", "proposed")), limit=0
            ),
            "spaces": lambda stores=stores: stores.long_term.spaces(),
            "twins": lambda stores=stores, one=one: stores.long_term.find(
                within(hashes=(one.content_hash,))
            ),
            "edit": lambda stores=stores, which=which: stores.long_term.edit(
                which, lambda old: replace(old, revocation="r")
            ),
            "search after it": lambda stores=stores: search(stores),
            "delete": lambda stores=stores, which=which: stores.long_term.delete(which),
            "search after that": lambda stores=stores: search(stores),
            "record": lambda stores=stores: stores.quarantine.add(entry("one more")),
        }
        for name, work in works.items():
            with counted(stores) as counts:
                work()
            steps.setdefault(name, []).append(counts["steps"])
    assert {name: few for name, (few, many) in steps.items() if many > few * 1.5 + 2} == {}, steps

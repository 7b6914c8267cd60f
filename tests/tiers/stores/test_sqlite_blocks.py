"""Blocks of large groups: the same results as from rows, and nothing that was forgotten."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import pytest

from memoryware.testing._store import document, within
from memoryware.tiers.stores import _columns as columns
from memoryware.tiers.stores import _segment as segment
from memoryware.tiers.stores._columns import word_hash
from memoryware.tiers.stores.protocol import Query, Select
from memoryware.tiers.stores.sqlite import _database as database
from memoryware.tiers.stores.sqlite import _search as search
from memoryware.tiers.stores.sqlite import sqlite_stores
from memoryware.tiers.text.terms import words_of
from tiers.stores.test_sqlite_index import (
    CHANGES,
    NUMBERS,
    OTHER,
    SPACE,
    add,
    asked,
    revoke,
    seen,
    selections,
    vector,
)

ROWS = 4


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of few rows, for groups of any size."""
    monkeypatch.setattr(search, "BLOCK_ROWS", ROWS)
    monkeypatch.setattr(search, "_PACKED_FROM", 1)
    monkeypatch.setattr(columns, "_EXACT", 0)


def rows(path, sql, *values):
    with closing(sqlite3.connect(path)) as db:
        found = db.execute(sql, values).fetchall()
        db.commit()
        return found


def filled(store, dice, count=30):
    for n in range(count):
        store.add(document(f"word{n % 12} number n{next(NUMBERS)}"), [vector(dice)], SPACE)


def packed(path):
    """Ask the group once in an opening of its own, which packs it when it is closed."""
    store = sqlite_stores(path).long_term
    store.search(Query(words=["word1"], space=SPACE, vector=[1.0] * 8), within(), lambda _: ())
    store.close()
    return rows(path, "SELECT above, last FROM block ORDER BY last")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_search_from_blocks_sees_what_a_search_of_rows_sees(opened, path, seed):
    dice = random.Random(seed)
    others, plain = opened(), opened(indexed=0)
    for _ in range(20):
        add(others, dice)
    loaded = 0
    for _ in range(40):
        packed(path)
        for _ in range(dice.randint(0, 3)):
            dice.choice(CHANGES)(others, dice)
        loaded += rows(path, "SELECT count(*) FROM block")[0][0]
        fresh = sqlite_stores(path).long_term
        query = asked(dice, sessions=dice.random() < 0.3)
        for which in selections(dice):
            assert seen(fresh, query, which) == seen(plain, query, which)
        fresh.close()
    assert loaded > 100


def test_a_large_group_is_packed_when_it_is_closed_and_read_from_blocks(opened, path):
    dice = random.Random(1)
    store, plain = opened(), opened(indexed=0)
    filled(store, dice)
    first = packed(path)
    assert len(first) == 30 // ROWS
    assert all(last == above for (_, last), (above, _) in pairwise(first))
    # were it read from its rows, it would not see what only the block says
    rows(path, "DELETE FROM vector")
    query = Query(words=(), vector=vector(dice), space=SPACE, limit=5)
    fresh = sqlite_stores(path)
    with pytest.raises(AssertionError):
        assert seen(fresh.long_term, query) == seen(plain, query)
    fresh.long_term.close()


def test_blocks_of_another_version_are_passed_over_and_packed_anew(opened, path, monkeypatch):
    dice = random.Random(8)
    store, plain = opened(), opened(indexed=0)
    filled(store, dice)
    with monkeypatch.context() as older:
        older.setattr(segment, "_FORM", 1)
        packed(path)
    before = rows(path, "SELECT data FROM block ORDER BY last")
    query = replace(asked(dice), words=["word1", "word2"], sessions=True, reach=3, limit=5)
    result = seen(opened(), query)
    assert result == seen(plain, query)
    assert packed(path)
    after = rows(path, "SELECT data FROM block ORDER BY last")
    assert len(after) == len(before)
    assert not {*after} & {*before}
    assert seen(opened(), query) == result


def test_newer_rows_are_the_tail_and_fill_blocks_of_their_own(opened, path):
    dice = random.Random(2)
    store, plain = opened(), opened(indexed=0)
    filled(store, dice, 10)
    before = packed(path)
    filled(store, dice, 10)
    query = asked(dice)
    assert seen(opened(), query) == seen(plain, query)
    assert packed(path)[: len(before)] == before
    assert len(packed(path)) == 20 // ROWS


def test_a_write_deletes_the_blocks_of_what_it_changes_and_writes_none(opened, path):
    dice = random.Random(3)
    store, plain = opened(), opened(indexed=0)
    filled(store, dice)
    before = packed(path)
    revoke(store, dice)
    after = rows(path, "SELECT above, last FROM block ORDER BY last")
    assert len(after) == len(before) - 1
    assert {*after} < {*before}
    query = asked(dice)
    assert seen(opened(), query) == seen(plain, query)
    assert packed(path) == before


@pytest.mark.parametrize("whole", [False, True])
def test_nothing_of_a_forgotten_memory_is_left(opened, path, whole):
    dice = random.Random(4)
    store = opened()
    filled(store, dice)
    store.add(document("unforgettable secret"), [vector(dice)], SPACE)
    filled(store, dice, 2 * ROWS)
    assert packed(path)
    secret = word_hash(*words_of("unforgettable"))
    where = [path, path.with_name(f"{path.name}-wal")]
    assert any(secret in one.read_bytes() for one in where if one.exists())
    (kept,) = [one for one in store.find(within()).items if "secret" in one.content]
    store.delete(within() if whole else Select.within(kept.scope, ids=(kept.id,)))
    assert not any(secret in one.read_bytes() for one in where if one.exists())
    assert whole != bool(rows(path, "SELECT 1 FROM block"))


@pytest.mark.parametrize(
    "damage",
    [
        "substr(data, 1, 100) || x'ff' || substr(data, 102)",
        "substr(data, 1, 200)",
        "x''",
        "zeroblob(length(data))",
        "data || x'00'",
    ],
)
def test_a_damaged_block_is_ignored_and_written_anew(opened, path, damage):
    dice = random.Random(5)
    store, plain = opened(), opened(indexed=0)
    filled(store, dice)
    before = packed(path)
    intact = rows(path, "SELECT data FROM block ORDER BY last")
    rows(path, f"UPDATE block SET data = CAST({damage} AS BLOB) WHERE last = ?", before[2][1])
    query = asked(dice)
    assert seen(opened(), query) == seen(plain, query)
    packed(path)
    packed(path)
    assert rows(path, "SELECT data FROM block ORDER BY last") == intact


def test_blocks_of_another_space_are_not_read_and_go(opened, path):
    dice = random.Random(6)
    store, plain = opened(), opened(indexed=0)
    filled(store, dice)
    packed(path)
    every = store.find(within()).items
    store.put_vectors([(one, vector(dice, OTHER)) for one in every], OTHER)
    store.adopt(OTHER, drop_others=True)
    assert rows(path, "SELECT * FROM block") == []
    query = asked(dice, OTHER)
    assert seen(opened(), query) == seen(plain, query)


def test_an_idle_file_is_packed_in_the_background(opened, path, monkeypatch):
    monkeypatch.setattr(database, "IDLE", 0.05)
    monkeypatch.setattr(search, "_BLOCKS_AT_ONCE", 2)
    dice = random.Random(7)
    store = opened()
    filled(store, dice)
    seen(store, asked(dice))
    last = time.monotonic() + 20
    while len(rows(path, "SELECT 1 FROM block")) < 30 // ROWS and time.monotonic() < last:
        time.sleep(0.02)
    assert len(rows(path, "SELECT 1 FROM block")) == 30 // ROWS
    store.add(document("word1 later"), [vector(dice)], SPACE)  # it goes on being used
    assert seen(store, Query(words=["later"])) == seen(opened(indexed=0), Query(words=["later"]))


def test_whoever_packs_what_another_process_has_changed_writes_nothing(opened, path):
    dice = random.Random(8)
    store, others = sqlite_stores(path).long_term, opened()
    filled(store, dice)
    seen(store, asked(dice))
    others.add(document("word1 meanwhile"), [vector(dice)], SPACE)
    store.close()
    assert rows(path, "SELECT * FROM block") == []
    writer = sqlite3.connect(path, isolation_level=None)
    with closing(writer):
        store = sqlite_stores(path).long_term
        seen(store, asked(dice))
        writer.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        store.close()  # it does not wait for the writer either
        assert time.monotonic() - start < 5
        writer.execute("ROLLBACK")
    assert rows(path, "SELECT * FROM block") == []
    assert packed(path)


@pytest.mark.slow
def test_blocks_are_in_a_copy_and_take_no_more_than_their_rows(opened, path):
    dice = random.Random(9)
    store = opened()
    filled(store, dice, 400)
    for _ in range(5):
        for _ in range(10):
            revoke(store, dice)
        packed(path)
    assert rows(path, "SELECT count(*) FROM block")[0][0] <= 400 // ROWS
    ranges = rows(path, "SELECT above, last FROM block ORDER BY last")
    assert all(one[1] <= other[0] for one, other in pairwise(ranges))
    copy = path.with_name("copy.db")
    with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(copy)) as target:
        db.backup(target)
    query = asked(dice)
    plain = opened(indexed=0)
    fresh = sqlite_stores(copy)
    assert seen(fresh.long_term, query) == seen(plain, query)
    fresh.long_term.close()


def test_a_file_that_cannot_be_written_is_read_all_the_same(opened, path):
    dice = random.Random(10)
    store = sqlite_stores(path).long_term
    filled(store, dice)
    store.close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        fresh = sqlite_stores(path).long_term
        query = asked(dice)
        assert seen(fresh, query)[2] == 30
        fresh.close()
    finally:
        path.parent.chmod(0o700)
        path.chmod(0o600)
    plain = opened(indexed=0)
    assert seen(opened(), query) == seen(plain, query)


PACKS = """
import sys
sys.path.insert(0, "tests")
from memoryware.tiers.stores import _columns as columns
from memoryware.tiers.stores.sqlite import _search as search
search.BLOCK_ROWS, search._BLOCKS_AT_ONCE, search._PACKED_FROM, columns._EXACT = 1, 1, 1, 0
from tiers.stores.test_sqlite_blocks import *
store = sqlite_stores(sys.argv[1]).long_term
seen(store, Query(words=["word1"], space=SPACE, vector=[1.0] * 8))
print("begins", flush=True)
store.close()
print("ends", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_kill_while_blocks_are_written_leaves_whole_blocks_only(opened, path, seed):
    dice = random.Random(seed)
    store, plain = opened(), opened(indexed=0)
    filled(store, dice, 300)
    counts = set()
    for _ in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", PACKS, str(path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout.readline() == "begins\n"
            time.sleep(dice.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
        counts.add(rows(path, "SELECT count(*) FROM block")[0][0])
        query = asked(dice)
        fresh = sqlite_stores(path).long_term
        assert seen(fresh, query) == seen(plain, query)
        store.edit(within(), lambda one: replace(one, metadata={"n": len(counts)}))
        filled(store, dice, 5)
        fresh.close()
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]

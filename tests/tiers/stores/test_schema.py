"""The tables of the SQLite file: made once, changed in steps, and asked by their indexes."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from memoryware.errors import StoreNewer, StoreUnavailable
from memoryware.testing._store import NOON, entry, memory, within
from memoryware.tiers.stores._columns import WORD
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sqlite import _database as database
from memoryware.tiers.stores.sqlite import _rows as rows
from memoryware.tiers.stores.sqlite import _schema as schema
from memoryware.tiers.stores.sqlite import sqlite_stores
from memoryware.tiers.text.terms import WORDS_VERSION

STEPS = len(schema.STEPS)
ROWS = rows.SqliteDialect()


@pytest.fixture
def path(tmp_path):
    """A file with an entry and a memory."""
    made = tmp_path / "memory.db"
    stores = sqlite_stores(made)
    stores.quarantine.add(entry("kept"))
    stores.long_term.add([memory("about the orders")])
    stores.working.close()
    return made


def asked(path, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        found = db.execute(sql, values).fetchall()
        db.commit()
        return found


def with_step(monkeypatch, step: str) -> None:
    monkeypatch.setattr(database, "STEPS", (*schema.STEPS, step))


def test_a_file_says_whose_it_is_and_which_version(path):
    assert asked(path, "PRAGMA application_id") == [(0x6D656D77,)]
    assert asked(path, "PRAGMA user_version") == [(STEPS,)]
    assert asked(path, "PRAGMA journal_mode") == [("wal",)]


def test_an_older_file_is_brought_up_and_keeps_what_it_has(path, monkeypatch):
    with_step(monkeypatch, "ALTER TABLE record ADD COLUMN mood TEXT;\nCREATE TABLE more (x)")
    stores = sqlite_stores(path)
    assert [one.content for one in stores.quarantine.find(within()).items] == ["kept"]
    stores.working.close()
    assert asked(path, "PRAGMA user_version") == [(STEPS + 1,)]
    assert asked(path, "SELECT count(*) FROM more") == [(0,)]


def test_a_step_that_fails_changes_nothing(path, monkeypatch):
    with_step(monkeypatch, "CREATE TABLE more (x);\nNONSENSE")
    with pytest.raises(StoreUnavailable, match="NONSENSE"):
        sqlite_stores(path)
    monkeypatch.undo()
    assert asked(path, "PRAGMA user_version") == [(STEPS,)]
    assert asked(path, "SELECT count(*) FROM sqlite_master WHERE name = 'more'") == [(0,)]
    assert sqlite_stores(path).quarantine.find(within()).total == 1


def test_many_who_bring_up_a_file_at_once_do_it_once(path, monkeypatch):
    with_step(monkeypatch, "ALTER TABLE record ADD COLUMN mood TEXT")
    failed = []

    def bring_up():
        try:
            assert sqlite_stores(path).quarantine.find(within()).total == 1
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=bring_up) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == []


def test_who_opened_before_goes_on_after_somebody_brought_it_up(path, monkeypatch):
    before = sqlite_stores(path)
    with_step(monkeypatch, "ALTER TABLE record ADD COLUMN mood TEXT")
    sqlite_stores(path).working.close()
    assert before.quarantine.add(entry("more")).content == "more"
    assert before.quarantine.find(within()).total == 2


def test_words_that_another_version_made_are_made_anew(path):
    asked(path, "UPDATE about SET value = ? WHERE name = 'words'", WORDS_VERSION - 1)
    asked(path, "UPDATE record SET words = x'000000000000' WHERE tier = 1")
    asked(path, "UPDATE part SET words = 99")
    long_term = sqlite_stores(path).long_term
    assert len(long_term.by_words(["order"], within(), limit=5)) == 1
    assert long_term.by_words(["nothing"], within(), limit=5) == []
    long_term.close()
    assert asked(path, "SELECT value FROM about") == [(WORDS_VERSION,)]
    assert asked(path, "SELECT length(words) FROM record WHERE tier = 1") == [(3 * WORD,)]
    assert asked(path, "SELECT words FROM part") == [(3,), (3,)]  # of all groups, and of the one


def test_words_of_a_newer_version_are_left_alone(path):
    asked(path, "UPDATE about SET value = ? WHERE name = 'words'", WORDS_VERSION + 1)
    with pytest.raises(StoreNewer, match=f"{STEPS}.{WORDS_VERSION + 1}"):
        sqlite_stores(path)


def test_a_record_that_somebody_damaged_is_said(path):
    asked(path, "UPDATE record SET more = '{' WHERE tier = 0")
    stores = sqlite_stores(path)
    with pytest.raises(StoreUnavailable, match="A record in quarantine cannot be read"):
        stores.quarantine.find(within())
    assert stores.long_term.find(within()).total == 1


def test_a_damaged_file_is_said_and_the_rest_can_be_saved(path):
    for _ in range(3):
        stores = sqlite_stores(path)
        stores.quarantine.add(entry("long " * 5000))
        stores.working.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(os.urandom(size // 4))
    with pytest.raises(StoreUnavailable, match="damaged"):
        sqlite_stores(path).quarantine.find(within())


INDEXED = {
    "ids": "record_id (id=? AND tier=?",
    "documents": "record_document (document=?",
    "revocations": "record_revocation (revocation=?",
    "sessions": "record_session (session_id=?",
    "subjects": "record_topic (topic=?",
    "users": "record_user (user_id=?",
    "agents": "record_agent (agent_id=?",
    "hashes": "record_hash (hash=?",
}


def plan(
    path, which: Select, what: str = ROWS.read, after: int | None = None, tier: str = "long_term"
) -> str:
    where, values = ROWS.condition(tier, which)
    if after is not None:
        where += f" AND {ROWS.order_column(which)} < {after}"
    by = "" if what.startswith("count") else f" ORDER BY {ROWS.order_column(which)} DESC LIMIT 50"
    with closing(sqlite3.connect(path)) as db:
        db.create_function("memoryware_has", 2, rows.has)
        db.create_function("memoryware_key", 1, rows.key_of)
        sql = f"EXPLAIN QUERY PLAN SELECT {what} FROM record WHERE {where}{by}"
        return "\n".join(str(row[3]) for row in db.execute(sql, values))


@pytest.mark.parametrize("more", [{}, {"live_at": NOON}, {"since": NOON, "contains": "x"}])
@pytest.mark.parametrize("values", [("a",), ("a", "b", "c")])
@pytest.mark.parametrize(("name", "index"), INDEXED.items())
def test_what_tells_most_is_looked_up(path, name, index, values, more):
    which = within(**{name: values}, **more)
    assert f"INDEX {index}" in plan(path, which)
    assert f"INDEX {index}" in plan(path, which, "count(*)")


@pytest.mark.parametrize(("name", "index"), INDEXED.items())
def test_it_is_looked_up_in_all_groups_of_a_tenant_as_well(path, name, index):
    which = Select(tenant="t", **{name: ("a", "b")})
    assert f"INDEX {index}" in plan(path, which)


def test_what_waits_is_looked_up(path):
    found = plan(path, within(statuses=("pending", "proposed")), tier="quarantine")
    assert "INDEX record_status (grp=? AND status=?)" in found


def test_a_long_list_is_looked_up_as_well(path):
    which = within(ids=tuple(map(str, range(500))))
    assert "INDEX record_id (id=? AND tier=?" in plan(path, which)


@pytest.mark.parametrize(
    "more", [{}, {"live_at": NOON}, {"live_at": NOON, "agents": (None,)}, {"users": (None, "a")}]
)
def test_a_group_is_read_in_its_own_order_without_a_look_at_others(path, more):
    assert "INDEX record_part (grp=? AND tier=?)" in plan(path, within(**more))
    assert "TEMP B-TREE" not in plan(path, within(**more))


@pytest.mark.parametrize("more", [{}, {"live_at": NOON}])
def test_a_page_after_a_mark_begins_at_it(path, more):
    found = plan(path, within(**more), after=7)
    assert "rowid<?" in found
    assert "TEMP B-TREE" not in found


def test_a_mark_costs_no_index_where_several_are_asked_for(path):
    found = plan(path, within(ids=("a", "b")), after=7)
    assert "INDEX record_id" in found


def test_who_made_something_and_of_what_is_looked_up(path):
    which = within(root="tool:x", made_of=("a", "b"))
    found = plan(path, replace(which, live_at=NOON))
    assert found.count("USING PRIMARY KEY (name=?)") == 2

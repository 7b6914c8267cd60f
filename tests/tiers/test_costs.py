"""What operations cost, as counts: they hold on every machine, however busy it is.

The bounds are those of today. Whoever makes an operation cheaper lowers its number here; the
number behind it is where it is to go.
"""

from __future__ import annotations

import os
import random
import sqlite3
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
import redis

from counting import Relay, Walk, counted_statements, walk
from memoryware import Memory, MemoryScope, Origin, Provenance, TieredMemory
from memoryware.tiers.model import hash_of
from servers import postgres
from tiers.kit import HashEmbeddings

GROUP = MemoryScope(tenant="acme", group_id="support")
_SYLLABLES = "bra cor del fen gal har jun kel lor mab nor pel quin ros sal tor ul"
WORDS = _SYLLABLES.split()

# operation: (statements today, flushes today), to be (statements, flushes)
SQLITE = {
    "record": ((8, 1), (8, 1)),
    "promote a text": ((8, 1), (10, 1)),
    "promote an entry": ((10, 1), (10, 1)),
    "retrieve": ((2, 0), (2, 0)),
    "retrieve long-term only": ((2, 0), (2, 0)),
    "list": ((4, 0), (4, 0)),
    "spaces": ((1, 0), (1, 0)),
    "revoke": ((8, 1), (12, 1)),
    "restore": ((10, 1), (12, 1)),
    "forget": ((13, 1), (12, 1)),
}

PROMOTIONS = ("promote a text", "promote an entry")

# operation: round trips today, to be
POSTGRES = {
    "record": (3, 3),
    "promote a text": (2, 3),
    "promote an entry": (2, 3),
    "retrieve": (2, 2),
    "retrieve long-term only": (2, 2),
    "list": (1, 1),
}
REDIS = {"record": 3, "retrieve": 1}

# operation: (files today, moves today), to be
WALKS = {
    "record": ((32, 122), (20, 120)),
    "promote a text": ((35, 147), (25, 150)),
    "retrieve": ((33, 146), (25, 150)),
}

# Operations whose work still grows with the group; each leaves as it is repaired.
GROWING: set[str] = set()


class Operations:
    """Operations on a group of some size, each on texts of its own."""

    def __init__(self, memory: TieredMemory, size: int) -> None:
        self.memory, self._count = memory, 0
        for _ in range(50):
            self.record()
        for _ in range(min(size, 20)):
            self.memory.promote(self._text(), GROUP, by="ann")
        load(memory, [self._kept(number) for number in range(size - 20)])
        memory.embed_pending()
        self.entries = [memory.log_quarantine(self._text(), GROUP) for _ in range(4)]
        promoted = [memory.promote(self._text(), GROUP, by="ann") for _ in range(9)]
        self.ids = [one.ids[0] for one in promoted]
        self.receipts = [memory.revoke(self.ids.pop(), GROUP, by="ann") for _ in range(3)]
        for name in ("record", *PROMOTIONS, "retrieve", "retrieve long-term only", "list"):
            self[name]()  # caches are filled, statements prepared

    def __getitem__(self, name: str):
        return {
            "record": self.record,
            "promote a text": lambda: self.memory.promote(self._text(), GROUP, by="ann"),
            "promote an entry": lambda: self.memory.promote(self.entries.pop(), by="ann"),
            "retrieve": lambda: self.memory.retrieve(self._question(), GROUP),
            "retrieve long-term only": lambda: self.memory.retrieve(
                self._question(), GROUP, tiers=("long_term",)
            ),
            "list": lambda: self.memory.list(GROUP, tier="longterm", limit=20),  # not all
            "spaces": self.memory.spaces,
            "revoke": lambda: self.memory.revoke(self.ids.pop(), GROUP, by="ann", reason="wrong"),
            "restore": lambda: self.memory.restore(self.receipts.pop(), by="ann"),
            "forget": lambda: self.memory.forget(GROUP, ids=[self.ids.pop()]),
        }[name]

    def record(self) -> None:
        assert self.memory.record(self._text(), GROUP, {"confidence": 0.9}).working

    def _text(self) -> str:
        self._count += 1
        words = random.Random(self._count).sample(WORDS, 8)
        return f"Order {self._count * 7919} of Mrs Zander{self._count} has {' '.join(words)}."

    def _question(self) -> str:
        self._count += 1
        return " ".join(random.Random(self._count).sample(WORDS, 3))

    def _kept(self, number: int) -> Memory:
        text, moment = self._text(), datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
        return Memory(
            id=f"{number:032x}", document_id=f"{number:032x}", scope=GROUP, content=text,
            created_at=moment, valid_from=moment, promoted_by="ann", content_hash=hash_of(text),
            provenance=Provenance(Origin("agent", "helper")),
        )  # fmt: skip


def load(memory: TieredMemory, records: list[Memory]) -> None:
    """Keep many memories at once, as a copy between stores does."""
    if records:
        memory.parts.stores.long_term.load(records)


@pytest.fixture
def on_sqlite(tmp_path):
    """Operations on a new SQLite file, by the size of the group."""
    opened = []

    def operations(size: int) -> Operations:
        address = f"sqlite:///{tmp_path / f'{size}.db'}"
        opened.append(TieredMemory.open(address, embeddings=HashEmbeddings(32)))
        return Operations(opened[-1], size)

    yield operations
    for memory in opened:
        memory.close()


@pytest.mark.parametrize("name", SQLITE)
def test_statements_and_flushes_of_an_operation_are_bounded(on_sqlite, name):
    operation = on_sqlite(100)[name]
    with counted_statements() as statements:
        operation()
    (most, flushes), _ = SQLITE[name]
    assert statements.count, "nothing was counted: the store opens its file in another way"
    # One write in 32 prunes the list of changes, whichever it is.
    pruned = sum(text.startswith("DELETE FROM change WHERE grp") for text in statements.texts)
    assert statements.count - pruned <= most, "\n".join(statements.texts)
    assert statements.flushes <= flushes, "\n".join(statements.texts)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_costs_do_not_grow_with_the_group(on_sqlite):
    """Statements, work inside of them, and calls in Python, in groups of 100, 1,000 and 5,000."""
    few, some, many = (on_sqlite(size) for size in (100, 1000, 5000))
    for name in SQLITE:
        if name in GROWING:
            continue
        # a search has as many candidates as it may look at only in a group of some size
        less = few if name in ("list", "spaces", "revoke", "restore", "forget") else some
        before, after = (_costs(operations, name) for operations in (less, many))
        for count, grown in zip(before, after, strict=True):
            assert grown <= 1.5 * count + 10, f"{name}: {before} and {after}"


def _costs(operations: Operations, name: str) -> tuple[int, int, int]:
    if name in ("record", "retrieve", "retrieve long-term only", "list", "spaces"):
        operations[name]()  # the operation before it may have changed what is remembered
    with counted_statements() as statements:
        calls = walk(operations[name]).calls
    return statements.count, statements.steps, calls


def _walk(path, name: str) -> Walk:
    """Follow an operation on a new file."""
    with TieredMemory.open(f"sqlite:///{path}") as memory:
        for text in ("The kitchen closes at nine.", "Invoices are kept for ten years."):
            memory.record(text, GROUP, {"confidence": 0.9})
            memory.promote(f"It is known that {text}", GROUP, by="ann")
            memory.retrieve("When does the kitchen close?", GROUP)
        plain = "The staging server is restarted every Monday by Ann."
        return walk(
            {
                "record": lambda: memory.record(plain, GROUP, {"confidence": 0.9}),
                "promote a text": lambda: memory.promote(plain, GROUP, by="ann"),
                "retrieve": lambda: memory.retrieve("Who keeps the invoices?", GROUP),
            }[name]
        )


@pytest.mark.parametrize("name", WALKS)
def test_a_reader_crosses_few_files_who_follows_an_operation(tmp_path, name):
    _walk(tmp_path / "warm.db", name)  # what a process remembers of texts is there, in any order
    taken = _walk(tmp_path / "m.db", name)
    (files, moves), _ = WALKS[name]
    assert 3 < taken.files <= files, taken
    assert taken.moves <= moves, taken


@pytest.fixture
def relays(redis_url):
    """Stands before PostgreSQL and Redis and counts round trips."""
    if os.environ.get("TEST_POSTGRES_URL") or not redis_url.startswith("unix://"):
        pytest.skip("the relay stands before servers that are started here")
    folder = postgres.url().partition("host=")[2]
    both = (
        Relay(f"{folder}/.s.PGSQL.5432", ".s.PGSQL.5432", postgres=True),
        Relay(redis_url.removeprefix("unix://"), "redis.sock", postgres=False),
    )
    yield both
    for relay in both:
        relay.close()


@pytest.mark.parametrize("name", POSTGRES)
def test_round_trips_of_an_operation_are_bounded(relays, redis_prefix, name):
    rows, lists = relays
    with postgres.schema_at(postgres.url()) as address:
        folder = postgres.url().partition("host=")[2]
        through = address.replace(folder, str(rows.folder))
        url = f"{through} + unix://{lists.path}?prefix={redis_prefix}"
        with TieredMemory.open(url, embeddings=HashEmbeddings(32)) as memory:
            operation = Operations(memory, 30)[name]
            before = rows.trips, lists.trips
            operation()
            taken = rows.trips - before[0], lists.trips - before[1]
    assert 1 <= taken[0] <= POSTGRES[name][0], taken
    assert taken[1] <= REDIS.get(name, 0), taken


def test_a_pipeline_is_one_round_trip_and_each_wait_is_one(relays):
    rows, lists = relays
    url = postgres.url().replace(postgres.url().partition("host=")[2], str(rows.folder))
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
        assert rows.counted(lambda: connection.execute("SELECT 1")) == 1
        assert rows.counted(lambda: [connection.execute("SELECT 1") for _ in range(5)]) == 5

        def piped() -> None:
            with connection.pipeline():
                for _ in range(50):  # more than the server holds back before it answers
                    connection.execute("SELECT repeat('x', 10000)")

        assert rows.counted(piped) == 1

        def fetched() -> None:
            with connection.pipeline():
                connection.execute("SELECT 1").fetchone()
                connection.execute("SELECT 2").fetchone()

        assert rows.counted(fetched) == 3  # two answers, and the end of the pipeline
        connection.execute("CREATE TEMPORARY TABLE t (a int)")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO t VALUES (1)")
        assert rows.counted(lambda: connection.execute("COMMIT")) == 1
    with redis.Redis(unix_socket_path=str(lists.path)) as client:
        client.ping()
        assert lists.counted(client.ping) == 1
        pipe = client.pipeline()
        for _ in range(10):
            pipe.get("nothing")
        assert lists.counted(pipe.execute) == 1


def test_statements_are_counted_with_what_changes_something(tmp_path):
    with sqlite3.connect(tmp_path / "a.db", isolation_level=None) as connection:
        with counted_statements() as statements:
            connection.execute("CREATE TABLE t (a)")
            connection.execute("INSERT INTO t VALUES (1)")
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO t VALUES (?)", [(2,), (3,)])
            connection.execute("COMMIT")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("SELECT * FROM t").fetchall()
            connection.execute("COMMIT")
        with counted_statements() as scan:
            connection.execute("SELECT count(*) FROM t a, t b, t c, t d, t e, t f").fetchall()
    assert (statements.count, statements.flushes) == (9, 2)
    assert scan.steps > 20


def test_a_walk_counts_calls_between_files_of_the_package():
    taken = walk(
        lambda: [MemoryScope(tenant="a", group_id="b"), MemoryScope(tenant="a", group_id="c")]
    )
    assert taken.files >= 1
    assert taken == walk(
        lambda: [MemoryScope(tenant="a", group_id="b"), MemoryScope(tenant="a", group_id="c")]
    )
    assert walk(lambda: sorted([3, 1])) == Walk(0, 0, 0, 0)

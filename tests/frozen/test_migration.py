"""Files and tables of older versions are brought up by opening them: killed, together, without room."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from backends.unprivileged import as_nobody, open_folder
from doors import everyday_and_slow
from frozen import engines
from frozen.reads import differences, read_all, readable
from frozen.sample import Sample
from memoryware import TieredMemory
from memoryware.errors import StoreNewer, StoreUnavailable
from memoryware.stores import open_stores
from memoryware.tiers.stores.postgres import _schema as schema
from memoryware.tiers.stores.sqlite._schema import STEPS
from servers import postgres

HERE = Path(__file__).parent
NEWEST = len(STEPS)
KEPT = sorted(int(path.name.split("-")[1][0]) for path in engines.DATA.glob("sqlite-*.db.gz"))
OLDER = [version for version in KEPT if version < NEWEST]
ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture(scope="module")
def frozen():
    return json.loads((HERE / "reads.json").read_text("utf-8"))


@contextmanager
def opened(path):
    journal = path.with_suffix(".journal.jsonl")
    with readable(
        lambda **more: TieredMemory(open_stores(f"sqlite:///{path}"), journal=journal, **more),
        Sample(None),
    ) as memory:
        yield memory


def assert_read_as_before(path, frozen):
    with opened(path) as memory:
        found = json.loads(json.dumps(read_all(memory, engines.labels())))
    differing = list(differences(frozen, found, 2e-6))
    assert not differing, "\n".join([f"{len(differing)} answers differ:", *differing[:20]])


def version_of(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def is_sound(path):
    with closing(sqlite3.connect(path)) as db:
        return [row[0] for row in db.execute("PRAGMA integrity_check")] == ["ok"]


class Children:
    """Opens files in children of one process."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "frozen.migrating"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def begin(self, path, **options):
        self._process.stdin.write(json.dumps({"path": str(path), **options}) + "\n")
        self._process.stdin.flush()

    def answer(self):
        return json.loads(self._process.stdout.readline())

    def ask(self, path, **options):
        self.begin(path, **options)
        return self.answer()

    def close(self):
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()


@pytest.fixture
def children():
    made = []

    def begin():
        made.append(Children())
        return made[-1]

    yield begin
    for one in made:
        one.close()


def test_there_is_a_file_of_every_version():
    assert list(range(1, KEPT[-1] + 1)) == KEPT
    assert KEPT[-1] in {NEWEST, NEWEST - 1}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("inside", [0, 40], ids=["between calls", "inside a call"])
@pytest.mark.parametrize("version", OLDER)
def test_who_is_killed_in_the_middle_loses_nothing(version, inside, frozen, tmp_path, children):
    worker, whole = children(), tmp_path / "whole"
    whole.mkdir()
    calls = worker.ask(engines.place_sqlite(whole, version))["calls"]
    points = sorted({1 + calls * part // 18 for part in range(18)})
    killed = []
    for point in points:
        folder = tmp_path / str(point)
        folder.mkdir()
        path = engines.place_sqlite(folder, version)
        killed.append("killed" in worker.ask(path, kill_at=point, inside=inside))
        assert_read_as_before(path, frozen)
        assert version_of(path) == NEWEST
        assert is_sound(path)
        shutil.rmtree(folder)
    assert sum(killed) > len(points) // 2


@pytest.mark.slow
@pytest.mark.parametrize("version", OLDER)
def test_who_is_killed_again_and_again_gets_there(version, frozen, tmp_path, children):
    worker, path = children(), engines.place_sqlite(tmp_path, version)
    for point in (60, 45, 30, 20, 12, 8, 5):
        worker.ask(path, kill_at=point)
    assert_read_as_before(path, frozen)
    assert is_sound(path)


@pytest.mark.slow
@pytest.mark.parametrize("version", OLDER[-1:])
def test_several_who_open_an_older_file_at_once_bring_it_up_once(
    version, frozen, tmp_path, children
):
    path = engines.place_sqlite(tmp_path, version)
    workers = [children() for _ in range(3)]
    for worker in workers:
        worker.ask("/dev/null/nothing")  # until it has started
    start = time.time() + 0.3
    for worker in workers:
        worker.begin(path, at=start)
    answers = [worker.answer() for worker in workers]
    assert all("opened" in answer for answer in answers), answers
    expected = frozen["- / shop"]["records"]
    counted = len(expected["quarantine"]) + len(expected["working"]) + len(expected["longterm"])
    with opened(path) as memory:
        added = list(memory.list("shop", tier="longterm", query="crane").items)
        assert len(added) == 3
        memory.forget("shop", ids=[one.id for one in added], by="ann")
        # what has expired is counted by a clock of today, which sees no working memory
        assert memory.list("shop").total == counted
    assert is_sound(path)


@pytest.mark.slow
@pytest.mark.parametrize("version", OLDER)
def test_without_room_a_file_stays_as_it_was_and_opens_when_there_is_some(
    version, frozen, tmp_path, children
):
    worker, refused = children(), []
    for number, room in enumerate((8_192, 65_536, 200_000)):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = engines.place_sqlite(folder, version)
        answer = worker.ask(path, bytes_free=room)
        assert answer.keys() <= {"opened", "calls", "refused"}, answer
        refused += [answer["refused"]] if "refused" in answer else []
        assert is_sound(path)
        assert_read_as_before(path, frozen)
    assert refused
    assert all(str(tmp_path) in one for one in refused)
    assert any("disk" in one for one in refused), refused


@pytest.mark.parametrize("version", OLDER)
def test_a_file_is_kept_as_it_was_before_its_rows_are_written_anew(version, tmp_path):
    path = engines.place_sqlite(tmp_path, version)
    before = rows_of(path)
    with opened(path):
        pass
    copies = [
        one
        for one in tmp_path.iterdir()
        if one != path
        and one.read_bytes()[:15] == b"SQLite format 3"
        and version_of(one) == version
    ]
    assert len(copies) == 1, "the way back is one copy beside the file"
    assert is_sound(copies[0])
    assert rows_of(copies[0]) == before
    assert copies[0].stat().st_mode & 0o077 == 0


def rows_of(path):
    """Return all rows of the tables of records of a file as it is, without opening it as ours."""
    with closing(sqlite3.connect(path)) as db:
        return {
            table: sorted(map(repr, db.execute(f"SELECT * FROM {table}")))
            for table in ("record", "source", "root", "vector", "space")
        }


def test_a_newer_file_is_refused_and_stays_as_it_is(tmp_path):
    path = engines.place_sqlite(tmp_path, KEPT[-1])
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {NEWEST + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreNewer, match="a newer memoryware has written it"):
        TieredMemory.open(f"sqlite:///{path}")
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("memory.db")] == [
        "memory.db"
    ]


@ROOT
@pytest.mark.parametrize("version", everyday_and_slow(KEPT[-1], *KEPT[:-1]))
def test_a_file_that_may_not_be_written_is_read_as_it_is(version, frozen):
    with open_folder() as folder:
        path = engines.place_sqlite(folder, version)
        before = path.read_bytes()
        path.chmod(0o444)
        folder.chmod(0o755)
        with as_nobody():
            assert_read_as_before(path, frozen)
            with (
                opened(path) as memory,
                pytest.raises(StoreUnavailable, match="may not be written"),
            ):
                memory.promote("This cannot be kept.", "shop", by="ann")
        assert path.read_bytes() == before


# PostgreSQL: each step is one transaction.


@contextmanager
def tables(url=None):
    """An address with the tables and rows of 0.1.0."""
    with postgres.schema_at(url or postgres.url()) as address:
        engines.load_postgres(address)
        yield address


def assert_tables_are_read_as_before(address, frozen, tmp_path):
    journal = engines.place_journal(tmp_path)
    with readable(
        lambda **more: TieredMemory(open_stores(address), journal=journal, **more), Sample(None)
    ) as memory:
        found = json.loads(json.dumps(read_all(memory, engines.labels())))
    differing = list(differences(frozen, found, 2e-6))
    assert not differing, "\n".join([f"{len(differing)} answers differ:", *differing[:20]])
    assert version_in(address) == len(schema.STEPS)


def version_in(address):
    return postgres.asked(address, "SELECT value FROM about WHERE name = 'memoryware'")[0][0]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("inside", [0, 4], ids=["between statements", "inside a statement"])
def test_who_is_killed_while_tables_are_brought_up_loses_nothing(
    inside, frozen, tmp_path, children
):
    worker = children()
    with tables() as address:
        calls = worker.ask(address)["calls"]
    reached = []
    for point in range(calls // 8, calls + 1, 2):
        with tables() as address:
            answer = worker.ask(address, kill_at=point, inside=inside)
            reached.append((version_in(address), "killed" in answer))
            if point % 8 < 2:
                assert_tables_are_read_as_before(address, frozen, tmp_path)
            else:
                assert "opened" in worker.ask(address)
                assert version_in(address) == len(schema.STEPS)
    assert {version for version, _ in reached} >= {*range(1, len(schema.STEPS))}
    assert sum(killed for _, killed in reached) > len(reached) // 2


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.6, 0.9])
def test_a_server_that_crashes_while_tables_are_brought_up_loses_nothing(
    share, frozen, tmp_path, children
):
    worker = children()
    server = postgres.started(durable=True)
    try:
        with tables(server.url) as address:
            calls = worker.ask(address)["calls"]
        with tables(server.url) as address:
            answer = worker.ask(address, kill_at=round(calls * share), inside=2, victim=server.pid)
            server.stop()
            server.start()
            assert "refused" in answer, answer
            assert_tables_are_read_as_before(address, frozen, tmp_path)
    finally:
        server.remove()


@pytest.mark.slow
def test_several_who_open_older_tables_at_once_bring_them_up_once(frozen, tmp_path, children):
    workers = [children() for _ in range(3)]
    with tables() as address:
        for worker in workers:
            worker.ask("/dev/null/nothing")  # until it has started
        start = time.time() + 0.3
        for worker in workers:
            worker.begin(address, at=start)
        answers = [worker.answer() for worker in workers]
        assert all("opened" in answer for answer in answers), answers
        with TieredMemory.open(address, on_mismatch="words") as memory:
            added = memory.list("shop", tier="longterm", query="crane").items
            assert len(added) == 3
            memory.forget("shop", ids=[one.id for one in added], by="ann")
        assert_tables_are_read_as_before(address, frozen, tmp_path)

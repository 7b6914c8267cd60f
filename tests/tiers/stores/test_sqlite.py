"""One SQLite file: killed, shared, full, damaged, newer, and where nobody would look for it."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from memoryware import MemoryScope, TieredMemory, TierLimits
from memoryware.errors import SettingError, StoreNewer, StoreUnavailable
from memoryware.stores import open_stores
from memoryware.testing._store import entry, memory, within
from memoryware.tiers.stores.sqlite import sqlite_stores
from tiers.kit import HashEmbeddings
from tiers.stores.worker import CHUNKS, SHOP

TESTS = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("worker.py")
KILLS = 200


def start(path: Path | str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), str(path), *map(str, args)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def confirmed(lines: list[str]) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """What a worker said was done: entries, documents, entries with their documents."""
    recorded, promoted, decided = set(), set(), set()
    for line in lines:
        match line.split():
            case ["recorded", id_]:
                recorded.add(id_)
            case ["promoted", id_]:
                promoted.add(id_)
            case ["decided", id_, document]:
                decided.add((id_, document))
    return recorded, promoted, decided


def assert_counts_are_kept(db):
    """Hold the counts that are kept against the rows."""
    counted = """
        SELECT grp, sum(tier = 0), sum(tier = 1), sum(tier = 2),
        sum(tier = 0 AND status IN (0, 1)), coalesce(sum(length(words)) / 6, 0)
        FROM record GROUP BY grp ORDER BY grp
    """
    kept = "SELECT id, quarantine, long_term, working, waiting, words FROM part ORDER BY id"
    every, *groups = db.execute(kept).fetchall()
    assert groups == db.execute(counted).fetchall()
    assert every == (0, *(sum(column) for column in [*zip(*groups, strict=True)][1:]))
    without = """
        SELECT space.id, seq FROM space, record WHERE tier = 1
        AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.id = (space.id << 44) | seq)
        ORDER BY space.id, seq
    """
    pending = "SELECT space, seq FROM pending ORDER BY space, seq"
    assert db.execute(without).fetchall() == db.execute(pending).fetchall()
    orphans = (
        "SELECT count(*) FROM vector WHERE id & ((1 << 44) - 1) NOT IN (SELECT seq FROM record)"
    )
    assert db.execute(orphans).fetchone() == (0,)
    sources = "SELECT count(*) FROM source WHERE seq NOT IN (SELECT seq FROM record)"
    assert db.execute(sources).fetchone() == (0,)
    unused = "SELECT count(*) FROM provenance WHERE id NOT IN (SELECT provenance FROM record)"
    assert db.execute(unused).fetchone() == (0,)


def check(path: Path, lines: list[str]) -> int:
    """Hold a file against what was confirmed; return how many documents it has."""
    recorded, promoted, decided = confirmed(lines)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        memories = db.execute("SELECT count(*) FROM record WHERE tier = 1").fetchone()[0]
        assert db.execute("SELECT count(*) FROM vector").fetchone()[0] == memories
        assert_counts_are_kept(db)
    with TieredMemory.open(
        f"sqlite:///{path}", embeddings=HashEmbeddings(), embedding_space="h"
    ) as again:
        stores = again.parts.stores
        waiting = {one.id: one for one in stores.quarantine.find(within(SHOP)).items}
        assert recorded <= set(waiting)
        documents: dict[str, list[int]] = {}
        for one in stores.long_term.find(within(SHOP)).items:
            documents.setdefault(one.document_id, []).append(one.chunk_index)
            assert one.chunk_count in (1, CHUNKS)
        assert promoted <= set(documents)
        for places in documents.values():
            assert sorted(places) in ([0], list(range(CHUNKS))), "a half promotion"
        for id_, document in decided:
            assert waiting[id_].status == "promoted"
            assert document in documents
        working = stores.working.find(within(SHOP))
        assert working.total <= again.limits.working_entries
    return len(documents)


@pytest.mark.slow
def test_a_killed_process_loses_nothing_that_was_confirmed_before_the_disk_had_it(tmp_path):
    path = tmp_path / "memory.db"
    with start(f"sqlite:///{path}?durability=normal", 10_000) as worker:
        lines = [worker.stdout.readline() for _ in range(30)]
        worker.kill()
        lines += worker.stdout.readlines()
    assert worker.returncode == -signal.SIGKILL
    assert os.listdir(tmp_path)
    assert check(path, [one for one in lines if one.endswith("\n")]) >= 10


def test_there_is_no_other_durability(tmp_path):
    with pytest.raises(SettingError, match='"full" or "normal"'):
        sqlite_stores(tmp_path / "memory.db", durability="off")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["what?.db", "a=b.db", "?", "x?y=1/m.db"])
def test_a_file_may_have_a_question_mark_in_its_name(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    open_stores(f"sqlite:///{path}").long_term.close()
    assert path.exists()


@pytest.mark.parametrize(("durability", "level"), [("full", 2), ("normal", 1)])
def test_a_durability_holds_for_every_connection(tmp_path, durability, level):
    stores = open_stores(f"sqlite:///{tmp_path / 'memory.db'}?durability={durability}")
    file = stores.long_term.store._database
    for _ in range(2):
        assert file._connection().execute("PRAGMA synchronous").fetchone() == (level,)
        file._drop()  # as before a fork
    stores.long_term.close()
    assert [one for one in os.listdir(tmp_path) if "?" in one] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_hundred_kills_lose_nothing_that_was_confirmed(tmp_path):
    path, dice, lines = tmp_path / "memory.db", random.Random(7), list[str]()
    with start(path) as keeper:
        warm = [keeper.stdout.readline() for _ in range(3)]
        assert "decided" in warm[-1]
        longest = 0.15
        for turn in range(KILLS):
            begun = time.monotonic()
            keeper.stdin.write("begin\n")
            keeper.stdin.flush()
            pid = int(keeper.stdout.readline().split()[1])
            if turn == 0:  # a machine that is busy has to get somewhere, too
                lines += [keeper.stdout.readline() for _ in range(3)]
                longest = min(1.0, max(longest, 1.5 * (time.monotonic() - begun)))
            time.sleep(dice.uniform(0, longest))
            os.kill(pid, signal.SIGKILL)
            while (line := keeper.stdout.readline().strip()) != "gone":
                lines.append(line)
        keeper.stdin.close()
    assert check(path, lines) > 10


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_eight_processes_on_one_new_file_lose_nothing(tmp_path):
    path = tmp_path / "memory.db"
    workers, lines = [start(path, 10) for _ in range(8)], list[str]()
    for one in workers:
        out, _ = one.communicate(timeout=100)
        assert one.returncode == 0
        lines += out.splitlines()
    assert [len(one) for one in confirmed(lines)] == [80, 80, 80]
    assert check(path, lines) == 160


def test_a_new_file_is_for_its_owner_only(tmp_path):
    sqlite_stores(tmp_path / "memory.db").working.close()
    assert stat.S_IMODE((tmp_path / "memory.db").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "name", ["with space.db", "日本.db", "a?b#c%20.db", "quote'\".db", "-x.db"]
)
def test_a_file_may_have_any_name(tmp_path, name):
    with TieredMemory.open(f"sqlite:///{tmp_path}/{name}") as one:
        one.promote("The orders are here.", "shop", by="ann")
    with TieredMemory.open(f"sqlite:///{tmp_path}/{name}") as again:
        assert len(again.retrieve("orders", "shop")) == 1
    assert (tmp_path / name).exists()


def test_a_relative_path_begins_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TieredMemory.open("sqlite:///memory.db").close()
    monkeypatch.chdir("/")
    assert (tmp_path / "memory.db").exists()


def test_a_file_of_a_newer_version_is_left_alone(tmp_path):
    path = tmp_path / "memory.db"
    sqlite_stores(path).working.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(StoreNewer, match="99"):
        sqlite_stores(path)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE mine (x)")
        db.commit()
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match="another program"):
        sqlite_stores(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"no database at all" * 100, os.urandom(5000)])
def test_what_is_no_database_is_said_and_left_alone(tmp_path, content):
    path = tmp_path / "memory.db"
    path.write_bytes(content)
    with pytest.raises(StoreUnavailable, match="not a SQLite database"):
        sqlite_stores(path)
    assert path.read_bytes() == content


def test_an_empty_file_becomes_a_memory(tmp_path):
    path = tmp_path / "memory.db"
    path.touch()
    with TieredMemory.open(f"sqlite:///{path}") as one:
        assert one.list("shop").total == 0


@pytest.mark.parametrize("place", ["missing/memory.db", "."])
def test_a_place_that_cannot_be_is_said(tmp_path, place):
    with pytest.raises(StoreUnavailable, match=str(tmp_path)):
        sqlite_stores(tmp_path / place)


def test_after_close_every_call_says_so(tmp_path):
    stores = sqlite_stores(tmp_path / "memory.db")
    stores.quarantine.close()
    stores.working.close()
    for call in (lambda: stores.quarantine.add(entry()), lambda: stores.long_term.find(within())):
        with pytest.raises(StoreUnavailable, match="closed"):
            call()


def test_somebody_who_writes_for_too_long_is_told_and_nothing_is_lost(tmp_path):
    path = tmp_path / "memory.db"
    stores = sqlite_stores(path, lock_timeout=0.2)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match=r"0\.2 seconds"):
            stores.quarantine.add(entry())
        other.execute("ROLLBACK")
    assert stores.quarantine.find(within()).total == 0
    stores.quarantine.add(entry())
    stores.quarantine.close()


def test_readers_go_on_while_somebody_writes(tmp_path):
    path = tmp_path / "memory.db"
    stores = sqlite_stores(path, lock_timeout=0.2)
    kept = stores.quarantine.add(entry())
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM record")
        assert stores.quarantine.find(within()).items == [kept]
        other.execute("ROLLBACK")
    stores.quarantine.close()


_FULL = """
import resource, sys
from memoryware import TieredMemory
from memoryware.errors import StoreUnavailable
memory = TieredMemory.open(f"sqlite:///{sys.argv[1]}")
first = memory.promote("The orders are here, and nowhere else.", "shop", by="ann")
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
used = max(os.path.getsize(sys.argv[1] + end) for end in ("", "-wal"))
resource.setrlimit(resource.RLIMIT_FSIZE, (used + 20_000, used + 20_000))
refused = 0
for n in range(50):
    try:
        memory.promote(f"Text {n} " + "with many words " * 400, "shop", by="ann")
    except StoreUnavailable as error:
        refused += 1
        last = str(error)
print(refused, last)
assert [one.content for one in memory.retrieve("orders", "shop")] == ["The orders are here, and nowhere else."]
"""


@pytest.mark.slow
def test_a_full_disk_refuses_and_keeps_what_is_there(tmp_path):
    path = tmp_path / "memory.db"
    ran = subprocess.run(
        [sys.executable, "-c", _FULL, str(path)], capture_output=True, text=True, timeout=50
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[0]) > 0
    with TieredMemory.open(f"sqlite:///{path}") as again:
        assert len(again.retrieve("orders", "shop")) == 1
        assert len(again.promote("Now there is room for one more.", "shop", by="ann").ids) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_opens_its_own_connection(tmp_path):
    stores = sqlite_stores(tmp_path / "memory.db")
    stores.quarantine.add(entry("of the parent"))
    child = os.fork()
    if not child:
        try:
            stores.quarantine.add(entry("of the child", id="c" * 32))
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    stores.quarantine.add(entry("of the parent again"))
    assert stores.quarantine.find(within()).total == 3
    stores.quarantine.close()


async def test_a_cancelled_call_leaves_no_lock_behind(tmp_path):
    memory_ = TieredMemory.open(
        f"sqlite:///{tmp_path}/memory.db", limits=TierLimits(lock_timeout=5)
    )
    for n in range(20):
        task = asyncio.create_task(memory_.apromote(f"Text {n} of the orders.", "shop", by="ann"))
        await asyncio.sleep(0.001 * (n % 5))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await memory_.apromote("The last of the orders.", "shop", by="ann")
    assert "The last of the orders." in [
        one.content for one in await memory_.aretrieve("last", "shop")
    ]
    await memory_.aclose()


async def test_threads_and_tasks_may_share_one_memory(tmp_path):
    with TieredMemory.open(f"sqlite:///{tmp_path}/memory.db") as shared:

        def in_a_thread(me: int) -> None:
            for n in range(5):
                shared.log_quarantine(f"thread {me} {n}", "shop")

        threads = [threading.Thread(target=in_a_thread, args=(n,)) for n in range(4)]
        for one in threads:
            one.start()
        await asyncio.gather(*(shared.alog_quarantine(f"task {n}", "shop") for n in range(20)))
        for one in threads:
            await asyncio.to_thread(one.join)
        assert shared.list("shop", tier="quarantine").total == 40


def test_what_was_deleted_is_not_in_the_file_anymore(tmp_path):
    path = tmp_path / "memory.db"
    secret = "Wolpertinger"
    with TieredMemory.open(f"sqlite:///{path}") as one:
        said = one.record(
            f"The project {secret} begins in the autumn of next year, says Ann.",
            MemoryScope(group_id="shop", user_id="ann"),
        )
        one.promote(said.entry, by="bob")
        assert one.forget(MemoryScope(user_id="ann")).total == 3
    everything = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() not in everything
    assert secret.casefold().encode() not in everything


def test_a_vector_too_large_for_half_a_float_is_kept(tmp_path):
    stores = sqlite_stores(tmp_path / "memory.db")
    from memoryware.tiers.stores.protocol import Space

    space = Space("x", 2)
    stores.long_term.add([memory("one")], [[1e300, 1e300]], space)
    (hit,) = stores.long_term.by_vector([1e-300, 0], within(), space=space, limit=1)
    assert hit.value == pytest.approx(0.707, abs=0.01)
    stores.long_term.close()

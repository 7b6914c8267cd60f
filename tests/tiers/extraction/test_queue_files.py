"""The queue of a memory manager names people: what is forgotten is in none of its files."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware.errors import StoreClosed
from memoryware.tiers import MemoryManager, Origin, Provenance
from memoryware.tiers.extraction import job_queue
from tiers.kit import bytes_on_disk

ANN = MemoryScope(group_id="shop", user_id="ann-4711", session_id="monday")
BOB = MemoryScope(group_id="shop", user_id="bob-4712", session_id="tuesday")
SCHEMA_BEFORE = """
CREATE TABLE threads (
    tenant TEXT NOT NULL, group_id TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    first REAL NOT NULL, due REAL NOT NULL, version INTEGER NOT NULL DEFAULT 1,
    leased_until REAL NOT NULL DEFAULT 0, owner TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, group_id, user_id, session_id)
) WITHOUT ROWID;
CREATE TABLE spent (day TEXT PRIMARY KEY, tokens INTEGER NOT NULL) WITHOUT ROWID;
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def queue(path):
    return path.with_name("memory.db-learning")


@pytest.fixture
def memory(path):
    with TieredMemory.open(f"sqlite:///{path}") as memory:
        yield memory


@pytest.fixture
def manager(memory):
    return MemoryManager(memory, background=False)


def says(manager, scope, text="I am vegan."):
    """Let a person say something, and enqueue the thread."""
    said_by = Provenance(Origin("user", scope.user_id))
    manager.memory.log_quarantine(text, scope, provenance=said_by)
    manager.submit(scope)


def threads_in(file):
    """The people and sessions that a queue names."""
    with closing(sqlite3.connect(file)) as db:
        return set(db.execute("SELECT user_id, session_id FROM threads"))


def everything(folder):
    """All bytes of all files of a folder."""
    return b"".join(file.read_bytes() for file in folder.iterdir())


# Forgetting.


@pytest.mark.parametrize("client", ["blocking", "async"])
async def test_a_forgotten_user_is_in_no_file_of_a_queue_that_is_in_use(
    memory, manager, queue, client
):
    for turn in range(30):
        says(manager, ANN, f"I have {turn} cats.")
    says(manager, BOB)
    assert bytes_on_disk(queue).count(b"ann-4711") > 1
    user = MemoryScope(user_id="ann-4711")
    _ = memory.forget(user) if client == "blocking" else await memory.aforget(user)

    assert threads_in(queue) == {("bob-4712", "tuesday")}
    assert b"ann-4711" not in bytes_on_disk(queue)
    assert b"ann-4711" not in everything(queue.parent)
    assert len(manager.flush(everything=True)) == 1


def test_a_thread_that_was_read_leaves_no_name_either(memory, manager, queue):
    says(manager, ANN)
    manager.flush(everything=True)
    assert threads_in(queue) == set()
    assert b"ann-4711" in bytes_on_disk(queue)
    memory.forget(MemoryScope(user_id="ann-4711"))
    assert b"ann-4711" not in bytes_on_disk(queue)


@pytest.mark.parametrize(
    ("scope", "conditions", "left"),
    [
        (MemoryScope(user_id="ann-4711"), {}, {"bob"}),
        (MemoryScope(group_id="shop"), {}, set()),
        (MemoryScope(session_id="monday"), {}, {"bob"}),
        (replace(ANN, session_id="friday"), {}, {"ann", "bob"}),
        (MemoryScope(group_id="bakery"), {}, {"ann", "bob"}),
        (MemoryScope(tenant="acme", user_id="ann-4711"), {}, {"ann", "bob"}),
        (MemoryScope(), {"origin": Origin("user", "ann-4711")}, {"bob"}),
        (MemoryScope(user_id="bob-4712"), {"origin": Origin("user", "ann-4711")}, {"ann", "bob"}),
        (MemoryScope(group_id="shop"), {"origin": Origin("tool", "x")}, {"ann", "bob"}),
        (MemoryScope(user_id="ann-4711"), {"query": "vegan"}, {"ann", "bob"}),
        (MemoryScope(user_id="ann-4711", agent_id="clerk"), {}, {"ann", "bob"}),
        (MemoryScope(user_id="ann-4711"), {"dry_run": True}, {"ann", "bob"}),
    ],
)
def test_the_threads_of_what_is_forgotten_go_and_others_stay(
    memory, manager, queue, scope, conditions, left
):
    says(manager, ANN)
    says(manager, BOB)
    memory.forget(scope, **conditions)
    assert {user[:3] for user, _ in threads_in(queue)} == left


@pytest.mark.parametrize("where", ["a file of its own", "the process"])
def test_other_queues_of_the_memory_forget_as_well(tmp_path, where):
    file = tmp_path / "learning.db" if where == "a file of its own" else None
    with (
        TieredMemory.open("memory://") as memory,
        MemoryManager(memory, queue=file, background=False) as manager,
    ):
        says(manager, ANN)
        says(manager, BOB)
        memory.forget(MemoryScope(user_id="ann-4711"))
        assert manager.waiting == 1
        assert b"ann-4711" not in everything(tmp_path)


def test_the_command_forgets_in_a_queue_that_another_process_has_open(manager, path, queue):
    says(manager, ANN)
    says(manager, BOB)
    command = [sys.executable, "-m", "memoryware", "forget", "--store", f"sqlite:///{path}"]
    command += ["--user", "ann-4711", "--all-groups", "--everything", "--yes"]
    subprocess.run(command, check=True, cwd=path.parent)
    assert b"ann-4711" not in everything(path.parent)
    assert threads_in(queue) == {("bob-4712", "tuesday")}

    # A version before this one has forgotten the records, and not the thread.
    manager.submit(ANN)
    again = subprocess.run(command, check=False, cwd=path.parent)
    assert again.returncode == 4
    assert b"ann-4711" not in everything(path.parent)


def test_what_an_older_version_has_left_in_free_pages_is_overwritten(path, queue):
    with closing(sqlite3.connect(queue)) as db:
        db.execute("PRAGMA secure_delete = OFF")
        db.executescript(SCHEMA_BEFORE)
        rows = [("", "shop", "ann-4711", f"thread-{n}", 0, 0) for n in range(500)]
        db.executemany(
            "INSERT INTO threads (tenant, group_id, user_id, session_id, first, due)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
        db.execute("DELETE FROM threads")
        db.commit()
    assert b"ann-4711" in bytes_on_disk(queue)
    with TieredMemory.open(f"sqlite:///{path}") as memory:
        memory.log_quarantine("I am vegan.", ANN)
        memory.forget(MemoryScope(user_id="ann-4711"))
    assert b"ann-4711" not in bytes_on_disk(queue)


@pytest.mark.parametrize("then", ["the next change", "another manager"])
def test_a_log_that_somebody_reads_is_overwritten_a_little_later(
    memory, manager, queue, monkeypatch, caplog, then
):
    monkeypatch.setattr(job_queue, "_WIPING", 0.01)
    says(manager, ANN)
    says(manager, BOB)
    with closing(sqlite3.connect(queue, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM threads").fetchall()
        memory.forget(MemoryScope(user_id="ann-4711"))
        assert "memory.db-learning-wal is being read" in caplog.text
        assert b"ann-4711" in bytes_on_disk(queue)
        reader.execute("COMMIT")
        if then == "the next change":
            manager.submit(BOB)
        else:
            MemoryManager(memory, background=False).submit(BOB)
        assert b"ann-4711" not in bytes_on_disk(queue)


def test_nothing_is_forgotten_while_the_queue_cannot_be_written(memory, manager, queue):
    says(manager, ANN)
    manager.close()
    queue.write_bytes(b"garbage" * 1_000)
    with pytest.raises(Exception, match="queue of the memory manager"):
        memory.forget(MemoryScope(user_id="ann-4711"))
    assert memory.list(ANN).total == 1
    queue.unlink()
    assert memory.forget(MemoryScope(user_id="ann-4711")).total == 1


# Modes.


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_only_the_owner_reads_the_queue(memory, manager, path):
    before = os.umask(0o022)
    try:
        says(manager, ANN)
    finally:
        os.umask(before)
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert {name for name in modes if "learning" in name} == {
        f"memory.db-learning{end}" for end in ("", "-wal", "-shm")
    }
    assert {*modes.values()} == {0o600}


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_the_queue_of_an_older_version_is_taken_from_others_once(memory, manager, queue):
    with closing(sqlite3.connect(queue)) as db:
        db.executescript(SCHEMA_BEFORE)
    queue.chmod(0o644)
    manager.submit(ANN)
    assert queue.stat().st_mode & 0o777 == 0o600
    manager.close()
    queue.chmod(0o660)  # on purpose, for a group
    with MemoryManager(memory, background=False) as again:
        again.submit(BOB)
    assert queue.stat().st_mode & 0o777 == 0o660


# Closing.


@pytest.mark.parametrize("client", ["blocking", "async"])
async def test_closing_the_memory_closes_its_queue(path, queue, client):
    running = {*threading.enumerate()}  # other tests may have left some
    memory = TieredMemory.open(f"sqlite:///{path}")
    manager = MemoryManager(memory)
    says(manager, ANN)
    assert bytes_on_disk(queue) != queue.read_bytes()
    _ = memory.close() if client == "blocking" else await memory.aclose()

    assert {file.name for file in path.parent.iterdir()} == {"memory.db", "memory.db-learning"}
    started = {*threading.enumerate()} - running
    assert "memoryware-manager" not in {thread.name for thread in started}
    with pytest.raises(StoreClosed):
        manager.submit(ANN)
    manager.close()
    memory.close()
    with TieredMemory.open(f"sqlite:///{path}") as memory:
        assert MemoryManager(memory, background=False).waiting == 1

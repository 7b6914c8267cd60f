"""Writers of one file in a store wait for each other, wherever they run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from limits import limited
from memoryware import FileLimits, StoreBackend
from memoryware._runner import ASYNC, BLOCKING, run_blocking
from memoryware.backends import _locks
from memoryware.backends._locks import NamedLocks, _Flock, _PortableLock
from memoryware.errors import LockTimeout

WORKERS, EACH = 8, 50
ALL = sorted(f"{me}-{n}" for me in range(WORKERS) for n in range(EACH))


def backend(store, **limits):
    return StoreBackend(
        store=store, namespace=("locks", "ann"), limits=limited(FileLimits, **limits)
    )


def lines(store):
    return backend(store).download_files(["/log.md"])[0].content.decode().splitlines()


def add_lines(store, me, count=EACH):
    mine = backend(store)
    for n in range(count):
        result = mine.append("/log.md", f"{me}-{n}")
        assert result.error is None, result.error


async def aadd_lines(store, me, count=EACH):
    mine = backend(store)
    for n in range(count):
        result = await mine.aappend("/log.md", f"{me}-{n}")
        assert result.error is None, result.error


def in_threads(*works):
    failed = []

    def run(work):
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed, failed


@pytest.fixture
def eager_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(autouse=True)
def lock_files_of_its_own(tmp_path_factory, monkeypatch):
    """Other runs of these tests on this machine do not hold up this one."""
    folder = str(tmp_path_factory.mktemp("locks"))
    monkeypatch.setattr(tempfile, "tempdir", folder)
    monkeypatch.setenv("TMPDIR", folder)


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    yield
    assert _locks._queues.waiting == {}


class Slow(BaseStore):
    """A store as far away as a server; it lets others run between a read and a write."""

    def __init__(self):
        self.inner, self.guard, self.delay = InMemoryStore(), threading.Lock(), 0.001

    def batch(self, ops):
        time.sleep(self.delay)
        with self.guard:
            return self.inner.batch(ops)

    async def abatch(self, ops):
        await asyncio.sleep(self.delay)
        with self.guard:
            return self.inner.batch(ops)


@pytest.mark.usefixtures("eager_switches")
@pytest.mark.parametrize("make", [InMemoryStore, Slow])
def test_lines_of_eight_threads_are_all_there(make):
    store = make()
    in_threads(*(lambda me=me: add_lines(store, me) for me in range(WORKERS)))

    assert sorted(lines(store)) == ALL


@pytest.mark.parametrize("make", [InMemoryStore, Slow])
async def test_lines_of_eight_tasks_are_all_there(make):
    store = make()
    await asyncio.gather(*(aadd_lines(store, me) for me in range(WORKERS)))

    assert sorted(lines(store)) == ALL


@pytest.mark.usefixtures("eager_switches")
def test_lines_of_threads_and_of_tasks_in_several_loops_are_all_there():
    store = Slow()

    async def two_tasks(me):
        await asyncio.gather(aadd_lines(store, me, 25), aadd_lines(store, me + 1, 25))

    works = [lambda me=me: asyncio.run(two_tasks(me)) for me in (0, 2)]
    works += [lambda me=me: add_lines(store, me, 25) for me in (4, 5)]
    in_threads(*works)

    assert sorted(lines(store)) == sorted(f"{me}-{n}" for me in range(6) for n in range(25))


@pytest.mark.usefixtures("eager_switches")
def test_edits_overwrites_uploads_and_deletes_side_by_side_raise_nothing():
    store = InMemoryStore()
    backend(store).write("/f/keep.md", "keep")

    def churn(me):
        mine = backend(store)
        for n in range(20):
            assert mine.write(f"/f/{me}.md", f"{n}").error is None
            mine.upload_files([(f"/f/{one}.md", b"x") for one in range(WORKERS)])
            mine.edit("/f/0.md", "x", "y")
            assert mine.ls("/f").error is None
            mine.delete(f"/f/{me}.md")

    in_threads(*(lambda me=me: churn(me) for me in range(WORKERS)))
    assert backend(store).download_files(["/f/keep.md"])[0].content == b"keep"


CHILD = """
    import sqlite3, sys, time
    from pathlib import Path
    from langgraph.store.sqlite import SqliteStore
    from memoryware import StoreBackend
    folder, me, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    connection = sqlite3.connect(folder / "store.db", isolation_level=None, timeout=30)
    backend = StoreBackend(store=SqliteStore(connection), namespace=("locks", "ann"))
    (folder / f"ready{me}").touch()
    while not (folder / "go").exists():
        time.sleep(0.001)
    slowest = 0.0
    for n in range(count):
        begin = time.monotonic()
        result = backend.append("/log.md", f"{me}-{n}")
        assert result.error is None, result.error
        slowest = max(slowest, time.monotonic() - begin)
    print(slowest)
"""


def children(folder, count, each):
    code = textwrap.dedent(CHILD)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(folder), str(me), str(each)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for me in range(count)
    ]
    while not all((folder / f"ready{me}").exists() for me in range(count)):
        time.sleep(0.01)
        assert all(one.poll() is None for one in running)
    (folder / "go").touch()
    said = [one.communicate(timeout=50)[0] for one in running]
    assert [one.returncode for one in running] == [0] * count
    return [float(one) for one in said]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_lines_of_several_processes_are_all_there(tmp_path, count):
    with SqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
        store.setup()
        slowest = children(tmp_path, count, EACH)

        assert sorted(lines(store)) == sorted(
            f"{me}-{n}" for me in range(count) for n in range(EACH)
        )
        # Nobody is kept out for long by those who write without a pause.
        assert max(slowest) < 5


# The lock itself.


def holding(name, timeout=30.0, runner=ASYNC):
    return NamedLocks(runner, [name], path=name, timeout=timeout)


async def taken(name, seconds=30.0, runner=ASYNC):
    async with holding(name, seconds, runner):
        return True


@contextlib.contextmanager
def held_by_a_thread(make):
    """Hold a lock in another thread for the length of a block."""
    held, done = threading.Event(), threading.Event()

    async def core():
        async with make(BLOCKING):
            held.set()
            done.wait(20)

    thread = threading.Thread(target=lambda: run_blocking(core()))
    thread.start()
    held.wait(20)
    try:
        yield
    finally:
        done.set()
        thread.join()


async def test_who_waits_too_long_is_told_so_and_nothing_is_written():
    store = InMemoryStore()
    backend(store).write("/a.md", "before")
    late = backend(store, lock_timeout=0.05)
    with held_by_a_thread(lambda runner: backend(store)._records().holding(runner, ["/a.md"])):
        begin = time.monotonic()
        blocked = await asyncio.to_thread(late.edit, "/a.md", "before", "after")
        awaited = await late.awrite("/a.md", "after")
        deleted = await late.adelete("/a.md")
        (uploaded,) = await late.aupload_files([("/a.md", b"after")])
        assert time.monotonic() - begin < 5

    for result in (blocked, awaited, deleted):
        assert "/a.md" in result.error
        assert "try again" in result.error
    assert uploaded.error == "lock_timeout"
    assert backend(store).read("/a.md").file_data["content"] == "before"
    assert backend(store, lock_timeout=0).edit("/a.md", "before", "after").error is None


async def test_a_waiting_event_loop_goes_on_meanwhile():
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.001)

    heart = asyncio.create_task(beat())
    with held_by_a_thread(lambda runner: holding("busy", runner=runner)), blockbuster_ctx():
        waiting = asyncio.create_task(taken("busy"))
        await asyncio.sleep(0.1)
        assert not waiting.done()
    assert await waiting
    heart.cancel()
    assert beats > 20


async def test_whoever_is_cancelled_leaves_the_line_and_the_next_one_goes_on():
    async with holding("a"):
        waiting = [asyncio.create_task(taken("a")) for _ in range(5)]
        await asyncio.sleep(0.01)
        for one in waiting[:4]:
            one.cancel()
        await asyncio.gather(*waiting[:4], return_exceptions=True)
    assert await asyncio.wait_for(waiting[4], 1)


async def test_a_cancelled_holder_lets_go():
    class Stuck(InMemoryStore):
        async def abatch(self, ops):
            await asyncio.sleep(30)

    stuck = asyncio.create_task(backend(Stuck()).aappend("/log.md", "x"))
    await asyncio.sleep(0.05)
    assert _locks._queues.waiting
    stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck
    assert (await backend(InMemoryStore(), lock_timeout=0).aappend("/log.md", "y")).error is None


async def test_cancelled_while_another_process_holds_the_file():
    (number,) = holding("far")._numbers
    other = _Flock(f"{_locks.lock_folder()}/{number:03x}.lock")
    assert other.take()
    waiting = asyncio.create_task(taken("far"))
    await asyncio.sleep(0.05)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert _locks._queues.waiting == {}
    other.drop()
    assert await taken("far")


@pytest.mark.parametrize("closed", [True, False])
async def test_a_waiter_whose_loop_has_ended_holds_up_nobody(closed):
    async with holding("gone"):
        loop = asyncio.new_event_loop()
        orphan = loop.create_task(taken("gone"))
        loop.call_soon(loop.call_soon, loop.stop)
        await asyncio.to_thread(loop.run_forever)
        assert not orphan.done()
        if closed:
            loop.close()
        behind = asyncio.create_task(taken("gone"))
        await asyncio.sleep(0.01)
    assert await asyncio.wait_for(behind, 2)
    orphan._log_destroy_pending = False
    with contextlib.suppress(RuntimeError):
        orphan.get_coro().close()
    loop.close()


def test_two_that_want_the_same_names_in_another_order_do_not_wait_for_ever():
    async def core(*names):
        async with NamedLocks(BLOCKING, names, path="/", timeout=20):
            await BLOCKING.call(time.sleep, asyncio.sleep, 0.0002)

    def take(*names):
        for _ in range(100):
            run_blocking(core(*names))

    in_threads(
        lambda: take("a", "b", "c"), lambda: take("c", "b", "a"), lambda: take("b", "a", "b")
    )


def test_lock_files_are_of_a_fixed_number():
    assert len({holding(f"/{n}")._numbers[0] for n in range(20_000)}) <= _locks.LOCK_FILES
    store = InMemoryStore()
    for n in range(300):
        backend(store).write(f"/many/{n}.md", "x")
    backend(store).delete("/many")

    found = [one.name for one in _locks.lock_folder().iterdir()]
    assert all(one.endswith((".lock", ".door")) for one in found)
    assert len(found) <= 2 * _locks.LOCK_FILES


@pytest.mark.slow
def test_the_lock_of_a_killed_process_is_free():
    (number,) = holding("killed")._numbers
    code = f"""
import time
from pathlib import Path
from memoryware.backends import _locks
file = _locks._open(f"{{_locks.lock_folder()}}/{number:03x}.lock")
assert file.take()
print("held", flush=True)
time.sleep(60)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "held\n"

    with pytest.raises(LockTimeout):
        run_blocking(taken("killed", 0.1, BLOCKING))
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert run_blocking(taken("killed", 5, BLOCKING))
    child.stdout.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.slow
def test_a_forked_child_has_lines_of_its_own():
    code = """
import asyncio, os, threading, time
from memoryware._runner import BLOCKING, run_blocking
from memoryware.backends import _locks
from memoryware.errors import LockTimeout

held, go = threading.Event(), threading.Event()
async def core():
    async with _locks.NamedLocks(BLOCKING, ["a"], path="/a", timeout=5):
        held.set()
        go.wait(10)
thread = threading.Thread(target=lambda: run_blocking(core()))
thread.start()
held.wait()

async def take(seconds):
    async with _locks.NamedLocks(BLOCKING, ["a"], path="/a", timeout=seconds):
        return True

child = os.fork()
if child == 0:
    try:
        run_blocking(take(0.1))
    except LockTimeout:
        time.sleep(0.5)
        os._exit(0 if run_blocking(take(5)) else 2)
    os._exit(1)
time.sleep(0.3)
go.set()
thread.join()
assert run_blocking(take(5))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=30)


@pytest.mark.parametrize("kind", [_Flock, _PortableLock])
def test_both_kinds_of_lock_file_exclude_each_other(tmp_path, kind):
    path = str(tmp_path / "x.lock")
    first, second, third = kind(path), kind(path), _Flock(path)

    assert first.take()
    assert not second.take()
    assert not third.take()
    first.drop()
    first.drop()
    third.drop()
    assert second.take()
    assert not first.take()
    first.drop()
    second.drop()


def test_a_folder_that_was_cleaned_up_is_made_again(tmp_path):
    file = _Flock(str(tmp_path / "gone" / "x.lock"))

    assert file.take()
    file.drop()


@pytest.mark.parametrize("trick", ["file", "link"])
def test_a_folder_that_is_not_ours_is_not_used(tmp_path, monkeypatch, caplog, trick):
    name = _locks._folder_below(str(tmp_path)).name
    (tmp_path / name).rmdir()
    (tmp_path / "theirs").mkdir()
    if trick == "file":
        (tmp_path / name).touch()
    else:
        (tmp_path / name).symlink_to(tmp_path / "theirs")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = InMemoryStore()
    with caplog.at_level(logging.WARNING, "memoryware"):
        in_threads(*(lambda me=me: add_lines(store, me) for me in range(WORKERS)))

    assert sorted(lines(store)) == ALL
    assert len(caplog.messages) == 1
    assert "TMPDIR" in caplog.messages[0]
    assert not any(Path(tmp_path / "theirs").iterdir())

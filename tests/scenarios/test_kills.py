"""Nothing that was accepted is ever lost, and no file is ever seen by halves."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from memoryware.backends.filesystem import FilesystemBackend

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are of POSIX")
KILLS = 200
EACH = 50


def started(stack, script, *args):
    command = [sys.executable, str(Path(__file__).with_name(script)), *map(str, args)]
    pipe = subprocess.PIPE
    return stack.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_two_hundred_kills_of_a_writer_leave_two_hundred_whole_files(tmp_path):
    file, dice = tmp_path / "AGENTS.md", random.Random(7)
    file.write_text("version 0\n" * 200)
    file.chmod(0o600)
    moments = set()
    with ExitStack() as stack:
        keeper = started(stack, "edit_for_ever.py", tmp_path)
        for _ in range(KILLS):
            accepted = _killed(keeper, dice.uniform(0, 0.02))
            lines = set(file.read_text().split("\n"))
            assert len(lines) == 2, f"half a file: {lines}"
            version = int(max(lines).removeprefix("version "))
            assert file.read_text() == f"version {version}\n" * 200
            assert version in (accepted, accepted + 1)
            assert file.stat().st_mode & 0o777 == 0o600
            rest = sorted(one.name for one in tmp_path.iterdir())
            assert rest in (["AGENTS.md"], [".AGENTS.md.memoryware-tmp", "AGENTS.md"])
            moments.add(len(rest))
        keeper.stdin.close()

    assert moments == {1, 2}, "some kills fall into a write, and some between two"
    backend = FilesystemBackend(tmp_path)
    assert [e["path"] for e in backend.ls("/").entries] == ["/AGENTS.md"]
    assert [m["path"] for m in backend.grep("version").matches][:1] == ["/AGENTS.md"]
    assert [m["path"] for m in backend.glob(".*").matches] == []
    assert backend.edit("/AGENTS.md", "version", "Version", replace_all=True).occurrences == 200
    assert [one.name for one in tmp_path.iterdir()] == ["AGENTS.md"]


def _killed(keeper, after):
    """Start an editing process, kill it, and return the last version that it was told is kept."""
    keeper.stdin.write("begin\n")
    keeper.stdin.flush()
    pid, told = 0, []
    while not (pid and told):
        line = keeper.stdout.readline().split()
        assert line, "the keeper is gone"
        if line[0] == "pid":
            pid = int(line[1])
        else:
            told.append(line)
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    while told[-1] != ["gone"]:
        told.append(keeper.stdout.readline().split())
    assert not [line for line in told if line[0] == "error"], told
    return int(told[-2][0])


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_lines_of_eight_processes_and_eight_threads_are_all_there(tmp_path):
    backend = FilesystemBackend(tmp_path)
    backend.write("/AGENTS.md", "# Rules\n")
    wanted = [f"{kind}{me}-{n} {'x' * 80}" for kind in "pt" for me in range(8) for n in range(EACH)]
    seen, over = [0], threading.Event()

    def append(me):
        own = FilesystemBackend(tmp_path)
        for n in range(EACH):
            done = own.append("/AGENTS.md", f"t{me}-{n} {'x' * 80}")
            assert done.error is None, done.error

    def read():
        """Read in a loop: what was seen once stays, and the last line is always whole."""
        length = 0
        while not over.is_set():
            data = (tmp_path / "AGENTS.md").read_bytes()
            assert data.startswith(b"# Rules\n")
            assert data.endswith(b"\n")
            assert all(len(line) > 80 for line in data.split(b"\n")[1:-1])
            assert len(data) >= length
            length = len(data)
            seen[0] += 1

    with ExitStack() as stack, ThreadPoolExecutor(10) as pool:
        stack.callback(over.set)
        running = [started(stack, "append_lines.py", tmp_path, f"p{me}", EACH) for me in range(8)]
        assert [one.stdout.readline() for one in running] == ["ready\n"] * 8
        reader = pool.submit(read)
        for one in running:
            one.stdin.write("begin\n")
            one.stdin.flush()
        threads = [pool.submit(append, me) for me in range(8)]
        assert [one.wait(150) for one in running] == [0] * 8
        assert [one.result(150) for one in threads] == [None] * 8
        over.set()
        reader.result()

    first, *lines = (tmp_path / "AGENTS.md").read_text().splitlines()
    assert first == "# Rules"
    assert len(lines) == 800
    assert sorted(lines) == sorted(wanted)
    for who in {line.split("-")[0] for line in lines}:
        assert [line for line in lines if line.startswith(f"{who}-")] == [
            line for line in wanted if line.startswith(f"{who}-")
        ]
    assert seen[0] > 20
    assert [one.name for one in tmp_path.iterdir()] == ["AGENTS.md"]


SLOTS = [f"{n:02d}" for n in range(64)]


@pytest.fixture
def slots(tmp_path):
    file = tmp_path / "AGENTS.md"
    file.write_text("".join(f"slot {slot}: empty {'x' * 300}\n" for slot in SLOTS))
    yield file
    assert file.read_text() == "".join(f"slot {slot}: done {'x' * 300}\n" for slot in SLOTS)


def fill(backend, slot):
    return backend.edit("/AGENTS.md", f"slot {slot}: empty", f"slot {slot}: done").error


def test_64_parallel_edits_by_threads_all_survive(slots):
    backends = [FilesystemBackend(slots.parent) for _ in range(4)]
    with ThreadPoolExecutor(64) as pool:
        errors = [*pool.map(lambda n: fill(backends[n % 4], SLOTS[n]), range(64))]
    assert errors == [None] * 64


async def test_64_parallel_edits_by_tasks_all_survive(slots):
    backend = FilesystemBackend(slots.parent)
    edits = [
        backend.aedit("/AGENTS.md", f"slot {slot}: empty", f"slot {slot}: done") for slot in SLOTS
    ]
    assert [done.error for done in await asyncio.gather(*edits)] == [None] * 64


@pytest.mark.slow
def test_64_parallel_edits_by_two_processes_all_survive(slots):
    with ExitStack() as stack:
        halves = (SLOTS[::2], SLOTS[1::2])
        running = [started(stack, "edit_slots.py", slots.parent, *half) for half in halves]
        assert [one.stdout.readline() for one in running] == ["ready\n"] * 2
        for one in running:
            one.stdin.write("begin\n")
            one.stdin.flush()
        assert [one.wait(50) for one in running] == [0, 0]


def test_an_edit_that_was_cancelled_is_whole_or_not_there(tmp_path):
    async def cancelled():
        backend = FilesystemBackend(tmp_path)
        await backend.awrite("/AGENTS.md", "old\n" * 1000)
        for n in range(20):
            task = asyncio.create_task(backend.awrite("/AGENTS.md", f"new {n}\n" * 1000))
            await asyncio.sleep(0.0005 * n)
            task.cancel()
            text = (tmp_path / "AGENTS.md").read_text()
            assert len(set(text.splitlines())) == 1
            assert text.count("\n") == 1000

    asyncio.run(cancelled())
    assert [one.name for one in tmp_path.iterdir()] == ["AGENTS.md"]

"""Killed and crowded writers: file and history agree whatever happens."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from backends.history_writer import KEEP, text_of
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.history import HistoryBackend

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are of POSIX"),
]
KILLS, PROCESSES, EACH = 60, 8, 50
WRITER = Path(__file__).with_name("history_writer.py")


def started(stack, *args):
    command, pipe = [sys.executable, str(WRITER), *map(str, args)], subprocess.PIPE
    return stack.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))


def killed(keeper, after):
    """Start an editing process, kill it, and return the versions that it was told are kept."""
    keeper.stdin.write("begin\n")
    keeper.stdin.flush()
    pid, told = 0, []
    while not (pid and told):
        word, *rest = keeper.stdout.readline().split()
        if word == "pid":
            pid = int(rest[0])
        else:
            told.append(word)
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    while told[-1] != "gone":
        told.append(keeper.stdout.readline().strip())
    assert not [word for word in told if word.startswith("error")], told
    return [int(word) for word in told[:-1]]


@pytest.mark.timeout(180)
def test_after_each_kill_every_accepted_change_has_its_version(tmp_path):
    backend = HistoryBackend(FilesystemBackend(tmp_path), keep=KEEP)
    backend.write("/AGENTS.md", text_of(0))
    dice, unfinished, accepted = random.Random(7), 0, {0}
    with ExitStack() as stack:
        keeper = started(stack, "forever", tmp_path)
        for _ in range(KILLS):
            accepted.update(killed(keeper, dice.uniform(0, 0.02)))
            now = int((tmp_path / "AGENTS.md").read_text().split()[1])
            log = backend.log("/AGENTS.md")
            applied = [one for one in log if one.applied]
            unfinished += not log[0].applied
            assert now in (max(accepted), max(accepted) + 1)
            assert applied[0].current
            assert backend.show("/AGENTS.md", applied[0]) == text_of(now)
        keeper.stdin.close()

    log = backend.log("/AGENTS.md")
    texts = {backend.show("/AGENTS.md", one) for one in log if one.applied}
    assert len(texts) == len([one for one in log if one.applied])
    assert [n for n in accepted if text_of(n) not in texts] == []
    assert unfinished > 0, "some kills fall between the version and the write"
    folder = next((tmp_path / ".memoryware" / "history").iterdir())
    assert len([one for one in folder.iterdir() if one.suffix != ".json"]) <= 1
    made = backend.undo("/AGENTS.md")
    assert (tmp_path / "AGENTS.md").read_text() == backend.show("/AGENTS.md", made)


@pytest.mark.timeout(180)
def test_every_line_of_eight_processes_has_its_version(tmp_path):
    backend = HistoryBackend(FilesystemBackend(tmp_path), keep=KEEP)
    with ExitStack() as stack:
        running = [started(stack, "lines", tmp_path, f"p{me}", EACH) for me in range(PROCESSES)]
        assert [one.stdout.readline() for one in running] == ["ready\n"] * PROCESSES
        for one in running:
            one.stdin.write("begin\n")
            one.stdin.flush()
        assert [one.wait(150) for one in running] == [0] * PROCESSES

    lines = (tmp_path / "log.md").read_text().splitlines()
    log = backend.log("/log.md")[::-1]
    assert len(lines) == PROCESSES * EACH
    assert [one.number for one in log] == [*range(1, PROCESSES * EACH + 1)]
    assert all(one.applied for one in log)
    assert log[-1].current
    for earlier, later in pairwise(log):
        assert later.before == earlier.after
    for one in log[:: PROCESSES + 1]:
        assert backend.show("/log.md", one).splitlines() == lines[: one.number]

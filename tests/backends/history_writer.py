"""Writes files with a history in a process of its own, which may be killed at any moment.

`lines ROOT NAME COUNT` appends so many lines; `forever ROOT` forks, for each line that it
reads, a process that edits until it is killed, and tells each version that was accepted.
"""

from __future__ import annotations

import os
import sys

from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.history import HistoryBackend
from memoryware.settings import HistoryLimits

KEEP = HistoryLimits(versions=10_000)


def text_of(version: int) -> str:
    return f"version {version}\n" * 50


def lines(root: str, name: str, count: str) -> None:
    backend = HistoryBackend(FilesystemBackend(root), keep=KEEP)
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(int(count)):
        done = backend.append("/log.md", f"{name}-{n}")
        assert done.error is None, done.error


def edit_until_killed(root: str) -> None:
    backend = HistoryBackend(FilesystemBackend(root), keep=KEEP)
    version = int(backend.download_files(["/AGENTS.md"])[0].content.split()[1])
    while True:
        done = backend.edit("/AGENTS.md", text_of(version), text_of(version + 1))
        if done.error:
            os.write(1, f"error {done.error}\n".encode())
            return
        version += 1
        os.write(1, f"{version}\n".encode())


def forever(root: str) -> None:
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            edit_until_killed(root)
            os._exit(1)
        os.write(1, f"pid {child}\n".encode())
        os.waitpid(child, 0)
        os.write(1, b"gone\n")


if __name__ == "__main__":
    {"lines": lines, "forever": forever}[sys.argv[1]](*sys.argv[2:])

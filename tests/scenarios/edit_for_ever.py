"""Edits a memory file in a loop, in a process of its own that can be killed at any moment.

For each line on standard input one such process is forked, so that a kill costs no new
interpreter. It tells its number, and then each version that the backend accepted.
"""

from __future__ import annotations

import os
import sys

from memoryware.backends.filesystem import FilesystemBackend

ROOT = sys.argv[1]


def text_of(version):
    return f"version {version}\n" * 200


def edit_for_ever():
    backend = FilesystemBackend(ROOT)
    data = backend.download_files(["/AGENTS.md"])[0].content
    version = int(data.split()[1])
    while True:
        done = backend.edit("/AGENTS.md", text_of(version), text_of(version + 1))
        if done.error:
            os.write(1, f"error {done.error}\n".encode())
            return
        version += 1
        os.write(1, f"{version}\n".encode())


for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        edit_for_ever()
        os._exit(0)
    os.write(1, f"pid {child}\n".encode())
    os.waitpid(child, 0)
    os.write(1, b"gone\n")

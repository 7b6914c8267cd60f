"""Appends so many lines of its own to one file, once it is told to begin."""

from __future__ import annotations

import sys

from memoryware.backends.filesystem import FilesystemBackend

root, me, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
backend = FilesystemBackend(root)
print("ready", flush=True)
sys.stdin.readline()
for n in range(count):
    done = backend.append("/AGENTS.md", f"{me}-{n} {'x' * 80}")
    assert done.error is None, done.error

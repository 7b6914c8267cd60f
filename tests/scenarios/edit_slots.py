"""Fills its share of the slots of one file, once it is told to begin."""

from __future__ import annotations

import sys

from memoryware.backends.filesystem import FilesystemBackend

root, slots = sys.argv[1], sys.argv[2:]
backend = FilesystemBackend(root)
print("ready", flush=True)
sys.stdin.readline()
for slot in slots:
    done = backend.edit("/AGENTS.md", f"slot {slot}: empty", f"slot {slot}: done")
    assert done.error is None, done.error

"""A process of its own: what is in a memory file after a bad moment.

`python -m benchmarks._killed ours|peer FOLDER KILLS` prints, as JSON: broken files after
that many kills in the middle of editing, broken loads of `before_agent` beside a writer,
and whether the old text is still there after a text that cannot be stored.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

_FILE = "/AGENTS.md"
_FIRST, _LAST = "# Notes, turn ", "\n<!-- end -->\n"
_BODY = "- a line that has to stay\n" * 800
_READING = 1.5


def _sides(form: str, folder: str) -> tuple[Any, Any]:
    if form == "peer":
        from deepagents.backends import FilesystemBackend as PeerFiles
        from deepagents.middleware.memory import MemoryMiddleware as PeerMemory

        return PeerFiles(folder), PeerMemory(backend=PeerFiles(folder), sources=[_FILE])
    from memoryware import FilesystemBackend, MemoryMiddleware

    backend = FilesystemBackend(folder)
    return backend, MemoryMiddleware(backend=backend, sources=[_FILE])


def _text(turn: int) -> str:
    return f"{_FIRST}{turn:06d}\n{_BODY}{_LAST}"


def _is_whole(text: str) -> bool:
    return text.startswith(_FIRST) and text.endswith(_LAST) and len(text) == len(_text(0))


def _forked_editor(backend: Any) -> int:
    """Start a process that edits the file until it is killed; return its number."""
    child = os.fork()
    if child:
        return child
    try:
        backend.write(_FILE, _text(0))
        turn = 0
        while True:
            result = backend.edit(_FILE, f"{_FIRST}{turn:06d}", f"{_FIRST}{turn + 1:06d}")
            turn += 0 if result.error else 1
    finally:
        os._exit(1)


def _kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _after_kills(backend: Any, file: Path, kills: int) -> int:
    broken = 0
    moments = random.Random(7)
    for _ in range(kills):
        backend.write(_FILE, _text(0))
        child = _forked_editor(backend)
        time.sleep(moments.uniform(0.03, 0.12))
        _kill(child)
        broken += not _is_whole(file.read_text(encoding="utf-8", errors="replace"))
    return broken


def _beside_a_writer(backend: Any, memory: Any) -> tuple[int, int]:
    """Return how many loads there were, and how many saw something else than a whole file."""
    backend.write(_FILE, _text(0))
    child = _forked_editor(backend)
    loads = broken = 0
    try:
        end = time.monotonic() + _READING
        while time.monotonic() < end:
            loads += 1
            text = memory.before_agent({}, None, {})["memory_contents"].get(_FILE, "")
            broken += not _is_whole(text)
    finally:
        _kill(child)
    return loads, broken


def _kept_after_bad_text(backend: Any, file: Path) -> int:
    """Return how many of two texts with half a character leave the old one in place."""
    kept = 0
    for attempt in (
        lambda: backend.edit(_FILE, _LAST, "\ud83d"),
        lambda: backend.write(_FILE, "half a character: \ud83d"),
    ):
        backend.write(_FILE, _text(0))
        with contextlib.suppress(UnicodeEncodeError):
            attempt()
        kept += file.read_text(encoding="utf-8", errors="replace") == _text(0)
    return kept


def main() -> None:
    """Do all of it and print the figures."""
    form, folder, kills = sys.argv[1:]
    backend, memory = _sides(form, folder)
    file = Path(folder) / _FILE[1:]
    loads, broken = _beside_a_writer(backend, memory)
    figures = {
        "killed": _after_kills(backend, file, int(kills)),
        "loads": loads,
        "broken loads": broken,
        "kept": _kept_after_bad_text(backend, file),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

"""A process of its own: prints how much memory each thread in `InMemorySaver` keeps.

`python -m benchmarks._retained bare|ours|peer FOLDER THREADS PATH...`
"""

from __future__ import annotations

import gc
import os
import resource
import sys
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from benchmarks._inputs import WIDE
from benchmarks._model import BusyModel, look, question

_CALLS = 10
_WARM = 15
"""Threads before the first look, until the process has what every run needs."""


def _middleware(form: str, folder: str, paths: list[str]) -> list[Any]:
    if form == "ours":
        from memoryware import FilesystemBackend, MemoryMiddleware

        return [MemoryMiddleware(backend=FilesystemBackend(folder), sources=paths, limits=WIDE)]
    if form == "peer":
        from deepagents.backends import FilesystemBackend
        from deepagents.middleware.memory import MemoryMiddleware

        return [MemoryMiddleware(backend=FilesystemBackend(folder), sources=paths)]
    return []


def _resident() -> int:
    """Return the bytes of this process that are in memory."""
    gc.collect()
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:  # not Linux: the most there ever was, in bytes on macOS
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Run the threads and print the bytes that each of them keeps."""
    form, folder, threads, *paths = sys.argv[1:]
    agent = create_agent(
        BusyModel(calls=_CALLS),
        tools=[look],
        middleware=_middleware(form, folder, paths),
        checkpointer=InMemorySaver(),
    )
    before = 0
    for number in range(_WARM + int(threads)):
        if number == _WARM:
            before = _resident()
        agent.invoke(question(), {"configurable": {"thread_id": f"thread-{number}"}})
    print((_resident() - before) / int(threads))


if __name__ == "__main__":
    main()

"""A process of its own: several writers add lines to one file at the same time.

`python -m benchmarks._writers FORM FOLDER WRITERS LINES TRIES` prints, as JSON, how many
lines were reported as added, how many of those are in the file, and how many errors came
back. FORM is `ours`, `append` (ours, with the operation made for it) or `peer` for
processes and a file on disk, `store` or `peer-store` for threads and `SqliteStore`.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

_END = "<!-- end -->"
_FILE = "/AGENTS.md"
Told = tuple[list[str], int]
"""The lines that were reported as added, and the number of errors."""


def _backend(form: str, folder: str) -> Any:
    if "store" in form:
        return _store(form, folder)
    if form == "peer":
        from deepagents.backends import FilesystemBackend as PeerFiles

        return PeerFiles(folder)
    from memoryware import FilesystemBackend

    return FilesystemBackend(folder)


def _store(form: str, folder: str) -> Any:
    from langgraph.store.sqlite import SqliteStore

    from memoryware import StoreBackend

    path = Path(folder) / f"{form}.db"
    database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    store = SqliteStore(database)
    store.setup()
    if form == "store":
        return StoreBackend(namespace=("somebody",), store=store)
    from deepagents.backends import StoreBackend as PeerStore

    return PeerStore(namespace=lambda _: ("somebody",), store=store)


def _add(backend: Any, form: str, line: str) -> str | None:
    """Add a line in front of the end mark, or behind everything; return the error."""
    result = (
        backend.append(_FILE, line)
        if form == "append"
        else backend.edit(_FILE, _END, f"{line}\n{_END}")
    )
    error: str | None = result.error
    return error


def _write(backend: Any, form: str, writer: int, lines: int, tries: int) -> Told:
    added, errors = [], 0
    for number in range(lines):
        line = f"- line {number} of writer {writer}."
        for _ in range(tries):
            if _add(backend, form, line) is None:
                added.append(line)
                break
            errors += 1
    return added, errors


def _by_processes(writers: int, work: Callable[[int], Told]) -> list[Told]:
    context = get_context("fork")
    start, pipes, started = context.Barrier(writers), [], []

    def run(number: int, answer: Any) -> None:
        start.wait()
        answer.send(work(number))
        os._exit(0)

    for number in range(writers):
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=run, args=(number, theirs))
        process.start()
        pipes.append(mine)
        started.append(process)
    told = [pipe.recv() for pipe in pipes]
    for process in started:
        process.join()
    return told


def _by_threads(writers: int, work: Callable[[int], Told]) -> list[Told]:
    told: list[Told] = []
    start = threading.Barrier(writers)

    def run(number: int) -> None:
        start.wait()
        told.append(work(number))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def main() -> None:
    """Let the writers go and print what came of it."""
    form, folder, writers, lines, tries = sys.argv[1:]
    backend = _backend(form, folder)
    backend.write(_FILE, f"# Notes\n{_END}\n")
    run = _by_threads if "store" in form else _by_processes
    told = run(int(writers), lambda number: _write(backend, form, number, int(lines), int(tries)))
    text = backend.download_files([_FILE])[0].content.decode()
    there = set(text.splitlines())
    added = [line for lines_of_one, _ in told for line in lines_of_one]
    print(
        json.dumps(
            {
                "added": len(added),
                "kept": sum(line in there for line in added),
                "errors": sum(errors for _, errors in told),
            }
        )
    )


if __name__ == "__main__":
    main()

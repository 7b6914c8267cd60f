"""A process that opens memories in children of its own, which are killed or have no room.

It reads a line of JSON for each child and answers with one: how the child ended. Children are
forked, so that none of them costs the imports.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import sys
import threading
import time
from typing import Any

from memoryware import StoreUnavailable, TieredMemory

CALLS = {"execute", "executemany", "executescript", "commit", "backup"}
"""Calls into SQLite that are counted."""


def count_calls(kill_at: int, inside: int) -> list[int]:
    """Count the calls into SQLite of this process, and kill it before or inside one of them.

    Args:
        kill_at: The number of the call; 0 for none.
        inside: After how many steps of SQLite inside that call; 0 for before it.

    Returns:
        A list with the number so far.
    """
    number = [0]

    def profile(frame: Any, event: str, function: Any) -> None:
        if event != "c_call" or getattr(function, "__name__", "") not in CALLS:
            return
        owner = getattr(function, "__self__", None)
        if not isinstance(owner, (sqlite3.Connection, sqlite3.Cursor)):
            return
        number[0] += 1
        if number[0] == kill_at and not inside:
            os.kill(os.getpid(), signal.SIGKILL)
        if number[0] == kill_at:
            connection = owner if isinstance(owner, sqlite3.Connection) else owner.connection
            connection.set_progress_handler(lambda: os.kill(os.getpid(), signal.SIGKILL), inside)

    threading.setprofile(profile)
    sys.setprofile(profile)
    return number


def child(
    path: str, kill_at: int = 0, inside: int = 0, bytes_free: int = -1, at: float = 0.0
) -> Any:
    """Open a memory and return what came of it."""
    if bytes_free >= 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_free, bytes_free))
    time.sleep(max(0.0, at - time.time()))
    number = count_calls(kill_at, inside)
    try:
        memory = TieredMemory.open(f"sqlite:///{path}", on_mismatch="words")
    except StoreUnavailable as error:
        return {"refused": str(error)}
    finally:
        sys.setprofile(None)
    with memory:
        total = memory.list("shop", limit=1).total
        if at:
            memory.promote(
                f"A text of process {os.getpid()} about crane {os.getpid()}.", "shop", by="ann"
            )
        return {"opened": total, "calls": number[0]}


def main() -> None:
    """Answer each line that is read."""
    for line in sys.stdin:
        wanted = json.loads(line)
        reading, writing = os.pipe()
        process = os.fork()
        if not process:
            os.close(reading)
            try:
                answer = child(**wanted)
            except BaseException as error:
                answer = {"failed": repr(error)}
            os.write(writing, json.dumps(answer).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            answer = pipe.read() or b'{"killed": true}'
        os.waitpid(process, 0)
        print(answer.decode(), flush=True)


if __name__ == "__main__":
    main()

"""A process that opens memories in children of its own, which are killed or have no room.

It reads a line of JSON for each child and answers with one: how the child ended. Children are
forked, so that none of them costs the imports.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import posix
import resource
import signal
import sqlite3
import sys
import threading
import time
from typing import Any

from memoryware import TieredMemory
from memoryware.errors import StoreUnavailable

STATEMENTS = {"execute", "executemany", "executescript", "commit", "backup"}
FILES = {"rename", "replace", "link", "unlink", "remove", "fsync", "sendfile", "copy_file_range"}
"""Calls into SQLite, and calls that change files, which are counted."""


def count_calls(kill_at: int, inside: int) -> list[int]:
    """Count the calls of this process into SQLite and to its files, and kill it before or inside one of them.

    Args:
        kill_at: The number of the call; 0 for none.
        inside: After how many steps of SQLite inside that call; 0 for before it.

    Returns:
        A list with the number so far.
    """
    number = [0]

    def profile(frame: Any, event: str, function: Any) -> None:
        name = getattr(function, "__name__", "")
        owner = getattr(function, "__self__", None)
        is_statement = name in STATEMENTS and isinstance(
            owner, (sqlite3.Connection, sqlite3.Cursor)
        )
        if event != "c_call" or not (is_statement or (name in FILES and owner is posix)):
            return
        number[0] += 1
        if number[0] != kill_at:
            return
        if not inside or not is_statement:
            os.kill(os.getpid(), signal.SIGKILL)
        connection = owner if isinstance(owner, sqlite3.Connection) else owner.connection
        connection.set_progress_handler(lambda: os.kill(os.getpid(), signal.SIGKILL), inside)

    threading.setprofile(profile)
    sys.setprofile(profile)
    return number


def count_statements(kill_at: int, inside: int, victim: int) -> list[int]:
    """Count the statements that this process sends to PostgreSQL, and kill somebody in between.

    Args:
        kill_at: The number of the statement; 0 for none.
        inside: How many milliseconds after it was sent; 0 for before it.
        victim: The process of a server that crashes then; 0 for this process.

    Returns:
        A list with the number so far.
    """
    import psycopg

    number, execute = [0], psycopg.Connection.execute.__code__

    def profile(frame: Any, event: str, _: Any) -> None:
        if event != "call" or frame.f_code is not execute:
            return
        number[0] += 1
        if number[0] != kill_at:
            return
        if victim:
            threading.Timer(inside / 1000, os.kill, (victim, signal.SIGQUIT)).start()
        elif inside:
            signal.setitimer(signal.ITIMER_REAL, inside / 1000)  # nobody handles its signal
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(profile)
    return number


def move_few_rows_at_once() -> None:
    """Let a migration that moves rows do so in many transactions, as with a large file."""
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("memoryware.tiers.stores.sqlite._schema").BATCH = 20


def child(
    path: str,
    kill_at: int = 0,
    inside: int = 0,
    bytes_free: int = -1,
    at: float = 0.0,
    victim: int = 0,
) -> Any:
    """Open a memory and return what came of it."""
    if bytes_free >= 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_free, bytes_free))
    time.sleep(max(0.0, at - time.time()))
    if "://" in path:
        url, number = path, count_statements(kill_at, inside, victim)
    else:
        url, number = f"sqlite:///{path}", count_calls(kill_at, inside)
    try:
        memory = TieredMemory.open(url, on_mismatch="words")
    except StoreUnavailable as error:
        return {"refused": str(error)}
    finally:
        sys.setprofile(None)
    with memory:
        calls, total = number[0], memory.list("shop", limit=1).total
        if at:
            memory.promote(
                f"A text of process {os.getpid()} about crane {os.getpid()}.", "shop", by="ann"
            )
        return {"opened": total, "calls": calls}


def main() -> None:
    """Answer each line that is read."""
    move_few_rows_at_once()
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

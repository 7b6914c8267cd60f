"""Count what one operation costs: SQL statements, commits, round trips, moves between files.

The counts do not depend on the machine or on what else runs on it, so they can be bounds of
tests. Nothing here knows how a store works inside: SQLite reports each statement to a trace
callback, PostgreSQL and Redis are reached through a relay that reads the wire, and Python
reports each call to a profile hook.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import pathlib
import socket
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

import memoryware

PACKAGE = str(pathlib.Path(memoryware.__file__).parent)
_PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_STEPS = 100
_ALONE = 80
_CHANGES = (b"INSERT", b"UPDATE", b"DELETE", b"MERGE", b"COPY")
_ENDS = (b"COMMIT", b"ROLLBACK", b"BEGIN")
"""Bytes of messages that hold no other statement than a COMMIT; a mark or a write has more."""
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


@dataclass
class Statements:
    """What SQLite was asked for while `counted_statements` was active.

    Attributes:
        texts: Each statement, with those that begin and end a transaction; of `executemany`
            one for each row.
        flushes: How many transactions that changed something were committed: each waits for
            the disk once.
        steps: Hundreds of instructions of SQLite's virtual machine, a measure of the work
            inside the statements: a scan of a table shows here and not in their number.
    """

    texts: list[str] = field(default_factory=list)
    flushes: int = 0
    steps: int = 0

    @property
    def count(self) -> int:
        """How many statements there were."""
        return len(self.texts)

    def step(self) -> int:
        """Count instructions; 0 lets the statement go on."""
        self.steps += 1
        return 0


class _Trace:
    """Reports the statements of one connection."""

    def __init__(self, connection: sqlite3.Connection, statements: Statements) -> None:
        self._connection, self._statements = connection, statements
        self._before = connection.total_changes

    def __call__(self, sql: str) -> None:
        if sql.startswith("--"):  # what a trigger or an index does within a statement
            return
        verb = sql.lstrip().partition(" ")[0].rstrip(";").upper()
        if verb == "BEGIN":
            self._before = self._connection.total_changes
        if verb in ("COMMIT", "END"):
            self._statements.flushes += self._connection.total_changes > self._before
        elif verb in _WRITES and not self._connection.in_transaction:
            self._statements.flushes += 1
        self._statements.texts.append(sql)


@contextlib.contextmanager
def counted_statements() -> Iterator[Statements]:
    """Count the statements that all SQLite connections of this process get in the block.

    Connections that are open are found by the garbage collector, and new ones as they are
    opened, so that no test has to know where a store keeps them.
    """
    statements = Statements()
    connect = sqlite3.connect
    traced: list[sqlite3.Connection] = []

    def trace(connection: sqlite3.Connection) -> None:
        with contextlib.suppress(sqlite3.ProgrammingError):  # it is closed
            connection.set_trace_callback(_Trace(connection, statements))
            connection.set_progress_handler(statements.step, _STEPS)
            traced.append(connection)

    def connect_traced(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*args, **options)
        trace(connection)
        return connection

    for value in gc.get_objects():
        if type(value) is sqlite3.Connection:
            trace(value)
    sqlite3.connect = connect_traced
    try:
        yield statements
    finally:
        sqlite3.connect = connect
        for connection in traced:
            with contextlib.suppress(sqlite3.ProgrammingError):
                connection.set_trace_callback(None)
                connection.set_progress_handler(None, 0)


class Relay:
    """Forwards connections to a server and counts how often a client waits for its answers.

    Args:
        target: The unix socket of the server.
        name: The name of the socket that this listens on, as clients expect it.
        postgres: Read PostgreSQL's protocol: a new round trip begins when the client sends
            something after it got the answers to all that it sent, so a pipeline counts once,
            also where the server answers its first part early. Otherwise a round trip is a
            change of the direction on the wire.
    """

    def __init__(self, target: str, name: str, *, postgres: bool) -> None:
        self.trips = 0
        self._target, self._postgres = target, postgres
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="relay-"))
        self.path = self.folder / name
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen(50)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()
        self.path.unlink(missing_ok=True)
        self.folder.rmdir()

    def counted(self, call: Callable[[], object]) -> int:
        """Return how many round trips a call takes."""
        before = self.trips
        call()
        return self.trips - before

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                wire = _PostgresWire() if self._postgres else _Wire()
                for source, sink, upward in ((client, server, True), (server, client, False)):
                    threading.Thread(
                        target=self._forward, args=(source, sink, upward, wire), daemon=True
                    ).start()

    def _forward(
        self, source: socket.socket, sink: socket.socket, upward: bool, wire: _Wire
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                # before the other end gets it, so that an answer never counts too late
                if upward:
                    self.trips += wire.sent(data)
                else:
                    wire.received(data)
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class _Wire:
    """Counts changes of the direction of one connection."""

    def __init__(self) -> None:
        self._answered = True

    def sent(self, data: bytes) -> int:
        """Return 1 if a round trip begins with this."""
        begins, self._answered = self._answered, False
        return int(begins)

    def received(self, data: bytes) -> None:
        self._answered = True


class _PostgresWire(_Wire):
    """Counts waits for `ReadyForQuery`, and for answers that a Flush message asks for."""

    def __init__(self) -> None:
        super().__init__()
        self._up, self._down = b"", b""
        self._started = False
        self._awaited = 0
        self._flush = self._open = self._wrote = False
        self._lock = threading.Lock()

    def sent(self, data: bytes) -> int:
        with self._lock:
            self._up += data
            kinds = [*self._messages_up()]
            if not self._open and kinds and ({*kinds} <= {b"H", b"X"} or self._ends_read(data)):
                self._awaited += kinds.count(b"S") + kinds.count(b"Q")
                return 0
            begins, self._open = not self._open, True
            self._awaited += kinds.count(b"S") + kinds.count(b"Q")
            self._flush = self._flush or b"H" in kinds
            return int(begins)

    def _ends_read(self, data: bytes) -> bool:
        """Say whether this is only the COMMIT of a transaction that has changed nothing.

        The client does not wait for it: whoever uses the connection next reads the answer. The
        COMMIT of a transaction that has changed something is waited for, and counts.
        """
        return not self._wrote and len(data) < _ALONE and b"\0COMMIT\0" in data

    def received(self, data: bytes) -> None:
        with self._lock:
            self._down += data
            if self._flush:
                self._flush = self._open = False
            while len(self._down) >= 5:
                end = 1 + int.from_bytes(self._down[1:5])
                if len(self._down) < end:
                    break
                message, self._down = self._down[:end], self._down[end:]
                if message[:1] == b"Z":
                    self._awaited -= 1
                    self._open = self._awaited > 0
                elif message[:1] == b"C":
                    command = message[5:].partition(b" ")[0].rstrip(b"\0")
                    self._wrote = command in _CHANGES or (self._wrote and command not in _ENDS)

    def _messages_up(self) -> Iterator[bytes]:
        if not self._started and len(self._up) >= 4:
            self._up = self._up[int.from_bytes(self._up[:4]) :]  # the startup has no type
            self._started = True
            self._awaited += 1
        while self._started and len(self._up) >= 5:
            end = 1 + int.from_bytes(self._up[1:5])
            if len(self._up) < end:
                break
            kind, self._up = self._up[:1], self._up[end:]
            yield kind


@dataclass(frozen=True)
class Walk:
    """What a reader crosses who follows one call.

    Attributes:
        files: Files of the package in which something is called.
        functions: Distinct functions that are called.
        moves: How often a call lies in another file than the call before it.
        calls: All calls of named functions, a measure of the work in Python.
    """

    files: int
    functions: int
    moves: int
    calls: int


def walk(call: Callable[[], object]) -> Walk:
    """Follow the calls inside the package that one call makes, in this thread.

    Comprehensions and lambdas belong to the function that they stand in, and a generator or
    coroutine that goes on after a pause is not called once more.
    """
    calls: list[CodeType] = []
    paused: set[FrameType] = set()  # frames are kept, so that no other gets their identity

    def hook(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        if code.co_name.startswith("<") or frame in paused:
            return
        if code.co_flags & _PAUSES:
            paused.add(frame)
        calls.append(code)

    sys.setprofile(hook)
    try:
        call()
    finally:
        sys.setprofile(None)
    files = [code.co_filename for code in calls]
    moves = sum(one != other for one, other in pairwise(files))
    return Walk(len({*files}), len({*calls}), moves, len(calls))

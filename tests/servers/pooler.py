"""Stands before a PostgreSQL and lends its few sessions for one transaction at a time.

What a session is left with by one client, the next one meets: nothing is reset in between, as
with poolers in transaction mode.
"""

from __future__ import annotations

import contextlib
import queue
import select
import shutil
import socket
import struct
import tempfile
import threading

_STARTUP = 3 << 16
"""The version in a first message that begins a session; others ask for something else."""


class Pooler:
    """A folder to connect to in place of that of the server."""

    def __init__(self, server: str, sessions: int = 2) -> None:
        self._server, self._count = server, sessions
        self._sessions: queue.Queue[socket.socket] = queue.Queue()
        self._every: list[socket.socket] = []
        self._greeting = b""
        self._lock = threading.Lock()
        self.folder = tempfile.mkdtemp(prefix="pooler-")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(f"{self.folder}/.s.PGSQL.5432")
        self._socket.listen(50)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for one in (self._socket, *self._every):
            one.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            first = client.recv(65536)
            if struct.unpack(">i", first[4:8])[0] >> 16 != _STARTUP >> 16:
                return
            with self._lock:
                for _ in range(0 if self._every else self._count):
                    self._begin(first)
            client.sendall(self._greeting)
            waiting = _Messages()
            while data := client.recv(65536):
                waiting.add(data)
                if waiting.whole and not self._transaction(client, waiting):
                    return

    def _begin(self, first: bytes) -> None:
        session = socket.socket(socket.AF_UNIX)
        session.connect(f"{self._server}/.s.PGSQL.5432")
        session.sendall(first)
        told = _Messages()
        while "Z" not in [kind for kind, _ in told.whole]:
            told.add(session.recv(65536))
        self._greeting = b"".join(whole for _, whole in told.whole)
        self._every.append(session)
        self._sessions.put(session)

    def _transaction(self, client: socket.socket, up: _Messages) -> bool:
        """Pass on what belongs to one transaction; return whether the client goes on."""
        if up.whole[0][0] == "X":
            return False
        session, down, asked = self._sessions.get(timeout=30), _Messages(), 0
        over = False
        try:
            while True:
                for kind, whole in up.taken():
                    if kind == "X":
                        return False
                    asked += kind in "QS"
                    session.sendall(whole)
                ready, _, _ = select.select([client, session], [], [], 60)
                if session in ready:
                    down.add(session.recv(65536))
                    for kind, whole in down.taken():
                        client.sendall(whole)
                        asked -= kind == "Z"
                        over = kind == "Z" and whole.endswith(b"I") and not asked
                if over:
                    return True
                if client in ready:
                    data = client.recv(65536)
                    if not data:
                        return False
                    up.add(data)
        finally:
            if not over:
                self._end(session)
            self._sessions.put(session)

    def _end(self, session: socket.socket) -> None:
        """Undo what a client left in the middle."""
        query = b"ROLLBACK\0"
        session.sendall(b"Q" + struct.pack(">i", len(query) + 4) + query)
        told = _Messages()
        while "Z" not in [kind for kind, _ in told.taken()]:
            told.add(session.recv(65536))


class _Messages:
    """Messages as they come in pieces, each with its kind."""

    def __init__(self) -> None:
        self.whole: list[tuple[str, bytes]] = []
        self._rest = b""

    def add(self, data: bytes) -> None:
        if not data:
            raise OSError("the other end is gone")
        self._rest += data
        while len(self._rest) >= 5:
            length = 1 + struct.unpack(">i", self._rest[1:5])[0]
            if len(self._rest) < length:
                return
            self.whole.append((chr(self._rest[0]), self._rest[:length]))
            self._rest = self._rest[length:]

    def taken(self) -> list[tuple[str, bytes]]:
        taken, self.whole = self.whole, []
        return taken

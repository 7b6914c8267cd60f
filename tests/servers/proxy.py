"""Stands between a client and a PostgreSQL, and does something at a chosen word."""

from __future__ import annotations

import contextlib
import pathlib
import socket
import tempfile
import threading
import time
from collections.abc import Callable


class Proxy:
    """Forwards everything until it is told to lose a message, or to hold it up.

    Attributes:
        word: The message in which this stands is the last of its connection.
        arrives: Whether the server still gets it; its answer is lost in any case.
        answers: Whether the server has answered before the client hears of the loss.
        late: How many seconds the server gets it later, when the client knows that it is lost.
        meanwhile: Is done before that message goes on; then it is not lost at all.
        lost: How many connections were lost.
    """

    def __init__(self, server: str) -> None:
        self.word, self.arrives, self.answers, self.lost = b"", True, True, 0
        self.late = 0.0
        self.meanwhile: Callable[[], object] | None = None
        self._server = server
        self.folder = tempfile.mkdtemp(prefix="proxy-")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(f"{self.folder}/.s.PGSQL.5432")
        self._socket.listen(50)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._socket.close()
        with contextlib.suppress(OSError):
            pathlib.Path(f"{self.folder}/.s.PGSQL.5432").unlink()
            pathlib.Path(self.folder).rmdir()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(f"{self._server}/.s.PGSQL.5432")
                for one, other, up in ((client, server, True), (server, client, False)):
                    threading.Thread(
                        target=self._forward, args=(one, other, up), daemon=True
                    ).start()

    def _forward(self, one: socket.socket, other: socket.socket, up: bool) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                if up and self.word and self.word in data:
                    self.word, work, self.meanwhile = b"", self.meanwhile, None
                    if work is None:
                        self._lose(one, other, data)
                        break
                    work()
                other.sendall(data)
        for each in (one, other):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _lose(self, client: socket.socket, server: socket.socket, data: bytes) -> None:
        self.lost += 1
        client.shutdown(socket.SHUT_RDWR)  # first, so that nothing of the answer comes through
        if self.arrives:
            time.sleep(self.late)
            server.sendall(data)
            if self.answers:
                server.recv(65536)

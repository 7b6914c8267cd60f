"""Stands between a client and a PostgreSQL, and loses a connection at a chosen word."""

from __future__ import annotations

import contextlib
import pathlib
import socket
import tempfile
import threading


class Proxy:
    """Forwards everything until it is told to lose a message.

    Attributes:
        word: The message in which this stands is the last of its connection.
        arrives: Whether the server still gets it; its answer is lost in any case.
        lost: How many connections were lost.
    """

    def __init__(self, server: str) -> None:
        self.word, self.arrives, self.lost = b"", True, 0
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
                    self.word, self.lost = b"", self.lost + 1
                    one.shutdown(socket.SHUT_RDWR)
                    if self.arrives:
                        other.sendall(data)
                        while other.recv(65536):  # until the server has done it, and goes on
                            break
                    break
                other.sendall(data)
        for each in (one, other):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

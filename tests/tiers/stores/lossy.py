"""A server between a client and a Redis, which loses what it is told to lose."""

from __future__ import annotations

import contextlib
import socket
import threading


class Lossy:
    """Passes everything on, and can lose answers: the connection then ends without one.

    Attributes:
        lose: The next so many requests that have `only` in them get no answer; they are done.
    """

    def __init__(self, folder, target) -> None:
        self.path, self.target = str(folder / "lossy.sock"), target
        self.lose, self.only = 0, b""
        self.lost = 0
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(self.path)
        self._listening.listen()
        self._open = [self._listening]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"unix://{self.path}"

    def close(self):
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            self._open += [client, server]
            threading.Thread(target=self._serve, args=(client, server), daemon=True).start()

    def _serve(self, client, server):
        answers = threading.Event()
        answers.set()
        threading.Thread(target=self._back, args=(server, client, answers), daemon=True).start()
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 20):
                if self.lose and self.only in data:
                    self.lose -= 1
                    self.lost += 1
                    answers.clear()
                server.sendall(data)

    @staticmethod
    def _back(server, client, answers):
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 20):
                if not answers.is_set():
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(data)

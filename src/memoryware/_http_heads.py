"""Close HTTP connections that send no complete request head in time."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def head_timeout(seconds: float) -> type[asyncio.Protocol]:
    """Return a protocol for uvicorn that closes slow connections.

    A client that sends its head byte by byte would otherwise hold a connection for ever
    ("slowloris"); uvicorn itself limits only the time between two requests.

    Args:
        seconds: How long the head of a request may take from its first byte, and how long a
            connection may wait for one.
    """

    class HeadTimeout(H11Protocol):
        _ending: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._stop()

        def _watch(self) -> None:
            """Wait for a head as long as it takes from its first byte, not from its last."""
            if self.conn.their_state is not h11.IDLE:
                self._stop()
            elif self._ending is None:
                self._ending = self.loop.call_later(seconds, self._give_up)

        def _give_up(self) -> None:
            self._ending = None
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self.transport.close()

        def _stop(self) -> None:
            if self._ending is not None:
                self._ending.cancel()
                self._ending = None

    return HeadTimeout

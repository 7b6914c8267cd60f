"""How long a connection may stay open that asks for nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def patient(seconds: float) -> type[asyncio.Protocol]:
    """Return a protocol that closes connections whose next request has no whole head in time."""

    class Patient(H11Protocol):
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

    return Patient

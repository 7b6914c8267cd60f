"""Seconds that processors have worked: on this process, and on a server and all its processes."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


class Cpu:
    """Says how long processors have worked so far.

    Args:
        server: The process that has started those of a server; None counts this process alone.
    """

    def __init__(self, server: int | None = None) -> None:
        self._server = server

    def __call__(self) -> float:
        return time.process_time() + (self._of_server(self._server) if self._server else 0.0)

    @staticmethod
    def _of_server(server: int) -> float:
        fields = (_PROC / f"{server}/stat").read_text().rpartition(")")[2].split()
        ended = (int(fields[13]) + int(fields[14])) / _TICKS  # of children that are gone
        children = (_PROC / f"{server}/task/{server}/children").read_text().split()
        return ended + sum(map(_worked, [str(server), *children]))


def _worked(pid: str) -> float:
    try:
        return int((_PROC / pid / "schedstat").read_text().split()[0]) / 1e9
    except FileNotFoundError:
        return 0.0

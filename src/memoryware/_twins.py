"""The names under which backends and sources still use `memoryware._runner`."""

from __future__ import annotations

from typing import Final

from memoryware._runner import ASYNC, BLOCKING, Runner, in_thread, run_blocking

__all__ = ["Via", "blocking", "finish", "in_thread", "native"]

Via = Runner
blocking: Final = BLOCKING
native: Final = ASYNC
finish = run_blocking

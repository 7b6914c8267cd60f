"""The log, and the rule that nobody who listens can end a run."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

logger: Final = logging.getLogger("memoryware")

_said: Final[set[tuple[str, str]]] = set()
_saying: Final = threading.Lock()
_MOST_SAID: Final = 1000
"""Different failures that are remembered as said; after that none is said anymore."""


def safely(place: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Return what the work returns; if it fails, say so once and return None."""
    try:
        return work(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whoever listens may raise anything; the run goes on
        _say_once(place, error)
        return None


def _say_once(place: str, error: Exception) -> None:
    """Log a failure the first time: its class and line, not its text, which may quote an event."""
    kind = type(error).__name__
    with _saying:
        if (place, kind) in _said or len(_said) >= _MOST_SAID:
            return
        _said.add((place, kind))
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    where = "" if step is None else f"{step.tb_frame.f_code.co_filename}:{step.tb_lineno}"
    with suppress(Exception):  # a log handler that fails, too
        logger.warning(
            "%s failed with %s at %s and missed an event; the run goes on. This is said once",
            place,
            kind,
            where,
        )

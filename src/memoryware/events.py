"""What happened, told in three places: the custom stream, the log, and open spans.

An event says which sources, how many characters or tokens, how long; never the text
itself. `stream_mode="custom"` shows it as `{"type": "memory", "event": ..., ...}`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, Final, Literal, get_args

logger: Final = logging.getLogger("memoryware")

EventName = Literal[
    "loaded",
    "injected",
    "recorded",
    "rejected",
    "retrieved",
    "retrieval_error",
    "promoted",
    "write_blocked",
]
"""Every event that memoryware sends."""
EVENT_NAMES: Final[tuple[str, ...]] = get_args(EventName)

Writer = Callable[[Any], None]
"""A graph's stream writer."""


def is_heard(writer: Writer | None) -> bool:
    """Say whether anybody may be listening, so that the facts are worth putting together."""
    tracing = "opentelemetry.trace" in sys.modules
    return writer is not None or tracing or logger.isEnabledFor(logging.DEBUG)


def emit(writer: Writer | None, event: EventName, /, **facts: Any) -> None:
    """Tell an event to the stream writer, to the log at DEBUG, and to the open span."""
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("memory %s %s", event, facts)
    _to_span(event, facts)
    if writer is not None:
        writer({"type": "memory", "event": event, **facts})


def _to_span(event: str, facts: dict[str, Any]) -> None:
    """Add the event to the current OpenTelemetry span, if that library is in use at all."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return
    span = trace.get_current_span()
    if span.is_recording():
        plain = {
            key: one for key, one in facts.items() if isinstance(one, str | int | float | bool)
        }
        span.add_event(f"memory.{event}", plain)

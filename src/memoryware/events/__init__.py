"""Events of memory: typed payloads for the custom stream, the log, the trace and listeners.

An event says which files, who, how much, how long and why; never the text itself, unless
`trace_content=True` asks for it. `stream_mode="custom"` shows it as
`{"type": "memory", "event": ..., ...}`; `memoryware.events.facts` has every key.
"""

from __future__ import annotations

from memoryware.events._emission import (
    ActingIdentity,
    Content,
    Counters,
    EventContext,
    EventTarget,
    Listener,
    Span,
    SpanName,
    Subscription,
    Writer,
    emit,
    has_tracer,
    is_heard,
    listen,
    logger,
    span,
)
from memoryware.events.facts import EVENT_NAMES, EventName, EventPayload, MemoryEvent

__all__ = [
    "EVENT_NAMES",
    "ActingIdentity",
    "Content",
    "Counters",
    "EventContext",
    "EventName",
    "EventPayload",
    "EventTarget",
    "Listener",
    "MemoryEvent",
    "Span",
    "SpanName",
    "Subscription",
    "Writer",
    "emit",
    "has_tracer",
    "is_heard",
    "listen",
    "logger",
    "span",
]

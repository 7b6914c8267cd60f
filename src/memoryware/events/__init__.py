"""What happened, told where people look: the custom stream, the log, the trace, listeners.

An event says which files, who, how much, how long and why; never the text itself, unless
`trace_content=True` asks for it. `stream_mode="custom"` shows it as
`{"type": "memory", "event": ..., ...}`; `memoryware.events.facts` has every key.
"""

from __future__ import annotations

from memoryware.events._listening import Counters, Listener, Listening, listen
from memoryware.events._log import logger
from memoryware.events._teller import Teller, To, Who, Writer
from memoryware.events._telling import Content, emit, is_heard
from memoryware.events._tracing import Span, SpanName, has_tracer, span
from memoryware.events.facts import EVENT_NAMES, EventName, MemoryEvent

__all__ = [
    "EVENT_NAMES",
    "Content",
    "Counters",
    "EventName",
    "Listener",
    "Listening",
    "MemoryEvent",
    "Span",
    "SpanName",
    "Teller",
    "To",
    "Who",
    "Writer",
    "emit",
    "has_tracer",
    "is_heard",
    "listen",
    "logger",
    "span",
]

"""OpenTelemetry, where an application uses it: spans for work, span events for events.

The library is never imported from here. Who has set up tracing has imported it, and so has
langchain where it is installed; without either there is nobody who would get a span.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Literal, Self

from memoryware._version import __version__
from memoryware.errors import MemorywareError
from memoryware.events._clean import CODE, cleaned
from memoryware.events._log import safely
from memoryware.events._teller import To, teller_of
from memoryware.events.facts import COMMON, OWN_KEYS

SpanName = Literal["memory.load", "memory.write", "memory.recall"]
"""Every piece of work that gets a span."""

_NAMES: Final = {
    "user": "user.id",
    "agent": "gen_ai.agent.id",
    "thread": "gen_ai.conversation.id",
    "tool": "gen_ai.tool.name",
    "tool_call": "gen_ai.tool.call.id",
}
"""Facts for which the semantic conventions have a name; all others are `memory.<fact>`."""
_KNOWN: Final = frozenset(key for keys in OWN_KEYS.values() for key in keys)
_tracers: Final[dict[str, tuple[Any, Any]]] = {}
"""The provider that was asked last, and its tracer."""


def is_traced() -> bool:
    """Say whether a span is being recorded around this call."""
    return _current() is not None


def has_tracer() -> bool:
    """Say whether an application has set up tracing, so that a span of ours is kept."""
    return "opentelemetry.trace" in sys.modules and _tracer() is not None


def add_event(event: str, facts: Mapping[str, Any]) -> None:
    """Add an event to the current span, if one is being recorded."""
    span = _current()
    if span is not None:
        span.add_event(f"memory.{event}", attributes(facts))


def attributes(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts as attributes of a span, without those that say nothing."""
    found = {}
    for key, value in facts.items():
        if value is None or value == "" or key in ("type", "event"):
            continue
        name = _NAMES.get(key) or ("memory.name" if key == "memory" else f"memory.{key}")
        found[name] = _flat(value)
    return found


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return as attributes only what an event may say."""
    return attributes(
        {key: cleaned(key, value) for key, value in facts.items() if key in _KNOWN or key in COMMON}
    )


def _flat(value: Any) -> Any:
    """Return a value as an attribute may be: plain, or a sequence of plain ones."""
    if isinstance(value, Mapping):
        import json

        return json.dumps(value, ensure_ascii=False)
    return tuple(value) if isinstance(value, list) else value


class Span:
    """A piece of work: how long it took, and a span of the trace where there is one.

    The span is the current one inside the block, so that what is called there hangs below
    it. An error that leaves the block is recorded by its class and code, without its text.
    """

    __slots__ = ("_ended", "_facts", "_name", "_open", "_started", "_to")

    def __init__(self, name: SpanName, to: To, facts: dict[str, Any]) -> None:
        self._name, self._to, self._facts = name, to, facts
        self._open: tuple[Any, Any] | None = None
        self._started, self._ended = 0.0, 0.0

    @property
    def ms(self) -> float:
        """Milliseconds that the work has taken, until now or in all; 0 before it begins."""
        until = self._ended or (perf_counter() if self._started else 0.0)
        return round((until - self._started) * 1000, 3)

    def note(self, **facts: Any) -> None:
        """Add facts, under the names that events have for them; others are left out."""
        if self._open is not None:
            safely("the tracer", lambda span: span.set_attributes(_known(facts)), self._open[0])

    def __enter__(self) -> Self:
        self._started = perf_counter()
        if sys.modules.get("opentelemetry.trace") is not None:
            self._open = safely("the tracer", self._opened)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended = perf_counter()
        opened, self._open = self._open, None
        if opened is not None:
            safely("the tracer", self._close, *opened, error)

    def _opened(self) -> tuple[Any, Any] | None:
        tracer = _tracer()
        if tracer is None:
            return None
        facts = _known({**teller_of(self._to).facts(), **self._facts})
        span = tracer.start_span(self._name, attributes=facts)
        context = sys.modules["opentelemetry.context"]
        return span, context.attach(sys.modules["opentelemetry.trace"].set_span_in_context(span))

    @staticmethod
    def _close(span: Any, token: Any, error: BaseException | None) -> None:
        try:
            if error is not None:
                _mark(span, error)
        finally:
            sys.modules["opentelemetry.context"].detach(token)
            span.end()


def span(name: SpanName, to: To = None, /, **facts: Any) -> Span:
    """Return a piece of work that is timed, and traced where tracing is set up.

    It is a context manager: `with span("memory.load", teller) as work: ...`.

    Args:
        name: What is done.
        to: Who is told of it; names the memory, the user, the agent and the thread.
        facts: What is known already, under the names that events have for it.
    """
    return Span(name, to, facts)


def _mark(span: Any, error: BaseException) -> None:
    """Say on a span how its work ended early."""
    bubble = getattr(sys.modules.get("langgraph.errors"), "GraphBubbleUp", ())
    if isinstance(error, bubble):  # a run that waits for a person has not failed
        span.set_attribute("memory.interrupted", True)  # noqa: FBT003 - the signature is theirs
        return
    kind = type(error)
    plain = kind.__module__ in ("builtins", "asyncio.exceptions")
    name = kind.__qualname__ if plain else f"{kind.__module__}.{kind.__qualname__}"
    span.set_attribute("error.type", name)
    code = getattr(error, "code", None) if isinstance(error, MemorywareError) else None
    if isinstance(code, str) and CODE.fullmatch(code):
        span.set_attribute("memory.code", code)
    if isinstance(error, Exception):  # to be cancelled is no fault
        trace = sys.modules["opentelemetry.trace"]
        span.set_status(trace.Status(trace.StatusCode.ERROR, kind.__qualname__))


def _current() -> Any | None:
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    # Asked at each model call, and mostly there is nothing at all in the context.
    context = sys.modules.get("opentelemetry.context")
    if context is not None and not context.get_current():
        return None
    span = trace.get_current_span()
    return span if span.is_recording() else None


def _tracer() -> Any | None:
    """Return our tracer of the provider that is in force, or None if there is none."""
    trace = sys.modules["opentelemetry.trace"]
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):  # nobody has set one
        return None
    asked, tracer = _tracers.get("last", (None, None))
    if asked is not provider:
        tracer = provider.get_tracer("memoryware", __version__)
        _tracers["last"] = (provider, tracer)
    return tracer

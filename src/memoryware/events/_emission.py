"""Emit events to the log, the current span, all listeners and the stream writer of a run.

Nothing that any of these does can end the run. OpenTelemetry is used where an application uses it:
spans for work, span events for events. The library is never imported from here: who has set up
tracing has imported it, and so has langchain where it is installed; without either there is nobody
who would get a span.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from inspect import iscoroutinefunction
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Literal, ParamSpec, Protocol, Self, TypeAlias, TypeVar

from memoryware._version import __version__
from memoryware.errors import MemorywareError
from memoryware.events.facts import COMMON, LISTS, OWN_KEYS, EventName, MemoryEvent

# The context of events.

Writer = Callable[[Any], None]
"""A graph's stream writer."""


class ActingIdentity(Protocol):
    """On whose behalf something happens; a `MemoryScope` is one."""

    @property
    def user_id(self) -> str | None: ...

    @property
    def agent_id(self) -> str | None: ...

    @property
    def session_id(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class EventContext:
    """What all events of one piece of work have in common.

    Attributes:
        writer: The stream writer of the run, or None outside of one.
        by: On whose behalf it happens.
        memory: The name of the middleware.
        trace_content: Whether events may contain texts. The only switch: with False, the
            `content` of an event is not even called.
        redact: Removes secrets from a text before it is emitted, such as `Guard().redact`.
    """

    writer: Writer | None = None
    by: ActingIdentity | None = None
    memory: str | None = None
    trace_content: bool = False
    redact: Callable[[str], str] | None = None

    def facts(self) -> dict[str, Any]:
        """Return the keys that every event of this work has."""
        by = self.by
        return {
            "memory": self.memory,
            "user": by.user_id if by else None,
            "agent": by.agent_id if by else None,
            "thread": by.session_id if by else None,
        }


EventTarget: TypeAlias = EventContext | Writer | None
"""Where an event goes: a context, a stream writer alone, or None for the log and listeners only."""


def _context_of(target: EventTarget) -> EventContext:
    """Return the context of an event; a stream writer alone is a context without an identity."""
    return target if isinstance(target, EventContext) else EventContext(target)


# The log.

P = ParamSpec("P")
T = TypeVar("T")

logger: Final = logging.getLogger("memoryware")

_logged: Final[set[tuple[str, str]]] = set()
_logging_lock: Final = threading.Lock()
_MOST_LOGGED: Final = 1000
"""Different failures of which each is logged once; after that no further one is logged."""


def _safely(receiver: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Return what the work returns; if it fails, log that once and return None."""
    try:
        return work(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whoever listens may raise anything; the run goes on
        _log_once(receiver, error)
        return None


def _log_once(receiver: str, error: Exception) -> None:
    """Log a failure the first time: its class and line, not its text, which may quote an event."""
    kind = type(error).__name__
    with _logging_lock:
        if (receiver, kind) in _logged or len(_logged) >= _MOST_LOGGED:
            return
        _logged.add((receiver, kind))
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    where = "" if step is None else f"{step.tb_frame.f_code.co_filename}:{step.tb_lineno}"
    with suppress(Exception):  # a log handler that fails, too
        logger.warning(
            "%s failed with %s at %s and missed an event; the run goes on. This is said once",
            receiver,
            kind,
            where,
        )


# Values that may stand in an event.

_LONGEST_FACT: Final = 1000
"""Characters of one text in an event; a path that a model has made up may be longer."""
_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""What a code looks like. Another text may be the message of a foreign backend."""


def _cleaned(key: str, value: Any) -> Any:
    """Return a value as it may stand in an event."""
    if key in LISTS:
        return [_plain(key, item) for item in value or ()]
    return _plain(key, value)


def _plain(key: str, value: Any) -> Any:
    if isinstance(value, str):
        if key == "codes" and not _CODE.fullmatch(value):
            return "other"
        return value[:_LONGEST_FACT]
    return value if isinstance(value, int | float) else None


# Emitting.

Content: TypeAlias = Callable[[], Mapping[str, str]]
"""Makes the texts of an event by path; called only where an event may contain them."""

_LEVELS: Final[dict[str, int]] = {
    "written": logging.INFO,
    "approval_asked": logging.INFO,
    "write_blocked": logging.WARNING,
    "retrieval_error": logging.WARNING,
}
"""Levels of the log for what a person should know of, or look at; others are `DEBUG`."""
_AS_WANTED: Final = frozenset({"rules", "read_only", "not_approved"})
"""Refusals that somebody has asked for; the others are worth a look."""
_NO_CONTENT: Final = frozenset({"write_blocked", "rejected"})
"""A text that was refused is never emitted, whatever `trace_content` is."""
_NOT_IN_TEXT: Final = frozenset(
    {"type", "event", "content", "tool_call", "digest_before", "digest_after"}
)
"""Keys that a line of the log leaves out; its record has them."""


def is_heard(target: EventTarget) -> bool:
    """Return whether an event may reach anybody, so that its facts are worth collecting.

    Args:
        target: As for `emit`.

    Returns:
        False if there is no stream writer, no listener, no span and no log at this level.
    """
    writer = target.writer if isinstance(target, EventContext) else target
    return writer is not None or _is_heard(logging.DEBUG)


def _is_heard(level: int) -> bool:
    """Return whether a listener, the log or a span gets an event of a level."""
    if _subscriptions[0] or logger.isEnabledFor(level):
        return True
    return bool(_safely("the tracer", _is_traced))


def emit(
    target: EventTarget,
    event: EventName,
    /,
    *,
    content: Content | None = None,
    within: Span | None = None,
    **facts: Any,
) -> None:
    """Emit an event to the log, the current span, all listeners and the stream writer.

    Nothing that any of them does can end the run. A key that the event does not have is left
    out, and one that is missing is empty; see `memoryware.events.facts`.

    Args:
        target: The context of the event, or a stream writer.
        event: The name of the event.
        content: Makes the texts, by path. Called only if the context has `trace_content`, and
            never for a text that was refused.
        within: A span of memoryware that gets the facts as well.
        facts: The keys of the event and their values.
    """
    level = _level(event, facts)
    if within is not None:
        within.note(**facts)
    writer = target.writer if isinstance(target, EventContext) else target
    if writer is None and not _is_heard(level):
        return
    context = _context_of(target)
    common = {key: _cleaned(key, facts.get(key, value)) for key, value in context.facts().items()}
    payload: dict[str, Any] = {"type": "memory", "event": event, **common}
    # Only keys that the event has, so that no text gets in by mistake.
    payload |= {key: _cleaned(key, facts.get(key)) for key in OWN_KEYS[event]}
    if content is not None and context.trace_content and event not in _NO_CONTENT:
        texts = _safely("the content of an event", _texts, content, context.redact)
        payload["content"] = texts or {}
    _safely("the log", _log, level, event, payload)
    _safely("the tracer", _add_event, event, payload)
    for subscription in _subscriptions[0]:
        subscription.deliver(payload)
    if writer is not None:
        _safely("the stream writer", writer, _copied(payload))


def _texts(content: Content, redact: Callable[[str], str] | None) -> dict[str, str]:
    return {path: redact(text) if redact else text for path, text in content().items()}


def _level(event: EventName, facts: Mapping[str, Any]) -> int:
    deliberate = facts.get("reason") in _AS_WANTED
    return logging.INFO if deliberate else _LEVELS.get(event, logging.DEBUG)


def _log(level: int, event: EventName, payload: dict[str, Any]) -> None:
    if logger.isEnabledFor(level):
        extra = {"memory_event": event, "memory_facts": _copied(payload)}
        logger.log(level, "memory %s %s", event, _line(payload), extra=extra)


def _line(payload: Mapping[str, Any]) -> str:
    """Return a payload as one line, without empty values.

    A path may come from a model; what is not printable in it is escaped.
    """
    return " ".join(
        f"{key}={value!r}"
        for key, value in payload.items()
        if key not in _NOT_IN_TEXT and value not in (None, "", [])
    )


# Listeners.

Listener: TypeAlias = Callable[[MemoryEvent], object]
"""A plain function that gets each event; what it returns is not looked at."""

_subscribing: Final = threading.Lock()
_subscriptions: list[tuple[Subscription, ...]] = [()]
"""One tuple that is replaced as a whole, so that emitting an event needs no lock."""


class Subscription:
    """A listener that is called with each event until this is closed or its block ends."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._name = f"the listener {_name(listener)}"

    def deliver(self, event: Mapping[str, Any]) -> None:
        """Call the listener with a copy of an event; its errors end here."""
        _safely(self._name, self._listener, _copied(event))

    def close(self) -> None:
        """Call the listener no more. Closing again does nothing."""
        with _subscribing:
            _subscriptions[0] = tuple(other for other in _subscriptions[0] if other is not self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def listen(listener: Listener) -> Subscription:
    """Call a function with each event of this process from now on.

    It is called where the event happens, in any thread and on the event loop as well, so it
    should be quick. An error that it raises is logged once and does not reach the run.

    Args:
        listener: A plain function, or a `Counters`.

    Returns:
        The subscription, which ends it: `with listen(function): ...`, or `.close()`.

    Raises:
        TypeError: For a coroutine function, which nobody would await.
    """
    if iscoroutinefunction(listener) or iscoroutinefunction(type(listener).__call__):
        raise TypeError(f"{_name(listener)} is async; a listener is a plain function")
    subscription = Subscription(listener)
    with _subscribing:
        _subscriptions[0] = (*_subscriptions[0], subscription)
    return subscription


def _name(listener: Listener) -> str:
    return getattr(listener, "__qualname__", type(listener).__qualname__)


def _copied(event: Mapping[str, Any]) -> Any:
    """Return a copy that its receiver may change."""
    return {
        key: list(value)
        if isinstance(value, list)
        else dict(value)
        if isinstance(value, dict)
        else value
        for key, value in event.items()
    }


class Counters:
    """Counts events; threads may share one: `with listen(counters): ...`.

    The counts have these names:

    * `"written"`: events of that name;
    * `"write_blocked.secret"`: those with that reason;
    * `"injected.tokens"`: the sum of a number, `"injected.cut"`: of the lengths of a list.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    # A copy counts the same events, for whoever listens with it; a pickle holds the counts.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, int]:
        return self.counts()

    def __setstate__(self, counts: dict[str, int]) -> None:
        self._counts, self._lock = Counter(counts), threading.Lock()

    def __call__(self, event: MemoryEvent) -> None:
        """Count an event."""
        facts: Mapping[str, Any] = event
        name, reason = facts["event"], facts.get("reason")
        counts = {f"{name}.{key}": _number(value) for key, value in facts.items()}
        if reason:
            counts[f"{name}.{reason}"] = 1
        counts[name] = 1
        with self._lock:
            self._counts.update({key: number for key, number in counts.items() if number})

    def __getitem__(self, name: str) -> int:
        """Return a count, 0 for what has not happened."""
        with self._lock:
            return self._counts[name]

    def __repr__(self) -> str:
        return f"Counters({self.counts()})"

    def counts(self) -> dict[str, int]:
        """Return all counts as they are now, sorted by name."""
        with self._lock:
            return dict(sorted(self._counts.items()))

    def clear(self) -> None:
        """Start again from nothing."""
        with self._lock:
            self._counts.clear()


def _number(value: Any) -> int:
    if isinstance(value, list):
        return len(value)
    return value if isinstance(value, int) else 0


# Spans.

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


def _is_traced() -> bool:
    """Return whether a span is being recorded around this call."""
    # Asked at each model call, and mostly there is nothing at all in the context.
    context = sys.modules.get("opentelemetry.context")
    return context is not None and bool(context.get_current()) and _current() is not None


def has_tracer() -> bool:
    """Return whether the application has set up tracing, so that a span of memoryware is kept."""
    return "opentelemetry.trace" in sys.modules and _tracer() is not None


def _add_event(event: str, facts: Mapping[str, Any]) -> None:
    """Add an event to the current span, if one is being recorded."""
    span = _current()
    if span is not None:
        span.add_event(f"memory.{event}", attributes(facts))


def attributes(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts as attributes of a span, without empty values.

    Args:
        facts: The keys of an event and their values.
    """
    named = {}
    for key, value in facts.items():
        if value is None or value == "" or key in ("type", "event"):
            continue
        name = _NAMES.get(key) or ("memory.name" if key == "memory" else f"memory.{key}")
        named[name] = _flat(value)
    return named


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return as attributes only what an event may say."""
    return attributes(
        {
            key: _cleaned(key, value)
            for key, value in facts.items()
            if key in _KNOWN or key in COMMON
        }
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

    __slots__ = ("_ended", "_facts", "_name", "_open", "_started", "_target")

    def __init__(self, name: SpanName, target: EventTarget, facts: dict[str, Any]) -> None:
        self._name, self._target, self._facts = name, target, facts
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
            _safely("the tracer", lambda span: span.set_attributes(_known(facts)), self._open[0])

    def __enter__(self) -> Self:
        self._started = perf_counter()
        if sys.modules.get("opentelemetry.trace") is not None:
            self._open = _safely("the tracer", self._opened)
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
            _safely("the tracer", self._close, *opened, error)

    def _opened(self) -> tuple[Any, Any] | None:
        tracer = _tracer()
        if tracer is None:
            return None
        facts = _known({**_context_of(self._target).facts(), **self._facts})
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


def span(name: SpanName, target: EventTarget = None, /, **facts: Any) -> Span:
    """Return a piece of work that is timed, and traced where tracing is set up.

    It is a context manager: `with span("memory.load", context) as work: ...`.

    Args:
        name: What is done.
        target: The context of the work, which names the memory, the user, the agent and the
            thread.
        facts: Facts that are known at the beginning, under the names that events have for them.
    """
    return Span(name, target, facts)


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
    if isinstance(code, str) and _CODE.fullmatch(code):
        span.set_attribute("memory.code", code)
    if isinstance(error, Exception):  # to be cancelled is no fault
        trace = sys.modules["opentelemetry.trace"]
        span.set_status(trace.Status(trace.StatusCode.ERROR, kind.__qualname__))


def _current() -> Any | None:
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    span = trace.get_current_span()
    return span if span.is_recording() else None


def _tracer() -> Any | None:
    """Return our tracer of the provider that is in force, or None if there is none."""
    trace = sys.modules["opentelemetry.trace"]
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):  # nobody has set one
        return None
    cached_for, tracer = _tracers.get("last", (None, None))
    if cached_for is not provider:
        tracer = provider.get_tracer("memoryware", __version__)
        _tracers["last"] = (provider, tracer)
    return tracer

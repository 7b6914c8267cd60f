"""Telling an event to everybody who may want to know."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from memoryware.events._clean import cleaned, whole
from memoryware.events._listening import copied, listening
from memoryware.events._log import logger, safely
from memoryware.events._teller import Teller, To, teller_of
from memoryware.events._tracing import Span, add_event, is_traced
from memoryware.events.facts import EventName

Content: TypeAlias = Callable[[], Mapping[str, str]]
"""Makes the texts of an event by path; called only where they may be told."""

_LEVELS: Final[dict[str, int]] = {
    "written": logging.INFO,
    "approval_asked": logging.INFO,
    "write_blocked": logging.WARNING,
    "retrieval_error": logging.WARNING,
}
"""What a person should know of, or look at; everything else is routine."""
_AS_WANTED: Final = frozenset({"rules", "read_only", "not_approved"})
"""Refusals that somebody has asked for; the others are worth a look."""
_NO_CONTENT: Final = frozenset({"write_blocked", "rejected"})
"""A text that was refused is told to nobody, whatever the switch says."""
_NOT_IN_TEXT: Final = frozenset(
    {"type", "event", "content", "tool_call", "digest_before", "digest_after"}
)
"""Facts that a line of the log has no room for; its record has them."""


def is_heard(to: To) -> bool:
    """Say whether anybody may be listening, so that the facts are worth putting together."""
    writer = to.writer if isinstance(to, Teller) else to
    return writer is not None or _is_heard(logging.DEBUG)


def _is_heard(level: int) -> bool:
    """Say whether somebody beside a stream writer may be listening."""
    if listening() or logger.isEnabledFor(level):
        return True
    return bool(safely("the tracer", is_traced))


def emit(
    to: To,
    event: EventName,
    /,
    *,
    content: Content | None = None,
    within: Span | None = None,
    **facts: Any,
) -> None:
    """Tell an event to the log, the current span, all listeners and the stream writer.

    Nothing that any of them does can end the run. A fact that the event does not have is left
    out, and one that is missing is empty; see `memoryware.events.facts`.

    Args:
        to: A teller, which says who is told and on whose behalf it happened; or a writer.
        event: What happened.
        content: Makes the texts, by path. Called only if the teller has `trace_content`,
            and never for a text that was refused.
        within: A span of ours that shall have the facts as well.
        facts: What is to be said.
    """
    teller, level = teller_of(to), _level(event, facts)
    if within is not None:
        within.note(**facts)
    if teller.writer is None and not _is_heard(level):
        return
    common = {key: cleaned(key, facts.get(key, value)) for key, value in teller.facts().items()}
    told: dict[str, Any] = {"type": "memory", "event": event, **common, **whole(event, facts)}
    if content is not None and teller.trace_content and event not in _NO_CONTENT:
        told["content"] = safely("the content of an event", _texts, content, teller.redact) or {}
    safely("the log", _log, level, event, told)
    safely("the tracer", add_event, event, told)
    for one in listening():
        one.hear(told)
    if teller.writer is not None:
        safely("the stream writer", teller.writer, copied(told))


def _texts(content: Content, redact: Callable[[str], str] | None) -> dict[str, str]:
    return {path: redact(text) if redact else text for path, text in content().items()}


def _level(event: EventName, facts: Mapping[str, Any]) -> int:
    wanted = facts.get("reason") in _AS_WANTED
    return logging.INFO if wanted else _LEVELS.get(event, logging.DEBUG)


def _log(level: int, event: EventName, told: dict[str, Any]) -> None:
    if logger.isEnabledFor(level):
        extra = {"memory_event": event, "memory_facts": copied(told)}
        logger.log(level, "memory %s %s", event, _line(told), extra=extra)


def _line(told: Mapping[str, Any]) -> str:
    """Return facts in one line, without those that say nothing.

    A path may come from a model; what is not printable in it is escaped.
    """
    return " ".join(
        f"{key}={value!r}"
        for key, value in told.items()
        if key not in _NOT_IN_TEXT and value not in (None, "", [])
    )

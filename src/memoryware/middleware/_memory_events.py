"""Events of file memory: loaded, injected, written, blocked, approval asked. No memory texts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from memoryware.backends._text import text_in
from memoryware.events import EventContext, Span, emit
from memoryware.middleware._loading import LoadedMemory
from memoryware.middleware._memory_prompt import MemoryBlock
from memoryware.middleware.file_tools._access import file_digest
from memoryware.sources.policy import Reason, WriteVerdict


def emit_loaded(
    event_context: EventContext, backend: Any, loaded: LoadedMemory, work: Span
) -> None:
    """Report that memory was read."""
    problems = dict(loaded.problems)
    answered = {*loaded.contents, *problems}
    emit(
        event_context,
        "loaded",
        within=work,
        content=lambda: loaded.contents,
        backend=type(backend).__name__,
        sources=list(loaded.contents),
        missing=[source.path for source in loaded.sources if source.path not in answered],
        failed=list(problems),
        codes=list(problems.values()),
        suspect=sorted({path for path, _ in loaded.secrets}),
        characters=sum(map(len, loaded.contents.values())),
        ms=work.ms,
    )


def emit_injected(event_context: EventContext, block: MemoryBlock) -> None:
    """Report that memory was put into a model call."""
    emit(
        event_context,
        "injected",
        content=lambda: {"block": block.text},
        sources=list(block.loaded),
        cut=list(block.cut),
        characters=len(block.text),
        tokens=block.tokens,
    )


def emit_written(
    event_context: EventContext,
    call: Any,
    path: str,
    before: bytes | None,
    after: bytes | None,
    verdict: WriteVerdict,
) -> None:
    """Report that a memory file was changed."""
    # As multisets of lines: a moved line is no change worth a number, and it is linear in time.
    old, new = _lines(before), _lines(after)
    text = text_in(after) or ""
    emit(
        event_context,
        "written",
        content=lambda: {path: text},
        path=path,
        **_call_fields(call),
        lines_added=(new - old).total(),
        lines_removed=(old - new).total(),
        characters=len(text),
        digest_before=file_digest(before),
        digest_after=file_digest(after),
        redacted=[finding.kind for finding in verdict.findings] if verdict.redacted else [],
    )


def emit_blocked(
    event_context: EventContext, call: Any, path: str, reason: Reason, verdict: WriteVerdict | None
) -> None:
    """Report that a change was refused."""
    findings = verdict.findings if verdict else ()
    emit(
        event_context,
        "write_blocked",
        path=path,
        **_call_fields(call),
        reason=reason,
        kinds=[finding.kind for finding in findings],
        lines=[finding.line for finding in findings],
    )


def emit_approval_asked(
    event_context: EventContext, call: Any, path: str, verdict: WriteVerdict
) -> None:
    """Report that a change waits for a person."""
    emit(event_context, "approval_asked", path=path, **_call_fields(call), reason=verdict.asks)


def _call_fields(call: Any) -> dict[str, Any]:
    return {"tool": call["name"], "tool_call": call["id"] or ""}


def _lines(data: bytes | None) -> Counter[str]:
    return Counter((text_in(data) or "").splitlines())

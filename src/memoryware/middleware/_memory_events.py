"""The facts of what file memory does, as events tell them: which, who, how much; no text."""

from __future__ import annotations

from collections import Counter
from typing import Any

from memoryware.backends._text import text_in
from memoryware.events import EventContext, Span, emit
from memoryware.middleware._loading import LoadedMemory
from memoryware.middleware._memory_prompt import MemoryBlock
from memoryware.middleware.file_tools._access import digest_of
from memoryware.sources.policy import Reason, Verdict


def tell_loaded(to: EventContext, backend: Any, loaded: LoadedMemory, work: Span) -> None:
    """Tell that memory was read."""
    problems = dict(loaded.problems)
    known = {*loaded.contents, *problems}
    emit(
        to,
        "loaded",
        within=work,
        content=lambda: loaded.contents,
        backend=type(backend).__name__,
        sources=list(loaded.contents),
        missing=[one.path for one in loaded.sources if one.path not in known],
        failed=list(problems),
        codes=list(problems.values()),
        suspect=sorted({path for path, _ in loaded.secrets}),
        characters=sum(map(len, loaded.contents.values())),
        ms=work.ms,
    )


def tell_injected(to: EventContext, block: MemoryBlock) -> None:
    """Tell that memory was put into a model call."""
    emit(
        to,
        "injected",
        content=lambda: {"block": block.text},
        sources=list(block.loaded),
        cut=list(block.cut),
        characters=len(block.text),
        tokens=block.tokens,
    )


def tell_written(
    to: EventContext,
    call: Any,
    path: str,
    before: bytes | None,
    after: bytes | None,
    verdict: Verdict,
) -> None:
    """Tell that a memory file was changed."""
    old, new = _lines(before), _lines(after)
    text = text_in(after) or ""
    emit(
        to,
        "written",
        content=lambda: {path: text},
        path=path,
        **_of(call),
        lines_added=(new - old).total(),
        lines_removed=(old - new).total(),
        characters=len(text),
        digest_before=digest_of(before),
        digest_after=digest_of(after),
        redacted=[one.kind for one in verdict.findings] if verdict.redacted else [],
    )


def tell_blocked(
    to: EventContext, call: Any, path: str, reason: Reason, verdict: Verdict | None
) -> None:
    """Tell that a change was refused."""
    findings = verdict.findings if verdict else ()
    emit(
        to,
        "write_blocked",
        path=path,
        **_of(call),
        reason=reason,
        kinds=[one.kind for one in findings],
        lines=[one.line for one in findings],
    )


def tell_asked(to: EventContext, call: Any, path: str, verdict: Verdict) -> None:
    """Tell that a change waits for a person."""
    emit(to, "approval_asked", path=path, **_of(call), reason=verdict.asks)


def _of(call: Any) -> dict[str, Any]:
    return {"tool": call["name"], "tool_call": call["id"] or ""}


def _lines(data: bytes | None) -> Counter[str]:
    return Counter((text_in(data) or "").splitlines())

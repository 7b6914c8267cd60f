"""The gate in front of tools that change memory files: the policy of the owners, enforced.

A call that would change a memory file is worked out first, judged, and then handed on as it
is, handed on with another text, put before a person, or answered with a refusal. Nothing is
stored here; the tool does that.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from memoryware import _langchain
from memoryware._twins import Via
from memoryware.backends._acting import acting
from memoryware.backends._foreign import Guest
from memoryware.backends._text import text_in
from memoryware.errors import LockTimeout
from memoryware.events import Teller, logger, span
from memoryware.guard import Guard
from memoryware.middleware._approval import Decision, ask
from memoryware.middleware._changes import Planned, bytes_after, planned
from memoryware.middleware._edit_memory import not_done
from memoryware.middleware._facts import tell_asked, tell_blocked, tell_written
from memoryware.middleware._state import Waiting
from memoryware.middleware._turns import Turns
from memoryware.middleware.file_tools._access import as_bytes, digest_of
from memoryware.settings import MemoryLimits
from memoryware.sources.consent import agreed, difference
from memoryware.sources.covered import Covered, strictest
from memoryware.sources.policy import Reason, Verdict, WritePolicy
from memoryware.sources.source import Source

Result = ToolMessage | Command[Any]
Joining = Callable[[Via, Any, str, bool], Coroutine[Any, Any, list[Source]]]
"""Returns the memory file that a path would be, or those in a folder that is to go."""
_CHANGED: Final = (
    "'{path}' was changed by somebody else while this call was waiting, so nothing was done."
    " Read it again and repeat the call if it is still right"
)

_NOBODY: Final = {
    "consent": "and nobody can be asked here, so it cannot be changed: do not try again, and tell"
    " the user",
    "lost_text": "and nobody can be asked here. Change only the part that is wrong, or add a line",
}
_OTHER_CALLER: Final = (
    "this call was made in the name of somebody else, for another memory, so nothing was done."
    " Make it again if it is meant for this one"
)


@dataclass(frozen=True, slots=True)
class Ground:
    """What the gate has to know about the agent that a call belongs to.

    Attributes:
        backend: Where the memory files are.
        sources: All memory files of this run.
        seen: What each waiting call had in front of it, and who made it, by call id.
        caller: Who asks now.
        would_join: Says whether a file would be a memory file once it is there or touched.
        teller: To whom events of this call are told.
    """

    backend: Any
    sources: Sequence[Source]
    seen: Mapping[str, Waiting]
    caller: str
    would_join: Joining | None
    teller: Teller


@dataclass(frozen=True, slots=True)
class _Case:
    """One call that changes one memory file."""

    request: Any
    plan: Planned
    source: Source
    before: bytes | None
    after: bytes | None
    verdict: Verdict

    @property
    def old(self) -> str | None:
        return text_in(self.before)

    @property
    def new(self) -> str | None:
        return text_in(self.after)


class Gate:
    """Judges the tool calls of one middleware."""

    def __init__(self, policy: WritePolicy, limits: MemoryLimits, own_tool: str) -> None:
        self._policy, self._limits, self._own_tool = policy, limits, own_tool
        self._turns = Turns(limits.turn_timeout)
        self._told_developer = False

    async def around(self, via: Via, request: Any, handler: Any, ground: Ground) -> Result:
        """Run a tool call, as far as the owners of the memory files allow it."""
        writable = [one.path for one in ground.sources if one.writable]
        only = writable[0] if len(writable) == 1 else ""
        plan = planned(request.tool_call, self._own_tool, only)
        if plan is None:
            return await _run(via, request, handler)
        covered = await Covered.of(via, ground.backend, ground.sources)
        hit = await covered.by(via, plan.path, folder=plan.kind == "delete")
        if not hit and ground.would_join is not None:
            hit = await ground.would_join(via, ground.backend, plan.path, plan.kind == "delete")
            covered = await Covered.of(via, ground.backend, hit)
        if not hit:
            return await _run(via, request, handler)
        if any(not covered.is_file(one, plan.path) for one in hit):
            return self._refused(ground, request, plan, "lost_text", _many(plan.path, hit))
        source = strictest(hit)
        try:
            async with self._turns.hold(via, source.identity):
                case = await self._case(via, request, plan, source, ground)
                if isinstance(case, ToolMessage):
                    return case
                return await self._carried_out(via, case, handler, ground)
        except LockTimeout as busy:
            return self._refused(ground, request, plan, "not_approved", str(busy))

    async def _case(
        self, via: Via, request: Any, plan: Planned, source: Source, ground: Ground
    ) -> _Case | ToolMessage:
        """Work a call out and judge it; a refusal is the answer to it."""
        (got,) = await Guest(ground.backend).download(via, [source.path])
        if got.error not in (None, "file_not_found") and source.writable:
            message = f"'{source.path}' cannot be read now ({got.error}), so it is not changed"
            return self._refused(ground, request, plan, "lost_text", message)
        before = None if got.content is None else as_bytes(got.content)
        after, verdict = self._judged(plan, source, before, ground)
        if verdict.refused:
            return self._blocked(ground, request, plan, verdict)
        if verdict.after == text_in(after):
            return _Case(request, plan, source, before, after, verdict)
        if verdict.restored and plan.kind != "write":
            return self._refused(ground, request, plan, "hidden_region", _kept(source, verdict))
        plan = replace(plan, args=self._mended(plan, verdict))
        after, final = self._judged(plan, source, before, ground)
        if final.refused or final.after != text_in(after):
            message = "the text could not be freed of what may not be in it; nothing was saved"
            return self._blocked(ground, request, plan, replace(verdict, message=message))
        request = request.override(tool_call={**request.tool_call, "args": dict(plan.args)})
        final = replace(final, findings=verdict.findings, redacted=verdict.redacted)
        return _Case(request, plan, source, before, after, final)

    def _judged(
        self, plan: Planned, source: Source, before: bytes | None, ground: Ground
    ) -> tuple[bytes | None, Verdict]:
        """Return the bytes that a call would store, and what the policy says to that."""
        after = bytes_after(plan, before)
        if source.writable and after == before and plan.kind != "delete":
            return after, self._unworked(plan, source, before)
        old, new = text_in(before), text_in(after)
        recoded = old == new and before != after
        judged = self._policy.judge(
            source, plan.kind, old, new, recoded=recoded, others=ground.sources
        )
        return after, judged

    def _unworked(self, plan: Planned, source: Source, before: bytes | None) -> Verdict:
        """Judge what changes nothing as far as anybody can tell; a secret is refused anyway."""
        new, text = plan.args.get(plan.text), text_in(before) or ""
        if isinstance(new, str) and new and new not in text:
            judged = self._policy.judge(source, "append", text, f"{text}\n{new}")
            if judged.refused == "secret":
                return judged
        return Verdict(text_in(before))

    def _mended(self, plan: Planned, verdict: Verdict) -> dict[str, Any]:
        """Return arguments that store what the verdict allows."""
        guard = self._policy.guard
        if plan.kind == "write" or guard is None:
            return plan.with_text(lambda _: verdict.after or "")
        return plan.with_text(guard.redact)

    async def _carried_out(self, via: Via, case: _Case, handler: Any, ground: Ground) -> Result:
        noted = ground.seen.get(case.request.tool_call["id"] or "")
        if noted and noted[2] != ground.caller:
            return self._refused(ground, case.request, case.plan, "not_approved", _OTHER_CALLER)
        careful = case.plan.kind in ("write", "delete")
        careful = careful or (case.verdict.asks is not None and case.plan.kind != "append")
        if noted and careful and noted[1] != digest_of(case.before):
            message = _CHANGED.format(path=case.source.path)
            return self._refused(ground, case.request, case.plan, "not_approved", message)
        if case.verdict.asks and case.before != case.after:
            decided = self._decided(case, ground)
            if isinstance(decided, ToolMessage):
                return decided
            if decided.args is not None:
                return await self._edited(via, case, decided, handler, ground)
            with agreed():
                return await self._told(via, case, handler, ground)
        return await self._told(via, case, handler, ground)

    async def _edited(
        self, via: Via, case: _Case, decided: Decision, handler: Any, ground: Ground
    ) -> Result:
        """Carry out what a person made of a call: judged like any, but not asked about again."""
        call = {**case.request.tool_call, "args": dict(decided.args or {})}
        plan = planned(call, self._own_tool, case.source.path)
        if plan is None or plan.path != case.plan.path:
            message = "the edited call must change the same file; nothing was done"
            return self._refused(ground, case.request, case.plan, "not_approved", message)
        request = case.request.override(tool_call=call)
        changed = await self._case(via, request, plan, case.source, ground)
        if isinstance(changed, ToolMessage):
            return changed
        with agreed():
            return await self._told(via, changed, handler, ground)

    def _decided(self, case: _Case, ground: Ground) -> Decision | ToolMessage:
        """Ask a person about a change, or say why that is not possible or was refused."""
        request, source = case.request, case.source
        call = request.tool_call
        if not _langchain.has_checkpointer():
            asks = case.verdict.asks or "consent"
            message = f"{case.verdict.question}, {_NOBODY[asks]}; nothing was done"
            self._tell_developer(source)
            reason: Reason = "not_approved" if source.writable == "ask" else "lost_text"
            return self._refused(ground, request, case.plan, reason, message)
        try:
            decision = ask(call, self._description(case))
        except GraphBubbleUp:  # the run stops here; when it goes on, the answer is there
            tell_asked(ground.teller, call, source.path, case.verdict)
            raise
        if decision.kind == "reject":
            said = f" They said: {decision.message}" if decision.message else ""
            message = f"a person has refused this change of '{source.path}'.{said}"
            return self._refused(ground, request, case.plan, "not_approved", message)
        return decision

    def _description(self, case: _Case) -> str:
        most = self._limits.diff_lines
        old, new, guard = case.old, case.new, self._policy.guard
        if guard is not None:  # before they are compared: a part of a secret looks like none
            old = None if old is None else guard.redact(old)
            new = None if new is None else guard.redact(new)
        shown = difference(case.source.path, old, new, most)
        return f"{case.verdict.question}.\n\n{shown}"

    def _refused(
        self, ground: Ground, request: Any, plan: Planned, reason: Reason, message: str
    ) -> ToolMessage:
        return self._blocked(ground, request, plan, Verdict(None, reason, message))

    def _blocked(
        self, ground: Ground, request: Any, plan: Planned, verdict: Verdict
    ) -> ToolMessage:
        reason = verdict.refused or "secret"
        tell_blocked(ground.teller, request.tool_call, plan.path, reason, verdict)
        return not_done(request.tool_call, verdict.message)

    async def _told(self, via: Via, case: _Case, handler: Any, ground: Ground) -> Result:
        """Run the tool and tell what it changed."""
        with span("memory.write", ground.teller, path=case.source.path):
            result = await _run(via, case.request, handler)
            if getattr(result, "status", "") == "success" and case.before != case.after:
                call, path = case.request.tool_call, case.source.path
                tell_written(ground.teller, call, path, case.before, case.after, case.verdict)
                if case.verdict.findings:
                    result = _with_findings(result, path, case.verdict)
            return result

    def _tell_developer(self, source: Source) -> None:
        if not self._told_developer:
            self._told_developer = True
            logger.warning(
                "a change of %s needs a person, and this agent cannot ask one: give it a"
                " checkpointer, such as checkpointer=InMemorySaver()",
                source.path,
            )


async def _run(via: Via, request: Any, handler: Any) -> Result:
    """Run the tool, so that what it changes is known as the work of this call."""
    with acting(tool_call=request.tool_call["id"] or None):
        result: Result = await via(handler, handler, request)
        return result


def _with_findings(result: Result, path: str, verdict: Verdict) -> Result:
    """Say to the model what was taken out of its text, or to the log what was let in."""
    found = Guard.describe(verdict.findings)
    if not verdict.redacted:
        logger.warning("memory file %s holds a secret now (%s)", path, found)
    elif isinstance(result, ToolMessage) and isinstance(result.content, str):
        said = f"{result.content}. Not stored, because secrets do not belong there: {found}"
        return result.model_copy(update={"content": said})
    return result


def _many(path: str, hit: Sequence[Source]) -> str:
    names = ", ".join(one.path for one in hit)
    return (
        f"'{path}' holds memory files ({names}); it is not deleted. Delete other files one by one"
    )


def _kept(source: Source, verdict: Verdict) -> str:
    names = ", ".join(verdict.restored)
    return (
        f"this would change lines of '{source.path}' that its owner keeps ({names}). Leave what"
        " stands between those comments as it is; nothing was done"
    )

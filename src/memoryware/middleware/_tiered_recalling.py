"""Asking memory for a run: what it knows of the newest question, once or before each call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage

from memoryware._twins import Via
from memoryware.events import EventContext, emit, logger
from memoryware.middleware._tiered_messages import call_of, is_own, newest_human
from memoryware.middleware._tiered_options import TieredOptions
from memoryware.middleware._tiered_runs import RecallAnswerKey, RunRegistry, RunState, StepMark
from memoryware.middleware._tiered_tools import FOUND, NOT_AGAIN
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import warn_without_group
from memoryware.tiers.messages import NOTHING, RECALLED, found_text, last_human_text
from memoryware.tiers.model import Role
from memoryware.tiers.rendering import NOTE, recalled_block
from memoryware.tiers.values import Recall


class Recaller:
    """Recalls for the runs of one middleware."""

    def __init__(self, options: TieredOptions, runs: RunRegistry) -> None:
        self._options, self._runs = options, runs

    def is_due(self, run: RunState, state: Mapping[str, Any], role: Role) -> bool:
        """Say whether memory has to be asked before the next model call."""
        if not self._options.injects(role):
            return False
        again = self._options.retrieve == "call"
        return run.step is None or (again and run.step != step_of(state))

    async def recall(
        self,
        via: Via,
        run: RunState,
        state: Mapping[str, Any],
        who: tuple[MemoryScope, Role, EventContext],
    ) -> None:
        """Put into a run what memory knows of the newest question of a person."""
        found = (
            await self.search(via, last_human_text(state.get("messages") or ()), who) or Recall()
        )
        run.items, run.step = tuple(found), step_of(state)
        run.block = self.block_of(found)

    async def search(
        self, via: Via, query: str, who: tuple[MemoryScope, Role, EventContext]
    ) -> Recall | None:
        """Return what memory knows of a query; None if it could not be asked.

        Raises:
            Exception: Whatever the memory raises, if it has `on_error="raise"`.
        """
        (scope, role, events), options = who, self._options
        memory, sources = options.memory, options.sources_of(role)
        if not scope.group_id:
            warn_without_group(scope)
        if not scope.group_id or not query or not sources:
            return Recall()
        try:
            found = await via(
                memory.retrieve,
                memory.aretrieve,
                query,
                scope,
                max_results=options.results_of(role),
                score_threshold=options.score_threshold,
                min_trust=options.min_trust,
                layers=sources,
            )
        except Exception as error:  # stores may be anybody's; with "raise" it goes on
            if memory.on_error == "raise":
                raise
            kind = type(error).__name__
            logger.warning("memory could not be asked (%s); the run goes on without", kind)
            emit(events, "retrieval_error", error=kind, ms=0.0)
            return None
        self._runs.note(found, scope)
        return None if found.failed and not found else found

    def note_found(self, run: RunState, call: str, found: Recall) -> str:
        """Keep for a run what its tool has found, and return what its message says of it."""
        block = self.block_of(found, note=FOUND)
        if not block:
            return NOTHING
        run.found[call, *(one.id for one in found)] = block
        return found_text(len(found))

    async def expanded(
        self,
        via: Via,
        run: RunState,
        messages: Sequence[AnyMessage],
        who: tuple[MemoryScope, Role, EventContext],
    ) -> list[AnyMessage]:
        """Return the messages of a request in which the tool of this run shows what it has found.

        The messages of a thread only say how much that was. After an interrupt it is looked up
        again by those who have resumed the run; so it is what holds now, for them.
        """
        made = list(messages)
        human = newest_human(messages)
        for place, message in enumerate(messages):
            answer = _answered(message, self._options.own)
            # A tool message may have any name: it has to answer a call of ours.
            answered = call_of(messages, place).get("name", message.name)
            if answer is None or answered not in self._options.own:
                continue
            shown = run.found.get(answer)
            if shown is None and place >= (human or 0):
                shown = await self._again(via, run, answer, call_of(messages, place), who)
            if shown is not None:
                made[place] = message.model_copy(update={"content": shown})
        return made

    async def _again(
        self,
        via: Via,
        run: RunState,
        answer: RecallAnswerKey,
        call: Mapping[str, Any],
        who: tuple[MemoryScope, Role, EventContext],
    ) -> str:
        """Return what a query finds now, that was asked before the run was interrupted."""
        query = (call.get("args") or {}).get("query")
        found = await self.search(via, query, who) if isinstance(query, str) else None
        if found is None:
            return NOT_AGAIN
        known = {one.id: one for one in (*run.items, *found)}
        run.items = tuple(known.values())
        run.found[answer] = self.block_of(found, note=FOUND) or NOTHING
        return run.found[answer]

    def block_of(self, found: Recall, *, note: str = NOTE) -> str:
        """Return what a model is shown of a recall; "" for nothing."""
        limits, disputed = self._options.memory.limits, found.contradictions
        return recalled_block(found, limits=limits, contradictions=disputed, note=note)


def _answered(message: AnyMessage, own: Collection[str]) -> RecallAnswerKey | None:
    """Return which answer of `recall` a message is, if it is one that shows nothing itself."""
    if not is_own(message, own):
        return None
    ids = message.artifact.get(RECALLED)
    some = tuple(str(one) for one in ids) if isinstance(ids, list) else ()
    says_so = bool(some) and message.content == found_text(len(some))
    return (message.tool_call_id, *some) if says_so else None


def step_of(state: Mapping[str, Any]) -> StepMark:
    """Return the moment at which a run is."""
    messages: Sequence[AnyMessage] = state.get("messages") or ()
    return len(messages), (messages[-1].id or "") if messages else ""

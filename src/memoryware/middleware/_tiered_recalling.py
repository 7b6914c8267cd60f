"""Asking memory for a run: what it knows of the newest question, once or before each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage

from memoryware._twins import Via
from memoryware.events import Teller, emit, logger
from memoryware.middleware._tiered_options import Options
from memoryware.middleware._tiered_runs import Run, Runs, Step
from memoryware.scope import MemoryScope
from memoryware.tiers.extraction import last_human_text
from memoryware.tiers.records import Role
from memoryware.tiers.showing import NOTE, recalled_block
from memoryware.tiers.values import Recall


class Recaller:
    """Recalls for the runs of one middleware."""

    def __init__(self, options: Options, runs: Runs) -> None:
        self._options, self._runs = options, runs

    def is_due(self, run: Run, state: Mapping[str, Any]) -> bool:
        """Say whether memory has to be asked before the next model call."""
        how = self._options.retrieve
        if how is None:
            return False
        return run.step is None or (how == "call" and run.step != step_of(state))

    async def recall(
        self, via: Via, run: Run, state: Mapping[str, Any], who: tuple[MemoryScope, Role, Teller]
    ) -> None:
        """Put into a run what memory knows of the newest question of a person."""
        found = (
            await self.search(via, last_human_text(state.get("messages") or ()), who) or Recall()
        )
        run.items, run.step = tuple(found), step_of(state)
        run.block = self.block_of(found)

    async def search(
        self, via: Via, query: str, who: tuple[MemoryScope, Role, Teller]
    ) -> Recall | None:
        """Return what memory knows of a query; None if it could not be asked.

        Raises:
            Exception: Whatever the memory raises, if it has `on_error="raise"`.
        """
        (scope, role, teller), options = who, self._options
        memory = options.memory
        if not scope.group_id or not query:
            return Recall()
        try:
            found = await via(
                memory.retrieve,
                memory.aretrieve,
                query,
                scope,
                max_results=options.results_of(role),
                score_threshold=options.score_threshold,
                layers=options.sources_of(role),
            )
        except Exception as error:  # stores may be anybody's; with "raise" it goes on
            if memory.on_error == "raise":
                raise
            kind = type(error).__name__
            logger.warning("memory could not be asked (%s); the run goes on without", kind)
            emit(teller, "retrieval_error", error=kind, ms=0.0)
            return None
        self._runs.note(found, scope)
        return None if found.failed and not found else found

    def block_of(self, found: Recall, *, note: str = NOTE) -> str:
        """Return what a model is shown of a recall; "" for nothing."""
        limits, disputed = self._options.memory.limits, found.contradictions
        return recalled_block(found, limits=limits, contradictions=disputed, note=note)


def step_of(state: Mapping[str, Any]) -> Step:
    """Return the moment at which a run is."""
    messages: Sequence[AnyMessage] = state.get("messages") or ()
    return len(messages), (messages[-1].id or "") if messages else ""

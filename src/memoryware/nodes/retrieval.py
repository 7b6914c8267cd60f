"""`MemoryRetrievalNode`: a graph node that asks memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, set_config_context

from memoryware._twins import Via, blocking, finish, native
from memoryware.events import emit, logger
from memoryware.nodes._content import last_human, messages_in, text_in
from memoryware.nodes._recording import note_shown, scope_in
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import scope_of
from memoryware.tiers.retrieval import Source
from memoryware.tiers.service import TieredMemory
from memoryware.tiers.showing import history_text
from memoryware.tiers.values import Recall

_KEYS: Final = ("topic", "content", "document")
_BOTH: Final[tuple[Source, ...]] = ("hot", "cold")


class MemoryRetrievalNode(Runnable[Any, dict[str, Any]]):
    """A node that asks memory and returns what it knows as Markdown; it is never recorded.

    The query is the first text under `query_keys`, else the newest message of a person. Without
    one nothing is asked. A memory that fails gives no text, an event, and no error.

    Args:
        memory: What is asked.
        query_keys: Keys of the state that may hold the query, in order.
        output_key: Where the text goes: "" if nothing is known.
        items_key: Where the list of `ContextItem` goes; None for nowhere. LangGraph leaves a
            key out that the state does not have.
        max_results: How many texts at most; `node_results` of the limits by default.
        score_threshold: Least cosine; `node_threshold` by default, None for any.
        time_range_days: Leave out what is older; None for nothing.
        include_verdicts: Whether texts that a check has found wrong are shown, and marked.
        layers: What is asked: "hot" working memory, "cold" long-term memory.
        heading: What stands above the texts.
        scope: Fills what the run does not say.
    """

    def __init__(
        self,
        memory: TieredMemory,
        *,
        query_keys: Sequence[str] = _KEYS,
        output_key: str = "history_context",
        items_key: str | None = "memory_items",
        max_results: int | None = None,
        score_threshold: float | str | None = "default",
        time_range_days: float | None = None,
        include_verdicts: bool = True,
        layers: tuple[Source, ...] = _BOTH,
        heading: str = "Related memory",
        scope: MemoryScope | str | None = None,
    ) -> None:
        limits = memory.limits
        self.memory = memory
        self._query_keys, self._output_key = tuple(query_keys), output_key
        self._items_key, self._heading = items_key, heading
        self._max_results = limits.node_results if max_results is None else max_results
        default = score_threshold == "default"
        self._threshold: Any = limits.node_threshold if default else score_threshold
        self._days, self._verdicts, self._layers = time_range_days, include_verdicts, layers
        self._scope = scope_of(scope)

    def __call__(self, state: Any, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Ask memory with what a state says, and return the new parts of the state."""
        return self.invoke(state, config)

    def invoke(
        self,
        input: Any,  # noqa: A002 - the name that a Runnable has
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Ask memory with what a state says, and return the new parts of the state."""
        with set_config_context(ensure_config(config)) as context:
            return context.run(lambda: finish(self._asked(blocking, input)))

    async def ainvoke(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Async twin of `invoke`."""
        del config  # the graph has put it around this call
        return await self._asked(native, input)

    async def _asked(self, via: Via, state: Any) -> dict[str, Any]:
        scope = scope_in(self._scope)
        query = text_in(state, self._query_keys) or last_human(messages_in(state))
        if not query:
            return self._answer(Recall())
        to = self.memory.parts.teller(scope)
        emit(to, "node_state", status="running", characters=0)
        recall = await self._recalled(via, query, scope)
        note_shown(self.memory, scope, list(recall))
        answer = self._answer(recall)
        emit(to, "node_state", status="completed", characters=len(answer[self._output_key]))
        return answer

    async def _recalled(self, via: Via, query: str, scope: MemoryScope) -> Recall:
        memory = self.memory
        try:
            recall: Recall = await via(
                memory.retrieve,
                memory.aretrieve,
                query,
                scope,
                max_results=self._max_results,
                score_threshold=self._threshold,
                time_range_days=self._days,
                layers=self._layers,
            )
        except Exception as error:  # noqa: BLE001 - recall must not end a graph; it is told
            kind = type(error).__name__
            logger.warning("memory could not be asked (%s); the graph goes on without", kind)
            emit(memory.parts.teller(scope), "retrieval_error", error=kind, ms=0.0)
            return Recall()
        if not self._verdicts:
            recall[:] = [one for one in recall if one.verdict is None or one.verdict.verified]
        return recall

    def _answer(self, recall: Recall) -> dict[str, Any]:
        text = history_text(recall, limits=self.memory.limits, heading=self._heading)
        items = {self._items_key: list(recall)} if self._items_key else {}
        return {self._output_key: text, **items}

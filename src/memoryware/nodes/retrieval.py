"""Recall in a plain graph: a node that asks memory, and a message that shows what it found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, overload

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.messages.utils import count_tokens_approximately

from memoryware import _langchain
from memoryware._runner import Runner
from memoryware.errors import MemorywareError, SettingError
from memoryware.events import emit, logger
from memoryware.nodes._lineage import GraphStep, StepTrace, conversations_of
from memoryware.nodes._node import MemoryNode, ScopeOptions
from memoryware.scope import GROUP_KEYS, MemoryScope
from memoryware.tiers import checking
from memoryware.tiers._run_options import (
    check_max_results,
    check_min_trust,
    check_recalled_tiers,
    check_score_threshold,
    is_number,
)
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import ROLES, first_text, last_human_text, messages_in
from memoryware.tiers.model import Role
from memoryware.tiers.provenance import Trust
from memoryware.tiers.recall.query import RecallTier
from memoryware.tiers.rendering import FENCE, NOTE, history_text, one_line, shown, unforged
from memoryware.tiers.thread_history import settle_thread
from memoryware.tiers.values import ContextItem, Recall

_KEYS: Final = ("topic", "content", "document")


class MemoryRetrievalNode(MemoryNode):
    """A node that recalls memory as Markdown; its output is never recorded.

    The query is the first text under `query_keys`, else the newest message of a person. Without
    one memory is not asked. A memory that fails gives no text, an event, and no error.

    Args:
        memory: The memory.
        query_keys: Keys of the state that may hold the query, in order.
        output_key: The key of the text in the state; the text is "" if nothing was found.
        items_key: The key of the items in the state, as plain mappings that every checkpointer
            keeps: `id`, `content` as it is shown, `source`, `score`, `similarity`, `verified`,
            `trust`, `origin`, `created_at`. None leaves them out. LangGraph drops a key that the
            state schema does not have.
        max_results: How many texts at most; `node_results` of the limits by default.
        score_threshold: Least cosine; `node_threshold` of the limits by default, None for any.
        time_range_days: Leave out what is older; None for any age.
        min_trust: Leave out what is trusted less; None for any trust.
        include_verdicts: Whether texts that a check has found wrong are shown, and marked.
        tiers: "working" for working memory, "long_term" for long-term memory.
        heading: The heading above the texts.
        scope: Fills what the run does not say; a text is read as its group.
        group_keys: Names under which a context or config may carry the group.
        state_group: Key of the state that may name the group, as for `remember`.

    Raises:
        SettingError: For an option that cannot work.
    """

    memory_role: Role = "memory_retrieval"

    def __init__(
        self,
        memory: TieredMemory,
        *,
        query_keys: Sequence[str] = _KEYS,
        output_key: str = "history_context",
        items_key: str | None = "memory_items",
        max_results: int | None = None,
        score_threshold: float | Literal["default"] | None = "default",
        time_range_days: float | None = None,
        min_trust: Trust | None = None,
        include_verdicts: bool = True,
        tiers: Sequence[RecallTier] = ROLES["memory_retrieval"].recall,
        heading: str = "Related memory",
        scope: MemoryScope | str | None = None,
        group_keys: Sequence[str] = GROUP_KEYS,
        state_group: str | None = None,
    ) -> None:
        limits = memory.limits
        self.memory = memory
        self._query_keys = (query_keys,) if isinstance(query_keys, str) else tuple(query_keys)
        self._output_key, self._items_key = output_key, items_key
        self._heading, self._verdicts = heading, include_verdicts
        self._max_results: Any = limits.node_results if max_results is None else max_results
        default = score_threshold == "default"
        self._threshold: Any = limits.node_threshold if default else score_threshold
        self._days, self._min_trust = time_range_days, min_trust
        self._tiers: tuple[Any, ...] = tuple(tiers)
        self._scope_options = ScopeOptions.checked(scope, group_keys, state_group)
        self._check()
        conversations_of(memory).register_output_keys(output_key, items_key)

    def _check(self) -> None:
        """Refuse options that cannot work."""
        check_min_trust(self._min_trust)
        check_max_results("max_results", self._max_results)
        check_score_threshold(self._threshold)
        if self._days is not None and not (is_number(self._days) and self._days > 0):
            raise SettingError(f"time_range_days={self._days!r}: must be more than 0, or None")
        check_recalled_tiers(self._tiers)

    async def _run(self, runner: Runner, state: Any) -> dict[str, Any]:
        memory, scope = self.memory, self._scope_options.scope_of_run(self.memory, state)
        event_context = memory.parts.event_context(scope)
        emit(event_context, "node_state", status="running", characters=0)
        # Before it recalls: what was thrown away must not come back in the run that replaces it.
        raises = memory.on_error == "raise"
        await settle_thread(memory.parts.on(runner), scope, messages_in(state), may_raise=raises)
        query = first_text(state, self._query_keys) or last_human_text(messages_in(state))
        recall = await self._recall(runner, query, scope) if query else Recall()
        step = GraphStep.of(_langchain.current_config())
        conversations_of(memory).note(scope, StepTrace(step, {item.id: item for item in recall}))
        text = history_text(recall, limits=memory.limits, heading=self._heading)
        if recall and memory.parts.journal is not None:
            ids, tokens = [item.id for item in recall], count_tokens_approximately([text])
            await runner.call(memory.note_shown, memory.anote_shown, ids, scope, tokens=tokens)
        emit(event_context, "node_state", status="completed", characters=len(text))
        items = (
            {self._items_key: [self._plain_item(item) for item in recall]}
            if self._items_key
            else {}
        )
        return {self._output_key: text, **items}

    async def _recall(self, runner: Runner, query: str, scope: MemoryScope) -> Recall:
        memory = self.memory
        try:
            recall: Recall = await runner.call(
                memory.retrieve,
                memory.aretrieve,
                query,
                scope,
                max_results=self._max_results,
                score_threshold=self._threshold,
                time_range_days=self._days,
                min_trust=self._min_trust,
                tiers=self._tiers,
            )
        # Not re-raised whatever `on_error` of the memory says: a graph can go on without a recall.
        except Exception as error:  # noqa: BLE001 - it is reported
            kind = type(error).__name__
            logger.warning("memory could not be asked (%s); the graph goes on without", kind)
            if not isinstance(error, MemorywareError):  # these were told where they were raised
                emit(memory.parts.event_context(scope), "retrieval_error", error=kind, ms=0.0)
            return Recall()
        if not self._verdicts:
            recall[:] = [item for item in recall if item.verdict is None or item.verdict.verified]
        return recall

    def _plain_item(self, item: ContextItem) -> dict[str, Any]:
        """Return an item as values that every checkpointer keeps."""
        return {
            "id": item.id,
            "content": one_line(item.content, self.memory.limits.item_chars),
            "source": item.source,
            "score": item.score,
            "similarity": item.similarity,
            "verified": item.verified,
            "trust": item.trust.name.lower(),
            "origin": str(item.provenance.origin),
            "created_at": item.created_at.isoformat(),
        }


@overload
def inject_context(
    state: Any,
    prompt: str = "",
    *,
    key: str = "history_context",
    placement: Literal["system"] = "system",
) -> SystemMessage: ...


@overload
def inject_context(
    state: Any,
    prompt: str = "",
    *,
    key: str = "history_context",
    placement: Literal["message"],
) -> HumanMessage: ...


def inject_context(
    state: Any,
    prompt: str = "",
    *,
    key: str = "history_context",
    placement: Literal["system", "message"] = "system",
) -> SystemMessage | HumanMessage:
    """Return a message with a prompt and the recalled text of the state, fenced as data.

    Args:
        state: The state of the graph.
        prompt: Your own system prompt, or with "message" the request.
        key: The key of the text, which is `output_key` of `MemoryRetrievalNode`.
        placement: "system" makes a system message, with the text after the prompt; "message"
            one of a person, with the text before the request, where it has no more weight than
            messages of people. Forged fences of memory in a request are neutralised; a system
            prompt is yours, and stays as it is.

    Returns:
        A message that is the prompt alone where nothing was recalled.

    Raises:
        SettingError: For another placement.
    """
    text = first_text(state, (key,))
    block = f"<{FENCE}>\n{NOTE}\n\n{shown(text)}\n</{FENCE}>" if text else ""
    checking.choice("placement", placement, ("system", "message"))
    if placement == "system":
        return SystemMessage("\n\n".join(part for part in (prompt, block) if part))
    request = unforged([prompt])[0]
    return HumanMessage("\n\n".join(part for part in (block, request) if part))

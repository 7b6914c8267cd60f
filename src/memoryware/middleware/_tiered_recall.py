"""Recall for the runs of an agent, and the cache of what each run has recalled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage

from memoryware._caching import LruCache
from memoryware._clock import NewId
from memoryware._runner import Runner
from memoryware.events import EventContext, emit, logger
from memoryware.middleware._agent_state import ThreadLineage
from memoryware.middleware._memory_tools import RECALL_FAILED, RECALL_NOTE
from memoryware.middleware._options import TieredOptions
from memoryware.middleware._request_messages import call_of, is_own, newest_human
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import warn_without_group
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import NOTHING, RECALLED, last_human_text, recall_result_text
from memoryware.tiers.model import Role
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.rendering import NOTE, recalled_block
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import ContextItem, Recall, item_of

Messages = Sequence[AnyMessage]
StepMark = tuple[int, str]
"""A moment of a run: how many messages there are, and the id of the last one."""

RecallAnswerKey = tuple[str, ...]
"""An answer of the tool `recall`: the id of the call, and the ids of what it found."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A text of the model that is to be recorded.

    Attributes:
        text: The text.
        message: Its message.
        index: The index of the message among all; messages after it have not influenced it.
        metadata: Further metadata of the entry.
    """

    text: str
    message: AIMessage
    index: int
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    """An answer of a run that has not ended, with its lineage."""

    answer: ModelAnswer
    provenance: Provenance
    shown: tuple[ContextItem, ...]


@dataclass(slots=True)
class RunState:
    """What one run has recalled and answered so far.

    Attributes:
        id: A random id; the state has nothing else of the run.
        items: What was recalled for the newest question.
        block: The text that shows these to the model; "" for nothing.
        recall_blocks: The texts that show the model what its tool `recall` has found.
        step: When memory was asked last; None if it was not asked yet.
        pending_answers: Answers before its last model call, by the id of the message.
        recorded: Idempotency keys of what was recorded.
        inside: Keys of calls that a tool of ours has answered in it; see `ToolCall.key`.
        nested: Provenance of the answers of other agents that tools of this run have called.
        questions: Messages of the person in it, by id; a summary may remove one meanwhile.
    """

    id: str
    items: tuple[ContextItem, ...] = ()
    block: str = ""
    recall_blocks: dict[RecallAnswerKey, str] = field(default_factory=dict)
    step: StepMark | None = None
    pending_answers: dict[str, PendingAnswer] = field(default_factory=dict)
    recorded: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)
    nested: list[Provenance] = field(default_factory=list)
    questions: dict[str, AnyMessage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParentRun:
    """The run around an agent that a tool calls; the agent inherits its lineage.

    Attributes:
        run: That run.
        items: What it had recalled.
        roots: The origins of all that it has seen.
    """

    run: RunState
    items: tuple[ContextItem, ...]
    roots: tuple[Origin, ...]


# A context variable: an agent that a tool calls inherits it, and cannot forge it, as it could a
# message or an argument.
PARENT_RUN: Final[ContextVar[ParentRun | None]] = ContextVar("memoryware_outer_run", default=None)
"""The run whose tool is running around this call."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """A run at one moment: its scope, messages and lineage.

    Attributes:
        run: What it has recalled and answered.
        thread: The lineage of its conversation.
        messages: All messages so far.
        scope: Tenant, group and user of the run.
        role: The role of the agent.
        event_context: Event sinks, and on whose behalf the run acts.
    """

    run: RunState
    thread: ThreadLineage
    messages: Messages
    scope: MemoryScope
    role: Role
    event_context: EventContext


class RunRegistry:
    """The runs of one middleware, in a bounded cache, and the items that any of them has shown."""

    def __init__(self, memory: TieredMemory, new_id: NewId) -> None:
        self._memory, self._new_id = memory, new_id
        self._runs: LruCache[str, RunState] = LruCache(memory.limits.runs)
        self._resumed: LruCache[tuple[Any, ...], RunState] = LruCache(memory.limits.runs)
        self._items: LruCache[tuple[Any, ...], ContextItem] = LruCache(memory.limits.runs)

    def of(self, run_id: Any) -> RunState | None:
        """Return a run, if it is still here."""
        return self._runs.get(run_id) if isinstance(run_id, str) else None

    def begin(self, resumed: MemoryScope | None = None) -> RunState:
        """Return a new run; a resumed one keeps what its tools have noted before."""
        run = RunState(self._new_id())
        if resumed is not None:
            before = self.resumed_run(resumed)
            run.nested, run.recall_blocks = [*before.nested], {**before.recall_blocks}
            run.inside = {*before.inside}
            self._resumed.drop(_session(resumed))
        self._runs.put(run.id, run)
        return run

    def resumed_run(self, scope: MemoryScope) -> RunState:
        """Return a placeholder for a run that was resumed, until its next model call."""
        run = self._resumed.get(_session(scope)) or RunState(self._new_id())
        if scope.session_id:
            self._resumed.put(_session(scope), run)
        return run

    def end(self, run: RunState) -> None:
        """Forget a run."""
        self._runs.drop(run.id)

    def note(self, items: Iterable[ContextItem], scope: MemoryScope) -> None:
        """Cache items that were shown, by id."""
        for item in items:
            self._items.put((scope.tenant, scope.group_id, item.id), item)

    async def items_by_id(
        self, runner: Runner, ids: Sequence[str], scope: MemoryScope
    ) -> Mapping[str, ContextItem]:
        """Return entries and memories of exactly this tenant and group by their ids.

        Items that another process has shown are read from the stores.
        """
        owner = scope.tenant, scope.group_id
        cached = {id_: self._items.get((*owner, id_)) for id_ in ids}
        items_by_id = {id_: item for id_, item in cached.items() if item is not None}
        missing = tuple(id_ for id_ in cached if id_ not in items_by_id)
        if missing:
            read = await self._read(runner, missing, scope)
            self.note(read, scope)
            items_by_id |= {item.id: item for item in read}
        return {id_: items_by_id[id_] for id_ in ids if id_ in items_by_id}

    async def _read(
        self, runner: Runner, ids: tuple[str, ...], scope: MemoryScope
    ) -> list[ContextItem]:
        stores, which = self._memory.parts.stores, Select.within(scope, ids=ids)
        entries = (await runner.call(stores.quarantine.find, stores.quarantine.afind, which)).items
        if len(entries) == len(ids):
            return [item_of(entry) for entry in entries]
        memories = (await runner.call(stores.long_term.find, stores.long_term.afind, which)).items
        return [*map(item_of, entries), *map(item_of, memories)]


def _session(scope: MemoryScope) -> tuple[Any, ...]:
    return scope.tenant, scope.group_id, scope.session_id


class Recaller:
    """Recalls for the runs of one middleware."""

    def __init__(self, options: TieredOptions, runs: RunRegistry) -> None:
        self._options, self._runs = options, runs

    def is_due(self, context: RunContext) -> bool:
        """Return whether memory has to be asked before the next model call."""
        if not self._options.injects(context.role):
            return False
        step, again = context.run.step, self._options.retrieve == "call"
        return step is None or (again and step != _step_of(context.messages))

    async def recall(self, runner: Runner, context: RunContext) -> None:
        """Put into a run what memory knows of the newest question of a person."""
        recall = await self.search(runner, last_human_text(context.messages), context) or Recall()
        run = context.run
        run.items, run.step = tuple(recall), _step_of(context.messages)
        run.block = self._block_of(recall)

    async def search(self, runner: Runner, query: str, context: RunContext) -> Recall | None:
        """Return what memory knows of a query; None if it could not be asked.

        Raises:
            Exception: Whatever the memory raises, if it has `on_error="raise"`.
        """
        scope, options = context.scope, self._options
        memory, tiers = options.memory, options.recalled_tiers_of(context.role)
        if not scope.group_id:
            warn_without_group(scope)
        if not scope.group_id or not query or not tiers:
            return Recall()
        try:
            recall = await runner.call(
                memory.retrieve,
                memory.aretrieve,
                query,
                scope,
                max_results=options.max_results_of(context.role),
                score_threshold=options.score_threshold,
                min_trust=options.min_trust,
                tiers=tiers,
            )
        except Exception as error:  # stores may be anybody's; with "raise" it goes on
            # By default the run goes on: an answer without memory is better than none.
            if memory.on_error == "raise":
                raise
            kind = type(error).__name__
            logger.warning("memory could not be asked (%s); the run goes on without", kind)
            emit(context.event_context, "retrieval_error", error=kind, ms=0.0)
            return None
        self._runs.note(recall, scope)
        return None if recall.failed and not recall else recall

    def note_found(self, run: RunState, call: str, recall: Recall) -> str:
        """Keep the recall of the tool for its run, and return the text of its message."""
        block = self._block_of(recall, note=RECALL_NOTE)
        if not block:
            return NOTHING
        run.recall_blocks[call, *(item.id for item in recall)] = block
        return recall_result_text(len(recall))

    async def expanded(
        self,
        runner: Runner,
        context: RunContext,
        messages: Messages,
    ) -> list[AnyMessage]:
        """Return the messages of a request, with the texts that the tool of this run has found.

        Messages of a thread have only their number. After an interrupt the search is repeated
        for those who have resumed the run, so it returns what is true now and open to them.
        """
        expanded = list(messages)
        human = newest_human(messages)
        for index, message in enumerate(messages):
            answer = _recall_answer_key(message, self._options.own)
            # A tool message may have any name: it has to answer a call of ours.
            tool = call_of(messages, index).get("name", message.name)
            if answer is None or tool not in self._options.own:
                continue
            shown = context.run.recall_blocks.get(answer)
            if shown is None and index >= (human or 0):
                shown = await self._search_again(runner, context, answer, call_of(messages, index))
            if shown is not None:
                expanded[index] = message.model_copy(update={"content": shown})
        return expanded

    async def _search_again(
        self, runner: Runner, context: RunContext, answer: RecallAnswerKey, call: Mapping[str, Any]
    ) -> str:
        """Repeat a search from before an interrupt, and return its block."""
        query = (call.get("args") or {}).get("query")
        recall = await self.search(runner, query, context) if isinstance(query, str) else None
        if recall is None:
            return RECALL_FAILED
        run = context.run
        items = {item.id: item for item in (*run.items, *recall)}
        run.items = tuple(items.values())
        run.recall_blocks[answer] = self._block_of(recall, note=RECALL_NOTE) or NOTHING
        return run.recall_blocks[answer]

    def _block_of(self, recall: Recall, *, note: str = NOTE) -> str:
        """Return the text that shows a recall to the model; "" for nothing."""
        limits, disputed = self._options.memory.limits, recall.contradictions
        return recalled_block(recall, limits=limits, contradictions=disputed, note=note)


def _recall_answer_key(message: AnyMessage, own: Collection[str]) -> RecallAnswerKey | None:
    """Return the key of a message of `recall` that has only the number of texts; else None."""
    if not is_own(message, own):
        return None
    ids = message.artifact.get(RECALLED)
    some = tuple(str(id_) for id_ in ids) if isinstance(ids, list) else ()
    says_so = bool(some) and message.content == recall_result_text(len(some))
    return (message.tool_call_id, *some) if says_so else None


def _step_of(messages: Messages) -> StepMark:
    """Return the moment at which a run is."""
    return len(messages), (messages[-1].id or "") if messages else ""

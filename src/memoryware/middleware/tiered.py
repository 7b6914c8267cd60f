"""`TieredMemoryMiddleware`: recall memory of a group, and record the answers of its agent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    TracePolicy,
    omit_payload,
)
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Command

from memoryware import _checking, _langchain
from memoryware._clock import NewId, random_id
from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.events import EventContext, emit, is_heard, logger
from memoryware.middleware._agent_state import ThreadLineage, TieredStateKeys, tiered_state_schema
from memoryware.middleware._hooks import AgentHooks, Response
from memoryware.middleware._memory_tools import (
    RECALL,
    REMEMBER,
    make_recall_tool,
    make_remember_tool,
    name_of_tool,
)
from memoryware.middleware._options import (
    Author,
    BlockPlacement,
    Record,
    Retrieve,
    TieredOptions,
    approximate_tokens,
    author_option,
    check_choices,
    check_memory,
    check_middleware_name,
    manager_option,
)
from memoryware.middleware._own_tools import ToolAnswer, refusal_message, unavailable_message
from memoryware.middleware._request_messages import (
    append_to_system_message,
    neutralise_forged,
    own_blocks_shown,
    with_block,
)
from memoryware.middleware._tiered_recall import (
    PARENT_RUN,
    Recaller,
    RunContext,
    RunRegistry,
    RunState,
)
from memoryware.middleware._tiered_recording import Recorder, tool_messages_in
from memoryware.scope import GROUP_KEYS, MemoryScope
from memoryware.tiers._run_options import (
    check_max_results,
    check_min_trust,
    check_score_threshold,
    default_scope,
    group_keys_of,
)
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import (
    KEPT_FOR_REVIEW,
    NOT_KEPT,
    RECALLED,
    RECORDED,
    UNAVAILABLE,
    Attachments,
    call_key,
    has_user,
    outside_tools,
)
from memoryware.tiers.model import Role
from memoryware.tiers.provenance import Trust

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from memoryware.tiers.extraction.manager import MemoryManager

Extract: TypeAlias = "bool | str | BaseChatModel | MemoryManager | None"
"""What reads conversations: rules, a model or its name, a manager, or nothing."""
_RECORDING: Final = frozenset({"after_agent", "aafter_agent"})


class TieredHooks(AgentHooks):
    """Tiered memory in an agent; see `TieredMemoryMiddleware` for the options."""

    _options: TieredOptions
    _keys: TieredStateKeys
    _runs: RunRegistry
    _recaller: Recaller
    _recorder: Recorder
    _new_id: NewId
    # The one argument of each tool of ours.
    _tool_takes: Mapping[str, str]

    def after_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001
    ) -> dict[str, Any] | None:
        """Record what the model said, at the end of a run.

        Args:
            state: The state of the agent.
            runtime: The runtime of the run.
            config: The config of the run.

        Returns:
            The update of the state: ids that the lineage of later answers needs; None for none.
        """
        return run_blocking(self._after(BLOCKING, state, runtime, config))

    async def aafter_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001
    ) -> dict[str, Any] | None:
        """Record what the model said, at the end of a run.

        Args:
            state: The state of the agent.
            runtime: The runtime of the run.
            config: The config of the run.

        Returns:
            The update of the state: ids that the lineage of later answers needs; None for none.
        """
        return await self._after(ASYNC, state, runtime, config)

    # The coroutines behind the hooks.

    async def _before(
        self, runner: Runner, state: Any, runtime: Any, config: Any
    ) -> dict[str, Any] | None:
        run = self._runs.begin()
        context = self._run_context(state, runtime, config, run=run)
        await self._recorder.settle(runner, context)
        if self._options.retrieve == "run" and self._options.injects(context.role):
            await self._recall(runner, context)
        update: dict[str, Any] = {self._keys.run: run.id}
        # What was said in a run that never ended is not recorded; who has asked there counts.
        lineage = replace(
            self._with_asker(context), answer_ids=(), asked_ids=self._recorder.listen(context)
        )
        if lineage != context.thread and self._keeps_lineage():
            update[self._keys.thread] = lineage.as_state()
        return update

    async def _around_model(
        self, runner: Runner, request: ModelRequest[Any], handler: Any
    ) -> Response:
        state, update = request.state, dict[str, Any]()
        run = self._runs.of(state.get(self._keys.run))
        if run is None:  # after an interrupt, in another process, or called by hand
            run = self._runs.begin(self._run_context(state, request.runtime).scope)
            update[self._keys.run] = run.id
        context = self._run_context(state, request.runtime, run=run)
        if update:  # time travel may begin here as well
            await self._recorder.settle(runner, context)
        self._recorder.hear(context)
        if self._options.record == "each_model_call":
            await self._recorder.hold(runner, context)
        if self._recaller.is_due(context):
            await self._recall(runner, context)
        changed = await self._with_memory(runner, request, context)
        with (
            _langchain.watch_answers() as is_made,
            own_blocks_shown([run.block, *run.recall_blocks.values()]),
        ):
            answered: ModelResponse[Any] | AIMessage = await runner.call(handler, handler, changed)
        response, answer_ids, formats = self._with_answer_ids(answered, is_made)
        lineage = self._lineage_after(context, request, answer_ids, formats)
        if lineage != context.thread and self._keeps_lineage():
            update[self._keys.thread] = lineage.as_state()
        if not update:
            return response
        whole = ModelResponse(result=[response]) if isinstance(response, AIMessage) else response
        return ExtendedModelResponse(model_response=whole, command=Command(update=update))

    async def _around_tool(
        self, runner: Runner, request: ToolCallRequest, handler: Any
    ) -> ToolMessage | Command[Any]:
        call, context = request.tool_call, self._run_context(request.state, request.runtime)
        is_own = self._is_own(request.tool, call)
        refused = self._refused(call, context) if is_own else None
        if refused is not None:
            context.run.inside.add(_key_of(call, context.messages))
            return refused
        with _lent_to_nested_agents(self._recorder, context):
            result: ToolMessage | Command[Any] = await runner.call(handler, handler, request)
        if is_own or _langchain.is_todo_tool(request.tool):
            context.run.inside.add(_key_of(call, context.messages))
        if self._options.record_tools and not is_own:
            results = list(tool_messages_in(result))
            await self._recorder.record_tool(runner, context, results, call["name"])
        return result

    async def _after(
        self, runner: Runner, state: Any, runtime: Any, config: Any
    ) -> dict[str, Any] | None:
        context = self._run_context(state, runtime, config)
        await self._recorder.settle(runner, context)
        self._runs.end(context.run)
        thread = context.thread
        if not self._options.records or not (thread.answer_ids or thread.asked_ids):
            return None
        every = self._options.record == "each_model_call"
        structured = state.get("structured_response")
        lineage = await self._recorder.record(runner, context, every=every, structured=structured)
        # A manager promotes what is due once it has read the thread: its facts, not the talk.
        if not await self._recorder.enqueue(runner, context):
            await self._recorder.promote_due(runner, context)
        return {self._keys.thread: lineage.as_state()}

    async def _recall(self, runner: Runner, context: RunContext) -> None:
        await self._recaller.recall(runner, context)
        shown = [item.id for item in context.run.items]
        await self._note_shown(runner, context, shown, context.run.block)

    async def _note_shown(
        self, runner: Runner, context: RunContext, ids: list[str], text: str
    ) -> None:
        memory = self._options.memory
        if ids and memory.parts.journal is not None:
            tokens = approximate_tokens(text)
            await runner.call(
                memory.note_shown, memory.anote_shown, ids, context.scope, tokens=tokens
            )

    # Operations of the tools.

    async def _search(self, runner: Runner, runtime: Any, query: str) -> ToolAnswer:
        """Search memory of the caller's own scope for the model."""
        context = self._run_context(runtime.state, runtime)
        recall = await self._recaller.search(runner, query, context)
        if recall is None:
            return ToolAnswer(UNAVAILABLE, ok=False, artifact={RECALLED: []})
        call, ids = runtime.tool_call_id or "", [item.id for item in recall]
        text = self._recaller.note_found(context.run, call, recall)
        await self._note_shown(
            runner, context, ids, context.run.recall_blocks.get((call, *ids), "")
        )
        return ToolAnswer(text, artifact={RECALLED: ids})

    async def _remember(self, runner: Runner, runtime: Any, text: str) -> ToolAnswer:
        """Record a note of the model."""
        context = self._run_context(runtime.state, runtime)
        recorded = await self._recorder.remember(runner, context, text, runtime.tool_call_id or "")
        if recorded is None:
            return ToolAnswer(NOT_KEPT, ok=False, artifact={RECORDED: []})
        return ToolAnswer(KEPT_FOR_REVIEW, artifact={RECORDED: [recorded.entry.id]})

    # Helpers.

    def _run_context(
        self, state: Any, runtime: Any, config: Any = None, *, run: RunState | None = None
    ) -> RunContext:
        """Return the context of a run: the one that was passed, or that of the state."""
        state = state if isinstance(state, Mapping) else {}
        config = config or getattr(runtime, "config", None) or _langchain.current_config()
        scope = self._options.scope_in(runtime, config)
        run = run or self._runs.of(state.get(self._keys.run)) or self._runs.resumed_run(scope)
        if not scope.session_id:
            scope = replace(scope, session_id=run.id)
        guard = self._options.memory.parts.guard
        writer = _langchain.stream_writer_of(runtime)
        redact = guard.redact if guard else None
        return RunContext(
            run,
            ThreadLineage.of(state.get(self._keys.thread)),
            state.get("messages") or (),
            scope,
            self._options.role_in(config),
            EventContext(writer, scope, self.name, redact=redact),
        )

    async def _with_memory(
        self, runner: Runner, request: ModelRequest[Any], context: RunContext
    ) -> ModelRequest[Any]:
        """Return the request with what was recalled, and without tools that are of no use.

        Forged tags of recalled memory in it are neutralised.
        """
        changes: dict[str, Any] = {}
        messages = neutralise_forged(request.messages) or request.messages
        if self._options.own:
            messages = await self._recaller.expanded(runner, context, messages)
        if any(new is not old for new, old in zip(messages, request.messages, strict=True)):
            changes["messages"] = messages
        useless = {
            tool_name for tool_name in self._tool_takes if self._has_no_use(tool_name, context)
        }
        if useless:
            changes["tools"] = [tool for tool in request.tools if _name(tool) not in useless]
        if context.run.block:
            if self._options.placement == "system":
                system = append_to_system_message(request.system_message, context.run.block)
                changes["system_message"] = system
            else:
                changes["messages"] = with_block(messages, context.run.block)
            self._emit_injected(context)
        return request.override(**changes) if changes else request

    def _emit_injected(self, context: RunContext) -> None:
        if is_heard(context.event_context):
            block, tokens = context.run.block, approximate_tokens(context.run.block)
            shown = [item.id for item in context.run.items]
            emit(
                context.event_context,
                "injected",
                sources=shown,
                characters=len(block),
                tokens=tokens,
            )

    def _with_answer_ids(
        self, answered: Any, is_made: Callable[[Any], bool]
    ) -> tuple[ModelResponse[Any] | AIMessage, list[str], set[str]]:
        """Return the response, ids of what the model made, and keys of structured answers.

        Middleware between this one and the model may answer in its place; such an answer is not
        recorded. A message without an id gets one.
        """
        messages: Sequence[Any] = (
            answered.result if isinstance(answered, ModelResponse) else [answered]
        )
        by_hand = not _langchain.runs_in_graph()
        result, answer_ids = list(messages), list[str]()
        for index, message in enumerate(messages):
            if isinstance(message, AIMessage) and (by_hand or is_made(message)):
                if not message.id:
                    result[index] = message.model_copy(update={"id": self._new_id()})
                answer_ids.append(result[index].id)
        if not answer_ids:
            logger.debug("%s records nothing of an answer that no chat model gave", self.name)
        formats = {
            _key_of({"id": message.tool_call_id}, result)
            for message in messages
            if isinstance(message, ToolMessage)
        }
        if all(new is old for new, old in zip(result, messages, strict=True)):
            return answered, answer_ids, formats
        if isinstance(answered, ModelResponse):
            return replace(answered, result=result), answer_ids, formats
        return result[0], answer_ids, formats

    def _with_asker(self, context: RunContext) -> ThreadLineage:
        """Return the lineage of a conversation, with the person who asks now."""
        askers = [context.scope.user_id or ""] if has_user(context.messages) else []
        return context.thread.with_more(self._options.memory.limits.thread_ids, askers=askers)

    def _lineage_after(
        self,
        context: RunContext,
        request: ModelRequest[Any],
        answer_ids: list[str],
        formats: set[str],
    ) -> ThreadLineage:
        """Return the lineage of the conversation after a model call."""
        options = self._options
        lineage = self._with_asker(context)
        inside = {*lineage.inside, *context.run.inside, *formats}
        tools = outside_tools(request.messages, inside=options.inside, proven=inside)
        return lineage.with_more(
            options.memory.limits.thread_ids,
            answer_ids=answer_ids,
            recalled_ids=[item.id for item in context.run.items],
            tools=tools,
            roots=self._recorder.unseen_roots(request.messages, request.state),
            inside=sorted(inside - {*lineage.inside, ""}),
        )

    def _unneeded_hooks(self) -> frozenset[str]:
        """Return the hooks at the end of a run, if no answers are recorded."""
        kind = type(self)
        is_ours = all(getattr(kind, name) is getattr(TieredHooks, name) for name in _RECORDING)
        return _RECORDING if is_ours and not self._options.records else frozenset()

    def _keeps_lineage(self) -> bool:
        """Return whether anything is recorded, so that its lineage has to be kept."""
        remembers = "text" in self._tool_takes.values()
        return self._options.records or self._options.record_tools or remembers

    def _is_own(self, tool: Any, call: Any) -> bool:
        """Return whether a call goes to a tool of this middleware, and not to a namesake."""
        if tool is None:
            return call["name"] in self._options.own
        return any(tool is own_tool for own_tool in self.tools)

    def _has_no_use(self, tool: str, context: RunContext) -> bool:
        """Return whether a tool of ours can do nothing in this scope and role."""
        if not context.scope.group_id:
            return True
        recalls = self._tool_takes[tool] == "query"
        options, role = self._options, context.role
        return not (options.recalled_tiers_of(role) if recalls else options.tiers_of(role))

    def _refused(self, call: Any, context: RunContext) -> ToolMessage | None:
        """Return the message for a call of our tool that is refused; None for others."""
        takes = self._tool_takes.get(call["name"])
        if takes is None:
            return None
        if self._has_no_use(call["name"], context):
            return unavailable_message(call)
        if all(argument == takes for argument in call.get("args") or {}):
            return None
        return refusal_message(
            call, f"{call['name']} takes only {takes}; whose memory it is is fixed"
        )


@contextmanager
def _lent_to_nested_agents(recorder: Recorder, context: RunContext) -> Any:
    """Pass the lineage of this run to agents that a tool calls."""
    reset = PARENT_RUN.set(recorder.as_parent(context))
    try:
        yield
    finally:
        PARENT_RUN.reset(reset)


def _key_of(call: Mapping[str, Any], messages: Sequence[Any]) -> str:
    """Return the key of a call of the newest message that has made it; "" for none."""
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(
            made_call["id"] == call["id"] for made_call in message.tool_calls
        ):
            return call_key(message.id, call["id"])
    return ""


def _name(tool: Any) -> str:
    return str(tool.get("name")) if isinstance(tool, Mapping) else tool.name


__all__ = ["TieredMemoryMiddleware"]


class TieredMemoryMiddleware(TieredHooks):
    """Adds recalled memories to model calls, and records what the user and the agent say.

    What most programs need:

        memory = TieredMemory.open("sqlite:///memory.db")
        agent = create_agent(model, middleware=[TieredMemoryMiddleware(memory)])
        agent.invoke({"messages": [...]}, context={"group_id": "shop", "user_id": "ann"})

    Each run recalls what fits the newest message, and records that message and its final answer
    in quarantine and working memory. `record="final", record_user=True` are the defaults of both
    sides; `record=None` records nothing of either.

    Options by topic (each is described below):

    - what is recalled: `retrieve`, `max_results`, `score_threshold`, `min_trust`, `placement`
    - what is recorded: `record`, `record_user`, `record_tools`, `record_structured`, `role`
    - what is learned of it: `extract`
    - what the model may do itself: `recall_tool`, `remember_tool`
    - where trust comes from: `inside_tools`, `attachments`
    - whose memory it is: `scope`, `group_keys`; several memories, tests: `name`, `new_id`

    Scope: who asks comes from the context or config of the run, never from a message or a tool
    call. Privacy: recalled texts are in the request only. Messages, checkpoints, streams and
    results have ids, names of tools, paths of memory files, and the id of who asked while a run
    waits. In a request, text of others that imitates the delimiters of memory is neutralised.

    Lineage: what the model really made is recorded when the run has ended. Everything that was in
    the thread before it counts, results of tools as well, so its trust is the lowest of all of
    these. Then what the policy of the memory accepts without a decision is promoted; by default
    nothing is. With `on_error="warn"` of the memory a failing store never ends a run.

    Args:
        memory: The tiered memory.
        retrieve: "run" asks memory once in each run, with the newest message of the person;
            "call" before each model call; None never.
        max_results: Items that are recalled at most; by default as for `TieredMemory.retrieve`.
        score_threshold: Least cosine of what is recalled; see `TieredMemory.retrieve`.
        min_trust: The least trust of what is recalled, by the tool as well; None for any. Text
            from outside is shown to other users of the group only after a person has promoted
            it, whatever this says; see `share_outside` of `TieredMemory`.
        placement: "message" puts the block at the beginning of the newest message of the
            person, in a copy of it that only the request has. It keeps that position during a
            run, so that a provider's cache serves the calls that follow. "system" appends it to
            the system message; list the middleware after others that do.
        record: "final" records the answer with which a run ends, "each_model_call" every text of
            the model in it; None nothing. All are written in one transaction when the run has
            ended. A run that fails, is cancelled or is given up records nothing, one that waits
            records when it has ended.
        record_user: Record what the person says, with the origin `user:<id>`; by default if
            `record` is not None. These are the messages since the last answer, each once, in the
            transaction of the answer, which names them as its sources. Questions, orders and
            courtesy, and texts of more than 4,000 characters, stay in quarantine and are in no
            digest. Not recorded: what a tool or a program asks an agent inside (one in a node of
            a graph with a checkpointer records what the state of the graph has as well),
            attachments, and messages with a name that is not the id of the user. For a chat of
            several people pass a function that returns the id of the person who wrote a message,
            or None.
        record_tools: Keep the results of tools in quarantine, each as soon as it is there, also of
            a run that fails later.
        record_structured: Record a structured response, as JSON.
        role: The role of this agent: "fact_check" recalls long-term memory alone and records
            in quarantine alone, "memory_retrieval" recalls by its tool alone and records nothing,
            "tool" and "other" recall nothing and record in quarantine alone; see `ROLES`.
            `metadata={"memory_role": ...}` of a graph node sets it as well, for the agent in it.
        recall_tool: Offer the tool `recall(query)`, which searches the caller's own memory. Its
            message says how much was found; the texts are shown while that run lasts. After
            an interrupt they are looked up again. Hidden from a role that recalls nothing.
        remember_tool: Offer the tool `remember(text)`, which puts a note into quarantine; by
            default if `record` is not None. Hidden from a role that records nothing. Both tools
            are hidden in a run that has no group.
        extract: Learn from what is said: after each run the thread is enqueued, and once it is
            silent its facts are proposed in quarantine. True uses rules, a chat model or its
            name such as "openai:gpt-4.1-mini" asks that model, a `MemoryManager` brings its own
            options. No run waits for it.
        inside_tools: Names of tools that bring nothing from outside. What any other tool has
            returned makes all that is said after it untrusted.
        attachments: How images, files and documents in messages of people are trusted: "outside"
            makes what is said after them untrusted, "user" trusts them as what the person wrote,
            such as recordings of the person's own voice.
        scope: Fills what a run does not say; a text is read as its group.
        group_keys: Names under which a context or config may carry the group.
        name: A name of its own, needed when one agent has several memories; their tools are
            then called `recall_<name>` and `remember_<name>`.
        new_id: Returns ids of runs; None makes random ones. For tests.

    Raises:
        SettingError: For an option that cannot work.
    """

    trace_policy = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)

    def __init__(
        self,
        memory: TieredMemory,
        *,
        retrieve: Retrieve | None = "run",
        max_results: int | None = None,
        score_threshold: float | None = None,
        min_trust: Trust | None = None,
        placement: BlockPlacement = "message",
        record: Record | None = "final",
        record_user: bool | Author | None = None,
        record_tools: bool = False,
        record_structured: bool = False,
        role: Role = "agent",
        recall_tool: bool = True,
        remember_tool: bool | None = None,
        extract: Extract = False,
        inside_tools: Collection[str] = (),
        attachments: Attachments = "outside",
        scope: MemoryScope | str | None = None,
        group_keys: Sequence[str] = GROUP_KEYS,
        name: str | None = None,
        new_id: NewId | None = None,
    ) -> None:
        super().__init__()
        check_choices(
            retrieve=(retrieve, (*get_args(Retrieve), None)),
            record=(record, (*get_args(Record), None)),
            placement=(placement, get_args(BlockPlacement)),
            role=(role, [choice for choice in get_args(Role) if choice != "user"]),
            attachments=(attachments, get_args(Attachments)),
        )
        check_score_threshold(score_threshold)
        check_max_results("max_results", 0 if max_results is None else max_results)
        check_min_trust(min_trust)
        check_middleware_name(name)
        self._name, self._new_id = name, new_id or random_id
        recall = name_of_tool(RECALL, name) if recall_tool else None
        remembers = record is not None if remember_tool is None else remember_tool
        remember = name_of_tool(REMEMBER, name) if remembers else None
        self._options = TieredOptions(
            memory=check_memory(memory),
            name=self.name,
            retrieve=retrieve,
            record=record,
            record_user=author_option(record_user, record),
            placement=placement,
            role=role,
            record_tools=record_tools,
            record_structured=record_structured,
            inside=frozenset(_checking.checked_names("inside_tools", inside_tools)),
            attachments=attachments,
            own=frozenset(tool for tool in (recall, remember) if tool),
            score_threshold=score_threshold,
            max_results=max_results,
            min_trust=min_trust,
            scope=default_scope(scope),
            group_keys=group_keys_of(group_keys),
        )
        manager = manager_option(extract, memory, records_user=bool(self._options.record_user))
        self._options = replace(self._options, manager=manager)
        self._assemble(recall, remember)

    def _assemble(self, recall: str | None, remember: str | None) -> None:
        """Create the parts that the hooks use."""
        self._keys = TieredStateKeys.of(self.name)
        self.state_schema = tiered_state_schema(self._keys)
        self._runs = RunRegistry(self._options.memory, self._new_id)
        self._recaller = Recaller(self._options, self._runs)
        self._recorder = Recorder(self._options, self._runs)
        self.tools = []
        self._tool_takes = {}
        if recall:
            self.tools.append(make_recall_tool(recall, self._search))
            self._tool_takes[recall] = "query"
        if remember:
            self.tools.append(make_remember_tool(remember, self._remember))
            self._tool_takes[remember] = "text"

    @property
    def manager(self) -> MemoryManager | None:
        """The memory manager of `extract`; close it when the program ends."""
        return self._options.manager

    @property
    def name(self) -> str:
        """The name given, or the class name."""
        return self._name or type(self).__name__

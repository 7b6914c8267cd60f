"""The hooks of tiered memory: doors to coroutines that recall, show, watch and record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Command

from memoryware import _langchain
from memoryware._clock import NewId
from memoryware._copying import ReconstructedOnUnpickling
from memoryware._twins import Via, blocking, finish, native
from memoryware.events import EventContext, emit, is_heard, logger
from memoryware.middleware._agent_state import ThreadLineage, TieredStateKeys
from memoryware.middleware._hooks import OptionalHooks, with_signature
from memoryware.middleware._memory_tools import ToolAnswer, not_done, unavailable
from memoryware.middleware._options import approximate_tokens
from memoryware.middleware._request_messages import showing, with_block, without_forged
from memoryware.middleware._system_message import append_to_system_message
from memoryware.middleware._tiered_options import TieredOptions
from memoryware.middleware._tiered_recall import PARENT_RUN, Recaller, RunRegistry, RunState
from memoryware.middleware._tiered_recording import Recorder, RunContext, tool_messages_in
from memoryware.tiers.messages import (
    KEPT,
    KEPT_FOR_REVIEW,
    NOT_KEPT,
    RECALLED,
    UNAVAILABLE,
    call_key,
    has_user,
    outside_tools,
)

Response = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]


_RECORDING: Final = frozenset({"after_agent", "aafter_agent"})


class TieredHooks(
    OptionalHooks, ReconstructedOnUnpickling, AgentMiddleware[AgentState[Any], Any, Any]
):
    """What tiered memory does in an agent; see `TieredMemoryMiddleware` for the options."""

    _options: TieredOptions
    _keys: TieredStateKeys
    _runs: RunRegistry
    _recaller: Recaller
    _recorder: Recorder
    _new_id: NewId
    _tool_takes: Mapping[str, str]
    """The one argument of each tool of ours."""

    # Each hook is a door to a core below.

    def before_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001 - langgraph injects it only when it is bare
    ) -> dict[str, Any] | None:
        """Recall what memory knows of the newest message; the state gets a random id only."""
        return finish(self._before(blocking, state, runtime, config))

    async def abefore_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001
    ) -> dict[str, Any] | None:
        """Async twin of `before_agent`."""
        return await self._before(native, state, runtime, config)

    @with_signature
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> Response:
        """Call the model with what was recalled, and note which messages it really made."""
        return finish(self._around_model(blocking, request, handler))

    @with_signature
    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Response:
        """Async twin of `wrap_model_call`."""
        return await self._around_model(native, request, handler)

    @with_signature
    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> ToolMessage | Command[Any]:
        """Hold our tools to their rules, and hand down to other agents what this one knows."""
        return finish(self._around_tool(blocking, request, handler))

    @with_signature
    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage | Command[Any]:
        """Async twin of `wrap_tool_call`."""
        return await self._around_tool(native, request, handler)

    def after_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001
    ) -> dict[str, Any] | None:
        """Record what the model said, if it was the model that said it."""
        return finish(self._after(blocking, state, runtime, config))

    async def aafter_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001
    ) -> dict[str, Any] | None:
        """Async twin of `after_agent`."""
        return await self._after(native, state, runtime, config)

    # Cores.

    async def _before(
        self, via: Via, state: Any, runtime: Any, config: Any
    ) -> dict[str, Any] | None:
        run = self._runs.begin()
        now = self._moment(state, runtime, config, run=run)
        await self._recorder.settle(via, now)
        if self._options.retrieve == "run" and self._options.injects(now.role):
            await self._recall(via, now, state)
        update: dict[str, Any] = {self._keys.run: run.id}
        # What was said in a run that never ended is not recorded; who has asked there counts.
        kept = replace(self._asked(now), said=())
        if kept != now.thread and self._keeps_lineage():
            update[self._keys.thread] = kept.as_state()
        return update

    async def _around_model(self, via: Via, request: ModelRequest[Any], handler: Any) -> Response:
        state, update = request.state, dict[str, Any]()
        run = self._runs.of(state.get(self._keys.run))
        if run is None:  # after an interrupt, in another process, or called by hand
            run = self._runs.begin(self._moment(state, request.runtime).scope)
            update[self._keys.run] = run.id
        now = self._moment(state, request.runtime, run=run)
        if update:  # time travel may begin here as well
            await self._recorder.settle(via, now)
        if self._options.record == "each_model_call":
            await self._recorder.hold(via, now)
        if self._recaller.is_due(run, state, now.role):
            await self._recall(via, now, state)
        changed = await self._shown(via, request, now)
        with _langchain.watch_answers() as is_made, showing([run.block, *run.found.values()]):
            answered: ModelResponse[Any] | AIMessage = await via(handler, handler, changed)
        response, said, formats = self._noted(answered, is_made)
        kept = self._minded(now, request, said, formats)
        if kept != now.thread and self._keeps_lineage():
            update[self._keys.thread] = kept.as_state()
        if not update:
            return response
        whole = ModelResponse(result=[response]) if isinstance(response, AIMessage) else response
        return ExtendedModelResponse(model_response=whole, command=Command(update=update))

    async def _around_tool(
        self, via: Via, request: ToolCallRequest, handler: Any
    ) -> ToolMessage | Command[Any]:
        call, now = request.tool_call, self._moment(request.state, request.runtime)
        is_own = self._is_own(request.tool, call)
        refused = self._refused(call, now) if is_own else None
        if refused is not None:
            now.run.inside.add(_key_of(call, now.messages))
            return refused
        with _inside(self._recorder, now):
            result: ToolMessage | Command[Any] = await via(handler, handler, request)
        if is_own or _langchain.is_todo_tool(request.tool):
            now.run.inside.add(_key_of(call, now.messages))
        if self._options.record_tools and not is_own:
            results = list(tool_messages_in(result))
            await self._recorder.record_tool(via, now, results, call["name"])
        return result

    async def _after(
        self, via: Via, state: Any, runtime: Any, config: Any
    ) -> dict[str, Any] | None:
        now = self._moment(state, runtime, config)
        await self._recorder.settle(via, now)
        self._runs.end(now.run)
        if self._options.record is None or not now.thread.said:
            return None
        every = self._options.record == "each_model_call"
        structured = state.get("structured_response")
        kept = await self._recorder.record(via, now, every=every, structured=structured)
        return {self._keys.thread: kept.as_state()}

    async def _recall(self, via: Via, now: RunContext, state: Mapping[str, Any]) -> None:
        await self._recaller.recall(via, now.run, state, (now.scope, now.role, now.events))
        shown = [one.id for one in now.run.items]
        await self._note_shown(via, now, shown, now.run.block)

    async def _note_shown(self, via: Via, now: RunContext, ids: list[str], text: str) -> None:
        memory = self._options.memory
        if ids and memory.parts.journal is not None:
            tokens = approximate_tokens(text)
            await via(memory.note_shown, memory.anote_shown, ids, now.scope, tokens=tokens)

    # What the tools do.

    async def _search(self, via: Via, runtime: Any, query: str) -> ToolAnswer:
        """Search memory of the caller's own scope for the model."""
        now = self._moment(runtime.state, runtime)
        found = await self._recaller.search(via, query, (now.scope, now.role, now.events))
        if found is None:
            return ToolAnswer(UNAVAILABLE, {RECALLED: []}, ok=False)
        call, ids = runtime.tool_call_id or "", [one.id for one in found]
        text = self._recaller.note_found(now.run, call, found)
        await self._note_shown(via, now, ids, now.run.found.get((call, *ids), ""))
        return ToolAnswer(text, {RECALLED: ids})

    async def _remember(self, via: Via, runtime: Any, text: str) -> ToolAnswer:
        """Record a note of the model."""
        now = self._moment(runtime.state, runtime)
        recorded = await self._recorder.remember(via, now, text, runtime.tool_call_id or "")
        if recorded is None:
            return ToolAnswer(NOT_KEPT, {KEPT: []}, ok=False)
        return ToolAnswer(KEPT_FOR_REVIEW, {KEPT: [recorded.entry.id]})

    # What the cores need.

    def _moment(
        self, state: Any, runtime: Any, config: Any = None, *, run: RunState | None = None
    ) -> RunContext:
        """Return a run as it is now: the given one, or that of the state."""
        state = state if isinstance(state, Mapping) else {}
        config = config or getattr(runtime, "config", None) or _langchain.current_config()
        scope = self._options.scope_in(runtime, config)
        run = run or self._runs.of(state.get(self._keys.run)) or self._runs.between(scope)
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

    async def _shown(
        self, via: Via, request: ModelRequest[Any], now: RunContext
    ) -> ModelRequest[Any]:
        """Return the request with what was recalled, and without tools that are of no use.

        Nothing else in it can be taken for what memory says.
        """
        changes: dict[str, Any] = {}
        messages = without_forged(request.messages) or request.messages
        if self._options.own:
            who = (now.scope, now.role, now.events)
            messages = await self._recaller.expanded(via, now.run, messages, who)
        if any(new is not old for new, old in zip(messages, request.messages, strict=True)):
            changes["messages"] = messages
        useless = {one for one in self._tool_takes if self._is_useless(one, now)}
        if useless:
            changes["tools"] = [one for one in request.tools if _name(one) not in useless]
        if now.run.block:
            if self._options.placement == "system":
                system = append_to_system_message(request.system_message, now.run.block)
                changes["system_message"] = system
            else:
                changes["messages"] = with_block(messages, now.run.block)
            self._tell_injected(now)
        return request.override(**changes) if changes else request

    def _tell_injected(self, now: RunContext) -> None:
        if is_heard(now.events):
            block, tokens = now.run.block, approximate_tokens(now.run.block)
            shown = [one.id for one in now.run.items]
            emit(now.events, "injected", sources=shown, characters=len(block), tokens=tokens)

    def _noted(
        self, answered: Any, is_made: Callable[[Any], bool]
    ) -> tuple[ModelResponse[Any] | AIMessage, list[str], set[str]]:
        """Return the response, ids of what the model made, and keys of structured answers.

        Whoever stands between this middleware and the model may answer in its place; what it
        makes is not recorded. A message without an id gets one.
        """
        given: Sequence[Any] = (
            answered.result if isinstance(answered, ModelResponse) else [answered]
        )
        by_hand = not _langchain.runs_in_graph()
        result, said = list(given), list[str]()
        for place, message in enumerate(given):
            if isinstance(message, AIMessage) and (by_hand or is_made(message)):
                if not message.id:
                    result[place] = message.model_copy(update={"id": self._new_id()})
                said.append(result[place].id)
        if not said:
            logger.debug("%s records nothing of an answer that no chat model gave", self.name)
        formats = {
            _key_of({"id": one.tool_call_id}, result)
            for one in given
            if isinstance(one, ToolMessage)
        }
        if all(new is old for new, old in zip(result, given, strict=True)):
            return answered, said, formats
        if isinstance(answered, ModelResponse):
            return replace(answered, result=result), said, formats
        return result[0], said, formats

    def _asked(self, now: RunContext) -> ThreadLineage:
        """Return what a conversation keeps in mind, with who asks now."""
        asked = [now.scope.user_id or ""] if has_user(now.messages) else []
        return now.thread.with_more(self._options.memory.limits.thread_ids, asked=asked)

    def _minded(
        self, now: RunContext, request: ModelRequest[Any], said: list[str], formats: set[str]
    ) -> ThreadLineage:
        """Return what the conversation keeps in mind after a model call."""
        options = self._options
        kept = self._asked(now)
        inside = {*kept.inside, *now.run.inside, *formats}
        tools = outside_tools(request.messages, inside=options.inside, proven=inside)
        return kept.with_more(
            options.memory.limits.thread_ids,
            said=said,
            seen=[one.id for one in now.run.items],
            tools=tools,
            roots=self._recorder.unseen_roots(request.messages, request.state),
            inside=sorted(inside - {*kept.inside, ""}),
        )

    def _unneeded_hooks(self) -> frozenset[str]:
        """Return the hooks at the end of a run where nothing of what the model says is recorded."""
        kind = type(self)
        is_ours = all(getattr(kind, name) is getattr(TieredHooks, name) for name in _RECORDING)
        return _RECORDING if is_ours and self._options.record is None else frozenset()

    def _keeps_lineage(self) -> bool:
        """Say whether anything is recorded, so that it matters what it was made of."""
        remembers = "text" in self._tool_takes.values()
        return self._options.record is not None or self._options.record_tools or remembers

    def _is_own(self, tool: Any, call: Any) -> bool:
        """Say whether a call goes to a tool of this middleware, and not to a namesake."""
        if tool is None:
            return call["name"] in self._options.own
        return any(tool is one for one in self.tools)

    def _is_useless(self, tool: str, now: RunContext) -> bool:
        """Say whether a tool of ours can do nothing for those who ask."""
        if not now.scope.group_id:
            return True
        recalls = self._tool_takes[tool] == "query"
        return recalls and not self._options.layers_of(now.role)

    def _refused(self, call: Any, now: RunContext) -> ToolMessage | None:
        """Return why a call of a tool of ours is not carried out."""
        takes = self._tool_takes.get(call["name"])
        if takes is None:
            return None
        if self._is_useless(call["name"], now):
            return unavailable(call)
        if all(one == takes for one in call.get("args") or {}):
            return None
        return not_done(call, f"{call['name']} takes only {takes}; whose memory it is is fixed")


@contextmanager
def _inside(recorder: Recorder, now: RunContext) -> Any:
    """Hand down to agents that a tool calls what this run is made of."""
    reset = PARENT_RUN.set(recorder.as_parent(now))
    try:
        yield
    finally:
        PARENT_RUN.reset(reset)


def _key_of(call: Mapping[str, Any], messages: Sequence[Any]) -> str:
    """Return the key of a call of the newest message that has made it; "" for none."""
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(
            one["id"] == call["id"] for one in message.tool_calls
        ):
            return call_key(message.id, call["id"])
    return ""


def _name(tool: Any) -> str:
    return str(tool.get("name")) if isinstance(tool, Mapping) else tool.name

"""The hooks of file memory in an agent: load files, put them into prompts, guard writes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from functools import cache, partial, wraps
from typing import Any, Final, Literal
from weakref import ref

from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from memoryware import _langchain
from memoryware._runner import ASYNC, BLOCKING, Runner, in_thread, run_blocking
from memoryware._warning import warn_once
from memoryware.events import EventContext, has_tracer, is_heard, logger, span
from memoryware.middleware._agent_state import CONTENTS, CallNotes, MemoryStateKeys, PendingWrite
from memoryware.middleware._file_changes import CHANGING, planned_change
from memoryware.middleware._hooks import AgentHooks, BackendRuntime, Response
from memoryware.middleware._loading import (
    Folders,
    LoadedMemory,
    LoadOptions,
    MemoryLoader,
    Snapshots,
)
from memoryware.middleware._memory_events import emit_injected, emit_loaded
from memoryware.middleware._memory_prompt import GUIDED, LastModelCall, PromptChange
from memoryware.middleware._memory_tools import OwnToolVisibility
from memoryware.middleware._overridable import OverridableHelpers, run_in_loop
from memoryware.middleware._own_tools import is_inside, unavailable_message
from memoryware.middleware._provenance import (
    ThreadTexts,
    added_lines,
    opens_tool_results,
    texts_of_thread,
)
from memoryware.middleware._request_messages import with_cache_mark, with_system_text
from memoryware.middleware._write_gate import WriteContext, WriteGate, only_writable
from memoryware.middleware.file_tools._access import file_digest
from memoryware.middleware.preview import Preview, preview_of
from memoryware.scope import MemoryScope
from memoryware.sources.discovery import join_nested, touched
from memoryware.sources.source import Source, identity_of
from memoryware.tiers.run_origins import declare_in_run, has_declared


def _is_base(method: Any) -> bool:
    return getattr(method, "__qualname__", "").startswith("AgentHooks.")


def _with_snapshot_update(method: Any, name: str) -> Any:
    @wraps(method)
    def before_agent(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        update = method(self, state, *args, **kwargs)
        outermost = getattr(type(self), name) is before_agent
        return self._as_snapshot(update, state) if outermost else update

    return before_agent


def _with_snapshot_update_async(method: Any, name: str) -> Any:
    @wraps(method)
    async def abefore_agent(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        update = await method(self, state, *args, **kwargs)
        outermost = getattr(type(self), name) is abefore_agent
        return self._as_snapshot(update, state) if outermost else update

    return abefore_agent


_LOADING: Final = frozenset({"before_agent", "abefore_agent"})
_WATCHING: Final = frozenset({"wrap_tool_call", "awrap_tool_call"})
# The memory (by `id`) and the tool call that is being judged around this code.
_JUDGED_CALL: Final[ContextVar[tuple[int, str | None] | None]] = ContextVar(
    "memoryware_held", default=None
)
Refresh = Literal["run", "call", "thread"]
"""When memory is read again: in each run, before each model call, or once per thread."""


class MemoryHooks(OverridableHelpers, AgentHooks):
    """File memory in an agent; see `MemoryMiddleware` for the options."""

    system_prompt: str | None
    add_cache_control: bool
    _refresh: Refresh
    _own_tool: str
    _trace_content: bool
    _keys: MemoryStateKeys
    _load_options: LoadOptions
    _loader: MemoryLoader
    _nothing: LoadedMemory
    _snapshots: Snapshots
    _tool_visibility: OwnToolVisibility
    _gate: WriteGate
    _inside_tools: frozenset[str]
    _prompt_verified = False
    # The snapshot whose files were declared last for lineage, and the `id` of its run.
    _declared: tuple[str | None, int] = (None, 0)
    _last_prompt: PromptChange | None = None
    _last_step: LastModelCall | None = None
    # The last system message, and whether it has the general guidelines.
    _guided: tuple[SystemMessage, bool] | None = None
    # The names of tools that show the agent's own files, among the last tools of a request.
    _inside_names: tuple[list[Any], frozenset[str]] | None = None

    def preview(self, tools: Sequence[Any] = ()) -> Preview:
        """Load memory now, and return the prompt that a model would get, with each source.

        Args:
            tools: The tools of the agent beside those of this middleware; the guidelines in the
                prompt depend on them.

        Returns:
            The preview.

        Raises:
            LoadError: With `on_error="raise"`, for a source that cannot be read.
        """
        return run_blocking(self._preview(BLOCKING, tools))

    async def apreview(self, tools: Sequence[Any] = ()) -> Preview:
        """Load memory now, and return the prompt that a model would get, with each source.

        Args:
            tools: The tools of the agent beside those of this middleware; the guidelines in the
                prompt depend on them.

        Returns:
            The preview.

        Raises:
            LoadError: With `on_error="raise"`, for a source that cannot be read.
        """
        return await self._preview(ASYNC, tools)

    def modify_request(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return a request with memory in its system message, without any I/O.

        Args:
            request: The request; it is not changed. Memory is what its run has loaded, else
                `memory_contents` in its state.

        Returns:
            The request with memory; the same one if there is nothing to add.
        """
        changes = self._prompt_changes(request, self._loaded_in(request.state))
        return request.override(**changes) if changes else request

    # The coroutines behind the hooks.

    async def _preview(self, runner: Runner, tools: Sequence[Any]) -> Preview:
        loaded = await self._loaded(runner, self._get_backend({}, None, None), ())
        available_tools, _ = self._tool_visibility.of([*getattr(self, "tools", ()), *tools])
        text = ""
        if self.system_prompt is None:
            pass
        elif self._formats_itself():
            text = self._formatted_by_subclass(loaded.contents)
        else:
            rendered = self._renderer.render(loaded, available_tools)
            text = rendered.text if rendered is not None else ""
        block, count = self._renderer.block(loaded), self._renderer.count_tokens
        return preview_of(loaded, block, text, count, self._load_options.start)

    async def _before(
        self, runner: Runner, state: Any, runtime: Any, config: Any
    ) -> dict[str, Any] | None:
        own = type(self).before_agent
        if runner.suspends and not _is_base(own) and _is_base(type(self).abefore_agent):
            # A subclass that replaces the blocking hook alone means both.
            more = (config,) if "config" in inspect.signature(own).parameters else ()
            replaced: dict[str, Any] | None = await in_thread(own, self, state, runtime, *more)
            return replaced
        in_node = bool(config) and _langchain.runs_in_node(config, f"{self.name}.before_agent")
        keeps_text = not in_node or self._refresh == "thread"
        key = self._keys.contents if in_node else CONTENTS
        if keeps_text and key in state and not (in_node and self._is_of_another(state, runtime)):
            return None
        folders = self._folders(state)
        loaded = await self._load(runner, state, runtime, config, folders)
        if not keeps_text:
            update = dict[str, Any](self._snapshots.keep(loaded, folders))
            if self._replaces_before_agent():  # it may want to change the texts
                update[CONTENTS] = dict(loaded.contents)
            return update
        return self._as_text(loaded, runtime) if in_node else {key: dict(loaded.contents)}

    async def _around_model(
        self, runner: Runner, request: ModelRequest[Any], handler: Any
    ) -> Response:
        update, step = dict[str, Any](), self._last_step
        if step is not None and not step.fits(request, self._snapshots):
            step = None
        if step is not None:
            loaded = step.prompt.loaded
            state = self._with_contents(request.state, loaded)
            changed = request.override(**step.prompt.changes, state=state)
            guides = GUIDED.set(True) if step.guides else None
        else:
            update = await self._load_if_due(runner, request)
            own = self._snapshots.own(update or request.state)
            if update and own is None:  # the texts stand in the state
                request = request.override(state={**request.state, **update})  # type: ignore[typeddict-item]  # a key of our own
            changed, guides = self._prepare_request(request, own, update)
        try:
            if self._prompt_verified:
                answer = handler(changed)
                response: ModelResponse[Any] | AIMessage = (
                    await answer if runner.suspends else answer
                )
            else:
                response = await self._call_and_verify_prompt(runner, handler, changed)
        finally:
            if guides is not None:
                GUIDED.reset(guides)
        watched = step.watched if step is not None else self._watched_tools(changed)
        calls = self._calls_in(changed, response, watched)
        if not calls and not update:
            return response
        return await self._with_state_update(runner, changed, response, calls, update)

    def _prepare_request(
        self, request: ModelRequest[Any], own: LoadedMemory | None, update: Mapping[str, Any]
    ) -> tuple[ModelRequest[Any], Token[bool] | None]:
        """Return the request with memory, and the token that resets `GUIDED`.

        Memories further inside leave the general guidelines out if this one has added them.

        Args:
            request: The request.
            own: What this run has loaded; None if the texts are in the state, or nowhere.
            update: Keys of the state that are new with this model call.
        """
        changed = self._with_memory(request, own, update)
        snapshot: Any = changed.state.get(self._keys.snapshot)
        run = _langchain.run_handle(changed.runtime)
        # A snapshot is of one run and one agent in it, so once is enough while the run is known.
        if snapshot is None or self._declared != (snapshot, id(run)) or not has_declared(run):
            self._declare_files(own or self._loaded_in(changed.state), run)
            self._declared = (snapshot, id(run))
        heard = is_heard(_langchain.stream_writer_of(changed.runtime))
        if own is not None and heard:
            self._emit_injected(changed, own)
        guides = self._has_guidelines(changed)
        if not heard:
            self._keep_step(request, changed, own, guides=guides)
        return changed, GUIDED.set(True) if guides else None

    def _keep_step(
        self,
        request: ModelRequest[Any],
        changed: ModelRequest[Any],
        own: LoadedMemory | None,
        *,
        guides: bool,
    ) -> None:
        """Keep how a request was changed, if the next one of the run can be changed in that way."""
        prompt, runtime = self._last_prompt, changed.runtime
        is_settled = (
            self._prompt_verified and self._refresh != "call" and not self._load_options.nested
        )
        if (
            is_settled
            and type(self).modify_request is MemoryHooks.modify_request
            and prompt is not None
            and prompt.loaded is own
            # another thread may have put its own prompt there meanwhile
            and prompt.changes.get("system_message", prompt.before) is changed.system_message
            and prompt.before is request.system_message
        ):
            run, writer = _langchain.run_handle(runtime), getattr(runtime, "stream_writer", None)
            snapshot: Any = changed.state.get(self._keys.snapshot)
            watched = self._watched_tools(changed)
            self._last_step = LastModelCall(run, writer, snapshot, prompt, guides, watched)

    def _watched_tools(self, request: ModelRequest[Any]) -> frozenset[str]:
        """Return the names of tools whose calls have to be noted."""
        names = self._inside_tools_of(request.tools or ()) | CHANGING
        return names | {self._own_tool} if self._own_tool else names

    def _calls_in(
        self, request: ModelRequest[Any], response: Any, watched: frozenset[str]
    ) -> list[Any]:
        """Return the calls that a model has just made, if anything has to be noted of them."""
        messages = response.result if isinstance(response, ModelResponse) else [response]
        calls: list[Any] = []
        for message in messages:
            if isinstance(message, AIMessage):
                calls += message.tool_calls
        for call in calls:
            if call["name"] in watched:
                self._tool_visibility.note(request.tools, calls)
                return calls
        return []

    async def _with_state_update(
        self,
        runner: Runner,
        request: ModelRequest[Any],
        response: ModelResponse[Any] | AIMessage,
        calls: Sequence[Any],
        update: Mapping[str, Any],
    ) -> Response:
        """Return the response, with the state update that belongs to it."""
        whole = {**update, **(await self._call_notes(runner, request, calls) if calls else {})}
        if not whole:
            return response
        if isinstance(response, AIMessage):
            response = ModelResponse(result=[response])
        return ExtendedModelResponse(model_response=response, command=Command(update=whole))

    async def _load_if_due(self, runner: Runner, request: ModelRequest[Any]) -> dict[str, Any]:
        """Load where nothing is loaded yet or anymore; return the state update for it."""
        state, runtime = request.state, request.runtime
        own, folders = self._snapshots.own(state), self._folders(state)
        near = folders == self._snapshots.folders(state)
        if own is not None and self._refresh != "call" and near:
            return {}
        config = _langchain.current_config()
        # A state with texts: called by hand, or a thread whose texts a checkpoint has kept.
        if (
            own is None
            and self._may_carry_texts(state, config)
            and not self._is_of_another(state, runtime)
        ):
            carried = self._snapshots.carried(state, all_ours=True)
            if carried is not None:
                return {}
        loaded = await self._loaded_by_subclass(runner, state, runtime)
        if loaded is None:
            loaded = await self._load(runner, state, runtime, config, folders)
        lost_change = self._snapshots.lost_change(state, loaded)
        if lost_change:
            logger.warning(
                "%s, but memory still reads the old text: give the file tools and %s the same"
                " backend",
                lost_change,
                self.name,
            )
        if loaded is own and near:
            return {}
        if self._refresh == "thread":
            return self._as_text(loaded, runtime)
        return dict(self._snapshots.keep(loaded, folders))

    def _may_carry_texts(self, state: Any, config: Any) -> bool:
        """Return whether texts in a state may be those of this memory.

        In a graph a memory around this one has put its own texts into the request. Texts that
        this one has left in the thread have the key of the caller beside them.
        """
        if not config:  # no graph
            return True
        is_ours = self._keys.caller in state or self._replaces_before_agent()
        return self._refresh == "thread" and is_ours

    async def _around_own_tool(
        self, runner: Runner, request: ToolCallRequest, handler: Any
    ) -> ToolMessage | Command[Any]:
        """Run a call of our own tool under the rules, unless the hook does so around it."""
        if _JUDGED_CALL.get() == (id(self), request.tool_call["id"]):
            result: ToolMessage | Command[Any] = await runner.call(handler, handler, request)
            return result
        return await self._around_tool(runner, request, handler)

    async def _around_tool(
        self, runner: Runner, request: ToolCallRequest, handler: Any
    ) -> ToolMessage | Command[Any]:
        if self._changes_no_file(request.tool_call):
            answer = handler(request)
            result: ToolMessage | Command[Any] = await answer if runner.suspends else answer
            return result
        reset = _JUDGED_CALL.set((id(self), request.tool_call["id"]))
        try:
            return await self._run_under_rules(runner, request, handler)
        finally:
            _JUDGED_CALL.reset(reset)

    async def _run_under_rules(
        self, runner: Runner, request: ToolCallRequest, handler: Any
    ) -> ToolMessage | Command[Any]:
        call = request.tool_call
        if self._tool_visibility.refuses(call, request.runtime):
            return unavailable_message(call)
        context = self._write_context(self._tool_backend(request.runtime), request)
        result = await self._gate.around(runner, request, handler, context)
        self._snapshots.forget_after_write(request.state, self._change_of(call, result))
        return result

    def _changes_no_file(self, call: Any) -> bool:
        """Return whether a call can change no memory file."""
        return call["name"] not in CHANGING and call["name"] != self._own_tool

    def _unneeded_hooks(self) -> frozenset[str]:
        """Return the hooks that the agent which is being built can do without.

        Without `before_agent` the first model call loads memory. The hook stays where a subclass
        overrides it, and where model calls are retried: an unreadable file must end the run
        there and not be retried. The hook around tools stays where a tool of another middleware
        may change files; our own tool applies the rules itself.
        """
        built, unneeded = _langchain.agent_being_built(), frozenset[str]()
        if built is None:
            return unneeded
        if not self._replaces_before_agent() and not built.retries_model_calls():
            unneeded |= _LOADING
        kind = type(self)
        is_ours = all(getattr(kind, name) is getattr(MemoryHooks, name) for name in _WATCHING)
        if is_ours and not built.may_run(CHANGING, but=self._own_tool):
            unneeded |= _WATCHING
        return unneeded

    # Subclasses.

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keep texts that an overridden `before_agent` returns out of the checkpoints."""
        super().__init_subclass__(**kwargs)
        for name, decorate in (
            ("before_agent", _with_snapshot_update),
            ("abefore_agent", _with_snapshot_update_async),
        ):
            method = cls.__dict__.get(name)
            if callable(method):
                setattr(cls, name, decorate(method, name))

    def _replaces_before_agent(self) -> bool:
        kind = type(self)
        return not (_is_base(kind.before_agent) and _is_base(kind.abefore_agent))

    async def _loaded_by_subclass(
        self, runner: Runner, state: Any, runtime: Any
    ) -> LoadedMemory | None:
        """Return the texts of an overridden `before_agent` when memory is read again."""
        if not self._replaces_before_agent() or not isinstance(state, Mapping):
            return None
        ours = (CONTENTS, self._keys.contents, self._keys.snapshot)
        fresh = {key: value for key, value in state.items() if key not in ours}
        both: tuple[Any, Any] = (self.before_agent, self.abefore_agent)
        if _is_base(type(self).before_agent):
            both = (partial(run_in_loop, self.abefore_agent), self.abefore_agent)
        needs = inspect.signature(both[1] if runner is ASYNC else both[0]).parameters
        config = (_langchain.current_config(),) if "config" in needs else ()
        update = await runner.call(*both, fresh, runtime, *config)
        contents = (update or {}).get(CONTENTS)
        return (
            None
            if contents is None
            else LoadedMemory.by_hand(dict(contents), self._load_options.sources)
        )

    def _as_snapshot(self, update: Any, state: Any) -> Any:
        """Return the update of an overridden `before_agent` with an id in place of texts."""
        in_node = _langchain.runs_in_node(_langchain.current_config(), f"{self.name}.before_agent")
        if not in_node or not isinstance(update, Mapping) or CONTENTS not in update:
            return update
        rest = {key: value for key, value in update.items() if key != CONTENTS}
        contents = dict(update[CONTENTS] or {})
        if self._refresh == "thread":
            return {**rest, self._keys.contents: contents}
        loaded = self._snapshots.own(rest)
        if loaded is not None and loaded.contents == contents:
            return rest
        sources = loaded.sources if loaded is not None else self._load_options.sources
        replacement = LoadedMemory.by_hand(contents, sources)
        return {**rest, **self._snapshots.keep(replacement, self._folders(state))}

    # Helpers.

    def _with_memory(
        self, request: ModelRequest[Any], loaded: LoadedMemory | None, update: Mapping[str, Any]
    ) -> ModelRequest[Any]:
        """Return the request with memory in the prompt, and with the texts in its state.

        Overrides of `modify_request`, and other middleware further inside, read them there. The
        state of the graph has only an id.
        """
        # The state of a request is not written back to the graph, so texts in it stay out of
        # checkpoints.
        changes: dict[str, Any] = {}
        if loaded is not None:
            changes["state"] = self._with_contents({**request.state, **update}, loaded)
        if type(self).modify_request is not MemoryHooks.modify_request:
            return self.modify_request(request.override(**changes) if changes else request)
        changes |= self._prompt_changes(request, loaded or self._loaded_in(request.state))
        return request.override(**changes) if changes else request

    def _with_contents(self, state: Any, loaded: LoadedMemory) -> Any:
        """Return a state with the texts, for this request only."""
        contents = dict(loaded.contents)
        return {CONTENTS: contents, **state, self._keys.contents: contents}

    def _prompt_changes(
        self, request: ModelRequest[Any], loaded: LoadedMemory | None
    ) -> dict[str, Any]:
        """Return the overrides of a request that put memory before the model."""
        loaded, guided = loaded or self._nothing, GUIDED.get()
        before, offered = request.system_message, request.tools or []
        last = self._last_prompt
        if last is not None and last.is_of(loaded, before, offered, guided=guided):
            return last.changes
        changes = self._compute_prompt_changes(request, loaded, guided=guided)
        if not self._formats_itself() and not self.add_cache_control:
            content = None if before is None else before.content
            if content is None or isinstance(content, str):  # blocks may be changed in place
                self._last_prompt = PromptChange(
                    loaded, before, content, list(offered), guided, changes
                )
        return changes

    def _compute_prompt_changes(
        self, request: ModelRequest[Any], loaded: LoadedMemory, *, guided: bool
    ) -> dict[str, Any]:
        available_tools, tools = self._tool_visibility.of(request.tools or [])
        before = request.system_message
        message: SystemMessage | None = before
        if self.system_prompt is None:
            pass
        elif self._formats_itself():
            text = self._formatted_by_subclass(loaded.contents)
            message = with_system_text(before, text, "append") if text else before
        else:
            message = self._renderer.message(loaded, available_tools, before, guided=guided)
        if self.add_cache_control and _langchain.is_anthropic(request.model):
            message = with_cache_mark(message)
        changes: dict[str, Any] = {} if message is before else {"system_message": message}
        return changes if tools is None else {**changes, "tools": tools}

    def _has_guidelines(self, request: ModelRequest[Any]) -> bool:
        """Return whether this request has the general guidelines."""
        message = request.system_message
        if message is None:
            return False
        last = self._guided
        if last is None or last[0] is not message:
            last = self._guided = (message, self._renderer.has_guidelines(message))
        return last[1]

    def _loaded_in(self, state: Any) -> LoadedMemory | None:
        """Return the memory of a state: loaded by this run, or carried as text."""
        return self._snapshots.own(state) or self._snapshots.carried(state, all_ours=False)

    def _declare_files(self, loaded: LoadedMemory | None, run: Any) -> None:
        """Declare the files in the prompt, for the lineage of tiered memory."""
        if loaded is None or not (self.system_prompt is not None or self._formats_itself()):
            return
        declare_in_run(run, loaded.shown_origins())

    def _memory_files(self, state: Any) -> Sequence[Source]:
        """Return all memory files of a run."""
        loaded = self._loaded_in(state)
        return loaded.files if loaded is not None else self._load_options.sources

    def _folders(self, state: Any) -> Folders:
        return (
            touched(state.get("messages") or (), order="first") if self._load_options.nested else ()
        )

    def _as_text(self, loaded: LoadedMemory, runtime: Any) -> dict[str, Any]:
        """Return the update that keeps texts in the thread, for this caller only."""
        return {
            self._keys.contents: dict(loaded.contents),
            self._keys.caller: self._caller_of_texts(runtime),
        }

    def _is_of_another(self, state: Any, runtime: Any) -> bool:
        """Return whether texts in the state were loaded for another caller."""
        caller = state.get(self._keys.caller)
        return caller is not None and bool(caller != self._caller_of_texts(runtime))

    def _caller(self, runtime: Any) -> str:
        """Return a digest of the caller."""
        return MemoryScope.of(runtime, _langchain.current_config()).digest

    def _caller_of_texts(self, runtime: Any) -> str:
        """Return a digest of all that a backend factory may depend on, for texts that stay."""
        context = repr(getattr(runtime, "context", None))
        return f"{self._caller(runtime)}{file_digest(context.encode('utf-8', 'replace'))}"

    async def _would_join(
        self, runner: Runner, backend: Any, path: str, folder: bool
    ) -> list[Source]:
        """Return the memory files that would be at a path, or in a folder, once they exist."""
        return await join_nested(runner, backend, path, self._load_options.layout, folder=folder)

    async def _call_notes(
        self, runner: Runner, request: ModelRequest[Any], calls: Sequence[Any]
    ) -> dict[str, Any]:
        """Return the state update about the calls that a model has just made."""
        inside = self._inside_calls(calls, request.tools or ())
        pending: Mapping[str, PendingWrite] = {}
        # Digests are taken now: what the model saw decides whether its write is still right.
        writers = CHANGING | {self._own_tool} if self._own_tool else CHANGING
        writes = [call for call in calls if call["name"] in writers]
        if writes:
            try:
                backend = self._get_backend_at(request)
                context = self._write_context(backend, request, inside)
                pending = await self._gate.pending_writes(runner, writes, context)
            except GraphBubbleUp:
                raise
            except Exception as error:  # noqa: BLE001 - the call itself will say what is wrong
                logger.debug("no digest of files to change: %s", type(error).__name__)
        if not pending and not inside:
            return {}
        notes = CallNotes.of(request.state.get(self._keys.calls)).updated(pending, inside)
        return {self._keys.calls: notes.as_state()}

    def _inside_calls(self, calls: Sequence[Any], tools: Sequence[Any]) -> list[str]:
        """Return the ids of the calls of tools that show the agent's own files."""
        # They are noted when the call is made, because the tool itself is at hand only then. Later
        # there is a message with a name, which any code can write.
        inside = self._inside_tools_of(tools)
        return [
            call["id"]
            for call in calls
            if call["name"] in inside and not opens_tool_results(call) and call["id"]
        ]

    def _inside_tools_of(self, tools: Sequence[Any]) -> frozenset[str]:
        """Return the names of those tools that show the agent's own files."""
        last = self._inside_names
        if last is None or last[0] != tools:
            backends = (self._backend, self.own_backend)
            names = frozenset(
                getattr(tool, "name", "")
                for tool in tools
                if any(is_inside(tool, backend) for backend in backends)
            )
            last = self._inside_names = (list(tools), names)
        return last[1]

    def _write_context(
        self, backend: Any, request: Any, inside: Sequence[str] = ()
    ) -> WriteContext:
        """Return the context of the gate, for a request to the model or a call of a tool."""
        state = request.state if isinstance(request.state, Mapping) else {}
        files = self._memory_files(state)
        notes = CallNotes.of(state.get(self._keys.calls))
        messages = state.get("messages") or ()
        names = {file.identity for file in files}

        def written(call: Mapping[str, Any]) -> str:
            plan = planned_change(call, self._own_tool, only_writable(files))
            if plan is None or not plan.text or identity_of(plan.path) not in names:
                return ""
            text, old = str(plan.args.get(plan.text) or ""), plan.args.get("old_string")
            # An edit repeats the lines around the new ones, which would hide where these are from.
            if plan.kind == "edit" and isinstance(old, str):
                return added_lines(old, text)
            return text

        @cache
        def thread() -> ThreadTexts:
            return texts_of_thread(
                messages,
                inside_calls={*notes.inside, *inside},
                inside_tools=self._inside_tools,
                written=written,
            )

        return WriteContext(
            backend,
            files,
            notes.waiting,
            self._caller(request.runtime),
            self._would_join if self._load_options.nested else None,
            self._event_context(request.runtime),
            thread,
            messages,
        )

    def _get_backend_at(self, request: ModelRequest[Any]) -> Any:
        config = _langchain.current_config()
        facts = BackendRuntime.of(request.state, request.runtime, config)
        return self._get_backend(facts.state, facts, facts.config)

    def _change_of(self, call: Any, result: Any) -> str | None:
        """Return a sentence about the change of a source that a tool has reported, or None."""
        path = identity_of(str(call["args"].get("file_path") or call["args"].get("path")))
        ours = {source.identity for source in self._load_options.sources}
        if getattr(result, "status", "") != "success" or path not in ours:
            return None
        return f"{call['name']} reported a change of {path}"

    async def _load(
        self, runner: Runner, state: Any, runtime: Any, config: Any, folders: Folders
    ) -> LoadedMemory:
        backend = self._get_backend(state, runtime, config)
        # A span may be of use to nobody but the tracer, which knows only by it that work begins.
        writer = getattr(runtime, "stream_writer", None)
        if not is_heard(_langchain.stream_writer_of(runtime)) and not (writer and has_tracer()):
            loaded = await self._loaded(runner, backend, folders)
        else:
            event_context = self._event_context(runtime)
            with span("memory.load", event_context) as work:
                loaded = await self._loaded(runner, backend, folders)
                emit_loaded(event_context, backend, loaded, work)
        # A wrong root_dir or a misspelled path looks like a new user without this warning.
        if not loaded.contents and not loaded.problems:
            self._warn_of_nothing(loaded, MemoryScope.of(runtime, _langchain.current_config()))
        return loaded

    async def _loaded(self, runner: Runner, backend: Any, folders: Folders) -> LoadedMemory:
        if not self._loads_each_path():
            return await self._loader.load(runner, backend, folders)
        contents = await self._load_each_path(runner, backend)
        return LoadedMemory(contents, sources=self._load_options.sources)

    def _warn_of_nothing(self, loaded: LoadedMemory, scope: MemoryScope) -> None:
        # Not for each user: a new one has no file yet, and nothing is wrong.
        if loaded.sources or self._load_options.start:
            warn_once(
                ("no memory file", ref(self._loader), scope.tenant, scope.group_id),
                "no memory file was found: %s; the first save creates one, or check the paths",
                ", ".join(source.path for source in loaded.sources) or self._searched_names(),
            )

    def _searched_names(self) -> str:
        names = ", ".join(self._load_options.layout.names)
        return f"none of {names} near {self._load_options.start} (Layout(names=...) has others)"

    def _event_context(self, runtime: Any) -> EventContext:
        """Return the sinks of events, and on whose behalf the run acts."""
        scope = MemoryScope.of(runtime, _langchain.current_config())
        writer = _langchain.stream_writer_of(runtime)
        guard = self._load_options.guard
        redact = guard.redact if guard else None
        return EventContext(writer, scope, self.name, self._trace_content, redact)

    def _tool_backend(self, runtime: Any) -> Any:
        return self._get_backend(runtime.state, runtime, runtime.config)

    def _writable_files(self, runtime: Any) -> tuple[Any, list[str]]:
        """Return the backend, and the memory files of a run that may be written."""
        files = self._memory_files(runtime.state)
        return self._tool_backend(runtime), [file.path for file in files if file.writable]

    def _emit_injected(self, request: ModelRequest[Any], loaded: LoadedMemory) -> None:
        if self.system_prompt is not None and not self._formats_itself():
            emit_injected(self._event_context(request.runtime), self._renderer.block(loaded))

    async def _call_and_verify_prompt(
        self, runner: Runner, handler: Any, request: ModelRequest[Any]
    ) -> Any:
        """Call the model; the first time, see whether memory reached it."""
        # A middleware further inside that sets its own system prompt wipes memory out silently.
        message = request.system_message
        empty = not self._load_options.sources and self._load_options.start is None
        if message is None or empty:
            return await runner.call(handler, handler, request)
        ours = message.text.strip()
        with _langchain.watch_system_prompt(ours) as arrived:
            response = await runner.call(handler, handler, request)
        has_arrived = arrived()
        if has_arrived is False:
            logger.warning(
                "memory was put into the system prompt but did not reach the model: another"
                " middleware replaces the prompt. List %s after it",
                self.name,
            )
        self._prompt_verified = has_arrived is not None
        return response

"""`MemoryMiddleware`: file memory in front of the model, at every call, always fresh."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Literal

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    TracePolicy,
    omit_payload,
)
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
from langgraph.types import Command

from memoryware import _langchain
from memoryware._clock import NewId, random_id
from memoryware._twins import Via, blocking, finish, native
from memoryware.backends import _foreign
from memoryware.events import emit, is_heard, logger
from memoryware.middleware import _options
from memoryware.middleware._block import BlockStyle, CountTokens, tags_of
from memoryware.middleware._edit_memory import edit_memory_tool, unavailable
from memoryware.middleware._loading import Loaded, Loader, OnError
from memoryware.middleware._offers import Offers
from memoryware.middleware._overridable import OverridableParts
from memoryware.middleware._prompt import (
    Placement,
    append_to_system_message,
    place,
    with_cache_mark,
)
from memoryware.middleware._rendering import PromptOptions, Renderer
from memoryware.middleware._rules import PathRules
from memoryware.middleware._snapshots import Snapshots
from memoryware.middleware._state import (
    CONTENTS,
    MemoryState,
    MemoryStateUpdate,
    contents_key,
    snapshot_key,
    state_schema_for,
)
from memoryware.middleware.guidelines import MEMORY_SYSTEM_PROMPT, WRITERS
from memoryware.settings import MemoryLimits

__all__ = [
    "MEMORY_SYSTEM_PROMPT",
    "MemoryMiddleware",
    "MemoryState",
    "MemoryStateUpdate",
    "append_to_system_message",
]

Refresh = Literal["run", "call", "thread"]
"""When memory is read again: in each run, before each model call, or once per thread."""
WhenEmpty = Literal["prompt", "skip"]
"""What the prompt says while no memory exists: placeholder and guidelines, or nothing."""
_NOTHING = Loaded({})
_CHANGING = frozenset({*WRITERS, "delete"})
"""Tools after which memory is read again."""


class MemoryMiddleware(OverridableParts, AgentMiddleware[AgentState[Any], Any, Any]):
    """Puts memory files before the model at every call, as they are now.

    Loads the sources once in each run, keeps them out of messages, checkpoints, streams
    and results, and reads them again after a write that went through a tool of the run.
    List it after middleware that replaces the system prompt.

    Args:
        backend: Where the files are: a backend, or a factory that gets a runtime.
        sources: Paths in the order in which they are shown; one that is listed twice is
            shown once.
        name: A name of its own, needed when one agent has several memories.
        refresh: "run" reads in each run, "call" before each model call, "thread" once per
            thread (then the text is in the checkpoint).
        on_error: "raise" stops the run on an unreadable source; "warn" goes on without it
            and says so in the prompt. A missing file is never an error.
        system_prompt: A template with the slot `{agent_memory}`, used verbatim; None loads
            without showing anything.
        guidelines: "balanced", "immediate", a text of your own, or None.
        when_empty: "prompt" or "skip"; by default what fits the tools of the request.
        tools: "auto" offers `edit_memory` in requests without another writing tool or
            `read_file`, and refuses it elsewhere; False never offers it.
        writable: Sources that the guidelines name as writable and that `edit_memory` may
            change; by default all. What file tools may change is set there.
        allow: Patterns of paths that may be loaded, as for `FileToolsMiddleware`.
        deny: Patterns of paths that may not be loaded; they win over `allow`.
        placement: "append" or "prepend", to the system message that is there.
        strip_comments: Leave `<!-- ... -->` outside code away.
        show_paths: Put the path before each text, followed by `path_separator`.
        path_separator: What stands between a path and its text.
        add_cache_control: Mark the last system block for prompt caching, with Anthropic
            models only.
        max_tokens: Tokens for all sources together, which one alone may fill; overrides
            `limits.total_tokens`.
        count_tokens: A text's token count; by default langchain's approximation.
        limits: Every other limit.
        new_id: Makes snapshot ids; for tests.

    Raises:
        SettingError: For an option that cannot work (also a `ValueError`).
        TypeError: If `system_prompt` is neither text nor None.
    """

    MEMORY_SYSTEM_PROMPT: ClassVar[str] = MEMORY_SYSTEM_PROMPT
    """The template that is used when none is given; a subclass may override it."""
    trace_policy = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)

    def __init__(
        self,
        *,
        backend: Any,
        sources: Sequence[str],
        name: str | None = None,
        refresh: Refresh = "run",
        on_error: OnError = "raise",
        system_prompt: str | None = MEMORY_SYSTEM_PROMPT,
        guidelines: str | None = "balanced",
        when_empty: WhenEmpty | None = None,
        tools: Literal["auto", False] = "auto",
        writable: Sequence[str] | None = None,
        allow: Sequence[str] | None = None,
        deny: Sequence[str] | None = None,
        placement: Placement = "append",
        strip_comments: bool = True,
        show_paths: bool = True,
        path_separator: str = "\n",
        add_cache_control: bool = False,
        max_tokens: int | None = None,
        count_tokens: CountTokens | None = None,
        limits: MemoryLimits | None = None,
        new_id: NewId = random_id,
    ) -> None:
        super().__init__()
        choices = {"refresh": refresh, "on_error": on_error, "placement": placement}
        _options.check(system_prompt, guidelines, **choices, when_empty=when_empty, tools=tools)
        _options.check_parts(name, count_tokens)
        self._check_backend(backend)
        default = system_prompt == MEMORY_SYSTEM_PROMPT == self.MEMORY_SYSTEM_PROMPT
        if system_prompt == MEMORY_SYSTEM_PROMPT:
            system_prompt = self.MEMORY_SYSTEM_PROMPT
        limits = _options.with_max_tokens(limits, max_tokens)
        self._name, self._backend = name, backend
        self._refresh, self._on_error = refresh, on_error
        self.sources = _options.distinct(sources)
        self.system_prompt, self.add_cache_control = system_prompt, add_cache_control
        writes = _options.writable(self.sources, writable)
        self._own_tool = _options.tool_name(name) if tools == "auto" and writes else ""
        if self._own_tool:
            self.tools = [edit_memory_tool(self._own_tool, writes, self._tool_backend)]
        rules = PathRules(allow=allow, deny=deny)
        self._loader = Loader(self.sources, on_error, limits, rules)
        keys = snapshot_key(self.name), contents_key(name)
        self._snapshots = Snapshots(*keys, self.sources, size=limits.snapshots, new_id=new_id)
        style = BlockStyle(
            sources=tuple(self.sources),
            count_tokens=count_tokens or _options.approximate_tokens,
            source_tokens=limits.source_tokens,
            total_tokens=limits.total_tokens,
            strip_comments=strip_comments,
            show_paths=show_paths,
            path_separator=path_separator,
            tags=tags_of(system_prompt or ""),
        )
        template = None if default else system_prompt
        part = (guidelines, tuple(writes), self._own_tool, when_empty, placement)
        self._renderer = Renderer(style, PromptOptions(template, *part))
        with_files = _foreign.keeps_files_in_state(backend)
        self.state_schema = state_schema_for(*keys, with_files=with_files)
        self._offers = Offers(self._own_tool, self._renderer, limits.snapshots)
        self._identities = frozenset(map(_options.identity, self.sources))
        self._prompt_verified = self._told_missing = False

    @property
    def name(self) -> str:
        """The name given, or the class name."""
        return self._name or type(self).__name__

    # Hooks: each is a door to a core below.

    def before_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001 - langgraph injects it only when it is bare
    ) -> dict[str, Any] | None:
        """Load the sources.

        Called by hand it returns `{"memory_contents": text by source}`, or None if the state
        has that key already; in a graph only the id of a snapshot goes into the state.
        """
        return finish(self._before(blocking, state, runtime, config))

    async def abefore_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001
    ) -> dict[str, Any] | None:
        """Async twin of `before_agent`."""
        return await self._before(native, state, runtime, config)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]:
        """Call the model with memory in its system message."""
        return finish(self._around_model(blocking, request, handler))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]:
        """Async twin of `wrap_model_call`."""
        return await self._around_model(native, request, handler)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> ToolMessage | Command[Any]:
        """Have memory read again after a tool that writes."""
        return finish(self._around_tool(blocking, request, handler))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage | Command[Any]:
        """Async twin of `wrap_tool_call`."""
        return await self._around_tool(native, request, handler)

    def modify_request(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return the request with memory in its system message; pure, without any I/O.

        Uses what this run has loaded, else `memory_contents` in the request's state. The
        given request is not changed.
        """
        state = request.state
        loaded = self._snapshots.own(state) or self._snapshots.carried(state, all_ours=False)
        hands, tools = self._offers.of(request.tools or [])
        before = request.system_message
        message: SystemMessage | None = before
        if self._formats_itself():
            text = self._format_agent_memory((loaded or _NOTHING).contents)
            message = place(before, text, "append") if text else before
        elif self.system_prompt is not None:
            message = self._renderer.message(loaded or _NOTHING, hands, before)
        if self.add_cache_control and _langchain.is_anthropic(request.model):
            message = with_cache_mark(message)
        if message is before and tools is None:
            return request
        if tools is None:
            return request.override(system_message=message)
        return request.override(system_message=message, tools=tools)

    # Cores.

    async def _before(
        self, via: Via, state: Any, runtime: Any, config: Any
    ) -> dict[str, Any] | None:
        in_node = _langchain.runs_in_node(config, f"{self.name}.before_agent")
        keeps_text = not in_node or self._refresh == "thread"
        key = self._snapshots.contents_key if in_node else CONTENTS
        if keeps_text and key in state:
            return None
        loaded = await self._load(via, state, runtime, config)
        return {key: dict(loaded.contents)} if keeps_text else self._snapshots.keep(loaded)

    async def _around_model(
        self, via: Via, request: ModelRequest[Any], handler: Any
    ) -> ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]:
        update = await self._refreshed(via, request)
        if update:
            request = request.override(state={**request.state, **update})  # type: ignore[typeddict-item]  # a key of our own
        changed = self.modify_request(request)
        self._tell_injected(changed)
        response: ModelResponse[Any] | AIMessage = await self._verified(via, handler, changed)
        self._offers.note(changed.tools, response)
        if not update:
            return response
        if isinstance(response, AIMessage):
            response = ModelResponse(result=[response])
        return ExtendedModelResponse(model_response=response, command=Command(update=update))

    async def _refreshed(self, via: Via, request: ModelRequest[Any]) -> dict[str, Any]:
        """Load where nothing is loaded yet or anymore; return the state update for it."""
        state, runtime = request.state, request.runtime
        own = self._snapshots.own(state)
        if own is not None and self._refresh != "call":
            return {}
        text_may_be_carried = self._refresh == "thread" or not _langchain.runs_in_graph()
        carried = self._snapshots.carried(state, all_ours=True) if text_may_be_carried else None
        if own is None and carried is not None:
            return {}
        loaded = await self._load(via, state, runtime, _langchain.current_config())
        missed = self._snapshots.missed(state, loaded)
        if missed:
            logger.warning(
                "%s, but memory still reads the old text: give the file tools and %s the same"
                " backend",
                missed,
                self.name,
            )
        if loaded is own:
            return {}
        return (
            {self._snapshots.contents_key: dict(loaded.contents)}
            if self._refresh == "thread"
            else dict(self._snapshots.keep(loaded))
        )

    async def _around_tool(
        self, via: Via, request: ToolCallRequest, handler: Any
    ) -> ToolMessage | Command[Any]:
        call = request.tool_call
        if self._offers.refuses(call, request.runtime):
            return unavailable(call)
        result: ToolMessage | Command[Any] = await via(handler, handler, request)
        if call["name"] in _CHANGING or call["name"] == self._own_tool:
            self._snapshots.outdated(request.state, self._change_of(call, result))
        return result

    def _change_of(self, call: Any, result: Any) -> str | None:
        """Return what a tool says that it did to one of our sources, or None."""
        path = _options.identity(str(call["args"].get("file_path") or call["args"].get("path")))
        if getattr(result, "status", "") != "success" or path not in self._identities:
            return None
        return f"{call['name']} reported a change of {path}"

    async def _load(self, via: Via, state: Any, runtime: Any, config: Any) -> Loaded:
        backend = self._get_backend(state, runtime, config)
        if self._loads_each_path():
            loaded = Loaded(await self._contents_one_by_one(via, backend))
        else:
            loaded = await self._loader.load(via, backend)
        nothing = self.sources and not loaded.contents and not loaded.problems
        if nothing and not self._told_missing:
            self._told_missing = True
            logger.warning(
                "no memory file was found: %s; the first save creates one, or check the paths",
                ", ".join(self.sources),
            )
        writer = getattr(runtime, "stream_writer", None)
        if is_heard(writer):
            emit(
                writer,
                "loaded",
                sources=list(loaded.contents),
                characters=sum(map(len, loaded.contents.values())),
                failed=[path for path, _ in loaded.problems],
            )
        return loaded

    async def _contents_one_by_one(self, via: Via, backend: Any) -> dict[str, str]:
        both = self._load_memory_from_backend_sync, self._load_memory_from_backend
        texts = {path: await via(*both, backend, path) for path in self.sources}
        return {path: text for path, text in texts.items() if text is not None}

    def _tool_backend(self, runtime: Any) -> Any:
        return self._get_backend(runtime.state, runtime, runtime.config)

    def _tell_injected(self, request: ModelRequest[Any]) -> None:
        loaded = self._snapshots.own(request.state)
        if loaded is None or self.system_prompt is None or self._formats_itself():
            return
        block = self._renderer.block(loaded)
        facts = {"sources": list(block.loaded), "tokens": block.tokens, "cut": list(block.cut)}
        emit(getattr(request.runtime, "stream_writer", None), "injected", **facts)

    async def _verified(self, via: Via, handler: Any, request: ModelRequest[Any]) -> Any:
        """Call the model; the first time, see whether memory reached it."""
        message = request.system_message
        if self._prompt_verified or message is None or not self.sources:
            return await via(handler, handler, request)
        ours = message.text.strip()
        with _langchain.watch_system_prompt(ours) as arrived:
            response = await via(handler, handler, request)
        seen = arrived()
        if seen is False:
            logger.warning(
                "memory was put into the system prompt but did not reach the model: another"
                " middleware replaces the prompt. List %s after it",
                self.name,
            )
        self._prompt_verified = seen is not None
        return response

"""The only file that touches private or version-dependent names of langchain and langgraph.

Everything is imported on first use, so that backends stay free of both libraries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from memoryware.errors import BackendUnavailable


def runs_in_node(config: Any, node: str) -> bool:
    """Return whether a hook was called by its own graph node rather than by hand."""
    metadata = (config or {}).get("metadata") or {}
    return bool(metadata.get("langgraph_node") == node)


def runs_in_graph() -> bool:
    """Return whether a graph is running around this call."""
    return bool(current_config())


def is_agent_factory(frame: Any) -> bool:
    """Return whether a frame is of the code of langchain that builds an agent."""
    return bool(frame.f_globals.get("__name__") == "langchain.agents.factory")


_SILENT: Final = (lambda _: None).__code__.co_code
_silent_writers: Final[dict[Any, bool]] = {}


def stream_writer_of(runtime: Any) -> Any:
    """Return the stream writer of a run; None if its stream has no reader."""
    # Without a custom stream langgraph provides a function that does nothing.
    writer = getattr(runtime, "stream_writer", None)
    code = getattr(writer, "__code__", None)
    if code is None:
        return writer
    is_silent = _silent_writers.get(code)
    if is_silent is None:
        module = str(getattr(writer, "__module__", ""))
        is_silent = module.startswith("langgraph.") and code.co_code == _SILENT
        if len(_silent_writers) < _MOST_WRITERS:
            _silent_writers[code] = is_silent
    return None if is_silent else writer


_MOST_WRITERS: Final = 100


def is_anthropic(model: Any) -> bool:
    """Return whether a chat model comes from langchain-anthropic, without importing it."""
    return any(
        kind.__module__.partition(".")[0] == "langchain_anthropic" for kind in type(model).__mro__
    )


def current_config() -> Any:
    """Return the config of the running graph, or an empty one."""
    if "langgraph.config" not in sys.modules:  # then no graph is running; its import is slow
        return {}
    from langgraph.config import get_config

    try:
        return get_config()
    except RuntimeError:
        return {}


@contextmanager
def watch_system_prompt(text: str) -> Iterator[Callable[[], bool | None]]:
    """Watch chat model calls inside the block for a text in their system prompt.

    Yields:
        A function that returns whether the last call had it, or None if there was no call.
    """
    variable, make = _prompt_watch()
    handler = make(text)
    reset = variable.set(handler)
    try:
        yield lambda: handler.was_seen
    finally:
        variable.reset(reset)


@cache
def _prompt_watch() -> tuple[ContextVar[Any], Callable[[str], Any]]:
    """Set up the watch on its first use: langchain_core asks `variable` at every call."""
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.messages import SystemMessage
    from langchain_core.tracers.context import register_configure_hook

    class Watch(BaseCallbackHandler):
        run_inline = True

        def __init__(self, text: str) -> None:
            self.expected = text
            self.was_seen: bool | None = None

        def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:  # noqa: ARG002
            texts = (
                m.text for message in messages for m in message if isinstance(m, SystemMessage)
            )
            self.was_seen = any(self.expected in str(text) for text in texts)

    variable: ContextVar[Any] = ContextVar("memoryware_prompt_watch", default=None)
    register_configure_hook(variable, inheritable=True)
    return variable, Watch


@contextmanager
def watch_answers() -> Iterator[Callable[[Any], bool]]:
    """Watch chat model calls inside the block.

    Yields:
        A function that returns whether a message is the answer of one of these models, and was
        not made by other code.
    """
    variable, make = _answer_watch()
    around, handler = variable.get(), make()
    reset = variable.set(handler)
    try:
        yield handler.is_answer
    finally:
        variable.reset(reset)
        if around is not None:  # who watches outside of this block has seen them as well
            around.answers += handler.answers


@cache
def _answer_watch() -> tuple[ContextVar[Any], Callable[[], Any]]:
    """Set up the watch on its first use: langchain_core asks `variable` at every call."""
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.tracers.context import register_configure_hook

    class Watch(BaseCallbackHandler):
        run_inline = True

        def __init__(self) -> None:
            self.answers: list[Any] = []

        def on_chat_model_start(self, *_: Any, **__: Any) -> None:
            """Do nothing; without this the messages would be turned into text for nothing."""

        def on_llm_end(self, response: Any, **_: Any) -> None:
            generations = [generation for several in response.generations for generation in several]
            self.answers += [
                generation.message for generation in generations if hasattr(generation, "message")
            ]

        def is_answer(self, message: Any) -> bool:
            return any(
                message is answer or (answer.id is not None and message.id == answer.id)
                for answer in self.answers
            )

    variable: ContextVar[Any] = ContextVar("memoryware_answer_watch", default=None)
    register_configure_hook(variable, inheritable=True)
    return variable, Watch


def has_channels() -> bool:
    """Return whether a graph is running whose channels this call can read."""
    return _channel_function("read") is not None


def read_channel(name: str, *, fresh: bool = True) -> Any:
    """Return what a channel of the running graph holds, for this task.

    With `fresh` what this task itself has sent so far is in it.

    Raises:
        BackendUnavailable: Outside a graph, or in one without that channel.
    """
    read = _channel_function("read")
    if read is None:
        raise _outside_a_graph(name)
    while True:
        try:
            return read(name, fresh)
        except KeyError as missing:
            if missing.args != (name,):
                raise
            raise BackendUnavailable(
                f"This graph keeps no {name!r} in its state. Add MemoryMiddleware or"
                f" FileToolsMiddleware, which declare it, or a {name!r} key to your state schema"
                " (`files: FilesChannel`)"
            ) from None
        except RuntimeError as moved:
            # another thread of this task has just sent something
            if "mutated during iteration" not in str(moved):
                raise


def send_channel(name: str, value: Any) -> None:
    """Send an update to a channel of the running graph.

    Raises:
        BackendUnavailable: Outside a graph.
    """
    send = _channel_function("send")
    if send is None:
        raise _outside_a_graph(name)
    send([(name, value)])


def is_reduced_by(name: str, reducer: Callable[[Any, Any], Any]) -> bool:
    """Return whether a channel of the running graph is reduced by this function.

    True if it cannot be found out.
    """
    for argument in getattr(_channel_function("read"), "args", ()):
        if isinstance(argument, Mapping) and name in argument:
            return getattr(argument[name], "operator", None) is reducer
    return True


def has_checkpointer() -> bool:
    """Return whether the state of the running graph is kept after the run."""
    return bool(_channel_function("checkpointer"))


def _channel_function(which: Literal["read", "send", "checkpointer"]) -> Any:
    configurable = current_config().get("configurable")
    if not configurable:
        return None
    from langgraph._internal._constants import (
        CONFIG_KEY_CHECKPOINTER,
        CONFIG_KEY_READ,
        CONFIG_KEY_SEND,
    )

    keys = {
        "read": CONFIG_KEY_READ,
        "send": CONFIG_KEY_SEND,
        "checkpointer": CONFIG_KEY_CHECKPOINTER,
    }
    return configurable.get(keys[which])


def _outside_a_graph(name: str) -> BackendUnavailable:
    return BackendUnavailable(
        f"The state can be read and written only inside a graph that is running. To put {name}"
        f' in from outside, pass them on invoke: agent.invoke({{"messages": [...], "{name}":'
        f' {{"/AGENTS.md": {{"content": "...", "encoding": "utf-8"}}}}}})'
    )


@cache
def step_channel(
    reducer: Callable[[Any, Any], Any],
    describe: Callable[[Any, Sequence[Any]], Sequence[Any]],
) -> type:
    """Return a channel type that reduces, and looks at all updates of a step together first.

    Args:
        reducer: Takes the value and one update.
        describe: Takes the value before the step and its updates, where there are several.
    """
    from langgraph.channels import BinaryOperatorAggregate

    class StepChannel(BinaryOperatorAggregate):  # type: ignore[type-arg]
        __slots__ = ()

        def __init__(self, typ: Any, operator: Callable[[Any, Any], Any] = reducer) -> None:
            super().__init__(typ, operator)

        def update(self, values: Sequence[Any]) -> bool:
            several = len(values) > 1
            return super().update(describe(self.get(), values) if several else values)

    return StepChannel


def current_runtime() -> Any | None:
    """Return the runtime of the running graph: context, store, server info; None outside."""
    if "langgraph.runtime" not in sys.modules:
        return None
    from langgraph.runtime import get_runtime

    try:
        return get_runtime()
    except (RuntimeError, KeyError):
        return None


def keeps_to_limits(store: Any) -> bool:
    """Return whether a store is known to return as many items as it is asked for and has."""
    # That is true of those that come with langgraph; others may have a cap of their own.
    return type(store).__module__.startswith("langgraph.store.")


def personal_detectors() -> Mapping[str, Callable[[str], Any]]:
    """Return LangChain's detectors of personal data, by the names that it gives them.

    Each returns mappings with `start` and `end`, among others.
    """
    from langchain.agents.middleware._redaction import BUILTIN_DETECTORS

    return BUILTIN_DETECTORS


def node_specs(builder: Any) -> dict[str, Any] | None:
    """Return the nodes of a graph that is not compiled yet: each has `runnable` and `metadata`.

    None for anything else. A test holds that replacing a `runnable` before `compile` works.
    """
    from langgraph.graph import StateGraph

    if not isinstance(builder, StateGraph):
        return None
    specs: dict[str, Any] = builder.nodes
    return specs


def step_of(config: Any) -> tuple[str, Mapping[str, str]]:
    """Return the path of the step that runs, and the checkpoint of each graph around it.

    Steps that run side by side have the same checkpoint and different paths. The path is the
    same when a step is repeated; "" and nothing outside a graph.
    """
    metadata = (config or {}).get("metadata") or {}
    checkpoints = ((config or {}).get("configurable") or {}).get("checkpoint_map") or {}
    return str(metadata.get("langgraph_checkpoint_ns") or ""), dict(checkpoints)


def runs_inside_another_graph() -> bool:
    """Return whether the running graph was called by a node or a tool of another one."""
    path, _ = step_of(current_config())
    return "|" in path


def run_handle(runtime: Any) -> Any:
    """Return an object that only the steps of one run share; None if there is none."""
    return getattr(runtime, "control", None)


def untraced(call: Callable[..., Any], acall: Callable[..., Any], name: str | None) -> Any:
    """Return a Runnable of a blocking and an async function, without a step in a trace.

    A graph that `call` closes over is found by the graph around it.
    """
    from langgraph._internal._runnable import RunnableCallable

    return RunnableCallable(call, acall, name=name, trace=False)


def functions_of(runnable: Any) -> tuple[Any, ...]:
    """Return the functions that a graph has wrapped into a Runnable."""
    return tuple(getattr(runnable, name, None) for name in ("func", "afunc"))


def command_to_parent(error: BaseException) -> Any:
    """Return the command that a graph raises to its parent graph; None for other errors."""
    from langgraph.errors import ParentCommand

    return error.args[0] if isinstance(error, ParentCommand) else None


def is_todo_tool(tool: Any) -> bool:
    """Return whether a tool is the to-do list of LangChain itself, and not a namesake."""
    # Its result only repeats what the model wrote. Deep agents use the same one.
    if getattr(tool, "name", None) != "write_todos":
        return False
    from langchain.agents.middleware import todo

    functions = (getattr(tool, "func", None), getattr(tool, "coroutine", None))
    of_langchain = (getattr(todo, "_write_todos", None), getattr(todo, "_awrite_todos", None))
    return tool is todo.write_todos or any(
        function is not None and function in of_langchain for function in functions
    )


def is_agent(runnable: Any) -> bool:
    """Return whether a Runnable is an agent that `create_agent` has made."""
    metadata = (getattr(runnable, "config", None) or {}).get("metadata") or {}
    return bool(metadata.get("ls_integration") == "langchain_create_agent")


@dataclass(frozen=True, slots=True)
class CheckpointedThread:
    """The thread of the run around a call, in the checkpointer that keeps it.

    Attributes:
        saver: The checkpointer.
        thread_id: The thread, as the checkpointer knows it.
        checkpoint_id: The checkpoint of the outermost graph that the current step runs from.
        writes_steps: Whether the checkpoint of each step is written, if perhaps a little later.
    """

    saver: Any
    thread_id: Any
    checkpoint_id: str
    writes_steps: bool = True

    def config_of(self, checkpoint_id: str) -> dict[str, Any]:
        """Return the config that names one checkpoint of the outermost graph."""
        names = {"thread_id": self.thread_id, "checkpoint_ns": "", "checkpoint_id": checkpoint_id}
        return {"configurable": names}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint of a thread.

    Attributes:
        id: Ids of one thread are ordered by time.
        parent_id: The checkpoint before it; None for the first one.
        source: What made it: "input", "loop" (a step of the graph), "update" or "fork".
        messages: The messages of the graph, as they were.
    """

    id: str
    parent_id: str | None
    source: str
    messages: tuple[Any, ...] = ()

    @classmethod
    def of(cls, saved: Any) -> Checkpoint | None:
        """Return a tuple of a checkpointer in this form; None for None."""
        if saved is None:
            return None
        values = saved.checkpoint.get("channel_values") or {}
        messages = values.get("messages") if isinstance(values, Mapping) else None
        parent = ((saved.parent_config or {}).get("configurable") or {}).get("checkpoint_id")
        return cls(
            saved.checkpoint["id"],
            parent,
            str((saved.metadata or {}).get("source") or ""),
            tuple(messages) if isinstance(messages, list | tuple) else (),
        )


def current_thread() -> CheckpointedThread | None:
    """Return the thread of the run around this call; None where no checkpointer keeps it."""
    saver = _channel_function("checkpointer")
    configurable = current_config().get("configurable") or {}
    thread_id = _thread_id_of(configurable)
    checkpoints = configurable.get("checkpoint_map") or {}
    checkpoint_id = checkpoints.get("") or configurable.get("checkpoint_id")
    if not hasattr(saver, "get_tuple") or thread_id is None or not checkpoint_id:
        return None
    from langgraph._internal._constants import CONFIG_KEY_DURABILITY

    writes_steps = configurable.get(CONFIG_KEY_DURABILITY) != "exit"
    return CheckpointedThread(saver, thread_id, str(checkpoint_id), writes_steps)


def _thread_id_of(configurable: Mapping[str, Any]) -> Any:
    """Return the id under which the checkpointer keeps the thread of a run.

    LangGraph writes checkpoints under `str(thread_id)`, and leaves the number in the config of the
    run. InMemorySaver finds nothing under the number, and an empty id is left as it is.
    """
    thread_id = configurable.get("thread_id")
    return str(thread_id) if thread_id else thread_id


# Human-in-the-loop.


HITL_EDITS: Final = "hitl_edited_tool_calls"
"""State key of langchain's `HumanInTheLoopMiddleware`: the calls that a person has edited."""
# Checkpoints that are searched for the question of another middleware about a call.
_REVIEW_STEPS: Final = 12


def has_human_in_the_loop() -> bool:
    """Return whether the running agent has a `HumanInTheLoopMiddleware`."""
    return any(
        isinstance(argument, Mapping) and HITL_EDITS in argument
        for argument in getattr(_channel_function("read"), "args", ())
    )


def interrupted_in_this_task() -> bool:
    """Return whether another middleware has already interrupted this task with a question."""
    scratchpad = _scratchpad()
    counter = getattr(scratchpad, "interrupt_counter", None)
    return getattr(counter, "_counter", None) is not None


def reviews_inside(handler: Any, request: Any) -> bool:
    """Return whether a middleware behind this handler is going to ask a person about a call.

    That is a `HumanInTheLoopMiddleware(interrupt_mode="per_call")`: it asks while the call runs.
    """
    name = request.tool_call["name"]
    for middleware in _per_call_reviewers(handler):
        config = middleware.interrupt_on.get(name)
        if config is None:
            continue
        condition = config.get("when")
        if condition is None or condition(request):
            return True
    return False


def _per_call_reviewers(handler: Any) -> list[Any]:
    from langchain.agents.middleware import HumanInTheLoopMiddleware

    reviewers: list[Any] = []
    waiting, visited = [handler], set[int]()
    while waiting and len(visited) < 500:
        part = waiting.pop()
        if id(part) in visited:
            continue
        visited.add(id(part))
        owner = getattr(part, "__self__", None)
        if isinstance(owner, HumanInTheLoopMiddleware):
            if getattr(owner, "interrupt_mode", "") == "per_call":
                reviewers.append(owner)
            continue
        if not callable(part):
            continue
        for cell in getattr(part, "__closure__", None) or ():
            try:
                waiting.append(cell.cell_contents)
            except ValueError:  # the cell is empty
                continue
        waiting += [getattr(part, name) for name in ("__wrapped__", "func") if hasattr(part, name)]
    return reviewers


async def reviewed_calls(runner: Any, message: Any, ours: str) -> set[str]:
    """Return the ids of those calls of a message that another middleware has asked a person about.

    Args:
        runner: Calls what may block.
        message: The model's message with the calls.
        ours: The value of `source` in questions of our own.
    """
    # The question is in the checkpoint before: langchain keeps no other trace of a call that was
    # approved as it is.
    saver, config = _channel_function("checkpointer"), current_config()
    if not has_human_in_the_loop() or not hasattr(saver, "list"):
        return set()
    configurable = config.get("configurable") or {}
    namespace = str(configurable.get("checkpoint_ns") or "").rpartition("|")[0]
    thread_config = {
        "configurable": {"thread_id": _thread_id_of(configurable), "checkpoint_ns": namespace}
    }

    def read() -> list[Any]:
        return list(saver.list(thread_config, limit=_REVIEW_STEPS))

    async def aread() -> list[Any]:
        return [item async for item in saver.alist(thread_config, limit=_REVIEW_STEPS)]

    reviewed: list[tuple[str, Any]] = []
    for saved in await runner.call(read, aread):
        messages = saved.checkpoint.get("channel_values", {}).get("messages") or ()
        if message.id is not None and all(item.id != message.id for item in messages):
            break  # from before the model has made these calls
        reviewed += _requests_in(saved.pending_writes or (), ours)
    return {
        call["id"]
        for call in message.tool_calls
        if call["id"] and (call["name"], call["args"]) in reviewed
    }


def _requests_in(writes: Any, ours: str) -> Iterator[tuple[str, Any]]:
    for _, channel, value in writes:
        if channel != "__interrupt__":
            continue
        for interrupt in value if isinstance(value, list | tuple) else (value,):
            request = getattr(interrupt, "value", None)
            if isinstance(request, Mapping) and request.get("source") != ours:
                for action in request.get("action_requests") or ():
                    yield action["name"], action["args"]


def resumption() -> tuple[Literal["none", "value", "unknown"], Any]:
    """Return what the running graph was resumed with, as a task can see that did not ask.

    "none" if it was not resumed, "unknown" where an answer may belong to an earlier question:
    answers by the ids of their questions, and those of a graph around this one, stay visible
    after they were used.
    """
    scratchpad, configurable = _scratchpad(), current_config().get("configurable") or {}
    if scratchpad is None:
        return "none", None
    from langgraph._internal._constants import CONFIG_KEY_RESUME_MAP

    value = scratchpad.get_null_resume(False)  # noqa: FBT003 - not a keyword there
    if configurable.get(CONFIG_KEY_RESUME_MAP):
        return "unknown", None
    if "|" in str(configurable.get("checkpoint_ns") or "") and value is not None:
        return "unknown", None
    return ("none", None) if value is None else ("value", value)


def _scratchpad() -> Any:
    configurable = current_config().get("configurable")
    if not configurable:
        return None
    from langgraph._internal._constants import CONFIG_KEY_SCRATCHPAD

    return configurable.get(CONFIG_KEY_SCRATCHPAD)


# Tools of others.


def backend_of_deepagents_tool(function: Any) -> Any:
    """Return the backend that a file tool of deepagents works on; None for any other function."""
    # Its tool `execute` runs commands, whose output may come from anywhere.
    if getattr(function, "__module__", None) != "deepagents.middleware.filesystem":
        return None
    if "execute" in getattr(function, "__qualname__", ""):
        return None
    for cell in function.__closure__ or ():
        backend = getattr(cell.cell_contents, "backend", None)
        if backend is not None:
            return backend
    return None


_FRAMES: Final = 6


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What `create_agent` was given for the agent that it is building.

    Attributes:
        middleware: All of its middleware.
        tools: Its tools, and those of the middleware.
    """

    middleware: Sequence[Any] = ()
    tools: Sequence[Any] = ()

    def may_run(self, names: Collection[str], *, but: str) -> bool:
        """Return whether the agent may run a tool with one of these names, other than `but`."""
        # True if middleware of others wraps tool calls, because it may answer calls of tools that
        # are not listed here.
        if any(_wraps_tool_calls(entry) for entry in self.middleware):
            return True
        names_ = {_tool_name(tool) for tool in self.tools} - {but}
        return None in names_ or not names_.isdisjoint(names)

    def retries_model_calls(self) -> bool:
        """Return whether middleware of langchain repeats failed model calls, perhaps elsewhere."""
        modules = {type(entry).__module__ for entry in self.middleware}
        return not modules.isdisjoint(_RETRYING)


_RETRYING: Final = frozenset(
    f"langchain.agents.middleware.{name}" for name in ("model_retry", "model_fallback")
)


def _wraps_tool_calls(middleware: Any) -> bool:
    from langchain.agents.middleware.types import AgentMiddleware

    kind = type(middleware)
    if kind.__module__.startswith("memoryware."):
        return False
    return any(
        getattr(kind, name, None) is not getattr(AgentMiddleware, name)
        for name in ("wrap_tool_call", "awrap_tool_call")
    )


def _tool_name(tool: Any) -> str | None:
    """Return the name of a tool; "" for one that the provider of the model runs."""
    if isinstance(tool, Mapping):
        return ""
    name = getattr(tool, "name", None) or getattr(tool, "__name__", None)
    return name if isinstance(name, str) else None


def agent_being_built() -> AgentParts | None:
    """Return the parts of the agent that `create_agent` is building around this call, if any.

    It reads the name and the class of each middleware.
    """
    frame: Any = sys._getframe(1)  # noqa: SLF001 - no public way is as quick
    for _ in range(_FRAMES):
        if frame is None:
            return None
        if frame.f_code.co_name == "create_agent":
            middleware, tools = frame.f_locals.get("middleware"), frame.f_locals.get("tools")
            if not isinstance(middleware, list | tuple):
                return None
            more = [tool for entry in middleware for tool in getattr(entry, "tools", None) or ()]
            return AgentParts(middleware, [*(tools or ()), *more])
        frame = frame.f_back
    return None

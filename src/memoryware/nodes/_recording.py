"""Record what the nodes of a graph return: remember and with_memory."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, TypeVar, get_args, overload

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from memoryware import _langchain
from memoryware._checking import checked_names
from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.errors import BackendUnavailable, EntryRefused, MemorywareError, SettingError
from memoryware.events import emit, logger
from memoryware.nodes._lineage import GraphStep, StepTrace, StepView, conversations_of
from memoryware.nodes._node import ScopeOptions
from memoryware.scope import GROUP_KEYS, MemoryScope
from memoryware.tiers._parts import StepActivity, track_activity
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import (
    KEYS,
    ROLE_KEY,
    ROLES,
    Attachments,
    Content,
    NodeOutput,
    RoleRules,
    artifact_ids,
    attachment_origins,
    check_attachments,
    content_of,
    has_user,
    messages_in,
    outside_tools,
    role_in,
)
from memoryware.tiers.model import Role, hash_of
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.run_origins import declared_origins
from memoryware.tiers.screening import mended
from memoryware.tiers.thread_history import position_in, settle_thread
from memoryware.tiers.values import ContextItem, Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingOptions:
    """How a node is recorded; see `remember`.

    Attributes:
        memory: The memory; None for that of the graph around.
        role: The role of the node; None for that in its metadata.
        otherwise: Its role if neither has one.
        content: Where its text is.
        rules: Other rules than those of its role.
        scope_options: How its scope is determined.
        inside_tools: Tools whose results are not from outside.
        attachments: How attachments of people's messages are trusted.
    """

    memory: TieredMemory | None = None
    role: Role | None = None
    otherwise: Role = "other"
    content: Content = KEYS
    rules: RoleRules | None = None
    scope_options: ScopeOptions = field(default_factory=ScopeOptions)
    inside_tools: frozenset[str] = frozenset()
    attachments: Attachments = "outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRun:
    """One run of a node.

    Attributes:
        result: What it returned.
        state: The state that it was passed.
        activity: What it has recalled and recorded.
        is_made: Returns whether a chat model made a message; None if calls were not watched.
        roots: Further origins of the result, such as a search.
        sources: Ids of entries that it has read.
    """

    result: Any
    state: Any = None
    activity: StepActivity = field(default_factory=StepActivity)
    is_made: Callable[[Any], bool] | None = None
    roots: tuple[Origin, ...] = ()
    sources: tuple[str, ...] = ()


_MEMORY: Final[ContextVar[TieredMemory | None]] = ContextVar("memoryware_graph", default=None)


@contextmanager
def lending_memory(memory: TieredMemory | None) -> Iterator[StepActivity]:
    """Provide a memory to the code inside, and track what it recalls and records."""
    reset = _MEMORY.set(memory or _MEMORY.get())
    try:
        with track_activity() as activity:
            yield activity
    finally:
        _MEMORY.reset(reset)


async def record_node(options: RecordingOptions, runner: Runner, ran: NodeRun) -> None:
    """Record what a node returned, once, and never end the graph unless that is wanted.

    Raises:
        SettingError: If no memory was given.
    """
    memory = options.memory or _MEMORY.get()
    if memory is None:
        raise SettingError(
            "remember: pass memory=..., or give the graph one: with_memory(builder, memory)"
        )
    role = options.role or role_in(_langchain.current_config(), options.otherwise)
    if role == "user" and ran.is_made is not None:
        role = "agent"  # what a model says is never the user's word
    tiers = (options.rules or ROLES[role]).record
    scope = options.scope_options.scope_of_run(memory, ran.state)
    messages = [*_messages_of_graph(), *messages_in(ran.state)]
    raises = memory.on_error == "raise"
    await settle_thread(memory.parts.on(runner), scope, messages, may_raise=raises)
    try:
        output = _text_of_node(options, ran, role) if tiers else None
        if output is not None:
            await _record_output(
                runner, memory, output, _RecordedOutput(options, ran, scope, role, tiers)
            )
        elif ran.activity.recalled:
            step = GraphStep.of(_langchain.current_config())
            conversations_of(memory).note(scope, StepTrace(step, ran.activity.recalled))
    except Exception as error:  # stores may be anybody's; with "raise" it goes on
        if memory.on_error == "raise":
            raise
        kind = f": {error}" if isinstance(error, MemorywareError) else ""
        logger.warning(
            "memory could not keep the output of a node (%s%s); the graph goes on",
            type(error).__name__,
            kind,
        )
        reason = "refused" if isinstance(error, EntryRefused) else "store_failed"
        emit(memory.parts.event_context(scope), "rejected", tier="quarantine", reason=reason)


def _text_of_node(options: RecordingOptions, ran: NodeRun, role: Role) -> NodeOutput | None:
    kind: Literal["ai", "human"] = "human" if role == "user" else "ai"
    return content_of(ran.result, options.content, messages_in(ran.state), kind=kind)


def note_asked(options: RecordingOptions, state: Any, activity: StepActivity) -> None:
    """Note who has asked a step that waits or has failed, and what it was shown."""
    # Another person may resume the step, and then its output is made of this as well.
    memory = options.memory or _MEMORY.get()
    if memory is None:
        return
    scope, step = (
        options.scope_options.scope_of_run(memory, state),
        GraphStep.of(_langchain.current_config()),
    )
    is_asked = has_user([*_messages_of_graph(), *messages_in(state)])
    roots = frozenset({Origin("user", scope.user_id or "")} if is_asked else ())
    conversations_of(memory).note(scope, StepTrace(step, activity.recalled, roots))


@dataclass(frozen=True, slots=True)
class _RecordedOutput:
    """An output of a node with everything that recording it needs."""

    options: RecordingOptions
    ran: NodeRun
    scope: MemoryScope
    role: Role
    tiers: tuple[Layer, ...]


async def _record_output(
    runner: Runner, memory: TieredMemory, node_output: NodeOutput, output: _RecordedOutput
) -> None:
    ran, scope, role, tiers = output.ran, output.scope, output.role, output.tiers
    step = GraphStep.of(_langchain.current_config())
    provenance, shown = await _lineage(runner, memory, output, step)
    trace = StepTrace(step, ran.activity.recalled, frozenset(provenance.roots))
    conversations_of(memory).note(scope, trace)
    # A node may contain an agent with memory, which has recorded the same text itself.
    if _is_recorded(memory, node_output, ran.activity):
        return
    metadata: Mapping[str, Any] = node_output.metadata
    if (
        ran.is_made is not None
        and node_output.message is not None
        and not ran.is_made(node_output.message)
    ):
        tiers = tuple(tier for tier in tiers if tier == "quarantine")
        metadata = {**metadata, "made_by": "middleware"}
    await runner.call(
        memory.record,
        memory.arecord,
        node_output.text,
        scope,
        {**metadata, **position_in(node_output.message)},
        role=role,
        provenance=provenance,
        key=_key(scope, step, node_output),
        shown=shown,
        tiers=tiers,
    )


async def _lineage(
    runner: Runner, memory: TieredMemory, output: _RecordedOutput, step: GraphStep
) -> tuple[Provenance, tuple[ContextItem, ...]]:
    """Return the provenance of an output, and the items that the node was shown."""
    ran, scope = output.ran, output.scope
    if output.role == "user":
        return Provenance(Origin("user", scope.user_id or "")), ()
    update = getattr(ran.result, "update", None) if hasattr(ran.result, "goto") else ran.result
    messages = [*_messages_of_graph(), *messages_in(ran.state), *messages_in(update)]
    shown = tuple(dict.fromkeys(id_ for message in messages for id_ in artifact_ids(message) or ()))
    look = StepView(step, ran.state, shown)
    visible = await conversations_of(memory).before(runner, memory, scope, look)
    visible += StepTrace(items=ran.activity.recalled)
    tools = outside_tools(messages, inside=output.options.inside_tools)
    roots = {*visible.every_root(), *ran.roots, *(Origin("tool", tool) for tool in tools)}
    further = [*declared_origins(), *attachment_origins(messages, output.options.attachments)]
    roots |= {Origin(origin.kind, memory.parts.redacted(origin.name)) for origin in further}
    if has_user(messages):
        roots.add(Origin("user", scope.user_id or ""))
    node = scope.node_id or ""
    is_tool = output.role == "tool"
    origin = Origin("tool", node) if is_tool else Origin("agent", scope.agent_id or node)
    sources = (*visible.items, *ran.sources)
    return Provenance(origin, sources, tuple(roots)), tuple(visible.items.values())


def _messages_of_graph() -> list[Any]:
    """Return the messages of the graph that runs around this call, as they were before."""
    try:
        return messages_in(_langchain.read_channel("messages", fresh=False))
    except BackendUnavailable:  # a graph without messages
        return []


def _is_recorded(memory: TieredMemory, output: NodeOutput, activity: StepActivity) -> bool:
    """Return whether something inside the node has recorded the same text already."""
    if not activity.recorded:
        return False
    stored_hash = hash_of(memory.parts.redacted(mended(output.text)))
    return activity.has_recorded(memory.parts.stores.quarantine, stored_hash)


def _key(scope: MemoryScope, step: GraphStep, output: NodeOutput) -> str | None:
    """Return what is the same when a step is repeated, and different in another step."""
    return f"{scope.session_id or ''}:{step.path}:{hash_of(output.text)}" if step.path else None


N = TypeVar("N")
_MARK: Final = "__memoryware_recording__"
_INNER: Final = "__memoryware_inner__"
_LAYERS: Final[tuple[Layer, ...]] = ("quarantine", "working")


@overload
def remember(
    node: N,
    *,
    memory: TieredMemory | None = None,
    role: Role | None = None,
    content: Content = KEYS,
    record: RoleRules | Sequence[Layer] | None = None,
    scope: MemoryScope | str | None = None,
    group_keys: Sequence[str] = GROUP_KEYS,
    state_group: str | None = None,
    inside_tools: Sequence[str] = (),
    attachments: Attachments = "outside",
) -> N: ...


@overload
def remember(
    node: None = None,
    *,
    memory: TieredMemory | None = None,
    role: Role | None = None,
    content: Content = KEYS,
    record: RoleRules | Sequence[Layer] | None = None,
    scope: MemoryScope | str | None = None,
    group_keys: Sequence[str] = GROUP_KEYS,
    state_group: str | None = None,
    inside_tools: Sequence[str] = (),
    attachments: Attachments = "outside",
) -> Callable[[N], N]: ...


def remember(
    node: Any = None,
    *,
    memory: TieredMemory | None = None,
    role: Role | None = None,
    content: Content = KEYS,
    record: RoleRules | Sequence[Layer] | None = None,
    scope: MemoryScope | str | None = None,
    group_keys: Sequence[str] = GROUP_KEYS,
    state_group: str | None = None,
    inside_tools: Sequence[str] = (),
    attachments: Attachments = "outside",
) -> Any:
    """Wrap a node so that its output is recorded once it has returned.

    Works as `remember(node, memory=...)`, `@remember(memory=...)` and `@remember`; on
    functions, async functions, Runnables and compiled graphs. What the node returns passes
    through untouched. A node that fails or waits for a person records nothing; one that is
    repeated is recorded once, and so is a text that something inside the node has recorded.

    Args:
        node: The node.
        memory: The memory; may be left to `with_memory`.
        role: The role of the node; by default that of `add_node(..., metadata={"memory_role":
            ...})`, else "agent" for an agent of `create_agent`, and "other" for the rest, which
            is only quarantined. The output of a "tool" is from outside, and that of a "user",
            such as a node that asks a person with `interrupt`, is what the user of the run said.
        content: Where its text is: keys of the update in order, or a function of the returned
            value. By default the last new message of a model, then "content" and similar keys.
            A value under a single key may be an object, and is recorded as JSON.
        record: Other rules than those of its role, or just the tiers.
        scope: Fills what the run does not say; a text is read as its group.
        group_keys: Names under which a context or config may carry the group.
        state_group: Key of the state that may name the group where the run does not. Only for
            a key that no model writes.
        inside_tools: Tools whose results are not from outside.
        attachments: How images, files and documents in messages of people are trusted: "outside"
            makes what is said after them untrusted, "user" trusts them as what the person wrote.

    Returns:
        The wrapped node, of the same kind; a decorator if no node was passed.

    Raises:
        SettingError: For an option that cannot work, or if it is not a node.
    """
    check_attachments(attachments)
    options = RecordingOptions(
        memory=memory,
        role=role_option("role", role),
        content=content,
        rules=rules_option("record", record),
        scope_options=ScopeOptions.checked(scope, group_keys, state_group),
        inside_tools=frozenset(checked_names("inside_tools", inside_tools)),
        attachments=attachments,
    )
    if node is None:
        return partial(with_recording, options=options)
    return with_recording(node, options=options)


def role_option(option: str, role: Any) -> Role | None:
    """Return an option that is a role or None.

    Raises:
        SettingError: For any other value.
    """
    roles: tuple[Role, ...] = get_args(Role)
    match = next((candidate for candidate in roles if candidate == role), None)
    if role is not None and match is None:
        raise SettingError(f"{option}={role!r}: must be one of {', '.join(roles)}")
    return match


def rules_option(option: str, record: RoleRules | Sequence[Layer] | None) -> RoleRules | None:
    """Return the rules of a node.

    Raises:
        SettingError: For a tier that outputs do not go to.
    """
    if record is None:
        return None
    rules = record if isinstance(record, RoleRules) else RoleRules(record=tuple(record))
    if not {*rules.record} <= {*_LAYERS}:
        raise SettingError(f"{option}={record!r}: outputs go to quarantine and working memory only")
    return rules


def with_recording(node: Any, *, options: RecordingOptions) -> Any:
    """Return a node that is recorded; one that is already only gets a memory if it has none."""
    recording = recording_of(node)
    if recording is not None:
        lent = recording.memory is None and options.memory is not None and hasattr(node, _INNER)
        return (
            with_recording(getattr(node, _INNER), options=replace(recording, memory=options.memory))
            if lent
            else node
        )
    if records_itself(node):
        return node
    if inspect.isgeneratorfunction(node) or inspect.isasyncgenfunction(node):
        node = RunnableLambda(node)
    if isinstance(node, Runnable):
        return _runnable(node, options)
    if not callable(node):
        raise SettingError(f"a node must be a function or a Runnable, not {type(node).__name__}")
    return _function(node, options)


def recording_of(node: Any) -> RecordingOptions | None:
    """Return how a node is recorded already, also if a graph has wrapped it; None if it is not."""
    for candidate in (node, *_langchain.functions_of(node)):
        recording = getattr(candidate, _MARK, None)
        if isinstance(recording, RecordingOptions):
            return recording
    return None


def records_itself(node: Any) -> bool:
    """Return whether a node records its own output, or never has any."""
    return getattr(node, "memory_role", None) is not None


def with_lent_memory(node: Runnable[Any, Any], memory: TieredMemory) -> Any:
    """Return a node that provides a memory to nodes inside that have none."""

    async def run(runner: Runner, state: Any, config: RunnableConfig) -> Any:
        with lending_memory(memory):
            return await runner.call(node.invoke, node.ainvoke, state, config)

    return _runnable_of(node, run)


def _function(node: Callable[..., Any], options: RecordingOptions) -> Callable[..., Any]:
    acts: Any = node
    if not inspect.isroutine(node) and not isinstance(node, partial):
        acts = node.__call__  # type: ignore[operator]  # an object that is called

    async def run(runner: Runner, *args: Any, **kwargs: Any) -> Any:
        state = args[-1] if args else None  # a method has itself before it
        result = await _run_and_record(
            options, runner, state, partial(runner.call, node, node, *args, **kwargs)
        )
        # A Runnable that a node returns is run by the graph in place of the node.
        return with_recording(result, options=options) if isinstance(result, Runnable) else result

    def call(*args: Any, **kwargs: Any) -> Any:
        return run_blocking(run(BLOCKING, *args, **kwargs))

    async def acall(*args: Any, **kwargs: Any) -> Any:
        return await run(ASYNC, *args, **kwargs)

    # LangGraph decides by the function whether a node is async, so the wrapper has to be the same.
    waits = inspect.iscoroutinefunction(node) or inspect.iscoroutinefunction(acts)
    wrapper = _like_node(acall if waits else call, node, acts)
    return _tagged(wrapper, node, options)  # type: ignore[no-any-return]


def _runnable(node: Runnable[Any, Any], options: RecordingOptions) -> Any:
    agent = _langchain.is_agent(node)
    options = replace(options, otherwise="agent") if agent else options
    watch = _langchain.watch_answers if agent else nullcontext

    async def run(runner: Runner, state: Any, config: RunnableConfig) -> Any:
        config = _with_role(config, options) if agent else config
        with watch() as is_made:
            work = partial(runner.call, node.invoke, node.ainvoke, state, config)
            return await _run_and_record(options, runner, state, work, is_made)

    return _tagged(_runnable_of(node, run), node, options)


async def _run_and_record(
    options: RecordingOptions,
    runner: Runner,
    state: Any,
    work: Callable[[], Awaitable[Any]],
    is_made: Callable[[Any], bool] | None = None,
) -> Any:
    """Run a node, and record its output, also a command that it raises to a parent graph."""
    with lending_memory(options.memory) as activity:
        try:
            result = await work()
        except Exception as error:  # goes on; a command to the graph around is no failure
            command = _langchain.command_to_parent(error)
            if command is not None:
                await record_node(
                    options, runner, NodeRun(result=command, state=state, activity=activity)
                )
            else:
                note_asked(options, state, activity)
            raise
        if not isinstance(result, Runnable):
            ran = NodeRun(result=result, state=state, activity=activity, is_made=is_made)
            await record_node(options, runner, ran)
        return result


def _runnable_of(node: Runnable[Any, Any], run: Callable[..., Coroutine[Any, Any, Any]]) -> Any:
    """Return a Runnable that runs in the place of a node."""

    def call(state: Any, config: RunnableConfig) -> Any:
        _ = node  # closed over, so that the graph around finds a graph in it
        return run_blocking(run(BLOCKING, state, config))

    async def acall(state: Any, config: RunnableConfig) -> Any:
        return await run(ASYNC, state, config)

    return _langchain.untraced(call, acall, node.get_name())


def _with_role(config: RunnableConfig, options: RecordingOptions) -> RunnableConfig:
    """Return a config with the role of the node, for an agent inside."""
    if options.role is None:
        return config
    metadata = {**(config.get("metadata") or {}), ROLE_KEY: options.role}
    return {**config, "metadata": metadata}


def _like_node(wrapper: Any, node: Any, acts: Any) -> Any:
    """Give a wrapper the name, signature and annotations of a node, which the graph reads."""
    functools.update_wrapper(wrapper, acts)
    wrapper.__name__ = getattr(node, "__name__", type(node).__name__)
    if not hasattr(acts, "__annotations__"):
        wrapper.__annotations__ = {}
    return wrapper


def _tagged(wrapper: Any, node: Any, options: RecordingOptions) -> Any:
    setattr(wrapper, _MARK, options)
    setattr(wrapper, _INNER, node)
    return wrapper


B = TypeVar("B")
# Where a node of a builder keeps what it was before.
_BEFORE: Final = "__memoryware_before__"


def with_memory(
    builder: B,
    memory: TieredMemory,
    *,
    roles: Mapping[str, Role | RoleRules] | None = None,
    content: Content = KEYS,
    scope: MemoryScope | str | None = None,
    group_keys: Sequence[str] = GROUP_KEYS,
    state_group: str | None = None,
    inside_tools: Sequence[str] = (),
    attachments: Attachments = "outside",
) -> B:
    """Record every node of a `StateGraph` from now on, and return the builder.

    Call it after all nodes are added and before `compile`. A second call replaces the options of
    the first, and keeps the roles of nodes that it does not name; nothing is recorded twice. A
    node that `remember` has wrapped keeps its own rules, and gets this memory if it has none.
    Nodes for recall and for fact checks record themselves, or nothing.

    Args:
        builder: A `StateGraph`.
        memory: The memory.
        roles: The role of each node, by its name, or rules of its own. A node that is not named
            here has the role of its metadata, else the default of `remember`.
        content: Where the text of an update is, as for `remember`.
        scope: Fills what a run does not say.
        group_keys: Names under which a context or config may carry the group.
        state_group: Key of the state that may name the group, as for `remember`.
        inside_tools: Tools whose results are not from outside.
        attachments: How images, files and documents in messages of people are trusted: "outside"
            makes what is said after them untrusted, "user" trusts them as what the person wrote.

    Returns:
        The builder.

    Raises:
        SettingError: If it is not a `StateGraph`, or for an unknown node or role.
    """
    specs = _langchain.node_specs(builder)
    if specs is None:
        raise SettingError("with_memory needs a StateGraph that is not compiled yet")
    check_attachments(attachments)
    options = RecordingOptions(
        memory=memory,
        content=content,
        scope_options=ScopeOptions.checked(scope, group_keys, state_group),
        inside_tools=frozenset(checked_names("inside_tools", inside_tools)),
        attachments=attachments,
    )
    for name in roles or {}:
        if name not in specs:
            there = ", ".join(specs)
            raise SettingError(f"roles: unknown node {name!r}; the graph has {there}")
    recordings = {
        name: _options_of_node(name, spec, roles or {}, options) for name, spec in specs.items()
    }
    for name, spec in specs.items():
        node = getattr(spec.runnable, _BEFORE, spec.runnable)
        if records_itself(node):
            continue
        if recording_of(node) is not None:
            wrapped = with_lent_memory(node, memory)
        else:
            wrapped = with_recording(node, options=recordings[name])
        setattr(wrapped, _BEFORE, node)
        spec.runnable = wrapped
    return builder


def _options_of_node(
    name: str, spec: Any, roles: Mapping[str, Role | RoleRules], options: RecordingOptions
) -> RecordingOptions:
    """Return how a node is recorded: by rules of its own, or by the part that it plays."""
    own, metadata_role = roles.get(name), (spec.metadata or {}).get(ROLE_KEY)
    earlier = recording_of(spec.runnable) if hasattr(spec.runnable, _BEFORE) else None
    if own is None and earlier is not None:
        return replace(options, role=earlier.role, rules=earlier.rules)
    if isinstance(own, RoleRules):
        options = replace(options, rules=rules_option(f"roles[{name!r}]", own))
        own = None
    if own is None:
        return replace(options, role=role_option(f"{ROLE_KEY} of the node {name!r}", metadata_role))
    return replace(options, role=role_option(f"roles[{name!r}]", own))

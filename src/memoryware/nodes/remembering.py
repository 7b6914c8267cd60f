"""`remember`: a node whose output is recorded."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar, get_args, overload

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from memoryware import _langchain
from memoryware._twins import Via, blocking, finish, native
from memoryware.errors import SettingError
from memoryware.nodes._recording import NodeRun, RecordingOptions, note_asked, record, running
from memoryware.nodes._who import ScopeOptions
from memoryware.scope import GROUP_KEYS, MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import (
    KEYS,
    ROLE_KEY,
    Attachments,
    Content,
    RoleRules,
    check_attachments,
)
from memoryware.tiers.model import Role
from memoryware.tiers.values import Layer

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
    """Return a node that does the same, and whose output is recorded once it has returned.

    Works as `remember(node, memory=...)`, `@remember(memory=...)` and `@remember`; on
    functions, async functions, Runnables and compiled graphs. What the node returns passes
    through untouched. A node that fails or waits for a person records nothing; one that is
    repeated is recorded once, and so is a text that something inside the node has recorded.

    Args:
        node: The node.
        memory: Where to; may be left to `with_memory`.
        role: The part that it plays; by default what `add_node(..., metadata={"memory_role":
            ...})` says, else "agent" for what `create_agent` made, and "other" for the rest,
            which is quarantined and nothing more. What a "tool" says is from outside.
        content: Where its text is: keys of the update in order, or a function of what it
            returned. By default the last new message of a model, then "content" and its like.
            What stands under one key alone may be an object, and is recorded as JSON.
        record: Other rules than those of its role, or just the tiers.
        scope: Fills what the run does not say; a text is read as its group.
        group_keys: Names under which a context or config may carry the group.
        state_group: Key of the state that may name the group where the run does not. Only for
            a key that no model writes.
        inside_tools: Tools whose results are not from outside.
        attachments: How images, files and documents in messages of people are trusted: "outside"
            makes what is said after them untrusted, "user" trusts them as what the person wrote.

    Raises:
        SettingError: For an option that cannot work, or what is no node.
    """
    check_attachments(attachments)
    options = RecordingOptions(
        memory=memory,
        role=role_given("role", role),
        content=content,
        rules=rules_given("record", record),
        scope_options=ScopeOptions.checked(scope, group_keys, state_group),
        inside_tools=frozenset(inside_tools),
        attachments=attachments,
    )
    if node is None:
        return partial(recorded, options=options)
    return recorded(node, options=options)


def role_given(option: str, role: Any) -> Role | None:
    """Return a role.

    Raises:
        SettingError: If it is none.
    """
    known: tuple[Role, ...] = get_args(Role)
    found = next((one for one in known if one == role), None)
    if role is not None and found is None:
        raise SettingError(f"{option}={role!r}: must be one of {', '.join(known)}")
    return found


def rules_given(option: str, record: RoleRules | Sequence[Layer] | None) -> RoleRules | None:
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


def recorded(node: Any, *, options: RecordingOptions) -> Any:
    """Return a node that is recorded; one that is already only gets a memory if it has none."""
    known = recording_of(node)
    if known is not None:
        lent = known.memory is None and options.memory is not None and hasattr(node, _INNER)
        return (
            recorded(getattr(node, _INNER), options=replace(known, memory=options.memory))
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
    """Return how a node is recorded already, if it is: by itself, or as what a graph made of it."""
    for one in (node, *_langchain.functions_of(node)):
        found = getattr(one, _MARK, None)
        if isinstance(found, RecordingOptions):
            return found
    return None


def records_itself(node: Any) -> bool:
    """Say whether a node records what it says, or never says anything of its own."""
    return getattr(node, "memory_role", None) is not None


def with_lent_memory(node: Runnable[Any, Any], memory: TieredMemory) -> Any:
    """Return a node inside which a memory is lent to what is to be recorded and has none."""

    async def run(via: Via, state: Any, config: RunnableConfig) -> Any:
        with running(memory):
            return await via(node.invoke, node.ainvoke, state, config)

    return _twins_of(node, run)


def _function(node: Callable[..., Any], options: RecordingOptions) -> Callable[..., Any]:
    acts: Any = node
    if not inspect.isroutine(node) and not isinstance(node, partial):
        acts = node.__call__  # type: ignore[operator]  # an object that is called

    async def run(via: Via, *args: Any, **kwargs: Any) -> Any:
        state = args[-1] if args else None  # a method has itself before it
        result = await _ran(options, via, state, partial(via, node, node, *args, **kwargs))
        # What is a Runnable itself is run by the graph in place of its node.
        return recorded(result, options=options) if isinstance(result, Runnable) else result

    def now(*args: Any, **kwargs: Any) -> Any:
        return finish(run(blocking, *args, **kwargs))

    async def later(*args: Any, **kwargs: Any) -> Any:
        return await run(native, *args, **kwargs)

    waits = inspect.iscoroutinefunction(node) or inspect.iscoroutinefunction(acts)
    wrapper = _dressed(later if waits else now, node, acts)
    return _marked(wrapper, node, options)  # type: ignore[no-any-return]


def _runnable(node: Runnable[Any, Any], options: RecordingOptions) -> Any:
    agent = _langchain.is_agent(node)
    options = replace(options, otherwise="agent") if agent else options
    watch = _langchain.watch_answers if agent else nullcontext

    async def run(via: Via, state: Any, config: RunnableConfig) -> Any:
        config = _with_role(config, options) if agent else config
        with watch() as is_made:
            work = partial(via, node.invoke, node.ainvoke, state, config)
            return await _ran(options, via, state, work, is_made)

    return _marked(_twins_of(node, run), node, options)


async def _ran(
    options: RecordingOptions,
    via: Via,
    state: Any,
    work: Callable[[], Awaitable[Any]],
    is_made: Callable[[Any], bool] | None = None,
) -> Any:
    """Run a node, and record what it returns, or hands up to a graph around by raising it."""
    with running(options.memory) as activity:
        try:
            result = await work()
        except Exception as error:  # goes on; a command to the graph around is no failure
            command = _langchain.command_to_parent(error)
            if command is not None:
                await record(options, via, NodeRun(result=command, state=state, activity=activity))
            else:
                note_asked(options, state, activity)
            raise
        if not isinstance(result, Runnable):
            ran = NodeRun(result=result, state=state, activity=activity, is_made=is_made)
            await record(options, via, ran)
        return result


def _twins_of(node: Runnable[Any, Any], run: Callable[..., Coroutine[Any, Any, Any]]) -> Any:
    """Return a Runnable that runs in the place of a node."""

    def call(state: Any, config: RunnableConfig) -> Any:
        _ = node  # closed over, so that the graph around finds a graph in it
        return finish(run(blocking, state, config))

    async def acall(state: Any, config: RunnableConfig) -> Any:
        return await run(native, state, config)

    return _langchain.untraced(call, acall, node.get_name())


def _with_role(config: RunnableConfig, options: RecordingOptions) -> RunnableConfig:
    """Return a config that tells an agent inside what part it plays."""
    if options.role is None:
        return config
    metadata = {**(config.get("metadata") or {}), ROLE_KEY: options.role}
    return {**config, "metadata": metadata}


def _dressed(wrapper: Any, node: Any, acts: Any) -> Any:
    """Give a wrapper the name, signature and annotations of a node, which the graph reads."""
    functools.update_wrapper(wrapper, acts)
    wrapper.__name__ = getattr(node, "__name__", type(node).__name__)
    if not hasattr(acts, "__annotations__"):
        wrapper.__annotations__ = {}
    return wrapper


def _marked(wrapper: Any, node: Any, options: RecordingOptions) -> Any:
    setattr(wrapper, _MARK, options)
    setattr(wrapper, _INNER, node)
    return wrapper

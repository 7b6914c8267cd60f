"""Recording what a node has said, after it has returned and not before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from memoryware import _langchain
from memoryware._twins import Via
from memoryware.errors import BackendUnavailable, EntryRefused, MemorywareError, SettingError
from memoryware.events import emit, logger
from memoryware.nodes._lineage import GraphStep, StepTrace, StepView, conversations_of
from memoryware.nodes._who import ScopeOptions
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import StepActivity, track_activity
from memoryware.tiers.actors import declared_origins
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import (
    KEYS,
    ROLES,
    Attachments,
    Content,
    NodeOutput,
    RoleRules,
    artifact_ids,
    attachment_origins,
    content_of,
    has_user,
    messages_in,
    outside_tools,
    role_in,
)
from memoryware.tiers.model import Origin, Provenance, Role, hash_of
from memoryware.tiers.screening import mended
from memoryware.tiers.thread_history import position_in, settle_thread
from memoryware.tiers.values import ContextItem, Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingOptions:
    """How a node is recorded; see `remember`.

    Attributes:
        memory: Where to; None for that of the graph around.
        role: The part that the node plays; None for what its metadata say.
        otherwise: Its part where they do not say either.
        content: Where its text is.
        rules: Other rules than those of its role.
        who: How it is found out who asks.
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
    """What a node did.

    Attributes:
        result: What it returned.
        state: What it was given.
        activity: What happened to memory inside the step.
        is_made: Says whether a chat model made a message; None where nobody has watched.
        roots: Where it has asked besides.
        sources: Ids of entries that it has looked at.
    """

    result: Any
    state: Any = None
    activity: StepActivity = field(default_factory=StepActivity)
    is_made: Callable[[Any], bool] | None = None
    roots: tuple[Origin, ...] = ()
    sources: tuple[str, ...] = ()


_MEMORY: Final[ContextVar[TieredMemory | None]] = ContextVar("memoryware_graph", default=None)


@contextmanager
def running(memory: TieredMemory | None) -> Iterator[StepActivity]:
    """Lend a memory to what runs inside, and notice what happens to memory there."""
    reset = _MEMORY.set(memory or _MEMORY.get())
    try:
        with track_activity() as activity:
            yield activity
    finally:
        _MEMORY.reset(reset)


async def record(options: RecordingOptions, via: Via, ran: NodeRun) -> None:
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
    tiers = (options.rules or ROLES[role]).record
    scope = options.scope_options.scope_of_run(memory, ran.state)
    messages = [*_messages_of_graph(), *messages_in(ran.state)]
    raises = memory.on_error == "raise"
    await settle_thread(memory.parts.on(via), scope, messages, may_raise=raises)
    try:
        said = content_of(ran.result, options.content, messages_in(ran.state)) if tiers else None
        if said is not None:
            await _recorded(via, memory, said, _RecordedOutput(options, ran, scope, role, tiers))
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


def note_asked(options: RecordingOptions, state: Any, activity: StepActivity) -> None:
    """Keep in mind what a step that waits or has failed was asked and shown, and by whom.

    What is said when somebody else takes it up again is made of that as well.
    """
    memory = options.memory or _MEMORY.get()
    if memory is None:
        return
    scope, step = (
        options.scope_options.scope_of_run(memory, state),
        GraphStep.of(_langchain.current_config()),
    )
    asked = has_user([*_messages_of_graph(), *messages_in(state)])
    roots = frozenset({Origin("user", scope.user_id or "")} if asked else ())
    conversations_of(memory).note(scope, StepTrace(step, activity.recalled, roots))


@dataclass(frozen=True, slots=True)
class _RecordedOutput:
    """An output of a node, and all that matters for recording it."""

    options: RecordingOptions
    ran: NodeRun
    scope: MemoryScope
    role: Role
    tiers: tuple[Layer, ...]


async def _recorded(
    via: Via, memory: TieredMemory, said: NodeOutput, output: _RecordedOutput
) -> None:
    ran, scope, role, tiers = output.ran, output.scope, output.role, output.tiers
    step = GraphStep.of(_langchain.current_config())
    provenance, shown = await _lineage(via, memory, output, step)
    trace = StepTrace(step, ran.activity.recalled, frozenset(provenance.roots))
    conversations_of(memory).note(scope, trace)
    if _is_recorded(memory, said, ran.activity):
        return
    metadata: Mapping[str, Any] = said.metadata
    if ran.is_made is not None and said.message is not None and not ran.is_made(said.message):
        tiers = tuple(one for one in tiers if one == "quarantine")
        metadata = {**metadata, "made_by": "middleware"}
    await via(
        memory.record,
        memory.arecord,
        said.text,
        scope,
        {**metadata, **position_in(said.message)},
        role=role,
        provenance=provenance,
        key=_key(scope, step, said),
        shown=shown,
        tiers=tiers,
    )


async def _lineage(
    via: Via, memory: TieredMemory, output: _RecordedOutput, step: GraphStep
) -> tuple[Provenance, tuple[ContextItem, ...]]:
    """Return who said it, of what people, tools and memory had said before, and what it saw."""
    ran, scope = output.ran, output.scope
    update = getattr(ran.result, "update", None) if hasattr(ran.result, "goto") else ran.result
    messages = [*_messages_of_graph(), *messages_in(ran.state), *messages_in(update)]
    shown = tuple(dict.fromkeys(id_ for one in messages for id_ in artifact_ids(one) or ()))
    look = StepView(step, ran.state, shown)
    seen = await conversations_of(memory).before(via, memory, scope, look)
    seen += StepTrace(items=ran.activity.recalled)
    tools = outside_tools(messages, inside=output.options.inside_tools)
    roots = {*seen.every_root(), *ran.roots, *(Origin("tool", one) for one in tools)}
    further = [*declared_origins(), *attachment_origins(messages, output.options.attachments)]
    roots |= {Origin(one.kind, memory.parts.redacted(one.name)) for one in further}
    if has_user(messages):
        roots.add(Origin("user", scope.user_id or ""))
    node = scope.node_id or ""
    is_tool = output.role == "tool"
    origin = Origin("tool", node) if is_tool else Origin("agent", scope.agent_id or node)
    sources = (*seen.items, *ran.sources)
    return Provenance(origin, sources, tuple(roots)), tuple(seen.items.values())


def _messages_of_graph() -> list[Any]:
    """Return the messages of the graph that runs around this call, as they were before."""
    try:
        return messages_in(_langchain.read_channel("messages", fresh=False))
    except BackendUnavailable:  # a graph without messages
        return []


def _is_recorded(memory: TieredMemory, said: NodeOutput, activity: StepActivity) -> bool:
    """Say whether something inside the node has recorded the same text already."""
    if not activity.recorded:
        return False
    kept = hash_of(memory.parts.redacted(mended(said.text)))
    return activity.has_recorded(memory.parts.stores.quarantine, kept)


def _key(scope: MemoryScope, step: GraphStep, said: NodeOutput) -> str | None:
    """Return what is the same when a step is repeated, and different in another step."""
    return f"{scope.session_id or ''}:{step.path}:{hash_of(said.text)}" if step.path else None

"""Recording what a node has said, after it has returned and not before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

from langchain_core.messages import BaseMessage, HumanMessage

from memoryware import _langchain
from memoryware._twins import Via
from memoryware.errors import BackendUnavailable, SettingError
from memoryware.events import emit, logger
from memoryware.nodes._content import KEYS, Content, Said, messages_in, said_in, tools_in
from memoryware.scope import MemoryScope
from memoryware.tiers.ingress.echo import borrowed
from memoryware.tiers.records import Origin, Provenance, Role, hash_of
from memoryware.tiers.roles import ROLES, RoleRules, role_in
from memoryware.tiers.service import TieredMemory
from memoryware.tiers.values import ContextItem

_KEPT: Final = 256
"""Conversations of which what was shown is kept in mind, for each memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """How a node is recorded; see `remember`."""

    memory: TieredMemory | None = None
    role: Role | None = None
    content: Content = KEYS
    rules: RoleRules | None = None
    scope: MemoryScope = field(default_factory=MemoryScope)
    inside_tools: frozenset[str] = frozenset()
    searched: tuple[str, ...] = ()

    def with_memory(self, memory: TieredMemory) -> Recording:
        """Return this with a memory where it has none."""
        return self if self.memory is not None else replace(self, memory=memory)


async def record(how: Recording, via: Via, result: Any) -> None:
    """Record what a node returned, once, and never end the graph unless that is wanted.

    Raises:
        SettingError: If no memory was given.
    """
    if how.memory is None:
        raise SettingError(
            "remember: pass memory=..., or give the graph one: with_memory(builder, memory)"
        )
    memory, config = how.memory, _langchain.current_config()
    role = how.role or role_in(config, "other")
    rules = how.rules or ROLES[role]
    said = said_in(result, how.content)
    if said is None or not rules.record:
        return
    scope = scope_in(how.scope, config)
    shown = shown_to(memory, scope)
    try:
        await via(
            memory.record,
            memory.arecord,
            said.text,
            scope,
            said.metadata,
            role=role,
            provenance=_provenance(how, said, scope, result, shown),
            key=_key(config, scope, said),
            shown=shown,
            tiers=rules.record,
        )
    except Exception as error:
        if memory.on_error == "raise":
            raise
        kind = type(error).__name__
        logger.warning("memory could not keep the output of a node (%s); the graph goes on", kind)
        emit(memory.parts.teller(scope), "rejected", tier="quarantine", reason="store_failed")


def scope_in(given: MemoryScope, config: Any = None) -> MemoryScope:
    """Return who asks in the graph around this call; what it does not say is as given."""
    known = config or _langchain.current_config()
    said = MemoryScope.of(_langchain.current_runtime(), known)
    missing = {
        one.name: getattr(given, one.name)
        for one in fields(MemoryScope)
        if not getattr(said, one.name)
    }
    return replace(said, **missing)


def _provenance(
    how: Recording, said: Said, scope: MemoryScope, result: Any, shown: tuple[ContextItem, ...]
) -> Provenance:
    """Return who said it: the agent or node, of what people, tools and memory had said before."""
    seen = [*_state_messages(), *messages_in(getattr(result, "update", result))]
    roots = [
        Origin("tool", one) for one in sorted({*tools_in(seen), *how.searched} - how.inside_tools)
    ]
    if any(isinstance(one, HumanMessage) for one in seen):
        roots.append(Origin("user", scope.user_id or ""))
    used = borrowed(said.text, shown)
    roots += [root for one in used for root in one.provenance.roots]
    name = scope.agent_id or scope.node_id or ""
    return Provenance(Origin("agent", name), tuple(one.id for one in used), tuple(roots))


def _state_messages() -> list[BaseMessage]:
    """Return the messages of the graph that runs around this call, as they were before."""
    try:
        return messages_in(_langchain.read_channel("messages", fresh=False))
    except BackendUnavailable:  # a graph without messages
        return []


def _key(config: Mapping[str, Any], scope: MemoryScope, said: Said) -> str | None:
    """Return what is the same when a step is repeated, and different in another step."""
    space = ((config or {}).get("metadata") or {}).get("langgraph_checkpoint_ns")
    return f"{scope.session_id or ''}:{space}:{hash_of(said.text)}" if space else None


# What memory has shown in a conversation.

_shown: WeakKeyDictionary[Any, dict[Any, tuple[ContextItem, ...]]] = WeakKeyDictionary()
_lock = Lock()


def note_shown(memory: TieredMemory, scope: MemoryScope, items: list[ContextItem]) -> None:
    """Keep in mind what a conversation was shown, to tell an echo from something new."""
    with _lock:
        known = _shown.setdefault(memory, {})
        place = scope.caller, scope.session_id
        before = known.pop(place, ())
        merged = {one.id: one for one in (*before, *items)}
        known[place] = tuple(merged.values())[-memory.limits.working_entries :]
        while len(known) > _KEPT:
            known.pop(next(iter(known)))


def shown_to(memory: TieredMemory, scope: MemoryScope) -> tuple[ContextItem, ...]:
    """Return what a conversation was shown."""
    with _lock:
        return _shown.get(memory, {}).get((scope.caller, scope.session_id), ())

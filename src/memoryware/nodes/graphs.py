"""`with_memory`: every node of a graph is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from memoryware import _langchain
from memoryware.errors import SettingError
from memoryware.nodes._recording import RecordingOptions
from memoryware.nodes._who import ScopeOptions
from memoryware.nodes.remembering import (
    recorded,
    recording_of,
    records_itself,
    role_given,
    rules_given,
    with_lent_memory,
)
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

B = TypeVar("B")
_BEFORE: Final = "__memoryware_before__"
"""Where a node of a builder keeps what it was before."""


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

    Call it after all nodes are added and before `compile`. Called again it records once: the new
    call holds, and roles of nodes that it does not name stay. A node that `remember` has made
    keeps its own rules, and gets this memory if it has none. Nodes for recall and for checks of
    facts record themselves, or nothing.

    Args:
        builder: A `StateGraph`.
        memory: Where to.
        roles: The part that each node plays, by its name, or rules of its own. A node that is
            not named here plays what its metadata say, else what `remember` would take.
        content: Where the text of an update is, as for `remember`.
        scope: Fills what a run does not say.
        group_keys: Names under which a context or config may carry the group.
        state_group: Key of the state that may name the group, as for `remember`.
        inside_tools: Tools whose results are not from outside.
        attachments: How images, files and documents in messages of people are trusted: "outside"
            makes what is said after them untrusted, "user" trusts them as what the person wrote.

    Raises:
        SettingError: For what is no builder, a node that is not there, or a role that is none.
    """
    specs = _langchain.node_specs(builder)
    if specs is None:
        raise SettingError("with_memory needs a StateGraph that is not compiled yet")
    check_attachments(attachments)
    options = RecordingOptions(
        memory=memory,
        content=content,
        scope_options=ScopeOptions.checked(scope, group_keys, state_group),
        inside_tools=frozenset(inside_tools),
        attachments=attachments,
    )
    for name in roles or {}:
        if name not in specs:
            there = ", ".join(specs)
            raise SettingError(f"roles: there is no node {name!r}; there are {there}")
    hows = {name: _of_node(name, spec, roles or {}, options) for name, spec in specs.items()}
    for name, spec in specs.items():
        node = getattr(spec.runnable, _BEFORE, spec.runnable)
        if records_itself(node):
            continue
        if recording_of(node) is not None:
            made = with_lent_memory(node, memory)
        else:
            made = recorded(node, options=hows[name])
        setattr(made, _BEFORE, node)
        spec.runnable = made
    return builder


def _of_node(
    name: str, spec: Any, roles: Mapping[str, Role | RoleRules], options: RecordingOptions
) -> RecordingOptions:
    """Return how a node is recorded: by rules of its own, or by the part that it plays."""
    checked, said = roles.get(name), (spec.metadata or {}).get(ROLE_KEY)
    earlier = recording_of(spec.runnable) if hasattr(spec.runnable, _BEFORE) else None
    if checked is None and earlier is not None:
        return replace(options, role=earlier.role, rules=earlier.rules)
    if isinstance(checked, RoleRules):
        options = replace(options, rules=rules_given(f"roles[{name!r}]", checked))
        checked = None
    if checked is None:
        return replace(options, role=role_given(f"{ROLE_KEY} of the node {name!r}", said))
    return replace(options, role=role_given(f"roles[{name!r}]", checked))

"""`with_memory`: every node of a graph is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from memoryware import _langchain
from memoryware.errors import SettingError
from memoryware.nodes._content import KEYS, Content
from memoryware.nodes._recording import Recording
from memoryware.nodes.fact_check import FactCheckNode
from memoryware.nodes.remembering import recorded
from memoryware.nodes.retrieval import MemoryRetrievalNode
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import scope_of
from memoryware.tiers.records import Role
from memoryware.tiers.roles import ROLE_KEY
from memoryware.tiers.service import TieredMemory

B = TypeVar("B")


def with_memory(
    builder: B,
    memory: TieredMemory,
    *,
    roles: Mapping[str, Role] | None = None,
    content: Content = KEYS,
    scope: MemoryScope | str | None = None,
) -> B:
    """Record every node of a `StateGraph` from now on, and return the builder.

    Call it after all nodes are added and before `compile`. A node that `remember` has made
    keeps its own rules. Called twice it records once. Nodes for recall and for checks of facts
    record themselves, or nothing.

    Args:
        builder: A `StateGraph`.
        memory: Where to.
        roles: The part that each node plays, by its name; "other" for those that are not named
            and whose metadata do not say. Agents made by `create_agent` with a
            `TieredMemoryMiddleware` record themselves: give them "memory_retrieval" here.
        content: Where the text of an update is, as for `remember`.
        scope: Fills what a run does not say.

    Raises:
        SettingError: For what is no builder, a node that is not there, or a role that is none.
    """
    specs = _langchain.node_specs(builder)
    if specs is None:
        raise SettingError("with_memory needs a StateGraph that is not compiled yet")
    for name, role in (roles or {}).items():
        if name not in specs:
            there = ", ".join(specs)
            raise SettingError(f"roles: there is no node {name!r}; there are {there}")
        if role not in get_args(Role):
            possible = ", ".join(get_args(Role))
            raise SettingError(f"roles[{name!r}]={role!r}: must be one of {possible}")
    for name, spec in specs.items():
        if isinstance(spec.runnable, MemoryRetrievalNode | FactCheckNode):
            continue
        said = (roles or {}).get(name) or _said(spec)
        how = Recording(memory=memory, role=said, content=content, scope=scope_of(scope))
        spec.runnable = recorded(spec.runnable, how=how)
    return builder


def _said(spec: Any) -> Role | None:
    """Return the role that the metadata of a node say."""
    said = (spec.metadata or {}).get(ROLE_KEY)
    roles: tuple[Role, ...] = get_args(Role)
    return next((one for one in roles if one == said), None)

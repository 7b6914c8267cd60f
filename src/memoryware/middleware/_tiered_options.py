"""The options of tiered memory in an agent, and what they mean for a role and a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memoryware.errors import SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers._run_options import scope_of_run
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import ROLES, Attachments, attachment_origins, role_in
from memoryware.tiers.model import Role
from memoryware.tiers.provenance import Origin, Trust
from memoryware.tiers.recall.query import RecallLayer
from memoryware.tiers.values import Layer

Retrieve = Literal["run", "call"]
"""When memory is asked: once in each run, or before each model call."""
Record = Literal["final", "each_model_call"]
"""What is recorded: the answer with which a run ends, or every answer."""
BlockPlacement = Literal["message", "system"]
"""The position of the block: before the newest message of a person, or in the system message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TieredOptions:
    """The options of a `TieredMemoryMiddleware`; see there for what each means."""

    memory: TieredMemory
    name: str
    retrieve: Retrieve | None
    record: Record | None
    placement: BlockPlacement
    role: Role
    record_tools: bool
    record_structured: bool
    inside: frozenset[str]
    attachments: Attachments
    own: frozenset[str]
    score_threshold: float | None
    max_results: int | None
    min_trust: Trust | None
    scope: MemoryScope
    group_keys: tuple[str, ...]

    def role_in(self, config: Any) -> Role:
        """Return the role in a run: that of the graph node, if it has one, else the option."""
        return self.role if self.role != "agent" else role_in(config, self.role)

    def tiers_of(self, role: Role) -> tuple[Layer, ...]:
        """Return which tiers an answer of this role is recorded in; none for some roles."""
        return ROLES[role].record

    def layers_of(self, role: Role) -> tuple[RecallLayer, ...]:
        """Return which layers are recalled for this role; none for some roles."""
        return ROLES[role].recall

    def injects(self, role: Role) -> bool:
        """Return whether memory is put before the model of this role unasked."""
        return self.retrieve is not None and ROLES[role].inject

    def attachment_origins(self, messages: Sequence[Any]) -> list[Origin]:
        """Return the origins of what people have attached to messages."""
        return attachment_origins(messages, self.attachments)

    def max_results_of(self, role: Role) -> int | None:
        """Return how many items are recalled at most."""
        few = role == "fact_check" and self.max_results is None
        return self.memory.limits.fact_memories if few else self.max_results

    def scope_in(self, runtime: Any, config: Any) -> MemoryScope:
        """Return on whose behalf a run acts, filled by the option where the run does not say."""
        scope = scope_of_run(runtime, config, default=self.scope, group_keys=self.group_keys)
        if scope.node_id and scope.node_id.startswith(f"{self.name}."):
            # a hook is a node of its own, and records what the node of the model has made
            return replace(scope, node_id=self.scope.node_id or "model")
        return scope


def check_memory(memory: Any) -> TieredMemory:
    """Return the memory.

    Raises:
        SettingError: If it is not a `TieredMemory`.
    """
    if isinstance(memory, TieredMemory):
        return memory
    kind = type(memory).__name__
    raise SettingError(
        f'memory must be a TieredMemory, such as TieredMemory.open("sqlite:///memory.db"), and this'
        f" is {kind}"
    )

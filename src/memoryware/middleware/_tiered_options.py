"""What a `TieredMemoryMiddleware` was asked to do, and what follows for one run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from memoryware.errors import SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import ROLES, Attachments, attachment_origins, role_in
from memoryware.tiers.model import Origin, Role, Trust
from memoryware.tiers.values import Layer

Retrieve = Literal["run", "call"]
"""When memory is asked: once in each run, or before each model call."""
Record = Literal["final", "each_model_call"]
"""What is recorded: the answer with which a run ends, or every answer."""
BlockPlacement = Literal["message", "system"]
"""Where the block stands: before the newest words of a person, or in the system message."""
Source = Literal["hot", "cold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TieredOptions:
    """The options of one middleware; see there for what each means."""

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
        """Return the role in a run: that of the graph node, if it says one, else the given one."""
        return self.role if self.role != "agent" else role_in(config, self.role)

    def tiers_of(self, role: Role) -> tuple[Layer, ...]:
        """Return where an answer of this role goes; nothing for one that is not recorded."""
        return ROLES[role].record

    def sources_of(self, role: Role) -> tuple[Source, ...]:
        """Return what may be recalled for this role; nothing for one that recalls nothing."""
        return ROLES[role].recall

    def injects(self, role: Role) -> bool:
        """Say whether what is recalled for this role is put before its model unasked."""
        return self.retrieve is not None and ROLES[role].inject

    def attachment_origins(self, messages: Sequence[Any]) -> list[Origin]:
        """Return the origins of what people have attached to messages."""
        return attachment_origins(messages, self.attachments)

    def results_of(self, role: Role) -> int | None:
        """Return how many items are recalled at most."""
        few = role == "fact_check" and self.max_results is None
        return self.memory.limits.fact_memories if few else self.max_results

    def scope_in(self, runtime: Any, config: Any) -> MemoryScope:
        """Return who asks in a run, filled by the given scope where the run does not say."""
        said = MemoryScope.of(runtime, config, group_keys=self.group_keys)
        missing = {
            one.name: getattr(self.scope, one.name)
            for one in fields(MemoryScope)
            if not getattr(said, one.name)
        }
        if said.node_id and said.node_id.startswith(f"{self.name}."):
            missing["node_id"] = self.scope.node_id or "model"  # a hook speaks of what it made
        return replace(said, **missing)


def check_choices(**given: tuple[object, Any]) -> None:
    """Refuse an option whose value is not one of its choices.

    Raises:
        SettingError: Naming the option, the value and the choices.
    """
    for option, (value, choices) in given.items():
        if value not in choices:
            possible = ", ".join(map(repr, choices))
            raise SettingError(f"{option}={value!r}: must be one of {possible}")


def names_in(option: str, given: Collection[Any]) -> tuple[str, ...]:
    """Return a list of names.

    Raises:
        SettingError: If it is one text, or holds what is no name.
    """
    if isinstance(given, str) or not all(isinstance(one, str) and one for one in given):
        raise SettingError(f"{option}={given!r}: must be a list of names")
    return tuple(given)


def check_numbers(score_threshold: float | None, max_results: int | None) -> None:
    """Refuse a threshold that is no cosine, and a negative number of results.

    Raises:
        SettingError: Naming the option and the value.
    """
    if score_threshold is not None and not -1 <= score_threshold <= 1:
        raise SettingError(f"score_threshold={score_threshold!r}: must be from -1 to 1, or None")
    if max_results is not None and max_results < 0:
        raise SettingError(f"max_results={max_results!r}: must be at least 0, or None")


def scope_given(scope: MemoryScope | str | None) -> MemoryScope:
    """Return the scope that fills what a run does not say; a text is read as its group.

    Raises:
        SettingError: For anything else.
    """
    if isinstance(scope, MemoryScope):
        return scope
    if scope is None or isinstance(scope, str):
        return MemoryScope(group_id=scope or None)
    raise SettingError(f"scope={scope!r}: must be a MemoryScope, the name of a group, or None")


def memory_given(memory: Any) -> TieredMemory:
    """Return the memory.

    Raises:
        SettingError: If it is none.
    """
    if isinstance(memory, TieredMemory):
        return memory
    kind = type(memory).__name__
    raise SettingError(
        f'memory must be a TieredMemory, such as TieredMemory.open("sqlite:///memory.db"), and this'
        f" is {kind}"
    )


def group_names(given: Sequence[str]) -> tuple[str, ...]:
    """Return the names under which a run may carry its group.

    Raises:
        SettingError: If there are none.
    """
    names = names_in("group_keys", given)
    if not names:
        raise SettingError("group_keys=(): name at least one key, such as 'group_id'")
    return names

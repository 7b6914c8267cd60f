"""On whose behalf a node runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from memoryware import _langchain
from memoryware.errors import SettingError
from memoryware.nodes._lineage import conversations_of
from memoryware.scope import GROUP_KEYS, MemoryScope, read_id
from memoryware.tiers._parts import scope_of
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import value_in


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """How a node finds out who asks.

    Attributes:
        scope: Fills what the run does not say.
        group_keys: Names under which a context or config may carry the group.
        state_group: The key of the state that may name the group; None for none.
    """

    scope: MemoryScope = field(default_factory=MemoryScope)
    group_keys: tuple[str, ...] = GROUP_KEYS
    state_group: str | None = None

    @classmethod
    def checked(
        cls,
        scope: MemoryScope | str | None,
        group_keys: Sequence[str] = GROUP_KEYS,
        state_group: str | None = None,
    ) -> ScopeOptions:
        """Return what the options of a node say.

        Raises:
            SettingError: For a scope or keys that are none.
        """
        if not isinstance(scope, MemoryScope | str | None):
            raise SettingError(
                f"scope={scope!r}: must be a MemoryScope, the name of a group, or None"
            )
        keys: tuple[Any, ...] = () if isinstance(group_keys, str) else tuple(group_keys)
        if not keys or not all(one and isinstance(one, str) for one in keys):
            raise SettingError(f"group_keys={group_keys!r}: must be a list of names")
        return cls(scope_of(scope), keys, state_group)

    def scope_of_run(self, memory: TieredMemory, state: Any) -> MemoryScope:
        """Return who asks: the run says it, then the state if it may, then the given scope.

        A run that has no thread gets an id of its own as its session.
        """
        config, runtime = _langchain.current_config(), _langchain.current_runtime()
        said = MemoryScope.of(runtime, config, group_keys=self.group_keys)
        if not said.group_id and self.state_group:
            named = read_id(self.state_group, value_in(state, self.state_group), "the state")
            said = replace(said, group_id=named)
        missing = {
            one.name: getattr(self.scope, one.name)
            for one in fields(MemoryScope)
            if not getattr(said, one.name)
        }
        scope = replace(said, **missing)
        handle = None if scope.session_id else _langchain.run_handle(runtime)
        if handle is None:
            return scope
        return replace(scope, session_id=conversations_of(memory).run_id(handle))

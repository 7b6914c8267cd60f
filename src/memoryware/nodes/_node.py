"""Base class of nodes, blocking and async, and the options of their scope."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, set_config_context

from memoryware import _langchain
from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.nodes._lineage import conversations_of
from memoryware.scope import GROUP_KEYS, MemoryScope
from memoryware.tiers._run_options import default_scope, group_keys_of, scope_of_run
from memoryware.tiers.client.memory import TieredMemory


class MemoryNode(Runnable[Any, dict[str, Any]]):
    """A node of a graph that is written once, as the coroutine `_run`."""

    def __call__(self, state: Any, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Run the node.

        Args:
            state: The state of the graph.
            config: The config of the run.

        Returns:
            The new parts of the state.
        """
        return self.invoke(state, config)

    def invoke(
        self,
        input: Any,  # noqa: A002 - the name that a Runnable has
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Run the node.

        Args:
            input: The state of the graph.
            config: The config of the run.

        Returns:
            The new parts of the state.
        """
        # A Runnable that overrides `invoke` has to set the context of its config itself.
        with set_config_context(ensure_config(config)) as context:
            return context.run(lambda: run_blocking(self._run(BLOCKING, input)))

    async def ainvoke(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Run the node.

        Args:
            input: The state of the graph.
            config: The config of the run.

        Returns:
            The new parts of the state.
        """
        with set_config_context(ensure_config(config)) as context:
            return await asyncio.create_task(self._run(ASYNC, input), context=context)

    @abstractmethod
    async def _run(self, runner: Runner, state: Any) -> dict[str, Any]:
        """Do the work of the node, and return the new parts of the state."""


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """How a node determines its scope.

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
        """Validate the options of a node.

        Raises:
            SettingError: For a scope or keys that cannot be used.
        """
        return cls(default_scope(scope), group_keys_of(group_keys), state_group)

    def scope_of_run(self, memory: TieredMemory, state: Any) -> MemoryScope:
        """Return the scope of a run: from its context or config, the state, then the option.

        A run that has no thread gets an id of its own as its session.
        """
        config, runtime = _langchain.current_config(), _langchain.current_runtime()
        scope = scope_of_run(
            runtime,
            config,
            default=self.scope,
            group_keys=self.group_keys,
            state=state,
            state_group=self.state_group,
        )
        handle = None if scope.session_id else _langchain.run_handle(runtime)
        if handle is None:
            return scope
        return replace(scope, session_id=conversations_of(memory).run_id(handle))

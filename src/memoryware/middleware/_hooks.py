"""The hooks of middleware in an agent: one coroutine for each blocking and async pair.

LangChain looks at the class of a middleware to find its hooks, so both halves are methods here,
and a subclass overrides the coroutine behind them.
"""

from __future__ import annotations

import inspect
import sys
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from langchain.agents.middleware.types import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Command

from memoryware import _langchain
from memoryware._copying import ReconstructedOnUnpickling
from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking

F = TypeVar("F", bound=Callable[..., Any])
Response = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]
"""What a hook around the model returns."""


def with_signature(hook: F) -> F:
    """Keep the signature of a hook with it."""
    # LangSmith asks `inspect` for it at each call, also where nothing is traced. To work it out
    # takes 10 us, about one per cent of a step of a small agent.
    hook.__signature__ = inspect.signature(hook)  # type: ignore[attr-defined]
    return hook


class OptionalHooks:
    """A middleware that leaves out hooks that its options do not need.

    `create_agent` finds the hooks on the class, so `__class__` returns a subclass without them
    there. All other code sees the real class, and can call every hook.
    """

    # Each `before_agent` and `after_agent` is a node of the graph, and so a step with a checkpoint
    # in every run, also if it does nothing.

    def _unneeded_hooks(self) -> frozenset[str]:
        """Return the names of hooks that this middleware can do without in an agent."""
        return frozenset()

    @property
    def __class__(self) -> Any:
        """The class, without hooks that are not needed where an agent is being built."""
        kind = type(self)
        if not _langchain.is_agent_factory(sys._getframe(1)):  # noqa: SLF001 - no public way
            return kind
        unneeded = self._unneeded_hooks()
        return _without(kind, unneeded) if unneeded and type(kind) is type else kind  # type: ignore[arg-type]

    @__class__.setter
    def __class__(self, kind: Any) -> None:
        object.__dict__["__class__"].__set__(self, kind)


# `create_agent` compares hooks of the class in about thirty places.
@lru_cache(maxsize=64)
def _without(kind: type, hooks: frozenset[str]) -> type:
    """Return a subclass in which hooks are those of LangChain's base class, which do nothing."""
    ours = next(base for base in kind.__mro__ if base.__module__.startswith("memoryware."))
    names = {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
    bare: Any = type(kind.__name__, (ours,), names)
    # Not made as a subclass at once: a user's `__init_subclass__` would be called for it.
    bare.__bases__ = (kind,)
    for name in hooks:
        setattr(bare, name, getattr(AgentMiddleware, name))
    subclass: type = bare
    return subclass


@dataclass(frozen=True, slots=True)
class BackendRuntime:
    """What a backend factory is called with inside a middleware hook."""

    state: Any
    context: Any
    store: Any
    stream_writer: Any
    config: Any
    tool_call_id: str | None = None

    @classmethod
    def of(cls, state: Any, runtime: Any, config: Any) -> BackendRuntime:
        """Collect what a hook was given."""
        return cls(
            state=state,
            context=getattr(runtime, "context", None),
            store=getattr(runtime, "store", None),
            stream_writer=getattr(runtime, "stream_writer", None),
            config=config or {},
        )


class ModelCallHooks(AgentMiddleware[Any, Any, Any]):
    """A middleware around the model; a subclass overrides `_around_model`."""

    # Both halves of each hook: with `wrap_model_call` alone langchain raises NotImplementedError
    # under `ainvoke`, and an async node hook alone is a TypeError under `invoke`.

    @with_signature
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> Response:
        """Call the model with what this middleware adds to the request.

        Args:
            request: The request; it is not changed.
            handler: Calls the model, or the middleware further inside.

        Returns:
            The response, with an update of the state where there is something to note.
        """
        return run_blocking(self._around_model(BLOCKING, request, handler))

    @with_signature
    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Response:
        """Call the model with what this middleware adds to the request.

        Args:
            request: The request; it is not changed.
            handler: Calls the model, or the middleware further inside.

        Returns:
            The response, with an update of the state where there is something to note.
        """
        return await self._around_model(ASYNC, request, handler)

    @abstractmethod
    async def _around_model(
        self, runner: Runner, request: ModelRequest[Any], handler: Any
    ) -> Response:
        """Call the model."""


class AgentHooks(OptionalHooks, ReconstructedOnUnpickling, ModelCallHooks):
    """A memory in an agent: at the beginning of a run, around the model and around tools."""

    def before_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001 - langgraph injects it only when it is bare
    ) -> dict[str, Any] | None:
        """Load or recall memory at the beginning of a run.

        Args:
            state: The state of the agent.
            runtime: The runtime of the run; None when called by hand.
            config: The config of the run; None when called by hand.

        Returns:
            The update of the state. In a graph it has an id under which the middleware finds
            what was loaded, and never a text. Called by hand, `MemoryMiddleware` returns
            `{"memory_contents": {path: text}}`, or None if the state has that key already.
        """
        return run_blocking(self._before(BLOCKING, state, runtime, config))

    async def abefore_agent(  # type: ignore[no-untyped-def]
        self,
        state: Any,
        runtime: Any = None,
        config=None,  # noqa: ANN001
    ) -> dict[str, Any] | None:
        """Load or recall memory at the beginning of a run.

        Args:
            state: The state of the agent.
            runtime: The runtime of the run; None when called by hand.
            config: The config of the run; None when called by hand.

        Returns:
            The update of the state. In a graph it has an id under which the middleware finds
            what was loaded, and never a text. Called by hand, `MemoryMiddleware` returns
            `{"memory_contents": {path: text}}`, or None if the state has that key already.
        """
        return await self._before(ASYNC, state, runtime, config)

    @with_signature
    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> ToolMessage | Command[Any]:
        """Run a tool call under the rules of this memory.

        Args:
            request: The call.
            handler: Runs the tool, or the middleware further inside.

        Returns:
            The result of the tool, or a message that says why it was not run.
        """
        return run_blocking(self._around_tool(BLOCKING, request, handler))

    @with_signature
    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage | Command[Any]:
        """Run a tool call under the rules of this memory.

        Args:
            request: The call.
            handler: Runs the tool, or the middleware further inside.

        Returns:
            The result of the tool, or a message that says why it was not run.
        """
        return await self._around_tool(ASYNC, request, handler)

    @abstractmethod
    async def _before(
        self, runner: Runner, state: Any, runtime: Any, config: Any
    ) -> dict[str, Any] | None:
        """Begin a run."""

    @abstractmethod
    async def _around_tool(
        self, runner: Runner, request: ToolCallRequest, handler: Any
    ) -> ToolMessage | Command[Any]:
        """Run a tool call."""

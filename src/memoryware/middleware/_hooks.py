"""Only the hooks that a middleware needs become a part of an agent.

LangChain makes a node of the graph for each of `before_agent`, `after_agent` and the like that
the class of a middleware overrides: a step of its own, with a checkpoint in an agent that has a
checkpointer. The `wrap_*` hooks are wrapped by LangSmith, whether it traces or not.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from langchain.agents.middleware.types import AgentMiddleware

from memoryware import _langchain

F = TypeVar("F", bound=Callable[..., Any])


class OptionalHooks:
    """A middleware that shows `create_agent` a class with only the hooks that it needs.

    Everybody else sees the class as it is, and hooks that are left out can be called by hand.
    LangChain asks the class, so an instance cannot leave a hook out in any other way.
    """

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


def with_signature(hook: F) -> F:
    """Keep the signature of a hook with it.

    LangSmith asks `inspect` for it at each call, also where nothing is traced. To work it out
    takes 10 us, about one per cent of a step of a small agent.
    """
    hook.__signature__ = inspect.signature(hook)  # type: ignore[attr-defined]
    return hook


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
        """Put together what a hook knows."""
        return cls(
            state=state,
            context=getattr(runtime, "context", None),
            store=getattr(runtime, "store", None),
            stream_writer=getattr(runtime, "stream_writer", None),
            config=config or {},
        )

"""The actor of a change: user, agent, thread and tool call, for the version history and events.

Inside a graph it comes from the scope of the run. People and scripts set it with `acting`,
which takes precedence over the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from memoryware.errors import SettingError
from memoryware.scope import MemoryScope


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changed a file; unknown parts are None.

    Attributes:
        agent: The name or persona of the agent.
        user: The person on whose behalf it was done.
        thread: The conversation.
        tool_call: The id of the tool call that did it.
    """

    agent: str | None = None
    user: str | None = None
    thread: str | None = None
    tool_call: str | None = None

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) is not None for field in fields(self))

    def over(self, other: Actor) -> Actor:
        """Fill the parts of this actor that are None from another.

        Args:
            other: Where missing parts come from.

        Returns:
            A new actor.
        """
        return replace(other, **{key: part for key, part in parts_of(self) if part is not None})


NOBODY: Final = Actor()


@dataclass(frozen=True, slots=True)
class _Acting:
    actor: Actor = NOBODY
    reason: str | None = None


_NOTHING: Final = _Acting()
_acting: ContextVar[_Acting] = ContextVar("memoryware_acting", default=_NOTHING)


@contextmanager
def acting(
    *,
    agent: str | None = None,
    user: str | None = None,
    thread: str | None = None,
    tool_call: str | None = None,
    reason: str | None = None,
) -> Iterator[None]:
    """Set the actor, and the reason, of changes of files inside a `with` block.

    A part that is not given comes from an outer block or the running graph::

        with acting(user="ann", reason="clean-up"):
            backend.edit("/AGENTS.md", "npm", "pnpm")

    Args:
        agent: The name or persona of the agent.
        user: The person on whose behalf it is done.
        thread: The conversation.
        tool_call: The id of the tool call.
        reason: Why, for the log of versions.

    Yields:
        Nothing.

    Raises:
        SettingError: If a value is not text.
    """
    parts = {"agent": agent, "user": user, "thread": thread, "tool_call": tool_call}
    for name, value in (*parts.items(), ("reason", reason)):
        if value is not None and not isinstance(value, str):
            raise SettingError(f"{name}={value!r}: must be text or None")
    outer = _acting.get()
    why = outer.reason if reason is None else reason
    token = _acting.set(_Acting(Actor(**parts).over(outer.actor), why))
    try:
        yield
    finally:
        _acting.reset(token)


def current_actor(default: Actor | None = None) -> Actor:
    """Return the actor: from `acting`, else from the running graph, else the default."""
    scope = MemoryScope.current()
    of_run = Actor(scope.agent_id, scope.user_id, scope.session_id)
    return _acting.get().actor.over(of_run.over(default or NOBODY))


def current_reason() -> str | None:
    """Return the reason given to `acting`, None without one."""
    return _acting.get().reason


def parts_of(actor: Actor) -> list[tuple[str, Any]]:
    """Return the parts of an actor by name."""
    return [(field.name, getattr(actor, field.name)) for field in fields(actor)]

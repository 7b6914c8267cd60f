"""The actor: on whose behalf a file is changed, and why, for the history and the events.

Inside a graph `MemoryScope` reads it from the run. People and scripts set it with `acting`,
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
    """Who changed a file; a part that nobody knows is None.

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
        return any(getattr(self, one.name) is not None for one in fields(self))

    def over(self, other: Actor) -> Actor:
        """Return this actor, with the parts that it does not know from another."""
        return replace(other, **{key: part for key, part in vars_of(self) if part is not None})


NOBODY: Final = Actor()


@dataclass(frozen=True, slots=True)
class _Said:
    actor: Actor = NOBODY
    reason: str | None = None


_NOTHING: Final = _Said()
_said: ContextVar[_Said] = ContextVar("memoryware_acting", default=_NOTHING)


@contextmanager
def acting(
    *,
    agent: str | None = None,
    user: str | None = None,
    thread: str | None = None,
    tool_call: str | None = None,
    reason: str | None = None,
) -> Iterator[None]:
    """Say for the length of a block on whose behalf files are changed, and why.

    What is not given stays as an outer block or the running graph has it::

        with acting(user="ann", reason="clean-up"):
            backend.edit("/AGENTS.md", "npm", "pnpm")

    Raises:
        SettingError: If something is given that is no text.
    """
    given = {"agent": agent, "user": user, "thread": thread, "tool_call": tool_call}
    for name, value in (*given.items(), ("reason", reason)):
        if value is not None and not isinstance(value, str):
            raise SettingError(f"{name}={value!r}: must be a text")
    outer = _said.get()
    why = outer.reason if reason is None else reason
    token = _said.set(_Said(Actor(**given).over(outer.actor), why))
    try:
        yield
    finally:
        _said.reset(token)


def current_actor(default: Actor | None = None) -> Actor:
    """Return who acts here: as said, else as the running graph knows, else the default."""
    scope = MemoryScope.current()
    of_run = Actor(scope.agent_id, scope.user_id, scope.session_id)
    return _said.get().actor.over(of_run.over(default or NOBODY))


def current_reason() -> str | None:
    """Return why files are changed here, as far as somebody said so."""
    return _said.get().reason


def vars_of(actor: Actor) -> list[tuple[str, Any]]:
    """Return the parts of an actor by name."""
    return [(one.name, getattr(actor, one.name)) for one in fields(actor)]

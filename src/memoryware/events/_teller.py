"""To whom events of one piece of work are told, and on whose behalf it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Writer = Callable[[Any], None]
"""A graph's stream writer."""


class Who(Protocol):
    """On whose behalf something happens; a `MemoryScope` is one."""

    @property
    def user_id(self) -> str | None: ...

    @property
    def agent_id(self) -> str | None: ...

    @property
    def session_id(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Teller:
    """What all events of one piece of work have in common.

    Attributes:
        writer: The stream writer of the run, or None outside of one.
        by: On whose behalf it happens.
        memory: The name of the middleware.
        trace_content: Whether texts may be told. The only switch: with False, whatever is
            given as content is not even looked at.
        redact: Takes secrets out of a text before it is told, such as `Guard().redact`.
    """

    writer: Writer | None = None
    by: Who | None = None
    memory: str | None = None
    trace_content: bool = False
    redact: Callable[[str], str] | None = None

    def facts(self) -> dict[str, Any]:
        """Return what every event of this work says."""
        by = self.by
        return {
            "memory": self.memory,
            "user": by.user_id if by else None,
            "agent": by.agent_id if by else None,
            "thread": by.session_id if by else None,
        }


To: TypeAlias = Teller | Writer | None
"""Whom to tell: a teller, or just a stream writer, or nobody in particular."""


def teller_of(to: To) -> Teller:
    """Return a teller for whatever was given."""
    return to if isinstance(to, Teller) else Teller(to)

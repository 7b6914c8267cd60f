"""The state that file memory adds to an agent."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any, NotRequired, TypedDict, cast, get_type_hints

from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from langgraph.channels.untracked_value import UntrackedValue

from memoryware.backends.state import FilesChannel


class MemoryState(AgentState[Any]):
    """Agent state with `memory_contents`, which is in neither the input nor the output."""

    memory_contents: NotRequired[Annotated[dict[str, str], PrivateStateAttr]]


class MemoryStateUpdate(TypedDict):
    """What `before_agent` returns when it is called by hand: text by source path."""

    memory_contents: dict[str, str]


def snapshot_key(name: str) -> str:
    """Return the private state key of the middleware with this name."""
    return "memory_snapshot_" + re.sub(r"\W", "_", name)


@cache
def state_schema_for(name: str, *, with_files: bool) -> type[AgentState[Any]]:
    """Return the state of one middleware.

    Its snapshot key holds a random id and never a text; it is untracked, so it is in no
    checkpoint. `files` is declared only where a backend keeps files in the state, because a
    declared channel shows in every result.
    """
    fields = get_type_hints(MemoryState, include_extras=True)
    fields[snapshot_key(name)] = NotRequired[Annotated[str, UntrackedValue, PrivateStateAttr]]
    if with_files:
        fields["files"] = NotRequired[FilesChannel]
    return cast("type[AgentState[Any]]", TypedDict("MemoryState", fields))  # type: ignore[operator]

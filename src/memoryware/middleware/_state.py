"""The state that file memory adds to an agent."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import Annotated, Any, NotRequired, TypedDict, cast, get_type_hints

from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from langgraph.channels.untracked_value import UntrackedValue

from memoryware.backends.state import FilesChannel

CONTENTS = "memory_contents"
"""State key for texts by source: by hand, and with `refresh="thread"`."""


class MemoryState(AgentState[Any]):
    """Agent state with `memory_contents`, which is in neither the input nor the output."""

    memory_contents: NotRequired[Annotated[dict[str, str], PrivateStateAttr]]


class MemoryStateUpdate(TypedDict):
    """What `before_agent` returns when it is called by hand: text by source path."""

    memory_contents: dict[str, str]


def slug(name: str) -> str:
    """Return a name as a word of letters, digits and `_`; different names stay different."""
    if re.fullmatch(r"[A-Za-z0-9_]{1,40}", name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:40]
    return f"{plain}_{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"


def snapshot_key(name: str) -> str:
    """Return the private state key of the middleware with this name."""
    return f"memory_snapshot_{slug(name)}"


def contents_key(name: str | None) -> str:
    """Return the state key for texts that stay in the thread: one for each given name."""
    return CONTENTS if name is None else f"{CONTENTS}_{slug(name)}"


@cache
def state_schema_for(key: str, contents: str, *, with_files: bool) -> type[AgentState[Any]]:
    """Return the state of one middleware.

    `key` holds a random id and never a text; it is untracked, so it is in no checkpoint.
    `contents` is written with `refresh="thread"` only. `files` is declared only where a
    backend keeps files in the state, because a declared channel shows in every result.
    """
    fields = get_type_hints(MemoryState, include_extras=True)
    fields[key] = NotRequired[Annotated[str, UntrackedValue, PrivateStateAttr]]
    fields[contents] = NotRequired[Annotated[dict[str, str], PrivateStateAttr]]
    if with_files:
        fields["files"] = NotRequired[FilesChannel]
    return cast("type[AgentState[Any]]", TypedDict("MemoryState", fields))  # type: ignore[operator]

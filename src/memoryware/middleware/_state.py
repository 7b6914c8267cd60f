"""The state that file memory adds to an agent."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict, cast, get_type_hints

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


class Keys(NamedTuple):
    """The state keys of one middleware.

    Attributes:
        snapshot: An id under which the middleware finds what this run has loaded.
        contents: Texts that stay in the thread: one key for each given name.
        caller: A digest of whose texts those are.
        waiting: By call id, the file that a call will change and a digest of what is there.
    """

    snapshot: str
    contents: str
    caller: str
    waiting: str

    @classmethod
    def of(cls, name: str, given: str | None) -> Keys:
        """Return the keys of a middleware; `given` is the name that was chosen for it."""
        own = slug(name)
        contents = CONTENTS if given is None else f"{CONTENTS}_{slug(given)}"
        return cls(
            f"memory_snapshot_{own}", contents, f"memory_caller_{own}", f"memory_waiting_{own}"
        )


Waiting = tuple[str, str, str]
"""A path, a digest of what was there when the model asked to change it, and one of who asked."""


@cache
def state_schema_for(keys: Keys, *, with_files: bool) -> type[AgentState[Any]]:
    """Return the state of one middleware.

    The snapshot is a random id and never a text; it is untracked, so it is in no checkpoint.
    The contents are written with `refresh="thread"` only. `files` is declared only where a
    backend keeps files in the state, because a declared channel shows in every result.
    """
    fields = get_type_hints(MemoryState, include_extras=True)
    fields[keys.snapshot] = NotRequired[Annotated[str, UntrackedValue, PrivateStateAttr]]
    fields[keys.contents] = NotRequired[Annotated[dict[str, str], PrivateStateAttr]]
    fields[keys.caller] = NotRequired[Annotated[str, PrivateStateAttr]]
    fields[keys.waiting] = NotRequired[Annotated[dict[str, Waiting], PrivateStateAttr]]
    if with_files:
        fields["files"] = NotRequired[FilesChannel]
    return cast("type[AgentState[Any]]", TypedDict("MemoryState", fields))  # type: ignore[operator]

"""State schema: the keys that memory adds to the state of an agent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import (
    Annotated,
    Any,
    Final,
    NamedTuple,
    NotRequired,
    Self,
    TypedDict,
    cast,
    get_type_hints,
)

from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from langgraph.channels.last_value import LastValue
from langgraph.channels.untracked_value import UntrackedValue

from memoryware.backends.state import FilesChannel

CONTENTS = "memory_contents"
"""State key for texts by source: in calls by hand, and with `refresh="thread"`."""


class RunValue(LastValue[Any]):
    """A channel whose value lasts for one run: it is in no checkpoint."""

    # Instead of LangGraph's `UntrackedValue`, which is left out of pending writes as well: for that
    # LangGraph searches every write of each step of the graph. This value is a random id without
    # a meaning to another run, so it may be among pending writes.

    __slots__ = ()

    def checkpoint(self) -> Any:
        """Return what an empty channel has to keep."""
        return type(self)(self.typ, self.key).value

    def from_checkpoint(self, checkpoint: Any) -> Self:  # noqa: ARG002 - a run begins with nothing
        """Return an empty channel."""
        return type(self)(self.typ, self.key)


class MemoryState(AgentState[Any]):
    """Agent state with `memory_contents`, which is in neither the input nor the output."""

    memory_contents: NotRequired[Annotated[dict[str, str], PrivateStateAttr]]


class MemoryStateUpdate(TypedDict):
    """What `before_agent` returns when it is called by hand: text by source path."""

    memory_contents: dict[str, str]


def slug(name: str) -> str:
    """Return a name as an identifier of letters, digits and `_`; different names stay different."""
    if re.fullmatch(r"[A-Za-z0-9_]{1,40}", name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:40]
    return f"{plain}_{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"


class MemoryStateKeys(NamedTuple):
    """The state keys of one middleware.

    Attributes:
        snapshot: An id under which the middleware finds what this run has loaded.
        contents: Texts that stay in the thread: one key for each name that was chosen.
        caller: A digest of the caller for whom those were loaded.
        calls: Notes about calls of the model, see `CallNotes`.
    """

    snapshot: str
    contents: str
    caller: str
    calls: str

    @classmethod
    def of(cls, name: str, chosen: str | None) -> MemoryStateKeys:
        """Return the keys of a middleware; `chosen` is the name that was chosen for it."""
        own = slug(name)
        contents = CONTENTS if chosen is None else f"{CONTENTS}_{slug(chosen)}"
        return cls(
            f"memory_snapshot_{own}",
            contents,
            f"memory_caller_{own}",
            f"memory_waiting_{own}",
        )


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A tool call that changes a memory file, as the state keeps it: digests, never a text.

    Attributes:
        path: The source.
        digest: A digest of the file when the model made the call.
        caller: A digest of the caller of the run.
        asks: Whether a person has to decide about it.
        states: Digests that the earlier calls of the message give the file, in order.
    """

    path: str
    digest: str
    caller: str
    asks: bool = False
    states: tuple[str, ...] = ()

    @classmethod
    def of(cls, value: Any) -> Self | None:
        """Parse the value of a state, also one of an earlier version; None if it is neither."""
        if isinstance(value, Mapping):
            value = tuple(
                value.get(name) for name in ("path", "digest", "caller", "asks", "states")
            )
        if not isinstance(value, Sequence) or len(value) < _LEAST_PARTS:
            return None
        path, digest, caller, *more = value
        asks, states = (bool(more[0]), tuple(more[1] or ())) if len(more) > 1 else (False, ())
        return cls(str(path), str(digest), str(caller), asks, states)

    def as_state(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "states": list(self.states)}


@dataclass(frozen=True, slots=True)
class CallNotes:
    """Bookkeeping of a thread about tool calls, in one channel of its state.

    Attributes:
        waiting: By call id, the file that a call will change and a digest of what is there.
        inside: Ids of the calls whose results come from the agent's own files.
    """

    # Each channel takes time at each step of an agent, also an empty one, and more if it has a
    # reducer. So there is one for both, which the model call alone writes.

    waiting: Mapping[str, PendingWrite] = field(default_factory=dict)
    inside: Sequence[str] = ()

    @classmethod
    def of(cls, value: Any) -> Self:
        """Parse the value of a state; entries that cannot be read are left out."""
        if not isinstance(value, Mapping):
            return cls()
        waiting = {
            name: write
            for name, raw in value.items()
            if name != _INSIDE and (write := PendingWrite.of(raw)) is not None
        }
        return cls(waiting, tuple(value.get(_INSIDE) or ()))

    def updated(self, waiting: Mapping[str, PendingWrite], inside: Sequence[str]) -> Self:
        """Return the notes after a model call: newer waiting calls replace older ones."""
        ids = list(dict.fromkeys([*self.inside, *inside]))
        return type(self)(waiting or self.waiting, ids[-_INSIDE_AT_MOST:])

    def as_state(self) -> dict[str, Any]:
        """Return it as plain data."""
        inside = {_INSIDE: list(self.inside)} if self.inside else {}
        return {**{name: write.as_state() for name, write in self.waiting.items()}, **inside}


# The key of the ids of inside calls. No call has an empty id, so it cannot clash with one.
_INSIDE: Final = ""
_LEAST_PARTS: Final = 3
# Calls of a thread whose results are known to come from the agent's own files.
_INSIDE_AT_MOST: Final = 2_000


@cache
def memory_state_schema(
    keys: MemoryStateKeys, *, with_files: bool, with_texts: bool = True
) -> type[AgentState[Any]]:
    """Return the state of one middleware.

    The snapshot is a random id and never a text, and lasts for one run.

    Args:
        keys: The names of its channels.
        with_files: Whether a backend keeps files in the state. A declared channel shows in every
            result.
        with_texts: Whether texts may stay in the thread, as with `refresh="thread"`.
    """
    fields = get_type_hints(MemoryState if with_texts else AgentState, include_extras=True)
    fields[keys.snapshot] = NotRequired[Annotated[str, RunValue, PrivateStateAttr]]
    if with_texts:
        fields[keys.contents] = NotRequired[Annotated[dict[str, str], PrivateStateAttr]]
        fields[keys.caller] = NotRequired[Annotated[str, PrivateStateAttr]]
    fields[keys.calls] = NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    if with_files:
        fields["files"] = NotRequired[FilesChannel]
    return cast("type[AgentState[Any]]", TypedDict("MemoryState", fields))  # type: ignore[operator]


class TieredStateKeys(NamedTuple):
    """The state keys of one middleware.

    Attributes:
        run: A random id under which the middleware finds what this run has recalled.
        thread: What the conversation keeps in mind, see `ThreadLineage`.
    """

    run: str
    thread: str

    @classmethod
    def of(cls, name: str) -> TieredStateKeys:
        """Return the keys of the middleware with this name."""
        own = slug(name)
        return cls(f"tiered_run_{own}", f"tiered_thread_{own}")


@dataclass(frozen=True, slots=True)
class ThreadLineage:
    """Lineage of a conversation: the origins that its next answer inherits.

    It is kept in the state, so that any process can resume the thread.

    Attributes:
        answer_ids: Ids of messages that came from the model, not from other code; newest last.
        recalled_ids: Ids of entries and memories that were recalled, the newest last.
        tools: Names of tools whose results, from outside, have been in a request.
        inside: Keys of calls whose results are from inside: those of our own tools, of LangChain's
            to-do list, and structured responses; see `ToolCall.key`.
        roots: Further origins of texts that the model has seen: memory files, attachments, and
            declared ones; see `declare_origins`.
        last: The id of the entry that was recorded last; "" for none.
        askers: Ids of people who have asked and are the origin of no recorded entry yet: those of
            a run that waits, or was broken off.
        asked_ids: Ids of messages of people that are not recorded yet, for the same reasons.
    """

    answer_ids: tuple[str, ...] = ()
    recalled_ids: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    last: str = ""
    askers: tuple[str, ...] = ()
    asked_ids: tuple[str, ...] = ()

    @classmethod
    def of(cls, value: Any) -> Self:
        """Parse the value of a state; fields that cannot be read are empty."""
        state = value if isinstance(value, Mapping) else {}
        last = state.get("last")
        return cls(
            answer_ids=_texts(state.get("said")),
            recalled_ids=_texts(state.get("seen")),
            tools=_texts(state.get("tools")),
            inside=_texts(state.get("inside")),
            roots=_texts(state.get("roots")),
            last=last if isinstance(last, str) else "",
            askers=_texts(state.get("asked")),
            asked_ids=_texts(state.get("asked_ids")),
        )

    def with_more(
        self,
        limit: int,
        *,
        answer_ids: Iterable[str] = (),
        recalled_ids: Iterable[str] = (),
        tools: Iterable[str] = (),
        inside: Iterable[str] = (),
        askers: Iterable[str] = (),
        roots: Iterable[str] = (),
        asked_ids: Iterable[str] = (),
    ) -> Self:
        """Return it with more ids, of which it keeps the newest `limit`, and more names."""
        return replace(
            self,
            answer_ids=_newest((*self.answer_ids, *answer_ids), limit),
            recalled_ids=_newest((*self.recalled_ids, *recalled_ids), limit),
            tools=tuple(sorted({*self.tools, *tools})),
            inside=_newest((*self.inside, *inside), limit),
            askers=_newest((*self.askers, *askers), limit),
            roots=tuple(sorted({*self.roots, *roots})),
            asked_ids=_newest((*self.asked_ids, *asked_ids), limit),
        )

    def as_state(self) -> dict[str, Any]:
        """Return it as plain values that every checkpointer can keep."""
        # The keys are those of 0.1: a thread that was begun there goes on with this version.
        due = {"asked_ids": list(self.asked_ids)} if self.asked_ids else {}
        return {
            **due,
            "said": list(self.answer_ids),
            "seen": list(self.recalled_ids),
            "tools": list(self.tools),
            "inside": list(self.inside),
            "roots": list(self.roots),
            "last": self.last,
            "asked": list(self.askers),
        }


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    return tuple(text for text in value if isinstance(text, str))


def _newest(ids: Iterable[str], limit: int) -> tuple[str, ...]:
    """Return ids, each once, at its last place, only the last `limit`."""
    return tuple(reversed(list(dict.fromkeys(reversed(list(ids))))[:limit]))


@cache
def tiered_state_schema(keys: TieredStateKeys) -> type[AgentState[Any]]:
    """Return the state of one middleware.

    The id of a run is untracked, so it is in no checkpoint; what a thread keeps in mind is.
    """
    fields = get_type_hints(AgentState, include_extras=True)
    fields[keys.run] = NotRequired[Annotated[str, UntrackedValue, PrivateStateAttr]]
    fields[keys.thread] = NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    return cast("type[AgentState[Any]]", TypedDict("TieredMemoryState", fields))  # type: ignore[operator]

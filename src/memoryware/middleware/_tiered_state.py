"""The state that tiered memory adds to an agent: ids and names of tools, never a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Annotated, Any, NamedTuple, NotRequired, Self, TypedDict, cast, get_type_hints

from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from langgraph.channels.untracked_value import UntrackedValue

from memoryware.middleware._state import slug


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
    """What a conversation keeps in mind, so that another process can go on with it.

    Attributes:
        said: Ids of messages that the model really made, the newest last.
        seen: Ids of entries and memories that were recalled, the newest last.
        tools: Names of tools whose results, from outside, have been in a request.
        inside: Keys of calls whose results are from inside, as this middleware has seen: those of
            its own tools, of LangChain's to-do list, and structured responses; see `Call.key`.
        roots: Further origins that have stood before the model: memory files, attachments, and
            what was declared; see `declare_origins`.
        last: The id of the entry that was recorded last; "" for none.
        asked: Ids of people who have asked and of whom no recorded entry speaks yet: those of a
            run that waits, or was broken off. Else nobody.
    """

    said: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    last: str = ""
    asked: tuple[str, ...] = ()

    @classmethod
    def of(cls, kept: Any) -> Self:
        """Return what a state holds; whatever cannot be read is empty."""
        held = kept if isinstance(kept, Mapping) else {}
        last = held.get("last")
        return cls(
            said=_texts(held.get("said")),
            seen=_texts(held.get("seen")),
            tools=_texts(held.get("tools")),
            inside=_texts(held.get("inside")),
            roots=_texts(held.get("roots")),
            last=last if isinstance(last, str) else "",
            asked=_texts(held.get("asked")),
        )

    def with_more(
        self,
        most: int,
        *,
        said: Iterable[str] = (),
        seen: Iterable[str] = (),
        tools: Iterable[str] = (),
        inside: Iterable[str] = (),
        asked: Iterable[str] = (),
        roots: Iterable[str] = (),
    ) -> Self:
        """Return it with more ids, of which it keeps the newest `most`, and more names."""
        return replace(
            self,
            said=_newest((*self.said, *said), most),
            seen=_newest((*self.seen, *seen), most),
            tools=tuple(sorted({*self.tools, *tools})),
            inside=_newest((*self.inside, *inside), most),
            asked=_newest((*self.asked, *asked), most),
            roots=tuple(sorted({*self.roots, *roots})),
        )

    def as_state(self) -> dict[str, Any]:
        """Return it as plain values that every checkpointer can keep."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }


def _texts(held: Any) -> tuple[str, ...]:
    if not isinstance(held, list | tuple):
        return ()
    return tuple(one for one in held if isinstance(one, str))


def _newest(ids: Iterable[str], most: int) -> tuple[str, ...]:
    """Return ids, each once, at its last place, only the last `most`."""
    return tuple(reversed(list(dict.fromkeys(reversed(list(ids))))[:most]))


@cache
def tiered_state_schema(keys: TieredStateKeys) -> type[AgentState[Any]]:
    """Return the state of one middleware.

    The id of a run is untracked, so it is in no checkpoint; what a thread keeps in mind is.
    """
    fields = get_type_hints(AgentState, include_extras=True)
    fields[keys.run] = NotRequired[Annotated[str, UntrackedValue, PrivateStateAttr]]
    fields[keys.thread] = NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    return cast("type[AgentState[Any]]", TypedDict("TieredMemoryState", fields))  # type: ignore[operator]

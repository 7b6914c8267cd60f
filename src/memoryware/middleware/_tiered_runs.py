"""What runs have recalled: in a bounded cache of the middleware, never in a state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import AIMessage

from memoryware._clock import NewId
from memoryware._twins import Via
from memoryware.middleware._bounded import LruCache
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Origin, Provenance
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import ContextItem, item_of

StepMark = tuple[int, str]
"""A moment of a run: how many messages there are, and the id of the last one."""

RecallAnswerKey = tuple[str, ...]
"""An answer of the tool `recall`: the id of the call, and the ids of what it found."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A text of the model that is to be recorded.

    Attributes:
        text: The text.
        message: The message that it stands in.
        place: Of the message among all; what stands behind has not influenced it.
        metadata: What is known of it besides.
    """

    text: str
    message: AIMessage
    place: int
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    """What the model said in a run that has not ended, and of what it was made."""

    answer: ModelAnswer
    provenance: Provenance
    shown: tuple[ContextItem, ...]


@dataclass(slots=True)
class RunState:
    """What one run has recalled.

    Attributes:
        id: Random; the state holds nothing else of it.
        items: What was recalled for the newest question.
        block: These as the model is shown them; "" for nothing.
        found: What its tool `recall` has found, as the model is shown it, by the answer.
        step: When that was; None if memory was not asked yet.
        held: What the model has said before its last call, by the id of the message.
        recorded: Keys of what was recorded, so that nobody is asked twice.
        inside: Keys of calls that a tool of ours has answered in it; see `Call.key`.
        heard: What other agents, called by tools of this run, have said: who made it, and of
            what.
    """

    id: str
    items: tuple[ContextItem, ...] = ()
    block: str = ""
    found: dict[RecallAnswerKey, str] = field(default_factory=dict)
    step: StepMark | None = None
    held: dict[str, PendingAnswer] = field(default_factory=dict)
    recorded: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)
    nested: list[Provenance] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ParentRun:
    """The run around an agent that a tool calls: what it is made of is handed down.

    Attributes:
        run: That run.
        items: What it had recalled.
        roots: Where all came from that it has seen.
    """

    run: RunState
    items: tuple[ContextItem, ...]
    roots: tuple[Origin, ...]


PARENT_RUN: Final[ContextVar[ParentRun | None]] = ContextVar("memoryware_outer_run", default=None)
"""The run whose tool is running around this call."""


class RunRegistry:
    """The runs of one middleware, and what any of them was shown."""

    def __init__(self, memory: TieredMemory, new_id: NewId) -> None:
        self._memory, self._new_id = memory, new_id
        self._runs: LruCache[str, RunState] = LruCache(memory.limits.runs)
        self._between: LruCache[tuple[Any, ...], RunState] = LruCache(memory.limits.runs)
        self._items: LruCache[tuple[Any, ...], ContextItem] = LruCache(memory.limits.runs)

    def of(self, run_id: Any) -> RunState | None:
        """Return a run, if it is still here."""
        return self._runs.get(run_id) if isinstance(run_id, str) else None

    def begin(self, resumed: MemoryScope | None = None) -> RunState:
        """Return a new run; one that was resumed goes on with what its tools have heard."""
        run = RunState(self._new_id())
        if resumed is not None:
            before = self.between(resumed)
            run.nested, run.found = [*before.nested], {**before.found}
            run.inside = {*before.inside}
            self._between.drop(_session(resumed))
        self._runs.put(run.id, run)
        return run

    def between(self, scope: MemoryScope) -> RunState:
        """Return what stands for a run that was resumed, until its next model call."""
        run = self._between.get(_session(scope)) or RunState(self._new_id())
        if scope.session_id:
            self._between.put(_session(scope), run)
        return run

    def end(self, run: RunState) -> None:
        """Forget a run."""
        self._runs.drop(run.id)

    def note(self, items: Iterable[ContextItem], scope: MemoryScope) -> None:
        """Keep what somebody was shown, to know it again by its id."""
        for one in items:
            self._items.put((scope.tenant, scope.group_id, one.id), one)

    async def known(
        self, via: Via, ids: Sequence[str], scope: MemoryScope
    ) -> Mapping[str, ContextItem]:
        """Return entries and memories of exactly this tenant and group by their ids.

        What is no longer here, since another process has shown it, is read again.
        """
        place = scope.tenant, scope.group_id
        here = {one: self._items.get((*place, one)) for one in ids}
        found = {one: item for one, item in here.items() if item is not None}
        missing = tuple(one for one in here if one not in found)
        if missing:
            read = await self._read(via, missing, scope)
            self.note(read, scope)
            found |= {one.id: one for one in read}
        return {one: found[one] for one in ids if one in found}

    async def _read(self, via: Via, ids: tuple[str, ...], scope: MemoryScope) -> list[ContextItem]:
        stores, which = self._memory.parts.stores, Select.within(scope, ids=ids)
        entries = (await via(stores.quarantine.find, stores.quarantine.afind, which)).items
        if len(entries) == len(ids):
            return [item_of(one) for one in entries]
        memories = (await via(stores.long_term.find, stores.long_term.afind, which)).items
        return [*map(item_of, entries), *map(item_of, memories)]


def _session(scope: MemoryScope) -> tuple[Any, ...]:
    return scope.tenant, scope.group_id, scope.session_id

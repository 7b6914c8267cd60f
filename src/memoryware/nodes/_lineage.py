"""Lineage of a conversation in a graph: what its steps have seen, and so what answers are made of.

There is no way to find out which part of a state a node has used. So all that was recalled or
recorded in a conversation before a step counts for its output, except in steps that run
concurrently.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

from memoryware import _langchain
from memoryware._runner import Runner
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import UNKNOWN_RECALL, first_text, value_in
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import Origin
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import ContextItem, item_of

# Entries of a conversation that are read again in another process: each has the roots of those
# before it, and some may have been made side by side.
_LATEST: Final = 16


@dataclass(frozen=True, slots=True)
class GraphStep:
    """A step of a graph: its path, and the checkpoint of each graph around it."""

    path: str = ""
    checkpoints: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, config: Any) -> GraphStep:
        """Return the step that runs."""
        return cls(*_langchain.step_of(config))

    def is_beside(self, other: GraphStep) -> bool:
        """Return whether two steps run concurrently, so that neither has seen the other."""
        common = self.checkpoints.keys() & other.checkpoints.keys()
        if not common or any(
            self.checkpoints[namespace] != other.checkpoints[namespace] for namespace in common
        ):
            return False
        # The path of a step is a prefix of the paths of the steps of a graph inside of it, which
        # run within it and not beside it.
        first, second = sorted((self.path, other.path), key=len)
        return second != first and not second.startswith(f"{first}|")


@dataclass(frozen=True, slots=True)
class StepTrace:
    """The items that a step was shown, and the origins of its output."""

    step: GraphStep = field(default_factory=GraphStep)
    items: Mapping[str, ContextItem] = field(default_factory=dict)
    roots: frozenset[Origin] = frozenset()

    def __add__(self, other: StepTrace) -> StepTrace:
        return StepTrace(self.step, {**self.items, **other.items}, self.roots | other.roots)

    def every_root(self) -> frozenset[Origin]:
        """Return all roots, those of what was shown as well."""
        return self.roots | {root for item in self.items.values() for root in item.provenance.roots}

    def cut(self, most: int) -> StepTrace:
        """Return it with the newest items only; the roots of the others stay."""
        if len(self.items) <= most:
            return self
        newest = dict(list(self.items.items())[-most:])
        return StepTrace(self.step, newest, self.every_root())


@dataclass(frozen=True, slots=True)
class StepView:
    """What a step can see: its state, and ids of items that our own tools have shown."""

    step: GraphStep
    state: Any = None
    ids: tuple[str, ...] = ()


class Conversations:
    """The traces of the conversations with one memory; the newest are cached."""

    def __init__(self, memory: TieredMemory) -> None:
        self._limits, self._new_id = memory.limits, memory.parts.new_id
        self._traces: OrderedDict[Any, dict[str, StepTrace]] = OrderedDict()
        self._restored: set[Any] = set()  # those of which the store was asked what was before
        self._runs: OrderedDict[int, tuple[Any, str]] = OrderedDict()
        self._keys: dict[str, str | None] = {"history_context": "memory_items"}
        self._lock = Lock()

    def register_output_keys(self, output_key: str, items_key: str | None) -> None:
        """Note under what keys of a state a node puts what it has recalled."""
        with self._lock:
            self._keys[output_key] = items_key

    def run_id(self, handle: Any) -> str:
        """Return the id of a run that has no thread, by what all its steps share."""
        with self._lock:
            # The handle is kept, so that no other object gets its number meanwhile.
            if id(handle) not in self._runs:
                self._runs[id(handle)] = handle, self._new_id()
            while len(self._runs) > self._limits.runs:
                self._runs.popitem(last=False)
            return self._runs[id(handle)][1]

    def note(self, scope: MemoryScope, trace: StepTrace) -> None:
        """Note what a step was shown or has returned."""
        if not scope.session_id:
            return
        with self._lock:
            traces = self._traces.setdefault(_key(scope), {})
            self._traces.move_to_end(_key(scope))
            path = trace.step.path
            traces[path] = (traces.pop(path, StepTrace(trace.step)) + trace).cut(self._max_ids)
            # The oldest are merged and not dropped: their origins count for later answers.
            while len(traces) > self._limits.thread_ids:
                oldest = next(trace for trace in traces if trace)
                merged = traces.pop("", StepTrace()) + traces.pop(oldest)
                traces[""] = StepTrace(GraphStep(), merged.items, merged.roots).cut(self._max_ids)
            while len(self._traces) > self._limits.runs:
                self._restored.discard(self._traces.popitem(last=False)[0])

    async def before(
        self, runner: Runner, memory: TieredMemory, scope: MemoryScope, look: StepView
    ) -> StepTrace:
        """Return all that a step may have seen: in this process, in the store, in its state."""
        with self._lock:
            traces = list(self._traces.get(_key(scope), {}).values())
            is_whole = _key(scope) in self._restored
        # The conversation may have begun in another process, so the store is asked once.
        if not is_whole and scope.session_id:
            stored = await _stored_trace(runner, memory, scope)
            self.note(scope, stored)
            traces.append(stored)
            with self._lock:
                self._restored.add(_key(scope))
        visible = StepTrace(look.step)
        for trace in traces:
            visible += StepTrace() if trace.step.is_beside(look.step) else trace
        missing, unknown = self._missing(look, visible)
        read = await _records(runner, memory, scope, missing)
        unknown = unknown or len(read) < len(missing)
        return visible + StepTrace(items=read, roots=frozenset({UNKNOWN_RECALL} if unknown else ()))

    def _missing(self, look: StepView, visible: StepTrace) -> tuple[list[str], bool]:
        """Return ids of items in the state that this process has not recalled itself.

        The second value is whether the state has a text of unknown origin.
        """
        ids, unknown = list(look.ids), False
        for output_key, items_key in list(self._keys.items()):
            if first_text(look.state, (output_key,)):
                named = _ids(value_in(look.state, items_key) if items_key else ())
                unknown = unknown or not (named or visible.items)
                ids += named
        return [id_ for id_ in dict.fromkeys(ids) if id_ not in visible.items], unknown

    @property
    def _max_ids(self) -> int:
        return self._limits.thread_ids


_conversations: WeakKeyDictionary[TieredMemory, Conversations] = WeakKeyDictionary()
_lock = Lock()


def conversations_of(memory: TieredMemory) -> Conversations:
    """Return the traces of the conversations with a memory."""
    # By memory and not by node: what one node has recalled counts for the answer of another.
    with _lock:
        return _conversations.setdefault(memory, Conversations(memory))


def _key(scope: MemoryScope) -> tuple[str | None, ...]:
    return scope.tenant, scope.group_id, scope.session_id


def _ids(items: Any) -> list[str]:
    some = items if isinstance(items, list | tuple) else ()
    return [str(value_in(item, "id")) for item in some if value_in(item, "id")]


async def _stored_trace(runner: Runner, memory: TieredMemory, scope: MemoryScope) -> StepTrace:
    """Return the lineage of the entries of a conversation, from the store."""
    store = memory.parts.stores.quarantine
    which = Select.within(scope, sessions=(scope.session_id,))
    entries = await _find(runner, memory, store, which, _LATEST)
    if entries is None:
        return StepTrace(roots=frozenset({UNKNOWN_RECALL}))
    ids = dict.fromkeys(source for entry in entries for source in entry.provenance.sources)
    items = await _records(runner, memory, scope, ids)
    return StepTrace(
        items=items, roots=frozenset(r for entry in entries for r in entry.provenance.roots)
    )


async def _records(
    runner: Runner, memory: TieredMemory, scope: MemoryScope, ids: Iterable[str]
) -> dict[str, ContextItem]:
    """Return records of exactly this tenant and group by their ids; those that can be read."""
    missing = tuple(ids)
    if not missing:
        return {}
    stores, which = memory.parts.stores, Select.within(scope, ids=missing)
    records: list[Entry | Memory] = []
    for store in (stores.quarantine, stores.long_term):
        records += await _find(runner, memory, store, which) or ()
    return {record.id: item_of(record) for record in records}


async def _find(
    runner: Runner, memory: TieredMemory, store: Any, which: Select, limit: int | None = None
) -> Sequence[Any] | None:
    """Return the records of a store; None if it fails."""
    try:
        records: Sequence[Any] = (
            await runner.call(store.find, store.afind, which, limit=limit)
        ).items
    except Exception as error:  # stores may be anybody's; with "raise" it goes on
        if memory.on_error == "raise":
            raise
        logger.warning("lineage could not be read (%s)", type(error).__name__)
        return None
    return records

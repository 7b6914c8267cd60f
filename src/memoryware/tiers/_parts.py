"""The stores, rules and caches that every operation of the tiers shares."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)
from weakref import WeakSet

from memoryware import _langchain
from memoryware._clock import Clock, NewId, random_id, utc_now
from memoryware._copying import FreshOnUnpickling
from memoryware._runner import ASYNC, BLOCKING, Runner
from memoryware._warning import warn_once
from memoryware.errors import ScopeMissing, SettingError
from memoryware.events import EventContext
from memoryware.guard import Guard
from memoryware.scope import MemoryScope
from memoryware.settings import Ranking, TierLimits
from memoryware.tiers.checking import shown
from memoryware.tiers.embedding import FORMS, Embedder, Rescorer
from memoryware.tiers.journal import Journal
from memoryware.tiers.model import Entry
from memoryware.tiers.policy import PromotionPolicy
from memoryware.tiers.stores.protocol import Select, Stores
from memoryware.tiers.stores.views import Tiers
from memoryware.tiers.values import ContextItem

if TYPE_CHECKING:
    from memoryware.tiers.extraction.job_queue import ThreadJobQueue

T = TypeVar("T")
_Agent: TypeAlias = tuple[str | None, str | None, str | None]
"""Tenant, group and agent."""
_Recalled: TypeAlias = tuple[str | None, str | None, str]
"""User, session, and the id of a record."""
# A server with many agents and sessions must not grow without bound.
_MAX_AGENTS: Final = 1024
_MAX_RECALLED: Final = 256
_MAX_GROUPS: Final = 64
"""Groups whose working memory a process remembers."""

OnError = Literal["warn", "raise"]
"""What happens if a tier fails in a run: `warn` logs the failure; `raise` aborts the run."""
TtlScope = Literal["item", "list"]
"""What expires: each entry after its own time, or the whole list after the newest one's."""
OnMismatch = Literal["raise", "words"]
"""What happens where the vectors that are stored are of another model."""
WorkingRanking = Literal["recency", "relevance"]
"""How working memory is ranked: newest first, or by relevance to the query."""
_THREADS: Final = 1000
"""Threads whose decisions a process keeps."""
_UNREADABLE_FOR: Final = timedelta(minutes=10)
"""How long after a wait in vain a process does not wait as long again in the same thread."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refusal of an entry by working memory.

    Attributes:
        reason: A code, such as "too_short".
        detail: In words, with numbers; no text of the entry.
        same_as: The id of the entry in working memory that says the same; it is moved to the
            front instead.
        echo_of: Ids of the shown records that the entry only repeats.
        duplicate_of: Ids of records that say the same already and were not shown.
    """

    reason: str
    detail: str = ""
    same_as: str | None = None
    echo_of: tuple[str, ...] = ()
    duplicate_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passed:
    """Lets an entry pass, with something to know about it.

    Attributes:
        labels: Added to the metadata of the entry, such as `{"unverified": "judge_failed"}`.
    """

    labels: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class IngressFilter(Protocol):
    """Decides which entries enter working memory; the first filter that refuses decides.

    A filter that waits for something has `acheck` as well, a coroutine with the same
    arguments; without it `check` is called in a thread.
    """

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:
        """Return why an entry is refused, None to let it pass, `Passed` to label it as well.

        Args:
            entry: The candidate: `content`, `metadata`, `scope`, `provenance`.
            recent: The entries in working memory of its group now, newest first.
        """
        ...


class Forgotten(FreshOnUnpickling):
    """Ids of the records that this process has deleted last; nothing made of them is stored."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str | None, str], Sequence[str | None]] = {}

    def note(
        self,
        tenant: str | None,
        ids: Iterable[str],
        most: int,
        groups: Sequence[str | None] | None = None,
    ) -> None:
        """Keep ids in mind, and drop the oldest where these become too many.

        Args:
            tenant: Whose they were.
            ids: The ids.
            most: How many ids are kept at most.
            groups: The groups that they were in; None if that is not known.
        """
        # A dictionary keeps the order of insertion, so its first keys are the oldest.
        self._ids.update(((tenant, id_), groups or ()) for id_ in ids)
        for old in list(self._ids)[: max(0, len(self._ids) - most)]:
            self._ids.pop(old, None)

    def among(self, tenant: str | None, ids: Iterable[str]) -> bool:
        """Return whether one of these ids was forgotten."""
        return any((tenant, id_) in self._ids for id_ in ids)

    def hint(self, scope: MemoryScope, id_: str) -> str:
        """Return what to add to the error about an unknown id; "" for nothing.

        Only for a group that had the record: an error must not reveal ids of another group.
        """
        groups = self._ids.get((scope.tenant, id_), ())
        return "; it was forgotten, which deletes for good" if scope.group_id in groups else ""


@dataclass(frozen=True, slots=True)
class Settled:
    """The decisions about a thread up to a checkpoint.

    Attributes:
        checkpoint: The checkpoint.
        entries: Ids of entries that need no second look by a run that goes on from there.
    """

    checkpoint: str = ""
    entries: set[str] = field(default_factory=set)


class SettledThreads(FreshOnUnpickling):
    """The decisions of this process about the threads that it served last.

    Runs of several threads look at once: without the lock one could drop the oldest key while
    another moves it to the end.
    """

    def __init__(self) -> None:
        self._threads: OrderedDict[Hashable, Settled] = OrderedDict()
        self._runs: OrderedDict[Hashable, Any] = OrderedDict()
        self._unreadable: OrderedDict[Hashable, datetime] = OrderedDict()
        self._lock = Lock()

    def begins(self, key: Hashable, run: Any) -> bool:
        """Note that a run looks at its thread; say whether it is the first time."""
        # The handle is kept, so that no later run gets its identity.
        with self._lock:
            is_first = run is None or self._runs.get(key) is not run
            _put(self._runs, key, run)
        return is_first

    def of(self, key: Hashable) -> Settled:
        """Return the decisions about a thread."""
        return self._threads.get(key, Settled())

    def note(self, key: Hashable, settled: Settled) -> None:
        """Store the decisions about a thread."""
        with self._lock:
            _put(self._threads, key, settled)

    def note_unreadable(self, thread_id: Hashable, now: datetime) -> None:
        """Note that the checkpoint of a step in a thread was waited for in vain."""
        with self._lock:
            _put(self._unreadable, thread_id, now)

    def note_readable(self, thread_id: Hashable) -> None:
        """Note that the checkpoint of a step in a thread was read."""
        with self._lock:
            self._unreadable.pop(thread_id, None)

    def was_unreadable(self, thread_id: Hashable, now: datetime) -> bool:
        """Return whether the checkpoint of a step was waited for in vain a short while ago."""
        since = self._unreadable.get(thread_id)
        return since is not None and abs(now - since) < _UNREADABLE_FOR


def _put(cache: OrderedDict[Hashable, Any], key: Hashable, value: Any) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > _THREADS:
        cache.popitem(last=False)


class OpenedQueue(Protocol):
    """The learning queue of a memory manager."""

    queue: ThreadJobQueue

    def close(self) -> None:
        """Close the queue, and stop what reads it."""


class OpenedQueues(FreshOnUnpickling):
    """The learning queues that this process has opened for a memory and that are still in use."""

    def __init__(self) -> None:
        self._queues: WeakSet[OpenedQueue] = WeakSet()
        self._lock = Lock()

    def add(self, queue: OpenedQueue) -> None:
        """Add the queue of a manager; it is dropped with the manager."""
        with self._lock:
            self._queues.add(queue)

    def all(self) -> list[OpenedQueue]:
        """Return the queues."""
        with self._lock:
            return list(self._queues)


class RecallLog(FreshOnUnpickling):
    """Which records this process recalled lately, and for whom; ids only, no texts.

    It distinguishes echoes from duplicates if a caller does not pass what the model was shown.
    """

    def __init__(self) -> None:
        self._recalls: OrderedDict[_Agent, OrderedDict[_Recalled, None]] = OrderedDict()
        self._lock = Lock()

    def note(self, scope: MemoryScope, ids: Iterable[str]) -> None:
        """Add ids that were recalled for an agent; the oldest agents and ids are dropped."""
        agent = (scope.tenant, scope.group_id, scope.agent_id)
        with self._lock:
            recalled = self._recalls.setdefault(agent, OrderedDict())
            self._recalls.move_to_end(agent)
            for id_ in ids:
                recalled[scope.user_id, scope.session_id, id_] = None
                recalled.move_to_end((scope.user_id, scope.session_id, id_))
            while len(recalled) > _MAX_RECALLED:
                recalled.popitem(last=False)
            while len(self._recalls) > _MAX_AGENTS:
                self._recalls.popitem(last=False)

    def ids(self, scope: MemoryScope) -> frozenset[str]:
        """Return the ids that were recalled for an agent, in this session or user's name.

        Tenant, group and agent must be the same. A session or user counts only where both the
        recall and the scope name one.
        """
        with self._lock:
            recalled = [*self._recalls.get((scope.tenant, scope.group_id, scope.agent_id), ())]
        return frozenset(
            id_
            for user, session, id_ in recalled
            if (user is None or scope.user_id is None or user == scope.user_id)
            and (session is None or scope.session_id is None or session == scope.session_id)
        )


class GroupCache(FreshOnUnpickling):
    """A cache of records by group, valid as long as the generation of the group is the same."""

    def __init__(self) -> None:
        self._groups: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, group: Hashable, generation: int | None) -> Any:
        """Return the cached value of a group; None if there is none of this generation."""
        with self._lock:
            cached = self._groups.get(group)
            if cached is None or cached[0] != generation:
                return None
            self._groups.move_to_end(group)
            return cached[1]

    def put(self, group: Hashable, generation: int | None, value: Any) -> None:
        """Store a value for a group, unless its generation is unknown."""
        if generation is None:
            return
        with self._lock:
            self._groups[group] = generation, value
            self._groups.move_to_end(group)
            while len(self._groups) > _MAX_GROUPS:
                self._groups.popitem(last=False)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._groups.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The stores and the rules of one `TieredMemory`; copies share them."""

    stores: Stores
    policy: PromotionPolicy
    filters: Sequence[IngressFilter] = ()
    embedder: Embedder | None = None
    rescorer: Rescorer | None = None
    model: Any = None
    splitter: Any = None
    guard: Guard | None = field(default_factory=lambda: Guard(on_secret="redact"))  # noqa: S106
    limits: TierLimits = field(default_factory=TierLimits)
    ranking: Ranking = field(default_factory=Ranking)
    on_error: OnError = "warn"
    ttl_scope: TtlScope = "item"
    working_ranking: WorkingRanking | None = None
    share_outside: bool = False
    on_mismatch: OnMismatch = "raise"
    clock: Clock = utc_now
    new_id: NewId = random_id
    forgotten: Forgotten = field(default_factory=Forgotten)
    settled: SettledThreads = field(default_factory=SettledThreads)
    queues: OpenedQueues = field(default_factory=OpenedQueues)

    recalls: RecallLog = field(default_factory=RecallLog)
    groups: GroupCache = field(default_factory=GroupCache)
    journal: Journal | None = None
    runner: Runner = BLOCKING
    tiers: Tiers = field(init=False, repr=False, compare=False)
    _native: list[Parts] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tiers", Tiers(self.stores, self.runner))

    @property
    def native(self) -> Parts:
        """The same for operations that are awaited on an event loop."""
        if self.runner.suspends:
            return self
        if not self._native:
            self._native.append(replace(self, runner=ASYNC))
        return self._native[0]

    def on(self, runner: Runner) -> Parts:
        """Return the same for operations that a runner runs."""
        return self.native if runner.suspends else self

    async def transaction(
        self,
        scope: MemoryScope | Select | None,
        work: Callable[[Parts], Awaitable[T]],
        *,
        writes: bool = True,
    ) -> T:
        """Run a unit of work; see `Tiers.transaction`.

        Args:
            scope: The tenant and group that it is about, or a selection of several groups.
            work: The unit of work; it gets parts whose `tiers` are inside the transaction.
            writes: Whether it changes anything.
        """

        async def inside(tiers: Tiers) -> T:
            return await work(self._with(tiers))

        return await self.tiers.transaction(inside, scope, writes=writes)

    def _with(self, tiers: Tiers) -> Parts:
        if tiers is self.tiers:
            return self
        bound = object.__new__(Parts)
        for name in self.__slots__:
            object.__setattr__(bound, name, getattr(self, name))
        object.__setattr__(bound, "tiers", tiers)
        object.__setattr__(bound, "runner", tiers.runner)
        return bound

    # Views hold connections; they are made anew from the stores.
    def __reduce__(self) -> Any:
        options = {item.name: getattr(self, item.name) for item in fields(self) if item.init}
        return _parts_with, (options,)

    # A model or a client among them cannot be copied, and two logs would know half of it each.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def redacted(self, text: str) -> str:
        """Return a text without secrets."""
        return self.guard.redact(text) if self.guard else text

    def event_context(self, scope: MemoryScope) -> EventContext:
        """Return the context of events, with the stream writer of the run around this call."""
        writer = _langchain.stream_writer_of(_langchain.current_runtime())
        return EventContext(writer, scope, redact=self.guard.redact if self.guard else None)


def _parts_with(options: dict[str, Any]) -> Parts:
    return Parts(**options)


def scope_of(scope: MemoryScope | str | None) -> MemoryScope:
    """Return a scope; a text is read as its group.

    Raises:
        SettingError: For a value of another type.
    """
    if isinstance(scope, str):
        return MemoryScope(group_id=scope or None)
    if scope is not None and not isinstance(scope, MemoryScope):
        raise SettingError(
            f"scope: pass MemoryScope(group_id=...) or the name of the group, and not"
            f" {type(scope).__name__}"
        )
    return scope if scope is not None else MemoryScope()


def current_in(
    parts: Parts, scope: MemoryScope, *, now: datetime | None = None, **conditions: Any
) -> Select:
    """Return the selection of the current memories of this tenant and group.

    What the clock of another machine dates into the future is in it, and so is what begins
    within that time on purpose: ask `Memory.has_begun` where that matters.
    """
    skew = timedelta(hours=parts.limits.clock_skew_hours)
    return Select(
        tenant=scope.tenant,
        groups=(scope.group_id,),
        live_at=now or parts.clock(),
        ahead=skew,
        **conditions,
    )


def group_of(scope: MemoryScope, doing: str) -> MemoryScope:
    """Return the scope, which must have a group.

    Raises:
        ScopeMissing: If it has none.
    """
    if not scope.group_id:
        raise ScopeMissing(
            f"{doing} needs a group: pass MemoryScope(group_id=...), which says whose memory it is"
        )
    return scope


def warn_without_group(scope: MemoryScope) -> None:
    """Warn that a scope has no group, once for each tenant, user and agent.

    Once per process would hide the second tenant whose configuration is wrong.
    """
    warn_once(
        ("scope without a group", scope.tenant, scope.user_id, scope.agent_id),
        "a scope without a group has no working memory and no long-term memory: nothing is"
        " recalled, and what is said goes to quarantine only. Pass MemoryScope(group_id=...), or"
        " group_id in the context or config of the run (tenant %s, agent %s). This is logged once"
        " for each tenant, user and agent",
        scope.tenant,
        scope.agent_id,
    )


# The memory activity of one step of a graph.


@dataclass(slots=True)
class StepActivity:
    """What happened to memory inside a step.

    Attributes:
        recorded: Quarantine stores, by identity, and hashes of the texts that were recorded.
        recalled: Items that were recalled, by id.
    """

    recorded: set[tuple[int, str]] = field(default_factory=set)
    recalled: dict[str, ContextItem] = field(default_factory=dict)

    def has_recorded(self, quarantine: Any, content_hash: str) -> bool:
        """Return whether a text was recorded in this quarantine."""
        return (id(quarantine), content_hash) in self.recorded


_ACTIVITY: Final[ContextVar[StepActivity | None]] = ContextVar(
    "memoryware_step_activity", default=None
)


@contextmanager
def track_activity() -> Iterator[StepActivity]:
    """Track what happens to memory inside the block; enclosing blocks see it as well."""
    enclosing, activity = _ACTIVITY.get(), StepActivity()
    reset = _ACTIVITY.set(activity)
    try:
        yield activity
    finally:
        _ACTIVITY.reset(reset)
        if enclosing is not None:
            enclosing.recorded |= activity.recorded
            enclosing.recalled |= activity.recalled


def note_recorded(quarantine: Any, entry: Entry) -> None:
    """Note in the enclosing step, if any, that an entry was recorded."""
    activity = _ACTIVITY.get()
    if activity is not None:
        activity.recorded.add((id(quarantine), entry.content_hash))


def note_recalled(items: Iterable[ContextItem]) -> None:
    """Note in the enclosing step, if any, that items were recalled."""
    activity = _ACTIVITY.get()
    if activity is not None:
        activity.recalled.update({item.id: item for item in items})


# Checks of the options of `TieredMemory`.


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda value: all(callable(getattr(value, name, None)) for name in names)


def _embeddings(value: Any) -> bool:
    return isinstance(value, str) or callable(getattr(value, "embed_documents", None))


def _reranker(value: Any) -> bool:
    if isinstance(value, type) or _has("compress_documents")(value):
        return False  # a compressor of LangChain may have a `rerank` that is another thing
    rerank = getattr(value, "rerank", None)
    if rerank is None:
        return _has("score")(value)
    return callable(rerank) and not inspect.iscoroutinefunction(rerank)


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def _all_filters(value: Any) -> bool:
    some = not isinstance(value, str | Mapping) and hasattr(value, "__iter__")
    return some and all(isinstance(item, IngressFilter) for item in value)


_CAN_BE: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "stores": (
        _is(Stores),
        'must be stores; TieredMemory.open("sqlite:///memory.db") opens what is at an address',
    ),
    "embeddings": (
        _embeddings,
        f"must be {FORMS}, such as init_embeddings(...) returns",
    ),
    "embedding_space": (_is(str), "must be the name of a space, a text"),
    "model": (
        _has("invoke", "ainvoke"),
        "must be a LangChain chat model, such as init_chat_model(...) returns",
    ),
    "limits": (_is(TierLimits), "must be TierLimits(...)"),
    "ranking": (_is(Ranking), "must be Ranking(...)"),
    "reranker": (
        _reranker,
        "must have rerank(query, texts), no coroutine, or be a LangChain cross-encoder",
    ),
    "guard": (_is(Guard), "must be a Guard(...), or None to keep secrets"),
    "filters": (
        _all_filters,
        "must be filters, each with check(entry, recent), such as (MinLength(20),)",
    ),
    "policy": (_is(PromotionPolicy), "must be PromotionPolicy(...)"),
    "splitter": (_has("split_text"), "must have split_text, as a LangChain TextSplitter has"),
    "clock": (callable, "must be a function that returns a datetime with a time zone"),
    "new_id": (callable, "must be a function that returns a new id"),
}


def checked(**options: Any) -> None:
    """Validate the options of `TieredMemory`; None is always valid.

    Raises:
        SettingError: For the first invalid option, with what it must be.
    """
    for name, value in options.items():
        fits, requirement = _CAN_BE[name]
        if value is not None and not fits(value):
            raise SettingError(f"{name}={shown(value)}: {requirement}")

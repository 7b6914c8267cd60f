"""Records as items of a LangGraph store, and what every operation asks of such a store.

An item is kept under `(root, tier, tenant, group)` by the id of its record, in parts that
every store takes. Its value has the number of the record in the order of storing and the
record as JSON in ASCII, since not every store takes every text.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote
from weakref import WeakKeyDictionary

from memoryware import _langchain
from memoryware._runner import BLOCKING, Runner, in_thread
from memoryware.errors import SettingError, StoreNewer, StoreUnavailable
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_json
from memoryware.tiers.stores.locking import ReadWriteLock
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.selecting import fits

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Item, PutOp


Place: TypeAlias = tuple[tuple[str, ...], str]
"""A namespace, and a key in it."""

LONG_TERM: Final = "long_term"
_FORM: Final = 1
_PAGE: Final = 10_000
_GROWTH: Final = 10
"""A page that was too short is asked for again with this many times more items."""
_WRITTEN_AT_ONCE: Final = 1000
_NOTHING: Final = "_"
_EMPTY: Final = "%"
_TRIES: Final = 200
"""How often a search is tried that writers outside of memory disturb."""


@dataclass
class _State:
    """What all who use one store object in this process share."""

    lock: ReadWriteLock = field(default_factory=ReadWriteLock)
    guard: threading.Lock = field(default_factory=threading.Lock)
    last: int = 0


_states: WeakKeyDictionary[Any, _State] = WeakKeyDictionary()


@dataclass(frozen=True)
class Kept:
    """A record with what the store has beside it.

    Attributes:
        seq: Its number in the order of storing.
        record: The record.
        vectors: Of a memory: its vectors in base 64 by the names of their spaces.
    """

    seq: int
    record: Any
    vectors: dict[str, str] = field(default_factory=dict)


class BaseItems:
    """The items of memory in a LangGraph store."""

    def __init__(
        self,
        store: BaseStore,
        root: str,
        lock_timeout: float,
        grace: float,
        runner: Runner = BLOCKING,
    ) -> None:
        if not root or "." in root or root == "langgraph":
            raise SettingError(f"root={root!r}: must be a name without a dot, not 'langgraph'")
        self.root, self.grace, self.runner = root, grace, runner
        self._store, self._timeout, self._closed = store, lock_timeout, False
        try:
            self._state = _states.setdefault(store, _State())
        except TypeError:  # a store that cannot be referred to weakly
            self._state = _State()

    def close(self) -> None:
        """Take no more calls."""
        self._closed = True

    # Locking.

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Keep writers of this process out."""
        self._must_be_open()
        async with self._state.lock.reading(self.runner, self._timeout):
            yield

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Keep everybody else of this process out."""
        self._must_be_open()
        async with self._state.lock.writing(self.runner, self._timeout):
            yield

    def _must_be_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("These stores were closed; open the memory again")

    def next_seq(self) -> int:
        """Return a number higher than all before: by the clock, as processes share no counter."""
        with self._state.guard:
            self._state.last = max(self._state.last + 1, time.time_ns())
            return self._state.last

    # Places.

    def place(self, tier: str, record: Entry | Memory) -> Place:
        """Return where a record is kept."""
        scope = record.scope
        return self.space(tier, scope.tenant, scope.group_id), label(record.id)

    def space(self, tier: str, tenant: str | None, group: str | None) -> tuple[str, ...]:
        """Return the namespace of a group."""
        return self.root, tier, label(tenant), label(group)

    # Reading.

    async def get(self, places: Sequence[Place]) -> list[Any]:
        """Return the values at some places, None where there is nothing."""
        from langgraph.store.base import GetOp

        ops = [GetOp(space, key, refresh_ttl=False) for space, key in places]
        found = await self._batch(ops) if ops else []
        return [
            item.value if item is not None and (tuple(item.namespace), item.key) == place else None
            for place, item in zip(places, found, strict=True)
        ]

    async def must_be_new(self, tier: str, records: Sequence[Entry | Memory]) -> None:
        """Refuse records whose id is there already, or comes twice."""
        places = [self.place(tier, one) for one in records]
        if len({*places}) < len(places) or any(one is not None for one in await self.get(places)):
            raise StoreUnavailable("A record with this id is there already; nothing was stored")

    async def select(self, tier: str, which: Select) -> list[Kept]:
        """Return what fits a selection, what was stored last first."""
        values: list[Any]
        if which.groups is None:
            values = await self._below((self.root, tier, label(which.tenant)))
        elif which.ids is not None and len(which.ids) <= _WRITTEN_AT_ONCE:
            spaces = [self.space(tier, which.tenant, one) for one in dict.fromkeys(which.groups)]
            keys = [label(one) for one in dict.fromkeys(which.ids)]
            values = await self.get([(space, key) for space in spaces for key in keys])
        else:
            values = []
            for one in dict.fromkeys(which.groups):
                values += await self._below(self.space(tier, which.tenant, one))
        kept = [kept_of(tier, value) for value in values if value is not None]
        return sorted((one for one in kept if fits(one.record, which)), key=lambda one: -one.seq)

    async def everything(self, tier: str) -> list[Kept]:
        """Return the records of all tenants, what was stored last first."""
        values = await self._below((self.root, tier))
        return sorted((kept_of(tier, value) for value in values), key=lambda one: -one.seq)

    async def _below(self, prefix: tuple[str, ...]) -> list[Any]:
        """Return the values of a namespace and of those below it."""
        found = await self._found_below(prefix)
        return [item.value for (space, _), item in found.items() if space[: len(prefix)] == prefix]

    async def _found_below(self, prefix: tuple[str, ...]) -> dict[Place, Item]:
        limit, found = _PAGE, dict[Place, Any]()
        while True:
            page = await self._search(prefix, limit, 0)
            if len(page) < limit:
                break
            limit *= _GROWTH
        new = page
        while new:
            found |= {(tuple(item.namespace), item.key): item for item in new}
            if _langchain.keeps_to_limits(self._store) or len(found) < len(page):
                break
            # The store may have a cap of its own below the limit: see if there is more.
            more = await self._search(prefix, limit, len(found))
            new = [item for item in more if (tuple(item.namespace), item.key) not in found]
        return found

    async def _search(self, prefix: tuple[str, ...], limit: int, offset: int) -> Any:
        from langgraph.store.base import SearchOp

        op = SearchOp(prefix, limit=limit, offset=offset, refresh_ttl=False)
        (found,) = await self._batch([op])
        return found

    # Writing.

    def put(self, tier: str, kept: Kept) -> PutOp:
        """Return what puts a record into its place; the store embeds nothing of it."""
        from langgraph.store.base import PutOp

        space, key = self.place(tier, kept.record)
        body = json.dumps(record_to_json(kept.record), ensure_ascii=True)
        value: dict[str, Any] = {"form": _FORM, "seq": kept.seq, "record": body}
        if kept.vectors:
            value["vectors"] = kept.vectors
        return PutOp(space, key, value, index=False, ttl=self._minutes(kept.record))

    def put_value(self, place: Place, value: dict[str, Any] | None) -> PutOp:
        """Return what puts a value at a place, or None removes what is there."""
        from langgraph.store.base import PutOp

        return PutOp(*place, value, index=False)

    def drop(self, tier: str, record: Entry | Memory) -> PutOp:
        """Return what removes a record."""
        return self.put_value(self.place(tier, record), None)

    async def write(self, ops: Sequence[PutOp]) -> None:
        """Do all of it in this order, as one batch where there is not too much of it."""
        for start in range(0, len(ops), _WRITTEN_AT_ONCE):
            await self._batch(ops[start : start + _WRITTEN_AT_ONCE])

    def _minutes(self, record: Entry | Memory) -> float | None:
        """Return when the store may sweep a record away, where it can sweep at all."""
        expires = getattr(record, "expires_at", None)
        if expires is None or not getattr(self._store, "supports_ttl", False):
            return None
        lives: float = max((expires - record.created_at).total_seconds(), 0) + self.grace
        return lives / 60

    async def _batch(self, ops: Iterable[Any]) -> list[Any]:
        for tries in range(_TRIES):
            try:
                return list(await self.runner.call(self._store.batch, self._abatch, list(ops)))
            except RuntimeError as moved:
                # InMemoryStore walks through its own dict while others write to it.
                if "during iteration" not in str(moved) or tries == _TRIES - 1:
                    raise _failed(moved) from moved
            except Exception as error:
                raise _failed(error) from error
        raise AssertionError  # the last try has raised

    async def _abatch(self, ops: list[Any]) -> list[Any]:
        try:
            return await self._store.abatch(ops)
        except NotImplementedError:  # a store with one half only, such as SqliteStore
            return await in_thread(self._store.batch, ops)


class PendingItems(BaseItems):
    """The items inside a transaction: what is written is kept back until the end.

    Whoever has begun the transaction keeps everybody else out.
    """

    def __init__(self, items: BaseItems) -> None:
        vars(self).update(vars(items))
        self._pending: dict[Place, Any] = {}

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        yield

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        yield

    async def get(self, places: Sequence[Place]) -> list[Any]:
        pending = self._pending
        stored = await super().get([place for place in places if place not in pending])
        values = iter(stored)
        return [pending[place].value if place in pending else next(values) for place in places]

    async def _below(self, prefix: tuple[str, ...]) -> list[Any]:
        found = await self._found_below(prefix)
        values = {place: item.value for place, item in found.items() if place not in self._pending}
        values |= {place: op.value for place, op in self._pending.items() if op.value is not None}
        return [value for (space, _), value in values.items() if space[: len(prefix)] == prefix]

    async def write(self, ops: Sequence[PutOp]) -> None:
        self._pending |= {(op.namespace, op.key): op for op in ops}

    async def commit(self) -> None:
        """Write everything, in the order in which it was written first."""
        await super().write([*self._pending.values()])


def label(text: str | None) -> str:
    """Return a text as a part of a namespace that every store takes; no two have the same."""
    if not text:
        return _NOTHING if text is None else _EMPTY
    made = quote(text, safe="@+:", errors="surrogatepass").replace(".", "%2E")
    return "%5F" if made == _NOTHING else made


def kept_of(tier: str, value: Any) -> Kept:
    """Return the record of a value.

    Raises:
        StoreNewer: If a newer version wrote it.
        StoreUnavailable: If it cannot be read.
    """
    if isinstance(value, dict) and isinstance(value.get("form"), int) and value["form"] > _FORM:
        raise StoreNewer("A newer version of memoryware has written into this store: update it")
    try:
        read = memory_from_json if tier == LONG_TERM else entry_from_json
        return Kept(value["seq"], read(json.loads(value["record"])), value.get("vectors") or {})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreUnavailable(
            f"A record in {tier} cannot be read: another program has written into this namespace of"
            " the LangGraph store; choose another root"
        ) from error


def _failed(error: Exception) -> StoreUnavailable:
    return StoreUnavailable(f"The LangGraph store failed: {type(error).__name__}: {error}")

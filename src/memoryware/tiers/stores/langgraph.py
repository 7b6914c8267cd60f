"""The three tiers in a LangGraph store (`BaseStore`), for applications that have one already.

Such a store has limits, and so has this one:

- It cannot compare before it writes. Threads and tasks of one process that share the store
  object take turns, so they lose nothing; if two processes change the same record at the same
  time, the last one wins, a list in working memory may be cut too short or too long for a
  while, and a key may be recorded twice.
- Several records are changed in one batch. `SqliteStore` and `PostgresStore` make that one
  transaction; `InMemoryStore` does not need to; other stores may stop half way. The order is
  the safe one: new records come first, then the ones that they replace end or go.
- It finds by namespace and by nothing else. A search reads all records of its groups, and
  `purge`, `unembedded`, `spaces` and `walk` read those of all tenants. That is for thousands of
  records, not for millions.
- It embeds texts by itself and cannot search by a vector, so embeddings are kept as a part of
  each memory and compared here. An index of the store is neither needed nor used.

Expired entries are recognized by your clock. A store with a sweeper sweeps them some time after.

An item is kept under `(root, tier, tenant, group)` by the id of its record, in parts that every
store takes. Its value has the number of the record in the order of storing and the record as JSON
in ASCII, since not every store takes every text.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from urllib.parse import quote
from weakref import WeakKeyDictionary

from memoryware import _langchain
from memoryware._copying import SharedOnCopy
from memoryware._runner import ASYNC, BLOCKING, Runner, in_thread
from memoryware.errors import SettingError, StoreClosed, StoreNewer, StoreUnavailable
from memoryware.tiers.model import Entry
from memoryware.tiers.stores._locking import ReadWriteLock
from memoryware.tiers.stores.base import (
    RecordStore,
    RecordTransaction,
    StoredRecord,
    key_of_entry,
)
from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_json
from memoryware.tiers.stores.protocol import (
    Select,
    Space,
    Store,
    Stores,
    Tier,
    Transaction,
)

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Item, PutOp

T = TypeVar("T")
_Address: TypeAlias = tuple[tuple[str, ...], str]
"""A namespace, and a key in it."""

__all__ = ["langgraph_stores"]

_FORMAT: Final = 1
_PAGE: Final = 10_000
_GROWTH: Final = 10
"""A page that was too short is asked for again with this many times more items."""
_BATCH: Final = 1000
_NONE_LABEL: Final = "_"
_EMPTY_LABEL: Final = "%"
_MAX_ATTEMPTS: Final = 200
"""Attempts of a search that writers outside of memory disturb."""
_KEYS: Final = "keys"
"""The namespace with the ids of entries by the keys under which they were recorded."""


def langgraph_stores(
    store: BaseStore,
    *,
    root: str = "memoryware",
    lock_timeout: float = 30.0,
    grace: float = 3600.0,
) -> Stores:
    """Return the three tiers in a LangGraph store, which its owner closes.

    Args:
        store: Such as `InMemoryStore()`, or the one that a graph is compiled with.
        root: The first part of all namespaces.
        lock_timeout: Seconds to wait for other threads and tasks of this process.
        grace: Seconds after its expiry in which an entry stays, before a store that deletes
            expired items by itself may delete it.

    Returns:
        The stores of the three tiers.

    Raises:
        SettingError: If the root is empty, has a dot, or is "langgraph".
    """
    if not root or "." in root or root == "langgraph":
        raise SettingError(f"root={root!r}: must be a name without a dot, not 'langgraph'")
    return Stores.of(LangGraphStore(_Client(store, root, lock_timeout, grace)))


@dataclass
class _Shared:
    """State that all who use one store object in this process share."""

    lock: ReadWriteLock = field(default_factory=ReadWriteLock)
    guard: threading.Lock = field(default_factory=threading.Lock)
    last_number: int = 0


_shared: WeakKeyDictionary[Any, _Shared] = WeakKeyDictionary()


class _Client:
    """The LangGraph store with what memory knows about it, for both doors."""

    def __init__(self, store: BaseStore, root: str, lock_timeout: float, grace: float) -> None:
        self.store, self.root, self.lock_timeout = store, root, lock_timeout
        self.grace, self.closed = grace, False
        try:
            self.shared = _shared.setdefault(store, _Shared())
        except TypeError:  # a store that cannot be referred to weakly
            self.shared = _Shared()

    def lock(self, runner: Runner, *, writes: bool) -> AbstractAsyncContextManager[None]:
        """Keep writers of this process out, and if `writes` readers as well."""
        if self.closed:
            raise StoreClosed("These stores were closed; open the memory again")
        lock = self.shared.lock
        return (lock.writing if writes else lock.reading)(runner, self.lock_timeout)

    def next_number(self) -> int:
        """Return a number higher than all before: by the clock, as processes share no counter."""
        with self.shared.guard:
            self.shared.last_number = max(self.shared.last_number + 1, time.time_ns())
            return self.shared.last_number

    async def batch(self, runner: Runner, operations: Iterable[Any]) -> list[Any]:
        """Run operations of LangGraph and return their results.

        Raises:
            StoreUnavailable: If the store fails.
        """
        for attempt in range(_MAX_ATTEMPTS):
            try:
                return list(await runner.call(self.store.batch, self._abatch, list(operations)))
            except RuntimeError as error:
                # InMemoryStore walks through its own dict while others write to it.
                if "during iteration" not in str(error) or attempt == _MAX_ATTEMPTS - 1:
                    raise _failure(error) from error
            except Exception as error:
                raise _failure(error) from error
        raise AssertionError  # the last attempt has raised

    async def _abatch(self, operations: list[Any]) -> list[Any]:
        try:
            return await self.store.abatch(operations)
        except NotImplementedError:  # a store with one door only, such as SqliteStore
            return await in_thread(self.store.batch, operations)

    def minutes(self, record: Any) -> float | None:
        """Return the minutes until the store may sweep a record away, if it can sweep at all."""
        expires = getattr(record, "expires_at", None)
        if expires is None or not getattr(self.store, "supports_ttl", False):
            return None
        lives: float = max((expires - record.created_at).total_seconds(), 0) + self.grace
        return lives / 60


class LangGraphStore(SharedOnCopy, RecordStore):
    """All tiers in a LangGraph store; see `langgraph_stores`."""

    def __init__(self, client: _Client, runner: Runner = BLOCKING) -> None:
        self._client, self._runner, self.suspends = client, runner, runner.suspends
        self._native = self if runner.suspends else LangGraphStore(client, ASYNC)

    def halves(self) -> tuple[Store, Store]:
        return self, self._native

    async def transaction(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        about: Select | None = None,  # noqa: ARG002 - writers of all groups take turns
        writes: bool = True,
    ) -> T:
        async with self._client.lock(self._runner, writes=writes):
            transaction = _LangGraphTransaction(self._client, self._runner)
            result = await work(transaction)
            await transaction.commit()
        return result

    async def close(self) -> None:
        self._client.closed = True


class _LangGraphTransaction(RecordTransaction):
    """Collects changes, which are written as one batch at the end.

    The transaction holds the lock, so nobody of this process changes what it reads.
    """

    def __init__(self, client: _Client, runner: Runner) -> None:
        self._client, self._runner = client, runner
        self._pending: dict[_Address, PutOp] = {}

    async def commit(self) -> None:
        """Write all changes in their order, as one batch unless there are very many."""
        changes = [*self._pending.values()]
        for start in range(0, len(changes), _BATCH):
            await self._client.batch(self._runner, changes[start : start + _BATCH])

    async def rows(self, tier: Tier, selection: Select | None) -> list[StoredRecord]:
        values: list[Any]
        if selection is None:
            values = await self._below(tier)
        elif selection.groups is None:
            values = await self._below(tier, label(selection.tenant))
        elif selection.ids is not None and len(selection.ids) <= _BATCH:
            namespaces = [
                self._namespace(tier, selection.tenant, group) for group in {*selection.groups}
            ]
            keys = [label(record_id) for record_id in {*selection.ids}]
            values = await self._get([(space, key) for space in namespaces for key in keys])
        else:
            values = []
            for group in {*selection.groups}:
                values += await self._below(tier, label(selection.tenant), label(group))
        rows = [_row_of(tier, value) for value in values if value is not None]
        return sorted(rows, key=lambda row: row.number)

    async def put(self, tier: Tier, rows: Sequence[StoredRecord]) -> None:
        for row in rows:
            # A key without its entry is free; an entry without its key would be recorded again.
            if tier == "quarantine" and row.record.key is not None:
                self._put(self._key_address(row.record), {"id": label(row.record.id)})
            body = json.dumps(record_to_json(row.record), ensure_ascii=True)
            value: dict[str, Any] = {"form": _FORMAT, "seq": row.number, "record": body}
            if row.vectors:
                value["vectors"] = {
                    name: base64.b64encode(data).decode() for name, data in row.vectors.items()
                }
            self._put(self._address(tier, row.record), value, self._client.minutes(row.record))

    async def remove(self, tier: Tier, rows: Sequence[StoredRecord]) -> None:
        for row in rows:
            self._put(self._address(tier, row.record), None)
        keyed = [row.record for row in rows if getattr(row.record, "key", None) is not None]
        addresses = [self._key_address(entry) for entry in keyed if tier == "quarantine"]
        for entry, address, value in zip(
            keyed, addresses, await self._get(addresses), strict=False
        ):
            if value == {"id": label(entry.id)}:
                self._put(address, None)

    async def next_number(self) -> int:
        return self._client.next_number()

    async def get_spaces(self) -> list[Space]:
        (value,) = await self._get([self._spaces_address])
        return [] if value is None else [Space(*pair) for pair in value["spaces"]]

    async def set_spaces(self, spaces: Sequence[Space]) -> None:
        pairs = [[space.name, space.dimension] for space in spaces]
        self._put(self._spaces_address, {"spaces": pairs})

    async def with_keys(self, entries: Sequence[Entry]) -> list[Entry]:
        keyed = [entry for entry in entries if entry.key is not None]
        values = await self._get([self._key_address(entry) for entry in keyed])
        addresses = [
            (self._namespace("quarantine", entry.scope.tenant, entry.scope.group_id), value["id"])
            for entry, value in zip(keyed, values, strict=True)
            if value is not None
        ]
        rows = [_row_of("quarantine", value) for value in await self._get(addresses) if value]
        keys = {key_of_entry(entry) for entry in keyed}
        return [row.record for row in rows if key_of_entry(row.record) in keys]

    # Addresses.

    def _namespace(self, tier: str, tenant: str | None, group: str | None) -> tuple[str, ...]:
        return self._client.root, tier, label(tenant), label(group)

    def _address(self, tier: str, record: Any) -> _Address:
        scope = record.scope
        return self._namespace(tier, scope.tenant, scope.group_id), label(record.id)

    def _key_address(self, entry: Entry) -> _Address:
        return self._namespace(_KEYS, entry.scope.tenant, entry.scope.group_id), label(entry.key)

    @property
    def _spaces_address(self) -> _Address:
        return (self._client.root, "spaces"), "all"

    # Items.

    async def _get(self, addresses: Sequence[_Address]) -> list[Any]:
        """Return the values at addresses, None where there is nothing."""
        from langgraph.store.base import GetOp

        stored: dict[_Address, Any] = {}
        gets = [
            GetOp(namespace, key, refresh_ttl=False)
            for namespace, key in addresses
            if (namespace, key) not in self._pending
        ]
        for item in await self._client.batch(self._runner, gets) if gets else []:
            if item is not None:
                stored[tuple(item.namespace), item.key] = item.value
        pending = self._pending
        return [
            pending[address].value if address in pending else stored.get(address)
            for address in addresses
        ]

    async def _below(self, *names: str) -> list[Any]:
        """Return the values of a namespace and of those below it."""
        prefix = (self._client.root, *names)
        items = await self._items_below(prefix)
        values: dict[_Address, Any] = {
            address: item.value for address, item in items.items() if address not in self._pending
        }
        for address, put_op in self._pending.items():
            if put_op.value is not None:
                values[address] = put_op.value
        return [value for (space, _), value in values.items() if space[: len(prefix)] == prefix]

    async def _items_below(self, prefix: tuple[str, ...]) -> dict[_Address, Item]:
        limit, items = _PAGE, dict[_Address, Any]()
        while True:
            page = await self._search(prefix, limit, 0)
            if len(page) < limit:
                break
            limit *= _GROWTH
        new = page
        while new:
            items |= {(tuple(item.namespace), item.key): item for item in new}
            if _langchain.keeps_to_limits(self._client.store) or len(items) < len(page):
                break
            # The store may have a cap of its own below the limit: see if there is more.
            more = await self._search(prefix, limit, len(items))
            new = [item for item in more if (tuple(item.namespace), item.key) not in items]
        return items

    async def _search(self, prefix: tuple[str, ...], limit: int, offset: int) -> Any:
        from langgraph.store.base import SearchOp

        search = SearchOp(prefix, limit=limit, offset=offset, refresh_ttl=False)
        (items,) = await self._client.batch(self._runner, [search])
        return items

    def _put(self, address: _Address, value: Any, minutes: float | None = None) -> None:
        """Note a change; None removes what is there. The store embeds nothing of it."""
        from langgraph.store.base import PutOp

        self._pending[address] = PutOp(*address, value, index=False, ttl=minutes)


def label(text: str | None) -> str:
    """Encode a text as a part of a namespace that every LangGraph store accepts.

    Args:
        text: The text, or None.

    Returns:
        A label; no two texts have the same one.
    """
    if not text:
        return _NONE_LABEL if text is None else _EMPTY_LABEL
    quoted = quote(text, safe="@+:", errors="surrogatepass").replace(".", "%2E")
    return "%5F" if quoted == _NONE_LABEL else quoted


def _row_of(tier: str, value: Any) -> StoredRecord:
    """Decode the value of an item.

    Raises:
        StoreNewer: If a newer version wrote it.
        StoreUnavailable: If it cannot be read.
    """
    if isinstance(value, dict) and isinstance(value.get("form"), int) and value["form"] > _FORMAT:
        raise StoreNewer("A newer version of memoryware has written into this store: update it")
    try:
        decode = memory_from_json if tier == "long_term" else entry_from_json
        vectors = {
            name: base64.b64decode(text) for name, text in (value.get("vectors") or {}).items()
        }
        return StoredRecord(value["seq"], decode(json.loads(value["record"])), vectors)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreUnavailable(
            f"A record in {tier} cannot be read: another program has written into this namespace of"
            " the LangGraph store; choose another root"
        ) from error


def _failure(error: Exception) -> StoreUnavailable:
    return StoreUnavailable(f"The LangGraph store failed: {type(error).__name__}: {error}")

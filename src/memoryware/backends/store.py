"""`StoreBackend`: files in a LangGraph store, in a namespace per tenant.

A namespace is often computed from the runtime of a run. A script that reads the history of one
user has no run, so `override_namespace` sets the namespace for it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from memoryware import _checking, _langchain
from memoryware._clock import Clock
from memoryware._copying import ReconstructedOnUnpickling
from memoryware._runner import Runner
from memoryware.backends._locks import NamedLocks, pause
from memoryware.backends._paths import is_below
from memoryware.backends._records import NewRecord, RecordBackend, Records, add_folders
from memoryware.errors import BackendUnavailable, NamespaceError, SettingError
from memoryware.scope import MemoryScope
from memoryware.settings import FileLimits

# Parts of a namespace that every store takes as they are.
_LEGAL: Final = re.compile(r"[A-Za-z0-9\-_@+:~]+")


@dataclass(frozen=True, slots=True)
class NamespaceOverride:
    """A namespace, or the scope that the namespace function is called with."""

    namespace: tuple[str, ...] | None = None
    scope: MemoryScope | None = None

    def as_runtime(self, store: Any) -> Any:
        """Return a stand-in for the runtime of a run.

        Args:
            store: The store.

        Returns:
            An object with the attributes that namespace functions read, from the scope.
        """
        scope = self.scope or MemoryScope()
        parts = {field.name: getattr(scope, field.name) for field in fields(scope)}
        configurable = {name: value for name, value in parts.items() if value is not None}
        if scope.session_id is not None:
            configurable["thread_id"] = scope.session_id
        user = SimpleNamespace(identity=scope.user_id)
        return SimpleNamespace(
            context=SimpleNamespace(**parts),
            config={"configurable": configurable, "metadata": {}},
            store=store,
            state={},
            server_info=SimpleNamespace(user=user if scope.user_id else None),
        )


_ADDRESS: Final[ContextVar[NamespaceOverride | None]] = ContextVar(
    "memoryware_address", default=None
)


@contextmanager
def override_namespace(scope: Any = None, namespace: Any = None) -> Iterator[None]:
    """Let store backends inside the block use this namespace; without either nothing changes.

    Args:
        scope: On whose behalf; the namespace function is called with it.
        namespace: The namespace itself, as a sequence of texts.

    Raises:
        SettingError: If both are given, or one is of another kind.
    """
    if scope is None and namespace is None:
        yield
        return
    if scope is not None and namespace is not None:
        raise SettingError("scope= and namespace=: give one of them")
    if scope is not None and not isinstance(scope, MemoryScope):
        raise SettingError(f"scope={scope!r}: must be a MemoryScope(...)")
    if namespace is not None and (
        isinstance(namespace, str) or not isinstance(namespace, Sequence)
    ):
        raise SettingError(f"namespace={namespace!r}: must be a tuple such as ('memory', 'ann')")
    address = NamespaceOverride(None if namespace is None else tuple(namespace), scope)
    reset = _ADDRESS.set(address)
    try:
        yield
    finally:
        _ADDRESS.reset(reset)


def current_override() -> NamespaceOverride | None:
    """Return the override of the running block, None without one."""
    return _ADDRESS.get()


def refuse_template(namespace: tuple[str, ...]) -> None:
    """Refuse `("memory", "{user_id}")`, which would be one namespace for all users.

    Args:
        namespace: An encoded namespace.

    Raises:
        NamespaceError: If a part has braces.
    """
    # Braces are percent-encoded by then.
    if any("%7B" in part and "%7D" in part for part in namespace):
        raise NamespaceError(
            "A namespace is not a template: the part in braces would be the same for every user."
            ' Pass a function: namespace=lambda runtime: ("memory", runtime.context.user_id)'
        )


def encoded(namespace: Any) -> tuple[str, ...]:
    """Percent-encode a namespace so that every store accepts it; the encoding is injective.

    Args:
        namespace: A tuple of texts.

    Returns:
        The encoded parts.

    Raises:
        NamespaceError: If it is empty, or a part is empty, not text, or has a `*`.
    """
    if isinstance(namespace, str) or not isinstance(namespace, Sequence) or not namespace:
        raise NamespaceError(
            f"A namespace is a tuple of texts such as ('memory', user_id), not {namespace!r}"
        )
    for part in namespace:
        if not isinstance(part, str) or not part:
            raise NamespaceError(
                f"The namespace {tuple(namespace)!r} has the part {part!r}; every part must be"
                " text that is not empty (for a number: str(id)), or users without an id"
                " would share one"
            )
        # Several stores take it as a wildcard in a prefix, which would list all tenants.
        if "*" in part:
            raise NamespaceError(
                f"The namespace {tuple(namespace)!r} has the part {part!r}: '*' stands for any"
                " namespace in listings of some stores; use the exact name"
            )
    first, *rest = namespace
    # LangGraph keeps this root to itself.
    first = "%6Canggraph" if first == "langgraph" else _encoded_part(first)
    return (first, *map(_encoded_part, rest))


def _encoded_part(part: str) -> str:
    if _LEGAL.fullmatch(part):
        return part
    data = part.encode("utf-8", "surrogatepass")
    return "".join(chr(b) if _LEGAL.fullmatch(chr(b)) else f"%{b:02X}" for b in data)


if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Item

__all__ = ["Namespace", "StoreBackend"]

Namespace = tuple[str, ...] | Callable[[Any], tuple[str, ...]]
"""A namespace, or a function that returns one for the runtime (None outside a graph)."""

# A listing that was too short is asked for again with this many times more items.
_GROWTH: Final = 10
# No store is known that returns fewer items than it was asked for and has, below this.
_NO_CAP_BELOW: Final = 100
_NAMESPACES_KNOWN: Final = 256
# How often, and seconds apart, a search is tried that writers in other threads disturb.
_SEARCH_TRIES: Final = 200
_SEARCH_PAUSE: Final = 0.002


class StoreBackend(RecordBackend, ReconstructedOnUnpickling):
    """Keep files in a LangGraph store under a namespace that the caller chooses.

    Only files of exactly this namespace are visible. A LangGraph store searches by namespace
    prefix, so a listing reads the items of longer namespaces as well: keep large sets of files
    in namespaces that are not prefixes of others.

    Changes of one file wait for each other: threads, tasks, event loops and processes of
    this machine that share a user and a folder for temporary files (`TMPDIR`). A store
    cannot compare before it writes, so between two machines that change one file in the
    same moment the last one wins, unless the store's owner keeps them apart.

    Args:
        runtime: For code that passes a runtime as first argument.
        namespace: A tuple, or a function that makes one of the runtime, such as
            `lambda runtime: ("memory", runtime.context.user_id)`. There is no default, so that
            two tenants never share one by accident. A part may be any text: what stores do not
            take in a name is percent-encoded, so that two different ids never meet.
        store: The store; None takes that of the running graph.
        clock: Returns the current time, for `created_at` and `modified_at`; None asks the system.
        limits: Sizes and waiting times.

    Raises:
        NamespaceError: If there is no namespace, or one that cannot be used.
        BackendUnavailable: From every operation, if there is no store.
    """

    def __init__(
        self,
        runtime: Any = None,
        *,
        namespace: Namespace | None = None,
        store: BaseStore | None = None,
        clock: Clock | None = None,
        limits: FileLimits | None = None,
    ) -> None:
        super().__init__(clock=clock, limits=limits)
        if namespace is None and (
            runtime is None or callable(runtime) or isinstance(runtime, tuple)
        ):
            raise NamespaceError(
                "StoreBackend needs a namespace with a tenant in it; pass for example"
                ' namespace=lambda runtime: ("memory", runtime.context.user_id)'
            )
        if hasattr(runtime, "aput"):
            raise SettingError("Pass the store by name: StoreBackend(store=..., namespace=...)")
        if isinstance(runtime, str | bytes | int | float | list | type):
            raise _checking.wrong("runtime", runtime, "the runtime of a graph, or left out")
        if isinstance(namespace, type):
            raise NamespaceError(
                f"namespace={namespace.__name__} is a class; pass a tuple of texts, or a function"
                " of the runtime that returns one"
            )
        passed: Any = store
        if passed is not None and (isinstance(passed, type) or not hasattr(passed, "abatch")):
            raise _checking.wrong("store", store, "a LangGraph store, such as InMemoryStore()")
        self._runtime, self._namespace, self._store = runtime, namespace, store
        if namespace is not None and not callable(namespace):
            refuse_template(encoded(namespace))

    def _records(self) -> Records:
        current = _langchain.current_runtime()
        return _StoreRecords(self._find_store(current), self._find_namespace(current), self._limits)

    def _find_store(self, current: Any) -> BaseStore:
        for store in (
            self._store,
            *(getattr(runtime, "store", None) for runtime in (self._runtime, current)),
        ):
            if store is not None:
                return store
        raise BackendUnavailable(
            "No LangGraph store is available. Pass one, StoreBackend(store=..., namespace=...), or"
            " run inside a graph that was built with store=..."
        )

    def _find_namespace(self, current: Any) -> tuple[str, ...]:
        override = current_override()
        if self._namespace is not None and not callable(self._namespace):
            return encoded(self._namespace)
        if override is not None and override.namespace is not None:
            return encoded(override.namespace)
        if self._namespace is None:
            return encoded(self._old_default())
        runtime = None
        if override is not None:
            runtime = _Context(override.as_runtime(self._store), current)
        elif self._runtime is not None or current is not None:
            runtime = _Context(self._runtime, current)
        try:
            namespace = self._namespace(runtime)
        # What a function of the user raises when the context it reads is missing.
        except (AttributeError, KeyError, TypeError) as error:
            if runtime is None:
                raise BackendUnavailable(
                    f"The namespace is made from the runtime, and there is none outside a graph"
                    f" ({error}). Run inside a graph, or pass a namespace that does not need it;"
                    " the history of a file takes scope= or namespace="
                ) from error
            raise NamespaceError(
                f"The namespace could not be made from the runtime: {type(error).__name__}:"
                f" {error}. Pass what it reads on invoke, for example context=..."
            ) from error
        return encoded(namespace)

    def _old_default(self) -> tuple[str, ...]:
        """Return the namespace of older versions, if the run names an assistant."""
        config = getattr(self._runtime, "config", None) or _langchain.current_config()
        assistant = (config.get("metadata") or {}).get("assistant_id")
        if not assistant:
            raise NamespaceError(
                "Without an assistant id all users would share one namespace. Pass a namespace"
                ' with a tenant in it: namespace=lambda runtime: ("memory", ...)'
            )
        return (str(assistant), "filesystem")


class _Context:
    """The runtime as namespace callables read it.

    That is all of a runtime, `.config` of the run, and `.runtime` and `.state` as in older
    versions.
    """

    def __init__(self, runtime: Any, current: Any) -> None:
        self.runtime, self._current = runtime if runtime is not None else current, current

    @property
    def config(self) -> Any:
        own = getattr(self.runtime, "config", None)
        return _langchain.current_config() if own is None else own

    def __getattr__(self, name: str) -> Any:
        if hasattr(self.runtime, name):
            return getattr(self.runtime, name)
        return getattr(self._current, name)


class _StoreRecords:
    """One namespace of one store, for the length of one operation."""

    def __init__(self, store: BaseStore, namespace: tuple[str, ...], limits: FileLimits) -> None:
        self._store, self._namespace, self._limits = store, namespace, limits
        self._cache = _cache_of(store)

    async def get(self, runner: Runner, paths: Sequence[str]) -> list[Any]:
        if len(paths) == 1:
            return [await self._get_one(runner, paths[0])]
        return await runner.gather([self._get_one(runner, path) for path in paths])

    async def _get_one(self, runner: Runner, path: str) -> Any:
        get, aget = self._store.get, self._store.aget
        # Reading memory must not keep it alive: the TTL counts from the last write.
        item = await runner.call(get, aget, self._namespace, path, refresh_ttl=False)
        return item.value if item is not None and self._is_ours(item) and item.key == path else None

    # One after the other: if one fails and the locks are released, no write may still be running.

    async def put(self, runner: Runner, changes: Mapping[str, NewRecord]) -> None:
        put, aput = self._store.put, self._store.aput
        for path, change in changes.items():
            await runner.call(put, aput, self._namespace, path, dict(change.file))
        self._cache.add(self._namespace, changes)

    # One batch, so that a folder goes as a whole in stores whose batches are transactions.
    async def drop(self, runner: Runner, paths: Sequence[str]) -> None:
        from langgraph.store.base import PutOp

        operations = [PutOp(self._namespace, path, None) for path in paths]
        await runner.call(self._store.batch, self._store.abatch, operations)

    def holding(self, runner: Runner, paths: Sequence[str]) -> NamedLocks:
        # NUL is in no part of a namespace and in no path, so two names never collide.
        names = ["\0".join(("store", *self._namespace, path)) for path in paths]
        return NamedLocks(
            runner, names, path=next(iter(paths), "/"), timeout=self._limits.lock_timeout
        )

    async def has_below(self, runner: Runner, folder: str) -> bool:
        # A listing is expensive, so folders are remembered. A folder that another process made
        # since may be missed; then a file gets its name, and both can still be read.
        folders = self._cache.folders(self._namespace)
        if folders is not None and folder not in folders:
            return False
        return any(path != folder and is_below(path, folder) for path in await self.all(runner))

    async def all(self, runner: Runner) -> Mapping[str, Any]:
        items = await self._search(runner)
        values = {item.key: item.value for item in items if self._is_ours(item)}
        self._cache.learn(self._namespace, values, len(items))
        return values

    def _is_ours(self, item: Item) -> bool:
        return item.namespace == self._namespace or tuple(item.namespace) == self._namespace

    async def _search(self, runner: Runner) -> list[Item]:
        """Return all items in one search, so that nothing is lost or doubled between pages."""
        limit = max(self._limits.store_page, self._cache.expected(self._namespace))
        while True:
            items = await self._page(runner, limit, 0)
            if len(items) < limit:
                break
            # In one search and not by offset: a store may change between two pages.
            limit *= _GROWTH
        if len(items) < _NO_CAP_BELOW or _langchain.keeps_to_limits(self._store):
            return items
        # The store may have a cap of its own below the limit: see if there is more.
        while more := await self._page(runner, limit, len(items)):
            keys = {(tuple(item.namespace), item.key) for item in items}
            new = [item for item in more if (tuple(item.namespace), item.key) not in keys]
            if not new:
                break
            items += new
        return items

    async def _page(self, runner: Runner, limit: int, offset: int) -> list[Item]:
        search, asearch, namespace = self._store.search, self._store.asearch, self._namespace
        options: dict[str, Any] = {"limit": limit, "offset": offset, "refresh_ttl": False}
        tries = 0
        while True:
            try:
                return list(await runner.call(search, asearch, namespace, **options))
            except RuntimeError as moved:
                # InMemoryStore walks through its own dict while other threads write to it.
                tries += 1
                if tries == _SEARCH_TRIES or "during iteration" not in str(moved):
                    raise
            await pause(runner, _SEARCH_PAUSE)


class _NamespaceCache:
    """Cache of the last listing of each namespace of a store: its folders and its size."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._by_namespace: dict[tuple[str, ...], tuple[set[str], int]] = {}

    def folders(self, namespace: tuple[str, ...]) -> set[str] | None:
        cached = self._by_namespace.get(namespace)
        return cached[0] if cached else None

    def expected(self, namespace: tuple[str, ...]) -> int:
        """Return how many items to ask for so that one search is enough."""
        cached = self._by_namespace.get(namespace)
        return cached[1] + cached[1] // 4 + 1 if cached else 0

    def learn(self, namespace: tuple[str, ...], paths: Mapping[str, Any], count: int) -> None:
        folders: set[str] = set()
        add_folders(folders, paths)
        with self._guard:
            self._by_namespace.pop(namespace, None)
            self._by_namespace[namespace] = (folders, count)
            while len(self._by_namespace) > _NAMESPACES_KNOWN:
                del self._by_namespace[next(iter(self._by_namespace))]

    def add(self, namespace: tuple[str, ...], paths: Mapping[str, Any]) -> None:
        with self._guard:
            cached = self._by_namespace.get(namespace)
            if cached:
                add_folders(cached[0], paths)


_cache: WeakKeyDictionary[Any, _NamespaceCache] = WeakKeyDictionary()


def _cache_of(store: Any) -> _NamespaceCache:
    try:
        return _cache.setdefault(store, _NamespaceCache())
    except TypeError:  # a store that cannot be referred to weakly
        return _NamespaceCache()

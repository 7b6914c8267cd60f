"""Caches of a process: clearable function caches, and a least-recently-used mapping."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
_clear_functions: list[Callable[[], None]] = []


def clearable_cache(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function of a text with a cache of its last results.

    Functions of stored texts use this cache and no other, because `forget` must leave nothing of
    a text in the process; see `clear_caches`.

    Args:
        most: How many results are kept.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        cached = lru_cache(maxsize=most)(function)
        _clear_functions.append(cached.cache_clear)
        return cast("Callable[P, T]", cached)

    return decorate


def on_clear(forget: Callable[[], None]) -> None:
    """Register a function that `clear_caches` calls as well."""
    _clear_functions.append(forget)


def clear_caches() -> None:
    """Clear every cache of stored texts."""
    for clear in _clear_functions:
        clear()


K = TypeVar("K")
V = TypeVar("V")


# Not functools.lru_cache, which cannot drop a single entry.
class LruCache(Generic[K, V]):
    """Keeps at most `size` entries, for any number of threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()
        # What was used last; set with the lock held, read without.
        self._last: tuple[K, V] | None = None

    def get(self, key: K) -> V | None:
        """Return the entry, which counts as a use, or None."""
        last = self._last
        if last is not None and last[0] == key:
            return last[1]
        with self._lock:
            value = self._entries.get(key)
            if value is not None:
                self._entries.move_to_end(key)
                self._last = (key, value)
            return value

    def put(self, key: K, value: V) -> None:
        """Keep an entry; the one that was not used for longest goes if there are too many."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            self._last = (key, value)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def drop(self, key: K) -> None:
        """Forget an entry if it is there."""
        with self._lock:
            self._last = None
            self._entries.pop(key, None)

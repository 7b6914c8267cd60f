"""Stores by their address."""

from __future__ import annotations

from typing import Final

from memoryware._twins import in_thread
from memoryware.errors import StoreUnavailable
from memoryware.tiers.stores.protocol import Stores

_KNOWN: Final = '"sqlite:///memory.db" for a file, "memory://" for this process only'


def open_stores(url: str, *, lock_timeout: float = 30.0) -> Stores:
    """Return the stores at an address.

    Raises:
        StoreUnavailable: If there is no such kind of store, or it cannot be opened.
    """
    scheme, _, rest = url.partition("://")
    if scheme == "memory" and not rest:
        from memoryware.tiers.stores.embedded import embedded

        return embedded(lock_timeout=lock_timeout)
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        from memoryware.tiers.stores.sqlite import sqlite_stores

        return sqlite_stores(rest[1:], lock_timeout=lock_timeout)
    if scheme in ("redis", "rediss", "valkey"):
        raise StoreUnavailable(
            f"{url!r}: Redis alone has no place for quarantine and long-term memory; it needs a"
            f" database beside it (postgresql://... + redis://...). For now use {_KNOWN}"
        )
    raise StoreUnavailable(f"{url!r} is no address of a memory: use {_KNOWN}")


async def aopen_stores(url: str, *, lock_timeout: float = 30.0) -> Stores:
    """Async twin of `open_stores`."""
    return await in_thread(open_stores, url, lock_timeout=lock_timeout)

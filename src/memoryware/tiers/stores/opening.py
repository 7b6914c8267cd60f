"""Stores by their address."""

from __future__ import annotations

from typing import Final

from memoryware._twins import in_thread
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.tiers.stores.protocol import Stores

_KNOWN: Final = (
    '"sqlite:///memory.db" for a file, "postgresql://user@host/database" for a server,'
    ' "memory://" for this process only'
)


def open_stores(url: str, *, lock_timeout: float = 30.0) -> Stores:
    """Return the stores at an address.

    Raises:
        SettingError: For an address that is no text.
        StoreUnavailable: If there is no such kind of store, or it cannot be opened.
    """
    if not isinstance(url, str):
        raise SettingError(f'{url!r} is no address: pass a text, such as f"sqlite:///{{path}}"')
    scheme, _, rest = url.partition("://")
    if scheme == "memory" and not rest:
        from memoryware.tiers.stores.embedded import embedded

        return embedded(lock_timeout=lock_timeout)
    if scheme == "sqlite" and rest in ("", "/", "/:memory:"):
        raise StoreUnavailable(
            f"{url!r} names no file, and what is in none is gone in the end: use {_KNOWN}"
        )
    if scheme == "sqlite" and rest.startswith("/"):
        from memoryware.tiers.stores.sqlite import sqlite_stores

        return sqlite_stores(rest[1:], lock_timeout=lock_timeout)
    if scheme in ("postgresql", "postgres"):
        return _postgres(f"postgresql://{rest}", lock_timeout)
    if scheme in ("redis", "rediss", "valkey"):
        raise StoreUnavailable(
            f"{scheme}://...: Redis alone has no place for quarantine and long-term memory; it"
            " needs a database beside it (postgresql://... + redis://...). For now use"
            f" {_KNOWN}"
        )
    shown = f"{scheme}://..." if "@" in rest else repr(url)  # there may be a password in it
    raise StoreUnavailable(f"{shown} is no address of a memory: use {_KNOWN}")


def _postgres(url: str, lock_timeout: float) -> Stores:
    try:
        from memoryware.tiers.stores.postgres import postgres_stores
    except ImportError as error:
        if not str(error.name).startswith("psycopg") and error.name:
            raise
        raise StoreUnavailable(
            "postgresql://... needs psycopg: pip install 'memoryware[postgres]'"
        ) from error
    return postgres_stores(url, lock_timeout=lock_timeout)


async def aopen_stores(url: str, *, lock_timeout: float = 30.0) -> Stores:
    """Async twin of `open_stores`."""
    return await in_thread(open_stores, url, lock_timeout=lock_timeout)

"""Stores by their address."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from typing import Any, Final

from memoryware._install import install_command
from memoryware._runner import in_thread
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.tiers.stores.protocol import Store, Stores, TierHandle

_KNOWN: Final = (
    '"sqlite:///memory.db" for a file, "postgresql://user@host/database" for a server,'
    ' "memory://" for this process only; " + redis://host" behind one of them keeps working memory'
    " in Redis"
)
_REDIS: Final = frozenset({"redis", "rediss", "valkey", "valkeys", "unix", "redis+unix"})


FILE: Final = "sqlite:///"
"""What the address of a file begins with."""
_SETTINGS: Final = re.compile(r"\w+=[^=&/]*(&\w+=[^=&/]*)*")
_JOINED: Final = re.compile(
    r"(?<!^redis)\+\s*(?:sqlite|memory|postgres|postgresql|rediss?|valkeys?|unix|redis\+unix)://"
)


def open_stores(url: str, *, lock_timeout: float = 30.0) -> Stores:
    """Open the stores at an address.

    Two addresses joined by " + " divide the tiers: Redis has working memory, the other one the
    rest, as in "postgresql://user@host/database + redis://host".

    Args:
        url: "sqlite:///memory.db" for a file, "postgresql://user@host/database" for a server,
            "memory://" for this process only.
        lock_timeout: Seconds to wait for others who write.

    Returns:
        The stores of the three tiers.

    Raises:
        SettingError: If the address is not a text.
        StoreUnavailable: If there is no such kind of store, or it cannot be opened.
    """
    if not isinstance(url, str):
        raise SettingError(f'{url!r} is not an address: pass a text, such as f"sqlite:///{{path}}"')
    stores = _opened(url, lock_timeout)
    address = absolute_address(url)
    if _scheme_of(address) == "memory":  # gone with the process, so nothing can open it again
        return stores
    return replace(stores, reopen=partial(open_stores, address, lock_timeout=lock_timeout))


async def aopen_stores(url: str, *, lock_timeout: float = 30.0) -> Stores:
    """Open the stores at an address, without blocking the event loop.

    Two addresses joined by " + " divide the tiers: Redis has working memory, the other one the
    rest, as in "postgresql://user@host/database + redis://host".

    Args:
        url: "sqlite:///memory.db" for a file, "postgresql://user@host/database" for a server,
            "memory://" for this process only.
        lock_timeout: Seconds to wait for others who write.

    Returns:
        The stores of the three tiers.

    Raises:
        SettingError: If the address is not a text.
        StoreUnavailable: If there is no such kind of store, or it cannot be opened.
    """
    return await in_thread(open_stores, url, lock_timeout=lock_timeout)


def _opened(url: str, lock_timeout: float) -> Stores:
    """Return the stores at one address or at two that are joined."""
    addresses = [address.strip() for address in url.split(" + ")]
    if any(_JOINED.search(address) for address in addresses):
        raise StoreUnavailable(
            f"{_scheme_of(url)}://...: two addresses are joined by a plus with a space on both"
            " sides"
        )
    redis = [address for address in addresses if _scheme_of(address) in _REDIS]
    rest = [address for address in addresses if address not in redis]
    if len(addresses) == 1 and not redis:
        return _whole(url, lock_timeout)
    if redis and not rest:
        raise StoreUnavailable(
            f"{_scheme_of(redis[0])}://...: Redis alone has no place for quarantine and long-term"
            " memory; it needs a database beside it: postgresql://... + redis://..., or"
            f" sqlite:///memory.db + {_scheme_of(redis[0])}://..."
        )
    if len(redis) != 1 or len(rest) != 1:
        shown = " + ".join(map(_shown, addresses))
        raise StoreUnavailable(
            f"{shown}: a plus joins one database and one Redis, which has working memory"
        )
    stores = _whole(rest[0], lock_timeout)
    try:
        working = _working(redis[0], lock_timeout)
    except BaseException:
        stores.quarantine.close()
        raise
    return replace(stores, working=TierHandle(working, "working"))


def _whole(url: str, lock_timeout: float) -> Stores:
    """Return the stores of all tiers at one address."""
    scheme, _, rest = url.partition("://")
    if scheme == "memory" and not rest:
        from memoryware.tiers.stores.embedded import embedded

        return embedded(lock_timeout=lock_timeout)
    if scheme == "sqlite" and rest in ("", "/", "/:memory:"):
        raise StoreUnavailable(
            f"{url!r} names no file, so that nothing would be kept: use {_KNOWN}"
        )
    if scheme == "sqlite" and rest.startswith("/"):
        from memoryware.tiers.stores.sqlite import sqlite_stores

        path, settings = file_of(url)
        return sqlite_stores(path, lock_timeout=lock_timeout, **settings)
    if scheme in ("postgresql", "postgres"):
        return _postgres(f"postgresql://{rest}", lock_timeout)
    raise StoreUnavailable(f"{_shown(url)} is not an address of stores: use {_KNOWN}")


def absolute_address(url: str) -> str:
    """Make the path of a file in an address absolute, for a process in another folder.

    Args:
        url: The address of stores.

    Returns:
        The same address, with the full path.
    """
    addresses = [address.strip() for address in url.split(" + ")]
    for position, address in enumerate(addresses):
        if address.startswith(FILE) and len(address) > len(FILE):
            path = os.path.expanduser(address.removeprefix(FILE))  # noqa: PTH111 - as in file_of
            addresses[position] = f"{FILE}{os.path.abspath(path)}"  # noqa: PTH100 - links stay
    return " + ".join(addresses)


def file_of(url: str) -> tuple[str, dict[str, Any]]:
    """Split the address of a SQLite file.

    Args:
        url: Such as "sqlite:///memory.db?durability=normal".

    Returns:
        The path, and the settings behind the question mark.

    Raises:
        StoreUnavailable: If a setting is unknown or has an invalid value.
    """
    whole = os.path.expanduser(url.removeprefix(FILE))  # noqa: PTH111 - an unknown user's is refused later
    path, _, query = whole.rpartition("?")
    if not path or not _SETTINGS.fullmatch(query):
        return whole, {}
    settings = dict(pair.split("=") for pair in query.split("&"))
    for name, value in settings.items():
        if name != "durability":
            raise StoreUnavailable(
                f"{name!r} in the address is not a setting; allowed is durability=full or normal."
                " Open a file with a question mark in its name by sqlite_stores(path)"
            )
        if value not in ("full", "normal"):
            raise StoreUnavailable(f"durability={value} in the address: must be full or normal")
    return path, settings


def _postgres(url: str, lock_timeout: float) -> Stores:
    try:
        from memoryware.tiers.stores.postgres import postgres_stores
    except ImportError as error:
        if not str(error.name).startswith("psycopg") and error.name:
            raise
        raise StoreUnavailable(
            f"postgresql://... needs psycopg: {install_command('postgres')}"
        ) from error
    return postgres_stores(url, lock_timeout=lock_timeout)


def _working(url: str, lock_timeout: float) -> Store:
    """Return working memory in a Redis."""
    try:
        from memoryware.tiers.stores.redis import RedisSettings, RedisWorking
    except ModuleNotFoundError as error:
        if error.name != "redis":
            raise
        raise StoreUnavailable(
            f"{_scheme_of(url)}://... needs the package redis: {install_command('redis')}"
        ) from error
    return RedisWorking(url, RedisSettings(lock_timeout=max(lock_timeout, 0.001)))


def _scheme_of(url: str) -> str:
    return url.partition("://")[0]


def _shown(url: str) -> str:
    """Return an address as it may be shown: there may be a password in it."""
    is_plain = _scheme_of(url) in {"sqlite", "memory"} or "://" not in url
    return repr(url) if is_plain and "@" not in url else f"{_scheme_of(url)}://..."

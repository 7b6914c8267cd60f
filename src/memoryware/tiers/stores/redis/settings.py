"""How to talk to a Redis: settings, and addresses that carry them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from memoryware.errors import SettingError, StoreUnavailable

SCHEMES: Final[Mapping[str, str]] = {
    "redis": "redis",
    "rediss": "rediss",
    "valkey": "redis",
    "valkeys": "rediss",
    "unix": "unix",
    "redis+unix": "unix",
}
"""What an address of ours may begin with, and what the client library calls that."""
_EVICTION: Final = ("refuse", "allow")


@dataclass(frozen=True, kw_only=True)
class RedisSettings:
    """How to talk to a server; in an address each stands behind the question mark.

    Attributes:
        prefix: What all keys begin with; it has no braces.
        timeout: Seconds to wait for an answer.
        connect_timeout: Seconds to wait for a connection.
        lock_timeout: Seconds to wait for a free connection, and for others who change the same.
        connections: Connections at most, for all threads together and for each event loop.
        grace: Seconds after which the server itself drops what has expired and was not purged.
        eviction: "refuse" opens no server that drops data when it is full, "allow" does.
    """

    prefix: str = "wm:"
    timeout: float = 5.0
    connect_timeout: float = 5.0
    lock_timeout: float = 30.0
    connections: int = 50
    grace: float = 3600.0
    eviction: str = "refuse"

    numbers: ClassVar = ("timeout", "connect_timeout", "lock_timeout", "connections", "grace")

    def __post_init__(self) -> None:
        if set("{}") & set(self.prefix):
            raise SettingError(f"prefix={self.prefix!r}: braces say where a cluster keeps a key")
        for name in self.numbers:
            least = {"grace": 0, "connections": 1}.get(name, 0.001)
            if not getattr(self, name) >= least:
                raise SettingError(f"{name}={getattr(self, name)!r}: must be at least {least}")
        if self.eviction not in _EVICTION:
            raise SettingError(f"eviction={self.eviction!r}: must be one of {', '.join(_EVICTION)}")


@dataclass(frozen=True)
class RedisAddress:
    """Where a server is.

    Attributes:
        url: As the client library takes it; there may be a password in it.
        shown: As it may be shown.
    """

    url: str
    shown: str


def read_address(url: str, settings: RedisSettings) -> tuple[RedisAddress, RedisSettings]:
    """Return where a server is, and the settings with those that stand in its address.

    Raises:
        StoreUnavailable: If it is no address of a Redis.
        SettingError: If a setting has a value outside its range.
    """
    try:
        parts = urlsplit(url)
        shown = _shown(parts)
    except ValueError as error:
        raise _no_address() from error
    if parts.scheme not in SCHEMES or (SCHEMES[parts.scheme] == "unix" and not parts.path):
        raise _no_address()
    ours, others = dict[str, Any](), list[tuple[str, str]]()
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name in RedisSettings.numbers:
            ours[name] = _number(name, value)
        elif name in ("prefix", "eviction"):
            ours[name] = value
        elif name != "decode_responses":  # what comes back is read as bytes
            others.append((name, value))
    query = f"?{urlencode(others, quote_via=quote)}" if others else ""
    bare = f"{SCHEMES[parts.scheme]}://{parts.netloc}{parts.path}{query}"
    return RedisAddress(bare, shown), replace(settings, **ours)


def _shown(parts: SplitResult) -> str:
    if SCHEMES.get(parts.scheme) == "unix":
        return f"The Redis at {unquote(parts.path)}"
    return f"The Redis at {parts.hostname or 'localhost'}:{parts.port or 6379}"


def _number(name: str, value: str) -> float:
    try:
        # Python takes 1_0 for 10
        plain = value if value.isascii() and "_" not in value else ""
        return int(plain) if name == "connections" else float(plain)
    except ValueError as error:
        raise SettingError(f"{name}={value!r} in the address of Redis: no number") from error


def _no_address() -> StoreUnavailable:
    return StoreUnavailable(
        "This is no address of a Redis: use redis://host:6379/0, rediss://user:password@host for"
        " TLS, or unix:///path/of/the.sock"
    )

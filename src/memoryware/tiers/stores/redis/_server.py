"""A Redis or Valkey server, or a cluster, asked from threads and from any event loop."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final, TypeAlias
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit
from weakref import WeakKeyDictionary

import redis
import redis.asyncio
from redis import exceptions as theirs
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import NoPermissionError, NoScriptError, RedisError
from redis.retry import Retry

from memoryware._runner import Runner, in_thread
from memoryware.errors import SettingError, StoreClosed, StoreUnavailable, StoreUnconfirmed

# Settings and addresses.


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
    """How to talk to a server; an address has them as options behind its question mark.

    Attributes:
        prefix: The first part of all keys, without braces.
        timeout: Seconds to wait for a reply.
        connect_timeout: Seconds to wait for a connection.
        lock_timeout: Seconds to wait for a free connection, and for others who change the same.
        connections: Connections at most, for all threads together and for each event loop.
        grace: Seconds after which the server itself deletes what has expired and was not purged.
        eviction: "refuse" opens no server that evicts keys when it is full, "allow" does.
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
        raise SettingError(f"{name}={value!r} in the address of Redis: must be a number") from error


def _no_address() -> StoreUnavailable:
    return StoreUnavailable(
        "This is not an address of Redis: use redis://host:6379/0, rediss://user:password@host for"
        " TLS, or unix:///path/of/the.sock"
    )


# Errors.


_DENIED: Final = (
    "rejects this user ({message}): set user and password in the address,"
    " redis://user:password@host"
)
_FORBIDDEN: Final = (
    "denies this user a command ({message}): it needs the keys ~{prefix}* and the commands"
    " +@read +@write +@scripting +@transaction +time +info"
)
_BY_KIND: Final[tuple[tuple[tuple[type[Exception], ...], str], ...]] = (
    (
        (theirs.AuthenticationError, theirs.AuthenticationWrongNumberOfArgsError),
        _DENIED,
    ),
    ((theirs.NoPermissionError,), _FORBIDDEN),
    (
        (theirs.OutOfMemoryError,),
        "is full, and nothing was written: give it more memory (maxmemory)",
    ),
    (
        (theirs.ReadOnlyError,),
        "is a replica, which cannot be written to: use the address of the primary",
    ),
    (
        (theirs.ClusterDownError, theirs.RedisClusterException),
        "is part of a cluster that is not complete ({message}); try again when it is",
    ),
)
_BY_WORD: Final = (
    ("has no permissions", _FORBIDDEN),
    ("NOAUTH", _DENIED),
    ("WRONGPASS", _DENIED),
    (
        "WRONGTYPE",
        "has something else under one of our keys: choose another prefix, ?prefix=name:",
    ),
    (
        "MISCONF",
        "cannot write to its disk and takes nothing until it can ({message})",
    ),
)


@contextmanager
def translate_errors(shown: str, settings: RedisSettings) -> Iterator[None]:
    """Raise what the client library raises as an error of ours.

    Raises:
        StoreUnconfirmed: If there was no answer.
        StoreUnavailable: If the server refused.
    """
    try:
        yield
    except (theirs.RedisError, theirs.RedisClusterException) as error:
        raise _translated(error, shown, settings) from error


def _translated(error: Exception, shown: str, settings: RedisSettings) -> StoreUnavailable:
    message = str(error).partition("\n")[0]
    for kinds, text in _BY_KIND:
        if isinstance(error, kinds):
            return StoreUnavailable(
                f"{shown} {text.format(message=message, prefix=settings.prefix)}"
            )
    for word, text in _BY_WORD:
        if word in message:
            return StoreUnavailable(
                f"{shown} {text.format(message=message, prefix=settings.prefix)}"
            )
    if isinstance(error, theirs.TimeoutError) or message.startswith("Timeout"):
        return StoreUnconfirmed(
            f"{shown} has not answered within {settings.timeout:g} seconds: check whether it is"
            " well, or allow more, ?timeout=seconds"
        )
    if isinstance(error, theirs.ConnectionError) and message.startswith(
        ("No connection", "Too many")
    ):
        return StoreUnavailable(
            f"{shown}: all {settings.connections} connections were busy for"
            f" {settings.lock_timeout:g} seconds; allow more, ?connections=number"
        )
    if isinstance(error, theirs.ConnectionError):
        return StoreUnconfirmed(
            f"{shown} cannot be reached ({message}): check that it runs and that the address is"
            " right"
        )
    return StoreUnavailable(f"{shown} refused: {message}")


# The server.


OLDEST: Final = (6, 2)
"""The first Redis that has `ZADD ... LT`; every Valkey is younger."""
_PAUSE: Final = 0.05
"""Seconds before what was not answered is asked for once more."""


@dataclass(frozen=True)
class Script:
    """A program that a server runs as a whole, with nothing in between."""

    text: str

    @cached_property
    def digest(self) -> str:
        """The name under which a server that has run it knows it."""
        return hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    def on(self, *keys: str, values: Sequence[str | int] = ()) -> Command:
        """Return the command that runs it on some keys."""
        return (self, len(keys), *keys, *values)


Command: TypeAlias = tuple[Any, ...]
"""The words of a command, or a script and what it is given."""


@dataclass
class _Open:
    """What is open now: one client for all threads, and one for each event loop."""

    blocking: Any = None
    native: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = field(
        default_factory=WeakKeyDictionary
    )


class RedisServer:
    """One server, or one cluster; it is asked once when this is made.

    Raises:
        StoreUnavailable: If it cannot be reached, does not let us in, is too old, or drops
            what it has when it is full.
        SettingError: If a setting has a value outside its range.
    """

    def __init__(self, url: str, settings: RedisSettings) -> None:
        self._address, self.settings = read_address(url, settings)
        self._guard = threading.Lock()
        self._closed = False
        self._open = _Open()
        self.is_cluster = False
        try:
            with translate_errors(self._address.shown, self.settings):
                facts = self._about()
        except TypeError as error:  # an option that only shows when a connection is made
            raise StoreUnavailable(f"{self._address.shown} has a wrong address: {error}") from error
        if facts.get("cluster_enabled"):
            self.close()
            self.is_cluster, self._closed = True, False

    async def ask(
        self,
        runner: Runner,
        commands: Sequence[Command],
        *,
        together: bool = False,
        again: bool = True,
    ) -> list[Any]:
        """Return the answers to some commands, in their order.

        Args:
            runner: How to wait.
            commands: What to ask for.
            together: Nobody else is served in between; in a cluster that cannot be had.
            again: If there is no answer, ask once more: doing it twice does no harm.

        Raises:
            StoreUnconfirmed: If there was no answer.
            StoreUnavailable: If the server refused.
        """
        try:
            with translate_errors(self._address.shown, self.settings):
                return await self._asked(runner, commands, together=together)
        except StoreUnconfirmed:
            if not again:
                raise
        await runner.sleep(_PAUSE)
        with translate_errors(self._address.shown, self.settings):
            return await self._asked(runner, commands, together=together)

    def close(self) -> None:
        """Close all connections, also those of event loops as far as that can be done here."""
        with self._guard:
            self._closed = True
            opened, self._open = self._open, _Open()
        if opened.blocking is not None:
            opened.blocking.close()
        for loop, client in opened.native.items():
            _close_in(loop, client, self.settings.timeout)

    async def aclose(self) -> None:
        """Async twin of `close`."""
        with self._guard:
            client = self._open.native.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()
        await in_thread(self.close)

    # Asking.

    async def _asked(
        self, runner: Runner, commands: Sequence[Command], *, together: bool
    ) -> list[Any]:
        if self._closed:
            raise StoreClosed("Working memory in Redis was closed; open the memory again")
        replies = await self._replies(
            runner, [_words(command) for command in commands], together=together
        )
        # A server that was started again, or was told to forget, knows no scripts anymore.
        unknown = [
            number for number, reply in enumerate(replies) if isinstance(reply, NoScriptError)
        ]
        if unknown:
            resent = range(len(commands)) if together else unknown
            whole = [_words(commands[number], whole=True) for number in resent]
            more = await self._replies(runner, whole, together=together)
            for number, reply in zip(resent, more, strict=True):
                replies[number] = reply
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    async def _replies(
        self, runner: Runner, commands: list[list[Any]], *, together: bool
    ) -> list[Any]:
        client = await runner.call(self._blocking, self._native)
        if self.is_cluster:
            return [await _reply(runner, client, command) for command in commands]
        pipe = client.pipeline(transaction=together and len(commands) > 1)
        for command in commands:
            pipe.execute_command(*command)
        replies: list[Any] = await runner.call(pipe.execute, pipe.execute, raise_on_error=False)
        return replies

    # Clients.

    def _blocking(self) -> Any:
        with self._guard:
            if self._open.blocking is None:
                self._open.blocking = self._client(redis, Retry(NoBackoff(), 0))
            return self._open.blocking

    async def _native(self) -> Any:
        loop = asyncio.get_running_loop()
        with self._guard:
            client = self._open.native.get(loop)
            if client is None:
                client = self._client(redis.asyncio, AsyncRetry(NoBackoff(), 0))
                self._open.native[loop] = client
            return client

    def _client(self, library: Any, never: Any) -> Any:
        """Return a client that asks once: whether to ask again is decided here."""
        settings = self.settings
        patience = None if math.isinf(settings.lock_timeout) else settings.lock_timeout
        options: dict[str, Any] = {
            "socket_timeout": min(settings.timeout, threading.TIMEOUT_MAX),
            "socket_connect_timeout": min(settings.connect_timeout, threading.TIMEOUT_MAX),
            "max_connections": settings.connections,
            "protocol": 2,
        }
        try:
            if self.is_cluster:
                return library.RedisCluster.from_url(self._address.url, **options)
            pool = library.BlockingConnectionPool.from_url(
                self._address.url, timeout=patience, retry=never, **options
            )
        except (ValueError, TypeError) as error:  # an option in the address
            raise StoreUnavailable(f"{self._address.shown} has a wrong address: {error}") from error
        return library.Redis.from_pool(pool)

    # What the server says of itself.

    def _about(self) -> Mapping[str, Any]:
        try:
            facts: Mapping[str, Any] = self._blocking().info()
        except NoPermissionError:  # then nobody can see what it is
            return {}
        version = tuple(map(int, re.findall(r"\d+", str(facts.get("redis_version", "")))[:2]))
        if version and version < OLDEST:
            raise StoreUnavailable(
                f"{self._address.shown} is version {facts['redis_version']}, which is too old:"
                " memory needs Redis 6.2 or later, or a Valkey"
            )
        policy = str(facts.get("maxmemory_policy", "noeviction"))
        drops = facts.get("maxmemory") and policy != "noeviction"
        if drops and self.settings.eviction == "refuse":
            raise StoreUnavailable(
                f"{self._address.shown} drops data when it is full (maxmemory-policy {policy}), and"
                " working memory with it. Set maxmemory-policy noeviction, or say in the address"
                " that working memory may be lost, ?eviction=allow"
            )
        return facts


def _words(command: Command, *, whole: bool = False) -> list[Any]:
    """Return a command as it is sent, a script by its digest or as a whole."""
    first, *rest = command
    if not isinstance(first, Script):
        return [first, *rest]
    return ["EVAL", first.text, *rest] if whole else ["EVALSHA", first.digest, *rest]


async def _reply(runner: Runner, client: Any, command: list[Any]) -> Any:
    """Return the answer of a cluster to one command; a script that it does not know is one."""
    try:
        return await runner.call(client.execute_command, client.execute_command, *command)
    except NoScriptError as unknown:
        return unknown


def _close_in(loop: asyncio.AbstractEventLoop, client: Any, timeout: float) -> None:
    """Close the client of an event loop, which may run in this thread, in another, or no more."""
    if loop.is_closed():
        return
    try:
        here: Any = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    with suppress(RedisError, OSError, TimeoutError):
        if here is loop:
            _closing.add(task := loop.create_task(client.aclose()))
            task.add_done_callback(_closing.discard)
        elif loop.is_running():
            asyncio.run_coroutine_threadsafe(client.aclose(), loop).result(timeout)
        elif here is None:
            loop.run_until_complete(client.aclose())


_closing: Final[set[asyncio.Task[Any]]] = set()

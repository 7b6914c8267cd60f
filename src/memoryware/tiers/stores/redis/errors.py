"""What goes wrong with a Redis, in words that say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from redis import exceptions as theirs

from memoryware.errors import StoreUnavailable, StoreUnconfirmed
from memoryware.tiers.stores.redis.settings import RedisSettings

_DENIED: Final = (
    "does not let us in ({said}): put the right user and password into its address,"
    " redis://user:password@host"
)
_FORBIDDEN: Final = (
    "does not let this user do that ({said}): it needs the keys ~{prefix}* and the commands"
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
        "is part of a cluster that is not complete ({said}); try again when it is",
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
        "cannot write to its disk and takes nothing until it can ({said})",
    ),
)


@contextmanager
def told(shown: str, settings: RedisSettings) -> Iterator[None]:
    """Raise what the client library raises as an error of ours.

    Raises:
        StoreUnconfirmed: If there was no answer.
        StoreUnavailable: If the server refused.
    """
    try:
        yield
    except (theirs.RedisError, theirs.RedisClusterException) as error:
        raise _named(error, shown, settings) from error


def _named(error: Exception, shown: str, settings: RedisSettings) -> StoreUnavailable:
    said = str(error).partition("\n")[0]
    for kinds, text in _BY_KIND:
        if isinstance(error, kinds):
            return StoreUnavailable(f"{shown} {text.format(said=said, prefix=settings.prefix)}")
    for word, text in _BY_WORD:
        if word in said:
            return StoreUnavailable(f"{shown} {text.format(said=said, prefix=settings.prefix)}")
    if isinstance(error, theirs.TimeoutError) or said.startswith("Timeout"):
        return StoreUnconfirmed(
            f"{shown} has not answered within {settings.timeout:g} seconds: see whether it is"
            " well, or allow more, ?timeout=seconds"
        )
    if isinstance(error, theirs.ConnectionError) and said.startswith(("No connection", "Too many")):
        return StoreUnavailable(
            f"{shown}: all {settings.connections} connections were busy for"
            f" {settings.lock_timeout:g} seconds; allow more, ?connections=number"
        )
    if isinstance(error, theirs.ConnectionError):
        return StoreUnconfirmed(
            f"{shown} cannot be reached ({said}): see that it runs, and that the address is right"
        )
    return StoreUnavailable(f"{shown} refused: {said}")

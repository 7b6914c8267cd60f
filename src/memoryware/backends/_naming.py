"""The names of a path where its backend does not tell them."""

from __future__ import annotations

from collections.abc import Callable

from memoryware.backends._paths import normalise
from memoryware.errors import FileError


def spelled(path: str) -> tuple[str, ...]:
    """Return the one name of a path that follows from its spelling, none if it is refused."""
    try:
        return (normalise(path),)
    except FileError:
        return ()


def linked(real: Callable[[str], str], paths: list[str]) -> list[tuple[str, ...]]:
    """Return the names of paths, with that which a link leads to; a refused path has none."""
    found: list[tuple[str, ...]] = []
    for path in paths:
        own = spelled(path)
        try:
            led = normalise(real(path))
        except (ValueError, OSError):
            own, led = (), ""
        found.append(own if not own or led in own else (*own, led))
    return found

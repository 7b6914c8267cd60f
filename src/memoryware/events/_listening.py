"""Functions of the application that are called with each event, and counting them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any, Final, Self, TypeAlias

from memoryware.events._log import safely
from memoryware.events.facts import MemoryEvent

Listener: TypeAlias = Callable[[MemoryEvent], object]
"""A plain function that gets each event; what it returns is not looked at."""

_changing: Final = threading.Lock()
_listening: list[tuple[Listening, ...]] = [()]
"""One tuple that is replaced as a whole, so that who tells an event needs no lock."""


class Listening:
    """A listener that is being called, until it is closed or its block ends."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._name = f"the listener {_name(listener)}"

    def hear(self, event: Mapping[str, Any]) -> None:
        """Call the listener with a copy of an event; its errors end here."""
        safely(self._name, self._listener, copied(event))

    def close(self) -> None:
        """Call the listener no more. Closing again does nothing."""
        with _changing:
            _listening[0] = tuple(one for one in _listening[0] if one is not self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def listen(listener: Listener) -> Listening:
    """Call a function with each event of this process from now on.

    It is called where the event happens, in any thread and on the event loop as well, so it
    should be quick. An error that it raises is logged once and does not reach the run.

    Args:
        listener: A plain function, or a `Counters`.

    Returns:
        What ends it: `with listen(function): ...`, or `.close()`.

    Raises:
        TypeError: For a coroutine function, which nobody would await.
    """
    if iscoroutinefunction(listener) or iscoroutinefunction(type(listener).__call__):
        raise TypeError(f"{_name(listener)} is async; a listener is a plain function")
    listening = Listening(listener)
    with _changing:
        _listening[0] = (*_listening[0], listening)
    return listening


def listening() -> tuple[Listening, ...]:
    """Return who is listening."""
    return _listening[0]


def _name(listener: Listener) -> str:
    return getattr(listener, "__qualname__", type(listener).__qualname__)


def copied(event: Mapping[str, Any]) -> Any:
    """Return a copy that its receiver may change."""
    return {
        key: list(value)
        if isinstance(value, list)
        else dict(value)
        if isinstance(value, dict)
        else value
        for key, value in event.items()
    }


class Counters:
    """Counts events; threads may share one: `with listen(counters): ...`.

    The counts have these names:

    * `"written"`: events of that name;
    * `"write_blocked.secret"`: those with that reason;
    * `"injected.tokens"`: the sum of a number, `"injected.cut"`: of the lengths of a list.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    # A copy counts the same events, for whoever listens with it; a pickle holds the counts.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, int]:
        return self.counts()

    def __setstate__(self, counts: dict[str, int]) -> None:
        self._counts, self._lock = Counter(counts), threading.Lock()

    def __call__(self, event: MemoryEvent) -> None:
        """Count an event."""
        facts: Mapping[str, Any] = event
        name, reason = facts["event"], facts.get("reason")
        found = {f"{name}.{key}": _number(value) for key, value in facts.items()}
        if reason:
            found[f"{name}.{reason}"] = 1
        found[name] = 1
        with self._lock:
            self._counts.update({key: number for key, number in found.items() if number})

    def __getitem__(self, name: str) -> int:
        """Return a count, 0 for what has not happened."""
        with self._lock:
            return self._counts[name]

    def __repr__(self) -> str:
        return f"Counters({self.counts()})"

    def counts(self) -> dict[str, int]:
        """Return all counts as they are now, sorted by name."""
        with self._lock:
            return dict(sorted(self._counts.items()))

    def clear(self) -> None:
        """Start again from nothing."""
        with self._lock:
            self._counts.clear()


def _number(value: Any) -> int:
    if isinstance(value, list):
        return len(value)
    return value if isinstance(value, int) else 0

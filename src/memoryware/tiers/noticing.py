"""What happens to memory while a step of a graph runs, for whoever records that step.

A step may hold an agent that records itself, or ask memory by hand. Who records the step must
not record the same text again, and must know what it was made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from memoryware.tiers.records import Entry
from memoryware.tiers.values import ContextItem


@dataclass(slots=True)
class Noticed:
    """What happened to memory inside a step.

    Attributes:
        recorded: Stores and hashes of what was recorded.
        recalled: What was recalled, by id.
    """

    recorded: set[tuple[int, str]] = field(default_factory=set)
    recalled: dict[str, ContextItem] = field(default_factory=dict)

    def has(self, quarantine: Any, content_hash: str) -> bool:
        """Say whether a text was recorded in this quarantine."""
        return (id(quarantine), content_hash) in self.recorded


_NOTICED: Final[ContextVar[Noticed | None]] = ContextVar("memoryware_noticed", default=None)


@contextmanager
def noticing() -> Iterator[Noticed]:
    """Notice what happens to memory inside the block; blocks around it notice it as well."""
    around, inside = _NOTICED.get(), Noticed()
    reset = _NOTICED.set(inside)
    try:
        yield inside
    finally:
        _NOTICED.reset(reset)
        if around is not None:
            around.recorded |= inside.recorded
            around.recalled |= inside.recalled


def notice_recorded(quarantine: Any, entry: Entry) -> None:
    """Tell that an entry was recorded."""
    noticed = _NOTICED.get()
    if noticed is not None:
        noticed.recorded.add((id(quarantine), entry.content_hash))


def notice_recalled(items: Iterable[ContextItem]) -> None:
    """Tell that something was recalled."""
    noticed = _NOTICED.get()
    if noticed is not None:
        noticed.recalled.update({one.id: one for one in items})

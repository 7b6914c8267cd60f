"""Memory activity inside a step of a graph: what was recorded and recalled while it ran.

A step may hold an agent that records itself, or may query memory by hand. Code that records the
step's output reads this, so that it does not record a text twice, and knows its lineage.
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
class StepActivity:
    """What happened to memory inside a step.

    Attributes:
        recorded: Quarantine stores, by identity, and hashes of the texts that were recorded.
        recalled: Items that were recalled, by id.
    """

    recorded: set[tuple[int, str]] = field(default_factory=set)
    recalled: dict[str, ContextItem] = field(default_factory=dict)

    def has_recorded(self, quarantine: Any, content_hash: str) -> bool:
        """Say whether a text was recorded in this quarantine."""
        return (id(quarantine), content_hash) in self.recorded


_ACTIVITY: Final[ContextVar[StepActivity | None]] = ContextVar(
    "memoryware_step_activity", default=None
)


@contextmanager
def track_activity() -> Iterator[StepActivity]:
    """Track what happens to memory inside the block; enclosing blocks see it as well."""
    enclosing, activity = _ACTIVITY.get(), StepActivity()
    reset = _ACTIVITY.set(activity)
    try:
        yield activity
    finally:
        _ACTIVITY.reset(reset)
        if enclosing is not None:
            enclosing.recorded |= activity.recorded
            enclosing.recalled |= activity.recalled


def note_recorded(quarantine: Any, entry: Entry) -> None:
    """Note in the enclosing step, if any, that an entry was recorded."""
    activity = _ACTIVITY.get()
    if activity is not None:
        activity.recorded.add((id(quarantine), entry.content_hash))


def note_recalled(items: Iterable[ContextItem]) -> None:
    """Note in the enclosing step, if any, that items were recalled."""
    activity = _ACTIVITY.get()
    if activity is not None:
        activity.recalled.update({item.id: item for item in items})

"""The review queue: the digest of quarantine, without what was decided meanwhile."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote

from memoryware.inspector.keeping import find
from memoryware.inspector.site import Visit
from memoryware.tiers.model import WAITING, Entry
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Digest, Insight

_NAME: Final = "digest"
WAITS: Final = WAITING
"""The status of an entry that nobody has decided about."""


@dataclass(frozen=True)
class Group:
    """An insight, with its entries as they are now.

    Attributes:
        insight: The statement, and where it comes from.
        entries: Its sources.
        repeats: The other entries that are decided with it and still wait.
    """

    insight: Insight
    entries: tuple[Entry, ...]
    repeats: tuple[Entry, ...] = ()

    @property
    def key(self) -> str:
        """The value by which forms name it: the insight and its sources."""
        return " ".join(map(quote, (self.insight.id, *self.insight.source_entry_ids)))

    @property
    def anchor(self) -> str:
        """Its id within the page."""
        return anchor_of(self.insight.id)


def anchor_of(insight_id: str) -> str:
    """Return the id that the card of an insight has within its page."""
    return f"g-{hashlib.sha256(insight_id.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Queue:
    """What waits.

    Attributes:
        groups: Insights, those worth most to a reviewer first.
        more: How many entries were left out because there are too many.
        older: How many were left out because they are older than `queue_days`.
    """

    groups: tuple[Group, ...]
    more: int
    older: int = 0

    @property
    def waiting(self) -> int:
        """How many entries wait: what `TieredMemory.count_waiting` counts."""
        ids = {one.id for group in self.groups for one in (*group.entries, *group.repeats)}
        return len(ids) + self.more + self.older


async def queue(visit: Visit, *, fresh: bool = False) -> Queue:
    """Return what waits now.

    A digest may take a while, and a model may write it. It is made anew only after a while, on
    request, if a group of it has lost a part of its sources, or if nothing of it is left while
    something else waits.
    """
    total = (await find(visit, "quarantine", _undecided(visit), limit=0)).total
    known = visit.site.kept.get(_NAME)
    if not fresh and known and time.monotonic() - known[0] < visit.limits.queue_seconds:
        digest, total_then = known[1]
        made, broken = await _waiting(visit, digest)
        if not broken and (made or total == total_then):
            return Queue(tuple(made), digest.more, digest.older)
    digest = await visit.memory.adigest(visit.scope, since=_span(visit.limits.queue_days))
    visit.site.kept[_NAME] = (time.monotonic(), (digest, total))
    made, _ = await _waiting(visit, digest)
    return Queue(tuple(made), digest.more, digest.older)


def _span(days: float | None) -> timedelta:
    """Return how far back a number of days is; None, and too many for a date, are all time."""
    try:
        return timedelta.max if days is None else timedelta(days=days)
    except OverflowError:
        return timedelta.max


def _undecided(visit: Visit) -> Select:
    return Select.within(visit.scope, statuses=WAITS)


async def _waiting(visit: Visit, digest: Digest) -> tuple[list[Group], bool]:
    """Return the groups that wait as a whole, and whether one waits in part."""
    ids = tuple({id_ for one in digest.insights for id_ in one.entry_ids})
    if not ids:
        return [], False
    records = await find(visit, "quarantine", Select.within(visit.scope, ids=ids))
    known = {one.id: one for one in records.items if one.status in WAITS}
    groups, broken = [], False
    for insight in digest.insights:
        entries, repeats = (
            tuple(known[id_] for id_ in some if id_ in known and _is_open(known[id_], insight))
            for some in (insight.source_entry_ids, insight.repeats)
        )
        if len(entries) == len(insight.source_entry_ids):
            groups.append(Group(insight, entries, repeats))
        elif entries:
            broken = True
    return groups, broken


def _is_open(entry: Entry, insight: Insight) -> bool:
    """Say whether the statement of an insight is not decided yet for an entry."""
    statements = insight.covers.get(entry.id, ())
    return not statements or not all(one in entry.decided for one in statements)

"""What waits for a decision: the digest of quarantine, without what was decided meanwhile."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote

from memoryware.inspector.keeping import find
from memoryware.inspector.site import Visit
from memoryware.tiers.records import Entry, Status
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Digest, Insight

_NAME: Final = "digest"
WAITS: Final[tuple[Status, ...]] = ("pending", "proposed")
"""The status of what nobody has decided yet."""


@dataclass(frozen=True)
class Group:
    """Entries about the same, with what they say together.

    Attributes:
        insight: The text, and where it comes from.
        entries: The entries as they are now.
    """

    insight: Insight
    entries: tuple[Entry, ...]

    @property
    def key(self) -> str:
        """What forms call it: the insight and its entries."""
        return " ".join(map(quote, (self.insight.id, *self.insight.source_entry_ids)))

    @property
    def anchor(self) -> str:
        """What it is called within its page."""
        return f"g-{hashlib.sha256(self.insight.id.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Queue:
    """What waits.

    Attributes:
        groups: The largest first.
        more: How many entries were left out because there are too many.
    """

    groups: tuple[Group, ...]
    more: int


async def queue(visit: Visit, *, fresh: bool = False) -> Queue:
    """Return what waits now.

    A digest may take a while, and a model may write it. So it is made anew only after a while,
    if it is asked for, if a group of it has lost a part of its entries, or if nothing of it is
    left while something else waits.
    """
    total = (await find(visit, "quarantine", _undecided(visit), limit=0)).total
    known = visit.site.kept.get(_NAME)
    if not fresh and known and time.monotonic() - known[0] < visit.limits.queue_seconds:
        digest, total_then = known[1]
        made, broken = await _waiting(visit, digest)
        if not broken and (made or total == total_then):
            return Queue(tuple(made), digest.more)
    since = timedelta(days=visit.limits.queue_days)
    digest = await visit.memory.adigest(visit.scope, since=since)
    visit.site.kept[_NAME] = (time.monotonic(), (digest, total))
    made, _ = await _waiting(visit, digest)
    return Queue(tuple(made), digest.more)


def _undecided(visit: Visit) -> Select:
    return Select.within(visit.scope, statuses=WAITS)


async def _waiting(visit: Visit, digest: Digest) -> tuple[list[Group], bool]:
    """Return the groups that wait as a whole, and whether one waits in part."""
    ids = tuple(id_ for one in digest.insights for id_ in one.source_entry_ids)
    if not ids:
        return [], False
    found = await find(visit, "quarantine", Select.within(visit.scope, ids=ids))
    known = {one.id: one for one in found.items if one.status in WAITS}
    groups, broken = [], False
    for insight in digest.insights:
        entries = tuple(known[one] for one in insight.source_entry_ids if one in known)
        if len(entries) == len(insight.source_entry_ids):
            groups.append(Group(insight, entries))
        elif entries:
            broken = True
    return groups, broken

"""The review queue: the statements that wait, and how many entries they are."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote

from memoryware.errors import MemorywareError
from memoryware.events import logger
from memoryware.inspector._queries import find
from memoryware.inspector._site import WAITING_COUNT, Visit
from memoryware.stores import Select
from memoryware.tiers import Digest, Entry, Insight
from memoryware.tiers.model import WAITING, PendingPromotion, hash_of

# The queue.

_NAME: Final = "digest"
WAITS: Final = WAITING
"""The statuses of undecided entries."""


@dataclass(frozen=True)
class ReviewGroup:
    """An insight with its entries as they are now.

    Attributes:
        insight: The statement, and where it comes from.
        entries: Its sources.
        repeats: Further entries that are decided with it and still wait.
    """

    insight: Insight
    entries: tuple[Entry, ...]
    repeats: tuple[Entry, ...] = ()

    @property
    def every_entry(self) -> tuple[Entry, ...]:
        """Every entry that is decided with it."""
        return (*self.entries, *self.repeats)

    @property
    def asks_for(self) -> PendingPromotion | None:
        """What an approval does beside adding the text: replace memories, or hide them."""
        text = hash_of(self.insight.summary)
        asking = (entry.waits for entry in self.entries if entry.content_hash == text)
        return next((waits for waits in asking if waits is not None and waits.against), None)

    @property
    def key(self) -> str:
        """The value that identifies it in forms: the ids of the insight and its sources."""
        return " ".join(map(quote, (self.insight.id, *self.insight.source_entry_ids)))

    @property
    def anchor(self) -> str:
        """The HTML id of its card."""
        return anchor_of(self.insight.id)


def anchor_of(insight_id: str) -> str:
    """Return the HTML id of the card of an insight.

    Args:
        insight_id: The id of the insight.

    Returns:
        An id without special characters.
    """
    return f"g-{hashlib.sha256(insight_id.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class ReviewQueue:
    """The statements that wait for a decision.

    Attributes:
        groups: Insights, those worth most to a reviewer first.
        more: How many entries were left out because there are too many.
        older: How many were left out because they are older than `queue_days`.
    """

    groups: tuple[ReviewGroup, ...]
    more: int
    older: int = 0

    @property
    def waiting(self) -> int:
        """How many entries wait: what `TieredMemory.count_waiting` counts."""
        ids = {entry.id for group in self.groups for entry in group.every_entry}
        return len(ids) + self.more + self.older


async def load_queue(visit: Visit, *, fresh: bool = False) -> ReviewQueue:
    """Load the review queue.

    A digest may be slow, and may be written by a model, so it is cached. It is computed again
    after `queue_seconds`, on request, if a group has lost a part of its sources, or if nothing of
    it is left while other entries wait.

    Args:
        visit: The request.
        fresh: Compute the digest again.

    Returns:
        The groups that wait, the most valuable first.
    """
    total = (await find(visit, "quarantine", _undecided(visit), limit=0)).total
    cached = visit.cache.get(_NAME)
    if not fresh and cached and time.monotonic() - cached[0] < visit.limits.queue_seconds:
        digest, total_then = cached[1]
        groups, broken = await _waiting(visit, digest)
        if not broken and (groups or total == total_then):
            return _counted(visit, ReviewQueue(tuple(groups), digest.more, digest.older))
    digest = await visit.memory.adigest(visit.scope, since=_span(visit.limits.queue_days))
    visit.cache[_NAME] = (time.monotonic(), (digest, total))
    groups, _ = await _waiting(visit, digest)
    return _counted(visit, ReviewQueue(tuple(groups), digest.more, digest.older))


def _counted(visit: Visit, queue: ReviewQueue) -> ReviewQueue:
    """Note how many entries wait, so that every part of the page shows this number."""
    visit.cache[WAITING_COUNT] = (time.monotonic(), queue.waiting)
    return queue


async def count_waiting(visit: Visit) -> None:
    """Count what waits for a decision, unless it was counted a moment ago.

    A page is shown without the number if the store does not answer: the page says why itself.

    Args:
        visit: The request.
    """
    cached = visit.cache.get(WAITING_COUNT)
    if cached and time.monotonic() - cached[0] < visit.limits.kept_seconds:
        return
    try:
        number = await visit.memory.acount_waiting(visit.scope)
    except MemorywareError as error:
        logger.warning("what waits was not counted: %s", error)
        visit.cache.pop(WAITING_COUNT, None)
    else:
        visit.cache[WAITING_COUNT] = (time.monotonic(), number)


def _span(days: float | None) -> timedelta:
    """Convert days to a duration; None, and more than a date can hold, mean all time."""
    try:
        return timedelta.max if days is None else timedelta(days=days)
    except OverflowError:
        return timedelta.max


def _undecided(visit: Visit) -> Select:
    return Select.within(visit.scope, statuses=WAITS)


async def _waiting(visit: Visit, digest: Digest) -> tuple[list[ReviewGroup], bool]:
    """Return the groups whose sources are all undecided, and whether one is partly decided."""
    ids = tuple({id_ for insight in digest.insights for id_ in insight.entry_ids})
    if not ids:
        return [], False
    records = await find(visit, "quarantine", Select.within(visit.scope, ids=ids))
    waiting = {entry.id: entry for entry in records.items if entry.status in WAITS}
    groups, broken = [], False
    for insight in digest.insights:
        entries, repeats = (
            tuple(
                waiting[id_] for id_ in group if id_ in waiting and _is_open(waiting[id_], insight)
            )
            for group in (insight.source_entry_ids, insight.repeats)
        )
        if len(entries) == len(insight.source_entry_ids):
            groups.append(ReviewGroup(insight, entries, repeats))
        elif entries:
            broken = True
    return groups, broken


def _is_open(entry: Entry, insight: Insight) -> bool:
    """Whether the statement of an insight is undecided for an entry."""
    statements = insight.covers.get(entry.id, ())
    return not statements or not all(statement in entry.decided for statement in statements)

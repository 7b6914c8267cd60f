"""The review queue, and decisions about it."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from urllib.parse import quote, unquote

from memoryware.errors import MemorywareError, SettingError
from memoryware.inspector._queries import find
from memoryware.inspector._site import Visit
from memoryware.stores import Select
from memoryware.tiers import Digest, Entry, Insight, Provenance
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.material import Promotable
from memoryware.tiers.model import WAITING

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
        ids = {entry.id for group in self.groups for entry in (*group.entries, *group.repeats)}
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
    cached = visit.site.cache.get(_NAME)
    if not fresh and cached and time.monotonic() - cached[0] < visit.limits.queue_seconds:
        digest, total_then = cached[1]
        groups, broken = await _waiting(visit, digest)
        if not broken and (groups or total == total_then):
            return ReviewQueue(tuple(groups), digest.more, digest.older)
    digest = await visit.memory.adigest(visit.scope, since=_span(visit.limits.queue_days))
    visit.site.cache[_NAME] = (time.monotonic(), (digest, total))
    groups, _ = await _waiting(visit, digest)
    return ReviewQueue(tuple(groups), digest.more, digest.older)


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


# Decisions.

DONE: Final = {
    "approve": "Approved",
    "edit": "Approved as edited",
    "reject": "Rejected",
    "propose": "Proposed",
    "ungroup": "Taken out of its group",
}
"""The messages of decisions."""


@dataclass(frozen=True)
class DecisionResult:
    """The result of a decision.

    Attributes:
        message: What happened, for the person.
        changed: Whether anything was changed.
    """

    message: str
    changed: bool = True


async def decide(visit: Visit) -> DecisionResult:
    """Carry out the decision of a form about one group.

    Args:
        visit: The request with the form.

    Returns:
        What happened.

    Raises:
        PromotionRefused: If the policy refuses it.
        SettingError: If the form has no valid action.
    """
    action = visit.form.get("do")
    if action not in DONE:
        raise SettingError("Choose an action: approve, edit, reject, propose or ungroup.")
    async with visit.site.deciding:
        return await _decide_one(visit, action, visit.form.get("group"))


async def decide_all(visit: Visit) -> str:
    """Carry out one decision about each marked group.

    Args:
        visit: The request with the form.

    Returns:
        What happened, in sentences.
    """
    action, keys = visit.form.get("do"), visit.form.many("group")
    if action not in ("approve", "reject", "propose"):
        raise SettingError("Choose an action: approve, reject or propose.")
    if not keys:
        return "Nothing is marked, so nothing was changed."
    outcomes: Counter[str] = Counter()
    async with visit.site.deciding:
        rivals = await _rivals(visit, keys) if action == "approve" else set()
        for key in keys:
            if key in rivals:
                outcomes["It contradicts another marked statement; decide about it alone."] += 1
                continue
            try:
                result = await _decide_one(visit, action, key)
                outcomes[DONE[action] if result.changed else result.message] += 1
            except MemorywareError as refused:
                outcomes[str(refused)] += 1
    lines = [
        f"{outcome}: {count}." for outcome, count in outcomes.items() if outcome in DONE.values()
    ]
    others = [
        f"Not done ({count}): {outcome}"
        for outcome, count in outcomes.items()
        if outcome not in DONE.values()
    ]
    return " ".join([*lines, *others])


async def _rivals(visit: Visit, keys: Sequence[str]) -> set[str]:
    """Return the marked groups that contradict another marked group.

    A person who marks a whole page has not chosen between contradicting statements.
    """
    marked = {
        group.insight.id: group for group in (await load_queue(visit)).groups if group.key in keys
    }
    return {
        group.key
        for group in marked.values()
        if not marked.keys().isdisjoint(group.insight.conflicts_with)
    }


async def _decide_one(visit: Visit, action: str, key: str) -> DecisionResult:
    insight_id, *ids = map(unquote, key.split(" "))
    page = await find(visit, "quarantine", Select.within(visit.scope, ids=tuple(ids)))
    if conflict := _conflict(ids, page.items):
        return DecisionResult(conflict, changed=False)
    groups = {item.insight.id: item for item in (await load_queue(visit)).groups}
    group = groups.get(insight_id)
    if group is None and _has_decided(ids, page.items):
        return DecisionResult(
            "This statement is decided already; nothing was changed.", changed=False
        )
    if group is None or set(ids) != {item.id for item in group.entries}:
        message = (
            "This group has changed since the page was loaded; nothing was changed. Check it again."
        )
        return DecisionResult(message, changed=False)
    if action == "reject":
        return await _rejected(visit, group)
    if action == "ungroup":
        return await _ungrouped(visit, group)
    return await _promoted(visit, action, group)


def _conflict(ids: list[str], entries: list[Entry]) -> str:
    """Return a message if somebody else decided first; "" if all entries still wait."""
    if not ids or len(entries) < len(set(ids)):
        return "The entries of this group were deleted; nothing was changed."
    decided = next((entry for entry in entries if entry.status not in WAITS), None)
    if decided is None:
        return ""
    moment = f" at {decided.decided_at:%Y-%m-%d %H:%M}" if decided.decided_at else ""
    reviewer = decided.decided_by or "somebody"
    return f"Decided already: {decided.status} by {reviewer}{moment}. Nothing was changed."


def _has_decided(ids: list[str], entries: list[Entry]) -> bool:
    """Whether each waiting entry has a decided statement, so that this one is likely decided."""
    return all(entry.decided for entry in entries if entry.id in ids)


async def _promoted(visit: Visit, action: str, group: ReviewGroup) -> DecisionResult:
    text = visit.form.get("text").replace("\r\n", "\n").strip()
    changed = bool(text) and text != group.insight.summary.strip()
    if action == "edit" and not text:
        return DecisionResult("The text is empty, so nothing was changed.", changed=False)
    material: Promotable = group.insight
    if action in ("edit", "propose") and changed:
        provenance = Provenance.derived(DecisionActor.of(visit.by).origin, group.entries)
        material = replace(group.insight, summary=text, provenance=provenance, extractive=False)
    if action == "propose":
        await visit.memory.apropose(material, visit.scope, by=visit.by)
        return DecisionResult("Proposed. Another person can approve it now.")
    promotion = await visit.memory.apromote(material, by=visit.by)
    if promotion.proposal is not None:
        return DecisionResult(
            "Not approved: the current text of this subject is trusted more. It became a proposal"
            " for a person."
        )
    if promotion.existing:
        return DecisionResult("The same text is in long-term memory already; nothing was added.")
    message = f"{DONE[action]}: it is in long-term memory now."
    if promotion.superseded:
        message += " It replaced an older text of the same subject."
    if promotion.contradictions:
        message += " It contradicts another memory; check both."
    return DecisionResult(message)


async def _rejected(visit: Visit, group: ReviewGroup) -> DecisionResult:
    reason = visit.form.get("reason").strip()
    await visit.memory.areject(group.insight, visit.scope, by=visit.by, reason=reason)
    return DecisionResult("Rejected. It stays in quarantine and is not shown for review again.")


async def _ungrouped(visit: Visit, group: ReviewGroup) -> DecisionResult:
    entry_id = visit.form.get("entry")
    if entry_id not in {entry.id for entry in (*group.entries, *group.repeats)}:
        return DecisionResult(
            "This entry is not in the group anymore; nothing was changed.", changed=False
        )
    await visit.memory.aungroup(entry_id, visit.scope)
    visit.site.cache.pop("digest", None)
    return DecisionResult("Taken out of its group. It is reviewed alone now.")

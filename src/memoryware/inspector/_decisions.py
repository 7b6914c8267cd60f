"""Decisions about the statements of the review queue, each with what it takes to undo it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote

from memoryware.errors import MemorywareError, SettingError
from memoryware.inspector._queries import find
from memoryware.inspector._review_queue import WAITS, ReviewGroup, load_queue
from memoryware.inspector._signing import same
from memoryware.inspector._site import Undo, Visit
from memoryware.inspector._undo import ChangeLog, label_of
from memoryware.inspector._words import state_label
from memoryware.stores import Select
from memoryware.tiers import Entry, Insight, Promotion, Provenance
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.material import Promotable
from memoryware.tiers.proposals import insight_of_entry

DONE: Final = {
    "approve": "Approved",
    "share": "Approved for the group",
    "edit": "Approved as edited",
    "replace": "Replaced",
    "reject": "Rejected",
    "propose": "Proposed",
    "ungroup": "Taken out of its group",
    "approve-entry": "Approved in the words of one entry",
    "reject-entry": "Rejected one entry",
}
"""The messages of decisions."""
_BULK: Final = ("approve", "reject", "propose")
_UNREAD: Final = (
    "The page shows only the beginning of this text. Read it to its end, and decide below it."
)


@dataclass(frozen=True)
class DecisionResult:
    """The result of a decision.

    Attributes:
        message: What happened, for the person.
        changed: Whether anything was changed.
        undo: What it takes to undo it.
    """

    message: str
    changed: bool = True
    undo: Undo | None = None


# Texts that a card does not show to their end.


def is_cut(visit: Visit, text: str) -> bool:
    """Say whether a card shows only the beginning of a text.

    Args:
        visit: The request.
        text: The text.

    Returns:
        Whether its end is on a page of its own.
    """
    limits = visit.limits
    return len(text) > limits.review_chars or text.count("\n") >= limits.review_lines


def has_read(visit: Visit, text: str) -> bool:
    """Say whether the visitor has been shown a text to its end.

    Args:
        visit: The request, with the proof of the page that shows the whole text.
        text: The text.

    Returns:
        Whether a card shows all of it, or the form has the proof.
    """
    if not is_cut(visit, text):
        return True
    return same(visit.form.get("read"), visit.site.keys.read_proof(visit.session, text))


# Deciding.


async def decide(visit: Visit) -> DecisionResult:
    """Carry out the decision of a form about one statement, or about one entry of it.

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
        raise SettingError(f"Choose an action: {', '.join(DONE)}.")
    async with visit.site.deciding:
        log = ChangeLog(visit)
        result = await _decide_one(visit, action, visit.form.get("group"), log)
        if not result.changed:
            return result
        undo = await log.undo(label_of(DONE[action], log.text))
        return replace(result, undo=undo)


async def decide_all(visit: Visit) -> DecisionResult:
    """Carry out one decision about each marked statement.

    Args:
        visit: The request with the form.

    Returns:
        What happened, in sentences.
    """
    action, keys = visit.form.get("do"), visit.form.many("group")
    if action not in _BULK:
        raise SettingError(f"Choose an action: {', '.join(_BULK)}.")
    if not keys:
        return DecisionResult("Nothing is marked, so nothing was changed.", changed=False)
    outcomes: Counter[str] = Counter()
    done = 0
    async with visit.site.deciding:
        log = ChangeLog(visit)
        rivals = await _rivals(visit, keys) if action == "approve" else set()
        for key in keys:
            if key in rivals:
                outcomes["It contradicts another marked statement; decide about it alone."] += 1
                continue
            try:
                result = await _decide_one(visit, action, key, log)
                outcomes[DONE[action] if result.changed else result.message] += 1
                done += result.changed
            except MemorywareError as refused:
                outcomes[str(refused)] += 1
        undo = await log.undo(f"{DONE[action]}: {done} marked") if done else None
    lines = [
        f"{outcome}: {count}." for outcome, count in outcomes.items() if outcome in DONE.values()
    ]
    others = [
        f"Not done ({count}): {outcome}"
        for outcome, count in outcomes.items()
        if outcome not in DONE.values()
    ]
    return DecisionResult(" ".join([*lines, *others]), changed=bool(done), undo=undo)


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


async def _decide_one(visit: Visit, action: str, key: str, log: ChangeLog) -> DecisionResult:
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
    await log.watch(group.insight.entry_ids, group.insight.summary)
    if action in ("ungroup", "approve-entry", "reject-entry"):
        return await _decide_entry(visit, action, group, log)
    if action == "reject":
        return await _rejected(visit, group.insight)
    if not has_read(visit, group.insight.summary):
        return DecisionResult(_UNREAD, changed=False)
    return await _promoted(visit, action, group, log)


def _conflict(ids: list[str], entries: list[Entry]) -> str:
    """Return a message if somebody else decided first; "" if all entries still wait."""
    if not ids or len(entries) < len(set(ids)):
        return "The entries of this group were deleted; nothing was changed."
    decided = next((entry for entry in entries if entry.status not in WAITS), None)
    if decided is None:
        return ""
    moment = f" at {decided.decided_at:%Y-%m-%d %H:%M}" if decided.decided_at else ""
    reviewer = decided.decided_by or "somebody"
    status = state_label(decided.status)
    return f"Decided already: {status} by {reviewer}{moment}. Nothing was changed."


def _has_decided(ids: list[str], entries: list[Entry]) -> bool:
    """Whether each waiting entry has a decided statement, so that this one is likely decided."""
    return all(entry.decided for entry in entries if entry.id in ids)


async def _promoted(
    visit: Visit, action: str, group: ReviewGroup, log: ChangeLog
) -> DecisionResult:
    text = visit.form.get("text").replace("\r\n", "\n").strip()
    changed = bool(text) and text != group.insight.summary.strip()
    if action == "edit" and not text:
        return DecisionResult("The text is empty, so nothing was changed.", changed=False)
    material: Promotable = group.insight
    if action in ("edit", "propose") and changed:
        provenance = Provenance.derived(DecisionActor.of(visit.by).origin, group.entries)
        material = replace(group.insight, summary=text, provenance=provenance, extractive=False)
    if action == "propose":
        log.add(entry=await visit.memory.apropose(material, visit.scope, by=visit.by))
        return DecisionResult("Proposed. Another person can approve it now.")
    if action == "replace":
        return await _replaced(visit, group, log)
    promotion = await visit.memory.apromote(material, by=visit.by, shared=action == "share")
    if not (promotion.memories or promotion.proposal):
        hidden = group.asks_for.against if group.asks_for else ()
        await log.note_hidden(hidden)
        if not hidden:
            return DecisionResult("Approved: memory has nothing that it asks to forget.")
        return DecisionResult("Approved: what it asks to forget is hidden from every agent.")
    return _reported(promotion, DONE[action], log)


async def _replaced(visit: Visit, group: ReviewGroup, log: ChangeLog) -> DecisionResult:
    """Put a statement in the place of the memory that it contradicts."""
    old = visit.form.get("old")
    if old not in group.insight.contradicts:
        message = "The old text is not in conflict with this one anymore; nothing was changed."
        return DecisionResult(message, changed=False)
    promotion = await visit.memory.asupersede(old, group.insight, visit.scope, by=visit.by)
    return _reported(promotion, DONE["approve"], log)


def _reported(promotion: Promotion, label: str, log: ChangeLog) -> DecisionResult:
    """Note a promotion, and return what happened in words."""
    log.add(promotion)
    if promotion.proposal is not None:
        return DecisionResult(
            "Not approved: the current text of this subject is trusted more. It became a proposal"
            " for a person."
        )
    if promotion.existing and not promotion.superseded:
        return DecisionResult("The same text is in long-term memory already; nothing was added.")
    if promotion.memories[0].superseded_by is not None:
        return DecisionResult(
            f"{label}: it is in the history. The same speaker said later what is current; to make"
            " this text current, supersede that."
        )
    message = f"{label}: it is in long-term memory now."
    if promotion.superseded:
        message += " It replaced an older text of the same subject."
    if promotion.contradictions:
        message += " It contradicts another memory; check both."
    return DecisionResult(message)


async def _rejected(visit: Visit, insight: Insight) -> DecisionResult:
    reason = visit.form.get("reason").strip()
    await visit.memory.areject(insight, visit.scope, by=visit.by, reason=reason)
    return DecisionResult("Rejected. It stays in quarantine and is not shown for review again.")


# Single entries of a statement.


async def _decide_entry(
    visit: Visit, action: str, group: ReviewGroup, log: ChangeLog
) -> DecisionResult:
    """Decide about one entry of a statement; the others are not decided by it."""
    entry = next((item for item in group.every_entry if item.id == visit.form.get("entry")), None)
    if entry is None:
        return DecisionResult(
            "This entry is not in the group anymore; nothing was changed.", changed=False
        )
    insight = insight_of_entry(group.insight, entry)
    log.text = insight.summary
    if action == "approve-entry":
        if not has_read(visit, insight.summary):
            return DecisionResult(_UNREAD, changed=False)
        await log.watch((), insight.summary)
        promotion = await visit.memory.apromote(insight, by=visit.by)
        return _reported(promotion, DONE[action], log)
    await visit.memory.aungroup(entry.id, visit.scope)
    visit.cache.pop("digest", None)
    if action == "ungroup":
        return DecisionResult("Taken out of its group. It is reviewed alone now.")
    await _rejected(visit, insight)
    return DecisionResult("Rejected this entry alone. The others of its group still wait.")

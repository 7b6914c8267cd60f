"""Approving, editing, rejecting, proposing: each happens once, whoever presses the button."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote

from memoryware.errors import MemorywareError, SettingError
from memoryware.inspector.keeping import find
from memoryware.inspector.queue import WAITS, Group, queue
from memoryware.inspector.site import Visit
from memoryware.tiers.actors import Actor
from memoryware.tiers.material import Promotable
from memoryware.tiers.model import Entry, Provenance
from memoryware.tiers.stores.protocol import Select

DONE: Final = {
    "approve": "Approved",
    "edit": "Approved as edited",
    "reject": "Rejected",
    "propose": "Proposed",
    "ungroup": "Taken out of its group",
}
"""What a decision is called once it is there."""


@dataclass(frozen=True)
class Done:
    """What became of a decision.

    Attributes:
        said: That in words.
        changed: Whether something was done.
    """

    said: str
    changed: bool = True


async def decide(visit: Visit) -> Done:
    """Do what a form asks for with one group.

    Raises:
        PromotionRefused: If the policy asks for more.
        SettingError: If it asks for nothing that can be done.
    """
    do = visit.form.one("do")
    if do not in DONE:
        raise SettingError("Choose what shall be done: approve, edit, reject, propose or ungroup.")
    async with visit.site.deciding:
        return await _one(visit, do, visit.form.one("group"))


async def many_at_once(visit: Visit) -> str:
    """Do the same with each marked group; return what became of them."""
    do, keys = visit.form.one("do"), visit.form.many("group")
    if do not in ("approve", "reject", "propose"):
        raise SettingError("Choose what shall be done: approve, reject or propose.")
    if not keys:
        return "Nothing was marked, so nothing was done."
    counted: Counter[str] = Counter()
    async with visit.site.deciding:
        rivals = await _rivals(visit, keys) if do == "approve" else set()
        for key in keys:
            if key in rivals:
                counted[
                    "It is in conflict with another marked statement; decide about it alone."
                ] += 1
                continue
            try:
                done = await _one(visit, do, key)
                counted[DONE[do] if done.changed else done.said] += 1
            except MemorywareError as refused:
                counted[str(refused)] += 1
    lines = [f"{said}: {count}." for said, count in counted.items() if said in DONE.values()]
    others = [
        f"Not done ({count}): {said}"
        for said, count in counted.items()
        if said not in DONE.values()
    ]
    return " ".join([*lines, *others])


async def _rivals(visit: Visit, keys: Sequence[str]) -> set[str]:
    """Return the marked groups that are in conflict with another marked one.

    Whoever marks all of a page has not chosen between two statements that disagree.
    """
    marked = {one.insight.id: one for one in (await queue(visit)).groups if one.key in keys}
    return {
        one.key
        for one in marked.values()
        if not marked.keys().isdisjoint(one.insight.conflicts_with)
    }


async def _one(visit: Visit, do: str, key: str) -> Done:
    insight_id, *ids = map(unquote, key.split(" "))
    found = await find(visit, "quarantine", Select.within(visit.scope, ids=tuple(ids)))
    if before := _before(ids, found.items):
        return Done(before, changed=False)
    known = {one.insight.id: one for one in (await queue(visit)).groups}
    group = known.get(insight_id)
    if group is None and _is_decided(ids, found.items):
        return Done("This statement is decided already. Nothing was done.", changed=False)
    if group is None or set(ids) != {one.id for one in group.entries}:
        said = (
            "This group has changed since the page was loaded. Nothing was done; look at it anew."
        )
        return Done(said, changed=False)
    if do == "reject":
        return await _rejected(visit, group)
    if do == "ungroup":
        return await _ungrouped(visit, group)
    return await _promoted(visit, do, group)


def _before(ids: list[str], entries: list[Entry]) -> str:
    """Return who was first; "" if all of it still waits."""
    if not ids or len(entries) < len(set(ids)):
        return "What this group was made of is not there anymore. Nothing was done."
    decided = next((one for one in entries if one.status not in WAITS), None)
    if decided is None:
        return ""
    at = f" at {decided.decided_at:%Y-%m-%d %H:%M}" if decided.decided_at else ""
    who = decided.decided_by or "somebody"
    return f"Decided already: {decided.status} by {who}{at}. Nothing was done a second time."


def _is_decided(ids: list[str], entries: list[Entry]) -> bool:
    """Say whether entries that still wait have decided statements, so that one is likely meant."""
    return all(one.decided for one in entries if one.id in ids)


async def _promoted(visit: Visit, do: str, group: Group) -> Done:
    text = visit.form.one("text").replace("\r\n", "\n").strip()
    changed = bool(text) and text != group.insight.summary.strip()
    if do == "edit" and not text:
        return Done("There was no text, so nothing was done.", changed=False)
    what: Promotable = group.insight
    if do in ("edit", "propose") and changed:
        made = Provenance.made(Actor.of(visit.by).origin, group.entries)
        what = replace(group.insight, summary=text, provenance=made, extractive=False)
    if do == "propose":
        await visit.memory.apropose(what, visit.scope, by=visit.by)
        return Done("Proposed. Somebody else can approve it now.")
    made_of = await visit.memory.apromote(what, by=visit.by)
    if made_of.proposal is not None:
        return Done(
            "Not approved: what is current of this subject is trusted more. It waits as a proposal"
            " for a person."
        )
    if made_of.existing:
        return Done("The same text is in long-term memory already; nothing was added to it.")
    said = f"{DONE[do]}: it is in long-term memory now."
    if made_of.superseded:
        said += " It took the place of an older text of the same subject."
    if made_of.contradictions:
        said += " It contradicts what is there; look at both."
    return Done(said)


async def _rejected(visit: Visit, group: Group) -> Done:
    reason = visit.form.one("reason").strip()
    await visit.memory.areject(group.insight, visit.scope, by=visit.by, reason=reason)
    return Done("Rejected. It stays in quarantine and is not asked about again.")


async def _ungrouped(visit: Visit, group: Group) -> Done:
    entry_id = visit.form.one("entry")
    if entry_id not in {one.id for one in (*group.entries, *group.repeats)}:
        return Done("This entry is no part of the group any more. Nothing was done.", changed=False)
    await visit.memory.aungroup(entry_id, visit.scope)
    visit.site.kept.pop("digest", None)
    return Done("Taken out of its group. It is decided by itself now.")

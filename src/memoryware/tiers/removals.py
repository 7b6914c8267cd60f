"""Approve a request to forget: hide what it names, and close the entry that asks for it."""

from __future__ import annotations

from memoryware.errors import EntryMissing, PromotionRefused
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.material import edited
from memoryware.tiers.model import DECIDED, Entry, PendingPromotion
from memoryware.tiers.proposals import closed
from memoryware.tiers.revoke import revoke
from memoryware.tiers.values import Promotion


class RemovalAsked(PromotionRefused):
    """A promotion of an entry that asks to forget something; nothing is promoted by it.

    `promote` hides what it names instead. Whatever else promotes several things at once, or puts
    the entry in the place of a memory, refuses it.
    """

    def __init__(self, entry: Entry) -> None:
        super().__init__(
            f"Entry {entry.id} asks to forget something, so there is nothing to promote: approve it"
            " by itself with promote(entry), or reject it",
            ("removal",),
        )
        self.entry = entry


async def remove_as_asked(parts: Parts, entry: Entry, actor: DecisionActor) -> Promotion:
    """Hide what an entry asks to forget, and close the entry.

    Two transactions: if the process ends between them, the entry waits, and to approve it again
    hides nothing twice.

    Args:
        parts: The memory.
        entry: The entry.
        actor: Who has approved it.

    Returns:
        A promotion without memories; what was hidden is named as superseded.
    """
    waits = entry.waits or PendingPromotion(subject="")
    hidden = []
    for id_ in waits.against:
        try:
            await revoke(
                parts, id_, entry.scope, by=actor.name, reason=entry.content, descendants=False
            )
        except EntryMissing:  # it was forgotten for good meanwhile
            continue
        hidden.append(id_)

    def close(stored: Entry) -> Entry:
        if stored.status in DECIDED:
            return stored
        return closed(stored, "promoted", by=actor.name, at=parts.clock())

    await edited(parts, [entry], close)
    return Promotion(superseded=waits.replaces or tuple(hidden))

"""Reject or propose several things in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.material import Promotable
from memoryware.tiers.model import Entry
from memoryware.tiers.proposals import propose, rejected
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Insight


async def reject_many(
    parts: Parts,
    items: Sequence[str | Entry | Insight],
    scope: MemoryScope,
    *,
    by: str,
    reason: str = "",
) -> list[Entry]:
    """Reject several things in one transaction, all of them or none; see `reject`.

    Args:
        parts: The stores and the rules of the memory.
        items: Entries, their ids, or insights.
        scope: Whose memory it is.
        by: Who rejects them.
        reason: Why, in words; it is kept with the entries.

    Returns:
        The entries, in order.
    """
    actor = DecisionActor.of(by)

    async def work(inside: Parts) -> list[tuple[Entry, Select]]:
        done = [await rejected(inside, item, scope, actor, reason) for item in items]
        if inside.tiers.is_joint:
            await _leave_working(inside, done)
        return done

    done = await parts.transaction(scope, work)
    if not parts.tiers.is_joint:
        await _leave_working(parts, done)
    return [entry for entry, _ in done]


async def propose_many(
    parts: Parts, items: Sequence[Promotable], scope: MemoryScope, *, by: str
) -> list[Entry]:
    """Propose several things in one transaction, all of them or none; see `propose`.

    Args:
        parts: The memory.
        items: Texts, entries or insights.
        scope: Whose memory they would become.
        by: Who proposes them.

    Returns:
        The entries that wait for a decision, in order.
    """

    async def work(inside: Parts) -> list[Entry]:
        return [await propose(inside, item, scope, by=by) for item in items]

    return await parts.transaction(scope, work)


async def _leave_working(parts: Parts, rejected: Sequence[tuple[Entry, Select]]) -> None:
    for _, gone in rejected:
        await parts.tiers.working.delete(gone)

"""Reopen entries: undo a reviewer's decision, so that its entries wait again.

What was promoted by the decision is revoked with a receipt, as `revoke` does it, together with what
was made of it since; other promotions of the same text stay.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.audit import note
from memoryware.tiers.journal import line_of
from memoryware.tiers.model import Entry, PromotionRecord, Status
from memoryware.tiers.revoke import AffectedRecords, affected_by_promotions, hide, hide_working
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Counts, Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChange:
    """What a decision changed about one entry of quarantine.

    Attributes:
        id: The entry.
        status: Its status after the decision.
        decided_at: When that was decided; None if it still waits.
        statements: Digests of the statements that were decided; () for the entry as a whole.
        proposer: Who was added to its proposers; "" if nobody was.
        ungrouped: Whether it was taken out of its group.
    """

    id: str
    status: Status
    decided_at: datetime | None = None
    statements: tuple[str, ...] = ()
    proposer: str = ""
    ungrouped: bool = False

    @classmethod
    def between(cls, before: Entry, after: Entry) -> EntryChange | None:
        """Return what happened to an entry.

        Args:
            before: The entry before the decision.
            after: The same entry after it.

        Returns:
            The change; None if nothing was decided about it.
        """
        statements = tuple(after.decided.keys() - before.decided.keys())
        proposers = [name for name in after.all_proposers if name not in before.all_proposers]
        change = cls(
            id=after.id,
            status=after.status,
            decided_at=after.decided_at,
            statements=statements,
            proposer=proposers[0] if proposers else "",
            ungrouped=after.ungrouped and not before.ungrouped,
        )
        is_decided = statements or proposers or change.ungrouped or after.status != before.status
        return change if is_decided else None

    def undone(self, entry: Entry, memories: frozenset[str]) -> Entry:
        """Return an entry as it was before; unchanged if it was changed again since.

        Args:
            entry: The entry as it is now.
            memories: Memories that are revoked with the decision.

        Returns:
            The entry.
        """
        is_same = (entry.status, entry.decided_at) == (self.status, self.decided_at)
        has_statements = bool(self.statements) and self.statements_in(entry)
        if entry.revocation is not None or not (is_same or has_statements):
            return entry
        decided = {key: value for key, value in entry.decided.items() if key not in self.statements}
        proposers = tuple(name for name in entry.all_proposers if name != self.proposer)
        metadata = dict(entry.metadata)
        if "rejected" not in decided.values():
            metadata.pop("rejected_because", None)
        return replace(
            entry,
            status="proposed" if proposers else "pending",
            decided=decided,
            decided_by=None,
            decided_at=None,
            proposers=proposers,
            proposed_by=proposers[-1] if proposers else None,
            metadata=metadata,
            ungrouped=entry.ungrouped and not self.ungrouped,
            memory_ids=tuple(id_ for id_ in entry.memory_ids if id_ not in memories),
        )

    def statements_in(self, entry: Entry) -> bool:
        """Return whether the statements are decided in an entry.

        Args:
            entry: The entry.

        Returns:
            Whether all of them are.
        """
        return self.statements != () and set(self.statements) <= entry.decided.keys()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecision:
    """A decision that is to be undone.

    Attributes:
        changes: What it changed about entries.
        memories: Memories that it promoted, or that it promoted once more.
        is_meant: Which promotions of these memories are undone.
    """

    changes: tuple[EntryChange, ...] = ()
    memories: tuple[str, ...] = ()
    is_meant: Callable[[PromotionRecord], bool] = lambda _: True

    def is_open(self, promotion: PromotionRecord) -> bool:
        """Return whether a promotion is undone by it, and was not before.

        Args:
            promotion: A promotion of one of the memories.

        Returns:
            Whether it is.
        """
        return not promotion.revocations and self.is_meant(promotion)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened:
    """The result of reopening entries.

    Attributes:
        ids: The entries that wait again.
        missed: How many were changed again since, or are gone, and stay as they are.
        kept: Memories that stay, because others have promoted them as well.
        receipt: The receipt of what was revoked; None if nothing was.
    """

    ids: tuple[str, ...] = ()
    missed: int = 0
    kept: tuple[str, ...] = ()
    receipt: Receipt | None = None


async def reopen(
    parts: Parts,
    scope: MemoryScope,
    changes: Sequence[EntryChange],
    *,
    by: str,
    memories: Sequence[str] = (),
    since: datetime | None = None,
) -> Reopened:
    """Undo a decision about entries, in one transaction.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        changes: What the decision changed.
        by: Who decided, and undoes it.
        memories: Memories that the decision promoted, or that it promoted once more.
        since: When the decision began: only promotions by `by` from then on are revoked.

    Returns:
        What waits again.
    """
    name = DecisionActor.of(by).name

    def is_meant(promotion: PromotionRecord) -> bool:
        is_later = since is None or promotion.promoted_at >= since
        return promotion.promoted_by == name and is_later

    async def decision(_: Parts) -> ReviewDecision:
        return ReviewDecision(changes=tuple(changes), memories=tuple(memories), is_meant=is_meant)

    return await undo_decision(parts, scope, decision, by=by)


async def undo_decision(
    parts: Parts,
    scope: MemoryScope,
    find: Callable[[Parts], Awaitable[ReviewDecision]],
    *,
    by: str,
    dry_run: bool = False,
) -> Reopened:
    """Undo a decision that is read inside the same transaction.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        find: Returns the decision.
        by: Who undoes it.
        dry_run: Only count; nothing is changed.

    Returns:
        What waits again. Of a dry run the receipt has no id.
    """
    receipt = Receipt(
        id="" if dry_run else parts.new_id(),
        scope=scope,
        what="",
        by=by,
        at=parts.clock(),
        reason="the approval was undone",
    )

    async def work(inside: Parts) -> tuple[ReviewDecision, AffectedRecords, Receipt, list[str]]:
        decision, affected, again = await find(inside), AffectedRecords(), tuple[str, ...]()
        counts, memories = Counts(), decision.memories
        if memories:
            affected = await affected_by_promotions(inside, scope, memories, decision.is_open)
            counts = affected.counts
            if not dry_run:
                counts, again = await hide(inside, affected, receipt)
                if inside.tiers.is_joint:
                    counts += await hide_working(inside, affected, receipt)
        done = replace(receipt, what=", ".join(memories), counts=counts, reinstated=again)
        if dry_run:
            return decision, affected, done, [change.id for change in decision.changes]
        ids = await _undo(inside, scope, decision.changes, frozenset(memories))
        return decision, affected, done, ids

    decision, affected, done, ids = await parts.transaction(scope, work)
    if not (dry_run or parts.tiers.is_joint):
        done = replace(done, counts=done.counts + await hide_working(parts, affected, receipt))
    result = Reopened(
        ids=tuple(ids), missed=len(decision.changes) - len(ids), kept=tuple(affected.shaken)
    )
    if not affected.memories:
        return result
    done = replace(done, ids=affected.ids)
    if not dry_run:
        await note(parts, line_of(done))
    return replace(result, receipt=done)


async def _undo(
    parts: Parts, scope: MemoryScope, changes: Sequence[EntryChange], memories: frozenset[str]
) -> list[str]:
    """Change entries back; return the ids of those that were."""
    by_id, ids = {change.id: change for change in changes}, dict[str, None]()

    def apply(entry: Entry) -> Entry:
        entry_before = by_id[entry.id].undone(entry, memories)
        if entry_before != entry:
            ids[entry.id] = None
        return entry_before

    if by_id:
        await parts.tiers.quarantine.edit(Select.within(scope, ids=tuple(by_id)), apply)
    return [id_ for id_ in by_id if id_ in ids]

"""Operations on several things: propose, reject and restore all of them or none."""

from __future__ import annotations

from collections.abc import Iterable

from memoryware._runner import run_blocking
from memoryware.errors import SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers import checking, decisions, revoke, screening
from memoryware.tiers._parts import Parts, scope_of
from memoryware.tiers.client.lifecycle import receipt_of
from memoryware.tiers.material import Promotable
from memoryware.tiers.model import Entry
from memoryware.tiers.values import Counts, Insight, Receipt


class SeveralOperations:
    """Proposing, rejecting and restoring several things at once."""

    parts: Parts

    def reject_many(
        self,
        items: Iterable[str | Entry | Insight],
        scope: MemoryScope | str,
        *,
        by: str,
        reason: str = "",
    ) -> list[Entry]:
        """Reject several entries or insights of one group in one transaction, all of them or none.

        Args:
            items: Entries, their ids, or insights; see `reject`.
            scope: Whose memory it is.
            by: Who decides.
            reason: Why; it is kept with the entries.

        Returns:
            The entries, in order.

        Raises:
            PromotionRefused: If one of them was promoted or revoked already; none is rejected then.
            EntryMissing: If there is no such entry in this scope.
            SettingError: For a blank `by`, or a secret in it.
        """
        arguments, actor, cause = (
            (checking.several("items", items), scope_of(scope)),
            screening.named(self.parts, by),
            screening.clean_reason(self.parts, reason),
        )
        return run_blocking(decisions.reject_many(self.parts, *arguments, by=actor, reason=cause))

    async def areject_many(
        self,
        items: Iterable[str | Entry | Insight],
        scope: MemoryScope | str,
        *,
        by: str,
        reason: str = "",
    ) -> list[Entry]:
        """Reject several entries or insights of one group in one transaction, all of them or none.

        Args:
            items: Entries, their ids, or insights; see `reject`.
            scope: Whose memory it is.
            by: Who decides.
            reason: Why; it is kept with the entries.

        Returns:
            The entries, in order.

        Raises:
            PromotionRefused: If one of them was promoted or revoked already; none is rejected then.
            EntryMissing: If there is no such entry in this scope.
            SettingError: For a blank `by`, or a secret in it.
        """
        arguments, actor, cause = (
            (checking.several("items", items), scope_of(scope)),
            screening.named(self.parts, by),
            screening.clean_reason(self.parts, reason),
        )
        return await decisions.reject_many(self.parts.native, *arguments, by=actor, reason=cause)

    def propose_many(
        self, items: Iterable[Promotable], scope: MemoryScope | str, *, by: str
    ) -> list[Entry]:
        """Propose several promotions of one group in one transaction, all of them or none.

        Args:
            items: Texts, entries, their ids, or insights; see `propose`.
            scope: Whose memory they would become.
            by: Who proposes them.

        Returns:
            The entries that wait for a decision, in order.

        Raises:
            PromotionRefused: If one of them may not be promoted; none is proposed then.
            EntryMissing: If there is no such entry in this scope.
            EntryRefused: For an empty text, or one that is too long.
            SettingError: For a blank `by`, or a secret in `by` or the scope.
        """
        arguments = (
            [screening.promotable(self.parts, item) for item in checking.several("items", items)],
            scope_of(scope),
        )
        return run_blocking(
            decisions.propose_many(self.parts, *arguments, by=screening.named(self.parts, by))
        )

    async def apropose_many(
        self, items: Iterable[Promotable], scope: MemoryScope | str, *, by: str
    ) -> list[Entry]:
        """Propose several promotions of one group in one transaction, all of them or none.

        Args:
            items: Texts, entries, their ids, or insights; see `propose`.
            scope: Whose memory they would become.
            by: Who proposes them.

        Returns:
            The entries that wait for a decision, in order.

        Raises:
            PromotionRefused: If one of them may not be promoted; none is proposed then.
            EntryMissing: If there is no such entry in this scope.
            EntryRefused: For an empty text, or one that is too long.
            SettingError: For a blank `by`, or a secret in `by` or the scope.
        """
        arguments = (
            [screening.promotable(self.parts, item) for item in checking.several("items", items)],
            scope_of(scope),
        )
        return await decisions.propose_many(
            self.parts.native, *arguments, by=screening.named(self.parts, by)
        )

    def restore_many(self, receipts: Iterable[Receipt], *, by: str) -> list[Counts]:
        """Undo several revocations of one group in one transaction, all of them or none.

        Args:
            receipts: What `revoke` or `mark_invalid` returned.
            by: Who restores them.

        Returns:
            How much is shown again by each, by tier; see `restore`.

        Raises:
            SettingError: For a blank `by`, a value that is not a receipt, or receipts of several
                groups.
        """
        several, scope = _receipts(receipts)
        actor = screening.named(self.parts, by)
        return run_blocking(revoke.restore_many(self.parts, several, scope, by=actor))

    async def arestore_many(self, receipts: Iterable[Receipt], *, by: str) -> list[Counts]:
        """Undo several revocations of one group in one transaction, all of them or none.

        Args:
            receipts: What `revoke` or `mark_invalid` returned.
            by: Who restores them.

        Returns:
            How much is shown again by each, by tier; see `restore`.

        Raises:
            SettingError: For a blank `by`, a value that is not a receipt, or receipts of several
                groups.
        """
        several, scope = _receipts(receipts)
        actor = screening.named(self.parts, by)
        return await revoke.restore_many(self.parts.native, several, scope, by=actor)


def _receipts(receipts: Iterable[Receipt]) -> tuple[list[Receipt], MemoryScope]:
    """Validate receipts of one tenant and group, and return them with their scope."""
    several = [receipt_of(receipt) for receipt in checking.several("receipts", receipts)]
    scopes = {(receipt.scope.tenant, receipt.scope.group_id) for receipt in several}
    if len(scopes) > 1:
        raise SettingError("receipts: must be of one tenant and group")
    return several, several[0].scope if several else MemoryScope()

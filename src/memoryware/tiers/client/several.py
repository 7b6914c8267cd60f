"""Operations on several things: propose, reject, reopen and restore all of them or none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, get_args

from memoryware._runner import run_blocking
from memoryware.errors import SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers import checking, decisions, reopen, revoke, screening
from memoryware.tiers._parts import Parts, scope_of
from memoryware.tiers.client.lifecycle import receipt_of
from memoryware.tiers.material import Promotable
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.reopen import Reopened, ReopenTarget
from memoryware.tiers.values import Counts, Insight, Promotion, Receipt

Reopenable: TypeAlias = str | tuple[str, ...] | Entry | Memory | Promotion | Insight
"""What can be reopened: a record, its id, several ids, or what holds records."""


class SeveralOperations:
    """Proposing, rejecting, reopening and restoring several things at once."""

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

    def reopen(
        self,
        target: Reopenable,
        scope: MemoryScope | str,
        *,
        by: str,
        dry_run: bool = False,
    ) -> Reopened:
        """Undo approvals and rejections, all of them or none: their entries wait for review again.

        What was promoted is revoked with a receipt, together with what was made of it; a memory
        that others have promoted as well stays. Entries that say the same are reopened together.

        Args:
            target: An entry, a memory, a promotion or an insight, an id or a tuple of ids. A memory
                or a promotion means the entries that it was promoted from.
            scope: Whose memory: exactly this tenant and group.
            by: Who does it.
            dry_run: Change nothing: say what would wait again.

        Returns:
            The entries that wait again, and the receipt of what was hidden.

        Raises:
            EntryMissing: If there is no such record in this scope, or if it was not decided, was
                promoted from no entry, or was revoked.
            SettingError: For a blank `by`, another type of `target`, or a secret in `by`.
        """
        arguments = scope_of(scope), _reopened(target)
        actor = screening.named(self.parts, by)
        return run_blocking(
            reopen.reopen_records(self.parts, *arguments, by=actor, dry_run=dry_run)
        )

    async def areopen(
        self,
        target: Reopenable,
        scope: MemoryScope | str,
        *,
        by: str,
        dry_run: bool = False,
    ) -> Reopened:
        """Undo approvals and rejections, all of them or none: their entries wait for review again.

        What was promoted is revoked with a receipt, together with what was made of it; a memory
        that others have promoted as well stays. Entries that say the same are reopened together.

        Args:
            target: An entry, a memory, a promotion or an insight, an id or a tuple of ids. A memory
                or a promotion means the entries that it was promoted from.
            scope: Whose memory: exactly this tenant and group.
            by: Who does it.
            dry_run: Change nothing: say what would wait again.

        Returns:
            The entries that wait again, and the receipt of what was hidden.

        Raises:
            EntryMissing: If there is no such record in this scope, or if it was not decided, was
                promoted from no entry, or was revoked.
            SettingError: For a blank `by`, another type of `target`, or a secret in `by`.
        """
        arguments = scope_of(scope), _reopened(target)
        actor = screening.named(self.parts, by)
        return await reopen.reopen_records(self.parts.native, *arguments, by=actor, dry_run=dry_run)

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


def _reopened(target: Reopenable) -> list[ReopenTarget]:
    """Return what is reopened; of an insight only its statement."""
    if isinstance(target, tuple):
        return [ReopenTarget(id_) for id_ in checking.texts("target", target)]
    kinds = [kind for kind in get_args(Reopenable) if isinstance(kind, type)]
    checking.instance("target", target, tuple(kinds))
    statements = target.covers if isinstance(target, Insight) else {}
    return [
        ReopenTarget(id_, statement)
        for id_ in revoke.ids_of(target)
        for statement in statements.get(id_, ("",))
    ]


def _receipts(receipts: Iterable[Receipt]) -> tuple[list[Receipt], MemoryScope]:
    """Validate receipts of one tenant and group, and return them with their scope."""
    several = [receipt_of(receipt) for receipt in checking.several("receipts", receipts)]
    scopes = {(receipt.scope.tenant, receipt.scope.group_id) for receipt in several}
    if len(scopes) > 1:
        raise SettingError("receipts: must be of one tenant and group")
    return several, several[0].scope if several else MemoryScope()

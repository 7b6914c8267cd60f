"""Operations on the whole memory: revoke, restore, forget, export, import, audit, sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from os import PathLike
from types import NoneType
from typing import get_args

from memoryware._runner import in_thread, run_blocking
from memoryware.errors import SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers import audit, bundles, checking, forget, revoke, screening
from memoryware.tiers._parts import Parts, scope_of
from memoryware.tiers.audit import ACT_KINDS, ActKind, Audit, AuditQuery, Sessions, Story, note
from memoryware.tiers.bundles import ImportReport
from memoryware.tiers.forget import ForgetCondition
from memoryware.tiers.journal import JournalEntry
from memoryware.tiers.model import Entry, Memory, Verdict
from memoryware.tiers.provenance import Origin
from memoryware.tiers.revoke import Revocable
from memoryware.tiers.stores.protocol import Backup
from memoryware.tiers.values import Counts, ForgetReceipt, Receipt


class LifecycleOperations:
    """Revoking, restoring, forgetting, backups, exports and imports."""

    parts: Parts

    def revoke(
        self,
        target: Revocable,
        scope: MemoryScope | str,
        *,
        by: str,
        reason: str = "",
        dry_run: bool = False,
    ) -> Receipt:
        """Revoke a text and everything that was made of it, in every tier.

        It is hidden at once, not deleted: `restore` undoes it. Memories that it had superseded are
        current again; `reinstated` of the receipt lists them.

        Args:
            target: An entry, memory, promotion or insight, an id or a tuple of ids, or an `Origin`,
                such as `Origin("tool", "web_search")`, for everything that came from there.
            scope: Whose memory: exactly this tenant and group.
            by: Who does it.
            reason: Why, for those who read the receipt; it loses its secrets.
            dry_run: Change nothing: the receipt has no id, and says what would go.

        Returns:
            The receipt, which `restore` takes; of a dry run it has no id.

        Raises:
            EntryMissing: If there is no such text in this scope.
            SettingError: For a blank `by`, another type of `target`, or a secret
                in `by`.
        """
        arguments, actor, cause = (
            (_revocable(target), scope_of(scope)),
            screening.named(self.parts, by),
            screening.clean_reason(self.parts, reason),
        )
        done = revoke.revoke(self.parts, *arguments, by=actor, reason=cause, dry_run=dry_run)
        return run_blocking(done)

    async def arevoke(
        self,
        target: Revocable,
        scope: MemoryScope | str,
        *,
        by: str,
        reason: str = "",
        dry_run: bool = False,
    ) -> Receipt:
        """Revoke a text and everything that was made of it, in every tier.

        It is hidden at once, not deleted: `restore` undoes it. Memories that it had superseded are
        current again; `reinstated` of the receipt lists them.

        Args:
            target: An entry, memory, promotion or insight, an id or a tuple of ids, or an `Origin`,
                such as `Origin("tool", "web_search")`, for everything that came from there.
            scope: Whose memory: exactly this tenant and group.
            by: Who does it.
            reason: Why, for those who read the receipt; it loses its secrets.
            dry_run: Change nothing: the receipt has no id, and says what would go.

        Returns:
            The receipt, which `restore` takes; of a dry run it has no id.

        Raises:
            EntryMissing: If there is no such text in this scope.
            SettingError: For a blank `by`, another type of `target`, or a secret
                in `by`.
        """
        arguments, actor, cause = (
            (_revocable(target), scope_of(scope)),
            screening.named(self.parts, by),
            screening.clean_reason(self.parts, reason),
        )
        return await revoke.revoke(
            self.parts.native, *arguments, by=actor, reason=cause, dry_run=dry_run
        )

    def find_receipt(self, receipt_id: str, scope: MemoryScope | str) -> Receipt:
        """Return the receipt of a revocation by its id, for `restore`.

        Without a journal, it is made of the marks on hidden records, which do not say who revoked
        them, nor why.

        Args:
            receipt_id: The id of the receipt.
            scope: Exactly this tenant and group.

        Returns:
            The receipt; `restore` takes it.

        Raises:
            EntryMissing: If nothing of this tenant and group was taken back under this id.
            SettingError: For an id that is no text.
        """
        checking.text("receipt_id", receipt_id)
        return run_blocking(revoke.find_receipt(self.parts, receipt_id, scope_of(scope)))

    async def afind_receipt(self, receipt_id: str, scope: MemoryScope | str) -> Receipt:
        """Return the receipt of a revocation by its id, for `restore`.

        Without a journal, it is made of the marks on hidden records, which do not say who revoked
        them, nor why.

        Args:
            receipt_id: The id of the receipt.
            scope: Exactly this tenant and group.

        Returns:
            The receipt; `restore` takes it.

        Raises:
            EntryMissing: If nothing of this tenant and group was taken back under this id.
            SettingError: For an id that is no text.
        """
        checking.text("receipt_id", receipt_id)
        return await revoke.find_receipt(self.parts.native, receipt_id, scope_of(scope))

    def restore(self, receipt: Receipt, *, by: str) -> Counts:
        """Undo a revocation.

        Args:
            receipt: What `revoke` or `mark_invalid` returned.
            by: Who restores it.

        Returns:
            How much is shown again, by tier. What another revocation hides as well is
            not counted.

        Raises:
            SettingError: For a blank `by`, or a value that is not a receipt.
        """
        arguments = receipt_of(receipt)
        return run_blocking(
            revoke.restore(self.parts, arguments, by=screening.named(self.parts, by))
        )

    async def arestore(self, receipt: Receipt, *, by: str) -> Counts:
        """Undo a revocation.

        Args:
            receipt: What `revoke` or `mark_invalid` returned.
            by: Who restores it.

        Returns:
            How much is shown again, by tier. What another revocation hides as well is
            not counted.

        Raises:
            SettingError: For a blank `by`, or a value that is not a receipt.
        """
        arguments = receipt_of(receipt)
        return await revoke.restore(
            self.parts.native, arguments, by=screening.named(self.parts, by)
        )

    def mark_invalid(
        self, target: Revocable, scope: MemoryScope | str, *, by: str, reason: str = ""
    ) -> Receipt:
        """Hide one text from recall, without what was made of it; `restore` shows it again.

        Args:
            target: As for `revoke`.
            scope: Exactly this tenant and group.
            by: Who hides it.
            reason: Why; it is kept on the receipt and in the journal.

        Returns:
            The receipt, which `restore` takes.
        """
        arguments, actor, cause = (
            (_revocable(target), scope_of(scope)),
            screening.named(self.parts, by),
            screening.clean_reason(self.parts, reason),
        )
        alone = revoke.revoke(self.parts, *arguments, by=actor, reason=cause, descendants=False)
        return run_blocking(alone)

    async def amark_invalid(
        self, target: Revocable, scope: MemoryScope | str, *, by: str, reason: str = ""
    ) -> Receipt:
        """Hide one text from recall, without what was made of it; `restore` shows it again.

        Args:
            target: As for `revoke`.
            scope: Exactly this tenant and group.
            by: Who hides it.
            reason: Why; it is kept on the receipt and in the journal.

        Returns:
            The receipt, which `restore` takes.
        """
        arguments, actor, cause = (
            (_revocable(target), scope_of(scope)),
            screening.named(self.parts, by),
            screening.clean_reason(self.parts, reason),
        )
        return await revoke.revoke(
            self.parts.native, *arguments, by=actor, reason=cause, descendants=False
        )

    def attach_verdict(
        self, record: str | Entry | Memory, verdict: Verdict, scope: MemoryScope | str | None = None
    ) -> Entry | Memory:
        """Store the verdict of a fact check on an entry or a memory.

        Secrets are removed from its issues.

        Args:
            record: An entry, a memory, or the id of one.
            verdict: What the check said. Every record of the group with exactly this
                text gets it.
            scope: Exactly this tenant and group; a record brings its own.

        Returns:
            The record with its verdict.

        Raises:
            EntryMissing: If there is no such record in this scope.
            SettingError: For what is no verdict, or a secret in its `by`.
        """
        arguments = (
            _record(record),
            self._verdict(verdict),
            None if scope is None else scope_of(scope),
        )
        return run_blocking(revoke.attach_verdict(self.parts, *arguments))

    async def aattach_verdict(
        self, record: str | Entry | Memory, verdict: Verdict, scope: MemoryScope | str | None = None
    ) -> Entry | Memory:
        """Store the verdict of a fact check on an entry or a memory.

        Secrets are removed from its issues.

        Args:
            record: An entry, a memory, or the id of one.
            verdict: What the check said. Every record of the group with exactly this
                text gets it.
            scope: Exactly this tenant and group; a record brings its own.

        Returns:
            The record with its verdict.

        Raises:
            EntryMissing: If there is no such record in this scope.
            SettingError: For what is no verdict, or a secret in its `by`.
        """
        arguments = (
            _record(record),
            self._verdict(verdict),
            None if scope is None else scope_of(scope),
        )
        return await revoke.attach_verdict(self.parts.native, *arguments)

    def forget(
        self,
        scope: MemoryScope | str,
        *,
        ids: Sequence[str] | None = None,
        origin: Origin | None = None,
        query: str | None = None,
        derived: bool = True,
        by: str | None = None,
        reason: str = "",
        dry_run: bool = False,
    ) -> ForgetReceipt:
        """Delete records from every tier, for good.

        Every condition that is given must fit. A user or a session of the scope is found in
        all groups of the tenant unless the scope names one.

        Args:
            scope: The tenant, and any of group, user, agent and session; a text is a group.
            ids: Only records with these ids.
            origin: Only records that came from there.
            query: Only records with all these words.
            derived: Delete records that were made of them as well.
            by: Who does it, for those who read the receipt.
            reason: Why, for the same; it loses its secrets.
            dry_run: Only count.

        Returns:
            The receipt: how much was deleted from each tier, when, by whom and on which
            condition. It has no text. The journal keeps it as well, if the memory has one.

        Raises:
            ScopeMissing: If neither the scope nor another condition selects anything.
            EntryMissing: For a text that is no group, where a user, agent or session has this
                name. Nothing is deleted then.
            SettingError: For a part of the scope that is "", ids that are one text, a value of
                another type, or a secret in `by`. Nothing is deleted then.
        """
        unwanted = _unwanted(ids, origin, query, derived=derived)
        return run_blocking(self._forget(self.parts, scope, unwanted, by, reason, dry_run=dry_run))

    async def aforget(
        self,
        scope: MemoryScope | str,
        *,
        ids: Sequence[str] | None = None,
        origin: Origin | None = None,
        query: str | None = None,
        derived: bool = True,
        by: str | None = None,
        reason: str = "",
        dry_run: bool = False,
    ) -> ForgetReceipt:
        """Delete records from every tier, for good.

        Every condition that is given must fit. A user or a session of the scope is found in
        all groups of the tenant unless the scope names one.

        Args:
            scope: The tenant, and any of group, user, agent and session; a text is a group.
            ids: Only records with these ids.
            origin: Only records that came from there.
            query: Only records with all these words.
            derived: Delete records that were made of them as well.
            by: Who does it, for those who read the receipt.
            reason: Why, for the same; it loses its secrets.
            dry_run: Only count.

        Returns:
            The receipt: how much was deleted from each tier, when, by whom and on which
            condition. It has no text. The journal keeps it as well, if the memory has one.

        Raises:
            ScopeMissing: If neither the scope nor another condition selects anything.
            EntryMissing: For a text that is no group, where a user, agent or session has this
                name. Nothing is deleted then.
            SettingError: For a part of the scope that is "", ids that are one text, a value of
                another type, or a secret in `by`. Nothing is deleted then.
        """
        unwanted = _unwanted(ids, origin, query, derived=derived)
        return await self._forget(self.parts.native, scope, unwanted, by, reason, dry_run=dry_run)

    def backup(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write a copy of all memory, of all groups and tiers, that can be opened by itself.

        It is the state of one moment, checked before it gets its name; others may go on writing
        meanwhile. Only you can read the file. To restore it, stop every process that has the
        memory open, delete the old file with its `-wal` and `-shm`, and put the copy in its place.

        Args:
            path: The file to write.
            overwrite: Replace a file that is there.

        Raises:
            SettingError: If this memory is not one SQLite file: PostgreSQL has `pg_dump`, and
                `copy_stores` copies any store into another.
            StoreUnavailable: If there is a file already, the disk is full, or the memory is
                damaged; an older copy is still there then.
        """
        checking.instance("path", path, (str, PathLike))
        self._backing_up()(path, overwrite=overwrite)

    async def abackup(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write a copy of all memory, of all groups and tiers, that can be opened by itself.

        It is the state of one moment, checked before it gets its name; others may go on writing
        meanwhile. Only you can read the file. To restore it, stop every process that has the
        memory open, delete the old file with its `-wal` and `-shm`, and put the copy in its place.

        Args:
            path: The file to write.
            overwrite: Replace a file that is there.

        Raises:
            SettingError: If this memory is not one SQLite file: PostgreSQL has `pg_dump`, and
                `copy_stores` copies any store into another.
            StoreUnavailable: If there is a file already, the disk is full, or the memory is
                damaged; an older copy is still there then.
        """
        checking.instance("path", path, (str, PathLike))
        await in_thread(self._backing_up(), path, overwrite=overwrite)

    def _backing_up(self) -> Backup:
        backup = self.parts.stores.backup
        if backup is None:
            raise SettingError(
                "only a memory in a SQLite file has backup(): use pg_dump for PostgreSQL, or copy"
                " all of it into a file with copy_stores(SOURCE, 'sqlite:///backup.db')"
            )
        return backup

    def export(self, scope: MemoryScope | str) -> list[str]:
        """Return everything that a tenant and group have, as lines of a JSON Lines bundle.

        The first line says what the bundle is; each other one is a record with its
        provenance, without vectors.

        Args:
            scope: Exactly this tenant and group.

        Returns:
            The lines, without line ends.
        """
        return run_blocking(bundles.export_lines(self.parts, scope_of(scope)))

    async def aexport(self, scope: MemoryScope | str) -> list[str]:
        """Return everything that a tenant and group have, as lines of a JSON Lines bundle.

        The first line says what the bundle is; each other one is a record with its
        provenance, without vectors.

        Args:
            scope: Exactly this tenant and group.

        Returns:
            The lines, without line ends.
        """
        return await bundles.export_lines(self.parts.native, scope_of(scope))

    def export_to(self, path: str | PathLike[str], scope: MemoryScope | str) -> int:
        """Write a bundle to a file that only its owner may read; return how many records.

        The file is replaced as a whole or not at all.

        Args:
            path: The file.
            scope: Exactly this tenant and group.

        Returns:
            How many records the file has.
        """
        return run_blocking(bundles.export_to(self.parts, path, scope_of(scope)))

    async def aexport_to(self, path: str | PathLike[str], scope: MemoryScope | str) -> int:
        """Write a bundle to a file that only its owner may read; return how many records.

        The file is replaced as a whole or not at all.

        Args:
            path: The file.
            scope: Exactly this tenant and group.

        Returns:
            How many records the file has.
        """
        return await bundles.export_to(self.parts.native, path, scope_of(scope))

    def import_bundle(
        self, lines: Iterable[str], scope: MemoryScope | str, *, name: str
    ) -> ImportReport:
        """Put the records of a bundle into quarantine, where a person may promote them.

        Nothing of it is trusted, whatever it says of itself: all of it has the origin
        `import:<name>` in its lineage. The same bundle again adds nothing.

        Args:
            lines: The lines that `export` made, or an open file.
            scope: Whose memory it becomes.
            name: What this bundle is called, so that all of it can be revoked by its origin.

        Returns:
            How many records are new and how many were known, their origin, and their ids here.

        Raises:
            BundleRefused: If a line cannot be read: its `line` is the number of the line.
                Nothing was imported then.
            SettingError: For a name that is blank or no text, or a secret in it or the scope.
            ScopeMissing: Without a group.
        """
        arguments = lines, scope_of(scope)
        return run_blocking(bundles.import_lines(self.parts, *arguments, name=name))

    async def aimport_bundle(
        self, lines: Iterable[str], scope: MemoryScope | str, *, name: str
    ) -> ImportReport:
        """Put the records of a bundle into quarantine, where a person may promote them.

        Nothing of it is trusted, whatever it says of itself: all of it has the origin
        `import:<name>` in its lineage. The same bundle again adds nothing.

        Args:
            lines: The lines that `export` made, or an open file.
            scope: Whose memory it becomes.
            name: What this bundle is called, so that all of it can be revoked by its origin.

        Returns:
            How many records are new and how many were known, their origin, and their ids here.

        Raises:
            BundleRefused: If a line cannot be read: its `line` is the number of the line.
                Nothing was imported then.
            SettingError: For a name that is blank or no text, or a secret in it or the scope.
            ScopeMissing: Without a group.
        """
        arguments = lines, scope_of(scope)
        return await bundles.import_lines(self.parts.native, *arguments, name=name)

    async def _forget(
        self,
        parts: Parts,
        scope: MemoryScope | str,
        unwanted: ForgetCondition,
        by: str | None,
        reason: str,
        *,
        dry_run: bool,
    ) -> ForgetReceipt:
        limited, actor = (
            _limited(scope_of(scope)),
            "" if by is None else screening.named(self.parts, by),
        )
        redacted = screening.clean_reason(self.parts, reason)
        if isinstance(scope, str):
            await forget.require_group(parts, scope)
        return await forget.forget(
            parts, limited, unwanted, by=actor, reason=redacted, dry_run=dry_run
        )

    def _verdict(self, verdict: Verdict) -> Verdict:
        """Return a verdict without secrets."""
        checking.instance("verdict", verdict, (Verdict,))
        return screening.clean_verdict(self.parts, verdict)


def _revocable(target: Revocable) -> Revocable:
    if isinstance(target, tuple):
        for id_ in target:
            checking.text("target", id_)
        return target
    kinds = [kind for kind in get_args(Revocable) if isinstance(kind, type)]
    checking.instance("target", target, tuple(kinds))
    return target


def _record(record: str | Entry | Memory) -> str | Entry | Memory:
    checking.instance("record", record, (str, Entry, Memory))
    return record


def receipt_of(receipt: Receipt | str) -> Receipt:
    """Validate a receipt that is to be restored.

    Args:
        receipt: What the caller passed; the id of a receipt is refused with a hint.

    Returns:
        The receipt.
    """
    if isinstance(receipt, str):
        raise SettingError(
            "receipt: must be the Receipt that revoke() returned, not a text;"
            " find_receipt(id, scope) returns the receipt of an id"
        )
    checking.instance("receipt", receipt, (Receipt,))
    return receipt


def _limited(scope: MemoryScope) -> MemoryScope:
    """Validate the scope of a deletion: a part that is "" must not widen it."""
    for field in fields(scope):
        if getattr(scope, field.name) == "":
            raise SettingError(
                f'{field.name}: is "", which selects nobody; pass a name, or leave it out'
            )
    return scope


def _unwanted(
    ids: Sequence[str] | None, origin: Origin | None, query: str | None, *, derived: bool
) -> ForgetCondition:
    checking.instance("origin", origin, (Origin, NoneType))
    checking.text("query", query, or_none=True)
    return ForgetCondition(
        None if ids is None else checking.texts("ids", ids), origin, query, derived
    )


class AuditOperations:
    """The audit log and the sessions."""

    parts: Parts

    def sessions(self, scope: MemoryScope | str, *, after: str | None = None) -> Sessions:
        """Return the sessions of this tenant and group, the most recently active first.

        A page is made from the `looked_back` outputs that were recorded last, so a session
        that goes on over its end is on the next page again.

        Args:
            scope: Whose memory.
            after: The `next` of the page before.

        Returns:
            A page of sessions, with the `next` for the page after it.

        Raises:
            SettingError: For an `after` that no page can have returned.
        """
        checking.text("after", after, or_none=True)
        return run_blocking(audit.sessions(self.parts, scope_of(scope), after=after))

    async def asessions(self, scope: MemoryScope | str, *, after: str | None = None) -> Sessions:
        """Return the sessions of this tenant and group, the most recently active first.

        A page is made from the `looked_back` outputs that were recorded last, so a session
        that goes on over its end is on the next page again.

        Args:
            scope: Whose memory.
            after: The `next` of the page before.

        Returns:
            A page of sessions, with the `next` for the page after it.

        Raises:
            SettingError: For an `after` that no page can have returned.
        """
        checking.text("after", after, or_none=True)
        return await audit.sessions(self.parts.native, scope_of(scope), after=after)

    def session(self, session_id: str, scope: MemoryScope | str) -> Story:
        """Return a session run by run: its outputs, the shown records, and the resulting memories.

        An unknown session has no turns.

        Args:
            session_id: Its id; "" for what was recorded without one.
            scope: Whose memory: exactly this tenant and group.

        Returns:
            Its turns in order: the recorded output, the shown records, and the memories that were
            promoted from it.

        Raises:
            SettingError: For an id that is no text.
        """
        checking.text("session_id", session_id)
        return run_blocking(audit.session(self.parts, session_id, scope_of(scope)))

    async def asession(self, session_id: str, scope: MemoryScope | str) -> Story:
        """Return a session run by run: its outputs, the shown records, and the resulting memories.

        An unknown session has no turns.

        Args:
            session_id: Its id; "" for what was recorded without one.
            scope: Whose memory: exactly this tenant and group.

        Returns:
            Its turns in order: the recorded output, the shown records, and the memories that were
            promoted from it.

        Raises:
            SettingError: For an id that is no text.
        """
        checking.text("session_id", session_id)
        return await audit.session(self.parts.native, session_id, scope_of(scope))

    def audit(
        self,
        scope: MemoryScope | str,
        *,
        by: str | None = None,
        kind: ActKind | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Audit:
        """Return who did what: promotions, rejections, revocations and so on, newest first.

        A page is made from the next `looked_back` records of each tier, in the order of storing,
        so that what was done late to an old record comes on a later page. Revocations, what was
        restored and what was forgotten are known if the memory has a journal.

        Args:
            scope: Whose memory: exactly this tenant and group.
            by: Only what this person did.
            kind: Only what is of this kind.
            after: The `next` of the page before, or the mark of an act.
            limit: How many at most; `listed` by default.

        Returns:
            A page of actions, with the `next` for the page after it.

        Raises:
            SettingError: For an unknown kind, an invalid mark, or a limit below 0.
        """
        query = _audit_query(by, kind, after, limit)
        return run_blocking(audit.audit(self.parts, scope_of(scope), query))

    async def aaudit(
        self,
        scope: MemoryScope | str,
        *,
        by: str | None = None,
        kind: ActKind | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Audit:
        """Return who did what: promotions, rejections, revocations and so on, newest first.

        A page is made from the next `looked_back` records of each tier, in the order of storing,
        so that what was done late to an old record comes on a later page. Revocations, what was
        restored and what was forgotten are known if the memory has a journal.

        Args:
            scope: Whose memory: exactly this tenant and group.
            by: Only what this person did.
            kind: Only what is of this kind.
            after: The `next` of the page before, or the mark of an act.
            limit: How many at most; `listed` by default.

        Returns:
            A page of actions, with the `next` for the page after it.

        Raises:
            SettingError: For an unknown kind, an invalid mark, or a limit below 0.
        """
        query = _audit_query(by, kind, after, limit)
        return await audit.audit(self.parts.native, scope_of(scope), query)

    def note_shown(self, ids: Sequence[str], scope: MemoryScope | str, *, tokens: int = 0) -> None:
        """Log the records that a run was shown in the journal, if there is one.

        The middleware does it by itself; this is for agents of your own.

        Args:
            ids: Of the entries and memories.
            scope: Who was shown them, in which session. The user is not kept.
            tokens: What they cost.
        """
        run_blocking(note(self.parts, self._shown(ids, scope, tokens)))

    async def anote_shown(
        self, ids: Sequence[str], scope: MemoryScope | str, *, tokens: int = 0
    ) -> None:
        """Log the records that a run was shown in the journal, if there is one.

        The middleware does it by itself; this is for agents of your own.

        Args:
            ids: Of the entries and memories.
            scope: Who was shown them, in which session. The user is not kept.
            tokens: What they cost.
        """
        await note(self.parts.native, self._shown(ids, scope, tokens))

    def _shown(self, ids: Sequence[str], scope: MemoryScope | str, tokens: int) -> JournalEntry:
        where = scope_of(scope)
        owner = MemoryScope(
            tenant=where.tenant,
            group_id=where.group_id,
            agent_id=where.agent_id,
            session_id=where.session_id,
        )
        return JournalEntry(
            kind="shown",
            at=self.parts.clock(),
            scope=owner,
            ids=checking.texts("ids", ids),
            tokens=checking.whole("tokens", tokens),
        )


def _audit_query(
    by: str | None, kind: ActKind | None, after: str | None, limit: int | None
) -> AuditQuery:
    checking.text("by", by, or_none=True)
    if kind is not None:
        checking.choice("kind", kind, ACT_KINDS)
    checking.text("after", after, or_none=True)
    if limit is not None:
        checking.whole("limit", limit)
    return AuditQuery(by=by, kind=kind, after=after, limit=limit)

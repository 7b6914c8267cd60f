"""Doors for people who look at what went on: sessions, audit, receipts."""

from __future__ import annotations

from collections.abc import Sequence

from memoryware._runner import run_blocking
from memoryware.scope import MemoryScope
from memoryware.tiers import audit, checking, sessions
from memoryware.tiers._doors.base import Doors
from memoryware.tiers._noting import note
from memoryware.tiers._parts import scope_of
from memoryware.tiers.acts import ACT_KINDS, ActKind
from memoryware.tiers.audit import Asked, Audit
from memoryware.tiers.journal import Noted
from memoryware.tiers.sessions import Sessions, Story


class LookingDoors(Doors):
    """Looking back."""

    def sessions(self, scope: MemoryScope | str, *, after: str | None = None) -> Sessions:
        """Return the sessions of this tenant and group, the one heard of last first.

        A page is made from the `looked_back` outputs that were recorded last, so a session
        that goes on over its end is on the next page again.

        Args:
            scope: Whose memory.
            after: The `next` of the page before.

        Raises:
            SettingError: For an `after` that no page can have returned.
        """
        checking.text("after", after, or_none=True)
        return run_blocking(sessions.sessions(self.parts, scope_of(scope), after=after))

    async def asessions(self, scope: MemoryScope | str, *, after: str | None = None) -> Sessions:
        """Async twin of `sessions`."""
        checking.text("after", after, or_none=True)
        return await sessions.sessions(self.parts.native, scope_of(scope), after=after)

    def session(self, session_id: str, scope: MemoryScope | str) -> Story:
        """Return what a session was shown in each run, and what came of it.

        Of a session that nobody has heard of there are no turns.

        Args:
            session_id: Its id; "" for what was recorded without one.
            scope: Whose memory: exactly this tenant and group.

        Raises:
            SettingError: For an id that is no text.
        """
        checking.text("session_id", session_id)
        return run_blocking(sessions.session(self.parts, session_id, scope_of(scope)))

    async def asession(self, session_id: str, scope: MemoryScope | str) -> Story:
        """Async twin of `session`."""
        checking.text("session_id", session_id)
        return await sessions.session(self.parts.native, session_id, scope_of(scope))

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

        Raises:
            SettingError: For a kind that is none, a mark that is none, or a limit below 0.
        """
        asked = _asked(by, kind, after, limit)
        return run_blocking(audit.audit(self.parts, scope_of(scope), asked))

    async def aaudit(
        self,
        scope: MemoryScope | str,
        *,
        by: str | None = None,
        kind: ActKind | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Audit:
        """Async twin of `audit`."""
        asked = _asked(by, kind, after, limit)
        return await audit.audit(self.parts.native, scope_of(scope), asked)

    def note_shown(self, ids: Sequence[str], scope: MemoryScope | str, *, tokens: int = 0) -> None:
        """Keep in the journal, if there is one, what a run was shown.

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
        """Async twin of `note_shown`."""
        await note(self.parts.native, self._shown(ids, scope, tokens))

    def _shown(self, ids: Sequence[str], scope: MemoryScope | str, tokens: int) -> Noted:
        where = scope_of(scope)
        place = MemoryScope(
            tenant=where.tenant,
            group_id=where.group_id,
            agent_id=where.agent_id,
            session_id=where.session_id,
        )
        return Noted(
            kind="shown",
            at=self.parts.clock(),
            scope=place,
            ids=checking.texts("ids", ids),
            tokens=checking.whole("tokens", tokens),
        )


def _asked(by: str | None, kind: ActKind | None, after: str | None, limit: int | None) -> Asked:
    checking.text("by", by, or_none=True)
    if kind is not None:
        checking.choice("kind", kind, ACT_KINDS)
    checking.text("after", after, or_none=True)
    if limit is not None:
        checking.whole("limit", limit)
    return Asked(by=by, kind=kind, after=after, limit=limit)

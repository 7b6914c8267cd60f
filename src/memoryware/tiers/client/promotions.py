"""Operations on long-term memory: digest, propose, promote, reject, supersede, reindex."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import NoneType
from typing import Any

from memoryware._runner import run_blocking
from memoryware.errors import SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers import (
    automatic,
    checking,
    digest,
    embedding_retry,
    promote,
    proposals,
    reindex,
    screening,
)
from memoryware.tiers._parts import Parts, scope_of
from memoryware.tiers.digest import DigestFilter
from memoryware.tiers.embedding_retry import OnProgress
from memoryware.tiers.material import Promotable
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import Origin, Trust
from memoryware.tiers.stores.protocol import Space
from memoryware.tiers.supersede import DEFAULT_OPTIONS, PromotionOptions, Superseded
from memoryware.tiers.values import ContextItem, Digest, Insight, Promotion, Reindexed


class PromotionOperations:
    """Digests, promotions, proposals, and the vectors of long-term memory."""

    parts: Parts

    def digest(
        self,
        scope: MemoryScope | str,
        *,
        since: timedelta | datetime | None = None,
        before: datetime | None = None,
        origin: str | Origin | None = None,
        trust: Trust | str | None = None,
        user: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Digest:
        """List the waiting entries of quarantine, one insight for each statement.

        Entries are in one insight only if they say the same. What disagrees about the same matter
        is next to it and is named in `conflicts_with`.

        Args:
            scope: Whose quarantine: exactly this tenant and group.
            since: From when, or how far back; all that waits by default, unless the limit
                `digest_days` says otherwise. `older` counts what this leaves out.
            before: Only what is older than this moment.
            origin: Only what has this origin in its lineage: "tool:web_search", or all of a kind:
                "tool".
            trust: Only insights that are trusted exactly so far: `Trust.USER` or "user".
            user: Only what was recorded on behalf of this user.
            limit: How many insights at most; all by default.
            after: The `next` of the page before.

        Returns:
            The insights, those worth most to a reviewer first, and how much waits in all.

        Raises:
            SettingError: For a time without a zone, a span below 0, an unknown trust, or a cursor
                that is none.
        """
        filters = _filter(since, before, origin, trust, user, limit, after)
        return run_blocking(digest.digest(self.parts, scope_of(scope), filters))

    async def adigest(
        self,
        scope: MemoryScope | str,
        *,
        since: timedelta | datetime | None = None,
        before: datetime | None = None,
        origin: str | Origin | None = None,
        trust: Trust | str | None = None,
        user: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Digest:
        """List the waiting entries of quarantine, one insight for each statement.

        Entries are in one insight only if they say the same. What disagrees about the same matter
        is next to it and is named in `conflicts_with`.

        Args:
            scope: Whose quarantine: exactly this tenant and group.
            since: From when, or how far back; all that waits by default, unless the limit
                `digest_days` says otherwise. `older` counts what this leaves out.
            before: Only what is older than this moment.
            origin: Only what has this origin in its lineage: "tool:web_search", or all of a kind:
                "tool".
            trust: Only insights that are trusted exactly so far: `Trust.USER` or "user".
            user: Only what was recorded on behalf of this user.
            limit: How many insights at most; all by default.
            after: The `next` of the page before.

        Returns:
            The insights, those worth most to a reviewer first, and how much waits in all.

        Raises:
            SettingError: For a time without a zone, a span below 0, an unknown trust, or a cursor
                that is none.
        """
        filters = _filter(since, before, origin, trust, user, limit, after)
        return await digest.digest(self.parts.native, scope_of(scope), filters)

    def count_waiting(self, scope: MemoryScope | str) -> int:
        """Count the entries that wait for a decision: the `waiting` of every digest.

        Args:
            scope: Whose quarantine: exactly this tenant and group.

        Returns:
            How many entries; copies of a waiting text are counted, repeats of a decided one and
            echoes of memory are not.
        """
        return run_blocking(digest.count_waiting(self.parts, scope_of(scope)))

    async def acount_waiting(self, scope: MemoryScope | str) -> int:
        """Count the entries that wait for a decision: the `waiting` of every digest.

        Args:
            scope: Whose quarantine: exactly this tenant and group.

        Returns:
            How many entries; copies of a waiting text are counted, repeats of a decided one and
            echoes of memory are not.
        """
        return await digest.count_waiting(self.parts.native, scope_of(scope))

    def promote(
        self,
        item: Promotable,
        scope: MemoryScope | str | None = None,
        *,
        by: str,
        subject: str | None = None,
        agent_id: str | None = None,
        shared: bool = False,
        metadata: Mapping[str, Any] | None = None,
        valid_from: datetime | None = None,
    ) -> Promotion:
        """Put a text, an entry, the id of an entry, or an insight into long-term memory.

        The same text is there once, however often it is promoted. Its chunks are there all or
        not at all; those that could not be embedded are found by words until they are.

        Args:
            item: What to promote. A text that quarantine holds inherits the lineage of what is
                there.
            scope: Whose memory it becomes; an entry or insight brings its own.
            by: The actor: the name of a person, or a machine such as "agent:helper".
            subject: What it is about. A group has one current text of a subject: that of the
                most trusted decision, and of equal ones the last. Of a proposal that waits, its
                subject by default.
            agent_id: Makes it the experience of this agent, not memory of the whole group.
            shared: Makes it memory of the whole group, also if it was proposed for one user alone,
                as a `MemoryManager` proposes what users say of themselves.
            metadata: Further metadata.
            valid_from: Since when it holds; now by default.

        Returns:
            What is in long-term memory now. If a more trusted text of the subject stays
            current, nothing is: `proposal` is the entry that waits for a person then, and
            `contradictions` names what it contradicts.

        Raises:
            PromotionRefused: If the policy asks for more, the entry was rejected, revoked or
                superseded, it is the verdict of a check, or it is an echo and no person
                promotes it; `reasons` has a code for each.
            ScopeMissing: Without a group.
            EntryMissing: If there is no such entry in this scope.
            EntryRefused: For what is no text, blank, or longer than `entry_chars`.
            EmbeddingMismatch: If the store has vectors of another model.
            SettingError: For a blank subject, a `valid_from` without a time zone, metadata that
                are no mapping, or a secret in `by`, `agent_id` or the scope.
        """
        options = self._options(subject, agent_id, metadata, valid_from, shared=shared)
        arguments = (
            screening.promotable(self.parts, item),
            screening.owner_if_named(self.parts, scope),
        )
        return run_blocking(
            promote.promote(
                self.parts, *arguments, by=screening.named(self.parts, by), options=options
            )
        )

    async def apromote(
        self,
        item: Promotable,
        scope: MemoryScope | str | None = None,
        *,
        by: str,
        subject: str | None = None,
        agent_id: str | None = None,
        shared: bool = False,
        metadata: Mapping[str, Any] | None = None,
        valid_from: datetime | None = None,
    ) -> Promotion:
        """Put a text, an entry, the id of an entry, or an insight into long-term memory.

        The same text is there once, however often it is promoted. Its chunks are there all or
        not at all; those that could not be embedded are found by words until they are.

        Args:
            item: What to promote. A text that quarantine holds inherits the lineage of what is
                there.
            scope: Whose memory it becomes; an entry or insight brings its own.
            by: The actor: the name of a person, or a machine such as "agent:helper".
            subject: What it is about. A group has one current text of a subject: that of the
                most trusted decision, and of equal ones the last. Of a proposal that waits, its
                subject by default.
            agent_id: Makes it the experience of this agent, not memory of the whole group.
            shared: Makes it memory of the whole group, also if it was proposed for one user alone,
                as a `MemoryManager` proposes what users say of themselves.
            metadata: Further metadata.
            valid_from: Since when it holds; now by default.

        Returns:
            What is in long-term memory now. If a more trusted text of the subject stays
            current, nothing is: `proposal` is the entry that waits for a person then, and
            `contradictions` names what it contradicts.

        Raises:
            PromotionRefused: If the policy asks for more, the entry was rejected, revoked or
                superseded, it is the verdict of a check, or it is an echo and no person
                promotes it; `reasons` has a code for each.
            ScopeMissing: Without a group.
            EntryMissing: If there is no such entry in this scope.
            EntryRefused: For what is no text, blank, or longer than `entry_chars`.
            EmbeddingMismatch: If the store has vectors of another model.
            SettingError: For a blank subject, a `valid_from` without a time zone, metadata that
                are no mapping, or a secret in `by`, `agent_id` or the scope.
        """
        options = self._options(subject, agent_id, metadata, valid_from, shared=shared)
        arguments = (
            screening.promotable(self.parts, item),
            screening.owner_if_named(self.parts, scope),
        )
        return await promote.promote(
            self.parts.native, *arguments, by=screening.named(self.parts, by), options=options
        )

    def promote_many(
        self,
        items: Iterable[Promotable],
        scope: MemoryScope | str | None = None,
        *,
        by: str,
    ) -> list[Promotion]:
        """Promote several things of one group in one transaction, all of them or none.

        Their texts are embedded together. See `promote` for what each may be.

        Args:
            items: What to promote, in order.
            scope: Whose memory it becomes; by default that of the first entry or insight.
            by: Who does it.

        Returns:
            What became of each, in order.

        Raises:
            PromotionRefused: If one of them may not be promoted; nothing is then.
            EntryMissing: If there is no such entry in this scope.
            EntryRefused: If one of them is no text, blank, or longer than `entry_chars`.
            SettingError: As for `promote`.
        """
        arguments = (
            [screening.promotable(self.parts, item) for item in checking.several("items", items)],
            screening.owner_if_named(self.parts, scope),
        )
        return run_blocking(
            promote.promote_many(self.parts, *arguments, by=screening.named(self.parts, by))
        )

    async def apromote_many(
        self,
        items: Iterable[Promotable],
        scope: MemoryScope | str | None = None,
        *,
        by: str,
    ) -> list[Promotion]:
        """Promote several things of one group in one transaction, all of them or none.

        Their texts are embedded together. See `promote` for what each may be.

        Args:
            items: What to promote, in order.
            scope: Whose memory it becomes; by default that of the first entry or insight.
            by: Who does it.

        Returns:
            What became of each, in order.

        Raises:
            PromotionRefused: If one of them may not be promoted; nothing is then.
            EntryMissing: If there is no such entry in this scope.
            EntryRefused: If one of them is no text, blank, or longer than `entry_chars`.
            SettingError: As for `promote`.
        """
        arguments = (
            [screening.promotable(self.parts, item) for item in checking.several("items", items)],
            screening.owner_if_named(self.parts, scope),
        )
        return await promote.promote_many(
            self.parts.native, *arguments, by=screening.named(self.parts, by)
        )

    def promote_due(
        self, scope: MemoryScope | str | None = None, *, limit: int | None = None
    ) -> list[Promotion]:
        """Promote what the policy accepts without a decision, and what has waited long enough.

        With the default policy that is nothing; see `PromotionPolicy.trusted_users`,
        `corroborated` and `automatic`. `TieredMemoryMiddleware` calls it at the end of each run.
        A promotion is made by `policy:<name>`, and `revoke` undoes it.

        Args:
            scope: Whose quarantine. Without a group every group of its tenant; None is the tenant
                without a name.
            limit: How many waiting entries are looked at, the newest first; all by default.

        Returns:
            The promotions, in order.

        Raises:
            SettingError: For a limit below 1.
        """
        if limit is not None:
            checking.whole("limit", limit, 1)
        return run_blocking(automatic.promote_due(self.parts, _maybe(scope), limit=limit))

    async def apromote_due(
        self, scope: MemoryScope | str | None = None, *, limit: int | None = None
    ) -> list[Promotion]:
        """Promote what the policy accepts without a decision, and what has waited long enough.

        With the default policy that is nothing; see `PromotionPolicy.trusted_users`,
        `corroborated` and `automatic`. `TieredMemoryMiddleware` calls it at the end of each run.
        A promotion is made by `policy:<name>`, and `revoke` undoes it.

        Args:
            scope: Whose quarantine. Without a group every group of its tenant; None is the tenant
                without a name.
            limit: How many waiting entries are looked at, the newest first; all by default.

        Returns:
            The promotions, in order.

        Raises:
            SettingError: For a limit below 1.
        """
        if limit is not None:
            checking.whole("limit", limit, 1)
        return await automatic.promote_due(self.parts.native, _maybe(scope), limit=limit)

    def supersede(
        self,
        old: Superseded,
        new: Promotable,
        scope: MemoryScope | str | None = None,
        *,
        by: str,
        subject: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_from: datetime | None = None,
    ) -> Promotion:
        """Supersede a memory by a text; the old text stays searchable as the past.

        From `valid_from` on `retrieve` shows the new one, `retrieve(at=...)` before it the old.

        Args:
            old: A memory, its id or that of its document, a promotion, or a recalled item.
            new: As for `promote`.
            scope: Whose memory it is.
            by: Who does it.
            subject: What it is about; that of the old one by default.
            metadata: Further metadata.
            valid_from: Since when it holds; now by default.

        Returns:
            What is in long-term memory now; `superseded` names what it took the place
            of.

        Raises:
            EntryMissing: If there is no such memory in this scope.
            PromotionRefused: As for `promote`, or if the old one is not current, or what is no
                person would replace something that is trusted more.
            EntryRefused: For a blank text, and as for `promote`.
            SettingError: As for `promote`, and for another type of `old`.
        """
        options = self._options(subject, None, metadata, valid_from)
        arguments = (
            _old(old),
            screening.promotable(self.parts, new),
            screening.owner_if_named(self.parts, scope),
        )
        return run_blocking(
            promote.supersede(
                self.parts, *arguments, by=screening.named(self.parts, by), options=options
            )
        )

    async def asupersede(
        self,
        old: Superseded,
        new: Promotable,
        scope: MemoryScope | str | None = None,
        *,
        by: str,
        subject: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_from: datetime | None = None,
    ) -> Promotion:
        """Supersede a memory by a text; the old text stays searchable as the past.

        From `valid_from` on `retrieve` shows the new one, `retrieve(at=...)` before it the old.

        Args:
            old: A memory, its id or that of its document, a promotion, or a recalled item.
            new: As for `promote`.
            scope: Whose memory it is.
            by: Who does it.
            subject: What it is about; that of the old one by default.
            metadata: Further metadata.
            valid_from: Since when it holds; now by default.

        Returns:
            What is in long-term memory now; `superseded` names what it took the place
            of.

        Raises:
            EntryMissing: If there is no such memory in this scope.
            PromotionRefused: As for `promote`, or if the old one is not current, or what is no
                person would replace something that is trusted more.
            EntryRefused: For a blank text, and as for `promote`.
            SettingError: As for `promote`, and for another type of `old`.
        """
        options = self._options(subject, None, metadata, valid_from)
        arguments = (
            _old(old),
            screening.promotable(self.parts, new),
            screening.owner_if_named(self.parts, scope),
        )
        return await promote.supersede(
            self.parts.native, *arguments, by=screening.named(self.parts, by), options=options
        )

    def propose(
        self, item: Promotable, scope: MemoryScope | str | None = None, *, by: str
    ) -> Entry:
        """Propose a promotion, for another person to approve.

        A text or insight becomes an entry by it. All who proposed it are in
        `proposers`.

        Args:
            item: A text, an entry, its id, or an insight.
            scope: Whose memory it would become; an entry or insight brings its own.
            by: Who proposes it.

        Returns:
            The entry that waits for a decision.

        Raises:
            PromotionRefused: For an entry that was revoked, is the verdict of a check, or is an
                echo that no person proposes.
            EntryMissing: If there is no such entry in this scope.
            EntryRefused: For an empty text, or one that is too long.
            SettingError: For a blank `by`, or a secret in `by` or the scope.
        """
        arguments = (
            screening.promotable(self.parts, item),
            screening.owner_if_named(self.parts, scope),
        )
        return run_blocking(
            proposals.propose(self.parts, *arguments, by=screening.named(self.parts, by))
        )

    async def apropose(
        self, item: Promotable, scope: MemoryScope | str | None = None, *, by: str
    ) -> Entry:
        """Propose a promotion, for another person to approve.

        A text or insight becomes an entry by it. All who proposed it are in
        `proposers`.

        Args:
            item: A text, an entry, its id, or an insight.
            scope: Whose memory it would become; an entry or insight brings its own.
            by: Who proposes it.

        Returns:
            The entry that waits for a decision.

        Raises:
            PromotionRefused: For an entry that was revoked, is the verdict of a check, or is an
                echo that no person proposes.
            EntryMissing: If there is no such entry in this scope.
            EntryRefused: For an empty text, or one that is too long.
            SettingError: For a blank `by`, or a secret in `by` or the scope.
        """
        arguments = (
            screening.promotable(self.parts, item),
            screening.owner_if_named(self.parts, scope),
        )
        return await proposals.propose(
            self.parts.native, *arguments, by=screening.named(self.parts, by)
        )

    def reject(
        self,
        item: str | Entry | Insight,
        scope: MemoryScope | str | None = None,
        *,
        by: str,
        reason: str = "",
    ) -> Entry:
        """Reject an entry or an insight, so that it is not promoted.

        It stays in quarantine, leaves working memory, and is not asked about again. Copies that are
        trusted no more are rejected with it.

        Args:
            item: An entry, its id, or an insight. Of an insight every entry is decided; one that
                makes other statements still waits for these.
            scope: Whose memory it is; what is passed brings its own.
            by: Who decides.
            reason: Why; it is kept with the entry.

        Returns:
            The entry; of an insight its first source.

        Raises:
            PromotionRefused: If it was promoted or revoked already.
            EntryMissing: If there is no such entry in this scope.
            SettingError: For a blank `by`, or a secret in it.
        """
        arguments, actor, cause = (
            (item, _maybe(scope)),
            screening.named(self.parts, by),
            screening.clean_reason(self.parts, reason),
        )
        return run_blocking(proposals.reject(self.parts, *arguments, by=actor, reason=cause))

    async def areject(
        self,
        item: str | Entry | Insight,
        scope: MemoryScope | str | None = None,
        *,
        by: str,
        reason: str = "",
    ) -> Entry:
        """Reject an entry or an insight, so that it is not promoted.

        It stays in quarantine, leaves working memory, and is not asked about again. Copies that are
        trusted no more are rejected with it.

        Args:
            item: An entry, its id, or an insight. Of an insight every entry is decided; one that
                makes other statements still waits for these.
            scope: Whose memory it is; what is passed brings its own.
            by: Who decides.
            reason: Why; it is kept with the entry.

        Returns:
            The entry; of an insight its first source.

        Raises:
            PromotionRefused: If it was promoted or revoked already.
            EntryMissing: If there is no such entry in this scope.
            SettingError: For a blank `by`, or a secret in it.
        """
        arguments, actor, cause = (
            (item, _maybe(scope)),
            screening.named(self.parts, by),
            screening.clean_reason(self.parts, reason),
        )
        return await proposals.reject(self.parts.native, *arguments, by=actor, reason=cause)

    def ungroup(self, item: str | Entry, scope: MemoryScope | str | None = None) -> Entry:
        """Take an entry out of its group, because it does not say what the others say.

        A digest shows it as an insight of its own from now on, whatever it repeats.

        Args:
            item: An entry, or its id.
            scope: Whose memory it is; an entry brings its own.

        Returns:
            The entry as it is now.

        Raises:
            EntryMissing: If there is no such entry in this scope.
        """
        return run_blocking(proposals.ungroup(self.parts, item, _maybe(scope)))

    async def aungroup(self, item: str | Entry, scope: MemoryScope | str | None = None) -> Entry:
        """Take an entry out of its group, because it does not say what the others say.

        A digest shows it as an insight of its own from now on, whatever it repeats.

        Args:
            item: An entry, or its id.
            scope: Whose memory it is; an entry brings its own.

        Returns:
            The entry as it is now.

        Raises:
            EntryMissing: If there is no such entry in this scope.
        """
        return await proposals.ungroup(self.parts.native, item, _maybe(scope))

    def embed_pending(self, limit: int | None = None) -> int:
        """Embed memories that have no vector yet, of all groups; return how many got one.

        Args:
            limit: How many memories are tried at most; all by default.

        Returns:
            How many got a vector.

        Raises:
            EmbeddingFailed: If the model still does not answer; what was done stays done.
            SettingError: For a limit that is no whole number of at least 0.
        """
        return run_blocking(embedding_retry.embed_pending(self.parts, _limit(limit)))

    async def aembed_pending(self, limit: int | None = None) -> int:
        """Embed memories that have no vector yet, of all groups; return how many got one.

        Args:
            limit: How many memories are tried at most; all by default.

        Returns:
            How many got a vector.

        Raises:
            EmbeddingFailed: If the model still does not answer; what was done stays done.
            SettingError: For a limit that is no whole number of at least 0.
        """
        return await embedding_retry.embed_pending(self.parts.native, _limit(limit))

    def reindex(self, *, on_progress: OnProgress = None) -> Reindexed:
        """Embed everything with the present model, then forget the vectors of others.

        Reads go on meanwhile: words find what has no vector of this model yet. After an
        interruption the next call goes on where it stopped.

        Args:
            on_progress: Is called with how many were embedded so far, after each batch.

        Returns:
            The space of the present model, how many memories got a vector, and how many
            still have none.
        """
        return run_blocking(reindex.reindex(self.parts, on_progress))

    async def areindex(self, *, on_progress: OnProgress = None) -> Reindexed:
        """Embed everything with the present model, then forget the vectors of others.

        Reads go on meanwhile: words find what has no vector of this model yet. After an
        interruption the next call goes on where it stopped.

        Args:
            on_progress: Is called with how many were embedded so far, after each batch.

        Returns:
            The space of the present model, how many memories got a vector, and how many
            still have none.
        """
        return await reindex.reindex(self.parts.native, on_progress)

    def spaces(self) -> dict[Space, int]:
        """Return the embedding spaces of long-term memory and how many vectors each has.

        Returns:
            The number of vectors by space, the current space first.
        """
        return run_blocking(self.parts.tiers.long_term.spaces())

    async def aspaces(self) -> dict[Space, int]:
        """Return the embedding spaces of long-term memory and how many vectors each has.

        Returns:
            The number of vectors by space, the current space first.
        """
        return await self.parts.native.tiers.long_term.spaces()

    def _options(
        self,
        subject: str | None,
        agent_id: str | None,
        metadata: Mapping[str, Any] | None,
        valid_from: datetime | None,
        *,
        shared: bool = False,
    ) -> PromotionOptions:
        """Return what is said with a promotion, if it can be kept."""
        is_plain = subject is None and agent_id is None and metadata is None and valid_from is None
        if is_plain and shared is False:
            return DEFAULT_OPTIONS
        checking.instance("shared", shared, (bool,))
        checking.text("subject", subject, or_none=True)
        checking.mapping("metadata", metadata)
        if valid_from is not None:
            checking.moment("valid_from", valid_from)
        if agent_id is not None:
            screening.owner(self.parts, MemoryScope(agent_id=agent_id))
        if shared and agent_id is not None:
            raise SettingError(
                "shared=True: memory of the group, and agent_id= is that of an agent; pass one"
            )
        return PromotionOptions(subject, agent_id, metadata or {}, valid_from, shared=shared)


def _maybe(scope: MemoryScope | str | None) -> MemoryScope | None:
    """Return a scope, None if none was given: what is promoted may bring its own."""
    return None if scope is None else scope_of(scope)


def _since(since: timedelta | datetime | None) -> timedelta | datetime | None:
    checking.instance("since", since, (timedelta, datetime, NoneType))
    if isinstance(since, datetime):
        checking.moment("since", since)
    if isinstance(since, timedelta) and since < timedelta(0):
        raise SettingError(f"since={since!r}: is how far back, and must be at least 0")
    return since


def _filter(
    since: timedelta | datetime | None,
    before: datetime | None,
    origin: str | Origin | None,
    trust: Trust | str | None,
    user: str | None,
    limit: int | None,
    after: str | None,
) -> DigestFilter:
    """Validate the filters of a digest."""
    if before is not None:
        checking.instance("before", before, (datetime,))
        checking.moment("before", before)
    checking.instance("origin", origin, (str, Origin, NoneType))
    checking.text("user", user, or_none=True)
    checking.text("after", after, or_none=True)
    return DigestFilter(
        since=_since(since),
        before=before,
        origin=None if origin is None else str(origin),
        trust=None if trust is None else _trust(trust),
        user=user,
        limit=_limit(limit),
        after=after,
    )


def _trust(trust: Trust | str) -> Trust:
    if isinstance(trust, str) and trust.upper() in Trust.__members__:
        return Trust[trust.upper()]
    if not isinstance(trust, Trust):
        names = ", ".join(level.name.lower() for level in Trust)
        raise SettingError(f"trust={trust!r:.200}: must be one of {names}")
    return trust


def _limit(limit: int | None) -> int | None:
    return None if limit is None else checking.whole("limit", limit)


def _old(old: Superseded) -> Superseded:
    checking.instance("old", old, (str, Memory, Promotion, ContextItem))
    return old

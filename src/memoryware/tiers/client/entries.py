"""Operations on entries and recall: record, update and clean up working memory, retrieve, list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from memoryware._runner import run_blocking
from memoryware.scope import MemoryScope
from memoryware.tiers import checking, listing, record
from memoryware.tiers._parts import Parts, scope_of
from memoryware.tiers.entry import EntryOrigin
from memoryware.tiers.listing import ListOptions as Page
from memoryware.tiers.listing import RecordState, TierName
from memoryware.tiers.model import Entry, Memory, Role
from memoryware.tiers.provenance import Provenance, Trust
from memoryware.tiers.recall.query import RetrieveOptions
from memoryware.tiers.recall.search import retrieve
from memoryware.tiers.values import (
    ContextItem,
    GroupSummary,
    Layer,
    Listing,
    Output,
    Recall,
    Recorded,
)

_TIERS: Collection[Layer] = ("quarantine", "working")


class EntryOperations:
    """Recording the outputs of agents."""

    parts: Parts

    def record(
        self,
        content: str,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        role: Role = "agent",
        provenance: Provenance | None = None,
        key: str | None = None,
        shown: Sequence[ContextItem] = (),
        tiers: Collection[Layer] = _TIERS,
    ) -> Recorded:
        """Keep an output in quarantine, and in working memory if the filters let it pass.

        Args:
            content: The text. Secrets are taken out before it is kept, and of metadata as well.
            scope: On whose behalf it was made. Without a group only quarantine keeps it.
            metadata: What is known of it: `confidence`, `verify_pending`, anything of yours.
            role: The part that its maker plays in the graph; "user" for what a person has said.
            provenance: Author and sources; by default the agent of the scope, or its user for
                the role "user", and the items of `shown` that it repeats.
            key: Recording the same key again records nothing.
            shown: The items that its author was shown, to tell an echo from something new.
            tiers: ("quarantine",) keeps it out of working memory.

        Returns:
            The entry as quarantine has it, whether working memory has it too, and if
            not, why.

        Raises:
            EntryRefused: For a value that is not a text, or is too long.
            SettingError: For an option of another type, or a secret in the scope or in a name
                of the provenance. What a text loses, a name cannot.
            StoreUnavailable: If quarantine cannot be written. A failing working memory is
                logged and told as an event.
        """
        origin = EntryOrigin(role=role, provenance=provenance, key=key, shown=tuple(shown))
        arguments = content, scope_of(scope), metadata
        return run_blocking(record.record(self.parts, *arguments, origin=origin, tiers=tiers))

    async def arecord(
        self,
        content: str,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        role: Role = "agent",
        provenance: Provenance | None = None,
        key: str | None = None,
        shown: Sequence[ContextItem] = (),
        tiers: Collection[Layer] = _TIERS,
    ) -> Recorded:
        """Keep an output in quarantine, and in working memory if the filters let it pass.

        Args:
            content: The text. Secrets are taken out before it is kept, and of metadata as well.
            scope: On whose behalf it was made. Without a group only quarantine keeps it.
            metadata: What is known of it: `confidence`, `verify_pending`, anything of yours.
            role: The part that its maker plays in the graph; "user" for what a person has said.
            provenance: Author and sources; by default the agent of the scope, or its user for
                the role "user", and the items of `shown` that it repeats.
            key: Recording the same key again records nothing.
            shown: The items that its author was shown, to tell an echo from something new.
            tiers: ("quarantine",) keeps it out of working memory.

        Returns:
            The entry as quarantine has it, whether working memory has it too, and if
            not, why.

        Raises:
            EntryRefused: For a value that is not a text, or is too long.
            SettingError: For an option of another type, or a secret in the scope or in a name
                of the provenance. What a text loses, a name cannot.
            StoreUnavailable: If quarantine cannot be written. A failing working memory is
                logged and told as an event.
        """
        origin = EntryOrigin(role=role, provenance=provenance, key=key, shown=tuple(shown))
        arguments = content, scope_of(scope), metadata
        return await record.record(self.parts.native, *arguments, origin=origin, tiers=tiers)

    def record_many(
        self,
        outputs: Iterable[str | Output],
        scope: MemoryScope | str | None = None,
        *,
        tiers: Collection[Layer] = _TIERS,
    ) -> list[Recorded]:
        """Record outputs of one scope together, in order; see `record`.

        That is one transaction: all of them are stored, or none. With filters that wait, or
        working memory in another store, it is one transaction in quarantine, and each output that
        passes goes to working memory by itself after it. A failure of the transaction is
        logged, and each output is recorded by itself.

        Args:
            outputs: Texts, or `Output` objects with metadata.
            scope: On whose behalf they were made.
            tiers: As for `record`.

        Returns:
            What became of each, in order.

        Raises:
            EntryRefused: For a value that is not a text, or is too long; then nothing is recorded.
            SettingError: As for `record`.
            StoreUnavailable: If quarantine cannot be written.
        """
        every = _outputs(outputs)
        return run_blocking(record.record_many(self.parts, every, scope_of(scope), tiers=tiers))

    async def arecord_many(
        self,
        outputs: Iterable[str | Output],
        scope: MemoryScope | str | None = None,
        *,
        tiers: Collection[Layer] = _TIERS,
    ) -> list[Recorded]:
        """Record outputs of one scope together, in order; see `record`.

        That is one transaction: all of them are stored, or none. With filters that wait, or
        working memory in another store, it is one transaction in quarantine, and each output that
        passes goes to working memory by itself after it. A failure of the transaction is
        logged, and each output is recorded by itself.

        Args:
            outputs: Texts, or `Output` objects with metadata.
            scope: On whose behalf they were made.
            tiers: As for `record`.

        Returns:
            What became of each, in order.

        Raises:
            EntryRefused: For a value that is not a text, or is too long; then nothing is recorded.
            SettingError: As for `record`.
            StoreUnavailable: If quarantine cannot be written.
        """
        every = _outputs(outputs)
        return await record.record_many(self.parts.native, every, scope_of(scope), tiers=tiers)

    def log_quarantine(
        self,
        content: str,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        role: Role = "agent",
        provenance: Provenance | None = None,
        key: str | None = None,
    ) -> Entry:
        """Keep an output in quarantine only, and return its entry; see `record`.

        Args:
            content: The text. Secrets are taken out before it is kept.
            scope: On whose behalf it was made.
            metadata: Its metadata.
            role: The part that its maker plays in the graph.
            provenance: Who made it, and of what; by default the agent of the scope.
            key: Recording the same key again records nothing and returns the entry that
                is there.

        Returns:
            The entry.
        """
        origin = EntryOrigin(role=role, provenance=provenance, key=key)
        arguments = content, scope_of(scope), metadata
        return run_blocking(record.log_quarantine(self.parts, *arguments, origin=origin))

    async def alog_quarantine(
        self,
        content: str,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        role: Role = "agent",
        provenance: Provenance | None = None,
        key: str | None = None,
    ) -> Entry:
        """Keep an output in quarantine only, and return its entry; see `record`.

        Args:
            content: The text. Secrets are taken out before it is kept.
            scope: On whose behalf it was made.
            metadata: Its metadata.
            role: The part that its maker plays in the graph.
            provenance: Who made it, and of what; by default the agent of the scope.
            key: Recording the same key again records nothing and returns the entry that
                is there.

        Returns:
            The entry.
        """
        origin = EntryOrigin(role=role, provenance=provenance, key=key)
        arguments = content, scope_of(scope), metadata
        return await record.log_quarantine(self.parts.native, *arguments, origin=origin)

    def update_working_memory(
        self,
        content: str | Entry,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Recorded:
        """Put a text, or an entry of quarantine, into working memory if the filters let it pass.

        Without a group nothing happens. The refusal of an entry is noted in quarantine.

        Args:
            content: A text, or an entry of quarantine. A text that quarantine does not
                have goes there first.
            scope: On whose behalf; an entry brings its own.
            metadata: What is known of it, beside what the entry says.

        Returns:
            The entry as quarantine has it, whether working memory has it too, and if
            not, why.
        """
        return run_blocking(
            record.update_working_memory(self.parts, content, scope_of(scope), metadata)
        )

    async def aupdate_working_memory(
        self,
        content: str | Entry,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Recorded:
        """Put a text, or an entry of quarantine, into working memory if the filters let it pass.

        Without a group nothing happens. The refusal of an entry is noted in quarantine.

        Args:
            content: A text, or an entry of quarantine. A text that quarantine does not
                have goes there first.
            scope: On whose behalf; an entry brings its own.
            metadata: What is known of it, beside what the entry says.

        Returns:
            The entry as quarantine has it, whether working memory has it too, and if
            not, why.
        """
        return await record.update_working_memory(
            self.parts.native, content, scope_of(scope), metadata
        )

    def cleanup_working_memory(self) -> int:
        """Delete expired entries from working memory, in all groups.

        Nothing that has expired is ever returned; this only gives back its room.

        Returns:
            How many entries were removed.
        """
        return run_blocking(record.cleanup_working_memory(self.parts))

    async def acleanup_working_memory(self) -> int:
        """Delete expired entries from working memory, in all groups.

        Nothing that has expired is ever returned; this only gives back its room.

        Returns:
            How many entries were removed.
        """
        return await record.cleanup_working_memory(self.parts.native)


def _outputs(outputs: Iterable[str | Output]) -> list[Output]:
    items = checking.several("outputs", outputs)
    return [item if isinstance(item, Output) else Output(item) for item in items]


Sources = Sequence[Literal["working", "long_term"]]
_RECALLED: Sources = ("working", "long_term")


class RecallOperations:
    """Recalling and listing records."""

    parts: Parts

    def retrieve(
        self,
        query: str,
        scope: MemoryScope | str,
        session_id: str | None = None,
        *,
        agent_id: str | None = None,
        max_results: int | None = None,
        score_threshold: float | None = None,
        time_range_days: float | None = None,
        at: datetime | None = None,
        min_trust: Trust | None = None,
        tiers: Sources = _RECALLED,
        explain: bool = False,
    ) -> Recall:
        """Search working and long-term memory; return the best matches first.

        Args:
            query: A question or some words.
            scope: Who asks: exactly this tenant and group, and the experience of its agent.
            session_id: Only memories that came from this session; working memory is not cut.
            agent_id: Whose experience is asked as well; by default that of the scope.
            max_results: How many at most. It does not raise the limits of the tiers: there are
                never more than `working_items + long_term_items + agent_items` (23 by default).
            score_threshold: Leave out memories below this cosine. Matches by words stay, and so
                does everything if nothing is embedded.
            time_range_days: Leave out records that are older.
            at: Search the memories that were valid at that moment.
            min_trust: Leave out records that are trusted less, in both tiers: `Trust.USER` leaves
                out the words of agents, `Trust.UNVERIFIED` text from outside. By default
                trust leaves nothing out; see `share_outside` for text from outside.
            tiers: ("long_term",) leaves working memory out, ("working",) long-term memory.
            explain: Fill `candidates`: why each came, where it ranked, why it was left out.

        Returns:
            A list of `ContextItem`. If one tier fails, its name stands in `failed` and the
            other's items are there. Without a group the list is empty.

        Raises:
            StoreClosed: If the memory was closed.
            StoreUnavailable: If both tiers fail and the memory has `on_error="raise"`.
            SettingError: For a query that is no text, an `at` without a time zone, an unknown
                tier, or a number outside of its range.
        """
        options = RetrieveOptions(
            session_id=session_id,
            agent_id=agent_id,
            max_results=max_results,
            score_threshold=score_threshold,
            time_range_days=time_range_days,
            at=at,
            min_trust=min_trust,
            tiers=tiers,
            explain=explain,
        )
        return run_blocking(retrieve(self.parts, query, scope_of(scope), options=options))

    async def aretrieve(
        self,
        query: str,
        scope: MemoryScope | str,
        session_id: str | None = None,
        *,
        agent_id: str | None = None,
        max_results: int | None = None,
        score_threshold: float | None = None,
        time_range_days: float | None = None,
        at: datetime | None = None,
        min_trust: Trust | None = None,
        tiers: Sources = _RECALLED,
        explain: bool = False,
    ) -> Recall:
        """Search working and long-term memory; return the best matches first.

        Args:
            query: A question or some words.
            scope: Who asks: exactly this tenant and group, and the experience of its agent.
            session_id: Only memories that came from this session; working memory is not cut.
            agent_id: Whose experience is asked as well; by default that of the scope.
            max_results: How many at most. It does not raise the limits of the tiers: there are
                never more than `working_items + long_term_items + agent_items` (23 by default).
            score_threshold: Leave out memories below this cosine. Matches by words stay, and so
                does everything if nothing is embedded.
            time_range_days: Leave out records that are older.
            at: Search the memories that were valid at that moment.
            min_trust: Leave out records that are trusted less, in both tiers: `Trust.USER` leaves
                out the words of agents, `Trust.UNVERIFIED` text from outside. By default
                trust leaves nothing out; see `share_outside` for text from outside.
            tiers: ("long_term",) leaves working memory out, ("working",) long-term memory.
            explain: Fill `candidates`: why each came, where it ranked, why it was left out.

        Returns:
            A list of `ContextItem`. If one tier fails, its name stands in `failed` and the
            other's items are there. Without a group the list is empty.

        Raises:
            StoreClosed: If the memory was closed.
            StoreUnavailable: If both tiers fail and the memory has `on_error="raise"`.
            SettingError: For a query that is no text, an `at` without a time zone, an unknown
                tier, or a number outside of its range.
        """
        options = RetrieveOptions(
            session_id=session_id,
            agent_id=agent_id,
            max_results=max_results,
            score_threshold=score_threshold,
            time_range_days=time_range_days,
            at=at,
            min_trust=min_trust,
            tiers=tiers,
            explain=explain,
        )
        return await retrieve(self.parts.native, query, scope_of(scope), options=options)

    def list(
        self,
        scope: MemoryScope | str,
        *,
        tier: TierName = "all",
        limit: int | None = None,
        offset: int = 0,
        query: str = "",
        after: str | None = None,
        state: RecordState | None = None,
        origin: str | None = None,
        user: str | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
    ) -> Listing:
        """List the records of the tiers for people, newest first; quarantine is included.

        Args:
            scope: Exactly this tenant and group.
            tier: "quarantine", "working", "long_term", or "all".
            limit: Lines of the page; `listed` of the limits by default.
            offset: Lines to pass over.
            query: Only records with these words, the best first.
            after: The `next` of the page before. What is stored or goes meanwhile hides nothing
                and brings nothing twice; with a query it may, as all places in that order move.
            state: Only records in this state: "pending", "proposed", "promoted", "rejected" or
                "revoked" of entries, "current", "superseded" or "revoked" of memories. Copies in
                working memory have none.
            origin: Only records with this origin in their lineage: "tool:web_search", or "tool" for
                all of its kind.
            user: Only records of this user.
            since: Only records that were created then or later.
            before: Only records that were created earlier.

        Returns:
            The lines of the page, how many there are in all, and the `next` for the
            page after it.

        Raises:
            SettingError: For an unknown tier or state, a number below 0, or a mark of another
                list.
        """
        page = Page(tier, limit, offset, query, after, state, origin, user, since, before)
        return run_blocking(listing.list_records(self.parts, scope_of(scope), page))

    async def alist(
        self,
        scope: MemoryScope | str,
        *,
        tier: TierName = "all",
        limit: int | None = None,
        offset: int = 0,
        query: str = "",
        after: str | None = None,
        state: RecordState | None = None,
        origin: str | None = None,
        user: str | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
    ) -> Listing:
        """List the records of the tiers for people, newest first; quarantine is included.

        Args:
            scope: Exactly this tenant and group.
            tier: "quarantine", "working", "long_term", or "all".
            limit: Lines of the page; `listed` of the limits by default.
            offset: Lines to pass over.
            query: Only records with these words, the best first.
            after: The `next` of the page before. What is stored or goes meanwhile hides nothing
                and brings nothing twice; with a query it may, as all places in that order move.
            state: Only records in this state: "pending", "proposed", "promoted", "rejected" or
                "revoked" of entries, "current", "superseded" or "revoked" of memories. Copies in
                working memory have none.
            origin: Only records with this origin in their lineage: "tool:web_search", or "tool" for
                all of its kind.
            user: Only records of this user.
            since: Only records that were created then or later.
            before: Only records that were created earlier.

        Returns:
            The lines of the page, how many there are in all, and the `next` for the
            page after it.

        Raises:
            SettingError: For an unknown tier or state, a number below 0, or a mark of another
                list.
        """
        page = Page(tier, limit, offset, query, after, state, origin, user, since, before)
        return await listing.list_records(self.parts.native, scope_of(scope), page)

    def groups(self) -> tuple[GroupSummary, ...]:
        """List the groups of all tenants that have records, with their counts by tier.

        Returns:
            The groups, by tenant and name; a tenant that the database hides is not among them.
        """
        return run_blocking(listing.list_groups(self.parts))

    async def agroups(self) -> tuple[GroupSummary, ...]:
        """List the groups of all tenants that have records, with their counts by tier.

        Returns:
            The groups, by tenant and name; a tenant that the database hides is not among them.
        """
        return await listing.list_groups(self.parts.native)

    def get(self, id: str, scope: MemoryScope | str) -> Entry | Memory:  # noqa: A002
        """Return an entry or a memory by its id.

        Args:
            id: The whole id, of 32 characters.
            scope: Exactly this tenant and group.

        Returns:
            The record as it is now, whatever its status.

        Raises:
            EntryMissing: If this tenant and group have none with this id.
            SettingError: For an id that is no text.
        """
        return run_blocking(listing.get(self.parts, id, scope_of(scope)))

    async def aget(self, id: str, scope: MemoryScope | str) -> Entry | Memory:  # noqa: A002
        """Return an entry or a memory by its id.

        Args:
            id: The whole id, of 32 characters.
            scope: Exactly this tenant and group.

        Returns:
            The record as it is now, whatever its status.

        Raises:
            EntryMissing: If this tenant and group have none with this id.
            SettingError: For an id that is no text.
        """
        return await listing.get(self.parts.native, id, scope_of(scope))

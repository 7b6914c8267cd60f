"""Doors to what is read: recall, listing, one record."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from memoryware._runner import run_blocking
from memoryware.scope import MemoryScope
from memoryware.tiers import listing, recall
from memoryware.tiers._doors.base import Doors
from memoryware.tiers._parts import scope_of
from memoryware.tiers.listing import LayerName
from memoryware.tiers.listing import Wanted as Page
from memoryware.tiers.recall import RetrieveOptions
from memoryware.tiers.records import Entry, Memory, Trust
from memoryware.tiers.values import Listing, Recall

Sources = Sequence[Literal["hot", "cold"]]
_BOTH: Sources = ("hot", "cold")


class RecallingDoors(Doors):
    """Reading the tiers."""

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
        layers: Sources = _BOTH,
        explain: bool = False,
    ) -> Recall:
        """Return what working and long-term memory know about a query, best first.

        Args:
            query: A question or some words.
            scope: Who asks: exactly this tenant and group, and the experience of its agent.
            session_id: Only memories that came from this session; working memory is not cut.
            agent_id: Whose experience is asked as well; by default that of the scope.
            max_results: How many at most. It does not raise the limits of the tiers: there are
                never more than `hot_items + cold_items + agent_items` (18 by default).
            score_threshold: Leave out what is less similar, by cosine. What was found by words
                stays, and so does everything where nothing is embedded.
            time_range_days: Leave out what is older.
            at: What held at that moment, not what holds now.
            min_trust: Leave out what is trusted less, in both tiers: `Trust.USER` leaves out
                what agents have said, `Trust.UNVERIFIED` what came from outside. By default
                trust leaves nothing out; see `share_outside` for text from outside.
            layers: ("cold",) leaves working memory out, ("hot",) long-term memory.
            explain: Fill `candidates`: why each came, where it ranked, why it was left out.

        Returns:
            A list of `ContextItem`. If one tier fails, its name stands in `failed` and the
            other's items are there. Without a group the list is empty.

        Raises:
            StoreUnavailable: If both tiers fail and the memory has `on_error="raise"`.
            SettingError: For a query that is no text, an `at` without a time zone, an unknown
                layer, or a number outside of its range.
        """
        options = RetrieveOptions(
            session_id=session_id,
            agent_id=agent_id,
            max_results=max_results,
            score_threshold=score_threshold,
            time_range_days=time_range_days,
            at=at,
            min_trust=min_trust,
            layers=layers,
            explain=explain,
        )
        return run_blocking(recall.retrieve(self.parts, query, scope_of(scope), options=options))

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
        layers: Sources = _BOTH,
        explain: bool = False,
    ) -> Recall:
        """Async twin of `retrieve`."""
        options = RetrieveOptions(
            session_id=session_id,
            agent_id=agent_id,
            max_results=max_results,
            score_threshold=score_threshold,
            time_range_days=time_range_days,
            at=at,
            min_trust=min_trust,
            layers=layers,
            explain=explain,
        )
        return await recall.retrieve(self.parts.native, query, scope_of(scope), options=options)

    def list(
        self,
        scope: MemoryScope | str,
        *,
        layer: LayerName = "all",
        limit: int | None = None,
        offset: int = 0,
        query: str = "",
        after: str | None = None,
    ) -> Listing:
        """Return a page of what the tiers hold, for people: quarantine too, newest first.

        Args:
            scope: Exactly this tenant and group.
            layer: "quarantine", "working", "longterm", or "all".
            limit: Lines of the page; `listed` of the limits by default.
            offset: Lines to pass over.
            query: Only what has these words, the best first.
            after: The `next` of the page before. What is stored or goes meanwhile hides nothing
                and brings nothing twice; with a query it may, as all places in that order move.

        Raises:
            SettingError: For a layer that is none, a number below 0, or a mark of another list.
        """
        page = Page(layer, limit, offset, query, after)
        return run_blocking(listing.list_records(self.parts, scope_of(scope), page))

    async def alist(
        self,
        scope: MemoryScope | str,
        *,
        layer: LayerName = "all",
        limit: int | None = None,
        offset: int = 0,
        query: str = "",
        after: str | None = None,
    ) -> Listing:
        """Async twin of `list`."""
        page = Page(layer, limit, offset, query, after)
        return await listing.list_records(self.parts.native, scope_of(scope), page)

    def get(self, id: str, scope: MemoryScope | str) -> Entry | Memory:  # noqa: A002
        """Return an entry or a memory by its id.

        Raises:
            EntryMissing: If this tenant and group have none with this id.
            SettingError: For an id that is no text.
        """
        return run_blocking(listing.get(self.parts, id, scope_of(scope)))

    async def aget(self, id: str, scope: MemoryScope | str) -> Entry | Memory:  # noqa: A002
        """Async twin of `get`."""
        return await listing.get(self.parts.native, id, scope_of(scope))

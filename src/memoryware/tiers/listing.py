"""List the records of all tiers, page by page, and get a record by its id."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote, unquote

from memoryware.errors import EntryMissing, SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts
from memoryware.tiers.model import Entry, Memory, lineages
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.views import RecordView
from memoryware.tiers.text.terms import query_words, words_of
from memoryware.tiers.values import LAYERS, Counts, GroupSummary, Layer, Listed, Listing

TierName: TypeAlias = Literal["all", "quarantine", "working", "longterm", "long_term"]
"""The tier that is listed."""
RecordState: TypeAlias = Literal[
    "pending", "proposed", "promoted", "rejected", "revoked", "current", "superseded"
]
"""The state of a record: of an entry its status, of a memory whether it is current."""
_AHEAD: Final = timedelta(days=36_525)
"""A memory whose validity begins later is current too; see `status_of`."""
_RANK: Final = "rank"
"""Name of the mark of a ranked list: how many lines came before."""
_TIERS: Final[dict[str, tuple[Layer, ...]]] = {
    "all": LAYERS,
    "quarantine": ("quarantine",),
    "working": ("working",),
    "longterm": ("long_term",),
    "long_term": ("long_term",),
}


_TIERS_OF_STATE: Final[dict[str, tuple[Layer, ...]]] = {
    **dict.fromkeys(("pending", "proposed", "promoted", "rejected"), ("quarantine",)),
    "revoked": ("quarantine", "long_term"),
    **dict.fromkeys(("current", "superseded"), ("long_term",)),
}


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The filters and the page of `TieredMemory.list`.

    Raises:
        SettingError: For an unknown tier or state, or a number below 0.
    """

    tier: TierName = "all"
    limit: int | None = None
    offset: int = 0
    query: str = ""
    after: str | None = None
    state: RecordState | None = None
    origin: str | None = None
    user: str | None = None
    since: datetime | None = None
    before: datetime | None = None

    def __post_init__(self) -> None:
        checking.choice("tier", self.tier, _TIERS)
        if self.limit is not None:
            checking.whole("limit", self.limit)
        checking.whole("offset", self.offset)
        checking.text("query", self.query)
        for name in ("after", "origin", "user"):
            checking.text(name, getattr(self, name), or_none=True)
        if self.state is not None:
            checking.choice("state", self.state, _TIERS_OF_STATE)

    @property
    def tiers(self) -> tuple[Layer, ...]:
        """The tiers that may have such records.

        Decisions about an entry are kept in quarantine, so a state selects none of its copies in
        working memory.
        """
        tiers = _TIERS[self.tier]
        if self.state is None:
            return tiers
        return tuple(tier for tier in tiers if tier in _TIERS_OF_STATE[str(self.state)])

    @property
    def is_read_whole(self) -> bool:
        """Whether a condition has no index, so that all records are read for one page."""
        has_kind = self.origin is not None and ":" not in self.origin
        return has_kind or self.state in ("revoked", "superseded")

    def select(self, scope: MemoryScope, tier: Layer, now: datetime) -> Select:
        """Return the conditions that a store can check.

        Args:
            scope: Tenant and group.
            tier: The tier.
            now: The time of the listing.

        Returns:
            The selection.
        """
        conditions: dict[str, Any] = {"since": self.since, "before": self.before}
        if self.user is not None:
            conditions["users"] = (self.user,)
        if self.origin is not None and ":" in self.origin:
            conditions["root"] = self.origin
        if tier == "working":
            conditions["live_at"] = now
        elif self.state == "current":
            conditions |= {"live_at": now, "ahead": _AHEAD}
        elif self.state is not None and tier == "quarantine":
            conditions["statuses"] = (self.state,)
        return Select.within(scope, **conditions)

    def matches(self, line: Listed) -> bool:
        """Return whether a record meets the conditions that a store cannot check.

        Args:
            line: The record.

        Returns:
            Whether it is listed.
        """
        if self.state is not None and line.status != self.state:
            return False
        if self.origin is None or ":" in self.origin:
            return True
        provenances = lineages(line.record)
        return self.origin in {root.kind for each in provenances for root in each.roots}


async def list_records(parts: Parts, scope: MemoryScope, page: ListOptions) -> Listing:
    """Return a page of the records of exactly this tenant and group.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        page: Which records, and which page of them.

    Returns:
        The page.

    Raises:
        SettingError: If `page.after` is not a mark of the same list.
    """
    limit = parts.limits.listed if page.limit is None else page.limit
    tiers, query = page.tiers, set(query_words(page.query))
    is_whole = bool(query) or page.is_read_whole
    marks = _marks_of(page.after, (_RANK,) if is_whole else tiers)
    start = page.offset + int(marks.get(_RANK, 0))
    end = min(start + limit, sys.maxsize)
    pages: list[list[tuple[Listed, str]]] = []
    total = left = 0
    for tier in tiers:
        store, select = getattr(parts.tiers, tier), page.select(scope, tier, parts.clock())
        most = None if is_whole else end
        stored = await store.find(select, limit=most, after=marks.get(tier))
        lines = (_listed(parts, tier, record, query) for record in stored.items)
        pages.append([*zip(lines, stored.marks, strict=True)])
        total, left = total + stored.total, left + stored.total - stored.newer
    newest = merge(*pages, key=lambda both: -both[0].created_at.timestamp())
    if is_whole:
        named = (line for line, _ in newest if line.score or not query)
        return _ranked([line for line in named if page.matches(line)], start, limit)
    shown = [*islice(newest, end)]
    marks |= {line.tier: mark for line, mark in shown}
    return Listing(
        items=tuple(line for line, _ in shown[start:]),
        total=total,
        next=_mark_of(marks) if shown and len(shown) < left else None,
    )


def _ranked(lines: list[Listed], start: int, limit: int) -> Listing:
    """Return a page of the records that match, the best for a query first, then the newest."""
    lines.sort(key=lambda line: (-(line.score or 0), -line.created_at.timestamp()))
    items = tuple(lines[start : start + limit])
    end = start + len(items)
    following = _mark_of({_RANK: str(end)}) if items and end < len(lines) else None
    return Listing(items=items, total=len(lines), next=following)


async def list_groups(parts: Parts) -> tuple[GroupSummary, ...]:
    """Return all groups of all tenants that have records, with their counts.

    Args:
        parts: The stores and the rules of the memory.

    Returns:
        The groups, by tenant and name.
    """
    counts: dict[tuple[str | None, str | None], dict[str, int]] = {}
    for tier in LAYERS:
        view: RecordView[Any] = getattr(parts.tiers, tier)
        for group, count in (await view.count_groups()).items():
            counts.setdefault(group, {})[tier] = count
    return tuple(
        GroupSummary(tenant, group, Counts(**counts[tenant, group]))
        for tenant, group in sorted(counts, key=lambda names: [(name or "") for name in names])
    )


def _mark_of(marks: Mapping[str, str]) -> str:
    """Return the marks of tiers as one mark that needs no quoting in a shell."""
    return ",".join(f"{name}={quote(mark, safe='')}" for name, mark in marks.items())


def _marks_of(mark: str | None, names: Sequence[str]) -> dict[str, str]:
    """Return the marks of tiers by their names.

    Raises:
        SettingError: If the mark is not one of a list of these tiers.
    """
    if mark is None:
        return {}
    pairs = [part.partition("=") for part in mark.split(",")]
    by_name = {name: unquote(value) for name, _, value in pairs}
    rank = by_name.get(_RANK, "0")
    # `isdigit` is true for digits of other scripts as well, hence `isascii`.
    if not set(by_name) <= set(names) or not (rank.isascii() and rank.isdigit() and len(rank) < 10):
        raise SettingError(
            f"after={mark!r:.200}: is not a mark of this list; pass the `next` of its page before"
        )
    return by_name


async def get(parts: Parts, id_: str, scope: MemoryScope) -> Entry | Memory:
    """Return an entry or a memory by its id.

    Args:
        parts: The stores and the rules of the memory.
        id_: The whole id.
        scope: Tenant and group.

    Returns:
        The record as it is now, whatever its status.

    Raises:
        EntryMissing: If this tenant and group have none with this id.
        SettingError: For an id that is no text.
    """
    checking.text("id", id_)
    select = Select.within(scope, ids=(id_,))
    for tier in LAYERS:
        store = getattr(parts.tiers, tier)
        page = await store.find(select)
        if page.items:
            record: Entry | Memory = page.items[0]
            return record
    hint = parts.forgotten.hint(scope, id_)
    raise EntryMissing(f"Group {scope.group_id!r} has no entry or memory {id_!r}{hint}")


def _listed(parts: Parts, tier: Layer, record: Entry | Memory, query: set[str]) -> Listed:
    same = query & set(words_of(record.content)) if query else query
    return Listed(
        id=record.id,
        tier=tier,
        content=record.content,
        created_at=record.created_at,
        score=len(same) / len(query) if query else None,
        status=status_of(record, parts.clock()),
        trust=record.provenance.trust,
        origin=record.provenance.origin,
        record=record,
    )


def status_of(record: Entry | Memory, now: datetime) -> str:
    """Return the status of a record in one word.

    Args:
        record: The entry or memory.
        now: The moment that is asked about.

    Returns:
        Of an entry its status; of a memory "current", "superseded" or "revoked".
    """
    if isinstance(record, Entry):
        return record.status
    if record.revocation is not None:
        return "revoked"
    ended = record.valid_to is not None and record.valid_to <= now
    return "superseded" if ended else "current"

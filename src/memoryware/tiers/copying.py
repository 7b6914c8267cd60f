"""Moving house: everything that one place has, copied into another, and held against it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Final

from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.errors import SettingError
from memoryware.tiers import checking
from memoryware.tiers.comparing import batches, both, must_have_something, only_in
from memoryware.tiers.records import Memory
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores.protocol import Select, Space, Stores, Vector
from memoryware.tiers.stores.views import Tiers
from memoryware.tiers.values import LAYERS, Layer

_MOST: Final = 100_000
"""Records at most in a batch."""
_ALIKE: Final = 0.9999
Marks = Mapping[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TierCopy:
    """How far the copy of one tier is.

    Attributes:
        tier: "quarantine", "working" or "long_term".
        read: Records that were read in this round.
        total: How many there are, where the source says so.
        kept: Records that the target did not have as they are.
        vectors: Vectors that it did not have.
        mark: Where to go on; None at the end.
    """

    tier: str
    read: int = 0
    total: int | None = None
    kept: int = 0
    vectors: int = 0
    mark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport:
    """What a copy has done, or has done so far.

    Attributes:
        round: Which time everything is read; the last time nothing was left to copy.
        tiers: Each tier of this round, as far as it has come.
        kept: Records that were copied, in all rounds.
        vectors: Vectors that were copied, in all rounds.
        same: Whether a whole round has found everything of the source in the target as it is.
        surplus: Records that only the target has.
        removed: How many of those were removed.
        passed_over: Entries under a `key` that another entry of the target has; it stays.
        marks: Where each tier goes on, to be given to `copy_stores` after an interruption.
    """

    round: int = 1
    tiers: tuple[TierCopy, ...] = ()
    kept: int = 0
    vectors: int = 0
    same: bool = False
    surplus: int = 0
    removed: int = 0
    passed_over: int = 0
    marks: Marks

    def __str__(self) -> str:
        """Return one line for people."""
        if self.same:
            counts = ", ".join(f"{one.read} in {one.tier}" for one in self.tiers)
            rest = f"; {self.surplus} only in the target" if self.surplus else ""
            rest += f"; {self.removed} were removed" if self.removed else ""
            rest += f"; {self.passed_over} have a key that is taken" if self.passed_over else ""
            return f"the same: {counts} ({self.kept} copied, {self.vectors} vectors){rest}"
        now = self.tiers[-1] if self.tiers else TierCopy(tier=LAYERS[0])
        of = "" if now.total is None else f" of {now.total}"
        return f"round {self.round}, {now.tier}: {now.read}{of} read, {now.kept} copied"


def copy_stores(
    source: Stores | str,
    target: Stores | str,
    *,
    marks: Marks | None = None,
    exact: bool = False,
    batch: int = 500,
    rounds: int = 5,
    on_progress: Callable[[CopyReport], None] | None = None,
) -> CopyReport:
    """Copy everything that a memory has into another place, until both have the same.

    All tenants, all three tiers, as they are: ids, times, receipts, revocations, and the
    vectors of every space. What the target has already is compared and not copied again, so
    the same call may be made once more after any failure. Everything is read at least twice:
    a round that finds nothing to copy is the check. What is written to the source meanwhile
    comes with the next round; let nobody write during the last one.

    Args:
        source: Stores, or an address as for `open_stores`; only read.
        target: Stores, or an address.
        marks: Where to go on: `report.marks` of an interrupted copy with the same source.
        exact: Remove what only the target has, such as what was forgotten in the source since:
            before everything is copied, and again in the end.
        batch: Records that are read and kept at a time.
        rounds: How often everything is read at most, as long as there was something to copy.
        on_progress: Is called with a report after each batch; `str(report)` is one line.

    Returns:
        What was done. Unless `same` is true the source has changed in the last round as well.

    Raises:
        StoreUnavailable: If one of the places fails; what was copied stays.
        EmbeddingMismatch: If the target knows a space with another dimension.
        SettingError: If source and target are one place, an argument is wrong, or `exact` would
            empty the target because there is nothing in the source.
    """
    how = _How(batch, rounds, exact, on_progress, marks or {})
    return run_blocking(_copied(BLOCKING, source, target, how))


async def acopy_stores(
    source: Stores | str,
    target: Stores | str,
    *,
    marks: Marks | None = None,
    exact: bool = False,
    batch: int = 500,
    rounds: int = 5,
    on_progress: Callable[[CopyReport], None] | None = None,
) -> CopyReport:
    """Async twin of `copy_stores`."""
    how = _How(batch, rounds, exact, on_progress, marks or {})
    return await _copied(ASYNC, source, target, how)


@dataclass(frozen=True, slots=True)
class _How:
    batch: int
    rounds: int
    exact: bool
    on_progress: Callable[[CopyReport], None] | None
    marks: Marks

    def __post_init__(self) -> None:
        checking.whole("rounds", self.rounds, 1)
        if checking.whole("batch", self.batch, 1) > _MOST:
            raise SettingError(f"batch={self.batch!r} must be at most {_MOST}")
        checking.mapping("marks", self.marks)
        unknown = sorted(set(self.marks) - set(LAYERS))
        if unknown:
            raise SettingError(f"marks: {unknown[0]!r} is no tier; pass the marks of a report")

    def told(self, report: CopyReport) -> CopyReport:
        """Return a report, once whoever waits has seen it."""
        if self.on_progress is not None:
            self.on_progress(report)
        return report


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy from one place to another."""

    source: Tiers
    target: Tiers
    how: _How

    async def made(self) -> CopyReport:
        """Read everything again and again until nothing is left to copy."""
        report, cleared = CopyReport(marks=dict(self.how.marks)), 0
        if self.how.exact:
            await must_have_something(self.source)
            _, cleared = await self._surplus()  # first, so that what has their keys can come
        for number in range(1, self.how.rounds + 1):
            before, whole = report, not report.marks
            report = replace(report, round=number, tiers=())
            for tier in LAYERS:
                report = await self._tier(report, tier)
            nothing = (report.kept, report.vectors) == (before.kept, before.vectors)
            report = replace(report, same=whole and nothing, marks={})
            if report.same:
                break
        await self._adopt()
        surplus, removed = await self._surplus()
        kept = self._only_in(self.source, self.target, LAYERS[:1])
        passed = len([one async for one in kept])
        report = replace(report, surplus=surplus - removed, removed=removed + cleared)
        return self.how.told(replace(report, passed_over=passed))

    async def _tier(self, report: CopyReport, tier: str) -> CopyReport:
        """Copy one tier from its mark to its end."""
        source, mark = getattr(self.source, tier), report.marks.get(tier)
        now, is_ended = TierCopy(tier=tier, mark=mark), tier in report.marks and mark is None
        report = replace(report, tiers=(*report.tiers, now))
        spaces: Sequence[Space] = ()
        if tier == "long_term":
            spaces = await source.known_spaces()
        while not is_ended:
            part = await source.walk(now.mark, limit=self.how.batch)
            now = replace(now, total=now.total if part.total is None else part.total)
            for some in batches(part.items, self.how.batch):
                kept, vectors = await self._load(tier, some, spaces)
                now = replace(
                    now,
                    read=now.read + len(some),
                    kept=now.kept + kept,
                    vectors=now.vectors + vectors,
                )
                report = self.how.told(_with(report, now, kept, vectors))
            now, is_ended = replace(now, mark=part.mark), part.mark is None
            report = _with(report, now, 0, 0)
            report = replace(report, marks={**report.marks, tier: part.mark})
        return report

    async def _load(
        self, tier: str, records: Sequence[Any], spaces: Iterable[Space]
    ) -> tuple[int, int]:
        """Copy some records; return how many were, and how many vectors."""
        target = getattr(self.target, tier)
        kept = await target.load(records)
        return len(kept), sum([await self._vectors(records, space) for space in spaces])

    async def _vectors(self, memories: Sequence[Memory], space: Space) -> int:
        """Copy the vectors of memories in one space, but those that are there."""
        source, target = self.source.long_term, self.target.long_term
        mine = await source.vectors_of(memories, space)
        if all(one is None for one in mine):
            return 0
        theirs = await target.vectors_of(memories, space)
        new = [
            (memory, one)
            for memory, one, other in zip(memories, mine, theirs, strict=True)
            if one is not None and (other is None or not _alike(one, other))
        ]
        return await target.put_vectors(new, space) if new else 0

    async def _adopt(self) -> None:
        """Search in the space of the source, unless the target has one of its own."""
        source, target = self.source.long_term, self.target.long_term
        spaces = await source.known_spaces()
        there = await target.known_spaces()
        if spaces and set(there) <= set(spaces) and there[:1] != spaces[:1]:
            await target.adopt(spaces[0])

    def _only_in(
        self, one: Tiers, other: Tiers, tiers: Sequence[Layer]
    ) -> AsyncIterator[tuple[Layer, Select]]:
        return only_in(one, other, tiers, batch=self.how.batch)

    async def _surplus(self) -> tuple[int, int]:
        """Return how many records only the target has, and how many of them were removed."""
        surplus = removed = 0
        async for tier, which in self._only_in(self.target, self.source, LAYERS):
            surplus += len(which.ids or ())
            if self.how.exact:
                target = getattr(self.target, tier)
                removed += await target.delete(which)
        return surplus, removed


def _with(report: CopyReport, now: TierCopy, kept: int, vectors: int) -> CopyReport:
    """Return a report in which the last tier is that far."""
    return replace(
        report,
        tiers=(*report.tiers[:-1], now),
        kept=report.kept + kept,
        vectors=report.vectors + vectors,
    )


def _alike(one: Vector, other: Vector) -> bool:
    """Say whether two vectors are one that two places have rounded."""
    return cosine(one, other) >= _ALIKE or not (any(one) or any(other))


async def _copied(
    runner: Runner, source: Stores | str, target: Stores | str, how: _How
) -> CopyReport:
    """Open what is given as an address, copy, and close it again."""
    async with AsyncExitStack() as closing:
        one, other = await both(runner, source, target, closing)
        return await _Copy(one, other, how).made()

"""Copy all memory from stores to other stores, and preview such a copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers.model import Memory, Record
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores.opening import FILE, aopen_stores, file_of, open_stores
from memoryware.tiers.stores.protocol import Select, Space, Stores, Vector
from memoryware.tiers.stores.views import Tiers
from memoryware.tiers.values import LAYERS, Counts, Layer

# Comparing two stores.


_NOWHERE: Final = "memory://"
_AT_ONCE: Final = 500
"""Records that are compared at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyPreview:
    """The preview of a copy; vectors are not counted.

    Attributes:
        copied: Records that are missing or different in the target.
        surplus: Records that only the target has; `exact` removes them.
        first: The first of those, each with its tier.
    """

    copied: Counts
    surplus: Counts
    first: tuple[tuple[Layer, Record], ...] = ()


async def preview(
    runner: Runner, source: Stores | str, target: Stores | str, *, exact: bool, most: int
) -> CopyPreview:
    """Return what a copy would do; nothing is copied or removed.

    A file of the target that is not there counts as empty, and is not made.

    Args:
        runner: Runs calls of stores, blocking or on the event loop.
        source: Stores, or an address as for `open_stores`.
        target: Stores, or an address as for `open_stores`.
        exact: Whether the copy would remove what only the target has.
        most: How many records are listed at most.

    Returns:
        The counts, and the first records that would be removed.

    Raises:
        StoreUnavailable: As for `copy_stores`.
        SettingError: As for `copy_stores`.
    """
    is_new = isinstance(target, str) and not _is_there(target)
    async with AsyncExitStack() as closing:
        source_tiers, target_tiers = await both(
            runner, source, _NOWHERE if is_new else target, closing
        )
        if exact:
            await require_nonempty(source_tiers)
        copied, surplus = Counter[str](), Counter[str]()
        first: list[tuple[Layer, Record]] = []
        async for tier, _, mine, theirs in _beside(source_tiers, target_tiers, LAYERS, _AT_ONCE):
            copied[tier] += sum(theirs.get(id_) != record for id_, record in mine.items())
        async for tier, _, mine, theirs in _beside(target_tiers, source_tiers, LAYERS, _AT_ONCE):
            only = [record for id_, record in mine.items() if id_ not in theirs]
            surplus[tier] += len(only)
            first += [(tier, record) for record in only[: most - len(first)]]
    return CopyPreview(copied=Counts(**copied), surplus=Counts(**surplus), first=tuple(first))


async def both(
    runner: Runner, source: Stores | str, target: Stores | str, closing: AsyncExitStack
) -> tuple[Tiers, Tiers]:
    """Open the stores of two addresses, until the stack is closed.

    Args:
        runner: Runs calls of stores, blocking or on the event loop.
        source: Stores, or an address as for `open_stores`.
        target: Stores, or an address as for `open_stores`.
        closing: Closes them.

    Returns:
        The tiers of both.

    Raises:
        SettingError: If both are one place.
        StoreUnavailable: If the source is a file that is not there.
    """
    # An exact copy of a store into itself would delete while it reads.
    if source is target or source == target:
        raise SettingError("source and target are the same; pass another target")
    if isinstance(source, str) and not _is_there(source):
        raise StoreUnavailable(f"There is no file {str(_file(source))!r} to copy from")
    return await _opened(runner, source, closing), await _opened(runner, target, closing)


async def require_nonempty(source: Tiers) -> None:
    """Refuse an exact copy from an empty source, which would delete all of the target.

    Args:
        source: The tiers of the source.

    Raises:
        SettingError: If the source has no records.
    """
    for tier in LAYERS:
        store = getattr(source, tier)
        if (await store.walk(limit=1)).items:
            return
    raise SettingError(
        "exact=True would delete all records of the target, because the source has none: check"
        " the address of the source"
    )


async def only_in(
    source: Tiers, target: Tiers, tiers: Sequence[Layer], *, batch: int
) -> AsyncIterator[tuple[Layer, Select]]:
    """Yield the records of one place that another does not have, by tier and group.

    Args:
        source: The tiers of the place.
        target: The tiers of the other place.
        tiers: Which tiers are compared.
        batch: How many records are compared at a time.

    Yields:
        A tier, and a selection of records in one group of it.
    """
    async for tier, select, mine, theirs in _beside(source, target, tiers, batch):
        if only := mine.keys() - theirs.keys():
            yield tier, select.also(ids=tuple(sorted(only)))


async def _beside(
    left: Tiers, right: Tiers, tiers: Sequence[Layer], batch: int
) -> AsyncIterator[tuple[Layer, Select, dict[str, Any], dict[str, Any]]]:
    """Yield what one place has, and the same ids of the other, by tier and group."""
    for tier in tiers:
        here, there = getattr(left, tier), getattr(right, tier)
        mark, is_ended = None, False
        while not is_ended:
            part = await here.walk(mark, limit=batch)
            for select, mine in _by_group(part.items, batch):
                page = await there.find(select)
                yield tier, select, mine, {record.id: record for record in page.items}
            mark, is_ended = part.mark, part.mark is None


def batches(records: Sequence[Any], most: int) -> Iterator[Sequence[Any]]:
    """Yield records in batches.

    Args:
        records: The records.
        most: How many records a batch has at most.

    Yields:
        The batches.
    """
    return (records[start : start + most] for start in range(0, len(records), most))


def _by_group(records: Sequence[Any], most: int) -> Iterator[tuple[Select, dict[str, Any]]]:
    """Yield selections of these records, and the records by their ids, group by group."""
    groups: dict[MemoryScope, dict[str, Any]] = {}
    for record in records:
        group = MemoryScope(tenant=record.scope.tenant, group_id=record.scope.group_id)
        groups.setdefault(group, {})[record.id] = record
    for group, by_id in groups.items():
        for some in batches([*by_id], most):
            select = Select.within(group, ids=tuple(some))
            yield select, {id_: by_id[id_] for id_ in some}


def _file(address: str) -> Path | None:
    """Return the file at an address; None if it is no file."""
    return Path(file_of(address.partition(" + ")[0])[0]) if address.startswith(FILE) else None


def _is_there(address: str) -> bool:
    """Return whether opening finds something there, and does not only make a file."""
    file = _file(address)
    return file is None or file.exists()


async def _opened(runner: Runner, source: Stores | str, closing: AsyncExitStack) -> Tiers:
    if isinstance(source, Stores):
        return Tiers(source, runner)
    stores = await runner.call(open_stores, aopen_stores, source)
    tiers = Tiers(stores, runner)
    for tier in LAYERS:
        closing.push_async_callback(tiers.tier(tier).close)
    return tiers


# Copying.


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
    """The progress of a copy, or its result.

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
            counts = ", ".join(f"{tier.read} in {tier.tier}" for tier in self.tiers)
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
    comes with the next round; nothing should be written during the last one.

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
    options = _CopyOptions(batch, rounds, exact, on_progress, marks or {})
    return run_blocking(_copied(BLOCKING, source, target, options))


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
    """Copy everything that a memory has into another place, until both have the same.

    All tenants, all three tiers, as they are: ids, times, receipts, revocations, and the vectors of
    every space. What the target has already is compared and not copied again, so the same call may
    be made once more after any failure. Everything is read at least twice: a round that finds
    nothing to copy is the check. What is written to the source meanwhile comes with the next round;
    nothing should be written during the last one.

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
    options = _CopyOptions(batch, rounds, exact, on_progress, marks or {})
    return await _copied(ASYNC, source, target, options)


@dataclass(frozen=True, slots=True)
class _CopyOptions:
    batch: int
    rounds: int
    exact: bool
    on_progress: Callable[[CopyReport], None] | None
    marks: Marks

    def __post_init__(self) -> None:
        checking.whole("rounds", self.rounds, 1)
        if checking.whole("batch", self.batch, 1) > _MOST:
            raise SettingError(f"batch={self.batch!r}: must be at most {_MOST}")
        checking.mapping("marks", self.marks)
        unknown = sorted(set(self.marks) - set(LAYERS))
        if unknown:
            raise SettingError(f"marks: {unknown[0]!r} is not a tier; pass the marks of a report")

    def report(self, report: CopyReport) -> CopyReport:
        """Pass a report to the caller's function, and return it."""
        if self.on_progress is not None:
            self.on_progress(report)
        return report


@dataclass(frozen=True, slots=True)
class _StoreCopy:
    """A copy from one place to another."""

    source: Tiers
    target: Tiers
    options: _CopyOptions

    async def run(self) -> CopyReport:
        """Read everything again and again until nothing is left to copy."""
        report, cleared = CopyReport(marks=dict(self.options.marks)), 0
        if self.options.exact:
            await require_nonempty(self.source)
            _, cleared = await self._surplus()  # first, so that what has their keys can come
        for number in range(1, self.options.rounds + 1):
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
        missing = self._only_in(self.source, self.target, LAYERS[:1])
        passed_over = len([pair async for pair in missing])
        report = replace(report, surplus=surplus - removed, removed=removed + cleared)
        return self.options.report(replace(report, passed_over=passed_over))

    async def _tier(self, report: CopyReport, tier: str) -> CopyReport:
        """Copy one tier from its mark to its end."""
        source, mark = getattr(self.source, tier), report.marks.get(tier)
        now, is_ended = TierCopy(tier=tier, mark=mark), tier in report.marks and mark is None
        report = replace(report, tiers=(*report.tiers, now))
        spaces: Sequence[Space] = ()
        if tier == "long_term":
            spaces = await source.known_spaces()
        while not is_ended:
            part = await source.walk(now.mark, limit=self.options.batch)
            now = replace(now, total=now.total if part.total is None else part.total)
            for some in batches(part.items, self.options.batch):
                copied, vectors = await self._load(tier, some, spaces)
                now = replace(
                    now,
                    read=now.read + len(some),
                    kept=now.kept + copied,
                    vectors=now.vectors + vectors,
                )
                report = self.options.report(_with(report, now, copied, vectors))
            now, is_ended = replace(now, mark=part.mark), part.mark is None
            report = _with(report, now, 0, 0)
            report = replace(report, marks={**report.marks, tier: part.mark})
        return report

    async def _load(
        self, tier: str, records: Sequence[Any], spaces: Iterable[Space]
    ) -> tuple[int, int]:
        """Copy some records; return how many were, and how many vectors."""
        target = getattr(self.target, tier)
        copied = await target.load(records)
        return len(copied), sum([await self._vectors(records, space) for space in spaces])

    async def _vectors(self, memories: Sequence[Memory], space: Space) -> int:
        """Copy the vectors of memories in one space, but those that are there."""
        source, target = self.source.long_term, self.target.long_term
        mine = await source.vectors_of(memories, space)
        if all(own is None for own in mine):
            return 0
        theirs = await target.vectors_of(memories, space)
        new = [
            (memory, own)
            for memory, own, other in zip(memories, mine, theirs, strict=True)
            if own is not None and (other is None or not _alike(own, other))
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
        self, source: Tiers, target: Tiers, tiers: Sequence[Layer]
    ) -> AsyncIterator[tuple[Layer, Select]]:
        return only_in(source, target, tiers, batch=self.options.batch)

    async def _surplus(self) -> tuple[int, int]:
        """Return how many records only the target has, and how many of them were removed."""
        surplus = removed = 0
        async for tier, select in self._only_in(self.target, self.source, LAYERS):
            surplus += len(select.ids or ())
            if self.options.exact:
                target = getattr(self.target, tier)
                removed += await target.delete(select)
        return surplus, removed


def _with(report: CopyReport, now: TierCopy, copied: int, vectors: int) -> CopyReport:
    """Return a report in which the last tier is that far."""
    return replace(
        report,
        tiers=(*report.tiers[:-1], now),
        kept=report.kept + copied,
        vectors=report.vectors + vectors,
    )


def _alike(first: Vector, second: Vector) -> bool:
    """Return whether two vectors are one that two places have rounded."""
    # Stores keep vectors in different precision, so equal vectors differ in the last digits.
    return cosine(first, second) >= _ALIKE or not (any(first) or any(second))


async def _copied(
    runner: Runner, source: Stores | str, target: Stores | str, options: _CopyOptions
) -> CopyReport:
    """Open what is given as an address, copy, and close it again."""
    async with AsyncExitStack() as closing:
        source_tiers, target_tiers = await both(runner, source, target, closing)
        return await _StoreCopy(source_tiers, target_tiers, options).run()

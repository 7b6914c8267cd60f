"""Carry memories elsewhere: bundles of JSON lines, and copies from stores to stores."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Final, get_args

from memoryware._json_reading import JsonInvalid, parse_json
from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.errors import BundleRefused, SettingError, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, group_of
from memoryware.tiers.model import Entry, Memory, Origin, Provenance, Record, Role
from memoryware.tiers.scoring import cosine
from memoryware.tiers.screening import mended, owner, redacted, refuse_secrets
from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_json
from memoryware.tiers.stores.opening import FILE, aopen_stores, file_of, open_stores
from memoryware.tiers.stores.protocol import Select, Space, Stores, Vector
from memoryware.tiers.stores.views import Tiers
from memoryware.tiers.values import LAYERS, Counts, Layer

# Comparing two stores.


_NOWHERE: Final = "memory://"
_AT_ONCE: Final = 500
"""Records that are held against each other at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyPreview:
    """What a copy would do; vectors are not counted.

    Attributes:
        copied: Records that the target has not, or not as they are.
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
            await must_have_something(source_tiers)
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
    if source is target or source == target:
        raise SettingError("source and target are one place; copy into another one")
    if isinstance(source, str) and not _is_there(source):
        raise StoreUnavailable(f"There is no file {str(_file(source))!r} to copy from")
    return await _opened(runner, source, closing), await _opened(runner, target, closing)


async def must_have_something(source: Tiers) -> None:
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
        "exact=True removes what the source does not have, and there is nothing in the source:"
        " see that its address is right"
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
    """Say whether opening finds something there, and does not only make a file."""
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
    let nobody write during the last one.

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
            raise SettingError(f"batch={self.batch!r} must be at most {_MOST}")
        checking.mapping("marks", self.marks)
        unknown = sorted(set(self.marks) - set(LAYERS))
        if unknown:
            raise SettingError(f"marks: {unknown[0]!r} is no tier; pass the marks of a report")

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
            await must_have_something(self.source)
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
    """Say whether two vectors are one that two places have rounded."""
    return cosine(first, second) >= _ALIKE or not (any(first) or any(second))


async def _copied(
    runner: Runner, source: Stores | str, target: Stores | str, options: _CopyOptions
) -> CopyReport:
    """Open what is given as an address, copy, and close it again."""
    async with AsyncExitStack() as closing:
        source_tiers, target_tiers = await both(runner, source, target, closing)
        return await _StoreCopy(source_tiers, target_tiers, options).run()


# Bundles.


FORMAT: Final = "memoryware-bundle"
VERSION: Final = 1
_CODE: Final = re.compile("[a-z_]{1,40}")
"""Why working memory did not take an entry."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did.

    Attributes:
        added: Entries that are new in quarantine.
        known: Records that had been imported before.
        origin: The origin of everything in it, to revoke it by.
        ids: The id of each record in the bundle, and that of its entry here.
    """

    added: int = 0
    known: int = 0
    origin: Origin
    ids: Mapping[str, str] = field(default_factory=dict)


async def export_lines(parts: Parts, scope: MemoryScope) -> list[str]:
    """Return a bundle of all records of exactly this tenant and group.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.

    Returns:
        The lines, the head first, then the records of each tier, oldest first.
    """
    lines, counts = list[str](), dict[str, int]()
    for layer in LAYERS:
        store = getattr(parts.tiers, layer)
        records = (await store.find(Select.within(scope))).items
        counts[layer] = len(records)
        lines += [_line({"tier": layer, **record_to_json(record)}) for record in reversed(records)]
    head = {
        "format": FORMAT,
        "version": VERSION,
        "created_at": parts.clock().isoformat(),
        "tenant": scope.tenant,
        "group_id": scope.group_id,
        "counts": counts,
    }
    return [_line(head), *lines]


async def export_to(parts: Parts, path: str | PathLike[str], scope: MemoryScope) -> int:
    """Write a bundle to a file, whole or not at all.

    Args:
        parts: The stores and the rules of the memory.
        path: The file.
        scope: Tenant and group.

    Returns:
        How many records were written.
    """
    lines = await export_lines(parts, scope)
    write = partial(_write, Path(path), "".join(f"{line}\n" for line in lines))
    await parts.runner.offload(write)
    return len(lines) - 1


async def import_lines(
    parts: Parts, lines: Iterable[str], scope: MemoryScope, *, name: str
) -> ImportReport:
    """Put the records of a bundle into quarantine, none of them trusted.

    All of it is read before any of it is kept. What a failing store has kept of it is taken out
    again.

    Args:
        parts: The stores and the rules of the memory.
        lines: The lines of a bundle, or an open file.
        scope: Whose memory it becomes.
        name: The name of the bundle, by which its origin can be revoked.

    Returns:
        How many records are new, and their ids here.

    Raises:
        BundleRefused: If a line cannot be read; then nothing was imported.
        ScopeMissing: Without a group.
        SettingError: For a name that is none, or a secret in it or in the scope.
    """
    group_of(owner(parts, scope), "an import")
    checking.text("name", name)
    if not name.strip():
        raise SettingError("name: say what the bundle is called, such as name='backup'")
    refuse_secrets(parts, [("name", name)])
    origin = Origin("import", name)
    read = partial(_drafts, parts, lines, scope, origin)
    drafts = await parts.runner.offload(read)
    ids = {draft.was: draft.entry.id for draft in drafts}
    store, added = parts.tiers.quarantine, list[str]()
    try:
        for draft in drafts:
            entry = draft.made_of(ids)
            stored = await store.add(entry)
            if stored.id == entry.id:
                added.append(stored.id)
            ids[draft.was] = stored.id
    except BaseException:
        await _taken_out(parts, scope, added)
        raise
    return ImportReport(
        added=len(added), known=len(drafts) - len(added), origin=origin, ids=dict(ids)
    )


async def _taken_out(parts: Parts, scope: MemoryScope, ids: Sequence[str]) -> None:
    store = parts.tiers.quarantine
    if not ids:
        return
    try:
        await store.delete(Select.within(scope, ids=tuple(ids)))
    except Exception as error:  # noqa: BLE001 - what went wrong first is what is told
        logger.warning("%d imported entries are left: %s", len(ids), type(error).__name__)


@dataclass(frozen=True, slots=True)
class _ImportedRecord:
    """A record of a bundle as the entry that it becomes.

    Attributes:
        was: Its id in the bundle.
        sources: The ids in the bundle of what it was made of.
        entry: All the rest.
    """

    was: str
    sources: tuple[str, ...]
    entry: Entry

    def made_of(self, ids: Mapping[str, str]) -> Entry:
        """Return the entry with the ids that its sources have here."""
        sources = tuple(ids[source] for source in self.sources if source in ids)
        return replace(self.entry, provenance=replace(self.entry.provenance, sources=sources))


def _drafts(
    parts: Parts, lines: Iterable[str], scope: MemoryScope, origin: Origin
) -> list[_ImportedRecord]:
    read = _read(lines, parts.limits.entry_chars)
    return [_draft(parts, *numbered, scope, origin) for numbered in read]


def _draft(
    parts: Parts, number: int, record: Entry | Memory, scope: MemoryScope, origin: Origin
) -> _ImportedRecord:
    try:
        entry = _entry(parts, record, scope, origin)
    except (SettingError, RecursionError) as error:
        raise BundleRefused(f"Line {number} cannot be kept: {_reason_of(error)}", number) from None
    return _ImportedRecord(record.id, record.provenance.sources, entry)


def _entry(parts: Parts, record: Entry | Memory, scope: MemoryScope, origin: Origin) -> Entry:
    """Return the entry that a record becomes: of outside origin, and with no secret anywhere."""
    content = parts.redacted(mended(record.content))
    was = hashlib.blake2b(f"{record.id}\0{content}".encode("utf-8", "replace"), digest_size=16)
    where = {
        name_field.name: _name(parts, getattr(record.scope, name_field.name))
        for name_field in fields(record.scope)
    }
    where |= {"tenant": scope.tenant, "group_id": scope.group_id}
    roots = {Origin(root.kind, _name(parts, root.name) or "") for root in record.provenance.roots}
    metadata = redacted(parts.guard, record.metadata)
    role: Any = record.role if isinstance(record, Entry) else "other"
    refused: Any = record.refused if isinstance(record, Entry) else None
    return Entry(
        id=parts.new_id(),
        scope=MemoryScope(**where),
        content=content,
        created_at=parts.clock(),
        provenance=Provenance(origin, (), tuple(roots)),
        role=role if role in get_args(Role) else "other",
        metadata={**metadata, "imported_id": _name(parts, record.id), "imported_as": origin.name},
        key=f"import:{origin.name}:{was.hexdigest()}",
        echo_of=tuple(map(mended, record.echo_of)) if isinstance(record, Entry) else (),
        duplicate_of=tuple(map(mended, getattr(record, "duplicate_of", ()))),
        refused=refused if isinstance(refused, str) and _CODE.fullmatch(refused) else None,
    )


def _name(parts: Parts, name: str | None) -> str | None:
    """Return a name without a secret: of what was kept elsewhere it is too late to refuse it."""
    try:
        refuse_secrets(parts, [("a name", name)])
    except SettingError:
        return parts.redacted(mended(name or ""))
    return name and mended(name)


# Reading.


def _read(lines: Iterable[str], longest: int) -> list[tuple[int, Entry | Memory]]:
    """Return the records of a bundle with the number of their lines."""
    records: dict[str, tuple[int, Entry | Memory]] = {}
    tiers: dict[tuple[str, str], Entry | Memory] = {}
    head: dict[str, Any] | None = None
    number = 0
    for number, line in _numbered(lines):
        data = _object(line, number, longest)
        if head is None:
            _check_head(data, number)
            head = data
            continue
        record = _record(data, number, longest)
        key = (str(data.get("tier")), record.id)
        if tiers.setdefault(key, record) != record:
            raise BundleRefused(f"Line {number} has the id of another record above", number)
        records.setdefault(record.id, (number, record))
    if head is None:
        raise BundleRefused("This is no bundle: it has no first line that says so", 0)
    _require_complete(head, Counter(tier for tier, _ in tiers), number)
    return list(records.values())


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, from 1.

    Raises:
        BundleRefused: If they are none, or one is no text.
    """
    if isinstance(lines, str | bytes | Mapping) or not isinstance(lines, Iterable):
        raise BundleRefused(
            f"lines: must be a list of lines or an open file, and this is {type(lines).__name__};"
            " of one text pass text.splitlines()",
            0,
        )
    remaining, number = iter(lines), 0
    while True:
        number += 1
        try:
            line = next(remaining)
        except StopIteration:
            return
        except UnicodeDecodeError:
            raise BundleRefused(f"Line {number} or one after it is not UTF-8", number) from None
        if not isinstance(line, str):
            raise BundleRefused(
                f"Line {number} is {type(line).__name__} and not text; open the file as text, with"
                ' encoding="utf-8"',
                number,
            )
        if line.strip():
            yield number, line


def _object(line: str, number: int, longest: int) -> dict[str, Any]:
    if len(line) > 20 * longest:
        raise BundleRefused(f"Line {number} is longer than any record can be", number)
    try:
        data = parse_json(line, deepest=None)  # metadata may be anything
    except JsonInvalid as error:
        raise BundleRefused(f"Line {number}: {error.problem}", number) from None
    if not isinstance(data, dict):
        raise BundleRefused(f"Line {number} is no JSON object", number)
    return data


def _check_head(data: Mapping[str, Any], number: int) -> None:
    if data.get("format") != FORMAT:
        raise BundleRefused(
            f"Line {number} is not the head of a bundle: it must say format={FORMAT!r}", number
        )
    version = data.get("version")
    if isinstance(version, bool) or not isinstance(version, int):
        raise BundleRefused(f"Line {number}: version must be a whole number", number)
    if version != VERSION:
        raise BundleRefused(
            f"The bundle has version {version}, and this reads {VERSION}; update memoryware",
            number,
        )


def _require_complete(head: Mapping[str, Any], read: Mapping[str, int], number: int) -> None:
    """Refuse a bundle that lost its end at the end of a line, where nothing else shows it.

    Bundles without counts are of older versions or of other tools, and stay importable.

    Raises:
        BundleRefused: If a tier has fewer records than the head says.
    """
    counts = head.get("counts")
    if not isinstance(counts, Mapping):
        return
    missing = {
        tier: count - read.get(tier, 0)
        for tier, count in counts.items()
        if isinstance(count, int) and count > read.get(tier, 0)
    }
    if missing:
        listed = ", ".join(f"{count} of {tier}" for tier, count in missing.items())
        raise BundleRefused(
            f"The bundle is cut: its head says that there are {sum(missing.values())} records more"
            f" ({listed}); nothing was kept. Take the whole file",
            number,
        )


def _record(data: Mapping[str, Any], number: int, longest: int) -> Entry | Memory:
    if not all(isinstance(data.get(name), str) for name in ("content", "id")):
        raise BundleRefused(f"Line {number}: content and id must be text", number)
    if not isinstance(data.get("metadata", {}), dict):
        raise BundleRefused(f"Line {number}: metadata must be an object", number)
    if data.get("tier") not in LAYERS:
        names = ", ".join(LAYERS)
        raise BundleRefused(f"Line {number}: tier must be one of {names}", number)
    try:
        read = memory_from_json if data["tier"] == "long_term" else entry_from_json
        record = read(data)
        checking.instance("scope", record.scope, (MemoryScope,))
        checking.instance("provenance", record.provenance, (Provenance,))
        checking.texts("echo_of", getattr(record, "echo_of", ()))
        checking.texts("duplicate_of", getattr(record, "duplicate_of", ()))
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise BundleRefused(f"Line {number} is no record: {_reason_of(error)}", number) from None
    if len(record.content) > longest:
        raise BundleRefused(f"Line {number} has a text longer than entry_chars={longest}", number)
    return record


def _reason_of(error: BaseException) -> str:
    """Return what went wrong; what Python says of a value may hold the value."""
    if isinstance(error, SettingError):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, column {error.colno}"
    return type(error).__name__


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner may read, and put it in place when it is whole."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise

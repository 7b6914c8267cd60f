"""What the stores of all tiers in this process have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeVar

from memoryware.errors import StoreUnavailable
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._held import Holder, Index, Records, changing, in_turn, key_of
from memoryware.tiers.stores._loading import whole_of
from memoryware.tiers.stores._pages import Part, page_of
from memoryware.tiers.stores._selecting import fits
from memoryware.tiers.stores.protocol import Page, Select, Stretch

R = TypeVar("R", Entry, Memory)


class HeldRecords(Holder[R]):
    """Records in the order in which they were stored, for one thread at a time."""

    @property
    def _records(self) -> Records[R]:
        return self._held.now.records

    @property
    def _index(self) -> Index:
        return self._held.now.index

    @in_turn
    def find(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[R]:
        numbers = self._records.numbers
        found = [(numbers[key_of(one)], one) for one in self._fitting(which)]
        page: Page[R] = page_of(found, Part(limit, offset, after))
        return Page([copied(one) for one in page.items], page.total, page.newer, page.marks)

    @changing
    def edit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        before = self._fitting(which)
        after = [copied(change(copied(one))) for one in before]
        differing = [both for both in zip(before, after, strict=True) if both[0] != both[1]]
        for old, new in differing:
            self._records[key_of(new)] = new
            self._changed(old, new)
        return [copied(new) for _, new in differing]

    @changing
    def delete(self, which: Select) -> int:
        gone = self._fitting(which)
        for one in gone:
            del self._records[key_of(one)]
            self._deleted(one)
        return len(gone)

    @in_turn
    def walk(self, mark: str | None = None, *, limit: int) -> Stretch[R]:
        """Return all at once: it is in this process already."""
        del limit
        return whole_of([copied(one) for one in self._records.values()], mark)

    @changing
    def load(self, records: Sequence[R]) -> list[R]:
        kept = [one for one in self._loadable(records) if self._records.get(key_of(one)) != one]
        for one in kept:
            old = self._records.get(key_of(one))
            self._records[key_of(one)] = copied(one)
            self._changed(old, one)
        return kept

    def _fitting(self, which: Select) -> list[R]:
        return [one for one in self._named(which) if fits(one, which)]

    def _named(self, which: Select) -> Iterable[R]:
        """Return what may fit, newest first: what has one of the ids, if any are asked for."""
        records = self._records
        if which.ids is None:
            return reversed(records.values())
        if which.groups is None:
            ids = set(which.ids)
            return [records[one] for one in reversed(records) if one[2] in ids]
        keys = {(which.tenant, group, id_) for group in which.groups for id_ in which.ids}
        keys &= records.keys()
        ordered = keys if len(keys) < 2 else [one for one in reversed(records) if one in keys]
        return [records[one] for one in ordered]

    def _must_be_new(self, records: Sequence[R]) -> None:
        keys = {key_of(one) for one in records}
        if len(keys) < len(records) or keys & self._records.keys():
            raise StoreUnavailable("A record with this id is there already; nothing was stored")

    def _loadable(self, records: Sequence[R]) -> Sequence[R]:
        """Return those of records that may be kept."""
        return records

    def _changed(self, old: R | None, new: R) -> None:
        """Follow a change of a record, or a new one."""

    def _deleted(self, old: R) -> None:
        """Follow a deletion."""


def part_of(record: Entry | Memory) -> tuple[str | None, str | None]:
    """Return tenant and group of a record."""
    return record.scope.tenant, record.scope.group_id


def copied(record: R) -> R:
    """Return a record that shares nothing that can be changed."""
    changes: dict[str, Any] = {}
    if record.metadata:
        changes["metadata"] = deepcopy(dict(record.metadata))
    if decided := getattr(record, "decided", None):  # of an entry
        changes["decided"] = dict(decided)
    return replace(record, **changes) if changes else record

"""Quarantine and working memory in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memoryware.tiers.records import Entry
from memoryware.tiers.stores._held import changing, key_of
from memoryware.tiers.stores._loading import without_doubles
from memoryware.tiers.stores.embedded.records import HeldRecords, copied, part_of


class EmbeddedQuarantine(HeldRecords[Entry]):
    """Tier 1 in this process."""

    @changing
    def add(self, entry: Entry) -> Entry:
        for one in self._records.values() if entry.key is not None else ():
            if one.key == entry.key and part_of(one) == part_of(entry):
                return copied(one)
        self._must_be_new([entry])
        self._records[key_of(entry)] = copied(entry)
        return entry

    def _loadable(self, records: Sequence[Entry]) -> Sequence[Entry]:
        return without_doubles(records, self._records.values())


class EmbeddedWorking(HeldRecords[Entry]):
    """Tier 2 in this process."""

    @changing
    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        if key_of(entry) in self._records:
            del self._records[key_of(entry)]
        self._records[key_of(entry)] = copied(entry)
        mine = [one for one in reversed(self._records.values()) if part_of(one) == part_of(entry)]
        for one in mine[keep:]:
            del self._records[key_of(one)]
        for one in mine[:keep] if renew else ():
            self._records[key_of(one)] = replace(one, expires_at=entry.expires_at)

    @changing
    def purge(self, now: datetime) -> int:
        times = ((key, one.expires_at) for key, one in self._records.items())
        gone = [key for key, expires in times if expires is not None and expires <= now]
        for one in gone:
            del self._records[one]
        return len(gone)

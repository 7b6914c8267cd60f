"""What every store does with the marks of a walk, and with entries that came from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from memoryware.errors import SettingError
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores.protocol import Stretch

R = TypeVar("R", Entry, Memory)
_LONGEST: Final = 19
"""Digits that no number of a record has that a store can be asked for."""


def whole_of(records: list[R], mark: str | None) -> Stretch[R]:
    """Return all records as the only part of a walk, in a store that gives no marks.

    Raises:
        SettingError: If there is a mark nevertheless.
    """
    if mark is not None:
        raise SettingError(f"mark={mark!r}: this store returns all at once and gives no marks")
    return Stretch(records, None, len(records))


def number_of_mark(mark: str | None, longest: int = _LONGEST) -> int:
    """Return the number that a mark is, 0 without one.

    Raises:
        SettingError: If it is none, or has that many digits.
    """
    known = isinstance(mark, str) and mark.isascii() and mark.isdigit() and len(mark) < longest
    if mark is not None and not known:
        raise SettingError(f"mark={mark!r:.200} is not one that this store has returned")
    return int(mark or 0)


def without_doubles(entries: Sequence[Entry], there: Iterable[Entry]) -> list[Entry]:
    """Return the entries but those whose `key` another entry of their group has already."""
    owners = {place: one.id for one in there if (place := _place(one)) is not None}
    kept = []
    for one in entries:
        place = _place(one)
        if place is None or owners.setdefault(place, one.id) == one.id:
            kept.append(one)
    return kept


def _place(entry: Entry) -> tuple[str | None, str | None, str] | None:
    scope = entry.scope
    return None if entry.key is None else (scope.tenant, scope.group_id, entry.key)

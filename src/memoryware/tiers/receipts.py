"""The receipt of a revocation, found again by what it hides."""

from __future__ import annotations

from typing import Any, Final

from memoryware._twins import Via
from memoryware.errors import EntryMissing
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.records import Entry, Record
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Counts, Receipt

_TIERS: Final = ("quarantine", "working", "long_term")


async def find_receipt(parts: Parts, via: Via, receipt_id: str, scope: MemoryScope) -> Receipt:
    """Return a receipt from the marks that it left on records; its reason is not among them.

    Raises:
        EntryMissing: If no record of this tenant and group has its mark.
    """
    ids: dict[str, None] = {}
    counts: dict[str, int] = {}
    for tier in _TIERS:
        store: Any = getattr(parts.stores, tier)
        found = (await via(store.find, store.afind, Select.within(scope))).items
        marked = [one for one in found if receipt_id in _marks(one)]
        ids.update(dict.fromkeys(one.id for one in marked))
        counts[tier] = len(marked)
    if not ids:
        raise EntryMissing(
            f"Group {scope.group_id!r} has nothing that was taken back as {receipt_id!r}"
        )
    return Receipt(
        id=receipt_id,
        scope=scope,
        what=", ".join(ids),
        by="",
        at=parts.clock(),
        counts=Counts(**counts),
        ids=tuple(ids),
    )


def _marks(record: Record) -> tuple[str, ...]:
    if isinstance(record, Entry):
        return record.revocations
    return tuple(mark for ground in record.grounds for mark in ground.revocations)

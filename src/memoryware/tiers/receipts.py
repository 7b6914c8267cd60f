"""The receipt of a revocation, found again in the journal, or by what it hides."""

from __future__ import annotations

from typing import Any

from memoryware.errors import EntryMissing, StoreUnavailable
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.records import Entry, Record
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import LAYERS, Counts, Receipt


async def find_receipt(parts: Parts, receipt_id: str, scope: MemoryScope) -> Receipt:
    """Return a receipt: that of the journal, or one from the marks that it left on records.

    The marks do not say who took it back, and why.

    Raises:
        EntryMissing: If no record of this tenant and group has its mark.
    """
    if (noted := await _noted(parts, receipt_id, scope)) is not None:
        return noted
    ids: dict[str, None] = {}
    counts: dict[str, int] = {}
    for tier in LAYERS:
        store: Any = getattr(parts.tiers, tier)
        found = (await store.find(Select.within(scope))).items
        marked = [one for one in found if receipt_id in marks_of(one)]
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


async def _noted(parts: Parts, receipt_id: str, scope: MemoryScope) -> Receipt | None:
    journal = parts.journal
    if journal is None:
        return None
    try:
        return await parts.runner.offload(journal.receipt, receipt_id, scope)
    except StoreUnavailable as error:
        logger.warning("%s; the receipt is found by its marks", error)
        return None


def marks_of(record: Record) -> tuple[str, ...]:
    """Return the ids of the revocations that took a record back."""
    if isinstance(record, Entry):
        return record.revocations
    return tuple(mark for ground in record.grounds for mark in ground.revocations)

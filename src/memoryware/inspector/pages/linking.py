"""Where the page of a record is."""

from __future__ import annotations

from memoryware.inspector.site import Visit
from memoryware.tiers.model import Entry, Memory


def record_url(visit: Visit, record: Entry | Memory | str) -> str:
    """Return the address of the page of an entry or a memory."""
    return visit.url("/memories/one", id=record if isinstance(record, str) else record.id)

"""Adding lines to the journal of a memory, if it has one."""

from __future__ import annotations

from memoryware._twins import Via
from memoryware.errors import StoreUnavailable
from memoryware.events import logger
from memoryware.tiers._parts import Parts
from memoryware.tiers.journal import Noted


async def note(parts: Parts, via: Via, noted: Noted) -> None:
    """Add a line to the journal; what happened has happened, so a failure is only logged."""
    if parts.journal is None:
        return
    try:
        await via(parts.journal.add, parts.journal.aadd, noted)
    except StoreUnavailable as error:
        logger.warning("%s: %s was not noted", error, noted.kind)

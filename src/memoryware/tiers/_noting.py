"""Adding lines to the journal of a memory, if it has one."""

from __future__ import annotations

from collections.abc import Collection

from memoryware.errors import StoreUnavailable
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.journal import Noted


async def unnote(parts: Parts, scope: MemoryScope, ids: Collection[str]) -> None:
    """Take out of the journal what is about to be forgotten.

    Raises:
        StoreUnavailable: If that cannot be done; then nothing should be deleted yet.
    """
    if parts.journal is not None:
        await parts.runner.offload(parts.journal.forget, scope, ids)


async def note(parts: Parts, noted: Noted) -> None:
    """Add a line to the journal; what happened has happened, so a failure is only logged."""
    if parts.journal is None:
        return
    try:
        await parts.runner.offload(parts.journal.add, noted)
    except StoreUnavailable as error:
        logger.warning("%s: %s was not noted", error, noted.kind)

"""The three tiers in this process, in plain Python: the reference, and what tests use.

Nothing is written anywhere; everything is gone with the object.
"""

from __future__ import annotations

from memoryware.tiers.stores.embedded.entries import EmbeddedQuarantine, EmbeddedWorking
from memoryware.tiers.stores.embedded.memories import EmbeddedLongTerm
from memoryware.tiers.stores.embedded.store import EmbeddedStore
from memoryware.tiers.stores.protocol import Stores

__all__ = [
    "EmbeddedLongTerm",
    "EmbeddedQuarantine",
    "EmbeddedStore",
    "EmbeddedWorking",
    "embedded",
]


def embedded(*, lock_timeout: float = 30.0) -> Stores:
    """Return empty stores that live in this process."""
    return Stores.of(EmbeddedStore(lock_timeout))

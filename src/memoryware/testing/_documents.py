"""Documents for the suite of long-term memory, and spaces to put their vectors in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from memoryware.testing._tiers import memory
from memoryware.tiers.model import Memory
from memoryware.tiers.stores.protocol import Space

FLAT: Final = Space("flat", 3)
OTHER: Final = Space("other/0'%", 2)


def document(*texts: str, **more: Any) -> list[Memory]:
    """Return the chunks of one document."""
    first = memory(texts[0], **more)
    whole = "hash of " + " ".join(texts)
    return [
        replace(
            memory(text, **more),
            document_id=first.document_id,
            chunk_index=place,
            chunk_count=len(texts),
            content_hash=whole,
        )
        for place, text in enumerate(texts)
    ]

"""The pages, in the order of the navigation."""

from __future__ import annotations

from typing import Final

from memoryware.inspector._pages import (
    audit,
    files,
    forget,
    groups,
    memories,
    origins,
    overview,
    review,
    sessions,
    undo,
)
from memoryware.inspector._site import Section

SECTIONS: Final[tuple[Section, ...]] = (
    overview.SECTION,
    review.SECTION,
    memories.SECTION,
    files.SECTION,
    sessions.SECTION,
    audit.SECTION,
    origins.SECTION,
    forget.SECTION,
    groups.SECTION,
    undo.SECTION,
)
"""All sections; an inspector has those for which `shown` is true."""

"""The first page: how much is remembered, and how it grew."""

from __future__ import annotations

from starlette.responses import Response

from memoryware.inspector.layout import page
from memoryware.inspector.markup import h
from memoryware.inspector.site import Section, Visit


async def overview(visit: Visit) -> Response:
    """Show what there is."""
    return page(visit, "Overview", h.p("Soon."))


SECTION = Section("Overview", "/", {"/": overview})

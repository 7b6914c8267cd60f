"""Undo: reverse the last action; the form for it is at the top of the page that follows it."""

from __future__ import annotations

from starlette.responses import Response

from memoryware.errors import SettingError
from memoryware.inspector._queries import invalidate
from memoryware.inspector._site import Section, Visit
from memoryware.inspector._undo import carry_out


async def undo(visit: Visit) -> Response:
    """Reverse an action."""
    record = visit.undo
    if record is None:
        raise SettingError("This undo has expired, or was made for somebody else.")
    async with visit.site.deciding:
        result = await carry_out(visit, record)
    invalidate(visit, queue=result.changes_queue)
    path, query = record.get("back", ["/", {}])
    return visit.redirect(path, result.message, **query)


SECTION = Section("", "/undo", {}, {"/undo": undo})

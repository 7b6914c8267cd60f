"""Everything that came from one origin, and taking all of it back."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from memoryware.errors import StoreUnavailable, TierError
from memoryware.inspector._layout import empty, page
from memoryware.inspector._markup import Html, h, plural, visible
from memoryware.inspector._pages.record import affected_card, reinstated_text, revoke_form
from memoryware.inspector._queries import invalidate
from memoryware.inspector._site import Section, Visit
from memoryware.tiers.model import Origin
from memoryware.tiers.revoke import records_of_origin

_NAME: Final = 200
_NOTHING_LEFT: Final = "All of it is hidden from agents already."


async def show(visit: Visit) -> Response:
    """Show everything that came from an origin, before anything of it goes."""
    origin = Origin.parse(visit.param("of"))
    affected = await records_of_origin(visit.memory.parts.native, visit.scope, origin)
    title = f"Everything from {str(origin)[:_NAME]}"
    if not affected.ids:
        return page(visit, title, empty("Nothing in this group has this origin."))
    message = (
        "It came from there, or something that it was made of did. If that cannot be trusted, all"
        " of it can be hidden from every agent at once. Nothing is deleted: all of it can be put"
        " back."
    )
    form = None if visit.site.read_only else await _confirm_form(visit, origin)
    return page(visit, title, h.p(message), await affected_card(visit, affected), form)


async def _confirm_form(visit: Visit, origin: Origin) -> Html:
    """Return the form that takes all of it back, or what stands against that."""
    try:
        left = await _count_affected(visit, origin)
    except StoreUnavailable:
        raise
    except TierError as refused:  # it is more than the limits let anybody take back
        return h.p(visible(str(refused)), class_="problem")
    if not left:
        return h.p(_NOTHING_LEFT, class_="quiet")
    id_ = visit.param("id")
    back = visit.url("/memories/one", id=id_) if id_ else visit.url("/review")
    return revoke_form(visit, "/origins/revoke", {"of": str(origin), "id": id_}, left, back)


async def _count_affected(visit: Visit, origin: Origin) -> int:
    """Return how many records would be hidden that are not."""
    dry = await visit.memory.arevoke(origin, visit.scope, by=visit.by, dry_run=True)
    return dry.counts.total


async def revoke(visit: Visit) -> Response:
    """Take back everything that came from an origin."""
    origin = Origin.parse(visit.form.get("of"))
    async with visit.site.deciding:
        if not await _count_affected(visit, origin):
            message = f"{_NOTHING_LEFT} Nothing was changed."
            return visit.redirect("/origins", message, of=str(origin))
        reason = visit.form.get("reason").strip()
        receipt = await visit.memory.arevoke(origin, visit.scope, by=visit.by, reason=reason)
    invalidate(visit, queue=True)
    message = f"Revoked: {plural(receipt.counts.total, 'record')}. Receipt {receipt.id}."
    shown = visit.form.get("id")  # its page can put all of it back, like that of any that went
    if shown not in receipt.ids:
        shown = next(iter(receipt.ids), shown)
    return visit.redirect("/memories/one", message + reinstated_text(receipt), id=shown)


SECTION = Section("", "/origins", {"/origins": show}, {"/origins/revoke": revoke})

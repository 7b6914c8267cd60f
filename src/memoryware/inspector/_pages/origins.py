"""Origins: everything from one origin, and revoking all of it."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from memoryware.errors import StoreUnavailable, TierError
from memoryware.inspector._layout import empty, page
from memoryware.inspector._markup import Html, h, plural, visible
from memoryware.inspector._pages.record import (
    affected_card,
    forget_link,
    reinstated_text,
    revoke_form,
)
from memoryware.inspector._queries import invalidate
from memoryware.inspector._site import Section, Visit
from memoryware.inspector._undo import undo_revocation
from memoryware.tiers import Origin
from memoryware.tiers.revoke import affected_by_origin

_NAME: Final = 200
_NOTHING_LEFT: Final = "All of it is hidden from agents already."


async def show(visit: Visit) -> Response:
    """Show everything from an origin, with a form to revoke it."""
    origin = Origin.parse(visit.param("of"))
    affected = await affected_by_origin(visit.memory.parts.native, visit.scope, origin)
    title = f"Everything from {str(origin)[:_NAME]}"
    if not affected.ids:
        return page(visit, title, empty("Nothing in this group has this origin."))
    message = (
        "These records are from this origin, or derived from such records. If you do not trust it,"
        " revoke it: everything is hidden from all agents. Nothing is deleted; you can restore"
        " it."
    )
    form = None if visit.site.read_only else await _confirm_form(visit, origin)
    forget = forget_link(visit, "Forget all of it\u2026", of=str(origin))
    return page(
        visit,
        title,
        h.p(message),
        await affected_card(visit, affected),
        form,
        h.p("Or delete it for good: ", forget) if forget else None,
    )


async def _confirm_form(visit: Visit, origin: Origin) -> Html:
    """Return the form that revokes it, or the reason why that is not possible."""
    try:
        left = await _count_affected(visit, origin)
    except StoreUnavailable:
        raise
    except TierError as refused:  # more records than the limits allow
        return h.p(visible(str(refused)), class_="problem")
    if not left:
        return h.p(_NOTHING_LEFT, class_="quiet")
    id_ = visit.param("id")
    back = visit.url("/memories/one", id=id_) if id_ else visit.url("/review")
    return revoke_form(visit, "/origins/revoke", {"of": str(origin), "id": id_}, left, back)


async def _count_affected(visit: Visit, origin: Origin) -> int:
    """Return how many records a revocation would hide."""
    dry = await visit.memory.arevoke(origin, visit.scope, by=visit.by, dry_run=True)
    return dry.counts.total


async def revoke(visit: Visit) -> Response:
    """Revoke everything from an origin."""
    origin = Origin.parse(visit.form.get("of"))
    async with visit.site.deciding:
        if not await _count_affected(visit, origin):
            message = f"{_NOTHING_LEFT} Nothing was changed."
            return visit.redirect("/origins", message, of=str(origin))
        reason = visit.form.get("reason").strip()
        receipt = await visit.memory.arevoke(origin, visit.scope, by=visit.by, reason=reason)
    invalidate(visit, queue=True)
    message = f"Revoked: {plural(receipt.counts.total, 'record')}. Receipt {receipt.id}."
    shown = visit.form.get(
        "id"
    )  # its page has the form that restores it, like that of any revoked record
    if shown not in receipt.ids:
        shown = next(iter(receipt.ids), shown)
    record = undo_revocation(receipt.id, message)
    return visit.redirect("/memories/one", message + reinstated_text(receipt), record, id=shown)


SECTION = Section("", "/origins", {"/origins": show}, {"/origins/revoke": revoke})

"""Forget: delete records for good, after a preview of all that goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.responses import Response

from memoryware.errors import EntryMissing, SettingError
from memoryware.inspector._layout import button, empty, field, form, hidden, page
from memoryware.inspector._markup import Html, h, plural
from memoryware.inspector._pages.record import affected_card
from memoryware.inspector._queries import by_ids, invalidate
from memoryware.inspector._site import Section, Visit
from memoryware.scope import MemoryScope
from memoryware.tiers import Origin
from memoryware.tiers.forget import ForgetCondition, affected_by_forget
from memoryware.tiers.revoke import AffectedRecords

_NAME: Final = 200
_WARNING: Final = (
    "These records are deleted from every tier, with everything that was made of them. This cannot"
    " be undone. To hide them with a way back, revoke them instead."
)


@dataclass(frozen=True)
class ForgetTarget:
    """What a visitor wants to forget, within the group that is shown.

    Attributes:
        title: What it is, for the heading.
        scope: The tenant and group, and the user if one is meant.
        condition: The condition.
        fields: The parameters that select it.
        back: The page to go back to.
    """

    title: str
    scope: MemoryScope
    condition: ForgetCondition
    fields: dict[str, str]
    back: str

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `TieredMemory.forget`."""
        return {"ids": self.condition.ids, "origin": self.condition.origin}


async def preview(visit: Visit) -> Response:
    """Show what would be deleted, with a form to confirm it."""
    _require_allowed(visit)
    target = await _target(visit, visit.param("id"), visit.param("of"), visit.param("user"))
    affected = await _affected(visit, target)
    if not affected.ids:
        return page(visit, target.title, empty("There is nothing of it in this group."))
    confirm = None if visit.site.read_only else _confirm_form(visit, target, affected)
    return page(
        visit,
        target.title,
        h.p(_WARNING, class_="notice warn"),
        _counts(affected),
        await affected_card(visit, affected),
        confirm,
    )


def _require_allowed(visit: Visit) -> None:
    if not visit.site.can_forget:
        raise SettingError("Forgetting is not allowed here; inspector(can_forget=True) allows it.")


async def _target(visit: Visit, id_: str, origin: str, user: str) -> ForgetTarget:
    if id_:
        if not await by_ids(visit, (id_,)):
            raise EntryMissing(f"There is no record {id_[:100]!r}; it may have been forgotten.")
        back = visit.url("/memories/one", id=id_)
        return ForgetTarget(
            "Forget this?", visit.scope, ForgetCondition(ids=(id_,)), {"id": id_}, back
        )
    if origin:
        parsed = Origin.parse(origin)
        back = visit.url("/origins", of=origin)
        title = f"Forget everything from {origin[:_NAME]}?"
        return ForgetTarget(
            title, visit.scope, ForgetCondition(origin=parsed), {"of": origin}, back
        )
    if user:
        scope = replace(visit.scope, user_id=user)
        title = f"Forget everything of user {user[:_NAME]}?"
        return ForgetTarget(title, scope, ForgetCondition(), {"user": user}, visit.url("/memories"))
    raise SettingError("Name what to forget: id=, of= (an origin) or user=.")


async def _affected(visit: Visit, target: ForgetTarget) -> AffectedRecords:
    return await affected_by_forget(visit.memory.parts.native, target.scope, target.condition)


def _counts(affected: AffectedRecords) -> Html:
    counts = affected.counts
    parts = [
        f"{counts.long_term:,} of long-term memory",
        f"{counts.working:,} of working memory",
        f"{counts.quarantine:,} of quarantine",
    ]
    return h.p(h.strong(f"{plural(counts.total, 'record')}: "), ", ".join(parts), ".")


def _confirm_form(visit: Visit, target: ForgetTarget, affected: AffectedRecords) -> Html:
    reason = h.input(type="text", name="reason", id="reason", maxlength=1000, autocomplete="off")
    sure = h.input(type="checkbox", name="sure", value="yes", id="sure", required=True)
    return form(
        visit,
        "/forget",
        [hidden(name, value) for name, value in target.fields.items()],
        hidden("total", affected.total),
        hidden("back", "/memories"),
        field("Reason", reason, id_="reason", hint="Optional; recorded in the receipt."),
        h.p(h.label(sure, " I have seen what goes, and that it cannot be undone.", class_="pick")),
        h.div(
            button(f"Forget {plural(affected.total, 'record')} for good", kind="bad"),
            h.a("Cancel", href=target.back, class_="button"),
            class_="row",
        ),
    )


async def forget(visit: Visit) -> Response:
    """Delete what the preview showed; refuse if it would be more by now."""
    _require_allowed(visit)
    form_ = visit.form
    if form_.get("sure") != "yes":
        raise SettingError("Confirm that you have seen what goes; nothing was deleted.")
    async with visit.site.deciding:
        target = await _target(visit, form_.get("id"), form_.get("of"), form_.get("user"))
        affected = await _affected(visit, target)
        if str(affected.total) != form_.get("total"):
            message = "It is not what the preview showed anymore; nothing was deleted. Look again."
            return visit.redirect("/forget", message, None, **target.fields)
        reason = form_.get("reason").strip()
        receipt = await visit.memory.aforget(
            target.scope, by=visit.by, reason=reason, **target.options
        )
    invalidate(visit, queue=True)
    message = f"Forgotten for good: {plural(receipt.total, 'record')}. Receipt {receipt.id}."
    return visit.redirect("/memories", message)


SECTION = Section("", "/forget", {"/forget": preview}, {"/forget": forget})

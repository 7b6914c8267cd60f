"""Audit: who did what to memory, and putting back what was revoked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from starlette.responses import Response

from memoryware.backends.history import Version
from memoryware.backends.looking import arecent_versions
from memoryware.errors import SettingError
from memoryware.guard import reveal
from memoryware.inspector.layout import button, empty, field, form, hidden, page
from memoryware.inspector.markup import Html, Piece, h
from memoryware.inspector.pages.comparing import actor, names_of, quoted
from memoryware.inspector.pages.linking import record_url
from memoryware.inspector.site import Section, Visit
from memoryware.inspector.texts import many, one_line, when
from memoryware.tiers.audit import ACT_KINDS, Act, Audit

_NAME: Final = 80
_FILE: Final = "file"
_WORDS: Final = {
    "promoted": "promoted",
    "superseded": "superseded",
    "rejected": "rejected",
    "proposed": "proposed",
    "checked": "checked",
    "revoked": "revoked",
    "restored": "put back",
    "forgotten": "forgot",
}
_TAGS: Final = {
    "promoted": "promoted",
    "restored": "current",
    "revoked": "revoked",
    "rejected": "rejected",
    "superseded": "superseded",
    "forgotten": "revoked",
}


async def audit(visit: Visit) -> Response:
    """Show who did what, the newest first, of one person or kind if that is wanted."""
    by, kind, after = visit.asked("by"), visit.asked("kind"), visit.asked("after")
    if kind and kind not in (*ACT_KINDS, _FILE):
        raise SettingError("kind: is none that there is; choose one from the list")
    rows, before = visit.limits.rows, _moment(visit.asked("before"))
    found = await _acts(visit, kind, after or None)
    versions = await _versions(visit, kind)
    people = sorted({*found.people, *(name for one in versions for name in names_of(one))})
    lines: list[tuple[datetime, str, Piece]] = [
        (one.at, one.mark, _act(visit, one)) for one in found.acts
    ]
    lines += [
        (one.time, "", _version(visit, one))
        for one in versions
        if (not by or by in names_of(one)) and (before is None or one.time < before)
    ]
    lines.sort(key=lambda one: one[0], reverse=True)
    on = found.next
    if len(lines) > rows:
        lines = lines[:rows]
        on = next((mark for _, mark, _ in reversed(lines) if mark), after)
    none = "Nobody has done anything of this kind yet."
    if on is not None:
        none = "Among the records that were looked at is nothing of this kind; older ones may be."
    seen = h.ol([h.li(one) for _, _, one in lines], class_="list") if lines else empty(none)
    older = None
    if on is not None:
        last = lines[-1][0].isoformat() if lines else visit.asked("before")
        at = visit.url("/audit", by=by, kind=kind, after=on, before=last)
        older = h.nav(
            h.a("Older", href=at, class_="button"), class_="pages", aria_label="Older acts"
        )
    notes = [h.p(one, class_="notice warn") for one in found.notes]
    return page(visit, "Audit", _filter(visit, people, by, kind), seen, older, notes)


async def restore(visit: Visit) -> Response:
    """Put back what a revocation took back."""
    async with visit.site.deciding:
        receipt = await visit.memory.afind_receipt(visit.form.one("receipt"), visit.scope)
        counts = await visit.memory.arestore(receipt, by=visit.by)
    visit.site.kept.clear()
    if not counts.total:
        return visit.go("/audit", "Nothing was hidden by it any more; nothing has changed.")
    return visit.go("/audit", f"Put back: {many(counts.total, 'record')} can be recalled again.")


async def _acts(visit: Visit, kind: str, after: str | None) -> Audit:
    by, rows = visit.asked("by") or None, visit.limits.rows
    if kind == _FILE:
        seen = await visit.memory.aaudit(visit.scope, limit=0)
        return Audit(people=seen.people, notes=seen.notes)
    wanted = next((one for one in ACT_KINDS if one == kind), None)
    return await visit.memory.aaudit(visit.scope, by=by, kind=wanted, after=after, limit=rows)


async def _versions(visit: Visit, kind: str) -> Sequence[Version]:
    if visit.site.files is None or kind not in ("", _FILE):
        return ()
    return await arecent_versions(visit.site.files, limit=visit.memory.limits.looked_back)


def _act(visit: Visit, act: Act) -> Piece:
    tag = h.span(_WORDS[act.kind], class_=f"tag status-{_TAGS.get(act.kind, 'none')}")
    what: Piece = h.span(one_line(act.id, visit.limits.line_chars), class_="id")
    if act.content:
        text = one_line(act.content, visit.limits.line_chars)
        what = h.a(text, href=record_url(visit, act.id))
    count = h.span(many(act.total, "record"), class_="quiet")
    several = count if act.receipt or act.total > 1 else None
    return [
        h.p(what, class_="line"),
        h.div(tag, _who(act.by), when(act.at), several, _back(visit, act), class_="tags"),
        _detail(visit, act),
    ]


def _detail(visit: Visit, act: Act) -> Html | None:
    if act.kind == "superseded" and act.detail:
        said = one_line(act.detail, visit.limits.line_chars)
        return h.p("Replaced by: ", said, class_="why")
    if act.kind in ("promoted", "checked"):
        return h.p(one_line(act.detail, _NAME), class_="quiet why") if act.detail else None
    return quoted(visit, act.detail)


def _back(visit: Visit, act: Act) -> Html | None:
    if act.kind != "revoked" or visit.site.read_only or not act.receipt:
        return None
    return form(
        visit,
        "/audit/restore",
        hidden("receipt", act.receipt),
        button("Put back", kind="link"),
        class_="inline",
    )


def _version(visit: Visit, one: Version) -> Piece:
    at = visit.url("/files/show", file=one.path, version=one.number)
    tag = h.span(f"file: {one.kind}", class_="tag")
    name = h.a(one_line(one.path, 240), f", version {one.number}", href=at)
    return [
        h.p(name, class_="line"),
        h.div(tag, h.span("by ", h.strong(actor(one))), when(one.time), class_="tags"),
        quoted(visit, one.reason),
    ]


def _who(by: str) -> Html:
    return h.span("by ", h.strong(one_line(by, _NAME))) if by else h.span("by nobody known")


def _filter(visit: Visit, people: Iterable[str], by: str, kind: str) -> Html:
    kinds = [*ACT_KINDS, *([_FILE] if visit.site.files is not None else [])]
    controls = h.div(
        field("Who", _select("by", people, by, "everybody"), id_="filter-by"),
        field("What", _select("kind", kinds, kind, "everything"), id_="filter-kind"),
        button("Show"),
        class_="row end",
    )
    return h.form(controls, method="get", action=visit.url("/audit"), class_="card filters")


def _select(name: str, values: Iterable[str], chosen: str, none: str) -> Html:
    options = [h.option(none, value="")]
    options += [h.option(reveal(one[:_NAME]), value=one, selected=one == chosen) for one in values]
    return h.select(options, name=name, id=f"filter-{name}")


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = datetime.min  # noqa: DTZ901 - refused below
    if found.tzinfo is None:
        raise SettingError("before: is no time with a zone")
    return found


SECTION = Section("Audit", "/audit", {"/audit": audit}, {"/audit/restore": restore})

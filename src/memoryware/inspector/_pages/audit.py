"""Audit: the log of actions, and restoring revoked records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from starlette.responses import Response

from memoryware.backends import Version, arecent_versions
from memoryware.errors import SettingError
from memoryware.guard import reveal
from memoryware.inspector._layout import button, empty, field, form, hidden, page, search_form
from memoryware.inspector._markup import Html, Piece, h, one_line, plural, when
from memoryware.inspector._pages.files import author_names, quoted_reason, version_author
from memoryware.inspector._pages.record import record_url
from memoryware.inspector._site import Section, Visit
from memoryware.inspector._undo import undo_restore
from memoryware.inspector._words import state_label
from memoryware.tiers import Act, Audit
from memoryware.tiers.audit import ACT_KINDS
from memoryware.tiers.wording import verdict_label

_NAME: Final = 80
_FILE: Final = "file"
_TAGS: Final = {
    "promoted": "promoted",
    "restored": "current",
    "revoked": "revoked",
    "rejected": "rejected",
    "superseded": "superseded",
    "forgotten": "revoked",
}


async def audit(visit: Visit) -> Response:
    """Show the actions, newest first, filtered by actor and kind."""
    by, kind, after = visit.param("by"), visit.param("kind"), visit.param("after")
    if kind and kind not in (*ACT_KINDS, _FILE):
        raise SettingError("kind: unknown; choose one from the list")
    rows, before = visit.limits.rows, _moment(visit.param("before"))
    acts = await _acts(visit, kind, after or None)
    versions = await _versions(visit, kind)
    people = sorted(
        {*acts.people, *(name for version in versions for name in author_names(version))}
    )
    lines: list[tuple[datetime, str, Piece]] = [
        (act.at, act.mark, _act(visit, act)) for act in acts.acts
    ]
    lines += [
        (version.time, "", _version(visit, version))
        for version in versions
        if (not by or by in author_names(version)) and (before is None or version.time < before)
    ]
    lines.sort(key=lambda line: line[0], reverse=True)
    cursor = acts.next
    if len(lines) > rows:
        lines = lines[:rows]
        cursor = next((mark for _, mark, _ in reversed(lines) if mark), after)
    none = "No actions of this kind yet."
    if cursor is not None:
        none = "No actions of this kind among these records; there may be older ones."
    content = h.ol([h.li(line) for _, _, line in lines], class_="list") if lines else empty(none)
    older = None
    if cursor is not None:
        last = lines[-1][0].isoformat() if lines else visit.param("before")
        at = visit.url("/audit", by=by, kind=kind, after=cursor, before=last)
        older = h.nav(
            h.a("Older", href=at, class_="button"), class_="pages", aria_label="Older acts"
        )
    notes = [h.p(note, class_="notice warn") for note in acts.notes]
    return page(visit, "Audit", _filter(visit, people, by, kind), content, older, notes)


async def restore(visit: Visit) -> Response:
    """Undo a revocation."""
    async with visit.site.deciding:
        receipt = await visit.memory.afind_receipt(visit.form.get("receipt"), visit.scope)
        counts = await visit.memory.arestore(receipt, by=visit.by)
    visit.cache.clear()
    if not counts.total:
        return visit.redirect("/audit", "It does not hide anything anymore; nothing was changed.")
    message = f"Restored: {plural(counts.total, 'record')} can be recalled again."
    return visit.redirect("/audit", message, undo_restore(receipt, message))


async def _acts(visit: Visit, kind: str, after: str | None) -> Audit:
    by, rows = visit.param("by") or None, visit.limits.rows
    if kind == _FILE:
        people = await visit.memory.aaudit(visit.scope, limit=0)
        return Audit(people=people.people, notes=people.notes)
    act_kind = next((known_kind for known_kind in ACT_KINDS if known_kind == kind), None)
    return await visit.memory.aaudit(visit.scope, by=by, kind=act_kind, after=after, limit=rows)


async def _versions(visit: Visit, kind: str) -> Sequence[Version]:
    if visit.site.files is None or kind not in ("", _FILE):
        return ()
    return await arecent_versions(visit.site.files, limit=visit.memory.limits.looked_back)


def _act(visit: Visit, act: Act) -> Piece:
    tag = h.span(state_label(act.kind), class_=f"tag status-{_TAGS.get(act.kind, 'none')}")
    subject: Piece = h.span(one_line(act.id, visit.limits.line_chars), class_="id")
    if act.content:
        text = one_line(act.content, visit.limits.line_chars)
        subject = h.a(text, href=record_url(visit, act.id))
    count = h.span(plural(act.total, "record"), class_="quiet")
    several = count if act.receipt or act.total > 1 else None
    return [
        h.p(subject, class_="line"),
        h.div(tag, _actor_tag(act.by), when(act.at), several, _back(visit, act), class_="tags"),
        _detail(visit, act),
    ]


def _detail(visit: Visit, act: Act) -> Html | None:
    if act.kind == "superseded" and act.detail:
        text = one_line(act.detail, visit.limits.line_chars)
        return h.p("Replaced by: ", text, class_="why")
    if act.kind == "checked" and act.detail == "verified":
        return h.p(verdict_label(verified=True), class_="quiet why")
    if act.kind in ("promoted", "checked"):
        return h.p(one_line(act.detail, _NAME), class_="quiet why") if act.detail else None
    return quoted_reason(visit, act.detail)


def _back(visit: Visit, act: Act) -> Html | None:
    if act.kind != "revoked" or visit.site.read_only or not act.receipt:
        return None
    return form(
        visit,
        "/audit/restore",
        hidden("receipt", act.receipt),
        button("Restore", kind="link"),
        class_="inline",
    )


def _version(visit: Visit, version: Version) -> Piece:
    at = visit.url("/files/show", file=version.path, version=version.number)
    tag = h.span(f"file: {version.kind}", class_="tag")
    name = h.a(one_line(version.path, 240), f", version {version.number}", href=at)
    return [
        h.p(name, class_="line"),
        h.div(
            tag, h.span("by ", h.strong(version_author(version))), when(version.time), class_="tags"
        ),
        quoted_reason(visit, version.reason),
    ]


def _actor_tag(by: str) -> Html:
    return h.span("by ", h.strong(one_line(by, _NAME))) if by else h.span("by unknown")


def _filter(visit: Visit, people: Iterable[str], by: str, kind: str) -> Html:
    kinds: dict[str, str] = {kind: state_label(kind) for kind in ACT_KINDS}
    if visit.site.files is not None:
        kinds[_FILE] = "file changed"
    controls = h.div(
        field("Who", _select("by", {name: name for name in people}, by, "anyone"), id_="filter-by"),
        field("What", _select("kind", kinds, kind, "everything"), id_="filter-kind"),
        button("Show"),
        class_="row end",
    )
    return search_form(visit, "/audit", controls, class_="card filters")


def _select(name: str, choices: Mapping[str, str], chosen: str, placeholder: str) -> Html:
    options = [h.option(placeholder, value="")]
    options += [
        h.option(reveal(label[:_NAME]), value=value, selected=value == chosen)
        for value, label in choices.items()
    ]
    return h.select(options, name=name, id=f"filter-{name}")


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = datetime.min  # noqa: DTZ901 - refused below
    if time.tzinfo is None:
        raise SettingError("before: must be a time with a zone")
    return time


SECTION = Section("Audit", "/audit", {"/audit": audit}, {"/audit/restore": restore})

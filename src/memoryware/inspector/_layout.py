"""The layout of pages: head, navigation, messages, forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from starlette.responses import HTMLResponse, Response

from memoryware.guard import reveal
from memoryware.inspector._markup import Html, Piece, h, joined, one_line, visible
from memoryware.inspector._site import Visit, path_in

_NAME: Final = 80
"""Characters of a name in the head of a page."""


def page(visit: Visit, title: str, *content: Piece, status: int = 200) -> Response:
    """Return a whole page; its title is its only heading of the first level."""
    message = visit.message
    main = h.main(
        h.h1(visible(title)),
        _outcome(visit, message),
        *content,
        id="main",
        tabindex="-1",
    )
    body = h.body(
        h.a("Skip to the content", href="#main", class_="skip"),
        _head(visit),
        main,
        _foot(visit),
    )
    heading = f"({visit.waiting:,}) {title}" if visit.waiting else title
    # a screen reader says the title first, so that what was done is heard as well
    heading = f"{message} \u00b7 {heading}" if message else heading
    return _document(str(visit.request.scope.get("root_path", "")), heading, body, status)


def _outcome(visit: Visit, message: str | None) -> Html:
    """Return what the last action did, with a form to undo it.

    The form is there after a reload as well; the message only for the first time.
    """
    undo, line, undo_form = visit.undo, None, None
    if message:
        line = h.p(visible(message))
    elif undo is not None:
        line = h.p("The last action here: ", visible(str(undo.get("label", ""))))
    if undo is not None and not visit.site.read_only:
        undo_form = form(
            visit,
            "/undo",
            hidden("undo", visit.param("undo")),
            button("Undo", data_key="u", title=f"Undo: {reveal(str(undo.get('label', '')))}"),
            class_="inline",
        )
    return h.div(
        h.div(line, id="status", role="status", class_="status"),
        undo_form,
        class_="outcome" if line else "outcome nothing",
    )


def plain_page(root: str, title: str, text: str, status: int) -> Response:
    """Return a page for a visitor who is not signed in: a heading and a text."""
    body = h.body(h.main(h.h1(title), h.p(text), id="main"), class_="outside")
    return _document(root, title, body, status)


def plain_text(text: str) -> Response:
    """Return a text as text/plain, so that no browser runs it as HTML."""
    return Response(
        text.encode("utf-8", "replace"),
        media_type="text/plain; charset=utf-8",
        headers={"content-disposition": 'inline; filename="text.txt"'},
    )


def form(visit: Visit, path: str, *content: Piece, **attributes: str) -> Html:
    """Return a form that posts to a path of the inspector, with its CSRF token."""
    token = hidden("csrf", visit.form_token)
    return h.form(token, *content, method="post", action=visit.url(path), **attributes)


def search_form(visit: Visit, path: str, *content: Piece, **attributes: str) -> Html:
    """Return a form whose fields become the query of a page, so that its URL can be shared."""
    # Browsers replace the query of the action of such a form, and with it the group.
    own = None if visit.is_first_group else hidden("group", visit.group)
    action = visit.url(path).partition("?")[0]
    return h.form(own, *content, method="get", action=action, **attributes)


def hidden(name: str, value: str | int) -> Html:
    """Return a hidden field."""
    return h.input(type="hidden", name=name, value=value)


def field(label: str, control: Html, *, id_: str, hint: str = "") -> Html:
    """Return a control with its label; `id_` is the id of the control."""
    help_ = h.span(hint, class_="hint", id=f"{id_}-hint") if hint else None
    return h.div(h.label(label, for_=id_), help_, control, class_="field")


def button(label: str, *, kind: str = "", **attributes: str | bool | None) -> Html:
    """Return a button that sends its form."""
    return h.button(label, type="submit", class_=f"button {kind}".strip(), **attributes)


def empty(text: str, *more: Piece) -> Html:
    """Return the text of a page that has nothing to show."""
    return h.div(h.p(text), *more, class_="empty")


def facts(*pairs: tuple[str, Piece]) -> Html:
    """Return a list of names with values; empty values are left out."""
    rows = [h.div(h.dt(name), h.dd(value)) for name, value in pairs if value not in (None, "", ())]
    return h.dl(rows, class_="facts")


def _document(root: str, title: str, body: Html, status: int) -> Response:
    static = f"{root.rstrip('/')}/static"
    head = h.head(
        h.meta(charset="utf-8"),
        h.meta(name="viewport", content="width=device-width, initial-scale=1"),
        h.meta(name="color-scheme", content="light dark"),
        h.title(f"{reveal(title)} \u00b7 memoryware"),
        h.link(rel="stylesheet", href=f"{static}/inspector.css"),
        h.link(rel="icon", href=f"{static}/icon.svg", type="image/svg+xml"),
        _script(f"{static}/inspector.js"),
    )
    document = h.html(head, body, lang="en")
    return HTMLResponse(f"<!doctype html>\n{document}", status_code=status)


def _script(path: str) -> Html:
    # The one place where a script is named: our own file, whose path no visitor chooses.
    return Html(str(h.x(src=path, defer=True)).replace("<x", "<script").replace("</x", "</script"))


def _head(visit: Visit) -> Html:
    name = h.a("memoryware", href=visit.url("/"), class_="brand")
    tags = [h.span("read-only", class_="tag")] if visit.site.read_only else []
    whose = h.div(tags, scope_label(visit), class_="whose")
    return h.header(name, _navigation(visit), whose)


def _navigation(visit: Visit) -> Html:
    site, path = visit.site, path_in(visit.request)
    links = []
    for section in filter(lambda section: section.label, site.sections):
        inside = path == section.path or (
            section.path != "/" and path.startswith(f"{section.path}/")
        )
        link = h.a(
            section.label,
            _waiting_badge(visit) if section.shows_waiting else None,
            href=visit.url(section.path),
            aria_current="page" if inside else None,
        )
        links.append(h.li(link))
    return h.nav(h.ul(links), aria_label="Pages")


def _waiting_badge(visit: Visit) -> Html | None:
    if not visit.waiting:
        return None
    note = h.span(" waiting", class_="visually-hidden")
    return joined(" ", h.span(f"{visit.waiting:,}", note, class_="badge"))


def scope_label(visit: Visit) -> Html:
    """Return the tenant and group that are shown, with a list of the other groups."""
    tenant, group = visit.scope.tenant, visit.scope.group_id
    parts: list[Piece] = []
    if tenant:
        parts += [h.span("tenant ", h.strong(one_line(tenant, _NAME))), ", "]
    name = h.span("group ", h.strong(one_line(group or "", _NAME)))
    if len(visit.groups) < 2:
        return h.span(parts, name)
    return h.div(parts, h.details(h.summary(name), _group_list(visit), class_="switch"))


def _group_list(visit: Visit) -> Html:
    items = [h.li(group_link(visit, group)) for group in visit.groups[: visit.limits.listed_groups]]
    if len(visit.groups) > visit.limits.listed_groups:
        every = h.a(f"All {len(visit.groups):,} groups", href=visit.url("/groups"))
        items.append(h.li(every))
    return h.ul(items, aria_label="Groups")


def group_link(visit: Visit, group: str) -> Html:
    """Return a link to the page of another group that is shown now."""
    other = replace(visit, group=group)
    path = path_in(visit.request)
    listed = any(section.label and section.path == path for section in visit.site.sections)
    current = "true" if group == visit.scope.group_id else None
    return h.a(
        one_line(group, _NAME), href=other.url(path if listed else "/"), aria_current=current
    )


def _foot(visit: Visit) -> Html:
    leave = None
    if visit.site.authenticate is None:
        leave = form(visit, "/leave", button("Leave", kind="link"), class_="inline")
    actor = joined("You act as ", h.strong(one_line(visit.by, _NAME)), ". ")
    keys = h.button("Keys", type="button", id="keys-button", class_="button link with-script")
    return h.footer(h.span(actor, keys), leave)

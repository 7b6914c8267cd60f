"""The layout of pages: head, navigation, messages, forms."""

from __future__ import annotations

from typing import Final

from starlette.responses import HTMLResponse, Response

from memoryware.guard import reveal
from memoryware.inspector._markup import Html, Piece, h, joined, one_line, visible
from memoryware.inspector._site import Site, Visit, path_in

_NAME: Final = 80
"""Characters of a name in the head of a page."""


def page(visit: Visit, title: str, *content: Piece, status: int = 200) -> Response:
    """Return a whole page; its title is its only heading of the first level."""
    message = visit.message
    main = h.main(
        h.h1(visible(title)),
        h.div(
            h.p(visible(message)) if message else None, id="status", role="status", class_="status"
        ),
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
    # a screen reader says the title first, so that what was done is heard as well
    return _document(visit.url(""), f"{message} \u00b7 {title}" if message else title, body, status)


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
    site = visit.site
    name = h.a("memoryware", href=visit.url("/"), class_="brand")
    tags = [h.span("read-only", class_="tag")] if site.read_only else []
    return h.header(name, _navigation(visit), h.div(tags, scope_label(site), class_="whose"))


def _navigation(visit: Visit) -> Html:
    site, path = visit.site, path_in(visit.request)
    links = []
    for section in filter(lambda section: section.label, site.sections):
        inside = path == section.path or (
            section.path != "/" and path.startswith(f"{section.path}/")
        )
        link = h.a(
            section.label, href=visit.url(section.path), aria_current="page" if inside else None
        )
        links.append(h.li(link))
    return h.nav(h.ul(links), aria_label="Pages")


def scope_label(site: Site) -> Html:
    """Return the scope of the inspector."""
    tenant, group = site.scope.tenant, site.scope.group_id
    parts: list[Piece] = []
    if tenant:
        parts += [h.span("tenant ", h.strong(one_line(tenant, _NAME))), ", "]
    return h.span(parts, h.span("group ", h.strong(one_line(group or "", _NAME))))


def _foot(visit: Visit) -> Html:
    leave = None
    if visit.site.authenticate is None:
        leave = form(visit, "/leave", button("Leave", kind="link"), class_="inline")
    actor = joined("You act as ", h.strong(one_line(visit.by, _NAME)), ". ")
    keys = h.button("Keys", type="button", id="keys-button", class_="button link with-script")
    return h.footer(h.span(actor, keys), leave)

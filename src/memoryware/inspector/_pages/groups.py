"""Groups: all groups that a visitor may see, with a search by name."""

from __future__ import annotations

from starlette.responses import Response

from memoryware.inspector._layout import button, empty, field, group_link, page, search_form
from memoryware.inspector._markup import h, plural
from memoryware.inspector._site import Section, Visit, number_in


async def groups(visit: Visit) -> Response:
    """List the groups, a page at a time."""
    query = visit.param("q").strip().casefold()
    names = [name for name in visit.groups if query in name.casefold()]
    start, rows = number_in(visit.param("from")) or 0, visit.limits.rows
    items = [h.li(h.p(group_link(visit, name), class_="line")) for name in names[start:][:rows]]
    line = h.input(type="search", name="q", id="q", value=visit.param("q"), maxlength=500)
    search = search_form(
        visit,
        "/groups",
        h.div(
            h.div(field("Name", line, id_="q"), class_="grow"), button("Search"), class_="row end"
        ),
        class_="card",
        role="search",
    )
    more = None
    if start + rows < len(names):
        href = visit.url("/groups", q=visit.param("q"), **{"from": start + rows})
        more = h.nav(h.a("More", href=href, class_="button"), class_="pages", aria_label="More")
    content = h.ul(items, class_="list") if items else empty("No group has this in its name.")
    return page(
        visit, "Groups", h.p(plural(len(names), "group"), class_="quiet"), search, content, more
    )


SECTION = Section("", "/groups", {"/groups": groups})

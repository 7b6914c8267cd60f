"""Memories: the list of a tier, and a search that explains its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast, get_args

from starlette.responses import Response

from memoryware.errors import SettingError
from memoryware.inspector._layout import button, empty, field, page, search_form
from memoryware.inspector._markup import Html, Piece, h, one_line, plural, state, trust, when
from memoryware.inspector._pages import record as record_page
from memoryware.inspector._pages.record import origin_tags
from memoryware.inspector._queries import LABELS, LAYERS, list_page
from memoryware.inspector._site import Section, Visit
from memoryware.inspector._words import state_label
from memoryware.stores import Select
from memoryware.tiers import Candidate, ContextItem, Entry, Memory, Recall
from memoryware.tiers.listing import status_of
from memoryware.tiers.model import Status
from memoryware.tiers.stores.protocol import Page
from memoryware.tiers.values import Layer

_STATES: Final = {"current": "current only", "all": "with history"}
_NAME: Final = 60


async def memories(visit: Visit) -> Response:
    """Show search results, or a list of records."""
    query = visit.param("q").strip()
    if query:
        return await _search_results(visit, query)
    layer = _layer(visit)
    select = Select.within(visit.scope)
    status, period = visit.param("status"), visit.param("state", "current")
    if layer == "quarantine" and status in get_args(Status):
        select = select.also(statuses=(cast("Status", status),))
    if layer == "working" or (layer == "long_term" and period != "all"):
        select = select.also(live_at=visit.memory.parts.clock())
    records = await list_page(visit, layer, select, visit.param("after"), visit.param("before"))
    items = [_line(visit, record, layer) for record in records.items]
    last = records.newer + len(items)
    count = f"{records.newer + 1:,} to {last:,} of {records.total:,}, the newest first."
    content: Piece = empty("No records.")
    if items:
        content = (h.p(count, class_="quiet"), h.ol(items, class_="list", start=records.newer + 1))
    filters = {"tier": layer, "status": status, "state": period if layer == "long_term" else ""}
    return page(
        visit,
        "Memories",
        _search(visit, ""),
        _filters(visit, layer, status, period),
        content,
        _pages(visit, filters, records),
    )


def _layer(visit: Visit) -> Layer:
    layer = visit.param("tier", "long_term")
    return layer if layer in LAYERS else "long_term"


# The list.


def _search(visit: Visit, query: str) -> Html:
    line = h.input(type="search", name="q", id="q", value=query, maxlength=4000, autocomplete="off")
    day = h.input(type="date", name="at", id="at", value=visit.param("at"))
    return search_form(
        visit,
        "/memories",
        h.div(
            h.div(field("Search as an agent does", line, id_="q"), class_="grow"),
            field("True on (optional)", day, id_="at"),
            button("Search", kind="main"),
            class_="row end",
        ),
        role="search",
        class_="card",
    )


def _filters(visit: Visit, layer: Layer, status: str, period: str) -> Html:
    tiers = _select("tier", "Tier", [(choice, LABELS[choice]) for choice in LAYERS], layer)
    more = None
    if layer == "long_term":
        more = _select("state", "Show", list(_STATES.items()), period)
    elif layer == "quarantine":
        choices = [
            ("", "everything"),
            *((choice, state_label(choice)) for choice in get_args(Status)),
        ]
        more = _select("status", "Show", choices, status)
    inner = h.div(tiers, more, button("Show"), class_="row end")
    return search_form(visit, "/memories", inner, class_="filters", aria_label="Which list")


def _select(name: str, label: str, choices: list[tuple[str, str]], chosen: str) -> Html:
    options = [h.option(text, value=value, selected=value == chosen) for value, text in choices]
    return field(label, h.select(options, name=name, id=name), id_=name)


def _line(visit: Visit, record: Entry | Memory, layer: Layer) -> Html:
    text = one_line(record.content, visit.limits.line_chars)
    status = status_of(record, visit.memory.parts.clock())
    # The decision about an entry is kept in quarantine; its copy in working memory has none.
    where = layer if layer == "working" else None
    return h.li(
        h.p(h.a(text, href=visit.url("/memories/one", id=record.id, tier=where)), class_="line"),
        h.p(
            None if where else state(status),
            trust(record.provenance.trust),
            origin_tags(visit, record.provenance),
            h.span(when(record.created_at), class_="quiet"),
            class_="tags",
        ),
    )


def _pages(visit: Visit, query: dict[str, str], records: Page[Any]) -> Html | None:
    newer = older = None
    if records.newer:
        before = records.marks[0] if records.marks and records.newer > visit.limits.rows else None
        href = visit.url("/memories", **query, before=before)
        newer = h.a("Newer", href=href, class_="button", rel="prev")
    if records.next is not None:
        href = visit.url("/memories", **query, after=records.next)
        older = h.a("Older", href=href, class_="button", rel="next")
    if newer is None and older is None:
        return None
    return h.nav(newer or h.span(), older, class_="pages", aria_label="Pages of the list")


# The search.


async def _search_results(visit: Visit, query: str) -> Response:
    result = await visit.memory.aretrieve(query, visit.scope, at=_moment(visit), explain=True)
    shown = {item.id for item in result}
    left_out = [
        candidate
        for candidate in result.candidates
        if candidate.left_out and candidate.item.id not in shown
    ]
    by_id = {candidate.item.id: candidate for candidate in result.candidates}
    threshold = max((item.score for item in result), default=0.0) * visit.limits.weak_share
    weak = [item for item in result if item.score < threshold]
    results = [
        _result(visit, item, by_id.get(item.id)) for item in result if item.score >= threshold
    ]
    answer: Piece = empty("No results.")
    if results:
        answer = h.ol(results, class_="list", aria_labelledby="found")
    if weak:
        answer = (answer if results else None, _weak_list(visit, weak, threshold, by_id))
    left = None
    if left_out:
        lines = [
            _result(visit, candidate.item, candidate) for candidate in left_out[: visit.limits.rows]
        ]
        left = h.section(
            h.h2(f"Considered and left out ({len(left_out)})", id="left-out"),
            h.ol(lines, class_="list", aria_labelledby="left-out"),
        )
    notes = [h.div(h.p(note), class_="notice warn") for note in _notes(result)]
    heading = h.h2(f"What an agent would get ({len(result)})", id="found")
    return page(visit, "Memories", _search(visit, query), notes, heading, answer, left)


def _weak_list(
    visit: Visit, weak: Sequence[ContextItem], threshold: float, by_id: Mapping[str, Candidate]
) -> Html:
    """Return the results with low scores, folded: an agent gets them as well."""
    share = f"{visit.limits.weak_share:.0%}"
    title = (
        f"{plural(len(weak), 'weak result')}, with a score below {threshold:.3f}"
        f" ({share} of the best)"
    )
    items = [_result(visit, item, by_id.get(item.id)) for item in weak]
    return h.details(h.summary(title), h.ol(items, class_="list"), class_="weak")


def _moment(visit: Visit) -> datetime | None:
    day = visit.param("at")
    if not day:
        return None
    try:
        return datetime.fromisoformat(day).replace(hour=23, minute=59, tzinfo=UTC)
    except ValueError:
        raise SettingError("Write the day as year-month-day, such as 2026-01-31") from None


def _notes(result: Recall) -> list[str]:
    failed = [
        f"{LABELS[cast('Layer', tier)]} could not be searched; these are the other results."
        for tier in result.failed
    ]
    against = [
        f"Two of these contradict each other: {contradiction.reason}."
        for contradiction in result.contradictions
    ]
    return [*failed, *result.notes, *against]


def _result(visit: Visit, item: ContextItem, candidate: Candidate | None) -> Html:
    text = one_line(item.content, visit.limits.line_chars)
    tier = "long-term memory" if item.source == "long_term" else "working memory"
    link = h.a(text, href=visit.url("/memories/one", id=item.id))
    return h.li(
        h.p(link, class_="line"),
        h.p(
            h.span(tier, class_="tag"),
            trust(item.trust),
            origin_tags(visit, item.provenance),
            h.span(when(item.created_at), class_="quiet"),
            class_="tags",
        ),
        _why(candidate) if candidate else None,
    )


def _why(candidate: Candidate) -> Html:
    figures = [f"score {candidate.item.score:.3f}"]
    for name, rank in candidate.ranks.items():
        value = candidate.values.get(name)
        figures.append(f"{name}: no. {rank}" + (f" ({value:.3f})" if value is not None else ""))
    figures += [
        f"{name}: {value:.3f}"
        for name, value in candidate.values.items()
        if name not in candidate.ranks
    ]
    left_out = None
    if candidate.left_out:
        code = candidate.left_out.replace("_", " ")
        left_out = h.span("Left out: ", one_line(candidate.detail or code, 300), ". ")
    came = h.span("Reason: ", one_line(candidate.reason, 300), ". ") if candidate.reason else None
    return h.p(left_out, came, h.span("; ".join(figures)), class_="quiet why")


SECTION = Section(
    "Memories",
    "/memories",
    {
        "/memories": memories,
        "/memories/one": record_page.show,
        "/memories/text": record_page.text,
        "/memories/document": record_page.document,
        "/memories/revoke": record_page.preview,
    },
    {
        "/memories/revoke": record_page.revoke,
        "/memories/restore": record_page.restore,
        "/memories/reopen": record_page.review_again,
        "/memories/supersede": record_page.supersede,
    },
)

"""Overview: counts, growth, rejected entries, and tokens per origin."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from starlette.responses import Response

from memoryware.inspector import _charts as charts
from memoryware.inspector._layout import empty, page
from memoryware.inspector._markup import Html, h, one_line, plural
from memoryware.inspector._queries import LABELS, cached_value, find
from memoryware.inspector._site import Section, Visit
from memoryware.stores import Select
from memoryware.tiers import Entry, Memory
from memoryware.tiers.values import Layer
from memoryware.tiers.wording import refused_label

_POINTS: Final = 8
"""Points of a curve between its ends."""
_SOURCES: Final = 5
"""How many origins the chart shows separately."""
_CHARS_OF_TOKEN: Final = 4
_NAME: Final = 40
_GROWING: Final[tuple[Layer, Layer]] = ("long_term", "quarantine")
Curve = list[tuple[datetime, int]]


@dataclass(frozen=True)
class OverviewFigures:
    """The figures of the overview."""

    totals: dict[Layer, int]
    current: int
    looked_at: int
    junk: Counter[str]
    curves: list[tuple[str, Curve]]
    tokens: list[tuple[str, int]]
    of_tokens: int


async def overview(visit: Visit) -> Response:
    """Show the figures."""
    figures = await cached_value(visit, "overview", lambda: _figures(visit))
    if not any(figures.totals.values()):
        message = "Nothing is recorded yet. What agents record is counted here."
        return page(visit, "Overview", empty(message))
    return page(
        visit,
        "Overview",
        _tiers(visit, figures),
        _growth(figures),
        h.div(_junk(figures), _tokens(figures), class_="columns"),
    )


# OverviewFigures.


async def _figures(visit: Visit) -> OverviewFigures:
    within, now = Select.within(visit.scope), visit.memory.parts.clock()
    live = within.also(live_at=now)
    results = await asyncio.gather(
        find(visit, "long_term", within, limit=visit.limits.sample),
        find(visit, "working", live, limit=0),
        find(visit, "quarantine", within, limit=visit.limits.sample),
        find(visit, "long_term", live, limit=0),
    )
    long_term, working, waiting, current = results
    curves = await asyncio.gather(
        _curve(visit, "long_term", long_term.total), _curve(visit, "quarantine", waiting.total)
    )
    return OverviewFigures(
        totals={
            "long_term": long_term.total,
            "working": working.total,
            "quarantine": waiting.total,
        },
        current=current.total,
        looked_at=len(waiting.items),
        junk=_refused(waiting.items),
        curves=[
            (LABELS[layer], some) for layer, some in zip(_GROWING, curves, strict=True) if some
        ],
        tokens=_by_origin(long_term.items),
        of_tokens=len(long_term.items),
    )


async def _curve(visit: Visit, layer: Layer, total: int) -> Curve:
    """Return the growth of a tier: the creation time of some records, found by their number."""
    if not total:
        return []
    within, last = Select.within(visit.scope), total - 1
    numbers = sorted({round(last * step / (_POINTS + 1)) for step in range(_POINTS + 2)})
    queries = [find(visit, layer, within, limit=1, offset=last - number) for number in numbers]
    pages = await asyncio.gather(*queries)
    points = [
        (page.items[0].created_at, number + 1)
        for number, page in zip(numbers, pages, strict=True)
        if page.items
    ]
    now = visit.memory.parts.clock()
    return [*sorted(points), (now, total)]


def _refused(entries: Sequence[Entry]) -> Counter[str]:
    """Count why entries were refused when recorded, or rejected by a reviewer.

    Entries that are only too short (`min_chars`) are left out: many facts are short.
    """
    return Counter(
        "rejected" if entry.status == "rejected" else str(entry.refused)
        for entry in entries
        if entry.status == "rejected" or entry.refused not in (None, "too_short")
    )


def _by_origin(memories: Sequence[Memory]) -> list[tuple[str, int]]:
    counted: Counter[str] = Counter()
    for memory in memories:
        counted[str(memory.provenance.origin)] += -(-len(memory.content) // _CHARS_OF_TOKEN)
    first = counted.most_common(_SOURCES)
    rest = sum(counted.values()) - sum(count for _, count in first)
    return [*first, ("all others", rest)] if rest else first


# Parts of the page.


def _tiers(visit: Visit, figures: OverviewFigures) -> Html:
    hidden = figures.totals["long_term"] - figures.current
    past = f"and {hidden:,} superseded or revoked" if hidden else "all of it is current"
    review = h.a("Review them", href=visit.url("/review"))
    cards = (
        ("Long-term memory", figures.current, past),
        ("Working memory", figures.totals["working"], "recent records, for a limited time"),
        ("Quarantine", figures.totals["quarantine"], "everything that was recorded"),
        (
            "Waiting for a decision",
            visit.waiting or 0,
            review if visit.waiting else "nothing to review",
        ),
    )
    items = [
        h.li(
            h.h2(name),
            h.p(f"{count:,}", class_="value"),
            h.p(note, class_="quiet"),
            class_="figure",
        )
        for name, count, note in cards
    ]
    return h.ul(items, class_="figures", aria_label="Tiers")


def _growth(figures: OverviewFigures) -> Html:
    names = [name for name, _ in figures.curves]
    rows = [
        h.tr(
            h.th(name, scope="row"), h.td(f"{at:%Y-%m-%d %H:%M}"), h.td(f"{count:,}", class_="num")
        )
        for name, curve in figures.curves
        for at, count in curve
    ]
    head = h.tr(
        *(h.th(label, scope="col") for label in ("Tier", "When")),
        h.th("Records", scope="col", class_="num"),
    )
    table = h.table(h.thead(head), h.tbody(rows))
    return h.section(
        h.h2("Growth over time", id="growth"),
        charts.curves("Records over time", figures.curves),
        charts.key(names, fill=False),
        h.details(h.summary("As a table"), h.div(table, class_="wide", tabindex="0")),
        class_="card",
        aria_labelledby="growth",
    )


def _junk(figures: OverviewFigures) -> Html:
    total = sum(figures.junk.values())
    rate = total / figures.looked_at if figures.looked_at else 0
    rows = [
        h.tr(
            h.th(refused_label(reason), scope="row"),
            h.td(f"{count:,}", class_="num"),
        )
        for reason, count in figures.junk.most_common()
    ]
    return h.section(
        h.h2("Junk rate", id="junk"),
        h.p(
            h.strong(f"{rate:.0%}"),
            f" of {_newest(figures.looked_at, 'entry', 'entries')} was refused when recorded, or",
            " rejected by a reviewer.",
        ),
        h.table(h.tbody(rows)) if rows else None,
        class_="card",
        aria_labelledby="junk",
    )


def _tokens(figures: OverviewFigures) -> Html:
    total = sum(count for _, count in figures.tokens) or 1
    names = [
        h.span(one_line(name, _NAME), f" \u2013 {count:,} ({count / total:.0%})")
        for name, count in figures.tokens
    ]
    content: tuple[Html, ...] = (h.p("Long-term memory is empty.", class_="quiet"),)
    if figures.tokens:
        texts = _newest(figures.of_tokens, "memory", "memories")
        text = f"About {total:,} tokens in {texts}, by origin."
        content = (h.p(text), charts.shares("Tokens per source", figures.tokens), charts.key(names))
    return h.section(
        h.h2("Tokens per source", id="tokens"), content, class_="card", aria_labelledby="tokens"
    )


def _newest(count: int, singular: str, several: str) -> str:
    return f"the newest {plural(count, singular, several)}" if count > 1 else f"the one {singular}"


SECTION = Section("Overview", "/", {"/": overview})

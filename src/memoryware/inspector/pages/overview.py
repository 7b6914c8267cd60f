"""The first page: how much is remembered, how it grew, and how much of it was no good."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from starlette.responses import Response

from memoryware.inspector import drawing
from memoryware.inspector.keeping import LABELS, find, kept
from memoryware.inspector.layout import empty, page
from memoryware.inspector.markup import Html, h
from memoryware.inspector.site import Section, Visit
from memoryware.inspector.texts import many, one_line
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Layer

_POINTS: Final = 8
"""Points of a curve beside its ends."""
_SOURCES: Final = 5
"""Origins that have a part of their own in the picture."""
_CHARS_OF_TOKEN: Final = 4
_NAME: Final = 40
_GROWING: Final[tuple[Layer, Layer]] = ("long_term", "quarantine")
_REASONS: Final = {
    "no_content": "says nothing",
    "low_confidence": "the agent was not sure",
    "near_duplicate": "nearly the same was there",
    "duplicate": "the same was there",
    "echo": "repeats what memory had shown",
    "rejected": "rejected by a reviewer",
}
Curve = list[tuple[datetime, int]]


@dataclass(frozen=True)
class Figures:
    """What the overview shows."""

    totals: dict[Layer, int]
    current: int
    waiting: int
    looked_at: int
    junk: Counter[str]
    curves: list[tuple[str, Curve]]
    tokens: list[tuple[str, int]]
    of_tokens: int


async def overview(visit: Visit) -> Response:
    """Show how much there is."""
    seen = await kept(visit, "overview", lambda: _figures(visit))
    if not any(seen.totals.values()):
        said = (
            "Nothing is remembered here yet. Once an agent records something, it is counted here."
        )
        return page(visit, "Overview", empty(said))
    return page(
        visit,
        "Overview",
        _tiers(visit, seen),
        _growth(seen),
        h.div(_junk(seen), _tokens(seen), class_="columns"),
    )


# Figures.


async def _figures(visit: Visit) -> Figures:
    within, now = Select.within(visit.scope), visit.memory.parts.clock()
    live = within.also(live_at=now)
    asked = await asyncio.gather(
        find(visit, "long_term", within, limit=visit.limits.sample),
        find(visit, "working", live, limit=0),
        find(visit, "quarantine", within, limit=visit.limits.sample),
        find(visit, "long_term", live, limit=0),
    )
    cold, hot, waiting, current = asked
    curves = await asyncio.gather(
        _curve(visit, "long_term", cold.total), _curve(visit, "quarantine", waiting.total)
    )
    return Figures(
        totals={"long_term": cold.total, "working": hot.total, "quarantine": waiting.total},
        current=current.total,
        waiting=await visit.memory.acount_waiting(visit.scope),
        looked_at=len(waiting.items),
        junk=_refused(waiting.items),
        curves=[
            (LABELS[layer], some) for layer, some in zip(_GROWING, curves, strict=True) if some
        ],
        tokens=_by_origin(cold.items),
        of_tokens=len(cold.items),
    )


async def _curve(visit: Visit, layer: Layer, total: int) -> Curve:
    """Return how many there were when: the moment is looked up at some numbers, none is counted."""
    if not total:
        return []
    within, last = Select.within(visit.scope), total - 1
    numbers = sorted({round(last * step / (_POINTS + 1)) for step in range(_POINTS + 2)})
    asked = [find(visit, layer, within, limit=1, offset=last - number) for number in numbers]
    found = await asyncio.gather(*asked)
    points = [
        (one.items[0].created_at, number + 1)
        for number, one in zip(numbers, found, strict=True)
        if one.items
    ]
    now = visit.memory.parts.clock()
    return [*sorted(points), (now, total)]


def _refused(entries: Sequence[Entry]) -> Counter[str]:
    """Count why entries were no good: refused on their way in, or rejected by a reviewer.

    What was only too short for a memory with `min_chars` is left out: many facts are short.
    """
    return Counter(
        "rejected" if one.status == "rejected" else str(one.refused)
        for one in entries
        if one.status == "rejected" or one.refused not in (None, "too_short")
    )


def _by_origin(memories: Sequence[Memory]) -> list[tuple[str, int]]:
    counted: Counter[str] = Counter()
    for one in memories:
        counted[str(one.provenance.origin)] += -(-len(one.content) // _CHARS_OF_TOKEN)
    first = counted.most_common(_SOURCES)
    rest = sum(counted.values()) - sum(count for _, count in first)
    return [*first, ("all others", rest)] if rest else first


# Parts of the page.


def _tiers(visit: Visit, seen: Figures) -> Html:
    hidden = seen.totals["long_term"] - seen.current
    past = f"and {hidden:,} superseded or taken back" if hidden else "all of it holds now"
    review = h.a("Review them", href=visit.url("/review"))
    cards = (
        ("Long-term memory", seen.current, past),
        ("Working memory", seen.totals["working"], "what was said last, for a while"),
        ("Quarantine", seen.totals["quarantine"], "everything that was recorded"),
        ("Waiting for a decision", seen.waiting, review if seen.waiting else "nothing waits"),
    )
    items = [
        h.li(
            h.h2(name),
            h.p(f"{count:,}", class_="value"),
            h.p(said, class_="quiet"),
            class_="figure",
        )
        for name, count, said in cards
    ]
    return h.ul(items, class_="figures", aria_label="Tiers")


def _growth(seen: Figures) -> Html:
    names = [name for name, _ in seen.curves]
    rows = [
        h.tr(
            h.th(name, scope="row"), h.td(f"{at:%Y-%m-%d %H:%M}"), h.td(f"{count:,}", class_="num")
        )
        for name, some in seen.curves
        for at, count in some
    ]
    head = h.tr(
        *(h.th(one, scope="col") for one in ("Tier", "When")),
        h.th("Records", scope="col", class_="num"),
    )
    table = h.table(h.thead(head), h.tbody(rows))
    return h.section(
        h.h2("Growth over time", id="growth"),
        drawing.curves("Records over time", seen.curves),
        drawing.key(names, fill=False),
        h.details(h.summary("As a table"), h.div(table, class_="wide", tabindex="0")),
        class_="card",
        aria_labelledby="growth",
    )


def _junk(seen: Figures) -> Html:
    total = sum(seen.junk.values())
    rate = total / seen.looked_at if seen.looked_at else 0
    rows = [
        h.tr(
            h.th(_REASONS.get(why, why.replace("_", " ")), scope="row"),
            h.td(f"{count:,}", class_="num"),
        )
        for why, count in seen.junk.most_common()
    ]
    return h.section(
        h.h2("Junk rate", id="junk"),
        h.p(
            h.strong(f"{rate:.0%}"),
            f" of {_newest(seen.looked_at, 'entry', 'entries')} was refused on its way in, or",
            " rejected by a reviewer.",
        ),
        h.table(h.tbody(rows)) if rows else None,
        class_="card",
        aria_labelledby="junk",
    )


def _tokens(seen: Figures) -> Html:
    total = sum(count for _, count in seen.tokens) or 1
    names = [
        h.span(one_line(name, _NAME), f" \u2013 {count:,} ({count / total:.0%})")
        for name, count in seen.tokens
    ]
    content: tuple[Html, ...] = (h.p("Long-term memory is empty.", class_="quiet"),)
    if seen.tokens:
        texts = _newest(seen.of_tokens, "memory", "memories")
        said = f"About {total:,} tokens in {texts}, by who made them."
        content = (h.p(said), drawing.shares("Tokens per source", seen.tokens), drawing.key(names))
    return h.section(
        h.h2("Tokens per source", id="tokens"), content, class_="card", aria_labelledby="tokens"
    )


def _newest(count: int, one: str, several: str) -> str:
    return f"the newest {many(count, one, several)}" if count > 1 else f"the one {one}"


SECTION = Section("Overview", "/", {"/": overview})

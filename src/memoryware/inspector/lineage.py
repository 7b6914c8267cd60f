"""What a record was made of and what was made of it, as far as a page shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memoryware.inspector import drawing
from memoryware.inspector.keeping import LABELS, LAYERS, by_ids, find
from memoryware.inspector.markup import Html, Piece, h
from memoryware.inspector.site import Visit
from memoryware.inspector.texts import many, one_line, short, when
from memoryware.tiers.model import Entry, Memory, lineages
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Layer

_ROWS: Final = 6
"""Records of one column of the picture."""
_LISTED: Final = 50
_LINE: Final = 26
Named = tuple[str, Layer | None, Entry | Memory | None]
"""A record by its id; None of what is not there anymore."""


@dataclass(frozen=True)
class Family:
    """The record in the middle, with what stands before and behind it."""

    record: Entry | Memory
    made_of: list[Named]
    became: list[Named]
    became_total: int


async def family(visit: Visit, record: Entry | Memory) -> Family:
    """Return what a record was made of, and what was made of it."""
    sources = dict.fromkeys(one for made in lineages(record) for one in made.sources)
    sources.pop(record.id, None)
    first = tuple(sources)[:_LISTED]
    known = await by_ids(visit, first)
    made_of: list[Named] = [(one, *known.get(one, (None, None))) for one in first]
    ids = {record.id}
    if isinstance(record, Memory):  # what used one chunk has used the text
        which = Select.within(visit.scope, documents=(record.document_id,))
        ids |= {one.id for one in (await find(visit, "long_term", which)).items}
    became: dict[str, Named] = {}
    total = 0
    for layer in LAYERS:
        which = Select.within(visit.scope, made_of=tuple(ids))
        found = await find(visit, layer, which, limit=_LISTED)
        total += found.total
        for one in found.items:
            if one.id not in ids:
                became.setdefault(one.id, (one.id, layer, one))
    return Family(record, made_of, list(became.values()), max(total, len(became)))


def section(visit: Visit, seen: Family) -> Html:
    """Return the lineage of a record as a picture and as lists."""
    origins = dict.fromkeys(str(root) for made in lineages(seen.record) for root in made.roots)
    roots = [origin_tag(visit, one, seen.record.id) for one in origins]
    picture = None
    if seen.made_of or seen.became:
        picture = h.div(
            _picture(seen), class_="wide", tabindex="0", role="group", aria_label="Graph"
        )
    return h.section(
        h.h2("Lineage", id="lineage"),
        h.p("Everything it comes from: ", roots, class_="tags"),
        picture,
        h.div(
            _list(
                visit, "Made of", seen.made_of, "Nothing that memory holds: it stands for itself."
            ),
            _list(visit, "Became, or was used in", seen.became, "Nothing was made of it."),
            class_="columns",
        ),
        class_="card",
        aria_labelledby="lineage",
    )


def origin_tag(visit: Visit, origin: str, id_: str = "") -> Html:
    """Return an origin, linked to everything that came from it; the id says of what record."""
    href = visit.url("/origins", of=origin, id=id_)
    said = "Everything that came from there, and taking it back"
    return h.a(one_line(origin, 80), href=href, class_="tag", title=said)


def _picture(seen: Family) -> Html:
    left = [_box(one, f"from {number}") for number, one in enumerate(seen.made_of[:_ROWS])]
    right = [_box(one, f"to {number}") for number, one in enumerate(seen.became[:_ROWS])]
    for side, all_, name in ((left, len(seen.made_of), "from"), (right, len(seen.became), "to")):
        if all_ > _ROWS:
            side[-1] = (f"{name} more", f"and {all_ - _ROWS + 1} more", "in the list below")
    here = ("here", _cut(seen.record.content), "this one")
    edges = {(one[0], "here") for one in left} | {("here", one[0]) for one in right}
    made, became = many(len(left), "record"), many(len(right), "record")
    said = f"Made of {made}; {became} came of it. The lists below say which."
    columns = [column for column in (left, [here], right) if column]
    return drawing.graph(said, columns, edges)


def _box(one: Named, place: str) -> tuple[str, str, str]:
    id_, layer, record = one
    if record is None:
        return place, short(id_), "not there anymore"
    return place, _cut(record.content), LABELS[layer].lower() if layer else ""


def _cut(text: str) -> str:
    line = " ".join(text[: _LINE * 4].split())
    kept = "".join(one if one.isprintable() else "\ufffd" for one in line)
    return kept if len(kept) <= _LINE else kept[: _LINE - 1] + "\u2026"


def _list(visit: Visit, title: str, some: Iterable[Named], none: str) -> Html:
    items = [h.li(record_line(visit, one)) for one in some]
    return h.div(h.h3(title), h.ul(items) if items else h.p(none, class_="quiet"))


def record_line(visit: Visit, one: Named) -> Html:
    """Return a record in one line, linked to its page."""
    id_, layer, record = one
    if record is None:
        return h.span(
            h.span(one_line(id_, 40), class_="id"), " (not there anymore)", class_="quiet"
        )
    link = h.a(one_line(record.content, 90), href=visit.url("/memories/one", id=id_))
    where: Piece = f" \u2013 {LABELS[layer].lower()}, " if layer else " "
    return h.span(link, h.span(where, when(record.created_at), class_="quiet"))

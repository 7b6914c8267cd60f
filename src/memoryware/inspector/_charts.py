"""Charts as SVG: curves, shares, graphs. Each has a title, and its figures as text on the page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from memoryware.inspector._markup import Html, Piece, h

WIDE, HIGH = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 12, 28
COLOURS: Final = 6
"""How many fills there are."""


def curves(title: str, series: Sequence[tuple[str, Sequence[tuple[datetime, int]]]]) -> Html:
    """Return how numbers grew over time: each series with its own line."""
    points = [point for _, points in series for point in points]
    first, last = min(at for at, _ in points), max(at for at, _ in points)
    span = max((last - first).total_seconds(), 1.0)
    most = max([count for _, count in points] + [1])

    def coordinates(at: datetime, count: int) -> str:
        x = _LEFT + (at - first).total_seconds() / span * (WIDE - _LEFT - _RIGHT)
        y = HIGH - _BOTTOM - count / most * (HIGH - _TOP - _BOTTOM)
        return f"{x:.1f},{y:.1f}"

    lines = []
    for number, (_, curve) in enumerate(series, 1):
        path = " ".join(coordinates(*point) for point in sorted(curve))
        lines.append(h.polyline(points=path, class_=f"curve line-{number}"))
    return h.svg(
        h.title(title),
        _grid(most),
        h.text(f"{first:%Y-%m-%d}", x=_LEFT, y=HIGH - 8),
        h.text(f"{last:%Y-%m-%d}", x=WIDE - _RIGHT, y=HIGH - 8, text_anchor="end"),
        lines,
        viewBox=f"0 0 {WIDE} {HIGH}",
        role="img",
        aria_label=title,
        class_="chart",
    )


def _grid(most: int) -> list[Html]:
    lines = []
    for share in (0, 0.5, 1):
        y = HIGH - _BOTTOM - share * (HIGH - _TOP - _BOTTOM)
        lines.append(h.line(x1=_LEFT, x2=WIDE - _RIGHT, y1=y, y2=y, class_="axis"))
        label = f"{round(most * share):,}"
        lines.append(h.text(label, x=_LEFT - 8, y=y + 4, text_anchor="end"))
    return lines


def shares(title: str, parts: Sequence[tuple[str, int]]) -> Html:
    """Return one bar in which each part has its share."""
    total, x = sum(count for _, count in parts) or 1, 0.0
    boxes = []
    for number, (name, count) in enumerate(parts):
        width = count / total * WIDE
        drawn = max(width - 2, 0.5)
        tip = h.title(f"{name}: {count:,}")
        fill = f"fill-{number % COLOURS + 1}"
        boxes.append(h.rect(tip, x=f"{x:.1f}", y=0, width=f"{drawn:.1f}", height=26, class_=fill))
        x += width
    return h.svg(h.title(title), boxes, viewBox=f"0 0 {WIDE} 26", role="img", aria_label=title)


def key(names: Sequence[Piece], *, fill: bool = True) -> Html:
    """Return what each colour of a picture means."""
    items = []
    for number, label in enumerate(names):
        colour = f"fill-{number % COLOURS + 1}"
        square = h.svg(
            h.rect(width=12, height=12, rx=3 if fill else 6, class_=colour),
            viewBox="0 0 12 12",
            aria_hidden="true",
        )
        items.append(h.li(square, h.span(label)))
    return h.ul(items, class_="key")


_BOX_WIDE, _BOX_HIGH, _GAP_X, _GAP_Y = 212, 46, 48, 14


def graph(
    title: str, columns: Sequence[Sequence[tuple[str, str, str]]], edges: set[tuple[str, str]]
) -> Html:
    """Draw records in columns, each as (id, first line, second line), with edges between them.

    The record in the middle column is the one whose lineage is shown.
    """
    rows = max(len(column) for column in columns)
    height = rows * (_BOX_HIGH + _GAP_Y) + _GAP_Y
    width = len(columns) * (_BOX_WIDE + _GAP_X) - _GAP_X + 4
    positions: dict[str, tuple[float, float]] = {}
    boxes: list[Html] = []
    for number, column in enumerate(columns):
        top = (height - len(column) * (_BOX_HIGH + _GAP_Y) + _GAP_Y) / 2
        for row, (id_, first, second) in enumerate(column):
            x, y = 2 + number * (_BOX_WIDE + _GAP_X), top + row * (_BOX_HIGH + _GAP_Y)
            positions[id_] = (x, y)
            boxes.append(_box(x, y, first, second, here=len(column) == 1 and id_ == "here"))
    lines = [_way(positions[source], positions[target]) for source, target in sorted(edges)]
    return h.svg(
        h.title(title),
        lines,
        boxes,
        viewBox=f"0 0 {width} {height:.0f}",
        width=width,
        role="img",
        aria_label=title,
    )


def _box(x: float, y: float, first: str, second: str, *, here: bool) -> Html:
    frame = "box here" if here else "box"
    return h.g(
        h.rect(x=x, y=y, width=_BOX_WIDE, height=_BOX_HIGH, rx=6, class_=frame),
        h.text(first, x=x + 10, y=y + 18, class_="strong"),
        h.text(second, x=x + 10, y=y + 34),
    )


def _way(start: tuple[float, float], end: tuple[float, float]) -> Html:
    x1, y1 = start[0] + _BOX_WIDE, start[1] + _BOX_HIGH / 2
    x2, y2 = end[0], end[1] + _BOX_HIGH / 2
    middle = (x1 + x2) / 2
    return h.path(
        d=f"M{x1:.0f} {y1:.0f}C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}",
        class_="edge",
    )

"""A report as tables that can be read in a terminal and put on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memoryware.bench.speed.goals import AT
from memoryware.bench.speed.report import OURS, Judged, Report, Row

_SMALL, _LARGE = 0.1, 100


def text_of(report: Report) -> str:
    """Return tables in Markdown: the values of each size, what is missing, and the goals."""
    parts: list[str] = []
    for size in dict.fromkeys(one.size for one in report.rows):
        rows = [one for one in report.rows if one.size == size]
        parts += [f"{size:,} memories", _table(_values(rows))]
        if recalls := [*_recalls(rows)]:
            parts += [f"{size:,} memories: part of the ten nearest that is found", _table(recalls)]
    missing = dict.fromkeys(f"- {one.side} with {one.size:,}: {one.why}" for one in report.missing)
    if missing:
        parts += ["Not measured", "\n".join(missing)]
    if any(one.value is not None for one in report.goals):
        parts += ["Goals", _table(_goals(report.goals))]
    else:
        parts += [f"The goals are said for {AT:,} memories, which this run has not."]
    return "\n\n".join(parts) + "\n"


def number(value: float) -> str:
    """Return a number with about three digits."""
    if abs(value) >= _LARGE:
        return f"{value:,.0f}"
    return f"{value:.2g}" if abs(value) < _SMALL else f"{value:.3g}"


def _values(rows: Sequence[Row]) -> Iterator[list[str]]:
    sides = _columns(name for one in rows for name in one.values)
    yield ["", "", *sides]
    for one in rows:
        cells = (_cell(one, name) for name in sides)
        yield [" ".join(filter(None, (one.operation, one.scope))), one.unit, *cells]


def _columns(names: Iterable[str]) -> list[str]:
    """Return the sides that have a column, ours first."""
    return sorted(dict.fromkeys(names), key=lambda name: name not in OURS)


def _cell(row: Row, name: str) -> str:
    """Return a value and how many times better ours is."""
    if name not in row.values:
        return ""
    times = None if name in OURS else row.ratios.get(OURS[0], {}).get(name)
    return number(row.values[name]) + (f" ({number(times)}x)" if times is not None else "")


def _recalls(rows: Sequence[Row]) -> Iterator[list[str]]:
    found = [one for one in rows if one.recalls]
    sides = _columns(name for one in found for name in one.recalls)
    if found:
        yield ["", *sides]
    for one in found:
        cells = (f"{one.recalls[name]:.3f}" if name in one.recalls else "" for name in sides)
        yield [one.scope, *cells]


def _goals(goals: Iterable[Judged]) -> Iterator[list[str]]:
    yield ["", "", "wanted", "measured", ""]
    for one in goals:
        held = {True: "met", False: "NOT MET", None: "not measured"}[one.held]
        value = "" if one.value is None else number(one.value)
        if value and one.wanted.endswith("x"):
            value += "x"
        yield [one.number, one.what, one.wanted, value, held]


def _table(lines: Iterable[list[str]]) -> str:
    rows = [*lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    made = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    made.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(made)

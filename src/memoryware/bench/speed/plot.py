"""How the time of a search grows with the number of memories, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from memoryware.bench.speed.report import Report, Scope
from memoryware.bench.speed.sides import HYBRID, VECTORS, WORDS
from memoryware.errors import SettingError

_LINES: Final = (
    ("memoryware", HYBRID, "#0f766e", 2.2),
    ("memoryware", VECTORS, "#0891b2", 1.6),
    ("memoryware", WORDS, "#65a30d", 1.6),
    ("InMemoryStore", VECTORS, "#b45309", 1.2),
    ("SqliteStore", VECTORS, "#be123c", 1.2),
    ("PostgresStore", VECTORS, "#1d4ed8", 1.2),
    ("mem0", HYBRID, "#7c3aed", 1.2),
    ("NumPy", VECTORS, "#9ca3af", 1.0),
    ("SQLite", WORDS, "#4b5563", 1.0),
)
"""Side, what is asked, colour and width of each line."""
_PANELS: Final[tuple[tuple[Scope, str], ...]] = (
    ("small", "in one group of 1,000"),
    ("all", "over everything"),
)
_APART: Final = 0.04
"""The part of a panel's height by which the names of two lines stand apart at least."""


_End = tuple[float, int, str, str]
"""Of a line: its last value and size, what it is, and its colour."""


def draw(report: Report, path: Path) -> None:
    """Write the picture of a report; the ending says its form, such as .svg or .png.

    Raises:
        SettingError: If matplotlib is not installed.
    """
    mpl, figures = matplotlib()
    settings = {"svg.hashsalt": "memoryware", "svg.fonttype": "none", "font.size": 9}
    with mpl.rc_context(settings):
        figure = figures.Figure(figsize=(10, 4.6), layout="constrained")
        both = figure.subplots(1, 2, sharey=True)
        ends = [
            _panel(axes, report, scope, title)
            for axes, (scope, title) in zip(both, _PANELS, strict=True)
        ]
        for axes, found in zip(both, ends, strict=True):
            _names(axes, found)  # when both panels have the height that they share
        both[0].set_ylabel("milliseconds, median")
        made = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=made)


def _panel(axes: Any, report: Report, scope: Scope, title: str) -> list[_End]:
    """Draw the lines of one scope; return where each of them ends."""
    axes.set(xscale="log", yscale="log", title=f"A search {title}", xlabel="memories in the store")
    sizes = sorted({one.size for one in report.rows})
    ends: list[_End] = []
    for side, kind, colour, width in _LINES:
        points = [
            (size, row.values[side])
            for size in sizes
            if (row := report.row(size, kind, scope)) and side in row.values
        ]
        if not points:
            continue
        axes.plot(*zip(*points, strict=True), color=colour, linewidth=width, marker="o", ms=3)
        ends.append((points[-1][1], points[-1][0], f"{side}, {kind}", colour))
    axes.set_xlim(sizes[0] * 0.8, sizes[-1] * (sizes[-1] / sizes[0]) ** 0.55 * 1.3)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
    axes.minorticks_off()
    axes.grid(visible=True, color="#e5e7eb", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return ends


def _names(axes: Any, ends: list[_End]) -> None:
    """Write at the end of each line what it is, so that no two names overlap."""
    lowest, highest = axes.get_ylim()
    apart = (highest / lowest) ** _APART
    place = 0.0
    for height, size, name, colour in sorted(ends):
        place = max(height, place * apart)
        axes.annotate(
            name, (size, height), xytext=(size * 1.15, place), color=colour, va="center", fontsize=8
        )


def matplotlib() -> tuple[Any, Any]:
    """Return matplotlib and its figures.

    Raises:
        SettingError: If it is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib import figure
    except ImportError as error:
        raise SettingError("a plot needs matplotlib: pip install matplotlib") from error
    return mpl, figure

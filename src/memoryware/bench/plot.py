"""Plot a report: recall against k, and a bar for each group of questions."""

from __future__ import annotations

import io
from typing import Any, Final

from memoryware._install import install_command
from memoryware.bench.recall import Report, ReportTable
from memoryware.bench.scoring import ALL, CURVE, STRICT
from memoryware.errors import SettingError

_COLOURS: Final = ("#00695c", "#e08a00", "#5b6abf")
_INK: Final = "#263238"
_STYLE: Final[Any] = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": "#90a4ae",
    "axes.labelcolor": _INK,
    "axes.titlecolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#eceff1",
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.color": _INK,
    "font.family": "sans-serif",
    "font.size": 11,
    "svg.fonttype": "none",
    "svg.hashsalt": "memoryware",
}
_BARS_AT: Final = 10


def svg(report: Report, title: str = "") -> str:
    """Draw a report as SVG: the curve of recall, and a bar for each group of questions.

    Args:
        report: The report; its first part of the conversations is drawn.
        title: Written above the picture.

    Returns:
        The text of an SVG file, the same every time.

    Raises:
        SettingError: If matplotlib is not installed; the message says how to get it.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingError(f"a plot needs matplotlib: {install_command('bench')}") from error
    split = report.tables[0].split if report.tables else ""
    tables = [table for table in report.tables if table.split == split]
    with rc_context(_STYLE):
        figure = Figure(figsize=(11, 4.6), layout="constrained")
        FigureCanvasSVG(figure)
        curves, bars = figure.subplots(1, 2, width_ratios=(1, 1.25))
        _curves(curves, report, tables)
        _bars(bars, report, tables)
        title = f"{title}, {split}" if title and split != "all" else title or split
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _curves(axes: Any, report: Report, tables: list[ReportTable]) -> None:
    for table, colour in zip(tables, _COLOURS, strict=False):
        row = table.row(ALL) or table.row(STRICT)
        if row is not None:
            means = [row.means[report.curve.format(k=k)] for k in CURVE]
            label = f"{table.way} (n = {row.n:,})"
            axes.plot(CURVE, means, color=colour, marker="o", markersize=4, label=label)
    axes.set_xscale("log")
    axes.set_xticks(CURVE, [str(k) for k in CURVE])
    axes.minorticks_off()
    axes.set_ylim(0, 1)
    axes.set_xlabel("k")
    axes.set_ylabel(report.curve.format(k="k"))
    if tables:
        axes.legend(loc="best", frameon=False)


def _bars(axes: Any, report: Report, tables: list[ReportTable]) -> None:
    measure, height = report.curve.format(k=_BARS_AT), 0.8 / max(1, len(tables))
    names = [f"{row.name} ({row.n:,})" for row in tables[0].rows] if tables else []
    for nth, (table, colour) in enumerate(zip(tables, _COLOURS, strict=False)):
        positions = [position + nth * height for position in range(len(table.rows))]
        means = [row.means[measure] for row in table.rows]
        axes.barh(positions, means, height=0.9 * height, color=colour, label=table.way)
    middle = height * (len(tables) - 1) / 2
    axes.set_yticks([position + middle for position in range(len(names))], names)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, 1)
    axes.set_xlabel(measure)

"""The tables of a run in Markdown, for the terminal and for the page "Measured"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.tiers.results import OURS, Results, Row
from benchmarks.tiers.servers import LAYOUT as SERVERS
from benchmarks.tiers.servers import POSTGRES_STORE
from benchmarks.tiers.sqlite import IN_MEMORY_STORE, LAYOUTS, MIDDLE, SQLITE_STORE
from benchmarks.tiers.targets import judge


def targets(results: Results) -> str:
    """Return the table of targets with what was reached."""
    judged = judge(results)
    rows = [
        (
            str(each.target.number), each.target.text, each.target.limit,
            "not measured" if each.value is None else _number(each.value) + each.target.unit,
            {True: "met", False: "**not met**", None: ""}[each.met],
        )
        for each in judged
    ]  # fmt: skip
    met = sum(each.met is True for each in judged)
    measured = sum(each.met is not None for each in judged)
    table = _table(("#", "measured", "target", "reached", ""), rows)
    return f"{table}\n\n{met} of {measured} figures meet their target."


def operations(results: Results) -> str:
    """Return the operations of the layout that targets are set for."""
    return _operations(results, MIDDLE.name, (SQLITE_STORE, IN_MEMORY_STORE))


def servers(results: Results) -> str:
    """Return the operations on PostgreSQL and Redis."""
    return _operations(results, SERVERS, (POSTGRES_STORE,))


def growth(results: Results) -> str:
    """Return milliseconds of ours by operation, a column for each layout."""
    layouts = [layout.name for layout in LAYOUTS]
    layouts = [name for name in layouts if any(row.layout == name for row in results.rows)]
    names = dict.fromkeys(row.operation for row in results.rows if row.layout in layouts)
    rows = []
    for operation in names:
        cells = []
        for layout in layouts:
            try:
                cells.append(_number(results.row(layout, operation).ms[OURS]))
            except KeyError:
                cells.append("")
        if sum(map(bool, cells)) > 1:
            rows.append((operation, *cells))
    return _table(("processor time, ms", *layouts), rows)


def about(results: Results) -> str:
    """Return what a reader has to know about the machine and the moment."""
    facts = results.about
    commit = f"Commit {facts['commit']}." if facts.get("commit") else ""
    parts = (facts.get("machine", ""), facts.get("packages", ""), commit)
    return " ".join(str(part) for part in parts if part)


def whole(results: Results) -> str:
    """Return everything, for the terminal."""
    parts = [about(results), operations(results), growth(results), servers(results)]
    values = [(name, _number(value)) for name, value in results.values.items()]
    parts += [_table(("", ""), values), targets(results)]
    if results.failed:
        failed = ", ".join(f"{name} ({error})" for name, error in results.failed.items())
        parts.append(f"Not measured because of an error: {failed}")
    return "\n\n".join(parts) + "\n"


def _operations(results: Results, layout: str, peers: Sequence[str]) -> str:
    rows = [row for row in results.rows if row.layout == layout]
    names = [name for name in peers if any(name in row.ms for row in rows)]
    counts = [*dict.fromkeys(name for row in rows for name in row.counts)]
    served = any(row.server_ms for row in rows)
    head = ["processor time, ms", *counts, OURS, *names, *(f"ours / {name}" for name in names)]
    return _table(head, [tuple(_cells(row, names, counts, served=served)) for row in rows])


def _cells(row: Row, names: Sequence[str], counts: Sequence[str], *, served: bool) -> Iterator[str]:
    yield row.operation
    yield from (str(row.counts.get(name, "")) for name in counts)
    for name in (OURS, *names):
        cell = _number(row.ms[name]) if name in row.ms else ""
        yield f"{cell} + {_number(row.server_ms[name])}" if served and cell else cell
    yield from (_number(row.ratios[name]) if name in row.ratios else "" for name in names)


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2g}" if value < 1 else f"{value:.3g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])

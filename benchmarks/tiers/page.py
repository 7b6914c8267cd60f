"""The tables of a run in Markdown, for the terminal and for the page "Measured"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from benchmarks.tiers.baselines import BM25, DENSE, FUSION
from benchmarks.tiers.recall import BULK, LOCOMO, METRICS, NONE, OWN
from benchmarks.tiers.results import OURS, Results, Row
from benchmarks.tiers.servers import LAYOUT as SERVERS
from benchmarks.tiers.servers import POSTGRES_STORE
from benchmarks.tiers.sqlite import IN_MEMORY_STORE, LAYOUTS, MIDDLE, SQLITE_STORE
from benchmarks.tiers.targets import TRIED, judge

_SPLITS: Final = ("held", "tuned", "all")
_BELOW: Final = 0.01
"""How much less than the best single list counts as less."""
_DIFFERS: Final = 0.005
_NOT_MEASURED: Final = "Not measured in this run."


def targets(results: Results) -> str:
    """Return the table of targets with what was reached, and what was tried for the missed ones."""
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
    missed = dict.fromkeys(each.target.number for each in judged if each.met is False)
    tried = [f"- **{number}.** {TRIED[number]}" for number in missed if number in TRIED]
    reasons = ["Where a target is missed:\n\n" + "\n".join(tried)] if tried else []
    counted = f"{met} of {measured} figures meet their target."
    return "\n\n".join([table, counted, *reasons])


def recall_locomo(results: Results) -> str:
    """Return the recall on LoCoMo: a row for each way of searching, a column for each split."""
    ways = (
        ("**`retrieve`, no model**", "none", "retrieve"),
        ('**`retrieve`, `embeddings="local"`**', "local", "retrieve"),
        ("words alone (BM25 of each turn)", "none", "words alone"),
        ("vectors alone", "local", "vectors alone"),
    )
    found = _recalled(results, LOCOMO)
    head = [f"{split} {METRICS[0]}, {', '.join(METRICS[1:])}" for split in _SPLITS]
    rows = []
    for title, embeddings, way in ways:
        cells = [found.get((embeddings, split, way, "all")) for split in _SPLITS]
        rows.append((title, *(_means(row) for row in cells)))
    return _table(("", *head), rows) if found else _NOT_MEASURED


def recall_other_words(results: Results) -> str:
    """Return the recall on questions of LoCoMo that share no content word with their answer."""
    found, rows = _recalled(results, LOCOMO), []
    kind = "shares no word with its answer"
    for split in _SPLITS[:2]:
        ours = found.get(("local", split, "retrieve", kind))
        vectors = found.get(("local", split, "vectors alone", kind))
        if ours and vectors:
            shares = [f"{100 * ours[name] / vectors[name]:.0f} %" for name in METRICS[:2]]
            cells = (str(ours["n"]), *(_share(ours[name]) for name in METRICS[:2]))
            rows.append((split, *cells, " and ".join(shares)))
    head = ("", "n", *METRICS[:2], "of what the vectors alone find")
    return _table(head, rows) if rows else _NOT_MEASURED


def recall_own(results: Results) -> str:
    """Return the recall on the conversation that comes with the project."""
    found, rows = _recalled(results, OWN), []
    ways = ("retrieve", "words alone", "vectors alone")
    for kind in ("shares a word with its answer", "shares no word with its answer", "all"):
        cells = [found.get(("local", "all", way, kind)) for way in ways]
        if cells[0]:
            means = (_means(row, METRICS[:2]) for row in cells)
            rows.append((kind, str(cells[0]["n"]), *means))
    head = (", ".join(METRICS[:2]), "n", "`retrieve`", *ways[1:])
    return _table(head, rows) if rows else _NOT_MEASURED


def recall_untuned(results: Results) -> str:
    """Return the recall on data sets that nobody looked at when weights were chosen."""
    return _recall_sets(results, tuned=False)


def recall_tuned(results: Results) -> str:
    """Return the recall on data sets that were looked at when weights were chosen."""
    return _recall_sets(results, tuned=True)


def recall_bulk(results: Results) -> str:
    """Return where turns that are loaded in bulk are found more or less often."""
    rows, sets = [], _sets(results)
    for name, ways in sets.items():
        turns, bulk = ways.get((NONE, "retrieve")), ways.get((NONE, BULK))
        if turns and bulk and max(abs(turns[at] - bulk[at]) for at in METRICS[:2]) > _DIFFERS:
            rows.append((name, _means(turns, METRICS[:2]), _means(bulk, METRICS[:2])))
    head = (f"no model, {', '.join(METRICS[:2])}", "recorded and promoted", "loaded in bulk")
    is_measured = any((NONE, BULK) in ways for ways in sets.values())
    none = "None differs by more than .005." if is_measured else _NOT_MEASURED
    return _table(head, rows) if rows else none


def recall_about(results: Results) -> str:
    """Return when and on what recall was measured by itself."""
    facts: str = results.about.get("recall", "")
    return facts or "Recall was measured in the run of all operations, below."


def _recall_sets(results: Results, *, tuned: bool) -> str:
    rows = []
    for name, ways in _sets(results).items():
        first = next(iter(ways.values()))
        if first["tuned"] == tuned:
            ours = [ways.get((NONE, "retrieve")), _with_model(ways, "retrieve")]
            lists = [ways[NONE, BM25], _with_model(ways, DENSE)]
            cells = [_means(row, METRICS[:2]) for row in (*lists, _with_model(ways, FUSION), *ours)]
            rows.append((f"{name}: {first['about']}", str(first["n"]), *cells, _below(ours, lists)))
    head = (
        ", ".join(METRICS[:2]), "n", "BM25", "vectors alone", "z-score fusion",
        "**`retrieve`, no model**", "**`retrieve`, model**", "below a list by more than .01",
    )  # fmt: skip
    return _table(head, rows) if rows else _NOT_MEASURED


_Ways = dict[tuple[str, str], dict[str, Any]]


def _sets(results: Results) -> dict[str, _Ways]:
    """Return the rows of each data set by model and way of searching."""
    sets: dict[str, _Ways] = {}
    for row in results.recall:
        if "tuned" in row:
            sets.setdefault(row["dataset"], {})[row["embeddings"], row["way"]] = row
    return sets


def _with_model(ways: _Ways, way: str) -> dict[str, Any] | None:
    named = (row for (model, name), row in ways.items() if name == way and model != NONE)
    return next(named, None)


def _below(ours: Sequence[dict[str, Any] | None], lists: Sequence[dict[str, Any] | None]) -> str:
    """Say where ours is below the best single list that it could use."""
    below = []
    for row, title, usable in zip(ours, ("no model", "model"), (lists[:1], lists), strict=True):
        for metric in METRICS[:2]:
            best = max(each[metric] for each in usable if each)
            if row and row[metric] < best - _BELOW:
                below.append(f"{title} {metric} by {_share(best - row[metric])}")
    return "; ".join(below) or "no"


def load(results: Results) -> str:
    """Return what the load run on PostgreSQL and Redis has shown."""
    return "\n".join(results.load) or _NOT_MEASURED


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
    minutes = sum(results.seconds.values()) / 60
    taken = f"All parts took {minutes:.0f} minutes." if minutes else ""
    parts = (facts.get("machine", ""), facts.get("packages", ""), commit, taken, _failed(results))
    return " ".join(str(part) for part in parts if part)


def whole(results: Results) -> str:
    """Return everything, for the terminal."""
    parts = [about(results), operations(results), growth(results), servers(results)]
    values = [(name, _number(value)) for name, value in results.values.items()]
    parts += [_table(("", ""), values), targets(results)]
    if results.recall:
        parts += [recall_locomo(results), recall_other_words(results), recall_own(results)]
        parts += [recall_untuned(results), recall_tuned(results), recall_bulk(results)]
    parts += [load(results)] if results.load else []
    return "\n\n".join(parts) + "\n"


def _failed(results: Results) -> str:
    failed = ", ".join(f"{name} ({error})" for name, error in results.failed.items())
    return f"Not measured because of an error: {failed}." if failed else ""


def _recalled(results: Results, dataset: str) -> dict[tuple[str, str, str, str], dict[str, Any]]:
    return {
        (row["embeddings"], row["split"], row["way"], row["questions"]): row
        for row in results.recall
        if row["dataset"] == dataset
    }


def _means(row: dict[str, Any] | None, metrics: Sequence[str] = METRICS) -> str:
    return ", ".join(_share(row[name]) for name in metrics) if row else ""


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


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

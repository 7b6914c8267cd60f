"""What a run has measured as tables of numbers, for people and for programs."""

from __future__ import annotations

import json
import platform
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from memoryware._version import __version__
from memoryware.bench.recall.asking import RETRIEVE, VECTORS
from memoryware.bench.recall.running import Measured, Scored
from memoryware.bench.recall.scoring import ALL, LENIENT, SHARED, STRICT, UNSHARED, Scoring

SPLITS: Final = ("held", "tuned", "all")
_LAST: Final = (SHARED, UNSHARED, ALL, STRICT, LENIENT)
"""Rows that come last, in this order."""
_TOLD: Final = ("R@5", "R@10", "session recall_all@5", "session recall_all@10")
"""Measures by which ways are compared."""


@dataclass(frozen=True, slots=True)
class Row:
    """The means of some questions.

    Attributes:
        name: Which questions.
        n: How many.
        means: By measure.
    """

    name: str
    n: int
    means: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Table:
    """One way of asking on one part of the conversations.

    Attributes:
        split: "held", "tuned" or "all".
        way: The way of asking.
        rows: By kind of question.
    """

    split: str
    way: str
    rows: tuple[Row, ...]

    def row(self, name: str) -> Row | None:
        """Return the row of that name, if there is one."""
        return next((one for one in self.rows if one.name == name), None)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything about a run.

    Attributes:
        about: Versions, the data set, the options, how much there was and how long it took.
        shown: The measures that a table for people has.
        curve: The measure that a plot has, with `{k}` in it.
        tables: The numbers.
    """

    about: Mapping[str, Any]
    shown: tuple[str, ...]
    curve: str
    tables: tuple[Table, ...]

    @classmethod
    def of(
        cls,
        measured: Measured,
        scoring: Scoring,
        *,
        splits: Sequence[str] = SPLITS,
        about: Mapping[str, Any] | None = None,
    ) -> Report:
        """Return the report of a run; splits that have no questions are not in it.

        Where nothing was tuned on any conversation there is one table: "all".
        """
        is_split = any(one.split for one in measured.scored)
        parts = [one for one in splits if is_split] or ["all"]
        tables = [table for part in parts for table in _tables(measured.scored, part)]
        return cls(
            about={"memoryware": __version__, **_machine(), **(about or {}), **_amounts(measured)},
            shown=scoring.shown,
            curve=scoring.curve,
            tables=tuple(tables),
        )

    def json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)

    def compared(self) -> list[str]:
        """Return sentences that hold `retrieve` against the best of the single lists."""
        return [line for split in SPLITS for line in _compared(self.tables, split)]


def _machine() -> dict[str, str]:
    return {"python": platform.python_version(), "system": platform.system()}


def _amounts(measured: Measured) -> dict[str, Any]:
    asked = [1000 * one for one in measured.clocks.asked]
    return {
        "conversations": measured.conversations,
        "turns": measured.turns,
        "questions": len(measured.scored),
        "left_out": measured.left_out,
        "space": measured.space,
        "seconds_put": round(measured.clocks.put, 3),
        "seconds_embed": round(measured.clocks.embed, 3),
        "ms_retrieve_median": round(statistics.median(asked), 3) if asked else None,
    }


def _tables(scored: Sequence[Scored], split: str) -> Iterator[Table]:
    some = [one for one in scored if split in (one.split, "all")]
    ways = dict.fromkeys(way for one in some for way in one.scores)
    names = dict.fromkeys(name for one in some for name in one.rows)
    first = sorted(name for name in names if name not in _LAST)
    ordered = [*first, *(name for name in _LAST if name in names)]
    for way in ways:
        yield Table(split, way, tuple(_row(name, way, some) for name in ordered))


def _row(name: str, way: str, scored: Sequence[Scored]) -> Row:
    counted = [one.scores[way] for one in scored if name in one.rows]
    means = {measure: statistics.fmean(one[measure] for one in counted) for measure in counted[0]}
    return Row(name, len(counted), means)


def _compared(tables: Sequence[Table], split: str) -> Iterator[str]:
    ways = {one.way: one for one in tables if one.split == split}
    mine = ways.pop(RETRIEVE, None)
    if mine is None or not ways:
        return
    for name in (ALL, STRICT):
        row, others = mine.row(name), {way: one.row(name) for way, one in ways.items()}
        for measure in _TOLD:
            if row is None or measure not in row.means:
                continue
            values = {way: one.means[measure] for way, one in others.items() if one}
            best = max(values, key=lambda way: values[way])
            ahead = row.means[measure] - values[best]
            yield (
                f"{split}: {measure} {number(row.means[measure])}, {number(ahead, sign=True)}"
                f" against {best} ({number(values[best])})"
            )
    yield from _unshared(mine, ways, split)


def _unshared(mine: Table, others: Mapping[str, Table], split: str) -> Iterator[str]:
    """Tell how much of what vectors alone find is found where words find nothing."""
    row, alone = mine.row(UNSHARED), VECTORS in others and others[VECTORS].row(UNSHARED)
    for measure in _TOLD:
        if row and alone and alone.means.get(measure):
            share = row.means[measure] / alone.means[measure]
            yield (
                f"{split}, {UNSHARED}: {measure} {number(row.means[measure])},"
                f" {share:.0%} of vectors alone ({number(alone.means[measure])})"
            )


def number(value: float, *, sign: bool = False) -> str:
    """Return a share as people print it: three places and no zero before the point."""
    text = f"{value:+.3f}" if sign else f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def lines_of(scored: Sequence[Scored]) -> Iterator[str]:
    """Yield one line of JSON for each question: what answers it, and where that was found."""
    for one in scored:
        kept = ("conversation", "split", "question", "category", "rows", "gold", "ranks")
        yield json.dumps({name: getattr(one, name) for name in kept}, ensure_ascii=False)

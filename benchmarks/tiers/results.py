"""What a run measures, as values and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._turns import CPU, frozen, quiet

OURS = "memoryware"
MEASURED = Path(__file__).parent.parent / "measured.json"
"""The run that the page "Measured" shows."""
Act = Callable[[int], Any]


@dataclass
class Row:
    """One operation in one layout.

    Attributes:
        layout: Which memories there are, such as "1k of 100k".
        operation: What is done.
        ms: Milliseconds of processor time of this process by side, medians.
        ratios: How many times the processor time of ours is that of a peer: the median over the
            rounds.
        server_ms: Milliseconds of processor time of the server by side, where there is one.
        counts: Statements, flushes and round trips of one call of ours.
    """

    layout: str
    operation: str
    ms: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    server_ms: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


@dataclass
class Results:
    """All that one run has measured.

    Attributes:
        about: The machine, the packages and the commit.
        rows: One for each operation in each layout.
        values: Single figures, by what they measure.
        recall: How much of what answers a question comes back; see `benchmarks.tiers.recall`.
        load: What the load run has shown, in Markdown.
        seconds: How long each part has taken.
        failed: Parts that could not be measured, and why.
    """

    about: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)
    recall: list[dict[str, Any]] = field(default_factory=list)
    load: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def row(self, layout: str, operation: str) -> Row:
        """Return a row.

        Raises:
            KeyError: If it was not measured.
        """
        for row in self.rows:
            if (row.layout, row.operation) == (layout, operation):
                return row
        raise KeyError((layout, operation))

    def merge(self, other: Results) -> None:
        """Take over what another part of the run has measured."""
        self.rows += other.rows
        self.values |= other.values
        self.recall += other.recall
        self.load += other.load
        self.failed |= other.failed

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read what `write` has written."""
        values = json.loads(path.read_text(encoding="utf-8"))
        rows = [Row(**row) for row in values.pop("rows")]
        return cls(rows=rows, **values)


def in_turns(
    layout: str,
    operation: str,
    acts: Mapping[str, Act],
    rounds: int,
    *,
    warm: int = 2,
    calls: int = 1,
    server: Callable[[], float] | None = None,
) -> Row:
    """Time the sides in turns, each round beginning with another one.

    Args:
        layout: Which memories there are.
        operation: What is done.
        acts: What each side does; it gets the number of the round, the warm ones counted.
        rounds: Rounds that count.
        warm: Rounds before them, which fill caches.
        calls: Calls in one turn, each with a number of its own.
        server: The seconds that a server has worked so far, where one works for the sides.
    """
    taken: dict[str, list[float]] = {name: [] for name in acts}
    served: dict[str, list[float]] = {name: [] for name in acts}
    names = list(acts)
    with frozen():
        for number in range(warm + rounds):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                with quiet():
                    worked = server() if server else 0.0
                    start = CPU()
                    for call in range(number * calls, (number + 1) * calls):
                        acts[name](call)
                    seconds = (CPU() - start) / calls
                    worked = (server() if server else 0.0) - worked
                if number >= warm:
                    taken[name].append(seconds * 1000)
                    served[name].append(worked * 1000)
    row = Row(layout, operation, {name: median(each) for name, each in taken.items()})
    row.ratios = {
        name: _ratio(taken[OURS], each)
        for name, each in taken.items()
        if name != OURS and OURS in taken
    }
    if server:
        row.server_ms = {name: median(each) for name, each in served.items()}
    return row


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return median(mine / other for mine, other in zip(ours, theirs, strict=True))

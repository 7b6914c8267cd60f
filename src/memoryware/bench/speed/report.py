"""What a run has found, as values and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from memoryware.bench.speed.turns import Taken

Scope = Literal["first", "small", "all", ""]
Unit = Literal["ms", "/s", "MB"]
OURS: Final = ("memoryware", "its store")
_MORE_IS_BETTER: Final = "/s"


@dataclass(slots=True)
class Row:
    """One operation at one size, on all sides that can do it.

    Attributes:
        size: How many memories there are.
        operation: What is done.
        scope: "small" in one group of a thousand that was asked a moment ago, "first" in one that
            was not asked before, "all" among everything, "" for neither.
        unit: Of the values; of "/s" more is better.
        values: By side; medians of times.
        cpu: Milliseconds that the processor worked for this process, by side.
        rounds: How often it was done, by side.
        recalls: Which part of the ten nearest was found, by side.
        ratios: How many times better each side of ours is than each other one: the median of
            the ratios of the rounds.
    """

    size: int
    operation: str
    scope: Scope
    unit: Unit
    values: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    rounds: dict[str, int] = field(default_factory=dict)
    recalls: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def timed(cls, size: int, operation: str, scope: Scope, taken: Mapping[str, Taken]) -> Row:
        """Return the row of calls that were made in turns."""
        row = cls(size, operation, scope, "ms")
        for name, one in taken.items():
            row.values[name] = one.seconds * 1000
            row.cpu[name] = sorted(one.cpu)[len(one.cpu) // 2] * 1000
            row.rounds[name] = len(one.wall)
        for of in OURS:
            if of in taken:
                others = {name: one for name, one in taken.items() if name != of}
                row.ratios[of] = {name: taken[of].of(one) for name, one in others.items()}
        return row

    @classmethod
    def counted(cls, size: int, operation: str, unit: Unit, values: Mapping[str, float]) -> Row:
        """Return the row of something that is measured once."""
        row = cls(size, operation, "", unit, dict(values))
        for of in OURS:
            if row.values.get(of):
                row.ratios[of] = {
                    name: _better(row.values[of], value, unit)
                    for name, value in row.values.items()
                    if name != of and value
                }
        return row


@dataclass(frozen=True, slots=True)
class Missing:
    """A side that was not measured at a size, and why."""

    side: str
    size: int
    why: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A goal, and whether it was met.

    Attributes:
        number: Which goal: a number of the list of goals, or a word.
        what: What it says.
        wanted: How much, as text.
        value: How much it is; None if it was not measured in this run.
        held: Whether that is enough; None if it was not measured.
    """

    number: str
    what: str
    wanted: str
    value: float | None
    held: bool | None


@dataclass(slots=True)
class Report:
    """All that a run has found.

    Attributes:
        about: Of what and where: versions, machine, how it was run.
        rows: In the order in which they were measured.
        missing: What was not measured.
        goals: What was wanted, and what became of it.
    """

    about: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    goals: list[Judged] = field(default_factory=list)

    def row(self, size: int, operation: str, scope: Scope) -> Row | None:
        """Return a row; None if that was not measured."""
        for one in self.rows:
            if (one.size, one.operation, one.scope) == (size, operation, scope):
                return one
        return None

    def as_json(self) -> dict[str, Any]:
        """Return everything in values that JSON has."""
        return asdict(self)


def _better(ours: float, other: float, unit: Unit) -> float:
    return ours / other if unit == _MORE_IS_BETTER else other / ours

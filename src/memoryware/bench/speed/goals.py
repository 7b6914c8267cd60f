"""What is wanted of the speed, and whether a run shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoryware.bench.speed.report import Judged, Report, Scope
from memoryware.bench.speed.sides import FREQUENT, HYBRID, PROMOTE, QUICK_PUT, VECTORS, WORDS

LOAD, MEMORY, DISK = "bulk load", "memory", "disk"
AT: Final = 100_000
"""The size that goals are said for."""
BEFORE: Final = 10_000
"""The size that growth is counted from."""
_OURS, _STORE = "memoryware", "its store"
_IN_MEMORY, _SQLITE = "InMemoryStore", "SqliteStore"
_WHERE: Final[dict[Scope, str]] = {
    "first": " in a group that was not asked before, of",
    "small": " in a group of 1,000 of",
    "all": " over all",
    "": ",",
}
_FLAT, _EXACT, _ROOM = 1.3, 0.995, 1.5


@dataclass(frozen=True, slots=True)
class Faster:
    """How many times faster, or smaller, than a peer one of our sides is."""

    number: str
    operation: str
    scope: Scope
    over: str
    least: float
    of: str = _OURS


FASTER: Final = (
    Faster("23", HYBRID, "small", _SQLITE, 4),
    Faster("23", HYBRID, "small", _IN_MEMORY, 8),
    Faster("23", HYBRID, "small", _SQLITE, 4, _STORE),
    Faster("23", HYBRID, "small", _IN_MEMORY, 8, _STORE),
    Faster("23", VECTORS, "small", _SQLITE, 30),
    Faster("23", VECTORS, "small", _SQLITE, 30, _STORE),
    Faster("24", VECTORS, "all", _IN_MEMORY, 50),
    Faster("24", VECTORS, "all", _SQLITE, 20),
    Faster("24", VECTORS, "all", _IN_MEMORY, 50, _STORE),
    Faster("24", VECTORS, "all", _SQLITE, 20, _STORE),
    Faster("24", HYBRID, "all", _SQLITE, 8),
    Faster("25", PROMOTE, "", _SQLITE, 2.5),
    Faster("25", PROMOTE, "", _SQLITE, 2.5, _STORE),
    Faster("25", QUICK_PUT, "", _SQLITE, 50),
    Faster("26", LOAD, "", _SQLITE, 2),
    Faster("27", MEMORY, "", _IN_MEMORY, 6),
    Faster("words", WORDS, "all", "SQLite", 5),
    Faster("words", FREQUENT, "all", "SQLite", 5),
    Faster("words", WORDS, "all", "SQLite", 5, _STORE),
    Faster("words", FREQUENT, "all", "SQLite", 5, _STORE),
)


def judged(report: Report, room: float | None = None) -> list[Judged]:
    """Return every goal and whether it was met.

    Args:
        report: What was measured.
        room: How many times what vectors and texts need the file of ours has.
    """
    found = [_faster(report, one) for one in FASTER]
    found += _recalls(report)
    found += _growth(report)
    what = f"bytes of the file for those of vectors at 16 bits and texts, {AT:,}"
    found.append(_judged("size", what, f"at most {_ROOM}x", room, _at_most(room, _ROOM)))
    return found


def _faster(report: Report, goal: Faster) -> Judged:
    row = report.row(AT, goal.operation, goal.scope)
    value = row.ratios.get(goal.of, {}).get(goal.over) if row else None
    where = {
        "small": " in a group of 1,000 of",
        "first": " in a new group of",
        "all": " over all",
        "": ",",
    }[goal.scope]
    what = f"{goal.operation}{where} {AT:,}: {goal.of} against {goal.over}"
    held = None if value is None else value >= goal.least
    return _judged(goal.number, what, f"at least {goal.least:g}x", value, held)


def _recalls(report: Report) -> Iterator[Judged]:
    scopes: tuple[tuple[str, Scope], ...] = (("23", "small"), ("24", "all"))
    for number, scope in scopes:
        for of in (_OURS, _STORE):
            row = report.row(AT, VECTORS, scope)
            value = row.recalls.get(of) if row else None
            held = None if value is None else value >= _EXACT
            where = "in a group of 1,000 of" if scope == "small" else "over all"
            yield _judged(number, f"part of the ten nearest {where} {AT:,}: {of}", "1", value, held)


def _growth(report: Report) -> Iterator[Judged]:
    for kind in (WORDS, VECTORS, HYBRID):
        before, after = (_worked(report, size, kind) for size in (BEFORE, AT))
        value = after / before if before and after else None
        what = f"{kind} in a group of 1,000: {AT:,} against {BEFORE:,} in the file"
        yield _judged("growth", what, f"at most {_FLAT}x", value, _at_most(value, _FLAT))


def _worked(report: Report, size: int, kind: str) -> float | None:
    """Return how long ours takes in a small scope.

    The two sizes are measured minutes apart, when the machine may be busy with other things, so
    it is the time of the processor that counts, unless a server does the work.
    """
    row = report.row(size, kind, "small")
    if row is None:
        return None
    times = row.cpu if report.about.get("store", "sqlite") == "sqlite" else row.values
    return times.get(_OURS)


def _at_most(value: float | None, most: float) -> bool | None:
    return None if value is None else value <= most


def _judged(number: str, what: str, wanted: str, value: float | None, held: bool | None) -> Judged:
    return Judged(number, what, wanted, value, held)

"""What the tiers are to reach, and whether a run shows it: the one list of targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.tiers.hooks import FILE_COUNTS
from benchmarks.tiers.results import OURS, Results
from benchmarks.tiers.servers import LAYOUT as SERVERS
from benchmarks.tiers.sqlite import (
    IN_MEMORY_STORE,
    MIDDLE,
    MILLION,
    SINGLE,
    SMALL,
    SQLITE_STORE,
)

Value = Callable[[Results], float]


@dataclass(frozen=True)
class Target:
    """One figure and its limit.

    Attributes:
        number: The number of the target in the design.
        text: What is compared with what.
        value: Reads the figure from the results; a `KeyError` says that it was not measured.
        at_least: The limit of a figure that should be large.
        at_most: The limit of a figure that should be small.
        unit: What the figure counts; "x" for a ratio.
    """

    number: int
    text: str
    value: Value
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "x"

    @property
    def limit(self) -> str:
        """The limit as text."""
        if self.at_least is not None:
            return f"at least {self.at_least:g}{self.unit}"
        return f"at most {self.at_most:g}{self.unit}"

    def met(self, value: float) -> bool:
        """Return whether a figure keeps the limit."""
        if self.at_least is not None:
            return value >= self.at_least
        return self.at_most is not None and value <= self.at_most


@dataclass(frozen=True)
class Judged:
    """A target and the figure that a run shows; None where it was not measured."""

    target: Target
    value: float | None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where it was not measured."""
        return None if self.value is None else self.target.met(self.value)


def judge(results: Results) -> list[Judged]:
    """Hold a run against all targets."""
    judged = []
    for target in TARGETS:
        try:
            value = target.value(results)
        except KeyError:
            value = None
        judged.append(Judged(target, value))
    return judged


def _faster(layout: str, operation: str, peer: str) -> Value:
    return lambda results: 1 / results.row(layout, operation).ratios[peer]


def _slower(layout: str, operation: str, peer: str) -> Value:
    return lambda results: results.row(layout, operation).ratios[peer]


def _count(layout: str, operation: str, name: str) -> Value:
    return lambda results: results.row(layout, operation).counts[name]


def _grown(operation: str, large: str) -> Value:
    return lambda results: (
        results.row(large, operation).ms[OURS] / results.row(SMALL.name, operation).ms[OURS]
    )


def _against(layout: str, operation: str, other: str) -> Value:
    return lambda results: (
        results.row(layout, operation).ms[OURS] / results.row(layout, other).ms[OURS]
    )


def _value(name: str) -> Value:
    return lambda results: results.values[name]


def _added(results: Results, side: str) -> float:
    return results.values[f"step, {side} adds %"]


def _writes() -> Sequence[Target]:
    targets = []
    for operation, statements, limit in (
        ("record", 8, 4), ("record with a name and a number", 8, 4),
        ("promote a text", 10, 3), ("promote an entry", 10, 3),
    ):  # fmt: skip
        name = MIDDLE.name
        targets += [
            Target(
                4, f"{operation}: flushes", _count(name, operation, "flushes"), at_most=1, unit="",
            ),
            Target(
                4, f"{operation}: statements", _count(name, operation, "statements"),
                at_most=statements, unit="",
            ),
            Target(
                4, f"{operation}: time relative to a `put` of SqliteStore",
                _slower(name, operation, SQLITE_STORE), at_most=limit,
            ),
        ]  # fmt: skip
    for operation in ("revoke one", "restore one", "forget one"):
        targets += [
            Target(
                5, f"{operation}, {layout.name}: time relative to a `put` of SqliteStore",
                _slower(layout.name, operation, SQLITE_STORE), at_most=12,
            )
            for layout in (MIDDLE, SINGLE)
        ]  # fmt: skip
    return targets


def _growth() -> Sequence[Target]:
    return [
        Target(
            number, f"{operation}: {large.name} against {SMALL.name}",
            _grown(operation, large.name), at_most=1.5,
        )
        for large in (MILLION, SINGLE)
        for number, operation in (
            (5, "revoke one"), (5, "restore one"), (5, "forget one"),
            (6, "list 50"), (6, "counts"), (6, "spaces"),
        )
    ]  # fmt: skip


def _servers() -> Sequence[Target]:
    limits = {
        "record": 3, "promote a text": 3, "promote an entry": 3, "retrieve hybrid": 2,
        "retrieve with defaults": 2, "list 50": 1,
    }  # fmt: skip
    trips = [
        Target(9, f"{operation}: round trips to PostgreSQL",
               _count(SERVERS, operation, "round trips"), at_most=limit, unit="")
        for operation, limit in limits.items()
    ]  # fmt: skip
    load = [
        Target(9, f"under load, 8 processes: rate of {kind} relative to PostgresStore",
               _value(f"load, {kind}: ours / PostgresStore"), at_least=limit)
        for kind, limit in (("record", 0.25), ("promote", 0.25), ("retrieve", 1.0))
    ]  # fmt: skip
    return [*trips, *load]


def _hooks() -> Sequence[Target]:
    loads = [
        Target(11, f"warm `abefore_agent` with {count} x 2 KB: times as fast as deepagents",
               _value(f"abefore_agent, {count} files of 2 KB: peer / ours"), at_least=8)
        for count in FILE_COUNTS
    ]  # fmt: skip
    return [
        *loads,
        Target(
            12, "step of an agent: time that file memory adds beyond an idle `wrap_model_call`",
            lambda results: _added(results, "ours") - _added(results, "idle"),
            at_most=4, unit=" points",
        ),
        Target(
            12, "step of an agent: time that file memory adds, relative to deepagents",
            lambda results: _added(results, "ours") / _added(results, "peer"),
            at_most=0.6,
        ),
    ]  # fmt: skip


TARGETS: Sequence[Target] = (
    Target(1, "hybrid `retrieve`: times as fast as SqliteStore",
           _faster(MIDDLE.name, "retrieve hybrid", SQLITE_STORE), at_least=5),
    Target(1, "hybrid `retrieve`: times as fast as InMemoryStore",
           _faster(MIDDLE.name, "retrieve hybrid", IN_MEMORY_STORE), at_least=20),
    Target(1, "hybrid `retrieve`: statements", _count(MIDDLE.name, "retrieve hybrid", "statements"),
           at_most=2, unit=""),
    Target(2, "`retrieve` by vectors alone: times as fast as SqliteStore",
           _faster(MIDDLE.name, "retrieve by vectors", SQLITE_STORE), at_least=6),
    Target(3, "`retrieve` with defaults, 50 working entries: times as fast as SqliteStore",
           _faster(MIDDLE.name, "retrieve with defaults", SQLITE_STORE), at_least=1),
    *_writes(),
    *_growth(),
    Target(7, "bulk load: speed relative to SqliteStore",
           _faster(MIDDLE.name, "load, each", SQLITE_STORE), at_least=0.9),
    Target(7, "size of the file, bytes per memory", _value(f"bytes a memory, {MIDDLE.name}"),
           at_most=1400, unit=""),
    Target(8, "first question after a start, group of 1,000: relative to a later one",
           _against(MIDDLE.name, "first question", "retrieve hybrid"), at_most=6),
    Target(8, "first question after a start, group of 100,000, packed: relative to a later one",
           _against(SINGLE.name, "first question, packed", "a later question"), at_most=10),
    Target(8, "first question after a start, group of 100,000, from rows: relative to a later one",
           _against(SINGLE.name, "first question", "a later question"), at_most=40),
    *_servers(),
    Target(10, "digest of 1,000 entries: time relative to a hybrid `retrieve`",
           _against(MIDDLE.name, "digest", "retrieve hybrid"), at_most=40),
    *_hooks(),
)  # fmt: skip

TRIED: Mapping[int, str] = {
    1: (
        "Tried: the columns of a group in memory, which follow the file by the generation of the"
        " group; an inverted index of words and 16-bit vectors in NumPy; conditions that all rows"
        " fulfil are skipped; contradictions are computed on request; what moves a score is noted,"
        " so that later questions read 20 memories in place of 60. The rest is Python for the"
        " candidates: trust, age, neighbours and who said it, which the stores do not look at."
    ),
    2: "As for 1; the search itself is one product of a matrix and a vector.",
    3: (
        "Working memory is ranked beside long-term memory, which SqliteStore has not. Tried: the"
        " words of all entries are scored in one call, rows are decoded once, and two statements"
        " in place of five where nothing of the group has changed."
    ),
    4: (
        "An operation looks for secrets, repetitions, echoes and contradictions, and keeps where"
        " a text comes from; a `put` writes a row. Tried: one transaction for each operation,"
        " several selections in one statement, names and sentences parsed once and kept. About a"
        " third of a promotion is the comparison with the memories that share most of its words. A"
        " `put` is mostly its flush: where that took 1.4 ms in place of .1, a record was 3.5 of it."
    ),
    5: "Tried: chains of succession by an index, kept counts, one read for each step of a lineage.",
    7: (
        "Tried: ids of 16 bytes, groups as numbers, provenance shared by memories, packed words in"
        " place of FTS5. A memory keeps words, provenance and neighbours beside its vector."
    ),
    8: (
        "Tried: columns of a large group in blocks in the file, written while it is idle or closed."
        " A first question costs what it did; later ones have become quicker."
    ),
    9: (
        "Tried: pipelines, the columns of a group in the client, kept counts, plans that the server"
        " keeps. Most of the rest is Python of the client on the cores of the servers: a record is"
        " scanned, filtered and compared with what the group knows, in PostgreSQL, then in Redis; a"
        " `put` is one statement. Triggers are about a twentieth of a record's cost on the server."
    ),
    10: "Tried: statements to compare are found with sets of bits; texts are cut into words once.",
    11: "After a slow look at a file the next ones are made in a thread, for a second.",
    12: (
        "Tried: one hook in place of three, fewer channels in the state, the conditions of a"
        " repeated model call in one function (19 µs of a step in place of 30 µs)."
    ),
}
"""By the number of a target: what was tried for the figures that miss it."""

"""One run: every size, every side that can run here, every operation in turns."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, Final

from memoryware.bench.speed.floors import NumPy, SQLite
from memoryware.bench.speed.goals import AT, DISK, LOAD, MEMORY, judged
from memoryware.bench.speed.langgraph import InMemory, Postgres, Sqlite
from memoryware.bench.speed.made import BEST, DIMENSION, QUESTIONS, Made, Question
from memoryware.bench.speed.mem0 import Mem0
from memoryware.bench.speed.ours import Ours, OurStore
from memoryware.bench.speed.report import Missing, Report, Row, Scope
from memoryware.bench.speed.sides import (
    FREQUENT,
    HYBRID,
    PROMOTE,
    QUICK_PUT,
    RECORD,
    VECTORS,
    WORDS,
    Absent,
    Ask,
    Place,
    Put,
    Side,
    resident,
    versions,
)
from memoryware.bench.speed.turns import Act, Prepare, Taken, added, in_turns
from memoryware.errors import SettingError

PEERS: Final[tuple[type[Side], ...]] = (InMemory, Sqlite, Postgres, Mem0, NumPy, SQLite)
"""Everybody else, in the order of the columns. A new peer is a class more here."""
_ALL: Final[tuple[type[Side], ...]] = (Ours, *PEERS)
KINDS: Final = (HYBRID, WORDS, FREQUENT, VECTORS)
_SCOPES: Final[tuple[Scope, ...]] = ("first", "small", "all")
_PARTS: Final = 10
"""Turns of each side in a bulk load."""
_MOST_AT_ONCE: Final = 10_000
_STORED: Final = 2
"""Bytes of one number of a vector, as ours keeps it."""
_ALONE_SECONDS: Final = 3600
_ALONE_ASKS: Final = 5
_CODE: Final = (
    "import sys\nfrom memoryware.bench.speed.running import alone\n"
    "name, size, later, folder = sys.argv[1:]\n"
    "print(alone(name, int(size), int(later), folder))"
)
"""What a process does that measures the memory of one side."""
Say = Callable[[str], object]

_LARGEST = 10_000_000
"""Memories in one measurement at most: their vectors are made in this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a run is asked for.

    Attributes:
        sizes: How many memories there are, one after the other.
        rounds: Turns of each side for each operation.
        peers: Names of those that ours is held against; None for all.
        store: The address of the store of ours; a SQLite file by default.
        postgres: The address of a server for PostgresStore.
        patience: Seconds after which an operation gets no further round.
        alone: Whether memory is measured, for which each side gets a process of its own.
    """

    sizes: Sequence[int] = (1000, 10_000, 100_000)
    rounds: int = 15
    peers: Sequence[str] | None = None
    store: str = ""
    postgres: str = ""
    patience: float = 30.0
    alone: bool = True

    def __post_init__(self) -> None:
        known = {one.name.lower() for one in PEERS}
        if unknown := [one for one in self.peers or () if one.lower() not in known]:
            names = ", ".join(one.name for one in PEERS)
            raise SettingError(f"peers={unknown}: there is no such peer; use {names}")
        if not self.sizes or min(self.sizes) < BEST:
            raise SettingError(f"sizes={list(self.sizes)}: each must be at least {BEST}")
        if max(self.sizes) > _LARGEST:
            raise SettingError(f"sizes={list(self.sizes)}: each must be at most {_LARGEST:,}")
        if not 1 <= self.rounds < QUESTIONS:
            raise SettingError(f"rounds={self.rounds}: must be from 1 to {QUESTIONS - 1}")

    def asked(self) -> list[type[Side]]:
        """Return the peers that are wanted."""
        names = None if self.peers is None else {one.lower() for one in self.peers}
        return [one for one in PEERS if names is None or one.name.lower() in names]


@dataclass(slots=True)
class _Size:
    """The measurement of one size."""

    made: Made
    sides: dict[str, Side]
    wanted: Wanted
    report: Report
    say: Say
    later: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self.later = iter(range(self.made.size, self.made.size + self.made.later))

    def measure(self) -> None:
        """Fill all sides, ask them, and give them more."""
        self.load()
        for kind in KINDS:
            for scope in _SCOPES:
                self.ask(kind, scope)
        for operation in (RECORD, PROMOTE, QUICK_PUT):
            self.put(operation)

    def load(self) -> None:
        """Fill all sides in turns, part by part."""
        taken: dict[str, Taken] = {name: Taken() for name in self._filled()}
        step = max(1, min(self.made.size // _PARTS, _MOST_AT_ONCE))
        for turn, start in enumerate(range(0, self.made.size, step)):
            numbers = range(start, min(start + step, self.made.size))
            first = turn % len(taken)
            for name in [*taken][first:] + [*taken][:first]:
                added(taken[name], lambda name=name, part=numbers: self.sides[name].load(part))  # type: ignore[misc]
            if numbers.stop % _MOST_AT_ONCE == 0:
                self.say(f"{numbers.stop:,} of {self.made.size:,} are in")
        rates = {name: self.made.size / sum(one.wall) for name, one in taken.items()}
        self._add(Row.counted(self.made.size, LOAD, "/s", rates))
        for name in taken:
            self.sides[name].loaded()

    def ask(self, kind: str, scope: Scope) -> None:
        """Ask all sides that can be asked so, each round with another question."""
        if scope == "first" and kind != KINDS[0]:
            return  # by then every group was asked
        whole = scope == "all"
        start = (KINDS.index(kind) * 2 + whole) * (self.wanted.rounds + 1)
        questions = self.made.questions

        def prepared(ask: Ask, number: int) -> Question:
            question = questions[(start + number) % QUESTIONS]
            if scope == "small":
                other = questions[(start + number + 1) % QUESTIONS]
                ask(replace(other, group=question.group), whole)
            return question

        acts: dict[str, tuple[Prepare, Act]] = {}
        for name, side in self.sides.items():
            if scope == "first" and isinstance(side, OurStore):
                continue  # it is asked in the same process as ours, so never first
            if (ask := side.asks().get(kind)) is not None:
                act = lambda question, ask=ask: ask(question, whole)  # noqa: E731
                acts[name] = partial(prepared, ask), act
        recalls: dict[str, list[float]] = {name: [] for name in acts}

        def told(name: str, number: int, answer: Any) -> None:
            if kind == VECTORS:
                question = questions[(start + number) % QUESTIONS]
                found = self.sides[name].numbers(answer)
                recalls[name].append(self.made.share(question, found, whole=whole))

        self._time(kind, scope, acts, told)
        if kind == VECTORS:
            self.report.rows[-1].recalls = {name: mean(one) for name, one in recalls.items()}

    def put(self, operation: str) -> None:
        """Give one memory more to each side, in turns."""
        acts: dict[str, tuple[Prepare, Act]] = {}
        for name, side in self.sides.items():
            if (put := self._put(side, operation)) is not None:
                acts[name] = lambda _: next(self.later), put
        own = [name for name in acts if operation in self.sides[name].puts()]
        if own:  # a side of its own, not only what others are held against
            self._time(operation, "", acts, lambda *_: None)

    def _put(self, side: Side, operation: str) -> Put | None:
        """Return how a side does it; who has no way without a flush is held against with one."""
        puts = side.puts()
        if operation == QUICK_PUT and not isinstance(side, Ours | OurStore):
            return puts.get(QUICK_PUT) or puts.get(PROMOTE)
        return puts.get(operation)

    def _time(
        self,
        operation: str,
        scope: Scope,
        acts: dict[str, tuple[Prepare, Act]],
        told: Callable[[str, int, Any], None],
    ) -> None:
        wanted = self.wanted
        taken = in_turns(acts, wanted.rounds, patience=wanted.patience, told=told)
        self._add(Row.timed(self.made.size, operation, scope, taken))

    def _filled(self) -> list[str]:
        return [name for name, side in self.sides.items() if not isinstance(side, OurStore)]

    def _add(self, row: Row) -> None:
        self.report.rows.append(row)
        shown = ", ".join(f"{name} {value:.3g}" for name, value in row.values.items())
        self.say(f"{row.size:,} {row.operation} {row.scope} ({row.unit}): {shown}")


def run(wanted: Wanted, say: Say, after: Callable[[Report], object] = lambda _: None) -> Report:
    """Measure everything that is wanted, and return what was found.

    Args:
        wanted: What is asked for.
        say: Is given a line for each step.
        after: Is given what there is after each size; the large ones take hours.
    """
    report = Report(about=_about(wanted))
    room = None
    for size in wanted.sizes:
        say(f"{size:,} memories are being made")
        made = Made(size, later=(wanted.rounds + 1) * 3 * (len(PEERS) + 2))
        with tempfile.TemporaryDirectory(prefix="speed-") as folder:
            places = _places(Path(folder), wanted)
            with _opened(made, places, wanted, report) as sides:
                _Size(made, sides, wanted, report, say).measure()
                local = [one for one in sides.values() if one.local and not one.place.url]
            disk = {one.name: room_of for one in local if (room_of := one.disk())}
            if disk:
                report.rows.append(_in_megabytes(size, DISK, disk))
            if size == AT and Ours.name in disk:
                room = disk[Ours.name] / (size * DIMENSION * _STORED + made.text_bytes())
            if wanted.alone and local and resident() is not None:
                say(f"{size:,} memories: each side in a process of its own")
                report.rows.append(_in_megabytes(size, MEMORY, _grown(local, report)))
        report.goals = judged(report, room)
        after(report)
    return report


def alone(name: str, size: int, later: int, folder: str) -> int:
    """Return by how many bytes this process grows that opens one side and asks it."""
    made = Made(size, later=later)
    kind = next(one for one in _ALL if one.name == name)
    with tempfile.TemporaryDirectory(prefix="speed-") as other:
        few = kind(Made(BEST), Place(Path(other)))  # whatever is imported does not count
        few.load(range(BEST))
        _ask(few)
        few.close()
    before = resident() or 0
    side = kind(made, Place(Path(folder)))
    if not kind.keeps:
        side.load(range(size))
    _ask(side)
    grown = (resident() or 0) - before
    side.close()
    return grown


def _ask(side: Side) -> None:
    """Ask a few questions over everything."""
    asks = side.asks()
    ask = next(asks[one] for one in (HYBRID, *KINDS) if one in asks)
    for question in side.made.questions[:_ALONE_ASKS]:
        ask(question, True)  # noqa: FBT003 - whole


def _grown(sides: Sequence[Side], report: Report) -> dict[str, int]:
    """Return how much memory each side needs; note who failed, as in a machine with too little."""
    found = {}
    for one in sides:
        try:
            found[one.name] = _alone(one)
        except Absent as absent:
            report.missing.append(Missing(one.name, one.made.size, str(absent)))
    return found


def _alone(side: Side) -> int:
    given = [side.name, str(side.made.size), str(side.made.later), str(side.place.folder)]
    command = [sys.executable, "-c", _CODE, *given]
    try:
        ran = subprocess.run(  # noqa: S603 - this interpreter and our own code
            command, capture_output=True, check=True, timeout=_ALONE_SECONDS, text=True
        )
    except subprocess.TimeoutExpired as error:
        raise Absent(f"memory: more than {_ALONE_SECONDS} seconds") from error
    except subprocess.CalledProcessError as error:
        said = (error.stderr.splitlines() or [""])[-1]
        raise Absent(f"memory: its process ended with {error.returncode}: {said}") from error
    return int(json.loads(ran.stdout.splitlines()[-1]))


def _places(folder: Path, wanted: Wanted) -> dict[str, Place]:
    urls = {Ours.name: wanted.store, Postgres.name: wanted.postgres}
    return {one.name: Place(folder / one.name, urls.get(one.name, "")) for one in _ALL}


@contextmanager
def _opened(
    made: Made, places: dict[str, Place], wanted: Wanted, report: Report
) -> Iterator[dict[str, Side]]:
    """Open ours and all peers that can run here; note of the others why they cannot."""
    ours = Ours(made, places[Ours.name])
    sides: dict[str, Side] = {Ours.name: ours, OurStore.name: OurStore(ours)}
    try:
        for kind in wanted.asked():
            if made.size > kind.most:
                why = f"more than {kind.most:,} are not tried: {kind.too_many}"
                report.missing.append(Missing(kind.name, made.size, why))
                continue
            try:
                sides[kind.name] = kind(made, places[kind.name])
            except Absent as absent:
                report.missing.append(Missing(kind.name, made.size, str(absent)))
        yield sides
    finally:
        for side in sides.values():
            side.close()


def _in_megabytes(size: int, operation: str, found: dict[str, int]) -> Row:
    return Row.counted(size, operation, "MB", {name: one / 1e6 for name, one in found.items()})


def _about(wanted: Wanted) -> dict[str, Any]:
    import sqlite3

    packages = [package for one in _ALL for package in one.packages]
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "sqlite": sqlite3.sqlite_version,
        "versions": versions(packages),
        "dimension": DIMENSION,
        "rounds": wanted.rounds,
        "store": wanted.store.partition("://")[0] or "sqlite",
    }

"""Times several ways of doing one thing in turns, so that a busy machine hits all alike.

Where nothing waits, the seconds are those that the processor spent on this process, for the
program and for the system calls it makes: what else runs on the machine hardly counts then.
Where waiting is part of the matter (disk flushes, other processes, event loops), the
seconds are those on the wall.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

Clock = Callable[[], float]
CPU: Clock = time.process_time
WALL: Clock = time.perf_counter
LONG_ENOUGH = 0.004
"""Seconds that one turn takes at least, so that the clock and the loop do not count."""
_MOST_CALLS = 20_000
_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
Turn = Callable[[Any, int], float]


@dataclass(frozen=True, slots=True)
class Scale:
    """How thorough a run is.

    Attributes:
        rounds: Turns that each variant gets.
        full: Whether the large trees and the long inputs are measured as well.
    """

    rounds: int
    full: bool = False

    def share(self, part: float) -> int:
        """Return a number of rounds for what takes long, three at least."""
        return max(3, round(self.rounds * part))


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one call, by variant and by round."""

    seconds: Mapping[str, list[float]]

    def ratio(self, one: str, other: str) -> float:
        """Return how many times longer `one` takes than `other`: the median over the rounds."""
        pairs = zip(self.seconds[one], self.seconds[other], strict=True)
        return median(a / b for a, b in pairs)

    def of(self, name: str) -> float:
        """Return the median seconds of one call."""
        return median(self.seconds[name])

    def text(self, name: str, parts: int = 1) -> str:
        """Return the median of one call as text, or that of one of so many parts of it."""
        return duration(self.of(name) / parts)


def duration(seconds: float) -> str:
    """Return seconds as text with a fitting unit and three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def in_turns(
    variants: Mapping[str, Callable[[], Any]],
    rounds: int,
    *,
    calls: int | None = None,
    clock: Clock = CPU,
    runner: asyncio.Runner | None = None,
    pause: float = 0.0,
) -> Times:
    """Time the variants in turns; each round begins with another one.

    Args:
        variants: What to call. With a `runner` each call gives an awaitable.
        rounds: Turns of each variant, after one that only warms up.
        calls: Calls in one turn; by default as many as make it long enough.
        clock: `CPU`, or `WALL` where waiting counts.
        runner: The event loop that awaitables run on.
        pause: Seconds to wait before each round.
    """
    turn = _turn(clock) if runner is None else _turn_on(runner, clock)
    counts = {name: calls or _enough(turn, call) for name, call in variants.items()}
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    names = list(variants)
    for name, call in variants.items():
        turn(call, max(1, counts[name] // 4))
    with frozen():
        for number in range(rounds):
            first = number % len(names)
            order = names[first:] + names[:first]
            if number // len(names) % 2:  # so that no variant always comes after the same one
                order.reverse()
            time.sleep(pause)
            for name in order:
                with quiet():
                    taken = turn(variants[name], counts[name])
                seconds[name].append(taken / counts[name])
    return Times(seconds)


def _enough(turn: Turn, call: Any) -> int:
    """Return how many calls make a turn long enough; the very first ones do not count."""
    turn(call, 2)
    count = 1
    while (taken := min(turn(call, count) for _ in range(3))) < LONG_ENOUGH:
        if count >= _MOST_CALLS:
            break
        count *= 2 if taken > LONG_ENOUGH / 8 else 8
    return min(count, _MOST_CALLS)


def _turn(clock: Clock) -> Turn:
    def many(call: Callable[[], Any], count: int) -> float:
        start = clock()
        for _ in range(count):
            call()
        return clock() - start

    return many


def _turn_on(runner: asyncio.Runner, clock: Clock) -> Turn:
    async def many(call: Callable[[], Any], count: int) -> float:
        start = clock()
        for _ in range(count):
            await call()
        return clock() - start

    return lambda call, count: runner.run(many(call, count))


@contextmanager
def quiet() -> Iterator[None]:
    """Collect garbage before the block and none within it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def frozen() -> Iterator[None]:
    """Have what is there by now not looked through again by each `quiet` in the block."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class Cpu:
    """Says how long processors have worked so far.

    Args:
        server: The process that has started those of a server; None counts this process alone.
    """

    def __init__(self, server: int | None = None) -> None:
        self._server = server

    def __call__(self) -> float:
        return time.process_time() + (self._of_server(self._server) if self._server else 0.0)

    @staticmethod
    def _of_server(server: int) -> float:
        fields = (_PROC / f"{server}/stat").read_text().rpartition(")")[2].split()
        ended = (int(fields[13]) + int(fields[14])) / _TICKS  # of children that are gone
        children = (_PROC / f"{server}/task/{server}/children").read_text().split()
        return ended + sum(map(_worked, [str(server), *children]))


def _worked(pid: str) -> float:
    try:
        return int((_PROC / pid / "schedstat").read_text().split()[0]) / 1e9
    except FileNotFoundError:
        return 0.0

"""Times several sides in turns, so that a busy machine hits all alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

LEAST: Final = 3
"""Rounds at least, however long they take."""
Prepare = Callable[[int], Any]
Act = Callable[[Any], Any]


@dataclass(slots=True)
class Taken:
    """Seconds of each call of one side, on the wall and of the processor."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The median on the wall."""
        return median(self.wall)

    def of(self, other: Taken) -> float:
        """Return how many times longer another side took: the median over the rounds."""
        return median(b / a for a, b in zip(self.wall, other.wall, strict=True))


def in_turns(
    acts: Mapping[str, tuple[Prepare, Act]],
    rounds: int,
    *,
    patience: float,
    told: Callable[[str, int, Any], None],
) -> dict[str, Taken]:
    """Return what each side took; every round begins with another one.

    Args:
        acts: For each side what makes the argument of a round, which is not timed, and what is.
        rounds: How many rounds, after one that only warms up.
        patience: Seconds after which no further round begins, if there were a few.
        told: Is given side, round and answer, outside of the time.
    """
    taken = {name: Taken() for name in acts}
    names = list(acts)
    began = time.perf_counter()
    with frozen():
        for number in range(rounds + 1):
            if number > LEAST and time.perf_counter() - began > patience:
                break
            first = number % len(names)
            for name in names[first:] + names[:first]:
                prepare, act = acts[name]
                answer = _once(act, prepare(number), taken[name] if number else Taken())
                told(name, number, answer)
    return taken


def added(taken: Taken, call: Callable[[], Any]) -> None:
    """Call it and note what it took."""
    _once(lambda _: call(), None, taken)


def _once(act: Act, given: Any, taken: Taken) -> Any:
    with quiet():
        cpu, start = time.process_time(), time.perf_counter()
        answer = act(given)
        taken.wall.append(time.perf_counter() - start)
        taken.cpu.append(time.process_time() - cpu)
    return answer


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

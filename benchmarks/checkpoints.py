"""Goal 7: bytes that memory adds to the checkpoints of a thread, turn by turn."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path
from statistics import median
from typing import Any

import deepagents
from deepagents.backends import FilesystemBackend as PeerFiles
from langgraph.checkpoint.sqlite import SqliteSaver

from benchmarks._goals import Claim, Goal
from benchmarks._inputs import WIDE, memory_files
from benchmarks._model import BusyModel, look, question
from benchmarks._turns import Scale
from memoryware import FilesystemBackend, MemoryMiddleware, create_deep_agent

_TURNS = 6
_CALLS = 3
_SIZES = {"3x20 KB": 20_000, "3x200 KB": 200_000}
_BYTES = (
    "SELECT (SELECT sum(length(checkpoint) + length(metadata)) FROM checkpoints)"
    " + (SELECT sum(length(value)) FROM writes)"
)


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goal 7."""
    found: dict[tuple[str, str], float] = {}
    for size, length in _SIZES.items():
        place = folder / f"checkpoints-{length}"
        paths = memory_files(place, 3, length)
        for form, extra in _extra_bytes(place, paths).items():
            found[form, size] = extra
    claims = []
    for form in ("in deepagents' agent", "in our agent"):
        small, large = (found[form, size] for size in _SIZES)
        peer = found["peer", "3x20 KB"]
        what = f"bytes per turn that memory adds, 3x20 KB, {form}"
        note = f"the peer adds {peer / 1000:,.0f} KB"
        claims += [
            Claim(what, small / 1000, at_most=12, unit=" KB", note=note),
            Claim(f"fewer than the peer's, {form}", peer / small, at_least=50),
            Claim(f"3x200 KB against 3x20 KB, {form}", large / small, at_most=1.1),
        ]
    return [Goal(7, f"Checkpoints in `SqliteSaver`, {_CALLS} model calls per turn", claims)]


def _extra_bytes(place: Path, paths: list[str]) -> dict[str, float]:
    """Return the bytes per turn of each agent with memory, less those without."""
    files = PeerFiles(place)
    ours = MemoryMiddleware(backend=FilesystemBackend(place), sources=paths, limits=WIDE)

    def theirs(saver: Any, **more: Any) -> Any:
        model = BusyModel(calls=_CALLS)
        return deepagents.create_deep_agent(
            model, tools=[look], backend=files, checkpointer=saver, **more
        )

    def own(saver: Any, **more: Any) -> Any:
        model, backend = BusyModel(calls=_CALLS), FilesystemBackend(place)
        return create_deep_agent(model, [look], backend=backend, checkpointer=saver, **more)

    bare, own_bare = _per_turn(theirs), _per_turn(own)
    return {
        "peer": _per_turn(theirs, memory=paths) - bare,
        "in deepagents' agent": _per_turn(theirs, middleware=[ours]) - bare,
        "in our agent": _per_turn(own, middleware=[ours]) - own_bare,
    }


def _per_turn(make: Any, **more: Any) -> float:
    """Return how much one thread grows in a turn: the median of the turns after the first."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        agent = make(SqliteSaver(database), **more)
        config = {"configurable": {"thread_id": "one"}}
        sizes = []
        for turn in range(_TURNS):
            agent.invoke(question(f"question {turn}"), config)
            sizes.append(database.execute(_BYTES).fetchone()[0])
    finally:
        database.close()
    return median(after - before for before, after in itertools.pairwise(sizes))

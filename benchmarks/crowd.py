"""Goal 21: a hundred conversations at once on one event loop."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import median
from typing import Any

from deepagents.backends import FilesystemBackend as PeerFiles
from deepagents.middleware.memory import MemoryMiddleware as PeerMemory
from langchain.agents import create_agent

from benchmarks._goals import Claim, Goal
from benchmarks._inputs import WIDE, memory_files
from benchmarks._model import BusyModel, look, question
from benchmarks._turns import Scale, frozen, quiet
from memoryware import FilesystemBackend, MemoryMiddleware

_AGENTS = 100
_CALLS = 5
_PAUSE = 0.02
_TICK = 0.002
_TODO = "<!-- todo: "
"""An opener that nothing closes."""


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goal 21."""
    place = folder / "crowd"
    paths = memory_files(place, 3, 200_000)
    (place / "todo.md").write_text((_TODO + "\n") * (16 * 1024 // (len(_TODO) + 1)))
    bare, ours, peer, todo = (
        _agent(),
        _agent(_ours(place, paths)),
        _agent(PeerMemory(backend=PeerFiles(place), sources=paths)),
        _agent(_ours(place, ["/todo.md"])),
    )
    agents = {"bare": bare, "ours": ours, "peer": peer, "todo": todo}
    seconds: dict[str, list[float]] = {name: [] for name in agents}
    stalls: dict[str, list[float]] = {name: [] for name in agents}
    with asyncio.Runner() as runner, frozen():
        for agent in agents.values():
            runner.run(_crowd(agent))
        for _ in range(scale.rounds):
            for name, agent in agents.items():
                with quiet():
                    taken, stall = runner.run(_crowd(agent))
                seconds[name].append(taken)
                stalls[name].append(stall)
    rates = {name: _AGENTS / median(taken) for name, taken in seconds.items()}
    most = median(b / a for a, b in zip(seconds["bare"], seconds["peer"], strict=True))
    faster = median(b / a for a, b in zip(seconds["ours"], seconds["peer"], strict=True))
    longer = median(a / b for a, b in zip(stalls["todo"], stalls["bare"], strict=True))
    note = ", ".join(f"{name} {rates[name]:.0f}/s" for name in ("bare", "ours", "peer"))
    note += f"; without any memory {most:.2f}x"
    claims = [
        Claim("3x200 KB, finished faster than with the peer", faster, at_least=2, note=note),
        Claim(
            "16 KB of unclosed comments, longest stall of the loop against none",
            longer,
            at_most=2,
            note=f"{median(stalls['todo']) * 1000:.0f} ms against"
            f" {median(stalls['bare']) * 1000:.0f} ms",
        ),
    ]
    what = f"{_AGENTS} agents at once, {_CALLS} calls of {_PAUSE * 1000:.0f} ms each"
    return [Goal(21, what, claims)]


def _ours(place: Path, paths: list[str]) -> Any:
    return MemoryMiddleware(backend=FilesystemBackend(place), sources=paths, limits=WIDE)


def _agent(*middleware: Any) -> Any:
    return create_agent(BusyModel(calls=_CALLS, pause=_PAUSE), tools=[look], middleware=middleware)


async def _crowd(agent: Any) -> tuple[float, float]:
    """Return the seconds until all are done, and the longest the loop was held up."""
    watch = asyncio.ensure_future(_longest_gap())
    start = time.perf_counter()
    await asyncio.gather(*(agent.ainvoke(question()) for _ in range(_AGENTS)))
    taken = time.perf_counter() - start
    watch.cancel()
    return taken, await watch


async def _longest_gap() -> float:
    longest, last = 0.0, time.perf_counter()
    try:
        while True:
            await asyncio.sleep(_TICK)
            now = time.perf_counter()
            longest, last = max(longest, now - last - _TICK), now
    except asyncio.CancelledError:
        return longest

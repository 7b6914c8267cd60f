"""What memory of files adds to an agent: a warm `abefore_agent`, and a step of a run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from deepagents.backends import FilesystemBackend as PeerFiles
from deepagents.middleware.memory import MemoryMiddleware as PeerMemory
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware

from benchmarks._inputs import WIDE, memory_files
from benchmarks._model import BusyModel, look, question
from benchmarks._turns import CPU, in_turns
from benchmarks.tiers.results import Results
from memoryware import FilesystemBackend, MemoryMiddleware

_CALLS = 10
FILE_COUNTS = (1, 3, 10)


_PAUSE = 1.1
"""Seconds before each round: on a busy machine ours is interrupted while it looks at a file, takes
that for a slow disk, and uses a thread for a second."""


class _Idle(AgentMiddleware):
    """The one hook that memory cannot do without, with nothing in it."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Change nothing."""
        return handler(request.override(system_message=request.system_message))


def measure(rounds: int, folder: Path) -> Results:
    """Measure both in turns with the memory of deepagents."""
    results = Results()
    for count in FILE_COUNTS:
        ours, peer = _pair(folder / f"load-{count}", count, 2_000)
        with asyncio.Runner() as runner:
            times = in_turns(
                {
                    "ours": lambda ours=ours: ours.abefore_agent({}, None, {}),
                    "peer": lambda peer=peer: peer.abefore_agent({}, None, {}),
                },
                rounds, clock=CPU, runner=runner, pause=_PAUSE,
            )  # fmt: skip
        name = f"abefore_agent, {count} files of 2 KB"
        results.values[f"{name}: peer / ours"] = times.ratio("peer", "ours")
        results.values[f"{name}: µs"] = times.of("ours") * 1e6
    ours, peer = _pair(folder / "step", 3, 20_000)
    agents = {
        "bare": _agent(),
        "idle": _agent(_Idle()),
        "ours": _agent(ours),
        "peer": _agent(peer),
    }
    asked = question()
    calls = {name: (lambda agent=agent: agent.invoke(asked)) for name, agent in agents.items()}
    # A per cent is 0.1 ms: it takes many rounds until what else runs here does not show.
    times = in_turns(calls, 40 * rounds, calls=1)
    for name in ("idle", "ours", "peer"):
        results.values[f"step, {name} adds %"] = 100 * (times.ratio(name, "bare") - 1)
    return results


def _pair(folder: Path, count: int, length: int) -> tuple[MemoryMiddleware, PeerMemory]:
    paths = memory_files(folder, count, length)
    ours = MemoryMiddleware(backend=FilesystemBackend(folder), sources=paths, limits=WIDE)
    return ours, PeerMemory(backend=PeerFiles(folder), sources=paths)


def _agent(*middleware: Any) -> Any:
    return create_agent(
        BusyModel(calls=_CALLS),
        tools=[look],
        system_prompt="You are a careful helper.",
        middleware=middleware,
    )

"""Goal 6: the share of memory in a step of an agent without a checkpointer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deepagents.backends import FilesystemBackend as PeerFiles
from deepagents.middleware.memory import MemoryMiddleware as PeerMemory
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware

from benchmarks._goals import Claim, Goal
from benchmarks._inputs import WIDE, memory_files
from benchmarks._model import BusyModel, look, question
from benchmarks._turns import Scale, in_turns
from memoryware import FilesystemBackend, MemoryMiddleware

_CALLS = 10
"""Model calls in a run; a step is a model call and the tool call after it."""
_MANY = 14
"""So many times the usual rounds, because a few per cent drown in the noise of a few rounds."""
_SIZES = {"60 KB": (3, 20_000), "600 KB": (3, 200_000), "2 MB": (10, 200_000)}


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goal 6."""
    claims = []
    for size, (count, length) in _SIZES.items():
        claims += _shares(scale, folder / f"step-{length}-{count}", size, (count, length))
    return [Goal(6, f"A step of a bare agent, {_CALLS} steps in a run", claims)]


def _shares(scale: Scale, place: Path, size: str, files: tuple[int, int]) -> list[Claim]:
    paths = memory_files(place, *files)
    ours = MemoryMiddleware(backend=FilesystemBackend(place), sources=paths, limits=WIDE)
    peer = PeerMemory(backend=PeerFiles(place), sources=paths)
    agents = {
        "bare": _agent(),
        "idle": _agent(_Idle()),
        "ours": _agent(ours),
        "peer": _agent(peer),
    }
    asked = question()
    calls = {name: (lambda a=agent: a.invoke(asked)) for name, agent in agents.items()}
    few = in_turns(calls, scale.share(0.7), calls=1)
    del calls["peer"]
    times = in_turns(calls, scale.rounds * _MANY, calls=1)
    added = {
        name: 100 * (some.ratio(name, "bare") - 1)
        for some, name in ((times, "ours"), (times, "idle"), (few, "peer"))
    }
    note = (
        f"a bare step takes {times.text('bare', _CALLS)}, memory adds {added['ours']:.1f} %,"
        f" the hook with nothing in it {added['idle']:.1f} %, the peer {added['peer']:.0f} %"
    )
    beside_hook, share = added["ours"] - added["idle"], added["ours"] / added["peer"]
    return [
        Claim(f"{size} add beside an idle hook", beside_hook, at_most=4, unit=" %", note=note),
        Claim(f"{size}, of what the peer adds", share, at_most=0.6, note=note),
    ]


class _Idle(AgentMiddleware):
    """The hook that memory needs here, with nothing in it: what langchain takes for having it."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Change nothing."""
        return handler(request.override(system_message=request.system_message))


def _agent(*middleware: Any) -> Any:
    return create_agent(
        BusyModel(calls=_CALLS),
        tools=[look],
        system_prompt="You are a careful helper.",
        middleware=middleware,
    )

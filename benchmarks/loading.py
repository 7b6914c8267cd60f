"""Goals 2, 3 and 4: loading the sources, unchanged and new, and from an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepagents.backends import FilesystemBackend as PeerFiles
from deepagents.middleware.memory import MemoryMiddleware as PeerMemory

from benchmarks._goals import Claim, Goal
from benchmarks._inputs import WIDE, grow_old, memory_files
from benchmarks._turns import WALL, Scale, in_turns
from memoryware import FilesystemBackend, MemoryMiddleware
from memoryware.middleware._loading import MemoryLoader

_COUNTS = (1, 3, 10)
_SIZES = {"2 KB": 2_000, "20 KB": 20_000}


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goals 2, 3 and 4."""
    warm, awaited, cold = [], [], []
    for size, length in _SIZES.items():
        for count in _COUNTS:
            case = _Case(folder / f"loading-{length}-{count}", count, length)
            warm.append(case.warm(scale, f"{count}x{size}"))
            awaited.append(case.awaited(scale, f"{count}x{size}"))
            cold += case.cold(scale, f"{count}x{size}")
    warm.append(_fresh(folder / "loading-fresh"))
    return [
        Goal(2, "`before_agent`, unchanged files", warm),
        Goal(3, "`before_agent`, files never seen", cold),
        Goal(4, "`abefore_agent`, unchanged files", awaited),
    ]


class _Case:
    """So many files of one size, and both middlewares over them."""

    def __init__(self, place: Path, count: int, length: int) -> None:
        self.place, self.paths = place, memory_files(place, count, length)
        self.ours = MemoryMiddleware(
            backend=FilesystemBackend(place), sources=self.paths, limits=WIDE
        )
        self.plain = MemoryMiddleware(
            backend=FilesystemBackend(place), sources=self.paths, limits=WIDE, guard=None
        )
        self.peer = PeerMemory(backend=PeerFiles(place), sources=self.paths)

    def warm(self, scale: Scale, name: str) -> Claim:
        """Every turn after the first: nothing has changed on disk."""
        times = in_turns(
            {
                "ours": lambda: self.ours.before_agent({}, None, {}),
                "peer": lambda: self.peer.before_agent({}, None, {}),
            },
            scale.rounds,
        )
        note = f"{times.text('peer')} against {times.text('ours')}"
        what = f"{name}, faster than the peer"
        return Claim(what, times.ratio("peer", "ours"), at_least=8, note=note)

    def awaited(self, scale: Scale, name: str) -> Claim:
        """The same from an event loop."""
        with asyncio.Runner() as runner:
            times = in_turns(
                {
                    "ours": lambda: self.ours.abefore_agent({}, None, {}),
                    "peer": lambda: self.peer.abefore_agent({}, None, {}),
                    "hop": lambda: asyncio.to_thread(int),
                },
                scale.rounds,
                clock=WALL,
                runner=runner,
            )
        note = (
            f"{times.text('peer')} against {times.text('ours')};"
            f" a thread hop alone {times.text('hop')}"
        )
        what = f"{name}, faster than the peer"
        return Claim(what, times.ratio("peer", "ours"), at_least=5, note=note)

    def cold(self, scale: Scale, name: str) -> list[Claim]:
        """The first load of a middleware; the peer's is the same each time."""
        hosts = [str(self.place / path[1:]) for path in self.paths]
        times = in_turns(
            {
                "ours": _forgetful(self.plain),
                "guarded": _forgetful(self.ours),
                "peer": lambda: self.peer.before_agent({}, None, {}),
                "floor": lambda: [_plain(host) for host in hosts],
            },
            scale.rounds,
        )
        looking = f"and looking for secrets as well {times.text('guarded')}"
        note = f"{times.text('ours')} against {times.text('floor')}; {looking}"
        peer = f"{times.text('peer')} against {times.text('ours')}"
        return [
            Claim(
                f"{name}, against `open`, read, decode",
                times.ratio("ours", "floor"),
                None,
                2.5,
                note=note,
            ),
            Claim(f"{name}, faster than the peer", times.ratio("peer", "ours"), 2, note=peer),
        ]


def _forgetful(memory: MemoryMiddleware) -> Callable[[], Any]:
    """Return a call that loads with nothing remembered, as after the start of a process."""

    def load() -> Any:
        memory._loader = MemoryLoader(memory._reading)
        return memory.before_agent({}, None, {})

    return load


def _plain(host: str) -> str:
    with open(host, "rb") as file:
        return file.read().decode()


def _fresh(place: Path) -> Claim:
    """See whether the next turn knows an edit that kept length and name of the file."""
    paths = memory_files(place, 1, 2_000)
    ours = MemoryMiddleware(backend=FilesystemBackend(place), sources=paths, limits=WIDE)
    file, seen, edits = place / paths[0][1:], 0, 200
    for number in range(edits):
        ours.before_agent({}, None, {})
        text = f"# Edit {number:04d}\n"
        if number % 2:  # in place, as an editor does; else by a new file, as git does
            file.write_text(text, encoding="utf-8")
        else:
            new = file.with_suffix(".new")
            new.write_text(text, encoding="utf-8")
            new.replace(file)
        if number % 5 == 0:
            grow_old(file)
        loaded = ours.before_agent({}, None, {})
        seen += loaded == {"memory_contents": {paths[0]: text}}
    what = f"{edits} edits on disk of equal length, seen in the next turn"
    return Claim(what, seen, at_least=edits, unit="")

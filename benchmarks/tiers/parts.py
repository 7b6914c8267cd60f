"""The parts of a run, each of which is measured in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.load import run as load
from benchmarks.tiers import hooks, recall, servers, sqlite
from benchmarks.tiers.results import Results


def _short(layout: sqlite.Layout) -> str:
    return layout.name.replace(" in one group", "-single").replace(" of ", "-of-")


LAYOUTS = tuple(map(_short, sqlite.LAYOUTS))
LONG = (_short(sqlite.MILLION), "load", "recall")
"""Parts that take long, and are left out unless they are named or the page is written."""
PARTS = (*LAYOUTS, "servers", "hooks", "load", "recall")


@dataclass(frozen=True)
class Scale:
    """How thorough a run is.

    Attributes:
        rounds: Rounds of each operation.
        quick: With few memories, to see that it works.
        locomo: The file of LoCoMo, if recall is to be measured on it.
        chats: The same of chats with an assistant, a folder or zip of JSON Lines.
    """

    rounds: int
    quick: bool = False
    locomo: Path | None = None
    chats: Path | None = None


def part(name: str, scale: Scale, folder: Path) -> Results:
    """Measure one part.

    Args:
        name: One of `PARTS`.
        scale: How thoroughly.
        folder: An empty folder for its files.
    """
    if name == "hooks":
        return hooks.measure(scale.rounds, folder)
    if name == "servers":
        return servers.measure(scale.rounds, 4_000 if scale.quick else 10_000)
    if name == "load":
        return load.measure(quick=scale.quick)
    if name == "recall":
        return recall.measure(scale.locomo, scale.chats, folder)
    layouts = {
        _short(layout): layout for layout in (sqlite.QUICK if scale.quick else sqlite.LAYOUTS)
    }
    return sqlite.measure(layouts[name], scale.rounds, folder)

"""The parts of a run, each of which is measured in a process of its own."""

from __future__ import annotations

from pathlib import Path

from benchmarks.tiers import hooks, servers, sqlite
from benchmarks.tiers.results import Results


def _short(layout: sqlite.Layout) -> str:
    return layout.name.replace(" in one group", "-single").replace(" of ", "-of-")


LAYOUTS = tuple(map(_short, sqlite.LAYOUTS))
PARTS = (*LAYOUTS, "servers", "hooks")


def part(name: str, rounds: int, folder: Path, *, quick: bool) -> Results:
    """Measure one part.

    Args:
        name: One of `PARTS`.
        rounds: Rounds of each operation.
        folder: An empty folder for its files.
        quick: With few memories, to see that it works.
    """
    if name == "hooks":
        return hooks.measure(rounds, folder)
    if name == "servers":
        return servers.measure(rounds, 4_000 if quick else 10_000)
    layouts = {_short(layout): layout for layout in (sqlite.QUICK if quick else sqlite.LAYOUTS)}
    return sqlite.measure(layouts[name], rounds, folder)

"""How fast memory is, held in turns against others and against what is possible at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from memoryware.bench.speed.plot import draw, matplotlib
from memoryware.bench.speed.report import Report
from memoryware.bench.speed.running import Wanted, run
from memoryware.bench.speed.showing import text_of
from memoryware.errors import SettingError

__all__ = ["Report", "Wanted", "command", "json_of", "run", "text_of"]
_SIZES, _ROUNDS = (1000, 10_000, 100_000), 15
_QUICK_SIZES, _QUICK_ROUNDS = (1000, 10_000), 5
_MILLION = 1_000_000


def json_of(report: Report) -> str:
    """Return everything that was found as JSON."""
    return json.dumps(report.as_json(), indent=1, ensure_ascii=False) + "\n"


def command(
    *,
    sizes: Sequence[int] | None = None,
    rounds: int | None = None,
    peers: Sequence[str] | None = None,
    json_path: str | Path | None = None,
    plot_path: str | Path | None = None,
    million: bool = False,
    quick: bool = False,
    store: str = "",
    postgres: str = "",
    patience: float = 30.0,
    alone: bool = True,
    out: Callable[[str], object] | None = None,
    say: Callable[[str], object] | None = None,
) -> Report:
    """Measure the speed of memory, print tables, and return what was found.

    Args:
        sizes: Numbers of memories; 1,000, 10,000 and 100,000 by default.
        rounds: Turns that each side gets for each operation; 15 by default.
        peers: Names of those that ours is held against; all that can run here by default.
        json_path: A file for everything that was found, as JSON.
        plot_path: A picture of how searches grow; its ending says its form, such as .svg.
        million: One size more: a million memories.
        quick: 1,000 and 10,000 memories and few rounds: to see that it works.
        store: The address of a store for ours; a new SQLite file by default.
        postgres: The address of a scratch database for PostgresStore.
        patience: Seconds after which an operation gets no further round.
        alone: Measure memory too, for which each side gets a process of its own.
        out: Is given the tables; they are printed by default.
        say: Is given a line for each step; by default they go to standard error.

    Raises:
        SettingError: For an unknown peer, a size or a number of rounds that cannot be, or
            without NumPy; with `plot_path`, without matplotlib. For a file in no folder.
        StoreUnavailable: If the store cannot be opened.
    """
    if sizes is None:
        sizes = _QUICK_SIZES if quick else _SIZES
    if rounds is None:
        rounds = _QUICK_ROUNDS if quick else _ROUNDS
    wanted = Wanted(
        sizes=[*sizes, *([_MILLION] if million else [])],
        rounds=rounds,
        peers=peers,
        store=store,
        postgres=postgres,
        patience=patience,
        alone=alone,
    )

    if plot_path is not None:
        matplotlib()  # not at the end of a long run
    for path in (json_path, plot_path):
        if path is not None and not Path(path).parent.is_dir():
            raise SettingError(f"{path}: there is no folder for it")
    tell = say or sys.stderr.write

    def kept(report: Report) -> None:
        if json_path is not None:
            Path(json_path).write_text(json_of(report), encoding="utf-8")

    report = run(wanted, lambda line: tell(f"{line}\n"), kept)
    (out or sys.stdout.write)(text_of(report))
    if plot_path is not None:
        draw(report, Path(plot_path))
    return report

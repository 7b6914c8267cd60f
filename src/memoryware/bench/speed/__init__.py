"""How fast memory is, held in turns against others and against what is possible at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from memoryware.bench.speed.plot import draw
from memoryware.bench.speed.report import Report
from memoryware.bench.speed.running import Wanted, run
from memoryware.bench.speed.showing import text_of

__all__ = ["Report", "Wanted", "command", "run", "text_of"]
_SIZES, _ROUNDS = (1000, 10_000, 100_000), 15
_QUICK_SIZES, _QUICK_ROUNDS = (1000, 10_000), 5
_MILLION = 1_000_000


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
    out: Callable[[str], object] = sys.stdout.write,
    say: Callable[[str], object] = sys.stderr.write,
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
        out: Is given the tables.
        say: Is given a line for each step.

    Raises:
        SettingError: For an unknown peer, a size or a number of rounds that cannot be, or
            without NumPy; with `plot_path`, without matplotlib.
        StoreUnavailable: If the store cannot be opened.
    """
    chosen = [*(sizes or (_QUICK_SIZES if quick else _SIZES)), *([_MILLION] if million else [])]
    wanted = Wanted(
        sizes=chosen,
        rounds=rounds or (_QUICK_ROUNDS if quick else _ROUNDS),
        peers=peers,
        store=store,
        postgres=postgres,
        patience=patience,
        alone=alone,
    )

    def kept(report: Report) -> None:
        if json_path is not None:
            text = json.dumps(report.as_json(), indent=1, ensure_ascii=False)
            Path(json_path).write_text(text + "\n", encoding="utf-8")

    report = run(wanted, lambda line: say(f"{line}\n"), kept)
    out(text_of(report))
    if plot_path is not None:
        draw(report, Path(plot_path))
    return report

"""`python -m memoryware.bench.speed`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from memoryware.bench.speed import command
from memoryware.bench.speed.running import PEERS, alone
from memoryware.errors import MemorywareError


def main(given: Sequence[str] | None = None) -> int:
    """Measure what was asked for; return 2 if it cannot be."""
    options = vars(_parser().parse_args(given))
    if of := options.pop("alone_of"):
        name, size, later, folder = of
        sys.stdout.write(f"{alone(name, int(size), int(later), folder)}\n")
        return 0
    try:
        command(**options)
    except MemorywareError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memoryware bench speed", description="Measure how fast memory is, against others."
    )
    parser.add_argument("--sizes", type=_numbers, metavar="N,N,...")
    parser.add_argument("--rounds", type=int, metavar="N")
    names = ", ".join(one.name for one in PEERS)
    parser.add_argument("--peers", type=_names, metavar="NAME,...", help=f"some of {names}")
    parser.add_argument("--json", dest="json_path", metavar="FILE.json")
    parser.add_argument("--plot", dest="plot_path", metavar="FILE.svg")
    parser.add_argument("--million", action="store_true", help="a million memories as well")
    parser.add_argument("--quick", action="store_true", help="1,000 and 10,000 only, few rounds")
    parser.add_argument("--store", default="", metavar="URL", help="where ours keeps memories")
    parser.add_argument("--postgres", default="", metavar="URL", help="for PostgresStore")
    parser.add_argument("--patience", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument(
        "--no-memory", dest="alone", action="store_false", help="do not measure memory"
    )
    parser.add_argument("--alone", dest="alone_of", nargs=4, help=argparse.SUPPRESS)
    return parser


def _numbers(text: str) -> list[int]:
    return [int(one) for one in text.replace("_", "").split(",")]


def _names(text: str) -> list[str]:
    return [one.strip() for one in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks [NAMES...] [--quick | --full] [--write]`: measure, and print a table."""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from benchmarks._goals import Goal
from benchmarks._page import facts, table, write
from benchmarks._processes import measured_alone
from benchmarks._turns import Scale

SUBJECTS = {
    "prompt": "1 and 5",
    "loading": "2, 3 and 4",
    "agent_step": "6",
    "checkpoints": "7",
    "threads": "8",
    "files": "10, 11, 14, 15 and 20",
    "grepping": "12 and 13",
    "routes": "16",
    "store": "17",
    "accidents": "18 and 19",
    "crowd": "21",
    "imports": "22",
}
"""Modules of this package, with the numbers of their goals."""


def main() -> int:
    """Measure what was asked for; 1 if a subject could not be measured."""
    options = _options()
    scale = Scale(rounds=3) if options.quick else Scale(rounds=7, full=options.full)
    goals: list[Goal] = []
    failed = []
    about = facts()
    for name in options.names or SUBJECTS:
        start = time.monotonic()
        print(f"{name} ...", end=" ", flush=True, file=sys.stderr)
        try:
            goals += measured_alone(name, scale)
        except Exception:
            failed.append(name)
            traceback.print_exc()
        print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    goals.sort(key=lambda goal: goal.number)
    print("\n".join(["", *about, "", *table(goals)]))
    if failed:
        print(f"\nNot measured, because of an error: {', '.join(failed)}")
    elif options.write:
        write(goals, about, whole=not options.names)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    names = "; ".join(f"{name}: goal {numbers}" for name, numbers in SUBJECTS.items())
    parser = argparse.ArgumentParser(prog="python -m benchmarks", epilog=names)
    parser.add_argument("names", nargs="*", metavar="NAME", help="subjects; all if none is given")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="three rounds of each")
    how.add_argument("--full", action="store_true", help="with trees of 50,000 files; slow")
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in SUBJECTS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}. There are {', '.join(SUBJECTS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.tiers [PARTS...]`: what operations of the tiers cost, beside peers."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from benchmarks._page import commit, facts
from benchmarks.load import page as load_page
from benchmarks.tiers import page
from benchmarks.tiers.parts import LAYOUTS, LONG, PARTS, Scale, part
from benchmarks.tiers.results import MEASURED, Results

_PACKAGES = ("langgraph-checkpoint-postgres", "numpy")
Part = Callable[[Path], Results]


def main() -> int:
    """Measure what was asked for; 1 if a part failed."""
    options = _options()
    results = Results(about=_about())
    scale = Scale(options.rounds, options.quick, options.locomo, options.chats)
    for name in options.parts:
        start = time.monotonic()
        print(f"{name} ...", end=" ", flush=True, file=sys.stderr)
        try:
            results.merge(_alone(partial(part, name, scale)))
        except Exception as error:  # the other parts are worth their time
            traceback.print_exc()
            results.failed[name] = f"{type(error).__name__}: {error}".partition("\n")[0]
        results.seconds[name] = round(time.monotonic() - start)
        print(f"{results.seconds[name]:.0f} s", file=sys.stderr)
        if options.json:
            results.write(options.json)
    print(page.whole(results))
    if options.page:
        _write_pages(results)
    return 1 if results.failed else 0


def _write_pages(results: Results) -> None:
    """Make the page "Measured" and the load section of the README from the results."""
    if results.load:
        load_page.write(results.load)
    made = Path(__file__).resolve().parents[2] / "docs" / "hooks" / "made.py"
    subprocess.run([sys.executable, made], check=True)


def _alone(call: Part) -> Results:
    """Run a part in a new process: what came before would count in memory and caches."""
    with (
        tempfile.TemporaryDirectory(prefix="tiers-") as folder,
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
    ):
        return pool.submit(call, Path(folder)).result()


def _about() -> dict[str, object]:
    machine, ours = facts()
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return {"machine": machine, "packages": f"{ours[:-1]}, {packages}.", "commit": commit()}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tiers", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument(
        "--page",
        action="store_true",
        help="all parts, with a million memories, load and recall: about 30 minutes and 5 GB of"
        " disk; then write measured.json, the page docs/measured.md and the load section of"
        " benchmarks/README.md from this one run",
    )
    parser.add_argument("--million", action="store_true", help="with a million memories as well")
    parser.add_argument("--locomo", type=Path, help="the file of LoCoMo, for recall")
    parser.add_argument("--chats", type=Path, help="a folder or zip of chats, for recall")
    parser.add_argument("--quick", action="store_true", help="few memories: whether it works")
    parser.add_argument("--rounds", type=int, default=0, help="rounds of each operation; 9")
    parser.add_argument("--json", type=Path, help="a file for everything that was measured")
    options = parser.parse_args()
    unknown = {*options.parts} - {*PARTS}
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if options.page and (options.quick or options.parts or options.json):
        parser.error("--page is one whole run: leave out parts, --quick and --json")
    for path in (options.locomo, options.chats):
        if path is not None and not path.exists():
            parser.error(f"no such file: {path}")
    options.rounds = options.rounds or (3 if options.quick else 9)
    if options.page:
        options.json, options.parts = MEASURED, [*PARTS]
    elif not options.parts:
        left_out = {*LONG} - ({LAYOUTS[-1]} if options.million else set())
        options.parts = [name for name in PARTS if name not in left_out]
    return options


if __name__ == "__main__":
    sys.exit(main())

"""Many processes on one PostgreSQL and one Redis, in turns with LangGraph's PostgresStore.

`python -m benchmarks.load`: processes record, promote and retrieve for many groups, first mixed
and then one kind after the other; both servers are killed in the middle and started again, and
at the end everything that was confirmed must be there, once, in its group. Otherwise this ends
with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.load import page
from benchmarks.load.check import check_ours, check_theirs, read
from benchmarks.load.making import DIMENSION, WordEmbeddings
from benchmarks.load.making import groups as groups_of
from benchmarks.load.servers import Servers, running
from benchmarks.load.sides import LangGraph, Tiers, langgraph_store
from benchmarks.tiers.results import Results
from memoryware import TieredMemory

_TURN = 10.0
"""Seconds that one side works before the other does, at most."""
_OPENING = 120.0
_CLOSING = 180.0
_PACKAGES = ("memoryware", "langgraph-checkpoint-postgres", "psycopg", "psycopg-pool", "redis")


@dataclass(frozen=True)
class Load:
    """What a load run has shown.

    Attributes:
        lines: The figures and the verdict in Markdown.
        ratios: How many operations of ours were confirmed for one of the peer's, by phase.
        is_sound: Whether everything of ours that was confirmed is there, once, in its place.
    """

    lines: list[str]
    ratios: dict[str, float]
    is_sound: bool


def main(args: Sequence[str] | None = None) -> int:
    """Do the run and print what came of it; 1 if anything of ours is lost, doubled or misplaced."""
    load = run(_options(args))
    print("\n".join(load.lines))
    return 0 if load.is_sound else 1


def run(options: argparse.Namespace) -> Load:
    """Start the servers, let the processes work, and check what they left."""
    turns = max(1, round(options.seconds / _TURN)) if options.seconds > 2 * _TURN else 2
    turn = options.seconds / turns
    groups = groups_of(options.groups)
    with running() as servers, tempfile.TemporaryDirectory() as folder:
        _make(servers)
        about = _about(options, servers, turn)
        restarts = _run(options, servers, Path(folder), turns, turn)
        sides = read(Path(folder))
        ours = check_ours(servers, sides[Tiers.name], groups)
        theirs = check_theirs(servers, sides[LangGraph.name])
    lines = [*about, "", *page.figures(sides, options.seconds), ""]
    lines += [f"- {one}" for one in page.outages(sides, restarts)]
    for name, journals in sides.items():
        lines += [f"- {one}" for one in page.errors(name, journals)]
    lines += [f"- {page.answers(name, journals)}" for name, journals in sides.items()]
    for name, checked in ((Tiers.name, ours), (LangGraph.name, theirs)):
        first, *rest = page.verdict(name, checked, sides[name])
        lines += [f"- {first}", *rest]
    if not sides[Tiers.name].done:
        lines.append("Nothing was confirmed at all.")
    return Load(lines, page.ratios(sides), bool(sides[Tiers.name].done) and not ours.wrong)


def measure(*, quick: bool) -> Results:
    """Do a load run as a part of the page "Measured".

    Args:
        quick: Few processes for some seconds, to see that it works.

    Raises:
        RuntimeError: If anything of ours is lost, doubled or misplaced.
    """
    small = ["--seconds", "4", "--processes", "2", "--groups", "6"]
    load = run(_options(small if quick else ["--seconds", "60"]))
    if not load.is_sound:
        raise RuntimeError("\n".join(load.lines))
    values = {f"load, {kind}: ours / PostgresStore": ratio for kind, ratio in load.ratios.items()}
    return Results(values=values, load=load.lines)


def _make(servers: Servers) -> None:
    """Let both sides make their tables, as a service does before its processes start."""
    TieredMemory.open(servers.ours, embeddings=WordEmbeddings()).close()
    with langgraph_store(servers.theirs, WordEmbeddings()) as store:
        store.setup()


def _run(
    options: argparse.Namespace, servers: Servers, folder: Path, turns: int, turn: float
) -> list[page.Outage]:
    """Let the processes work, and kill the servers in the middle of both halves."""
    config = {
        "ours": servers.ours, "theirs": servers.theirs, "folder": str(folder),
        "groups": options.groups, "turns": turns, "turn": turn,
    }  # fmt: skip
    restarts = []
    with ExitStack() as stack:
        profiles = {0: options.profile}
        workers = [
            _started(stack, {**config, "number": n, "profile": profiles.get(n)})
            for n in range(options.processes)
        ]
        with ThreadPoolExecutor(len(workers)) as waiting:
            ready = [waiting.submit(one.stdout.readline) for one in workers]
            assert all(one.result(_OPENING) == "ready\n" for one in ready), "a process failed"
        start = time.monotonic() + 0.5
        for one in workers:
            one.stdin.write(f"{start}\n")
            one.stdin.flush()
        for number, name in enumerate((Tiers.name, LangGraph.name)):
            if options.restart and servers.own:
                moment = start + (turns // 2 * 2 + number + 0.2) * turn
                time.sleep(max(0.0, moment - time.monotonic()))
                begin = time.monotonic()
                restarts.append(page.Outage(name, begin, servers.restart()))
        end = start + 2 * turns * turn + _CLOSING
        codes = [one.wait(max(1.0, end - time.monotonic())) for one in workers]
    assert not any(codes), f"processes ended with {codes}"
    return restarts


def _started(stack: ExitStack, config: dict[str, object]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.load.worker", json.dumps(config)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip
    stack.callback(process.wait, 10)
    stack.callback(process.kill)
    return process


def _about(options: argparse.Namespace, servers: Servers, turn: float) -> list[str]:
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return [
        (
            f"{datetime.now(UTC):%Y-%m-%d}; {os.cpu_count()} cores, {platform.system()},"
            f" {platform.python_implementation()} {platform.python_version()}; load at the start"
            f" {load:.1f}. {servers.about()}."
        ),
        f"{packages}.",
        (
            f"{options.processes} processes, {options.groups} groups,"
            f" {options.seconds:g} seconds for each side in turns of {turn:g}; vectors of"
            f" {DIMENSION} dimensions."
        ),
    ]


def _options(args: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load")
    parser.add_argument("--seconds", type=float, default=120, help="for each of the two sides")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--no-restart", dest="restart", action="store_false")
    parser.add_argument("--profile", metavar="FILE", help="where the first process is spending it")
    return parser.parse_args(args)

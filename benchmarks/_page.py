"""The table of results, and the facts that belong to it."""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median

import memoryware
from benchmarks._goals import Goal

PAGE = Path(__file__).with_name("README.md")
_BEGIN, _END = "<!-- results: begin -->", "<!-- results: end -->"
_PACKAGES = ("memoryware", "deepagents", "langchain", "langgraph", "langgraph-checkpoint-sqlite")
_HEAD = "| # | measured | goal | result | |"
_RULE = "|---|---|---|---|---|"


def facts() -> list[str]:
    """Return what a reader has to know about the machine and the moment."""
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return [
        (
            f"{datetime.now(UTC):%Y-%m-%d}; {os.cpu_count()} cores, {platform.system()},"
            f" {platform.python_implementation()} {platform.python_version()}; load at the start"
            f" {load:.1f}; a flush of a small file takes {_flush() * 1000:.1f} ms."
        ),
        f"{packages}.",
    ]


def commit() -> str:
    """Return the commit of the code that is measured, with "-dirty" where it was changed."""
    folder = Path(memoryware.__file__).parent
    git = subprocess.run(
        ["git", "-C", folder, "describe", "--always", "--dirty", "--abbrev=7", "--exclude=*"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return git.stdout.strip()


def _flush() -> float:
    """Return the median seconds that the disk takes to make a few bytes last."""
    taken = []
    with tempfile.TemporaryFile() as file:
        for _ in range(15):
            file.write(b"x" * 512)
            file.flush()
            start = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - start)
    return median(taken)


def table(goals: Sequence[Goal]) -> list[str]:
    """Return the lines of the table, one row for each claim."""
    lines = [_HEAD, _RULE]
    for goal in goals:
        lines.append(f"| **{goal.number}** | **{goal.what}** | | | |")
        lines += [
            f"| | {claim.what} | {claim.limit} | {claim.figure} | {claim.verdict} |"
            for claim in goal.claims
        ]
    met = sum(claim.met is True for goal in goals for claim in goal.claims)
    judged = sum(claim.met is not None for goal in goals for claim in goal.claims)
    return [*lines, "", f"{met} of {judged} figures meet their goal."]


def write(goals: Sequence[Goal], about: Sequence[str], *, whole: bool) -> None:
    """Put the table between its marks on the page.

    Raises:
        SystemExit: If only a part was measured; a page with old and new rows would mislead.
    """
    if not whole:
        raise SystemExit("--write needs all subjects; leave the names away")
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    if not rest or not after:
        raise SystemExit(f"{PAGE.name} has lost the marks {_BEGIN} and {_END}")
    block = "\n".join([_BEGIN, "", *about, "", *table(goals), "", _END])
    PAGE.write_text(before + block + after, encoding="utf-8")

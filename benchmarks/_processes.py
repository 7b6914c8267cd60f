"""Other processes: subjects and modules of this package, and ripgrep.

Each subject is measured in a process that has done nothing else before. What came before would
count otherwise: how the allocator hands out large pieces alone makes some calls three times
faster or slower.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from deepagents.backends.filesystem import _resolve_ripgrep_path

from benchmarks._goals import Goal
from benchmarks._turns import Scale

_HERE = Path(__file__).resolve().parent.parent


def measured_alone(name: str, scale: Scale) -> list[Goal]:
    """Measure the goals of a subject in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measured, name, scale).result()


def _measured(name: str, scale: Scale) -> list[Goal]:
    logging.getLogger("memoryware").setLevel(logging.ERROR)  # bad inputs are measured on purpose
    with tempfile.TemporaryDirectory(prefix="memoryware-bench-") as folder:
        goals: list[Goal] = import_module(f"benchmarks.{name}").goals(scale, Path(folder))
    return goals


def output_of(module: str, *args: object) -> str:
    """Run a module of this package in a process of its own and return what it prints."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, args)]
    done = subprocess.run(command, cwd=_HERE, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def ripgrep() -> str | None:
    """Return the ripgrep that goes with this Python, or else the one on the path."""
    beside = Path(sys.executable).with_name("rg")
    return str(beside) if beside.exists() else shutil.which("rg")


@contextmanager
def search_path(folder: Path, program: str | None) -> Iterator[None]:
    """Have both sides find this ripgrep, or none at all."""
    before = os.environ["PATH"]
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = str(folder if program is None else Path(program).parent)
    _resolve_ripgrep_path.cache_clear()
    try:
        yield
    finally:
        os.environ["PATH"] = before
        _resolve_ripgrep_path.cache_clear()

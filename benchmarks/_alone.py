"""Each subject in a process that has done nothing else before.

What came before would count otherwise: how the allocator hands out large pieces alone makes
some calls three times faster or slower.
"""

from __future__ import annotations

import logging
import tempfile
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from benchmarks._goals import Goal
from benchmarks._turns import Scale


def measured_alone(name: str, scale: Scale) -> list[Goal]:
    """Measure the goals of a subject in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measured, name, scale).result()


def _measured(name: str, scale: Scale) -> list[Goal]:
    logging.getLogger("memoryware").setLevel(logging.ERROR)  # bad inputs are measured on purpose
    with tempfile.TemporaryDirectory(prefix="memoryware-bench-") as folder:
        goals: list[Goal] = import_module(f"benchmarks.{name}").goals(scale, Path(folder))
    return goals

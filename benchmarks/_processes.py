"""Starting other processes: parts of this package, and ripgrep."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deepagents.backends.filesystem import _resolve_ripgrep_path

_HERE = Path(__file__).resolve().parent.parent


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

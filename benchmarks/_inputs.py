"""Memory texts, trees of files, and middleware in the forms that are measured."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from memoryware.settings import MemoryLimits

WIDE = MemoryLimits(source_tokens=10**9, total_tokens=10**9)
"""Nothing is cut, so that both sides show the same text."""
_LINE = "- Keep functions short, and run the tests before each commit (note {:05d}).\n"
_PER_FOLDER = 50
NEEDLE = "the needle in the hay"
SHARE = 5
"""One file in so many holds the text `COMMON`."""
COMMON = "asked for a review"


def memory_text(size: int) -> str:
    """Return a memory file of this many characters: headings and lists, all ASCII."""
    lines, length, number = [], 0, 0
    while length < size:
        line = f"## Part {number}\n\n" if number % 25 == 0 else _LINE.format(number)
        lines.append(line)
        length += len(line)
        number += 1
    return "".join(lines)[: size - 1] + "\n"


def memory_files(folder: Path, count: int, size: int) -> list[str]:
    """Write so many memory files of this size, an hour old, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(count):
        name = f"AGENTS-{number}.md"
        path = folder / name
        path.write_text(f"# File {number}\n" + memory_text(size - 9), encoding="utf-8")
        grow_old(path)
        paths.append(f"/{name}")
    return paths


def grow_old(path: Path, seconds: float = 3600) -> None:
    """Make a file look as if nobody had touched it for a while."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def tree_of(folder: Path, count: int) -> Path:
    """Return a tree of so many small files, which is written at the first call.

    Fifty are in each folder, a third is `.py`; one file in five holds `COMMON`, one in a
    thousand `NEEDLE`.
    """
    root = folder / f"tree-{count}"
    if not root.exists():
        _plant(root, count)
    return root


def _plant(folder: Path, count: int) -> None:
    for number in range(count):
        place = folder / f"area{number // (_PER_FOLDER * 20):03d}" / f"p{number // _PER_FOLDER:04d}"
        if number % _PER_FOLDER == 0:
            place.mkdir(parents=True)
        ending = ("py", "md", "txt")[number % 3]
        lines = [_LINE.format(number + line) for line in range(12)]
        if number % SHARE == 0:
            lines[4] = f"Somebody {COMMON} of number {number}.\n"
        if number % 1000 == 7:
            lines[8] = f"Here is {NEEDLE}.\n"
        (place / f"file{number:05d}.{ending}").write_text("".join(lines), encoding="utf-8")


def contents_of(folder: Path, paths: list[str]) -> dict[str, str]:
    """Return the texts by path, as a state carries them."""
    return {path: (folder / path[1:]).read_text(encoding="utf-8") for path in paths}


def in_node(middleware: Any) -> dict[str, Any]:
    """Return the config that a graph gives to the middleware's own node."""
    return {"metadata": {"langgraph_node": f"{middleware.name}.before_agent"}}

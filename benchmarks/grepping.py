"""Goals 12 and 13: searching in files, with ripgrep installed and without."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepagents.backends import FilesystemBackend as PeerFiles

from benchmarks._goals import Claim, Goal
from benchmarks._inputs import COMMON, NEEDLE, tree_of
from benchmarks._processes import ripgrep, search_path
from benchmarks._turns import WALL, Scale, in_turns
from memoryware import FilesystemBackend


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goals 12 and 13."""
    program = ripgrep()
    without, with_it = [], []
    for count in (10_000, 50_000) if scale.full else (10_000,):
        root = tree_of(folder, count)
        name = f"in {count:,} files"
        with search_path(folder / "empty", None):
            without += _without(scale, root, name, program)
        if program is not None:
            with search_path(folder / "empty", program):
                with_it += _with(scale, root, name, program)
    return [
        Goal(12, "`grep` where ripgrep is not installed", without),
        Goal(13, "`grep` where ripgrep is installed", with_it),
    ]


def _without(scale: Scale, root: Path, name: str, program: str | None) -> list[Claim]:
    calls = {**_calls(root, NEEDLE, program), "plain": lambda: _plain(str(root), NEEDLE.encode())}
    times = in_turns(calls, scale.share(0.7), clock=WALL)
    note = f"{times.text('peer')} against {times.text('ours')}"
    what = f"a rare text {name}, faster than the peer"
    claims = [Claim(what, times.ratio("peer", "ours"), at_least=6, note=note)]
    if program is not None:
        note = (
            f"`rg -n` {times.text('floor')};"
            f" the plainest loop in Python {times.ratio('plain', 'floor'):.2f}x"
        )
        ratio = times.ratio("ours", "floor")
        what = f"a rare text {name}, against `rg -n`"
        claims.append(Claim(what, ratio, at_most=1.5, note=note))
    return claims


def _with(scale: Scale, root: Path, name: str, program: str) -> list[Claim]:
    times = in_turns(_calls(root, COMMON, program), scale.share(0.7), clock=WALL)
    ours, floor = times.text("ours"), times.text("floor")
    note = f"{times.text('peer')} against {ours}; `rg -n` {floor}"
    what = f"a text in each fifth file {name}, faster than the peer"
    return [Claim(what, times.ratio("peer", "ours"), at_least=1.8, note=note)]


def _calls(root: Path, text: str, program: str | None) -> dict[str, Callable[[], Any]]:
    ours, peer = FilesystemBackend(root), PeerFiles(root)
    mine, theirs = ours.grep(text, "/").matches, peer.grep(text, "/").matches
    if _places(mine) != _places(theirs):
        raise AssertionError("the sides find different lines")
    calls: dict[str, Callable[[], Any]] = {
        "ours": lambda: ours.grep(text, "/"),
        "peer": lambda: peer.grep(text, "/"),
    }
    if program is not None:
        command = [program, "-n", "-F", "-e", text, "."]
        calls["floor"] = lambda: subprocess.run(
            command, cwd=root, stdout=subprocess.PIPE, check=True
        )
    return calls


def _plain(folder: str, text: bytes) -> int:
    """Count the files with a text: nothing is checked, sorted, limited or told."""
    count = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                count += _plain(entry.path, text)
                continue
            file = os.open(entry.path, os.O_RDONLY)
            count += text in os.read(file, 1 << 16)
            os.close(file)
    return count


def _places(matches: Any) -> list[tuple[str, int]]:
    return sorted((one["path"], one["line"]) for one in matches)

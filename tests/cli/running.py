"""Running the command: as a process, or in this one for speed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

import typer

from memoryware.cli.main import main

command_of = cache(typer.main.get_command)
"""What typer makes of all commands, which takes five times as long as to run one."""

COMMAND = [sys.executable, "-m", "memoryware"]


@dataclass
class Ran:
    """What the command said, and its exit code."""

    code: int
    out: str
    err: str


def process(*args, cwd, **more):
    """Run the command as a person does."""
    ran = subprocess.run(
        [*COMMAND, *map(str, args)],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "USER": "ann"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=50,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        **more,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def here(monkeypatch, capsys, *args):
    """Run the command in this process, from its beginning to its exit code."""
    monkeypatch.setattr(sys, "argv", ["memoryware", *map(str, args)])
    monkeypatch.setattr(typer.main, "get_command", command_of)
    code = 0
    try:
        main()
    except SystemExit as left:
        code = left.code or 0
    captured = capsys.readouterr()
    return Ran(code, captured.out, captured.err)

"""Records a session of the command line, from commands that are really run, as a picture.

Run this file to make `docs/img/command-line.svg` anew.
"""
# ruff: noqa: INP001, S603, T201 - a script beside the pages

from __future__ import annotations

import io
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

PICTURE: Final = Path(__file__).parents[1] / "img" / "command-line.svg"
WIDE: Final = 100
FONTS: Final = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
"""Fonts from another host: the picture must show without a network."""
SESSION: Final = (
    ("init --group shop", ""),
    ("add 'We deploy on Fridays.'", ""),
    ("promote {id}", ""),
    ("add 'We deploy on Mondays, not on Fridays.' --by agent:helper", ""),
    ("review", "i"),
    ("search 'when do we deploy?' --explain", ""),
    ("revoke {id} --dry-run", ""),
    ("doctor --quick", ""),
)


def run(command: str, keys: str, folder: str) -> str:
    """Return what a command prints on a terminal, with its colours."""
    mine, theirs = pty.openpty()
    ran = subprocess.Popen(
        [sys.executable, "-m", "memoryware", *shlex.split(command)],
        cwd=folder,
        env={**os.environ, "USER": "ann", "COLUMNS": str(WIDE), "TERM": "xterm-256color"},
        stdin=subprocess.PIPE if keys else theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    if ran.stdin:
        ran.stdin.write("".join(f"{key}\n" for key in keys).encode())
        ran.stdin.close()
    shown = b""
    try:
        while some := os.read(mine, 4096):
            shown += some
    except OSError:  # the command has ended
        pass
    ran.wait(timeout=60)
    os.close(mine)
    return shown.decode().replace("\r\n", "\n")


def main() -> None:
    """Run the session, and write the picture."""
    console = Console(record=True, width=WIDE, file=io.StringIO())
    with tempfile.TemporaryDirectory() as outer:
        folder, last = Path(outer, "shop"), ""
        folder.mkdir()
        for command, keys in SESSION:
            typed = command.format(id=last)
            shown = run(typed, keys, str(folder))
            console.print(Text(f"$ memoryware {typed}", style="bold cyan"))
            console.print(Text.from_ansi(shown.rstrip().replace(outer, "/home/ann")))
            console.print()
            # The first: below the results, search names documents, which no command takes.
            last = (re.findall(r"\b[0-9a-f]{8}\b", shown) or [last])[0]
    console.save_svg(
        str(PICTURE), title="memoryware", code_format=FONTS.sub("", CONSOLE_SVG_FORMAT)
    )
    print(PICTURE)


if __name__ == "__main__":
    main()

"""Keys, lines and an editor from a terminal; lines of standard input in a script."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import typer

from memoryware.errors import SettingError

CTRL_C: Final = "\x03"
"""The key of an interrupt."""
_DEFAULT_EDITOR: Final = "vi"


def is_terminal() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin.isatty()


def read_key(prompt: str) -> tuple[str, str]:
    """Read a key from the terminal, or a line of a script.

    Args:
        prompt: Printed on standard error.

    Returns:
        The key, and the rest of the line in a script. The key is "" at the end of the input, and
        `CTRL_C` for that.
    """
    typer.echo(prompt, nl=False, err=True)
    if not is_terminal():
        line = sys.stdin.readline()
        typer.echo("", err=True)
        key = line.strip() or (" " if line else "")
        return key[:1], key[1:].strip()
    try:
        key = typer.getchar()
    except KeyboardInterrupt:
        key = CTRL_C
    except EOFError:
        key = ""
    typer.echo(key if key.isprintable() else "", err=True)
    return key, ""


def read_line(prompt: str) -> str | None:
    """Read a line from the terminal: "" without a terminal, None for Ctrl-C."""
    if not is_terminal():
        return ""
    try:
        return input(prompt).strip()
    except (KeyboardInterrupt, EOFError):
        typer.echo("", err=True)
        return None


def edit_text(text: str) -> str:
    """Edit a text in $VISUAL or $EDITOR, in a temporary file that only this user can read.

    Raises:
        SettingError: If the editor is missing or fails, or there is no terminal.
    """
    if not is_terminal():
        raise SettingError(
            "there is no terminal for an editor; write the new text after the e: e NEW TEXT"
        )
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _DEFAULT_EDITOR
    handle, name = tempfile.mkstemp(prefix="memoryware-", suffix=".md")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        completed = subprocess.run([*shlex.split(editor), name], check=False)  # noqa: S603 - their editor
        if completed.returncode:
            raise SettingError(
                f"the editor failed with exit code {completed.returncode}; nothing was changed"
            )
        return Path(name).read_text(encoding="utf-8", errors="replace").strip("\n")
    except FileNotFoundError:
        raise SettingError(f"the editor {editor!r} was not found; set $EDITOR") from None
    finally:
        Path(name).unlink(missing_ok=True)

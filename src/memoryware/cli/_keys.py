"""Single keys from a terminal; from anywhere else lines, so that a script can press them."""

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

_DEFAULT_EDITOR: Final = "vi"


def is_terminal() -> bool:
    """Say whether a person can press keys here."""
    return sys.stdin.isatty()


def key(prompt: str) -> tuple[str, str]:
    """Return the key that was pressed, and what stands behind it on a line of a script.

    "" at the end of the input, and for Ctrl-C and Ctrl-D.
    """
    typer.echo(prompt, nl=False, err=True)
    if not is_terminal():
        line = sys.stdin.readline()
        typer.echo("", err=True)
        pressed = line.strip() or (" " if line else "")
        return pressed[:1], pressed[1:].strip()
    try:
        pressed = typer.getchar()
    except (KeyboardInterrupt, EOFError):
        pressed = ""
    typer.echo(pressed if pressed.isprintable() else "", err=True)
    return pressed, ""


def line(prompt: str) -> str | None:
    """Return what a person types, "" for nothing; None if they think better of it: Ctrl-C."""
    if not is_terminal():
        return ""
    try:
        return input(prompt).strip()
    except (KeyboardInterrupt, EOFError):
        typer.echo("", err=True)
        return None


def edited(text: str) -> str:
    """Return a text as a person leaves it in $VISUAL or $EDITOR.

    The text stands in a file that only this person can read, and that is gone afterwards.

    Raises:
        SettingError: If there is no such editor, it fails, or there is no terminal for it.
    """
    if not is_terminal():
        raise SettingError("there is no terminal for an editor; write the new text behind the e")
    called = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _DEFAULT_EDITOR
    handle, name = tempfile.mkstemp(prefix="memoryware-", suffix=".md")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        ran = subprocess.run([*shlex.split(called), name], check=False)  # noqa: S603 - their editor
        if ran.returncode:
            raise SettingError(f"the editor ended with {ran.returncode}; nothing was changed")
        return Path(name).read_text(encoding="utf-8", errors="replace").strip("\n")
    except FileNotFoundError:
        raise SettingError(f"there is no editor {called!r}; name yours in $EDITOR") from None
    finally:
        Path(name).unlink(missing_ok=True)

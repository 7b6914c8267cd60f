"""How a command shows what it has to say: tables, progress, files."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from difflib import ndiff
from pathlib import Path
from textwrap import indent
from typing import Any, Final

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from memoryware.errors import SettingError
from memoryware.guard import reveal
from memoryware.tiers.rendering import cut

STDOUT: Final = "-"
"""The name of a file that means: print it."""
DECLINED: Final = 4
"""The exit code if a person said no."""
_WIDE: Final = 200
"""Columns that a table may have where there is no terminal to measure."""
_UNPRINTABLE: Final = re.compile("[\\r\\x0b\\x0c\\x85\\u2028\\u2029\\ud800-\\udfff]")
"""What is left of a text that moves the cursor, or cannot be printed at all."""


def screen() -> Console:
    """Return what prints for people; without colours, and without cutting, into a pipe."""
    is_terminal = sys.stdout.isatty()
    return Console(highlight=False, width=None if is_terminal else _WIDE)


def table(title: str, head: list[str], rows: list[list[str]], *, markdown: bool = False) -> Table:
    """Return a table whose first column is text and whose others are numbers."""
    style = box.MARKDOWN if markdown else box.SIMPLE_HEAD
    made = Table(title=title, title_justify="left", title_style="bold", box=style)
    for place, name in enumerate(head):
        made.add_column(name, justify="right" if place else "left", no_wrap=not place)
    for row in rows:
        made.add_row(*row)
    return made


def grid(head: list[str], rows: list[list[Any]], *, numbers: Collection[str] = ()) -> Table:
    """Return a plain table of texts; the columns that hold numbers stand to the right."""
    made = Table(box=box.SIMPLE_HEAD)
    for name in head:
        is_number = name in numbers
        made.add_column(
            name,
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*(one if isinstance(one, Text) else Text(str(one)) for one in row))
    return made


def document(value: Any) -> None:
    """Print a value as one JSON document."""
    write(STDOUT, json.dumps(value, ensure_ascii=True, indent=2))


def confirm(question: str, *, yes: bool) -> None:
    """Ask a person on the terminal; go on if the answer is yes, or nobody has to be asked.

    Raises:
        SettingError: If nobody can be asked.
        typer.Exit: With code 4, if it was declined.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise SettingError("nobody can be asked here; say --yes to go on without")
    if not typer.confirm(question, err=True):
        raise typer.Exit(DECLINED)


def safe(text: str) -> str:
    """Return a text of memory for a terminal: what hides in it or moves the cursor is spelled.

    Line ends and tabs stay.
    """
    plain = reveal(text.replace("\r\n", "\n"))
    return _UNPRINTABLE.sub(lambda one: f"<U+{ord(one.group()):04X}>", plain)


def one_line(text: str, chars: int = 160) -> str:
    """Return the beginning of a text as one safe line."""
    return cut(safe(" ".join(text[: 4 * chars].split())), chars)


def indented(text: str, by: str = "    ") -> str:
    """Return a text of memory, safe, with every line moved to the right."""
    return indent(safe(text), by, lambda _: True)


def moment(when: datetime | None) -> str:
    """Return a time for people, where they are; "" for none."""
    return "" if when is None else f"{when.astimezone():%Y-%m-%d %H:%M:%S}"


def pairs(rows: Iterable[tuple[str, object]]) -> None:
    """Print names and values below each other; what has no value is left out."""
    known = [(name, safe(str(value))) for name, value in rows if value not in (None, "")]
    wide = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        typer.echo(f"{name + ':':<{wide + 1}} {indent(value, ' ' * (wide + 2)).lstrip()}")


def differences(old: str, new: str) -> list[str]:
    """Return how a new text differs from an old one, line by line, safe and in colours."""
    colors = {"+": "green", "-": "red"}
    lines = ndiff(safe(old).splitlines(), safe(new).splitlines())
    return [
        typer.style(line.rstrip(), fg=colors.get(line[:1]))
        for line in lines
        if not line.startswith("?")
    ]


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show how far something is on the error output, if that is a terminal.

    Yields:
        What is called with the number of steps that are done.
    """
    console = Console(stderr=True)
    columns = TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(
        *columns, console=console, disable=not console.is_terminal, transient=True
    ) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def check_target(option: str, target: str | None, suffix: str = "") -> None:
    """See that a file can be written at the end, before a long run begins.

    Raises:
        SettingError: If it cannot.
    """
    if target is None or (target == STDOUT and not suffix):
        return
    path = Path(target)
    if suffix and path.suffix != suffix:
        raise SettingError(f"{option} {target}: the name must end in {suffix}")
    if not path.parent.is_dir():
        raise SettingError(f"{option} {target}: there is no folder {str(path.parent)!r}")
    if path.is_dir():
        raise SettingError(f"{option} {target}: this is a folder; name a file in it")


def write(target: str, text: str) -> None:
    """Write a text to a file, or print it if its name is "-"."""
    whole = text if text.endswith("\n") else f"{text}\n"
    if target == STDOUT:
        sys.stdout.write(whole)
    else:
        Path(target).write_text(whole, encoding="utf-8")

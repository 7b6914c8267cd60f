"""`memoryware scan`: what a person should mend in memory files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from memoryware.cli import showing
from memoryware.cli._files import Files, Listed, Root, files_of, quietly
from memoryware.errors import SettingError
from memoryware.guard import Guard, reveal
from memoryware.settings import CheckLimits
from memoryware.sources.checking import check

FOUND = 5
"""The exit code if something was found."""


def scan(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders or patterns; without any, what would be loaded."),
    ] = None,
    *,
    root: Root = None,
    source: Listed = None,
    personal: Annotated[
        bool, typer.Option("--personal", help="Look for e-mail addresses and the like as well.")
    ] = False,
    max_bytes: Annotated[
        int | None, typer.Option(min=1, help="Bytes above which a file is too large.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Look for secrets, hidden characters, broken fences and comments, and files too large.

    A secret is never printed, only its line and kind.

    Exit codes: 0 nothing found, 1 a disk or store failed, 2 wrong call, 5 something was found.
    """
    guard = Guard(personal=("email", "phone", "credit_card", "ip")) if personal else Guard()
    limits = CheckLimits() if max_bytes is None else CheckLimits(file_bytes=max_bytes)
    with quietly():
        backend, wanted = _wanted(files_of(root, source), paths or [])
        found = check(backend, wanted, guard=guard, limits=limits)
    if json:
        flaws = [{**asdict(one), "line": one.line or None} for one in found]
        showing.document({"looked_at": wanted, "found": flaws})
    else:
        for one in found:
            place = f"{one.path}:{one.line}" if one.line else one.path
            typer.echo(reveal(f"{place}: {one.kind}: {one.detail}"))
        if not found:
            many = wanted[0] if len(wanted) == 1 else f"{len(wanted)} files or patterns"
            said = f"Nothing found in {many}." if wanted else "There is no memory file here."
            typer.echo(reveal(said))
    if found:
        raise typer.Exit(FOUND)


def _wanted(files: Files, paths: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the backend and the paths in it that are looked through."""
    if paths:
        return _named(files, paths)
    preview = files.memory().preview()
    found = [one for one in preview.sources if one.state != "missing"]
    loaded = [path for one in found for path in (one.path, *one.imported)]
    return files.looked_through(), list(dict.fromkeys(loaded))


def _named(files: Files, paths: Sequence[str]) -> tuple[Any, list[str]]:
    if not files.is_on_disk:
        return files.opened(), [files.path(one) for one in paths]
    wanted: list[str] = []
    for one in paths:
        inside = files.path(one)
        here = Path(files.root, inside.lstrip("/"))
        if here.is_dir():
            wanted.append(f"{inside.rstrip('/')}/**/*.md")
        elif here.exists() or any(mark in one for mark in "*?[{"):
            wanted.append(inside)
        else:
            raise SettingError(f"{os.fspath(one)}: there is no such file")
    return files.opened(), wanted

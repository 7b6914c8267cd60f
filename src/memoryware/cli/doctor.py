"""`memoryware doctor`: whether everything is well, and what to do if it is not."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Final

import typer

from memoryware.cli import _checks, showing
from memoryware.cli._opening import Place
from memoryware.cli._options import on_memory

FOUND: Final = 5
"""The exit code if something is wrong."""
_MARKS: Final = {"ok": ("ok", "green"), "note": ("note", "yellow"), "bad": ("BAD", "red")}


@on_memory
def doctor(
    place: Place,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not read the whole file of the store.")
    ] = False,
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="Ask the embedding model for one vector.")
    ] = False,
) -> None:
    """Check the configuration, the store, its file, its vectors, and what is installed.

    Exit codes: 0 all is well, 2 wrong call, 3 the configuration cannot be read, 5 something is
    wrong.
    """
    checks = [*_checks.of_this_machine(place)]
    if place.file is not None:
        checks += _checks.of_the_file(place.file, whole=not quick)
    checks += _checks.of_the_store(place, ask_model=ask_model)
    bad = [one for one in checks if one.state == "bad"]
    if place.json:
        showing.document({"well": not bad, "checks": [*map(asdict, checks)]})
    else:
        for one in checks:
            mark, color = _MARKS[one.state]
            typer.echo(
                f"{typer.style(f'{mark:4}', fg=color)}  {one.name + ':':<15}"
                f" {showing.one_line(one.said, 400)}"
            )
            if one.todo:
                typer.echo(f"{'':22}{showing.one_line(one.todo, 400)}")
    if bad:
        raise typer.Exit(FOUND)

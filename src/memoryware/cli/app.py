"""The command and its groups."""

from __future__ import annotations

from typing import Annotated

import typer

from memoryware._version import __version__
from memoryware.cli import bench, history, looking, mcp, scan, sources, writing
from memoryware.cli.init import init
from memoryware.cli.inspect import inspect

app = typer.Typer(
    name="memoryware",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Memory for agents that its owners can trust.",
)
app.add_typer(bench.app, name="bench")
app.command(name="list")(looking.list_)
for command in (
    init,
    writing.add,
    looking.show,
    looking.search,
    writing.promote,
    writing.reject,
    writing.supersede,
    sources.sources,
    sources.prompt,
    history.log,
    history.diff,
    history.undo,
    scan.scan,
    mcp.mcp,
    inspect,
):
    app.command()(command)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_tell_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Memory for agents that its owners can trust."""

"""The command and its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Final

import typer

from memoryware._version import __version__
from memoryware.cli import (
    bench,
    carrying,
    history,
    looking,
    mcp,
    review,
    scan,
    sources,
    taking_back,
    writing,
)
from memoryware.cli._examples import epilog
from memoryware.cli.doctor import doctor
from memoryware.cli.init import init
from memoryware.cli.inspect import inspect

app = typer.Typer(
    name="memoryware",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Memory for agents that its owners can trust.",
)
_COMMANDS: Final[Mapping[str, Mapping[str, Callable[..., None]]]] = {
    "Begin": {"init": init, "doctor": doctor},
    "See what is remembered": {
        "list": looking.list_,
        "show": looking.show,
        "search": looking.search,
    },
    "Decide what is remembered": {
        "add": writing.add,
        "digest": review.digest,
        "review": review.review,
        "propose": writing.propose,
        "promote": writing.promote,
        "reject": writing.reject,
        "supersede": writing.supersede,
    },
    "Take back": {
        "revoke": taking_back.revoke,
        "restore": taking_back.restore,
        "forget": taking_back.forget,
    },
    "Carry over": {
        "export": carrying.export,
        "import": carrying.import_,
        "copy": carrying.copy,
        "backup": carrying.backup,
        "reindex": carrying.reindex,
    },
    "Memory files": {
        "sources": sources.sources,
        "prompt": sources.prompt,
        "log": history.log,
        "diff": history.diff,
        "undo": history.undo,
        "scan": scan.scan,
    },
    "Serve and measure": {"inspect": inspect, "mcp": mcp.mcp},
}
for panel, commands in _COMMANDS.items():
    for name, command in commands.items():
        app.command(name=name, epilog=epilog(name), rich_help_panel=panel)(command)
app.add_typer(bench.app, name="bench", rich_help_panel="Serve and measure")


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

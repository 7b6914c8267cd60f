"""The command and its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Final

import typer

from memoryware._version import __version__
from memoryware.cli import (
    bench,
    browse,
    files,
    mcp,
    promote,
    review,
    revoke,
    transfer,
)
from memoryware.cli.doctor import doctor
from memoryware.cli.init import init
from memoryware.cli.inspect import inspect

# Examples below the help of each command.

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "init": ("init --group shop", "init --store postgresql://ann@db/memory --four-eyes"),
    "add": (
        "add 'We deploy on Fridays.'",
        "add --propose < note.md",
        "add --key release-7 'Version 7 is out.'",
    ),
    "list": ("list", "list --layer quarantine --limit 50", "list --words deploy --json"),
    "show": ("show 2bd9138907de4a949a79ac4cf56ccd59",),
    "search": (
        "search 'when do we deploy?' --explain",
        "search deploy --at 2026-05-01T12:00",
    ),
    "digest": ("digest", "digest --days 7 --json"),
    "review": ("review", "printf 'a\\nr outdated\\nq\\n' | memoryware review"),
    "propose": ("propose 2bd9138907de4a949a79ac4cf56ccd59",),
    "promote": (
        "promote 2bd9138907de4a949a79ac4cf56ccd59",
        "promote '2bd9138907de4a949a79ac4cf56ccd59#2'",
        "promote 2bd9138907de4a949a79ac4cf56ccd59 --whole --subject deploys --by bo",
    ),
    "reject": ("reject 2bd9138907de4a949a79ac4cf56ccd59 --reason 'not true anymore'",),
    "supersede": ("supersede 2bd9138907de4a949a79ac4cf56ccd59 'We deploy on Mondays.'",),
    "revoke": (
        "revoke 2bd9138907de4a949a79ac4cf56ccd59 --dry-run",
        "revoke --origin tool:web_search --reason 'it was poisoned'",
    ),
    "restore": ("restore cc5f267f405b426bab25073eee437365",),
    "forget": (
        "forget --words 'old address' --dry-run",
        "forget --everything --user bo --yes",
    ),
    "export": ("export week.jsonl", "export - | gzip > week.jsonl.gz"),
    "backup": ("backup memory-2026-11-29.db",),
    "import": ("import week.jsonl --name backup",),
    "copy": (
        "copy sqlite:///memory.db postgresql://ann@db/memory",
        "copy sqlite:///memory.db sqlite:///second.db --exact --dry-run",
    ),
    "reindex": ("reindex --embeddings local", "reindex --pending"),
    "doctor": ("doctor", "doctor --ask-model --json"),
    "sources": ("sources", "sources --root notes --json"),
    "prompt": ("prompt",),
    "log": ("log AGENTS.md",),
    "diff": ("diff AGENTS.md",),
    "undo": ("undo AGENTS.md --dry-run",),
    "scan": ("scan", "scan notes --personal"),
    "mcp": ("mcp --group shop", "mcp --group shop --read-only --http 127.0.0.1:8765"),
}


def _epilog(command: str) -> str | None:
    """Return the help text with the examples of a command, one a line; None if it has none."""
    lines = EXAMPLES.get(command, ())
    if not lines:
        return None
    return "\n\n".join(["Examples:", *map(_typed, lines)])


def _typed(example: str) -> str:
    """Return an example as a person types it."""
    return example if "memoryware " in example else f"memoryware {example}"


# The command.

app = typer.Typer(
    name="memoryware",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Memory for agents that its owners can trust.",
)
_COMMANDS: Final[Mapping[str, Mapping[str, Callable[..., None]]]] = {
    "Set up": {"init": init, "doctor": doctor},
    "Read memory": {
        "list": browse.list_,
        "show": browse.show,
        "search": browse.search,
    },
    "Review and promote": {
        "add": promote.add,
        "digest": review.digest,
        "review": review.review,
        "propose": promote.propose,
        "promote": promote.promote,
        "reject": promote.reject,
        "supersede": promote.supersede,
    },
    "Revoke and delete": {
        "revoke": revoke.revoke,
        "restore": revoke.restore,
        "forget": revoke.forget,
    },
    "Export and copy": {
        "export": transfer.export,
        "import": transfer.import_,
        "copy": transfer.copy,
        "backup": transfer.backup,
        "reindex": transfer.reindex,
    },
    "Memory files": {
        "sources": files.sources,
        "prompt": files.prompt,
        "log": files.log,
        "diff": files.diff,
        "undo": files.undo,
        "scan": files.scan,
    },
    "Serve and measure": {"inspect": inspect, "mcp": mcp.mcp},
}
for panel, commands in _COMMANDS.items():
    for name, command in commands.items():
        app.command(name=name, epilog=_epilog(name), rich_help_panel=panel)(command)
app.add_typer(bench.app, name="bench", rich_help_panel="Serve and measure")


def _print_version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Memory for agents that its owners can trust."""

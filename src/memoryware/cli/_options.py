"""The options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_WHOSE = "Whose memory"
"""Where the help of a command lists which memory is meant."""

Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        envvar="MEMORYWARE_STORE",
        metavar="URL",
        help="The memory, such as sqlite:///memory.db.",
        rich_help_panel=_WHOSE,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        envvar="MEMORYWARE_GROUP",
        help="The project or team.",
        rich_help_panel=_WHOSE,
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant", envvar="MEMORYWARE_TENANT", help="The customer.", rich_help_panel=_WHOSE
    ),
]
User = Annotated[
    str | None,
    typer.Option(
        "--user",
        envvar="MEMORYWARE_USER",
        help="The person on whose behalf.",
        rich_help_panel=_WHOSE,
    ),
]
Agent = Annotated[str | None, typer.Option("--agent", help="The persona.", rich_help_panel=_WHOSE)]
Session = Annotated[
    str | None, typer.Option("--session", help="The conversation.", rich_help_panel=_WHOSE)
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        envvar="MEMORYWARE_BY",
        help="Who does it; by default the name you are logged in with.",
        rich_help_panel=_WHOSE,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Instead of the nearest memoryware.json.",
        rich_help_panel=_WHOSE,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of an entry or a memory.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is kept.")]

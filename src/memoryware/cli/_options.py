"""The options that commands on tiered memory share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, ParamSpec

import typer

from memoryware.cli._opening import Options, Place, resolved
from memoryware.errors import SettingError

P = ParamSpec("P")

_WHERE: Final = "Which memory"
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Reason = Annotated[str, typer.Option(help="Why; it is kept.")]


def _config(panel: str | None = None) -> Any:
    return typer.Option(
        "--config",
        metavar="FILE",
        rich_help_panel=panel,
        help="The configuration; by default the nearest memoryware.json.",
    )


Config = Annotated[Path | None, _config()]
_SHARED: Final[dict[str, Any]] = {
    "store": Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar="MEMORYWARE_STORE",
            rich_help_panel=_WHERE,
            help="The store: sqlite:///memory.db, postgresql://..., with + redis://... behind it.",
        ),
    ],
    "group": Annotated[
        str | None,
        typer.Option(
            envvar="MEMORYWARE_GROUP",
            rich_help_panel=_WHERE,
            help='The group whose memory it is; "" for what has none.',
        ),
    ],
    "tenant": Annotated[
        str | None,
        typer.Option(envvar="MEMORYWARE_TENANT", rich_help_panel=_WHERE, help="The customer."),
    ],
    "user": Annotated[
        str | None,
        typer.Option(envvar="MEMORYWARE_USER", rich_help_panel=_WHERE, help="The person."),
    ],
    "agent": Annotated[str | None, typer.Option(rich_help_panel=_WHERE, help="The persona.")],
    "session": Annotated[
        str | None, typer.Option(rich_help_panel=_WHERE, help="The conversation.")
    ],
    "by": Annotated[
        str | None,
        typer.Option(
            envvar="MEMORYWARE_BY",
            rich_help_panel=_WHERE,
            help="Who acts: a name, or agent:NAME for what is no person. Default: you.",
        ),
    ],
    "embeddings": Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            rich_help_panel=_WHERE,
            help='"local", "provider:model", or "none": words alone find.',
        ),
    ],
    "config": Annotated[Path | None, _config(_WHERE)],
    "json": Json,
}


def on_memory(command: Callable[Concatenate[Place, P], None]) -> Callable[..., None]:
    """Give a command the shared options; it gets what they mean as its first argument.

    Typer reads the options from the signature, so that it is put together here.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    shared = [_parameter(name) for name in _SHARED]

    @wraps(command)
    def called(*args: Any, **given: Any) -> None:
        options = Options(**{one: given.pop(one) for one in _SHARED})
        command(resolved(options), *args, **given)

    made: Any = called
    made.__signature__ = inspect.Signature([*own, *shared])
    made.__annotations__ = {one.name: one.annotation for one in (*own, *shared)}
    del made.__wrapped__  # or its own signature would be read
    return called


def moment_of(option: str, given: str | None) -> datetime | None:
    """Return the time that an option names, where the person is if it says no zone.

    Raises:
        SettingError: If it is no time.
    """
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given)
        return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError):
        raise SettingError(f"{option} {given}: is no time; write 2026-05-01T12:00") from None


def days_of(days: float) -> timedelta:
    """Return a number of days; as many as there can be stand for more of them."""
    try:
        return timedelta(days=days)
    except OverflowError:
        return timedelta.max


def _parameter(name: str) -> inspect.Parameter:
    default = next(one.default for one in fields(Options) if one.name == name)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_SHARED[name]
    )

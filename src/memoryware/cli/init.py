"""`memoryware init`: write a configuration."""

from __future__ import annotations

import json as text_of
from pathlib import Path
from typing import Annotated, Any

import typer

from memoryware.cli import _output
from memoryware.cli._options import DEFAULT_STORE, MODEL_NAMES, Force, Json
from memoryware.config import COMMAND_FILE, load_command_config
from memoryware.errors import SettingError
from memoryware.scope import MemoryScope


def init(
    folder: Annotated[Path, typer.Argument(help="The folder of the file.")] = Path(),
    *,
    store: Annotated[
        str, typer.Option(metavar="URL", help="The URL of the store.")
    ] = DEFAULT_STORE,
    group: Annotated[
        str | None,
        typer.Option(
            "--group", "-g", help="The group of the memory. Default: the name of the folder."
        ),
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="The tenant.")] = None,
    user: Annotated[
        str | None,
        typer.Option(
            "--user", "-u", help="The user; without a group, the one whose own memory it is."
        ),
    ] = None,
    embeddings: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help=f"The embedding model: {MODEL_NAMES}."),
    ] = None,
    four_eyes: Annotated[
        bool, typer.Option("--four-eyes", help="Require that another person approves a proposal.")
    ] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a memoryware.json, which all commands in this folder and below use.

    Exit codes: 0 done, 1 the file cannot be written, 2 usage error, or the file exists.
    """
    file = folder / COMMAND_FILE
    if not folder.is_dir():
        raise SettingError(f"{folder} is not a folder; create it first")
    if file.exists() and not force:
        raise SettingError(f"{file} exists already; use --force to overwrite it")
    if embeddings and embeddings not in ("local", "none") and ":" not in embeddings:
        raise SettingError(f"--embeddings {embeddings}: use {MODEL_NAMES}")
    if user and not group:
        group = MemoryScope.personal(user).group_id
    group_id = group or folder.resolve().name or "main"
    scope = {"tenant": tenant, "group_id": group_id, "user_id": user}
    settings: dict[str, Any] = {
        "store": store,
        "scope": {name: value for name, value in scope.items() if value},
    }
    if embeddings:
        settings["embeddings"] = embeddings
    if four_eyes:
        settings["policy"] = {"approval": True, "four_eyes": True}
    file.write_text(f"{text_of.dumps(settings, indent=2)}\n", encoding="utf-8")
    load_command_config(file)
    if json:
        _output.print_json({"file": str(file.resolve()), "config": settings})
        return
    typer.echo(f"Wrote {file}: the memory of group {settings['scope']['group_id']!r} at {store}.")
    typer.echo("Next: memoryware add 'something to remember', then memoryware review.")

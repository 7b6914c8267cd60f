"""`memoryware init`: a small configuration to begin with."""

from __future__ import annotations

import json as text_of
from pathlib import Path
from typing import Annotated, Any

import typer

from memoryware.cli import showing
from memoryware.cli._opening import DEFAULT_STORE
from memoryware.config import COMMAND_FILE, load_command_config
from memoryware.errors import SettingError


def init(
    folder: Annotated[Path, typer.Argument(help="Where.")] = Path(),
    *,
    store: Annotated[str, typer.Option(metavar="URL", help="The store.")] = DEFAULT_STORE,
    group: Annotated[
        str | None, typer.Option(help="The group whose memory it is; the name of the folder.")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="The customer.")] = None,
    embeddings: Annotated[
        str | None, typer.Option(metavar="MODEL", help='"local" or "provider:model".')
    ] = None,
    four_eyes: Annotated[
        bool, typer.Option("--four-eyes", help="Who proposes a memory cannot approve it.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write a small memoryware.json, which all commands in this folder and below use.

    Exit codes: 0 done, 1 it cannot be written, 2 wrong call, or the file is there already.
    """
    file = folder / COMMAND_FILE
    if not folder.is_dir():
        raise SettingError(f"there is no folder {folder}")
    if file.exists() and not force:
        raise SettingError(f"{file} is there already; --force replaces it")
    scope = {"tenant": tenant, "group_id": group or folder.resolve().name or "main"}
    said: dict[str, Any] = {
        "store": store,
        "scope": {name: value for name, value in scope.items() if value},
    }
    if embeddings:
        said["embeddings"] = embeddings
    if four_eyes:
        said["policy"] = {"approval": True, "four_eyes": True}
    file.write_text(f"{text_of.dumps(said, indent=2)}\n", encoding="utf-8")
    load_command_config(file)
    if json:
        showing.document({"file": str(file.resolve()), "config": said})
        return
    typer.echo(f"Wrote {file}: the memory of group {said['scope']['group_id']!r} at {store}.")
    typer.echo("Next: memoryware add 'something to remember', then memoryware review.")

"""`memoryware init`: the configuration file of the command line."""

from __future__ import annotations

import json as jsons
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from memoryware.cli import showing
from memoryware.cli._options import Json
from memoryware.config import DEFAULT_STORE, MEMORY_FILE, load_memory_config
from memoryware.errors import FileAlreadyThere


def init(
    folder: Annotated[Path, typer.Argument(help="Where it is written.")] = Path(),
    *,
    store: Annotated[
        str, typer.Option(metavar="URL", help="The memory; a file is beside the configuration.")
    ] = DEFAULT_STORE,
    group: Annotated[
        str | None, typer.Option(help="Whose memory; by default the name of the folder.")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="The customer.")] = None,
    embeddings: Annotated[
        str | None, typer.Option(help='"local" or "provider:model"; words alone by default.')
    ] = None,
    approval: Annotated[
        bool, typer.Option("--approval", help="Only a person may promote.")
    ] = False,
    four_eyes: Annotated[
        bool, typer.Option("--four-eyes", help="Whoever proposes may not approve.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over the one there.")] = False,
    json: Json = False,
) -> None:
    """Write a memoryware.json that says which memory the other commands work on.

    Example: memoryware init --group shop --embeddings local

    Exit codes: 0 done, 1 the disk failed, 2 wrong call, 4 there is one already.
    """
    file = folder / MEMORY_FILE
    if file.exists() and not force:
        raise FileAlreadyThere(
            str(file), f"{file} is there already; --force writes over it, and an editor changes it"
        )
    policy = {"approval": approval, "four_eyes": four_eyes}
    said: dict[str, Any] = {"store": store}
    said["scope"] = {
        "group_id": group or _named(folder),
        **({"tenant": tenant} if tenant else {}),
    }
    said |= {"embeddings": embeddings} if embeddings else {}
    said |= (
        {"policy": {name: True for name, is_on in policy.items() if is_on}}
        if any(policy.values())
        else {}
    )
    _write(file, said)
    load_memory_config(file)
    if json:
        showing.document({"file": str(file), "config": said})
        return
    typer.echo(f"Wrote {file}: the memory of group {said['scope']['group_id']} at {store}.")
    typer.echo("Next: memoryware doctor; memoryware --install-completion for the Tab key.")


def _write(file: Path, said: dict[str, Any]) -> None:
    file.write_text(f"{jsons.dumps(said, ensure_ascii=False, indent=2)}\n", encoding="utf-8")


def _named(folder: Path) -> str:
    """Return the name of a folder as that of a group."""
    return re.sub(r"\s+", "-", folder.resolve().name) or "default"

"""`memoryware inspect`: the inspector in a browser, on this machine."""

from __future__ import annotations

import json
import os
import sys
import webbrowser
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memoryware._install import install_command
from memoryware.cli._errors import SCHEMA
from memoryware.cli._options import CommandContext, memory_command
from memoryware.cli.files import RootOption, memory_files
from memoryware.errors import SettingError

if TYPE_CHECKING:
    from memoryware.backends.history import HistoryBackend

_REQUIRED: Final = ("itsdangerous", "starlette", "uvicorn")


@memory_command
def inspect(
    context: CommandContext,
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 chooses a free one.")
    ] = 0,
    read_only: Annotated[bool, typer.Option("--read-only", help="Allow no changes.")] = False,
    open_: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open a browser. Default: if there is one."),
    ] = None,
    files: Annotated[bool, typer.Option("--files/--no-files", help="Show memory files.")] = True,
    root: RootOption = None,
) -> None:
    """Browse and review memory in a web browser, served to this machine only.

    The printed URL contains a token that works once. Press Ctrl-C to stop.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read.
    """
    if any(find_spec(module) is None for module in _REQUIRED):
        raise SettingError(f"the inspector needs more packages: {install_command('inspector')}")
    from memoryware.inspector import every_group, inspector, serve

    scope, history = context.require_group(), _files(context, root) if files else None
    with context.open_memory() as memory:
        app = inspector(
            memory,
            scope=scope,
            by=context.by,
            groups=every_group(memory, scope.tenant),
            files=history,
            read_only=read_only,
        )

        def on_ready(url: str) -> None:
            typer.echo(
                json.dumps({"schema": SCHEMA, "url": url}) if context.json else f"Open {url}"
            )
            sys.stdout.flush()
            if _wants_browser() if open_ is None else open_:
                webbrowser.open(url)

        serve(app, port=port, ready=on_ready)


def _files(context: CommandContext, root: str | None) -> HistoryBackend:
    """Return the memory files of a folder, or of the configuration."""
    where = root or (str(context.config.root) if context.config.root else None)
    return memory_files(where, by=context.by).history()


def _wants_browser() -> bool:
    """Whether this is a terminal on a machine with a graphical browser."""
    if not sys.stdout.isatty():
        return False
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )

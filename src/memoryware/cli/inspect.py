"""`memoryware inspect`: memory in a browser, on this machine."""

from __future__ import annotations

import json
import os
import sys
import webbrowser
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memoryware.cli._files import Root, files_of
from memoryware.cli._opening import Place
from memoryware.cli._options import on_memory
from memoryware.errors import SettingError

if TYPE_CHECKING:
    from memoryware.backends.history import HistoryBackend

_NEEDED: Final = ("starlette", "uvicorn")


@on_memory
def inspect(
    place: Place,
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes one that is free.")
    ] = 0,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Show everything, and change nothing.")
    ] = False,
    open_: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open it in a browser; by default if there is one."),
    ] = None,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Whether memory files are shown.")
    ] = True,
    root: Root = None,
) -> None:
    """Look at memory in a browser, and decide what is kept, on this machine alone.

    The printed address has a token in it that works once. Ctrl-C ends it.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    if any(find_spec(one) is None for one in _NEEDED):
        raise SettingError(
            "the inspector needs starlette and uvicorn: pip install 'memoryware[inspector]'"
        )
    from memoryware.inspector import inspector, serve

    scope, kept = place.grouped(), _files(place, root) if files else None
    with place.opened() as memory:
        app = inspector(memory, scope=scope, by=place.by, files=kept, read_only=read_only)

        def ready(url: str) -> None:
            typer.echo(json.dumps({"url": url}) if place.json else f"Open {url}")
            sys.stdout.flush()
            if _wants_browser() if open_ is None else open_:
                webbrowser.open(url)

        serve(app, port=port, ready=ready)


def _files(place: Place, root: str | None) -> HistoryBackend:
    """Return the memory files of the configuration, or of a folder."""
    where = root or (str(place.config.root) if place.config.root else None)
    return files_of(where, by=place.by).history()


def _wants_browser() -> bool:
    """Say whether a person sits in front of this who has a browser with windows."""
    if not sys.stdout.isatty():
        return False
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )

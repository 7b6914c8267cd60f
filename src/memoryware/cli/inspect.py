"""`memoryware inspect`: the pages that show a memory, in a browser on this machine."""

from __future__ import annotations

import json
import os
import sys
import webbrowser
from importlib.util import find_spec
from typing import Annotated, Any, Final

import typer

from memoryware.cli._files import Root, files_of
from memoryware.cli._opening import Place
from memoryware.cli._options import on_memory
from memoryware.errors import SettingError

_REMOTE: Final = ("SSH_CONNECTION", "CI")
"""Variables that say that nobody sits before this machine."""


@on_memory
def inspect(
    place: Place,
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes one that is free.")
    ] = 0,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse every change.")] = False,
    open_: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open a browser; on a terminal by default."),
    ] = None,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Whether memory files are shown.")
    ] = True,
    root: Root = None,
) -> None:
    """Show memory in a browser: what is remembered, why it was shown, what waits for review.

    Only this machine can reach the pages, and only with the token in the printed address. It
    works once; the browser that came with it stays in for some hours. Ctrl-C ends it.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    _check_installed()
    from memoryware.inspector import inspector, serve

    scope = place.grouped()
    if not scope.group_id:
        raise SettingError("the inspector shows the memory of a group: name one with --group")
    kept = _history(place, root) if files else None
    with place.opened() as memory:
        app = inspector(memory, scope=scope, by=place.by, files=kept, read_only=read_only)
        wanted = _is_attended() if open_ is None else open_
        try:
            serve(app, port=port, ready=lambda url: _tell(place, url, wanted=wanted))
        except KeyboardInterrupt:  # the server has ended already, as it was told to
            return


def _history(place: Place, root: str | None) -> Any:
    """Return the memory files with their versions."""
    given = root or (str(place.config.root) if place.config.root else None)
    return files_of(given, by=place.by).history()


def _is_attended() -> bool:
    return sys.stdout.isatty() and not any(os.environ.get(one) for one in _REMOTE)


def _tell(place: Place, url: str, *, wanted: bool) -> None:
    """Say where the pages are, and open them if that is wanted."""
    if place.json:
        typer.echo(json.dumps({"url": url}))  # in one line: who reads it cannot wait for the end
    else:
        typer.echo(f"Open {url}\nIts token works once. Ctrl-C ends the inspector.")
    sys.stdout.flush()
    if wanted and not webbrowser.open(url):
        typer.echo("memoryware: no browser could be opened; open the address yourself", err=True)


def _check_installed() -> None:
    """See that what answers requests is there.

    Raises:
        SettingError: If it is not; the message says what to install.
    """
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise SettingError(
            "the inspector needs starlette and uvicorn: pip install 'memoryware[inspector]'"
        )

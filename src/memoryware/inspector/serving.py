"""`serve`: the inspector on a port of this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Final

import uvicorn
from starlette.applications import Starlette

from memoryware._http_heads import head_timeout
from memoryware.errors import SettingError
from memoryware.inspector.site import Site

_BACKLOG: Final = 128


def serve(
    app: Starlette,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Answer requests until the process is interrupted.

    Args:
        app: What `inspector` made.
        host: The address to listen at; by default this machine alone can reach it.
        port: The port; 0 takes one that is free.
        ready: Is told the address to open, with its token, once requests are answered.

    Raises:
        SettingError: If the port cannot be had.
    """
    site: Site = app.state.site
    with closing(_listening(host, port)) as listener:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}/"
        token = f"?token={site.keys.token}" if site.authenticate is None else ""
        config = uvicorn.Config(
            app,
            http=head_timeout(site.limits.head_seconds),
            log_level="warning",
            access_log=False,  # it would have the token in it
            server_header=False,
            h11_max_incomplete_event_size=site.limits.head_bytes,
            timeout_graceful_shutdown=site.limits.stop_seconds,
        )
        ready(address + token)
        with suppress(KeyboardInterrupt):  # that is how it ends
            uvicorn.Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, for asyncio sends small answers at once on such sockets only: else each page
    # waits some 40 ms for the other side to say that it has the first part.
    listener = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingError(
            f"port={port}: cannot be had at {host} ({error.strerror or error}); take another,"
            " or 0 for one that is free"
        ) from None
    return listener

"""Transports: standard input and output, and HTTP with a token."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final

from memoryware.errors import SettingError
from memoryware.events import logger
from memoryware.mcp._protocol import protocol_server
from memoryware.mcp._server import MemoryServer

MIN_TOKEN: Final = 16
"""Characters that a token must have."""
PATH: Final = "/mcp"
"""The path of the server over HTTP."""
_SHUTDOWN_TIMEOUT: Final = 5
"""Seconds that open requests have to finish at shutdown."""

Message = MutableMapping[str, Any]
Asgi = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


def serve_stdio(server: MemoryServer) -> None:
    """Serve one client over standard input and output, until it disconnects.

    Args:
        server: Executes the requests.

    Raises:
        SettingError: If the package `mcp` is not installed.
    """
    protocol = protocol_server(server)
    import anyio
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (read, write):
            await protocol.run(read, write, protocol.create_initialization_options())

    anyio.run(run)


def http_app(
    server: MemoryServer, *, token: str, host: str = "127.0.0.1", names: Sequence[str] = ()
) -> Asgi:
    """Make an ASGI app that serves clients with a token at `/mcp`.

    Args:
        server: Executes the requests.
        token: The token that clients send as `Authorization: Bearer ...`.
        host: The address that it will listen on.
        names: Host names with ports by which other machines reach this one, such as
            "memory.example.com:8765". Requests with another `Host` header are refused.

    Returns:
        The app.

    Raises:
        SettingError: For a short token, a missing package, or an address that other machines can
            reach without `names`.
    """
    if len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable():
        raise SettingError(
            f"the token must have at least {MIN_TOKEN} characters, all of them ASCII"
        )
    if not is_loopback(host) and not names:
        raise SettingError(
            "other machines can reach this address: pass the host names that they may use, or"
            " listen on 127.0.0.1"
        )
    protocol = protocol_server(server)
    from mcp.server.transport_security import TransportSecuritySettings

    local = ["127.0.0.1:*", "localhost:*", "[::1]:*"]
    hosts = [*local, *names]
    allowed = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[
            *(f"http://{name}" for name in hosts),
            *(f"https://{name}" for name in names),
        ],
    )
    app = protocol.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=server.limits.request_bytes,
        max_sessions=server.limits.clients,
        session_idle_timeout=server.limits.idle_seconds,
        transport_security=allowed,
        host=host,
    )
    return _guarded(app, token)


def serve_http(
    server: MemoryServer,
    *,
    token: str,
    host: str = "127.0.0.1",
    port: int = 8765,
    names: Sequence[str] = (),
    on_start: Callable[[str], None] | None = None,
) -> None:
    """Serve clients over HTTP, until the process is stopped.

    Args:
        server: As for `http_app`, like `token`, `host` and `names`.
        token: The token that clients send.
        host: The address to listen on.
        port: The port; 0 chooses a free one.
        names: Host names by which other machines reach this one.
        on_start: Called with the URL once the port is open.

    Raises:
        SettingError: As `http_app`.
        OSError: If the address is not available.
    """
    app = http_app(server, token=token, host=host, names=names)
    import uvicorn

    from memoryware._http_heads import head_timeout  # needs uvicorn

    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    with socket.create_server((bare, port), family=family) as listening:
        bound_port = listening.getsockname()[1]
        shown_host = f"[{bare}]" if ":" in bare else bare
        if on_start is not None:
            on_start(f"http://{shown_host}:{bound_port}{PATH}")
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
            http=head_timeout(server.limits.head_seconds),
        )
        uvicorn.Server(config).run(sockets=[listening])


def is_loopback(host: str) -> bool:
    """Whether an address is reachable from this machine only.

    Args:
        host: A host name or an IP address.

    Returns:
        True for a loopback address and "localhost".
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _guarded(app: Any, token: str) -> Asgi:
    """Wrap an app: refuse requests without the token."""
    expected = f"Bearer {token}".encode()

    async def guarded(
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        authorization = [
            value for name, value in scope.get("headers", ()) if name == b"authorization"
        ]
        if (
            scope["type"] == "http"
            and len(authorization) == 1
            and hmac.compare_digest(authorization[0], expected)
        ):
            await app(scope, receive, send)
            return
        logger.warning("a request to the MCP server had no valid token")
        if scope["type"] == "http":
            head = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": head})
            await send({"type": "http.response.body", "body": b"a valid token is needed\n"})

    return guarded

"""Speaking MCP: over standard input and output, or over HTTP with a token."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from importlib.util import find_spec
from typing import Any, Final

from memoryware._version import __version__
from memoryware.errors import SettingError
from memoryware.events import logger
from memoryware.mcp import tools
from memoryware.mcp.answering import Caller, MemoryServer

HINT: Final = "the MCP server needs the package mcp: pip install 'memoryware[mcp]'"
SHORTEST_TOKEN: Final = 16
"""Characters that a token must have."""
PATH: Final = "/mcp"
"""Where the server is, over HTTP."""
_LEAVING: Final = 5
"""Seconds that clients have to hang up when the process is told to end."""
_NAME: Final = 100
"""Characters that are kept of what a client calls itself."""
_READING: Final = (tools.RECALL, tools.LIST_SOURCES, tools.READ_SOURCE)

Message = MutableMapping[str, Any]
Asgi = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


def check_installed() -> None:
    """See that the package of the protocol is there.

    Raises:
        SettingError: If it is not; the message says what to install.
    """
    if find_spec("mcp") is None:
        raise SettingError(HINT)


def protocol_server(server: MemoryServer) -> Any:
    """Return a server of the package `mcp` that answers from this one.

    Raises:
        SettingError: If the package is not installed.
    """
    check_installed()
    import mcp_types as types
    from mcp.server.lowlevel import Server

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        del ctx, params
        return types.ListToolsResult(tools=[_tool(name, *of) for name, of in offered.items()])

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        said = await server.answer(params.name, params.arguments, _caller(ctx))
        content = types.TextContent(type="text", text=said.text)
        return types.CallToolResult(content=[content], is_error=not said.ok)

    def _tool(name: str, description: str, schema: Mapping[str, Any]) -> types.Tool:
        hints = types.ToolAnnotations(
            read_only_hint=name in _READING,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        )
        return types.Tool(
            name=name, description=description, input_schema=dict(schema), annotations=hints
        )

    offered = server.offered
    return Server(
        "memoryware",
        version=__version__,
        instructions=tools.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_stdio(server: MemoryServer) -> None:
    """Answer one client over standard input and output, until it hangs up.

    Raises:
        SettingError: If the package `mcp` is not installed.
    """
    speaking = protocol_server(server)
    import anyio
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (read, write):
            await speaking.run(read, write, speaking.create_initialization_options())

    anyio.run(run)


def http_app(
    server: MemoryServer, *, token: str, host: str = "127.0.0.1", names: Sequence[str] = ()
) -> Asgi:
    """Return an ASGI app that answers at `/mcp` whoever knows the token.

    Args:
        server: What answers.
        token: What clients send as `Authorization: Bearer ...`.
        host: Where it will listen.
        names: The names, with the port, by which clients on other machines call this one, such
            as "memory.example.com:8765". Requests with another `Host` are refused.

    Raises:
        SettingError: For a short token, a missing package, or an address that other machines
            reach without `names`.
    """
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise SettingError(
            f"the token must have at least {SHORTEST_TOKEN} characters, all of them plain ASCII"
        )
    if not is_loopback(host) and not names:
        raise SettingError(
            "other machines reach this address: name the hosts by which they may call it, or"
            " listen on 127.0.0.1"
        )
    speaking = protocol_server(server)
    from mcp.server.transport_security import TransportSecuritySettings

    local = ["127.0.0.1:*", "localhost:*", "[::1]:*"]
    hosts = [*local, *names]
    allowed = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[*(f"http://{one}" for one in hosts), *(f"https://{one}" for one in names)],
    )
    app = speaking.streamable_http_app(
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
    """Answer clients over HTTP, until the process is told to end.

    Args:
        server: As for `http_app`, like `token`, `host` and `names`.
        token: What clients send.
        host: Where to listen.
        port: The same; 0 takes a free one.
        names: By which other machines call this one.
        on_start: Is told the address when it is taken.

    Raises:
        SettingError: As `http_app`.
        OSError: If the address cannot be listened on.
    """
    app = http_app(server, token=token, host=host, names=names)
    import uvicorn

    from memoryware._http_heads import head_timeout  # needs uvicorn

    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    with socket.create_server((bare, port), family=family) as listening:
        taken = listening.getsockname()[1]
        shown = f"[{bare}]" if ":" in bare else bare
        if on_start is not None:
            on_start(f"http://{shown}:{taken}{PATH}")
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_LEAVING,
            http=head_timeout(server.limits.head_seconds),
        )
        uvicorn.Server(config).run(sockets=[listening])


def is_loopback(host: str) -> bool:
    """Say whether an address is reached from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _guarded(app: Any, token: str) -> Asgi:
    """Return an app that only whoever knows the token reaches."""
    wanted = f"Bearer {token}".encode()

    async def guarded(
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if scope["type"] == "http" and len(given) == 1 and hmac.compare_digest(given[0], wanted):
            await app(scope, receive, send)
            return
        logger.warning("a request to the MCP server had no valid token")
        if scope["type"] == "http":
            head = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": head})
            await send({"type": "http.response.body", "body": b"a valid token is needed\n"})

    return guarded


def _caller(ctx: Any) -> Caller:
    """Return who calls, as far as a request says it."""
    headers = getattr(ctx.request, "headers", None) or {}
    session = str(headers.get("mcp-session-id") or "")
    params = ctx.session.client_params
    name = params.client_info.name if params is not None and params.client_info else ""
    return Caller(session[:_NAME], "".join(one for one in name[:_NAME] if one.isprintable()))

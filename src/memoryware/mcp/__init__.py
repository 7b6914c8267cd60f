"""An MCP server over memory, for agents that are not built with LangChain.

It needs the extra `memoryware[mcp]`. `memoryware mcp` starts it; in a program of your own:

    from memoryware.mcp import MemoryServer, serve_stdio
    serve_stdio(MemoryServer(memory, scope=MemoryScope(group_id="team")))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoryware._lazy import attach

if TYPE_CHECKING:
    from memoryware.mcp._requests import ClientInfo, RequestFailed, ToolCallResult
    from memoryware.mcp._server import MemoryServer
    from memoryware.mcp._transports import http_app, serve_http, serve_stdio

__all__ = [
    "ClientInfo",
    "MemoryServer",
    "RequestFailed",
    "ToolCallResult",
    "http_app",
    "serve_http",
    "serve_stdio",
]

# The entries for clients are printed without loading LangChain, which takes two seconds.
__getattr__, __dir__ = attach(
    __name__,
    {
        "memoryware.mcp._requests": ["ClientInfo", "RequestFailed", "ToolCallResult"],
        "memoryware.mcp._server": ["MemoryServer"],
        "memoryware.mcp._transports": ["http_app", "serve_http", "serve_stdio"],
    },
)

"""Servers over memories of tests, and clients that speak to them."""

from __future__ import annotations

from contextlib import asynccontextmanager

from mcp.client import Client
from mcp_types import Implementation

from memoryware import FilesystemBackend, MemoryMiddleware, MemoryScope
from memoryware.mcp import MemoryServer
from memoryware.mcp._protocol import protocol_server

TEAM = MemoryScope(tenant="acme", group_id="team")
OTHERS = MemoryScope(tenant="acme", group_id="others")
DEPLOY = "The deployment of the shop runs on Tuesday, never on Friday, says the operations team."
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def files(folder, *paths, **more):
    backend = FilesystemBackend(folder)
    return MemoryMiddleware(backend=backend, sources=paths, on_error="warn", tools=False, **more)


@asynccontextmanager
async def client_of(memory, mode="legacy", name="editor", **more):
    server = MemoryServer(memory, **{"scope": TEAM, **more})
    about = Implementation(name=name, version="1")
    async with Client(protocol_server(server), mode=mode, client_info=about) as client:
        yield client


async def called(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    (content,) = result.content
    return content.text, not result.is_error


async def data_of(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


def waiting(memory, scope=TEAM):
    return [one.record for one in memory.list(scope, tier="quarantine").items]

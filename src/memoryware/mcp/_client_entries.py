"""Entries for the configuration files of MCP clients, which start or call a server.

Formats as their documentation has them in November 2026: Claude Code and Claude Desktop
(`mcpServers`), Cursor (`mcpServers`), VS Code (`servers`), opencode (`mcp`, which its version 2
still reads).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memoryware.errors import SettingError

NAME: Final = "memory"
"""The name of the server in a client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFormat:
    """How a client is configured.

    Attributes:
        title: Its name for people.
        file: Its configuration file.
        variable: How its configuration names a variable of the environment, with `{name}`; ""
            where it cannot.
        has_http: Whether its file can name a server over HTTP.
        has_type: Whether an entry has a `type`.
    """

    title: str
    file: str
    variable: str
    has_http: bool = True
    has_type: bool = True


CLIENTS: Final[Mapping[str, ClientFormat]] = {
    "claude-code": ClientFormat(
        title="Claude Code",
        file=".mcp.json in the project",
        variable="${{{name}}}",
    ),
    "claude-desktop": ClientFormat(
        title="Claude Desktop",
        file="claude_desktop_config.json (Settings, Developer, Edit Config)",
        variable="",
        has_http=False,
        has_type=False,
    ),
    "cursor": ClientFormat(
        title="Cursor",
        file=".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
        variable="${{env:{name}}}",
    ),
    "vscode": ClientFormat(
        title="VS Code",
        file=".vscode/mcp.json in the project",
        variable="${{input:{name}}}",
    ),
    "opencode": ClientFormat(
        title="opencode",
        file="opencode.json in the project, or ~/.config/opencode/opencode.json",
        variable="{{env:{name}}}",
    ),
}
"""The clients, by the names that `--print-config` takes."""


def client_format(client: str) -> ClientFormat:
    """Return how a client is configured.

    Args:
        client: Its name.

    Returns:
        The format.

    Raises:
        SettingError: For an unknown client.
    """
    if client not in CLIENTS:
        raise SettingError(f"--print-config {client}: the clients are {', '.join(CLIENTS)}")
    return CLIENTS[client]


def stdio_entry(client: str, command: Sequence[str], variables: Sequence[str] = ()) -> Any:
    """Return the configuration with which a client starts a server.

    Args:
        client: The client.
        command: The command with its arguments.
        variables: Variables of the environment that the server needs and that hold secrets; the
            configuration names them and does not hold their values.

    Returns:
        A JSON document.

    Raises:
        SettingError: For an unknown client, or one whose configuration cannot name a variable.
    """
    values = {name: _reference(client, name) for name in variables}
    if client == "opencode":
        local: dict[str, Any] = {"type": "local", "command": [*command], "enabled": True}
        return _document(client, {**local, **({"environment": values} if values else {})})
    entry: dict[str, Any] = {"type": "stdio"} if client_format(client).has_type else {}
    entry |= {"command": command[0], "args": [*command[1:]]}
    return _document(client, {**entry, **({"env": values} if values else {})}, variables)


def http_entry(client: str, url: str, token_variable: str) -> Any:
    """Return the configuration with which a client calls a server over HTTP.

    Args:
        client: The client.
        url: The URL of the server.
        token_variable: The variable of the environment that has the token.

    Returns:
        A JSON document.

    Raises:
        SettingError: For an unknown client, or one whose configuration knows no such servers.
    """
    known_format = client_format(client)
    if not known_format.has_http:
        raise SettingError(
            f"the configuration of {known_format.title} names no servers over HTTP: print the entry"
            " without --http, so that it starts a server itself"
        )
    headers = {"Authorization": f"Bearer {_reference(client, token_variable)}"}
    if client == "opencode":
        entry = {"type": "remote", "url": url, "headers": headers, "enabled": True}
    else:  # Cursor knows the transport from the URL
        kind = {} if client == "cursor" else {"type": "http"}
        entry = {**kind, "url": url, "headers": headers}
    return _document(client, entry, [token_variable])


def _document(client: str, entry: Mapping[str, Any], variables: Sequence[str] = ()) -> Any:
    if client == "opencode":
        return {"$schema": "https://opencode.ai/config.json", "mcp": {NAME: entry}}
    if client != "vscode":
        return {"mcpServers": {NAME: entry}}
    inputs = [
        {"type": "promptString", "id": name, "description": name, "password": True}
        for name in variables
    ]
    return {**({"inputs": inputs} if inputs else {}), "servers": {NAME: entry}}


def _reference(client: str, variable: str) -> str:
    known_format = client_format(client)
    if not known_format.variable:
        raise SettingError(
            f"the address of the store has a password, and the configuration of"
            f" {known_format.title} cannot name a variable: put the address into memoryware.json,"
            " and use --config"
        )
    return known_format.variable.format(name=variable)

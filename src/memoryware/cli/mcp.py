"""`memoryware mcp`: memory for agents that speak MCP."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoryware.cli._files import Listed, Root, files_of
from memoryware.cli._opening import Options, resolved
from memoryware.cli._options import Config
from memoryware.config import CommandConfig
from memoryware.errors import SettingError
from memoryware.settings import McpLimits

if TYPE_CHECKING:
    from memoryware.mcp import MemoryServer

TOKEN: Final = "MEMORYWARE_MCP_TOKEN"  # noqa: S105 - the name of a variable
"""The environment variable that has the token of the server over HTTP."""


def mcp(
    *,
    store: Annotated[
        str | None, typer.Option(envvar="MEMORYWARE_STORE", help="The address of tiered memory.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(envvar="MEMORYWARE_GROUP", help="Whose memory is shared.")
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(envvar="MEMORYWARE_TENANT", help="The customer.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(envvar="MEMORYWARE_USER", help="The person whose agents ask.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="The persona that asks.")] = None,
    by: Annotated[
        str, typer.Option(help="Who puts notes forward, such as agent:editor.")
    ] = "agent:mcp",
    embeddings: Annotated[
        str | None, typer.Option(help='"local" or "provider:model"; words alone by default.')
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer no tool that writes.")
    ] = False,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Whether memory files may be read.")
    ] = True,
    root: Root = None,
    config: Config = None,
    source: Listed = None,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Answer over HTTP instead, at /mcp, with a token."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help=f"A file with the token; else {TOKEN}, else one is made and told."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:PORT", help="A name by which other machines may call; may come again."
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER", help="A limit, such as notes_per_hour=20; may come again."
        ),
    ] = None,
) -> None:
    """Share memory with agents that speak MCP, over standard input and output.

    The tools are recall, remember (to quarantine, for review), list_sources and read_source.
    Whose memory it is stands fixed by these options; no call can change it.

    Exit codes: 0 done, 1 a store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    from memoryware.mcp.serving import check_installed

    check_installed()
    asked = Options(
        store=store,
        group=group,
        tenant=tenant,
        user=user,
        agent=agent,
        embeddings=embeddings,
        config=config,
    )
    place = resolved(asked)
    if not place.scope.group_id:
        raise SettingError("say whose memory is shared: --group NAME")
    from memoryware.mcp import MemoryServer
    from memoryware.settings import MemoryLimits

    address = None if http is None else _address(http)
    limits = _limits(place.config, limit or ())
    shown = MemoryLimits(source_tokens=limits.read_tokens, total_tokens=_NO_TOTAL)
    loaded = (
        files_of(root, source, file=config).memory(tools=False, limits=shown) if files else None
    )
    with place.opened(make=True, on_error="warn") as memory:
        server = MemoryServer(
            memory,
            scope=place.scope,
            files=loaded,
            by=by,
            read_only=read_only,
            limits=limits,
        )
        _serve(server, address, token_file, allow_host or ())


def _serve(
    server: MemoryServer,
    address: tuple[str, int] | None,
    token_file: Path | None,
    names: Sequence[str],
) -> None:
    from memoryware.mcp import serve_http, serve_stdio

    if address is None:
        serve_stdio(server)
        return
    serve_http(
        server,
        token=_token(token_file),
        host=address[0],
        port=address[1],
        names=names,
        on_start=lambda url: typer.echo(f"memoryware: listening at {url}", err=True),
    )


def _limits(config: CommandConfig, given: Sequence[str]) -> McpLimits:
    """Return the limits: by the options of the command, then by `memoryware.json`.

    Raises:
        ConfigError: For a number in the file that cannot be.
        SettingError: For one of the options.
    """
    limits = McpLimits()
    for name, value in config.mcp.items():
        try:
            limits = _with(limits, name, value)
        except SettingError as error:
            raise config.error(name, f"mcp: {error}") from None
    for one in given:
        name, _, number = one.partition("=")
        try:
            limits = _with(limits, name, _number(number))
        except SettingError as error:
            raise SettingError(f"--limit {one}: {error}") from None
    return limits


def _with(limits: McpLimits, name: str, value: Any) -> McpLimits:
    known = {one.name: one.default for one in fields(McpLimits)}
    if name not in known:
        raise SettingError(f"there is no such limit; there are {', '.join(known)}")
    if isinstance(known[name], int) and isinstance(value, float):
        raise SettingError(f"{name}={value}: must be a whole number")
    changed: dict[str, Any] = {name: value}
    return replace(limits, **changed)


_NUMBER: Final = re.compile("-?[0-9]{1,15}(?:[.][0-9]{1,15})?")


def _number(given: str) -> float | str:
    """Return a number as people write it; Python's own readers take `1_0` and `nan` as well."""
    if not _NUMBER.fullmatch(given):
        return given
    return float(given) if "." in given else int(given)


_NO_TOTAL: Final = 2**40
"""Each file is read by itself, so that all together need no bound."""


def _address(given: str) -> tuple[str, int]:
    host, colon, port = given.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise SettingError("--http needs HOST:PORT, such as 127.0.0.1:8765")
    return host.strip("[]"), int(port)


def _token(file: Path | None) -> str:
    """Return the token that clients send; one that is made here is told once, on stderr."""
    if file is not None:
        return file.read_text(encoding="utf-8").strip()
    given = os.environ.get(TOKEN)
    if given:
        return given
    made = secrets.token_urlsafe(32)
    typer.echo(f"memoryware: clients send Authorization: Bearer {made}", err=True)
    return made

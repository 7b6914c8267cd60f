"""`memoryware mcp`: serve memory over the Model Context Protocol."""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoryware.cli._options import (
    MODEL_NAMES,
    CommandContext,
    Config,
    MemoryOptions,
    file_of_url,
    is_typed,
    resolve_context,
)
from memoryware.cli.files import RootOption, SourceOption, memory_files
from memoryware.config import CommandConfig
from memoryware.errors import SettingError
from memoryware.settings import McpLimits
from memoryware.tiers.stores.opening import FILE

if TYPE_CHECKING:
    from memoryware.mcp import MemoryServer

TOKEN_VARIABLE: Final = "MEMORYWARE_MCP_TOKEN"  # noqa: S105 - the name of a variable
"""The environment variable with the token for HTTP."""

DEFAULT_BY: Final = "agent:mcp"


def mcp(
    parsed: typer.Context,
    *,
    store: Annotated[
        str | None, typer.Option(envvar="MEMORYWARE_STORE", help="The URL of the store.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", "-g", envvar="MEMORYWARE_GROUP", help="The group of the memory."),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(envvar="MEMORYWARE_TENANT", help="The tenant.")
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(
            "--user",
            "-u",
            envvar="MEMORYWARE_USER",
            help="The user of the agents; without a group, the one whose own memory it is.",
        ),
    ] = None,
    agent: Annotated[str | None, typer.Option(help="The agent that asks.")] = None,
    by: Annotated[str, typer.Option(help="Who adds notes, such as agent:editor.")] = DEFAULT_BY,
    embeddings: Annotated[
        str | None,
        typer.Option(help=f"The model: {MODEL_NAMES}. Default: words alone."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer no tool that writes.")
    ] = False,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Offer tools that read memory files.")
    ] = True,
    root: RootOption = None,
    config: Config = None,
    source: SourceOption = None,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Serve HTTP at /mcp, with a token, instead of standard input."
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help=f"A file with the token. Default: ${TOKEN_VARIABLE}, else a new token is printed."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:PORT", help="A host name by which clients may call; repeatable."
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER", help="Set a limit, such as notes_per_hour=20; repeatable."
        ),
    ] = None,
    print_config: Annotated[
        str | None,
        typer.Option(
            metavar="CLIENT",
            help="Print the entry for the configuration of a client, and exit: claude-code,"
            " claude-desktop, cursor, vscode or opencode.",
        ),
    ] = None,
) -> None:
    """Serve memory to MCP clients over standard input and output.

    Clients recall memory, put notes forward for review, correct and withdraw their own notes, and
    read memory files. These options fix the scope; no call can change it.

    Exit codes: 0 done, 1 a store failed, 2 usage error, 3 the configuration cannot be read.
    """
    from memoryware.mcp._package import check_installed

    check_installed()
    options = MemoryOptions(
        store=store,
        group=group,
        tenant=tenant,
        user=user,
        agent=agent,
        embeddings=embeddings,
        config=config,
    )
    context = resolve_context(options, frozenset({"user"} if is_typed(parsed, "user") else ()))
    if not context.scope.group_id:
        raise SettingError(
            "no group is given: use --group NAME, MEMORYWARE_GROUP, or memoryware.json; --user NAME"
            " alone is the memory of one person"
        )
    address = None if http is None else _address(http)
    limits = _limits(context.config, limit or ())
    if print_config is not None:
        flags = [*(["--read-only"] if read_only else []), *([] if files else ["--no-files"])]
        flags += [part for option in limit or () for part in ("--limit", option)]
        typed = _Typed(context=context, by=by, root=root, sources=tuple(source or ()), flags=flags)
        _print_entry(print_config, typed, address, allow_host or ())
        return
    from memoryware.mcp import MemoryServer
    from memoryware.settings import MemoryLimits

    shown = MemoryLimits(source_tokens=limits.read_tokens, total_tokens=_NO_TOTAL)
    loaded = (
        memory_files(root, source, file=config).middleware(tools=False, limits=shown)
        if files
        else None
    )
    with context.open_memory(make=True, on_error="warn") as memory:
        server = MemoryServer(
            memory,
            scope=context.scope,
            files=loaded,
            by=by,
            read_only=read_only,
            limits=limits,
        )
        _serve(server, address, token_file, allow_host or ())


# The entry for a client.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Typed:
    """What was typed, as far as the entry of a client repeats it.

    Attributes:
        context: The memory.
        by: Who adds notes.
        root: The root of the memory files.
        sources: Their paths.
        flags: Options that the entry has as they are.
    """

    context: CommandContext
    by: str
    root: str | None
    sources: Sequence[str]
    flags: Sequence[str]


def _print_entry(
    client: str, typed: _Typed, address: tuple[str, int] | None, names: Sequence[str]
) -> None:
    """Print the entry as JSON on standard output, and where it belongs on standard error."""
    from memoryware.mcp import _client_entries as entries

    known_format = entries.client_format(client)
    if address is not None:
        host, port = address
        if port == 0:
            raise SettingError("--print-config needs the port: --http HOST:PORT with one above 0")
        authority = names[0] if names else f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        document = entries.http_entry(client, f"http://{authority}/mcp", TOKEN_VARIABLE)
    else:
        command, variables = _command(client, typed)
        document = entries.stdio_entry(client, command, variables)
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    typer.echo(f"memoryware: {known_format.title} reads this from {known_format.file}", err=True)
    if typed.context.scope.user_id is None and file_of_url(typed.context.url) is None:
        typer.echo(
            "memoryware: several people share this store: with --user NAME each of them has notes"
            " of their own",
            err=True,
        )


def _command(client: str, typed: _Typed) -> tuple[list[str], list[str]]:
    """Return the command of an entry, with absolute paths, and the variables that it needs.

    A client starts the server in a folder of its own, often with an environment of its own.
    """
    options, config = typed.context.options, typed.context.config
    variables: list[str] = []
    arguments: list[str] = []
    if config.file is not None:
        arguments += ["--config", str(config.file.absolute())]
    if options.store is not None or config.store is None:
        if _has_password(typed.context.url):
            variables.append("MEMORYWARE_STORE")
        else:
            arguments += ["--store", _absolute_address(typed.context.url)]
    # The environment of the client may name a group, beside which --user means something else.
    named = {"group": typed.context.scope.group_id} if typed.context.is_personal else {}
    for name in ("group", "tenant", "user", "agent", "embeddings"):
        value = named.get(name, getattr(options, name))
        arguments += [f"--{name}", value] if value is not None else []
    by = f"agent:{client}" if typed.by == DEFAULT_BY else typed.by
    arguments += ["--by", by]
    if "--no-files" not in typed.flags:
        arguments += _file_options(typed)
    return [*_program(), "mcp", *arguments, *typed.flags], variables


def _file_options(typed: _Typed) -> list[str]:
    root = typed.root
    if root is not None and "://" in root:
        if _has_password(root):
            raise SettingError(
                "--root has a password, which an entry must not hold: put it into memoryware.json,"
                " and use --config"
            )
    elif root is not None or typed.context.config.file is None:
        root = str(Path(root or ".").expanduser().absolute())
    options = ["--root", root] if root is not None else []
    return [*options, *(part for path in typed.sources for part in ("--source", path))]


def _program() -> list[str]:
    """Return the command of this installation, by its absolute path."""
    python = Path(sys.executable)
    script = python.with_name("memoryware.exe" if sys.platform == "win32" else "memoryware")
    return [str(script)] if script.is_file() else [str(python), "-m", "memoryware"]


def _absolute_address(url: str) -> str:
    first, plus, rest = url.partition(" + ")
    file = file_of_url(first)
    if file is None:
        return url
    query = first.rpartition("?")[2] if "durability=" in first else ""
    address = f"{FILE}{file.absolute().as_posix()}" + (f"?{query}" if query else "")
    return f"{address}{plus}{rest}"


def _has_password(url: str) -> bool:
    """Return whether an address has what may be a password, other than the name of a user."""
    for part in url.split(" + "):
        _, _, rest = part.partition("://")
        login, at, _ = rest.rpartition("@")
        if (at and ":" in login) or re.search(r"(?i)[?&][^=&]*(pass|secret|token|key)", part):
            return True
    return False


# Serving.


def _serve(
    server: MemoryServer,
    address: tuple[str, int] | None,
    token_file: Path | None,
    names: Sequence[str],
) -> None:
    from memoryware.mcp import serve_http, serve_stdio

    if address is None:
        if sys.stdin.isatty():
            typer.echo(
                "memoryware: waiting for an MCP client on standard input; --print-config CLIENT"
                " prints what to put into the configuration of one",
                err=True,
            )
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


def _limits(config: CommandConfig, options: Sequence[str]) -> McpLimits:
    """Return the limits: by the options of the command, then by `memoryware.json`.

    Raises:
        ConfigError: For a number in the file that cannot be.
        SettingError: For one of the options.
    """
    limits = McpLimits()
    for name, value in config.mcp.items():
        try:
            limits = _with_limit(limits, name, value)
        except SettingError as error:
            raise config.error(name, f"mcp: {error}") from None
    for option in options:
        name, _, number = option.partition("=")
        try:
            limits = _with_limit(limits, name, _number(number))
        except SettingError as error:
            raise SettingError(f"--limit {option}: {error}") from None
    return limits


def _with_limit(limits: McpLimits, name: str, value: Any) -> McpLimits:
    defaults = {field.name: field.default for field in fields(McpLimits)}
    if name not in defaults:
        raise SettingError(f"unknown limit; the limits are {', '.join(defaults)}")
    if isinstance(defaults[name], int) and isinstance(value, float):
        raise SettingError(f"{name}={value}: must be a whole number")
    changed: dict[str, Any] = {name: value}
    return replace(limits, **changed)


_NUMBER: Final = re.compile("-?[0-9]{1,15}(?:[.][0-9]{1,15})?")


def _number(text: str) -> float | str:
    """Parse a decimal number; `int` and `float` would accept `1_0` and `nan` as well."""
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)


_NO_TOTAL: Final = 2**40
"""Each file is read by itself, so that the total needs no limit."""


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise SettingError("--http needs HOST:PORT, such as 127.0.0.1:8765")
    return host.strip("[]"), int(port)


def _token(file: Path | None) -> str:
    """Return the token that clients must send; a new one is printed once, on standard error."""
    if file is not None:
        return file.read_text(encoding="utf-8").strip()
    token = os.environ.get(TOKEN_VARIABLE)
    if token:
        return token
    token = secrets.token_urlsafe(32)
    typer.echo(f"memoryware: clients send Authorization: Bearer {token}", err=True)
    return token

"""`memoryware sources` and `memoryware prompt`: what a model would be shown of memory files."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from memoryware.cli import showing
from memoryware.cli._files import Listed, Root, files_of, quietly
from memoryware.cli._options import Config
from memoryware.guard import reveal

if TYPE_CHECKING:
    from memoryware.middleware.preview import Preview, SourcePreview
    from memoryware.sources.discovery import Layout

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Tokens for all files together, as in MemoryMiddleware.")
]


def sources(
    *,
    root: Root = None,
    source: Listed = None,
    max_tokens: MaxTokens = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Tell which memory files would be loaded here, from where, why, and what of them is shown.

    Exit codes: 0 done, 1 a disk or store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    with quietly():
        files = files_of(root, source, file=config)
        preview = files.memory(max_tokens=max_tokens).preview()
        others = [] if preview.sources else [one.path for one in files.read_on_request()]
    if json:
        rows = [*map(_row, preview.sources)]
        showing.document({"tokens": preview.tokens, "sources": rows, "on_request": others})
        return
    if others:
        _print_others(others)
        return
    _print(preview)


def prompt(
    *,
    root: Root = None,
    config: Config = None,
    source: Listed = None,
    max_tokens: MaxTokens = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(help="A tool that the agent has, such as edit_file; may come again."),
    ] = None,
    json: Json = False,
) -> None:
    """Print exactly what a model would get of the memory files in its system message.

    Exit codes: 0 done, 1 a disk or store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    tools = [SimpleNamespace(name=one) for one in tool or ()]
    with quietly():
        preview = files_of(root, source, file=config).memory(max_tokens=max_tokens).preview(tools)
    if json:
        parts = [{**_row(one), "text": one.text} for one in preview.sources]
        showing.document({"text": preview.text, "tokens": preview.tokens, "parts": parts})
        return
    if not preview.text:
        typer.echo("memoryware: a model would get nothing: there is no memory file", err=True)
        return
    showing.write(showing.STDOUT, preview.text)


def _row(one: SourcePreview) -> dict[str, Any]:
    return {
        "path": one.path,
        "why": one.why,
        "owner": one.owner,
        "writable": one.writable,
        "state": one.state,
        "detail": one.detail,
        "bytes": one.bytes,
        "tokens": one.tokens,
        "whole_tokens": one.whole,
        "imported": list(one.imported),
        "suspect": list(one.suspect),
    }


def _print_others(paths: list[str]) -> None:
    """Name the memory files of other names, where there is none that is loaded unasked."""
    from memoryware.sources.discovery import ALL_NAMES, Layout

    layout = Layout(names=ALL_NAMES)
    found = {layout.name_of(path): path for path in paths}
    names = [name if name in ALL_NAMES else _pattern_of(name, layout) for name in found]
    screen = showing.screen()
    screen.print("Only memory files that are read on request are here:")
    for path in paths:
        screen.print(Text(f"  {reveal(path)}"), soft_wrap=not sys.stdout.isatty())
    asked = ", ".join(f'"{name}"' for name in dict.fromkeys(names))
    screen.print(
        Text(f'To load them: MemoryMiddleware(sources="auto", layout=Layout(names=[{asked}])).'),
        soft_wrap=not sys.stdout.isatty(),
    )


def _pattern_of(name: str, layout: Layout) -> str:
    return next((one for one in layout.patterns if fnmatchcase(name, one)), name)


def _print(preview: Preview) -> None:
    screen = showing.screen()
    if not preview.sources:
        screen.print("No memory file would be loaded here.")
        return
    rows = [
        [
            Text(reveal(one.path)),
            one.why,
            one.state,
            "" if one.bytes is None else f"{one.bytes:,}",
            f"{one.tokens:,} of {one.whole:,}" if one.state == "cut" else f"{one.tokens:,}",
        ]
        for one in preview.sources
    ]
    head = ["file", "why", "shown", "bytes", "tokens"]
    screen.print(showing.grid(head, rows, numbers=("bytes", "tokens")))
    for one in preview.sources:
        details = [one.detail] if one.detail else []
        details += [f"it imports {path}" for path in one.imported]
        for said in [*details, *one.suspect]:
            screen.print(Text(reveal(f"{one.path}: {said}")), soft_wrap=not sys.stdout.isatty())
    count = sum(one.state in ("shown", "cut") for one in preview.sources)
    screen.print(f"{count} shown, in this order; about {preview.tokens:,} tokens with guidelines")

"""`memoryware sources` and `memoryware prompt`: what a model would be shown of memory files."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from memoryware.cli import showing
from memoryware.cli._files import Listed, Root, files_of, quietly
from memoryware.guard import reveal

if TYPE_CHECKING:
    from memoryware.middleware.preview import Preview, SourcePreview

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Tokens for all files together, as in MemoryMiddleware.")
]


def sources(
    *, root: Root = None, source: Listed = None, max_tokens: MaxTokens = None, json: Json = False
) -> None:
    """Tell which memory files would be loaded here, from where, why, and what of them is shown.

    Exit codes: 0 done, 1 a disk or store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    with quietly():
        preview = files_of(root, source).memory(max_tokens=max_tokens).preview()
    if json:
        showing.document({"tokens": preview.tokens, "sources": [*map(_row, preview.sources)]})
        return
    _print(preview)


def prompt(
    *,
    root: Root = None,
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
        preview = files_of(root, source).memory(max_tokens=max_tokens).preview(tools)
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

"""`import`: a bundle of our own, or memories of another system, into quarantine."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

from memoryware.cli import _output
from memoryware.cli._options import CommandContext, DryRun, file_of_url, memory_command
from memoryware.errors import BundleRefused, ImportRefused, SettingError
from memoryware.importers import (
    SYSTEMS,
    ImportSummary,
    SourceRecord,
    System,
    detect_system,
    import_memories,
    read_memories,
)
from memoryware.importers.reading import BUNDLE
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.stores.protocol import Select

_NAMES: Final = (*SYSTEMS, BUNDLE)
_ALIASES: Final = {"langmem": "langgraph", "bundle": BUNDLE}
_SHOWN: Final = 5
_REFUSALS: Final = 10
"""Refused records that are printed; --json prints the first hundred."""


@memory_command
def import_(
    context: CommandContext,
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help='A file or folder, postgresql://..., or "-" for standard input.',
        ),
    ],
    *,
    system: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SYSTEM",
            help=f"What wrote it: {', '.join(_NAMES)}. Default: detected.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="The origin of the records, to revoke them by. Default: the system; of a bundle,"
            " the name of the file."
        ),
    ] = None,
    namespace: Annotated[
        str,
        typer.Option(
            help="Of a LangGraph store, only items in this namespace and below, such as"
            " memories/ann."
        ),
    ] = "",
    dry_run: DryRun = False,
) -> None:
    """Import memories of another system, or a bundle, into quarantine; nothing of it is trusted.

    Importing the same again adds nothing, and an interrupted import goes on when it is called
    again. --user is the user of memories that name none.

    Exit codes: 0 done, 1 a store failed, 2 usage error, 3 the file or the configuration cannot be
    read, and nothing was imported.
    """
    scope = context.require_group()
    with _source(path) as source:
        chosen = _system(source, system)
        parts = tuple(namespace.split("/")) if namespace else ()
        with _open(context, source, chosen, parts, dry_run=dry_run) as memory:
            if chosen == BUNDLE:
                bundle_name = name or ("stdin" if path == _output.STDOUT else Path(path).stem)
                _import_bundle(context, memory, source, bundle_name, dry_run=dry_run)
                return
            with _output.progress("importing", None) as show:
                summary = import_memories(
                    memory,
                    source,
                    scope,
                    system=chosen,
                    name=name,
                    namespace=parts,
                    dry_run=dry_run,
                    preview=_SHOWN,
                    on_progress=lambda summary: show(summary.read),
                )
    if context.json:
        _output.print_json(_summary_json(summary))
        return
    _print_summary(context, summary)


@contextmanager
def _source(path: str) -> Iterator[str]:
    """Yield the path to read; standard input is saved first, since it is read twice."""
    if path != _output.STDOUT:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="memoryware-import-") as folder:
        file = Path(folder, "stdin")
        with file.open("wb") as saved:
            shutil.copyfileobj(sys.stdin.buffer, saved)
        try:
            yield str(file)
        except ImportRefused as error:
            raise ImportRefused("standard input", error.message, error.line) from None


def _system(source: str, system: str | None) -> str:
    if system is None:
        try:
            return detect_system(source)
        except ImportRefused as error:
            raise ImportRefused(
                error.path,
                error.message.replace("name the system that wrote it", "use --from"),
                error.line,
            ) from None
    chosen = _ALIASES.get(system, system)
    if chosen not in _NAMES:
        raise SettingError(f"--from {system}: must be one of {', '.join(_NAMES)}")
    return chosen


def _open(
    context: CommandContext, source: str, system: str, parts: tuple[str, ...], *, dry_run: bool
) -> TieredMemory:
    """Open the memory; a dry run or a damaged source creates no file that is not there."""
    file = file_of_url(context.url)
    if file is not None and not file.exists():
        if dry_run:
            return TieredMemory.open("memory://")
        if system != BUNDLE:
            deque(read_memories(source, cast("System", system), namespace=parts), maxlen=0)
    return context.open_memory(make=not dry_run)


# Memories of other systems.


def _summary_json(summary: ImportSummary) -> dict[str, Any]:
    return {
        "system": summary.system,
        "origin": str(summary.origin),
        "read": summary.read,
        "recorded": summary.recorded,
        "existing": summary.existing,
        "refused": summary.refused,
        "filtered": summary.filtered,
        "reasons": dict(summary.reasons),
        "refusals": [asdict(refusal) for refusal in summary.refusals],
        "preview": [_record_json(record) for record in summary.preview],
        "done": not summary.dry_run,
    }


def _record_json(record: SourceRecord) -> dict[str, Any]:
    said_at = record.said_at.isoformat() if record.said_at else None
    return {
        "id": record.id,
        "text": record.text,
        "said_at": said_at,
        "user": record.user,
        "location": record.location,
    }


def _print_summary(context: CommandContext, summary: ImportSummary) -> None:
    verb = "Would record" if summary.dry_run else "Recorded"
    typer.echo(
        f"{verb} {summary.recorded:,} of {summary.read:,} memories from {summary.system} in"
        f" quarantine; {summary.existing:,} were there before, {summary.refused:,} refused."
    )
    for refusal in summary.refusals[:_REFUSALS]:
        typer.echo(f"Refused: {_output.one_line(str(refusal), 300)}")
    if summary.refused > _REFUSALS:
        typer.echo(f"... and {summary.refused - _REFUSALS:,} more; --json lists them.")
    for record in summary.preview:
        _output.print_head(
            record.id, record.user and f"user {record.user}", _output.format_time(record.said_at)
        )
        _output.print_text(record.text, 120)
    if summary.recorded > len(summary.preview) > 0:
        typer.echo(f"... and {summary.recorded - len(summary.preview):,} more.")
    if summary.dry_run or not summary.recorded:
        return
    typer.echo(f"To review: memoryware digest{context.repeat_options}")
    typer.echo(
        f"To undo this: memoryware revoke --origin '{summary.origin}'{context.repeat_options}"
    )


# Bundles.


def _import_bundle(
    context: CommandContext, memory: TieredMemory, file: str, name: str, *, dry_run: bool
) -> None:
    scope, lines = context.scope, _lines(file)
    try:
        if dry_run:
            added, existing, ids = _preview_bundle(context, memory, lines, name)
            origin = f"import:{name}"
        else:
            report = memory.import_bundle(lines, scope, name=name)
            added, existing, ids = report.added, report.known, dict(report.ids)
            origin = str(report.origin)
    except BundleRefused as error:
        raise BundleRefused(f"{file}: {error}", error.line) from None
    if context.json:
        counts = {"added": added, "known": existing, "origin": origin}
        _output.print_json(counts | ({"done": False} if dry_run else {"ids": ids}))
        return
    before = f"; {existing:,} were there before" if existing else ""
    verb = "Would add" if dry_run else "Added"
    typer.echo(f"{verb} {added:,} records to quarantine{before}.")
    if not dry_run:
        typer.echo(f"To undo this: memoryware revoke --origin '{origin}'{context.repeat_options}")


def _preview_bundle(
    context: CommandContext, memory: TieredMemory, lines: list[str], name: str
) -> tuple[int, int, dict[str, str]]:
    """Count what a bundle would add, by importing it into a memory that is thrown away."""
    select = Select.within(context.scope, root=f"import:{name}")
    with TieredMemory.open("memory://") as scratch:
        scratch.import_bundle(lines, context.scope, name=name)
        keys = {entry.key for entry in scratch.parts.stores.quarantine.find(select).items}
    existing = {entry.key for entry in memory.parts.stores.quarantine.find(select).items}
    return len(keys - existing), len(keys & existing), {}


def _lines(file: str) -> list[str]:
    try:
        raw = Path(file).read_bytes()
    except OSError as error:
        raise BundleRefused(f"{file}: {error.strerror or error}") from None
    try:
        return raw.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise BundleRefused(f"{file}: is not UTF-8") from None

"""`export`, `copy`, `backup` and `reindex`."""

from __future__ import annotations

import hashlib
import json as text_of
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from memoryware._runner import BLOCKING, run_blocking
from memoryware.cli import _output, _terminal
from memoryware.cli._exit_codes import FAILED
from memoryware.cli._options import (
    CommandContext,
    DryRun,
    Force,
    Json,
    Yes,
    memory_command,
    require_file,
)
from memoryware.errors import SettingError
from memoryware.tiers.transfer import CopyPreview, CopyReport, copy_stores, preview


@memory_command
def export(
    context: CommandContext,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help='The file to write; "-" prints.')
    ] = _output.STDOUT,
    *,
    force: Force = False,
) -> None:
    """Export all memory of a group as JSON Lines, with lineage; the file is readable by you only.

    Exit codes: 0 done, 1 the store or disk failed, 2 usage error, 3 the configuration cannot be
    read.
    """
    scope = context.require_group()
    if file == _output.STDOUT and context.json:
        raise SettingError("--json reports on a written FILE; leave it out to print the export")
    if file != _output.STDOUT:
        _output.check_target("FILE", file)
        if Path(file).exists() and not force:
            raise SettingError(f"{file} exists already; use --force to overwrite it")
    with context.open_memory() as memory:
        if file == _output.STDOUT:
            _print(memory.export(scope))
            return
        count = memory.export_to(file, scope)
    if context.json:
        _output.print_json({"file": str(Path(file).resolve()), "records": count})
        return
    typer.echo(f"Wrote {count:,} records to {file}.")


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.buffer.write(f"{line}\n".encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The URL of a store.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The URL of another store.")],
    *,
    exact: Annotated[
        bool, typer.Option("--exact", help="Delete what only the target has.")
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Records per batch.")] = 500,
    anew: Annotated[
        bool, typer.Option("--anew", help="Start over instead of resuming an interrupted copy.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Copy one store to another, all groups and tiers, until both are equal.

    An interrupted copy resumes when it is called again. --exact lists what it would delete from
    the target, and asks.

    Exit codes: 0 both are equal, 1 a store failed or the source still changes, 2 usage error,
    4 declined.
    """
    require_file(source)
    if dry_run or (exact and not yes and _terminal.is_terminal()):
        limit = _output.PREVIEWED
        copy_preview = run_blocking(preview(BLOCKING, source, target, exact=exact, most=limit))
        _print_copy_preview(copy_preview, exact=exact, dry_run=dry_run, json=json)
    if dry_run:
        return
    if exact:
        _output.confirm("Delete permanently what only the target has?", yes=yes)
    marks_file = _ResumeFile(source, target)
    marks = {} if anew else marks_file.read()
    if marks and not json:
        typer.echo("Resuming the last copy; --anew starts over.", err=True)
    with _output.progress("copying", None) as show:
        report = copy_stores(
            source,
            target,
            marks=marks,
            exact=exact,
            batch=batch,
            on_progress=lambda report: _on_progress(marks_file, show, report),
        )
    marks_file.delete()
    if json:
        _output.print_json(asdict(report))
    else:
        typer.echo(str(report)[:1].upper() + str(report)[1:])
    if not report.same:
        raise typer.Exit(FAILED)


def _print_copy_preview(preview: CopyPreview, *, exact: bool, dry_run: bool, json: bool) -> None:
    if json:
        if dry_run:
            counts = {
                "copied": _output.counts_json(preview.copied),
                "surplus": _output.counts_json(preview.surplus),
            }
            records = _output.preview_json(preview.first)
            _output.print_json(counts | {"records": records, "done": False})
        return
    mode = "would" if dry_run else "will"
    typer.echo(f"{mode.capitalize()} copy {_output.describe_counts(preview.copied)}")
    if not exact:
        typer.echo(f"Only in the target, will be kept: {_output.describe_counts(preview.surplus)}")
        return
    typer.echo(
        f"Only in the target, {mode} be deleted permanently:"
        f" {_output.describe_counts(preview.surplus)}"
    )
    _output.print_preview(preview.first, preview.surplus.total)


def _on_progress(marks: _ResumeFile, show_count: Callable[[int], None], report: CopyReport) -> None:
    marks.write(report.marks)
    show_count(sum(tier.read for tier in report.tiers))


class _ResumeFile:
    """Where an interrupted copy resumes: a file on this machine, named by a digest of both URLs.

    The URLs are not in it, because they may contain a password.
    """

    def __init__(self, source: str, target: str) -> None:
        pair = hashlib.blake2b(f"{source}\0{target}".encode(), digest_size=16).hexdigest()
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        self._file = Path(base, "memoryware", f"copy-{pair}.json")

    def read(self) -> Mapping[str, str | None]:
        """Return the marks of an interrupted copy; empty if there is none."""
        try:
            marks: Any = text_of.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return marks if isinstance(marks, dict) else {}

    def write(self, marks: Mapping[str, str | None]) -> None:
        """Save the marks; if that fails, the next copy starts over, which is only slower."""
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=self._file.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text_of.dumps(dict(marks)))
            Path(draft).replace(self._file)

    def delete(self) -> None:
        """Delete the file: the copy is complete."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)


@memory_command
def backup(
    context: CommandContext,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write.")],
    *,
    force: Force = False,
) -> None:
    """Back up the whole SQLite file, all groups and tiers, and check the copy.

    Other processes may write meanwhile; the copy is readable by you only. To restore it, stop
    every process that has the memory open, delete the old file with its -wal and -shm, and move
    the copy to its place.

    Exit codes: 0 done, 1 the store or disk failed, 2 usage error, 3 the configuration cannot be
    read.
    """
    with context.open_memory() as memory:
        memory.backup(file, overwrite=force)
    target = Path(file).resolve()
    if context.json:
        _output.print_json({"file": str(target), "bytes": target.stat().st_size})
        return
    typer.echo(f"Wrote {target.stat().st_size:,} bytes to {file}.")


@memory_command
def reindex(
    context: CommandContext,
    *,
    pending: Annotated[
        bool, typer.Option("--pending", help="Only memories without a vector.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Embed long-term memory of all groups with the current model; resumes if interrupted.

    Reads work meanwhile. The vectors of other models are deleted at the end.

    Exit codes: 0 done, 1 the store or model failed for some memories, 2 usage error, 3 the
    configuration cannot be read.
    """
    if context.embeddings is None:
        raise SettingError(
            "no embedding model is configured: use --embeddings MODEL, or set it in memoryware.json"
        )
    with context.open_memory() as memory:
        spaces = memory.spaces()
        if dry_run:
            _print_spaces(context, {str(space): count for space, count in spaces.items()})
            return
        if pending:
            done = memory.embed_pending()
            if context.json:
                _output.print_json({"embedded": done})
            else:
                typer.echo(f"Embedded {done:,} memories.")
            return
        with _output.progress("embedding", max(spaces.values(), default=None)) as show:
            report = memory.reindex(on_progress=show)
    if context.json:
        _output.print_json(asdict(report))
    else:
        typer.echo(f"Embedded {report.embedded:,} memories; all vectors are of {report.space} now.")
    if report.failed:
        typer.echo(f"{report.failed:,} memories could not be embedded; run it again.", err=True)
        raise typer.Exit(FAILED)


def _print_spaces(context: CommandContext, spaces: Mapping[str, int]) -> None:
    if context.json:
        _output.print_json({"spaces": spaces, "model": context.embeddings, "done": False})
        return
    for name, count in spaces.items():
        typer.echo(f"{count:,} vectors of {name}")
    typer.echo(f"Would replace them by vectors of {context.embeddings}.")

"""`export`, `import`, `copy` and `reindex`: memory on its way, and to another model."""

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

from memoryware._twins import blocking, finish
from memoryware.cli import _keys, _records, showing
from memoryware.cli._opening import Place, check_there
from memoryware.cli._options import DryRun, Json, Yes, on_memory
from memoryware.errors import BundleRefused, SettingError
from memoryware.tiers.transfer import CopyPreview, CopyReport, copy_stores, preview

FAILED = 1
"""The exit code if not everything was done."""


@on_memory
def export(
    place: Place,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help='Where to; "-" prints it.')
    ] = showing.STDOUT,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write all memory of a group as JSON Lines, with its lineage; only you can read the file.

    Exit codes: 0 done, 1 the store or disk failed, 2 wrong call, 3 the configuration cannot be
    read.
    """
    scope = place.grouped()
    if file == showing.STDOUT and place.json:
        raise SettingError("--json tells how much was written, and needs a FILE; so leave it out")
    if file != showing.STDOUT:
        showing.check_target("FILE", file)
        if Path(file).exists() and not force:
            raise SettingError(f"{file} is there already; --force replaces it")
    with place.opened() as memory:
        if file == showing.STDOUT:
            _print(memory.export(scope))
            return
        count = memory.export_to(file, scope)
    if place.json:
        showing.document({"file": str(Path(file).resolve()), "records": count})
        return
    typer.echo(f"Wrote {count:,} records to {file}.")


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.buffer.write(f"{line}\n".encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


@on_memory
def import_(
    place: Place,
    file: Annotated[str, typer.Argument(help='A bundle that export wrote; "-" is standard input.')],
    *,
    name: Annotated[
        str | None,
        typer.Option(help="What it is called, to revoke it by; by default the name of the file."),
    ] = None,
) -> None:
    """Put the records of a bundle into quarantine; none of it is trusted, whatever it says.

    The same bundle again adds nothing.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the bundle or the configuration
    cannot be read: nothing was imported then.
    """
    scope = place.grouped()
    called = name or ("stdin" if file == showing.STDOUT else Path(file).stem)
    lines = _lines(file)
    try:
        with place.opened(make=True) as memory:
            report = memory.import_bundle(lines, scope, name=called)
    except BundleRefused as error:
        raise BundleRefused(f"{file}: {error}", error.line) from None
    if place.json:
        showing.document(
            {
                "added": report.added,
                "known": report.known,
                "origin": str(report.origin),
                "ids": dict(report.ids),
            }
        )
        return
    known = f"; {report.known:,} were there already" if report.known else ""
    typer.echo(f"{report.added:,} records are in quarantine{known}.")
    typer.echo(f"To take all of it back: memoryware revoke --origin '{report.origin}'{place.again}")


def _lines(file: str) -> list[str]:
    try:
        raw = sys.stdin.buffer.read() if file == showing.STDOUT else Path(file).read_bytes()
    except OSError as error:
        raise BundleRefused(f"{file}: {error.strerror or error}") from None
    try:
        return raw.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise BundleRefused(f"{file}: is not UTF-8") from None


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The address of a store.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The address of another one.")],
    *,
    exact: Annotated[
        bool, typer.Option("--exact", help="Remove what only the target has.")
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Records at a time.")] = 500,
    anew: Annotated[
        bool, typer.Option("--anew", help="Do not go on where an interrupted copy stopped.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Copy everything of one store into another, all groups and tiers, until both are the same.

    An interrupted copy goes on where it stopped when it is called again. --exact shows what it
    would remove, and asks.

    Exit codes: 0 both are the same, 1 a store failed or the source still changes, 2 wrong call,
    4 it was declined.
    """
    check_there(source)
    if dry_run or (exact and not yes and _keys.is_terminal()):
        most = _records.PREVIEWED
        found = finish(preview(blocking, source, target, exact=exact, most=most))
        _tell_preview(found, exact=exact, dry_run=dry_run, json=json)
    if dry_run:
        return
    if exact:
        showing.confirm("Remove what only the target has, for good?", yes=yes)
    kept = _Marks(source, target)
    marks = {} if anew else kept.read()
    if marks and not json:
        typer.echo("Going on where the last copy stopped; --anew begins from the start.", err=True)
    with showing.progress("copying", None) as show:
        report = copy_stores(
            source,
            target,
            marks=marks,
            exact=exact,
            batch=batch,
            on_progress=lambda so_far: _told(kept, show, so_far),
        )
    kept.drop()
    if json:
        showing.document(asdict(report))
    else:
        typer.echo(str(report)[:1].upper() + str(report)[1:])
    if not report.same:
        raise typer.Exit(FAILED)


def _tell_preview(found: CopyPreview, *, exact: bool, dry_run: bool, json: bool) -> None:
    if json:
        if dry_run:
            counts = {
                "copied": _records.counts_as_json(found.copied),
                "surplus": _records.counts_as_json(found.surplus),
            }
            records = _records.preview_as_json(found.first)
            showing.document(counts | {"records": records, "done": False})
        return
    mode = "would" if dry_run else "will"
    typer.echo(f"{mode.capitalize()} be copied: {_records.counted(found.copied)}")
    if not exact:
        typer.echo(f"Only in the target, and stays there: {_records.counted(found.surplus)}")
        return
    typer.echo(
        f"Only in the target, and {mode} be removed for good: {_records.counted(found.surplus)}"
    )
    _records.preview(found.first, found.surplus.total)


def _told(kept: _Marks, show: Callable[[int], None], report: CopyReport) -> None:
    kept.write(report.marks)
    show(sum(one.read for one in report.tiers))


class _Marks:
    """Where an interrupted copy goes on: a small file of this machine, named by both addresses.

    No address is in it: there may be a password in one.
    """

    def __init__(self, source: str, target: str) -> None:
        pair = hashlib.blake2b(f"{source}\0{target}".encode(), digest_size=16).hexdigest()
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        self._file = Path(base, "memoryware", f"copy-{pair}.json")

    def read(self) -> Mapping[str, str | None]:
        """Return the marks of the last copy between these two; none if it has ended."""
        try:
            known: Any = text_of.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def write(self, marks: Mapping[str, str | None]) -> None:
        """Keep the marks; what cannot be kept is begun anew, which is only slower."""
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=self._file.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text_of.dumps(dict(marks)))
            Path(draft).replace(self._file)

    def drop(self) -> None:
        """Forget the marks: the copy has ended."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)


@on_memory
def backup(
    place: Place,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to.")],
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a copy of the whole memory file, of all groups and tiers, and check it.

    Others may go on writing meanwhile; only you can read the copy. To restore it, stop whoever
    has the memory open, delete the old file with its -wal and -shm, and put the copy in its place.

    Exit codes: 0 done, 1 the store or disk failed, 2 wrong call, 3 the configuration cannot be
    read.
    """
    with place.opened() as memory:
        memory.backup(file, overwrite=force)
    target = Path(file).resolve()
    if place.json:
        showing.document({"file": str(target), "bytes": target.stat().st_size})
        return
    typer.echo(f"Wrote {target.stat().st_size:,} bytes to {file}.")


@on_memory
def reindex(
    place: Place,
    *,
    pending: Annotated[
        bool, typer.Option("--pending", help="Only what has no vector yet.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Embed long-term memory of all groups with the present model; goes on where it stopped.

    Reads go on meanwhile. The vectors of other models are forgotten in the end.

    Exit codes: 0 done, 1 the store or model failed, or something is left, 2 wrong call, 3 the
    configuration cannot be read.
    """
    if place.embeddings is None:
        raise SettingError("say with which model: --embeddings MODEL, or in memoryware.json")
    with place.opened() as memory:
        spaces = memory.spaces()
        if dry_run:
            _tell_spaces(place, {str(space): count for space, count in spaces.items()})
            return
        if pending:
            done = memory.embed_pending()
            if place.json:
                showing.document({"embedded": done})
            else:
                typer.echo(f"{done:,} got a vector.")
            return
        with showing.progress("embedding", max(spaces.values(), default=None)) as show:
            made = memory.reindex(on_progress=show)
    if place.json:
        showing.document(asdict(made))
    else:
        typer.echo(f"{made.embedded:,} were embedded; all vectors are of {made.space} now.")
    if made.failed:
        typer.echo(f"{made.failed:,} could not be embedded; call it again.", err=True)
        raise typer.Exit(FAILED)


def _tell_spaces(place: Place, spaces: Mapping[str, int]) -> None:
    if place.json:
        showing.document({"spaces": spaces, "model": place.embeddings, "done": False})
        return
    for name, count in spaces.items():
        typer.echo(f"{count:,} vectors of {name}")
    typer.echo(f"They would be replaced by vectors of {place.embeddings}.")

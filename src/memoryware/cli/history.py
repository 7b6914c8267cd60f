"""`memoryware log`, `diff` and `undo`: the versions of memory files, and the way back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from memoryware.cli import showing
from memoryware.cli._files import Root, files_of
from memoryware.cli._options import Config
from memoryware.errors import VersionMissing
from memoryware.guard import reveal

if TYPE_CHECKING:
    from memoryware.backends._acting import Actor
    from memoryware.backends.history import HistoryBackend, Version

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Which = Annotated[str | None, typer.Argument(help="A number, or an id, that log names.")]
By = Annotated[str | None, typer.Option(envvar="MEMORYWARE_BY", help="Who does it.")]


def log(
    path: Annotated[str | None, typer.Argument(help="A memory file; without one, all.")] = None,
    *,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Tell the versions of a memory file, newest first, or which files have versions.

    Exit codes: 0 done, 1 a disk or store failed, 2 wrong call, 4 there are no versions.
    """
    files = files_of(root, file=config)
    history = files.history()
    if path is None:
        _log_all(history, json=json)
        return
    place = files.path(path)
    versions = history.log(place)
    if not versions:
        raise VersionMissing(place, _nothing(place))
    if json:
        showing.document({"path": versions[0].path, "versions": [*map(_row, versions)]})
        return
    screen = showing.screen()
    screen.print(showing.grid(_HEAD, [_cells(one) for one in versions], numbers=("bytes",)))
    if not any(one.current for one in versions):
        screen.print("The file was changed by something else since.")
    if versions[-1].dropped:
        screen.print(f"{versions[-1].dropped:,} earlier versions are not kept any more.")


def diff(
    path: Annotated[str, typer.Argument(help="A memory file.")],
    first: Which = None,
    second: Which = None,
    *,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Show what is different between two versions, or one and the file, or what changed last.

    Exit codes: 0 done, 1 a disk or store failed, 2 wrong call, 4 there is no such version.
    """
    files = files_of(root, file=config)
    history, place = files.history(), files.path(path)
    newer = _wanted(second) if second else None
    told = history.diff(place, _wanted(first), newer) if first else history.diff(place)
    if json:
        older = _wanted(first) if first else _older_in(told)
        showing.document({"path": place, "from": older, "to": second, "diff": told})
        return
    _print_diff(told)


def undo(
    path: Annotated[str, typer.Argument(help="A memory file.")],
    *,
    to: Annotated[str | None, typer.Option(help="The version that it shall be again.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept with the version.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be taken back, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    root: Root = None,
    config: Config = None,
    by: By = None,
    json: Json = False,
) -> None:
    """Take back the last change of a memory file, or bring back a version; shows it, and asks.

    Exit codes: 0 done, 1 a disk or store failed, 2 wrong call, 4 there is no such version, or
    it was declined.
    """
    files = files_of(root, by=by, file=config)
    history, place = files.history(), files.path(path)
    seen = [one.id for one in history.log(place)]
    target = _wanted(to) if to else _last(history, place)
    told = history.diff(place, target)
    about = {"path": place, "to": target, "diff": told}
    if not json:
        typer.echo("This would be taken back:" if dry_run else "This will be taken back:")
        _print_diff(told)
        what = "gone, as it was before" if target is None else f"version {target} again"
        typer.echo(f"{place} would be {what}." if dry_run else f"{place} will be {what}.")
    if dry_run:
        if json:
            showing.document({**about, "done": False})
        return
    showing.confirm("Take this back?", yes=yes)
    if [one.id for one in history.log(place)] != seen:
        raise VersionMissing(place, f"{place} has changed meanwhile; look at it again")
    made = history.undo(place, target, reason=reason)
    if json:
        showing.document({**about, "done": True, "version": _row(made)})
        return
    typer.echo(f"Done: it is version {made.number} of {made.path}.")


_HEAD = ["version", "when", "what", "bytes", "who", "why"]


def _log_all(history: HistoryBackend, *, json: bool) -> None:
    logs = [(path, history.log(path)) for path in history.files()]
    kept = [(path, versions) for path, versions in logs if versions]
    if json:
        showing.document(
            {"files": [{"path": path, "versions": [*map(_row, of)]} for path, of in kept]}
        )
        return
    if not kept:
        raise VersionMissing("", _nothing("any file"))
    rows = [[Text(reveal(path)), f"{len(of):,}", *_cells(of[0])[1:]] for path, of in kept]
    head = ["file", "versions", *_HEAD[1:]]
    showing.screen().print(showing.grid(head, rows, numbers=("versions", "bytes")))


def _nothing(what: str) -> str:
    return (
        f"there are no versions of {what} here. They are kept where files are changed through a"
        " HistoryBackend; say where with --root"
    )


def _wanted(version: str) -> int | str:
    return int(version) if version.isdecimal() and len(version) < 9 else version


def _last(history: HistoryBackend, path: str) -> int | None:
    """Return the version before the last change; None if there was no file."""
    target = history.undo_target(path)
    return None if target is None else target.number


def _older_in(diff: str) -> int | None:
    """Return the number of the older version in the head of a diff; None for no file."""
    number = diff.partition("\n")[0].rpartition("@")[2]
    return int(number) if number.isdecimal() else None


def _row(one: Version) -> dict[str, Any]:
    return {
        "number": one.number,
        "id": one.id,
        "kind": one.kind,
        "time": one.time.isoformat(),
        "bytes": one.size,
        "who": _who(one.actor),
        "reason": one.reason,
        "restored": one.restored,
        "kept": one.kept,
        "redacted": one.redacted,
        "applied": one.applied,
        "current": one.current,
    }


def _cells(one: Version) -> list[Text]:
    what = one.kind if one.restored is None else f"{one.kind} to {one.restored}"
    marks = [
        *(["the file now"] if one.current else []),
        *([] if one.applied else ["not applied"]),
        *([] if one.kept else ["text not kept"]),
    ]
    said = f"{what} ({', '.join(marks)})" if marks else what
    when = one.time.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    told = [str(one.number), when, said, f"{one.size:,}", _who(one.actor), one.reason or ""]
    return [Text(reveal(cell)) for cell in told]


def _who(actor: Actor) -> str:
    named = (("", actor.user), ("agent ", actor.agent), ("thread ", actor.thread))
    return ", ".join(f"{kind}{name}" for kind, name in named if name)


def _print_diff(told: str) -> None:
    if not told:
        typer.echo("There is no difference.")
        return
    if not sys.stdout.isatty():
        showing.write(showing.STDOUT, reveal(told))
        return
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in reveal(told).splitlines():
        showing.screen().print(Text(line, style=colours.get(line[:1], "")))

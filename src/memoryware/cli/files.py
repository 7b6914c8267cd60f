"""`memoryware files`: what an agent is shown of memory files, their problems and versions."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoryware.backends.addresses import open_files
from memoryware.cli import _output
from memoryware.cli._exit_codes import PROBLEMS
from memoryware.cli._options import Config, DryRun, Json, Yes, acting_identity, load_config
from memoryware.errors import SettingError, VersionMissing
from memoryware.events import logger
from memoryware.guard import Guard, reveal
from memoryware.settings import CheckLimits
from memoryware.sources.checks import check

if TYPE_CHECKING:
    from memoryware.backends._actor import Actor
    from memoryware.backends.history import HistoryBackend, Version
    from memoryware.middleware.memory import MemoryMiddleware
    from memoryware.middleware.preview import Preview, SourcePreview
    from memoryware.sources.layout import Layout
    from memoryware.sources.source import Source


# The files.

RootOption = Annotated[
    str | None,
    typer.Option(help="The root of the files: a folder, or the URL of a LangGraph store."),
]
SourceOption = Annotated[
    list[str] | None,
    typer.Option("--source", help="A memory file, by its path in the root; repeatable."),
]
_STORE: Final = "store+"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFiles:
    """The memory files of a command.

    Attributes:
        root: A folder, or the URL of a store.
        sources: The memory files; None discovers them.
        by: Who acts.
    """

    root: str
    sources: tuple[str, ...] | None = None
    by: str = ""

    @property
    def is_on_disk(self) -> bool:
        """Whether the files are in a local folder."""
        return not self.root.startswith(_STORE)

    def backend(self) -> Any:
        """Open the backend of the root."""
        return open_files(self.root)

    def middleware(self, **options: Any) -> MemoryMiddleware:
        """Return middleware that loads the files and warns about files that it cannot read.

        Without a list of sources it discovers them: on disk from the root upwards and in the
        home folder, in a store from its root.

        Args:
            options: Further options of `MemoryMiddleware`.

        Returns:
            The middleware.
        """
        from memoryware.middleware.memory import MemoryMiddleware

        if self.sources is not None:
            return MemoryMiddleware(
                backend=self.backend(), sources=self.sources, on_error="warn", **options
            )
        if self.is_on_disk:
            self.backend()  # refuses a root that does not exist
            return MemoryMiddleware(sources="auto", start=self.root, on_error="warn", **options)
        return MemoryMiddleware(
            backend=self.backend(), sources="auto", start="/", on_error="warn", **options
        )

    def read_on_request(self) -> list[Source]:
        """Return memory files with other names, which are loaded on request only."""
        from memoryware.sources.discovery import discover
        from memoryware.sources.layout import ALL_NAMES, Layout

        if self.sources is not None:
            return []
        layout = Layout(names=ALL_NAMES)
        if self.is_on_disk:
            return discover(self.root, layout=layout)
        return discover("/", backend=self.backend(), layout=layout)

    def preview_backend(self) -> Any:
        """Return the backend of the paths of `middleware().preview()`."""
        from memoryware.sources.discovery import on_disk

        if self.sources is None and self.is_on_disk:
            return on_disk(self.root)[0]
        return self.backend()

    def history(self) -> HistoryBackend:
        """Open the backend with its versions."""
        from memoryware.backends._actor import Actor
        from memoryware.backends.history import HistoryBackend

        return HistoryBackend(self.backend(), actor=Actor(user=self.by or None))

    def path(self, path: str) -> str:
        """Convert a path of this machine to a path in the root.

        Args:
            path: A local path, or a path in the root.

        Returns:
            An absolute path in the root.

        Raises:
            SettingError: For a relative path outside the root.
        """
        if not self.is_on_disk:
            return path if path.startswith("/") else f"/{path}"
        root = os.path.realpath(self.root)
        folder, name = os.path.split(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - does not follow links
        host = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - as above
        if host.startswith(f"{root.rstrip(os.sep)}{os.sep}"):
            return f"/{Path(host).relative_to(root).as_posix()}"
        if path.startswith("/"):
            return path
        raise SettingError(f"{path} is not in {self.root}; set the folder of the files with --root")


def memory_files(
    root: str | None,
    sources: Sequence[str] | None = None,
    by: str | None = None,
    file: Path | None = None,
) -> MemoryFiles:
    """Find the memory files by the options of a command, then by `memoryware.json`.

    Args:
        root: `--root`.
        sources: `--source`.
        by: Who acts.
        file: `--config`.

    Returns:
        The memory files.
    """
    config = load_config(file)
    listed = sources or (config.sources if root is None else None)
    paths = None
    if listed:
        paths = tuple(path if path.startswith(("/", "~")) else f"/{path}" for path in listed)
    folder = config.root or (config.file and config.file.parent)
    return MemoryFiles(
        root=root or str(folder or "."), sources=paths, by=acting_identity(by, config)
    )


@contextmanager
def suppress_logging() -> Iterator[None]:
    """Suppress warnings in the log that a command prints itself."""
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


# `files list` and `files preview`.

MaxTokens = Annotated[
    int | None,
    typer.Option(min=1, help="The token limit for all files together, as in MemoryMiddleware."),
]


def list_files(
    *,
    root: RootOption = None,
    source: SourceOption = None,
    max_tokens: MaxTokens = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """List the memory files that an agent would load here, and how much of each it would see.

    Exit codes: 0 done, 1 a disk or store failed, 2 usage error, 3 the configuration cannot be read.
    """
    with suppress_logging():
        files = memory_files(root, source, file=config)
        preview = files.middleware(max_tokens=max_tokens).preview()
        others = [] if preview.sources else [source.path for source in files.read_on_request()]
    if json:
        rows = [*map(_source_json, preview.sources)]
        _output.print_json({"tokens": preview.tokens, "sources": rows, "on_request": others})
        return
    if others:
        _print_on_request(others)
        return
    _print_sources(preview)


def preview_files(
    *,
    root: RootOption = None,
    config: Config = None,
    source: SourceOption = None,
    max_tokens: MaxTokens = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(help="A tool of the agent, such as edit_file; repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Print what a model gets of the memory files in its system message.

    Exit codes: 0 done, 1 a disk or store failed, 2 usage error, 3 the configuration cannot be read.
    """
    tools = [SimpleNamespace(name=name) for name in tool or ()]
    with suppress_logging():
        preview = (
            memory_files(root, source, file=config).middleware(max_tokens=max_tokens).preview(tools)
        )
    if json:
        parts = [{**_source_json(source), "text": source.text} for source in preview.sources]
        _output.print_json({"text": preview.text, "tokens": preview.tokens, "parts": parts})
        return
    if not preview.text:
        typer.echo(
            "memoryware: there is no memory file here, so a model would get nothing", err=True
        )
        return
    _output.write_text(_output.STDOUT, preview.text)


def _source_json(source: SourcePreview) -> dict[str, Any]:
    return {
        "path": source.path,
        "why": source.why,
        "owner": source.owner,
        "writable": source.writable,
        "state": source.state,
        "detail": source.detail,
        "bytes": source.bytes,
        "tokens": source.tokens,
        "whole_tokens": source.whole,
        "imported": list(source.imported),
        "suspect": list(source.suspect),
    }


def _print_on_request(paths: list[str]) -> None:
    """List memory files with other names, if none is loaded by default."""
    from memoryware.sources.layout import ALL_NAMES, Layout

    layout = Layout(names=ALL_NAMES)
    path_of_name = {layout.name_of(path): path for path in paths}
    names = [
        name if name in ALL_NAMES else _matching_pattern(name, layout) for name in path_of_name
    ]
    typer.echo("The memory files here are not loaded by default:")
    for path in paths:
        typer.echo(f"  {reveal(path)}")
    listed = ", ".join(f'"{name}"' for name in dict.fromkeys(names))
    _output.print_line(
        f'To load them: MemoryMiddleware(sources="auto", layout=Layout(names=[{listed}])).'
    )


def _matching_pattern(name: str, layout: Layout) -> str:
    return next((pattern for pattern in layout.patterns if fnmatchcase(name, pattern)), name)


def _print_sources(preview: Preview) -> None:
    if not preview.sources:
        typer.echo("There is no memory file here.")
        return
    rows = [
        [
            source.path,
            source.why,
            source.state,
            "" if source.bytes is None else f"{source.bytes:,}",
            f"{source.tokens:,} of {source.whole:,}"
            if source.state == "cut"
            else f"{source.tokens:,}",
        ]
        for source in preview.sources
    ]
    head = ["file", "why", "shown", "bytes", "tokens"]
    _output.print_grid(head, rows, numbers=("bytes", "tokens"))
    for source in preview.sources:
        messages = [source.detail] if source.detail else []
        messages += [f"it imports {path}" for path in source.imported]
        for detail in [*messages, *source.suspect]:
            _output.print_line(f"{source.path}: {detail}")
    count = sum(source.state in ("shown", "cut") for source in preview.sources)
    _output.print_line(
        f"{count} shown, in this order; about {preview.tokens:,} tokens with guidelines"
    )


# `files check`.


def check_files(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders or patterns. Default: what would be loaded."),
    ] = None,
    *,
    root: RootOption = None,
    config: Config = None,
    source: SourceOption = None,
    personal: Annotated[
        bool,
        typer.Option(
            "--personal", help="Look for personal data as well, such as e-mail addresses."
        ),
    ] = False,
    max_bytes: Annotated[
        int | None, typer.Option(min=1, help="Report files larger than this.")
    ] = None,
    json: Json = False,
) -> None:
    """Check memory files for secrets, hidden characters, broken fences and comments, and size.

    Prints the line and the kind of a secret, never the secret.

    Exit codes: 0 no problems, 1 a disk or store failed, 2 usage error, 5 problems were found.
    """
    guard = Guard(personal=("email", "phone", "credit_card", "ip")) if personal else Guard()
    limits = CheckLimits() if max_bytes is None else CheckLimits(file_bytes=max_bytes)
    with suppress_logging():
        backend, paths_checked = _scan_target(memory_files(root, source, file=config), paths or [])
        flaws = check(backend, paths_checked, guard=guard, limits=limits)
    if json:
        rows = [{**asdict(flaw), "line": flaw.line or None} for flaw in flaws]
        _output.print_json({"looked_at": paths_checked, "found": rows})
    else:
        for flaw in flaws:
            location = f"{flaw.path}:{flaw.line}" if flaw.line else flaw.path
            typer.echo(reveal(f"{location}: {flaw.kind}: {flaw.detail}"))
        if not flaws:
            subject = (
                paths_checked[0]
                if len(paths_checked) == 1
                else f"{len(paths_checked)} files or patterns"
            )
            message = (
                f"No problems in {subject}." if paths_checked else "There is no memory file here."
            )
            typer.echo(reveal(message))
    if flaws:
        raise typer.Exit(PROBLEMS)


def _scan_target(files: MemoryFiles, paths: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the backend and the paths to scan."""
    if paths:
        return _named_paths(files, paths)
    preview = files.middleware().preview()
    present = [source for source in preview.sources if source.state != "missing"]
    loaded = [path for source in present for path in (source.path, *source.imported)]
    return files.preview_backend(), list(dict.fromkeys(loaded))


def _named_paths(files: MemoryFiles, paths: Sequence[str]) -> tuple[Any, list[str]]:
    if not files.is_on_disk:
        return files.backend(), [files.path(name) for name in paths]
    patterns: list[str] = []
    for name in paths:
        path = files.path(name)
        host_path = Path(files.root, path.lstrip("/"))
        if host_path.is_dir():
            patterns.append(f"{path.rstrip('/')}/**/*.md")
        elif host_path.exists() or any(mark in name for mark in "*?[{"):
            patterns.append(path)
        else:
            raise SettingError(f"{os.fspath(name)}: no such file")
    return files.backend(), patterns


# `files history`, `files diff` and `files restore`.

VersionArgument = Annotated[
    str | None, typer.Argument(help="The number or id of a version, as printed by files history.")
]
ByOption = Annotated[str | None, typer.Option(envvar="MEMORYWARE_BY", help="Who acts.")]


def file_history(
    path: Annotated[str | None, typer.Argument(help="A memory file. Default: all.")] = None,
    *,
    root: RootOption = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """List the versions of a memory file, newest first, or all files with versions.

    Exit codes: 0 done, 1 a disk or store failed, 2 usage error, 4 there are no versions.
    """
    files = memory_files(root, file=config)
    history = files.history()
    if path is None:
        _log_all(history, json=json)
        return
    file_path = files.path(path)
    versions = history.log(file_path)
    if not versions:
        raise VersionMissing(file_path, _no_versions(file_path))
    if json:
        _output.print_json({"path": versions[0].path, "versions": [*map(_version_json, versions)]})
        return
    cells = [_version_cells(version) for version in versions]
    _output.print_grid(_LOG_COLUMNS, cells, numbers=("bytes",))
    if not any(version.current for version in versions):
        typer.echo("The file was changed outside of this history since.")
    if versions[-1].dropped:
        typer.echo(f"{versions[-1].dropped:,} earlier versions were removed.")


def diff_file(
    path: Annotated[str, typer.Argument(help="A memory file.")],
    first: VersionArgument = None,
    second: VersionArgument = None,
    *,
    root: RootOption = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Show the last change of a memory file, or the difference between versions.

    Exit codes: 0 done, 1 a disk or store failed, 2 usage error, 4 there is no such version.
    """
    files = memory_files(root, file=config)
    history, file_path = files.history(), files.path(path)
    newer = _version_ref(second) if second else None
    if first:
        text = history.diff(file_path, _version_ref(first), newer)
    else:
        text = history.diff(file_path)
    if json:
        older = _version_ref(first) if first else _older_version(text)
        _output.print_json({"path": file_path, "from": older, "to": second, "diff": text})
        return
    _print_diff(text)


def restore_file(
    path: Annotated[str, typer.Argument(help="A memory file.")],
    *,
    to: Annotated[
        str | None,
        typer.Option(help="The version to restore. Default: the one before the last change."),
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", "-r", help="The reason; stored with the version.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    root: RootOption = None,
    config: Config = None,
    by: ByOption = None,
    json: Json = False,
) -> None:
    """Restore a version of a memory file, by default undo its last change, after confirmation.

    Exit codes: 0 done, 1 a disk or store failed, 2 usage error, 4 there is no such version, or
    declined.
    """
    files = memory_files(root, by=by, file=config)
    history, file_path = files.history(), files.path(path)
    versions_before = [version.id for version in history.log(file_path)]
    target = _version_ref(to) if to else _last_version(history, file_path)
    text = history.diff(file_path, target)
    document = {"path": file_path, "to": target, "diff": text}
    if not json:
        typer.echo("Would undo this change:" if dry_run else "Will undo this change:")
        _print_diff(text)
        outcome = "be deleted" if target is None else f"be restored to version {target}"
        typer.echo(f"{file_path} would {outcome}." if dry_run else f"{file_path} will {outcome}.")
    if dry_run:
        if json:
            _output.print_json({**document, "done": False})
        return
    _output.confirm("Undo it?", yes=yes)
    if [version.id for version in history.log(file_path)] != versions_before:
        raise VersionMissing(
            file_path,
            f"{file_path} has changed meanwhile; run files restore again to see the new change",
        )
    version = history.undo(file_path, target, reason=reason)
    if json:
        _output.print_json({**document, "done": True, "version": _version_json(version)})
        return
    typer.echo(f"Restored {version.path} as version {version.number}.")


_LOG_COLUMNS = ["version", "when", "what", "bytes", "who", "why"]


def _log_all(history: HistoryBackend, *, json: bool) -> None:
    logs = [(path, history.log(path)) for path in history.files()]
    versioned = [(path, versions) for path, versions in logs if versions]
    if json:
        _output.print_json(
            {
                "files": [
                    {"path": path, "versions": [*map(_version_json, versions)]}
                    for path, versions in versioned
                ]
            }
        )
        return
    if not versioned:
        raise VersionMissing("", _no_versions("any file"))
    rows = [
        [path, f"{len(versions):,}", *_version_cells(versions[0])[1:]]
        for path, versions in versioned
    ]
    head = ["file", "versions", *_LOG_COLUMNS[1:]]
    _output.print_grid(head, rows, numbers=("versions", "bytes"))


def _no_versions(subject: str) -> str:
    return (
        f"there are no versions of {subject} here. A HistoryBackend records versions of the files"
        " that are changed through it; set its folder with --root"
    )


def _version_ref(version: str) -> int | str:
    return int(version) if version.isdecimal() and len(version) < 9 else version


def _last_version(history: HistoryBackend, path: str) -> int | None:
    """Return the number of the version before the last change; None if the file was new."""
    target = history.undo_target(path)
    return None if target is None else target.number


def _older_version(diff: str) -> int | None:
    """Return the number of the older version in the head of a diff; None for no file."""
    number = diff.partition("\n")[0].rpartition("@")[2]
    return int(number) if number.isdecimal() else None


def _version_json(version: Version) -> dict[str, Any]:
    return {
        "number": version.number,
        "id": version.id,
        "kind": version.kind,
        "time": version.time.isoformat(),
        "bytes": version.size,
        "who": _actor_label(version.actor),
        "reason": version.reason,
        "restored": version.restored,
        "kept": version.kept,
        "redacted": version.redacted,
        "applied": version.applied,
        "current": version.current,
    }


def _version_cells(version: Version) -> list[str]:
    change = version.kind if version.restored is None else f"{version.kind} to {version.restored}"
    marks = [
        *(["current"] if version.current else []),
        *([] if version.applied else ["not applied"]),
        *([] if version.kept else ["text removed"]),
    ]
    description = f"{change} ({', '.join(marks)})" if marks else change
    time = version.time.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return [
        str(version.number),
        time,
        description,
        f"{version.size:,}",
        _actor_label(version.actor),
        version.reason or "",
    ]


def _actor_label(actor: Actor) -> str:
    parts = (("", actor.user), ("agent ", actor.agent), ("thread ", actor.thread))
    return ", ".join(f"{kind}{name}" for kind, name in parts if name)


def _print_diff(text: str) -> None:
    if not text:
        typer.echo("No difference.")
        return
    if not sys.stdout.isatty():
        _output.write_text(_output.STDOUT, reveal(text))
        return
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in reveal(text).splitlines():
        typer.secho(line, fg=colours.get(line[:1]))

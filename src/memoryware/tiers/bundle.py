"""Carrying memory over: a bundle of JSON Lines, out and in."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Final

from memoryware._twins import Via, in_thread
from memoryware.errors import BundleRefused, SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts, group_of
from memoryware.tiers.records import Entry, Memory, Origin, Provenance, plain
from memoryware.tiers.stores._json import entry_from_json, memory_from_json, record_to_json
from memoryware.tiers.stores.protocol import Select

FORMAT: Final = "memoryware-bundle"
VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did.

    Attributes:
        added: Entries that are new in quarantine.
        known: Records that had been imported before.
        origin: The origin of everything in it, to revoke it by.
        ids: The id of each record in the bundle, and that of its entry here.
    """

    added: int = 0
    known: int = 0
    origin: Origin
    ids: Mapping[str, str] = field(default_factory=dict)


async def export_lines(parts: Parts, via: Via, scope: MemoryScope) -> list[str]:
    """Return everything that exactly this tenant and group have, oldest first."""
    lines, counts = list[str](), dict[str, int]()
    for layer in ("quarantine", "working", "long_term"):
        store = getattr(parts.stores, layer)
        found = (await via(store.find, store.afind, Select.within(scope))).items
        counts[layer] = len(found)
        lines += [_line({"tier": layer, **record_to_json(one)}) for one in reversed(found)]
    head = {
        "format": FORMAT,
        "version": VERSION,
        "created_at": parts.clock().isoformat(),
        "tenant": scope.tenant,
        "group_id": scope.group_id,
        "counts": counts,
    }
    return [_line(head), *lines]


async def export_to(parts: Parts, via: Via, path: str | PathLike[str], scope: MemoryScope) -> int:
    """Write a bundle to a file, whole or not at all; return how many records."""
    lines = await export_lines(parts, via, scope)
    write = partial(_write, Path(path), "".join(f"{line}\n" for line in lines))
    await via(write, partial(in_thread, write))
    return len(lines) - 1


async def import_lines(
    parts: Parts, via: Via, lines: Iterable[str], scope: MemoryScope, *, name: str
) -> ImportReport:
    """Put the records of a bundle into quarantine, none of them trusted.

    Raises:
        BundleRefused: If a line cannot be read; then nothing was imported.
        ScopeMissing: Without a group.
    """
    group_of(scope, "an import")
    if not name.strip():
        raise SettingError("name: say what the bundle is called, such as name='backup'")
    read = partial(_read, lines, parts.limits.entry_chars)
    records = await via(read, partial(in_thread, read))
    origin = Origin("import", name)
    known = {one.id: parts.new_id() for one in records}
    store, added, ids = parts.stores.quarantine, 0, dict[str, str]()
    for one in records:
        entry = _entry(parts, one, scope, origin, known)
        kept = await via(store.add, store.aadd, entry)
        added += kept.id == entry.id
        ids[one.id] = known[one.id] = kept.id
    return ImportReport(added=added, known=len(records) - added, origin=origin, ids=ids)


def _entry(
    parts: Parts,
    record: Entry | Memory,
    scope: MemoryScope,
    origin: Origin,
    known: Mapping[str, str],
) -> Entry:
    made = record.provenance
    sources = tuple(known[one] for one in made.sources if one in known)
    content = parts.redacted(record.content)
    was = hashlib.blake2b(f"{record.id}\0{content}".encode("utf-8", "replace"), digest_size=16)
    return Entry(
        id=known[record.id],
        scope=replace(record.scope, tenant=scope.tenant, group_id=scope.group_id),
        content=content,
        created_at=parts.clock(),
        provenance=Provenance(origin, sources, (made.origin, *made.roots)),
        role=record.role if isinstance(record, Entry) else "other",
        metadata={**plain(record.metadata), "imported_id": record.id, "imported_as": origin.name},
        key=f"import:{origin.name}:{was.hexdigest()}",
        echo_of=record.echo_of if isinstance(record, Entry) else (),
        refused=record.refused if isinstance(record, Entry) else None,
    )


def _read(lines: Iterable[str], longest: int) -> list[Entry | Memory]:
    """Return the records of a bundle; all of it is read before any is kept."""
    found: dict[str, Entry | Memory] = {}
    headed = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if len(line) > 20 * longest:
            raise BundleRefused(f"Line {number} is longer than any record can be", number)
        try:
            data = json.loads(line)
        except ValueError as error:
            raise BundleRefused(f"Line {number} is no JSON: {error}", number) from error
        if not isinstance(data, dict):
            raise BundleRefused(f"Line {number} is no JSON object", number)
        if not headed:
            _check_head(data, number)
            headed = True
            continue
        one = _record(data, number, longest)
        found.setdefault(one.id, one)
    if not headed:
        raise BundleRefused("This is no bundle: it has no first line that says so", 0)
    return list(found.values())


def _check_head(data: Mapping[str, Any], number: int) -> None:
    if data.get("format") != FORMAT:
        raise BundleRefused(
            f"Line {number} is not the head of a bundle: it must say format={FORMAT!r}", number
        )
    if data.get("version") != VERSION:
        raise BundleRefused(
            f"The bundle has version {data.get('version')!r}, and this reads {VERSION}; update"
            " memoryware",
            number,
        )


def _record(data: Mapping[str, Any], number: int, longest: int) -> Entry | Memory:
    try:
        read = memory_from_json if data.get("tier") == "long_term" else entry_from_json
        one = read(data)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise BundleRefused(f"Line {number} is no record: {error}", number) from error
    if not all(isinstance(data.get(name), str) for name in ("content", "id")):
        raise BundleRefused(f"Line {number}: content and id must be text", number)
    if len(one.content) > longest:
        raise BundleRefused(f"Line {number} has a text longer than entry_chars={longest}", number)
    return one


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner may read, and put it in place when it is whole."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise

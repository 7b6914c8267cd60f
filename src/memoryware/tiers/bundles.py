"""Export the memory of a group as JSON lines, and import such a bundle into quarantine."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Final, get_args

from memoryware._json_reading import JsonInvalid, parse_json
from memoryware.errors import BundleRefused, SettingError
from memoryware.scope import MemoryScope, is_personal_agent
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, group_of
from memoryware.tiers.model import Entry, Memory, PendingPromotion, Role
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.screening import mended, owner, redacted, refuse_secrets
from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_json
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import LAYERS

FORMAT: Final = "memoryware-bundle"
VERSION: Final = 1
_CODE: Final = re.compile("[a-z_]{1,40}")
"""Why working memory did not take an entry."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import.

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


async def export_lines(parts: Parts, scope: MemoryScope) -> list[str]:
    """Return a bundle of all records of exactly this tenant and group.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.

    Returns:
        The lines, the head first, then the records of each tier, oldest first.
    """
    lines, counts = list[str](), dict[str, int]()
    for layer in LAYERS:
        store = getattr(parts.tiers, layer)
        records = (await store.find(Select.within(scope))).items
        counts[layer] = len(records)
        lines += [_line({"tier": layer, **record_to_json(record)}) for record in reversed(records)]
    head = {
        "format": FORMAT,
        "version": VERSION,
        "created_at": parts.clock().isoformat(),
        "tenant": scope.tenant,
        "group_id": scope.group_id,
        "counts": counts,
    }
    return [_line(head), *lines]


async def export_to(parts: Parts, path: str | PathLike[str], scope: MemoryScope) -> int:
    """Write a bundle to a file, whole or not at all.

    Args:
        parts: The stores and the rules of the memory.
        path: The file.
        scope: Tenant and group.

    Returns:
        How many records were written.
    """
    lines = await export_lines(parts, scope)
    write = partial(_write, Path(path), "".join(f"{line}\n" for line in lines))
    await parts.runner.offload(write)
    return len(lines) - 1


async def import_lines(
    parts: Parts, lines: Iterable[str], scope: MemoryScope, *, name: str
) -> ImportReport:
    """Put the records of a bundle into quarantine, none of them trusted.

    All of it is read before any of it is kept. What a failing store has kept of it is taken out
    again.

    Args:
        parts: The stores and the rules of the memory.
        lines: The lines of a bundle, or an open file.
        scope: Whose memory it becomes.
        name: The name of the bundle, by which its origin can be revoked.

    Returns:
        How many records are new, and their ids here.

    Raises:
        BundleRefused: If a line cannot be read; then nothing was imported.
        ScopeMissing: Without a group.
        SettingError: For a blank name, or a secret in it or in the scope.
    """
    group_of(owner(parts, scope), "an import")
    checking.text("name", name)
    if not name.strip():
        raise SettingError("name: say what the bundle is called, such as name='backup'")
    refuse_secrets(parts, [("name", name)])
    origin = Origin("import", name)
    read = partial(_drafts, parts, lines, scope, origin)
    # All lines are read first, so that a bad line at the end leaves nothing of the others.
    drafts = await parts.runner.offload(read)
    ids = {draft.was: draft.entry.id for draft in drafts}
    store, added = parts.tiers.quarantine, list[str]()
    try:
        for draft in drafts:
            entry = draft.entry_with(ids)
            stored = await store.add(entry)
            if stored.id == entry.id:
                added.append(stored.id)
            ids[draft.was] = stored.id
    except BaseException:
        await _delete_imported(parts, scope, added)
        raise
    return ImportReport(
        added=len(added), known=len(drafts) - len(added), origin=origin, ids=dict(ids)
    )


async def _delete_imported(parts: Parts, scope: MemoryScope, ids: Sequence[str]) -> None:
    store = parts.tiers.quarantine
    if not ids:
        return
    try:
        await store.delete(Select.within(scope, ids=tuple(ids)))
    except Exception as error:  # noqa: BLE001 - what went wrong first is what is told
        logger.warning("%d imported entries are left: %s", len(ids), type(error).__name__)


@dataclass(frozen=True, slots=True)
class _ImportedRecord:
    """A record of a bundle as the entry that it becomes.

    Attributes:
        was: Its id in the bundle.
        sources: The ids in the bundle of the records that it was made of.
        entry: All the rest.
    """

    was: str
    sources: tuple[str, ...]
    entry: Entry

    def entry_with(self, ids: Mapping[str, str]) -> Entry:
        """Return the entry with the ids that its sources have here."""
        sources = tuple(ids[source] for source in self.sources if source in ids)
        return replace(self.entry, provenance=replace(self.entry.provenance, sources=sources))


def _drafts(
    parts: Parts, lines: Iterable[str], scope: MemoryScope, origin: Origin
) -> list[_ImportedRecord]:
    read = _read(lines, parts.limits.entry_chars)
    return [_draft(parts, *numbered, scope, origin) for numbered in read]


def _draft(
    parts: Parts, number: int, record: Entry | Memory, scope: MemoryScope, origin: Origin
) -> _ImportedRecord:
    try:
        entry = _entry(parts, record, scope, origin)
    except (SettingError, RecursionError) as error:
        raise BundleRefused(f"Line {number} cannot be kept: {_reason_of(error)}", number) from None
    return _ImportedRecord(record.id, record.provenance.sources, entry)


def _entry(parts: Parts, record: Entry | Memory, scope: MemoryScope, origin: Origin) -> Entry:
    """Return the entry that a record becomes: of outside origin, and with no secret anywhere."""
    content = parts.redacted(mended(record.content))
    was = hashlib.blake2b(f"{record.id}\0{content}".encode("utf-8", "replace"), digest_size=16)
    where = {
        name_field.name: _name(parts, getattr(record.scope, name_field.name))
        for name_field in fields(record.scope)
    }
    where |= {"tenant": scope.tenant, "group_id": scope.group_id}
    # The roots are kept as they are: the origin "import" makes the whole lineage untrusted anyway.
    roots = {Origin(root.kind, _name(parts, root.name) or "") for root in record.provenance.roots}
    metadata = redacted(parts.guard, record.metadata)
    role: Any = record.role if isinstance(record, Entry) else "other"
    refused: Any = record.refused if isinstance(record, Entry) else None
    return Entry(
        id=parts.new_id(),
        scope=MemoryScope(**where),
        content=content,
        created_at=parts.clock(),
        provenance=Provenance(origin, (), tuple(roots)),
        role=role if role in get_args(Role) else "other",
        metadata={**metadata, "imported_id": _name(parts, record.id), "imported_as": origin.name},
        key=f"import:{origin.name}:{was.hexdigest()}",
        echo_of=tuple(map(mended, record.echo_of)) if isinstance(record, Entry) else (),
        duplicate_of=tuple(map(mended, getattr(record, "duplicate_of", ()))),
        refused=refused if isinstance(refused, str) and _CODE.fullmatch(refused) else None,
        waits=_for_one_user(parts, record),
    )


def _for_one_user(parts: Parts, record: Entry | Memory) -> PendingPromotion | None:
    """Return what keeps a text that one user alone was shown from the others here as well."""
    owner = record.personal_owner if isinstance(record, Entry) else record.scope.agent_id
    if not is_personal_agent(owner):
        return None
    return PendingPromotion(subject="", agent_id=_name(parts, owner))


def _name(parts: Parts, name: str | None) -> str | None:
    """Return a name without secrets; the records of a bundle are redacted, not refused."""
    try:
        refuse_secrets(parts, [("a name", name)])
    except SettingError:
        return parts.redacted(mended(name or ""))
    return name and mended(name)


# Reading.


def _read(lines: Iterable[str], longest: int) -> list[tuple[int, Entry | Memory]]:
    """Return the records of a bundle with the number of their lines."""
    records: dict[str, tuple[int, Entry | Memory]] = {}
    tiers: dict[tuple[str, str], Entry | Memory] = {}
    head: dict[str, Any] | None = None
    number = 0
    for number, line in _numbered(lines):
        data = _object(line, number, longest)
        if head is None:
            _check_head(data, number)
            head = data
            continue
        record = _record(data, number, longest)
        key = (str(data.get("tier")), record.id)
        if tiers.setdefault(key, record) != record:
            raise BundleRefused(
                f"Line {number} has the id of a record above; ids must be unique", number
            )
        records.setdefault(record.id, (number, record))
    if head is None:
        raise BundleRefused(
            "This is not a bundle: its first line must be the head that export() writes", 0
        )
    _require_complete(head, Counter(tier for tier, _ in tiers), number)
    return list(records.values())


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, from 1.

    Raises:
        BundleRefused: If they are none, or one is no text.
    """
    if isinstance(lines, str | bytes | Mapping) or not isinstance(lines, Iterable):
        raise BundleRefused(
            f"lines: must be a list of lines or an open file, and this is {type(lines).__name__};"
            " of one text pass text.splitlines()",
            0,
        )
    remaining, number = iter(lines), 0
    while True:
        number += 1
        try:
            line = next(remaining)
        except StopIteration:
            return
        except UnicodeDecodeError:
            raise BundleRefused(f"Line {number} or one after it is not UTF-8", number) from None
        if not isinstance(line, str):
            raise BundleRefused(
                f"Line {number} is {type(line).__name__} and not text; open the file as text, with"
                ' encoding="utf-8"',
                number,
            )
        if line.strip():
            yield number, line


def _object(line: str, number: int, longest: int) -> dict[str, Any]:
    # JSON may escape one character by twelve; the rest is room for metadata.
    if len(line) > 20 * longest:
        raise BundleRefused(f"Line {number} is longer than any record can be", number)
    try:
        data = parse_json(line, deepest=None)  # metadata may be anything
    except JsonInvalid as error:
        raise BundleRefused(f"Line {number}: {error.problem}", number) from None
    if not isinstance(data, dict):
        raise BundleRefused(f"Line {number} is not a JSON object", number)
    return data


def _check_head(data: Mapping[str, Any], number: int) -> None:
    if data.get("format") != FORMAT:
        raise BundleRefused(
            f"Line {number} is not the head of a bundle: it must say format={FORMAT!r}", number
        )
    version = data.get("version")
    if isinstance(version, bool) or not isinstance(version, int):
        raise BundleRefused(f"Line {number}: version must be a whole number", number)
    if version != VERSION:
        raise BundleRefused(
            f"The bundle has version {version}, and this release reads {VERSION}; update"
            " memoryware",
            number,
        )


def _require_complete(head: Mapping[str, Any], read: Mapping[str, int], number: int) -> None:
    """Refuse a bundle that lost its end at the end of a line, where nothing else shows it.

    Bundles without counts are of older versions or of other tools, and stay importable.

    Raises:
        BundleRefused: If a tier has fewer records than the head says.
    """
    counts = head.get("counts")
    if not isinstance(counts, Mapping):
        return
    missing = {
        tier: count - read.get(tier, 0)
        for tier, count in counts.items()
        if isinstance(count, int) and count > read.get(tier, 0)
    }
    if missing:
        listed = ", ".join(f"{count} of {tier}" for tier, count in missing.items())
        raise BundleRefused(
            f"The bundle is truncated: {sum(missing.values())} records are missing ({listed}), and"
            " nothing was imported; pass the whole file",
            number,
        )


def _record(data: Mapping[str, Any], number: int, longest: int) -> Entry | Memory:
    if not all(isinstance(data.get(name), str) for name in ("content", "id")):
        raise BundleRefused(f"Line {number}: content and id must be text", number)
    if not isinstance(data.get("metadata", {}), dict):
        raise BundleRefused(f"Line {number}: metadata must be an object", number)
    if data.get("tier") not in LAYERS:
        names = ", ".join(LAYERS)
        raise BundleRefused(f"Line {number}: tier must be one of {names}", number)
    try:
        read = memory_from_json if data["tier"] == "long_term" else entry_from_json
        record = read(data)
        checking.instance("scope", record.scope, (MemoryScope,))
        checking.instance("provenance", record.provenance, (Provenance,))
        checking.texts("echo_of", getattr(record, "echo_of", ()))
        checking.texts("duplicate_of", getattr(record, "duplicate_of", ()))
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise BundleRefused(f"Line {number} is not a record: {_reason_of(error)}", number) from None
    if len(record.content) > longest:
        raise BundleRefused(
            f"Line {number} has a text longer than entry_chars={longest}; raise the limit:"
            " TierLimits(entry_chars=...)",
            number,
        )
    return record


def _reason_of(error: BaseException) -> str:
    """Return what went wrong; what Python says of a value may hold the value."""
    if isinstance(error, SettingError):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, column {error.colno}"
    return type(error).__name__


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner may read, and put it in place when it is whole."""
    # In the same folder, because a file can be replaced atomically only within one file system.
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

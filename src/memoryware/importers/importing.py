"""Import records of other memory systems into quarantine."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, TypeAlias

from memoryware._runner import run_blocking
from memoryware.errors import EntryRefused, SettingError
from memoryware.events import emit
from memoryware.importers.reading import Source, detect_system, read_memories
from memoryware.importers.records import (
    SYSTEMS,
    ImportSummary,
    RefusedRecord,
    SourceRecord,
    System,
)
from memoryware.scope import MemoryScope, own_agent
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, group_of, note_recorded, scope_of
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.entry import EntryOrigin, create_entry
from memoryware.tiers.filters import Refusal, check_filters, waiting_filters
from memoryware.tiers.model import SAID_AT, Entry, PendingPromotion
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.screening import mended, owner, refuse_secrets
from memoryware.tiers.stores.protocol import Select

_MOST: Final = 2_000
"""Records of one transaction; a longer one would keep others waiting."""
_LISTED: Final = 100
"""Refused records that a summary lists."""
_PAGE: Final = 1_000
OnProgress: TypeAlias = Callable[[ImportSummary], None]


def import_memories(
    memory: TieredMemory,
    source: Source | Iterable[SourceRecord | RefusedRecord] | Any,
    scope: MemoryScope | str,
    *,
    system: System | str | None = None,
    name: str | None = None,
    namespace: Sequence[str] = (),
    dry_run: bool = False,
    batch: int = 200,
    preview: int = 5,
    on_progress: OnProgress | None = None,
) -> ImportSummary:
    """Import memories of another system into quarantine, where a person may promote them.

    Nothing of it is trusted: all of it has the origin `import:<system>`. The source is read
    twice, first to check it, so that a damaged file imports nothing. The same import again adds
    nothing, and one that was interrupted goes on.

    Args:
        memory: The memory.
        source: A file or folder that the system wrote, the URL of a `PostgresStore`, a LangGraph
            store, or records, such as those of `read_memories` after a change.
        scope: Whose memory it becomes: tenant and group. Its user, agent and session count for
            records that name none.
        system: The system that wrote it; None detects it. For records, any name.
        name: The origin is `import:<name>`; by default the system.
        namespace: Of a LangGraph store only items in this namespace and below, such as
            `("memories", "ann")`.
        dry_run: Count and check, and write nothing.
        batch: Records of one transaction.
        preview: How many of the new records the summary has.
        on_progress: Is called with the summary so far after each batch.

    Returns:
        What was recorded, what had been there, and what was refused and why.

    Raises:
        ImportRefused: If the source is damaged, or no file of that system: with its line.
        ScopeMissing: Without a group.
        SettingError: For a wrong argument, or a secret in the name or the scope.
        StoreUnavailable: If a store fails; what was recorded stays, and the same call goes on.
    """
    options = _Options(system, name, namespace, dry_run, batch, preview, on_progress)
    return run_blocking(_import(memory.parts, memory.parts, source, scope_of(scope), options))


async def aimport_memories(
    memory: TieredMemory,
    source: Source | Iterable[SourceRecord | RefusedRecord] | Any,
    scope: MemoryScope | str,
    *,
    system: System | str | None = None,
    name: str | None = None,
    namespace: Sequence[str] = (),
    dry_run: bool = False,
    batch: int = 200,
    preview: int = 5,
    on_progress: OnProgress | None = None,
) -> ImportSummary:
    """Import memories of another system into quarantine, where a person may promote them.

    Nothing of it is trusted: all of it has the origin `import:<system>`. The source is read
    twice, first to check it, so that a damaged file imports nothing. The same import again adds
    nothing, and one that was interrupted goes on.

    Args:
        memory: The memory.
        source: A file or folder that the system wrote, the URL of a `PostgresStore`, a LangGraph
            store, or records, such as those of `read_memories` after a change.
        scope: Whose memory it becomes: tenant and group. Its user, agent and session count for
            records that name none.
        system: The system that wrote it; None detects it. For records, any name.
        name: The origin is `import:<name>`; by default the system.
        namespace: Of a LangGraph store only items in this namespace and below, such as
            `("memories", "ann")`.
        dry_run: Count and check, and write nothing.
        batch: Records of one transaction.
        preview: How many of the new records the summary has.
        on_progress: Is called with the summary so far after each batch.

    Returns:
        What was recorded, what had been there, and what was refused and why.

    Raises:
        ImportRefused: If the source is damaged, or no file of that system: with its line.
        ScopeMissing: Without a group.
        SettingError: For a wrong argument, or a secret in the name or the scope.
        StoreUnavailable: If a store fails; what was recorded stays, and the same call goes on.
    """
    options = _Options(system, name, namespace, dry_run, batch, preview, on_progress)
    return await _import(memory.parts.native, memory.parts, source, scope_of(scope), options)


@dataclass(frozen=True, slots=True)
class _Options:
    system: str | None
    name: str | None
    namespace: Sequence[str]
    dry_run: bool
    batch: int
    preview: int
    on_progress: OnProgress | None

    def __post_init__(self) -> None:
        checking.text("system", self.system, or_none=True)
        checking.text("name", self.name, or_none=True)
        checking.instance("dry_run", self.dry_run, (bool,))
        checking.whole("preview", self.preview)
        if checking.whole("batch", self.batch, 1) > _MOST:
            raise SettingError(f"batch={self.batch!r}: must be at most {_MOST}")


async def _import(
    parts: Parts, blocking: Parts, source: Any, scope: MemoryScope, options: _Options
) -> ImportSummary:
    group_of(owner(parts, scope), "an import")
    system, read = await parts.runner.offload(_reader, source, options)
    name = system if options.name is None else options.name
    if not name.strip():
        raise SettingError("name: say what the import is called, such as name='mem0'")
    refuse_secrets(parts, [("name", name)])
    if read is None:
        records = iter(source)
    else:
        # A damaged end must leave nothing of what comes before it.
        await parts.runner.offload(_check, read())
        records = read()
    import_ = _Import(parts, blocking, scope, system, Origin("import", name), options)
    await import_.note_existing()
    while chunk := await parts.runner.offload(_next, records, options.batch):
        await import_.take(chunk)
    return import_.summary()


def _reader(
    source: Any, options: _Options
) -> tuple[str, Callable[[], Iterator[SourceRecord | RefusedRecord]] | None]:
    """Return the system, and a function that reads the source; None for records."""
    system, is_store = options.system, callable(getattr(source, "search", None))
    if not isinstance(source, str) and isinstance(source, Iterable) and not is_store:
        if not system:
            raise SettingError("system: say which system the records are from, as system='notes'")
        return system, None
    if isinstance(source, bytes) or system not in (None, *SYSTEMS):
        raise SettingError(f"system={system!r}: must be one of {', '.join(SYSTEMS)}")
    detected: Any = system or ("langgraph" if is_store else detect_system(source))
    reader = None if is_store else detected
    return detected, lambda: read_memories(source, reader, namespace=options.namespace)


def _check(records: Iterable[SourceRecord | RefusedRecord]) -> None:
    for _ in records:
        pass


def _next(
    records: Iterator[SourceRecord | RefusedRecord], size: int
) -> list[SourceRecord | RefusedRecord]:
    return list(islice(records, size))


@dataclass(slots=True)
class _Import:
    """The counts of a running import, and what it does with the next records."""

    parts: Parts
    blocking: Parts
    scope: MemoryScope
    system: str
    origin: Origin
    options: _Options
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    refusals: list[RefusedRecord] = field(default_factory=list)
    preview: list[SourceRecord] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)

    def summary(self) -> ImportSummary:
        """Return the counts so far."""
        return ImportSummary(
            system=self.system,
            origin=self.origin,
            reasons=dict(self.reasons),
            refusals=tuple(self.refusals),
            preview=tuple(self.preview),
            dry_run=self.options.dry_run,
            **{name: self.counts[name] for name in _COUNTS},
        )

    async def note_existing(self) -> None:
        """Note the keys of the entries of this origin, which are neither filtered nor stored."""
        select, after = Select.within(self.scope, root=str(self.origin)), None
        while True:
            page = await self.parts.tiers.quarantine.find(select, limit=_PAGE, after=after)
            self.keys |= {entry.key for entry in page.items if entry.key is not None}
            after = page.next
            if after is None:
                return

    async def take(self, records: Sequence[SourceRecord | RefusedRecord]) -> None:
        """Record a batch in one transaction."""
        # The guard scans each text, which would keep an event loop busy.
        drafts = await self.parts.runner.offload(self._drafts, records)
        stored = await self._store([entry for entry, _ in drafts])
        for (entry, record), is_new in zip(drafts, stored, strict=True):
            self._note(entry, record, is_new=is_new)
        if self.options.on_progress is not None:
            self.options.on_progress(self.summary())

    def _drafts(
        self, records: Sequence[SourceRecord | RefusedRecord]
    ) -> list[tuple[Entry, SourceRecord]]:
        """Return the entries that records become; count and note the refused ones."""
        drafts: list[tuple[Entry, SourceRecord]] = []
        for record in records:
            self.counts["read"] += 1
            if isinstance(record, RefusedRecord):
                self._refuse(record)
                continue
            try:
                checking.instance("records", record, (SourceRecord,))
                key = self._key(record)
                if key in self.keys:
                    self.counts["existing"] += 1
                    continue
                entry = run_blocking(self._entry(record))
            except (EntryRefused, SettingError) as error:
                id_, location = getattr(record, "id", ""), getattr(record, "location", "")
                self._refuse(RefusedRecord(id=str(id_), reason=str(error), location=str(location)))
                continue
            drafts.append((replace(entry, key=key), record))
        return drafts

    def _key(self, record: SourceRecord) -> str | None:
        """Return the idempotency key of a record; None for a text that is refused later."""
        checking.text("the id of a record", record.id)
        checking.text("the text of a record", record.text)
        if len(record.text) > self.parts.limits.entry_chars:
            return None
        # Of the text without secrets: a short secret could be guessed from its digest.
        content = self.parts.redacted(mended(record.text))
        identity = f"{self.system}\0{mended(record.id)}\0{content}"
        digest = hashlib.blake2b(identity.encode("utf-8", "replace"), digest_size=16)
        return f"import:{self.origin.name}:{digest.hexdigest()}"

    async def _entry(self, record: SourceRecord) -> Entry:
        """Return the entry of a record, without its key."""
        scope = replace(
            self.scope,
            user_id=record.user or self.scope.user_id,
            agent_id=record.agent or self.scope.agent_id,
            session_id=record.session or self.scope.session_id,
        )
        origin = EntryOrigin(role="other", provenance=Provenance(self.origin))
        metadata = self._metadata(record)
        # With the parts that block, in the thread of this batch: nothing may wait in it.
        entry = await create_entry(self.blocking, mended(record.text), scope, metadata, origin)
        if (own := own_agent(entry.scope)) is not None:
            entry = replace(entry, waits=PendingPromotion(subject="", agent_id=own))
        return self._filtered(entry)

    def _metadata(self, record: SourceRecord) -> dict[str, Any]:
        """Return the metadata of an entry; that of the other system is kept apart.

        Its keys could mean something here, such as `speaker` or `confidence`.
        """
        metadata: dict[str, Any] = {
            "imported_id": mended(record.id),
            "imported_as": self.origin.name,
        }
        if record.said_at is not None:
            checking.moment("said_at", record.said_at)
            metadata[SAID_AT] = record.said_at.isoformat()
        if record.metadata:
            checking.mapping("the metadata of a record", record.metadata)
            metadata[self.system] = dict(record.metadata)
        return metadata

    def _filtered(self, entry: Entry) -> Entry:
        """Note why the filters would keep an entry out of working memory, where it does not go."""
        filters = self.parts.filters
        waiting = waiting_filters(filters)
        quick = tuple(item for item in filters if item not in waiting)
        answer = check_filters(entry, (), quick, self.parts.guard)
        return replace(entry, refused=answer.reason) if isinstance(answer, Refusal) else entry

    async def _store(self, entries: Sequence[Entry]) -> list[bool]:
        """Store entries, which are all of one tenant and group; return which are new."""
        first = {entry.key: entry for entry in reversed(entries)}
        candidates = [entry for entry in entries if first.get(entry.key) is entry]
        self.keys |= first.keys()
        new = candidates if self.options.dry_run else await self._added(candidates)
        ids = {entry.id for entry in new}
        return [entry.id in ids for entry in entries]

    async def _added(self, entries: Sequence[Entry]) -> list[Entry]:
        """Store entries in one transaction; return those that nobody has stored meanwhile."""
        if not entries:
            return []

        async def add_all(inside: Parts) -> list[Entry]:
            return [await inside.tiers.quarantine.add(entry) for entry in entries]

        stored = await self.parts.transaction(self.scope, add_all)
        added = [entry for entry, old in zip(entries, stored, strict=True) if old.id == entry.id]
        for entry in added:
            note_recorded(self.parts.stores.quarantine, entry)
        if added:
            size = sum(len(entry.content) for entry in added)
            context = self.parts.event_context(self.scope)
            emit(context, "recorded", tier="quarantine", entries=len(added), characters=size)
        return added

    def _note(self, entry: Entry, record: SourceRecord, *, is_new: bool) -> None:
        self.counts["recorded" if is_new else "existing"] += 1
        if not is_new:
            return
        self.counts["filtered"] += entry.refused is not None
        if len(self.preview) < self.options.preview:
            shown: Mapping[str, Any] = entry.metadata.get(self.system) or {}
            self.preview.append(
                replace(record, text=entry.content, user=entry.scope.user_id, metadata=shown)
            )

    def _refuse(self, record: RefusedRecord) -> None:
        self.counts["refused"] += 1
        self.reasons[record.reason] += 1
        if len(self.refusals) < _LISTED:
            self.refusals.append(record)


_COUNTS: Final = ("read", "recorded", "existing", "refused", "filtered")

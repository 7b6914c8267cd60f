"""Base classes for stores that keep each record as one value, such as a row or a document.

`RecordTransaction` implements the store contract over six methods that read and write rows: pages,
duplicates, working memory, embeddings and search come with it. Searches and edits read the records
of the group that they are about, so that this suits groups of some thousand records; an engine
that can do better overrides the method.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from memoryware._caching import clearable_cache
from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import attribution_of
from memoryware.tiers.stores.codec import copy_of, packed, scores, unpacked
from memoryware.tiers.stores.protocol import (
    Batch,
    Chooser,
    Page,
    Query,
    SearchResult,
    Select,
    Space,
    Store,
    Tier,
    Transaction,
    Vector,
)
from memoryware.tiers.stores.selecting import (
    IndexedMemory,
    PageRequest,
    build_view,
    is_selected,
    page_of,
    same_document,
    single_batch,
    thread_key,
    without_duplicates,
)
from memoryware.tiers.text.terms import named_text_of, words_of

_REMEMBERED_TEXTS: Final = 16_384


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as a store keeps it.

    Attributes:
        number: Its place in the order of storing; a newer record has a higher one.
        record: The entry or memory.
        vectors: Of a memory: its embeddings by the names of their spaces, each as the bytes that
            `codec.packed` returns.
    """

    number: int
    record: Any
    vectors: Mapping[str, bytes] = field(default_factory=dict)


class RecordTransaction(Transaction):
    """The contract of a transaction over rows: implement the six abstract methods."""

    @abstractmethod
    async def rows(self, tier: Tier, selection: Select | None) -> list[StoredRecord]:
        """Return at least the selected records, oldest first.

        Args:
            tier: The tier to read.
            selection: Narrow down by `tenant`, `groups` and `ids` where that is faster; the
                caller drops other records. None for the records of all tenants.

        Returns:
            The rows.
        """

    @abstractmethod
    async def put(self, tier: Tier, rows: Sequence[StoredRecord]) -> None:
        """Store rows, each replacing the row with its tenant, group and id if there is one.

        Args:
            tier: The tier to write.
            rows: The rows.
        """

    @abstractmethod
    async def remove(self, tier: Tier, rows: Sequence[StoredRecord]) -> None:
        """Remove rows.

        Args:
            tier: The tier to write.
            rows: Rows that `rows` returned.
        """

    @abstractmethod
    async def next_number(self) -> int:
        """Return a number that is higher than that of every row."""

    @abstractmethod
    async def get_spaces(self) -> list[Space]:
        """Return the spaces that `set_spaces` stored."""

    @abstractmethod
    async def set_spaces(self, spaces: Sequence[Space]) -> None:
        """Store the list of embedding spaces.

        Args:
            spaces: The spaces; the first one is current.
        """

    async def with_keys(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the entries of quarantine that share group and `key` with one of these.

        Override it where an index of keys is faster than reading the groups.

        Args:
            entries: Entries about to be stored.

        Returns:
            The stored entries with the same keys.
        """
        keys = {key_of_entry(entry) for entry in entries if entry.key is not None}
        same: list[Entry] = []
        for tenant, groups in _groups_by_tenant(keys).items():
            rows = await self.rows("quarantine", Select(tenant=tenant, groups=groups))
            same += [row.record for row in rows if key_of_entry(row.record) in keys]
        return same

    # Every tier.

    async def find(
        self,
        tier: Tier,
        selection: Select,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> Page[Any]:
        fitting = await self._fitting(tier, selection)
        return page_of(
            [(row.number, row.record) for row in fitting], PageRequest(limit, offset, after)
        )

    async def add(
        self,
        tier: Tier,
        records: Sequence[Any],
        *,
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Any]:
        if tier == "long_term":
            return await self._add_document(records, vectors, space)
        added = []
        for entry in records:
            same = [] if entry.key is None else await self.with_keys([entry])
            if not same:
                await self._require_new(tier, [entry])
                await self.put(tier, [StoredRecord(await self.next_number(), entry)])
            added += same[:1] or [entry]
        return added

    async def edit(self, tier: Tier, selection: Select, change: Callable[[Any], Any]) -> list[Any]:
        changed = []
        for row in await self._fitting(tier, selection):
            record = change(copy_of(row.record))
            if record != row.record:
                changed.append(_with_record(row, record))
        await self.put(tier, changed)
        return [row.record for row in changed]

    async def delete(self, tier: Tier, selection: Select) -> int:
        fitting = await self._fitting(tier, selection)
        await self.remove(tier, fitting)
        return len(fitting)

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        """Import records exactly as they are; see `Store.load`.

        Args:
            tier: The tier to write.
            records: The records.

        Returns:
            The records that were new or differed.
        """
        if tier == "quarantine":
            records = without_duplicates(records, await self.with_keys(records))
        by_key = await self._by_key(tier, records)
        loaded: dict[Any, StoredRecord] = {}
        for record in records:
            key = _identity(record)
            row = loaded.get(key) or by_key.get(key)
            if row is None:
                loaded[key] = StoredRecord(await self.next_number(), record)
            elif row.record != record:
                loaded[key] = _with_record(row, record)
        await self.put(tier, [*loaded.values()])
        return [row.record for row in loaded.values()]

    # Working memory.

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        fitting = await self._fitting("working", Select.within(entry.scope))
        others = [row for row in fitting if row.record.id != entry.id]
        most = max(0, keep - 1)
        if keep < 1:
            await self.remove("working", fitting)
            return
        # What is new comes before what is old goes: an engine may be interrupted in between.
        pushed = [StoredRecord(await self.next_number(), entry)]
        if renew:
            pushed += [_renewed(row, entry.expires_at) for row in others[:most]]
        await self.put("working", pushed)
        await self.remove("working", others[most:])

    async def purge(self, now: datetime) -> int:
        """Delete the expired entries of working memory; see `Store.purge`.

        Args:
            now: An entry has expired if `expires_at <= now`.

        Returns:
            How many entries were deleted.
        """
        expired = [
            row
            for row in await self.rows("working", None)
            if row.record.expires_at is not None and row.record.expires_at <= now
        ]
        await self.remove("working", expired)
        return len(expired)

    # Long-term memory.

    async def search(self, query: Query, selection: Select, choose: Chooser) -> SearchResult:
        corpus = await self.rows(
            "long_term", Select(tenant=selection.tenant, groups=selection.groups)
        )
        owned = Select(tenant=selection.tenant, groups=selection.groups)
        corpus = [row for row in corpus if is_selected(row.record, owned)]
        fitting = [row for row in corpus if is_selected(row.record, selection)]
        similarities = await self._similarities(fitting, query)
        items = []
        for position, row in enumerate(fitting):
            words = count_terms(row.record)
            items.append(
                IndexedMemory(
                    thread_key(row.record, query),
                    words,
                    words.total(),
                    similarities.get(position),
                    row.record.document_id,
                    attribution_of(row.record).key,
                )
            )
        view, positions = build_view(items, query, (count_terms(row.record) for row in corpus))
        return SearchResult(view, {at: fitting[positions[at]].record for at in choose(view)})

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        spaces = await self._check_space(space)
        rows = await self._by_key("long_term", [memory for memory, _ in vectors])
        embedded: dict[Any, StoredRecord] = {}
        for memory, vector in vectors:
            data, row = packed(vector, space), rows.get(_identity(memory))
            if row is not None and row.record.content == memory.content:
                new = replace(row, vectors={**row.vectors, space.name: data})
                embedded[_identity(memory)] = new
        if embedded:
            await self._learn(space, spaces)
            await self.put("long_term", [*embedded.values()])
        return len(embedded)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        await self._check_space(space)
        rows = await self._by_key("long_term", memories)
        vectors: list[Vector | None] = []
        for memory in memories:
            row = rows.get(_identity(memory))
            same = row is not None and row.record.content == memory.content
            data = row.vectors.get(space.name) if row is not None and same else None
            vectors.append(None if data is None else unpacked(data))
        return vectors

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        rows = await self.rows("long_term", None) if counted else []
        counts = Counter(name for row in rows for name in row.vectors)
        return {space: counts[space.name] for space in await self.get_spaces()}

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        """Make an embedding space the current one; see `Store.adopt`.

        Args:
            space: The space.
            drop_others: Whether to delete all other spaces with their vectors.
        """
        spaces = await self._check_space(space)
        others = [] if drop_others else [other for other in spaces if other != space]
        await self.set_spaces([space, *others])
        if drop_others:
            rows = await self.rows("long_term", None)
            await self.put(
                "long_term",
                [
                    replace(row, vectors=_only(space.name, row.vectors))
                    for row in rows
                    if row.vectors.keys() - {space.name}
                ],
            )

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        """Return memories of all tenants that have no vector in a space, oldest first.

        Args:
            space: The embedding space.
            limit: How many at most.

        Returns:
            The memories.
        """
        rows = await self.rows("long_term", None)
        return [row.record for row in rows if space.name not in row.vectors][:limit]

    # Internals.

    async def _fitting(self, tier: Tier, selection: Select) -> list[StoredRecord]:
        """Return the rows that fit, newest first."""
        rows = await self.rows(tier, selection)
        return [row for row in reversed(rows) if is_selected(row.record, selection)]

    async def _by_key(self, tier: Tier, records: Sequence[Any]) -> dict[Any, StoredRecord]:
        """Return the rows that have tenant, group and id of one of these records."""
        keys = {_identity(record) for record in records}
        rows = []
        for tenant, groups in _groups_by_tenant(keys).items():
            ids = tuple({key[2] for key in keys if key[0] == tenant})
            rows += await self.rows(tier, Select(tenant=tenant, groups=groups, ids=ids))
        return {key: row for row in rows if (key := _identity(row.record)) in keys}

    async def _require_new(self, tier: Tier, records: Sequence[Any]) -> None:
        keys = {_identity(record) for record in records}
        if len(keys) < len(records) or await self._by_key(tier, records):
            raise StoreUnavailable("A record with this id exists already; nothing was stored")

    async def _add_document(
        self, memories: Sequence[Memory], vectors: Sequence[Vector | None], space: Space | None
    ) -> list[Memory]:
        rows = await self.rows("long_term", Select.within(memories[0].scope))
        if stored := same_document((row.record for row in rows), memories[0]):
            return stored
        await self._require_new("long_term", memories)
        added = []
        for memory, vector in zip(memories, vectors or (None,) * len(memories), strict=True):
            has_vector = vector is not None and space is not None
            embeddings = {space.name: packed(vector, space)} if has_vector else {}  # type: ignore[union-attr, arg-type]
            added.append(StoredRecord(await self.next_number(), memory, embeddings))
        if space is not None and any(row.vectors for row in added):
            await self._learn(space, await self._check_space(space))
        await self.put("long_term", added)
        return list(memories)

    async def _similarities(self, rows: Sequence[StoredRecord], query: Query) -> dict[int, float]:
        """Return the cosines of rows to a query, by their places."""
        vector, space = query.vector, query.space
        if vector is None or space is None:
            return {}
        for current in (await self._check_space(space))[:1]:
            if current != space:  # what is embedded in another space may be incomplete
                raise EmbeddingMismatch(str(current), str(space))
        positions = [position for position, row in enumerate(rows) if space.name in row.vectors]
        data = [rows[position].vectors[space.name] for position in positions]
        return dict(zip(positions, scores(packed(vector, space), data), strict=True))

    async def _check_space(self, space: Space) -> list[Space]:
        """Return the known spaces.

        Raises:
            EmbeddingMismatch: If the name of the space is known with another dimension.
        """
        spaces = await self.get_spaces()
        for stored in spaces:
            if stored.name == space.name and stored != space:
                raise EmbeddingMismatch(str(stored), str(space))
        return spaces

    async def _learn(self, space: Space, spaces: Sequence[Space]) -> None:
        if space not in spaces:
            await self.set_spaces([*spaces, space])


class RecordStore(Store):
    """The contract of a store whose transactions are `RecordTransaction`: implement `transaction`.

    What concerns all tenants reads all records, each time as one transaction.
    """

    async def walk(self, tier: Tier, mark: str | None = None, *, limit: int) -> Batch[Any]:  # noqa: ARG002
        async def work(transaction: Any) -> list[Any]:
            return [row.record for row in await transaction.rows(tier, None)]

        return single_batch(await self.transaction(work, writes=False), mark)

    async def load(self, tier: Tier, records: Sequence[Any]) -> list[Any]:
        async def work(transaction: Any) -> list[Any]:
            loaded: list[Any] = await transaction.load(tier, records)
            return loaded

        return await self.transaction(work)

    async def purge(self, now: datetime) -> int:
        async def work(transaction: Any) -> int:
            purged: int = await transaction.purge(now)
            return purged

        return await self.transaction(work)

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        async def work(transaction: Any) -> None:
            await transaction.adopt(space, drop_others=drop_others)

        await self.transaction(work)

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        async def work(transaction: Any) -> list[Memory]:
            memories: list[Memory] = await transaction.unembedded(space, limit=limit)
            return memories

        return await self.transaction(work, writes=False)


def count_terms(memory: Memory) -> Counter[str]:
    """Count the terms under which a memory is found; see `terms.terms_of`.

    Args:
        memory: The memory.

    Returns:
        How often it has each term. The counter is cached, so do not change it.
    """
    return _count_words(named_text_of(memory))


@clearable_cache(_REMEMBERED_TEXTS)
def _count_words(text: str) -> Counter[str]:
    return Counter(words_of(text))


def _identity(record: Entry | Memory) -> tuple[str | None, str | None, str]:
    return record.scope.tenant, record.scope.group_id, record.id


def key_of_entry(entry: Entry) -> tuple[str | None, str | None, str | None]:
    """Return the deduplication key of an entry.

    Args:
        entry: An entry of quarantine.

    Returns:
        Its tenant, group and `key`; of two entries with the same ones only one is stored.
    """
    return entry.scope.tenant, entry.scope.group_id, entry.key


def _groups_by_tenant(
    keys: Iterable[tuple[str | None, str | None, Any]],
) -> dict[str | None, tuple[str | None, ...]]:
    groups: dict[str | None, dict[str | None, None]] = {}
    for tenant, group, _ in keys:
        groups.setdefault(tenant, {})[group] = None
    return {tenant: tuple(names) for tenant, names in groups.items()}


def _with_record(row: StoredRecord, record: Any) -> StoredRecord:
    """Return a row with another record; a vector of the old text must not find the new one."""
    same = row.record.content == record.content
    return replace(row, record=record, vectors=row.vectors if same else {})


def _renewed(row: StoredRecord, expires_at: datetime | None) -> StoredRecord:
    return replace(row, record=replace(row.record, expires_at=expires_at))


def _only(name: str, vectors: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: vectors[name]} if name in vectors else {}

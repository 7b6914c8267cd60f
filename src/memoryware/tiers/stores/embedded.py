"""The three tiers in this process, in plain Python: the reference, and what tests use.

Nothing is written anywhere; everything is gone with the object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from memoryware._twins import in_thread
from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.tiers.ranking import bm25, cosine, whole_score, words_of
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._held import Holder, Index, Key, changing, in_turn, key_of
from memoryware.tiers.stores._loading import whole_of, without_doubles
from memoryware.tiers.stores._selecting import best_of, fits
from memoryware.tiers.stores.protocol import (
    Hit,
    Page,
    Select,
    Space,
    Stores,
    Stretch,
    Vector,
)

R = TypeVar("R", Entry, Memory)


def embedded(*, lock_timeout: float = 30.0) -> Stores:
    """Return empty stores that live in this process."""
    return Stores(
        EmbeddedQuarantine(lock_timeout),
        EmbeddedWorking(lock_timeout),
        EmbeddedLongTerm(lock_timeout),
    )


class _Records(Holder[R]):
    """Records in the order in which they were stored, for one thread at a time."""

    @property
    def _records(self) -> dict[Key, R]:
        return self._held.now.records

    @property
    def _index(self) -> Index:
        return self._held.now.index

    @in_turn
    def find(self, which: Select, *, limit: int | None = None, offset: int = 0) -> Page[R]:
        found = self._fitting(which)
        end = None if limit is None else offset + limit
        return Page([_copy(one) for one in found[offset:end]], len(found))

    async def afind(self, which: Select, *, limit: int | None = None, offset: int = 0) -> Page[R]:
        return await in_thread(self.find, which, limit=limit, offset=offset)

    @changing
    def edit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        before = self._fitting(which)
        after = [_copy(change(_copy(one))) for one in before]
        differing = [both for both in zip(before, after, strict=True) if both[0] != both[1]]
        for old, new in differing:
            self._records[key_of(new)] = new
            self._changed(old, new)
        return [_copy(new) for _, new in differing]

    async def aedit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return await in_thread(self.edit, which, change)

    @changing
    def delete(self, which: Select) -> int:
        gone = self._fitting(which)
        for one in gone:
            del self._records[key_of(one)]
            self._deleted(one)
        return len(gone)

    async def adelete(self, which: Select) -> int:
        return await in_thread(self.delete, which)

    @in_turn
    def walk(self, mark: str | None = None, *, limit: int) -> Stretch[R]:
        """Return all at once: it is in this process already."""
        del limit
        return whole_of([_copy(one) for one in self._records.values()], mark)

    async def awalk(self, mark: str | None = None, *, limit: int) -> Stretch[R]:
        return await in_thread(self.walk, mark, limit=limit)

    @changing
    def load(self, records: Sequence[R]) -> list[R]:
        kept = [one for one in self._loadable(records) if self._records.get(key_of(one)) != one]
        for one in kept:
            old = self._records.get(key_of(one))
            self._records[key_of(one)] = _copy(one)
            self._changed(old, one)
        return kept

    async def aload(self, records: Sequence[R]) -> list[R]:
        return await in_thread(self.load, records)

    async def aclose(self) -> None:
        """Async twin of `close`."""
        self.close()

    def _fitting(self, which: Select) -> list[R]:
        return [one for one in self._named(which) if fits(one, which)]

    def _named(self, which: Select) -> Iterable[R]:
        """Return what may fit, newest first: what has one of the ids, if any are asked for."""
        records = self._records
        if which.ids is None:
            return reversed(records.values())
        if which.groups is None:
            ids = set(which.ids)
            return [records[one] for one in reversed(records) if one[2] in ids]
        keys = {(which.tenant, group, id_) for group in which.groups for id_ in which.ids}
        keys &= records.keys()
        ordered = keys if len(keys) < 2 else [one for one in reversed(records) if one in keys]
        return [records[one] for one in ordered]

    def _must_be_new(self, records: Sequence[R]) -> None:
        keys = {key_of(one) for one in records}
        if len(keys) < len(records) or keys & self._records.keys():
            raise StoreUnavailable("A record with this id is there already; nothing was stored")

    def _loadable(self, records: Sequence[R]) -> Sequence[R]:
        """Return those of records that may be kept."""
        return records

    def _changed(self, old: R | None, new: R) -> None:
        """Follow a change of a record, or a new one."""

    def _deleted(self, old: R) -> None:
        """Follow a deletion."""


class EmbeddedQuarantine(_Records[Entry]):
    """Tier 1 in this process."""

    @changing
    def add(self, entry: Entry) -> Entry:
        for one in self._records.values() if entry.key is not None else ():
            if one.key == entry.key and _part(one) == _part(entry):
                return _copy(one)
        self._must_be_new([entry])
        self._records[key_of(entry)] = _copy(entry)
        return entry

    async def aadd(self, entry: Entry) -> Entry:
        return await in_thread(self.add, entry)

    def _loadable(self, records: Sequence[Entry]) -> Sequence[Entry]:
        return without_doubles(records, self._records.values())


class EmbeddedWorking(_Records[Entry]):
    """Tier 2 in this process."""

    @changing
    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        self._records.pop(key_of(entry), None)
        self._records[key_of(entry)] = _copy(entry)
        mine = [one for one in reversed(self._records.values()) if _part(one) == _part(entry)]
        for one in mine[keep:]:
            del self._records[key_of(one)]
        for one in mine[:keep] if renew else ():
            self._records[key_of(one)] = replace(one, expires_at=entry.expires_at)

    async def apush(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await in_thread(self.push, entry, keep=keep, renew=renew)

    @changing
    def purge(self, now: datetime) -> int:
        times = ((key, one.expires_at) for key, one in self._records.items())
        gone = [key for key, expires in times if expires is not None and expires <= now]
        for one in gone:
            del self._records[one]
        return len(gone)

    async def apurge(self, now: datetime) -> int:
        return await in_thread(self.purge, now)


class EmbeddedLongTerm(_Records[Memory]):
    """Tier 3 in this process."""

    @changing
    def add(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        if not memories:
            return []
        first = memories[0]
        there = [one for one in self._records.values() if _is_same(one, first)]
        if there:
            ours = [one for one in there if one.document_id == there[0].document_id]
            return sorted([_copy(one) for one in ours], key=lambda one: one.chunk_index)
        both = zip(memories, vectors or (None,) * len(memories), strict=True)
        kept = self._checked([(one, made) for one, made in both if made is not None], space)
        self._must_be_new(memories)
        for one in memories:
            self._records[key_of(one)] = _copy(one)
            self._changed(None, one)
        self._keep(kept, space)
        ended = Select.within(first.scope, documents=tuple(replaces)) if replaces else None
        for one in self._fitting(ended) if ended else ():
            if one.valid_to is None:
                self._records[key_of(one)] = replace(
                    one, valid_to=first.valid_from, superseded_by=first.document_id
                )
        return list(memories)

    async def aadd(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        return await in_thread(self.add, memories, vectors, space, replaces=replaces)

    @in_turn
    def by_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        wanted, known = dict.fromkeys(words), self._index.words
        corpus = {
            key: known[key]
            for key in self._records
            if key[0] == which.tenant and (which.groups is None or key[1] in which.groups)
        }
        having = {word: sum(word in one for one in corpus.values()) for word in wanted}
        mean = sum(one.total() for one in corpus.values()) / len(corpus) if corpus else 0
        whole = whole_score(having, len(corpus))
        hits = [
            Hit(one, bm25(corpus[key_of(one)], having, len(corpus), mean), whole)
            for one in self._named(which)
            if not having.keys().isdisjoint(corpus.get(key_of(one), ())) and fits(one, which)
        ]
        return _copies(best_of(hits, limit))

    async def aby_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return await in_thread(self.by_words, words, which, limit=limit)

    @in_turn
    def by_vector(self, vector: Vector, which: Select, *, space: Space, limit: int) -> list[Hit]:
        self._check_space(space)
        self._check_current(space)
        _check_length(vector, space)
        known = self._index.vectors.get(space.name, {})
        found = [
            (one, known[key_of(one)])
            for one in self._named(which)
            if key_of(one) in known and fits(one, which)
        ]
        return _copies(best_of([Hit(one, cosine(vector, other)) for one, other in found], limit))

    async def aby_vector(
        self, vector: Vector, which: Select, *, space: Space, limit: int
    ) -> list[Hit]:
        return await in_thread(self.by_vector, vector, which, space=space, limit=limit)

    @in_turn
    def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        known = self._index.vectors.get(space.name, {})
        missing = [one for key, one in self._records.items() if key not in known]
        return [_copy(one) for one in missing[:limit]]

    async def aunembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await in_thread(self.unembedded, space, limit=limit)

    @changing
    def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        checked, there = self._checked(vectors, space), self._records
        texts = {key_of(one): one.content for one, _ in vectors}
        kept = {
            key: vector
            for key, vector in checked.items()
            if key in there and there[key].content == texts[key]
        }
        self._keep(kept, space)
        return len(kept)

    async def aput_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        return await in_thread(self.put_vectors, vectors, space)

    @in_turn
    def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        self._check_space(space)
        known, there = self._index.vectors.get(space.name, {}), self._records
        return [
            known.get(key) if key in there and there[key].content == one.content else None
            for one in memories
            for key in (key_of(one),)
        ]

    async def avectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        return await in_thread(self.vectors_of, memories, space)

    @in_turn
    def spaces(self) -> dict[Space, int]:
        index = self._index
        names = sorted(index.dimensions, key=lambda name: name != index.current)
        return {
            Space(name, index.dimensions[name]): len(index.vectors.get(name, ())) for name in names
        }

    async def aspaces(self) -> dict[Space, int]:
        return await in_thread(self.spaces)

    @changing
    def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        self._check_space(space)
        index = self._index
        index.current = space.name
        index.dimensions[space.name] = space.dimension
        for name in list(index.dimensions) if drop_others else ():
            if name != space.name:
                del index.dimensions[name]
                index.vectors.pop(name, None)

    async def aadopt(self, space: Space, *, drop_others: bool = False) -> None:
        await in_thread(self.adopt, space, drop_others=drop_others)

    def _changed(self, old: Memory | None, new: Memory) -> None:
        if old is None or new.content != old.content:
            self._deleted(new)  # a vector of the old text must not find the new one
            self._index.words[key_of(new)] = Counter(words_of(new.content))

    def _deleted(self, old: Memory) -> None:
        self._index.words.pop(key_of(old), None)
        for vectors in self._index.vectors.values():
            vectors.pop(key_of(old), None)

    def _checked(
        self, vectors: Sequence[tuple[Memory, Vector]], space: Space | None
    ) -> dict[Key, tuple[float, ...]]:
        if space is not None and vectors:
            self._check_space(space)
            for _, vector in vectors:
                _check_length(vector, space)
        return {key_of(one): tuple(map(float, made)) for one, made in vectors} if space else {}

    def _keep(self, vectors: dict[Key, tuple[float, ...]], space: Space | None) -> None:
        if space is not None and vectors:
            self._index.dimensions[space.name] = space.dimension
            self._index.current = self._index.current or space.name
            self._index.vectors.setdefault(space.name, {}).update(vectors)

    def _check_space(self, space: Space) -> None:
        known = self._index.dimensions.get(space.name)
        if known is not None and known != space.dimension:
            raise EmbeddingMismatch(str(Space(space.name, known)), str(space))

    def _check_current(self, space: Space) -> None:
        current = self._index.current
        if current is not None and current != space.name:
            known = Space(current, self._index.dimensions[current])
            raise EmbeddingMismatch(str(known), str(space))


def _part(record: Entry | Memory) -> tuple[str | None, str | None]:
    return record.scope.tenant, record.scope.group_id


def _copy(record: R) -> R:
    """Return a record that shares nothing that can be changed."""
    return replace(record, metadata=deepcopy(dict(record.metadata))) if record.metadata else record


def _is_same(known: Memory, new: Memory) -> bool:
    """Say whether a memory is of a current document with the same text and owner."""
    owner: Any = (_part(known), known.scope.agent_id, known.content_hash)
    return (
        owner == (_part(new), new.scope.agent_id, new.content_hash)
        and known.valid_to is None
        and known.revocation is None
    )


def _check_length(vector: Vector, space: Space) -> None:
    if len(vector) != space.dimension:
        raise EmbeddingMismatch(str(space), f"a vector of {len(vector)} dimensions")


def _copies(hits: list[Hit]) -> list[Hit]:
    return [replace(one, memory=_copy(one.memory)) for one in hits]

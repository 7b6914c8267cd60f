"""The three tiers in this process, in plain Python: the reference, and what tests use.

Nothing is written anywhere; everything is gone with the object.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

from memoryware._twins import in_thread
from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.tiers.ranking import bm25, cosine, whole_score, words_of
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._selecting import fits
from memoryware.tiers.stores.protocol import Hit, Page, Select, Space, Stores, Vector

R = TypeVar("R", Entry, Memory)


def embedded(*, lock_timeout: float = 30.0) -> Stores:
    """Return empty stores that live in this process."""
    return Stores(
        EmbeddedQuarantine(lock_timeout),
        EmbeddedWorking(lock_timeout),
        EmbeddedLongTerm(lock_timeout),
    )


class _Records(Generic[R]):
    """Records in the order in which they were stored, under one lock."""

    def __init__(self, lock_timeout: float = 30.0) -> None:
        self._records: dict[str, R] = {}
        self._lock = threading.RLock()
        self._lock_timeout = lock_timeout

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._lock.acquire(timeout=self._lock_timeout):
            raise StoreUnavailable(
                f"Somebody else has been writing for {self._lock_timeout} seconds; try again"
            )
        try:
            yield
        finally:
            self._lock.release()

    def find(self, which: Select, *, limit: int | None = None, offset: int = 0) -> Page[R]:
        with self._alone():
            found = self._fitting(which)
        end = None if limit is None else offset + limit
        return Page([_copy(one) for one in found[offset:end]], len(found))

    async def afind(self, which: Select, *, limit: int | None = None, offset: int = 0) -> Page[R]:
        return await in_thread(self.find, which, limit=limit, offset=offset)

    def edit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        with self._alone():
            before = self._fitting(which)
            after = [_copy(change(_copy(one))) for one in before]
            differing = [both for both in zip(before, after, strict=True) if both[0] != both[1]]
            for old, new in differing:
                self._records[new.id] = new
                self._changed(old, new)
            return [_copy(new) for _, new in differing]

    async def aedit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        return await in_thread(self.edit, which, change)

    def delete(self, which: Select) -> int:
        with self._alone():
            gone = [one.id for one in self._records.values() if fits(one, which)]
            for one in gone:
                del self._records[one]
                self._deleted(one)
        return len(gone)

    async def adelete(self, which: Select) -> int:
        return await in_thread(self.delete, which)

    def close(self) -> None:
        """Nothing is open."""

    async def aclose(self) -> None:
        """Nothing is open."""

    def _fitting(self, which: Select) -> list[R]:
        return [one for one in reversed(self._records.values()) if fits(one, which)]

    def _changed(self, old: R, new: R) -> None:
        """Follow a change of a record."""

    def _deleted(self, id_: str) -> None:
        """Follow a deletion."""


class EmbeddedQuarantine(_Records[Entry]):
    """Tier 1 in this process."""

    def add(self, entry: Entry) -> Entry:
        with self._alone():
            for one in self._records.values() if entry.key is not None else ():
                if one.key == entry.key and _part(one) == _part(entry):
                    return _copy(one)
            self._records[entry.id] = _copy(entry)
        return entry

    async def aadd(self, entry: Entry) -> Entry:
        return await in_thread(self.add, entry)


class EmbeddedWorking(_Records[Entry]):
    """Tier 2 in this process."""

    def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        with self._alone():
            self._records.pop(entry.id, None)
            self._records[entry.id] = _copy(entry)
            mine = [one for one in reversed(self._records.values()) if _part(one) == _part(entry)]
            for one in mine[keep:]:
                del self._records[one.id]
            for one in mine[:keep] if renew else ():
                self._records[one.id] = replace(one, expires_at=entry.expires_at)

    async def apush(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        await in_thread(self.push, entry, keep=keep, renew=renew)

    def purge(self, now: datetime) -> int:
        with self._alone():
            gone = [
                one.id
                for one in self._records.values()
                if one.expires_at is not None and one.expires_at <= now
            ]
            for one in gone:
                del self._records[one]
        return len(gone)

    async def apurge(self, now: datetime) -> int:
        return await in_thread(self.purge, now)


@dataclass
class _Index:
    """What is kept beside the memories."""

    words: dict[str, Counter[str]] = field(default_factory=dict)
    vectors: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)
    """By the name of a space, by id."""
    dimensions: dict[str, int] = field(default_factory=dict)
    current: str | None = None


class EmbeddedLongTerm(_Records[Memory]):
    """Tier 3 in this process."""

    def __init__(self, lock_timeout: float = 30.0) -> None:
        super().__init__(lock_timeout)
        self._index = _Index()

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
        with self._alone():
            there = [one for one in self._records.values() if _is_same(one, first)]
            if there:
                ours = [one for one in there if one.document_id == there[0].document_id]
                return sorted([_copy(one) for one in ours], key=lambda one: one.chunk_index)
            pairs = [
                (one.id, vector)
                for one, vector in zip(memories, vectors or (None,) * len(memories), strict=True)
                if vector is not None
            ]
            kept = self._checked(pairs, space)
            for one in memories:
                self._records[one.id] = _copy(one)
                self._index.words[one.id] = Counter(words_of(one.content))
            self._keep(kept, space)
            ended = Select.within(first.scope, documents=tuple(replaces)) if replaces else None
            for one in self.find(ended).items if ended else ():
                if one.valid_to is not None:
                    continue
                self._records[one.id] = replace(
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

    def by_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        wanted = dict.fromkeys(words)
        with self._alone():
            corpus = {
                one.id: self._index.words[one.id]
                for one in self._records.values()
                if one.scope.tenant == which.tenant
                and (which.groups is None or one.scope.group_id in which.groups)
            }
            found = [self._records[id_] for id_ in corpus]
        having = {word: sum(word in one for one in corpus.values()) for word in wanted}
        mean = sum(one.total() for one in corpus.values()) / len(corpus) if corpus else 0
        whole = whole_score(having, len(corpus))
        hits = [
            Hit(one, bm25(corpus[one.id], having, len(corpus), mean), whole)
            for one in found
            if not having.keys().isdisjoint(corpus[one.id]) and fits(one, which)
        ]
        return _best(hits, limit)

    async def aby_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        return await in_thread(self.by_words, words, which, limit=limit)

    def by_vector(self, vector: Vector, which: Select, *, space: Space, limit: int) -> list[Hit]:
        with self._alone():
            self._check_space(space)
            known = self._index.vectors.get(space.name, {})
            found = [
                (one, known[one.id])
                for one in self._records.values()
                if one.id in known and fits(one, which)
            ]
        _check_length(vector, space)
        return _best([Hit(one, cosine(vector, other)) for one, other in found], limit)

    async def aby_vector(
        self, vector: Vector, which: Select, *, space: Space, limit: int
    ) -> list[Hit]:
        return await in_thread(self.by_vector, vector, which, space=space, limit=limit)

    def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        with self._alone():
            known = self._index.vectors.get(space.name, {})
            missing = [one for one in self._records.values() if one.id not in known]
            return [_copy(one) for one in missing[:limit]]

    async def aunembedded(self, space: Space, *, limit: int) -> list[Memory]:
        return await in_thread(self.unembedded, space, limit=limit)

    def put_vectors(self, vectors: Sequence[tuple[str, Vector]], space: Space) -> int:
        with self._alone():
            checked = self._checked(vectors, space)
            kept = {id_: vector for id_, vector in checked.items() if id_ in self._records}
            self._keep(kept, space)
        return len(kept)

    async def aput_vectors(self, vectors: Sequence[tuple[str, Vector]], space: Space) -> int:
        return await in_thread(self.put_vectors, vectors, space)

    def spaces(self) -> dict[Space, int]:
        with self._alone():
            index = self._index
            names = sorted(index.dimensions, key=lambda name: name != index.current)
            return {
                Space(name, index.dimensions[name]): len(index.vectors.get(name, ()))
                for name in names
            }

    async def aspaces(self) -> dict[Space, int]:
        return await in_thread(self.spaces)

    def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        with self._alone():
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

    def _changed(self, old: Memory, new: Memory) -> None:
        if new.content != old.content:  # a vector of the old text must not find the new one
            self._deleted(old.id)
            self._index.words[new.id] = Counter(words_of(new.content))

    def _deleted(self, id_: str) -> None:
        self._index.words.pop(id_, None)
        for vectors in self._index.vectors.values():
            vectors.pop(id_, None)

    def _checked(
        self, vectors: Sequence[tuple[str, Vector]], space: Space | None
    ) -> dict[str, tuple[float, ...]]:
        if space is not None and vectors:
            self._check_space(space)
            for _, vector in vectors:
                _check_length(vector, space)
        return {id_: tuple(map(float, vector)) for id_, vector in vectors} if space else {}

    def _keep(self, vectors: dict[str, tuple[float, ...]], space: Space | None) -> None:
        if space is not None and vectors:
            self._index.dimensions[space.name] = space.dimension
            self._index.current = self._index.current or space.name
            self._index.vectors.setdefault(space.name, {}).update(vectors)

    def _check_space(self, space: Space) -> None:
        known = self._index.dimensions.get(space.name)
        if known is not None and known != space.dimension:
            raise EmbeddingMismatch(str(Space(space.name, known)), str(space))


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


def _best(hits: list[Hit], limit: int) -> list[Hit]:
    hits.sort(key=lambda hit: (-hit.value, -hit.memory.created_at.timestamp(), hit.memory.id))
    return [Hit(_copy(hit.memory), hit.value, hit.whole) for hit in hits[:limit]]

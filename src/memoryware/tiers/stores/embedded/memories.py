"""Long-term memory in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.records import Memory
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores._held import Key, changing, in_turn, key_of
from memoryware.tiers.stores._looking import Item, look, thread_of
from memoryware.tiers.stores._selecting import same_document
from memoryware.tiers.stores.embedded.records import HeldRecords, copied
from memoryware.tiers.stores.protocol import Choose, Query, Searched, Select, Space, Vector
from memoryware.tiers.text.terms import words_of


class EmbeddedLongTerm(HeldRecords[Memory]):
    """Tier 3 in this process."""

    @changing
    def add(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
    ) -> list[Memory]:
        first = memories[0]
        if there := same_document(self._records.values(), first):
            return [copied(one) for one in there]
        both = zip(memories, vectors or (None,) * len(memories), strict=True)
        kept = self._checked([(one, made) for one, made in both if made is not None], space)
        self._must_be_new(memories)
        for one in memories:
            self._records[key_of(one)] = copied(one)
            self._changed(None, one)
        self._keep(kept, space)
        return list(memories)

    @in_turn
    def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        fitting = self._fitting(which)[::-1]
        near = self._similarities(fitting, query)
        words = self._index.words
        items = [
            Item(thread_of(one, query), (counted := words[key]), counted.total(), near.get(key))
            for one in fitting
            for key in (key_of(one),)
        ]
        sight, places = look(items, query, self._corpus(which).values())
        return Searched(sight, {at: copied(fitting[places[at]]) for at in choose(sight)})

    @in_turn
    def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        known = self._index.vectors.get(space.name, {})
        missing = [one for key, one in self._records.items() if key not in known]
        return [copied(one) for one in missing[:limit]]

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

    @in_turn
    def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        self._check_space(space)
        known, there = self._index.vectors.get(space.name, {}), self._records
        return [
            known.get(key) if key in there and there[key].content == one.content else None
            for one in memories
            for key in (key_of(one),)
        ]

    @in_turn
    def spaces(self) -> dict[Space, int]:
        index = self._index
        names = sorted(index.dimensions, key=lambda name: name != index.current)
        return {
            Space(name, index.dimensions[name]): len(index.vectors.get(name, ())) for name in names
        }

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

    def _changed(self, old: Memory | None, new: Memory) -> None:
        if old is None or new.content != old.content:
            self._deleted(new)  # a vector of the old text must not find the new one
            self._index.words[key_of(new)] = Counter(words_of(new.content))

    def _deleted(self, old: Memory) -> None:
        self._index.words.pop(key_of(old), None)
        for vectors in self._index.vectors.values():
            vectors.pop(key_of(old), None)

    def _corpus(self, which: Select) -> dict[Key, Counter[str]]:
        """Return the words of everything that the tenant and groups of a selection have."""
        known = self._index.words
        return {
            key: known[key]
            for key in self._records
            if key[0] == which.tenant and (which.groups is None or key[1] in which.groups)
        }

    def _similarities(self, among: Iterable[Memory], query: Query) -> dict[Key, float]:
        if query.vector is None or query.space is None:
            return {}
        self._check_space(query.space)
        self._check_current(query.space)
        _check_length(query.vector, query.space)
        known = self._index.vectors.get(query.space.name, {})
        keys = [key for one in among if (key := key_of(one)) in known]
        return {key: cosine(query.vector, known[key]) for key in keys}

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


def _check_length(vector: Vector, space: Space) -> None:
    if len(vector) != space.dimension:
        raise EmbeddingMismatch(str(space), f"a vector of {len(vector)} dimensions")

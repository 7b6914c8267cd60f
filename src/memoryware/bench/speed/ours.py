"""The sides of this package: what users call, and the store below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from heapq import nlargest
from pathlib import Path
from typing import Any, ClassVar, Final
from uuid import uuid4

from memoryware.bench.speed.made import BEST, DIMENSION, Made, Question, looked_up
from memoryware.bench.speed.sides import (
    FREQUENT,
    HYBRID,
    PROMOTE,
    QUICK_PUT,
    RECORD,
    VECTORS,
    WORDS,
    Ask,
    Place,
    Put,
    Side,
    size_of,
)
from memoryware.scope import MemoryScope
from memoryware.settings import Ranking, TierLimits
from memoryware.tiers.recall.fusion import judge
from memoryware.tiers.records import Memory, Origin, Provenance, hash_of
from memoryware.tiers.service import TieredMemory
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sight import Query, Sight, Space
from memoryware.tiers.text.terms import query_words

_SPACE: Final = Space("made up", DIMENSION)
_NOW: Final = datetime(2026, 11, 1, tzinfo=UTC)
_MADE_BY: Final = Provenance(Origin("agent", "helper"))
_RULES: Final = Ranking()
_SPREAD, _SINGLE = "spread", "single"


class Ours(Side):
    """`TieredMemory`, by its public calls.

    What is asked in one group lies in groups of a thousand; what is asked everywhere lies in
    one group, in a file of its own, because `retrieve` asks exactly one group.
    """

    name: ClassVar[str] = "memoryware"
    packages = ("memoryware", "numpy")

    def __init__(self, made: Made, place: Place) -> None:
        super().__init__(made, place)
        self._run = uuid4().hex[:8] if place.url else "run"
        self.spread = self._opened(_SPREAD)
        self.single = self._opened(_SINGLE) if made.groups > 1 else self.spread
        limits = TierLimits(hot_items=0, cold_items=BEST)
        self._by_words = {
            one: TieredMemory(one.parts.stores, limits=limits) for one in (self.spread, self.single)
        }

    def load(self, numbers: range) -> None:
        self._load(self.spread, _SPREAD, numbers)

    def loaded(self) -> None:
        for start in range(0, self.made.size if self.single is not self.spread else 0, 5000):
            numbers = range(start, min(start + 5000, self.made.size))
            self._load(self.single, _SINGLE, numbers)

    def asks(self) -> Mapping[str, Ask]:
        return {
            WORDS: lambda question, whole: self._words(question, question.words, whole),
            FREQUENT: lambda question, whole: self._words(question, question.frequent, whole),
            VECTORS: self._vectors,
            HYBRID: self._hybrid,
        }

    def puts(self) -> Mapping[str, Put]:
        puts = {RECORD: self._record, PROMOTE: self._promote}
        return puts if self.place.url else {**puts, QUICK_PUT: self._unflushed}

    def numbers(self, answer: Any) -> list[int]:
        return [self.made.number_of(one.content) for one in answer]

    def disk(self) -> int | None:
        return None if self.place.url else size_of(self._folder(_SPREAD))

    def close(self) -> None:
        if "quick" in vars(self):
            self.quick.close()
        for one in {self.spread, self.single}:
            if self.place.url:
                for name in (_SPREAD, _SINGLE):
                    stores = one.parts.stores
                    for store in (stores.quarantine, stores.working, stores.long_term):
                        store.delete(Select(tenant=self._tenant(name)))
            one.close()

    def scope(self, question: Question, whole: bool) -> MemoryScope:
        """Return the group that a question is asked in."""
        if whole and self.single is not self.spread:
            return MemoryScope(self._tenant(_SINGLE), "everything")
        return MemoryScope(self._tenant(_SPREAD), f"g{question.group}")

    def memory(self, whole: bool) -> TieredMemory:
        """Return the memory in which that group is."""
        return self.single if whole else self.spread

    @cached_property
    def quick(self) -> TieredMemory:
        """The same file, by somebody who does not wait for the disk."""
        return self._opened(_SPREAD, "?durability=normal")

    def kept(self, number: int) -> Memory:
        """Return a record that comes later."""
        return self._memory(number, _SPREAD)

    def _hybrid(self, question: Question, whole: bool) -> Any:
        memory, scope = self.memory(whole), self.scope(question, whole)
        return memory.retrieve(question.text, scope, layers=("cold",))

    def _vectors(self, question: Question, whole: bool) -> Any:
        memory, scope = self.memory(whole), self.scope(question, whole)
        return memory.retrieve(question.wordless, scope, layers=("cold",))

    def _words(self, question: Question, words: Sequence[str], whole: bool) -> Any:
        memory = self._by_words[self.memory(whole)]
        return memory.retrieve(" ".join(words), self.scope(question, whole), layers=("cold",))

    def _record(self, number: int) -> None:
        scope = self._later(number)
        self.spread.record(self.made.texts[number], scope, {"confidence": 0.9})

    def _promote(self, number: int) -> None:
        self.spread.promote(self.made.texts[number], self._later(number), by="ann")

    def _unflushed(self, number: int) -> None:
        self.quick.promote(self.made.texts[number], self._later(number), by="ann")

    def _later(self, number: int) -> MemoryScope:
        return MemoryScope(self._tenant(_SPREAD), f"g{self.made.group_of(number)}")

    def _tenant(self, name: str) -> str:
        return f"{name} {self._run}"

    def _folder(self, name: str) -> Path:
        return self.place.folder / name

    def _opened(self, name: str, how: str = "") -> TieredMemory:
        self._folder(name).mkdir(parents=True, exist_ok=True)
        return TieredMemory.open(
            self.place.url or f"sqlite:///{self._folder(name) / 'memory.db'}{how}",
            embeddings=looked_up(self.made),
            limits=TierLimits(hot_items=0, cold_items=BEST),
        )

    def _load(self, memory: TieredMemory, name: str, numbers: range) -> None:
        """Keep many memories as `memoryware move` does: records, then their vectors."""
        store: Any = memory.parts.stores.long_term
        records = [self._memory(number, name) for number in numbers]
        store.load(records)
        vectors = self.made.vectors[numbers.start : numbers.stop].tolist()
        store.put_vectors(list(zip(records, vectors, strict=True)), _SPACE)

    def _memory(self, number: int, name: str) -> Memory:
        text = self.made.texts[number]
        made = _NOW - timedelta(minutes=self.made.size + self.made.later - number)
        group = "everything" if name == _SINGLE else f"g{self.made.group_of(number)}"
        return Memory(
            id=f"{number:032x}",
            document_id=f"{number:032x}",
            scope=MemoryScope(self._tenant(name), group),
            content=text,
            created_at=made,
            valid_from=made,
            promoted_by="ann",
            content_hash=hash_of(text),
            provenance=_MADE_BY,
        )


class OurStore(Side):
    """The store below `TieredMemory`: the search alone, nothing is fused or chosen."""

    name: ClassVar[str] = "its store"
    local: ClassVar[bool] = False

    def __init__(self, ours: Ours) -> None:
        super().__init__(ours.made, ours.place)
        self._ours = ours

    def asks(self) -> Mapping[str, Ask]:
        return {
            WORDS: lambda question, whole: self._words(question, question.words, whole),
            FREQUENT: lambda question, whole: self._words(question, question.frequent, whole),
            VECTORS: self._vectors,
            HYBRID: self._both,
        }

    def puts(self) -> Mapping[str, Put]:
        puts = {PROMOTE: self._add}
        return puts if self.place.url else {**puts, QUICK_PUT: self._add_unflushed}

    def numbers(self, answer: Any) -> list[int]:
        return [self.made.number_of(one.memory.content) for one in answer]

    def disk(self) -> int | None:
        return None

    def _words(self, question: Question, words: Sequence[str], whole: bool) -> Any:
        stems = query_words(" ".join(words))
        return self._store(whole).by_words(stems, self._which(question, whole), limit=BEST)

    def _vectors(self, question: Question, whole: bool) -> Any:
        which = self._which(question, whole)
        return self._store(whole).by_vector(question.vector, which, space=_SPACE, limit=BEST)

    def _both(self, question: Question, whole: bool) -> Any:
        """Search by words and vectors at once; take the best by the weights of a recall."""
        query = Query(
            words=query_words(question.text), vector=question.vector, space=_SPACE, reach=0
        )

        def best(sight: Sight) -> list[int]:
            scores = judge(sight, _RULES).scores(vectors=True)
            return nlargest(BEST, range(len(scores)), scores.__getitem__)

        return self._store(whole).search(query, self._which(question, whole), best)

    def _add(self, number: int) -> None:
        self._add_to(self._store(whole=False), number)

    def _add_unflushed(self, number: int) -> None:
        self._add_to(self._ours.quick.parts.stores.long_term, number)

    def _add_to(self, store: Any, number: int) -> None:
        vector = self.made.vectors[number].tolist()
        store.add([self._ours.kept(number)], [vector], _SPACE)

    def _store(self, whole: bool) -> Any:
        return self._ours.memory(whole).parts.stores.long_term

    def _which(self, question: Question, whole: bool) -> Select:
        return Select.within(self._ours.scope(question, whole), live_at=_NOW)

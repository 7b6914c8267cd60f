"""The stores of the three tiers as the operations see them: coroutines only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from memoryware._runner import Runner
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores.protocol import (
    Hit,
    LongTermStore,
    Page,
    QuarantineStore,
    RecordStore,
    Select,
    Stores,
    Stretch,
    WorkingStore,
)
from memoryware.tiers.stores.sight import Choose, Query, Searched, Space, Vector

R = TypeVar("R", Entry, Memory)


class RecordView(Generic[R]):
    """The records of one tier; see `RecordStore` for what each method does."""

    def __init__(self, store: RecordStore[R], runner: Runner) -> None:
        self._records: RecordStore[R] = store
        self._runner = runner

    async def find(
        self, which: Select, *, limit: int | None = None, offset: int = 0, after: str | None = None
    ) -> Page[R]:
        store = self._records
        return await self._runner.call(
            store.find, store.afind, which, limit=limit, offset=offset, after=after
        )

    async def edit(self, which: Select, change: Callable[[R], R]) -> list[R]:
        store = self._records
        return await self._runner.call(store.edit, store.aedit, which, change)

    async def delete(self, which: Select) -> int:
        store = self._records
        return await self._runner.call(store.delete, store.adelete, which)

    async def walk(self, mark: str | None = None, *, limit: int) -> Stretch[R]:
        store = self._records
        return await self._runner.call(store.walk, store.awalk, mark, limit=limit)

    async def load(self, records: Sequence[R]) -> list[R]:
        store = self._records
        return await self._runner.call(store.load, store.aload, records)

    async def close(self) -> None:
        store = self._records
        await self._runner.call(store.close, store.aclose)


class QuarantineView(RecordView[Entry]):
    """Tier 1."""

    def __init__(self, store: QuarantineStore, runner: Runner) -> None:
        super().__init__(store, runner)
        self.store = store

    async def add(self, entry: Entry) -> Entry:
        return await self._runner.call(self.store.add, self.store.aadd, entry)


class WorkingView(RecordView[Entry]):
    """Tier 2."""

    def __init__(self, store: WorkingStore, runner: Runner) -> None:
        super().__init__(store, runner)
        self.store = store

    async def push(self, entry: Entry, *, keep: int, renew: bool = False) -> None:
        store = self.store
        await self._runner.call(store.push, store.apush, entry, keep=keep, renew=renew)

    async def purge(self, now: datetime) -> int:
        return await self._runner.call(self.store.purge, self.store.apurge, now)


class LongTermView(RecordView[Memory]):
    """Tier 3."""

    def __init__(self, store: LongTermStore, runner: Runner) -> None:
        super().__init__(store, runner)
        self.store = store

    async def add(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] = (),
        space: Space | None = None,
        *,
        replaces: Sequence[str] = (),
    ) -> list[Memory]:
        store = self.store
        return await self._runner.call(
            store.add, store.aadd, memories, vectors, space, replaces=replaces
        )

    async def by_words(self, words: Sequence[str], which: Select, *, limit: int) -> list[Hit]:
        store = self.store
        return await self._runner.call(store.by_words, store.aby_words, words, which, limit=limit)

    async def by_vector(
        self, vector: Vector, which: Select, *, space: Space, limit: int
    ) -> list[Hit]:
        store = self.store
        return await self._runner.call(
            store.by_vector, store.aby_vector, vector, which, space=space, limit=limit
        )

    async def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        return await self._runner.call(self.store.search, self.store.asearch, query, which, choose)

    async def unembedded(self, space: Space, *, limit: int) -> list[Memory]:
        store = self.store
        return await self._runner.call(store.unembedded, store.aunembedded, space, limit=limit)

    async def put_vectors(self, vectors: Sequence[tuple[Memory, Vector]], space: Space) -> int:
        store = self.store
        return await self._runner.call(store.put_vectors, store.aput_vectors, vectors, space)

    async def vectors_of(self, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
        store = self.store
        return await self._runner.call(store.vectors_of, store.avectors_of, memories, space)

    async def spaces(self) -> dict[Space, int]:
        return await self._runner.call(self.store.spaces, self.store.aspaces)

    async def known_spaces(self) -> list[Space]:
        return await self._runner.call(self.store.known_spaces, self.store.aknown_spaces)

    async def adopt(self, space: Space, *, drop_others: bool = False) -> None:
        store = self.store
        await self._runner.call(store.adopt, store.aadopt, space, drop_others=drop_others)


class Tiers:
    """The three tiers of one memory.

    Attributes:
        quarantine: Tier 1.
        working: Tier 2.
        long_term: Tier 3.
    """

    __slots__ = ("long_term", "quarantine", "working")

    def __init__(self, stores: Stores, runner: Runner) -> None:
        self.quarantine = QuarantineView(stores.quarantine, runner)
        self.working = WorkingView(stores.working, runner)
        self.long_term = LongTermView(stores.long_term, runner)

    def tier(self, name: str) -> RecordView[Any]:
        """Return a tier by its name."""
        view: RecordView[Any] = getattr(self, name)
        return view

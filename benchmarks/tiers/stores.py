"""The stores that are compared: ours, and those of LangGraph, filled with the same memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from benchmarks.tiers.dataset import BEST, DIMENSION, Dataset, LookedUp
from memoryware import Memory, MemoryScope, Origin, Provenance, TieredMemory, TierLimits
from memoryware.stores import Space

TENANT: Final = "t"
_SPACE: Final = Space("made up", DIMENSION)
_NEWEST: Final = datetime(2026, 11, 1, tzinfo=UTC)
_BY: Final = Provenance(Origin("agent", "helper"))
_BATCH: Final = 5000


def scope_of(number: int, group_size: int) -> MemoryScope:
    """Return the group of a memory."""
    return MemoryScope(tenant=TENANT, group_id=f"g{number // group_size}")


def open_ours(url: str, dataset: Dataset) -> TieredMemory:
    """Open ours so that it returns as many memories as the peers are asked for."""
    limits = TierLimits(working_items=0, long_term_items=BEST)
    return TieredMemory.open(url, embeddings=LookedUp(dataset), limits=limits)


def load_ours(memory: TieredMemory, dataset: Dataset, numbers: range, group_size: int) -> None:
    """Load memories in bulk, as a copy between stores does: records, then their vectors."""
    store = memory.parts.stores.long_term
    for start in range(numbers.start, numbers.stop, _BATCH):
        part = range(start, min(start + _BATCH, numbers.stop))
        records = [_memory(dataset, number, group_size) for number in part]
        store.load(records)
        vectors = dataset.vectors[part.start : part.stop].tolist()
        store.put_vectors(list(zip(records, vectors, strict=True)), _SPACE)


def _memory(dataset: Dataset, number: int, group_size: int) -> Memory:
    from memoryware.tiers.model import hash_of

    text = dataset.texts[number]
    moment = _NEWEST - timedelta(minutes=dataset.size + dataset.later - number)
    return Memory(
        id=f"{number:032x}", document_id=f"{number:032x}", scope=scope_of(number, group_size),
        content=text, created_at=moment, valid_from=moment, promoted_by="ann",
        content_hash=hash_of(text), provenance=_BY,
    )  # fmt: skip


class Peer:
    """A `BaseStore` of LangGraph with its index of vectors: a namespace for each group."""

    def __init__(self, store: Any, dataset: Dataset, group_size: int) -> None:
        self.store, self._dataset, self._group_size = store, dataset, group_size

    def load(self, numbers: range) -> None:
        """Put many memories, in batches."""
        for start in range(numbers.start, numbers.stop, 1000):
            part = range(start, min(start + 1000, numbers.stop))
            self._put([(self._group(number), number) for number in part], None)

    def put(self, group: str, number: int, *, indexed: bool) -> None:
        """Put one memory; without the index it is what a record is."""
        self._put([(group, number)], None if indexed else False)

    def search(self, group: str, text: str) -> list[Any]:
        """Search one group by the vector of a text."""
        found: list[Any] = self.store.search((TENANT, group), query=text, limit=BEST)
        return found

    def list(self, group: str) -> list[Any]:
        """List 50 memories of a group."""
        listed: list[Any] = self.store.search((TENANT, group), limit=50)
        return listed

    def delete(self, group: str, number: int) -> None:
        """Delete one memory."""
        self.store.delete((TENANT, group), str(number))

    def _group(self, number: int) -> str:
        return f"g{number // self._group_size}"

    def _put(self, items: Sequence[tuple[str, int]], index: Any) -> None:
        from langgraph.store.base import PutOp

        texts = self._dataset.texts
        self.store.batch(
            [
                PutOp((TENANT, group), str(number), {"text": texts[number]}, index)
                for group, number in items
            ]
        )


def index_of(dataset: Dataset) -> dict[str, Any]:
    """Return what the index of a peer is made of."""
    # SqliteStore reads "text_fields", which is not documented; without it it embeds the whole value
    return {
        "dims": DIMENSION, "embed": LookedUp(dataset), "fields": ["text"], "text_fields": ["text"],
    }  # fmt: skip


def open_sqlite_store(path: Path, dataset: Dataset, group_size: int) -> Peer:
    """Open LangGraph's `SqliteStore`, on a connection like that of its `from_conn_string`."""
    from langgraph.store.sqlite import SqliteStore

    driver = _driver_with_extensions()
    connection = driver.connect(str(path), check_same_thread=False, isolation_level=None)
    store = SqliteStore(connection, index=index_of(dataset))  # type: ignore[arg-type]
    store.setup()
    return Peer(store, dataset, group_size)


def open_in_memory_store(dataset: Dataset, group_size: int) -> Peer:
    """Open LangGraph's `InMemoryStore`."""
    from langgraph.store.memory import InMemoryStore

    return Peer(InMemoryStore(index=index_of(dataset)), dataset, group_size)  # type: ignore[arg-type]


def _driver_with_extensions() -> Any:
    """Return a driver of SQLite that can load extensions, as `SqliteStore` has to."""
    import sqlite3

    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    from pysqlite3 import dbapi2  # many builds of Python leave it out

    return dbapi2

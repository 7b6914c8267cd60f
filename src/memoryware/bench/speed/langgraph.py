"""LangGraph's stores: in memory, in a SQLite file, and in a PostgreSQL, each with its index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final
from uuid import uuid4

from memoryware.bench.speed.made import BEST, DIMENSION, Made, Question, looked_up
from memoryware.bench.speed.sides import (
    HYBRID,
    PROMOTE,
    RECORD,
    VECTORS,
    Absent,
    Ask,
    Place,
    Put,
    Side,
)

_AT_ONCE: Final = 1000
_FIELD: Final = "text"


class _LangGraph(Side):
    """A `BaseStore`: a namespace for each group, below one for all of them."""

    store: Any

    def __init__(self, made: Made, place: Place) -> None:
        super().__init__(made, place)
        self.root = f"run{uuid4().hex[:8]}" if place.url else "run"

    def load(self, numbers: range) -> None:
        for start in range(numbers.start, numbers.stop, _AT_ONCE):
            self._put(range(start, min(start + _AT_ONCE, numbers.stop)))

    def asks(self) -> Mapping[str, Ask]:
        # they know no words: where ours is asked for both, this is the search they have
        return {VECTORS: self._vectors, HYBRID: self._vectors}

    def puts(self) -> Mapping[str, Put]:
        return {
            RECORD: lambda number: self._put([number], index=False),
            PROMOTE: lambda number: self._put([number]),
        }

    def numbers(self, answer: Any) -> list[int]:
        return [int(one.key) for one in answer]

    def index(self) -> dict[str, Any]:
        """Return what the index is made of."""
        return {"dims": DIMENSION, "embed": looked_up(self.made), "fields": [_FIELD]}

    def _vectors(self, question: Question, whole: bool) -> Any:
        where = (self.root,) if whole else (self.root, f"g{question.group}")
        return self.store.search(where, query=question.text, limit=BEST)

    def _put(self, numbers: Iterable[int], *, index: Any = None) -> None:
        from langgraph.store.base import PutOp

        self.store.batch(
            [
                PutOp(
                    (self.root, f"g{self.made.group_of(number)}"),
                    str(number),
                    {_FIELD: self.made.texts[number]},
                    index,
                )
                for number in numbers
            ]
        )


class InMemory(_LangGraph):
    """`InMemoryStore`: dictionaries of lists of numbers."""

    name: ClassVar[str] = "InMemoryStore"
    keeps: ClassVar[bool] = False
    most: ClassVar[int] = 200_000
    too_many: ClassVar[str] = "a million of its vectors would take 17 GB of memory"
    packages = ("langgraph",)

    def __init__(self, made: Made, place: Place) -> None:
        from langgraph.store.memory import InMemoryStore

        super().__init__(made, place)
        self.store = InMemoryStore(index=self.index())  # type: ignore[arg-type]

    def disk(self) -> int | None:
        return None


class Sqlite(_LangGraph):
    """`SqliteStore`, on a connection like that of its `from_conn_string`."""

    name: ClassVar[str] = "SqliteStore"
    packages = ("langgraph-checkpoint-sqlite", "sqlite-vec", "pysqlite3-binary")

    def __init__(self, made: Made, place: Place) -> None:
        super().__init__(made, place)
        driver = _with_extensions()
        try:
            from langgraph.store.sqlite import SqliteStore
        except ImportError as error:
            raise Absent(f"no {error.name}: pip install langgraph-checkpoint-sqlite") from error
        place.folder.mkdir(parents=True, exist_ok=True)
        path = place.folder / "store.db"
        self._db = driver.connect(str(path), check_same_thread=False, isolation_level=None)
        self.store = SqliteStore(self._db, index=self.index())  # type: ignore[arg-type]
        self.store.setup()

    def index(self) -> dict[str, Any]:
        # it reads the name that is not documented, and without it embeds the whole value
        return {**super().index(), "text_fields": [_FIELD]}

    def close(self) -> None:
        self._db.close()


class Postgres(_LangGraph):
    """`PostgresStore`, with the HNSW index that it makes by default."""

    name: ClassVar[str] = "PostgresStore"
    most: ClassVar[int] = 200_000
    too_many: ClassVar[str] = "it keeps a few hundred a second"
    local: ClassVar[bool] = False
    packages = ("langgraph-checkpoint-postgres", "psycopg")

    def __init__(self, made: Made, place: Place) -> None:
        super().__init__(made, place)
        if not place.url:
            raise Absent("no server: name one by --postgres URL")
        try:
            from langgraph.store.postgres import PostgresStore
        except ImportError as error:
            raise Absent(f"no {error.name}: pip install langgraph-checkpoint-postgres") from error
        import psycopg

        try:
            self._opened = PostgresStore.from_conn_string(
                place.url,
                index=self.index(),  # type: ignore[arg-type]
            )
            self.store = self._opened.__enter__()
            self.store.setup()
        except psycopg.Error as error:
            raise Absent(f"the server cannot be used: {type(error).__name__}") from error

    def disk(self) -> int | None:
        return None

    def close(self) -> None:
        for table in ("store_vectors", "store"):
            self.store.conn.execute(f"DELETE FROM {table} WHERE prefix LIKE '{self.root}.%'")  # noqa: S608 - a name of ours
        self._opened.__exit__(None, None, None)


def _with_extensions() -> Any:
    """Return a driver of SQLite that can load extensions, as SqliteStore has to.

    Raises:
        Absent: If there is none; many builds of Python leave it out.
    """
    import sqlite3

    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    try:
        from pysqlite3 import dbapi2
    except ImportError as error:
        raise Absent(
            "this Python cannot load extensions of SQLite: pip install pysqlite3-binary"
        ) from error
    return dbapi2

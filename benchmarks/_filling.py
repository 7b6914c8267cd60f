"""Fills a store with memories, as users do or quicker, and says how much room they take."""

from __future__ import annotations

import os
import struct
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks._memories import DIMENSION, SPACE, Document, Everything
from memoryware.tiers.model import Memory, lineages
from memoryware.tiers.stores._sql import dialect as sql_dialect
from memoryware.tiers.stores.codec import packed
from memoryware.tiers.stores.postgres._address import owner_of
from memoryware.tiers.stores.postgres._dialect import PostgresDialect, token_of
from memoryware.tiers.stores.postgres._schema import TABLES, vector_index
from memoryware.tiers.stores.protocol import TierHandle
from memoryware.tiers.text.terms import words_of

WORKERS, _BATCH = 3, 40
"""Processes of the quick way, and documents in one go."""
_DIALECT = PostgresDialect()
_RECORD = ("seq", "owner", "space", *_DIALECT.columns)
_PLACES = ("id", "size", "content", "body")
_ID, _SIZE, _CONTENT, _BODY = map(_DIALECT.columns.index, _PLACES)


def fill(
    store: TierHandle, documents: Iterator[Document], cpu: Callable[[], float]
) -> dict[str, float]:
    """Add documents one by one, as users do; return the seconds that 1,000 memories took."""
    taken = worked = 0.0
    count = 0
    for one in documents:
        start, before = time.perf_counter(), cpu()
        store.add(one.memories, one.vectors, SPACE)
        taken, worked = taken + time.perf_counter() - start, worked + cpu() - before
        count += len(one.memories)
    return {
        "fill, s per 1,000": taken / count * 1000, "fill, CPU s per 1,000": worked / count * 1000
    }  # fmt: skip


class Postgres:
    """What is asked of the server by hand."""

    def __init__(self, url: str) -> None:
        import psycopg

        self._url, self._db = url, psycopg.connect(url, autocommit=True)
        self._db.execute("SET search_path = memoryware, public")

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        cursor = self._db.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        self._db.close()

    def pour(self, everything: Everything) -> tuple[float, dict[str, float]]:
        """Fill tables without indexes by COPY, then make the indexes; return the seconds."""
        self.ask(
            "INSERT INTO space (name, dimension, current)"
            f" VALUES ('{SPACE.name}', {DIMENSION}, true)"
        )
        dropped = self.ask(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'memoryware'"
            f" AND tablename IN {TABLES} AND indexname NOT IN (SELECT conname FROM pg_constraint)"
        )
        for name, _ in dropped:
            self.ask(f"DROP INDEX {name}")
        with get_context("spawn").Pool(WORKERS) as pool:
            work = [(self._url, everything.count, worker) for worker in range(WORKERS)]
            taken = sum(pool.starmap(_pour, work))
        self.ask(f"ALTER SEQUENCE record_seq RESTART WITH {WORKERS * everything.count + 1}")
        return taken, {name: self.timed(made) for name, made in dropped}

    def copy(self, rows: dict[str, Any], vectors: bytes) -> None:
        """Add rows to tables, and vectors as `COPY` reads them in binary."""
        for table, (columns, lines) in rows.items():
            named = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
            with self._db.cursor().copy(named.encode()) as copy:
                for line in lines:
                    copy.write_row(line)
        with self._db.cursor().copy("COPY vector FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(vectors)

    def build_vectors(self) -> float:
        """Make the index of vectors anew; return the seconds."""
        self.ask("DROP INDEX IF EXISTS vector_1")
        return self.timed(vector_index(1, DIMENSION) or "")

    def timed(self, sql: str) -> float:
        start = time.perf_counter()
        self.ask(sql)
        return time.perf_counter() - start

    def settle(self) -> float:
        """Clean up, as the server does by itself in time."""
        return self.timed("VACUUM ANALYZE")

    def sizes(self) -> dict[str, int]:
        ((all_of_it,),) = self.ask(
            "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class"
            " WHERE relnamespace = 'memoryware'::regnamespace AND relkind = 'r'"
        )
        words, index = self._size("word_index"), self._size("vector_1")
        vectors = self._size("vector") - index
        return {
            "tables and their indexes": all_of_it - words - vectors - index,
            "words": words, "of it the GIN index": self._size("word_tokens"),
            "vectors": vectors, "HNSW index": index, "all": all_of_it,
        }  # fmt: skip

    def _size(self, name: str) -> int:
        ((size,),) = self.ask(f"SELECT pg_total_relation_size(to_regclass('{name}'))")
        return int(size or 0)


def sizes_of_file(path: Path) -> dict[str, int]:
    """Return the bytes of a SQLite file and of its parts."""
    import sqlite3

    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        words = _pages(db, "name LIKE 'word_index%'")
        vectors = _pages(db, "name = 'vector' OR name = 'vector_seq'")
    db.close()
    size = os.path.getsize(path)
    return {
        "tables and their indexes": size - words - vectors, "words": words, "vectors": vectors,
        "all": size,
    }  # fmt: skip


def _pages(db: Any, which: str) -> int:
    try:
        return int(
            db.execute(f"SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE {which}").fetchone()[0]
        )
    except Exception as error:  # a SQLite without dbstat
        raise SystemExit(f"This SQLite does not tell the sizes of tables: {error}") from error


def _pour(url: str, count: int, worker: int) -> float:
    """Pour the share of a worker; return the seconds that the server took."""
    by_hand, documents = Postgres(url), Everything(count).documents(worker, WORKERS)
    by_hand.ask("SET session_replication_role = replica")  # nobody looks whether rows belong
    first, taken = 1 + worker * count, 0.0
    while some := list(islice(documents, _BATCH)):
        memories = [one for document in some for one in document.memories]
        vectors = [one for document in some for one in document.vectors]
        numbers = range(first, first + len(memories))
        rows, binary = _tables(numbers, some), _vectors(numbers, memories, vectors)
        start = time.perf_counter()
        by_hand.copy(rows, binary)
        taken += time.perf_counter() - start
        first += len(memories)
    by_hand.close()
    return taken


def _tables(
    numbers: Sequence[int], documents: Sequence[Document]
) -> dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]:
    """Return the rows of each table but that of vectors, as `add` makes them."""
    records, roots, sources, words = [], [], [], []
    seq = iter(numbers)
    for document in documents:
        first = document.memories[0]
        owner, names = owner_of(first.scope.tenant), sql_dialect.names_of(first.scope)
        linked = [(line, name) for line in lineages(first) for name in line.sources]
        rooted = [(line, str(root)) for line in lineages(first) for root in line.roots]
        for row, number in zip(_records(document.memories), seq, strict=False):
            tokens, often = _counted(names, row[_CONTENT])
            records.append((number, owner, 1, *row))
            words.append((number, owner, _array(tokens), _array(often)))
            sources += [(number, name, owner) for _, name in linked]
            roots += [(number, name, owner) for _, name in rooted]
    named = ("seq", "name", "owner")
    return {
        "record": (_RECORD, records), "source": (named, sources), "root": (named, roots),
        "word_index": (("seq", "owner", "tokens", "often"), words),
    }  # fmt: skip


def _records(memories: Sequence[Memory]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a document; all are like the first but in a few places."""
    first = _DIALECT.row_of("long_term", memories[0], 0)
    for one in memories:
        row = list(first)
        row[_ID], row[_CONTENT] = one.id, one.content
        row[_SIZE] = one.content.count(" ") + 1
        row[_BODY] = first[_BODY].replace(memories[0].id, one.id).replace(
            '"chunk_index":0', f'"chunk_index":{one.chunk_index}'
        )  # fmt: skip
        yield tuple(row)
    if tuple(row) != _DIALECT.row_of("long_term", memories[-1], row[_SIZE]):
        raise AssertionError("rows are made in another way now")


def _counted(names: Sequence[str], text: str) -> tuple[list[int], list[int]]:
    """Return what `counted_tokens` does, and sooner where it comes again."""
    counted = Counter(map(_stem, text.split(" ")))
    return [_token(name, word) for name in names for word in counted], list(counted.values())


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    (one,) = words_of(word)
    return one


_token = lru_cache(maxsize=500_000)(token_of)


def _array(numbers: Sequence[int]) -> str:
    return f"{{{','.join(map(str, numbers))}}}"


def _vectors(
    numbers: Sequence[int], memories: Sequence[Memory], vectors: Sequence[Sequence[float]]
) -> bytes:
    """Return rows of vectors as COPY reads them in binary."""
    made = [b"PGCOPY\n\xff\r\n\0" + struct.pack(">II", 0, 0)]
    for seq, one, vector in zip(numbers, memories, vectors, strict=True):
        halves, owner = array("H", packed(vector, SPACE)), owner_of(one.scope.tenant).encode()
        halves.byteswap()  # the machine is a little-endian one
        made += [
            struct.pack(">hiiiqi", 4, 4, 1, 8, seq, len(owner)), owner,
            struct.pack(">iHH", 4 + 2 * len(halves), len(halves), 0), halves.tobytes(),
        ]  # fmt: skip
    made.append(struct.pack(">h", -1))
    return b"".join(made)

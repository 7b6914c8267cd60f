"""The three tiers in a DuckDB file: a store that does not come with the library."""

import json
import os
import threading
from collections import defaultdict
from contextlib import suppress
from functools import partial

import duckdb

from memoryware.errors import StoreClosed, StoreUnavailable
from memoryware.stores import (
    RecordStore,
    RecordTransaction,
    Space,
    StoredRecord,
    Stores,
    entry_from_json,
    memory_from_json,
    record_to_json,
)

TABLES = """
CREATE SEQUENCE IF NOT EXISTS numbers;
CREATE TABLE IF NOT EXISTS record (number BIGINT, tier VARCHAR, tenant VARCHAR, team VARCHAR,
    id VARCHAR, record VARCHAR, vectors VARCHAR);
CREATE TABLE IF NOT EXISTS space (position BIGINT, name VARCHAR, dimension BIGINT);
"""
# The openings of one file in this process write in turns: DuckDB refuses conflicting writers.
WRITING = defaultdict(threading.RLock)


def duckdb_stores(path):
    """Return the three tiers in one file."""
    return Stores.of(DuckDBStore(path), reopen=partial(duckdb_stores, path))


class DuckDBStore(RecordStore):
    """Keeps all tiers in a file, for one process at a time, as DuckDB does."""

    def __init__(self, path):
        self._writing = WRITING[os.path.realpath(path)]
        self._closed = False
        with self._writing:
            try:
                self._db = duckdb.connect(path)
                self._db.execute(TABLES)
            except duckdb.Error as error:
                raise StoreUnavailable(f"{path} cannot be opened: {error}") from error

    async def transaction(self, work, *, about=None, writes=True):  # noqa: ARG002
        if not writes:  # it reads a snapshot, whoever writes meanwhile
            return await self._run(work)
        with self._writing:
            return await self._run(work)

    async def _run(self, work):
        if self._closed:
            raise StoreClosed("this store is closed; open it again")
        try:
            with self._db.cursor() as db:
                db.execute("BEGIN")
                try:
                    result = await work(DuckDBTransaction(db))
                    db.execute("COMMIT")
                except BaseException:
                    with suppress(duckdb.Error):  # a commit that failed has rolled back
                        db.execute("ROLLBACK")
                    raise
                return result
        except duckdb.Error as error:
            raise StoreUnavailable(f"DuckDB failed: {error}") from error

    async def close(self):
        with self._writing:
            self._closed = True
            self._db.close()


class DuckDBTransaction(RecordTransaction):
    """Reads and writes rows. Texts are JSON in every column: DuckDB keeps no lone surrogates."""

    def __init__(self, db):
        self._db = db

    async def rows(self, tier, selection):
        where, values = "tier = ?", [tier]
        if selection is not None:
            where += " AND tenant = ?"
            values.append(json.dumps(selection.tenant))
            for column, names in (("team", selection.groups), ("id", selection.ids)):
                if names is not None:
                    where += f" AND list_contains(?::VARCHAR[], {column})"
                    values.append([json.dumps(name) for name in names])
        decode = memory_from_json if tier == "long_term" else entry_from_json
        query = f"SELECT number, record, vectors FROM record WHERE {where} ORDER BY number"
        rows = []
        for number, record, vectors in self._execute(query, values):
            data = {name: bytes.fromhex(text) for name, text in json.loads(vectors).items()}
            rows.append(StoredRecord(number, decode(json.loads(record)), data))
        return rows

    async def put(self, tier, rows):
        await self.remove(tier, rows)
        for row in rows:
            record = json.dumps(record_to_json(row.record))
            vectors = json.dumps({name: data.hex() for name, data in row.vectors.items()})
            values = [row.number, *key_of(tier, row.record), record, vectors]
            self._execute("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    async def remove(self, tier, rows):
        delete = "DELETE FROM record WHERE tier = ? AND tenant = ? AND team = ? AND id = ?"
        for row in rows:
            self._execute(delete, key_of(tier, row.record))

    async def next_number(self):
        return self._execute("SELECT nextval('numbers')")[0][0]

    async def get_spaces(self):
        rows = self._execute("SELECT name, dimension FROM space ORDER BY position")
        return [Space(json.loads(name), dimension) for name, dimension in rows]

    async def set_spaces(self, spaces):
        self._execute("DELETE FROM space")
        for position, space in enumerate(spaces):
            values = [position, json.dumps(space.name), space.dimension]
            self._execute("INSERT INTO space VALUES (?, ?, ?)", values)

    def _execute(self, statement, values=()):
        return self._db.execute(statement, values).fetchall()


def key_of(tier, record):
    """Return tier, tenant, group and id, each as JSON: None is not the tenant ""."""
    scope = record.scope
    return [tier, *map(json.dumps, (scope.tenant, scope.group_id, record.id))]

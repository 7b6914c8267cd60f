"""The three tiers in a DuckDB file: a store that does not come with the library."""

import json
import os
import threading
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from functools import partial

import duckdb

from memoryware import Stores
from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores.helpers import (
    Item,
    Part,
    entry_from_json,
    fits,
    look,
    memory_from_json,
    number_of_mark,
    page_of,
    record_to_json,
    same_document,
    thread_of,
    without_doubles,
)
from memoryware.tiers.stores.protocol import Searched, Select, Space, Store, Stretch, Transaction
from memoryware.tiers.text.terms import words_of

TABLES = """
CREATE SEQUENCE IF NOT EXISTS numbers;
CREATE TABLE IF NOT EXISTS record
    (number BIGINT, tier VARCHAR, tenant VARCHAR, team VARCHAR, id VARCHAR, json VARCHAR);
CREATE TABLE IF NOT EXISTS vector (number BIGINT, space VARCHAR, vector DOUBLE[]);
CREATE TABLE IF NOT EXISTS space
    (number BIGINT, name VARCHAR, dimension BIGINT, adopted BOOLEAN);
"""
# The openings of one file in this process write in turns: DuckDB refuses conflicting writers.
TURNS = defaultdict(threading.RLock)


def duckdb_stores(path):
    """Return the three tiers in one file."""
    return Stores.of(DuckDBStore(path), reopen=partial(duckdb_stores, path))


class DuckDBStore(Store):
    """Keeps all tiers in a file, for one process at a time, as DuckDB does."""

    def __init__(self, path):
        self._turns = TURNS[os.path.realpath(path)]
        self._closed = False
        with self._turns:
            try:
                self._db = duckdb.connect(path)
                self._db.execute(TABLES)
            except duckdb.Error as error:
                raise StoreUnavailable(f"{path} cannot be opened: {error}") from error

    async def transaction(self, work, *, about=None, writes=True):  # noqa: ARG002
        if not writes:  # it reads a snapshot, whoever writes meanwhile
            return await self._run(work)
        with self._turns:
            return await self._run(work)

    async def _run(self, work):
        if self._closed:
            raise StoreUnavailable("this store is closed; open it again")
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

    async def walk(self, tier, mark=None, *, limit):
        start = number_of_mark(mark)

        async def work(own):
            found = own.read("tier = ? AND number > ?", [tier, start], f"LIMIT {max(0, limit) + 1}")
            count = "SELECT count(*) FROM record WHERE tier = ?"
            total = own.rows(count, [tier])[0][0] if mark is None else None
            more = str(found[limit - 1][0]) if 0 < limit < len(found) else None
            return Stretch([record for _, record in found[:limit]], more, total)

        return await self.transaction(work, writes=False)

    async def load(self, tier, records):
        async def work(own):
            there = own.read("tier = ?", [tier])
            numbers = {key_of(record): (number, record) for number, record in there}
            loadable = records
            if tier == "quarantine":
                loadable = without_doubles(records, [record for _, record in there])
            kept = []
            for record in loadable:
                number, old = numbers.get(key_of(record), (None, None))
                if record != old:
                    numbers[key_of(record)] = own.put(tier, record, number, old), record
                    kept.append(record)
            return kept

        return await self.transaction(work)

    async def purge(self, now):
        async def work(own):
            found = own.read("tier = 'working'", [])
            return own.drop([n for n, one in found if one.expires_at and one.expires_at <= now])

        return await self.transaction(work)

    async def spaces(self, *, counted=True):  # noqa: ARG002
        async def work(own):
            found = own.rows(
                "SELECT name, dimension, count(vector.number) FROM space"
                " LEFT JOIN vector ON vector.space = name"
                " GROUP BY space.number, name, dimension, adopted"
                " ORDER BY adopted DESC, space.number"
            )
            return {Space(json.loads(name), size): count for name, size, count in found}

        return await self.transaction(work, writes=False)

    async def adopt(self, space, *, drop_others=False):
        async def work(own):
            own.check(space)
            own.know(space)
            own.rows("UPDATE space SET adopted = (name = ?)", [json.dumps(space.name)])
            if drop_others:
                own.rows("DELETE FROM vector WHERE space != ?", [json.dumps(space.name)])
                own.rows("DELETE FROM space WHERE NOT adopted")

        await self.transaction(work)

    async def unembedded(self, space, *, limit):
        async def work(own):
            missing = "number NOT IN (SELECT number FROM vector WHERE space = ?)"
            where = f"tier = 'long_term' AND {missing}"
            found = own.read(where, [json.dumps(space.name)], f"LIMIT {limit}")
            return [record for _, record in found]

        return await self.transaction(work, writes=False)

    async def close(self):
        with self._turns:
            self._closed = True
            self._db.close()


class DuckDBTransaction(Transaction):
    """What happens between BEGIN and COMMIT."""

    def __init__(self, db):
        self._db = db

    async def find(self, tier, which, *, limit=None, offset=0, after=None):
        return page_of(self.fitting(tier, which), Part(limit, offset, after))

    async def add(self, tier, records, *, vectors=(), space=None):
        first = records[0]
        group = [record for _, record in self.fitting(tier, Select.within(first.scope))[::-1]]
        if tier == "quarantine":
            same = [one for one in group if first.key is not None and one.key == first.key]
        else:
            same = same_document(group, first)
        if same:
            return same
        ids = {record.id for record in records}
        if len(ids) < len(records) or not ids.isdisjoint(one.id for one in group):
            raise StoreUnavailable("a record with this id is there already; nothing was stored")
        numbers = [self.put(tier, record) for record in records]
        if space is not None and vectors:
            self._embed(zip(numbers, vectors, strict=True), space)
        return list(records)

    async def edit(self, tier, which, change):
        before = self.fitting(tier, which)
        # `change` gets a record of its own: what it does to metadata is no change by itself.
        after = [change(record) for _, record in self.fitting(tier, which)]
        pairs = zip(before, after, strict=True)
        differing = [(number, old, new) for (number, old), new in pairs if old != new]
        for number, old, new in differing:
            self.put(tier, new, number, old)
        return [new for _, _, new in differing]

    async def delete(self, tier, which):
        return self.drop([number for number, _ in self.fitting(tier, which)])

    async def push(self, entry, *, keep, renew=False):
        within = Select.within(entry.scope)
        await self.delete("working", within.also(ids=(entry.id,)))
        self.put("working", entry)
        listed = self.fitting("working", within)
        self.drop([number for number, _ in listed[keep:]])
        for number, old in listed[:keep] if renew else ():
            self.put("working", replace(old, expires_at=entry.expires_at), number, old)

    async def search(self, query, which, choose):
        corpus = self.fitting("long_term", Select(tenant=which.tenant, groups=which.groups))[::-1]
        words = {number: Counter(words_of(record.content)) for number, record in corpus}
        fitting = [(number, record) for number, record in corpus if fits(record, which)]
        near = {}
        if query.vector is not None and query.space is not None:
            self.check(query.space, [query.vector], adopted=True)
            known = self._vectors([number for number, _ in fitting], query.space)
            near = {number: cosine(query.vector, vector) for number, vector in known.items()}
        items = [
            Item(thread_of(record, query), words[number], words[number].total(), near.get(number))
            for number, record in fitting
        ]
        sight, places = look(items, query, words.values())
        return Searched(sight, {at: fitting[places[at]][1] for at in choose(sight)})

    async def put_vectors(self, vectors, space):
        self.check(space, [vector for _, vector in vectors])
        numbers = self._numbers([memory for memory, _ in vectors])
        pairs = zip(numbers, [vector for _, vector in vectors], strict=True)
        return self._embed([(number, vector) for number, vector in pairs if number], space)

    async def vectors_of(self, memories, space):
        self.check(space)
        numbers = self._numbers(memories)
        known = self._vectors([number for number in numbers if number], space)
        return [known.get(number) for number in numbers]

    # Rows. Texts are JSON in every column: DuckDB keeps no lone surrogates.

    def rows(self, statement, values=()):
        return self._db.execute(statement, values).fetchall()

    def read(self, where, values, more=""):
        """Return numbers and records, the one that was stored first first."""
        query = f"SELECT number, tier, json FROM record WHERE {where} ORDER BY number {more}"
        return [
            (
                number,
                (memory_from_json if tier == "long_term" else entry_from_json)(json.loads(text)),
            )
            for number, tier, text in self.rows(query, values)
        ]

    def fitting(self, tier, which):
        """Return numbers and records that fit, the one that was stored last first."""
        where, values = "tier = ? AND tenant = ?", [tier, json.dumps(which.tenant)]
        for column, named in (("team", which.groups), ("id", which.ids)):
            if named is not None:
                where += f" AND list_contains(?::VARCHAR[], {column})"
                values.append([json.dumps(name) for name in named])
        return [(number, one) for number, one in self.read(where, values)[::-1] if fits(one, which)]

    def put(self, tier, record, number=None, old=None):
        """Store a record, in the place of an old one if there is one; return its number."""
        text = json.dumps(record_to_json(record))
        if number is not None:
            self.rows("UPDATE record SET json = ? WHERE number = ?", [text, number])
            if old.content != record.content:  # a vector of the old text must not find the new one
                self.rows("DELETE FROM vector WHERE number = ?", [number])
            return number
        key = [json.dumps(part) for part in key_of(record)]
        insert = "INSERT INTO record VALUES (nextval('numbers'), ?, ?, ?, ?, ?) RETURNING number"
        return self.rows(insert, [tier, *key, text])[0][0]

    def drop(self, numbers):
        for table in ("record", "vector") if numbers else ():
            self.rows(f"DELETE FROM {table} WHERE list_contains(?::BIGINT[], number)", [numbers])
        return len(numbers)

    # Vectors.

    def check(self, space, vectors=(), *, adopted=False):
        """Refuse a space of another dimension, such a vector, and one that is not adopted."""
        for name, size, current in self.rows("SELECT name, dimension, adopted FROM space"):
            known = Space(json.loads(name), size)
            if known != space and (known.name == space.name or (adopted and current)):
                raise EmbeddingMismatch(str(known), str(space))
        for vector in vectors:
            if len(vector) != space.dimension:
                raise EmbeddingMismatch(str(space), f"a vector of {len(vector)} dimensions")

    def know(self, space):
        known = [name for (name,) in self.rows("SELECT name FROM space")]
        if json.dumps(space.name) not in known:
            row = [json.dumps(space.name), space.dimension, not known]
            self.rows("INSERT INTO space VALUES (nextval('numbers'), ?, ?, ?)", row)

    def _embed(self, pairs, space):
        pairs = {number: vector for number, vector in pairs if vector is not None}
        self.check(space, pairs.values())
        name = json.dumps(space.name)
        for number, vector in pairs.items():
            self.know(space)
            self.rows("DELETE FROM vector WHERE number = ? AND space = ?", [number, name])
            row = [number, name, [float(value) for value in vector]]
            self.rows("INSERT INTO vector VALUES (?, ?, ?)", row)
        return len(pairs)

    def _vectors(self, numbers, space):
        query = "SELECT number, vector FROM vector WHERE space = ? AND"
        found = f"{query} list_contains(?::BIGINT[], number)"
        return dict(self.rows(found, [json.dumps(space.name), numbers]))

    def _numbers(self, memories):
        """Return the number of each memory, None of one that is gone or has another content."""
        found = []
        for memory in memories:
            which = Select.within(memory.scope, ids=(memory.id,))
            there = self.fitting("long_term", which)
            found += [number if old.content == memory.content else None for number, old in there]
            found += [] if there else [None]
        return found


def key_of(record):
    return record.scope.tenant, record.scope.group_id, record.id

"""Dumps of the sample data in each engine, and how they are loaded into an empty one."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
"""What memoryware 0.1.0 (commit 393ca13) wrote; never made anew.

Its SQLite file has version 3; that of version 4 is the same file as commit 823c620 opened it.
"""
_COPY = re.compile(r"COPY (\w+) \(([^)]*)\) FROM stdin;\n(.*?)^\\\.\n", re.DOTALL | re.MULTILINE)
_PGVECTOR = "@pgvector"
"""Stands for the schema of pgvector, which each database chooses."""
_DEADLINE = re.compile(rb"^(\d+\|\d+\|-?\d*\|)\d+(\|)")
_FAR = b"4102444800000"
"""A deadline of the server in 2100: the dump outlives the one that was written."""
_TABLES = ("about", "record", "source", "root", "word_index", "space", "vector")


def kept(name: str) -> bytes:
    """Return a file of the data, decompressed."""
    return gzip.decompress((DATA / f"{name}.gz").read_bytes())


def keep(name: str, content: bytes) -> None:
    """Write a file of the data; the same content gives the same bytes."""
    (DATA / f"{name}.gz").write_bytes(gzip.compress(content, 9, mtime=0))


def labels() -> dict[str, str]:
    """Return the labels of the ids in the data."""
    found: dict[str, str] = json.loads((DATA / "labels.json").read_text("utf-8"))
    return found


def place_sqlite(folder: Path, version: int = 3) -> Path:
    """Write the SQLite file of a schema version, and its journal, into a folder."""
    path = folder / "memory.db"
    path.write_bytes(kept(f"sqlite-{version}.db"))
    place_journal(folder)
    return path


def place_journal(folder: Path) -> Path:
    """Write the journal of the data into a folder."""
    path = folder / "memory.journal.jsonl"
    path.write_bytes((DATA / "journal.jsonl").read_bytes())
    return path


def sqlite_of_version(newest: Path, target: Path, steps: tuple[str, ...]) -> None:
    """Write the rows of a file of version 3 as an older version kept them.

    Args:
        newest: The file.
        target: The file to write.
        steps: What made the tables of the older version: one or two steps.
    """
    with sqlite3.connect(target, isolation_level=None) as db:
        for step in steps:
            for statement in step.split(";\n"):
                db.execute(statement)
        db.execute("PRAGMA application_id = 1835363703")
        db.execute(f"PRAGMA user_version = {len(steps)}")
        db.execute(f"ATTACH '{newest}' AS newest")
        for table in ("about", "record", "source", "root", "space", "vector"):
            columns = ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})"))
            db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM newest.{table}")
        db.execute(
            "INSERT INTO word_index (rowid, part, words) SELECT rowid, part, words FROM newest.word_index"
        )
    db.close()


# PostgreSQL.


def dump_postgres(address: str, tables: str) -> str:
    """Return all rows of a memory in PostgreSQL as SQL that psql reads as well.

    Args:
        address: With the schema.
        tables: The statements that make the tables.
    """
    import psycopg

    plain, _, schema = address.replace("&schema=", "?schema=").partition("?schema=")
    parts = [tables.rstrip() + "\n"]
    with psycopg.connect(plain) as db:
        db.execute(f'SET search_path = "{schema}", public')
        for table in _TABLES:
            rows = db.execute(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
                [schema, table],
            )
            columns = ", ".join(row[0] for row in rows.fetchall())
            with db.cursor().copy(
                f"COPY (SELECT {columns} FROM {table} ORDER BY 1, 2) TO STDOUT"
            ) as copy:
                data = b"".join(copy).decode()
            parts.append(f"COPY {table} ({columns}) FROM stdin;\n{data}\\.\n")
        (last,) = db.execute("SELECT last_value FROM record_seq").fetchone()
        (space,) = db.execute("SELECT max(id) + 1 FROM space").fetchone()
    parts.append(
        f"SELECT setval('record_seq', {last});\nALTER TABLE space ALTER id RESTART WITH {space};\n"
    )
    return "".join(parts)


def load_postgres(address: str) -> None:
    """Make the tables and rows of the data in the empty schema of an address."""
    import psycopg

    plain, _, schema = address.replace("&schema=", "?schema=").partition("?schema=")
    text = kept("postgres.sql").decode()
    with psycopg.connect(plain) as db:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        (home,) = db.execute(
            "SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'"
        ).fetchone()
        db.execute(f'CREATE SCHEMA "{schema}"')
        db.execute(f'SET search_path = "{schema}", public')
        done = 0
        for found in _COPY.finditer(text):
            _statements(db, text[done : found.start()], home)
            done = found.end()
            with db.cursor().copy(f"COPY {found[1]} ({found[2]}) FROM STDIN") as copy:
                copy.write(found[3])
        _statements(db, text[done:], home)


def _statements(db: Any, text: str, home: str) -> None:
    if text.strip():
        db.execute(text.replace(_PGVECTOR, f'"{home}"').encode())


# LangGraph.


def dump_langgraph(store: Any) -> bytes:
    """Return the items of an `InMemoryStore`, in the order of storing."""
    items = [
        {"namespace": namespace, "key": key, "value": item.value}
        for namespace, found in store._data.items()
        for key, item in found.items()
    ]
    return json.dumps(items).encode()


def load_langgraph() -> Any:
    """Return an `InMemoryStore` with the items of the data."""
    from langgraph.store.memory import InMemoryStore

    store = InMemoryStore()
    for item in json.loads(kept("langgraph.json")):
        store.put(tuple(item["namespace"]), item["key"], item["value"], index=False)
    return store


# Redis.


def dump_redis(url: str, prefix: str) -> bytes:
    """Return every key of working memory, its kind and its raw value."""
    import redis

    found = {}
    with redis.Redis.from_url(url) as client:
        for key in sorted(client.scan_iter(f"{prefix}*")):
            kind, name = client.type(key).decode(), key[len(prefix) :].decode("latin-1")
            if kind == "list":
                raw = [
                    _DEADLINE.sub(rb"\g<1>" + _FAR + rb"\g<2>", one)
                    for one in client.lrange(key, 0, -1)
                ]
                found[name] = {"list": [one.decode("latin-1") for one in raw]}
            elif kind == "zset":
                members = client.zrange(key, 0, -1, withscores=True)
                found[name] = {"zset": {one.decode("latin-1"): score for one, score in members}}
            else:
                raise ValueError(f"{key!r} is a {kind}, which nothing here keeps")
    return json.dumps(found).encode()


def load_redis(url: str, prefix: str) -> None:
    """Put every key of the data under a prefix."""
    import redis

    with redis.Redis.from_url(url) as client:
        for name, value in json.loads(kept("redis.json")).items():
            key = prefix.encode() + name.encode("latin-1")
            if "list" in value:
                client.rpush(key, *(one.encode("latin-1") for one in value["list"]))
            else:
                client.zadd(
                    key, {one.encode("latin-1"): score for one, score in value["zset"].items()}
                )

"""The servers of the load run: started here with durable settings, or those that are given."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import psycopg

from servers import postgres
from servers.redis import RedisServer, redis_server


@dataclass
class Servers:
    """One PostgreSQL and one Redis.

    Attributes:
        ours: The address of our stores.
        theirs: The address of LangGraph's store: the same database, a schema of its own.
        database: The database alone.
        redis: The Redis alone.
        prefix: What our keys in it begin with.
        own: Both servers, if both were started here and may be stopped.
    """

    ours: str
    theirs: str
    database: str
    redis: str
    prefix: str
    own: tuple[postgres.Server, RedisServer] | None

    @property
    def schema(self) -> str:
        """The schema of our tables."""
        return self.ours.partition(" + ")[0].rpartition("schema=")[2]

    def restart(self) -> float:
        """Kill both without a warning and start them again at once; return how long that took."""
        assert self.own is not None, "servers that were given are not stopped"
        database, cache = self.own
        begin = time.monotonic()
        cache.stop(kill=True)
        database.stop(signal.SIGQUIT)
        cache.start()  # in this thread: a server ends with the thread that started it
        database.start()
        return time.monotonic() - begin

    def about(self) -> str:
        """Say which servers these are and how they keep what they are given."""
        import redis

        with psycopg.connect(self.database) as db:
            names = ("server_version", "fsync", "synchronous_commit")
            version, *kept = (db.execute(f"SHOW {name}").fetchone()[0] for name in names)
            (vector,) = db.execute(
                "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
            ).fetchone()
        with redis.Redis.from_url(self.redis) as client:
            known = client.info("server")
            flush = client.config_get("append*")
        name = "Valkey" if "valkey_version" in known else "Redis"
        number = known.get("valkey_version", known["redis_version"])
        return (
            f"PostgreSQL {version.split()[0]} with pgvector {vector} (fsync {kept[0]},"
            f" synchronous_commit {kept[1]}), {name} {number} (appendonly {flush['appendonly']},"
            f" appendfsync {flush['appendfsync']})"
        )


@contextmanager
def running() -> Iterator[Servers]:
    """Yield servers with nothing of ours in them; what is put there is removed at the end."""
    given = os.environ.get("TEST_POSTGRES_URL"), os.environ.get("TEST_REDIS_URL")
    with ExitStack() as stack:
        database = None if given[0] else postgres.started(durable=True)
        if database:
            stack.callback(database.remove)
        durable = ("--appendonly", "yes", "--appendfsync", "always")
        cache = None if given[1] else stack.enter_context(redis_server(*durable))
        database_url = database.url if database else given[0]
        redis_url = cache.url if cache else given[1]
        prefix = f"load-{os.getpid()}:"
        stack.callback(_forget, redis_url, prefix)
        ours = stack.enter_context(postgres.schema_at(database_url))
        theirs = _theirs(stack.enter_context(postgres.schema_at(database_url)))
        mark = "&" if "?" in redis_url else "?"
        yield Servers(
            ours=f"{ours} + {redis_url}{mark}prefix={quote(prefix)}",
            theirs=theirs,
            database=database_url,
            redis=redis_url,
            prefix=prefix,
            own=(database, cache) if database and cache else None,
        )


def _theirs(address: str) -> str:
    """Return the address with a schema as psycopg takes it; the schema is made."""
    whole, _, schema = address.rpartition("schema=")
    with psycopg.connect(whole.rstrip("?&"), autocommit=True) as db:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        db.execute(f'CREATE SCHEMA "{schema}"')
    return f"{whole}options=-csearch_path%3D{schema},public"


def _forget(redis_url: str, prefix: str) -> None:
    import redis

    with redis.Redis.from_url(redis_url) as client:
        for key in client.scan_iter(f"{prefix}*", count=1000):
            client.delete(key)

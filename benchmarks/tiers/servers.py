"""Operations on PostgreSQL and Redis, in turns with `PostgresStore` on the same server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from typing import Any

import psycopg
from psycopg.rows import dict_row

from benchmarks._turns import CPU, Cpu
from benchmarks.tiers.dataset import Dataset, LookedUp
from benchmarks.tiers.results import OURS, Act, Results, in_turns
from benchmarks.tiers.stores import Peer, index_of, load_ours, open_ours
from counting import Relay
from memoryware import MemoryScope, TieredMemory
from servers import postgres
from servers.redis import redis_server

LAYOUT, POSTGRES_STORE = "PostgreSQL, 1k of 10k", "PostgresStore"
_GROUP_SIZE = 1000


def measure(rounds: int, size: int = 10_000) -> Results:
    """Start both servers, fill them, and measure every operation."""
    with ExitStack() as stack:
        server = postgres.started(durable=True)
        stack.callback(server.remove)
        cache = stack.enter_context(redis_server("--appendonly", "yes", "--appendfsync", "always"))
        return _Run(stack, server, cache.url, Dataset(size), rounds).measure()


class _Run:
    """Ours, ours once more behind relays that count, and the peer."""

    def __init__(
        self, stack: ExitStack, server: Any, cache_url: str, dataset: Dataset, rounds: int
    ) -> None:
        self._data, self._rounds, self._results = dataset, rounds, Results()
        total = Cpu(server.pid)
        self._server = lambda: total() - CPU()
        self._rows = Relay(f"{server.base}/.s.PGSQL.5432", ".s.PGSQL.5432", postgres=True)
        self._lists = Relay(cache_url.removeprefix("unix://"), "redis.sock", postgres=False)
        stack.callback(self._rows.close)
        stack.callback(self._lists.close)
        self._memory = open_ours(f"{server.url} + {cache_url}", dataset)
        stack.callback(self._memory.close)
        load_ours(self._memory, dataset, range(dataset.size), _GROUP_SIZE)
        through = server.url.replace(str(server.base), str(self._rows.folder))
        # the same stores once more: the threads of a relay would count as time of ours
        self._relayed = open_ours(f"{through} + unix://{self._lists.path}", dataset)
        stack.callback(self._relayed.close)
        self._peer = self._open_peer(stack, server.url)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        self._later = count(dataset.size)

    def measure(self) -> Results:
        """Measure every operation."""
        scope, questions = MemoryScope(tenant="t", group_id="g3"), self._data.questions
        agent = MemoryScope(tenant="t", group_id="g3", agent_id="helper")
        for _ in range(55):
            self._memory.record(self._text(), scope, {"confidence": 0.9})
        hybrid = lambda peer, i: peer.search("g3", questions[i].text)
        self._time(
            "retrieve hybrid",
            lambda memory, i: memory.retrieve(questions[i].text, scope, tiers=("long_term",)),
            hybrid,
        )
        defaults = {
            id(memory): TieredMemory(memory.parts.stores, embeddings=LookedUp(self._data))
            for memory in (self._memory, self._relayed)
        }
        self._time(
            "retrieve with defaults",
            lambda memory, i: defaults[id(memory)].retrieve(questions[i].text, scope),
            hybrid,
        )
        self._time(
            "record",
            lambda memory, i: memory.record(self._text(), agent, {"confidence": 0.9}),
            lambda peer, i: peer.put("g3", next(self._later), indexed=False),
        )
        put = lambda peer, i: peer.put("g3", next(self._later), indexed=True)
        self._time(
            "promote a text",
            lambda memory, i: memory.promote(self._text(), scope, by="ann"),
            put,
        )
        entries = [self._memory.log_quarantine(self._text(), scope) for _ in range(50)]
        self._time(
            "promote an entry",
            lambda memory, i: memory.promote(entries.pop(), by="ann"),
            put,
        )
        self._time(
            "list 50",
            lambda memory, i: memory.list(scope, tier="longterm", limit=50),
            lambda peer, i: peer.list("g3"),
        )
        ids = [self._memory.promote(self._text(), scope, by="ann").ids[0] for _ in range(30)]
        receipts: list[Any] = []
        few = min(self._rounds, 5)
        self._time(
            "revoke one",
            lambda memory, i: receipts.append(memory.revoke(ids.pop(), scope, by="ann")),
            put, rounds=few,
        )  # fmt: skip
        self._time(
            "restore one",
            lambda memory, i: memory.restore(receipts.pop(), by="ann"),
            put, rounds=few - 1,
        )  # fmt: skip
        self._time(
            "forget one", lambda memory, i: memory.forget(scope, ids=[ids.pop()]), put, rounds=few
        )
        return self._results

    def _time(
        self,
        operation: str,
        ours: Callable[[TieredMemory, int], Any],
        theirs: Callable[[Peer, int], Any],
        rounds: int = 0,
    ) -> None:
        rounds = rounds or self._rounds
        acts: dict[str, Act] = {
            OURS: lambda i: ours(self._memory, i),
            POSTGRES_STORE: lambda i: theirs(self._peer, i),
        }
        row = in_turns(LAYOUT, operation, acts, rounds, server=self._server)
        if operation.partition(" ")[0] in ("retrieve", "record", "promote", "list"):
            # psycopg prepares a statement when it comes for the sixth time, by a round trip more
            for number in range(rounds + 2, rounds + 10):
                ours(self._relayed, number)
        before = self._rows.trips, self._lists.trips
        ours(self._relayed, rounds + 10)
        row.counts = {
            "round trips": self._rows.trips - before[0],
            "Redis round trips": self._lists.trips - before[1],
        }
        self._results.rows.append(row)

    def _text(self) -> str:
        return self._data.texts[next(self._later)]

    def _open_peer(self, stack: ExitStack, url: str) -> Peer:
        from langgraph.store.postgres import PostgresStore

        connection = psycopg.connect(
            url, autocommit=True, prepare_threshold=0, row_factory=dict_row
        )
        stack.callback(connection.close)
        connection.execute("CREATE SCHEMA peer")
        connection.execute("SET search_path = peer, public")
        index = {
            name: value for name, value in index_of(self._data).items() if name != "text_fields"
        }
        store = PostgresStore(connection, index=index)  # type: ignore[arg-type]
        store.setup()
        peer = Peer(store, self._data, _GROUP_SIZE)
        peer.load(range(self._data.size))
        return peer

"""Operations on a SQLite file, in turns with `SqliteStore` and `InMemoryStore`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._turns import CPU, quiet
from benchmarks.tiers.dataset import Dataset, LookedUp
from benchmarks.tiers.results import OURS, Act, Results, Row, in_turns
from benchmarks.tiers.stores import (
    Peer,
    load_ours,
    open_in_memory_store,
    open_ours,
    open_sqlite_store,
    scope_of,
)
from counting import counted_statements
from memoryware import MemoryScope, TieredMemory

SQLITE_STORE, IN_MEMORY_STORE = "SqliteStore", "InMemoryStore"
HOT_ENTRIES = 50
"""Entries of working memory, its default size."""
_DIGESTED = 1000


@dataclass(frozen=True)
class Layout:
    """How many memories there are, and how many of them in one group.

    Attributes:
        name: As in the tables.
        size: All memories of the file.
        group_size: Memories of one group.
        peers: The stores that are filled with the same memories.
    """

    name: str
    size: int
    group_size: int
    peers: tuple[str, ...] = ()


TINY = Layout("1k of 1k", 1_000, 1_000, (SQLITE_STORE,))
SMALL = Layout("1k of 10k", 10_000, 1_000, (SQLITE_STORE,))
MIDDLE = Layout("1k of 100k", 100_000, 1_000, (SQLITE_STORE, IN_MEMORY_STORE))
SINGLE = Layout("100k in one group", 100_000, 100_000, (SQLITE_STORE,))
MILLION = Layout("1k of 1M", 1_000_000, 1_000)
LAYOUTS = (TINY, SMALL, MIDDLE, SINGLE, MILLION)
QUICK = (
    Layout(TINY.name, 500, 500, TINY.peers),
    Layout(SMALL.name, 2_000, 100, SMALL.peers),
    Layout(MIDDLE.name, 4_000, 100, MIDDLE.peers),
    Layout(SINGLE.name, 4_000, 4_000, SINGLE.peers),
    Layout(MILLION.name, 8_000, 100, MILLION.peers),
)
"""The same names with few memories: whether it works, not how fast it is."""


def measure(layout: Layout, rounds: int, folder: Path) -> Results:
    """Fill the stores of a layout and measure every operation on them."""
    results = Results()
    dataset = Dataset(layout.size)
    run = _Run(layout, dataset, rounds, results, folder)
    try:
        run.load()
        run.first_questions()
        run.reads()
        run.writes()
        run.takes_back()
        if layout.name == MIDDLE.name:
            run.digests()
        if IN_MEMORY_STORE in layout.peers:
            run.beside_in_memory_store()
    finally:
        run.close()
    return results


class _Run:
    """The stores of one layout, and what is measured on them."""

    def __init__(
        self, layout: Layout, dataset: Dataset, rounds: int, results: Results, folder: Path
    ) -> None:
        self._layout, self._data, self._rounds, self._results = layout, dataset, rounds, results
        self._path = folder / "memory.db"
        self._peer_path = folder / "peer.db"
        self.memory = self._open()
        self.peers: dict[str, Peer] = {}
        if SQLITE_STORE in layout.peers:
            peer = open_sqlite_store(self._peer_path, dataset, layout.group_size)
            self.peers[SQLITE_STORE] = peer
        groups = layout.size // layout.group_size
        self.scope = scope_of(3 * layout.group_size if groups > 1 else 0, layout.group_size)
        self._groups = [f"g{number}" for number in range(groups)]
        self._later = count(layout.size)

    def close(self) -> None:
        self.memory.close()

    def load(self) -> None:
        """Fill all sides in turns, part by part."""
        size = self._layout.size
        parts = [range(a, min(a + 5000, size)) for a in range(0, size, 5000)]
        taken: dict[str, float] = dict.fromkeys([OURS, *self.peers], 0.0)
        for part in parts:
            loads: dict[str, Callable[[range], None]] = {
                OURS: lambda part: load_ours(self.memory, self._data, part, self._layout.group_size)
            }
            loads |= {name: peer.load for name, peer in self.peers.items()}
            for name, load in loads.items():
                start = CPU()
                load(part)
                taken[name] += CPU() - start
        row = Row(self._layout.name, "load, each")
        row.ms = {name: seconds / size * 1000 for name, seconds in taken.items()}
        row.ratios = {name: taken[OURS] / taken[name] for name in self.peers}
        self._results.rows.append(row)
        self.memory.close()  # what a log held back is in the file then
        self.memory = self._open()
        values = self._results.values
        values[f"bytes a memory, {self._layout.name}"] = self._path.stat().st_size / size
        if self._peer_path.exists():
            name = f"bytes a memory, {self._layout.name}, {SQLITE_STORE}"
            values[name] = self._peer_path.stat().st_size / size

    def first_questions(self) -> None:
        """Ask groups that nobody asked since the file was opened."""
        if self._layout.size == self._layout.group_size:
            self._first_of_single()
            return
        name = self.scope.group_id
        groups = [group for group in self._groups if group != name]
        rounds = min(self._rounds, 9, len(groups) - 2)
        self._measure(
            "first question",
            lambda i: self._ask(MemoryScope(tenant="t", group_id=groups[i]), i),
            lambda peer, i: peer.search(groups[i], self._data.questions[i].text),
            warm=1,
            rounds=rounds,
        )

    def reads(self) -> None:
        """Measure what changes nothing."""
        memory, scope, questions = self.memory, self.scope, self._data.questions
        group = str(scope.group_id)
        # entries for working memory, so that the defaults have something to look at
        for _ in range(HOT_ENTRIES + 5):
            memory.record(self._text(), scope, {"confidence": 0.9})
        self._measure(
            "retrieve hybrid",
            lambda i: self._ask(scope, i),
            lambda peer, i: peer.search(group, questions[i].text),
            warm=6, rounds=3 * self._rounds,
        )  # fmt: skip
        self._measure(
            "retrieve by vectors",
            lambda i: memory.retrieve(questions[i].wordless, scope, tiers=("long_term",)),
            lambda peer, i: peer.search(group, questions[i].wordless),
            warm=6, rounds=3 * self._rounds,
        )  # fmt: skip
        defaults = TieredMemory(memory.parts.stores, embeddings=LookedUp(self._data))
        self._measure(
            "retrieve with defaults",
            lambda i: defaults.retrieve(questions[i].text, scope),
            lambda peer, i: peer.search(group, questions[i].text),
            warm=4, rounds=2 * self._rounds,
        )  # fmt: skip
        self._measure(
            "list 50",
            lambda i: memory.list(scope, tier="longterm", limit=50),
            lambda peer, i: peer.list(group),
        )
        self._measure("counts", lambda i: memory.list(scope, tier="longterm", limit=1))
        self._measure("spaces", lambda i: memory.spaces())

    def writes(self) -> None:
        """Measure what adds one entry or one memory."""
        memory, scope = self.memory, self.scope
        group = str(scope.group_id)
        agent = MemoryScope(tenant="t", group_id=group, agent_id="helper")
        numbers = [next(self._later) for _ in range(400)]
        texts = [self._data.texts[number] for number in numbers]
        self._measure(
            "record",
            lambda i: memory.record(texts[i], scope, {"confidence": 0.9}),
            lambda peer, i: peer.put(group, numbers[i], indexed=False),
        )
        self._measure(
            "record with a name and a number",
            lambda i: memory.record(_named(i, texts[i + 50]), agent, {"confidence": 0.9}),
            lambda peer, i: peer.put(group, numbers[i + 50], indexed=False),
        )
        self._measure(
            "promote a text",
            lambda i: memory.promote(texts[i + 100], scope, by="ann"),
            lambda peer, i: peer.put(group, numbers[i + 100], indexed=True),
        )
        entries = [memory.log_quarantine(texts[i + 150], scope) for i in range(50)]
        self._measure(
            "promote an entry",
            lambda i: memory.promote(entries[i], by="ann"),
            lambda peer, i: peer.put(group, numbers[i + 150], indexed=True),
        )

    def takes_back(self) -> None:
        """Measure revoke, restore and forget of one memory, against a `put` of the peer."""
        memory, scope = self.memory, self.scope
        group = str(scope.group_id)
        few = 3 if self._layout.group_size > 10_000 else min(self._rounds, 7)
        promoted = [
            memory.promote(self._text(), scope, by="ann").ids[0] for _ in range(2 * few + 6)
        ]
        numbers = [next(self._later) for _ in range(3 * few + 6)]
        receipts: list[Any] = []

        def put(offset: int) -> Callable[[Peer, int], None]:
            return lambda peer, i: peer.put(group, numbers[offset + i], indexed=True)

        self._measure(
            "revoke one",
            lambda i: receipts.append(memory.revoke(promoted.pop(), scope, by="ann")),
            put(0), rounds=few,
        )  # fmt: skip
        self._measure(
            "restore one",
            lambda i: memory.restore(receipts.pop(), by="ann"),
            put(few + 2), rounds=few,
        )  # fmt: skip
        self._measure(
            "forget one",
            lambda i: memory.forget(scope, ids=[promoted.pop()]),
            put(2 * few + 4), rounds=few,
        )  # fmt: skip

    def digests(self) -> None:
        """Measure a digest of 1,000 entries that wait."""
        scope = MemoryScope(tenant="t", group_id="digested")
        for _ in range(_DIGESTED):
            self.memory.log_quarantine(self._text(), scope)
        self._measure("digest", lambda i: self.memory.digest(scope), rounds=5, warm=1)

    def beside_in_memory_store(self) -> None:
        """Measure questions once more, in turns with `InMemoryStore`.

        It goes through all of its memories for each question. Several calls make a turn, because
        the first after that finds nothing of its own in the caches of the processor.
        """
        peer = open_in_memory_store(self._data, self._layout.group_size)
        start = CPU()
        peer.load(range(self._layout.size))
        group, questions = str(self.scope.group_id), self._data.questions
        load = self._results.row(self._layout.name, "load, each")
        load.ms[IN_MEMORY_STORE] = (CPU() - start) / self._layout.size * 1000
        load.ratios[IN_MEMORY_STORE] = load.ms[OURS] / load.ms[IN_MEMORY_STORE]
        for operation, text in (("retrieve hybrid", "text"), ("retrieve by vectors", "wordless")):
            asked = [getattr(question, text) for question in questions]
            row = in_turns(
                self._layout.name,
                operation,
                {
                    OURS: lambda i, asked=asked: self.memory.retrieve(
                        asked[i], self.scope, tiers=("long_term",)
                    ),
                    IN_MEMORY_STORE: lambda i, asked=asked: peer.search(group, asked[i]),
                },
                self._rounds,
                calls=5,
            )
            kept = self._results.row(self._layout.name, operation)
            kept.ms[IN_MEMORY_STORE] = row.ms[IN_MEMORY_STORE]
            kept.ratios[IN_MEMORY_STORE] = row.ratios[IN_MEMORY_STORE]

    def _first_of_single(self) -> None:
        """Ask the one large group in a memory that was just opened, and then ask it again.

        Closing the memory writes the blocks from which the next one reads the group; without
        them it is read from its rows.
        """
        taken: dict[str, list[float]] = {}
        for number in range(6):
            is_packed = number % 2 == 1
            if not is_packed:
                with closing(sqlite3.connect(self._path)) as connection:
                    connection.execute("DELETE FROM block")
                    connection.commit()
            with closing(self._open()) as memory:
                # the second question may still read something; the third is like all others
                first, _, later = (
                    self._timed(memory, 100 + 3 * number + place) for place in range(3)
                )
            name = "first question, packed" if is_packed else "first question"
            taken.setdefault(name, []).append(first)
            taken.setdefault("a later question", []).append(later)
        for name, each in taken.items():
            row = Row(self._layout.name, name)
            row.ms = {OURS: median(each)}
            self._results.rows.append(row)

    def _timed(self, memory: TieredMemory, number: int) -> float:
        """Return the milliseconds that one question to the group takes."""
        question = self._data.questions[number].text
        with quiet():
            start = CPU()
            memory.retrieve(question, self.scope, tiers=("long_term",))
            return (CPU() - start) * 1000

    def _measure(
        self,
        operation: str,
        ours: Act,
        theirs: Callable[[Peer, int], Any] | None = None,
        *,
        rounds: int = 0,
        warm: int = 2,
    ) -> None:
        acts: dict[str, Act] = {OURS: ours}
        if theirs is not None:
            acts |= {
                name: lambda i, peer=peer: theirs(peer, i) for name, peer in self.peers.items()
            }
        rounds = rounds or self._rounds
        row = in_turns(self._layout.name, operation, acts, rounds, warm=warm)
        with counted_statements() as statements:
            ours(warm + rounds)
        row.counts = {"statements": statements.count, "flushes": statements.flushes}
        self._results.rows.append(row)

    def _ask(self, scope: MemoryScope, number: int) -> Any:
        question = self._data.questions[number].text
        return self.memory.retrieve(question, scope, tiers=("long_term",))

    def _text(self) -> str:
        return self._data.texts[next(self._later)]

    def _open(self) -> TieredMemory:
        return open_ours(f"sqlite:///{self._path}", self._data)


def _named(number: int, text: str) -> str:
    return f"Order {number * 7919} of Mrs Zanderovik{number} ships on day {number} and {text}"

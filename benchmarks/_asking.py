"""Asks a store that is full: how long each call takes, and how much the index of vectors finds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks._memories import BIG, MIDDLE, NOW, SPACE, Everything
from memoryware import MemoryScope, TieredMemory
from memoryware.stores import open_stores
from memoryware.tiers.stores.protocol import Select, TierHandle, Vector
from memoryware.tiers.text.terms import query_words

CALLS, WARM, LONGEST = 40, 3, 40.0
"""Calls of each kind, those before them that do not count, and seconds after which it is enough."""
LISTED, ASKED = 50, 50
QUERIES, BEST = 100, 10
_WORDS = 5
_NOBODY = Select(tenant="nobody", groups=("nothing",))


@dataclass(frozen=True, slots=True)
class Spread:
    """How long calls took, in milliseconds.

    `cpu` is what processors worked on the middle one, here and in the server: it says more than
    the time on the wall where the machine is busy with other things. `times` says how often a
    look into an empty group goes into it, by the same measure; such looks are taken in between.
    """

    p50: float
    p95: float
    cpu: float
    times: float
    calls: int


class _Embeddings:
    """Vectors like those that are there; no time goes into them."""

    def __init__(self, everything: Everything) -> None:
        self._draw = everything.vectors.vector

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._draw() for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._draw()


class Asker:
    """One who asks a store."""

    def __init__(self, url: str, everything: Everything, cpu: Callable[[], float]) -> None:
        from langchain_core.embeddings import Embeddings

        self._cpu = cpu
        self._everything, self._dice = everything, everything._dice
        stores = open_stores(url)
        self.store: TierHandle = stores.long_term
        made = type("MadeUp", (_Embeddings, Embeddings), {})(everything)
        self.memory = TieredMemory(stores, embeddings=made, embedding_space=SPACE.name)
        self._texts: dict[MemoryScope, list[str]] = {}

    def all(self) -> dict[str, Spread]:
        """Return how long every kind of call takes."""
        found = {"record": self.record(), "promote": self.promote()}
        for name, which in self._places().items():
            found[f"by_words, {name}"] = self.by_words(which)
            found[f"by_vector, {name}"] = self.by_vector(which)
            found[f"find, first page, {name}"] = self.timed(
                lambda one: self.store.find(one, limit=LISTED), which
            )
        found["delete one"] = self.delete()
        return found

    def _places(self) -> dict[str, Callable[[], Select]]:
        return {
            "a small group": lambda: _live(self._small()),
            "the big group": lambda: _live(BIG),
            "a whole tenant": lambda: Select(tenant="t0", live_at=NOW),
        }

    def _small(self) -> MemoryScope:
        return self._dice.choice(self._everything.small)

    def record(self) -> Spread:
        return self.timed(
            lambda one: self.memory.record(one[0], one[1], {"confidence": 0.9}),
            lambda: (self._everything.texts.text(), self._small()),
        )

    def promote(self) -> Spread:
        def entry() -> Any:
            return self.memory.record(self._everything.texts.text(), self._small()).entry

        return self.timed(lambda one: self.memory.promote(one.id, one.scope, by="ann"), entry)

    def by_words(self, which: Callable[[], Select]) -> Spread:
        def question() -> tuple[list[str], Select]:
            one = which()
            group = one.groups[0] if one.groups else BIG.group_id
            return self.question(MemoryScope(tenant=one.tenant, group_id=group)), one

        return self.timed(lambda asked: self.store.by_words(*asked, limit=ASKED), question)

    def by_vector(self, which: Callable[[], Select]) -> Spread:
        draw = self._everything.vectors.vector
        return self.timed(
            lambda asked: self.store.by_vector(*asked, space=SPACE, limit=ASKED),
            lambda: (draw(), which()),
        )

    def question(self, scope: MemoryScope) -> list[str]:
        """Return a few words of a text that is there, as who asks for it would."""
        if scope not in self._texts:
            page = self.store.find(Select.within(scope), limit=LISTED)
            self._texts[scope] = [one.content for one in page.items]
        words = query_words(self._dice.choice(self._texts[scope] or ["nothing"]))
        return self._dice.sample(words, min(_WORDS, len(words)))

    def delete(self) -> Spread:
        def one() -> Select:
            while True:
                scope = self._small()
                for last in self.store.find(Select.within(scope), limit=1).items:
                    return Select.within(scope, ids=(last.id,))

        return self.timed(self.store.delete, one)

    def timed(self, call: Callable[[Any], Any], given: Callable[[], Any]) -> Spread:
        """Return how long calls take; what they are given is made before."""
        taken, worked, looks = list[float](), list[float](), list[float]()
        began = time.perf_counter()
        for number in range(CALLS + WARM):
            value = given()
            before = self._cpu()
            self.store.find(_NOBODY, limit=1)
            between, start = self._cpu(), time.perf_counter()
            call(value)
            wall, after = time.perf_counter() - start, self._cpu()
            if number >= WARM:
                looks.append(between - before)
                taken.append(wall * 1000)
                worked.append((after - between) * 1000)
            if taken and time.perf_counter() - began > LONGEST:
                break
        taken.sort()
        p50, p95 = median(taken), taken[min(len(taken) - 1, int(len(taken) * 0.95))]
        cpu = median(worked)
        return Spread(p50, p95, cpu, cpu / (median(looks) * 1000), len(taken))


def recall(url: str, everything: Everything) -> dict[str, dict[str, float]]:
    """Return what the index finds of the ten nearest, and how long both ways take."""
    joined = "&" if "?" in url else "?"
    by_index = open_stores(f"{url}{joined}exact_vectors=0").long_term
    exact = open_stores(f"{url}{joined}exact_vectors=1000000000").long_term
    queries = [everything.vectors.vector() for _ in range(QUERIES)]
    places = {
        "a whole tenant": Select(tenant="t0", live_at=NOW),
        "the big group, 10 % of all": _live(BIG),
        "a group of 1 % of all": _live(MIDDLE),
    }
    found = {}
    for name, which in places.items():
        near, by_index_ms = _nearest(by_index, queries, which)
        best, exact_ms = _nearest(exact, queries, which)
        same = sum(len(one & other) for one, other in zip(near, best, strict=True))
        found[name] = {
            "recall@10": same / sum(map(len, best)),
            "by index, ms": by_index_ms, "exact, ms": exact_ms,
        }  # fmt: skip
    for store in (by_index, exact):
        store.close()
    return found


def _nearest(
    store: TierHandle, queries: Sequence[Vector], which: Select
) -> tuple[list[set[str]], float]:
    found, taken = [], []
    for query in queries:
        start = time.perf_counter()
        hits = store.by_vector(query, which, space=SPACE, limit=BEST)
        taken.append(time.perf_counter() - start)
        found.append({hit.memory.id for hit in hits})
    return found, median(taken) * 1000


def _live(scope: MemoryScope) -> Select:
    return Select.within(scope, live_at=NOW)

"""Memories by the million, from a seed: texts, vectors, and whose they are.

Texts have 60 to 120 words of about 20,000, drawn as in a language (Zipf). Vectors have 384
dimensions and differ in 24 directions, about as many as those of texts do; vectors that differ
in all of them have no neighbours to speak of, and no index finds those well.
"""

from __future__ import annotations

import hashlib
import math
import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from memoryware import MemoryScope
from memoryware.tiers.model import Memory
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.protocol import Space

DIMENSION = 384
SPACE = Space("made up", DIMENSION)
TENANTS = (0.40, 0.20, 0.12, 0.08, 0.06, 0.05, 0.04, 0.02, 0.02, 0.01)
"""The part of all that each tenant has, of memories and of groups."""
GROUPS = 1000
BIG, MIDDLE = MemoryScope(tenant="t0", group_id="big"), MemoryScope(tenant="t0", group_id="middle")
"""Groups with 10 % and 1 % of all."""
NOW = datetime(2026, 11, 1, tzinfo=UTC)
_CHUNKS = 50
_BLOCKS, _CODES, _WITHIN = 6, 1024, 4
_COMMON = """
the of and to in a is that for it as was with be by on not he his but at are this have from or had
an they which one you were all her she there would their we him been has when who
"""
_STARTS = "b br c ch d f g gr h k l m n p pl r s st t tr v w"


class Texts:
    """Texts of a language that nobody speaks."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        starts, middles = _STARTS.split(), "aeiou"
        ends = ["", "n", "r", "s", "t", "l", "m", "nd", "ck", "st"]
        made = dict.fromkeys(_COMMON.split())
        while len(made) < 20_000:
            syllables = dice.choice((1, 2, 2, 3, 3))
            made["".join(
                dice.choice(starts) + dice.choice(middles) + dice.choice(ends)
                for _ in range(syllables)
            )] = None  # fmt: skip
        self.words = list(made)
        self._weights = list(accumulate(1 / (rank + 2) for rank in range(len(self.words))))

    def text(self) -> str:
        count = self._dice.randint(60, 120)
        return " ".join(self._dice.choices(self.words, cum_weights=self._weights, k=count))


class Vectors:
    """Unit vectors; each is a sum of six of 1024 vectors that lie in four directions."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._codes = [[*self._block()] for _ in range(_BLOCKS)]

    def _block(self) -> Iterator[array[float]]:
        gauss = self._dice.gauss
        ways = [[gauss(0, 1) for _ in range(DIMENSION)] for _ in range(_WITHIN)]
        for _ in range(_CODES):
            parts = [gauss(0, 1) for _ in ways]
            yield array(
                "f", [sum(map(float.__mul__, parts, one)) for one in zip(*ways, strict=True)]
            )

    def vector(self) -> list[float]:
        code = self._dice.randrange
        chosen = [block[code(_CODES)] for block in self._codes]
        made = [a + b + c + d + e + f for a, b, c, d, e, f in zip(*chosen, strict=True)]
        length = math.hypot(*made)
        return [one / length for one in made]


@dataclass(frozen=True, slots=True)
class Document:
    """Chunks of one text, which are stored together, and their vectors."""

    memories: list[Memory]
    vectors: list[list[float]]


class Everything:
    """All memories of a measurement."""

    def __init__(self, count: int, seed: int = 1) -> None:
        self.count, self._dice = count, random.Random(seed)
        self.texts, self.vectors = Texts(self._dice), Vectors(self._dice)
        self.groups = dict(_shares(count))
        self.small = [one for one in self.groups if one not in (BIG, MIDDLE)]

    def documents(self, worker: int = 0, workers: int = 1) -> Iterator[Document]:
        """Yield all documents, or the share of one of several workers."""
        parts = [
            (scope, min(_CHUNKS, left))
            for scope, size in self.groups.items()
            for left in range(size, 0, -_CHUNKS)
        ]
        self._dice.shuffle(parts)
        self._dice.seed(self._dice.random() + worker)
        for scope, size in parts[worker::workers]:
            yield self.document(scope, size)

    def document(self, scope: MemoryScope, size: int) -> Document:
        bits, made = self._dice.getrandbits, NOW - timedelta(seconds=self._dice.randrange(10**7))
        digest = hashlib.sha256(bits(128).to_bytes(16)).hexdigest()
        document, source = f"{bits(128):032x}", f"{bits(128):032x}"
        memories = [
            Memory(
                id=f"{bits(128):032x}", document_id=document, scope=scope,
                content=self.texts.text(), created_at=made, valid_from=made, promoted_by="ann",
                content_hash=digest, chunk_index=place, chunk_count=size,
                provenance=Provenance(Origin("agent", "helper"), (source,)),
            )
            for place in range(size)
        ]  # fmt: skip
        return Document(memories, [self.vectors.vector() for _ in memories])


def _shares(count: int) -> Iterator[tuple[MemoryScope, int]]:
    yield BIG, count // 10
    yield MIDDLE, count // 100
    for place, share in enumerate(TENANTS):
        groups = round(GROUPS * share) - (2 if place == 0 else 0)
        size = round(count * share) - (count // 10 + count // 100 if place == 0 else 0)
        for group in range(groups):
            yield (
                MemoryScope(tenant=f"t{place}", group_id=f"g{group}"),
                size * (group + 1) // groups - size * group // groups,
            )

"""Helpers of the tests of the tiers: a clock that is moved, embeddings of words, both doors."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from langchain_core.embeddings import Embeddings

from memoryware._runner import run_blocking
from memoryware.tiers._parts import Parts
from memoryware.tiers.embedding import Embedder
from memoryware.tiers.policy import PromotionPolicy
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.text.terms import words_of

Door = Literal["blocking", "native"]
DOORS: tuple[Door, ...] = ("blocking", "native")


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)) -> None:
        self.now = start

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **amount: float) -> None:
        self.now += timedelta(**amount)


class HashEmbeddings(Embeddings):
    """A vector of word counts by hash: texts that share words are near each other."""

    def __init__(self, size: int = 64) -> None:
        self.size = size
        self.asked: list[list[str]] = []
        self.queries: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(list(texts))
        return [self._vector(one) for one in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        made = [0.0] * self.size
        for word in words_of(text):
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            made[int.from_bytes(digest[:4], "big") % self.size] += 1 - 2 * (digest[4] & 1)
        length = math.sqrt(sum(one * one for one in made)) or 1.0
        return [one / length for one in made]


def ids() -> Callable[[], str]:
    """Ids that look like random ones and come in order."""
    numbers = itertools.count(1)
    return lambda: f"{next(numbers):032x}"


def parts(stores: Any = None, *, embeddings: Any = None, **changes: Any) -> Parts:
    """What operations work with: embedded stores, a clock that stands still, ids in order."""
    given: dict[str, Any] = {
        "stores": stores or embedded(),
        "policy": PromotionPolicy(),
        "embedder": Embedder(embeddings, "hash") if embeddings is not None else None,
        "clock": Clock(),
        "new_id": ids(),
        **changes,
    }
    return Parts(**given)


async def run(door: Door, operation: Any, given: Parts, *args: Any, **kwargs: Any) -> Any:
    """Run an operation through one of its doors."""
    if door == "native":
        return await operation(given.native, *args, **kwargs)
    return run_blocking(operation(given, *args, **kwargs))


def bytes_on_disk(path: Path) -> bytes:
    """Return all bytes of a memory in a SQLite file, those beside the file as well."""
    files = (path.with_name(path.name + end) for end in ("", "-wal", "-shm", "-journal"))
    return b"".join(one.read_bytes() for one in files if one.exists())

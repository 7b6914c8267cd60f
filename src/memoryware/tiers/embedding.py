"""Embeddings of one space, in batches, and never for longer than a set time."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, TypeVar

from memoryware._twins import Via
from memoryware.errors import EmbeddingFailed, EmbeddingMismatch
from memoryware.tiers.records import hash_of
from memoryware.tiers.stores.protocol import Space, Vector

T = TypeVar("T")


@dataclass
class _Known:
    """Vectors of texts that were embedded lately, by digest."""

    size: int
    vectors: OrderedDict[str, Vector] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, text: str) -> Vector | None:
        with self.lock:
            key = hash_of(text)
            if key in self.vectors:
                self.vectors.move_to_end(key)
            return self.vectors.get(key)

    def put(self, texts: Sequence[str], vectors: Sequence[Vector]) -> None:
        with self.lock:
            self.vectors.update(zip(map(hash_of, texts), vectors, strict=True))
            while len(self.vectors) > self.size:
                self.vectors.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Embedder:
    """A LangChain `Embeddings` object and the name of its space.

    Attributes:
        embeddings: What makes vectors.
        name: The name of their space.
        batch: Texts in one call.
        timeout: Seconds that a call may take.
        known: Vectors of texts that were embedded lately, so that the same text is not
            embedded again and again.
    """

    embeddings: Any
    name: str
    batch: int = 128
    timeout: float = 60.0
    known: _Known = field(default_factory=lambda: _Known(4096), compare=False, repr=False)

    async def documents(self, via: Via, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text.

        Raises:
            EmbeddingFailed: If the model fails, takes too long or miscounts.
        """
        found = {text: self.known.get(text) for text in texts}
        missing = [text for text, vector in found.items() if vector is None]
        for start in range(0, len(missing), self.batch):
            some = missing[start : start + self.batch]
            made = await self._asked(
                via, self.embeddings.embed_documents, self.embeddings.aembed_documents, some
            )
            vectors = self._checked(made, len(some))
            self.known.put(some, vectors)
            found.update(zip(some, vectors, strict=True))
        return self._alike([vector for text in texts if (vector := found[text]) is not None])

    async def query(self, via: Via, text: str) -> Vector:
        """Return the vector of a query.

        Raises:
            EmbeddingFailed: As for `documents`.
        """
        made = await self._asked(
            via, self.embeddings.embed_query, self.embeddings.aembed_query, text
        )
        return self._checked([made], 1)[0]

    def space_of(self, vector: Vector) -> Space:
        """Return the space of a vector that this embedder made."""
        return Space(self.name, len(vector))

    async def _asked(
        self, via: Via, sync: Callable[[Any], Any], asyn: Callable[[Any], Awaitable[Any]], what: Any
    ) -> Any:
        try:
            return await via(
                lambda: within(self.timeout, sync, what),
                lambda: asyncio.wait_for(asyn(what), self.timeout),
            )
        except EmbeddingMismatch:
            raise
        except TimeoutError as late:
            raise EmbeddingFailed(
                f"The embedding model {self.name} did not answer within {self.timeout} seconds"
                " (embed_timeout)"
            ) from late
        except Exception as error:
            raise EmbeddingFailed(
                f"The embedding model {self.name} failed: {type(error).__name__}"
            ) from error

    def _checked(self, made: Any, count: int) -> list[Vector]:
        """Return vectors that can be used: as many as texts, of finite numbers."""
        try:
            vectors = [tuple(map(float, one)) for one in made]
        except (TypeError, ValueError) as error:
            raise EmbeddingFailed(
                f"The embedding model {self.name} returned no list of vectors"
            ) from error
        if len(vectors) != count:
            raise EmbeddingFailed(
                f"The embedding model {self.name} returned {len(vectors)} vectors for {count} texts"
            )
        if not all(one and all(map(math.isfinite, one)) for one in vectors):
            raise EmbeddingFailed(
                f"The embedding model {self.name} returned an empty vector or one with no number"
            )
        return self._alike(list(vectors))

    def _alike(self, vectors: list[Vector]) -> list[Vector]:
        lengths = sorted({len(one) for one in vectors})
        if len(lengths) > 1:
            raise EmbeddingFailed(
                f"The embedding model {self.name} returned vectors of different lengths: {lengths}"
            )
        return vectors


def space_name(embeddings: Any) -> str:
    """Return the name of the space of an `Embeddings` object: its model, else its class."""
    for attribute in ("model", "model_name", "model_id", "deployment"):
        name = getattr(embeddings, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(embeddings).__name__


def within(seconds: float, work: Callable[..., T], *args: Any) -> T:
    """Return what a piece of work returns, in a thread of its own.

    Raises:
        TimeoutError: If it takes longer. It goes on by itself; nobody waits for it.
    """
    done: list[T] = []
    failed: list[BaseException] = []
    context = copy_context()

    def do() -> None:
        try:
            done.append(context.run(work, *args))
        except BaseException as error:  # noqa: BLE001 - raised again by who waits
            failed.append(error)

    thread = threading.Thread(target=do, daemon=True, name="memoryware-waiting")
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError
    return done[0]

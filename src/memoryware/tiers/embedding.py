"""Embeddings of one space, in batches, and never for longer than a set time."""

from __future__ import annotations

import asyncio
import hashlib
import math
import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memoryware._deadline import call_within
from memoryware._runner import Runner
from memoryware.errors import EmbeddingFailed
from memoryware.tiers.stores.sight import Space, Vector

PROBE: Final = "memory"
"""A text that every model can embed: whether it answers, and how long its vectors are."""
REMEMBERED: Final = 1024
"""Texts whose vectors one embedder remembers."""
_IN_A_ROW: Final = 8
"""Texts after which a model that refused each of them is taken to be broken."""


@dataclass
class _Known:
    """Vectors of texts that were embedded lately, and texts that no vector can be made of."""

    size: int
    vectors: OrderedDict[bytes, array[float]] = field(default_factory=OrderedDict)
    refused: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, text: str) -> Vector | None:
        key = _key(text)
        with self.lock:
            if key not in self.vectors:
                return None
            self.vectors.move_to_end(key)
            return tuple(self.vectors[key])

    def put(self, texts: Sequence[str], vectors: Sequence[Vector]) -> None:
        packed = [array("d", one) for one in vectors]  # a third of the room of a tuple
        with self.lock:
            self.vectors.update(zip(map(_key, texts), packed, strict=True))
            while len(self.vectors) > self.size:
                self.vectors.popitem(last=False)

    def refuse(self, text: str) -> None:
        with self.lock:
            self.refused[_key(text)] = None
            while len(self.refused) > self.size:
                self.refused.popitem(last=False)

    def has_refused(self, text: str) -> bool:
        with self.lock:
            return _key(text) in self.refused

    def clear(self) -> None:
        with self.lock:
            self.vectors.clear()


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


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
    known: _Known = field(default_factory=lambda: _Known(REMEMBERED), compare=False, repr=False)

    async def documents(self, runner: Runner, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text.

        Raises:
            EmbeddingFailed: If the model fails, takes too long, miscounts, or has no vector for
                one of them.
        """
        vectors = [one for one in await self.embed(runner, texts) if one is not None]
        if len(vectors) < len(texts):
            raise self._without_direction()
        return vectors

    async def embed(self, runner: Runner, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector for each text, None where the model returns nothing but zeros.

        A vector of zeros has no direction: its cosine to anything would be 0, so it would say
        "unrelated" of a text about which the model has said nothing.

        Raises:
            EmbeddingFailed: If the model fails, takes too long or miscounts.
        """
        found = {text: self.known.get(text) for text in texts}
        missing = [text for text, vector in found.items() if vector is None]
        for start in range(0, len(missing), self.batch):
            some = missing[start : start + self.batch]
            made = self._checked(await self._asked(runner, "embed_documents", some), len(some))
            vectors = [one if any(one) else () for one in made]
            self.known.put(some, vectors)
            found.update(zip(some, vectors, strict=True))
        self._alike([vector for vector in found.values() if vector])
        return [found[text] or None for text in texts]

    async def query(self, runner: Runner, text: str) -> Vector:
        """Return the vector of a query.

        Raises:
            EmbeddingFailed: As for `documents`.
        """
        (vector,) = self._checked([await self._asked(runner, "embed_query", text)], 1)
        if not any(vector):
            raise self._without_direction()
        return vector

    async def each(self, runner: Runner, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector for each text, None for one that the model cannot embed.

        What fails together is halved until what fails stands alone, so that one text that
        the model refuses does not keep the others from getting theirs.

        Raises:
            EmbeddingFailed: If the model does not answer in time, or fails whatever the text.
        """
        found: dict[str, Vector | None] = {}
        waiting = [list(dict.fromkeys(texts))]
        while waiting:
            some = waiting.pop()
            try:
                vectors = await self.embed(runner, some)
            except EmbeddingFailed as failed:
                late = isinstance(failed.__cause__, TimeoutError)
                if late or (len(found) >= _IN_A_ROW and not any(found.values())):
                    raise
                if not found:
                    await self.query(runner, PROBE)
                if len(some) > 1:
                    waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
                    continue
                vectors = [None]
            found.update(zip(some, vectors, strict=True))
            for text, vector in zip(some, vectors, strict=True):
                if vector is None:
                    self.known.refuse(text)
        return [found[text] for text in texts]

    def _without_direction(self) -> EmbeddingFailed:
        return EmbeddingFailed(
            f"The embedding model {self.name} returned a vector of zeros, which has no direction"
        )

    def space_of(self, vector: Vector) -> Space:
        """Return the space of a vector that this embedder made."""
        return Space(self.name, len(vector))

    async def _asked(self, runner: Runner, method: str, what: Any) -> Any:
        try:
            return await runner.call(
                lambda: call_within(self.timeout, getattr(self.embeddings, method), what),
                lambda: asyncio.wait_for(
                    getattr(self.embeddings, f"a{method}")(what), self.timeout
                ),
            )
        except TimeoutError as late:
            raise EmbeddingFailed(
                f"The embedding model {self.name} did not answer in time"
                f" (embed_timeout={self.timeout} seconds)"
            ) from late
        except EmbeddingFailed:
            raise  # of a model of ours, and it says what to do
        except Exception as error:
            raise EmbeddingFailed(
                f"The embedding model {self.name} failed: {type(error).__name__}"
            ) from error

    def _checked(self, made: Any, count: int) -> list[Vector]:
        """Return vectors that can be used: as many as texts, of finite numbers."""
        try:
            vectors = [tuple(map(float, one)) for one in made]
        except Exception as error:
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
            self.known.clear()  # the model may make others now than those that are remembered
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
    inner = getattr(embeddings, "underlying_embeddings", None)  # a cache around others
    return space_name(inner) if inner is not None else type(embeddings).__name__

"""Embeddings of one space, in batches, and never for longer than a set time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memoryware._twins import Via
from memoryware.tiers.stores.protocol import Space, Vector


@dataclass(frozen=True, slots=True)
class Embedder:
    """A LangChain `Embeddings` object and the name of its space."""

    embeddings: Any
    name: str
    batch: int = 128
    timeout: float = 60.0

    async def documents(self, via: Via, texts: list[str]) -> list[Vector]:
        """Return a vector for each text.

        Raises:
            EmbeddingFailed: If the model fails, takes too long or miscounts.
        """
        raise NotImplementedError

    async def query(self, via: Via, text: str) -> Vector:
        """Return the vector of a query.

        Raises:
            EmbeddingFailed: As for `documents`.
        """
        raise NotImplementedError

    def space_of(self, vector: Vector) -> Space:
        """Return the space of a vector that this embedder made."""
        return Space(self.name, len(vector))

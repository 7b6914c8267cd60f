"""`NearDuplicate`: keeps out of working memory what it has in other words."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.errors import EmbeddingFailed, SettingError
from memoryware.settings import TierLimits
from memoryware.tiers._options import checked
from memoryware.tiers._parts import Passed, Refusal
from memoryware.tiers.embedding import Embedder, space_name
from memoryware.tiers.ingress.claims import same_claim
from memoryware.tiers.naming_models import named_embeddings
from memoryware.tiers.records import Entry
from memoryware.tiers.stores.sight import Vector

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

logger = logging.getLogger(__name__)


class NearDuplicate:
    """Refuses what means the same as an entry of working memory, which moves to the front.

    Texts that differ in a name, a number or a denial are not the same, however near their
    vectors are. If the embedding model fails, everything passes.

    Args:
        embeddings: As for `TieredMemory`; the one of the memory will do.
        least: The cosine from which two texts are the same; `near_duplicate` by default.
        limits: Limits of the calls.

    Raises:
        SettingError: For a cosine that cannot be, or a model that cannot be made.
    """

    def __init__(
        self,
        embeddings: Embeddings | Embedder | str,
        *,
        least: float | None = None,
        limits: TierLimits | None = None,
    ) -> None:
        limits = limits or TierLimits()
        self._least = limits.near_duplicate if least is None else least
        if not 0 < self._least <= 1:
            raise SettingError(f"least={least!r}: must be above 0 and at most 1")
        checked(embeddings=None if isinstance(embeddings, Embedder) else embeddings)
        model = named_embeddings(embeddings)
        self._embedder = (
            model
            if isinstance(model, Embedder)
            else Embedder(model, space_name(model), limits.embed_batch, limits.embed_timeout)
        )

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:
        """Return why an entry is refused, None to let it pass."""
        return run_blocking(self._check(BLOCKING, entry, recent))

    async def acheck(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:
        """Async twin of `check`."""
        return await self._check(ASYNC, entry, recent)

    async def _check(
        self, runner: Runner, entry: Entry, recent: Sequence[Entry]
    ) -> Refusal | Passed | None:
        if not recent:
            return None
        texts = [entry.content, *(one.content for one in recent)]
        try:
            mine, *others = await self._embedder.embed(runner, texts)
        except EmbeddingFailed as error:
            logger.warning("near duplicates were not looked for: %s", error)
            return None
        if mine is None:
            return None
        found = sorted(
            (
                (_cosine(mine, vector), one)
                for vector, one in zip(others, recent, strict=True)
                if vector is not None
            ),
            key=lambda pair: -pair[0],
        )
        for cosine, one in found:
            if cosine < self._least:
                break
            if same_claim(entry.content, one.content):
                said = f"cosine {cosine:.2f} to entry {one.id}"
                return Refusal("near_duplicate", said, same_as=one.id)
        return None


def _cosine(one: Vector, other: Vector) -> float:
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    length = math.hypot(*one) * math.hypot(*other)
    return round(product / length, 9) if length else 0.0

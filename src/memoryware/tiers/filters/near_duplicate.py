"""Filter `NearDuplicate`: deduplication by embeddings."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.errors import EmbeddingFailed, SettingError
from memoryware.settings import TierLimits
from memoryware.tiers._parts import Passed, Refusal, checked
from memoryware.tiers.embedding import Embedder, named_embeddings, space_name
from memoryware.tiers.model import Entry
from memoryware.tiers.scoring import cosine
from memoryware.tiers.text.claims import same_claim

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

logger = logging.getLogger(__name__)


class NearDuplicate:
    """Refuse a text that means the same as an entry of working memory, which is renewed instead.

    Texts that differ in a name, a number or a negation are different, whatever their cosine. If
    the embedding model fails, every text passes.

    Args:
        embeddings: As for `TieredMemory`, and usually the same.
        least: Cosine from which two texts are the same; `limits.near_duplicate` by default.
        limits: Batch size and timeout of the embedding calls.

    Raises:
        SettingError: For a cosine outside of 0 to 1, or an unknown model.
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
        texts = [entry.content, *(other.content for other in recent)]
        try:
            vector, *other_vectors = await self._embedder.embed(runner, texts)
        except EmbeddingFailed as error:
            logger.warning("near duplicates were not searched: %s", error)
            return None
        if vector is None:
            return None
        nearest = sorted(
            (
                (round(cosine(vector, other_vector), 9), other)
                for other_vector, other in zip(other_vectors, recent, strict=True)
                if other_vector is not None
            ),
            key=lambda pair: -pair[0],
        )
        for similarity, other in nearest:
            if similarity < self._least:
                break
            if same_claim(entry.content, other.content):
                detail = f"cosine {similarity:.2f} to entry {other.id}"
                return Refusal("near_duplicate", detail, same_as=other.id)
        return None

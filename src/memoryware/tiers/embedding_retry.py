"""Embed memories that have no vector yet: what the model failed to embed before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from memoryware._runner import Runner
from memoryware.errors import EmbeddingFailed, SettingError
from memoryware.events import logger
from memoryware.tiers._parts import Parts
from memoryware.tiers.embedding import PROBE, Embedder
from memoryware.tiers.model import Memory
from memoryware.tiers.stores.protocol import Space

OnProgress: TypeAlias = Callable[[int], None] | None
"""Is called with the number of texts that were embedded so far."""


async def retry_pending(parts: Parts, space: Space | None) -> None:
    """Embed what could not be embedded before, if the model answers now; see `embed_pending`.

    A client looks for it at its first promotion, and then as long as it knows that there is some.

    Args:
        parts: The stores and the rules of the memory.
        space: The space of the embedder, if the caller knows that it is the current one.
    """
    limit = parts.limits.retry_unembedded
    if parts.embedder is None or not limit or not parts.embedder.cache.is_behind:
        return
    try:
        done = await embed_pending(parts, limit, again=False, space=space)
        parts.embedder.cache.is_behind = done >= limit
    except EmbeddingFailed:
        logger.debug("the embedding model still does not answer; asked again at the next promotion")


async def embed_pending(
    parts: Parts,
    limit: int | None = None,
    *,
    again: bool = True,
    space: Space | None = None,
) -> int:
    """Embed memories that have no vector yet, oldest first.

    Nothing is done while the store has the vectors of another model: `reindex` does that.

    Args:
        parts: With an embedder.
        limit: How many memories to try.
        again: Whether to try texts that the model has refused before.
        space: The space of the embedder, if the caller knows that it is the current one.

    Returns:
        How many got a vector.

    Raises:
        EmbeddingFailed: If the model does not answer; finished vectors stay stored.
        SettingError: Without an embedder.
    """
    embedder = embedder_of(parts)
    if space is None:
        spaces = await stored_spaces(parts)
        space = await _space(parts.runner, embedder, spaces)
        if spaces and spaces[0] != space:
            return 0
    done, _ = await embed_missing(parts, space, limit, again=again)
    return done


async def embed_missing(
    parts: Parts,
    space: Space,
    limit: int | None = None,
    *,
    again: bool = True,
    on_progress: OnProgress = None,
) -> tuple[int, int]:
    """Embed what has no vector in a space.

    Args:
        parts: With an embedder.
        space: The space of the embedder.
        limit: How many memories to try.
        again: Whether to try texts that the model has refused before.
        on_progress: Is called with the number of embedded texts after each batch.

    Returns:
        How many memories got a vector, and how many did not.
    """
    embedder, store = embedder_of(parts), parts.tiers.long_term
    done, tried = 0, dict[str, None]()
    while limit is None or len(tried) < limit:
        count = embedder.batch if limit is None else min(embedder.batch, limit - len(tried))
        passed = len(tried) - done
        waiting = await store.unembedded(space, limit=count + passed)
        new = [memory for memory in waiting if memory.id not in tried]
        tried.update(dict.fromkeys(memory.id for memory in new))
        if not again:
            new = [
                memory
                for memory in new
                if not embedder.cache.has_refused(embedder.text_of(memory.content, memory.metadata))
            ]
        if not new:
            break
        done += await _keep(parts, embedder, new)
        if on_progress is not None:
            on_progress(done)
    return done, len(tried) - done


async def _keep(parts: Parts, embedder: Embedder, new: Sequence[Memory]) -> int:
    texts = [embedder.text_of(memory.content, memory.metadata) for memory in new]
    vectors = await embedder.each(parts.runner, texts)
    pairs = [
        (memory, vector) for memory, vector in zip(new, vectors, strict=True) if vector is not None
    ]
    if not pairs:
        return 0
    store = parts.tiers.long_term
    count: int = await store.put_vectors(pairs, embedder.space_of(pairs[0][1]))
    return count


async def _space(runner: Runner, embedder: Embedder, spaces: Sequence[Space]) -> Space:
    """Return the space of an embedder, without asking it if the store knows how long it is."""
    for stored in spaces:
        if stored.name == embedder.name:
            return stored
    return embedder.space_of(await embedder.query(runner, PROBE))


async def stored_spaces(parts: Parts) -> list[Space]:
    """Return the embedding spaces of long-term memory, the current one first.

    Args:
        parts: The stores and the rules of the memory.

    Returns:
        The spaces.
    """
    store = parts.tiers.long_term
    spaces: list[Space] = await store.known_spaces()
    return spaces


def embedder_of(parts: Parts) -> Embedder:
    """Require an embedding model.

    Args:
        parts: The stores and the rules of the memory.

    Returns:
        The model.

    Raises:
        SettingError: Without one.
    """
    if parts.embedder is None:
        raise SettingError(
            "embeddings: this memory has no embedding model; open it with embeddings="
        )
    return parts.embedder

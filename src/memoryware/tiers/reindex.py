"""Reindex: embed memories without a vector, and move to another embedding model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

from memoryware._runner import Runner
from memoryware.errors import EmbeddingFailed, EmbeddingMismatch, SettingError
from memoryware.events import logger
from memoryware.tiers._parts import Parts
from memoryware.tiers.embedding import PROBE, Embedder
from memoryware.tiers.model import Memory
from memoryware.tiers.stores.protocol import Space
from memoryware.tiers.values import Reindexed

OnProgress: TypeAlias = Callable[[int], None] | None
"""Is called with the number of texts that were embedded so far."""
_COUNTED: Final = 100_000
"""Memories without a vector that are counted at most where a model fails."""


async def check_space(parts: Parts, on_mismatch: str) -> None:
    """Compare the embedding model with the vectors that are stored.

    The length of its vectors is known only after the first one, and is checked then.

    Args:
        parts: The stores and the rules of the memory.
        on_mismatch: "raise", or "words" to search by words alone.

    Raises:
        EmbeddingMismatch: If they are of another model, unless `on_mismatch` is "words".
    """
    current = next(iter(await _stored_spaces(parts)), None)
    if parts.embedder is None or current is None or current.name == parts.embedder.name:
        return
    if on_mismatch == "raise":
        raise EmbeddingMismatch(str(current), parts.embedder.name)
    logger.warning(
        "long-term memory has embeddings of %s and is asked with %s: words alone find until"
        " reindex()",
        current,
        parts.embedder.name,
    )


async def where_vectors_go(parts: Parts, space: Space) -> Literal["current", "beside", "nowhere"]:
    """Decide where vectors of a space may be stored now.

    A store that was opened to serve words alone keeps those of a new model beside the old ones, so
    that `reindex` has less to do.

    Args:
        parts: The stores and the rules of the memory.
        space: Their space.

    Returns:
        "current", "beside" the vectors of another model, or "nowhere".

    Raises:
        EmbeddingMismatch: If the store has another model, or another length of its vectors.
    """
    spaces = await _stored_spaces(parts)
    named = next((stored for stored in spaces if stored.name == space.name), space)
    against = named if named != space else spaces[0] if spaces and spaces[0] != space else None
    if against is None:
        return "current"
    if parts.on_mismatch == "raise":
        raise EmbeddingMismatch(str(against), str(space))
    return "beside" if named == space else "nowhere"


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
    embedder = _embedder(parts)
    if space is None:
        spaces = await _stored_spaces(parts)
        space = await _space(parts.runner, embedder, spaces)
        if spaces and spaces[0] != space:
            return 0
    done, _ = await _embed(parts, space, limit, again=again)
    return done


async def reindex(parts: Parts, on_progress: OnProgress = None) -> Reindexed:
    """Embed everything with the present model, then forget the vectors of all others.

    Until everything is embedded, those who ask with the old model go on with its vectors, and words
    alone find for those who ask with the present one. What was embedded before an interruption is
    not embedded again.

    Args:
        parts: The stores and the rules of the memory.
        on_progress: Is called with the number of embedded texts after each batch.

    Returns:
        The space, how many memories got a vector, and how many still have none.

    Raises:
        EmbeddingFailed: If the model cannot be asked at all; nothing has changed then.
        EmbeddingMismatch: If the store knows the name of the present model with another length of
            its vectors: open with another `embedding_space`.
        SettingError: Without an embedder.
    """
    embedder = _embedder(parts)
    space = embedder.space_of(await embedder.query(parts.runner, PROBE))
    store = parts.tiers.long_term
    await _check_vector_length(parts, space)
    before = (await store.spaces()).get(space, 0)
    try:
        done, failed = await _embed(parts, space, on_progress=on_progress)
    except EmbeddingFailed as error:
        done = (await store.spaces()).get(space, 0) - before
        left = await store.unembedded(space, limit=_COUNTED)
        logger.warning("%s; call reindex() again to go on with the other %d", error, len(left))
        return Reindexed(space=str(space), embedded=done, failed=len(left))
    # Only now: readers with the old model use its vectors until everything has a new one.
    await store.adopt(space, drop_others=True)
    more, failed = await _embed(parts, space)  # what was promoted meanwhile
    return Reindexed(space=str(space), embedded=done + more, failed=failed)


async def _embed(
    parts: Parts,
    space: Space,
    limit: int | None = None,
    *,
    again: bool = True,
    on_progress: OnProgress = None,
) -> tuple[int, int]:
    """Embed what has no vector in a space; return how many got one, and how many did not."""
    embedder, store = _embedder(parts), parts.tiers.long_term
    done, tried = 0, dict[str, None]()
    while limit is None or len(tried) < limit:
        count = embedder.batch if limit is None else min(embedder.batch, limit - len(tried))
        passed = len(tried) - done
        waiting = await store.unembedded(space, limit=count + passed)
        new = [memory for memory in waiting if memory.id not in tried]
        tried.update(dict.fromkeys(memory.id for memory in new))
        if not again:
            new = [memory for memory in new if not embedder.cache.has_refused(memory.content)]
        if not new:
            break
        done += await _keep(parts, embedder, new)
        if on_progress is not None:
            on_progress(done)
    return done, len(tried) - done


async def _keep(parts: Parts, embedder: Embedder, new: Sequence[Memory]) -> int:
    vectors = await embedder.each(parts.runner, [memory.content for memory in new])
    pairs = [
        (memory, vector) for memory, vector in zip(new, vectors, strict=True) if vector is not None
    ]
    if not pairs:
        return 0
    store = parts.tiers.long_term
    count: int = await store.put_vectors(pairs, embedder.space_of(pairs[0][1]))
    return count


async def _check_vector_length(parts: Parts, space: Space) -> None:
    """Refuse vectors of another length under a name that the store knows.

    Both could not be there side by side, so that words alone would find until all is done.
    """
    for stored in await _stored_spaces(parts):
        if stored.name == space.name and stored != space:
            raise EmbeddingMismatch(str(stored), str(space))


async def _space(runner: Runner, embedder: Embedder, spaces: Sequence[Space]) -> Space:
    """Return the space of an embedder, without asking it if the store knows how long it is."""
    for stored in spaces:
        if stored.name == embedder.name:
            return stored
    return embedder.space_of(await embedder.query(runner, PROBE))


async def _stored_spaces(parts: Parts) -> list[Space]:
    store = parts.tiers.long_term
    spaces: list[Space] = await store.known_spaces()
    return spaces


def _embedder(parts: Parts) -> Embedder:
    if parts.embedder is None:
        raise SettingError(
            "embeddings: this memory has no embedding model; open it with embeddings="
        )
    return parts.embedder

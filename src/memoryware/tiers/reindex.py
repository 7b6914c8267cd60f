"""Reindex: move long-term memory to another embedding model, and check which one it has."""

from __future__ import annotations

from typing import Final, Literal

from memoryware.errors import EmbeddingFailed, EmbeddingMismatch
from memoryware.events import logger
from memoryware.tiers._parts import Parts
from memoryware.tiers.embedding import PROBE
from memoryware.tiers.embedding_retry import OnProgress, embed_missing, embedder_of, stored_spaces
from memoryware.tiers.stores.protocol import Space
from memoryware.tiers.values import Reindexed

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
    current = next(iter(await stored_spaces(parts)), None)
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
    spaces = await stored_spaces(parts)
    named = next((stored for stored in spaces if stored.name == space.name), space)
    against = named if named != space else spaces[0] if spaces and spaces[0] != space else None
    if against is None:
        return "current"
    if parts.on_mismatch == "raise":
        raise EmbeddingMismatch(str(against), str(space))
    return "beside" if named == space else "nowhere"


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
    embedder = embedder_of(parts)
    space = embedder.space_of(await embedder.query(parts.runner, PROBE))
    store = parts.tiers.long_term
    await _check_vector_length(parts, space)
    before = (await store.spaces()).get(space, 0)
    try:
        done, failed = await embed_missing(parts, space, on_progress=on_progress)
    except EmbeddingFailed as error:
        done = (await store.spaces()).get(space, 0) - before
        left = await store.unembedded(space, limit=_COUNTED)
        logger.warning("%s; call reindex() again to go on with the other %d", error, len(left))
        return Reindexed(space=str(space), embedded=done, failed=len(left))
    # Only now: readers with the old model use its vectors until everything has a new one.
    await store.adopt(space, drop_others=True)
    more, failed = await embed_missing(parts, space)  # what was promoted meanwhile
    return Reindexed(space=str(space), embedded=done + more, failed=failed)


async def _check_vector_length(parts: Parts, space: Space) -> None:
    """Refuse vectors of another length under a name that the store knows.

    Both could not be there side by side, so that words alone would find until all is done.
    """
    for stored in await stored_spaces(parts):
        if stored.name == space.name and stored != space:
            raise EmbeddingMismatch(str(stored), str(space))

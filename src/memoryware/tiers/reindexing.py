"""Vectors that are missing, and moving to another embedding model."""

from __future__ import annotations

from memoryware._twins import Via
from memoryware.errors import EmbeddingFailed, EmbeddingMismatch, SettingError
from memoryware.events import logger
from memoryware.tiers._parts import Parts
from memoryware.tiers.embedding import Embedder
from memoryware.tiers.stores.protocol import Space
from memoryware.tiers.values import Reindexed

_PROBE = "memory"
"""A text that is embedded to learn how long the vectors of a model are."""


async def check_space(parts: Parts, via: Via, on_mismatch: str) -> None:
    """Hold the embedder against the vectors that are there.

    Raises:
        EmbeddingMismatch: If they are of another model, unless words shall find alone.
    """
    store = parts.stores.long_term
    known = list(await via(store.spaces, store.aspaces))
    if parts.embedder is None or not known:
        return
    current = known[0]
    if current.name == parts.embedder.name:
        return
    if on_mismatch == "raise":
        raise EmbeddingMismatch(str(current), parts.embedder.name)
    logger.warning(
        "long-term memory has embeddings of %s and is asked with %s: words alone find until"
        " reindex()",
        current,
        parts.embedder.name,
    )


async def writes_vectors(parts: Parts, via: Via, space: Space) -> bool:
    """Say whether vectors of this space may be stored beside those that are there.

    They may not where the store has another model, until `reindex` has moved it.

    Raises:
        EmbeddingMismatch: If the same model makes vectors of another length now.
    """
    store = parts.stores.long_term
    known = list(await via(store.spaces, store.aspaces))
    for one in known:
        if one.name == space.name and one.dimension != space.dimension:
            raise EmbeddingMismatch(str(one), str(space))
    return not known or known[0] == space


async def embed_pending(parts: Parts, via: Via, limit: int | None = None) -> int:
    """Embed memories that have no vector yet, oldest first; return how many got one.

    Raises:
        EmbeddingFailed: If the model does not answer; what was done stays done.
    """
    embedder = _embedder(parts)
    store, done = parts.stores.long_term, 0
    known = list(await via(store.spaces, store.aspaces))
    if known and known[0].name != embedder.name:
        return 0
    while limit is None or done < limit:
        some = embedder.batch if limit is None else min(embedder.batch, limit - done)
        embedded = await _embed_some(parts, via, embedder, known[0] if known else None, some)
        if not embedded:
            break
        done += embedded
    return done


async def reindex(parts: Parts, via: Via) -> Reindexed:
    """Embed everything with the present model, then forget the vectors of all others."""
    embedder = _embedder(parts)
    space = embedder.space_of(await embedder.query(via, _PROBE))
    store, done, failed = parts.stores.long_term, 0, 0
    try:
        while embedded := await _embed_some(parts, via, embedder, space, embedder.batch):
            done += embedded
    except EmbeddingFailed as error:
        failed = len(await via(store.unembedded, store.aunembedded, space, limit=1_000_000))
        logger.warning("%s; call reindex() again to go on with the other %d", error, failed)
        return Reindexed(space=str(space), embedded=done, failed=failed)
    await via(store.adopt, store.aadopt, space, drop_others=True)
    return Reindexed(space=str(space), embedded=done, failed=failed)


async def _embed_some(
    parts: Parts, via: Via, embedder: Embedder, space: Space | None, limit: int
) -> int:
    """Embed the oldest memories without a vector; return how many got one."""
    store = parts.stores.long_term
    space = space or embedder.space_of(await embedder.query(via, _PROBE))
    waiting = await via(store.unembedded, store.aunembedded, space, limit=limit)
    if not waiting:
        return 0
    vectors = await embedder.documents(via, [one.content for one in waiting])
    pairs = [(one.id, vector) for one, vector in zip(waiting, vectors, strict=True)]
    kept: int = await via(
        store.put_vectors, store.aput_vectors, pairs, embedder.space_of(vectors[0])
    )
    return kept


def _embedder(parts: Parts) -> Embedder:
    if parts.embedder is None:
        raise SettingError("embeddings: this memory was opened without; words alone find")
    return parts.embedder

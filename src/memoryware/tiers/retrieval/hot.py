"""What working memory knows of a query: the newest, or what fits best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memoryware._remembering import remembered
from memoryware.errors import EmbeddingFailed
from memoryware.events import logger
from memoryware.tiers.fusing import judged
from memoryware.tiers.ranking import best_first, cosine, lone_characters, words_of
from memoryware.tiers.records import Entry, Trust
from memoryware.tiers.retrieval.asking import Considered, Search
from memoryware.tiers.retrieval.standing import stand_as_promoted
from memoryware.tiers.stores._looking import Item, look
from memoryware.tiers.stores.sight import Query, Vector


async def ask_hot(search: Search) -> list[Considered]:
    """Return everything in working memory of the group, the newest first, with scores."""
    parts, via, store = search.parts, search.via, search.parts.stores.working
    limit = parts.limits.working_entries
    page = await via(store.find, store.afind, search.live(), limit=limit)
    found = [_considered(one, place) for place, one in enumerate(page.items, 1)]
    await stand_as_promoted(search, found)
    vectors = await vectors_of(search, found) if search.ranks_hot else [None] * len(found)
    _judge(search, found, vectors)
    if search.ranks_hot:
        measured = any(one.found.similarity is not None for one in found)
        for one in found:
            one.weigh(search, vectors=measured)
    for way, value in (("words", "words"), ("vectors", "similarity")):
        ranked = best_first(found, lambda one, name=value: getattr(one.found, name))  # type: ignore[misc]
        for place, one in enumerate(ranked, 1):
            one.ranks[way] = place
    for one in found:
        if one.record.provenance.trust is Trust.UNTRUSTED and not _is_about(search, one):
            one.leave_out("from_outside", "it came from outside, and is not about the query")
        elif one.left_out is None and search.ranks_hot:
            search.covered = max(search.covered, one.found.coverage)
    return found


def _is_about(search: Search, one: Considered) -> bool:
    """Say whether an entry has words of the query, or is near it.

    What came from outside is shown on no other ground: an answer is trusted no more than
    what was shown before it.
    """
    near = one.found.similarity or 0
    return bool(one.found.words) or near >= search.parts.limits.outside_similarity


@remembered(256)
def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a text, which is asked again with the next query."""
    return tuple(words_of(text))


def looked_at(search: Search, one: Considered) -> str:
    """Return the part of a text that a query is held against."""
    return one.record.content[: search.parts.limits.hot_chars]


async def vectors_of(search: Search, found: Sequence[Considered]) -> Sequence[Vector | None]:
    """Return a vector for each text, None for all where nothing can be compared."""
    embedder = search.parts.embedder
    if search.vector is None or embedder is None or not found:
        return [None] * len(found)
    texts = [looked_at(search, one) for one in found]
    try:
        return await embedder.each(search.via, texts)
    except EmbeddingFailed as failed:
        logger.warning("%s; working memory is compared by words", failed)
        search.note(f"{failed}; working memory was compared by words")
        return [None] * len(found)


def _considered(entry: Entry, place: int) -> Considered:
    return Considered(entry, "hot", 1.0, ranks={"recency": place})


def _judge(search: Search, found: Sequence[Considered], vectors: Sequence[Vector | None]) -> None:
    """Say of each entry what words and meaning say of it, among what is here."""
    texts = [Counter(words_in(looked_at(search, one))) for one in found]
    for word in lone_characters(search.words):  # they stand in pairs among the words
        for one, words in zip(found, texts, strict=True):
            words[word] = looked_at(search, one).count(word)
    sessions = search.parts.ranking.sessions
    items = [
        Item(
            (sessions and one.record.scope.session_id) or one.record.id, words, words.total(), near
        )
        for one, words, vector in zip(found, texts, vectors, strict=True)
        for near in (_cosine(search.vector, vector),)
    ][::-1]  # in the order of storing
    every = len(items)
    query = Query(words=search.words, limit=every, reach=search.parts.ranking.reach, thread=every)
    sight, places = look(items, query, (one.words for one in items))
    seen = dict(zip(places, judged(sight, search.parts.ranking), strict=True))
    for place, one in enumerate(reversed(found)):
        one.found = seen.get(place, one.found)


def _cosine(one: Vector | None, other: Vector | None) -> float | None:
    if one is None or other is None or len(one) != len(other):
        return None
    return cosine(one, other)

"""Search of working memory: its entries are scored by the same measure as long-term memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memoryware._remembering import remembered
from memoryware.errors import EmbeddingFailed
from memoryware.events import logger
from memoryware.tiers.fusing import WordStatistics, judged
from memoryware.tiers.records import Trust
from memoryware.tiers.retrieval.asking import Considered, Search
from memoryware.tiers.retrieval.standing import stand_as_promoted
from memoryware.tiers.retrieval.withholding import withhold
from memoryware.tiers.scoring import best_first, cosine
from memoryware.tiers.stores._looking import Item, look
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sight import Query, Vector
from memoryware.tiers.text.terms import lone_characters, words_of


@dataclass(frozen=True, slots=True)
class HotEntries:
    """The entries of working memory that a query is compared with, the newest first.

    Attributes:
        candidates: The entries.
        words: How often each word stands in each of them.
        vectors: The vector of each, None where there is none.
    """

    candidates: Sequence[Considered]
    words: Sequence[Counter[str]]
    vectors: Sequence[Vector | None] = ()


async def load_hot(search: Search) -> HotEntries:
    """Read working memory of the group, and count its words for the search of both layers."""
    store, limit = search.parts.tiers.working, search.parts.limits.working_entries
    page = await store.find(search.live(), limit=limit)
    candidates = [
        Considered(entry, "hot", 1.0, is_by_time=not search.ranks_hot, ranks={"recency": place})
        for place, entry in enumerate(page.items, 1)
    ]
    words = [Counter(words_in(looked_at(search, one))) for one in candidates]
    for word in lone_characters(search.words):  # they stand in pairs among the words
        for candidate, counts in zip(candidates, words, strict=True):
            counts[word] = looked_at(search, candidate).count(word)
    if search.ranks_hot:
        having = tuple(sum(counts[word] > 0 for counts in words) for word in search.words)
        search.hot_words = WordStatistics(
            having, len(words), sum(counts.total() for counts in words)
        )
    return HotEntries(candidates, words)


async def load_revoked(search: Search) -> list[Considered]:
    """Return entries of working memory that were taken back, for an explanation only."""
    store = search.parts.tiers.working
    page = await store.find(Select.within(search.scope))
    revoked = [
        Considered(entry, "hot")
        for entry in page.items
        if entry.revocation is not None
        and (entry.expires_at is None or entry.expires_at > search.now)
    ]
    for one in revoked:
        one.leave_out("revoked", f"taken back with receipt {one.record.revocation}")
    return revoked


async def compare_hot(search: Search, entries: HotEntries) -> HotEntries:
    """Note which entries were promoted, and embed them where they are compared by meaning.

    This takes a model and another tier, so it runs beside the search of long-term memory.
    """
    await stand_as_promoted(search, entries.candidates)
    if not search.ranks_hot:
        return entries
    vectors = await vectors_of(search, entries.candidates)
    return HotEntries(entries.candidates, entries.words, vectors)


def judge_hot(search: Search, entries: HotEntries) -> list[Considered]:
    """Return the entries with what words and meaning say of them, by the measure of the search."""
    candidates = entries.candidates
    _judge(search, entries)
    for way, value in (("words", "words"), ("vectors", "similarity")):
        ranked = best_first(candidates, lambda one, name=value: getattr(one.found, name))  # type: ignore[misc]
        for place, one in enumerate(ranked, 1):
            one.ranks[way] = place
    for one in candidates:
        withhold(search, one)
        if one.record.provenance.trust is Trust.UNTRUSTED and not _is_about(search, one):
            one.leave_out("from_outside", "it came from outside, and is not about the query")
        elif one.left_out is None and search.ranks_hot:
            search.covered = max(search.covered, one.found.coverage)
    return list(candidates)


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


async def vectors_of(search: Search, candidates: Sequence[Considered]) -> Sequence[Vector | None]:
    """Return a vector for each text, None for all where nothing can be compared."""
    embedder = search.parts.embedder
    if search.vector is None or embedder is None or not candidates:
        return [None] * len(candidates)
    texts = [looked_at(search, one) for one in candidates]
    try:
        return await embedder.each(search.parts.runner, texts)
    except EmbeddingFailed as failed:
        logger.warning("%s; working memory is compared by words", failed)
        search.note(f"{failed}; working memory was compared by words")
        return [None] * len(candidates)


def _judge(search: Search, entries: HotEntries) -> None:
    """Give each entry what words and meaning say of it."""
    vectors = entries.vectors or [None] * len(entries.candidates)
    sessions = search.parts.ranking.sessions
    items = [
        Item(
            (sessions and one.record.scope.session_id) or one.record.id,
            counts,
            counts.total(),
            _cosine(search.vector, vector),
        )
        for one, counts, vector in zip(entries.candidates, entries.words, vectors, strict=True)
    ][::-1]  # in the order of storing
    every, rules = len(items), search.parts.ranking
    query = Query(words=search.words, limit=every, reach=rules.reach, thread=every)
    sight, places = look(items, query, (item.words for item in items))
    corpus = search.corpus if search.ranks_hot else None
    seen = dict(zip(places, judged(sight, rules, corpus), strict=True))
    for place, one in enumerate(reversed(entries.candidates)):
        one.found = seen.get(place, one.found)


def _cosine(one: Vector | None, other: Vector | None) -> float | None:
    if one is None or other is None or len(one) != len(other):
        return None
    return cosine(one, other)

"""Recall: hot and cold side by side, words and meaning together, and why each text came."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from memoryware._twins import Via
from memoryware.errors import EmbeddingFailed, EmbeddingMismatch, MemorywareError, StoreUnavailable
from memoryware.events import emit, logger
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.contradiction import contradictions_among
from memoryware.tiers.noticing import notice_recalled
from memoryware.tiers.ranking import Found, cosine, fused, query_words, words_of
from memoryware.tiers.records import Entry, Memory, hash_of
from memoryware.tiers.stores.protocol import Hit, Select, Vector
from memoryware.tiers.values import Candidate, ContextItem, Recall

Source = Literal["hot", "cold"]
_BOTH: Final[tuple[Source, ...]] = ("hot", "cold")
"""Both tiers that are recalled from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a recall is asked for; see `TieredMemory.retrieve`."""

    session_id: str | None = None
    agent_id: str | None = None
    max_results: int | None = None
    score_threshold: float | None = None
    time_range_days: float | None = None
    at: datetime | None = None
    layers: tuple[Source, ...] = _BOTH
    explain: bool = False
    hot_items: int | None = None
    cold_items: int | None = None
    query_vector: Vector | None = None


@dataclass(slots=True)
class _Considered:
    """A text that was found, and what speaks for and against it."""

    item: ContextItem
    found: Found = field(default_factory=Found)
    ranks: dict[str, int] = field(default_factory=dict)
    left_out: str | None = None
    detail: str = ""

    @property
    def values(self) -> dict[str, float]:
        pairs = {"words": self.found.words, "vectors": self.found.similarity}
        return {name: value for name, value in pairs.items() if value is not None}

    @property
    def reason(self) -> str:
        ways = {
            "recency": "among the newest of working memory",
            "words": "has words of the query",
            "vectors": "is near the query in meaning",
            "neighbours": "stands beside a text that was found",
        }
        return "; ".join(said for way, said in ways.items() if way in self.ranks)

    def leave_out(self, code: str, detail: str) -> None:
        if self.left_out is None:
            self.left_out, self.detail = code, detail

    def candidate(self) -> Candidate:
        return Candidate(
            item=self.item,
            ranks=self.ranks,
            values=self.values,
            reason=self.reason,
            left_out=self.left_out,
            detail=self.detail,
        )


@dataclass(slots=True)
class _Search:
    """One recall on its way."""

    parts: Parts
    via: Via
    query: str
    scope: MemoryScope
    wanted: Wanted
    now: datetime
    vector: Vector | None = None
    failed: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        return query_words(self.query)


async def retrieve(
    parts: Parts, via: Via, query: str, scope: MemoryScope, *, wanted: Wanted = Wanted()
) -> Recall:
    """Return what working and long-term memory know about a query, best first.

    Raises:
        StoreUnavailable: If every tier that was asked fails and `on_error` is "raise".
    """
    text = query.strip()[: parts.limits.query_chars]
    if not scope.group_id or not text:
        return Recall()
    started = time.monotonic()
    search = _Search(parts, via, text, scope, wanted, wanted.at or parts.clock())
    await _embed(search)
    asked: list[Coroutine[Any, Any, list[_Considered]]] = [
        _safely(search, source, ask)
        for source, ask in (("hot", _hot), ("cold", _cold))
        if source in wanted.layers and (source == "cold" or wanted.at is None)
    ]
    found = [one for some in await via.all(asked) for one in some]
    _tell_failures(search, len(asked), started)
    kept = _chosen(search, found)
    items = [one.item for one in kept]
    notice_recalled(items)
    similarities = [one.similarity for one in items if one.similarity is not None]
    emit(
        parts.teller(scope),
        "retrieved",
        hot=sum(one.source == "hot" for one in items),
        cold=sum(one.source == "cold" for one in items),
        best=max(similarities, default=None),
        ms=round((time.monotonic() - started) * 1000, 3),
    )
    return Recall(
        items,
        candidates=[one.candidate() for one in found] if wanted.explain else (),
        contradictions=contradictions_among(items),
        failed=search.failed,
        notes=search.notes,
    )


async def _embed(search: _Search) -> None:
    """Embed the query once for everything that is asked; words serve where that fails."""
    embedder, wanted = search.parts.embedder, search.wanted
    if embedder is None or wanted.query_vector is not None:
        search.vector = wanted.query_vector if embedder is not None else None
        return
    try:
        search.vector = await embedder.query(search.via, search.query)
    except EmbeddingFailed as failed:
        logger.warning("%s; words alone are searched", failed)
        search.notes.append(f"{failed}; words alone were searched")


async def _safely(
    search: _Search,
    source: Source,
    ask: Callable[[_Search], Coroutine[Any, Any, list[_Considered]]],
) -> list[_Considered]:
    """Ask one tier; what it cannot answer must not take the other's answer away."""
    try:
        return await ask(search)
    except Exception as error:  # noqa: BLE001 - a store may be anybody's; it is told and noted
        search.failed.append(source)
        search.errors.append(error)
        search.notes.append(f"{source} memory could not be asked: {type(error).__name__}")
        return []


def _tell_failures(search: _Search, asked: int, started: float) -> None:
    for source, error in zip(search.failed, search.errors, strict=True):
        logger.warning("%s memory could not be asked: %s", source, error)
        ms = round((time.monotonic() - started) * 1000, 3)
        to = search.parts.teller(search.scope)
        emit(to, "retrieval_error", error=type(error).__name__, ms=ms)
    if asked and len(search.failed) == asked and search.parts.on_error == "raise":
        first = search.errors[0]
        if isinstance(first, MemorywareError):
            raise first
        raise StoreUnavailable(f"memory could not be asked: {type(first).__name__}") from first


# Hot.


async def _hot(search: _Search) -> list[_Considered]:
    parts, via, store = search.parts, search.via, search.parts.stores.working
    which = Select.within(search.scope, live_at=search.now)
    entries = (await via(store.find, store.afind, which, limit=parts.limits.working_entries)).items
    found = [
        _Considered(_hot_item(one), ranks={"recency": place})
        for place, one in enumerate(entries, 1)
    ]
    most = search.wanted.hot_items
    most = parts.limits.hot_items if most is None else most
    relevance = parts.hot_ranking or ("relevance" if parts.embedder else "recency")
    if relevance == "relevance":
        await _weigh(search, found)
        found.sort(key=lambda one: -one.item.score)
    for one in found[most:]:
        one.leave_out("limit", f"working memory gives {most} at most")
    return found


def _hot_item(entry: Entry) -> ContextItem:
    return ContextItem(
        id=entry.id,
        content=entry.content,
        source="hot",
        score=1.0,
        created_at=entry.created_at,
        scope=entry.scope,
        provenance=entry.provenance,
        verdict=entry.verdict,
        metadata=entry.metadata,
    )


async def _weigh(search: _Search, found: list[_Considered]) -> None:
    """Give working memory scores by what fits the query; recency stays where that fails."""
    vectors: Sequence[Vector | None] = [None] * len(found)
    embedder = search.parts.embedder
    if search.vector is not None and embedder is not None and found:
        try:
            vectors = await embedder.documents(search.via, [one.item.content for one in found])
        except EmbeddingFailed as failed:
            logger.warning("%s; working memory is ranked by words", failed)
            search.notes.append(f"{failed}; working memory was ranked by words")
    query = set(search.words)
    for one, vector in zip(found, vectors, strict=True):
        same = query & set(words_of(one.item.content))
        similarity = cosine(search.vector, vector) if search.vector and vector else None
        one.found = Found(words=float(len(same)) or None, similarity=similarity)
        if same:
            one.ranks["words"] = 0
        one.item = replace(one.item, score=fused(one.found), similarity=similarity)
    _rank(found, "words", lambda one: one.found.words)
    _rank(found, "vectors", lambda one: one.found.similarity)


# Cold.


async def _cold(search: _Search) -> list[_Considered]:
    parts, wanted = search.parts, search.wanted
    agent = wanted.agent_id or search.scope.agent_id
    which = Select.within(search.scope, live_at=search.now)
    if wanted.session_id is not None:
        which = which.also(sessions=(wanted.session_id,))
    most = parts.limits.cold_items if wanted.cold_items is None else wanted.cold_items
    lists = [_cold_list(search, which.also(agents=(None,)), most, "group")]
    if agent is not None:
        most = parts.limits.agent_items
        lists.append(_cold_list(search, which.also(agents=(agent,)), most, "agent"))
    return [one for some in await search.via.all(lists) for one in some]


async def _cold_list(search: _Search, which: Select, most: int, whose: str) -> list[_Considered]:
    """Return memories of the group or of one agent, the best first."""
    store, via = search.parts.stores.long_term, search.via
    limit = search.parts.limits.candidates
    found: dict[str, _Considered] = {}
    by_words = await via(store.by_words, store.aby_words, search.words, which, limit=limit)
    _note(found, by_words, "words")
    for hit in by_words:
        one = found[hit.memory.id]
        one.found = replace(one.found, words=hit.value)
    for hit in await _by_vector(search, which, limit):
        _note(found, [hit], "vectors")
        one = found[hit.memory.id]
        one.found = replace(one.found, similarity=hit.value)
    _rank(found.values(), "vectors", lambda one: one.found.similarity)
    await _lend(search, which, found)
    ranked = []
    for one in found.values():
        one.item = replace(one.item, score=fused(one.found), similarity=one.found.similarity)
        ranked.append(one)
    ranked.sort(key=_order)
    for one in ranked[most:]:
        one.leave_out("limit", f"long-term memory of the {whose} gives {most} at most")
    return ranked


async def _by_vector(search: _Search, which: Select, limit: int) -> list[Hit]:
    embedder, store = search.parts.embedder, search.parts.stores.long_term
    if search.vector is None or embedder is None:
        return []
    space = embedder.space_of(search.vector)
    try:
        hits: list[Hit] = await search.via(
            store.by_vector, store.aby_vector, search.vector, which, space=space, limit=limit
        )
    except EmbeddingMismatch as mismatch:
        logger.warning("%s", mismatch)
        search.notes.append(str(mismatch))
        return []
    return hits


async def _lend(search: _Search, which: Select, found: dict[str, _Considered]) -> None:
    """Let chunks beside those that were found take part."""
    documents = {
        one.item.document_id: None
        for one in found.values()
        if int(one.item.metadata.get("chunk_count", 1)) > 1
    }
    if not documents:
        return
    store = search.parts.stores.long_term
    names = tuple(name for name in documents if name)
    rest = await search.via(store.find, store.afind, which.also(documents=names))
    places = {(one.document_id, one.chunk_index): one.id for one in rest.items}
    for one in rest.items:
        beside = [places.get((one.document_id, one.chunk_index + step)) for step in (-1, 1)]
        scores = [fused(found[id_].found) for id_ in beside if id_ in found]
        if scores and one.id not in found and max(scores) > 0:
            found[one.id] = _Considered(_cold_item(one), ranks={"neighbours": 1})


def _cold_item(memory: Memory) -> ContextItem:
    metadata = {**memory.metadata, "chunk_count": memory.chunk_count}
    return ContextItem(
        id=memory.id,
        content=memory.content,
        source="cold",
        score=0.0,
        created_at=memory.created_at,
        scope=memory.scope,
        provenance=memory.provenance,
        verdict=memory.verdict,
        metadata=metadata,
        document_id=memory.document_id,
        subject=memory.subject,
    )


def _note(found: dict[str, _Considered], hits: Iterable[Hit], way: str) -> None:
    for place, hit in enumerate(hits, 1):
        one = found.setdefault(hit.memory.id, _Considered(_cold_item(hit.memory)))
        one.ranks[way] = place


def _rank(
    found: Iterable[_Considered], way: str, value: Callable[[_Considered], float | None]
) -> None:
    """Note the place of each text in the order of a value."""
    having = [one for one in found if value(one) is not None]
    for place, one in enumerate(sorted(having, key=lambda one: -(value(one) or 0)), 1):
        one.ranks[way] = place


# Together.


def _chosen(search: _Search, found: list[_Considered]) -> list[_Considered]:
    """Return what is shown, best first; note of the others why they are not."""
    wanted = search.wanted
    if wanted.time_range_days is not None:
        since = search.now - timedelta(days=wanted.time_range_days)
        for one in found:
            if one.item.created_at < since:
                one.leave_out("time_range", f"older than {wanted.time_range_days} days")
    _cut_by_threshold(search, found)
    _drop_doubles(found)
    kept = sorted((one for one in found if one.left_out is None), key=_order)
    if wanted.max_results is not None:
        for one in kept[wanted.max_results :]:
            one.leave_out("limit", f"max_results={wanted.max_results}")
        kept = kept[: wanted.max_results]
    return kept


def _cut_by_threshold(search: _Search, found: list[_Considered]) -> None:
    threshold = search.wanted.score_threshold
    if threshold is None:
        return
    measured = [one for one in found if one.item.similarity is not None]
    for one in measured:
        below = (one.item.similarity or 0) < threshold
        if below and one.found.words is None:
            one.leave_out("threshold", f"similarity {one.item.similarity:.2f} < {threshold}")
    if measured and all(one.left_out for one in measured):
        best = max(one.item.similarity or 0 for one in measured)
        logger.info("nothing reaches score_threshold=%s; the best has %.3f", threshold, best)


def _drop_doubles(found: list[_Considered]) -> None:
    """Show what is hot and cold once, as cold: somebody promoted it."""
    cold = [one for one in found if one.item.source == "cold" and one.left_out is None]
    whole = {str(one.item.metadata.get("content_hash")): one for one in cold}
    whole |= {hash_of(one.item.content): one for one in cold}
    for one in found:
        if one.item.source == "hot" and (same := whole.get(hash_of(one.item.content))):
            one.leave_out("duplicate", f"the same as {same.item.id} of long-term memory")


def _order(one: _Considered) -> tuple[bool, float, float, str]:
    wrong = one.item.verdict is not None and not one.item.verdict.verified
    return wrong, -one.item.score, -one.item.created_at.timestamp(), one.item.id

"""`retrieve`: both tiers side by side, one answer, and an event that says how it went."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from memoryware.errors import EmbeddingFailed, MemorywareError, StoreUnavailable
from memoryware.events import Span, emit, logger, span
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, warn_without_group
from memoryware.tiers.noticing import notice_recalled
from memoryware.tiers.retrieval.asking import BOTH, Considered, Search, Source, Wanted
from memoryware.tiers.retrieval.choosing import choose
from memoryware.tiers.retrieval.cold import ask_cold
from memoryware.tiers.retrieval.hot import compare_hot, judge_hot, load_hot, load_revoked
from memoryware.tiers.text.contradictions import contradictions_among
from memoryware.tiers.values import Recall

_ANYTHING: Final = Wanted()
T = TypeVar("T")


async def retrieve(
    parts: Parts, query: str, scope: MemoryScope, *, wanted: Wanted = _ANYTHING
) -> Recall:
    """Return what working and long-term memory know about a query, best first.

    Raises:
        StoreUnavailable: If every tier that was asked fails and `on_error` is "raise".
        SettingError: For a query that is no text.
    """
    checking.text("query", query)
    text = query.strip()[: parts.limits.query_chars].encode("utf-8", "replace").decode()
    if not scope.group_id:
        warn_without_group(scope)
        return Recall(notes=["there is no group in the scope, so nothing was asked"])
    if not text:
        return Recall()
    search = Search(parts, text, scope, wanted, wanted.at or parts.clock())
    teller = parts.teller(scope)
    with span("memory.recall", teller) as work:
        await _embed(search)
        found = await _searched(search)
        asked = sum(_is_asked(search, source) for source in BOTH)
        _tell_failures(search, asked, work)
        kept = await choose(search, found)
        items = [one.item() for one in kept]
        notice_recalled(items)
        parts.recalls.note(scope, (one.id for one in items))
        emit(teller, "retrieved", within=work, **_facts(kept), ms=work.ms)
    recall = Recall(
        items,
        candidates=[one.candidate() for one in found] if wanted.explain else (),
        failed=search.failed,
        notes=search.notes,
    )
    recall.compare_later(partial(contradictions_among, items))
    return recall


async def _searched(search: Search) -> list[Considered]:
    """Return what both tiers have, with scores that can be compared.

    Working memory is read first, which is one short call: how rare a word is is counted over
    both layers, and long-term memory has to know it when it chooses what to read. The slow
    parts, embedding entries and searching long-term memory, run at the same time.
    """
    hot, cold = (_is_asked(search, source) for source in BOTH)
    entries = await _safely(search, "hot", load_hot(search)) if hot else None
    work: list[Coroutine[Any, Any, Any]] = []
    if entries is not None:
        work.append(_safely(search, "hot", compare_hot(search, entries)))
    if cold:
        work.append(_safely(search, "cold", ask_cold(search)))
    answers = await search.parts.runner.gather(work)
    found = list((answers[-1] if cold else None) or ())
    compared = answers[0] if entries is not None else None
    hot_found = judge_hot(search, compared) if compared is not None else []
    measured = any(one.found.similarity is not None for one in hot_found)
    vectors = measured or (cold and search.measures_meaning)
    for one in [*found, *(hot_found if search.ranks_hot else ())]:
        one.weigh(search, vectors=vectors)
    if entries is not None and search.wanted.explain:
        hot_found += await _safely(search, "hot", load_revoked(search)) or []
    return [*hot_found, *found]


def _is_asked(search: Search, source: Source) -> bool:
    """Say whether a tier is asked; working memory keeps no past."""
    return source in search.wanted.layers and (source == "cold" or search.wanted.at is None)


def _facts(kept: Sequence[Considered]) -> dict[str, Any]:
    similarities = [near for one in kept if (near := one.found.similarity) is not None]
    return {
        "hot": sum(one.part == "hot" for one in kept),
        "cold": sum(one.part != "hot" for one in kept),
        "best": max(similarities, default=None),
    }


async def _embed(search: Search) -> None:
    """Embed the query once for everything that is asked; words serve where that fails."""
    embedder, given = search.parts.embedder, search.wanted.query_vector
    if embedder is None:
        return
    if given is not None and any(given):
        search.vector = given
        return
    if given is not None:
        search.note("the given vector of the query has no direction; words alone were searched")
        return
    try:
        search.vector = await embedder.query(search.parts.runner, search.query)
    except EmbeddingFailed as failed:
        logger.warning("%s; words alone are searched", failed)
        search.note(f"{failed}; words alone were searched")


async def _safely(search: Search, source: Source, asking: Coroutine[Any, Any, T]) -> T | None:
    """Ask one tier; what it cannot answer must not take the other's answer away."""
    try:
        return await asking
    except Exception as error:  # noqa: BLE001 - a store may be anybody's; it is told and noted
        search.failed.append(source)
        search.errors.append(error)
        search.note(f"{source} memory could not be asked: {type(error).__name__}")
        return None


def _tell_failures(search: Search, asked: int, work: Span) -> None:
    to = search.parts.teller(search.scope)
    for source, error in zip(search.failed, search.errors, strict=True):
        logger.warning("%s memory could not be asked: %s", source, error)
        emit(to, "retrieval_error", error=type(error).__name__, ms=work.ms)
    if asked and len(search.failed) == asked and search.parts.on_error == "raise":
        first = search.errors[0]
        if isinstance(first, MemorywareError):
            raise first
        raise StoreUnavailable(f"memory could not be asked: {type(first).__name__}") from first

"""The order that a reranker gives to the best of what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memoryware.events import logger
from memoryware.tiers.reranking import RerankFailed
from memoryware.tiers.retrieval.asking import Considered, Level, Part, Search, order


async def reorder(search: Search, found: Sequence[Considered], most: Mapping[Part, int]) -> None:
    """Put the best of each part into the order of the reranker, ahead of the others.

    Args:
        search: The recall.
        found: All that was found.
        most: How many of each part are shown; of a part that shows none nothing is asked.
    """
    rescorer = search.parts.rescorer
    ranked = [one for one in found if one.left_out is None and _is_ranked(search, one)]
    chosen = _chosen(search, ranked, most)
    if rescorer is None or not chosen:
        return
    texts = [one.record.content[: search.parts.limits.rerank_chars] for one in chosen]
    each = list(dict.fromkeys(texts))
    try:
        scores = await rescorer.scores(search.parts.runner, search.query, each)
    except RerankFailed as failed:
        logger.warning("%s; recalled texts keep the order without it", failed)
        search.note(f"{failed}; texts keep the order without it")
        return
    by_text = dict(zip(each, scores, strict=True))
    _place(ranked, [(one, by_text[text]) for one, text in zip(chosen, texts, strict=True)])


def _is_ranked(search: Search, one: Considered) -> bool:
    """Say whether a text has its place by what fits; working memory may be ranked by time."""
    return one.part != "hot" or search.ranks_hot


def _chosen(
    search: Search, ranked: Sequence[Considered], most: Mapping[Part, int]
) -> list[Considered]:
    """Return the best of each part, best first of all."""
    limit = search.parts.limits.rerank_candidates
    chosen: list[Considered] = []
    for part, shown in most.items():
        if shown > 0:
            chosen += sorted((one for one in ranked if one.part == part), key=order)[:limit]
    return sorted(chosen, key=order)


def _place(ranked: Sequence[Considered], scored: Sequence[tuple[Considered, float]]) -> None:
    """Give what was scored its place and its score, all of them above what was not scored."""
    best_first = sorted(scored, key=lambda pair: -pair[1])  # equal ones keep their order
    chosen = {id(one) for one, _ in scored}
    others = [one for one in ranked if id(one) not in chosen]
    lowest = min((score for one, score in scored if not one.is_wrong), default=0.0)
    highest = max((one.score for one in others if not one.is_wrong), default=lowest)
    lift = max(0.0, highest - lowest)
    for place, (one, score) in enumerate(best_first, 1):
        one.measured = {"reranker": score, "fused": one.score}
        one.ranks["reranker"] = place
        one.level = Level.SCORED
        lifted = score + lift
        one.score = lifted if one.is_wrong else max(highest, lifted)
    for one in others:
        one.level = Level.NOT_SCORED

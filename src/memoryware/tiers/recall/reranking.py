"""Put the best texts of a recall into the order of a reranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memoryware.events import logger
from memoryware.tiers.embedding import RerankFailed
from memoryware.tiers.recall.query import (
    Level,
    RankedRecord,
    RecallPart,
    RecallState,
    in_order,
)


async def rerank(search: RecallState, by_part: Mapping[RecallPart, Sequence[RankedRecord]]) -> None:
    """Put the best of each part into the order of the reranker, ahead of the others.

    Nothing is asked of a part that shows nothing, nor of one that is ordered by time.

    Args:
        search: The recall.
        by_part: Its texts, best first.
    """
    rescorer, limits = search.parts.rescorer, search.parts.limits
    ranked: list[RankedRecord] = []
    chosen: list[RankedRecord] = []
    for part, texts in by_part.items():
        if part == "working" and not search.ranks_working:
            continue
        remaining = [text for text in texts if text.left_out is None]
        ranked += remaining
        if search.limits[part] > 0:
            chosen += remaining[: limits.rerank_candidates]
    if rescorer is None or not chosen:
        return
    chosen = in_order(chosen)
    contents = [text.record.content[: limits.rerank_chars] for text in chosen]
    distinct = list(dict.fromkeys(contents))
    try:
        scores = await rescorer.scores(search.parts.runner, search.query, distinct)
    except RerankFailed as failed:
        logger.warning("%s; recalled texts keep the order without it", failed)
        search.note(f"{failed}; texts keep the order without it")
        return
    by_content = dict(zip(distinct, scores, strict=True))
    _apply_scores(
        ranked, [(text, by_content[at]) for text, at in zip(chosen, contents, strict=True)]
    )


def _apply_scores(
    ranked: Sequence[RankedRecord], scored: Sequence[tuple[RankedRecord, float]]
) -> None:
    """Set rank and score of reranked texts, all of them above those that were not reranked."""
    best_first = sorted(scored, key=lambda pair: -pair[1])  # equal ones keep their order
    ids = {id(text) for text, _ in scored}
    others = [text for text in ranked if id(text) not in ids]
    lowest = min((score for text, score in scored if not text.is_wrong), default=0.0)
    highest = max((text.score for text in others if not text.is_wrong), default=lowest)
    lift = max(0.0, highest - lowest)
    for rank, (text, score) in enumerate(best_first, 1):
        text.measured = {"reranker": score, "fused": text.score}
        text.ranks["reranker"] = text.rerank_place = rank
        text.level = Level.SCORED
        lifted = score + lift
        text.score = lifted if text.is_wrong else max(highest, lifted)
    for text in others:
        text.level = Level.NOT_SCORED

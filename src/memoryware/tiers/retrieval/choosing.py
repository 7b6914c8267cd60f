"""What of all that was found is shown: the range, the threshold, doubles and limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, get_args

from memoryware.events import logger
from memoryware.tiers.fusing import kept_places, with_places
from memoryware.tiers.records import hash_of
from memoryware.tiers.retrieval.asking import Considered, Part, Search, order
from memoryware.tiers.retrieval.hot import looked_at, vectors_of
from memoryware.tiers.retrieval.reordering import reorder
from memoryware.tiers.scoring import best_first, cosine
from memoryware.tiers.stores.sight import Vector
from memoryware.tiers.text.contradictions import why
from memoryware.tiers.text.terms import stems_of, words_of

_PARTS: Final[tuple[Part, ...]] = get_args(Part)


async def choose(search: Search, found: Sequence[Considered]) -> list[Considered]:
    """Return what is shown, best first; note of the others why they are not."""
    _cut_by_time(search, found)
    _cut_by_threshold(search, found)
    limits, wanted = search.parts.limits, search.wanted
    _keep_places(search, found)
    _drop_same(_still(found, "group") + _still(found, "agent"))
    group = limits.cold_items if wanted.cold_items is None else wanted.cold_items
    hot = limits.hot_items if wanted.hot_items is None else wanted.hot_items
    await reorder(search, found, {"hot": hot, "group": group, "agent": limits.agent_items})
    _limit(_still(found, "group"), group, "memory of the group")
    _limit(_still(found, "agent"), limits.agent_items, "experience of the agent")
    await _drop_doubles(search, found, hot)
    if search.ranks_hot:
        _limit(_still(found, "hot"), hot, "working memory")
    else:
        _leave(sorted(_still(found, "hot"), key=order)[max(0, hot) :], hot, "working memory")
    if wanted.max_results is not None:
        _share(search, found, max(0, wanted.max_results))
    return sorted((one for one in found if one.left_out is None), key=order)


def _still(found: Iterable[Considered], part: Part) -> list[Considered]:
    return [one for one in found if one.part == part and one.left_out is None]


def _cut_by_time(search: Search, found: Sequence[Considered]) -> None:
    since = search.since
    for one in found:
        if since is not None and one.record.created_at < since:
            one.leave_out("time_range", f"older than {search.wanted.time_range_days} days")


def _cut_by_threshold(search: Search, found: Sequence[Considered]) -> None:
    """Leave out what is not near enough; words need no nearness, nor does what has no vector."""
    threshold = search.wanted.score_threshold
    if threshold is None:
        return
    measured = [one for one in found if one.found.similarity is not None and not one.left_out]
    for one in measured:
        similarity = one.found.similarity or 0.0
        if similarity < threshold and one.found.words is None:
            one.leave_out("threshold", f"similarity {similarity:.3f} is below {threshold}")
    if measured and all(one.left_out for one in measured):
        best = max(one.found.similarity or 0.0 for one in measured)
        logger.info("nothing reaches score_threshold=%s; the best has %.3f", threshold, best)
        search.note(f"nothing reaches score_threshold={threshold}; the best has {best:.3f}")


def _limit(found: list[Considered], most: int, where: str) -> None:
    """Keep so many of the best."""
    _leave(sorted(found, key=order)[max(0, most) :], most, where)


def _leave(found: Iterable[Considered], most: int, where: str) -> None:
    for one in found:
        one.leave_out("limit", f"not among the best {most} of {where}")


def _keep_places(search: Search, found: Sequence[Considered]) -> None:
    """Lift the nearest in meaning to the places that are kept for them.

    Where no text has much of what the query says, what words find would else keep out a text
    that says the same in other words.
    """
    rules = search.parts.ranking
    is_kept = kept_places(rules, scarce=search.covered < rules.scarce)
    for part in _PARTS:
        right = sorted((one for one in _still(found, part) if not one.is_wrong), key=order)
        near = best_first(right, lambda one: one.found.similarity)
        if not near:
            continue
        placed = with_places(right, near, is_kept)
        for one, following in reversed(list(pairwise(placed))):
            if one.score < following.score:
                one.score = math.nextafter(following.score, math.inf)


def _share(search: Search, found: Sequence[Considered], most: int) -> None:
    """Keep so many of both tiers together.

    Working memory that is ranked by time has no scores that could be compared; it leaves half
    of the places to long-term memory, which was found by the query.
    """
    there = [one for one in found if one.left_out is None]
    if search.ranks_hot:
        kept = sorted(there, key=order)[:most]
    else:
        cold = [one for one in there if one.part != "hot"]
        hot = sorted((one for one in there if one.part == "hot"), key=order)
        places = max(most - len(hot), (most + 1) // 2)
        kept = sorted(cold, key=order)[: min(places, most)]
        kept += hot[: most - len(kept)]
    for one in there:
        if one not in kept:
            one.leave_out("limit", f"not among the best {most} of all (max_results)")


# Doubles.


def _drop_same(cold: list[Considered]) -> None:
    """Show a memory once that the group and the agent have word for word."""
    seen: dict[str, Considered] = {}
    for one in sorted(cold, key=order):
        same = seen.setdefault(hash_of(one.record.content), one)
        if same is not one:
            one.leave_out("duplicate", f"the same as {same.record.id}")


async def _drop_doubles(search: Search, found: Sequence[Considered], most: int) -> None:
    """Show what is hot and cold once, as cold: somebody promoted it.

    Meaning is compared of the first of working memory only; the others will not be shown.
    """
    cold = _still(found, "group") + _still(found, "agent")
    hot = _still(found, "hot")
    if not cold or not hot:
        return
    hashes = {one.record.content_hash: one for one in cold}
    hashes |= {hash_of(one.record.content): one for one in cold}
    for one in hot:
        if same := hashes.get(one.record.content_hash):
            one.leave_out("duplicate", f"the same as {same.record.id} of long-term memory")
    hot = sorted((one for one in hot if one.left_out is None), key=order)[: 2 * most]
    vectors = await vectors_of(search, [*hot, *cold])
    pairs = list(zip([*hot, *cold], vectors, strict=True))
    for one, vector in pairs[: len(hot)]:
        for other, beside in pairs[len(hot) :]:
            if _says_the_same(search, (one, vector), (other, beside)):
                one.leave_out("duplicate", f"says what {other.record.id} of long-term memory says")
                break


def _says_the_same(
    search: Search, one: tuple[Considered, Vector | None], other: tuple[Considered, Vector | None]
) -> bool:
    (hot, vector), (cold, beside) = one, other
    if vector is None or beside is None:
        known, new = looked_at(search, cold), looked_at(search, hot)
        whole = new == hot.record.content and known == cold.record.content
        return whole and stems_of(new) == stems_of(known)
    if len(vector) != len(beside) or cosine(vector, beside) < search.parts.limits.near_duplicate:
        return False
    new, known = hot.record.content, cold.record.content  # near, and yet it may be a correction
    return _numbers(new) <= _numbers(known) and not why(known, new)


def _numbers(text: str) -> set[str]:
    return {word for word in words_of(text) if any(map(str.isdigit, word))}

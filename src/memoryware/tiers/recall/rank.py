"""Rank a recall: scores, trust, order, duplicates, limits, reranking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final, TypeAlias, cast, get_args

from memoryware._caching import clearable_cache
from memoryware.events import logger
from memoryware.settings import Ranking
from memoryware.tiers.actors import is_person
from memoryware.tiers.embedding import RerankFailed
from memoryware.tiers.model import Entry, Memory, hash_of
from memoryware.tiers.provenance import Trust
from memoryware.tiers.recall.fusion import (
    Match,
    fused_all,
    unit_of,
)
from memoryware.tiers.recall.query import (
    Level,
    RankedRecord,
    RecallPart,
    RecallState,
    is_in_time,
)
from memoryware.tiers.scoring import cosine_table
from memoryware.tiers.text.contradictions import may_differ
from memoryware.tiers.text.terms import stems_of, words_of

_PARTS: Final[tuple[RecallPart, ...]] = get_args(RecallPart)
_ASKING: Final = ("?", "\uff1f", "\u061f", "\u037e")
"""Question marks at the end of a text."""
_WHERE: Final = {
    "hot": "working memory",
    "group": "memory of the group",
    "agent": "experience of the agent",
}
_by_score: Final = attrgetter("score")
_class_of: Final = attrgetter("is_wrong", "level", "rerank_place", "is_related")
_ByPart: TypeAlias = dict[RecallPart, list[RankedRecord]]


# Scores.


def weigh(search: RecallState, records: Sequence[RankedRecord], *, vectors: bool) -> None:
    """Set the scores of records: the match, and the speaker, time and form of the text.

    A text that is not promoted loses a part of its score, at most half, so that a verified text
    comes first if both match about equally well.

    Args:
        search: The recall.
        records: What it has read.
        vectors: Whether anything in this recall was compared by meaning.
    """
    rules, periods = search.parts.ranking, search.periods
    unit = unit_of(rules, vectors=vectors, balance=search.balance)
    unverified = rules.unverified / unit
    named = search.are_named([text.record for text in records])
    in_time = rules.in_time if periods else 0.0
    speaker, agent = rules.speaker, search.agent_share
    matches = [text.match for text in records]
    scores = fused_all(matches, rules, vectors=vectors, balance=search.balance)
    for text, score, is_named in zip(records, scores, named, strict=True):
        record, match = text.record, text.match
        beside = 0.0
        if in_time and is_in_time(record, periods):
            text.ranks["in_time"] = 1
            beside += in_time
        if is_named and speaker:
            text.ranks["speaker"] = 1
            beside += speaker
        if is_question(record.content):
            beside -= rules.question
        if agent and record.provenance.origin.kind == "agent":
            score *= 1.0 - agent * _length_share(record, match, rules)  # noqa: PLW2901 - it is moved
        text.is_related = match.similarity is not None or match.around > 0
        if beside:
            score += beside / unit  # noqa: PLW2901 - it is added up
        if (text.part != "hot" or text.promoted is not None) and not text.is_wrong:
            text.is_verified, text.score = True, score
        else:
            text.is_verified = False
            text.score = score - max(0.0, min(unverified, score / 2))


def _length_share(record: Entry | Memory, match: Match, rules: Ranking) -> float:
    """Return how much of a long text it is, from 0 to 1; a chunk is part of a long one."""
    if isinstance(record, Memory) and record.chunk_count > 1:
        return 1.0
    least, most = rules.agent_words
    return min(1.0, max(0.0, (match.size - least) / (most - least)))


def is_question(text: str) -> bool:
    """Decide whether a text is a question: it ends with a question mark.

    Args:
        text: The text.

    Returns:
        Whether it is.
    """
    last = text[-1:]
    return (last in _ASKING or last.isspace()) and text.rstrip().endswith(_ASKING)


def largest_move(search: RecallState, *, vectors: bool) -> float:
    """Return by how much two scores can differ apart from their matches and who said the texts.

    Args:
        search: The recall.
        vectors: Whether this recall compares anything by meaning.

    Returns:
        The difference at most.
    """
    rules = search.parts.ranking
    beside = rules.speaker + rules.question
    beside += rules.in_time if search.periods else 0.0
    return beside / unit_of(rules, vectors=vectors, balance=search.balance)


# Order.


def _in_order(texts: Sequence[RankedRecord]) -> list[RankedRecord]:
    """Return texts best first; a text that a fact check refuted comes last.

    Reranked texts come first, in the order of the reranker. Texts that are unrelated to the query
    come after all related ones, whatever their scores. Of equally good texts, verified ones come
    first, then newer ones.
    """
    ordered = sorted(texts, key=_by_score, reverse=True)
    is_by_score = len({text.score for text in ordered}) == len(ordered)
    if is_by_score and len({*map(_class_of, ordered)}) < 2:  # nothing else decides
        return ordered
    return sorted(ordered, key=_key_of)


def _key_of(text: RankedRecord) -> tuple[bool, int, int, bool, float, int, int, float, str]:
    tie = 0 if text.is_by_time else 1 if text.is_verified else 2
    record = text.record
    return (
        text.is_wrong,
        text.level,
        text.rerank_place,
        not text.is_related,
        -text.score,
        tie,
        text.recency,
        -record.created_at.timestamp(),
        record.id,
    )


# Texts that are withheld.


def withhold(search: RecallState, texts: Sequence[RankedRecord]) -> list[Trust]:
    """Leave out texts that must not be shown to the caller, and return the trust of each.

    Text from outside that reached the group in the run of one user could reach all others by memory
    alone: a page that one of them opened would speak to everybody. So it stays with that user until
    a person has promoted it.

    Args:
        search: The recall.
        texts: What the recall has read.

    Returns:
        The trust of each text, in the same order.
    """
    least, is_shared = search.options.min_trust, search.parts.share_outside
    by_provenance: dict[int, Trust] = {}  # most records share a few provenances
    trusts = []
    for text in texts:
        provenance = text.record.provenance
        trust = by_provenance.get(id(provenance))
        if trust is None:
            trust = by_provenance[id(provenance)] = provenance.trust
        trusts.append(trust)
    if least is None and (is_shared or min(trusts, default=Trust.PERSON) > Trust.UNTRUSTED):
        return trusts
    for text, trust in zip(texts, trusts, strict=True):
        if least is not None and trust < least:
            detail = f"trusted as {trust.name}, and {least.name} is the least shown"
            text.leave_out("min_trust", detail)
        elif trust > Trust.UNTRUSTED or is_shared:
            continue
        elif _is_of_another_user(search, text) and not _is_decided(text):
            text.leave_out(
                "from_outside",
                "it came from outside in a run of another user, and no person has promoted it",
            )
    return trusts


def _is_of_another_user(search: RecallState, text: RankedRecord) -> bool:
    """Decide whether a text came up in a conversation in which the user who asks took no part.

    Without a user on either side nobody can say so: a job of the group has no user, and a group
    whose runs name none would lose all it has read.
    """
    asking, owner = search.scope.user_id, text.record.scope.user_id
    if not asking or not owner:
        return False
    roots = text.record.provenance.roots
    return asking != owner and not any(
        root.kind == "user" and root.name == asking for root in roots
    )


def _is_decided(text: RankedRecord) -> bool:
    """Decide whether a person has promoted a text; a promotion by an agent decides nothing."""
    memory = text.record if isinstance(text.record, Memory) else text.promoted
    if memory is None:
        return False
    return any(is_person(ground.promoted_by) for ground in memory.grounds if not ground.revocations)


# Choice.


async def choose(search: RecallState, records: Sequence[RankedRecord]) -> list[RankedRecord]:
    """Return the records that are shown, best first; the others get the reason why they are not.

    Args:
        search: The recall.
        records: What the recall has read.

    Returns:
        The records.
    """
    _cut_by_time(search, records)
    _cut_by_threshold(search, records)
    _cut_weak(search, records)
    by_part: _ByPart = {part: [] for part in _PARTS}
    for text in records:
        if text.left_out is None:
            by_part[text.part].append(text)
    for part, texts in by_part.items():
        if texts:
            by_part[part] = _in_order(texts)
    _drop_same(search, by_part)
    if search.parts.rescorer is not None:
        await _rerank(search, by_part)
        for part, texts in by_part.items():
            by_part[part] = _in_order(texts)
    cold = [*_limited(search, by_part, "group"), *_limited(search, by_part, "agent")]
    await _drop_doubles(search, by_part["hot"], cold)
    if search.time_order:
        _prefer_in_time(search, cold)
    shown = [*_limited(search, by_part, "hot"), *cold]
    if search.options.max_results is not None:
        shown = _shared(search, shown, search.options.max_results)
    return _in_order(shown)


def _cut_by_time(search: RecallState, records: Sequence[RankedRecord]) -> None:
    since = search.since
    if since is None:
        return
    for text in records:
        if text.record.created_at < since:
            text.leave_out("time_range", f"older than {search.options.time_range_days} days")


def _cut_by_threshold(search: RecallState, records: Sequence[RankedRecord]) -> None:
    """Leave out texts below the similarity threshold, unless words or no vector at all decide."""
    threshold = search.options.score_threshold
    if threshold is None:
        return
    measured = [
        (text, near)
        for text in records
        if (near := text.match.similarity) is not None and not text.left_out
    ]
    for text, similarity in measured:
        if similarity < threshold and text.match.words is None:
            text.leave_out("threshold", f"similarity {similarity:.3f} is below {threshold}")
    if measured and all(text.left_out for text, _ in measured):
        best = max(similarity for _, similarity in measured)
        logger.info("nothing reaches score_threshold=%s; the best has %.3f", threshold, best)
        search.note(f"nothing reaches score_threshold={threshold}; the best has {best:.3f}")


def _cut_weak(search: RecallState, records: Sequence[RankedRecord]) -> None:
    """Leave out memories that are neither near the query nor have its words.

    By words alone a low score says little, and a reranker knows better.
    """
    least = search.parts.ranking.least
    if not least or search.parts.rescorer is not None:
        return
    for text in records:
        if text.score < least and text.match.similarity is not None and text.part != "hot":
            text.leave_out("weak", f"score {text.score:.3f} is below {least}")


def _limited(search: RecallState, by_part: _ByPart, part: RecallPart) -> list[RankedRecord]:
    """Return the best of a part, as many as may be shown; leave out the others."""
    most = max(0, search.limits[part])
    texts = [text for text in by_part[part] if text.left_out is None]
    if search.options.explain:
        _leave_out(texts[most:], f"not among the best {most} of {_WHERE[part]}")
    return texts[:most]


def _prefer_in_time(search: RecallState, texts: Sequence[RankedRecord]) -> None:
    """Raise the scores of the newest of texts, or of the oldest, as the query asks.

    It decides their order alone, not which are shown: the newest of all often says something else.
    """
    rules, texts = search.parts.ranking, [text for text in texts if not text.rerank_place]
    times = [text.record.said_at.timestamp() for text in texts]
    if len({*times}) < 2:
        return
    is_newest = search.time_order == "newest"
    first, last = (min(times), max(times)) if is_newest else (max(times), min(times))
    most = rules.newest if is_newest else rules.oldest
    most /= unit_of(rules, vectors=search.measures_meaning, balance=search.balance)
    for text, time in zip(texts, times, strict=True):
        if text.level == Level.BY_TIME and time != first:
            text.ranks["order"] = 1
            text.score += most * (time - first) / (last - first)


def _leave_out(texts: Iterable[RankedRecord], detail: str) -> None:
    for text in texts:
        text.leave_out("limit", detail)


def _shared(search: RecallState, shown: list[RankedRecord], most: int) -> list[RankedRecord]:
    """Return so many of both tiers together; leave out the others.

    Working memory that is ranked by time has no scores that could be compared; it leaves half
    of the places to long-term memory, which was found by the query.
    """
    shown = _in_order(shown)
    if search.ranks_hot:
        chosen = shown[:most]
    else:
        cold = [text for text in shown if text.part != "hot"]
        hot = [text for text in shown if text.part == "hot"]
        cold_count = max(most - len(hot), (most + 1) // 2)
        chosen = cold[: min(cold_count, most)]
        chosen += hot[: most - len(chosen)]
    ids = {id(text) for text in chosen}
    others = [text for text in shown if id(text) not in ids]
    _leave_out(others, f"not among the best {most} of all (max_results)")
    return chosen


# Doubles.


@clearable_cache(1024)
def content_hash_of(text: str) -> str:
    """Return the digest of a text that is compared with each query, from a cache.

    Args:
        text: The text.

    Returns:
        The digest.
    """
    return hash_of(text)


def _drop_same(search: RecallState, by_part: _ByPart) -> None:
    """Leave out memories with the same text as another one of the group or the agent."""
    group, agent = by_part["group"], by_part["agent"]
    texts = _in_order([*group, *agent]) if agent else group
    # Behind those that are shown nothing is looked at, unless an order of another part, of a
    # reranker or an explanation depends on it.
    is_whole = bool(agent) or search.parts.rescorer is not None or search.options.explain
    most = len(texts) if is_whole else search.limits["group"]
    first: dict[str, RankedRecord] = {}
    for text in texts:
        if len(first) >= most:
            break
        same = first.setdefault(content_hash_of(text.record.content), text)
        if same is not text:
            text.leave_out("duplicate", f"the same as {same.record.id}")


async def _drop_doubles(
    search: RecallState, hot: Sequence[RankedRecord], cold: Sequence[RankedRecord]
) -> None:
    """Leave out entries of working memory whose text is shown from long-term memory as well.

    Meaning is compared of the first entries only; the others will not be shown.
    """
    if not cold or not hot:
        return
    hashes = {text.record.content_hash: text for text in cold}
    hashes |= {content_hash_of(text.record.content): text for text in cold}
    for text in hot:
        if text.left_out is None and (same := hashes.get(text.content_hash)):
            text.leave_out("duplicate", f"the same as {same.record.id} of long-term memory")
    first = [text for text in hot if text.left_out is None][: 2 * search.limits["hot"]]
    vectors = await search.vectors_of([*first, *cold])
    table = cosine_table(vectors[: len(first)], vectors[len(first) :])
    least = search.parts.limits.near_duplicate
    stems: dict[int, list[str] | None] = {}
    for text, row in zip(first, table, strict=True):
        if None not in row and max(cast("list[float]", row)) < least:
            continue  # as for most: no pair needs a closer look
        for other, similarity in zip(cold, row, strict=True):
            if similarity is None:
                is_same = _has_same_stems(search, text, other, stems)
            else:
                is_same = similarity >= least and not _is_correction(text, other)
            if is_same:
                detail = f"says what {other.record.id} of long-term memory says"
                text.leave_out("duplicate", detail)
                break


def _has_same_stems(
    search: RecallState,
    hot: RankedRecord,
    cold: RankedRecord,
    stems: dict[int, list[str] | None],
) -> bool:
    """Compare two texts by their words, where there are no vectors to compare.

    Args:
        search: The recall.
        hot: A text.
        cold: Another.
        stems: The stems of texts that were compared already; None of one that is too long.
    """
    for text in (hot, cold):
        if id(text) not in stems:
            content = text.record.content
            is_whole = len(content) <= search.parts.limits.hot_chars
            stems[id(text)] = stems_of(content) if is_whole else None
    return stems[id(hot)] is not None and stems[id(hot)] == stems[id(cold)]


def _is_correction(hot: RankedRecord, cold: RankedRecord) -> bool:
    """Decide whether an entry that is near a memory says something else all the same."""
    new, old = hot.record.content, cold.record.content
    return not _numbers(new) <= _numbers(old) or may_differ(old, new)


def _numbers(text: str) -> set[str]:
    return {word for word in words_of(text) if any(map(str.isdigit, word))}


# Reranking.


async def _rerank(search: RecallState, by_part: _ByPart) -> None:
    """Put the best of each part into the order of the reranker, ahead of the others.

    Nothing is asked of a part that shows nothing, nor of one that is ordered by time.
    """
    rescorer, limits = search.parts.rescorer, search.parts.limits
    ranked: list[RankedRecord] = []
    chosen: list[RankedRecord] = []
    for part, texts in by_part.items():
        if part == "hot" and not search.ranks_hot:
            continue
        remaining = [text for text in texts if text.left_out is None]
        ranked += remaining
        if search.limits[part] > 0:
            chosen += remaining[: limits.rerank_candidates]
    if rescorer is None or not chosen:
        return
    chosen = _in_order(chosen)
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

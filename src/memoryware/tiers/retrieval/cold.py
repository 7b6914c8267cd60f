"""What long-term memory knows of a query: by words, by meaning, and beside what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memoryware.errors import EmbeddingMismatch
from memoryware.events import logger
from memoryware.tiers.fusing import Found, WordStatistics, fused, judged
from memoryware.tiers.records import Memory
from memoryware.tiers.retrieval.asking import Considered, Part, Search
from memoryware.tiers.retrieval.standing import replaced_early
from memoryware.tiers.retrieval.withholding import withhold
from memoryware.tiers.scoring import best_first
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sight import Choose, Query, Searched, Sight
from memoryware.tiers.text.terms import lone_characters

Heap = dict[str, Considered]
"""What was found in one part of long-term memory, by id."""


async def ask_cold(search: Search) -> list[Considered]:
    """Return what fits in memory of the group and in the experience of the agent itself."""
    agent = search.wanted.agent_id or search.scope.agent_id
    asked = [_part(search, "group", None)] + ([_part(search, "agent", agent)] if agent else [])
    return [one for some in await search.parts.runner.gather(asked) for one in some]


async def _part(search: Search, part: Part, agent: str | None) -> list[Considered]:
    session, since = search.wanted.session_id, search.since
    whole = search.live().also(agents=(agent,))
    which = whole.also(since=since) if since is not None else whole
    if session is not None:
        which = which.also(sessions=(session,))
    found = await _found(search, part, which)
    if search.wanted.explain and which != whole:
        for id_, one in (await _found(search, part, whole, counts=False)).items():
            if id_ not in found:
                found[id_] = one
                _say_why(search, one)
    await _leave_out_of_date(search, found)
    if search.wanted.explain:
        everything = whole.also(live_at=None)
        for id_, one in (await _found(search, part, everything, counts=False)).items():
            if id_ not in found and _is_past_or_future(search, one):
                found[id_] = one
    return list(found.values())


async def _leave_out_of_date(search: Search, found: Heap) -> None:
    """Leave out what only the clock of another machine lets be seen; see `current_in`."""
    if search.wanted.at is not None:
        return
    memories = [one.record for one in found.values() if isinstance(one.record, Memory)]
    replaced = await replaced_early(search, memories)
    for memory in memories:
        if not memory.has_begun(search.now):
            del found[memory.id]
        elif memory.id in replaced:
            found[memory.id].leave_out("superseded", f"{memory.superseded_by} is in its place")


def _say_why(search: Search, one: Considered) -> None:
    """Say of a text that the selection has left out which condition did."""
    session = search.wanted.session_id
    if session is not None and one.record.scope.session_id != session:
        one.leave_out("session", "from another session than was asked for")
    else:
        one.leave_out("time_range", f"older than {search.wanted.time_range_days} days")


def _is_past_or_future(search: Search, one: Considered) -> bool:
    """Say whether a text does not hold now, and note what became of it: "why not MySQL?"."""
    memory = one.record
    if not isinstance(memory, Memory):
        return False
    if memory.revocation is not None:
        one.leave_out("revoked", f"taken back with receipt {memory.revocation}")
    elif memory.valid_to is not None and memory.valid_to <= search.now:
        by = f", superseded by document {memory.superseded_by}" if memory.superseded_by else ""
        one.leave_out("superseded", f"held until {memory.valid_to.isoformat()}{by}")
    elif memory.valid_from > search.now:
        one.leave_out("not_yet", f"holds from {memory.valid_from.isoformat()} on")
    return one.left_out is not None


async def _found(search: Search, part: Part, which: Select, *, counts: bool = True) -> Heap:
    """Return what fits a selection, and look further where trust leaves too little of it.

    No store knows how far a text is trusted for who asks, so what is withheld may be all that
    a search of the usual size reads.
    """
    limit, is_whole, seen = search.parts.limits.candidates, False, -1
    while True:
        look = await _looked(search, part, which, limit, is_whole, counts=counts)
        heap, count, is_everything = look
        withheld = sum(withhold(search, one) for one in heap.values())
        is_enough = len(heap) - withheld >= _most_shown(search, part)
        if is_enough or not withheld or is_everything or count == seen:
            return heap
        if is_whole:
            limit, seen = 4 * limit, count
        is_whole = True


async def _looked(
    search: Search, part: Part, which: Select, limit: int, is_whole: bool, *, counts: bool
) -> tuple[Heap, int, bool]:
    """Return what one search reads, how many texts it saw, and whether a wider one is in vain.

    It is where all that was seen was read and the limit has cut nothing off, as in a small
    memory.

    Args:
        search: The recall.
        part: The part of long-term memory.
        which: What fits.
        limit: How many of the best by words, and of the nearest, are seen.
        is_whole: Whether everything that is seen is read.
        counts: Whether the shares of the query's words are noted.
    """
    last: list[tuple[Sight, Sequence[Found]]] = []

    def judge(sight: Sight) -> Sequence[Found]:
        if not last or last[-1][0] is not sight:
            words = WordStatistics.of(sight)
            if counts:  # a wider look, for an explanation, must not change the scores
                search.cold_words = words
            last.append((sight, judged(sight, search.parts.ranking, search.corpus)))
        return last[-1][1]

    choose = _chooser(search, part, judge, is_whole=is_whole)
    searched = await _searched(search, which, choose, limit)
    judgements = judge(searched.sight)
    if counts:
        search.covered = max([search.covered, *(one.coverage for one in judgements)])
    heap = {
        memory.id: _considered(memory, part, judgements[place])
        for place, memory in searched.memories.items()
    }
    if not any(one.words for one in judgements):
        await _add_lone(search, part, which, heap)
    read = {place: heap[memory.id] for place, memory in searched.memories.items()}
    _rank(judgements, read, search.parts.limits.candidates)
    return heap, len(judgements), len(read) == len(judgements) < limit


async def _searched(search: Search, which: Select, choose: Choose, limit: int) -> Searched:
    """Return what long-term memory sees; by words alone where its vectors are of another model."""
    parts = search.parts
    store, limits, embedder = parts.tiers.long_term, parts.limits, parts.embedder
    vector = search.vector if search.measures_cold else None
    query = Query(
        words=search.words,
        vector=vector,
        space=embedder.space_of(vector) if embedder and vector is not None else None,
        limit=limit,
        reach=parts.ranking.reach,
        sessions=parts.ranking.sessions,
        thread=limits.neighbours,
    )
    try:
        searched: Searched = await store.search(query, which, choose)
    except EmbeddingMismatch as mismatch:
        if vector is None:
            raise
        search.measures_cold = False
        note = f"{mismatch}; words alone were searched in long-term memory"
        logger.warning("%s", note)
        search.note(note)
        return await _searched(search, which, choose, limit)
    return searched


def _most_shown(search: Search, part: Part) -> int:
    """Return how many texts of a part are shown, or scored by a reranker, at most."""
    limits, wanted = search.parts.limits, search.wanted
    group = limits.cold_items if wanted.cold_items is None else wanted.cold_items
    shown = group if part == "group" else limits.agent_items
    if search.parts.rescorer is not None and shown > 0:
        shown = max(shown, limits.rerank_candidates)
    return shown


def _chooser(
    search: Search,
    part: Part,
    judge: Callable[[Sight], Sequence[Found]],
    *,
    is_whole: bool,
) -> Choose:
    """Return what says which of all that is seen is read: what can come to be shown."""
    shown = _most_shown(search, part)
    most = _SPARE * max(1, shown)

    def choose(sight: Sight) -> Sequence[int]:
        if is_whole or search.wanted.explain:
            return range(len(sight.seen))
        rules, vectors = search.parts.ranking, search.measures_meaning
        judgements = judge(sight)
        places = range(len(judgements))
        scores = [fused(one, rules, vectors=vectors) for one in judgements]
        best = sorted(places, key=lambda at: (-scores[at], -at))  # of equal ones the newest
        if len(best) > most:
            least = scores[best[max(0, shown - 1)]] - search.moves(vectors=vectors)
            best = [at for rank, at in enumerate(best) if rank < most or scores[at] >= least]
        near = best_first(places[::-1], lambda at: judgements[at].similarity)[: 1 + shown]
        return list(dict.fromkeys([*best, *near]))

    return choose


_SPARE = 3
"""So many times as many as are shown or scored are read: some are doubles, others move."""


async def _add_lone(search: Search, part: Part, which: Select, heap: Heap) -> None:
    """Find one character of a script without blanks, which stands in pairs in the index."""
    lone = lone_characters(search.words)
    if not lone:
        return
    store, limit = search.parts.tiers.long_term, search.parts.limits.candidates
    page = await store.find(which.also(contains=lone[0]), limit=limit)
    for memory in page.items:
        known = heap.get(memory.id)
        similarity = known.found.similarity if known else None
        found = Found(words=1.0, coverage=1.0, around=1.0, similarity=similarity, near=similarity)
        heap[memory.id] = _considered(memory, part, found)
        heap[memory.id].ranks["words"] = len(heap)


def _rank(judgements: Sequence[Found], read: Mapping[int, Considered], limit: int) -> None:
    """Note which place each text that was read has in each list."""
    places = range(len(judgements))
    for way, ranked in (
        ("words", best_first(places, lambda one: judgements[one].words)),
        ("vectors", best_first(places, lambda one: judgements[one].similarity)),
    ):
        for rank, place in enumerate(ranked[:limit], 1):
            if place in read:
                read[place].ranks[way] = rank
    beside = [one for one in read.values() if not one.ranks]
    for rank, one in enumerate(best_first(beside, lambda one: one.found.around), 1):
        one.ranks["neighbours"] = rank


def _considered(memory: Memory, part: Part, found: Found) -> Considered:
    return Considered(memory, part, found=found)

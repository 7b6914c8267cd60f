"""Recall: search working and long-term memory, and score both by one measure.

An operation reads each tier once. Working memory is read first, because how rare a word is is
counted over both tiers, and long-term memory has to know it when it chooses what to read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from memoryware._caching import clearable_cache
from memoryware.errors import (
    EmbeddingFailed,
    EmbeddingMismatch,
    MemorywareError,
    StoreClosed,
    StoreUnavailable,
)
from memoryware.events import Span, emit, logger, span
from memoryware.scope import MemoryScope, agents_shown_to
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, note_recalled, warn_without_group
from memoryware.tiers.model import SAID_AGAIN, Entry, Memory
from memoryware.tiers.provenance import Trust, attribution_of
from memoryware.tiers.recall.fusion import Match, WordStatistics, judge
from memoryware.tiers.recall.query import (
    BOTH,
    RankedRecord,
    RecallPart,
    RecallState,
    RecallTier,
    RetrieveOptions,
    recalled_items,
)
from memoryware.tiers.recall.rank import PartSearch, choose, content_hash_of, weigh, withhold
from memoryware.tiers.scoring import cosine_table
from memoryware.tiers.stores.protocol import (
    Chooser,
    Query,
    SearchResult,
    SearchView,
    Select,
    Vector,
    candidates_of,
)
from memoryware.tiers.stores.selecting import same_speakers, with_neighbours
from memoryware.tiers.stores.views import Tiers
from memoryware.tiers.text.contradictions import contradictions_among
from memoryware.tiers.text.terms import lone_characters, words_of
from memoryware.tiers.values import Recall

_DEFAULTS: Final = RetrieveOptions()
_MOST_AGENTS: Final = 64
"""Agents and users for whom the promoted texts of one group are cached."""
T = TypeVar("T")
_Heap = dict[str, RankedRecord]
"""Records of one part of long-term memory, by id."""


async def retrieve(
    parts: Parts, query: str, scope: MemoryScope, *, options: RetrieveOptions = _DEFAULTS
) -> Recall:
    """Return what working and long-term memory know about a query, best first.

    Args:
        parts: The stores and the rules.
        query: A question or some words.
        scope: Whose memory is searched, and on whose behalf.
        options: Filters and limits.

    Returns:
        The recalled items, with notes and, if `explain` is set, all candidates.

    Raises:
        StoreClosed: If the memory was closed.
        StoreUnavailable: If every tier that is searched fails and `on_error` is "raise".
        SettingError: For a query that is no text.
    """
    checking.text("query", query)
    text = query.strip()[: parts.limits.query_chars].encode("utf-8", "replace").decode()
    if not scope.group_id:
        warn_without_group(scope)
        return Recall(notes=["there is no group in the scope, so nothing was asked"])
    if not text:
        return Recall()
    search = RecallState(parts, text, scope, options, options.at or parts.clock())
    event_context = parts.event_context(scope)
    with span("memory.recall", event_context) as work:
        await _embed_query(search)
        records = await _read(search)
        _report_failures(search, work)
        shown = await choose(search, records)
        items = recalled_items(shown)
        note_recalled(items)
        parts.recalls.note(scope, [item.id for item in items])
        similarities = [item.similarity for item in items if item.similarity is not None]
        long_term = sum(ranked.part != "working" for ranked in shown)
        best = max(similarities, default=None)
        emit(
            event_context,
            "retrieved",
            within=work,
            working=len(shown) - long_term,
            long_term=long_term,
            best=best,
            ms=work.ms,
        )
    return Recall(
        items,
        candidates=[ranked.candidate() for ranked in records] if options.explain else (),
        failed=search.failed,
        notes=search.notes,
        contradictions=partial(contradictions_among, items),
    )


async def _embed_query(search: RecallState) -> None:
    """Embed the query once for everything that is searched; words serve where that fails."""
    embedder, vector = search.parts.embedder, search.options.query_vector
    if embedder is None:
        return
    if vector is not None and any(vector):
        search.vector = vector
        return
    if vector is not None:
        search.note("the given vector of the query has no direction; words alone were searched")
        return
    if not embedder.supports(search.query):
        search.note(f"{embedder.describe_unsupported()}; words alone were searched")
        return
    try:
        search.vector = await embedder.query(search.parts.runner, search.query)
    except EmbeddingFailed as failed:
        logger.warning("%s; words alone are searched", failed)
        search.note(f"{failed}; words alone were searched")


@dataclass(slots=True)
class _TierRecords:
    """The records that a recall has read.

    Attributes:
        working: Entries of working memory; None where that is not searched, or failed.
        memories: Memories that fit.
    """

    working: _WorkingEntries | None = None
    memories: list[RankedRecord] = field(default_factory=list)


async def _read(search: RecallState) -> list[RankedRecord]:
    """Return the records of both tiers, with scores that can be compared."""
    reading = await _read_tiers(search)
    entries: list[RankedRecord] = []
    if reading.working is not None:
        vectors = await _safely(search, "working", _embed_working(search, reading.working))
        if vectors is not None:
            entries = _judge_working(search, reading.working, vectors)
    measured = any(entry.match.similarity is not None for entry in entries)
    vectors_count = measured or (_is_searched(search, "long_term") and search.measures_meaning)
    memories = reading.memories
    weighed = [*memories, *entries] if search.ranks_working else memories
    weigh(search, weighed, vectors=vectors_count)
    if reading.working is not None and search.options.explain:
        entries += await _safely(search, "working", _load_revoked(search)) or []
    return [*entries, *memories]


async def _read_tiers(search: RecallState) -> _TierRecords:
    """Read the tiers: in one transaction, or in two where working memory is in another store."""
    tiers, reading = search.parts.tiers, _TierRecords()
    asks_working, asks_long_term = (_is_searched(search, source) for source in BOTH)
    if asks_working and not tiers.is_joint:
        reading.working = await _safely(search, "working", _load_working(search))
    before, is_apart = len(search.failed), False

    async def work(inside: Tiers) -> None:
        nonlocal is_apart
        search.tiers = inside
        del search.failed[before:], search.errors[before:]  # after a conflict it runs again
        try:
            if asks_working and inside.is_joint:
                reading.working = await _load_working(search)
            if reading.working is not None:
                await _show_as_promoted(search, reading.working)
        except Exception as error:  # noqa: BLE001 - as in `_safely`
            if reading.working is None:
                _note_failure(search, "working", error)
            logger.debug("working memory was not compared with long-term memory: %s", error)
            is_apart = True  # a failed statement may have ended the transaction on its server
            return
        if asks_long_term:
            operation = _search_long_term(search)
            reading.memories = await _safely(search, "long_term", operation) or []

    try:
        await tiers.transaction(work, search.scope, writes=False)
    except Exception as error:  # noqa: BLE001 - as in `_safely`
        del search.failed[before:], search.errors[before:]
        is_apart = False
        if asks_working and tiers.is_joint:
            reading.working = None
            _note_failure(search, "working", error)
        if asks_long_term:
            reading.memories = []
            _note_failure(search, "long_term", error)
    search.tiers = tiers
    if is_apart and asks_long_term:
        reading.memories = await _safely(search, "long_term", _search_long_term(search)) or []
    return reading


def _is_searched(search: RecallState, source: RecallTier) -> bool:
    """Return whether a tier is searched; working memory keeps no past."""
    return source in search.options.tiers and (source == "long_term" or search.options.at is None)


async def _safely(
    search: RecallState, source: RecallTier, operation: Coroutine[Any, Any, T]
) -> T | None:
    """Search one tier; its failure is noted, and the other tier still answers."""
    try:
        return await operation
    except Exception as error:  # noqa: BLE001 - a store may be anybody's; it is told and noted
        _note_failure(search, source, error)
        return None


def _note_failure(search: RecallState, source: RecallTier, error: Exception) -> None:
    search.failed.append(source)
    search.errors.append(error)
    search.note(f"{source} memory could not be asked: {type(error).__name__}")


def _report_failures(search: RecallState, work: Span) -> None:
    """Log the failures of tiers; raise for a closed memory, or if no tier could be searched.

    Raises:
        StoreClosed: If the memory was closed: that is a mistake in the program, not a store that
            is away for a while, so that `on_error` does not matter.
        MemorywareError: If all tiers failed and `on_error` is "raise".
    """
    if not search.errors:
        return
    event_context = search.parts.event_context(search.scope)
    for source, error in zip(search.failed, search.errors, strict=True):
        logger.warning("%s memory could not be asked: %s", source, error)
        emit(event_context, "retrieval_error", error=type(error).__name__, ms=work.ms)
    for error in search.errors:
        if isinstance(error, StoreClosed):
            raise error
    searched = sum(_is_searched(search, source) for source in BOTH)
    if len(search.failed) == searched and search.parts.on_error == "raise":
        first = search.errors[0]
        if isinstance(first, MemorywareError):
            raise first
        raise StoreUnavailable(f"memory could not be asked: {type(first).__name__}") from first


# Working memory.


class _WordCounts(NamedTuple):
    """The counts of the words of a text, and their total."""

    counts: Counter[str]
    size: int


@clearable_cache(1024)
def _words_in(text: str) -> _WordCounts:
    """Return the words of an entry, which is compared again with the next query."""
    counts = Counter(words_of(text))
    return _WordCounts(counts, counts.total())


@dataclass(slots=True)
class _WorkingEntries:
    """The entries of working memory that a query is compared with, newest first.

    Attributes:
        group: The cached records of the group.
        entries: The entries.
        counts: For each entry how often it has each word of the query.
        sizes: How many words each entry has.
    """

    group: _GroupEntries
    entries: list[RankedRecord]
    counts: list[tuple[int, ...]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    @property
    def statistics(self) -> WordStatistics:
        """Statistics of the entries for the words of the query."""
        having = [len(often) - often.count(0) for often in zip(*self.counts, strict=True)]
        return WordStatistics(tuple(having), len(self.sizes), sum(self.sizes))


async def _load_working(search: RecallState) -> _WorkingEntries:
    """Read working memory of the group, and count its words for the search of both tiers."""
    limits, words, is_by_time = search.parts.limits, search.words, not search.ranks_working
    group = await _read_group(search)
    working = _WorkingEntries(
        group, [RankedRecord(record, "working") for record in group.live(search.now)]
    )
    # Characters of a script without blanks stand in pairs among the words of a text.
    lone = set(lone_characters(words))
    for rank, entry in enumerate(working.entries, 1):
        entry.score, entry.recency, entry.is_by_time = 1.0, rank, is_by_time
        entry.ranks["recency"] = rank
        entry.content_hash = content_hash_of(entry.record.content)
        text = entry.record.content[: limits.working_chars]
        counts, size = _words_in(text)
        often = tuple([text.count(word) if word in lone else counts[word] for word in words])
        working.counts.append(often)
        working.sizes.append(size + sum(text.count(word) - counts[word] for word in lone))
    if search.ranks_working:
        search.working_words = working.statistics
        shared = max((len(often) - often.count(0) for often in working.counts), default=0)
        search.shared_words = max(search.shared_words, shared)
    return working


@dataclass(slots=True)
class _GroupEntries:
    """The cached working memory of a group, valid as long as nothing of the group changes.

    Attributes:
        entries: Its working memory, newest first.
        read_at: The moment at which they were live.
        promoted: For an agent and a user the memories that have the text of an entry, by its hash.
    """

    entries: Sequence[Entry]
    read_at: datetime
    promoted: dict[tuple[str | None, ...], Mapping[str, Sequence[Memory]]] = field(
        default_factory=dict
    )

    def live(self, now: datetime) -> list[Entry]:
        """Return the entries that have not expired."""
        return [
            entry for entry in self.entries if entry.expires_at is None or entry.expires_at > now
        ]


async def _read_group(search: RecallState) -> _GroupEntries:
    """Read working memory of the group, unless it was read and has not changed since."""
    scope, limit = search.scope, search.parts.limits.working_entries
    key = scope.tenant, scope.group_id, limit
    generation = await search.tiers.generation(scope)
    group: _GroupEntries | None = search.parts.groups.get(key, generation)
    # What had expired by a clock that is ahead of this one is not among the entries.
    if group is None or group.read_at > search.now:
        page = await search.tiers.working.find(search.current, limit=limit)
        group = _GroupEntries(page.items, search.now)
        if page.total == len(page.items):  # else others move up when one of them expires
            search.parts.groups.put(key, generation, group)
    return group


async def _load_revoked(search: RecallState) -> list[RankedRecord]:
    """Return entries of working memory that were revoked, for an explanation only."""
    page = await search.tiers.working.find(Select.within(search.scope))
    revoked = []
    for record in page.items:
        is_live = record.expires_at is None or record.expires_at > search.now
        if record.revocation is not None and is_live:
            entry = RankedRecord(record, "working")
            entry.leave_out("revoked", f"taken back with receipt {record.revocation}")
            revoked.append(entry)
    return revoked


async def _embed_working(search: RecallState, working: _WorkingEntries) -> Sequence[Vector | None]:
    """Embed the entries where they are compared by meaning."""
    if not search.ranks_working:
        return [None] * len(working.entries)
    return await search.vectors_of(working.entries)


def _judge_working(
    search: RecallState, working: _WorkingEntries, vectors: Sequence[Vector | None]
) -> list[RankedRecord]:
    """Return the entries with their matches, by the measure of the search."""
    entries = working.entries
    similarities: list[float | None] = [None] * len(entries)
    if search.vector is not None and entries:
        (similarities,) = cosine_table([search.vector], vectors)
    _set_matches(search, working, similarities)
    if search.options.explain:
        _note_ranks(entries, [entry.match for entry in entries], len(entries))
    outside = search.parts.limits.outside_similarity
    for entry, trust in zip(entries, withhold(search, entries), strict=True):
        match = entry.match
        if trust is Trust.UNTRUSTED:
            # Shown on no other ground: an answer is trusted no more than what was shown to it.
            is_about_query = bool(match.words) or (match.similarity or 0) >= outside
            if not is_about_query:
                entry.leave_out("from_outside", "it came from outside, and is not about the query")
                continue
    return entries


def _set_matches(
    search: RecallState, working: _WorkingEntries, similarities: Sequence[float | None]
) -> None:
    """Judge the entries that have anything of the query, and what is beside them in a session."""
    rules, entries = search.parts.ranking, working.entries
    last = len(entries) - 1
    hits = {
        last - position
        for position, often in enumerate(working.counts)
        if any(often) or similarities[position] is not None
    }
    shown = [(number, False) for number in sorted(hits)]  # numbered in the order of storing
    if rules.sessions and rules.reach > 0:
        threads: dict[str, list[int]] = {}
        for number, entry in enumerate(reversed(entries)):
            thread = entry.record.scope.session_id or entry.record.id
            threads.setdefault(thread, []).append(number)
        shown = with_neighbours(threads.values(), hits, rules.reach)
    positions = [last - number for number, _ in shown]
    same = same_speakers(shown, lambda at: (at, attribution_of(entries[last - at].record).key))
    texts = candidates_of(
        [working.counts[position] for position in positions],
        [working.sizes[position] for position in positions],
        [similarities[position] for position in positions],
        [follows for _, follows in shown],
        same,
    )
    corpus = search.corpus if search.ranks_working else working.statistics
    view = SearchView(texts, corpus.having, corpus.size, corpus.mean)
    for position, match in zip(positions, judge(view, rules, corpus), strict=True):
        entries[position].match = match


# Texts of working memory that are in long-term memory as well.


async def _show_as_promoted(search: RecallState, working: _WorkingEntries) -> None:
    """Show promoted entries as their memories, or not at all if these were superseded.

    A text whose place another has taken is left out, unless it was said again since.
    """
    memories = await _same_texts(search, working)
    if not memories:
        return
    every = [memory for same in memories.values() for memory in same]
    replaced = await _replaced_early(search, every)
    for entry in working.entries:
        same = sorted(memories.get(entry.content_hash, ()), key=lambda memory: memory.chunk_index)
        current = next((m for m in same if _is_current(search, m) and m.id not in replaced), None)
        if current is None:
            ends = [
                search.now if memory.id in replaced else memory.valid_to
                for memory in same
                if memory.revocation is None
            ]
            said_at = _last_recorded_at(entry)
            if any(end is not None and said_at <= end <= search.now for end in ends):
                entry.leave_out("superseded", "long-term memory has something in its place")
        elif "long_term" in search.options.tiers:
            entry.promoted = current


async def _same_texts(
    search: RecallState, working: _WorkingEntries
) -> Mapping[str, Sequence[Memory]]:
    """Return memories that have the text of an entry, by its hash."""
    own, by_agents = agents_of(search), working.group.promoted
    before = by_agents.get(own)  # one look: another thread may clear it
    if before is not None or not working.entries:
        return before or {}
    hashes = tuple(dict.fromkeys(entry.content_hash for entry in working.entries))
    select = Select.within(search.scope, agents=own, hashes=hashes)
    page = await search.tiers.long_term.find(select)
    memories: dict[str, list[Memory]] = defaultdict(list)
    for memory in page.items:
        memories[memory.content_hash].append(memory)
    if len(by_agents) >= _MOST_AGENTS:
        by_agents.clear()
    by_agents[own] = memories
    return memories


def _is_current(search: RecallState, memory: Memory) -> bool:
    ended = memory.valid_to is not None and memory.valid_to <= search.now
    return memory.revocation is None and memory.has_begun(search.now) and not ended


def _last_recorded_at(entry: RankedRecord) -> datetime:
    """Return when a text in working memory was said the last time."""
    again = entry.record.metadata.get(SAID_AGAIN)
    return datetime.fromisoformat(again) if again else entry.record.created_at


async def _replaced_early(search: RecallState, memories: Sequence[Memory]) -> set[str]:
    """Return ids of memories that end later by their date, though their successor has begun.

    A machine whose clock is ahead dates the end of what it replaces into the future. Until
    then both texts would be shown.
    """
    late = {
        memory.id: memory.superseded_by
        for memory in memories
        if memory.superseded_by and memory.valid_to is not None and memory.valid_to > search.now
    }
    if not late or search.options.at is not None:
        return set()
    documents = tuple(dict.fromkeys(late.values()))
    select = Select.within(search.scope, documents=documents, revocations=(None,))
    page = await search.tiers.long_term.find(select)
    begun = {memory.document_id for memory in page.items if memory.has_begun(search.now)}
    return {id_ for id_, document in late.items() if document in begun}


# Long-term memory.


async def _search_long_term(search: RecallState) -> list[RankedRecord]:
    """Search the memory of the group and the experience of the agent."""
    # What one user alone is shown competes with what the group shares.
    own = agents_of(search)
    if not search.agent_id:
        return await _search_part(search, "group", own)
    group = await _search_part(search, "group", own[:-1])
    return [*group, *await _search_part(search, "agent", (search.agent_id,))]


def agents_of(search: RecallState) -> tuple[str | None, ...]:
    """Return whose memories a recall searches: the group's, the user's own, the agent's.

    Args:
        search: The recall.

    Returns:
        Their `agent_id`.
    """
    return agents_shown_to(search.scope.user_id, search.agent_id)


async def _search_part(
    search: RecallState, part: RecallPart, agents: tuple[str | None, ...]
) -> list[RankedRecord]:
    session, since, explain = search.options.session_id, search.since, search.options.explain
    whole = search.current.also(agents=agents)
    select = whole.also(since=since) if since is not None else whole
    if session is not None:
        select = select.also(sessions=(session,))
    heap = await _search_wide_enough(search, part, select)
    if explain and select != whole:
        for id_, text in (await _search_wide_enough(search, part, whole, counts=False)).items():
            if id_ not in heap:
                heap[id_] = text
                _explain_selection(search, text)
    await _leave_out_of_date(search, heap)
    if explain:
        everything = whole.also(live_at=None)
        for id_, text in (
            await _search_wide_enough(search, part, everything, counts=False)
        ).items():
            if id_ not in heap and _explain_validity(search, text):
                heap[id_] = text
    return list(heap.values())


async def _leave_out_of_date(search: RecallState, heap: _Heap) -> None:
    """Leave out what only the clock of another machine lets be seen; see `current_in`."""
    if search.options.at is not None:
        return
    memories = [text.record for text in heap.values() if isinstance(text.record, Memory)]
    now = search.now
    bounded = [
        memory for memory in memories if memory.valid_to is not None or memory.valid_from > now
    ]
    if not bounded:
        return
    replaced = await _replaced_early(search, bounded)
    for memory in bounded:
        if not memory.has_begun(now):
            del heap[memory.id]
        elif memory.id in replaced:
            heap[memory.id].leave_out("superseded", f"{memory.superseded_by} is in its place")


def _explain_selection(search: RecallState, text: RankedRecord) -> None:
    """Leave out a text that the selection does not have, with the condition that it fails."""
    session = search.options.session_id
    if session is not None and text.record.scope.session_id != session:
        text.leave_out("session", "from another session than was asked for")
    else:
        text.leave_out("time_range", f"older than {search.options.time_range_days} days")


def _explain_validity(search: RecallState, text: RankedRecord) -> bool:
    """Leave out a text that does not hold now, with what became of it; return whether it was."""
    memory = text.record
    if not isinstance(memory, Memory):
        return False
    if memory.revocation is not None:
        text.leave_out("revoked", f"taken back with receipt {memory.revocation}")
    elif memory.valid_to is not None and memory.valid_to <= search.now:
        by = f", superseded by document {memory.superseded_by}" if memory.superseded_by else ""
        text.leave_out("superseded", f"held until {memory.valid_to.isoformat()}{by}")
    elif memory.valid_from > search.now:
        text.leave_out("not_yet", f"holds from {memory.valid_from.isoformat()} on")
    return text.left_out is not None


async def _search_wide_enough(
    search: RecallState, part: RecallPart, select: Select, *, counts: bool = True
) -> _Heap:
    """Search a selection, and widen the search if too many texts are withheld for lack of trust.

    No store knows how far a text is trusted for who asks, so what is withheld may be all that
    a search of the usual size reads.

    Args:
        search: The recall.
        part: The part of long-term memory.
        select: The memories that are searched.
        counts: Whether the shares of the query's words are noted. A wider look, for an
            explanation, must not change the scores.
    """
    limit, is_whole, before = search.parts.limits.candidates, False, -1
    is_close = _is_ordered_by_score(search)
    while True:
        part_search = PartSearch(search, part, limit, is_whole, counts, is_close)
        heap, count, is_everything = await _search_once(part_search, select)
        if part_search.is_close and part_search.is_exact:
            return heap
        if part_search.is_close:
            is_close = False
            continue
        withhold(search, [*heap.values()])
        withheld = sum(text.left_out is not None for text in heap.values())
        is_enough = len(heap) - withheld >= part_search.most_shown
        if is_enough or not withheld or is_everything or count == before:
            return heap
        if is_whole:
            limit, before = 4 * limit, count
        is_whole = True


def _is_ordered_by_score(search: RecallState) -> bool:
    """Return whether scores alone decide which memories are shown."""
    options = search.options
    return not (
        options.explain
        or search.parts.rescorer is not None
        or options.score_threshold is not None
        or options.min_trust is not None
        or search.agent_id
        or (search.vector is not None and not search.has_comparable_vectors)
    )


async def _search_once(part_search: PartSearch, select: Select) -> tuple[_Heap, int, bool]:
    """Return the records of one search, the number of candidates, and whether that was everything.

    It is where all that was seen was read and the limit has cut nothing off, as in a small
    memory.
    """
    search, part, limit = part_search.search, part_search.part, part_search.limit
    searched = await _searched(search, select, part_search.choose, limit)
    part_search.note(searched)
    matches = part_search.matches(searched.view)
    positions = [*searched.memories]
    texts = [
        RankedRecord(memory, part, match)
        for memory, match in zip(searched.memories.values(), matches.at(positions), strict=True)
    ]
    heap = {text.record.id: text for text in texts}
    if not matches.has_words:
        await _add_lone(search, part, select, heap)
    if search.options.explain:
        read = [heap[text.record.id] for text in texts]
        _note_ranks(read, matches, search.parts.limits.candidates, positions=positions)
    return heap, len(matches), len(texts) == len(matches) < limit


async def _searched(
    search: RecallState, select: Select, choose_read: Chooser, limit: int
) -> SearchResult:
    """Search long-term memory; by words alone where its vectors are of another model."""
    parts, embedder = search.parts, search.parts.embedder
    vector = search.vector if search.has_comparable_vectors else None
    query = Query(
        words=search.words,
        vector=vector,
        space=embedder.space_of(vector) if embedder and vector is not None else None,
        limit=limit,
        reach=parts.ranking.reach,
        sessions=parts.ranking.sessions,
        thread=parts.limits.neighbours,
    )
    try:
        return await search.tiers.long_term.search(query, select, choose_read)
    except EmbeddingMismatch as mismatch:
        if vector is None:
            raise
        search.has_comparable_vectors = False
        note = f"{mismatch}; words alone were searched in long-term memory"
        logger.warning("%s", note)
        search.note(note)
        return await _searched(search, select, choose_read, limit)


async def _add_lone(search: RecallState, part: RecallPart, select: Select, heap: _Heap) -> None:
    """Add texts with one character of a script without blanks, which is indexed in pairs."""
    lone = lone_characters(search.words)
    if not lone:
        return
    limit = search.parts.limits.candidates
    page = await search.tiers.long_term.find(select.also(contains=lone[0]), limit=limit)
    for memory in page.items:
        before = heap.get(memory.id)
        similarity = before.match.similarity if before else None
        match = Match(words=1.0, around=1.0, similarity=similarity, near=similarity)
        text = heap[memory.id] = RankedRecord(memory, part, match)
        text.ranks["words"] = len(heap)


def _note_ranks(
    texts: Sequence[RankedRecord],
    matches: Sequence[Match],
    limit: int,
    *,
    positions: Sequence[int] | None = None,
) -> None:
    """Note the place of each text in each list, for an explanation.

    Args:
        texts: Texts that were read.
        matches: The matches of everything that was seen.
        limit: The length of a list.
        positions: Of each text its place among the matches; by default they are the same.
    """
    read = dict(zip(range(len(texts)) if positions is None else positions, texts, strict=True))
    for name, value in _LISTS.items():
        values = [(value(match), position) for position, match in enumerate(matches)]
        listed = sorted((-number, position) for number, position in values if number is not None)
        for rank, (_, position) in enumerate(listed[:limit], 1):
            if position in read:
                read[position].ranks[name] = rank
    with_neighbours = [text for text in texts if not text.ranks]
    with_neighbours.sort(key=lambda text: -text.match.around)
    for rank, text in enumerate(with_neighbours, 1):
        text.ranks["neighbours"] = rank


_LISTS: Final[Mapping[str, Callable[[Match], float | None]]] = {
    "words": lambda match: match.words,
    "vectors": lambda match: match.similarity,
}

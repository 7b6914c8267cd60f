"""Rank a recall: scores, trust, order, duplicates, limits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast, get_args
from zlib import crc32

from memoryware._caching import clearable_cache
from memoryware.events import logger
from memoryware.scope import is_personal_agent, personal_agent
from memoryware.settings import Ranking
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import is_person
from memoryware.tiers.model import VISIBLE_TO, Entry, Memory, Record, hash_of
from memoryware.tiers.provenance import Trust, attribution_of
from memoryware.tiers.recall.fusion import (
    Match,
    Matches,
    Moves,
    WordStatistics,
    fused_all,
    judge,
    most_shared,
    unit_of,
)
from memoryware.tiers.recall.query import (
    Level,
    RankedRecord,
    RecallPart,
    RecallState,
    in_order,
    is_in_time,
)
from memoryware.tiers.recall.reranking import rerank
from memoryware.tiers.scoring import cosine_table
from memoryware.tiers.stores.protocol import CandidateColumns, SearchResult, SearchView
from memoryware.tiers.text.contradictions import may_differ
from memoryware.tiers.text.terms import core_words, lone_characters, stems_of, words_of

_PARTS: Final[tuple[RecallPart, ...]] = get_args(RecallPart)
_ASKING: Final = ("?", "\uff1f", "\u061f", "\u037e")
"""Question marks at the end of a text."""
_WHERE: Final = {
    "working": "working memory",
    "group": "memory of the group",
    "agent": "experience of the agent",
}
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
        if ends_with_question_mark(record.content):
            beside -= rules.question
        if agent and record.provenance.origin.kind == "agent":
            score *= 1.0 - agent * _length_share(record, match, rules)  # noqa: PLW2901 - it is moved
        text.is_related = match.similarity is not None or match.around > 0
        if beside:
            score += beside / unit  # noqa: PLW2901 - it is added up
        if (text.part != "working" or text.promoted is not None) and not text.is_wrong:
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


def ends_with_question_mark(text: str) -> bool:
    """Return whether a text ends with a question mark, of any script.

    Args:
        text: The text.

    Returns:
        Whether it does.
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


# Choosing the memories that are read.
#
# A score is a match, which a search sees, and what moves it beside that: whether a text is a
# question, who said it. That is known of a memory once it was read, and noted where the store
# keeps notes. A recall that finds notes reads little more than it shows.

_READ: Final = 3
"""So many times as many as are shown or scored are read: some are doubles, others move."""


@dataclass(slots=True)
class PartSearch:
    """One search of a part of long-term memory, and the choice of memories that are read.

    Attributes:
        search: The recall.
        part: The part.
        limit: How many of the best by words, and of the nearest, are seen.
        is_whole: Whether everything that is seen is read.
        counts: Whether the shares of the query's words are noted.
        is_close: Whether nothing is read but what will be shown, by what earlier recalls noted;
            a choice clears it where that cannot be known.
        is_exact: Whether that was enough.
    """

    search: RecallState
    part: RecallPart
    limit: int
    is_whole: bool
    counts: bool
    is_close: bool
    is_exact: bool = False
    _is_small: bool = False
    _view: SearchView | None = None
    _matches: Matches | None = None

    @property
    def most_shown(self) -> int:
        """How many texts of the part are shown, or scored by a reranker, at most."""
        shown = self.search.limits[self.part]
        if self.search.parts.rescorer is not None and shown > 0:
            shown = max(shown, self.search.parts.limits.rerank_candidates)
        return shown

    def matches(self, view: SearchView) -> Matches:
        """Return the match of each text of a view; stores ask more than once.

        Args:
            view: What the search sees.

        Returns:
            The matches.
        """
        if self._matches is None or self._view is not view:
            search = self.search
            if self.counts:
                search.long_term_words = WordStatistics.of(view)
                search.shared_words = max(search.shared_words, most_shared(view.candidates))
            self._view = view
            rules = search.parts.ranking
            self._matches = judge(view, rules, search.corpus, balance=search.balance)
        return self._matches

    def choose(self, view: SearchView) -> Sequence[int]:
        """Choose which memories are read: all that can come to be shown.

        Args:
            view: What the search sees.

        Returns:
            The positions of their texts.
        """
        search, shown, count = self.search, self.most_shown, len(view.candidates)
        self._is_small = count <= 1 + shown
        if self.is_whole or search.options.explain:
            return range(count)
        self.is_close = self.is_close and not self._is_small
        matches, vectors = self.matches(view), search.measures_meaning
        if self.is_close and (positions := self._choose_closely(view, matches)):
            return positions
        self.is_close = False
        best = matches.best(vectors=vectors)
        most = _READ * max(1, shown)
        if len(best) > most:
            scores = matches.scores(vectors=vectors)
            last = scores[best[max(0, shown - 1)]]
            least = min(last, last * (1.0 - search.agent_share))  # the first if it is negative
            least -= largest_move(search, vectors=vectors)
            end = most
            while end < len(best) and scores[best[end]] >= least:
                end += 1
            del best[end:]
        return best

    def _choose_closely(self, view: SearchView, matches: Matches) -> list[int] | None:
        """Return the positions of the texts to show, and of those that decide their order.

        It is exact as long as nothing of it is left out, which `are_shown_as_read` decides.
        Otherwise, and for None, more is read.

        There is no form of this without NumPy: a search goes through all rows of a group then,
        which takes hundreds of times as long as decoding the memories that this saves.
        """
        columns, search, shown = view.candidates, self.search, self.most_shown
        if not isinstance(columns, CandidateColumns) or columns.notes is None or shown < 1:
            return None
        vectors = search.measures_meaning
        if vectors != (search.vector is not None) or not matches.are_all_related:
            return None
        if not matches.has_words and lone_characters(search.words):
            return None
        notes = columns.notes.read()
        least, most = moves_of(search, notes, matches.sizes, vectors=vectors)
        positions = matches.contenders(least, most, shown + 1, vectors=vectors)
        return None if is_any_apart(notes[positions]) else positions

    def note(self, searched: SearchResult) -> None:
        """Write notes about the memories that were read, so that the next recall reads less.

        Args:
            searched: What the search has read.
        """
        columns, positions = searched.view.candidates, [*searched.memories]
        if not isinstance(columns, CandidateColumns) or columns.notes is None or not positions:
            return
        if self._is_small:
            return  # all of it is read as it is
        memories, notes = [*searched.memories.values()], columns.notes.read()[positions]
        if self.is_close:
            self.is_exact = are_shown_as_read(self.search, memories, notes)
        if self.is_exact:  # so that no two are the same, and what was noted before holds
            missing = (notes == 0).nonzero()[0].tolist()
            positions, memories = ([some[at] for at in missing] for some in (positions, memories))
        if positions and (self.is_close or not notes.all()):
            columns.notes.write(positions, notes_of(memories))


# Notes.

_NOTED, _QUESTION, _AGENT, _LAST, _NAMES, _APART, _CHUNK = (1 << bit for bit in range(7))
_FLAGS: Final = 7
"""Bits of a note ahead of the words of a name."""
_NAME_BITS: Final = 18
_NAME_WORDS: Final = 3
"""Words of a name that a note has room for; of a longer one it says nothing."""


def notes_of(memories: Sequence[Memory]) -> list[int]:
    """Return a note for each memory: what moves its score apart from its match.

    The words of a name are in it as digests: it may outlive what a store has forgotten.

    Args:
        memories: The memories.

    Returns:
        The notes, each a number of flags and digests.
    """
    hashes = [content_hash_of(memory.content) for memory in memories]
    often = Counter(hashes)
    return [
        _note_of(memory, is_double=often[digest] > 1)
        for memory, digest in zip(memories, hashes, strict=True)
    ]


def _note_of(memory: Memory, *, is_double: bool) -> int:
    provenance, verdict = memory.provenance, memory.verdict
    note = _NOTED
    if ends_with_question_mark(memory.content):
        note |= _QUESTION
    if provenance.origin.kind == "agent":
        note |= _AGENT
    if memory.chunk_count > 1:
        note |= _CHUNK
    if verdict is not None and not verdict.verified:
        note |= _LAST
    if is_double or memory.valid_to is not None or provenance.trust <= Trust.UNTRUSTED:
        note |= _APART
    return note | _name_bits(attribution_of(memory).name)


@clearable_cache(256)
def _digest_of(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass")) % ((1 << _NAME_BITS) - 1) + 1


@clearable_cache(256)
def _name_bits(name: str) -> int:
    words = {*core_words(name)}
    if len(words) > _NAME_WORDS:
        return _NAMES
    bits = 0
    for position, word in enumerate(words):
        bits |= _digest_of(word) << (_FLAGS + position * _NAME_BITS)
    return bits


def moves_of(search: RecallState, notes: Any, sizes: Any, *, vectors: bool) -> tuple[Moves, Moves]:
    """Return how the score of each memory moves beside its match: at least, and at most.

    Args:
        search: The recall.
        notes: What was noted of the memories, as an array.
        sizes: The number of index terms of each, as an array.
        vectors: Whether anything in this recall is compared by meaning.

    Returns:
        The least and the largest moves.
    """
    rules = search.parts.ranking
    unit = unit_of(rules, vectors=vectors, balance=search.balance)
    least, most = _moves(rules.question / unit, rules.speaker / unit)
    flags = notes & ((1 << _FLAGS) - 1)
    low, high = least[flags], most[flags]
    if rules.speaker:
        names = notes >> _FLAGS
        for name in {*names.tolist()} - {0}:
            if _may_be_named(search, name):
                high[names == name] += rules.speaker / unit
    if search.periods:
        high += rules.in_time / unit
    return _agent_moves(search, notes, sizes, (low, high))


def _agent_moves(
    search: RecallState, notes: Any, sizes: Any, more: tuple[Any, Any]
) -> tuple[Moves, Moves]:
    """Return moves with what long texts of an agent lose: of an unknown text all or nothing."""
    import numpy as np

    low, high = more
    share = search.agent_share
    if not share:
        return Moves(1.0, low), Moves(1.0, high)
    least, most = search.parts.ranking.agent_words
    long = np.clip((sizes - least) / (most - least), 0.0, 1.0)
    long[(notes & _CHUNK) != 0] = 1.0
    is_noted, is_agent = (notes & _NOTED) != 0, (notes & _AGENT) != 0
    factor = 1.0 - share * np.where(is_agent, long, 0.0)
    return Moves(np.where(is_noted, factor, 1.0 - share), low), Moves(factor, high)


def _may_be_named(search: RecallState, name: int) -> bool:
    digests = {_digest_of(word) for word in search.names}
    mask = (1 << _NAME_BITS) - 1
    return any(name >> (position * _NAME_BITS) & mask in digests for position in range(_NAME_WORDS))


@lru_cache(16)
def _moves(question: float, speaker: float) -> tuple[Any, Any]:
    """Return the least and the largest move of a score by the flags of a note."""
    import numpy as np

    least, most = np.zeros(1 << _FLAGS), np.zeros(1 << _FLAGS)
    for flags in range(1 << _FLAGS):
        low = -question * bool(flags & _QUESTION)
        high = low + (speaker if flags & _NAMES else 0.0)
        if not flags & _NOTED:
            low, high = -question, speaker
        elif flags & _LAST:
            low = high = -math.inf
        least[flags], most[flags] = low, high
    return least, most


def is_any_apart(notes: Any) -> bool:
    """Return whether any memory may be withheld, out of date, or the same as another.

    Args:
        notes: What was noted of the memories, as an array.

    Returns:
        Whether any has the flag.
    """
    return bool((notes & _APART).any())


def are_shown_as_read(search: RecallState, memories: Sequence[Memory], notes: Any) -> bool:
    """Return whether scores alone decide which of these memories are shown.

    Args:
        search: The recall.
        memories: The memories that were read.
        notes: The notes of these memories before that.

    Returns:
        Whether nothing of them is left out for another reason.
    """
    now = search.now
    if len({content_hash_of(memory.content) for memory in memories}) < len(memories):
        return False
    # None of those that were noted is apart, else `_choose_closely` had not read them.
    return all(
        memory.valid_from <= now and (note or _is_shown_as_read(memory))
        for memory, note in zip(memories, notes.tolist(), strict=True)
    )


def _is_shown_as_read(memory: Memory) -> bool:
    verdict = memory.verdict
    return (
        memory.valid_to is None
        and memory.provenance.trust > Trust.UNTRUSTED
        # One that a check found wrong comes last, whatever its score.
        and (verdict is None or verdict.verified)
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
    for text in texts:
        if _is_personal_to_another(text.record, search.scope.user_id, text.promoted):
            text.leave_out("personal", "it is shown to the user who said it alone")
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
        elif _is_from_run_of_another(text.record, search.scope.user_id) and not _is_decided(text):
            text.leave_out(
                "from_outside",
                "it came from outside in a run of another user, and no person has promoted it",
            )
    return trusts


def is_withheld(parts: Parts, record: Record, user_id: str | None) -> bool:
    """Return whether a record must not be shown to a user; see `withhold`.

    Args:
        parts: The rules of the memory.
        record: The entry or memory.
        user_id: The user who asks; None for a caller without a user.

    Returns:
        Whether it is withheld.
    """
    if _is_personal_to_another(record, user_id):
        return True
    if parts.share_outside or record.provenance.trust > Trust.UNTRUSTED:
        return False
    memory = record if isinstance(record, Memory) else None
    return _is_from_run_of_another(record, user_id) and not (
        memory and _is_promoted_by_person(memory)
    )


def _is_personal_to_another(
    record: Record, asking: str | None, promoted: Memory | None = None
) -> bool:
    """Return whether a text is shown to one user alone, and somebody else asks.

    An entry that was promoted for the group is shared.
    """
    agent = record.scope.agent_id
    if isinstance(record, Memory):
        return is_personal_agent(agent) and (not asking or agent != personal_agent(asking))
    owner = record.metadata.get(VISIBLE_TO)
    return owner is not None and owner != asking and promoted is None


def _is_from_run_of_another(record: Record, asking: str | None) -> bool:
    """Return whether a text came up in a conversation in which the user who asks took no part.

    Without a user on either side nobody can say so: a job of the group has no user, and a group
    whose runs name none would lose all it has read.
    """
    owner = record.scope.user_id
    if not asking or not owner:
        return False
    roots = record.provenance.roots
    return asking != owner and not any(
        root.kind == "user" and root.name == asking for root in roots
    )


def _is_decided(text: RankedRecord) -> bool:
    """Return whether a person has promoted a text; a promotion by an agent decides nothing."""
    memory = text.record if isinstance(text.record, Memory) else text.promoted
    return memory is not None and _is_promoted_by_person(memory)


def _is_promoted_by_person(memory: Memory) -> bool:
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
            by_part[part] = in_order(texts)
    _drop_same(search, by_part)
    if search.parts.rescorer is not None:
        await rerank(search, by_part)
        for part, texts in by_part.items():
            by_part[part] = in_order(texts)
    long_term = [*_limited(search, by_part, "group"), *_limited(search, by_part, "agent")]
    await _drop_doubles(search, by_part["working"], long_term)
    if search.time_order:
        _prefer_in_time(search, long_term)
    shown = [*_limited(search, by_part, "working"), *long_term]
    if search.options.max_results is not None:
        shown = _shared(search, shown, search.options.max_results)
    return in_order(shown)


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


_ROUNDED: Final = 1e-4
"""More than vectors of 16 bits move a score."""


def _cut_weak(search: RecallState, records: Sequence[RankedRecord]) -> None:
    """Leave out memories that are neither near the query nor have its words.

    By words alone a low score says little, and a reranker knows better.
    """
    least = search.parts.ranking.least
    if not least or search.parts.rescorer is not None:
        return
    least -= _ROUNDED  # stores round vectors differently
    for text in records:
        if text.score < least and text.match.similarity is not None and text.part != "working":
            text.leave_out("weak", f"score {text.score:.3f} is below {search.parts.ranking.least}")


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
    rules, texts = search.parts.ranking, [text for text in texts if text.level == Level.BY_TIME]
    times = [text.record.said_at.timestamp() for text in texts]
    if len({*times}) < 2:
        return
    is_newest = search.time_order == "newest"
    first, last = (min(times), max(times)) if is_newest else (max(times), min(times))
    most = rules.newest if is_newest else rules.oldest
    most /= unit_of(rules, vectors=search.measures_meaning, balance=search.balance)
    for text, time in zip(texts, times, strict=True):
        if time != first:
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
    shown = in_order(shown)
    if search.ranks_working:
        chosen = shown[:most]
    else:
        long_term = [text for text in shown if text.part != "working"]
        working = [text for text in shown if text.part == "working"]
        long_term_count = max(most - len(working), (most + 1) // 2)
        chosen = long_term[: min(long_term_count, most)]
        chosen += working[: most - len(chosen)]
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
    texts = in_order([*group, *agent]) if agent else group
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
    search: RecallState, working: Sequence[RankedRecord], long_term: Sequence[RankedRecord]
) -> None:
    """Leave out entries of working memory whose text is shown from long-term memory as well.

    Meaning is compared of the first entries only; the others will not be shown.
    """
    if not long_term or not working:
        return
    hashes = {text.record.content_hash: text for text in long_term}
    hashes |= {content_hash_of(text.record.content): text for text in long_term}
    for text in working:
        if text.left_out is None and (same := hashes.get(text.content_hash)):
            text.leave_out("duplicate", f"the same as {same.record.id} of long-term memory")
    first = [text for text in working if text.left_out is None][: 2 * search.limits["working"]]
    vectors = await search.vectors_of([*first, *long_term])
    table = cosine_table(vectors[: len(first)], vectors[len(first) :])
    least = search.parts.limits.near_duplicate
    stems: dict[int, list[str] | None] = {}
    for text, row in zip(first, table, strict=True):
        if None not in row and max(cast("list[float]", row)) < least:
            continue  # as for most: no pair needs a closer look
        for other, similarity in zip(long_term, row, strict=True):
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
    entry: RankedRecord,
    memory: RankedRecord,
    stems: dict[int, list[str] | None],
) -> bool:
    """Compare two texts by their words, where there are no vectors to compare.

    Args:
        search: The recall.
        entry: A text.
        memory: Another.
        stems: The stems of texts that were compared already; None of one that is too long.
    """
    for text in (entry, memory):
        if id(text) not in stems:
            content = text.record.content
            is_whole = len(content) <= search.parts.limits.working_chars
            stems[id(text)] = stems_of(content) if is_whole else None
    return stems[id(entry)] is not None and stems[id(entry)] == stems[id(memory)]


def _is_correction(entry: RankedRecord, memory: RankedRecord) -> bool:
    """Return whether an entry that is near a memory says something else all the same."""
    new, old = entry.record.content, memory.record.content
    return not _numbers(new) <= _numbers(old) or may_differ(old, new)


def _numbers(text: str) -> set[str]:
    return {word for word in words_of(text) if any(map(str.isdigit, word))}

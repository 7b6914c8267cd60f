"""Choose the memories that a recall reads, with the help of notes about them.

A score is a match, which a search sees, and what moves it beside that: whether a text is a
question, who said it. That is known of a memory once it was read, and noted where the store
keeps notes. A recall that finds notes reads little more than it shows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from zlib import crc32

from memoryware._caching import clearable_cache
from memoryware.tiers.model import Memory
from memoryware.tiers.provenance import Trust
from memoryware.tiers.recall.fusion import (
    Matches,
    Moves,
    WordStatistics,
    judge,
    most_shared,
    unit_of,
)
from memoryware.tiers.recall.query import RecallPart, RecallState, speaker_of
from memoryware.tiers.recall.rank import content_hash_of, is_question, largest_move
from memoryware.tiers.stores.protocol import CandidateColumns, SearchResult, SearchView
from memoryware.tiers.text.terms import core_words, lone_characters

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
                search.cold_words = WordStatistics.of(view)
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
    if is_question(memory.content):
        note |= _QUESTION
    if provenance.origin.kind == "agent":
        note |= _AGENT
    if memory.chunk_count > 1:
        note |= _CHUNK
    if verdict is not None and not verdict.verified:
        note |= _LAST
    if is_double or memory.valid_to is not None or provenance.trust <= Trust.UNTRUSTED:
        note |= _APART
    return note | _name_bits(speaker_of(memory))


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
    """Say whether any memory may be withheld, out of date, or the same as another.

    Args:
        notes: What was noted of the memories, as an array.

    Returns:
        Whether any has the flag.
    """
    return bool((notes & _APART).any())


def are_shown_as_read(search: RecallState, memories: Sequence[Memory], notes: Any) -> bool:
    """Say whether scores alone decide which of these memories are shown.

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

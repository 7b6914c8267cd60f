"""What is true of every answer of `search`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoryware.tiers.model import Memory
from memoryware.tiers.stores.protocol import Query, Searched, Seen, Sight
from memoryware.tiers.text.terms import words_of

Answers = list[tuple[Sight, list[int]]]
"""What was seen each time that somebody had to choose, and what was chosen."""


def thread_of(memory: Memory, query: Query) -> tuple[Any, ...]:
    """Return in what a memory stands."""
    session = memory.scope.session_id if query.sessions else None
    scope = memory.scope
    return scope.tenant, scope.group_id, bool(session), session or memory.document_id


def lawful(found: Searched, query: Query, answers: Answers) -> None:
    """Hold what a search returned against what is true of every answer."""
    sight, words = found.sight, query.words
    if answers:
        assert sight == answers[-1][0], "what is returned is what was chosen from"
        assert {*found.memories} == {*answers[-1][1]}, "what was chosen is read, and no more"
    else:
        assert not sight.seen, "somebody chooses of what is seen"
    assert len(sight.having) == len(words), "a number for each word of the query"
    assert all(0 <= one <= sight.count for one in sight.having), "no more have it than there are"
    most = 2 * max(0, query.limit) * (2 * max(0, query.reach) + 1)
    assert len(sight.seen) <= most, "no more than hits and what is beside them"
    for place, one in enumerate(sight.seen):
        _lawful(one, sight, words)
        assert place or not one.follows, "the first follows nothing"
    for place, memory in found.memories.items():
        _of_its_text(sight.seen[place], memory, words)
        before = found.memories.get(place - 1)
        if sight.seen[place].follows and before is not None:
            assert thread_of(before, query) == thread_of(memory, query), "of one thread"


def _lawful(one: Seen, sight: Sight, words: Sequence[str]) -> None:
    assert len(one.counts) == len(words), "a count for each word of the query"
    assert all(often >= 0 for often in one.counts), "counts"
    assert all(texts or not often for often, texts in zip(one.counts, sight.having, strict=True)), (
        "a word that is seen is among those that are counted"
    )
    assert one.similarity is None or -1 <= one.similarity <= 1, "a cosine is from -1 to 1"


def _of_its_text(seen: Seen, memory: Memory, words: Sequence[str]) -> None:
    """What is read is what was seen at its place."""
    own = words_of(memory.content)
    assert seen.counts == tuple(own.count(word) for word in words), memory.content
    assert seen.size == len(own), memory.content

"""Decide whether an entry only repeats what its agent was shown or what memory has already."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Final

from memoryware._runner import OFFLOAD_CHARS
from memoryware.tiers._parts import Parts, current_in
from memoryware.tiers.echo.matching import Excerpt, StoredText, repeated_ids
from memoryware.tiers.model import Entry
from memoryware.tiers.text.phrases import FILLER
from memoryware.tiers.text.terms import words_of
from memoryware.tiers.text.tokens import is_german, tokenize

logger = logging.getLogger(__name__)

_MAX_WORDS: Final = 64
"""Words of a text with which long-term memory is searched."""
_CHECKED: Final = ("agent", "user", "person")
"""Kinds of origins whose texts are compared; what a tool or a file says is news."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The records that an entry repeats without adding anything.

    Attributes:
        echo_of: Ids of records that its agent was shown.
        duplicate_of: Ids of records of memory that its agent was not shown.
    """

    echo_of: tuple[str, ...] = ()
    duplicate_of: tuple[str, ...] = ()


NO_REPETITION: Final = Repetition()


def is_compared(entry: Entry) -> bool:
    """Return whether an entry can be a repetition: it comes from an agent, a user or a person.

    Args:
        entry: The entry.
    """
    return entry.provenance.origin.kind in _CHECKED


def echo_query(text: str) -> list[str]:
    """Return the words with which long-term memory is searched for what a text repeats.

    Args:
        text: The text, cut to `TierLimits.echo_chars`.

    Returns:
        At most 64 index terms: names and numbers first, then the longest words. An empty list
        for a text without words, which repeats nothing.
    """
    sentences = tokenize(text, is_german=is_german(text))
    tokens = [token for sentence in sentences for token in sentence.tokens]
    names = {*words_of("\n".join(token.exact for token in tokens if token.is_name))}
    words = dict.fromkeys(words_of(text))
    ranked = sorted(words, key=lambda word: (word not in names, word in FILLER, -len(word)))
    return ranked[:_MAX_WORDS]


def repetition_of(
    entry: Entry,
    recent: Sequence[StoredText],
    hits: Sequence[StoredText],
    shown_ids: AbstractSet[str],
    *,
    echo_chars: int,
) -> Repetition:
    """Compare an entry with records that were read already; pure computation.

    Only an agent's text can be an echo. A person who says what memory has confirms it, and so
    does an agent that was not shown it.

    Args:
        entry: The entry.
        recent: Working memory of its group, newest first.
        hits: Long-term memories found with `echo_query`, best first.
        shown_ids: Ids of the records that the agent was shown.
        echo_chars: Characters of each record that are compared.

    Returns:
        The repeated records; `NO_REPETITION` for an entry that adds something.
    """
    if not is_compared(entry):
        return NO_REPETITION
    excerpts = Excerpt.of((*recent, *hits), echo_chars)
    repeated = repeated_ids(entry.content, excerpts)
    if not repeated:
        return NO_REPETITION
    if entry.provenance.origin.kind == "agent" and shown_ids:
        shown = [excerpt for excerpt in excerpts if excerpt.id in shown_ids]
        if echo := repeated_ids(entry.content, shown):
            return Repetition(echo_of=echo)
    return Repetition(duplicate_of=repeated)


async def find_repetition(parts: Parts, entry: Entry, recent: Sequence[Entry]) -> Repetition:
    """Search long-term memory for what an entry repeats, and compare.

    Args:
        parts: The stores and limits of the memory.
        entry: The entry.
        recent: Working memory of its group, newest first.

    Returns:
        The repeated records; `NO_REPETITION` for an entry that adds something.
    """
    if not is_compared(entry):
        return NO_REPETITION
    hits = await _search_long_term(parts, entry)
    shown_ids = parts.recalls.ids(entry.scope)
    characters = len(entry.content) + sum(len(record.content) for record in (*recent, *hits))
    compare = partial(
        repetition_of, entry, recent, hits, shown_ids, echo_chars=parts.limits.echo_chars
    )
    return await parts.runner.offload(compare) if characters > OFFLOAD_CHARS else compare()


async def _search_long_term(parts: Parts, entry: Entry) -> list[StoredText]:
    query = partial(echo_query, entry.content[: parts.limits.echo_chars])
    is_long = len(entry.content) > OFFLOAD_CHARS
    words = await parts.runner.offload(query) if is_long else query()
    if not words:
        return []
    scope = entry.scope
    which = current_in(parts, scope, agents=tuple({None, scope.agent_id}))
    try:
        hits = await parts.tiers.long_term.by_words(words, which, limit=parts.limits.candidates)
    except Exception as error:  # noqa: BLE001 - a repetition is better than an aborted run
        logger.warning("long-term memory was not asked for a repetition: %s", error)
        return []
    return [hit.memory for hit in hits]
